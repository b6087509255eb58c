/* test_rows.c -- rows as a student sees them: in their order, as soon as they are final; the first one that fails
 * leads; what did not run keeps its place in the report; a call has three seconds. */
#include "rows/rows.h"
#include "toy.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#define TOY "#include <stdint.h>\nvoid toy(float *out, const float *x, int64_t n)\n"
#define DO  "for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"

static const toy_case many[] = {
    { { 1, "two", "h" }, 2 }, { { 1, "three", "h" }, 3 }, { { 1, "none", "h", MG_EASY }, 0 }, { { 1, "four", "h" }, 4 }
};
static const mg_group groups[] = { MG_GROUP("90.1", "toy", toy_twice, many), MG_GROUP("90.3", "later", toy_twice, many),
                                   MG_GROUP("90.4", "other", toy_twice, many) };
static const mg_lab lab = { "90-toy", groups, MT_COUNT(groups) };

static char told[4096]; /* the rows that the callback received, in order */

static int64_t stop_at = -1; /* a Ctrl-C while this row runs */

static void tell(const char *words)
{
    strncat(told, words, sizeof told - strlen(told) - 1);
}

static void begin(const mg_results *results)
{
    (void)results;
    tell("begin ");
}

static void next(const mg_row *row, int64_t done, int64_t total)
{
    (void)total;
    tell(row->name);
    tell("? ");
    mg_stop = done == stop_at;
}

static void ready(const mg_results *results, const mg_row *row)
{
    (void)results;
    tell(row->name);
    tell(row->verdict == MG_PASS ? "+ " : row->verdict == MG_TODO ? "todo " : "- ");
}

static void said(const char *log)
{
    (void)log;
}

static const mg_watcher watcher = { begin, next, ready, begin, said };

static toy t;

static void open_toy(void)
{
    told[0] = 0;
    toy_open(&t);
    toy_write(&t, "labs/90-toy/lab.json",
              "{ \"lab\": \"90-toy\", \"title\": \"toy\", \"units\": [\"toy.c\"], \"needs\": { \"90.3\": \"90.1\" },"
              " \"limits\": { \"memory_mib\": 256, \"processes\": 16 } }\n");
}

static void close_toy(void)
{
    toy_close(&t);
}

static mg_results grade(const char *unit, const char *step)
{
    mg_results results;
    mg_options options = { .lab = &lab, .root = t.root, .build = t.build, .step = step, .watcher = &watcher };
    toy_write(&t, "labs/90-toy/toy.c", unit);
    cr_assert_eq(mg_grade(&results, &options), MT_OK, "%s", mt_last_error());
    return results;
}

Test(rows, the_first_that_fails_leads, .init = open_toy, .fini = close_toy)
{
    mg_results r = grade(TOY "{ " DO " if (n > 2) out[2] = 0; }", NULL);
    cr_expect_eq(r.rows[0].verdict, MG_PASS);
    cr_expect_str_eq(r.rows[1].follows, "");
    cr_expect_str_eq(r.rows[3].follows, "90.1 toy: three");
    cr_expect(r.rows[3].same, "the same step and function");
    cr_expect_str_eq(r.rows[5].follows, "90.1 toy: three", "of a step that needs it");
    cr_expect(!r.rows[5].same);
    cr_expect_str_eq(r.rows[9].follows, "", "a step that does not");
    cr_expect_str_eq(r.rows[11].follows, "90.4 other: three");
    mg_results_free(&r);
}

#define TWICE_AND(steps)                                                \
    "#include <stdint.h>\nstatic float other(float x)\n{\n" steps "}\n" \
    "static float twice(float x)\n{\n    /* TO"                         \
    "DO 90.1: two x. */\n    return x + x;\n}\n"                        \
    "void toy(float *out, const float *x, int64_t n)\n"                 \
    "{ for (int64_t i = 0; i < n; i++) out[i] = twice(x[i]) + 1 + 0 * other(x[i]); }\n"

/* For the rows of a step with a region in the function, or beside it if it has none. */
Test(rows, a_missing_return_is_said_first, .init = open_toy, .fini = close_toy)
{
    static const char *const units[] = { TWICE_AND(""),
                                         TWICE_AND("    /* TO"
                                                   "DO 90.3: zero. */\n"),
                                         TWICE_AND("    /* TO"
                                                   "DO 90.7: zero. */\n") };
    static const char words[] = ": control reaches the end of a function that must return a value\nout[";
    for (int u = 0; u < 3; u++) {
        mg_results r = grade(units[u], NULL);
        for (int64_t i = 0; i < r.count; i++) {
            bool said = strstr(r.rows[i].detail, words), hinted = strstr(r.rows[i].hint, "write the return first");
            cr_expect_eq(said, u < 2 && i / 4 == u && i % 4 != 2, "unit %d row %d: %s", u, (int)i, r.rows[i].detail);
            cr_expect_eq(said, hinted, "%s", r.rows[i].hint);
            cr_expect(!said || strncmp(r.rows[i].detail, "labs/90-toy/toy.c:", 18) == 0, "%s", r.rows[i].detail);
        }
        mg_results_free(&r);
    }
}

/* A step that is needed may have functions that this row's cannot call. */
static const char *led_by(const char *lead, const char *function)
{
    static mg_row rows[2];
    mg_labinfo info;
    cr_assert_eq(mg_labinfo_read(&info, t.root, "90-toy"), MT_OK, "%s", mt_last_error());
    for (int i = 0; i < 2; i++) {
        rows[i] = (mg_row){ .verdict = MG_FAIL, .ran = true, .name = "toy", .measured = NAN };
        snprintf(rows[i].step, sizeof rows[i].step, "%s", i ? "90.3" : "90.1");
        snprintf(rows[i].function, sizeof rows[i].function, "%s", i ? function : lead);
        snprintf(rows[i].call, sizeof rows[i].call, "%s(x)", i ? function : lead);
    }
    mg_rows_lead(&(mg_results){ .rows = rows, .count = 2 }, 1, &info);
    mg_labinfo_free(&info);
    return rows[1].follows;
}

Test(rows, forward_does_not_follow_backward, .init = open_toy, .fini = close_toy)
{
    cr_expect_str_eq(led_by("mt_softmax_bwd_cpu", "mt_cross_entropy_fwd_cpu"), "");
    cr_expect_str_eq(led_by("mt_linear_bwd_cpu", "mt_manual_mlp_forward"), "");
    cr_expect_str_eq(led_by("mt_softmax_fwd_cpu", "mt_cross_entropy_fwd_cpu"), "90.1 toy");
    cr_expect_str_eq(led_by("mt_linear_bwd_cpu", "mt_manual_mlp_backward"), "90.1 toy");
    cr_expect_str_eq(led_by("mt_linear_fwd_cpu", "mt_manual_mlp_backward"), "90.1 toy");
    cr_expect_str_eq(led_by("mt_softmax_fwd_cpu", "mt_cross_entropy_bwd_cpu"), "");
}

Test(rows, are_shown_as_soon_as_they_are_final, .init = open_toy, .fini = close_toy)
{
    mg_results r = grade(TOY "{ " DO " }", "90.1");
    cr_expect_str_eq(told,
                     "begin toy: two? toy: two+ toy: three? toy: three+ toy: none? toy: none+ toy: four? toy: four+ ");
    mg_results_free(&r);
    told[0] = 0;
    r = grade("#include \"core/base.h\"\n" TOY "{ if (n) MT_TODO(\"90.1\"); " DO " }", "90.1");
    cr_expect_str_eq(told,
                     "begin toy: two? toy: twotodo toy: three? toy: threetodo toy: none? toy: nonetodo toy: four? "
                     "toy: fourtodo ");
    mg_results_free(&r);
    told[0] = 0;
    r = grade(TOY "{ if (n == 4) { " DO " } }", "90.1");
    cr_expect_str_eq(told,
                     "begin toy: two? toy: two- toy: three? toy: three- toy: none? toy: four? toy: none+ toy: four+ ",
                     "an easy row waits for one that is not: %s", told);
    mg_results_free(&r);
}

/* Two steps. A refusal by given code is a row of its own, with the title of its function or with another. */
Test(rows, of_what_is_not_written_are_to_do, .init = open_toy, .fini = close_toy)
{
    static const toy_case works[] = { { { 1, "two", "h" }, 2 }, { { 1, "none", "h", MG_EASY }, 0 } },
                          refused[] = { { { 1, "refused", "h", MG_EASY }, 0 } };
    static const mg_group steps[] = { MG_GROUP("90.1", "toy", toy_twice, works),
                                      MG_GROUP("90.1", "toy", toy_twice, refused),
                                      MG_GROUP("90.1", "misuse", toy_twice, refused),
                                      MG_GROUP("90.3", "toy", toy_twice, works) };
    static const mg_lab two = { "90-toy", steps, MT_COUNT(steps) };
    static const struct {
        const char *unit, *step;
        mg_verdict verdict[6];
        double points;
    } cases[] = {
        { "{ if (n) MT_TODO(\"90.1\"); }", NULL, { MG_TODO, MG_TODO, MG_TODO, MG_TODO, MG_TODO, MG_TODO }, 0 },
        { "{ if (n) MT_TODO(\"90.1\"); }", "90.1 refused", { MG_TODO, MG_TODO }, 0 },
        { "{ /* MT_TODO was here */ }", NULL, { MG_FAIL, MG_FAIL, MG_FAIL, MG_FAIL, MG_FAIL, MG_FAIL }, 0 },
        { "{ " DO " if (n == 9) MT_TODO(\"90.1\"); }",
          NULL,
          { MG_PASS, MG_PASS, MG_PASS, MG_PASS, MG_PASS, MG_PASS },
          6 },
        { "{ " DO " }", "90.1 refused", { MG_PASS, MG_PASS }, 2 },
    };
    for (int c = 0; c < MT_COUNT(cases); c++) {
        char unit[400];
        mg_results r;
        mg_options options = { .lab = &two, .root = t.root, .build = t.build, .step = cases[c].step };
        snprintf(unit, sizeof unit, "#include \"core/base.h\"\n" TOY "%s", cases[c].unit);
        toy_write(&t, "labs/90-toy/toy.c", unit);
        cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
        for (int64_t i = 0; i < r.count; i++)
            cr_expect_eq(r.rows[i].verdict, cases[c].verdict[i], "unit %d, row %d: %s", c, (int)i,
                         mg_verdict_name(r.rows[i].verdict));
        cr_expect_eq(r.points, cases[c].points, "unit %d", c);
        cr_expect(c || (strcmp(r.rows[3].note, "") == 0 && strcmp(r.rows[5].note, "waits for step 90.1") == 0));
        mg_results_free(&r);
    }
}

/* To measure takes seconds: what is wrong elsewhere is seen before it, and the report keeps the order of the steps. */
Test(rows, that_measure_run_last, .init = open_toy, .fini = close_toy)
{
    static const toy_case timed[] = { { { 1, "three", "h" }, 3 }, { { 1, "fast", "h", MG_TIMED }, 2 } },
                          counted[] = { { { 1, "frugal", "h", MG_COUNTS }, 2 }, { { 1, "bytes moved", "h" }, 3 } };
    static const mg_group two[] = { MG_GROUP("90.1", "first", toy_twice, timed),
                                    MG_GROUP("90.3", "later", toy_twice, counted) };
    static const mg_lab speedy = { "90-toy", two, MT_COUNT(two) };
    mg_results r;
    mg_options options = { .lab = &speedy, .root = t.root, .build = t.build, .watcher = &watcher };
    toy_write(&t, "labs/90-toy/toy.c", TOY "{ " DO " }");
    cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(told, "begin first: three? first: three+ later: bytes moved? later: bytes moved+ "
                           "first: fast? first: fast+ later: frugal? later: frugal+ ");
    cr_expect_str_eq(r.rows[2].name, "later: frugal");
    cr_expect_eq(r.points, 4);
    mg_results_free(&r);
    told[0] = 0;
    toy_write(&t, "labs/90-toy/toy.c", "#include \"core/base.h\"\n" TOY "{ if (n > 2) MT_TODO(\"90.1\"); " DO " }");
    cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
    cr_expect(strstr(told, "begin first: three? first: threetodo first: fast? first: fasttodo"),
              "what is not written is not measured: %s", told);
    mg_results_free(&r);
}

Test(rows, a_call_has_three_seconds, .init = open_toy, .fini = close_toy, .timeout = 60)
{
    mg_results r = grade(TOY "{ for (volatile int go = n > 0; go;) ; }", "90.1");
    cr_expect_eq(r.rows[0].verdict, MG_TIMEOUT);
    cr_expect(strstr(r.rows[0].detail, "did not end within 3 seconds"), "%s", r.rows[0].detail);
    mg_results_free(&r);
}

Test(rows, an_interrupt_leaves_the_others_out, .init = open_toy, .fini = close_toy, .timeout = 60)
{
    stop_at = 2;
    mg_results r = grade(TOY "{ " DO " }", NULL);
    for (int64_t i = 0; i < r.count; i++)
        cr_expect_eq(r.rows[i].ran, i < 2, "row %d", (int)i);
    cr_expect_eq(r.points, 2);
    mg_results_free(&r);
}

Test(rows, words_select_rows_of_a_step, .init = open_toy, .fini = close_toy)
{
    mg_results r = grade(TOY "{ " DO " }", "90.3 o"), none;
    cr_expect_str_eq(told, "begin later: two? later: two+ later: none? later: none+ later: four? later: four+ ");
    for (const char *const *step = (const char *const[]){ "90.3 five", "9 o", "90. o", NULL }; *step; step++) {
        mg_options options = { .lab = &lab, .root = t.root, .build = t.build, .step = *step };
        char said[64];
        snprintf(said, sizeof said, "lab 90-toy has no step %s; its first is 90.1", *step);
        cr_expect_eq(mg_grade(&none, &options), MT_ERR_ARGUMENT, "%s", *step);
        cr_expect_str_eq(mt_last_error(), said);
        mg_results_free(&none);
    }
    mg_results_free(&r);
    told[0] = 0;
    r = grade(TOY "{ " DO " }", "90 three");
    cr_expect_str_eq(told, "begin toy: three? toy: three+ later: three? later: three+ other: three? other: three+ ",
                     "the number of a lab means all its steps");
    mg_results_free(&r);
}

/* Recall RESULTS with what is at PATH, then write it there. */
static mg_results recall_and_write(const mg_results *results, const char *path)
{
    mg_results all;
    cr_assert_eq(mg_recall(&all, results, &lab, path), MT_OK, "%s", mt_last_error());
    cr_assert_eq(mg_report_json(path, &all), MT_OK);
    return all;
}

Test(rows, a_step_keeps_the_others_of_the_report, .init = open_toy, .fini = close_toy)
{
    char path[PATH_MAX];
    mg_path(path, "%s/90.json", t.root);
    mg_results one = grade(TOY "{ " DO " if (n > 2) out[2] = 0; }", "90.3");
    mg_results all = recall_and_write(&one, path);
    cr_assert_eq(all.count, 12);
    cr_expect_str_eq(all.rows[0].note, "not graded yet");
    cr_expect_eq(all.rows[4].verdict, MG_PASS);
    cr_expect_eq(all.points, 2);
    mg_results two = grade(TOY "{ " DO " }", "90.1"), both = recall_and_write(&two, path);
    cr_expect_eq(both.points, 6, "four of step 90.1 and two of 90.3 from before: %g", both.points);
    cr_expect_eq(both.max, 12);
    cr_expect_eq(both.rows[5].verdict, MG_FAIL);
    cr_expect_str_eq(both.rows[5].detail, all.rows[5].detail);
    cr_expect_str_eq(both.rows[5].call, all.rows[5].call);
    cr_expect_eq(both.rows[5].seed, all.rows[5].seed);
    snprintf(two.units, sizeof two.units, "elsewhere");
    mg_results others = recall_and_write(&two, path);
    cr_expect_eq(others.points, 4, "what others' units earned is not kept");
    mg_results_free(&one);
    mg_results_free(&two);
    mg_results_free(&all);
    mg_results_free(&both);
    mg_results_free(&others);
}

/* The figure is the case's n in hundredths. */
static void count(mg_run *run, const void *one_case)
{
    const toy_case *c = one_case;
    toy_describe(run, one_case, "toy");
    if (mg_call(run) && toy_verify(run, one_case))
        mg_credit(run, strstr(c->head.name, "known") ? "90.5 known" : "90.5", (double)c->n / 100);
}

/* A count below half of the reference's, or below the lowest that is known, earns nothing until somebody looks. */
Test(rows, a_count_that_is_too_low_is_reviewed, .init = open_toy, .fini = close_toy)
{
    static const toy_case cases[] = { { { 2, "as the reference", "h" }, 100 },
                                      { { 2, "half", "h" }, 50 },
                                      { { 2, "less", "h" }, 49 },
                                      { { 2, "known", "h" }, 25 },
                                      { { 2, "less, known", "h" }, 24 },
                                      { { 2, "no count", "h" }, 300 } };
    static const mg_group counts[] = { MG_GROUP("90.5", "count", count, cases) };
    static const mg_lab counting = { "90-toy", counts, 1 };
    static const mg_verdict want[] = { MG_PASS, MG_PASS, MG_REVIEW, MG_PASS, MG_REVIEW, MG_FAIL };
    mg_results r;
    mg_options o = { .lab = &counting, .root = t.root, .build = t.build };
    toy_write(&t, "labs/90-toy/lab.json",
              "{ \"lab\": \"90-toy\", \"title\": \"toy\", \"units\": [\"toy.c\"], \"limits\": { \"memory_mib\": 256,"
              " \"processes\": 16 }, \"bars\": { \"90.5\": { \"low\": 2, \"full\": 1.5, \"reference\": 1 },"
              " \"90.5 known\": { \"low\": 2, \"full\": 1.5, \"reference\": 1, \"least\": 0.25 } } }\n");
    toy_write(&t, "labs/90-toy/toy.c", TOY "{ " DO " }");
    cr_assert_eq(mg_grade(&r, &o), MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < r.count; i++) {
        cr_expect_eq(r.rows[i].verdict, want[i], "%s: %s", r.rows[i].name, mg_verdict_name(r.rows[i].verdict));
        cr_expect_eq(r.rows[i].points, want[i] == MG_PASS ? 2 : 0, "%s", r.rows[i].name);
    }
    cr_expect(strstr(r.rows[2].detail, "less than half of the reference's"), "%s", r.rows[2].detail);
    cr_expect(strstr(r.rows[2].hint, "an instructor looks at it"), "%s", r.rows[2].hint);
    mg_results_free(&r);
}

/* Its first call, of fewer numbers, has a hint of its own; the third is a part. */
static void hint_the_first(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { .is = -1 },
                                     { .is = 0, .times = 2 },
                                     { "of another row", .rows = 1 << 1 },
                                     { "more numbers", "1 more", .is = 1, .rows = 1 << 0 } };
    for (mg_ideas each = { 0 }; MG_NEXT(run, &each, tries, 0);) {
        toy_case one = *(const toy_case *)one_case;
        one.n += each.is;
        toy_describe(run, &one, "toy");
        if (each.is < 0)
            mg_hint(run, "fewer");
        if (mg_call(run))
            toy_verify(run, &one);
    }
    mg_part(run, "what came back", "behind the call");
    if (((const toy_case *)one_case)->n == 7)
        mg_fail(run, "wrong");
}

Test(rows, the_hint_of_a_call_ends_with_it, .init = open_toy, .fini = close_toy)
{
    static const toy_case cases[] = { { { 1, "two", "the row's" }, 2 },
                                      { { 1, "three", "the row's" }, 3 },
                                      { { 1, "one", "the row's" }, 1 },
                                      { { 1, "four", "the row's" }, 4 },
                                      { { 1, "seven", "the row's" }, 7 } };
    static const mg_group hinted[] = { MG_GROUP("90.1", "hints", hint_the_first, cases) };
    static const mg_lab hinting = { "90-toy", hinted, 1 };
    mg_results r;
    mg_options options = { .lab = &hinting, .root = t.root, .build = t.build };
    toy_write(&t, "labs/90-toy/toy.c", TOY "{ " DO " if (n == 2) out[1] = 0; if (n == 5) __builtin_trap(); }");
    cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
    cr_expect_str_eq(r.rows[0].hint, "the row's", "the second call fails");
    cr_expect_str_eq(r.rows[1].hint, "fewer", "the first call fails");
    cr_expect_str_eq(r.rows[2].hint, "1 more", "the third call fails");
    cr_expect_str_eq(r.rows[2].part, "more numbers");
    cr_expect(strncmp(r.rows[3].hint, "1 more; make debug", 18) == 0, "the third call crashes: %s", r.rows[3].hint);
    cr_expect_str_eq(r.rows[0].part, "");
    cr_expect_str_eq(r.rows[4].hint, "behind the call", "a part that is judged after all calls fails");
    cr_expect_str_eq(r.rows[4].part, "what came back");
    mg_results_free(&r);
}
