/* test_init.c -- initial weights have the documented mean, variance and range, and depend on the generator only.
 *
 * Tolerances: five standard errors of a mean of n samples (a wrong test once in two million seeds, and the seed is
 * fixed). The mean has standard error s / sqrt(n); the variance s^2 sqrt((kurtosis - 1) / n), kurtosis 3 normal, 9/5
 * uniform. */
#include "kernels/kernels.h"
#include "testing/compare.h"
#include "tests/must.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>

enum { N = 200003 };

typedef struct moments {
    double mean, variance, kurtosis, low, high;
} moments;

static moments measure(const float *w, int64_t n)
{
    moments m = { 0, 0, 0, INFINITY, -INFINITY };
    for (int64_t i = 0; i < n; i++) {
        m.mean += w[i] / (double)n;
        m.low = fmin(m.low, w[i]);
        m.high = fmax(m.high, w[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        double d = w[i] - m.mean;
        m.variance += d * d / (double)n;
        m.kurtosis += d * d * d * d / (double)n;
    }
    m.kurtosis /= m.variance * m.variance;
    return m;
}

static void check_moments(moments m, double variance, double kurtosis)
{
    double errors = 5 / sqrt(N);
    cr_assert_float_eq(m.mean, 0, errors * sqrt(variance), "mean %g", m.mean);
    cr_assert_float_eq(m.variance, variance, errors * variance * sqrt(kurtosis - 1), "variance %g, expected %g",
                       m.variance, variance);
    cr_assert_float_eq(m.kurtosis, kurtosis, 0.1, "kurtosis %g, expected %g", m.kurtosis, kurtosis);
}

Test(init, he_is_normal_with_variance_2_over_fan_in)
{
    static const int64_t fans[] = { 1, 2, 784, 50257 };
    float *w = malloc(N * sizeof *w);
    for (int64_t f = 0; f < MT_COUNT(fans); f++) {
        mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
        mt_init_he_cpu(w, N, fans[f], &rng);
        check_moments(measure(w, N), 2.0 / (double)fans[f], 3);
    }
    free(w);
}

Test(init, xavier_is_uniform_with_variance_2_over_both_fans)
{
    static const int64_t fans[][2] = { { 1, 1 }, { 784, 256 }, { 3, 1000 } };
    float *w = malloc(N * sizeof *w);
    for (int64_t f = 0; f < MT_COUNT(fans); f++) {
        mt_rng rng = mt_rng_new(2, MT_STREAM_TEST);
        double sum = (double)(fans[f][0] + fans[f][1]), a = sqrt(6 / sum);
        mt_init_xavier_cpu(w, N, fans[f][0], fans[f][1], &rng);
        moments m = measure(w, N);
        check_moments(m, 2 / sum, 1.8);
        double edge = a * (1 + 4 * MT_UNIT_F32); /* a itself is rounded */
        cr_assert(m.low >= -edge && m.high <= edge, "[%g, %g] leaves (-%g, %g)", m.low, m.high, a, a);
        cr_assert(m.low < -0.999 * a && m.high > 0.999 * a, "[%g, %g] does not fill (-%g, %g)", m.low, m.high, a, a);
    }
    free(w);
}

Test(init, generator_moves_on_and_nothing_is_written_past_the_end)
{
    float a[34], b[34];
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    a[33] = b[33] = 77;
    mt_init_he_cpu(a, 33, 4, &rng);
    mt_init_he_cpu(b, 33, 4, &rng);
    cr_assert(mt_compare_bits("w", a, b, 33), "two layers got the same weights");
    cr_assert(a[33] == 77 && b[33] == 77);
    mt_init_he_cpu(a, 0, 4, &rng);
    mt_init_xavier_cpu(a, 0, 4, 4, &rng);
}

Test(init, same_bits_for_any_thread_count)
{
    float *first = malloc(2 * N * sizeof *first), *now = malloc(2 * N * sizeof *now);
    for (int threads = 1; threads <= 4; threads++) {
        float *to = threads == 1 ? first : now;
        mt_rng rng = mt_rng_new(4, MT_STREAM_TEST);
        omp_set_num_threads(threads);
        mt_init_he_cpu(to, N, 784, &rng);
        mt_init_xavier_cpu(to + N, N, 784, 256, &rng);
        if (threads > 1)
            must(mt_compare_bits("w", now, first, 2 * N));
    }
    free(first), free(now);
}

Test(init, he_without_fan_in_aborts, .signal = SIGABRT)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    mt_init_he_cpu(NULL, 0, 0, &rng);
}

Test(init, xavier_without_fan_out_aborts, .signal = SIGABRT)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    mt_init_xavier_cpu(NULL, 0, 1, 0, &rng);
}
