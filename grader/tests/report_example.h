/* report_example.h -- a grade with typical rows, one with hostile text, and where reports of them are written. */
#pragma once

#include "rows/counted.h"
#include "report/excerpt.h"
#include "report/results.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline mg_row row(const char *step, const char *name, mg_verdict verdict, double points, double max)
{
    mg_row r = { .ran = true,
                 .verdict = verdict,
                 .points = points,
                 .max = max,
                 .measured = NAN,
                 .low = NAN,
                 .full = NAN,
                 .toy = NAN,
                 .reference = NAN };
    snprintf(r.step, sizeof r.step, "%s", step);
    snprintf(r.name, sizeof r.name, "%s", name);
    return r;
}

#define SET(field, text) snprintf(field, sizeof(field), "%s", text)

/* A grade with typical rows. */
static inline mg_results example(mg_row rows[6])
{
    rows[0] = row("02.1", "linear forward", MG_PASS, 10, 10);
    rows[1] = row("02.5", "softmax: random rows", MG_PASS, 3, 3);
    rows[2] = row("02.5", "softmax: large logits", MG_FAIL, 0, 2);
    SET(rows[2].call, "mt_softmax_fwd_cpu(out, x, N=4, C=10)");
    rows[2].seed = 0x5eed01;
    SET(rows[2].detail, "out[0,3] = nan   expected 0.135335   tolerance 1.2e-06");
    SET(rows[2].hint, "exp(90) overflows float: subtract the row maximum first");
    rows[3] = row("02.6", "cross-entropy backward", MG_TODO, 0, 8);
    rows[4] = row("02.9", "MNIST, 10 epochs", MG_PASS, 12, 12);
    SET(rows[4].note, "test accuracy 97.8 %  (bar 97.5 %)");
    rows[5] = row("01.6", "packed matmul vs reference", MG_PASS, 18, 20);
    SET(rows[5].note, "0.91x of the reference (bar 0.50 .. 0.95)  9 rounds, spread 2 %");
    rows[5].measured = 0.91, rows[5].low = 0.5, rows[5].full = 0.95;
    mg_results results = { .points = 63, .max = 85, .seconds = 12.5, .rows = rows, .count = 6 };
    SET(results.lab, "02-backprop");
    SET(results.title, "backprop");
    SET(results.units, "labs/02-backprop");
    SET(results.machine, "a CPU, gcc");
    return results;
}

/* A row and a head with text that a hostile submission might contain. */
#define HOSTILE                                                                                             \
    "<script>alert(\"1\")</script> & 'x' \\ \x1b[31m \xff\xfe \xc0\xaf \xed\xa0\x80 \xe2\x80\xae \xc3\xa9 " \
    "\x01\n</pre>"

static inline mg_results hostile(mg_row rows[1])
{
    rows[0] = row("02.5", "n", MG_CRASH, 0, 1);
    SET(rows[0].name, "<img src=x> \xff");
    SET(rows[0].call, HOSTILE);
    SET(rows[0].detail, HOSTILE);
    SET(rows[0].hint, HOSTILE);
    SET(rows[0].note, HOSTILE);
    rows[0].measured = -3;
    mg_results results = { .points = 0, .max = 1, .rows = rows, .count = 1 };
    SET(results.lab, "02-backprop");
    SET(results.title, HOSTILE);
    SET(results.units, HOSTILE);
    SET(results.machine, HOSTILE);
    SET(results.warning, HOSTILE);
    SET(results.ignored, HOSTILE);
    memset(results.build_log, '"', sizeof results.build_log - 1); /* long, and doubles when escaped */
    return results;
}

/* One unit with this text; free frees it. */
static inline mg_sources *unit_of(const char *name, const char *text)
{
    mg_sources *sources = calloc(1, sizeof *sources + sizeof sources->source[0]);
    sources->count = 1;
    SET(sources->source[0].unit, name);
    sources->source[0].text = (char *)text;
    return sources;
}

static char *folder;

static inline void make_folder(void)
{
    folder = strdup("/tmp/test_report.XXXXXX");
    cr_assert(mkdtemp(folder));
}

static inline void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    free(folder);
}

static inline char *read_file(const char *name)
{
    char path[100], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s is not there", path);
    cr_assert(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static inline char *report_of(mt_status (*report)(const char *, const mg_results *), const mg_results *results)
{
    char path[100];
    snprintf(path, sizeof path, "%s/report", folder);
    cr_assert_eq(report(path, results), MT_OK, "%s", mt_last_error());
    return read_file("report");
}

/* There are no bytes that a terminal or a browser does not interpret as text. */
static inline void expect_clean(const char *text)
{
    static const char *const forbidden[] = {
        "\x1b", "\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x80\xae", "\x01"
    };
    for (int64_t i = 0; i < MT_COUNT(forbidden); i++)
        cr_expect_null(strstr(text, forbidden[i]), "forbidden bytes no. %d", (int)i);
    cr_expect(strstr(text, "\xc3\xa9"), "a letter of another language stays");
}
