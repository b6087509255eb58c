/* test_course.c -- course files: what they mean, and that a value that is not valid is refused with its line. */
#include "course/course.h"
#include "grading.h"
#include "labs.h"
#include "rows/rows.h"
#include "sandbox/scratch.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static mg_scratch scratch;
static char file[PATH_MAX];

static mt_status read_text(mg_course *course, const char *text, size_t length)
{
    if (!scratch.path[0])
        cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mg_path(file, "%s/course.json", scratch.path);
    cr_assert_eq(mg_write_file(file, text, length), MT_OK);
    return mg_course_read(course, file, ".");
}

static void end(void)
{
    mg_scratch_close(&scratch);
}

TestSuite(course, .fini = end);

static const mg_course_row *row_of(const mg_course_lab *lab, const char *step, const char *name)
{
    for (int64_t i = 0; lab && i < lab->count; i++)
        if (strcmp(lab->rows[i].step, step) == 0 && strcmp(lab->rows[i].name, name) == 0)
            return &lab->rows[i];
    cr_assert_fail("no row %s %s", step, name);
    return NULL;
}

static double points_of(const mg_course_lab *lab, const char *step)
{
    double points = 0;
    for (int64_t i = 0; i < lab->count; i++)
        points += strcmp(lab->rows[i].step, step) == 0 ? lab->rows[i].points : 0;
    return points;
}

Test(course, the_example_means_what_its_page_says)
{
    mg_course course;
    cr_assert_eq(mg_course_read(&course, "grader/release/course-example.json", "."), MT_OK, "%s", mt_last_error());
    cr_expect_eq(course.count, 3);
    const mg_course_lab *zero = mg_course_find(&course, mg_lab_find("00"));
    const mg_course_lab *one = mg_course_find(&course, mg_lab_find("01"));
    const mg_course_lab *two = mg_course_find(&course, mg_lab_find("02"));
    cr_expect_float_eq(zero->points, 50, 1e-9);
    cr_expect_eq(one->due, 1792447140); /* date -d 2026-10-19T21:59Z +%s */
    cr_expect_eq(one->seed, 0x5eed01);
    cr_expect_float_eq(points_of(one, "01.1"), 20, 1e-9);
    cr_expect_float_eq(points_of(one, "01.6"), 40, 1e-9);
    cr_expect_float_eq(points_of(one, "01.2"), 20, 1e-9, "a step without points of its own keeps the checks'");
    cr_expect_float_eq(row_of(one, "01.6", "parallel: speed")->points, 15, 1e-9);
    cr_expect_float_eq(row_of(one, "01.6", "parallel: transposed")->points, 25 / 8., 1e-9, "1 of the other 8");
    cr_expect_eq(row_of(one, "01.3", "tiled: transposed")->visibility, MG_AFTER_DUE);
    cr_expect_eq(row_of(one, "01.4", "packed: transposed")->visibility, MG_NEVER);
    cr_expect_eq(row_of(one, "01.4", "packed: every size")->visibility, MG_ALWAYS);
    cr_expect(!one->last && two->last);
    cr_expect_null(mg_course_find(&course, mg_lab_find("03")));
    mg_course_free(&course);
}

Test(course, its_bars_replace_those_of_the_lab)
{
    mg_course course;
    mg_labinfo info;
    double low = 0, full = 0, reference = 0;
    const char text[] = "{ \"labs\": { \"01\": { \"bars\": { \"01.5 packed: speed\": { \"low\": 0.5 }, "
                        "\"01.2\": { \"low\": 200, \"full\": 20.5 } } } } }";
    cr_assert_eq(read_text(&course, text, strlen(text)), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_labinfo_read(&info, ".", "01-matmul"), MT_OK, "%s", mt_last_error());
    mg_course_set_bars(&info, mg_course_find(&course, mg_lab_find("01")));
    cr_expect(mg_labinfo_bar(&info, "01.5", "low", &low) && mg_labinfo_bar(&info, "01.5", "full", &full));
    cr_expect(low == 0.5 && full == 0.85, "01.5: %g %g; what the course leaves out stays", low, full);
    cr_expect(mg_labinfo_bar(&info, "01.2", "low", &low) && mg_labinfo_bar(&info, "01.2", "full", &full));
    cr_expect(low == 200 && full == 20.5, "01.2: %g %g", low, full);
    cr_expect(mg_labinfo_bar(&info, "01.2", "reference", &reference) && reference == 15.34);
    mg_labinfo_free(&info);
    mg_course_free(&course);
}

Test(course, late_submissions_lose_a_share_for_each_day_begun)
{
    mg_course_lab lab = { .due = 1000000, .late = { .percent_per_day = 10, .days = 3, .grace_minutes = 15 } };
    cr_expect_eq(mg_course_share(&lab, 0), 1);
    cr_expect_eq(mg_course_share(&lab, lab.due + 15 * 60), 1);
    cr_expect_float_eq(mg_course_share(&lab, lab.due + 15 * 60 + 1), 0.9, 1e-12);
    cr_expect_float_eq(mg_course_share(&lab, lab.due + 86400), 0.9, 1e-12);
    cr_expect_float_eq(mg_course_share(&lab, lab.due + 86401), 0.8, 1e-12);
    cr_expect_float_eq(mg_course_share(&lab, lab.due + 3 * 86400), 0.7, 1e-12);
    cr_expect_eq(mg_course_share(&lab, lab.due + 3 * 86400 + 1), 0);
    lab.late = (mg_late){ .percent_per_day = 40, .days = INFINITY };
    cr_expect_eq(mg_course_share(&lab, lab.due + 4 * 86400), 0, "never less than nothing");
    lab.late = (mg_late){ 0 };
    cr_expect_eq(mg_course_share(&lab, lab.due + 1), 0, "without a late policy the date holds");
    lab.due = 0;
    cr_expect_eq(mg_course_share(&lab, 1000), 1);
}

Test(course, a_grade_has_its_points_and_hides_its_rows)
{
    mg_course course;
    mg_results results = { 0 };
    const char text[] = "{ \"labs\": { \"1\": { \"due\": \"2026-10-05T12:00Z\", \"points\": 10,\n"
                        "  \"visibility\": { \"01.1 naive: transposed\": \"never\", \"01.1\": \"after_due\" } } } }";
    cr_assert_eq(read_text(&course, text, strlen(text)), MT_OK, "%s", mt_last_error());
    const mg_course_lab *lab = mg_course_find(&course, mg_lab_find("01"));
    cr_assert_eq(mg_rows_make(&results, lab->lab, NULL), MT_OK);
    mg_course_apply(&results, lab, lab->due);
    mg_rows_add_up(&results);
    cr_expect_float_eq(results.max, 10, 1e-9);
    cr_expect(results.rows[0].hidden && results.rows[1].hidden && !results.rows[3].hidden);
    mg_course_apply(&results, lab, lab->due + 1);
    cr_expect(!results.rows[0].hidden && results.rows[1].hidden);

    mg_row *row = &results.rows[1];
    row->verdict = MG_CRASH;
    snprintf(row->call, sizeof row->call, "mt_matmul_naive(SECRET)");
    snprintf(row->detail, sizeof row->detail, "SECRET");
    snprintf(row->note, sizeof row->note, "SECRET");
    snprintf(row->printed, sizeof row->printed, "SECRET");
    snprintf(row->follows, sizeof row->follows, "SECRET");
    snprintf(row->hint, sizeof row->hint, "SECRET");
    row->seed = 0x5ec8e7, row->measured = 12345.5;
    for (int64_t i = 0; i < results.count; i++)
        results.rows[i].ran = true;
    char path[PATH_MAX];
    mg_path(path, "%s/report", scratch.path);
    FILE *out = fopen(path, "w+");
    mg_report_text(out, &results, NULL, 0);
    cr_assert_eq(mg_report_html(file, &results), MT_OK);
    FILE *page = fopen(file, "r");
    for (int c; (c = getc(page)) != EOF;)
        putc(c, out);
    fclose(page);
    cr_assert_eq(mg_report_json(file, &results), MT_OK);
    page = fopen(file, "r");
    for (int c; (c = getc(page)) != EOF;)
        putc(c, out);
    fclose(page);
    long size = ftell(out);
    rewind(out);
    char *all = calloc((size_t)size + 1, 1);
    cr_assert_eq(fread(all, 1, (size_t)size, out), (size_t)size);
    fclose(out);
    cr_expect_null(strstr(all, "SECRET"));
    cr_expect_null(strstr(all, "5ec8e7"));
    cr_expect_null(strstr(all, "12345.5"));
    cr_expect_not_null(strstr(all, "naive: transposed"), "the name");
    cr_expect_not_null(strstr(all, "if A is transposed, its element (i,k) is a[k * lda + i]"), "the row's own hint");
    free(all);
    mg_results_free(&results);
    mg_course_free(&course);
}

Test(course, students_get_it_without_seeds_and_hidden_rows)
{
    mg_course course, theirs;
    cr_assert_eq(mg_scratch_open(&scratch), MT_OK, "%s", mt_last_error());
    mg_path(file, "%s/students.json", scratch.path);
    cr_assert_eq(mg_course_read(&course, "grader/release/course-example.json", "."), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_course_for_students(&course, file), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_course_read(&theirs, file, "."), MT_OK, "%s", mt_last_error());
    const mg_course_lab *mine = mg_course_find(&course, mg_lab_find("01")), *lab = mg_course_find(&theirs, mine->lab);
    cr_expect_eq(lab->seed, 0);
    cr_expect_eq(lab->due, mine->due);
    cr_expect_eq(lab->late.days, 3);
    cr_expect_eq(mine->after, 1792792800); /* date -d 2026-10-23T22:00Z +%s */
    cr_expect_eq(lab->after, mine->after);
    for (int64_t i = 0; i < lab->count; i++)
        if (mine->rows[i].visibility == MG_ALWAYS)
            cr_expect_float_eq(lab->rows[i].points, mine->rows[i].points, 1e-9);
    char line[4096];
    FILE *f = fopen(file, "r");
    while (fgets(line, sizeof line, f))
        cr_expect(!strstr(line, "tiled") && !strstr(line, "packed: transposed") && !strstr(line, "seed"), "%s", line);
    fclose(f);
    mg_course_free(&course);
    mg_course_free(&theirs);
}

/* Each with the line, and words of the message. */
static const struct {
    const char *text;
    int line;
    const char *words;
} bad[] = {
    { "", 1, "empty" },
    { "[]", 1, "is an object" },
    { "{\n \"labs\": {\n}", 3, "not JSON" },
    { "{ \"labs\": { \"01\": {} } }\n x", 2, "not JSON" },
    { "{\n\"labs\": {} }", 2, "\"labs\" must name" },
    { "{\n\n}", 1, "\"labs\" must name" },
    { "{ \"labs\": {\n \"99\": {} } }", 2, "there is no lab \"99\"" },
    { "{ \"labs\": {\n \"01\": {},\n \"1\": {} } }", 3, "occurs twice" },
    { "{ \"labs\": {\n \"01\": 5 } }", 2, "must be an object" },
    { "{ \"labs\": { \"01\": {} },\n\"Labs\": 1 }", 2, "unknown key \"Labs\" of the course: use one of course, late" },
    { "{ \"course\": [],\n \"labs\": { \"01\": {} } }", 1, "in quotes" },
    { "{ \"labs\": { \"01\": {} },\n\"best_of\": 2 }", 2, "a number of labs, at most the 1 that the course has" },
    { "{ \"labs\": { \"01\": {}, \"02\": {} },\n\"best_of\": 1.5 }", 2, "a number of labs" },
    { "{ \"labs\": { \"01\": {} },\n\"language_models\": \"yes\" }", 2, "must be \"tutor\"" },
    { "{ \"labs\": { \"01\": {} },\n\"checks\": \"none\" }", 2, "must be \"objects\"" },
    { "{ \"labs\": { \"01\": {\n \"by_hand\": 20 } } }", 2, "\"by_hand\" must be an object" },
    { "{ \"labs\": { \"01\": { \"by_hand\": {\n \"log\": -1 } } } }", 2, "\"log\" must be a number from 0" },
    { "{ \"labs\": { \"01\": { \"by_hand\": {\n \"days\": 1 } } } }", 2, "call \"days\" otherwise" },
    { "{ \"labs\": { \"01\": {\n \"leaderboard\": [\"01.5\"] } } }", 2, "unknown key \"leaderboard\" of lab 01" },
    { "{ \"labs\": { \"01\": {\n \"due\": \"2026-10-05\" } } }", 2, "a date, a time and its zone" },
    { "{ \"labs\": { \"01\": {\n \"due\": \"2026-02-30T23:59Z\" } } }", 2, "a date, a time" },
    { "{ \"labs\": { \"01\": {\n \"due\": \"2026-10-05T24:59Z\" } } }", 2, "a date, a time" },
    { "{ \"labs\": { \"01\": {\n \"due\": \"2026-10-05T23:59\" } } }", 2, "its zone" },
    { "{ \"labs\": { \"01\": {\n \"due\": \"2026-10-05T23:59+02:00 \" } } }", 2, "its zone" },
    { "{ \"labs\": { \"01\": {\n \"due\": 20261005 } } }", 2, "its zone" },
    { "{ \"labs\": { \"01\": {\n \"dues\": 1 } } }", 2, "unknown key \"dues\" of lab 01: use one of due, late" },
    { "{ \"labs\": { \"01\": {\n \"points\": 1,\n\"points\": 2 } } }", 3, "occurs twice" },
    { "{ \"labs\": { \"01\": {\n \"points\": -1 } } }", 2, "from 0 to 1e+06" },
    { "{ \"labs\": { \"01\": {\n \"points\": 1e999 } } }", 2, "from 0 to 1e+06" },
    { "{ \"labs\": { \"01\": {\n \"points\": 0 } } }", 2, "has no points" },
    { "{ \"labs\": { \"01\": {\n \"points\": \"10\" } } }", 2, "must be a number" },
    { "{ \"labs\": { \"01\": {\n \"points\": {\n \"01.9\": 3 } } } }", 3,
      "lab 01 has no \"01.9\": use a step (01.1 01.2" },
    { "{ \"labs\": { \"01\": {\n \"points\": {\n \"01.5 speed\": 3 } } } }", 3, "lab 01 has no" },
    { "{ \"labs\": { \"01\": { \"points\": {\n \"01.5 packed: speed\": 3,\n \"01.5\": 2 } } } }", 3, "have more" },
    { "{ \"labs\": { \"01\": { \"points\": {\n \"01.5 packed: speed\": 3,\n \"01.5\": 4 } } } }", 3, "must add up" },
    { "{ \"labs\": { \"01\": {\n \"visibility\": \"hidden\" } } }", 2, "\"always\", \"after_due\" or \"never\"" },
    { "{ \"labs\": { \"01\": {\n \"visibility\": { \"01.1\": 1 } } } }", 2, "\"always\", \"after_due\"" },
    { "{ \"labs\": { \"01\": {\n \"visibility\": { \"01.0\": \"never\" } } } }", 2, "lab 01 has no" },
    { "{ \"labs\": { \"01\": {\n \"visibility\": \"after_due\" } } }", 2, "write \"due\"" },
    { "{ \"labs\": { \"01\": {\n \"after\": \"2026-10-05\" } } }", 2, "\"after\" must be a date, a time" },
    { "{ \"labs\": { \"01\": {\n \"after\": \"2026-10-05T12:00Z\" } } }", 2, "must be later than the last submission" },
    { "{ \"labs\": { \"01\": { \"due\": \"2026-10-05T12:00Z\", \"late\": { \"days\": 3 },\n \"after\":"
      " \"2026-10-08T12:00Z\" } } }",
      2, "must be later than the last submission" },
    { "{ \"labs\": { \"01\": {\n \"seed\": 5 } } }", 2, "hexadecimal" },
    { "{ \"labs\": { \"01\": {\n \"seed\": \"0x5\" } } }", 2, "hexadecimal" },
    { "{ \"labs\": { \"01\": {\n \"seed\": \"12345678901234567\" } } }", 2, "hexadecimal" },
    { "{ \"labs\": { \"01\": {\n \"counts\": \"first\" } } }", 2, "\"best\" or \"last\"" },
    { "{ \"late\": {\n \"percent_per_day\": 101 }, \"labs\": { \"01\": {} } }", 2, "from 0 to 100" },
    { "{ \"late\": {\n \"percent\": 1 }, \"labs\": { \"01\": {} } }", 2, "unknown key \"percent\"" },
    { "{ \"late\":\n 10, \"labs\": { \"01\": {} } }", 2, "must be an object" },
    { "{ \"labs\": { \"01\": {\n \"bars\": 1 } } }", 2, "\"bars\" must be an object" },
    { "{ \"labs\": { \"01\": { \"bars\": {\n \"01.7\": {} } } } }", 2, "no bar \"01.7\": it has \"01.2\", \"01.3\"" },
    { "{ \"labs\": { \"03\": { \"bars\": {\n \"03.1\": {} } } } }", 2, "lab 03 measures nothing" },
    { "{ \"labs\": { \"01\": { \"bars\": {\n \"01.5\": { \"toy\": 1 } } } } }", 2, "unknown key \"toy\" of a bar" },
    { "{ \"labs\": { \"01\": { \"bars\": { \"01.5\": {\n \"low\": \"0.5\" } } } } }", 2, "\"low\" must be a number" },
    { "{ \"labs\": { \"01\": { \"bars\": {\n \"01.5\": { \"low\": 0.9 } } } } }", 2, "\"full\" must be above \"low\"" },
    { "{ \"labs\": { \"01\": { \"bars\": {\n \"01.2\": { \"low\": 40 } } } } }", 2, "\"full\" must be below \"low\"" },
    { "{ \"labs\": { \"01\": { \"bars\": {\n \"01.5\": { \"full\": 1.1 } } } } }", 2,
      "the reference reaches 1: nobody" },
    { "{ \"labs\": { \"01\": { \"bars\": { \"01.5\": {},\n \"01.5 packed: speed\": {} } } } }", 2,
      "\"01.5\" occurs twice" },
    /* A brace or a quote in a string, and an escape, are not values. */
    { "{ \"course\": \"a \\\" { [ : , \\\\\",\n \"labs\": { \"01\": [1,\n{\"x\": \"y\"}],\n\"02\": 3 } }", 2,
      "lab 01" },
};

Test(course, what_is_no_good_is_refused_with_its_line)
{
    for (int64_t i = 0; i < MT_COUNT(bad); i++) {
        mg_course course;
        char place[PATH_MAX + 16];
        cr_expect_neq(read_text(&course, bad[i].text, strlen(bad[i].text)), MT_OK, "%s", bad[i].text);
        snprintf(place, sizeof place, "%s:%d: ", file, bad[i].line);
        cr_expect_eq(strncmp(mt_last_error(), place, strlen(place)), 0, "%s\n%s", bad[i].text, mt_last_error());
        cr_expect_not_null(strstr(mt_last_error(), bad[i].words), "%s\n%s", bad[i].text, mt_last_error());
        cr_expect_eq(course.count, 0);
    }
}

Test(course, files_that_are_no_text_are_refused)
{
    mg_course course;
    cr_expect_neq(read_text(&course, "{ \"labs\": \n\0 }", 14), MT_OK);
    cr_expect_not_null(strstr(mt_last_error(), ":2: not text"), "%s", mt_last_error());
    static const char latin[] = "{\n\n \"course\": \"J\xfcrgen\", \"labs\": { \"01\": {} } }",
                      windows[] = "\xef\xbb\xbf{\r\n \"course\": \"J\xc3\xbcrgen\", \"labs\": { \"01\": {} } }\r\n";
    cr_expect_neq(read_text(&course, latin, strlen(latin)), MT_OK);
    cr_expect_not_null(strstr(mt_last_error(), ":3: not text: byte 0xfc"), "%s", mt_last_error());
    cr_expect_eq(read_text(&course, windows, strlen(windows)), MT_OK, "%s", mt_last_error());
    mg_course_free(&course);
    cr_expect_eq(mg_course_read(&course, "/nowhere/course.json", "."), MT_ERR_IO);
    cr_expect_eq(mg_course_read(&course, "/tmp", "."), MT_ERR_IO, "a folder");
    cr_expect_not_null(strstr(mt_last_error(), "directory"), "%s", mt_last_error());
}
