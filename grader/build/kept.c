/* kept.c -- see kept.h. A file is a line with the sizes of its parts and their hash, and then the parts. */
#include "build/kept.h"
#include "build/tools.h"
#include "text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SEEN: GCC's intermediate form of a counted unit (seen.c), which rows read, too. */
enum { UNIT, SAID, OBJECT, SEEN, PARTS, MOST_KEPT = 400 };

typedef struct part {
    char *bytes; /* NULL: there is none */
    size_t count;
} part;

static part read_file(const char *path)
{
    part p = { 0 };
    struct stat st;
    FILE *file = mg_is_plain(path) == MT_OK ? fopen(path, "re") : NULL;
    if (file && fstat(fileno(file), &st) == 0 && (p.bytes = malloc((size_t)st.st_size + 1))) {
        p.count = fread(p.bytes, 1, (size_t)st.st_size, file);
        p.bytes[p.count] = 0;
    }
    if (file)
        fclose(file);
    return p;
}

static void free_parts(part p[PARTS])
{
    for (int i = 0; i < PARTS; i++)
        free(p[i].bytes);
}

/* ---- names ------------------------------------------------------------------------------------------ */

/* A hash of all files below a folder, in any order: of their names, and of their contents or their dates and sizes. */
static uint64_t hash_tree(const char *folder, bool contents)
{
    char root[PATH_MAX];
    uint64_t sum = 0;
    mg_path(root, "%s", folder);
    FTS *tree = fts_open((char *const[]){ root, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));) {
        if (e->fts_info != FTS_F)
            continue;
        uint64_t hash = mg_hash(MG_HASH, e->fts_path + strlen(root), e->fts_pathlen - strlen(root));
        part p = contents ? read_file(e->fts_path) : (part){ 0 };
        if (!contents) {
            hash = mg_hash(hash, &e->fts_statp->st_mtim, sizeof e->fts_statp->st_mtim);
            hash = mg_hash(hash, &e->fts_statp->st_size, sizeof e->fts_statp->st_size);
        }
        sum += mg_hash(hash, p.bytes, p.count);
        free(p.bytes);
    }
    if (tree)
        fts_close(tree);
    return sum;
}

/* `defined` and `made-for` are what the symbols are examined against, and the processor (Makefile). */
void mg_kept_open(mg_build *b)
{
    static const char *const tools[] = { "/proc/self/exe",           "/usr/bin/gcc", "/usr/bin/g++", "/usr/bin/as",
                                         "/usr/local/cuda/bin/nvcc", "/usr/bin/nvcc" };
    static const char *const lists[] = { "defined", "made-for" };
    char path[PATH_MAX];
    struct stat st;
    mg_path(path, "%s/include", b->scratch);
    uint64_t hash = hash_tree(path, true);
    mg_path(path, "%s/emu", b->build);
    hash ^= hash_tree(path, false);
    for (int64_t i = 0; i < MT_COUNT(tools); i++)
        if (stat(tools[i], &st) == 0) {
            hash = mg_hash(hash, &st.st_mtim, sizeof st.st_mtim);
            hash = mg_hash(hash, &st.st_size, sizeof st.st_size);
        }
    for (int64_t i = 0; i < MT_COUNT(lists); i++) {
        mg_path(path, "%s/%s", b->build, lists[i]);
        part p = read_file(path);
        hash = mg_hash(hash, p.bytes, p.count);
        free(p.bytes);
    }
    b->known = hash;
}

/* Where this unit's file is. Without a sandbox the compiler can read the other units of its folder. */
static void name_file(const mg_build *b, const char *how, const char *source, part unit, char path[PATH_MAX])
{
    uint64_t hash = mg_hash(b->known, how, strlen(how) + 1);
    hash = mg_hash(hash, source, strlen(source) + 1);
    hash = mg_hash(hash, unit.bytes, unit.count);
    if (b->confined == MG_UNCONFINED) {
        mg_path(path, "%s/src", b->scratch);
        hash ^= hash_tree(path, true);
    }
    const char *name = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    mg_path(path, "%s/kept/%s-%s-%016llx", b->build, how, name, (unsigned long long)hash);
}

static part read_unit(const mg_build *b, const char *source)
{
    char path[PATH_MAX];
    mg_path(path, "%s/src/%s", b->scratch, source);
    return read_file(path);
}

static uint64_t hash_parts(const part p[PARTS])
{
    uint64_t hash = MG_HASH;
    for (int i = 0; i < PARTS; i++)
        hash = mg_hash(hash, p[i].bytes, p[i].count);
    return hash;
}

/* ---- taking ----------------------------------------------------------------------------------------- */

/* The parts of a kept file, in its bytes; false: it is not whole, or another unit's. */
static bool split(part file, part unit, part p[PARTS])
{
    unsigned long long hash;
    int head = 0;
    if (!file.bytes || sscanf(file.bytes, "%zu %zu %zu %zu %llx%n", &p[UNIT].count, &p[SAID].count, &p[OBJECT].count,
                              &p[SEEN].count, &hash, &head) != 5)
        return false;
    size_t at = (size_t)head + 1;
    for (int i = 0; i < PARTS; i++) {
        if (at > file.count || p[i].count > file.count - at)
            return false;
        p[i].bytes = file.bytes + at;
        at += p[i].count;
    }
    return at == file.count && hash_parts(p) == hash && p[UNIT].count == unit.count &&
           memcmp(p[UNIT].bytes, unit.bytes, unit.count) == 0;
}

bool mg_kept_take(const mg_build *b, const char *how, const char *source, const char *object, char *log, size_t size)
{
    char path[PATH_MAX], seen[PATH_MAX];
    part p[PARTS], unit = read_unit(b, source);
    name_file(b, how, source, unit, path);
    part file = read_file(path);
    bool good = unit.bytes && split(file, unit, p);
    if (good && object) {
        mg_path(seen, "%s.seen", object);
        good = p[OBJECT].count > 0 && mg_write_file(object, p[OBJECT].bytes, p[OBJECT].count) == MT_OK &&
               (p[SEEN].count == 0 || mg_write_file(seen, p[SEEN].bytes, p[SEEN].count) == MT_OK);
    }
    if (good) {
        snprintf(log, size, "%.*s", (int)p[SAID].count, p[SAID].bytes);
        utimensat(AT_FDCWD, path, NULL, 0); /* it is the newest again */
    }
    free(file.bytes);
    free(unit.bytes);
    return good;
}

/* ---- keeping ---------------------------------------------------------------------------------------- */

static bool older(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec < b->st_mtim.tv_sec
                                                  : a->st_mtim.tv_nsec < b->st_mtim.tv_nsec;
}

/* Removes the oldest file; false when there are no more than `most`. */
static bool remove_oldest(const char *folder, int most)
{
    char path[PATH_MAX], oldest[PATH_MAX] = "";
    struct stat st, first;
    int count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        mg_path(path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] == '.' || stat(path, &st))
            continue;
        if (count++ == 0 || older(&st, &first)) {
            first = st;
            mg_path(oldest, "%s", path);
        }
    }
    if (dir)
        closedir(dir);
    return count > most && unlink(oldest) == 0;
}

static bool write_parts(const char *path, const part p[PARTS])
{
    FILE *file = fopen(path, "we");
    if (!file)
        return false;
    fprintf(file, "%zu %zu %zu %zu %llx\n", p[UNIT].count, p[SAID].count, p[OBJECT].count, p[SEEN].count,
            (unsigned long long)hash_parts(p));
    for (int i = 0; i < PARTS; i++)
        fwrite(p[i].bytes ? p[i].bytes : "", 1, p[i].count, file);
    bool good = !ferror(file);
    return fclose(file) == 0 && good;
}

void mg_kept_put(const mg_build *b, const char *how, const char *source, const char *object, const char *log)
{
    char path[PATH_MAX], seen[PATH_MAX], made[PATH_MAX], folder[PATH_MAX];
    part p[PARTS] = { [UNIT] = read_unit(b, source), [SAID] = { strdup(log), strlen(log) } };
    if (object) {
        mg_path(seen, "%s.seen", object);
        p[OBJECT] = read_file(object);
        p[SEEN] = read_file(seen);
    }
    name_file(b, how, source, p[UNIT], path);
    mg_path(folder, "%s/kept", b->build);
    mg_path(made, "%s/.%s.%d", folder, strrchr(path, '/') + 1, (int)gettid());
    if (p[UNIT].bytes && p[SAID].bytes && (mkdir(folder, 0700) == 0 || errno == EEXIST)) { /* it has units of others */
        if (!write_parts(made, p) || rename(made, path) != 0)
            unlink(made);
        while (remove_oldest(folder, MOST_KEPT))
            ;
    }
    free_parts(p);
}
