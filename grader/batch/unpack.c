/* unpack.c -- where in a submission the units are. Archives are opened by submission.c, in a child without rights. */
#include "layout.h"
#include "sandbox/scratch.h"
#include "build/place.h"
#include "build/submission.h"
#include "text.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEEP = 4 }; /* folders in folders that are searched */

typedef struct unpacking {
    const char *to;
    const mg_labinfo *info;
    char *ignored;
    size_t size;
} unpacking;

static void ignore(unpacking *u, const char *name, const char *why)
{
    size_t used = strlen(u->ignored);
    char clean[64];
    snprintf(clean, sizeof clean, "%s", name);
    for (char *p = clean; *p; p++)
        if (*p < ' ' || *p > '~')
            *p = '?';
    snprintf(u->ignored + used, u->size - used, "%s%s (%s)", used ? ", " : "", clean, why);
}

/* The unit of a file's name; Canvas calls the second version of loops.c loops-1.c. -1: none. */
static int unit_of(const mg_labinfo *info, const char *name)
{
    for (int i = 0; i < info->units; i++) {
        size_t stem = strcspn(info->unit[i], "."), more = 0;
        if (strncasecmp(name, info->unit[i], stem) == 0 && name[stem] == '-' && isdigit((unsigned char)name[stem + 1]))
            more = 1 + strspn(name + stem + 1, "0123456789");
        if (strncasecmp(name, info->unit[i], stem) == 0 && strcasecmp(name + stem + more, info->unit[i] + stem) == 0)
            return i;
    }
    return -1;
}

/* submission.c's own words hold for units of a folder; only its list of the ignored is kept, and "no unit" comes later.
 * */
static mt_status collect(unpacking *u, const char *path)
{
    char ignored[512] = "";
    size_t used = strlen(u->ignored);
    mt_status status = mg_submission_collect(u->to, path, u->info, ignored, sizeof ignored);
    if (ignored[0])
        snprintf(u->ignored + used, u->size - used, "%s%s", used ? ", " : "", ignored);
    return status == MT_ERR_ARGUMENT ? MT_OK : status;
}

/* ---- folders -------------------------------------------------------------------------------- */

typedef struct content {
    bool units; /* here, or in labs/NN-name */
    int archives, folders;
    char archive[NAME_MAX + 1], folder[NAME_MAX + 1];
    char named[2 * NAME_MAX]; /* the archives, as far as there is room */
} content;

static mode_t kind_of(const char *folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    mg_path(path, "%s/%s", folder, name);
    return lstat(path, &st) ? 0 : st.st_mode & S_IFMT;
}

static bool exact_unit(const mg_labinfo *info, const char *name)
{
    int unit = unit_of(info, name);
    return unit >= 0 && strcasecmp(info->unit[unit], name) == 0;
}

static mt_status look(content *c, const char *folder, const mg_labinfo *info)
{
    char home[64];
    *c = (content){ 0 };
    snprintf(home, sizeof home, "labs/%s", info->id);
    c->units = kind_of(folder, "labs") == S_IFDIR && kind_of(folder, home) == S_IFDIR;
    DIR *list = opendir(folder);
    if (!list)
        return mt_fail(MT_ERR_FORMAT, "the folder cannot be read: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(list));) {
        if (mg_place_is_litter(e->d_name))
            continue;
        mode_t kind = kind_of(folder, e->d_name);
        c->units = c->units || exact_unit(info, e->d_name);
        if (kind == S_IFREG && mg_place_is_archive(e->d_name)) {
            size_t used = strlen(c->named);
            if (used + strlen(e->d_name) + 3 < sizeof c->named)
                sprintf(c->named + used, "%s%s", used ? ", " : "", e->d_name);
            snprintf(c->archive, sizeof c->archive, "%s", e->d_name);
            c->archives++;
        } else if (kind == S_IFDIR && strcmp(c->folder, info->id) != 0) {
            snprintf(c->folder, sizeof c->folder, "%s", e->d_name);
            c->folders += strcmp(e->d_name, info->id) == 0 ? -c->folders + 1 : 1;
        }
    }
    closedir(list);
    return MT_OK;
}

/* The units here; else those of the one archive, or of the one folder. */
static mt_status take_folder(unpacking *u, const char *folder, int depth)
{
    char inner[PATH_MAX];
    content c;
    mt_status status = look(&c, folder, u->info);
    if (status != MT_OK || c.units || depth == DEEP)
        return status == MT_OK ? collect(u, folder) : status;
    if (c.archives > 1)
        return mt_fail(MT_ERR_FORMAT, "several archives (%s): which one is meant?", c.named);
    if (c.archives == 0 && c.folders != 1)
        return collect(u, folder);
    mg_path(inner, "%s/%s", folder, c.archives ? c.archive : c.folder);
    return c.archives ? collect(u, inner) : take_folder(u, inner, depth + 1);
}

/* ---- pieces --------------------------------------------------------------------------------- */

static mt_status take_loose(unpacking *u, const char *path, const char *name, int unit)
{
    char to[PATH_MAX], *text = malloc(MG_UNIT_BYTES + 1);
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    MT_CHECK(text, "out of memory");
    ssize_t n = fd < 0 ? -1 : read(fd, text, MG_UNIT_BYTES + 1);
    mt_status status = MT_OK;
    mg_path(to, "%s/%s", u->to, u->info->unit[unit]);
    if (n < 0)
        ignore(u, name, strerror(errno));
    else if (n > MG_UNIT_BYTES || mg_place_no_text(text, n))
        ignore(u, name, n > MG_UNIT_BYTES ? "too large" : mg_place_no_text(text, n));
    else
        status = mg_write_file(to, text, (size_t)n);
    if (fd >= 0)
        close(fd);
    free(text);
    return status;
}

static mt_status take_piece(unpacking *u, const mg_class *class, const mg_piece *piece)
{
    char path[PATH_MAX];
    mode_t kind = kind_of(class->folder, piece->path);
    int unit = unit_of(u->info, piece->name);
    mg_path(path, "%s/%s", class->folder, piece->path);
    if (kind == S_IFDIR)
        return take_folder(u, path, 0);
    if (kind == S_IFREG && unit >= 0)
        return take_loose(u, path, piece->name, unit);
    if (kind == S_IFREG && (mg_place_is_archive(piece->name) || !strchr(piece->name, '.')))
        return collect(u, path);
    ignore(u, piece->name,
           kind == S_IFLNK   ? "a symbolic link"
           : kind == S_IFREG ? "neither a unit nor a tar or zip archive"
                             : "not a regular file");
    return MT_OK;
}

/* The digest of all units that were taken, in lab.json's order. False: there are none. */
static bool hash_units(const unpacking *u, uint64_t *digest)
{
    char path[PATH_MAX], *text = malloc(MG_UNIT_BYTES);
    bool found = false;
    MT_CHECK(text, "out of memory");
    for (int i = 0; i < u->info->units; i++) {
        mg_path(path, "%s/%s", u->to, u->info->unit[i]);
        FILE *file = fopen(path, "re");
        if (!file)
            continue;
        size_t n = fread(text, 1, MG_UNIT_BYTES, file);
        fclose(file);
        *digest = mg_hash(mg_hash(*digest, u->info->unit[i], strlen(u->info->unit[i]) + 1), text, n);
        found = true;
    }
    free(text);
    return found;
}

mt_status mg_handin_unpack(const char *to, const mg_class *class, const mg_handin *handin, const mg_labinfo *info,
                           char *ignored, size_t size, uint64_t *digest)
{
    unpacking u = { to, info, ignored, size };
    mt_status status = MT_OK;
    ignored[0] = 0;
    *digest = MG_HASH;
    for (int64_t i = 0; status == MT_OK && i < handin->pieces; i++) /* the latest last: its units replace others */
        status = take_piece(&u, class, &handin->piece[i]);
    if (status == MT_OK && !hash_units(&u, digest))
        status = handin->pieces == 0
                     ? mt_fail(MT_ERR_FORMAT, "the export names this submission, but its folder is missing")
                     : mt_fail(MT_ERR_FORMAT, "no usable %s%s%s%s", info->unit[0], info->units > 1 ? ", ..." : "",
                               ignored[0] ? "; ignored: " : "", ignored);
    if (status != MT_OK)
        *digest = mg_hash(MG_HASH, mt_last_error(), strlen(mt_last_error()));
    return status;
}
