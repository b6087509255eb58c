/* grading.c -- the course of one grading. */
#include "grading.h"
#include "build/copied.h"
#include "build/machine.h"
#include "course/course.h"
#include "labs.h"
#include "report/excerpt.h"
#include "rows/rows.h"
#include "build/submission.h"
#include "running.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- which lab is at fault ---------------------------------------------------------------------- */

/* Run the failed rows again on a worker with the units that `whose` selects. If a row passes now, the error is in the
 * replaced lab, and the row's own hint would mislead. */
static void acquit(mg_results *results, const mg_options *o, const mg_bench *bench, unsigned whose, const char *labs,
                   bool *suspect)
{
    size_t bytes = (size_t)results->count * sizeof results->rows[0];
    mg_results again = *results;
    mg_bench *b = malloc(sizeof *b);
    char log[256];
    again.rows = malloc(bytes);
    MT_CHECK(b && again.rows, "out of memory");
    memcpy(again.rows, results->rows, bytes);
    *b = *bench;
    b->failures = 0;
    if (mg_build_worker(&b->build, o->lab->id, whose, b->worker_path, log, sizeof log) == MT_OK) {
        b->worker.path = b->worker_path;
        mg_run_rows(&again, o, b, suspect, NULL);
        for (int64_t i = 0; i < results->count; i++)
            if (suspect[i] && again.rows[i].verdict == MG_PASS) {
                mg_row *row = &results->rows[i];
                suspect[i] = false;
                row->acquitted = true;
                row->follows[0] = 0;
                snprintf(row->verdict == MG_TODO ? row->note : row->hint, sizeof row->hint,
                         "passes with the reference's lab%s: look there", labs);
            }
    }
    free(again.rows);
    free(b);
}

/* Rows that fail on top of the student's earlier labs: is the error in one of those, or in all of them together? */
static void blame_earlier(mg_results *results, const mg_options *o, const mg_bench *bench)
{
    const mg_build *build = &bench->build;
    const unsigned graded = 1; /* it was the first of build->mine */
    char labs[MG_UNITS * 4] = "";
    bool *suspect = calloc((size_t)results->count, sizeof *suspect), any = false;
    MT_CHECK(suspect, "out of memory");
    for (int64_t i = 0; i < results->count; i++) {
        mg_verdict v = results->rows[i].verdict;
        suspect[i] = results->rows[i].ran && v != MG_PASS && !mg_verdict_open(v);
        any = any || suspect[i];
    }
    for (int i = 1; any && i < build->mines; i++) {
        char lab[8];
        snprintf(lab, sizeof lab, " %.2s", build->mine[i]);
        strcat(labs, lab);
        acquit(results, o, bench, MG_MINE & ~(1u << i), lab, suspect);
    }
    if (any && build->mines > 2)
        acquit(results, o, bench, graded, labs, suspect);
    free(suspect);
}

/* ---- preparation ---------------------------------------------------------------------------- */

static void describe_machine(char *text, size_t size)
{
    char line[256], model[160] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(model, sizeof model, "%s", strchr(line, ':') + 2);
            model[strcspn(model, "\n")] = 0;
            break;
        }
    if (file)
        fclose(file);
    snprintf(text, size, "%s, %ld cores, gcc %s", model, sysconf(_SC_NPROCESSORS_ONLN), __VERSION__);
}

static mt_status choose_sandbox(mg_results *results, const mg_options *o, mg_confinement *confined)
{
    char why[360];
    mt_status status = mg_sandbox_find(o->sandbox, confined, why, sizeof why);
    if (status == MT_OK && *confined == MG_UNCONFINED && o->marking)
        status = mt_fail(MT_ERR_UNAVAILABLE, "--marking needs a sandbox: %s", why);
    if (*confined == MG_UNCONFINED)
        snprintf(results->warning, sizeof results->warning, "no sandbox: %s; the units run as you", why);
    else if (*confined == MG_LANDLOCK)
        snprintf(results->warning, sizeof results->warning, "confined by Landlock, not by namespaces: %s", why);
    return status;
}

static void find_units(char path[PATH_MAX], const mg_options *o, const mg_labinfo *info)
{
    if (o->submission)
        mg_path(path, "%s", o->submission);
    else
        mg_path(path, "%s/labs/%s", o->root, info->id);
}

/* Collect and compile the units of one lab. */
static mt_status take_lab(mg_bench *bench, const mg_labinfo *info, const mg_options *o, mg_results *results)
{
    char source[PATH_MAX], from[PATH_MAX], ignored[sizeof results->ignored] = "";
    find_units(from, o, info);
    mg_build_source(&bench->build, info->id, source);
    mt_status status = mg_folder(source, false);
    if (status == MT_OK)
        status = mg_submission_collect(source, from, info, ignored, sizeof ignored);
    if (info == &bench->info)
        results->sources = mg_sources_read(source, info);
    if (info == &bench->info && o->submission) /* not for the earlier labs, nor for files that belong in labs/ */
        memcpy(results->ignored, ignored, sizeof ignored);
    if (status != MT_OK)
        return status;
    mg_copied_name(results->warning, sizeof results->warning, o->root, info, source);
    status = mg_build_units(&bench->build, info, results->build_log, sizeof results->build_log);
    if (status == MT_OK && o->marking && info == &bench->info) {
        char reference[PATH_MAX], objects[PATH_MAX];
        mg_path(reference, "%s/alike", o->build);
        mg_path(objects, "%s/obj/%s", bench->build.scratch, info->id);
        mg_machine_words(reference, info, objects, results->machine_code, sizeof results->machine_code);
    }
    return status;
}

/* An action for one of the student's earlier labs. */
typedef mt_status earlier_fn(mg_bench *bench, const mg_labinfo *info, const mg_options *o, mg_results *results);

static mt_status expect_units(mg_bench *bench, const mg_labinfo *info, const mg_options *o, mg_results *results)
{
    (void)o;
    (void)results;
    mg_labinfo_expect(&bench->info, info);
    return MT_OK;
}

static mt_status visit_earlier(mg_bench *bench, const mg_options *o, const char *number, mg_results *results,
                               earlier_fn *visit)
{
    char id[32];
    mg_labinfo info;
    mt_status status = mg_labinfo_find(id, o->root, number);
    if (status != MT_OK || strcmp(id, o->lab->id) == 0)
        return status;
    status = mg_labinfo_read(&info, o->root, id);
    if (status != MT_OK)
        return status;
    status = visit(bench, &info, o, results);
    mg_labinfo_free(&info);
    return status;
}

/* Earlier labs whose reference is handed out later: the units in labs/ take its place. */
static mt_status visit_later(mg_bench *bench, const mg_options *o, mg_results *results, earlier_fn *visit)
{
    mt_status status = MT_OK;
    mg_options own = *o;
    own.submission = NULL;
    for (const mg_lab *const *l = mg_labs; status == MT_OK && *l && strcmp((*l)->id, o->lab->id) < 0; l++) {
        char number[3] = { (*l)->id[0], (*l)->id[1] };
        if (!(o->mine && strstr(o->mine, number)) && mg_build_later(&bench->build, (*l)->id))
            status = visit_earlier(bench, &own, number, results, visit);
    }
    return status;
}

static mt_status visit_mine(mg_bench *bench, const mg_options *o, mg_results *results, earlier_fn *visit)
{
    mt_status status = MT_OK;
    char *list = strdup(o->mine ? o->mine : ""), *rest = list;
    MT_CHECK(list, "out of memory");
    for (char *number; status == MT_OK && (number = strsep(&rest, " ,"));)
        if (number[0])
            status = visit_earlier(bench, o, number, results, visit);
    free(list);
    return status == MT_OK ? visit_later(bench, o, results, visit) : status;
}

mt_status mg_link_worker(mg_bench *bench, const mg_options *o, mg_results *results)
{
    char log[sizeof results->build_log] = "";
    mg_build *b = &bench->build;
    size_t used = strlen(results->build_log), left = sizeof results->build_log - used;
    mt_status status = mg_build_worker(b, o->lab->id, MG_MINE, bench->worker_path, log, sizeof log);
    if (status == MT_ERR_FORMAT && b->unaskeds) {
        status = mg_build_more(b, &bench->info, NULL, results->build_log, sizeof results->build_log);
        return status == MT_OK ? mg_link_worker(bench, o, results) : status;
    }
    if (status != MT_ERR_FORMAT)
        return status;
    status = mg_build_repair(b, &bench->info, results->build_log, sizeof results->build_log);
    if (status == MT_OK)
        status = mg_build_worker(b, o->lab->id, MG_MINE, bench->worker_path, log, sizeof log);
    if (status == MT_ERR_FORMAT) /* units that link alone, but not together */
        snprintf(results->build_log + used, left, "%s", log);
    return status;
}

static mt_status make_worker(mg_bench *bench, const mg_options *o, mg_results *results)
{
    char from[PATH_MAX];
    find_units(from, o, &bench->info);
    snprintf(results->units, sizeof results->units, "%s", from + (strncmp(from, "./", 2) == 0 ? 2 : 0));
    mt_status status = visit_mine(bench, o, results, expect_units);
    if (status == MT_OK)
        status = take_lab(bench, &bench->info, o, results);
    if (status == MT_OK)
        status = visit_mine(bench, o, results, take_lab); /* from the same submission, or else from labs/ */
    if (o->capture)                                       /* make debug links the same once more */
        mg_path(bench->build.listed, "%s.parts", o->capture);
    if (status == MT_OK)
        status = mg_link_worker(bench, o, results);
    mg_path(bench->launcher_path, "%s/bin/launch", bench->build.scratch);
    bench->worker.path = bench->worker_path;
    bench->worker.launcher = bench->launcher_path;
    bench->worker.limits = bench->info.limits;
    bench->worker.limits.cpu_s = fmin(bench->info.limits.cpu_s, bench->info.limits.calls_s);
    if (o->limit > 0) {
        bench->worker.limits.cpu_s = fmin(o->limit, bench->worker.limits.cpu_s);
        bench->worker.limits.wall_s = fmin(2 * o->limit, bench->info.limits.wall_s); /* others use the machine, too */
    }
    bench->no_speed = o->no_speed;
    bench->worker.confined = bench->build.confined;
    bench->worker.device = bench->build.cuda;
    return status;
}

static void fail_all(mg_results *results, const mg_options *o)
{
    for (int64_t i = 0; i < results->count; i++) {
        mg_row *row = &results->rows[i];
        row->verdict = MG_FAIL;
        row->ran = true;
        row->hint[0] = 0;
        row->measured = row->low = row->full = row->toy = row->reference = NAN;
        snprintf(row->note, sizeof row->note, "the units do not build together");
        if (o->watcher)
            o->watcher->row(results, row);
    }
}

static void run_all(mg_results *results, const mg_options *o, mg_bench *bench)
{
    mg_shown *shown = calloc((size_t)results->count, sizeof *shown);
    MT_CHECK(shown, "out of memory");
    if (o->capture && !(bench->capture.file = fopen(o->capture, "w+be")))
        mt_warn("%s cannot be written: no calls are kept", o->capture);
    mg_run_rows(results, o, bench, NULL, shown);
    if (bench->capture.file)
        fclose(bench->capture.file);
    bench->capture.file = NULL;
    if (!mg_stop)
        blame_earlier(results, o, bench);
    mg_show_changes(shown, results, o->watcher);
    free(shown);
}

static uint64_t fresh_seed(uint64_t wanted_seed)
{
    uint64_t seed = wanted_seed;
    while (seed == 0) /* all 64 bits, so that a unit cannot find it from the inputs and predict later ones */
        MT_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed, "no random numbers");
    return seed;
}

/* All rows, as often as is wanted: from --seed on, or each time with a fresh seed. */
static void grade_times(mg_results *results, const mg_options *o, mg_bench *bench)
{
    int64_t count = results->count;
    for (int64_t time = 0; time < mt_max(o->times, 1) && !mg_stop; time++) {
        if (time > 0)
            bench->seed = fresh_seed(o->seed ? o->seed + (uint64_t)time : 0);
        bench->failures = 0;
        bench->used = 0;
        results->count = count;
        run_all(results, o, bench);
        if (o->graded)
            o->graded(results);
    }
}

static mt_status grade_in(mg_results *results, const mg_options *o, mg_bench *bench, const char *scratch)
{
    mg_confinement confined;
    mt_status status = choose_sandbox(results, o, &confined);
    if (status == MT_OK)
        status = mg_build_open(&bench->build, o->root, o->build, scratch, confined);
    if (status != MT_OK)
        return status;
    bench->build.any_symbol = o->any_symbol;
    if (o->step && strchr(o->step, '.') && !o->mine && !o->capture) /* make debug links all units */
        snprintf(bench->build.step, sizeof bench->build.step, "%.*s", (int)strcspn(o->step, " "), o->step);
    status = make_worker(bench, o, results);
    if (status != MT_OK && (status != MT_ERR_FORMAT || !results->build_log[0])) /* ours, or there are no units */
        return status;
    if (o->watcher)
        o->watcher->begin(results);
    if (status == MT_OK)
        grade_times(results, o, bench);
    else
        fail_all(results, o);
    return MT_OK;
}

mt_status mg_grade(mg_results *results, const mg_options *o)
{
    double begin = mt_now();
    mg_bench *bench = calloc(1, sizeof *bench);
    mg_scratch scratch = { 0 };
    MT_CHECK(bench, "out of memory");
    *results = (mg_results){ .course = o->course };
    bench->seed = fresh_seed(o->seed || !o->course ? o->seed : o->course->seed);
    bench->marking = o->marking;
    bench->deadline = o->times ? 0 : begin + 60 * MG_LAB_MINUTES;
    snprintf(results->lab, sizeof results->lab, "%s", o->lab->id);
    describe_machine(results->machine, sizeof results->machine);
    mt_status status = mg_labinfo_read(&bench->info, o->root, o->lab->id);
    if (status == MT_OK) {
        mg_course_set_bars(&bench->info, o->course);
        snprintf(results->title, sizeof results->title, "%s", bench->info.title);
        status = mg_rows_make(results, o->lab, o->step);
        if (status == MT_OK && o->again)
            mg_recall_open(results, o->again);
    }
    if (status == MT_OK)
        status = mg_scratch_open(&scratch);
    if (status == MT_OK)
        status = grade_in(results, o, bench, scratch.path);
    results->calls = bench->used;
    mg_scratch_close(&scratch);
    mg_labinfo_free(&bench->info);
    free(bench);
    mg_rows_add_up(results);
    results->seconds = mt_now() - begin;
    return status;
}
