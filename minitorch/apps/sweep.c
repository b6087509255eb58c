/* sweep.c -- looks for good hyperparameters: runs a command with many settings, several at once, and compares what it
 * writes. docs/SWEEP.md has examples.
 *
 * Files in --out: sweep.csv (a row for each job that has ended), sweep.txt (the settings), sweep.html (at the end: a
 * page), and for each job a folder trial-T-rung-R ({dir} in the command) and its output trial-T-rung-R.log. Killed at
 * any moment, --resume continues:
 * no job with a row runs again, and the end is that of an unbroken sweep (search/order.h says why). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/io.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "search/slot.h"
#include "search/order.h"
#include "search/table.h"

enum { GRACE = 500000 }; /* microseconds */

typedef struct options {
    const char *command, *space, *metric, *out;
    bool maximize, resume, quiet;
    int64_t parallel, seed;
    double timeout;
    mt_search search;
} options;

typedef struct sweep {
    options opt;
    mt_order order;
    mt_sweep_table table;
    mt_progress progress;
    mt_slot *slot;
    int64_t ended, failed, cost; /* jobs; steps of those that ended */
    int64_t last_failed;
    mt_job_end how; /* it ended */
    int64_t replayed;
} sweep;

static const char *path_of(const sweep *s, int64_t job, const char *ending)
{
    static char path[2][4096];
    static int turn;
    const mt_job *j = &s->order.told[job];
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/trial-%" PRId64 "-rung-%" PRId64 "%s", s->opt.out, j->trial, j->rung,
             ending);
    return path[turn];
}

/* ---- jobs that end ------------------------------------------------------------------------------------- */

static void tell(sweep *s, int64_t job, const mt_sweep_row *row)
{
    bool done = row->end == MT_END_DONE;
    s->ended++;
    s->cost += s->order.told[job].steps;
    s->failed += !done;
    if (!done)
        s->last_failed = job, s->how = row->end;
    mt_order_tell(&s->order, job, done ? MT_JOB_DONE : MT_JOB_FAILED, s->opt.maximize ? -row->value : row->value);
}

static void show(sweep *s)
{
    int64_t best = mt_search_best(s->order.told, s->order.count);
    char text[64] = "no value yet";
    if (best >= 0)
        snprintf(text, sizeof text, "best %s %.6g (trial %" PRId64 ")", s->opt.metric,
                 (s->opt.maximize ? -1 : 1) * s->order.told[best].value, s->order.told[best].trial);
    mt_progress_show(&s->progress, mt_min(s->cost, s->progress.total), "%" PRId64 " jobs, %" PRId64 " failed, %s",
                     s->ended, s->failed, text);
}

/* Waits until a job has ended, and takes what all that have ended are worth. */
static mt_status collect(sweep *s)
{
    mt_child_wait(0.1);
    for (mt_slot *slot = s->slot; slot < s->slot + s->opt.parallel; slot++) {
        mt_sweep_row row;
        int64_t job = slot->job;
        if (job < 0 || !mt_slot_ended(slot, s->opt.metric, s->opt.timeout, &row))
            continue;
        if (slot->struck && !mt_cli_stopped())
            usleep(GRACE); /* who kills all processes of a machine may kill this one last: then the job has no row */
        if (row.end == MT_END_FAILED && mt_cli_stopped())
            continue;
        if (slot->full)
            return mt_fail(MT_ERR_IO, "%s: no space left on the device, so a job failed; make room, --resume continues",
                           slot->dir);
        MT_TRY(mt_sweep_table_add(&s->table, job, &s->order.told[job], &row));
        tell(s, job, &row);
    }
    show(s);
    return MT_OK;
}

/* ---- the sweep ----------------------------------------------------------------------------------------- */

/* A job begins: at once over, if the table has its row. */
static mt_status begin(sweep *s, int64_t job)
{
    mt_sweep_row row;
    bool found;
    MT_TRY(mt_sweep_table_find(&s->table, job, &s->order.told[job], &found, &row));
    if (found) {
        tell(s, job, &row);
        s->replayed++;
        return MT_OK;
    }
    mt_slot *slot = s->slot;
    while (slot->job >= 0)
        slot++;
    int64_t threads = mt_max(1, sysconf(_SC_NPROCESSORS_ONLN) / s->opt.parallel);
    return mt_slot_start(slot, s->opt.command, &s->opt.search.space, job, &s->order.told[job], path_of(s, job, ""),
                         threads);
}

static void print_tail(const char *path)
{
    char *line = NULL, *last[20] = { 0 };
    size_t room = 0;
    int64_t lines = 0;
    FILE *file = fopen(path, "re");
    while (file && getline(&line, &room, file) > 0) {
        free(last[lines % MT_COUNT(last)]);
        last[lines++ % MT_COUNT(last)] = strdup(line);
    }
    for (int64_t i = mt_max(0, lines - MT_COUNT(last)); i < lines; i++)
        fprintf(stderr, "  | %s", last[i % MT_COUNT(last)]);
    for (int64_t i = 0; i < MT_COUNT(last); i++)
        free(last[i]);
    free(line);
    if (file)
        fclose(file);
}

/* None of the first jobs gave a value: the command is wrong, most likely. */
static mt_status hopeless(sweep *s)
{
    char log[4096];
    int64_t job = s->last_failed;
    snprintf(log, sizeof log, "%s", path_of(s, job, ".log"));
    mt_progress_clear(&s->progress);
    fprintf(stderr, "The end of %s:\n", log);
    print_tail(log);
    const char *how = s->how == MT_END_TIMEOUT    ? "it was killed after --timeout seconds"
                      : s->how == MT_END_DIVERGED ? "a value was not finite"
                                                  : "an exit status other than 0, or no value";
    return mt_fail(MT_ERR_UNAVAILABLE,
                   "all of the first %" PRId64 " jobs failed; %s is the output of one: %s. A value is in the column "
                   "'%s' of {dir}/metrics.csv, or %s=NUMBER in the output",
                   s->ended, log, how, s->opt.metric, s->opt.metric);
}

static mt_status loop(sweep *s)
{
    for (;;) {
        int64_t enough = mt_min(mt_max(4, s->opt.parallel), mt_search_trials(&s->opt.search));
        mt_order_event e = s->ended >= enough && s->failed == s->ended ? (mt_order_event){ .kind = MT_ORDER_END }
                                                                       : mt_order_next(&s->order);
        if (e.kind == MT_ORDER_END)
            return s->failed == s->ended ? hopeless(s) : MT_OK;
        if (e.kind == MT_ORDER_BEGIN)
            MT_TRY(begin(s, e.job));
        while (e.kind == MT_ORDER_WAIT && s->order.told[e.job].state == MT_JOB_RUNNING && !mt_cli_stopped())
            MT_TRY(collect(s));
        if (mt_cli_stopped())
            return mt_fail(MT_ERR_STOPPED, "stopped after %" PRId64 " jobs; --resume continues", s->ended);
    }
}

static void report(const sweep *s)
{
    int64_t best = mt_search_best(s->order.told, s->order.count);
    const mt_job *j = &s->order.told[best];
    int64_t whole = mt_search_trials(&s->opt.search) * s->opt.search.most;
    mt_progress_clear(&s->progress);
    printf("%" PRId64 " jobs of %" PRId64 " trials, %" PRId64 " failed; %" PRId64
           " steps, %.0f %% of all trials' in full\n",
           s->ended, mt_search_trials(&s->opt.search), s->failed, s->cost, 100 * (double)s->cost / (double)whole);
    if (s->replayed)
        printf("%" PRId64 " jobs had ended before\n", s->replayed);
    printf("sweep: %s=%.9g trial=%" PRId64 " steps=%" PRId64, s->opt.metric, (s->opt.maximize ? -1 : 1) * j->value,
           j->trial, j->steps);
    for (int64_t d = 0; d < s->opt.search.space.count; d++)
        printf(" %s=%s", s->opt.search.space.dimension[d].name, mt_space_value(&s->opt.search.space, d, &j->point));
    printf("\n%s has all jobs, sweep.html beside it shows them\n", s->table.path);
}

/* ---- command line -------------------------------------------------------------------------------------- */

static mt_status parse_sampler(const char *text, void *sampler)
{
    static const char *const names[] = { "grid", "random", "bayes", "evolve" };
    for (int i = 0; i < MT_COUNT(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *(mt_search_sampler *)sampler = (mt_search_sampler)i;
            return MT_OK;
        }
    return mt_fail(MT_ERR_ARGUMENT, "'%.40s': use grid, random, bayes or evolve", text);
}

static mt_status parse_space(const char *text, void *field)
{
    mt_space space;
    MT_TRY(mt_space_parse(&space, text));
    *(const char **)field = text;
    return MT_OK;
}

static const mt_option flags[] = {
    { "run", 0, "COMMAND", MT_TEXT(options, command),
      "What a trial runs, by the shell; {NAME} is a hyperparameter, {steps} how long, {dir} the trial's folder, "
      "{trial} "
      "its number" },
    { "space", 0, "SPACE", MT_PARSED(options, space, parse_space),
      "Hyperparameters: \"lr=log:1e-5..1e-2,batch=4|8|16,layers=int:1..6,dropout=0..0.5\"; \":N\" behind a range is "
      "its "
      "number of values in a grid (4 where none is given)" },
    { "search", 0, "HOW", MT_PARSED(options, search.sampler, parse_sampler),
      "Source of new trials: grid, random, bayes, evolve; default: random" },
    { "trials", 'n', "N", MT_I64(options, search.trials, 1, 100000), "Number of settings to try" },
    { "steps", 0, "N", MT_I64(options, search.most, 1, 1000000000), "Steps of a full trial, substituted for {steps}" },
    { "asha", 0, "ETA", MT_I64(options, search.eta, 2, 100),
      "Stop all but the best 1/ETA of the trials early, on several rungs (asynchronous successive halving)" },
    { "min-steps", 0, "N", MT_I64(options, search.least, 1, 1000000000),
      "Steps of the lowest rung; default: steps/ETA^3" },
    { "metric", 0, "NAME", MT_TEXT(options, metric),
      "What to minimise: a column of {dir}/metrics.csv, or else NAME=NUMBER in the output" },
    { "maximize", 0, NULL, MT_FLAG(options, maximize), "The metric is better when it is larger" },
    { "parallel", 'j', "N", MT_I64(options, parallel, 1, 1024), "Number of jobs at once" },
    { "timeout", 0, "SECONDS", MT_F64(options, timeout, 0.001, 1e9), "Kill a job after this time: it has failed" },
    { "seed", 0, "N", MT_I64(options, seed, 0, INT64_MAX), "Seed of the search" },
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for results" },
    { "resume", 0, NULL, MT_FLAG(options, resume), "Continue the sweep in --out" },
    { "quiet", 'q', NULL, MT_FLAG(options, quiet), "No progress line" },
    { 0 },
};

static mt_status check(options *o)
{
    mt_search *s = &o->search;
    if (!o->command || !o->space)
        return mt_fail(MT_ERR_ARGUMENT, "--run and --space are needed, as in --run 'build/release/bin/train_gpt2 -q "
                                        "--lr {lr} -o {dir}' --space lr=log:1e-4..1e-2");
    MT_TRY(mt_space_parse(&s->space, o->space));
    if (*o->metric == 0 || strpbrk(o->metric, ",=\n\"") || strlen(o->metric) > 100)
        return mt_fail(MT_ERR_ARGUMENT, "--metric '%.100s': give a name without , = and \"", o->metric);
    s->seed = (uint64_t)o->seed;
    if (s->eta && !s->least)
        s->least = mt_max(1, s->most / (s->eta * s->eta * s->eta));
    if (s->least > s->most)
        return mt_fail(MT_ERR_ARGUMENT, "--min-steps %" PRId64 " is above --steps %" PRId64, s->least, s->most);
    if (s->sampler == MT_SAMPLE_GRID && mt_space_grid(&s->space) > s->trials)
        mt_warn("the grid has %" PRId64 " points, of which --trials %" PRId64 " takes the first",
                mt_space_grid(&s->space), s->trials);
    return mt_command_check(o->command, s);
}

/* The settings on which the jobs of a sweep depend, as text. */
static void describe(char *text, size_t size, const options *o)
{
    snprintf(text, size,
             "run %s\nspace %s\nmetric %s%s\nsearch %d\ntrials %" PRId64 "\nsteps %" PRId64 "\nasha %" PRId64
             "\nmin-steps %" PRId64 "\nparallel %" PRId64 "\nseed %" PRId64 "\n",
             o->command, o->space, o->maximize ? "maximize " : "", o->metric, (int)o->search.sampler, o->search.trials,
             o->search.most, o->search.eta, o->search.least, o->parallel, o->seed);
}

/* Writes --out/sweep.txt, or compares it with these settings. */
static mt_status settle(const options *o, const char *path)
{
    char text[2 * MT_COMMAND_BYTES];
    uint8_t *bytes;
    int64_t size;
    describe(text, sizeof text, o);
    if (!o->resume) {
        mt_file_writer file;
        MT_TRY(mt_file_writer_open(&file, path));
        fputs(text, file.out);
        return mt_file_writer_close(&file);
    }
    mt_status status = MT_OK;
    MT_TRY(mt_file_read(&bytes, &size, path));
    if (size != (int64_t)strlen(text) || memcmp(bytes, text, (size_t)size) != 0)
        status = mt_fail(MT_ERR_ARGUMENT, "--resume needs the flags of the sweep that began, and they were:\n%.*s",
                         (int)size, (const char *)bytes);
    free(bytes);
    return status;
}

static mt_status open_sweep(sweep *s, char csv[4096])
{
    char text[4096];
    options *o = &s->opt;
    snprintf(csv, 4096, "%s/sweep.csv", o->out);
    snprintf(text, sizeof text, "%s/sweep.txt", o->out);
    bool there = access(csv, F_OK) == 0;
    mt_io *io = mt_io_now();
    MT_TRY(mt_cli_folder(o->out));
    int lock = io->lock(io, o->out);
    for (int i = 0; i < 20 && lock < 0; i++, lock = io->lock(io, o->out)) /* jobs of a killed sweep end soon */
        usleep(100000);
    if (lock < 0)
        return mt_fail(MT_ERR_ARGUMENT, "another sweep writes to %s", o->out);
    if (there && !o->resume)
        return mt_fail(MT_ERR_ARGUMENT, "%s is there: --resume continues that sweep, --out names another folder", csv);
    o->resume &= there;
    MT_TRY(settle(o, text));
    int64_t jobs = mt_search_trials(&o->search) * mt_search_rungs(&o->search);
    return mt_sweep_table_open(&s->table, &o->search, o->metric, csv, jobs, o->resume);
}

static mt_status run(sweep *s)
{
    char csv[4096];
    MT_TRY(open_sweep(s, csv));
    s->order = mt_order_new(&s->opt.search, s->opt.parallel);
    s->slot = mt_calloc(s->opt.parallel, sizeof *s->slot);
    for (int64_t i = 0; i < s->opt.parallel; i++)
        s->slot[i].job = -1;
    s->progress = mt_progress_begin("steps", mt_search_cost(&s->opt.search));
    if (s->opt.quiet)
        s->progress.mode = MT_PROGRESS_OFF;
    mt_status status = loop(s);
    mt_progress_clear(&s->progress);
    for (mt_slot *slot = s->slot; slot < s->slot + s->opt.parallel; slot++)
        if (slot->job >= 0)
            mt_slot_stop(slot);
    if (status == MT_OK)
        status = mt_sweep_table_sort(&s->table);
    char html[4096];
    snprintf(html, sizeof html, "%s/sweep.html", s->opt.out);
    if (status == MT_OK)
        status = mt_sweep_page(html, &s->opt.search, s->opt.metric, s->opt.maximize ? -1 : 1, s->order.told,
                               s->order.count, mt_search_best(s->order.told, s->order.count));
    if (status == MT_OK)
        report(s);
    mt_sweep_table_close(&s->table);
    mt_order_free(&s->order);
    free(s->slot);
    return status;
}

int main(int argc, char **argv)
{
    sweep s = { .opt = { .metric = "val_loss",
                         .out = "build/run/sweep",
                         .parallel = 1,
                         .seed = 1,
                         .search = { .sampler = MT_SAMPLE_RANDOM, .trials = 30, .most = 1 } } };
    mt_cli_parse(argc, argv, "Look for good hyperparameters: run a command with many settings of them.", flags, &s.opt);
    mt_cli_catch_stop();
    mt_status status = check(&s.opt);
    return mt_cli_exit(status == MT_OK ? run(&s) : status);
}
