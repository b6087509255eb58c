/* disk.c -- see disk.h. */
#include "disk.h"

#include <fts.h>
#include <stdio.h>
#include <sys/statvfs.h>

static int64_t free_mib(const char *path)
{
    struct statvfs disk;
    return statvfs(path, &disk) ? INT64_MAX : (int64_t)(disk.f_bavail * (disk.f_frsize >> 10) >> 10);
}

const char *mg_disk_full(const char *out, int64_t room)
{
    return free_mib(out) < room ? out : free_mib("/tmp") < room ? "/tmp" : NULL;
}

void mg_remove_tree(char *path)
{
    FTS *tree = fts_open((char *const[]){ path, NULL }, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; tree && (e = fts_read(tree));)
        if (e->fts_info != FTS_D)
            remove(e->fts_accpath);
    if (tree)
        fts_close(tree);
}
