/* op_oracles.c -- the oracles of op_oracles.h, each written from the op's formula. */
#include "testing/op_oracles.h"

#include <stdlib.h>

static int64_t count(mt_shape shape)
{
    int64_t n = 1;
    for (int d = 0; d < shape.rank; d++)
        n *= shape.dim[d];
    return n;
}

/* The index of element n of shape. */
static void unravel(mt_shape shape, int64_t n, int64_t *index)
{
    for (int d = shape.rank - 1; d >= 0; d--) {
        index[d] = n % shape.dim[d];
        n /= shape.dim[d];
    }
}

static int64_t ravel(mt_shape shape, const int64_t *index)
{
    int64_t n = 0;
    for (int d = 0; d < shape.rank; d++)
        n = n * shape.dim[d] + index[d];
    return n;
}

/* The element of `from` that element n of `to` is, when from is stretched to it. */
static int64_t stretched(mt_shape from, mt_shape to, int64_t n)
{
    int64_t index[MT_MAX_RANK], own[MT_MAX_RANK];
    unravel(to, n, index);
    for (int d = 0; d < from.rank; d++)
        own[d] = from.dim[d] == 1 ? 0 : index[d + to.rank - from.rank];
    return ravel(from, own);
}

/* A sum of n products (b NULL: of n numbers) in any order: at most n + 1 roundings of each term. */
static mt_approx dot(const mt_approx *a, int64_t step_a, const mt_approx *b, int64_t step_b, int64_t n)
{
    double value = 0, error = 0, magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        mt_approx x = a[i * step_a], y = b ? b[i * step_b] : mt_approx_exact(1);
        value += x.value * y.value;
        magnitude += fabs(x.value * y.value);
        error += fabs(x.value) * y.error + fabs(y.value) * x.error + x.error * y.error;
    }
    return (mt_approx){ value, error + mt_tolerance((double)n + 1, magnitude) };
}

/* ---- element by element ------------------------------------------------------------------------------ */

typedef mt_approx binary_fn(mt_approx a, mt_approx b);

static void binary(mt_approx *out, const mt_approx *const *in, const mt_op_case *c, binary_fn *fn)
{
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = fn(in[0][stretched(c->in[0], c->out, n)], in[1][stretched(c->in[1], c->out, n)]);
}

/* A function of an exact x: its value, and the magnitude that its roundings apply to. */
typedef struct function_value {
    double value, magnitude;
} function_value;

typedef function_value unary_fn(double x);

static void unary(mt_approx *out, const mt_approx *const *in, const mt_op_case *c, double roundings, unary_fn *fn)
{
    for (int64_t n = 0; n < count(c->out); n++) {
        function_value f = fn(in[0][n].value);
        out[n] = (mt_approx){ f.value, mt_tolerance(roundings, f.magnitude) };
    }
}

#define BINARY(name)                                                                       \
    void mt_oracle_##name(mt_approx *out, const mt_approx *const *in, const mt_op_case *c) \
    {                                                                                      \
        binary(out, in, c, mt_approx_##name);                                              \
    }
#define UNARY(name, roundings, expression, size)                                           \
    static function_value name##_value(double x)                                           \
    {                                                                                      \
        return (function_value){ expression, size };                                       \
    }                                                                                      \
    void mt_oracle_##name(mt_approx *out, const mt_approx *const *in, const mt_op_case *c) \
    {                                                                                      \
        unary(out, in, c, roundings, name##_value);                                        \
    }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)
UNARY(scale, 1, (double)MT_CASE_FACTOR *x, fabs((double)MT_CASE_FACTOR *x))
UNARY(neg, 0, -x, 0)
UNARY(exp, MT_LIBM_ROUNDINGS, exp(x), exp(x))
UNARY(log, MT_LIBM_ROUNDINGS, log(x), fabs(log(x)))
UNARY(sqrt, 1, sqrt(x), sqrt(x))
UNARY(relu, 0, x > 0 ? x : 0, 0)
UNARY(sigmoid, MT_LIBM_ROUNDINGS + 3, 1 / (1 + exp(-x)), 1 / (1 + exp(-x)))
UNARY(tanh, MT_LIBM_ROUNDINGS, tanh(x), fabs(tanh(x)))

/* 1 + erf, and 1 + tanh, cancel for negative x; what is rounded is of size |x|. The argument of tanh is rounded too. */
static double inner(double x)
{
    return sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x);
}
UNARY(gelu, MT_LIBM_ROUNDINGS + 6, x / 2 * (1 + erf(x / sqrt(2))), fabs(x))
UNARY(gelu_tanh, MT_LIBM_ROUNDINGS + 10, x / 2 * (1 + tanh(inner(x))), fabs(x) * (1 + fabs(inner(x))))

void mt_oracle_dropout(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t n = count(c->out);
    float *u = malloc((size_t)(n + 1) * sizeof *u);
    MT_CHECK(u, "out of memory");
    double p = (double)c->arg[0] / 8;
    mt_rng rng = MT_CASE_RNG;
    mt_rng_fill_uniform(&rng, u, n, 0, 1);
    for (int64_t i = 0; i < n; i++)
        out[i] = u[i] < (float)p ? mt_approx_exact(0)
                                 : mt_approx_div(in[0][i], mt_approx_sub(mt_approx_exact(1), mt_approx_exact(p)));
    free(u);
}

/* ---- reductions ------------------------------------------------------------------------------------------ */

void mt_oracle_sum(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    out[0] = dot(in[0], 1, NULL, 0, count(c->in[0]));
}

void mt_oracle_mean(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    mt_oracle_sum(out, in, c);
    out[0] = mt_approx_div(out[0], mt_approx_exact((double)count(c->in[0])));
}

/* Elements between neighbours along dim, and of element n of the output the first that it is made of. */
static int64_t line(const mt_op_case *c, int64_t n, int64_t *step)
{
    int dim = (int)c->arg[0];
    *step = 1;
    for (int d = dim + 1; d < c->in[0].rank; d++)
        *step *= c->in[0].dim[d];
    return n / *step * *step * c->in[0].dim[dim] + n % *step;
}

void mt_oracle_sum_dim(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t step;
    for (int64_t n = 0; n < count(c->out); n++) {
        int64_t first = line(c, n, &step);
        out[n] = dot(in[0] + first, step, NULL, 0, c->in[0].dim[c->arg[0]]);
    }
}

void mt_oracle_max_dim(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t step;
    for (int64_t n = 0; n < count(c->out); n++) {
        int64_t first = line(c, n, &step);
        out[n] = in[0][first];
        for (int64_t i = 1; i < c->in[0].dim[c->arg[0]]; i++)
            out[n] = mt_approx_max(out[n], in[0][first + i * step]);
    }
}

/* ---- elements elsewhere --------------------------------------------------------------------------------- */

void mt_oracle_same_order(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = in[0][n];
}

void mt_oracle_permute(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t index[MT_MAX_RANK], own[MT_MAX_RANK];
    for (int64_t n = 0; n < count(c->out); n++) {
        unravel(c->out, n, index);
        for (int d = 0; d < c->out.rank; d++)
            own[c->arg[d]] = index[d];
        out[n] = in[0][ravel(c->in[0], own)];
    }
}

void mt_oracle_slice(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t index[MT_MAX_RANK];
    for (int64_t n = 0; n < count(c->out); n++) {
        unravel(c->out, n, index);
        index[c->arg[0]] = c->arg[1] + index[c->arg[0]] * c->arg[3];
        out[n] = in[0][ravel(c->in[0], index)];
    }
}

void mt_oracle_broadcast(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = in[0][stretched(c->in[0], c->out, n)];
}

void mt_oracle_concat(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t index[MT_MAX_RANK], dim = c->arg[0];
    for (int64_t n = 0; n < count(c->out); n++) {
        int part = 0;
        unravel(c->out, n, index);
        while (index[dim] >= c->in[part].dim[dim])
            index[dim] -= c->in[part++].dim[dim];
        out[n] = in[part][ravel(c->in[part], index)];
    }
}

void mt_oracle_gather(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t C = c->in[0].dim[1];
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = in[0][(int64_t)in[1][n / C].value * C + n % C];
}

/* ---- layers ------------------------------------------------------------------------------------------------ */

void mt_oracle_matmul(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    mt_shape a = c->in[0], b = c->in[1];
    int64_t M = a.dim[a.rank - 2], K = a.dim[a.rank - 1], N = b.dim[b.rank - 1];
    for (int64_t n = 0; n < count(c->out); n++) {
        int64_t batch = n / (M * N), i = n / N % M, j = n % N;
        out[n] = dot(in[0] + (batch * M + i) * K, 1, in[1] + (b.rank == 2 ? 0 : batch * K * N) + j, N, K);
    }
}

void mt_oracle_linear(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t I = c->in[1].dim[0], O = c->in[1].dim[1];
    for (int64_t n = 0; n < count(c->out); n++) {
        out[n] = dot(in[0] + n / O * I, 1, in[1] + n % O, O, I);
        if (c->inputs == 3)
            out[n] = mt_approx_add(out[n], in[2][n % O]);
    }
}

static mt_approx exp_of(mt_approx x)
{
    double value = exp(x.value);
    return (mt_approx){ value, value * expm1(x.error) + mt_tolerance(MT_LIBM_ROUNDINGS, value) };
}

/* p = exp(x - max), unnormalised; returns their sum. */
static mt_approx exponentials(mt_approx *p, const mt_approx *x, int64_t C, mt_approx *max)
{
    *max = x[0];
    for (int64_t i = 1; i < C; i++)
        *max = mt_approx_max(*max, x[i]);
    for (int64_t i = 0; i < C; i++)
        p[i] = exp_of(mt_approx_sub(x[i], *max));
    return dot(p, 1, NULL, 0, C);
}

void mt_oracle_softmax(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t C = c->out.dim[c->out.rank - 1];
    for (int64_t n = 0; n < count(c->out); n += C) {
        mt_approx max, sum = exponentials(out + n, in[0] + n, C, &max);
        for (int64_t i = 0; i < C; i++)
            out[n + i] = mt_approx_div(out[n + i], sum);
    }
}

void mt_oracle_cross_entropy(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t N = c->in[0].dim[0], C = c->in[0].dim[1];
    mt_approx *p = malloc((size_t)(N + C) * sizeof *p), *loss = p + C;
    MT_CHECK(p, "out of memory");
    for (int64_t n = 0; n < N; n++) {
        mt_approx max, sum = exponentials(p, in[0] + n * C, C, &max);
        mt_approx log_sum = { log(sum.value),
                              sum.error / (sum.value - sum.error) + mt_tolerance(MT_LIBM_ROUNDINGS, log(sum.value)) };
        loss[n] = mt_approx_add(mt_approx_sub(max, in[0][n * C + (int64_t)in[1][n].value]), log_sum);
    }
    out[0] = mt_approx_div(dot(loss, 1, NULL, 0, N), mt_approx_exact((double)N));
    free(p);
}

void mt_oracle_layernorm(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t C = c->out.dim[c->out.rank - 1];
    mt_approx size = mt_approx_exact((double)C), eps = mt_approx_exact(MT_CASE_EPS);
    for (int64_t n = 0; n < count(c->out); n += C) {
        mt_approx mean = mt_approx_div(dot(in[0] + n, 1, NULL, 0, C), size);
        for (int64_t i = 0; i < C; i++)
            out[n + i] = mt_approx_sub(in[0][n + i], mean);
        mt_approx variance = mt_approx_div(dot(out + n, 1, out + n, 1, C), size);
        mt_approx deviation = mt_approx_sqrt(mt_approx_add(variance, eps));
        for (int64_t i = 0; i < C; i++)
            out[n + i] = mt_approx_add(mt_approx_mul(mt_approx_div(out[n + i], deviation), in[1][i]), in[2][i]);
    }
}

/* GELU of a sum with an error: no slope of GELU is above 1.13. */
static void gelu_of(mt_op_oracle *sum, mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    mt_approx *z = malloc((size_t)mt_max(count(c->out), 1) * sizeof *z);
    MT_CHECK(z, "out of memory");
    sum(z, in, c);
    mt_oracle_gelu_tanh(out, (const mt_approx *const[]){ z }, c);
    for (int64_t i = 0; i < count(c->out); i++)
        out[i].error += 1.13 * z[i].error;
    free(z);
}

void mt_oracle_linear_gelu(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    gelu_of(mt_oracle_linear, out, in, c);
}

/* ---- GPT-2 ----------------------------------------------------------------------------------------------------- */

void mt_oracle_embedding(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t T = c->out.dim[1], C = c->out.dim[2];
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = mt_approx_add(in[0][(int64_t)in[2][n / C].value * C + n % C], in[1][n / C % T * C + n % C]);
}

/* Element d of one query: all its scores are made again, which is slow and plain. */
static mt_approx attended(const mt_approx *sample, int64_t C, int64_t D, int64_t h, int64_t t, int64_t d, mt_approx *p)
{
    mt_approx max, size = mt_approx_sqrt(mt_approx_exact((double)D));
    for (int64_t j = 0; j <= t; j++)
        p[j] = mt_approx_div(dot(sample + t * 3 * C + h * D, 1, sample + (j * 3 + 1) * C + h * D, 1, D), size);
    mt_approx sum = exponentials(p, p, t + 1, &max);
    return mt_approx_div(dot(p, 1, sample + 2 * C + h * D + d, 3 * C, t + 1), sum);
}

void mt_oracle_attention(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t T = c->out.dim[1], C = c->out.dim[2], D = C / c->arg[0];
    mt_approx *p = malloc((size_t)(T + 1) * sizeof *p);
    MT_CHECK(p, "out of memory");
    for (int64_t n = 0; n < count(c->out); n++)
        out[n] = attended(in[0] + n / (T * C) * T * 3 * C, C, D, n % C / D, n / C % T, n % D, p);
    free(p);
}

void mt_oracle_classifier(mt_approx *out, const mt_approx *const *in, const mt_op_case *c)
{
    int64_t N = mt_shape_numel(c->in[2]), C = c->in[1].dim[1], V = c->arg[0];
    mt_approx *logits = malloc((size_t)(N * V) * sizeof *logits);
    MT_CHECK(logits, "out of memory");
    for (int64_t n = 0; n < N * V; n++)
        logits[n] = dot(in[0] + n / V * C, 1, in[1] + n % V * C, 1, C);
    const mt_op_case loss = { .in = { MT_SHAPE(N, V) } };
    mt_oracle_cross_entropy(out, (const mt_approx *[]){ logits, in[2] }, &loss);
    free(logits);
}
