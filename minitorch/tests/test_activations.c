/* test_activations.c -- every activation, forward and backward, by one table: the same function in double, what
 * backward saves, and how many roundings an element sees.
 *
 * Tolerances: an element is rounded `roundings` times (counted from the formula in the unit, calls of the C library
 * as MT_LIBM_ROUNDINGS); the magnitude is 1 + |x|, which bounds every intermediate value that is added. */
#include "kernels/kernels.h"
#include "testing/gradcheck.h"
#include "tests/must.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

static double relu(double x)
{
    return fmax(x, 0);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
    return x * 0.5 * erfc(-x * M_SQRT1_2);
}

static double gelu_tanh(double x)
{
    return x / 2 * (1 + tanh(sqrt(M_2_PI) * (x + 0.044715 * x * x * x)));
}

typedef struct activation {
    const char *name;
    mt_unary_fwd_fn *fwd;
    mt_unary_bwd_fn *bwd;
    double (*exact)(double x);
    bool saves_input;
    double roundings; /* of forward and of backward's slope; see the top */
} activation;

/* ReLU rounds only in the final addition. GELU by tanh: where tanh is not flat (|x| < 4), x u' / (1 + |x|) < 2, so
 * tanh's error enters the slope with a factor of at most 2 * 2 / 2, and the 6 roundings of u, reduced by tanh, less
 * than once. */
static const activation table[] = {
    { "relu", mt_relu_fwd_cpu, mt_relu_bwd_cpu, relu, false, 1 },
    { "sigmoid", mt_sigmoid_fwd_cpu, mt_sigmoid_bwd_cpu, sigmoid, false, MT_LIBM_ROUNDINGS + 4 },
    { "tanh", mt_tanh_fwd_cpu, mt_tanh_bwd_cpu, tanh, false, 2 * MT_LIBM_ROUNDINGS + 3 },
    { "gelu", mt_gelu_fwd_cpu, mt_gelu_bwd_cpu, gelu, true, 2 * MT_LIBM_ROUNDINGS + 8 },
    { "gelu_tanh", mt_gelu_tanh_fwd_cpu, mt_gelu_tanh_bwd_cpu, gelu_tanh, true, 2 * MT_LIBM_ROUNDINGS + 8 },
};

static const int64_t sizes[] = { 0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 1021, 40009 }; /* the last wakes all threads */

static float *copy(const float *a, int64_t n)
{
    float *c = malloc((size_t)(n + 1) * sizeof *c);
    memcpy(c, a, (size_t)(n + 1) * sizeof *c);
    return c;
}

static const char *check_forward(const activation *a, const float *got, const float *x, int64_t n)
{
    double *want = malloc((size_t)(n + 1) * sizeof *want), *tolerance = malloc((size_t)(n + 1) * sizeof *tolerance);
    for (int64_t i = 0; i < n; i++) {
        want[i] = a->exact(x[i]);
        tolerance[i] = mt_tolerance(a->roundings, 1 + fabs(x[i]));
    }
    const char *words = mt_compare(a->name, got, want, tolerance, n);
    free(want), free(tolerance);
    return words;
}

Test(activations, forward_matches_the_oracle_in_place_too)
{
    for (const activation *a = table; a < table + MT_COUNT(table); a++) {
        for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
            int64_t n = sizes[s];
            float *x = mt_test_uniform(1, n, -8, 8), *out = copy(x, n);
            for (int64_t i = 0; i <= n; i++)
                out[i] = NAN;
            a->fwd(out, x, n);
            must(check_forward(a, out, x, n));
            cr_assert(isnan(out[n]), "%s wrote past the end", a->name);
            float *both = copy(x, n);
            a->fwd(both, both, n);
            must(mt_compare_bits(a->name, both, out, n));
            free(x), free(out), free(both);
        }
    }
}

/* One element: dout times the function, whose derivative backward adds. */
typedef struct element {
    const activation *a;
    double dout;
} element;

static double element_value(const double *x, int64_t n, void *user)
{
    const element *e = user;
    (void)n;
    return e->dout * e->a->exact(*x);
}

static const char *check_backward(const activation *a, const float *got, const float *start, const float *dout,
                                  const float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        /* The value is below 1.5 (1 + |x|), so 1e-15 of that covers the libraries' few units in the last place. */
        element e = { a, dout[i] };
        mt_function f = { element_value, &e, MT_STEP_F64, 1e-15 * (1 + fabs(x[i])) };
        double at = x[i], slope;
        mt_numeric_grad(&slope, &f, &at, 1);
        double want = start[i] + slope;
        double tolerance = mt_tolerance(a->roundings + 3, fabs((double)start[i]) + (1 + fabs(x[i])) * fabs(dout[i])) +
                           1.5 * f.error / f.step;
        const char *words = mt_compare(a->name, got + i, &want, &tolerance, 1);
        if (words)
            return words;
    }
    return NULL;
}

/* Keep x so far from 0 that no finite difference crosses ReLU's kink. */
static void avoid_corner(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (fabsf(x[i]) < 0.01f)
            x[i] = 0.01f;
}

Test(activations, backward_matches_finite_differences_and_adds)
{
    for (const activation *a = table; a < table + MT_COUNT(table); a++) {
        for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
            int64_t n = sizes[s];
            float *x = mt_test_uniform(2, n, -6, 6), *dout = mt_test_uniform(3, n, -1, 1);
            float *start = mt_test_uniform(4, n, -1, 1), *dx = copy(start, n), *out = copy(x, n);
            avoid_corner(x, n);
            a->fwd(out, x, n);
            a->bwd(dx, dout, a->saves_input ? x : out, n);
            must(check_backward(a, dx, start, dout, x, n));
            must(mt_compare_bits(a->name, dx + n, start + n, 1)); /* nothing past the end */
            free(x), free(dout), free(start), free(dx), free(out);
        }
    }
}

Test(activations, extremes_saturate)
{
    static const float far[] = { -FLT_MAX, -1e30f, -200, -88, -0.0f, 0, 88, 200, 1e30f, FLT_MAX };
    for (const activation *a = table; a < table + MT_COUNT(table); a++) {
        for (int64_t i = 0; i < MT_COUNT(far); i++) {
            float out = NAN;
            a->fwd(&out, &far[i], 1);
            cr_assert(isfinite(out), "%s(%g) = %g", a->name, (double)far[i], (double)out);
            must(check_forward(a, &out, &far[i], 1));
        }
    }
    float tiny, x = -80;
    mt_sigmoid_fwd_cpu(&tiny, &x, 1);
    cr_assert_float_eq(tiny / 1.8048513878454153e-35, 1, 1e-6, "sigmoid(-80) = %g keeps its digits", (double)tiny);
}

Test(activations, slopes_vanish_far_away)
{
    for (const activation *a = table + 1; a < table + MT_COUNT(table); a++) {
        float x = -30, dout = 1, dx = 0.25f, out;
        a->fwd(&out, &x, 1);
        a->bwd(&dx, &dout, a->saves_input ? &x : &out, 1);
        cr_assert_eq(dx, 0.25f, "%s: %g", a->name, (double)dx);
    }
}

Test(activations, nan_stays_nan)
{
    for (const activation *a = table; a < table + MT_COUNT(table); a++) {
        float x[33], out[33];
        for (int i = 0; i < 33; i++)
            x[i] = i % 4 == 0 ? NAN : (float)(i - 16);
        a->fwd(out, x, 33);
        for (int i = 0; i < 33; i++)
            cr_assert_eq(!!isnan(out[i]), i % 4 == 0, "%s: out[%d] = %g", a->name, i, (double)out[i]);
    }
}

Test(activations, relu_backward_reads_input_or_output_and_is_off_at_zero)
{
    float x[] = { -1, 0, 2, -0.0f, 1e-40f }, out[5], dout[] = { 1, 2, 4, 8, 16 };
    float from_x[5] = { 100, 100, 100, 100, 100 }, from_out[5] = { 100, 100, 100, 100, 100 };
    static const float want[5] = { 100, 100, 104, 100, 116 };
    mt_relu_fwd_cpu(out, x, 5);
    mt_relu_bwd_cpu(from_x, dout, x, 5);
    mt_relu_bwd_cpu(from_out, dout, out, 5);
    must(mt_compare_bits("dx from x", from_x, want, 5));
    must(mt_compare_bits("dx from out", from_out, want, 5));
}

Test(activations, same_bits_for_any_thread_count)
{
    enum { n = 100003 };
    float *x = mt_test_uniform(5, n, -6, 6), *dout = mt_test_uniform(6, n, -1, 1);
    float *first = malloc(2 * n * sizeof *first), *now = malloc(2 * n * sizeof *now);
    for (const activation *a = table; a < table + MT_COUNT(table); a++) {
        for (int threads = 1; threads <= 4; threads++) {
            float *to = threads == 1 ? first : now;
            omp_set_num_threads(threads);
            memset(to, 0, 2 * n * sizeof *to);
            a->fwd(to, x, n);
            a->bwd(to + n, dout, a->saves_input ? x : to, n);
            if (threads > 1)
                must(mt_compare_bits(a->name, now, first, 2 * n));
        }
    }
    free(x), free(dout), free(first), free(now);
}

/* As PyTorch's: the gradient is 0 where the unit is off, and only there. */
Test(activations, relu_backward_passes_the_gradient_of_nan)
{
    const float saved[4] = { NAN, -1, 0, 2 }, dout[4] = { 3, NAN, NAN, 5 };
    float dx[4] = { 0 };
    mt_relu_bwd_cpu(dx, dout, saved, 4);
    cr_assert(dx[0] == 3 && dx[1] == 0 && dx[2] == 0 && dx[3] == 5, "%g %g %g %g", (double)dx[0], (double)dx[1],
              (double)dx[2], (double)dx[3]);
}
