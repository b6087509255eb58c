/* disk.h -- the folder a batch writes to: its name, its lock, its room; and folders that are made again. */
#ifndef MG_DISK_H
#define MG_DISK_H

#include "progress.h"

#include <limits.h>

/* mg_disk_full -- the folder, `out` or /tmp, where less than `room` MiB are free; NULL: there is enough room. */
const char *mg_disk_full(const char *out, int64_t room);

/* mg_disk_wait -- pause, with words, until there is room or mg_stop. */
void mg_disk_wait(mg_progress *progress, const char *out, int64_t room);

/* mg_disk_lock -- no other batch works in `out` until this process ends; fails while another does. */
mt_status mg_disk_lock(const char *out);

/* mg_batch_out -- the folder of gradebook and reports: `out`, or FOLDER.graded beside the submissions. */
void mg_batch_out(char path[PATH_MAX], const char *folder, const char *out);

/* mg_remove_tree -- remove a folder and all in it; links are not followed. */
void mg_remove_tree(char *path);

#endif
