/* grade_all.c -- the command for instructors: grade a class, write its grades as CSV, look for copies.
 *
 * Exit status: 0 done, 1 some submissions are not finished, 2 usage, 3 it could not go on. */
#include "batch.h"
#include "command.h"
#include "export.h"
#include "feedback.h"
#include "disk.h"
#include "progress.h"
#include "regrade.h"
#include "similar.h"
#include "totals.h"
#include "labs.h"
#include "sandbox/scratch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { DONE, NOT_FINISHED, USAGE, FAILED };
enum {
    OPT_ROOT = 256,
    OPT_BUILD,
    OPT_REGRADE,
    OPT_NO_SPEED,
    OPT_ROOM,
    OPT_COURSE,
    OPT_EXPORT,
    OPT_SIMILAR,
    OPT_EARLIER,
    OPT_ENGINE,
    OPT_HOSTS,
    OPT_TASK
};

static const struct argp_option arguments[] = {
    { "dir", 'd', "DIR", 0, "the folder of submissions", 0 },
    { "lab", 'l', "NN", 0, "the lab; with --export all labs of the course when there is none", 0 },
    { "out", 'o', "DIR", 0, "the folder of gradebook and reports (default: DIR.graded)", 0 },
    { "jobs", 'j', "N", 0, "so many graders at once (default: one for each processor)", 0 },
    { "seed", 'S', "HEX", 0, "of the inputs, the same for all (default: that of the gradebook)", 0 },
    { "regrade", OPT_REGRADE, "all|WORDS|accept|discard|inconclusive", 0,
      "grade again all, or those whose names have these words: what that changes is shown, and counts after accept; or "
      "only rows that are INCONCLUSIVE",
      0 },
    { "no-speed", OPT_NO_SPEED, 0, 0, "leave the timed rows for another run", 0 },
    { "course", OPT_COURSE, "FILE", 0,
      "points, due dates, visibility (default: ROOT/course.json); none for the checks'", 0 },
    { "room", OPT_ROOM, "MIB", 0, "pause while the disk has less than that (default: 256)", 0 },
    { "export", OPT_EXPORT, "FORMAT", 0,
      "grade nothing; write the grades as csv, canvas, moodle or gradescope, or a page for each student as feedback",
      0 },
    { "similarity", OPT_SIMILAR, "PERCENT", 0, "grade nothing; name submissions that have so much in common", 0 },
    { "earlier", OPT_EARLIER, "DIR:DIR", 0, "with --similarity: also with these submissions of earlier years", 0 },
    { "engine", OPT_ENGINE, "slurm|ssh", 0, "grade on other machines, which share this folder and DIR.graded", 0 },
    { "hosts", OPT_HOSTS, "FILE", 0, "with --engine ssh: the machines, as parallel --sshloginfile reads them", 0 },
    { "task", OPT_TASK, "TASK", OPTION_HIDDEN, "for grader/batch/engine.sh", 0 },
    { "root", OPT_ROOT, "DIR", 0, "the repository (default: .)", 0 },
    { "build", OPT_BUILD, "DIR", 0, "what make built (default: ROOT/build/release)", 0 },
    { 0 },
};

typedef struct command {
    mg_batch_options batch;
    mg_course course;
    mg_students students;
    const char *format; /* export; NULL: no */
    const char *task;   /* of an engine, to be carried out here; NULL: no */
    mg_search search;   /* threshold 0: no */
} command;

static int64_t count_of(struct argp_state *state, const char *option, const char *text)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (errno || end == text || *end || value < 0)
        argp_error(state, "%s wants a number, not \"%s\"", option, text);
    return value;
}

/* Other machines. */
static error_t parse_engine(int key, char *value, struct argp_state *state)
{
    command *c = state->input;
    mg_engine *engine = &c->batch.engine;
    switch (key) {
    case OPT_ENGINE:
        engine->name = value;
        if (strcmp(value, "slurm") != 0 && strcmp(value, "ssh") != 0)
            argp_error(state, "unknown engine \"%s\": use slurm or ssh", value);
        break;
    case OPT_HOSTS:
        engine->hosts = value;
        break;
    case OPT_TASK:
        c->task = value;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* What needs only the gradebook. */
static error_t parse_book(int key, char *value, struct argp_state *state)
{
    command *c = state->input;
    switch (key) {
    case OPT_EXPORT:
        c->format = value;
        break;
    case OPT_SIMILAR:
        c->search.threshold = (double)count_of(state, "--similarity", value);
        if (c->search.threshold < 1 || c->search.threshold > 100)
            argp_error(state, "--similarity wants per cent, 1 .. 100, not \"%s\"", value);
        break;
    case OPT_EARLIER:
        c->search.earlier = value;
        break;
    default:
        return parse_engine(key, value, state);
    }
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    command *c = state->input;
    mg_batch_options *o = &c->batch;
    switch (key) {
    case 'd':
        o->folder = value;
        break;
    case 'l':
        if (!(o->lab = mg_lab_find(value)))
            argp_error(state, "unknown lab \"%s\"", value);
        break;
    case 'o':
        o->out = value;
        break;
    case 'j':
        o->jobs = count_of(state, "--jobs", value);
        break;
    case 'S':
        o->seed = mg_command_seed(state, value);
        break;
    case OPT_REGRADE:
        o->regrade = value;
        break;
    case OPT_NO_SPEED:
        o->no_speed = true;
        break;
    case OPT_COURSE:
        o->course = value;
        break;
    case OPT_ROOM:
        o->room = count_of(state, "--room", value);
        break;
    case OPT_ROOT:
        o->root = value;
        break;
    case OPT_BUILD:
        o->build = value;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", value);
        break;
    case ARGP_KEY_END:
        if (!(o->folder || (o->out && (c->format || c->task))) || !(o->lab || c->format))
            argp_error(state, "which submissions, of which lab? make grade-all DIR=submissions LAB=01");
        if (o->engine.name && strcmp(o->engine.name, "ssh") == 0 && !o->engine.hosts)
            argp_error(state, "on which machines? ENGINE=ssh HOSTS=file, a line for each: [N/][user@]host, N graders");
        break;
    default:
        return parse_book(key, value, state);
    }
    return 0;
}

/* The grades of a lab. */
static mt_status export_lab(mg_book *book, const command *c, const mg_plan *plan)
{
    char path[PATH_MAX];
    mg_exported counts;
    mg_path(path, "%s/%.2s-%s.csv", plan->out, plan->lab->id, c->format);
    mt_status status = mg_export(book, plan->lab, c->batch.course_lab, &c->students, c->format, path, &counts);
    if (status != MT_OK)
        return status;
    printf("%s: %lld students\n", path, (long long)counts.students);
    if (counts.open)
        printf("%lld more have no grade yet, and no points there: run make grade-all again\n", (long long)counts.open);
    if (counts.refused)
        printf("%lld were refused and have no points there: FORMAT=csv has the reasons\n", (long long)counts.refused);
    return mg_progress_open(book, plan->lab->id, NULL);
}

/* A page for each student. */
static mt_status give_feedback(mg_book *book, const command *c, const mg_plan *plan)
{
    int64_t pages, left;
    mt_status status = mg_feedback(book, plan, c->batch.course_lab, &c->students, &pages, &left);
    if (status != MT_OK)
        return status;
    printf("%s/%.2s-feedback: pages of %lld students; as a zip for Canvas or Moodle: cd %s/%.2s-feedback && zip -qr "
           "../%.2s-feedback.zip .\n",
           plan->out, plan->lab->id, (long long)pages, plan->out, plan->lab->id, plan->lab->id);
    if (left)
        printf("%lld have none: not graded yet, or not a student whom the service would find\n", (long long)left);
    return mg_progress_open(book, plan->lab->id, NULL);
}

/* The value of --regrade that decides about what was graded again. */
static bool decides(const mg_batch_options *o)
{
    return o->regrade && (strcmp(o->regrade, "accept") == 0 || strcmp(o->regrade, "discard") == 0);
}

static mt_status decide(mg_book *book, const mg_plan *plan, const char *how)
{
    mt_status status = mg_disk_lock(plan->out);
    return status == MT_OK ? mg_regrade_end(book, plan, strcmp(how, "accept") == 0) : status;
}

/* What needs only the gradebook. */
static mt_status use_book(const command *c)
{
    char path[PATH_MAX];
    mg_plan plan = { .lab = c->batch.lab, .root = c->batch.root, .build = c->batch.build };
    mg_book book;
    mg_book_folder(plan.out, c->batch.folder, c->batch.out);
    mg_path(path, "%s/gradebook.sqlite", plan.out);
    mt_status status = mg_book_open(&book, path, false);
    if (status != MT_OK)
        return status;
    if (c->format && plan.lab && strcmp(c->format, "feedback") == 0)
        status = give_feedback(&book, c, &plan);
    else if (c->format && plan.lab)
        status = export_lab(&book, c, &plan);
    else if (c->format)
        status = mg_totals(&book, &c->course, &c->students, plan.out);
    else if (decides(&c->batch))
        status = decide(&book, &plan, c->batch.regrade);
    else
        status = mg_similar(&book, &plan, &c->search);
    mg_book_close(&book);
    return status;
}

/* A task of an engine: the batch has read the course file, and the grader reads it again. */
static mt_status carry_out(const command *c)
{
    const mg_batch_options *o = &c->batch;
    mg_plan plan = { .lab = o->lab, .root = o->root, .build = o->build, .course = o->course };
    mg_path(plan.out, "%s", o->out);
    snprintf(plan.seed, sizeof plan.seed, "%" PRIx64, o->seed);
    return mg_task(&plan, c->task);
}

static mt_status work(command *c, int64_t *left)
{
    mg_batch_options *o = &c->batch;
    if (c->task)
        return carry_out(c);
    mt_status status = mg_command_course(&c->course, &o->course_lab, o->course, o->root, o->lab);
    if (status == MT_OK)
        status = mg_command_students(&c->students, &c->course, o->course, o->root);
    if (status == MT_OK)
        status = c->format || c->search.threshold > 0 || decides(o) ? use_book(c) : mg_batch(o, left);
    mg_students_free(&c->students);
    mg_course_free(&c->course);
    return status;
}

int main(int argc, char **argv)
{
    char build[PATH_MAX];
    int64_t left = 0;
    command c = { .batch = { .root = ".", .room = 256 } };
    const struct argp parser = { .options = arguments, .parser = parse, .doc = "Grade the submissions of a class." };
    argp_err_exit_status = USAGE;
    umask(077); /* grades and submissions are for the instructor alone */
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    mg_command_interrupt();
    mg_path(build, "%s/build/release", c.batch.root);
    if (!c.batch.build)
        c.batch.build = build;
    mt_status status = work(&c, &left);
    if (status != MT_OK) {
        fprintf(stderr, "grade-all: %s\n", mt_last_error());
        return FAILED;
    }
    return left ? NOT_FINISHED : DONE;
}
