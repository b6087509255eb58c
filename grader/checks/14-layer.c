/* 14-layer.c -- how the checks of a whole tensor-parallel layer run: attention and MLP, with their weights divided by
 * mt_tp_shard, against one device. Rows: 14-model-parallel.c.
 *
 *     y = x + heads(x w0 + b0) w2 + b2 + relu(x w4 + b4) w6 + b6
 *
 * Numbers are integers (14-integers.h): -1, 0, 1. So attention is without softmax: (q k^T) v of each head. With C <= 24
 * the largest that any sum can become is 3 C 90 000 * 1.5 = 9.7e6, in the gradient of x. */
#include "checks/14-integers.h"
#include "checks/14-model-parallel.h"
#include "rows/traffic.h"
#include "worker/tensor.h"

#include <inttypes.h>
#include <string.h>

#include "core/base.h"

enum { B = 2, T = 3, N = B * T, C_MOST = 24, F_MOST = 16 };

typedef struct layer {
    int64_t ranks, C, H, D, F;
    int64_t layout[MG_TP_WEIGHTS][MG_TP_LAYOUT], count[MG_TP_WEIGHTS];
    double *w[MG_TP_WEIGHTS], *dw[MG_TP_WEIGHTS], x[N * C_MOST], dy[N * C_MOST], y[N * C_MOST], dx[N * C_MOST];
} layer;

static layer layer_of(mt_rng *rng, int64_t ranks)
{
    layer l = {
        .ranks = ranks, .H = ranks * mg_pick(rng, 1, 2), .D = mg_pick(rng, 2, 3), .F = ranks * mg_pick(rng, 2, 4)
    };
    l.C = l.H * l.D;
    const int64_t layout[MG_TP_WEIGHTS][MG_TP_LAYOUT] = {
        { l.C, 3, l.C, l.D }, { 1, 3, l.C, l.D }, { 1, 1, l.C * l.C, l.D * l.C }, { 1, 0, l.C, 1 },
        { l.C, 1, l.F, 1 },   { 1, 1, l.F, 1 },   { 1, 1, l.F * l.C, l.C },       { 1, 0, l.C, 1 },
    };
    const int64_t count[MG_TP_WEIGHTS] = { 3 * l.C * l.C, 3 * l.C, l.C * l.C, l.C, l.C * l.F, l.F, l.F * l.C, l.C };
    memcpy(l.layout, layout, sizeof layout);
    memcpy(l.count, count, sizeof count);
    for (int i = 0; i < MG_TP_WEIGHTS; i++) {
        l.w[i] = calloc((size_t)count[i], sizeof(double));
        l.dw[i] = calloc((size_t)count[i], sizeof(double));
        MT_CHECK(l.w[i] && l.dw[i], "out of memory");
    }
    return l;
}

static void free_layer(layer *l)
{
    for (int i = 0; i < MG_TP_WEIGHTS; i++) {
        free(l->w[i]);
        free(l->dw[i]);
    }
}

/* ---- one device ---------------------------------------------------------------------------------------------- */

/* Rows of out = rows of x w + b; all dense. */
static void linear(double *out, const layer *l, double *x, int w, int64_t I, int64_t O)
{
    for (int64_t i = 0; i < N * O; i++)
        out[i] += l->w[w + 1][i % O];
    add_product((matrix){ out, O, 1 }, (matrix){ x, I, 1 }, (matrix){ l->w[w], O, 1 }, N, O, I);
}

static void linear_back(double *dx, const layer *l, double *dout, double *x, int w, int64_t I, int64_t O)
{
    for (int64_t i = 0; i < N * O; i++)
        l->dw[w + 1][i % O] += dout[i];
    add_product((matrix){ l->dw[w], O, 1 }, (matrix){ x, 1, I }, (matrix){ dout, O, 1 }, I, O, N);
    add_product((matrix){ dx, I, 1 }, (matrix){ dout, O, 1 }, (matrix){ l->w[w], 1, O }, N, I, O);
}

/* The part of qkv, or of its gradient, that belongs to one head of one sample. */
static matrix part_of(const layer *l, double *qkv, int64_t b, int64_t head, int64_t which)
{
    return (matrix){ qkv + b * T * 3 * l->C + which * l->C + head * l->D, 3 * l->C, 1 };
}

/* out += heads(qkv); with dout, dqkv += its gradient in place of that. */
static void heads(double *out, double *dqkv, double *dout, const layer *l, double *qkv)
{
    for (int64_t i = 0; i < B * l->H; i++) {
        int64_t b = i / l->H, h = i % l->H, at = b * T * l->C + h * l->D;
        matrix q = part_of(l, qkv, b, h, 0), k = part_of(l, qkv, b, h, 1), v = part_of(l, qkv, b, h, 2);
        double score[T * T] = { 0 }, dscore[T * T] = { 0 };
        matrix s = { score, T, 1 }, ds = { dscore, T, 1 };
        add_product(s, q, transposed(k), T, T, l->D);
        if (!dout) {
            add_product((matrix){ out + at, l->C, 1 }, s, v, T, l->D, T);
            continue;
        }
        matrix d = { dout + at, l->C, 1 };
        add_product(ds, d, transposed(v), T, T, l->D);
        add_product(part_of(l, dqkv, b, h, 2), transposed(s), d, T, l->D, T);
        add_product(part_of(l, dqkv, b, h, 0), ds, k, T, l->D, T);
        add_product(part_of(l, dqkv, b, h, 1), transposed(ds), q, T, l->D, T);
    }
}

static void compute(layer *l)
{
    double qkv[N * 3 * C_MOST] = { 0 }, dqkv[N * 3 * C_MOST] = { 0 }, a[N * C_MOST] = { 0 }, da[N * C_MOST] = { 0 };
    double h[N * F_MOST] = { 0 }, dh[N * F_MOST] = { 0 };
    linear(qkv, l, l->x, 0, l->C, 3 * l->C);
    heads(a, NULL, NULL, l, qkv);
    linear(h, l, l->x, 4, l->C, l->F);
    for (int64_t i = 0; i < N * l->F; i++)
        h[i] *= h[i] > 0;
    memcpy(l->y, l->x, sizeof l->y);
    memcpy(l->dx, l->dy, sizeof l->dx);
    linear(l->y, l, a, 2, l->C, l->C);
    linear(l->y, l, h, 6, l->F, l->C);
    linear_back(da, l, l->dy, a, 2, l->C, l->C);
    linear_back(dh, l, l->dy, h, 6, l->F, l->C);
    for (int64_t i = 0; i < N * l->F; i++)
        dh[i] *= h[i] > 0;
    heads(NULL, dqkv, da, l, qkv);
    linear_back(l->dx, l, dqkv, l->x, 0, l->C, 3 * l->C);
    linear_back(l->dx, l, dh, l->x, 4, l->C, l->F);
}

/* ---- the rows -------------------------------------------------------------------------------------------------- */

static int64_t share_of(const layer *l, int i)
{
    return l->layout[i][1] ? l->count[i] / l->ranks : l->count[i];
}

/* The gradients of each rank's parts, one weight after the other. */
static bool expect_parts(mg_run *run, const layer *l, int64_t each)
{
    double *want = calloc((size_t)(l->ranks * each), sizeof *want), *to = want;
    MT_CHECK(want, "out of memory");
    for (int64_t r = 0; r < l->ranks; r++)
        for (int i = 0; i < MG_TP_WEIGHTS; to += share_of(l, i), i++)
            for (int64_t k = 0; k < share_of(l, i); k++) {
                int64_t width = l->layout[i][2], part = width / l->ranks;
                to[k] = l->dw[i][l->layout[i][1] ? k / part * width + r * part + k % part : k];
            }
    bool good = mg_expect(run, "dw", want, NULL);
    free(want);
    return good;
}

static void describe(mg_run *run, layer *l, int64_t fails, int64_t each)
{
    int64_t all = 0, n = N * l->C;
    mt_shape shape = MT_SHAPE(l->ranks, n);
    mg_begin(run, "a layer");
    mg_14_ranks(run, l->ranks);
    mg_out(run, "y", MT_F32, shape);
    mg_out(run, "dx", MT_F32, shape);
    mg_out(run, "dw", MT_F32, MT_SHAPE(l->ranks, each));
    mg_14_numbers(run, fails, (int64_t[]){ B, T, l->C, l->H, l->F }, MG_TP_NUMBERS - MG_HUB_NUMBERS);
    lift(l->x, input(run, "x", MT_SHAPE(n), 1), n);
    lift(l->dy, input(run, "dy", MT_SHAPE(n), 1), n);
    for (int i = 0; i < MG_TP_WEIGHTS; i++)
        all += l->count[i];
    const float *w = input(run, "w", MT_SHAPE(all), 1);
    for (int i = 0; i < MG_TP_WEIGHTS; w += l->count[i], i++)
        lift(l->w[i], w, l->count[i]);
    memcpy(mg_in(run, "elements", MT_I64, MT_SHAPE(MG_TP_WEIGHTS)), l->count, sizeof l->count);
    memcpy(mg_in(run, "layouts", MT_I64, MT_SHAPE(MG_TP_WEIGHTS, MG_TP_LAYOUT)), l->layout, sizeof l->layout);
}

/* fails: the number of the collective that fails, of the 4; -1: none does. */
static bool layer_once(mg_run *run, tensor_about about, int64_t ranks, int64_t fails)
{
    layer l = layer_of(mg_rng(run), ranks);
    int64_t each = 0;
    for (int i = 0; i < MG_TP_WEIGHTS; i++)
        each += share_of(&l, i);
    describe(run, &l, fails, each);
    bool good = mg_14_call(run, ranks, about != TENSOR_FAILS && about != TENSOR_CALLS);
    if (good && about == TENSOR_FAILS) {
        good = mg_14_judge_failure(run, ranks, fails);
    } else if (good && about == TENSOR_CALLS) {
        good = mg_14_judge_calls(run, ranks, &(tensor_calls){ 2, 4, 4 * N * l.C, 0, 0, false });
    } else if (good) {
        compute(&l);
        good = expect_alike(run, "y", l.y, ranks, N * l.C) && expect_alike(run, "dx", l.dx, ranks, N * l.C) &&
               expect_parts(run, &l, each);
    }
    free_layer(&l);
    return good;
}

void mg_14_layer(mg_run *run, const void *one_case)
{
    tensor_about about = ((const tensor_case *)one_case)->about;
    bool some = about == TENSOR_FAILS;
    for (int64_t ranks = some ? 2 : 1; ranks <= RANKS; ranks++)
        for (int64_t fails = some ? 0 : -1; fails < (some ? 4 : 0); fails++)
            if (!layer_once(run, about, ranks, fails))
                return;
}
