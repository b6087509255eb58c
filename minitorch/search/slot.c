/* slot.c -- a job of a sweep: its command with values in the place of placeholders, its value from what it writes, and
 * its process (child.c); see slot.h. */
#include "search/slot.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include "cli/cli.h"

/* ---- the command ----------------------------------------------------------------------------------------- */

static const char NAME[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-/";

/* The next {name} from `text` on and its length with braces; NULL: there is none. ${name} is the shell's. */
static const char *placeholder(const char *text, size_t *length)
{
    for (const char *at = text; (at = strchr(at, '{')); at++) {
        size_t name = strspn(at + 1, NAME);
        if (name > 0 && at[1 + name] == '}' && (at == text || at[-1] != '$')) {
            *length = name + 2;
            return at;
        }
    }
    return NULL;
}

static bool is(const char *at, size_t length, const char *name)
{
    return strlen(name) + 2 == length && strncmp(at + 1, name, length - 2) == 0;
}

static bool reserved(const char *at, size_t length)
{
    return is(at, length, "steps") || is(at, length, "trial") || is(at, length, "dir");
}

mt_status mt_command_check(const char *command, const mt_search *search)
{
    const mt_space *space = &search->space;
    size_t length;
    bool steps = false, has[MT_SPACE_DIMENSIONS] = { 0 };
    for (const char *at = command; (at = placeholder(at, &length)); at += length) {
        bool known = reserved(at, length);
        steps |= is(at, length, "steps");
        for (int64_t d = 0; d < space->count; d++)
            if (is(at, length, space->dimension[d].name))
                known = has[d] = true;
        if (!known)
            return mt_fail(MT_ERR_ARGUMENT, "%.*s is neither a hyperparameter of --space nor {steps}, {dir}, {trial}",
                           (int)length, at);
    }
    for (int64_t d = 0; d < space->count; d++) {
        const char *name = space->dimension[d].name;
        if (strcmp(name, "steps") == 0 || strcmp(name, "trial") == 0 || strcmp(name, "dir") == 0)
            return mt_fail(MT_ERR_ARGUMENT, "a hyperparameter cannot be named %s: {%s} is the sweep's", name, name);
        if (!has[d])
            return mt_fail(MT_ERR_ARGUMENT, "the command has no {%s}, so that %s would change nothing", name, name);
    }
    if (search->eta && !steps)
        return mt_fail(MT_ERR_ARGUMENT, "the command has no {steps}, and rungs differ by their steps");
    return MT_OK;
}

/* Within '...', where the shell takes all but ' as it is. */
static void quoted(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

mt_status mt_command_fill(char out[MT_COMMAND_BYTES], const char *command, const mt_space *space, const mt_job *job,
                          const char *dir)
{
    size_t length;
    FILE *text = fmemopen(out, MT_COMMAND_BYTES, "w");
    MT_CHECK(text, "out of memory");
    setbuf(text, NULL); /* or a text that is too long shows only when it is closed */
    for (const char *at; (at = placeholder(command, &length)); command = at + length) {
        fwrite(command, 1, (size_t)(at - command), text);
        if (is(at, length, "steps"))
            fprintf(text, "%" PRId64, job->steps);
        else if (is(at, length, "trial"))
            fprintf(text, "%" PRId64, job->trial);
        else if (is(at, length, "dir"))
            quoted(text, dir);
        for (int64_t d = 0; d < space->count; d++)
            if (is(at, length, space->dimension[d].name))
                fputs(mt_space_value(space, d, &job->point), text);
    }
    fputs(command, text);
    fputc(0, text);
    bool failed = ferror(text) || ftell(text) > MT_COMMAND_BYTES - 1;
    fclose(text);
    return failed ? mt_fail(MT_ERR_ARGUMENT, "the command of a trial is longer than %d bytes", MT_COMMAND_BYTES)
                  : MT_OK;
}

/* ---- the value: from the metrics.csv that it writes, or else from its output ----------------------------- */

typedef struct trial_value {
    bool found, diverged; /* diverged: a row has a value that is not finite */
    double value;         /* of the last row */
} trial_value;

/* Field number `column` of a line, without the line's end; NULL: it has fewer. */
static const char *field(const char *line, int64_t column, size_t *length)
{
    for (; column > 0; column--) {
        line += strcspn(line, ",\r\n");
        if (*line++ != ',')
            return NULL;
    }
    *length = strcspn(line, ",\r\n");
    return line;
}

static int64_t column_of(const char *header, const char *metric)
{
    size_t length;
    const char *name;
    for (int64_t i = 0; (name = field(header, i, &length)); i++)
        if (length == strlen(metric) && strncmp(name, metric, length) == 0)
            return i;
    return -1;
}

/* From the column `metric` of a CSV file; its last line is ignored while it is incomplete. Nothing found: no such
 * file or column, or no row. */
static trial_value value_in_metrics(const char *path, const char *metric)
{
    trial_value v = { 0 };
    char *line = NULL, *end;
    size_t room = 0, length;
    FILE *file = fopen(path, "re");
    int64_t column = file && getline(&line, &room, file) > 0 ? column_of(line, metric) : -1;
    while (column >= 0 && getline(&line, &room, file) > 0 && strchr(line, '\n')) {
        const char *text = field(line, column, &length);
        double value = text ? strtod(text, &end) : 0;
        if (!text || end == text) /* a row without this value */
            continue;
        v.diverged |= !isfinite(value);
        v.found = true;
        v.value = value;
    }
    free(line);
    if (file)
        fclose(file);
    return v;
}

/* From the last `metric=NUMBER` of a log. */
static trial_value value_in_output(const char *path, const char *metric)
{
    trial_value v = { 0 };
    char *line = NULL, *end;
    size_t room = 0, length = strlen(metric);
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0)
        for (const char *at = line; (at = strstr(at, metric)); at += length) {
            bool whole = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
            double value = whole && at[length] == '=' ? strtod(at + length + 1, &end) : 0;
            if (!whole || at[length] != '=' || end == at + length + 1)
                continue;
            v = (trial_value){ .found = true, .diverged = !isfinite(value), .value = value };
        }
    free(line);
    if (file)
        fclose(file);
    return v;
}

/* Does a line of a log contain this text? */
static bool says(const char *path, const char *text)
{
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    FILE *file = fopen(path, "re");
    while (file && !found && getline(&line, &room, file) > 0)
        found = strstr(line, text);
    free(line);
    if (file)
        fclose(file);
    return found;
}

/* ---- the process ----------------------------------------------------------------------------------------- */

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

static trial_value metrics(const mt_slot *slot, const char *metric)
{
    char csv[sizeof slot->dir + 16];
    snprintf(csv, sizeof csv, "%s/metrics.csv", slot->dir);
    return value_in_metrics(csv, metric);
}

static mt_sweep_row judge(const mt_slot *slot, const char *metric, int status)
{
    mt_sweep_row row = { .end = slot->killed, .seconds = mt_now() - slot->started };
    trial_value v = metrics(slot, metric);
    if (!v.found)
        v = value_in_output(slot->log, metric);
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
           says(slot->log, strerror(ENOSPC)) || says(slot->log, strerror(EDQUOT));
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
