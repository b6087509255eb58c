/* disk.h -- the folder a batch writes to: its lock, its room. */
#pragma once

#include "progress.h"

#include <limits.h>

/* mg_disk_full -- the folder, `out` or /tmp, where less than `room` MiB are free; NULL: there is enough room. */
const char *mg_disk_full(const char *out, int64_t room);

/* mg_disk_wait -- pause, with words, until there is room or mg_stop. */
void mg_disk_wait(mg_progress *progress, const char *out, int64_t room);

/* mg_disk_lock -- no other batch works in `out` until this process ends; fails while another does. */
mt_status mg_disk_lock(const char *out);
