/* test_report.c -- the reports of one grade for terminals and scripts: their layout, and safety with hostile text. */
#include "report_example.h"

static char *text_of(const mg_results *results, const char *html_path)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    mg_report_text(out, results, html_path, MG_WIDTH);
    fclose(out);
    return text;
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
                     " 63/85 points    1 failed, 1 to do, 1 with part of the points\n"
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
        "labs/02-backprop/loss.c:3: x\ngrade 02: 85/85\n 02.1  linear forward   PASS\n   12 | int a;\n"
        "\u00a002.1  b   PASS\n \u2003 85/85 points\n ::stop-commands::x\n");
    char *text = text_of(&results, NULL);
    cr_expect(
        strstr(text,
               "\nlabs/02-backprop/loss.c:3: x\n| grade 02: 85/85\n|  02.1  linear forward   PASS\n   12 | int a;\n"
               "| \u00a002.1  b   PASS\n|  \u2003 85/85 points\n \xef\xbf\xbd:stop-commands::x\n"),
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
    mg_row rows[MG_ERROR + 1];
    mg_results results = { .rows = rows, .count = MT_COUNT(rows) };
    SET(results.lab, "00-tensors");
    for (int i = 0; i < MT_COUNT(rows); i++)
        rows[i] = row("00.1", "a row", (mg_verdict)i, 0.125, 7.5);
    char *text = text_of(&results, NULL);
    cr_expect(strstr(text, "1 failed, 1 crashed, 1 timed out, 1 to do, 1 inconclusive, 1 to be reviewed, "
                           "1 not measured here, 1 not graded"),
              "it was:\n%s", text);
    cr_expect(strstr(text, "grade 00: -/0 TODO=1 FAIL=1 CRASH=1 TIMEOUT=1 INCONCLUSIVE=1 REVIEW=1 SKIPPED=1 "
                           "ERROR=1\n"),
              "it was:\n%s", text);
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

/* One row that the grader could not run: no report has a score that somebody could publish, and all say why. */
Test(json, rows_that_the_grader_could_not_run_are_no_grade, .init = make_folder, .fini = remove_folder)
{
    mg_row rows[6];
    mg_results results = example(rows);
    rows[0].verdict = MG_ERROR;
    rows[0].points = 0;
    char *json = report_of(mg_report_json, &results), *page = report_of(mg_report_html, &results),
         *text = text_of(&results, NULL);
    cJSON *root = cJSON_Parse(json), *tests = cJSON_GetObjectItem(root, "tests"), *test;
    cr_assert(root, "it was:\n%s", json);
    cr_expect_null(cJSON_GetObjectItem(root, "score"));
    cJSON_ArrayForEach(test, tests) cr_expect_null(cJSON_GetObjectItem(test, "score"), "Gradescope adds them up");
    cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(cJSON_GetObjectItem(root, "extra_data"), "graded")));
    cr_expect(strstr(cJSON_GetObjectItem(root, "output")->valuestring, "This is not a grade"));
    cr_expect(strstr(page, "This is not a grade"));
    cr_expect_null(strstr(page, "63 of 85 points"));
    cr_expect(strstr(text, "\n -/85 points ") && strstr(text, "\ngrade 02: -/85 "), "it was:\n%s", text);
    cJSON_Delete(root);
    free(json);
    free(page);
    free(text);
}

/* Commands that the runner of a CI service would obey, wherever a submission's words stand: shown, and not obeyed. */
Test(text, strangers_words_are_no_commands_of_a_runner, .init = make_folder, .fini = remove_folder)
{
    static const char *const tries[] = {
        "::error::x",        " \t::set-output name=a::x", "a ::add-mask::y", "\u00a0::debug::x",
        "\u3000\u2028::x::", "\ufeff::group::x",          "\x1b::notice::x", "a##[error]x",
        "###[group]",        "##VSO[task.complete]",      "b##teamcity[x]"
    };
    mg_row rows[6];
    for (int i = 0; i < MT_COUNT(tries); i++) {
        mg_results results = example(rows);
        SET(results.build_log, tries[i]);
        SET(results.ignored, tries[i]);
        SET(results.warning, tries[i]);
        SET(rows[2].detail, tries[i]);
        SET(rows[2].printed, tries[i]);
        SET(rows[2].call, tries[i]);
        SET(rows[2].hint, tries[i]);
        SET(rows[2].note, tries[i]);
        char *texts[] = { text_of(&results, NULL), report_of(mg_report_json, &results) };
        for (int t = 0; t < MT_COUNT(texts); t++) {
            cr_expect_null(strstr(texts[t], " ::"), "it was:\n%s", texts[t]);
            cr_expect_null(strstr(texts[t], "\n::"), "it was:\n%s", texts[t]);
            cr_expect_null(strstr(texts[t], "\u3000::"), "it was:\n%s", texts[t]);
            cr_expect_null(strstr(texts[t], "##["), "it was:\n%s", texts[t]);
            cr_expect_null(strcasestr(texts[t], "##vso["), "it was:\n%s", texts[t]);
            cr_expect_null(strstr(texts[t], "##teamcity["), "it was:\n%s", texts[t]);
            free(texts[t]);
        }
    }
    char *plain = mg_plain("std::vector<float>::data # [1]\na::b :: ##[");
    cr_expect_str_eq(plain, "std::vector<float>::data # [1]\na::b \xef\xbf\xbd: \xef\xbf\xbd#[");
    free(plain);
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
