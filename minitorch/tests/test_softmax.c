/* test_softmax.c -- softmax and cross-entropy against double-precision oracles, finite differences, saturation, faults.
 *
 * Tolerances, in roundings (u each): x - max is rounded, and exp turns its error of |x - max| <= span into a relative
 * one; exp itself counts as libm's. Both occur in the numerator and in the sum in the denominator. Adding C terms has
 * C - 1 roundings, the division and its product 2. So a probability's relative error is at most 2 (span + libm) + C + 2
 * roundings. */
#include "kernels/kernels.h"
#include "testing/gradcheck.h"
#include "tests/must.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const int64_t sizes[] = { 1, 2, 10, 15, 16, 17, 31, 32, 33, 127, 1009 };

static void *array(int64_t n, size_t size)
{
    void *a = calloc((size_t)(n + 1), size);
    MT_CHECK(a, "out of memory");
    return a;
}

/* One row in double: its probabilities, its log of the sum, and max - min. */
static double oracle_row(double *p, const float *x, int64_t C, double *span)
{
    double max = -INFINITY, min = INFINITY, sum = 0;
    for (int64_t c = 0; c < C; c++) {
        max = fmax(max, x[c]);
        min = fmin(min, x[c]);
    }
    for (int64_t c = 0; c < C; c++)
        sum += p[c] = exp(x[c] - max);
    for (int64_t c = 0; c < C; c++)
        p[c] /= sum;
    *span = fmin(max - min, 150); /* beyond that every rounding is of a zero */
    return max + log(sum);
}

static double roundings(double span, int64_t C)
{
    return 2 * span + 2 * MT_LIBM_ROUNDINGS + (double)C + 2;
}

static const char *check_softmax(const float *out, const float *x, int64_t N, int64_t C)
{
    const char *words = NULL;
    double *want = array(C, sizeof *want), *tolerance = array(C, sizeof *tolerance), span;
    for (int64_t n = 0; n < N && !words; n++) {
        oracle_row(want, x + n * C, C, &span);
        for (int64_t c = 0; c < C; c++)
            tolerance[c] = mt_tolerance(roundings(span, C), want[c]);
        words = mt_compare("row of softmax", out + n * C, want, tolerance, C);
    }
    free(want), free(tolerance);
    return words;
}

static void check_forward(int64_t N, int64_t C, float low, float high)
{
    float *x = mt_test_uniform(1, N * C, low, high), *out = array(N * C, sizeof *out);
    for (int64_t i = 0; i <= N * C; i++)
        out[i] = NAN;
    mt_softmax_fwd_cpu(out, x, N, C);
    must(check_softmax(out, x, N, C));
    cr_assert(isnan(out[N * C]), "wrote past the end");
    float *both = array(N * C, sizeof *both);
    memcpy(both, x, (size_t)(N * C) * sizeof *both);
    mt_softmax_fwd_cpu(both, both, N, C);
    must(mt_compare_bits("softmax in place", both, out, N * C));
    free(x), free(out), free(both);
}

Test(softmax, forward_matches_the_oracle)
{
    for (int64_t c = 0; c < MT_COUNT(sizes); c++) {
        check_forward(0, sizes[c], -1, 1);
        check_forward(1, sizes[c], -1, 1);
        check_forward(7, sizes[c], -20, 20);
        check_forward(5, sizes[c], 80, 90);
        check_forward(3, sizes[c], -3000, 3000);
        check_forward(131, sizes[c], -5, 5);
    }
    mt_softmax_fwd_cpu(NULL, NULL, 0, 0); /* no rows: not an error */
}

Test(softmax, saturates_without_overflow)
{
    float big[] = { 1e30f, -1e30f, 0, 1e30f, 88, 89, 90, -INFINITY, -200, -200, -200, -200 }, out[12];
    mt_softmax_fwd_cpu(out, big, 3, 4);
    must(check_softmax(out, big, 3, 4));
    cr_assert(out[0] == 0.5f && out[1] == 0 && out[2] == 0 && out[3] == 0.5f);
    cr_assert(out[7] == 0, "exp(-inf) is 0, not %g", (double)out[7]);
    cr_assert(out[8] == 0.25f && out[11] == 0.25f);
    float one = -1e30f;
    mt_softmax_fwd_cpu(&one, &one, 1, 1);
    cr_assert_eq(one, 1);
}

Test(softmax, nan_fills_its_row_only)
{
    float x[99], out[99];
    for (int i = 0; i < 99; i++)
        x[i] = i == 40 ? NAN : (float)(i % 5);
    mt_softmax_fwd_cpu(out, x, 3, 33);
    for (int i = 0; i < 99; i++)
        cr_assert_eq(!!isnan(out[i]), i / 33 == 1, "out[%d] = %g", i, (double)out[i]);
}

/* dx = start + p (dout - dot): dot sums C products, then four more roundings; the exact p is the one handed in. */
static void check_backward(int64_t N, int64_t C)
{
    float *x = mt_test_uniform(1, N * C, -3, 3), *dout = mt_test_uniform(2, N * C, -1, 1);
    float *start = mt_test_uniform(3, N * C, -1, 1), *dx = array(N * C, sizeof *dx), *p = array(N * C, sizeof *p);
    double *want = array(N * C, sizeof *want), *tolerance = array(N * C, sizeof *tolerance);
    memcpy(dx, start, (size_t)(N * C) * sizeof *dx);
    mt_softmax_fwd_cpu(p, x, N, C);
    mt_softmax_bwd_cpu(dx, dout, p, N, C);
    for (int64_t i = 0; i < N * C; i++) {
        double dot = 0, magnitude = 0;
        for (int64_t k = i / C * C; k < i / C * C + C; k++) {
            dot += (double)dout[k] * p[k];
            magnitude += fabs((double)dout[k] * p[k]);
        }
        want[i] = start[i] + p[i] * (dout[i] - dot);
        tolerance[i] = mt_tolerance((double)C + 4, fabs((double)start[i]) + p[i] * (fabs((double)dout[i]) + magnitude));
    }
    must(mt_compare("dx", dx, want, tolerance, N * C));
    free(x), free(dout), free(start), free(dx), free(p), free(want), free(tolerance);
}

Test(softmax, backward_matches_the_oracle_and_adds)
{
    for (int64_t c = 0; c < MT_COUNT(sizes); c++) {
        check_backward(0, sizes[c]);
        check_backward(1, sizes[c]);
        check_backward(61, sizes[c]);
    }
}

/* ---- gradients by finite differences ----------------------------------------------------------- */

typedef struct row {
    int64_t C, label;
    const float *dout;
} row;

/* sum of dout * softmax(x), x one row */
static double softmax_value(const double *x, int64_t n, void *user)
{
    const row *r = user;
    double sum = 0, value = 0;
    for (int64_t c = 0; c < n; c++)
        sum += exp(x[c]);
    for (int64_t c = 0; c < n; c++)
        value += r->dout[c] * exp(x[c]) / sum;
    return value;
}

/* dout * -log softmax(x)[label] */
static double loss_value(const double *x, int64_t n, void *user)
{
    const row *r = user;
    double sum = 0;
    for (int64_t c = 0; c < n; c++)
        sum += exp(x[c]);
    return r->dout[0] * (log(sum) - x[r->label]);
}

/* Logits span 4, so a probability (and any gradient: dout < 1, p <= 1) is off by at most roundings(4, C), doubled
 * because dx is the difference of two such terms. Both functions stay below 10 with C terms: 1e-14 is generous for
 * double. */
static void check_differences(int64_t C)
{
    float *x = mt_test_uniform(4, C, -2, 2), *dout = mt_test_uniform(5, C, 0.5, 1), *p = array(C, sizeof *p), loss;
    float *dx = array(C, sizeof *dx), *dlogits = array(C, sizeof *dlogits);
    double *at = array(C, sizeof *at), *tolerance = array(C, sizeof *tolerance);
    int32_t label = (int32_t)(C / 2);
    row r = { C, label, dout };
    for (int64_t c = 0; c < C; c++) {
        at[c] = x[c];
        tolerance[c] = mt_tolerance(2 * roundings(4, C), 1);
    }
    mt_softmax_fwd_cpu(p, x, 1, C);
    mt_softmax_bwd_cpu(dx, dout, p, 1, C);
    mt_function f = { softmax_value, &r, MT_STEP_F64, 1e-14 };
    must(mt_gradcheck("softmax", dx, &f, at, tolerance, C));
    mt_cross_entropy_fwd_cpu(&loss, p, x, &label, 1, C);
    mt_cross_entropy_bwd_cpu(dlogits, dout, p, &label, 1, C);
    f.value = loss_value;
    must(mt_gradcheck("cross_entropy", dlogits, &f, at, tolerance, C));
    free(x), free(dout), free(p), free(dx), free(dlogits), free(at), free(tolerance);
}

Test(softmax, backward_matches_finite_differences)
{
    for (int64_t c = 0; c < 10; c++)
        check_differences(sizes[c]);
}

/* ---- cross-entropy ------------------------------------------------------------------------------- */

static int32_t *labels(int64_t N, int64_t C)
{
    int32_t *label = array(N, sizeof *label);
    for (int64_t n = 0; n < N; n++)
        label[n] = (int32_t)(n * 7919 % C);
    return label;
}

/* loss = (max - right) + log(sum): one rounding of the difference, one of the addition, log's own, and the sum's
 * relative error of roundings(span, C), which the logarithm turns into an absolute one. */
static void check_cross_entropy(int64_t N, int64_t C, float low, float high)
{
    float *x = mt_test_uniform(6, N * C, low, high), *p = array(N * C, sizeof *p), *loss = array(N, sizeof *loss);
    float *soft = array(N * C, sizeof *soft);
    int32_t *label = labels(N, C);
    double *scratch = array(C, sizeof *scratch);
    loss[N] = 77;
    mt_cross_entropy_fwd_cpu(loss, p, x, label, N, C);
    for (int64_t n = 0; n < N; n++) {
        double span, log_sum = oracle_row(scratch, x + n * C, C, &span), want = log_sum - x[n * C + label[n]];
        double tolerance =
            mt_tolerance(roundings(span, C), 1) + mt_tolerance(2 + MT_LIBM_ROUNDINGS, fabs(want) + log(C));
        must(mt_compare("loss", loss + n, &want, &tolerance, 1));
    }
    cr_assert_eq(loss[N], 77, "wrote past the end");
    mt_softmax_fwd_cpu(soft, x, N, C);
    must(mt_compare_bits("probs", p, soft, N * C));
    mt_cross_entropy_fwd_cpu(soft, x, x, label, N, C); /* in place; soft has room for N losses */
    must(mt_compare_bits("probs in place", x, p, N * C));
    must(mt_compare_bits("loss in place", soft, loss, N));
    free(x), free(p), free(loss), free(soft), free(label), free(scratch);
}

Test(cross_entropy, forward_matches_the_oracle)
{
    for (int64_t c = 0; c < MT_COUNT(sizes); c++) {
        check_cross_entropy(0, sizes[c], -1, 1);
        check_cross_entropy(1, sizes[c], -1, 1);
        check_cross_entropy(131, sizes[c], -20, 20);
        check_cross_entropy(5, sizes[c], -3000, 3000);
    }
}

Test(cross_entropy, loss_stays_finite_when_the_probability_is_zero)
{
    float x[] = { 1e30f, -1e30f, 0, 0, 1000, 0 }, p[6], loss[3];
    int32_t label[] = { 1, 0, 1 };
    mt_cross_entropy_fwd_cpu(loss, p, x, label, 3, 2);
    cr_assert_eq(loss[0], 2e30f);
    cr_assert_float_eq(loss[1], (float)M_LN2, 1e-7);
    cr_assert_eq(loss[2], 1000);
    cr_assert(p[1] == 0 && p[0] == 1);
}

/* dlogits = start + dloss (p - right): three roundings. */
Test(cross_entropy, backward_matches_the_oracle_and_adds)
{
    for (int64_t c = 0; c < MT_COUNT(sizes); c++) {
        enum { N = 61 };
        int64_t C = sizes[c], n = N * C;
        float *p = mt_test_uniform(1, n, 0, 1), *dloss = mt_test_uniform(2, N, -1, 1);
        float *start = mt_test_uniform(3, n, -1, 1), *d = array(n, sizeof *d);
        int32_t *label = labels(N, C);
        memcpy(d, start, (size_t)n * sizeof *d);
        mt_cross_entropy_bwd_cpu(d, dloss, p, label, 0, C);
        must(mt_compare_bits("no rows", d, start, n));
        mt_cross_entropy_bwd_cpu(d, dloss, p, label, N, C);
        for (int64_t i = 0; i < n; i++) {
            double step = dloss[i / C] * ((double)p[i] - (i % C == label[i / C])), want = start[i] + step;
            double tolerance = mt_tolerance(3, fabs((double)start[i]) + fabs(step));
            must(mt_compare("dlogits", d + i, &want, &tolerance, 1));
        }
        free(p), free(dloss), free(start), free(d), free(label);
    }
}

Test(softmax, same_bits_for_any_thread_count)
{
    enum { N = 131, C = 1009, ALL = N * C };
    float *x = mt_test_uniform(1, ALL, -5, 5), *dout = mt_test_uniform(2, ALL, -1, 1);
    float *first = array(4 * ALL, sizeof *first), *now = array(4 * ALL, sizeof *now), *loss = array(N, sizeof *loss);
    int32_t *label = labels(N, C);
    for (int threads = 1; threads <= 4; threads++) {
        float *to = threads == 1 ? first : now;
        omp_set_num_threads(threads);
        memset(to, 0, 4 * ALL * sizeof *to);
        mt_softmax_fwd_cpu(to, x, N, C);
        mt_softmax_bwd_cpu(to + ALL, dout, to, N, C);
        mt_cross_entropy_fwd_cpu(to + 3 * ALL, to + 2 * ALL, x, label, N, C);
        mt_cross_entropy_bwd_cpu(to + ALL, dout, to + 2 * ALL, label, N, C);
        if (threads > 1)
            must(mt_compare_bits("results", now, first, 4 * ALL));
    }
    free(x), free(dout), free(first), free(now), free(loss), free(label);
}

/* ---- faults ------------------------------------------------------------------------------------- */

static void forward_with(const int32_t *label)
{
    float x[12] = { 0 }, p[12], loss[3];
    mt_cross_entropy_fwd_cpu(loss, p, x, label, 3, 4);
}

static void backward_with(const int32_t *label)
{
    float p[12] = { 0 }, d[12] = { 0 }, dloss[3] = { 0 };
    mt_cross_entropy_bwd_cpu(d, dloss, p, label, 3, 4);
}

/* Run call(label) in a child that must abort, and return its message. */
static void abort_words(void (*call)(const int32_t *label), const int32_t *label, char *words, size_t size)
{
    int ends[2], status;
    size_t got = 0;
    ssize_t n;
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        call(label);
        _exit(0);
    }
    close(ends[1]);
    while (got + 1 < size && (n = read(ends[0], words + got, size - 1 - got)) > 0)
        got += (size_t)n;
    words[got] = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "did not abort: %s", words);
}

Test(cross_entropy, a_label_out_of_range_aborts_naming_row_and_value)
{
    static const int32_t high[] = { 0, 1, 4 }, low[] = { 0, -1, 3 };
    char words[512];
    abort_words(forward_with, high, words, sizeof words);
    cr_assert(strstr(words, "label[2] is 4"), "%s", words);
    abort_words(forward_with, low, words, sizeof words);
    cr_assert(strstr(words, "label[1] is -1"), "%s", words);
    abort_words(backward_with, high, words, sizeof words);
    cr_assert(strstr(words, "label[2] is 4"), "%s", words);
}

Test(softmax, rows_without_columns_abort, .signal = SIGABRT)
{
    mt_softmax_fwd_cpu(NULL, NULL, 2, 0);
}
