/* test_manual_mlp.c -- the hand-written perceptron: every parameter's gradient against finite differences of the same
 * network in double, successful training, and the contracts of its header. */
#include "bench/mlp_step.h"
#include "kernels/manual_mlp.h"
#include "testing/gradcheck.h"
#include "tests/must.h"

#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- the network in double ----------------------------------------------------------------------- */

enum { IN = 5, H1 = 7, H2 = 6, OUT = 4, ROWS = 6 };
enum { COUNT = (IN + 1) * H1 + (H1 + 1) * H2 + (H2 + 1) * OUT };

static const int64_t width[] = { IN, H1, H2, OUT };
static const int32_t label[ROWS] = { 0, 1, 2, 3, 3, 1 };

typedef struct pass {
    double act[MT_MLP_LAYERS + 1][H1]; /* input, hidden, hidden, logits of one row */
    double margin;                     /* smallest |input| of a ReLU */
    bool magnitudes;                   /* sum |terms| instead of terms: bounds every intermediate value */
} pass;

static void forward_row(pass *p, const double *params, const float *x)
{
    for (int i = 0; i < IN; i++)
        p->act[0][i] = p->magnitudes ? fabs((double)x[i]) : x[i];
    for (int l = 0; l < MT_MLP_LAYERS; l++) {
        const double *w = params, *b = w + width[l] * width[l + 1];
        for (int64_t o = 0; o < width[l + 1]; o++) {
            double z = p->magnitudes ? fabs(b[o]) : b[o];
            for (int64_t i = 0; i < width[l]; i++)
                z += p->act[l][i] * (p->magnitudes ? fabs(w[i * width[l + 1] + o]) : w[i * width[l + 1] + o]);
            if (l < MT_MLP_LAYERS - 1) {
                p->margin = fmin(p->margin, fabs(z));
                z = fmax(z, 0);
            }
            p->act[l + 1][o] = z;
        }
        params = b + width[l + 1];
    }
}

static double mean_loss(const double *params, int64_t n, void *user)
{
    const float *x = user;
    double total = 0;
    (void)n;
    for (int r = 0; r < ROWS; r++) {
        pass p = { .margin = INFINITY };
        double sum = 0;
        forward_row(&p, params, x + r * IN);
        for (int c = 0; c < OUT; c++)
            sum += exp(p.act[MT_MLP_LAYERS][c]);
        total += log(sum) - p.act[MT_MLP_LAYERS][label[r]];
    }
    return total / ROWS;
}

/* A parameter's gradient sums, over rows, (input) * (output's gradient). Both are bounded by running the network on
 * magnitudes: forward without signs, and backward from 2 max|logit| + 1 per row and class, because an error e of a
 * logit changes its probability by at most 2e and the probabilities themselves are at most 1. A gradient is rounded at
 * most 2 (IN + H1 + H2) + 10 times in forward and softmax, 2 (OUT + H2 + ROWS) times in backward. */
static void tolerances(double *tolerance, const double *params, const float *x)
{
    double roundings = 2 * (IN + H1 + H2) + 2 * (OUT + H2 + ROWS) + 10 + 2 * MT_LIBM_ROUNDINGS;
    memset(tolerance, 0, COUNT * sizeof *tolerance);
    for (int r = 0; r < ROWS; r++) {
        pass p = { .margin = INFINITY, .magnitudes = true };
        double d[H1], before[H1], top = 0;
        forward_row(&p, params, x + r * IN);
        for (int c = 0; c < OUT; c++)
            top = fmax(top, p.act[MT_MLP_LAYERS][c]);
        for (int c = 0; c < OUT; c++)
            d[c] = (2 * top + 1) / ROWS;
        int64_t end = COUNT;
        for (int l = MT_MLP_LAYERS - 1; l >= 0; l--) {
            int64_t I = width[l], O = width[l + 1], w = end - (I + 1) * O;
            memset(before, 0, sizeof before);
            for (int64_t o = 0; o < O; o++) {
                tolerance[w + I * O + o] += mt_tolerance(roundings, d[o]);
                for (int64_t i = 0; i < I; i++) {
                    tolerance[w + i * O + o] += mt_tolerance(roundings, p.act[l][i] * d[o]);
                    before[i] += d[o] * fabs(params[w + i * O + o]);
                }
            }
            memcpy(d, before, sizeof d);
            end = w;
        }
    }
}

Test(manual_mlp, gradients_match_finite_differences)
{
    float *x = mt_test_uniform(1, ROWS * IN, -1, 1), *start = mt_test_uniform(2, COUNT, -0.7, 0.7);
    double at[COUNT], tolerance[COUNT], margin = INFINITY;
    mt_manual_mlp *mlp = mt_manual_mlp_new(width, ROWS + 3);
    cr_assert_eq(mlp->count, COUNT);
    memcpy(mlp->params, start, COUNT * sizeof *start);
    for (int i = 0; i < COUNT; i++) {
        at[i] = start[i];
        mlp->grads[i] = NAN; /* overwritten */
    }
    for (int r = 0; r < ROWS; r++) {
        pass p = { .margin = INFINITY };
        forward_row(&p, at, x + r * IN);
        margin = fmin(margin, p.margin);
    }
    /* A change of a parameter by 2h changes a ReLU's input by at most a few times 2h; with the seed above all inputs
     * are farther from 0 than that. */
    mt_function f = { mean_loss, x, 0x1p-13, 1e-14 };
    cr_assert(margin > 20 * f.step, "a ReLU sits at its corner (%g): choose another seed", margin);
    tolerances(tolerance, at, x);
    mt_manual_mlp_forward(mlp, x, ROWS);
    double loss = mt_manual_mlp_backward(mlp, x, label, ROWS);
    cr_assert_float_eq(loss, mean_loss(at, COUNT, x), mt_tolerance(100, 2), "loss %g", loss);
    must(mt_gradcheck("gradient", mlp->grads, &f, at, tolerance, COUNT));
    mt_manual_mlp_free(mlp);
    free(x), free(start);
}

/* The mean loss of a network of one layer, computed by the unit itself in f32. */
typedef struct regression {
    mt_manual_mlp *mlp;
    const float *x;
} regression;

static double regression_loss(const double *params, int64_t n, void *user)
{
    regression *r = user;
    for (int64_t i = 0; i < n; i++)
        r->mlp->params[i] = (float)params[i];
    mt_manual_mlp_forward(r->mlp, r->x, ROWS);
    return mt_manual_mlp_backward(r->mlp, r->x, label, ROWS);
}

/* Logits stay below 4 and losses below 8: a loss takes (IN + 1) roundings of a logit's terms, OUT + 3 libm + 5 of the
 * rest. Truncation of the differences: h^4 / 30 of a fifth derivative below 24, under 1e-6. */
Test(manual_mlp, one_layer_is_softmax_regression)
{
    static const int64_t flat[] = { IN, OUT, 0, 0 };
    enum { N = (IN + 1) * OUT };
    float *x = mt_test_uniform(1, ROWS * IN, -1, 1), *start = mt_test_uniform(2, N, -0.7, 0.7), grads[N];
    double at[N], tolerance[N], error = mt_tolerance(IN + OUT + 6 + 3 * MT_LIBM_ROUNDINGS, 8);
    regression r = { mt_manual_mlp_new(flat, ROWS), x };
    mt_function f = { regression_loss, &r, MT_STEP_F32, error };
    cr_assert(r.mlp->layers == 1 && r.mlp->classes == OUT && r.mlp->count == N);
    for (int i = 0; i < N; i++) {
        at[i] = start[i];
        tolerance[i] = error + 1e-6;
    }
    regression_loss(at, N, &r);
    memcpy(grads, r.mlp->grads, sizeof grads);
    must(mt_gradcheck("gradient", grads, &f, at, tolerance, N));
    mt_manual_mlp_free(r.mlp);
    free(x), free(start);
}

Test(manual_mlp, a_second_backward_gives_the_same_gradient)
{
    float *x = mt_test_uniform(1, ROWS * IN, -1, 1), first[COUNT];
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new(width, ROWS);
    mt_manual_mlp_init(mlp, &rng);
    for (int round = 0; round < 2; round++) {
        mt_manual_mlp_forward(mlp, x, ROWS);
        mt_manual_mlp_backward(mlp, x, label, ROWS);
        if (round == 0)
            memcpy(first, mlp->grads, sizeof first);
    }
    must(mt_compare_bits("grads", mlp->grads, first, COUNT));
    cr_assert_eq(mt_manual_mlp_backward(mlp, x, label, 0), 0);
    for (int i = 0; i < COUNT; i++)
        cr_assert_eq(mlp->grads[i], 0, "no rows, but grads[%d] = %g", i, (double)mlp->grads[i]);
    mt_manual_mlp_free(mlp);
    free(x);
}

Test(manual_mlp, sgd_steps_against_the_gradient)
{
    float before[COUNT];
    double want[COUNT], tolerance[COUNT];
    mt_rng rng = mt_rng_new(2, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new(width, 1);
    mt_manual_mlp_init(mlp, &rng);
    for (int i = 0; i < COUNT; i++) {
        before[i] = mlp->grads[i] = (float)(i % 7) - 3;
        want[i] = mlp->params[i] - 0.125 * before[i];
        tolerance[i] = mt_tolerance(2, fabs((double)mlp->params[i]) + 0.125 * fabs((double)before[i]));
    }
    mt_manual_mlp_sgd(mlp, 0.125f);
    must(mt_compare("params", mlp->params, want, tolerance, COUNT));
    must(mt_compare_bits("grads", mlp->grads, before, COUNT));
    mt_manual_mlp_free(mlp);
}

/* Both sum the same N products per weight, in a different order, and add the weight before or after: N + 2 roundings of
 * |w| + rate * sum |x dz|. A rate of 1/8 is exact. */
static void check_step(const mt_manual_mlp *stepped, const mt_manual_mlp *plain, const float *x, int64_t N)
{
    for (int l = 0; l < plain->layers; l++) {
        const float *in = l > 0 ? plain->act[l - 1] : x;
        int64_t I = plain->width[l], O = plain->width[l + 1];
        for (int64_t i = 0; i <= I; i++) /* row I is the bias: its input is 1 */
            for (int64_t o = 0; o < O; o++) {
                double magnitude = fabs((double)plain->w[l][i * O + o]);
                for (int64_t n = 0; n < N; n++)
                    magnitude += 0.125 * fabs((i < I ? (double)in[n * I + i] : 1) * (double)plain->dz[l][n * O + o]);
                cr_assert_leq(fabs((double)stepped->w[l][i * O + o] - (double)plain->w[l][i * O + o]),
                              mt_tolerance((double)N + 2, magnitude), "layer %d, row %d, column %d", l, (int)i, (int)o);
            }
    }
}

Test(manual_mlp, one_step_is_forward_backward_and_sgd)
{
    const int64_t shapes[2][MT_MLP_LAYERS + 1] = { { IN, H1, H2, OUT }, { IN, OUT } };
    float *x = mt_test_uniform(77, ROWS * IN, -1, 1);
    for (int s = 0; s < 2; s++) {
        mt_rng a = mt_rng_new(5, MT_STREAM_TEST), b = a;
        mt_manual_mlp *plain = mt_manual_mlp_new(shapes[s], ROWS), *stepped = mt_manual_mlp_new(shapes[s], ROWS);
        mt_manual_mlp_init(plain, &a);
        mt_manual_mlp_init(stepped, &b);
        mt_manual_mlp_forward(plain, x, ROWS);
        double loss = mt_manual_mlp_backward(plain, x, label, ROWS);
        mt_manual_mlp_sgd(plain, 0.125f);
        cr_assert_eq(mlp_step(stepped, x, label, ROWS, 0.125f, NULL), loss);
        check_step(stepped, plain, x, ROWS);
        cr_assert_eq(mlp_step(stepped, x, label, 0, 0.125f, NULL), 0, "no rows, no loss");
        check_step(stepped, plain, x, ROWS);
        mt_manual_mlp_free(plain);
        mt_manual_mlp_free(stepped);
    }
    free(x);
}

/* A ReLU that turns NaN into 0 hides it: the loss is finite although weights are NaN. */
Test(manual_mlp, a_step_does_not_lose_a_nan)
{
    float *x = mt_test_uniform(77, ROWS * IN, -1, 1);
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new(width, ROWS);
    mt_manual_mlp_init(mlp, &rng);
    x[IN + 2] = NAN;
    mt_manual_mlp_forward(mlp, x, ROWS);
    cr_assert(isnan(mt_manual_mlp_backward(mlp, x, label, ROWS)), "call by call");
    double loss = mlp_step(mlp, x, label, ROWS, 0.125f, NULL);
    cr_assert(isnan(loss), "at once: the loss is %g", loss);
    mt_manual_mlp_free(mlp);
    free(x);
}

Test(manual_mlp, init_is_he_with_zero_biases)
{
    static const int64_t wide[] = { 200, 300, 100, 10 };
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new(wide, 1);
    for (int64_t i = 0; i < mlp->count; i++)
        cr_assert_eq(mlp->params[i], 0);
    mt_manual_mlp_init(mlp, &rng);
    for (int l = 0; l < MT_MLP_LAYERS; l++) {
        int64_t n = wide[l] * wide[l + 1];
        double square = 0;
        for (int64_t i = 0; i < n; i++)
            square += (double)mlp->w[l][i] * mlp->w[l][i] / (double)n;
        /* five standard errors of a variance of normal samples */
        cr_assert_float_eq(square * (double)wide[l] / 2, 1, 5 * sqrt(2 / (double)n), "layer %d: %g", l, square);
        for (int64_t o = 0; o < wide[l + 1]; o++)
            cr_assert_eq(mlp->b[l][o], 0);
    }
    mt_manual_mlp_free(mlp);
}

/* ---- training ------------------------------------------------------------------------------------ */

/* Three arms of a spiral, a third of a turn apart: they are not linearly separable. */
enum { POINTS = 300, ARMS = 3 };

static void make_spiral(float *x, int32_t *arm)
{
    for (int i = 0; i < POINTS; i++) {
        double t = (double)(i / ARMS) / (POINTS / ARMS - 1), angle = 4 * t + 2 * M_PI / ARMS * (i % ARMS);
        arm[i] = i % ARMS;
        x[2 * i] = (float)((0.1 + t) * cos(angle));
        x[2 * i + 1] = (float)((0.1 + t) * sin(angle));
    }
}

static int count_right(mt_manual_mlp *mlp, const float *x, const int32_t *arm)
{
    const float *logits = mt_manual_mlp_forward(mlp, x, POINTS);
    int right = 0;
    for (int i = 0; i < POINTS; i++) {
        int best = 0;
        for (int c = 1; c < ARMS; c++)
            if (logits[i * ARMS + c] > logits[i * ARMS + best])
                best = c;
        right += best == arm[i];
    }
    return right;
}

static void check_learning(const int64_t *spiral_width)
{
    float x[2 * POINTS];
    int32_t arm[POINTS];
    mt_rng rng = mt_rng_new(4, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new(spiral_width, POINTS);
    mt_manual_mlp_init(mlp, &rng);
    make_spiral(x, arm);
    int before = count_right(mlp, x, arm);
    cr_assert(before < POINTS * 3 / 4, "already %d right before training", before);
    for (int step = 0; step < 3000; step++) {
        mt_manual_mlp_forward(mlp, x, POINTS);
        mt_manual_mlp_backward(mlp, x, arm, POINTS);
        mt_manual_mlp_sgd(mlp, 0.3f);
    }
    int right = count_right(mlp, x, arm);
    cr_assert(right * 100 >= 99 * POINTS, "%d of %d right", right, POINTS);
    mt_manual_mlp_free(mlp);
}

Test(manual_mlp, learns_a_spiral_with_one_and_two_hidden_layers)
{
    static const int64_t two[] = { 2, 32, 32, ARMS }, one[] = { 2, 64, ARMS, 0 };
    check_learning(two);
    check_learning(one);
}

Test(manual_mlp, same_bits_for_any_thread_count)
{
    static const int64_t mnist[] = { 784, 256, 128, 10 };
    enum { BATCH = 64 };
    float *x = mt_test_uniform(5, BATCH * 784, 0, 1), *first = NULL;
    int32_t digit[BATCH];
    for (int i = 0; i < BATCH; i++)
        digit[i] = i % 10;
    for (int threads = 1; threads <= 4; threads++) {
        mt_rng rng = mt_rng_new(6, MT_STREAM_TEST);
        mt_manual_mlp *mlp = mt_manual_mlp_new(mnist, BATCH);
        omp_set_num_threads(threads);
        mt_manual_mlp_init(mlp, &rng);
        for (int step = 0; step < 3; step++) {
            mt_manual_mlp_forward(mlp, x, BATCH);
            mt_manual_mlp_backward(mlp, x, digit, BATCH);
            mt_manual_mlp_sgd(mlp, 0.1f);
        }
        if (!first) {
            first = malloc((size_t)mlp->count * sizeof *first);
            memcpy(first, mlp->params, (size_t)mlp->count * sizeof *first);
        }
        must(mt_compare_bits("params", mlp->params, first, mlp->count));
        mt_manual_mlp_free(mlp);
    }
    free(x), free(first);
}

Test(manual_mlp, too_large_a_batch_aborts, .signal = SIGABRT)
{
    mt_manual_mlp_forward(mt_manual_mlp_new(width, 2), NULL, 3);
}

Test(manual_mlp, an_empty_layer_aborts, .signal = SIGABRT)
{
    static const int64_t empty[] = { 2, 0, 3, 1 };
    mt_manual_mlp_new(empty, 1);
}

Test(manual_mlp, no_layer_aborts, .signal = SIGABRT)
{
    static const int64_t none[] = { 2, 0, 0, 0 };
    mt_manual_mlp_new(none, 1);
}
