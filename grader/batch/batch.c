/* batch.c -- the order of work. Each grader is a process of its own, so that no submission can stop the others. */
#include "batch.h"
#include "disk.h"
#include "pool.h"
#include "progress.h"
#include "regrade.h"
#include "rows/rows.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { TRIES = 3 };

/* A submission on its way. */
typedef struct work {
    mg_grading grading; /* what the book has, or will have; without rows */
    int tries;          /* of the rows that are timed, or after an error of the grader */
} work;

typedef struct batch {
    const mg_batch_options *o;
    mg_plan plan;
    mg_class class;
    mg_labinfo info;
    mg_book book;
    mg_progress progress;
    double points; /* of the lab */
    work *work;    /* one for each submission of the class */
    mg_pool pool;
    int64_t *queue, queued; /* submissions to be timed, or graded again */
    int64_t other_version;
} batch;

/* ---- one submission ------------------------------------------------------------------------- */

static mt_status record(batch *b, int64_t i, mg_grading *g)
{
    mt_status status = mg_book_add(&b->book, g);
    b->work[i].grading = *g;
    b->work[i].grading.row = NULL;
    b->work[i].grading.rows = 0;
    if (status == MT_OK)
        mg_progress_done(&b->progress, &b->class.handin[i], g);
    return status;
}

/* Nothing to grade: a grading with one row that says why. */
static mt_status refuse(batch *b, int64_t i, mg_grading *g)
{
    mg_entry row = { .verdict = "FAIL", .max = b->points, .message = g->message };
    row.points = row.measured = row.low = row.full = row.seconds = NAN;
    snprintf(row.step, sizeof row.step, "%.2s", b->plan.lab->id);
    snprintf(row.name, sizeof row.name, "submission");
    snprintf(g->message, sizeof g->message, "%s", mt_last_error());
    g->state = MG_REFUSED;
    g->points = NAN;
    g->max = b->points;
    g->row = &row;
    g->rows = 1;
    return record(b, i, g);
}

static const char open_rows[] = "inconclusive"; /* a value of REGRADE */

static bool wanted_again(const batch *b, int64_t i)
{
    const char *words = b->o->regrade;
    return words && strcmp(words, open_rows) != 0 &&
           (strcmp(words, "all") == 0 || strstr(b->class.handin[i].key, words));
}

/* Whether the last grading in the book holds for these units. */
static bool holds(const batch *b, int64_t i, const mg_grading *last, const mg_grading *now)
{
    return !wanted_again(b, i) && last->digest == now->digest &&
           (last->state == MG_GRADED || last->state == MG_REFUSED);
}

/* REGRADE=inconclusive: what is graded but for such rows becomes a new grading that lacks these. */
static mt_status reopen(batch *b, mg_grading *last)
{
    mg_open_rows open;
    if (last->state != MG_GRADED || !b->o->regrade || strcmp(b->o->regrade, open_rows) != 0)
        return MT_OK;
    mt_status status = mg_book_open_rows(&b->book, MG_INCONCLUSIVE, b->plan.lab->id, NULL, last->submission, &open);
    if (open.rows > 0) {
        last->id = 0;
        last->started = time(NULL);
        last->state = MG_UNTIMED;
    }
    return status;
}

/* Everything but its timed rows is in the book, and in the report that the timed rows complete. */
static bool only_untimed(const batch *b, int64_t i, const mg_grading *last, const mg_grading *now)
{
    char report[PATH_MAX];
    mg_job_report(report, &b->plan, last->submission);
    return !wanted_again(b, i) && last->digest == now->digest && last->state == MG_UNTIMED && access(report, R_OK) == 0;
}

/* Its units, into an empty folder; again when there was no room for them. */
static mt_status unpack(batch *b, int64_t i, mg_grading *g)
{
    char folder[PATH_MAX], units[PATH_MAX];
    mt_status status;
    mg_job_folder(folder, &b->plan, g->submission);
    mg_path(units, "%s/units", folder);
    do {
        mg_disk_wait(&b->progress, b->plan.out, b->o->room);
        mg_remove_tree(units);
        status = mg_folder(units, false);
        if (status == MT_OK)
            status = mg_handin_unpack(units, &b->class, &b->class.handin[i], &b->info, g->ignored, sizeof g->ignored,
                                      &g->digest);
    } while (!mg_stop && mg_disk_full(b->plan.out, b->o->room));
    return status;
}

/* Units that have a grade already are graded again on request: the grade in the book counts until that is accepted. */
static mt_status propose(batch *b, int64_t i, mg_grading *last, mg_grading *g, mt_status status)
{
    if (!wanted_again(b, i) || last->digest != g->digest || (last->state != MG_GRADED && last->state != MG_REFUSED))
        return status;
    status = mg_regrade_place(&b->book, b->plan.lab->id, b->class.folder, b->class.handin[i].key, &g->submission);
    *last = (mg_grading){ .submission = g->submission };
    return status == MT_OK ? unpack(b, i, g) : status;
}

/* Give the submission a number, unpack it and find what is left to grade; *start: everything is. */
static mt_status prepare(batch *b, int64_t i, bool *start)
{
    const mg_handin *h = &b->class.handin[i];
    mg_grading last, *g = &b->work[i].grading;
    *start = false;
    *g = (mg_grading){ .started = time(NULL) };
    mt_status status = mg_book_submission(&b->book, b->plan.lab->id, b->class.folder, h->key, &g->submission);
    if (status == MT_OK)
        status = mg_book_last(&b->book, g->submission, &last);
    if (status == MT_OK)
        status = reopen(b, &last);
    if (status != MT_OK)
        return status;
    snprintf(g->grader, sizeof g->grader, "%s", b->plan.version);
    snprintf(g->seed, sizeof g->seed, "%s", b->plan.seed);
    status = propose(b, i, &last, g, unpack(b, i, g));
    if (mg_stop)
        return MT_OK;
    if (holds(b, i, &last, g)) {
        b->other_version += strcmp(last.grader, g->grader) != 0;
        *g = last;
        mg_progress_skip(&b->progress);
        return MT_OK;
    }
    if (status != MT_OK)
        return status == MT_ERR_IO ? status : refuse(b, i, g);
    *start = !only_untimed(b, i, &last, g);
    if (!*start) {
        *g = last;
        mg_progress_skip(&b->progress);
        b->queue[b->queued++] = i;
    }
    return MT_OK;
}

static mt_status start(batch *b, int64_t i, bool timed)
{
    mg_job job = { .index = i, .timed = timed, .grading = b->work[i].grading };
    if (!timed)
        job.grading.started = time(NULL);
    return mg_pool_start(&b->pool, &job);
}

/* A grader has ended. What it could not grade comes again, at the end. */
static mt_status finish(batch *b, mg_job *job)
{
    int64_t i = job->index;
    mg_job_end(job, &b->plan);
    mg_grading *g = &job->grading;
    g->cpu = job->cpu + (job->timed ? b->work[i].grading.cpu : 0);
    bool again = g->state == MG_BROKEN || g->state == MG_UNTIMED, last = ++b->work[i].tries == TRIES;
    mt_status result = MT_OK;
    if (g->state == MG_BROKEN && mg_disk_full(b->plan.out, b->o->room))
        b->work[i].tries = 0; /* not its fault */
    if (mg_stop && g->state == MG_BROKEN)
        again = false;
    else if (job->timed && g->state == MG_UNTIMED && last)
        g->state = MG_GRADED, again = false; /* its timed rows stay INCONCLUSIVE */
    else if (g->state == MG_BROKEN && last)
        again = false;
    if (g->rows > 0 && g->state != MG_BROKEN && !(mg_stop && job->timed))
        result = record(b, i, g);
    else if (g->state == MG_BROKEN && !again && !mg_stop)
        result = record(b, i, g);
    if (again && b->queued < 2 * b->class.count)
        b->queue[b->queued++] = i;
    mg_grading_free(g);
    return result;
}

/* ---- the graders ---------------------------------------------------------------------------- */

static mt_status wait_for_one(batch *b)
{
    mg_job *job;
    mt_status status = mg_pool_wait(&b->pool, &job);
    return status == MT_OK ? finish(b, job) : status;
}

static mt_status wait_for_all(batch *b, mt_status status)
{
    while (b->pool.running > 0) {
        mt_status one = wait_for_one(b);
        status = status == MT_OK ? one : status;
    }
    return status;
}

/* All rows but the timed ones, of every submission. */
static mt_status grade_rows(batch *b)
{
    mt_status status = MT_OK;
    for (int64_t i = 0; status == MT_OK && i < b->class.count && !mg_stop; i++) {
        bool wanted;
        status = prepare(b, i, &wanted);
        while (status == MT_OK && !mg_stop && wanted && b->pool.running == b->pool.size)
            status = wait_for_one(b);
        if (status == MT_OK && !mg_stop && wanted)
            status = start(b, i, false);
    }
    return wait_for_all(b, status);
}

/* The next of the queue, or with an engine, which takes whole machines for timed rows, all that are in it. */
static mt_status start_queued(batch *b, int64_t *n)
{
    mt_status status = MT_OK;
    do {
        int64_t i = b->queue[(*n)++];
        bool timed = b->work[i].grading.state == MG_UNTIMED;
        if (!timed || !b->o->no_speed)
            status = start(b, i, timed);
    } while (status == MT_OK && b->o->engine.name && *n < b->queued);
    return status;
}

/* The timed rows, one submission after the other, so that they compete with nobody; no other batch times meanwhile. */
static mt_status grade_queue(batch *b)
{
    char path[PATH_MAX];
    mg_path(path, "%s/speed.lock", b->plan.build);
    int lock = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    mt_status status = MT_OK;
    for (int64_t n = 0; status == MT_OK && n < b->queued && !mg_stop;) {
        mg_disk_wait(&b->progress, b->plan.out, b->o->room);
        if (lock >= 0 && !mg_stop)
            flock(lock, LOCK_EX);
        status = mg_stop ? MT_OK : start_queued(b, &n);
        status = wait_for_all(b, status);
        if (lock >= 0)
            flock(lock, LOCK_UN);
    }
    if (lock >= 0)
        close(lock);
    return status;
}

/* ---- a batch -------------------------------------------------------------------------------- */

static mt_status open_batch(batch *b)
{
    char path[PATH_MAX];
    mg_results rows = { 0 };
    uint64_t seed = 0, wanted_seed = b->o->seed || !b->o->course_lab ? b->o->seed : b->o->course_lab->seed;
    mg_book_folder(path, b->o->folder, b->o->out);
    mt_status status = mg_class_read(&b->class, b->o->folder);
    if (status == MT_OK)
        status = mg_labinfo_read(&b->info, b->o->root, b->plan.lab->id);
    if (status == MT_OK)
        status = mg_rows_make(&rows, b->plan.lab, NULL);
    if (status == MT_OK)
        mg_course_apply(&rows, b->o->course_lab, time(NULL));
    if (status == MT_OK)
        status = mg_folder(path, false);
    if (status == MT_OK && !realpath(path, b->plan.out))
        status = mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    if (status == MT_OK)
        status = mg_disk_lock(b->plan.out);
    mg_path(path, "%s/gradebook.sqlite", b->plan.out);
    if (status == MT_OK)
        status = mg_book_open(&b->book, path, true);
    if (status == MT_OK)
        status = mg_book_class(&b->book, b->plan.lab->id, &b->class);
    if (status == MT_OK)
        status = mg_book_seed(&b->book, b->plan.lab->id, wanted_seed, &seed);
    snprintf(b->plan.seed, sizeof b->plan.seed, "%" PRIx64, seed);
    mg_rows_add_up(&rows);
    b->points = rows.max;
    mg_results_free(&rows);
    return status;
}

static int64_t count_left(const batch *b)
{
    int64_t left = 0;
    for (int64_t i = 0; i < b->class.count; i++)
        left += b->work[i].grading.state != MG_GRADED && b->work[i].grading.state != MG_REFUSED;
    return left;
}

mt_status mg_batch(const mg_batch_options *options, int64_t *left)
{
    batch *b = calloc(1, sizeof *b);
    MT_CHECK(b, "out of memory");
    b->o = options;
    b->plan =
        (mg_plan){ .lab = options->lab, .root = options->root, .build = options->build, .course = options->course };
    mt_status status = open_batch(b);
    if (status == MT_OK) {
        mg_plan_version(&b->plan);
        status = mg_pool_open(&b->pool, &b->plan, &options->engine, options->jobs, b->class.count, &b->progress);
    }
    if (status == MT_OK) {
        b->work = calloc((size_t)b->class.count, sizeof *b->work);
        b->queue = calloc(4 * (size_t)b->class.count, sizeof *b->queue);
        MT_CHECK(b->work && b->queue, "out of memory");
        mg_progress_begin(&b->progress, b->class.count);
        status = grade_rows(b);
        mg_progress_timed(&b->progress, b->queued, options->engine.name);
        if (status == MT_OK && !mg_stop)
            status = grade_queue(b);
        *left = count_left(b);
        mt_status said =
            mg_progress_end(&b->progress, &b->book, b->plan.lab->id, b->class.folder, *left, b->other_version);
        said = said == MT_OK ? mg_regrade_show(&b->book, &b->plan) : said;
        status = status == MT_OK ? said : status;
    }
    mg_pool_close(&b->pool);
    free(b->queue);
    free(b->work);
    mg_book_close(&b->book);
    mg_labinfo_free(&b->info);
    mg_class_free(&b->class);
    free(b);
    return status;
}
