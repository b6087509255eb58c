/* faults_calls.h -- for faults.c: the calls of the operating system that core/io_posix.c makes; the n-th one fails.
 *
 * A program's own definitions take the place of the C library's for everything that is linked into it. */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
    _Atomic int64_t calls, fail_at; /* the call that fails, counted from 0; -1: none */
    int error;                      /* 0: a write writes half, and no other call fails */
    _Atomic bool failed;
    const char *what; /* the name of the call that failed */
} faults_os = { .fail_at = -1 };

/* faults_fail -- the n-th call from now fails with this errno; n < 0: none does. */
static inline void faults_fail(int64_t n, int error)
{
    faults_os.what = "";
    faults_os.error = error;
    faults_os.failed = false;
    faults_os.calls = 0;
    faults_os.fail_at = n;
}

/* Whether this call fails. */
static bool faults_now(const char *what)
{
    if (faults_os.fail_at < 0 || faults_os.calls++ != faults_os.fail_at)
        return false;
    errno = faults_os.error;
    faults_os.failed = true;
    faults_os.what = what;
    return errno != 0;
}

#define FAULTS_CALL(name, arguments, ...)                          \
    int name arguments                                             \
    {                                                              \
        return faults_now(#name) ? -1 : (int)syscall(__VA_ARGS__); \
    }
FAULTS_CALL(fsync, (int fd), SYS_fsync, fd)
FAULTS_CALL(rename, (const char *from, const char *to), SYS_rename, from, to)
FAULTS_CALL(mkdir, (const char *path, mode_t mode), SYS_mkdir, path, mode)
FAULTS_CALL(linkat, (int a, const char *from, int b, const char *to, int flags), SYS_linkat, a, from, b, to, flags)
FAULTS_CALL(flock, (int fd, int what), SYS_flock, fd, what)
#undef FAULTS_CALL

int open(const char *path, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    int mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, int) : 0;
    va_end(rest);
    return faults_now("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    int64_t before = faults_os.calls;
    bool fails = faults_now("write");
    size_t part = faults_os.failed && before == faults_os.fail_at ? (bytes + 1) / 2 : bytes;
    return fails ? -1 : syscall(SYS_pwrite64, fd, data, part, at);
}

int remove(const char *path)
{
    if (faults_now("remove"))
        return -1;
    int result = (int)syscall(SYS_unlink, path);
    return result != 0 && errno == EISDIR ? (int)syscall(SYS_rmdir, path) : result;
}

/* As on a network file system: the descriptor is closed, and what was written is not all there. */
int close(int fd)
{
    bool fails = faults_now("close");
    int problem = errno, result = (int)syscall(SYS_close, fd);
    errno = fails ? problem : errno;
    return fails ? -1 : result;
}
