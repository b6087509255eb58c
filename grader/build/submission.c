/* submission.c -- untrusted folders and archives.
 *
 * libarchive parses archives in a child process with limited time and memory and without root, which sends the units
 * through a pipe; if a hostile archive crashes it, the report says so. */
#include "build/submission.h"
#include "sandbox/scratch.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENTRIES = 10000, UNPACKED = 64 << 20, PARSE_SECONDS = 20, PARSE_MIB = 512, IGNORED = 480 };

/* One message of the child: a unit's text (unit >= 0, then `bytes` bytes) or a remark (unit < 0). */
typedef struct message {
    int32_t unit;
    int32_t bytes;
} message;

static void ignore(char *list, size_t size, const char *name, const char *why)
{
    char clean[64];
    size_t used = strlen(list), n = 0;
    for (const char *p = name; *p && n < sizeof clean - 1; p++)
        clean[n++] = *p >= ' ' && *p < 127 ? *p : '?'; /* file names are untrusted text too */
    clean[n] = 0;
    if (used < size)
        snprintf(list + used, size - used, "%s%s (%s)", used ? ", " : "", clean, why);
}

static int unit_index(const mg_labinfo *info, const char *name)
{
    for (int i = 0; i < info->units; i++)
        if (strcmp(name, info->unit[i]) == 0)
            return i;
    return -1;
}

/* Whether it is a unit of another lab that is graded along with this one. */
static bool is_other(const mg_labinfo *info, const char *name)
{
    for (int i = 0; i < info->others; i++)
        if (strcmp(name, info->other[i]) == 0)
            return true;
    return false;
}

/* ---- folders -------------------------------------------------------------------------------- */

/* Whether it belongs in the folder of a lab without being a unit. */
static bool is_given(const char *name)
{
    static const char *const given[] = { "README.md", "ANSWERS.md", "lab.json", "images" };
    for (int i = 0; i < MT_COUNT(given); i++)
        if (strcmp(name, given[i]) == 0)
            return true;
    return false;
}

/* Why a file is not taken, or NULL. It is opened before it is examined, so that it cannot change in between. */
static const char *take_file(const char *to, int folder, const char *name)
{
    char path[PATH_MAX];
    struct stat st;
    const char *why = NULL;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP ? "a symbolic link" : strerror(errno);
    char *text = malloc(MG_UNIT_BYTES);
    MT_CHECK(text, "out of memory");
    if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
        why = "not a regular file";
    } else if (st.st_size > MG_UNIT_BYTES) {
        why = "too large";
    } else {
        ssize_t n = read(fd, text, MG_UNIT_BYTES);
        mg_path(path, "%s/%s", to, name);
        if (n < 0 || mg_write_file(path, text, (size_t)n) != MT_OK)
            why = "could not be copied";
    }
    free(text);
    close(fd);
    return why;
}

/* labs/NN-name below a folder, or the folder itself when it has none; no symbolic links are followed. */
static DIR *open_folder(int top, const char *id)
{
    int labs = openat(top, "labs", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int home = labs < 0 ? -1 : openat(labs, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(labs);
    return fdopendir(home >= 0 ? home : dup(top));
}

static mt_status collect_folder(const char *to, int top, const mg_labinfo *info, char *ignored, size_t size)
{
    DIR *folder = open_folder(top, info->id);
    if (!folder)
        return mt_fail(MT_ERR_IO, "cannot read the folder: %s", strerror(errno));
    for (struct dirent *e; (e = readdir(folder));) {
        const char *why = NULL;
        if (unit_index(info, e->d_name) >= 0)
            why = take_file(to, dirfd(folder), e->d_name);
        else if (e->d_name[0] != '.' && !is_given(e->d_name) && !is_other(info, e->d_name))
            why = "not a unit";
        if (why)
            ignore(ignored, size, e->d_name, why);
    }
    closedir(folder);
    return MT_OK;
}

/* ---- archives: the child -------------------------------------------------------------------- */

/* The unit of a path in an archive: unit, folder/unit, or .../labs/NN-name/unit; -1 for none. */
static int unit_of_path(const mg_labinfo *info, const char *path)
{
    char home[64];
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path, *first = strchr(path, '/');
    int unit = unit_index(info, name);
    int n = snprintf(home, sizeof home, "labs/%s/%s", info->id, name);
    size_t length = strlen(path);
    bool at_home = length >= (size_t)n && strcmp(path + length - (size_t)n, home) == 0;
    return first && first + 1 != name && !at_home ? -1 : unit;
}

static bool is_archive(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending && (strcmp(ending, ".zip") == 0 || strcmp(ending, ".gz") == 0 || strcmp(ending, ".tar") == 0);
}

static const char *refusal(struct archive_entry *entry, const char *path, bool *taken, int unit)
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
        return is_archive(path) ? "an archive in the archive" : "not a unit";
    if (archive_entry_size(entry) > MG_UNIT_BYTES)
        return "too large";
    return taken[unit] ? "a second copy" : NULL;
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

static void send_entries(struct archive *a, int out, const mg_labinfo *info, char *ignored)
{
    bool taken[MG_UNITS] = { false };
    struct archive_entry *entry;
    char *text = malloc(MG_UNIT_BYTES);
    int code = ARCHIVE_OK, files = 0;
    for (;
         text && files < ENTRIES && (code = archive_read_next_header(a, &entry)) >= ARCHIVE_WARN && code != ARCHIVE_EOF;
         files++) {
        const char *path = name_of(entry);
        if (archive_entry_filetype(entry) == AE_IFDIR)
            continue;
        int unit = unit_of_path(info, path);
        if (unit < 0 && archive_entry_filetype(entry) == AE_IFREG && is_other(info, basename(path)))
            continue;
        const char *why = refusal(entry, path, taken, unit);
        la_ssize_t n = why ? 0 : archive_read_data(a, text, MG_UNIT_BYTES);
        if (n < 0)
            why = archive_entry_is_encrypted(entry) ? "encrypted" : "damaged";
        if (why)
            ignore(ignored, IGNORED, path, why);
        else
            taken[unit] = send_message(out, unit, text, (size_t)n);
        if (archive_filter_bytes(a, 0) > UNPACKED || archive_entry_size(entry) > UNPACKED) {
            ignore(ignored, IGNORED, "the rest", "more than 64 MiB unpacked");
            break;
        }
    }
    if (code != ARCHIVE_EOF && files == ENTRIES)
        snprintf(ignored, IGNORED, "the rest (more than %d files)", ENTRIES);
    if (code < ARCHIVE_WARN)
        ignore(ignored, IGNORED, archive_error_string(a) ? archive_error_string(a) : "damaged", "while unpacking");
    free(text);
}

MT_NORETURN static void unpack(int in, int out, const mg_labinfo *info)
{
    char ignored[IGNORED] = "";
    struct archive *a = archive_read_new();
    setlocale(LC_CTYPE, "C.UTF-8"); /* for names that are not ASCII */
    setrlimit(RLIMIT_CPU, &(struct rlimit){ PARSE_SECONDS, PARSE_SECONDS });
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* sanitizers map terabytes */
    setrlimit(RLIMIT_AS, &(struct rlimit){ (rlim_t)PARSE_MIB << 20, (rlim_t)PARSE_MIB << 20 });
#endif
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, 0 });
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    if (!mg_drop_root())
        _exit(1);
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    if (archive_read_open_fd(a, in, 1 << 16) != ARCHIVE_OK)
        ignore(ignored, sizeof ignored, "everything", "not a tar or zip archive");
    else
        send_entries(a, out, info, ignored);
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

static mt_status collect_archive(const char *to, int archive, const mg_labinfo *info, char *ignored, size_t size)
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

mt_status mg_submission_collect(const char *to, const char *from, const mg_labinfo *info, char *ignored, size_t size)
{
    char path[PATH_MAX];
    struct stat st;
    bool found = false;
    ignored[0] = 0;
    int fd = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &st)) {
        mt_status status = mt_fail(MT_ERR_ARGUMENT, "%s: %s", from, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    mt_status status = S_ISDIR(st.st_mode)   ? collect_folder(to, fd, info, ignored, size)
                       : S_ISREG(st.st_mode) ? collect_archive(to, fd, info, ignored, size)
                                             : mt_fail(MT_ERR_ARGUMENT, "%s: neither a folder nor an archive", from);
    close(fd);
    for (int i = 0; status == MT_OK && i < info->units; i++) {
        mg_path(path, "%s/%s", to, info->unit[i]);
        found = found || access(path, R_OK) == 0;
    }
    return status != MT_OK || found ? status
                                    : mt_fail(MT_ERR_ARGUMENT, "%s: no usable %s%s%s", from, info->unit[0],
                                              ignored[0] ? "; ignored: " : "", ignored);
}
