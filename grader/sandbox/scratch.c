/* scratch.c -- the folder, its janitor, and the few file operations that fill it. */
#include "sandbox/scratch.h"
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOTED = 64 }; /* processes at once: two workers of a race and their sandboxes, or a compiler */

void mg_remove_tree(char *path)
{
    FTS *tree = fts_open((char *const[]){ path, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));)
        if (e->fts_info != FTS_D)
            remove(e->fts_accpath);
    if (tree)
        fts_close(tree);
}

static int notes = -1; /* our end of the janitor's pipe */

void mg_janitor_note(pid_t pid)
{
    ssize_t sent = notes < 0 ? 0 : write(notes, &pid, sizeof pid);
    (void)sent; /* the janitor may have been killed */
}

/* The processes noted and not ended. */
static void keep_note(pid_t list[NOTED], pid_t note)
{
    for (int i = 0; i < NOTED; i++)
        if (list[i] == (note > 0 ? 0 : -note)) {
            list[i] = note > 0 ? note : 0;
            return;
        }
}

/* bubblewrap ends with its parent, but not while it sets up the sandbox. */
static void kill_noted(const pid_t list[NOTED])
{
    for (int i = 0; i < NOTED; i++)
        if (list[i] > 0) {
            kill(list[i], SIGKILL);
            kill(-list[i], SIGKILL);
        }
}

MT_NORETURN static void janitor(char *path, int alive)
{
    pid_t noted[NOTED] = { 0 }, note;
    ssize_t n;
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        signal(signal_number, SIG_IGN);
    setsid();
    dup2(alive, 0);
    syscall(SYS_close_range, 1, ~0u, 0);
    while ((n = read(0, &note, sizeof note)) == sizeof note || (n < 0 && errno == EINTR))
        if (n > 0)
            keep_note(noted, note);
    kill_noted(noted);
    mg_remove_tree(path);
    _exit(0);
}

mt_status mg_scratch_open(mg_scratch *s)
{
    const char *base = getenv("TMPDIR");
    int alive[2];
    snprintf(s->path, sizeof s->path, "%s/minitorch-grade-XXXXXX", base && base[0] == '/' && geteuid() ? base : "/tmp");
    if (pipe2(alive, O_CLOEXEC))
        return mt_fail(MT_ERR_IO, "pipe: %s", strerror(errno));
    /* 0700 as mkdtemp makes it; as root, the uid of the sandboxes must pass through it */
    if (!mkdtemp(s->path) || (mg_uid() != geteuid() && chown(s->path, mg_uid(), mg_uid()))) {
        close(alive[0]);
        close(alive[1]);
        return mt_fail(MT_ERR_IO, "%s: %s", s->path, strerror(errno));
    }
    fflush(NULL);
    s->janitor = fork();
    if (s->janitor == 0)
        janitor(s->path, (close(alive[1]), alive[0]));
    close(alive[0]);
    s->alive = notes = alive[1];
    s->mask = umask(022);
    return s->janitor > 0 ? MT_OK : mt_fail(MT_ERR_IO, "fork: %s", strerror(errno));
}

void mg_scratch_close(mg_scratch *s)
{
    if (s->janitor <= 0)
        return;
    umask(s->mask);
    notes = -1;
    close(s->alive);
    waitpid(s->janitor, NULL, 0);
    s->janitor = 0;
}

void mg_path(char path[PATH_MAX], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(path, PATH_MAX, fmt, args);
    va_end(args);
    MT_CHECK(n >= 0 && n < PATH_MAX, "path too long: %.200s...", path);
}

mt_status mg_folder(const char *path, bool shared)
{
    char part[PATH_MAX];
    mg_path(part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(part, 0755);
        *slash = '/';
    }
    if ((mkdir(path, 0755) && errno != EEXIST) || (shared && mg_uid() != geteuid() && chown(path, mg_uid(), mg_uid())))
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    return MT_OK;
}

static mt_status write_new(const char *path, const void *bytes, size_t count, mode_t mode)
{
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    size_t done = 0;
    while (fd >= 0 && done < count) {
        ssize_t n = write(fd, (const char *)bytes + done, count - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    bool good = fd >= 0 && done == count;
    if (fd >= 0 && close(fd))
        good = false;
    return good ? MT_OK : mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
}

mt_status mg_write_file(const char *path, const void *bytes, size_t count)
{
    return write_new(path, bytes, count, 0644);
}

mt_status mg_copy_file(const char *to, const char *from)
{
    struct stat st;
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st)) {
        mt_status status = mt_fail(MT_ERR_IO, "%s: %s", from, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    char *bytes = malloc((size_t)st.st_size + 1);
    MT_CHECK(bytes, "out of memory copying %s", from);
    ssize_t n = read(fd, bytes, (size_t)st.st_size);
    mt_status status = n == st.st_size ? write_new(to, bytes, (size_t)n, st.st_mode & 0100 ? 0755 : 0644)
                                       : mt_fail(MT_ERR_IO, "%s: could not read it all", from);
    free(bytes);
    close(fd);
    return status;
}

mt_status mg_share_file(const char *to, const char *from)
{
    struct stat st;
    bool readable = stat(from, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IROTH &&
                    !(st.st_mode & S_IXUSR) == !(st.st_mode & S_IXOTH);
    if (readable && linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW) == 0)
        return MT_OK;
    return mg_copy_file(to, from); /* on another file system, or another user's */
}

mt_status mg_share_tree(const char *to, const char *from, const char *suffix, const char *without)
{
    char root[PATH_MAX], path[PATH_MAX];
    mt_status status = MT_OK;
    mg_path(root, "%s", from);
    FTS *tree = fts_open((char *const[]){ root, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!tree)
        return mt_fail(MT_ERR_IO, "%s: %s", from, strerror(errno));
    for (FTSENT *e; status == MT_OK && (e = fts_read(tree));) {
        size_t ending = strlen(suffix);
        mg_path(path, "%s%s", to, e->fts_path + strlen(from));
        if (e->fts_info == FTS_D && without && e->fts_level == 1 && strstr(without, e->fts_name))
            fts_set(tree, e, FTS_SKIP);
        else if (e->fts_info == FTS_D)
            status = mg_folder(path, false);
        else if (e->fts_info == FTS_F && e->fts_namelen >= ending &&
                 strcmp(e->fts_name + e->fts_namelen - ending, suffix) == 0)
            status = mg_share_file(path, e->fts_path);
    }
    fts_close(tree);
    return status;
}
