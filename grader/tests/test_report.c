/* test_report.c -- the three reports of one grade: their layout, and safety with hostile text. */
#include "results.h"
#include "text.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mg_row row(const char *step, const char *name, mg_verdict verdict, double points, double max)
{
    mg_row r = {
        .ran = true, .verdict = verdict, .points = points, .max = max, .measured = NAN, .low = NAN, .full = NAN
    };
    snprintf(r.step, sizeof r.step, "%s", step);
    snprintf(r.name, sizeof r.name, "%s", name);
    return r;
}

#define SET(field, text) snprintf(field, sizeof(field), "%s", text)

/* A grade with typical rows. */
static mg_results example(mg_row rows[6])
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

static mg_results hostile(mg_row rows[1])
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

static char *text_of(const mg_results *results, const char *html_path)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    mg_report_text(out, results, html_path, MG_WIDTH);
    fclose(out);
    return text;
}

static char *folder;

static void make_folder(void)
{
    folder = strdup("/tmp/test_report.XXXXXX");
    cr_assert(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    free(folder);
}

static char *read_file(const char *name)
{
    char path[100], *text = calloc(1, 1 << 20);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s is not there", path);
    cr_assert(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static char *report_of(mt_status (*report)(const char *, const mg_results *), const mg_results *results)
{
    char path[100];
    snprintf(path, sizeof path, "%s/report", folder);
    cr_assert_eq(report(path, results), MT_OK, "%s", mt_last_error());
    return read_file("report");
}

/* There are no bytes that a terminal or a browser does not interpret as text. */
static void expect_clean(const char *text)
{
    static const char *const forbidden[] = {
        "\x1b", "\xff", "\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x80\xae", "\x01"
    };
    for (int64_t i = 0; i < MT_COUNT(forbidden); i++)
        cr_expect_null(strstr(text, forbidden[i]), "forbidden bytes no. %d", (int)i);
    cr_expect(strstr(text, "\xc3\xa9"), "a letter of another language stays");
}

Test(text, is_laid_out_as_the_example)
{
    mg_row rows[6];
    mg_results results = example(rows);
    char *text = text_of(&results, "build/report/02.html");
    cr_expect_str_eq(text,
                     "lab 02 backprop                       your units: labs/02-backprop\n"
                     "\n"
                     " 02.1  linear forward                PASS     10/10\n"
                     " 02.5  softmax: random rows          PASS      3/3\n"
                     " 02.5  softmax: large logits         FAIL      0/2\n"
                     "       mt_softmax_fwd_cpu(out, x, N=4, C=10)   seed 5eed01\n"
                     "       out[0,3] = nan   expected 0.135335   tolerance 1.2e-06\n"
                     "       hint: exp(90) overflows float: subtract the row maximum first\n"
                     " 02.6  cross-entropy backward        TODO      0/8   step not written yet\n"
                     " 02.9  MNIST, 10 epochs              PASS     12/12\n"
                     "       test accuracy 97.8 %  (bar 97.5 %)\n"
                     " 01.6  packed matmul vs reference    PASS     18/20\n"
                     "       0.91x of the reference (bar 0.50 .. 0.95)  9 rounds, spread 2 %\n"
                     "\n"
                     " 63/85 points    1 failed, 1 to do\n"
                     " report: build/report/02.html\n"
                     "grade 02: 63/85 TODO=1 FAIL=1\n",
                     "it was:\n%s", text);
    free(text);
}

/* A script reads a line for a row; a person has 80 columns. */
Test(text, lines_are_as_wide_as_asked)
{
    mg_row rows[6];
    mg_results results = example(rows);
    SET(rows[2].call, "mt_cross_entropy_fwd_cpu(loss, probs, logits, label, N=61, C=10, and=more, arguments=1, of=2)");
    SET(rows[2].detail, "\xc3\xa9\xc3\xa9 probs[9,2] = 0.16719   expected 0.212232   tolerance 2.7e-07   (8 of 610 "
                        "wrong, and more words)\na second line\n"
                        "a third line, whose number ends in the last of the eighty columns, is: 88 %");
    char *text = text_of(&results, NULL), *wide = NULL;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        cr_expect_leq(mg_width(line), 80, "%s", line);
        cr_expect_neq(line[strspn(line, " ")], '%', "%s", line);
    }
    size_t length;
    FILE *out = open_memstream(&wide, &length);
    mg_report_text(out, &results, NULL, 0);
    fclose(out);
    cr_expect(strstr(wide, "MNIST, 10 epochs              PASS     12/12  test accuracy 97.8 %  (bar 97.5 %)\n"));
    cr_expect(strstr(wide, "610 wrong, and more words)\n       a second line\n"), "%s", wide);
    free(text);
    free(wide);
}

/* A row that failed for the same reason as the row before it refers to that one. */
Test(text, a_follower_is_short)
{
    mg_row rows[6];
    mg_results results = example(rows);
    SET(rows[2].follows, "02.5 softmax: random rows");
    char *text = text_of(&results, NULL);
    cr_expect(strstr(text, "tolerance 1.2e-06\n       hint: mend this first: 02.5 softmax: random rows\n 02.6"), "%s",
              text);
    free(text);
    rows[2].same = true;
    text = text_of(&results, NULL);
    cr_expect(strstr(text, "FAIL      0/2\n       after 02.5 softmax: random rows\n 02.6"), "%s", text);
    free(text);
}

/* A unit can make the compiler print any line, by #line. */
Test(text, what_the_compiler_says_is_not_taken_for_ours)
{
    mg_row rows[6];
    mg_results results = example(rows);
    SET(results.build_log,
        "labs/02-backprop/loss.c:3: x\ngrade 02: 85/85\n 02.1  linear forward   PASS\n   12 | int a;\n");
    char *text = text_of(&results, NULL);
    cr_expect(
        strstr(text,
               "\nlabs/02-backprop/loss.c:3: x\n| grade 02: 85/85\n|  02.1  linear forward   PASS\n   12 | int a;\n"),
        "%s", text);
    cr_expect_null(strstr(text, "\ngrade 02: 85/85"));
    free(text);
}

Test(text, all_passed_and_nothing_graded)
{
    mg_row rows[6];
    mg_results results = example(rows);
    results.count = 2, results.points = results.max = 13;
    char *text = text_of(&results, NULL);
    cr_expect(strstr(text, "\n 13/13 points    all passed\ngrade 02: 13/13\n"), "it was:\n%s", text);
    free(text);
    results.count = 0, results.points = 0;
    SET(results.build_log, "softmax.c:3: error: oh\n  dear\n");
    text = text_of(&results, NULL);
    cr_expect(strstr(text, "\nThe compiler says:\nsoftmax.c:3: error: oh\n  dear\n"), "it was:\n%s", text);
    cr_expect(strstr(text, "nothing was graded\ngrade 02: 0/13\n"), "it was:\n%s", text);
    free(text);
}

Test(text, what_was_not_taken_is_named)
{
    mg_row rows[6];
    mg_results results = example(rows);
    SET(results.ignored, "Makefile (not a unit), evil\x1b.h (not a unit)");
    char *text = text_of(&results, NULL);
    cr_expect(strstr(text, "\nignored in the submission: Makefile (not a unit), evil"), "it was:\n%s", text);
    cr_expect_null(strchr(text, '\x1b'));
    free(text);
}

Test(text, every_verdict_has_its_word)
{
    mg_row rows[7];
    mg_results results = { .rows = rows, .count = 7 };
    SET(results.lab, "00-tensors");
    for (int i = 0; i < 7; i++)
        rows[i] = row("00.1", "a row", (mg_verdict)i, 0.125, 7.5);
    char *text = text_of(&results, NULL);
    cr_expect(strstr(text, "1 failed, 1 crashed, 1 timed out, 1 to do, 1 inconclusive, 1 not graded"), "it was:\n%s",
              text);
    cr_expect(strstr(text, "grade 00: 0/0 TODO=1 FAIL=1 CRASH=1 TIMEOUT=1 INCONCLUSIVE=1 ERROR=1\n"), "it was:\n%s",
              text);
    cr_expect(strstr(text, "INCONCLUSIVE 0.12/7.5\n"), "it was:\n%s", text);
    free(text);
}

Test(text, strangers_words_do_not_steer_the_terminal)
{
    mg_row rows[1];
    mg_results results = hostile(rows);
    char *text = text_of(&results, NULL);
    expect_clean(text);
    const char *last = "\ngrade 02: 0/1 CRASH=1\n";
    cr_expect_str_eq(text + strlen(text) - strlen(last), last, "the machine line comes last");
    free(text);
}

Test(json, follows_the_schema, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    char *text = report_of(mg_report_json, &results);
    cJSON *root = cJSON_Parse(text);
    cr_assert(root, "it was:\n%s", text);
    cr_expect_eq(cJSON_GetObjectItem(root, "score")->valuedouble, 63);
    cr_expect_eq(cJSON_GetObjectItem(root, "execution_time")->valuedouble, 12.5);
    cJSON *tests = cJSON_GetObjectItem(root, "tests");
    cr_assert_eq(cJSON_GetArraySize(tests), 6);
    cJSON *failed = cJSON_GetArrayItem(tests, 2), *todo = cJSON_GetArrayItem(tests, 3),
          *bar = cJSON_GetArrayItem(tests, 5);
    cr_expect_str_eq(cJSON_GetObjectItem(failed, "number")->valuestring, "02.5");
    cr_expect_str_eq(cJSON_GetObjectItem(failed, "name")->valuestring, "softmax: large logits");
    cr_expect_str_eq(cJSON_GetObjectItem(failed, "status")->valuestring, "failed");
    cr_expect_eq(cJSON_GetObjectItem(failed, "max_score")->valuedouble, 2);
    cr_expect(strstr(cJSON_GetObjectItem(failed, "output")->valuestring, "seed 5eed01\nout[0,3] = nan"));
    cr_expect_str_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(todo, "extra_data"), "verdict")->valuestring, "TODO");
    cr_expect_str_eq(cJSON_GetObjectItem(bar, "status")->valuestring, "passed", "though not at full points");
    cr_expect_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(bar, "extra_data"), "measured")->valuedouble, 0.91);
    cr_expect_null(cJSON_GetObjectItem(cJSON_GetObjectItem(todo, "extra_data"), "measured"), "NaN is left out");
    cJSON_Delete(root);
    free(text);
}

Test(json, inconclusive_is_not_failed, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[1] = { row("01.6", "packed", MG_INCONCLUSIVE, 0, 20) };
    mg_results results = { .max = 20, .rows = rows, .count = 1 };
    char *text = report_of(mg_report_json, &results);
    cr_expect_null(strstr(text, "failed"), "it was:\n%s", text);
    free(text);
}

Test(json, strangers_words_stay_words, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[1];
    mg_results results = hostile(rows);
    char *text = report_of(mg_report_json, &results);
    expect_clean(text);
    cJSON *root = cJSON_Parse(text);
    cr_assert(root, "valid JSON");
    cJSON *test = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "tests"), 0);
    cr_expect(strstr(cJSON_GetObjectItem(test, "output")->valuestring, "<script>alert(\"1\")</script>"));
    cJSON_Delete(root);
    free(text);
}

Test(html, strangers_words_are_no_markup, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[1];
    mg_results results = hostile(rows);
    char *page = report_of(mg_report_html, &results);
    expect_clean(page);
    cr_expect_null(strstr(page, "<script"));
    cr_expect_null(strstr(page, "<img"));
    cr_expect_null(strstr(page, "alert(\""));
    cr_expect(strstr(page, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;"));
    free(page);
}

Test(html, is_one_page_with_the_bars, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    char *page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "http://"));
    cr_expect_null(strstr(page, "https://"));
    cr_expect_null(strstr(page, " src="));
    cr_expect(strstr(page, "prefers-color-scheme: dark"));
    cr_expect(strstr(page, "63 of 85 points"));
    cr_expect(strstr(page, "<td class=\"verdict FAIL\">FAIL</td><td class=\"points\">0/2</td>"));
    cr_expect(strstr(page, "Hint: exp(90) overflows float"));
    cr_expect(strstr(page, "<svg"));
    cr_expect(strstr(page, ">low 0.5</text>") && strstr(page, ">full 0.95</text>") && strstr(page, ">0.91</text>"));
    results.count = 5;
    free(page);
    page = report_of(mg_report_html, &results);
    cr_expect_null(strstr(page, "<svg"), "no measured row, no plot");
    cr_expect_null(strstr(page, "Ignored"));
    free(page);
    SET(results.ignored, "<b>Makefile (not a unit)");
    page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "Ignored in the submission: &lt;b&gt;Makefile (not a unit)</p>"));
    free(page);
}

Test(html, strange_numbers_draw_inside_the_picture, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[3] = { row("01.1", "a", MG_PASS, 1, 1), row("01.2", "b", MG_FAIL, 0, 1),
                       row("01.3", "c", MG_PASS, 1, 1) };
    rows[0].measured = 1e300, rows[0].low = 1e308, rows[0].full = 0; /* lower is better, and the scale overflows */
    rows[1].measured = -INFINITY, rows[1].low = 1, rows[1].full = 2; /* not a number: not drawn */
    rows[2].measured = 0, rows[2].low = 0, rows[2].full = 0;
    mg_results results = { .rows = rows, .count = 3 };
    char *page = report_of(mg_report_html, &results);
    cr_expect(strstr(page, "viewBox=\"0 0 720 128\""), "two rows are drawn");
    cr_expect_null(strstr(page, "=\"inf"));
    cr_expect_null(strstr(page, "=\"nan"));
    cr_expect_null(strstr(page, "=\"-nan"));
    for (const char *p = page; (p = strstr(p, " width=\"")); p++)
        cr_expect(atof(p + 8) <= 720, "%.20s", p);
    for (const char *p = page; (p = strstr(p, "<line")); p++)
        cr_expect(atof(strstr(p, "x1=\"") + 4) <= 720, "%.60s", p);
    free(page);
}

Test(write, fails_in_words_and_leaves_nothing, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    char path[100];
    snprintf(path, sizeof path, "%s/no/such/folder", folder);
    cr_expect_eq(mg_report_json(path, &results), MT_ERR_IO);
    cr_expect(strstr(mt_last_error(), "No such file"), "%s", mt_last_error());
    snprintf(path, sizeof path, "%s/wall", folder);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_expect_eq(mg_report_html(path, &results), MT_ERR_IO);
    cr_expect_eq(rmdir(path), 0);
    cr_expect_eq(rmdir(folder), 0, "no temporary file is left");
    cr_assert_eq(mkdir(folder, 0700), 0);
}

Test(points, are_never_rounded_up)
{
    char number[32];
    cr_expect_str_eq(mg_points(number, 12), "12");
    cr_expect_str_eq(mg_points(number, 7.5), "7.5");
    cr_expect_str_eq(mg_points(number, 99.999), "99.99");
    cr_expect_str_eq(mg_points(number, 0), "0");
    cr_expect_str_eq(mg_points(number, 100), "100");
    cr_expect_str_eq(mg_points(number, 3 * 0.1), "0.3");
}
