/* test_linear.c -- the linear layer against a double-precision oracle, finite differences, and other thread counts.
 *
 * Tolerances: an element that sums K products (and what it started from) is rounded at most 2 (K + 1) times: each
 * product and each addition once. The magnitude is the sum of |terms|, made by the oracle. */
#include "kernels/kernels.h"
#include "testing/gradcheck.h"
#include "tests/must.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[] = { 0, 1, 2, 7, 31, 32, 33, 61 };

/* want and tolerance of out[i] = start[i] + sum over k of a(i,k) b(i,k), both read with strides. */
typedef struct side {
    const float *data;
    int64_t row, col, k; /* steps of the output's row, its column, and the summed index */
} side;

static void oracle(double *want, double *tolerance, const float *start, side a, side b, int64_t rows, int64_t cols,
                   int64_t K)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < cols; j++) {
            double sum = start[i * cols + j], magnitude = fabs(sum);
            for (int64_t k = 0; k < K; k++) {
                double term = (double)a.data[i * a.row + j * a.col + k * a.k] * b.data[i * b.row + j * b.col + k * b.k];
                sum += term;
                magnitude += fabs(term);
            }
            want[i * cols + j] = sum;
            tolerance[i * cols + j] = mt_tolerance(2.0 * ((double)K + 1), magnitude);
        }
    }
}

static const char *check(const char *name, const float *got, const float *start, side a, side b, int64_t rows,
                         int64_t cols, int64_t K)
{
    double *want = malloc((size_t)(rows * cols + 1) * sizeof *want);
    double *tolerance = malloc((size_t)(rows * cols + 1) * sizeof *tolerance);
    oracle(want, tolerance, start, a, b, rows, cols, K);
    const char *words = mt_compare(name, got, want, tolerance, rows * cols);
    free(want);
    free(tolerance);
    return words;
}

static float *copy(const float *a, int64_t n)
{
    float *c = malloc((size_t)(n + 1) * sizeof *c);
    memcpy(c, a, (size_t)n * sizeof *c);
    return c;
}

static void check_forward(int64_t N, int64_t I, int64_t O, bool with_bias)
{
    float *x = mt_test_uniform(1, N * I, -1, 1), *w = mt_test_uniform(2, I * O, -1, 1);
    float *b = mt_test_uniform(3, O, -1, 1), *out = malloc((size_t)(N * O + 1) * sizeof *out);
    float *start = calloc((size_t)(N * O + 1), sizeof *start);
    for (int64_t i = 0; i <= N * O; i++)
        out[i] = NAN; /* forward overwrites */
    for (int64_t i = 0; with_bias && i < N * O; i++)
        start[i] = b[i % O];
    mt_linear_fwd_cpu(out, x, w, with_bias ? b : NULL, N, I, O);
    must(check("out", out, start, (side){ x, I, 0, 1 }, (side){ w, 0, 1, O }, N, O, I));
    cr_assert(isnan(out[N * O]), "wrote past the end");
    free(x), free(w), free(b), free(out), free(start);
}

Test(linear, forward_matches_the_oracle)
{
    for (int64_t n = 0; n < MT_COUNT(sizes); n++)
        for (int64_t i = 0; i < MT_COUNT(sizes); i++)
            for (int64_t o = 0; o < MT_COUNT(sizes); o++) {
                check_forward(sizes[n], sizes[i], sizes[o], true);
                check_forward(sizes[n], sizes[i], sizes[o], false);
            }
    check_forward(3, 1000, 5, true);
    check_forward(67, 33, 1031, true); /* large enough for the threads to share the rows */
}

/* Which gradients are requested: bit 0 dx, 1 dw, 2 db. None starts at 0: backward adds. */
static void check_backward(int64_t N, int64_t I, int64_t O, int wanted)
{
    static const float one = 1;
    float *x = mt_test_uniform(1, N * I, -1, 1), *w = mt_test_uniform(2, I * O, -1, 1);
    float *dout = mt_test_uniform(3, N * O, -1, 1);
    float *dx0 = mt_test_uniform(4, N * I, -1, 1), *dw0 = mt_test_uniform(5, I * O, -1, 1);
    float *db0 = mt_test_uniform(6, O, -1, 1);
    float *dx = copy(dx0, N * I), *dw = copy(dw0, I * O), *db = copy(db0, O);
    mt_linear_bwd_cpu(wanted & 1 ? dx : NULL, wanted & 2 ? dw : NULL, wanted & 4 ? db : NULL, dout, x, w, N, I, O);
    int64_t on1 = wanted & 1 ? O : 0, on2 = wanted & 2 ? N : 0, on4 = wanted & 4 ? N : 0; /* else untouched */
    must(check("dx", dx, dx0, (side){ dout, O, 0, 1 }, (side){ w, 0, O, 1 }, N, I, on1));
    must(check("dw", dw, dw0, (side){ x, 1, 0, I }, (side){ dout, 0, 1, O }, I, O, on2));
    must(check("db", db, db0, (side){ dout, 0, 1, O }, (side){ &one, 0, 0, 0 }, 1, O, on4));
    free(x), free(w), free(dout), free(dx0), free(dw0), free(db0), free(dx), free(dw), free(db);
}

Test(linear, backward_matches_the_oracle_and_adds)
{
    for (int64_t n = 0; n < MT_COUNT(sizes); n++)
        for (int64_t i = 0; i < MT_COUNT(sizes); i++)
            for (int64_t o = 0; o < MT_COUNT(sizes); o++)
                check_backward(sizes[n], sizes[i], sizes[o], 7);
    check_backward(67, 33, 1031, 7); /* the columns of db are divided among threads; the last part is shorter */
}

Test(linear, backward_makes_only_what_is_wanted)
{
    for (int wanted = 0; wanted < 8; wanted++)
        check_backward(5, 7, 3, wanted);
}

/* The layer as one function of x, w and b together, in double: sum of out * dout. */
typedef struct layer {
    int64_t N, I, O;
    const float *dout;
} layer;

static double layer_value(const double *v, int64_t n, void *user)
{
    const layer *l = user;
    const double *x = v, *w = x + l->N * l->I, *b = w + l->I * l->O;
    double sum = 0;
    (void)n;
    for (int64_t i = 0; i < l->N * l->O; i++) {
        double out = b[i % l->O];
        for (int64_t k = 0; k < l->I; k++)
            out += x[i / l->O * l->I + k] * w[k * l->O + i % l->O];
        sum += out * l->dout[i];
    }
    return sum;
}

Test(linear, backward_matches_finite_differences)
{
    enum { N = 5, I = 7, O = 3, X = N * I, W = I * O, ALL = X + W + O };
    float *in = mt_test_uniform(7, ALL, -1, 1), *dout = mt_test_uniform(8, N * O, -1, 1);
    float grad[ALL] = { 0 };
    double x[ALL], tolerance[ALL];
    layer l = { N, I, O, dout };
    mt_function f = { layer_value, &l, MT_STEP_F64, 1e-13 }; /* 105 terms below 1, a few 1e-16 each */
    for (int i = 0; i < ALL; i++) {
        x[i] = in[i];
        tolerance[i] = mt_tolerance(2 * (I + 1), I); /* no gradient sums more than I = 7 products below 1 */
    }
    mt_linear_bwd_cpu(grad, grad + X, grad + X + W, dout, in, in + X, N, I, O);
    must(mt_gradcheck("gradient", grad, &f, x, tolerance, ALL));
    free(in), free(dout);
}

Test(linear, same_bits_for_any_thread_count)
{
    enum { N = 67, I = 129, O = 1031 };
    float *x = mt_test_uniform(1, N * I, -1, 1), *w = mt_test_uniform(2, I * O, -1, 1),
          *b = mt_test_uniform(3, O, -1, 1);
    float *dout = mt_test_uniform(4, N * O, -1, 1);
    enum { OUT = N * O, DX = N * I, DW = I * O, ALL = OUT + DX + DW + O };
    float *first = calloc(ALL, sizeof *first), *now = calloc(ALL, sizeof *now);
    for (int threads = 1; threads <= 4; threads++) {
        float *to = threads == 1 ? first : now;
        omp_set_num_threads(threads);
        memset(to, 0, ALL * sizeof *to);
        mt_linear_fwd_cpu(to, x, w, b, N, I, O);
        mt_linear_bwd_cpu(to + OUT, to + OUT + DX, to + OUT + DX + DW, dout, x, w, N, I, O);
        if (threads > 1)
            must(mt_compare_bits("out, dx, dw, db", now, first, ALL));
    }
    free(x), free(w), free(b), free(dout), free(first), free(now);
}

/* In float the sum would stop growing at the right rate: 1228.65 for 1228.8. */
Test(linear, bias_gradient_of_many_rows_does_not_drift)
{
    enum { N = 12288, O = 3 };
    static float dout[N * O];
    float db[O] = { 0 };
    for (int64_t i = 0; i < N * O; i++)
        dout[i] = 0.1f;
    mt_linear_bwd_cpu(NULL, NULL, db, dout, NULL, NULL, N, 1, O);
    for (int o = 0; o < O; o++)
        cr_assert_float_eq(db[o], (double)0.1f * N, 1e-4, "db[%d] = %.4f", o, (double)db[o]);
}
