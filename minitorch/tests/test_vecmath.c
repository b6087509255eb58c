/* test_vecmath.c -- exp, tanh and erf of vecmath.h against the C library in double, over floats of every size.
 *
 * Errors are counted in units in the last place of the exact value. Every 257th of the 2^32 floats is tried here (257
 * is odd, so all mantissas and exponents take part); all of them were tried once with a step of 7 when the file was
 * written. */
#include "kernels/vecmath.h"

#include <criterion/criterion.h>

enum { STEP = 257 };

static double unit_of(double want)
{
    int exponent;
    if (fabs(want) < 0x1p-126)
        return 0x1p-149;
    frexp((double)(float)want, &exponent);
    return ldexp(1, exponent - 24);
}

/* The worst error of f, but +-infinity (a value beyond f32's range, or nearly) must be infinity on both sides. */
static double worst(float (*f)(float), double (*exact)(double))
{
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t bits = 0; bits < (int64_t)1 << 32; bits += STEP) {
        uint32_t word = (uint32_t)bits;
        float x, got;
        memcpy(&x, &word, sizeof x);
        got = f(x);
        double want = exact((double)x), error = fabs((double)got - want);
        if (isnan(x) != isnan(got))
            error = 1e30;
        else if (isnan(x) || (isinf(got) && fabs(want) > 0x1.fffffep127))
            error = 0;
        most = fmax(most, error / unit_of(want));
    }
    return most;
}

static float exp_of(float x)
{
    return mt_expf(x);
}

static float tanh_of(float x)
{
    return mt_tanhf(x);
}

static float erf_of(float x)
{
    return mt_erff(x);
}

/* vecmath.h documents maximum errors of 1.1, 1.4 and 1.2. */
Test(vecmath, exp_is_within_2_units)
{
    cr_assert_leq(worst(exp_of, exp), 2);
    cr_assert(isinf(mt_expf(INFINITY)) && mt_expf(-INFINITY) == 0 && mt_expf(0) == 1);
}

Test(vecmath, tanh_is_within_2_units)
{
    cr_assert_leq(worst(tanh_of, tanh), 2);
    cr_assert(mt_tanhf(INFINITY) == 1 && mt_tanhf(-INFINITY) == -1 && signbit(mt_tanhf(-0.0f)));
}

Test(vecmath, erf_is_within_2_units)
{
    cr_assert_leq(worst(erf_of, erf), 2);
    cr_assert(mt_erff(INFINITY) == 1 && mt_erff(-INFINITY) == -1 && signbit(mt_erff(-0.0f)));
}
