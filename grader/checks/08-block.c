/* 08-block.c -- how the checks of the block, the model and the training step run (steps 08.10 to 08.12). Rows:
 * 08-gpt2.c.
 *
 * Values are compared with oracle_gpt2.c, gradients with central differences of it. Kernels have their own rows with
 * strict bounds; here the structure is checked, and f32 arithmetic in any order is accepted: SLACK is a thousand
 * roundings of the largest element of the tensor, and the smallest mistake that a row looks for is ten times that.
 * Some inputs multiply roundings: a layernorm of columns that are nearly equal, or a tensor whose gradient is the small
 * difference of large terms. How much, the oracle tells: gradients may differ by MOVES times the change that one
 * rounding of each input makes. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"
#include "checks/oracle_gpt2.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 2 }; /* of each row, before one of texts of one token */
enum { WIDE = 4 };  /* columns of a head for that: there is no other token beside one with nearly equal columns */
static const double SLACK = 1000 * 0x1p-24, MOVES = 60;

/* e [n] = SLACK of the largest of v [n]. */
static void allow(double *e, const double *v, int64_t n)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(v[i]));
    for (int64_t i = 0; i < n; i++)
        e[i] = SLACK * (largest + 1e-3);
}

/* Each x [n] is rounded once. */
static void move(mt_rng *rng, double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] *= 1 + (mt_rng_below(rng, 2) ? 0x1p-24 : -0x1p-24);
}

/* The bound of a gradient v [..], tensor by tensor; moved: the gradient for inputs that were moved. */
static void allow_parts(double *e, const double *v, const double *moved, const mg_gpt2_part *part, int parts)
{
    for (int p = 0; p < parts; p++) {
        int64_t at = part[p].at, end = at + part[p].count;
        double most = 0;
        allow(e + at, v + at, part[p].count);
        for (int64_t i = at; i < end; i++)
            most = fmax(most, fabs(moved[i] - v[i]));
        for (int64_t i = at; i < end; i++)
            e[i] += MOVES * most;
    }
}

static bool ends_with(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

/* Weights of about 1 / sqrt(C), gains about 1; what is in `zero` is left 0. */
static void fill_params(mt_rng *rng, float *params, const mg_gpt2_part *part, int parts, int zero, int64_t C)
{
    for (int i = 0; i < parts; i++) {
        bool attention = strstr(part[i].name, "attn.c_proj"), mlp = strstr(part[i].name, "mlp.c_proj");
        bool gain = strstr(part[i].name, "ln_") && ends_with(part[i].name, "weight");
        bool matrix = ends_with(part[i].name, "weight") && !gain;
        if (!((attention && zero & MG_NO_ATTENTION) || (mlp && zero & MG_NO_MLP)))
            mg_fill(rng, params + part[i].at, part[i].count,
                    (mg_dist)NORMAL(gain ? 1 : 0, matrix ? 1 / sqrt((double)C) : 0.3));
    }
}

/* ---- 08.10 a block ------------------------------------------------------------------------------------------ */

typedef struct block_call {
    mg_gpt2 g;
    double *x, *params;
    const float *dout;
} block_call;

static double weighted_block(void *user)
{
    block_call *c = user;
    int64_t n = c->g.B * c->g.T * c->g.C;
    double *x = mg_doubles(n), sum = 0;
    memcpy(x, c->x, (size_t)n * sizeof *x);
    mg_gpt2_block(x, c->params, &c->g);
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * c->dout[i];
    free(x);
    return sum;
}

/* Of those in `judged`. Moves the inputs. */
static void bound_gradients(mg_answer answer[3], block_call *c, const mg_gpt2_part *part, int parts, int judged)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    int64_t n = answer[1].n, count = answer[2].n;
    double *moved = mg_doubles(n + count);
    move(&rng, c->x, n);
    move(&rng, c->params, count);
    if (judged & MG_JUDGE_DX) {
        mg_gradient(moved, c->x, n, weighted_block, c);
        allow_parts(answer[1].e, answer[1].v, moved, &(mg_gpt2_part){ .count = n }, 1);
    }
    if (judged & MG_JUDGE_DPARAMS) {
        mg_gradient(moved, c->params, count, weighted_block, c);
        allow_parts(answer[2].e, answer[2].v, moved, part, parts);
    }
    free(moved);
}

static bool block_once(mg_run *run, const block_case *c, int64_t tokens)
{
    mt_rng *rng = mg_rng(run);
    mg_gpt2 g = { .B = mg_pick(rng, 1, 2), .T = tokens ? tokens : mg_pick(rng, 3, 5), .H = mg_pick(rng, 2, 3) };
    g.C = g.H * (g.T == 1 ? WIDE : mg_pick(rng, 2, 3));
    int64_t n = g.B * g.T * g.C, count;
    mg_gpt2_part part[MG_BLOCK_PARTS];
    int parts = mg_gpt2_block_parts(part, &count, &g);
    mt_shape shape = MT_SHAPE(g.B, g.T, g.C);
    mg_begin(run, "mt_gpt2_block_forward, and backward");
    mg_answer answer[] = { mg_overwritten(run, "out", shape), mg_overwritten(run, "dx", shape),
                           mg_overwritten(run, "dparams", MT_SHAPE(count)) };
    const float *x = mg_input(run, "x", shape, (mg_dist)NORMAL(0.5, 2));
    const float *dout = mg_input(run, "dout", shape, (mg_dist)NORMAL(0, 1));
    float *params = mg_in(run, "params", MT_F32, MT_SHAPE(count));
    fill_params(rng, params, part, parts, c->zero, g.C);
    mg_i64(run, "B", g.B);
    mg_i64(run, "T", g.T);
    mg_i64(run, "C", g.C);
    mg_i64(run, "H", g.H);
    block_call call = { g, mg_lift(x, n), mg_lift(params, count), dout };
    memcpy(answer[0].v, call.x, (size_t)n * sizeof(double));
    mg_gpt2_block(answer[0].v, call.params, &g);
    allow(answer[0].e, answer[0].v, n);
    if (c->judged & MG_JUDGE_DX)
        mg_gradient(answer[1].v, call.x, n, weighted_block, &call);
    if (c->judged & MG_JUDGE_DPARAMS)
        mg_gradient(answer[2].v, call.params, count, weighted_block, &call);
    bound_gradients(answer, &call, part, parts, c->judged);
    mg_08_drop(answer, 3, c->judged);
    free(call.x);
    free(call.params);
    return mg_call_and_judge(run, answer, 3);
}

void mg_08_block(mg_run *run, const void *one_case)
{
    const block_case *c = one_case;
    for (int t = 0; t < CALLS; t++)
        if (!block_once(run, c, c->tokens))
            return;
    mg_part(run, "one token", NULL);
    block_once(run, c, 1);
}

/* ---- 08.11 the model ---------------------------------------------------------------------------------------- */

typedef struct model_call {
    mg_gpt2 g;
    double *params;
    const int32_t *ids, *targets;
} model_call;

static double model_loss(void *user)
{
    const model_call *c = user;
    return mg_gpt2_loss(c->params, c->ids, c->targets, &c->g);
}

static void expect_model(mg_answer answer[5], model_call *call, const mg_gpt2_part *part, int parts, int64_t count,
                         int judged)
{
    const mg_gpt2 *g = &call->g;
    int64_t N = g->B * g->T;
    mg_gpt2_hidden(answer[0].v, call->params, call->ids, g);
    allow(answer[0].e, answer[0].v, N * g->C);
    mg_gpt2_logits(answer[1].v, answer[0].v, call->params, g);
    allow(answer[1].e, answer[1].v, N * g->V);
    answer[2].v[0] = model_loss(call);
    allow(answer[2].e, answer[2].v, 1);
    if (judged & (MG_JUDGE_DWTE | MG_JUDGE_DREST)) {
        mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
        double *moved = mg_doubles(count);
        mg_gradient(answer[3].v, call->params, count, model_loss, call);
        move(&rng, call->params, count);
        mg_gradient(moved, call->params, count, model_loss, call);
        allow_parts(answer[3].e, answer[3].v, moved, part, parts);
        free(moved);
        int64_t tables = part[0].count, from = judged & MG_JUDGE_DWTE ? tables : 0;
        for (int64_t i = from; i < (judged & MG_JUDGE_DWTE ? count : tables); i++)
            answer[3].e[i] = INFINITY; /* another row's concern */
    }
    memcpy(answer[4].v, answer[3].v, (size_t)count * sizeof(double));
    memcpy(answer[4].e, answer[3].e, (size_t)count * sizeof(double));
    judged |= (judged & MG_JUDGE_DREST) >> 1;
    judged |= (judged & MG_JUDGE_DWTE) << 1; /* of the loss, and the same through the logits */
    mg_08_drop(answer, 5, judged);
}

/* Texts of so many tokens, and a context that is longer by `more`. */
static bool model_once(mg_run *run, const char *part, const model_case *c, int64_t tokens, int64_t more)
{
    mg_part(run, part, NULL);
    mt_rng *rng = mg_rng(run);
    mg_gpt2 g = { .B = 2, .T = tokens, .H = 2, .V = mg_pick(rng, 5, 9), .layers = c->layers, .block = tokens + more };
    g.C = g.H * (tokens == 1 ? WIDE : mg_pick(rng, 2, 3));
    g.rows = g.V + mg_pick(rng, 1, 3);
    int64_t count;
    mg_gpt2_part table[MG_GPT2_PARTS];
    int parts = mg_gpt2_parts(table, &count, &g);
    mg_begin(run, "mt_gpt2_forward, _logits, _loss, and backward");
    mg_answer answer[] = { mg_overwritten(run, "hidden", MT_SHAPE(g.B, g.T, g.C)),
                           mg_overwritten(run, "logits", MT_SHAPE(g.B, g.T, g.V)),
                           mg_overwritten(run, "loss", MT_SHAPE(1)), mg_overwritten(run, "dparams", MT_SHAPE(count)),
                           mg_overwritten(run, "dparams through the logits", MT_SHAPE(count)) };
    int32_t *ids = mg_in(run, "ids", MT_I32, MT_SHAPE(g.B, g.T)),
            *targets = mg_in(run, "targets", MT_I32, MT_SHAPE(g.B, g.T));
    float *params = mg_in(run, "params", MT_F32, MT_SHAPE(count));
    mg_fill_labels(rng, ids, g.B * g.T, g.V);
    mg_fill_labels(rng, targets, g.B * g.T, g.V);
    fill_params(rng, params, table, parts, c->zero, g.C);
    mg_i64(run, "vocabulary", g.V);
    mg_i64(run, "rows", g.rows);
    mg_i64(run, "layers", g.layers);
    mg_i64(run, "heads", g.H);
    mg_i64(run, "width", g.C);
    mg_i64(run, "B", g.B);
    mg_i64(run, "block", g.block);
    model_call m = { g, mg_lift(params, count), ids, targets };
    expect_model(answer, &m, table, parts, count, c->judged);
    free(m.params);
    return mg_call_and_judge(run, answer, 5);
}

void mg_08_model(mg_run *run, const void *one_case)
{
    if (model_once(run, NULL, one_case, mg_pick(mg_rng(run), 3, 5), 2) &&
        model_once(run, "texts as long as the context", one_case, mg_pick(mg_rng(run), 3, 5), 0))
        model_once(run, "one token", one_case, 1, 3);
}
