/* test_hopeless.c -- a function that times out twice is not called again, one that crashes is; and none is called when
 * the calls have used up their time. */
#include "toy.h"

#include <sys/resource.h>

#define TOY_BODY(text) \
    "#include <stdint.h>\n#include <stdlib.h>\nvoid toy(float *out, const float *x, int64_t n)\n{ " text " }\n"

/* Three rows of one function. */
static mg_results grade_three(const char *unit)
{
    static const toy_case cases[] = { { { 1, "a", "" }, 3 }, { { 1, "b", "" }, 5 }, { { 1, "c", "" }, 7 } };
    static const mg_group groups[] = { MG_GROUP("90.1", "toy", toy_twice, cases) };
    static const mg_lab lab = { "90-toy", groups, 1 };
    toy t;
    toy_open(&t);
    mg_options options = { .lab = &lab, .root = t.root, .build = t.build, .any_symbol = true };
    mg_results r;
    toy_write(&t, "labs/90-toy/toy.c", unit);
    cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
    toy_close(&t);
    return r;
}

Test(hopeless, a_function_that_times_out_twice_is_not_called_again, .timeout = 600)
{
    mg_results r = grade_three(TOY_BODY("for (volatile int i = 0;; i++);"));
    for (int row = 0; row < 3; row++)
        cr_expect_eq(r.rows[row].verdict, MG_TIMEOUT, "%s", r.rows[row].detail);
    cr_expect_not(strstr(r.rows[1].detail, "skipped"), "%s", r.rows[1].detail);
    cr_expect(strstr(r.rows[2].detail, "used up its time twice"), "%s", r.rows[2].detail);
    mg_results_free(&r);
}

/* The points of a row do not depend on what happened with the inputs of those before it. */
Test(hopeless, a_row_is_graded_after_any_number_of_crashes, .timeout = 600)
{
    mg_results r = grade_three(TOY_BODY("if (n != 7) abort();\nfor (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"));
    for (int row = 0; row < 3; row++)
        cr_expect_eq(r.rows[row].verdict, row < 2 ? MG_CRASH : MG_PASS, "%s", r.rows[row].detail);
    mg_results_free(&r);
}

/* Rows of one function each: what one of them used is missing for all, whether it computed or slept. */
Test(hopeless, calls_share_a_budget_of_time, .timeout = 600)
{
    static const char *const units[] = { TOY_BODY("for (volatile int i = 0;; i++);"),
                                         "#include <unistd.h>\n" TOY_BODY("for (;;) sleep(9);") };
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    toy_shell("sed -i 's/\"cpu_s\": 1,/\"cpu_s\": 1, \"calls_s\": 0.5,/' %s/labs/90-toy/lab.json", t.root);
    for (int i = 0; i < MT_COUNT(units); i++) {
        mg_results r = toy_grade(&t, units[i], NULL);
        cr_expect_not(strstr(r.rows[0].detail, "skipped"), "%s", r.rows[0].detail);
        for (int row = 1; row < 3; row++) {
            cr_expect_eq(r.rows[row].verdict, MG_TIMEOUT, "%s", mg_verdict_name(r.rows[row].verdict));
            cr_expect(strstr(r.rows[row].detail, "skipped: the calls before this one used up the 0.5 s"), "%s",
                      r.rows[row].detail);
        }
        cr_expect_gt(r.calls, 0.5);
        mg_results_free(&r);
    }
    toy_close(&t);
}

static double used_by_children(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Every worker is killed in the end. What it used is in the account of the grader's children, as in the gradebook. */
Test(hopeless, the_time_of_killed_workers_is_accounted, .timeout = 600)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    double before = used_by_children();
    mg_results r = toy_grade(&t,
                             "#include <time.h>\n" TOY_BODY("clock_t end = clock() + CLOCKS_PER_SEC / 3;"
                                                            "while (clock() < end);"
                                                            "for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"),
                             "90.1 many");
    cr_expect_eq(r.rows[0].verdict, MG_PASS, "%s", r.rows[0].detail);
    cr_expect_gt(r.calls, 0.6, "two calls of a third of a second used %g s", r.calls);
    cr_expect_gt(used_by_children() - before, r.calls, "calls: %g s", r.calls);
    mg_results_free(&r);
    toy_close(&t);
}
