/* 07-run.c -- how the checks of lab 07 run: products of awkward sizes, counts, the linear layer. The rows and their
 * points are in 07-matmul.c. */
#include "checks/07-matmul.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "checks/product.h"
#include "rows/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- one product ---------------------------------------------------------------------------- */

static double element(const float *x, int64_t ld, mt_trans trans, int64_t i, int64_t j)
{
    return fabs((double)x[trans ? j * ld + i : i * ld + j]);
}

/* Adds the effect of rounding the operands to 16 bits to the tolerance: a relative error of `unit` each, or 2^-25 below
 * the smallest normal f16. Second order: unit^2 < unit / 100. */
static void allow_rounding(double *tolerance, const mg_product *p, double unit)
{
    const mt_matmul_dims *d = &p->dims;
    for (int64_t i = 0; i < d->M; i++)
        for (int64_t j = 0; j < d->N; j++)
            for (int64_t k = 0; k < d->K; k++) {
                double a = element(p->a, d->lda, d->trans_a, i, k), b = element(p->b, d->ldb, d->trans_b, k, j);
                tolerance[i * d->ldc + j] += 2.01 * unit * a * b + 0x1p-25 * (a + b);
            }
}

static bool expect(mg_run *run, const mg_product *p, double unit)
{
    if (unit == 0)
        return mg_product_expect(run, p, NULL);
    int64_t count = mg_product_span(&p->dims);
    double *want = mg_doubles(count), *tolerance = mg_doubles(count);
    mg_oracle_matmul(want, tolerance, p->c0, p->a, p->b, &p->dims);
    allow_rounding(tolerance, p, unit);
    bool good = mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

/* Multiplies A by so much: 2^50 is far outside the range of f16, but not of bf16. */
static void scale(const mg_product *p, float by)
{
    const mt_matmul_dims *d = &p->dims;
    float *a = (float *)p->a; /* memory of the run, not yet sent */
    for (int64_t i = 0; i < d->M && by != 1; i++)
        for (int64_t k = 0; k < d->K; k++)
            a[d->trans_a ? k * d->lda + i : i * d->lda + k] *= by;
}

static bool check_product(mg_run *run, const char *function, mt_matmul_dims dims, double unit, float by)
{
    mg_product p = { .dims = dims };
    mg_product_describe(run, function, &p);
    scale(&p, by);
    return mg_call(run) && expect(run, &p, unit);
}

/* A column of A is 0, and the row of B that it meets has a NaN: 0 times NaN is NaN, in a whole column of C. */
static bool zero_times_nan(mg_run *run, const char *function, double unit)
{
    enum { M = 7, N = 6, K = 5, k = 2, j = 3 };
    mg_product p = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_NO_TRANS) };
    mg_product_describe(run, function, &p);
    float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
    for (int64_t i = 0; i < M; i++)
        a[i * K + k] = 0;
    double *want = mg_doubles(M * N), *tolerance = mg_doubles(M * N);
    mg_oracle_matmul(want, tolerance, p.c0, p.a, p.b, &p.dims);
    allow_rounding(tolerance, &p, unit);
    b[k * N + j] = NAN;
    for (int64_t i = 0; i < M; i++)
        want[i * N + j] = NAN;
    bool good = mg_call(run);
    if (good && mg_wrong(run, "c", j, NAN, 0))
        mg_hint(run, "an element of A that is 0 counts too: 0 times NaN is NaN");
    good = good && mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

/* ---- rows of values ------------------------------------------------------------------------- */

/* Sizes that every row tries, -1 for a random one: 0, 1, the sizes of a warp and of every tile plus and minus
 * one, and each dimension once much longer than the others. K = 0 comes twice, the second time adding to C. */
static const int64_t shapes[][3] = {
    /* M, N, K */
    { 1, 1, 1 },   { 0, 5, 7 },   { 5, 0, 7 },    { 6, 5, 0 },      { -1, -1, -1 },  { 5, 6, 0 },    { 1, -1, -1 },
    { -1, 1, -1 }, { -1, -1, 1 }, { 16, 16, 16 }, { 31, 33, 17 },   { 32, 64, 127 }, { 65, 31, 33 }, { 127, 65, 8 },
    { 3, 301, 5 }, { 263, 3, 5 }, { 5, 7, 517 },  { 129, 131, 36 }, { -1, -1, -1 },
};

static int64_t size_or_random(mt_rng *rng, int64_t size)
{
    return size >= 0 ? size : mg_pick_size(rng, 1, 70);
}

static mt_matmul_dims vary(mt_rng *rng, ladder_about about, const int64_t shape[3], int t)
{
    int64_t M = size_or_random(rng, shape[0]), N = size_or_random(rng, shape[1]), K = size_or_random(rng, shape[2]);
    int trans = about == LD_TRANS ? 1 + t % 3 : about == LD_STRIDES ? t % 4 : 0;
    mt_matmul_dims d = mg_product_tight(M, N, K, trans & 1, trans >> 1);
    if (about == LD_STRIDES) {
        d.lda += mg_pick(rng, 1, 9);
        d.ldb += mg_pick(rng, 1, 9);
        d.ldc += mg_pick(rng, 1, 9);
        d.write = t / 4 % 2 ? MT_ACCUMULATE : MT_OVERWRITE;
    }
    return d;
}

/* Whole sixteenths up to 3, in every 16-bit type: products are whole 256ths, and 1,000 of them exact in f32, in any
 * order. In f16 a sum of 64 or more has steps of a 16th. */
static void exact_sums(mg_run *run, const char *function)
{
    mg_product p = { .dims = mg_product_tight(40, 33, 1000, MT_NO_TRANS, MT_NO_TRANS) };
    mg_product_describe(run, function, &p);
    float *x[] = { (float *)p.a, (float *)p.b }; /* memory of the run, not yet sent */
    const int64_t count[] = { 40 * 1000, 1000 * 33 };
    for (int o = 0; o < 2; o++)
        for (int64_t i = 0; i < count[o]; i++)
            x[o][i] = (float)(mt_rng_below(mg_rng(run), 97) - 48) / 16;
    double *want = mg_doubles(40 * 33), *tolerance = mg_doubles(40 * 33);
    mg_oracle_matmul(want, tolerance, p.c0, p.a, p.b, &p.dims);
    if (mg_call(run))
        mg_expect(run, "c", want, NULL);
    free(want);
    free(tolerance);
}

/* Rows of 1, 2 or 3 floats more than whole groups of four, each at a multiple of 16 bytes: NaN lies behind them. */
static mt_matmul_dims vary_groups(int64_t rest, int t)
{
    mt_matmul_dims d = mg_product_tight(4 + rest, 8 + rest, 12 + rest, t & 1, t >> 1 & 1);
    d.lda = (d.lda | 3) + 1;
    d.ldb = (d.ldb | 3) + 1;
    d.ldc = (d.ldc | 3) + 1;
    d.write = rest % 2 ? MT_OVERWRITE : MT_ACCUMULATE;
    return d;
}

/* One row of one operand or of the result, and the next would be 2^32 numbers further. */
static mt_matmul_dims long_rows(int operand)
{
    mt_matmul_dims d = mg_product_tight(1, 5, 1, MT_NO_TRANS, MT_NO_TRANS);
    *(operand == 0 ? &d.lda : operand == 1 ? &d.ldb : &d.ldc) = INT64_C(1) << 32;
    return d;
}

/* x 1 and 1 x: what f16 cannot hold is infinite, and its least numbers, 2^-24 and some more, do not become 0. */
static bool ends_of_f16(mg_run *run, const char *function)
{
    enum { SIZE = 5 };
    static const float x[SIZE] = { 70000, -70000, 65504, 0x1.02p-16f, 0x1p-24f };
    bool good = true;
    mg_hint(run, "operands become f16 by __float2half or half(x): infinite beyond 65504, and not 0 below 2^-14");
    for (int o = 0; o < 2 && good; o++) {
        mg_product p = { .dims = mg_product_tight(SIZE, SIZE, 1, MT_NO_TRANS, MT_NO_TRANS) };
        mg_product_describe(run, function, &p);
        float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
        double want[SIZE * SIZE];
        for (int i = 0; i < SIZE; i++) {
            a[i] = o ? 1 : x[i];
            b[i] = o ? x[i] : 1;
        }
        for (int i = 0; i < SIZE * SIZE; i++) {
            float factor = x[o ? i % SIZE : i / SIZE];
            want[i] = fabsf(factor) > 65504 ? copysign(INFINITY, factor) : factor;
        }
        good = mg_call(run) && mg_expect(run, "c", want, NULL);
    }
    return good;
}

/* What the header says must abort. */
static bool refuses(mg_run *run, const char *launcher, mt_matmul_dims dims, const char *what)
{
    char function[64];
    mg_product p = { .dims = dims };
    snprintf(function, sizeof function, "may abort: %s", launcher);
    mg_product_describe(run, function, &p);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    if (!mg_call(run) || *(const int64_t *)mg_result(run, "aborted") == 0)
        return true; /* or judged */
    mg_hint(run, "call mt_matmul_dims_check first, as every rung does");
    mg_fail(run, "%s was accepted", what);
    return false;
}

static bool values(mg_run *run, const ladder_case *c)
{
    for (int t = 0; t < MT_COUNT(shapes); t++) {
        float by = c->unit > U16 && t % 2 ? 0x1p50f : 1;
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, shapes[t], t), c->unit, by))
            return false;
    }
    if (c->about == LD_SIZES && !zero_times_nan(run, c->function, c->unit))
        return false;
    if (c->about == LD_SIZES && c->unit == U16 && !ends_of_f16(run, c->function))
        return false;
    if (c->about == LD_STRIDES) { /* whole tiles, which a kernel may store without a test of each element */
        mg_unaligned(run, true);
        if (!check_product(run, c->function, mg_product_tight(128, 128, 16, MT_NO_TRANS, MT_NO_TRANS), c->unit, 1))
            return false;
    }
    for (int o = 0; o < 3 && c->about == LD_STRIDES; o++)
        if (!check_product(run, c->function, long_rows(o), c->unit, 1))
            return false;
    for (int t = 0; t < 36 && c->about == LD_STRIDES; t++) {
        mg_unaligned(run, t >= 12); /* the leading dimensions stay multiples of four */
        if (t >= 24)
            mg_unaligned_one(run, t - 24);
        if (!check_product(run, c->function, vary_groups(1 + t / 4 % 3, t), c->unit, 1))
            return false;
    }
    mt_matmul_dims narrow = mg_product_tight(3, 5, 7, MT_NO_TRANS, MT_NO_TRANS), negative = narrow;
    mg_unaligned(run, false);
    narrow.ldb = 4;
    negative.M = -1;
    return c->about != LD_STRIDES || (refuses(run, c->function, narrow, "ldb = 4 for rows of 5") &&
                                      refuses(run, c->function, negative, "M = -1"));
}

void mg_07_values(mg_run *run, const void *one_case)
{
    const ladder_case *c = one_case, f16_strides = { .function = F16, .about = LD_STRIDES, .unit = U16 };
    if (c->about == LD_EXACT)
        exact_sums(run, c->function);
    else if (values(run, c) && c->about == LD_STRIDES && c->unit == UB16)
        values(run, &f16_strides); /* which has no row of its own */
}

/* ---- counts --------------------------------------------------------------------------------- */

enum { M = 256, N = 256, K = 128 };

static void wavefronts(mg_run *run)
{
    const mg_device_report *r = mg_device_counts(run);
    char bar[sizeof run->row->step + sizeof run->row->name];
    snprintf(bar, sizeof bar, "%s %s", run->row->step, run->row->name);
    int64_t sum = 0;
    for (int kind = 0; kind < 3; kind++)
        sum += r->shared[kind].passes;
    double value = 32.0 * (double)sum / ((double)M * N * K);
    if (value < 0.01)
        mg_fail(run,
                "counted %.3g wavefronts of shared memory for 32 multiply-adds: the tiles must be in shared memory",
                value);
    mg_note(run, "%.3f wavefronts for 32 multiply-adds (bar %.2f .. %.2f)  counted, no GPU", value,
            mg_bar(run, bar, "low"), mg_bar(run, bar, "full"));
    mg_credit(run, bar, value);
}

void mg_07_counts(mg_run *run, const void *one_case)
{
    static const mg_count counts[] = { MG_TRAFFIC, MG_REQUESTS, MG_CONFLICTS };
    const ladder_bar *c = one_case;
    if (!check_product(run, c->function, mg_product_tight(M, N, K, c->turned, c->turned), c->unit, 1))
        return;
    mg_flops(run, 2.0 * M * N * K);
    if (c->count == LD_WAVEFRONTS)
        wavefronts(run);
    else
        mg_device_credit(run, counts[c->count], 4.0 * (M * K + K * N + M * N));
}

void mg_07_compiled(mg_run *run, const void *one_case)
{
    const ladder_fact *c = one_case;
    if (check_product(run, c->function, mg_product_tight(M, N, K, false, false), c->unit, 1))
        mg_compiled_fact(run, c->file, c->fact);
}

/* ---- the linear layer ----------------------------------------------------------------------- */

/* Many rows; more than 1,024 blocks, of 256 elements or of 32 columns; more rows than a grid has blocks in y. In the
 * last, arrays are not aligned for float4: all, then one after the other. */
static const int64_t layers[][3] = {
    /* N, I, O */
    { 1, 1, 1 },    { 0, 3, 5 },    { 5, 0, 3 },    { 4, 3, 0 },     { 33, 17, 31 },  { 64, 33, 10 },
    { 7, 65, 257 }, { 301, 5, 33 }, { 4099, 2, 3 }, { 8, 2, 32771 }, { 65539, 1, 2 }, { 36, 8, 64 },
};
enum { LAYERS = MT_COUNT(layers) };

static const int64_t *layer(mg_run *run, int t)
{
    mg_unaligned(run, t == LAYERS - 1);
    if (t >= LAYERS)
        mg_unaligned_one(run, t - LAYERS);
    return layers[mt_min(t, LAYERS - 1)];
}

static bool forward(mg_run *run, const int64_t s[3], bool bias)
{
    mg_begin(run, "mt_linear_fwd_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(s[0], s[2]));
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(s[0], s[1]), (mg_dist)NORMAL(0, 1)), s[0] * s[1]);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(s[1], s[2]), (mg_dist)NORMAL(0, 1)), s[1] * s[2]), *b = NULL;
    if (bias)
        b = mg_lift(mg_input(run, "b", MT_SHAPE(s[2]), (mg_dist)NORMAL(0, 1)), s[2]);
    else
        mg_null(run, "b");
    mg_i64(run, "N", s[0]);
    mg_i64(run, "I", s[1]);
    mg_i64(run, "O", s[2]);
    mg_oracle_linear(out.v, out.e, x, NULL, w, b, s[0], s[1], s[2]);
    free(x);
    free(w);
    free(b);
    return mg_call_and_judge(run, &out, 1);
}

void mg_07_linear_fwd(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < LAYERS + 8; t++)
        if (!forward(run, layer(run, t), true) || !forward(run, layer(run, t), false))
            return;
}

enum { DX = 1, DW = 2, DB = 4 };

/* An expected output, or NULL. */
static void gradient(mg_run *run, mg_answer *answers, int *count, const char *name, mt_shape shape, bool wanted)
{
    if (wanted)
        answers[(*count)++] = mg_accumulated(run, name, shape, true);
    else
        mg_null(run, name);
}

/* The gradients in `wanted`, the others NULL; those in `judged` are compared. */
static bool backward(mg_run *run, const int64_t s[3], int wanted, int judged)
{
    mg_answer answers[3], *a = answers;
    int count = 0;
    mg_begin(run, "mt_linear_bwd_cuda");
    gradient(run, answers, &count, "dx", MT_SHAPE(s[0], s[1]), wanted & DX);
    gradient(run, answers, &count, "dw", MT_SHAPE(s[1], s[2]), wanted & DW);
    gradient(run, answers, &count, "db", MT_SHAPE(s[2]), wanted & DB);
    double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(s[0], s[2]), (mg_dist)NORMAL(0, 1)), s[0] * s[2]);
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(s[0], s[1]), (mg_dist)NORMAL(0, 1)), s[0] * s[1]);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(s[1], s[2]), (mg_dist)NORMAL(0, 1)), s[1] * s[2]);
    mg_i64(run, "N", s[0]);
    mg_i64(run, "I", s[1]);
    mg_i64(run, "O", s[2]);
    if (wanted & DX)
        mg_oracle_linear_dx_add(a->v, a->e, dout, NULL, w, s[0], s[1], s[2]), a++;
    if (wanted & DW)
        mg_oracle_linear_dw_add(a->v, a->e, dout, NULL, x, NULL, s[0], s[1], s[2]), a++;
    if (wanted & DB)
        mg_oracle_linear_db_add(a->v, a->e, dout, NULL, s[0], s[2]);
    for (int i = 0, k = 0; i < 3; i++) {
        if (wanted & ~judged & 1 << i)
            mg_answer_drop(&answers[k]);
        k += wanted >> i & 1;
    }
    free(dout);
    free(x);
    free(w);
    return mg_call_and_judge(run, answers, count);
}

void mg_07_linear_dx_dw(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < LAYERS + 10; t++)
        if (!backward(run, layer(run, t), t >= LAYERS ? DX | DW : t % 4 == 1 ? DX : t % 4 == 2 ? DW : DX | DW, DX | DW))
            return;
}

void mg_07_linear_db(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < LAYERS + 8; t++) /* one after the other: db, dout, x, w */
        if (!backward(run, layer(run, t), t % 2 || t >= LAYERS ? DB : DX | DW | DB, DB))
            return;
}
