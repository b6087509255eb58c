/* compare.c -- comparison of f32 results with derived tolerances, and the inputs of tests. */
#include "testing/compare.h"

#include "core/rng.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char complaint[256];

double mt_tolerance(double roundings, double magnitude)
{
    double ku = roundings * MT_UNIT_F32;
    MT_CHECK(ku < 0.5, "mt_tolerance: %g roundings of f32 leave nothing to compare", roundings);
    return ku / (1 - ku) * magnitude + roundings * (double)FLT_TRUE_MIN;
}

const char *mt_compare(const char *name, const float *got, const double *want, const double *tolerance, int64_t n)
{
    int64_t wrong = 0, first = 0;
    for (int64_t i = n - 1; i >= 0; i--) {
        if (isfinite(got[i]) && fabs((double)got[i] - want[i]) <= tolerance[i])
            continue;
        wrong++;
        first = i;
    }
    if (!wrong)
        return NULL;
    snprintf(complaint, sizeof complaint,
             "%s[%" PRId64 "] = %.9g, expected %.9g, tolerance %.2g; %" PRId64 " of %" PRId64 " wrong", name, first,
             (double)got[first], want[first], tolerance[first], wrong, n);
    return complaint;
}

const char *mt_compare_bits(const char *name, const float *got, const float *want, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        if (memcmp(&got[i], &want[i], sizeof *got) == 0)
            continue;
        snprintf(complaint, sizeof complaint, "%s[%" PRId64 "] = %a, expected the same bits as %a", name, i,
                 (double)got[i], (double)want[i]);
        return complaint;
    }
    return NULL;
}

float *mt_test_uniform(uint64_t seed, int64_t n, float low, float high)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    float *a = malloc((size_t)(n + 1) * sizeof *a);
    MT_CHECK(a, "out of memory for %" PRId64 " numbers", n);
    mt_rng_fill_uniform(&rng, a, n, low, high);
    return a;
}
