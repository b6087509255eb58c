/* slot.c -- see slot.h. */
#include "search/slot.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "cli/cli.h"
#include "search/result.h"

enum { LEAST_ROOM = 1 << 16 }; /* bytes; a disk with less is full */

static int remove_entry(const char *path, const struct stat *info, int flag, struct FTW *at)
{
    (void)info, (void)flag, (void)at;
    return remove(path);
}

mt_status mt_slot_start(mt_slot *slot, const char *command, const mt_space *space, int64_t number, const mt_job *job,
                        const char *dir, int64_t threads)
{
    char text[MT_COMMAND_BYTES];
    mt_slot new = { .job = number, .started = mt_now() };
    if (snprintf(new.dir, sizeof new.dir, "%s", dir) >= (int)sizeof new.dir)
        return mt_fail(MT_ERR_ARGUMENT, "%.200s...: the path is too long", dir);
    snprintf(new.log, sizeof new.log, "%s.log", new.dir);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    mt_status status = mt_cli_folder(dir);
    if (status == MT_OK)
        status = mt_command_fill(text, command, space, job, dir);
    if (status == MT_OK)
        status = mt_child_start(&new.child, text, new.log, threads);
    if (status == MT_OK)
        *slot = new;
    return status;
}

static mt_trial_value metrics(const mt_slot *slot, const char *metric)
{
    char csv[sizeof slot->dir + 16];
    snprintf(csv, sizeof csv, "%s/metrics.csv", slot->dir);
    return mt_trial_metrics(csv, metric);
}

static mt_sweep_row judge(const mt_slot *slot, const char *metric, int status)
{
    mt_sweep_row row = { .end = slot->killed, .seconds = mt_now() - slot->started };
    mt_trial_value v = metrics(slot, metric);
    if (!v.found)
        v = mt_trial_output(slot->log, metric);
    row.value = v.value;
    if (v.diverged)
        row.end = MT_END_DIVERGED;
    else if (slot->killed == MT_END_DONE && (status != 0 || !v.found))
        row.end = MT_END_FAILED;
    return row;
}

static bool is_full(const mt_slot *slot)
{
    struct statvfs disk;
    return (statvfs(slot->dir, &disk) == 0 && disk.f_bavail * disk.f_frsize < LEAST_ROOM) ||
           mt_trial_says(slot->log, strerror(ENOSPC)) || mt_trial_says(slot->log, strerror(EDQUOT));
}

bool mt_slot_ended(mt_slot *slot, const char *metric, double timeout, mt_sweep_row *row)
{
    int status;
    if (slot->killed == MT_END_DONE) {
        if (timeout > 0 && mt_now() - slot->started > timeout)
            slot->killed = MT_END_TIMEOUT;
        else if (metrics(slot, metric).diverged)
            slot->killed = MT_END_DIVERGED;
        if (slot->killed != MT_END_DONE)
            mt_child_kill(slot->child);
    }
    if (!mt_child_ended(slot->child, &status))
        return false;
    *row = judge(slot, metric, status);
    slot->struck = slot->killed == MT_END_DONE && (WIFSIGNALED(status) || WEXITSTATUS(status) > 128);
    slot->full = row->end == MT_END_FAILED && is_full(slot);
    slot->job = -1;
    return true;
}

void mt_slot_stop(mt_slot *slot)
{
    int status;
    mt_child_kill(slot->child);
    while (!mt_child_ended(slot->child, &status))
        mt_child_wait(0.1);
    slot->job = -1;
}
