/* test_arguments.c -- arguments have names: their order makes no difference, and a check that describes others than its
 * call takes is an error of the grader, before the unit is called (worker/call.c). */
#include "toy.h"

#define TOY "#include <stdint.h>\nvoid toy(float *out, const float *x, int64_t n)\n"
#define DO  "for (int64_t i = 0; i < n; i++) out[i] = 2 * x[i];"

/* Described in another order, which makes no difference, or otherwise than the call takes it. */
typedef struct described {
    mg_case head;
    const char *name; /* of the input */
    mt_dtype dtype;
    bool as_a_float;
} described;

static void describe_otherwise(mg_run *run, const void *one_case)
{
    const described *c = one_case;
    mg_begin(run, "toy");
    if (c->as_a_float)
        mg_f32(run, "n", 2);
    else
        mg_i64(run, "n", 2);
    mt_store_f64(mg_in(run, c->name, c->dtype, MT_SHAPE(2)), c->dtype, 1, 3);
    mg_out(run, "out", MT_F32, MT_SHAPE(2));
    if (mg_call(run))
        mg_expect(run, "out", (const double[]){ 0, 6 }, NULL);
}

Test(arguments, a_check_that_disagrees_with_its_call_is_an_error)
{
    toy t;
    toy_open(&t);
    static const described cases[] = { { { 1, "another order", "h" }, "x", MT_F32, false },
                                       { { 1, "another name", "h" }, "y", MT_F32, false },
                                       { { 1, "another type", "h" }, "x", MT_F16, false },
                                       { { 1, "another kind", "h" }, "x", MT_F32, true } };
    static const char *const words[] = { "", "takes \"x\", an array of f32, which the check does not describe",
                                         "takes \"x\", an array of f32, which the check describes as an array of f16",
                                         "takes \"n\", an integer, which the check describes as a float" };
    static const mg_group otherwise[] = { MG_GROUP("90.1", "described", describe_otherwise, cases) };
    static const mg_lab disagreeing = { "90-toy", otherwise, 1 };
    static const char *const units[] = { TOY "{ " DO " }", TOY "{ *(volatile float *)0 = x[0] + (float)n; }" };
    for (int u = 0; u < 2; u++) { /* a right one, and one that crashes when it is called */
        mg_results r;
        mg_options options = { .lab = &disagreeing, .root = t.root, .build = t.build };
        toy_write(&t, "labs/90-toy/toy.c", units[u]);
        cr_assert_eq(mg_grade(&r, &options), MT_OK, "%s", mt_last_error());
        for (int i = 0; i < MT_COUNT(cases); i++) {
            const mg_verdict want = i > 0 ? MG_ERROR : u > 0 ? MG_CRASH : MG_PASS;
            cr_expect_eq(r.rows[i].verdict, want, "%s, unit %d: %s", r.rows[i].name, u,
                         mg_verdict_name(r.rows[i].verdict));
            cr_expect(i == 0 || strstr(r.rows[i].detail, words[i]), "%s: %s", r.rows[i].name, r.rows[i].detail);
        }
        mg_results_free(&r);
    }
    toy_close(&t);
}

/* A unit that leaves as if the check were wrong has no grade, and so no points. */
Test(arguments, a_unit_that_blames_the_check_earns_nothing)
{
    toy t;
    toy_open(&t);
    t.any_symbol = true;
    mg_results r = toy_grade(&t, "#include <unistd.h>\n" TOY "{ " DO " _exit(78); }", "90.1");
    for (int64_t i = 0; i < r.count; i++) {
        cr_expect_eq(r.rows[i].verdict, MG_ERROR, "%s", mg_verdict_name(r.rows[i].verdict));
        cr_expect_eq(r.rows[i].points, 0);
    }
    mg_results_free(&r);
    toy_close(&t);
}
