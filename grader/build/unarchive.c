/* unarchive.c -- the units in an untrusted archive.
 *
 * libarchive parses archives in a child process with limited time and memory and without root, which sends the units
 * through a pipe; if a hostile archive crashes it, the report says so. */
#include "build/place.h"
#include "build/submission.h"
#include "sandbox/sandbox.h"
#include "sandbox/scratch.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { UNPACKED_MIB = 1024, INNER_MIB = 64, PARSE_SECONDS = 20, PARSE_MIB = 512, IGNORED = 480 };

/* One message of the child: a unit's text (unit >= 0, then `bytes` bytes) or a remark (unit < 0). */
typedef struct message {
    int32_t unit;
    int32_t bytes;
} message;

/* ---- archives: the child -------------------------------------------------------------------- */

/* Why an entry is not taken as this unit, of this rank, or NULL. */
static const char *refusal(const mg_found *f, struct archive_entry *entry, const char *path, int unit, int rank)
{
    if (path[0] == '/' || strcmp(path, "..") == 0 || strncmp(path, "../", 3) == 0 || strstr(path, "/../"))
        return "a path that leaves the archive";
    if (archive_entry_hardlink(entry))
        return "a hard link";
    if (archive_entry_filetype(entry) == AE_IFLNK)
        return "a symbolic link";
    if (archive_entry_filetype(entry) != AE_IFREG)
        return "not a regular file";
    if (unit < 0)
        return "not a unit";
    if (archive_entry_size(entry) > MG_UNIT_BYTES)
        return "too large";
    return rank >= f->rank[unit] ? "a second copy" : NULL;
}

static bool send_message(int out, int unit, const void *bytes, size_t count)
{
    message m = { .unit = unit, .bytes = (int32_t)count };
    return write(out, &m, sizeof m) == sizeof m && (count == 0 || write(out, bytes, count) == (ssize_t)count);
}

/* In any encoding: a name that cannot be converted to ours is a warning of libarchive, not an error. */
static const char *name_of(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname(entry);
    if (!name)
        name = archive_entry_pathname_utf8(entry);
    return name ? name : "a name in an unknown encoding";
}

/* Read an entry's data, at most `most` bytes. Returns the data and *count, or NULL and the reason in *why. */
static char *data_of(struct archive *a, struct archive_entry *entry, size_t most, size_t *count, const char **why)
{
    char *text = malloc(most + 1);
    la_ssize_t n = text ? archive_read_data(a, text, most + 1) : -1;
    *why = n > (la_ssize_t)most                        ? "too large"
           : n >= 0                                    ? NULL
           : text && archive_entry_is_encrypted(entry) ? "encrypted"
                                                       : "damaged";
    *count = n > 0 ? (size_t)n : 0;
    if (*why) {
        free(text);
        text = NULL;
    }
    return text;
}

static struct archive *new_reader(void)
{
    struct archive *a = archive_read_new();
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    return a;
}

static void send_entries(mg_found *f, struct archive *a, int out, const char *above);

/* An archive in the archive. */
static const char *send_inner(mg_found *f, struct archive *a, struct archive_entry *entry, int out, const char *path)
{
    const char *why;
    char above[PATH_MAX + 1];
    size_t count;
    char *bytes = data_of(a, entry, (size_t)INNER_MIB << 20, &count, &why);
    if (!bytes)
        return why;
    struct archive *inner = new_reader();
    snprintf(above, sizeof above, "%s/", path);
    if (archive_read_open_memory(inner, bytes, count) != ARCHIVE_OK)
        why = "not a tar or zip archive";
    else
        send_entries(f, inner, out, above);
    archive_read_free(inner);
    free(bytes);
    return why;
}

static const char *send_unit(mg_found *f, struct archive *a, struct archive_entry *entry, int out, const char *path,
                             int unit, int rank)
{
    const char *why;
    size_t count;
    char *text = data_of(a, entry, MG_UNIT_BYTES, &count, &why);
    if (text)
        why = mg_place_no_text(text, (int64_t)count);
    if (!why && send_message(out, unit, text, count))
        mg_found_take(f, unit, rank, path);
    free(text);
    return why;
}

static void send_entry(mg_found *f, struct archive *a, struct archive_entry *entry, int out, const char *above)
{
    char path[PATH_MAX];
    const char *own = name_of(entry);
    int rank = 0;
    snprintf(path, sizeof path, "%s%s", above, own);
    int unit = mg_place(f->info, path, &rank);
    bool plain = archive_entry_filetype(entry) == AE_IFREG;
    if (archive_entry_filetype(entry) == AE_IFDIR || mg_place_is_litter(path) ||
        (unit < 0 && plain && mg_found_is_other(f, basename(own))))
        return;
    const char *why = refusal(f, entry, own, unit, rank);
    if (!why)
        why = send_unit(f, a, entry, out, path, unit, rank);
    else if (unit < 0 && plain && mg_place_is_archive(own))
        why = above[0] ? "an archive in an archive in an archive" : send_inner(f, a, entry, out, path);
    if (why)
        mg_found_ignore(f, path, why);
}

static void send_entries(mg_found *f, struct archive *a, int out, const char *above)
{
    struct archive_entry *entry;
    int code = ARCHIVE_OK;
    while (f->files < MG_ENTRIES && (code = archive_read_next_header(a, &entry)) >= ARCHIVE_WARN &&
           code != ARCHIVE_EOF) {
        f->files++;
        if (archive_filter_bytes(a, 0) > (int64_t)UNPACKED_MIB << 20) {
            mg_found_ignore(f, "the rest", "more than 1 GiB unpacked");
            return;
        }
        send_entry(f, a, entry, out, above);
    }
    if (code != ARCHIVE_EOF && f->files == MG_ENTRIES)
        snprintf(f->ignored, f->size, "the rest (more than %d files)", MG_ENTRIES);
    if (code < ARCHIVE_WARN)
        mg_found_ignore(f, archive_error_string(a) ? archive_error_string(a) : "damaged", "while unpacking");
}

MT_NORETURN static void unpack(int in, int out, const mg_labinfo *info)
{
    char ignored[IGNORED] = "";
    mg_found f;
    struct archive *a = new_reader();
    mg_found_begin(&f, info, ignored, sizeof ignored);
    setlocale(LC_CTYPE, "C.UTF-8"); /* for names that are not ASCII */
    setrlimit(RLIMIT_CPU, &(struct rlimit){ PARSE_SECONDS, PARSE_SECONDS });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* sanitizers map terabytes */
    setrlimit(RLIMIT_AS, &(struct rlimit){ (rlim_t)PARSE_MIB << 20, (rlim_t)PARSE_MIB << 20 });
#endif
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (!mg_drop_root())
        _exit(1);
    if (archive_read_open_fd(a, in, 1 << 16) != ARCHIVE_OK)
        mg_found_ignore(&f, "everything", "not a tar or zip archive");
    else
        send_entries(&f, a, out, "");
    send_message(out, -1, ignored, strlen(ignored));
    _exit(0);
}

/* ---- archives: the parent ------------------------------------------------------------------- */

static bool read_all(int fd, void *to, size_t count)
{
    for (size_t have = 0; have < count;) {
        ssize_t n = read(fd, (char *)to + have, count - have);
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

/* Every message is checked, because the child has parsed untrusted data. True if it finished. */
static bool receive(int in, const char *to, const mg_labinfo *info, char *ignored, size_t size)
{
    char path[PATH_MAX], *text = malloc(MG_UNIT_BYTES + 1);
    bool ended = false;
    message m;
    MT_CHECK(text, "out of memory");
    while (!ended && read_all(in, &m, sizeof m)) {
        if (m.unit >= info->units || m.bytes < 0 || m.bytes > MG_UNIT_BYTES || !read_all(in, text, (size_t)m.bytes))
            break;
        text[m.bytes] = 0;
        ended = m.unit < 0;
        if (ended) {
            snprintf(ignored, size, "%s", text);
        } else {
            mg_path(path, "%s/%s", to, info->unit[m.unit]);
            if (mg_write_file(path, text, (size_t)m.bytes) != MT_OK)
                break;
        }
    }
    free(text);
    return ended;
}

mt_status mg_unarchive(const char *to, int archive, const mg_labinfo *info, char *ignored, size_t size)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC))
        return mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0)
        unpack(archive, pipes[1], info);
    close(pipes[1]);
    bool ended = pid > 0 && receive(pipes[0], to, info, ignored, size);
    close(pipes[0]);
    if (pid > 0)
        waitpid(pid, NULL, 0);
    return ended ? MT_OK : mt_fail(MT_ERR_FORMAT, "the archive could not be unpacked (too large, or hostile)");
}
