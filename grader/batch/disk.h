/* disk.h -- room on the disk, and folders that are made again. */
#ifndef MG_DISK_H
#define MG_DISK_H

#include "core/base.h"

/* mg_disk_full -- the folder, `out` or /tmp, where less than `room` MiB are free; NULL: there is enough room. */
const char *mg_disk_full(const char *out, int64_t room);

/* mg_remove_tree -- remove a folder and all in it; links are not followed. */
void mg_remove_tree(char *path);

#endif
