/* test_interval.c -- Young's interval, and the waste of a run against its expectation. */
#include "ckpt/interval.h"
#include "must.h"

#include <math.h>

Test(interval, young)
{
    cr_assert_float_eq(mt_young_interval(50, 3600), 600, 1e-9);
    cr_assert_float_eq(mt_young_interval(2, 100), 20, 1e-12);
}

/* A piece of L = interval + cost seconds is done after (M + R) (e^(L/M) - 1) on average: failures come with the rate
 * 1/M whatever was before. With N failures the sum of the times between them is off by 1 / sqrt(N) of it: five times
 * that. */
Test(interval, waste_is_as_expected)
{
    const double mtbfs[] = { 3600, 4 * 3600, 24 * 3600 }, factors[] = { 0.25, 1, 4 };
    for (int i = 0; i < MT_COUNT(mtbfs); i++)
        for (int k = 0; k < MT_COUNT(factors); k++) {
            double M = mtbfs[i], C = 60, R = 120, t = factors[k] * mt_young_interval(C, M);
            mt_rng rng = mt_rng_new(3, (uint64_t)(3 * i + k));
            int64_t pieces = (int64_t)(20000 * M / (t + C));
            mt_run_plan plan = { (double)pieces * t, t, C, R, M };
            double want = 1 - t / ((M + R) * (exp((t + C) / M) - 1));
            double got = mt_run_waste(&plan, &rng);
            cr_assert_float_eq(got, want, 5 / sqrt(20000) * want + 1e-3, "M %g, interval %g: %g, not %g", M, t, got,
                               want);
        }
}

Test(interval, youngs_is_the_best)
{
    double waste[3];
    for (int k = 0; k < 3; k++) {
        mt_rng rng = mt_rng_new(5, 0);
        mt_run_plan plan = { 1e8, mt_young_interval(60, 14400) * (k == 0 ? 0.25 : k == 1 ? 1 : 4), 60, 60, 14400 };
        waste[k] = mt_run_waste(&plan, &rng);
    }
    cr_assert(waste[1] < waste[0] && waste[1] < waste[2], "%g %g %g", waste[0], waste[1], waste[2]);
}

/* Without failures only the saves cost; the last piece is shorter, and has one too. */
Test(interval, no_failure)
{
    mt_rng rng = mt_rng_new(1, 0);
    cr_assert_float_eq(mt_run_waste(&(mt_run_plan){ 95, 10, 1, 5, 1e30 }, &rng), 10.0 / 105, 1e-12);
}
