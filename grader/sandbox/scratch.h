/* scratch.h -- a private folder for one grading, removed at the end, however the grader ends.
 *
 * A small process, the janitor, waits until a pipe from the grader is closed, which happens even after SIGKILL. Then it
 * kills what is left of the sandboxes and removes the folder. No other user can read it (mode 0700); as root, it
 * belongs to the uid of the sandboxes. */
#pragma once

#include "core/base.h"

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

typedef struct mg_scratch {
    char path[PATH_MAX / 8];
    int alive; /* our end of the janitor's pipe */
    pid_t janitor;
    mode_t mask; /* the umask before; while the scratch folder is open it is 022, because the sandboxed uid must read */
} mg_scratch;

mt_status mg_scratch_open(mg_scratch *scratch);
void mg_scratch_close(mg_scratch *scratch);

/* mg_janitor_note -- a process was started that must not outlive us, or (-pid) has ended. Without a janitor, does
 * nothing. */
void mg_janitor_note(pid_t pid);

/* mg_path -- a path made by printf into a buffer of PATH_MAX; aborts when it is too long. */
void mg_path(char path[PATH_MAX], const char *fmt, ...) MT_PRINTF(2, 3);

/* mg_folder -- make a folder and those above it; one that sandboxed programs may write when `shared`. */
mt_status mg_folder(const char *path, bool shared);

/* mg_remove_tree -- remove a folder and all in it; links are not followed. */
void mg_remove_tree(char *path);

/* mg_write_file, mg_copy_file -- a new file (0644, or 0755 when the source is executable, without the bits of the
 * umask: sandboxed programs can read what is written while a scratch folder is open, nobody what a batch keeps). */
mt_status mg_write_file(const char *path, const void *bytes, size_t count);
mt_status mg_copy_file(const char *to, const char *from);

/* mg_share_file -- the same for a file that nobody will write, here or there: a hard link where that is possible, since
 * to make and remove hundreds of files takes half of a short grading. */
mt_status mg_share_file(const char *to, const char *from);

/* mg_share_tree -- share all files below `from` whose names end with `suffix`, keeping their folders, but for the
 * folders of `from` that `without` names (NULL: none). */
mt_status mg_share_tree(const char *to, const char *from, const char *suffix, const char *without);
