/* test_testing.c -- tests of the test library: comparison and gradient check accept correct values and name wrong
 * ones. */
#include "testing/gradcheck.h"
#include "tests/must.h"

#include <math.h>
#include <signal.h>
#include <string.h>

Test(compare, tolerance_is_the_bound_of_k_roundings)
{
    cr_assert_float_eq(mt_tolerance(1, 3), 3 * 0x1p-24, 1e-6 * 3 * 0x1p-24);
    cr_assert(mt_tolerance(0, 1) == 0);
    /* 1000 additions of 0.1f stay within the bound, and it is less than a thousand times too large. */
    float sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += 0.1f;
    double off = fabs((double)sum - 1000 * (double)0.1f);
    cr_assert(off <= mt_tolerance(1000, 100) && off > mt_tolerance(1, 100), "%g", off);
}

Test(compare, tolerance_of_endless_roundings_aborts, .signal = SIGABRT)
{
    mt_tolerance(1e8, 1);
}

Test(compare, names_the_first_wrong_element)
{
    float got[] = { 1, 2.5f, 3, NAN, INFINITY };
    double want[] = { 1, 2, 3, 4, INFINITY }, tolerance[] = { 0, 0.25, 0, 1e9, 1e9 };
    must(mt_compare("x", got, want, tolerance, 1));
    must(mt_compare("x", got, want, tolerance, 0));
    const char *words = mt_compare("x", got, want, tolerance, 5);
    cr_assert(words && strstr(words, "x[1] = 2.5, expected 2, tolerance 0.25; 3 of 5 wrong"), "%s", words);
    tolerance[1] = 0.5; /* the edge is still right */
    must(mt_compare("x", got, want, tolerance, 3));
    cr_assert(mt_compare("x", got + 3, want + 3, tolerance + 3, 1), "NaN passed");
    cr_assert(mt_compare("x", got + 4, want + 4, tolerance + 4, 1), "infinity passed");
}

Test(compare, bits_tell_zeros_apart_and_know_nan)
{
    float a[] = { 0, NAN, 1 }, b[] = { 0, NAN, 1 };
    must(mt_compare_bits("x", a, b, 3));
    b[0] = -0.0f;
    cr_assert(mt_compare_bits("x", a, b, 3));
    b[0] = 0, b[2] = nextafterf(1, 2);
    cr_assert(mt_compare_bits("x", a, b, 3));
}

/* x0^2 x1 + sin(x1), in double or rounded to f32 */
static double value(const double *x, int64_t n, void *in_f32)
{
    double exact = x[0] * x[0] * x[1] + sin(x[1]);
    (void)n;
    return in_f32 ? (float)exact : exact;
}

static const double at[] = { 1.5, -0.75 }, none[] = { 0, 0 };

Test(gradcheck, numeric_gradient_is_as_exact_as_promised)
{
    double exact[] = { 2 * 1.5 * -0.75, 1.5 * 1.5 + cos(-0.75) }, grad[2];
    mt_function f = { value, NULL, MT_STEP_F64, 1e-15 };
    mt_numeric_grad(grad, &f, at, 2);
    for (int i = 0; i < 2; i++)
        cr_assert_float_eq(grad[i], exact[i], 1.5 * f.error / f.step + 1e-13, "%d: off by %g", i, grad[i] - exact[i]);
    mt_function rounded = { value, &rounded, MT_STEP_F32, mt_tolerance(1, 3) };
    mt_numeric_grad(grad, &rounded, at, 2);
    for (int i = 0; i < 2; i++)
        cr_assert_float_eq(grad[i], exact[i], 1.5 * rounded.error / rounded.step + 4e-8, "%d: off by %g", i,
                           grad[i] - exact[i]);
}

Test(gradcheck, refuses_a_gradient_that_is_a_little_wrong)
{
    float right[] = { -2.25f, (float)(2.25 + cos(-0.75)) };
    double one_rounding[] = { mt_tolerance(1, 2.25), mt_tolerance(1, 3) };
    mt_function f = { value, NULL, MT_STEP_F64, 1e-15 };
    must(mt_gradcheck("g", right, &f, at, one_rounding, 2));
    right[1] *= 1 + 0x1p-21f;
    const char *words = mt_gradcheck("g", right, &f, at, one_rounding, 2);
    cr_assert(words && strstr(words, "g[1]"), "%s", words);
    float zero[] = { 0, 0 };
    cr_assert(mt_gradcheck("g", zero, &f, at, none, 2));
}
