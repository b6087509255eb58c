/* grading.c -- the course of one grading. */
#include "grading.h"
#include "run.h"
#include "submission.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

/* ---- the table of rows ---------------------------------------------------------------------- */

static const mg_case *case_of(const mg_group *group, int64_t i)
{
    return (const mg_case *)((const char *)group->cases + i * group->stride);
}

static bool wanted(const mg_group *group, const mg_options *options)
{
    return !options->step || strcmp(options->step, group->step) == 0;
}

static mt_status make_rows(mg_results *results, const mg_options *o)
{
    for (int64_t g = 0; g < o->lab->count; g++)
        results->count += wanted(&o->lab->groups[g], o) ? o->lab->groups[g].count : 0;
    if (results->count == 0)
        return mt_fail(MT_ERR_ARGUMENT, "lab %s has no checks%s%s", o->lab->id, o->step ? " of step " : "",
                       o->step ? o->step : "");
    results->rows = calloc((size_t)results->count, sizeof results->rows[0]);
    MT_CHECK(results->rows, "out of memory");
    mg_row *row = results->rows;
    for (int64_t g = 0; g < o->lab->count; g++) {
        const mg_group *group = &o->lab->groups[g];
        for (int64_t i = 0; i < group->count && wanted(group, o); i++, row++) {
            const mg_case *c = case_of(group, i);
            snprintf(row->step, sizeof row->step, "%s", group->step);
            snprintf(row->name, sizeof row->name, "%s%s%s", group->title, c->name ? ": " : "", c->name ? c->name : "");
            snprintf(row->hint, sizeof row->hint, "%s", c->hint ? c->hint : "");
            row->max = c->points;
        }
    }
    return MT_OK;
}

static void add_up(mg_results *results)
{
    results->points = results->max = 0;
    for (int64_t i = 0; i < results->count; i++) {
        results->points += results->rows[i].points;
        results->max += results->rows[i].max;
    }
}

/* ---- running the groups --------------------------------------------------------------------- */

/* A case that did not reach the unwritten part (for example with no rows) says nothing about it: a step is TODO, for a
 * function, if any of its cases found it unwritten. */
static void spread_todo(mg_row *rows, char (*function)[MG_WIRE_NAME], int64_t count, const mg_bench *bench)
{
    for (int64_t i = 0; i < count; i++) {
        const char *missing = function[i][0] ? mg_missing(bench, rows[i].step, function[i]) : NULL;
        if (missing) {
            rows[i].verdict = MG_TODO;
            rows[i].points = 0;
            rows[i].detail[0] = 0;
            mg_note_missing(&rows[i], missing);
        }
    }
}

/* Run all rows, or those in `only`. */
static void run_groups(mg_results *results, const mg_options *o, mg_bench *bench, const bool *only)
{
    char(*function)[MG_WIRE_NAME] = calloc((size_t)results->count, sizeof *function);
    mg_row *row = results->rows;
    MT_CHECK(function, "out of memory");
    for (int64_t g = 0; g < o->lab->count; g++) {
        const mg_group *group = &o->lab->groups[g];
        mg_session *session = NULL;
        for (int64_t i = 0; i < group->count && wanted(group, o); i++, row++) {
            mg_run run;
            if (only && !only[row - results->rows])
                continue;
            mg_run_begin(&run, bench, row, session);
            group->run(&run, case_of(group, i));
            mg_run_end(&run);
            session = run.session;
            snprintf(function[row - results->rows], MG_WIRE_NAME, "%s", run.function);
            if (o->progress && !only)
                o->progress(row, row - results->rows + 1, results->count);
        }
        mg_session_end(session);
    }
    spread_todo(results->rows, function, results->count, bench);
    free(function);
}

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
    b->todos = 0;
    if (mg_build_worker(&b->build, o->lab->id, whose, b->worker_path, log, sizeof log) == MT_OK) {
        b->worker.path = b->worker_path;
        run_groups(&again, o, b, suspect);
        for (int64_t i = 0; i < results->count; i++)
            if (suspect[i] && again.rows[i].verdict == MG_PASS) {
                mg_row *row = &results->rows[i];
                suspect[i] = false;
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
        suspect[i] = v != MG_PASS && v != MG_INCONCLUSIVE && v != MG_ERROR;
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

static mt_status choose_sandbox(mg_results *results, const mg_options *o, bool *confined)
{
    *confined = mg_sandbox_probe() == MT_OK;
    if (*confined)
        return MT_OK;
    if (o->marking)
        return mt_fail(MT_ERR_UNAVAILABLE, "--marking needs a sandbox: %s", mt_last_error());
    snprintf(results->warning, sizeof results->warning, "no sandbox: %s; the units run as you", mt_last_error());
    return MT_OK;
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
    if (info == &bench->info && o->submission) /* not for the earlier labs, nor for files that belong in labs/ */
        memcpy(results->ignored, ignored, sizeof ignored);
    if (status != MT_OK)
        return status;
    status = mg_build_units(&bench->build, info, results->build_log, sizeof results->build_log);
    if (status == MT_OK)
        results->build_log[0] = 0; /* warnings in units that compile are not reported */
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

static mt_status visit_mine(mg_bench *bench, const mg_options *o, mg_results *results, earlier_fn *visit)
{
    mt_status status = MT_OK;
    char *list = strdup(o->mine ? o->mine : ""), *rest = list;
    MT_CHECK(list, "out of memory");
    for (char *number; status == MT_OK && (number = strsep(&rest, " ,"));)
        if (number[0])
            status = visit_earlier(bench, o, number, results, visit);
    free(list);
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
    if (status == MT_OK) {
        status = mg_build_worker(&bench->build, o->lab->id, MG_MINE, bench->worker_path, results->build_log,
                                 sizeof results->build_log);
        if (status == MT_OK)
            results->build_log[0] = 0; /* the linker's remarks on static libgomp */
    }
    mg_build_launcher(&bench->build, bench->launcher_path);
    bench->worker.path = bench->worker_path;
    bench->worker.launcher = bench->launcher_path;
    bench->worker.limits = bench->info.limits;
    bench->worker.confined = bench->build.confined;
    return status;
}

static void fail_all(mg_results *results)
{
    for (int64_t i = 0; i < results->count; i++) {
        mg_row *row = &results->rows[i];
        row->verdict = MG_FAIL;
        row->hint[0] = 0;
        snprintf(row->note, sizeof row->note, "the units do not build");
    }
}

static uint64_t fresh_seed(uint64_t wanted_seed)
{
    uint64_t seed = wanted_seed;
    while (seed == 0) /* all 64 bits, so that a unit cannot find it from the inputs and predict later ones */
        MT_CHECK(getrandom(&seed, sizeof seed, 0) == sizeof seed, "no random numbers");
    return seed;
}

static mt_status grade_in(mg_results *results, const mg_options *o, mg_bench *bench, const char *scratch)
{
    bool confined;
    mt_status status = choose_sandbox(results, o, &confined);
    if (status == MT_OK)
        status = mg_build_open(&bench->build, o->root, o->build, scratch, confined);
    if (status != MT_OK)
        return status;
    status = make_worker(bench, o, results);
    if (status == MT_OK) {
        run_groups(results, o, bench, NULL);
        blame_earlier(results, o, bench);
    } else if (results->build_log[0]) {
        fail_all(results);
    } else {
        return status;
    }
    return MT_OK;
}

mt_status mg_grade(mg_results *results, const mg_options *o)
{
    double begin = mt_now();
    mg_bench *bench = calloc(1, sizeof *bench);
    mg_scratch scratch = { 0 };
    MT_CHECK(bench, "out of memory");
    *results = (mg_results){ 0 };
    bench->seed = fresh_seed(o->seed);
    snprintf(results->lab, sizeof results->lab, "%s", o->lab->id);
    describe_machine(results->machine, sizeof results->machine);
    mt_status status = mg_labinfo_read(&bench->info, o->root, o->lab->id);
    if (status == MT_OK) {
        snprintf(results->title, sizeof results->title, "%s", bench->info.title);
        status = make_rows(results, o);
    }
    if (status == MT_OK)
        status = mg_scratch_open(&scratch);
    if (status == MT_OK)
        status = grade_in(results, o, bench, scratch.path);
    mg_scratch_close(&scratch);
    mg_labinfo_free(&bench->info);
    free(bench);
    add_up(results);
    results->seconds = mt_now() - begin;
    return status;
}

void mg_results_free(mg_results *results)
{
    free(results->rows);
    *results = (mg_results){ 0 };
}
