/* kill_at.c -- a training program that is killed (SIGKILL) at a step: a library for LD_PRELOAD (test_train_again.sh).
 *
 *     KILL_AT=STEP:HOW LD_PRELOAD=kill_at.so PROGRAM ...
 *
 * row: when metrics.csv has the row of that step; half: when it has half of it; checkpoint: while that step's
 * checkpoint is written, before the first of its files has its name. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether the program is killed so, and then "PREFIX STEP SUFFIX" of that step. */
static int is_at(char *text, size_t size, const char *how, const char *prefix, const char *suffix)
{
    const char *at = getenv("KILL_AT"), *colon = at ? strchr(at, ':') : NULL;
    if (!colon || strcmp(colon + 1, how) != 0)
        return 0;
    snprintf(text, size, "%s%.*s%s", prefix, (int)(colon - at), at, suffix);
    return 1;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    char row[32];
    int half = is_at(row, sizeof row, "half", "", ","), here = half || is_at(row, sizeof row, "row", "", ",");
    here = here && bytes > strlen(row) && memcmp(data, row, strlen(row)) == 0;
    ssize_t written = syscall(SYS_write, fd, data, here && half ? bytes / 2 : bytes);
    if (here)
        kill(getpid(), SIGKILL);
    return written;
}

int rename(const char *from, const char *to)
{
    char folder[64];
    if (is_at(folder, sizeof folder, "checkpoint", "/step-", "/") && strstr(to, folder))
        kill(getpid(), SIGKILL);
    return renameat(AT_FDCWD, from, AT_FDCWD, to);
}
