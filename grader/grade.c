/* grade.c -- the command: options in, table and reports out.
 *
 * Exit status: 0 graded (whatever the points), 1 graded but not full marks (with --require-full), 2 usage,
 * 3 could not grade. */
#include "command.h"
#include "grading.h"
#include "json.h"
#include "labinfo.h"
#include "labs.h"
#include "sandbox/scratch.h"
#include "sandbox/session.h"
#include "times.h"

#include <errno.h>
#include <sys/file.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRADED, NOT_FULL, USAGE, NOT_GRADED, INTERRUPTED = 130 /* as of a shell whose command got SIGINT */ };
enum {
    OPT_BUILD = 256,
    OPT_ROOT,
    OPT_MARKING,
    OPT_INCONCLUSIVE,
    OPT_SANDBOX,
    OPT_STEP,
    OPT_REQUIRE_FULL,
    OPT_UNITS,
    OPT_WIDTH,
    OPT_UNTIL_FAILURE,
    OPT_NO_SPEED,
    OPT_LIMIT,
    OPT_TIMES,
    OPT_CAPTURE,
    OPT_COURSE,
    OPT_ANY_SYMBOL
};

typedef struct command {
    mg_options options;
    const char *course; /* its file; NULL for ROOT/course.json if there is one */
    const char *report; /* folder for NN.json and NN.html; NULL for none */
    bool quiet, require_full;
} command;

static int width = MG_WIDTH;

static const struct argp_option arguments[] = {
    { "lab", 'l', "NN", 0, "the lab: 01 or 01-matmul", 0 },
    { "submission", 's', "PATH", 0, "a folder or a tar or zip with the units (default: labs/NN-name)", 0 },
    { "units", OPT_UNITS, "DIR", 0, "the same", 0 },
    { "mine", 'm', "\"NN NN\"", 0, "take these earlier labs' units from labs/, too", 0 },
    { "step", OPT_STEP, "NN.N [WORDS]", 0, "only this step, or rows with these words in the name; NN: all steps", 0 },
    { "seed", 'S', "HEX", 0, "repeat the inputs of an earlier run", 0 },
    { "until-failure", OPT_UNTIL_FAILURE, 0, 0, "leave out the rows after the first that fails", 0 },
    { "no-speed", OPT_NO_SPEED, 0, 0, "measure no speed: those rows are INCONCLUSIVE", 0 },
    { "limit", OPT_LIMIT, "SECONDS", 0, "of processor time for each row, if the lab allows more", 0 },
    { "times", OPT_TIMES, "K", 0, "grade K times, each with other inputs: how often each row has each verdict", 0 },
    { "capture", OPT_CAPTURE, "FILE", 0, "write the calls of the first row that fails to a file (make debug)", 0 },
    { "course", OPT_COURSE, "FILE", 0, "points, visibility and seed (default: ROOT/course.json); none for the checks'",
      0 },
    { "marking", OPT_MARKING, 0, 0, "refuse to run without a sandbox", 0 },
    { "sandbox", OPT_SANDBOX, "KIND", 0, "bubblewrap, landlock or none (default: the strongest that works here)", 0 },
    { "report", 'r', "DIR", 0, "also write DIR/NN.json and DIR/NN.html", 0 },
    { "inconclusive", OPT_INCONCLUSIVE, 0, 0, "only rows that the report of before (--report) has as INCONCLUSIVE", 0 },
    { "root", OPT_ROOT, "DIR", 0, "the repository (default: .)", 0 },
    { "build", OPT_BUILD, "DIR", 0, "what make built (default: ROOT/build/release)", 0 },
    { "require-full", OPT_REQUIRE_FULL, 0, 0, "exit with 1 unless every point was earned", 0 },
    { "width", OPT_WIDTH, "N", 0, "columns of the table (default: 80); 0: one line for each message", 0 },
    { "any-symbol", OPT_ANY_SYMBOL, 0, OPTION_HIDDEN, "for tests of the sandbox", 0 },
    { "quiet", 'q', 0, 0, "no progress line", 0 },
    { 0 },
};

static const mg_lab *parse_lab(struct argp_state *state, const char *name)
{
    char known[256] = "";
    const mg_lab *lab = mg_lab_find(name);
    for (const mg_lab *const *l = mg_labs; *l; l++)
        snprintf(known + strlen(known), sizeof known - strlen(known), " %.2s", (*l)->id);
    if (!lab)
        argp_error(state, "unknown lab \"%s\": use one of%s", name, known);
    return lab;
}

/* What the scripts in grader/ use. */
static error_t parse_tool(int key, const char *value, mg_options *o)
{
    switch (key) {
    case OPT_UNTIL_FAILURE:
        o->until_failure = true;
        break;
    case OPT_CAPTURE:
        o->capture = value;
        break;
    case OPT_SANDBOX:
        o->sandbox = value;
        break;
    case OPT_NO_SPEED:
        o->no_speed = true;
        break;
    case OPT_INCONCLUSIVE:
        o->again = ""; /* main has its path */
        break;
    case OPT_LIMIT:
        o->limit = atof(value);
        break;
    case OPT_WIDTH:
        width = atoi(value);
        break;
    case OPT_TIMES:
        o->times = atoll(value);
        o->graded = mg_times_add;
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    command *c = state->input;
    switch (key) {
    case 'l':
        c->options.lab = parse_lab(state, value);
        break;
    case 's':
    case OPT_UNITS:
        c->options.submission = value;
        break;
    case 'm':
        c->options.mine = value;
        break;
    case OPT_STEP:
        c->options.step = value;
        break;
    case 'S':
        c->options.seed = mg_command_seed(state, value);
        break;
    case OPT_COURSE:
        c->course = value;
        break;
    case OPT_MARKING:
        c->options.marking = true;
        break;
    case 'r':
        c->report = value;
        break;
    case OPT_ROOT:
        c->options.root = value;
        break;
    case OPT_BUILD:
        c->options.build = value;
        break;
    case OPT_REQUIRE_FULL:
        c->require_full = true;
        break;
    case OPT_ANY_SYMBOL:
        c->options.any_symbol = true;
        break;
    case 'q':
        c->quiet = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", value);
        break;
    case ARGP_KEY_END:
        if (!c->options.lab)
            argp_error(state, "which lab? --lab 01");
        if (c->options.again && !c->report)
            argp_error(state, "--inconclusive: of which report? --report DIR");
        break;
    default:
        return parse_tool(key, value, &c->options);
    }
    return 0;
}

/* ---- while it runs ------------------------------------------------------------------------------ */

static bool line_shown, quiet; /* a line on the terminal that says which row is running; none is wanted */

static void clear_line(void)
{
    if (line_shown)
        fputs("\r\033[K", stderr);
    line_shown = false;
}

static void begin(const mg_results *results)
{
    mg_report_begin(stdout, results);
    fflush(stdout); /* into a pipe too */
}

static void said(const char *log)
{
    clear_line();
    mg_report_compiler(stdout, log);
    fflush(stdout);
}

static void next(const mg_row *row, int64_t done, int64_t total)
{
    if (quiet || !isatty(1) || !isatty(2))
        return;
    fprintf(stderr, "\r\033[K  %lld/%lld  %s %s", (long long)done, (long long)total, row->step, row->name);
    line_shown = true;
}

static void row(const mg_results *results, const mg_row *one)
{
    clear_line();
    mg_report_row(stdout, results, one, width);
    fflush(stdout);
}

static void again(const mg_results *results)
{
    (void)results;
    clear_line();
    puts("\n After all rows have run, these are different:");
}

/* ---- reports ------------------------------------------------------------------------------------ */

static mt_status copy_rows(mg_results *all, const mg_results *results)
{
    size_t bytes = (size_t)results->count * sizeof results->rows[0];
    *all = *results;
    all->rows = malloc(bytes);
    MT_CHECK(all->rows, "out of memory");
    memcpy(all->rows, results->rows, bytes);
    return MT_OK;
}

/* Which rows the reports have that did not run now, and why. */
static void put_remark(mg_results *all, const char *step)
{
    char *text = all->remark;
    size_t size = sizeof all->remark;
    if (step)
        snprintf(text, size, "Graded: step %.100s.", step);
    if (mg_stop)
        strcat(text, &" The grade was interrupted."[!step]);
    if ((step || mg_stop) && all->missing)
        snprintf(text + strlen(text), size - strlen(text), " %lld rows did not run and have no points.",
                 (long long)all->missing);
    if ((step || mg_stop) && all->recalled)
        snprintf(text + strlen(text), size - strlen(text), " %lld rows are from the grade before.",
                 (long long)all->recalled);
}

/* NN.json and NN.html. If not all rows ran, they keep those of the grade before. */
static mt_status write_reports(const mg_results *results, const mg_options *o, const char *folder, const char *name,
                               char html[PATH_MAX])
{
    char json[PATH_MAX];
    mg_results all;
    mg_path(json, "%s/%s.json", folder, name);
    mg_path(html, "%s/%s.html", folder, name);
    mt_status status =
        o->step || o->again || mg_stop ? mg_recall(&all, results, o->lab, json) : copy_rows(&all, results);
    if (status != MT_OK)
        return status;
    all.sources = results->sources; /* lent */
    put_remark(&all, o->step);
    status = mg_report_json(json, &all);
    if (status == MT_OK)
        status = mg_report_html(html, &all);
    all.sources = NULL;
    mg_results_free(&all);
    return status;
}

static int64_t count_errors(const mg_results *results)
{
    int64_t errors = mg_errors(results);
    if (errors)
        fprintf(stderr, "grade: %lld rows were not graded because of an error of the grader: run it again\n",
                (long long)errors);
    return errors;
}

/* The first of NN, NN-2, NN-3 ... that no other grading is using: two at once do not overwrite each other's report. The
 * lock is held until we end. */
static mt_status choose_name(const char *folder, const char *lab, char name[16])
{
    char path[PATH_MAX];
    mt_status status = mg_folder(folder, false);
    for (int i = 1; status == MT_OK && i < 100; i++) {
        snprintf(name, 16, i == 1 ? "%.2s" : "%.2s-%d", lab, i);
        mg_path(path, "%s/.%s.lock", folder, name);
        int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (fd < 0)
            return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return MT_OK;
        close(fd);
    }
    return status == MT_OK ? mt_fail(MT_ERR_IO, "%s: 99 gradings write their reports here already", folder) : status;
}

/* For instructors only: to the terminal, and into NN.machine-code beside the reports (make similarity). */
static void tell_machine_code(const mg_results *results, const char *folder, const char *name)
{
    char path[PATH_MAX];
    if (results->machine_code[0])
        fprintf(stderr, "grade: %s\n", results->machine_code);
    mg_path(path, "%s/%s.machine-code", folder ? folder : "", name);
    if (folder)
        unlink(path);
    if (folder && results->machine_code[0] &&
        mg_write_file(path, results->machine_code, strlen(results->machine_code)) != MT_OK)
        fprintf(stderr, "grade: %s\n", mt_last_error());
}

/* After a lab in labs/, or a step, of which no row failed or is to do: what it gave, and what comes next. */
static void put_gift(const mg_options *o, const mg_results *results)
{
    mg_labinfo info;
    const mg_lab *const *lab = mg_labs;
    bool whole = !o->submission && !o->again && results->count > 0;
    for (const mg_row *row = results->rows; row < results->rows + results->count; row++)
        whole = whole && row->ran &&
                (row->verdict == MG_PASS || (mg_verdict_open(row->verdict) && row->verdict != MG_ERROR));
    if (whole && o->step)
        printf("\n Next:                    make grade LAB=%.2s%s\n", o->lab->id,
               mg_lab_next(o->lab, results->rows[results->count - 1].step));
    if (!whole || o->step || mg_labinfo_read(&info, o->root, o->lab->id) != MT_OK)
        return;
    while (*lab != o->lab)
        lab++;
    printf("\n Your framework can now %s.\n Try it with your units:  %s\n", mg_json_string(info.json, "gives"),
           mg_json_string(info.json, "try"));
    if (lab[1])
        printf(" The next lab:            make lab LAB=%.2s\n", lab[1]->id);
    puts(" How far you are:         make progress; make grow measures how much of a run is your code");
    mg_labinfo_free(&info);
}

int main(int argc, char **argv)
{
    char build[PATH_MAX], html[PATH_MAX] = "";
    command c = { .options = { .root = "." } };
    const struct argp parser = { .options = arguments, .parser = parse, .doc = "Grade the units of one lab." };
    mg_results results;
    argp_err_exit_status = USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    mg_command_interrupt();
    mg_path(build, "%s/build/release", c.options.root);
    if (!c.options.build)
        c.options.build = build;
    quiet = c.quiet;
    const mg_watcher watcher = { begin, next, row, again, said };
    c.options.watcher = c.options.times ? NULL : &watcher;
    char name[16] = "";
    mg_course course;
    mt_status status = mg_command_course(&course, &c.options.course, c.course, c.options.root, c.options.lab);
    if (status == MT_OK && c.report)
        status = choose_name(c.report, c.options.lab->id, name);
    char before[PATH_MAX];
    mg_path(before, "%s/%s.json", c.report ? c.report : "", name);
    if (c.options.again)
        c.options.again = before;
    results = (mg_results){ 0 };
    if (status == MT_OK)
        status = mg_grade(&results, &c.options);
    clear_line();
    if (mg_stop)
        puts("\n interrupted: only the rows above have run");
    if (status != MT_OK) {
        if (!mg_stop)
            fprintf(stderr, "grade: %s\n", mt_last_error());
        mg_results_free(&results);
        return mg_stop ? INTERRUPTED : status == MT_ERR_ARGUMENT ? USAGE : NOT_GRADED;
    }
    int64_t errors = count_errors(&results);
    tell_machine_code(&results, c.report, name);
    if (c.report && write_reports(&results, &c.options, c.report, name, html) != MT_OK) {
        fprintf(stderr, "grade: no report: %s\n", mt_last_error());
        html[0] = 0;
        errors++;
    }
    if (c.options.times > 0)
        mg_times_report(&results);
    else if (!c.quiet)
        put_gift(&c.options, &results);
    if (c.options.times == 0)
        mg_report_end(stdout, &results, html[0] ? html : NULL);
    bool full = results.points >= results.max;
    mg_results_free(&results);
    mg_course_free(&course);
    if (mg_stop)
        return INTERRUPTED;
    return errors ? NOT_GRADED : c.require_full && !full ? NOT_FULL : GRADED;
}
