/* test_hopeless.c -- a function that fails twice in the same way is not called again. */
#include "toy.h"

#define TOY_BODY(text) \
    "#include <stdint.h>\n#include <stdlib.h>\nvoid toy(float *out, const float *x, int64_t n)\n{ " text " }\n"

/* Three rows would time out one after another; the function is not called again after two. */
Test(hopeless, a_function_that_fails_twice_alike_is_not_called_again, .timeout = 600)
{
    static const toy_case cases[] = { { { 1, "a", "" }, 3 }, { { 1, "b", "" }, 5 }, { { 1, "c", "" }, 7 } };
    static const mg_group groups[] = { MG_GROUP("90.1", "toy", toy_twice, cases) };
    static const mg_lab lab = { "90-toy", groups, 1 };
    static const struct {
        const char *body, *words;
        mg_verdict verdict;
    } units[] = { { TOY_BODY("for (volatile int i = 0;; i++);"), "used up its time twice", MG_TIMEOUT },
                  { TOY_BODY("abort();"), "crashed twice in the same way", MG_CRASH },
                  { TOY_BODY("if (n == 3) *(volatile int *)0 = 1;\nif (n == 5) abort();\nabort();"), "SIGABRT",
                    MG_CRASH } };
    toy t;
    mg_options options = { .lab = &lab, .any_symbol = true };
    toy_open(&t);
    options.root = t.root;
    options.build = t.build;
    for (int i = 0; i < MT_COUNT(units); i++) {
        mg_results r;
        toy_write(&t, "labs/90-toy/toy.c", units[i].body);
        cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
        cr_expect_not(strstr(r.rows[1].detail, "skipped"), "%s", r.rows[1].detail);
        cr_expect(strstr(r.rows[2].detail, units[i].words), "%s", r.rows[2].detail);
        for (int row = 0; row < 3; row++)
            cr_expect_eq(r.rows[row].verdict, units[i].verdict, "%s", r.rows[row].detail);
        mg_results_free(&r);
    }
    toy_close(&t);
}
