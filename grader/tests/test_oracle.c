/* test_oracle.c -- the oracles against closed forms, brute force and finite differences, which share no code with the
 * oracles or the units. And the bounds: f32 arithmetic is within them, 16-bit arithmetic is not. */
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/oracle_mlp.h"
#include "core/dtype.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#define NEAR(got, want, by) \
    cr_assert_float_eq(got, want, by, "got %.17g, expected %.17g", (double)(got), (double)(want))

static mt_rng rng;

static void start(void)
{
    rng = mt_rng_new(42, MT_STREAM_TEST);
}

TestSuite(oracle, .init = start);

static double *normals(int64_t n)
{
    float *x = malloc(sizeof *x * (size_t)(n + 1));
    mg_fill(&rng, x, n, (mg_dist)NORMAL(0, 1));
    double *v = mg_lift(x, n);
    free(x);
    return v;
}

/* ---- products ------------------------------------------------------------------------------- */

static float at(const float *x, int64_t ld, mt_trans trans, int64_t row, int64_t col)
{
    return trans ? x[col * ld + row] : x[row * ld + col];
}

Test(oracle, matmul_is_the_triple_loop_and_keeps_the_gap)
{
    enum { M = 5, N = 7, K = 6, LD = 11, ROOM = 11 * LD };
    float a[ROOM], b[ROOM], c0[ROOM];
    double want[ROOM], tolerance[ROOM];
    mg_fill(&rng, a, ROOM, (mg_dist)NORMAL(0, 1));
    mg_fill(&rng, b, ROOM, (mg_dist)NORMAL(0, 1));
    mg_fill(&rng, c0, ROOM, (mg_dist)NORMAL(0, 1));
    for (int t = 0; t < 8; t++) {
        mt_matmul_dims d = { M, N, K, LD, LD, LD, t & 1, t >> 1 & 1, t >> 2 & 1 };
        mg_oracle_matmul(want, tolerance, c0, a, b, &d);
        for (int64_t i = 0; i < (M - 1) * LD + N; i++) {
            double sum = i % LD >= N || d.write == MT_ACCUMULATE ? c0[i] : 0;
            for (int64_t k = 0; k < K && i % LD < N; k++)
                sum += (double)at(a, LD, d.trans_a, i / LD, k) * at(b, LD, d.trans_b, k, i % LD);
            NEAR(want[i], sum, 1e-14);
            cr_assert((tolerance[i] == 0) == (i % LD >= N));
            cr_assert_lt(tolerance[i], 1e-5);
        }
    }
}

/* Sizes from one term to more than a gamma of 64: f32 sums, in two orders, stay within; bf16 and f16 inputs do not. */
Test(oracle, matmul_bounds_hold_for_f32_and_not_for_16_bits)
{
    const int64_t sizes[] = { 1, 2, 17, 64, 65, 500, 3000 };
    for (int s = 0; s < MT_COUNT(sizes); s++) {
        int64_t K = sizes[s], outside_bf16 = 0, outside_f16 = 0;
        for (int t = 0; t < 200; t++) {
            float *a = malloc(sizeof *a * (size_t)K), *b = malloc(sizeof *b * (size_t)K), up = 0, down = 0, low = 0,
                  half = 0;
            mg_fill(&rng, a, K, (mg_dist)NORMAL(0, 1));
            mg_fill(&rng, b, K, (mg_dist)NORMAL(0, 1));
            mt_matmul_dims d = { 1, 1, K, K, 1, 1, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE };
            double want, tolerance;
            mg_oracle_matmul(&want, &tolerance, NULL, a, b, &d);
            for (int64_t k = 0; k < K; k++) {
                up += a[k] * b[k];
                down += a[K - 1 - k] * b[K - 1 - k];
                low += mt_bf16_to_f32(mt_bf16_from_f32(a[k])) * mt_bf16_to_f32(mt_bf16_from_f32(b[k]));
                half += mt_f16_to_f32(mt_f16_from_f32(a[k])) * mt_f16_to_f32(mt_f16_from_f32(b[k]));
            }
            cr_assert_leq(fabs(up - want), tolerance);
            cr_assert_leq(fabs(down - want), tolerance);
            outside_bf16 += fabs(low - want) > tolerance;
            outside_f16 += fabs(half - want) > tolerance;
            free(a);
            free(b);
        }
        cr_assert_gt(outside_bf16, 20, "K=%lld: %lld of 200", (long long)K, (long long)outside_bf16);
        cr_assert(K > 1000 || outside_f16 > 2, "K=%lld: %lld of 200", (long long)K, (long long)outside_f16);
    }
}

/* ---- every gradient oracle is the derivative of its forward oracle --------------------------- */

typedef void forward_fn(double *v, double *e, const double *x, int64_t n);

/* sum of dout * f(x), whose gradient backward must give. */
static double weighted(forward_fn *f, const double *x, const double *dout, int64_t n)
{
    double *v = mg_doubles(n), *e = mg_doubles(n), sum = 0;
    f(v, e, x, n);
    for (int64_t i = 0; i < n; i++)
        sum += dout[i] * v[i];
    free(v);
    free(e);
    return sum;
}

static void expect_gradient(forward_fn *f, double *x, const double *dout, int64_t n, const double *grad)
{
    const double h = 1e-5; /* central differences: error h^2 times a third derivative, and 1e-16 / h */
    for (int64_t i = 0; i < n; i++) {
        double held = x[i];
        x[i] = held + h;
        double above = weighted(f, x, dout, n);
        x[i] = held - h;
        double below = weighted(f, x, dout, n);
        x[i] = held;
        NEAR(grad[i], (above - below) / (2 * h), 1e-8);
    }
}

static mg_act current;

static void act_forward(double *v, double *e, const double *x, int64_t n)
{
    mg_oracle_act(current, v, e, x, n);
}

Test(oracle, slopes_of_activations_are_derivatives)
{
    enum { n = 60 };
    for (current = MG_RELU; current <= MG_GELU_TANH; current++) {
        double *x = normals(n), *dout = normals(n), *grad = normals(n), *e = mg_doubles(n), saved[n], held[n];
        act_forward(saved, e, x, n);
        for (int i = 0; i < n; i++) {
            held[i] = grad[i];
            if (current == MG_RELU || current == MG_GELU || current == MG_GELU_TANH)
                saved[i] = x[i];
        }
        mg_oracle_act_add(current, grad, e, dout, saved, n);
        for (int i = 0; i < n; i++)
            grad[i] -= held[i];
        expect_gradient(act_forward, x, dout, n, grad);
        free(x);
        free(dout);
        free(grad);
        free(e);
    }
}

enum { ROWS = 4, COLS = 6 };

static void softmax_forward(double *v, double *e, const double *x, int64_t n)
{
    (void)n;
    mg_oracle_softmax(v, e, x, NULL, ROWS, COLS);
}

static const int32_t label[ROWS] = { 0, COLS - 1, 2, 2 };

static void loss_forward(double *v, double *e, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        v[i] = 0;
    mg_oracle_cross_entropy(v, e, x, NULL, label, ROWS, COLS);
}

Test(oracle, gradients_of_softmax_and_loss_are_derivatives)
{
    enum { n = ROWS * COLS };
    double *x = normals(n), *dout = normals(n), p[n], e[n], grad[n] = { 0 }, dlogits[n] = { 0 };
    softmax_forward(p, e, x, n);
    mg_oracle_softmax_add(grad, e, dout, p, ROWS, COLS);
    expect_gradient(softmax_forward, x, dout, n, grad);
    mg_oracle_cross_entropy_add(dlogits, e, dout, p, NULL, label, ROWS, COLS);
    expect_gradient(loss_forward, x, dout, n, dlogits);
    free(x);
    free(dout);
}

Test(oracle, values_in_closed_form)
{
    double v[3], e[3];
    mg_oracle_act(MG_SIGMOID, v, e, (double[]){ 0, log(3), -800 }, 3);
    NEAR(v[0], 0.5, 1e-16);
    NEAR(v[1], 0.75, 1e-15);
    NEAR(v[2], 0, 1e-300);
    mg_oracle_act(MG_GELU, v, e, (double[]){ 0, 1.959963984540054, -1.959963984540054 }, 3);
    NEAR(v[1], 0.975 * 1.959963984540054, 1e-14);
    NEAR(v[2], -0.025 * 1.959963984540054, 1e-14);
    mg_oracle_softmax(v, e, (double[]){ 1000, 1000 + log(2), 1000 + log(5) }, NULL, 1, 3);
    NEAR(v[0], 0.125, 1e-13);
    NEAR(v[2], 0.625, 1e-13);
    mg_oracle_cross_entropy(v, e, (double[]){ 0, 1e6, -1e6 }, NULL, (int32_t[]){ 2 }, 1, 3);
    NEAR(v[0], 2e6, 1e-9);
}

/* ---- the network ---------------------------------------------------------------------------- */

Test(oracle, gradient_of_the_network_is_the_derivative_of_its_loss)
{
    const int64_t width[MG_MLP_LAYERS + 1] = { 5, 6, 4, 3 };
    enum { N = 7 };
    const int32_t truth[N] = { 0, 1, 2, 2, 1, 0, 0 };
    int64_t count = mg_mlp_count(width);
    cr_assert_eq(count, 5 * 6 + 6 + 6 * 4 + 4 + 4 * 3 + 3);
    cr_assert_eq(mg_mlp_count((int64_t[]){ 5, 6, 3, 0 }), 5 * 6 + 6 + 6 * 3 + 3);
    double *p = normals(count), *x = normals(N * 5), *gv = mg_doubles(count), *ge = mg_doubles(count);
    double v[N * 3], e[N * 3], loss[2], above[2], below[2];
    for (int64_t i = 0; i < count; i++)
        p[i] *= 0.5; /* bounds grow with the weights' sizes, layer by layer */
    mg_oracle_mlp(v, e, loss, gv, ge, p, width, x, truth, N);
    for (int64_t i = 0; i < count; i++) {
        double *unused = mg_doubles(2 * count), held = p[i];
        p[i] = held + 1e-6;
        mg_oracle_mlp(v, e, above, unused, unused + count, p, width, x, truth, N);
        p[i] = held - 1e-6;
        mg_oracle_mlp(v, e, below, unused, unused + count, p, width, x, truth, N);
        p[i] = held;
        NEAR(gv[i], (above[0] - below[0]) / 2e-6, 1e-8);
        cr_assert_lt(ge[i], 1e-4, "%lld: %g", (long long)i, ge[i]);
        free(unused);
    }
    free(p);
    free(x);
    free(gv);
    free(ge);
}

/* ---- distributions -------------------------------------------------------------------------- */

Test(oracle, honest_samples_pass_and_wrong_scales_do_not)
{
    enum { n = 20000 };
    double *x = normals(n), *y = normals(n);
    cr_assert_lt(mg_ks_normal(x, n, 1), mg_ks_bound(n));
    cr_assert_gt(mg_ks_normal(x, n, M_SQRT2), mg_ks_bound(n));
    cr_assert_gt(mg_ks_normal(x, n, M_SQRT1_2), mg_ks_bound(n));
    cr_assert_gt(mg_ks_uniform(y, n, sqrt(3)), mg_ks_bound(n));
    for (int i = 0; i < n; i++)
        x[i] = 2 * (double)mt_rng_uniform(&rng) - 1;
    cr_assert_lt(mg_ks_uniform(x, n, 1), mg_ks_bound(n));
    cr_assert_gt(mg_ks_uniform(x, n, 1.1), mg_ks_bound(n));
    free(x);
    free(y);
}

Test(oracle, fills_vary_and_stay_in_range)
{
    float x[1000];
    int32_t classes[2];
    mg_fill(&rng, x, 1000, (mg_dist)MIXED(-3, 3));
    int negative = 0;
    for (int i = 0; i < 1000; i++) {
        cr_assert(fabsf(x[i]) >= 0.124f && fabsf(x[i]) <= 8.01f);
        negative += x[i] < 0;
    }
    cr_assert(negative > 400 && negative < 600);
    mg_fill_labels(&rng, classes, 2, 10);
    cr_assert(classes[0] + classes[1] == 9 && classes[0] != classes[1]);
    int seen[66] = { 0 };
    for (int i = 0; i < 20000; i++) {
        int64_t size = mg_pick_size(&rng, 0, 65);
        cr_assert(size >= 0 && size <= 65);
        seen[size]++;
    }
    cr_assert(seen[0] && seen[1] && seen[2] && seen[63] && seen[64] && seen[65] && seen[61]);
    cr_assert_lt(seen[1], 20000 / 8); /* of three sizes, more than half of the time none is 1 */
}
