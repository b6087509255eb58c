/* disk.c -- see disk.h. */
#include "disk.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { FILES = 100 }; /* so many inodes, where a file system has a table of them */

static int64_t free_mib(const char *path)
{
    struct statvfs disk;
    if (statvfs(path, &disk))
        return INT64_MAX;
    return disk.f_files && disk.f_favail < FILES ? 0 : (int64_t)(disk.f_bavail * (disk.f_frsize >> 10) >> 10);
}

const char *mg_disk_full(const char *out, int64_t room)
{
    return free_mib(out) < room ? out : free_mib("/tmp") < room ? "/tmp" : NULL;
}

void mg_disk_wait(mg_progress *p, const char *out, int64_t room)
{
    const char *full;
    for (int tries = 0; !mg_stop && (full = mg_disk_full(out, room)); tries++) {
        if (tries % 30 == 0)
            mg_progress_say(p,
                            "pause: %s has less than %lld MiB free, or no room for more files; goes on by itself when "
                            "there is room, nothing that was graded is lost",
                            full, (long long)room);
        sleep(2);
    }
}

mt_status mg_disk_lock(const char *out)
{
    char path[PATH_MAX];
    mg_path(path, "%s/.lock", out);
    int lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644); /* held until we end */
    if (lock < 0)
        return mt_fail(MT_ERR_IO, "%s: %s; OUT= names another folder", path, strerror(errno));
    return flock(lock, LOCK_EX | LOCK_NB) == 0 ? MT_OK
                                               : mt_fail(MT_ERR_UNAVAILABLE, "another batch is working in %s", out);
}
