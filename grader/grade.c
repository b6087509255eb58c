/* grade.c -- the command: options in, table and reports out.
 *
 * Exit status: 0 graded (whatever the points), 1 graded but not full marks (with --require-full), 2 usage,
 * 3 could not grade. */
#include "grading.h"
#include "labs.h"
#include "scratch.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GRADED, NOT_FULL, USAGE, NOT_GRADED };
enum { OPT_BUILD = 256, OPT_ROOT, OPT_MARKING, OPT_STEP, OPT_REQUIRE_FULL, OPT_UNITS };

typedef struct command {
    mg_options options;
    const char *report; /* folder for NN.json and NN.html; NULL for none */
    bool quiet, require_full;
} command;

static const struct argp_option arguments[] = {
    { "lab", 'l', "NN", 0, "the lab: 01 or 01-matmul", 0 },
    { "submission", 's', "PATH", 0, "a folder or a tar or zip with the units (default: labs/NN-name)", 0 },
    { "units", OPT_UNITS, "DIR", 0, "the same", 0 },
    { "mine", 'm', "\"NN NN\"", 0, "take these earlier labs' units from labs/, too", 0 },
    { "step", OPT_STEP, "NN.N", 0, "only this step", 0 },
    { "seed", 'S', "HEX", 0, "repeat the inputs of an earlier run", 0 },
    { "marking", OPT_MARKING, 0, 0, "refuse to run without a sandbox", 0 },
    { "report", 'r', "DIR", 0, "also write DIR/NN.json and DIR/NN.html", 0 },
    { "root", OPT_ROOT, "DIR", 0, "the repository (default: .)", 0 },
    { "build", OPT_BUILD, "DIR", 0, "what make built (default: ROOT/build/release)", 0 },
    { "require-full", OPT_REQUIRE_FULL, 0, 0, "exit with 1 unless every point was earned", 0 },
    { "quiet", 'q', 0, 0, "no progress line", 0 },
    { 0 },
};

static uint64_t parse_seed(struct argp_state *state, const char *text)
{
    char *end;
    errno = 0;
    uint64_t seed = strtoull(text, &end, 16);
    if (errno || end == text || *end || seed == 0)
        argp_error(state, "--seed wants a hexadecimal number such as 5eed01, not \"%s\"", text);
    return seed;
}

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
        c->options.seed = parse_seed(state, value);
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
    case 'q':
        c->quiet = true;
        break;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\"", value);
        break;
    case ARGP_KEY_END:
        if (!c->options.lab)
            argp_error(state, "which lab? --lab 01");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void show_progress(const mg_row *row, int64_t done, int64_t total)
{
    fprintf(stderr, "\r\033[K  %lld/%lld  %s %s", (long long)done, (long long)total, row->step, row->name);
    if (done == total)
        fprintf(stderr, "\r\033[K");
}

static mt_status write_reports(const mg_results *results, const char *folder, char html[PATH_MAX])
{
    char json[PATH_MAX];
    mg_path(json, "%s/%.2s.json", folder, results->lab);
    mg_path(html, "%s/%.2s.html", folder, results->lab);
    mt_status status = mg_folder(folder, false);
    if (status == MT_OK)
        status = mg_report_json(json, results);
    return status == MT_OK ? mg_report_html(html, results) : status;
}

int main(int argc, char **argv)
{
    char build[PATH_MAX], html[PATH_MAX] = "";
    command c = { .options = { .root = "." } };
    const struct argp parser = { .options = arguments, .parser = parse, .doc = "Grade the units of one lab." };
    mg_results results;
    argp_err_exit_status = USAGE;
    argp_parse(&parser, argc, argv, 0, NULL, &c);
    signal(SIGPIPE, SIG_IGN);
    mg_path(build, "%s/build/release", c.options.root);
    if (!c.options.build)
        c.options.build = build;
    if (!c.quiet && isatty(2))
        c.options.progress = show_progress;
    mt_status status = mg_grade(&results, &c.options);
    if (status == MT_OK && c.report)
        status = write_reports(&results, c.report, html);
    if (status != MT_OK) {
        fprintf(stderr, "grade: %s\n", mt_last_error());
        mg_results_free(&results);
        return status == MT_ERR_ARGUMENT ? USAGE : NOT_GRADED;
    }
    mg_report_text(stdout, &results, html[0] ? html : NULL);
    bool full = results.points >= results.max;
    mg_results_free(&results);
    return c.require_full && !full ? NOT_FULL : GRADED;
}
