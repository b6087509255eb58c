/* 08-model.c -- how the checks of layernorm, embedding and classifier run (steps 08.3, 08.4, 08.7), each against its
 * oracle. Rows: 08-gpt2.c. Random sizes are 0, 1, primes, powers of two and their neighbours, and one or more that
 * threads share. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>

enum { CALLS = 6 }; /* of each row, with fresh values and, where they are random, fresh sizes */
enum { WIDE = 131, LONG = 199, MANY = 311 }; /* columns of calls with several threads: searched for data races */
enum { FEW = 5, OVERFLOW = 3 };              /* rows of the call with WIDE columns in which this row overflows */
enum { TINY = 6 };                           /* rows of the one with a variance of 1e-6 and an eps of 1e-12 */
enum { WIDEST = 66047 };                     /* classes: more than 16 bits count */

/* ---- layernorm ------------------------------------------------------------------------------------- */

/* A part of a row by its sizes; below 0: random, at most so much. */
typedef struct sizes {
    const char *part;
    int64_t size[4];
    int calls;
} sizes;

typedef bool norm_fn(mg_run *run, const norm_case *c, int64_t N, int64_t C);

static void norm_calls(mg_run *run, const norm_case *c, norm_fn *once)
{
    static const sizes large[] = { { "several threads", { 67, WIDE }, 1 },
                                   { "many columns", { 2, 33001 }, 1 },
                                   { "many rows", { 257, 33 }, 1 } };
    bool random = c->N < 0 && c->C < 0 && !c->constant;
    for (int t = 0; t < CALLS; t++) /* one column is a row of its own */
        if (!once(run, c, mg_size(run, c->N, 80), c->C < 0 ? mt_max(2, mg_size(run, -1, 200)) : c->C))
            return;
    for (int t = 0; random && t < MT_COUNT(large); t++) {
        mg_part(run, large[t].part, NULL);
        if (!once(run, c, large[t].size[0], large[t].size[1]))
            return;
    }
}

/* A power of two, which no usual eps is. */
static float draw_eps(mg_run *run)
{
    return (float)exp2(-(double)mg_pick(mg_rng(run), 6, 16));
}

/* Each row repeats its first number. At most 200 times: then mg_gamma holds for rounding errors of one sign too. */
static void make_constant(float *x, int64_t N, int64_t C)
{
    for (int64_t i = 0; i < N * C; i++)
        x[i] = x[i / C * C];
}

static bool norm_fwd_once(mg_run *run, const norm_case *c, int64_t N, int64_t C)
{
    bool tiny = c->tiny && N == TINY && C == WIDE;
    float eps = tiny ? 1e-12f : draw_eps(run);
    mg_begin(run, "mt_layernorm_fwd_cpu");
    mg_answer answer[] = { mg_overwritten(run, "out", MT_SHAPE(N, C)), mg_overwritten(run, "mean", MT_SHAPE(N)),
                           mg_overwritten(run, "rstd", MT_SHAPE(N)) };
    float *x = mg_input(run, "x", MT_SHAPE(N, C), c->dist);
    if (c->in_place)
        mg_in_place(run, "out", "x");
    if (c->constant)
        make_constant(x, N, C);
    for (int64_t i = 0; i < N * C && tiny; i++)
        x[i] *= 1e-3f;
    bool overflow = c->overflow && N == FEW && C == WIDE;
    if (overflow)
        x[OVERFLOW * C + C / 2] = 1e20f;
    const float *gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    const float *beta = mg_input(run, "beta", MT_SHAPE(C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_f32(run, "eps", eps);
    mg_oracle_layernorm(answer[0].v, answer[0].e, answer[1].v, answer[1].e, answer[2].v, answer[2].e, x, gamma, beta, N,
                        C, eps);
    if (!overflow)
        return mg_searched_and_judge(run, N == 67 && C == WIDE, answer, 3);
    bool called = mg_call(run);
    for (int64_t i = 0; i < C && called && isnan(((const float *)mg_result(run, "rstd"))[OVERFLOW]); i++)
        answer[0].v[OVERFLOW * C + i] = answer[2].v[OVERFLOW] = NAN;
    return mg_judge_answers(run, called, answer, 3);
}

void mg_08_layernorm_fwd(mg_run *run, const void *one_case)
{
    const norm_case *c = one_case;
    norm_calls(run, c, norm_fwd_once);
    mg_part(run, "squares beyond f32",
            "where the squares exceed f32, a row and its rstd become NaN, as the header says");
    if (c->overflow)
        norm_fwd_once(run, c, FEW, WIDE);
    mg_part(run, "a tiny variance", NULL);
    if (c->tiny)
        norm_fwd_once(run, c, TINY, WIDE);
    mg_part(run, "no rows of no columns", "C may be 0 where N is 0, too: only rows without columns must abort");
    if (c->N == 0 && norm_fwd_once(run, c, 0, 0)) /* and a row of none */
        mg_08_norm_refused(run);
}

/* A gradient that the call adds to; unless it is wanted, it gets NULL. */
static mg_answer gradient(mg_run *run, const char *name, mt_shape shape, bool wanted, bool held)
{
    if (wanted)
        return mg_accumulated(run, name, shape, held);
    mg_null(run, name);
    return (mg_answer){ 0 };
}

static bool norm_bwd_once(mg_run *run, const norm_case *c, int64_t N, int64_t C)
{
    static const char *const function[8] = { [MG_DX] = "mt_layernorm_bwd_cpu for dx",
                                             [MG_DGAMMA] = "mt_layernorm_bwd_cpu for dgamma",
                                             [MG_DBETA] = "mt_layernorm_bwd_cpu for dbeta",
                                             [MG_DX | MG_DGAMMA | MG_DBETA] = "mt_layernorm_bwd_cpu" };
    static const char *const name[] = { "dx", "dgamma", "dbeta" };
    mg_answer grad[3];
    mg_begin(run, function[c->wanted]);
    for (int i = 0; i < 3; i++)
        grad[i] = gradient(run, name[i], i ? MT_SHAPE(C) : MT_SHAPE(N, C), c->wanted >> i & 1, c->held);
    mg_layernorm_saved s = { .N = N, .C = C };
    float *dout = mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    float *x = mg_input(run, "x", MT_SHAPE(N, C), c->dist);
    for (int64_t i = 3; i < N * C; i += 7) /* an element that the loss does not read depends on the row nevertheless */
        dout[i] = 0;
    if (N > 4) /* and one row is constant */
        make_constant(x + 4 * C, 1, C);
    s.dout = dout;
    s.x = x;
    s.gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    float *mean = mg_in(run, "mean", MT_F32, MT_SHAPE(N)), *rstd = mg_in(run, "rstd", MT_F32, MT_SHAPE(N));
    mg_oracle_moments(mean, rstd, &s, draw_eps(run));
    s.mean = mean;
    s.rstd = rstd;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (grad[0].v)
        mg_oracle_layernorm_dx_add(grad[0].v, grad[0].e, &s);
    if (grad[1].v)
        mg_oracle_layernorm_dgamma_add(grad[1].v, grad[1].e, &s);
    if (grad[2].v)
        mg_oracle_layernorm_dbeta_add(grad[2].v, grad[2].e, &s);
    return mg_searched_and_judge(run, N == 67 && C == WIDE, grad, 3);
}

void mg_08_layernorm_bwd(mg_run *run, const void *one_case)
{
    norm_calls(run, one_case, norm_bwd_once);
}

/* ---- embedding ---------------------------------------------------------------------------------------- */

typedef struct text_size { /* B samples of T tokens of a vocabulary of V, as rows of C */
    int64_t B, T, V, C;
} text_size;

/* one(run, c, size) for each size that the row leaves free. */
typedef bool text_fn(mg_run *run, const embedding_case *c, const text_size *s);

static bool each_text(mg_run *run, const embedding_case *c, text_fn *one)
{
    static const sizes tries[] = {
        { NULL, { -9, -40, -80, -150 }, 3 },
        { "ids of more than 16 bits", { -9, -40, 66000, 3 }, 1 },
        { "long rows", { -2, -3, 7, 4099 }, 1 },
        { "long texts", { -3, 1031, 7, 3 }, 1 },
        { "samples of one token", { -9, 1, -80, 3 }, 1 },
        { "several threads", { 3, 61, -80, LONG }, 1 },
    };
    for (int i = 0; i < MT_COUNT(tries); i++)
        for (int t = 0; t < tries[i].calls; t++) {
            const int64_t *most = tries[i].size, is[] = { c->B, c->T, c->V, -1 };
            int64_t size[4];
            for (int k = 0; k < 4; k++)
                size[k] = most[k] > 0 && c->B != 0 ? most[k] : is[k] >= 0 ? is[k] : mg_size(run, -1, llabs(most[k]));
            mg_part(run, tries[i].part, NULL);
            if (!one(run, c, &(text_size){ size[0], size[1], size[2], size[3] }))
                return false;
        }
    return true;
}

static const int32_t *ids_in(mg_run *run, const text_size *s)
{
    int32_t *id = mg_in(run, "id", MT_I32, MT_SHAPE(s->B, s->T));
    mg_fill_labels(mg_rng(run), id, s->B * s->T, s->V);
    return id;
}

/* One sum of two numbers has one right rounding: bit for bit. */
static bool embedding_fwd_once(mg_run *run, const embedding_case *e, const text_size *s)
{
    (void)e;
    int64_t C = s->C, places = s->T + mg_pick(mg_rng(run), 0, 3);
    mg_begin(run, "mt_embedding_fwd_cpu");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(s->B, s->T, C));
    const int32_t *id = ids_in(run, s);
    const float *wte = mg_input(run, "wte", MT_SHAPE(s->V, C), (mg_dist)NORMAL(0, 1));
    const float *wpe = mg_input(run, "wpe", MT_SHAPE(places, C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "B", s->B);
    mg_i64(run, "T", s->T);
    mg_i64(run, "V", s->V);
    mg_i64(run, "C", C);
    for (int64_t i = 0; i < s->B * s->T * C; i++) {
        int64_t n = i / C, c = i % C;
        out.v[i] = (float)((double)wte[id[n] * C + c] + (double)wpe[n % s->T * C + c]);
    }
    return mg_searched_and_judge(run, C == LONG, &out, 1);
}

void mg_08_embedding_fwd(mg_run *run, const void *one_case)
{
    const embedding_case *c = one_case;
    if (each_text(run, c, embedding_fwd_once) && c->B < 0 && c->T < 0)
        mg_08_embedding_refused(run);
}

/* Row id[n] of v, or without ids row n % T, += row n of dout, n < N: the sum of what it held and `count` terms, in
 * whatever order. */
static void add_rows(mg_answer *grad, int64_t rows, const float *dout, const int32_t *id, int64_t T, int64_t N,
                     int64_t C)
{
    double *size = grad->e, *count = mg_doubles(rows);
    for (int64_t i = 0; i < rows * C; i++)
        size[i] = fabs(grad->v[i]);
    for (int64_t n = 0; n < N; n++) {
        int64_t row = id ? id[n] : n % T;
        count[row]++;
        for (int64_t c = 0; c < C; c++) {
            grad->v[row * C + c] += dout[n * C + c];
            size[row * C + c] += fabs((double)dout[n * C + c]);
        }
    }
    for (int64_t i = 0; i < rows * C; i++)
        grad->e[i] = mg_gamma((int64_t)count[i / C]) * size[i];
    free(count);
}

static bool embedding_bwd_once(mg_run *run, const embedding_case *e, const text_size *s)
{
    int64_t N = s->B * s->T, places = s->T + mg_pick(mg_rng(run), 0, 3);
    mg_begin(run, "mt_embedding_bwd_cpu");
    mg_answer grad[] = { gradient(run, "dwte", MT_SHAPE(s->V, s->C), e->wanted & MG_DWTE, e->held),
                         gradient(run, "dwpe", MT_SHAPE(places, s->C), e->wanted & MG_DWPE, e->held) };
    const float *dout = mg_input(run, "dout", MT_SHAPE(s->B, s->T, s->C), (mg_dist)NORMAL(0, 1));
    const int32_t *id = ids_in(run, s);
    mg_i64(run, "B", s->B);
    mg_i64(run, "T", s->T);
    mg_i64(run, "C", s->C);
    if (grad[0].v)
        add_rows(&grad[0], s->V, dout, id, s->T, N, s->C);
    if (grad[1].v)
        add_rows(&grad[1], places, dout, NULL, s->T, N, s->C);
    return mg_searched_and_judge(run, s->C == LONG, grad, 2);
}

void mg_08_embedding_bwd(mg_run *run, const void *one_case)
{
    each_text(run, one_case, embedding_bwd_once);
}

/* ---- classifier ------------------------------------------------------------------------------------------ */

typedef bool classifier_fn(mg_run *run, const classifier_case *c, int64_t N, int64_t C, int64_t V);

static void classifier_calls(mg_run *run, const classifier_case *c, classifier_fn *once)
{
    static const sizes large[] = { { "several threads", { 127, 33, MANY }, 1 },
                                   { "classes of more than 16 bits", { 3, 5, WIDEST }, 1 },
                                   { "many columns", { 5, 4099, 7 }, 1 } };
    bool good = true, random = c->N < 0 && c->C < 0 && c->V < 0;
    for (int t = 0; t < CALLS && good; t++)
        good = once(run, c, mg_size(run, c->N, 40), mg_size(run, c->C, 80), mg_size(run, c->V, 200));
    for (int t = 0; random && t < MT_COUNT(large) && good; t++) {
        mg_part(run, large[t].part, NULL);
        good = once(run, c, large[t].size[0], large[t].size[1], large[t].size[2]);
    }
}

typedef struct head_inputs {
    const float *x;
    double *w; /* [C,V], as mg_oracle_linear reads it */
    const int32_t *target;
} head_inputs;

static head_inputs head_in(mg_run *run, const classifier_case *c, int64_t N, int64_t C, int64_t V)
{
    head_inputs in = { .x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, c->spread)) };
    const float *w = mg_input(run, "w", MT_SHAPE(V, C), (mg_dist)NORMAL(0, c->spread));
    in.w = mg_doubles(V * C);
    for (int64_t i = 0; i < V * C; i++)
        in.w[i % C * V + i / C] = w[i];
    int32_t *target = mg_in(run, "target", MT_I32, MT_SHAPE(N));
    mg_fill_labels(mg_rng(run), target, N, V);
    if (V == WIDEST)
        target[0] = WIDEST - 1;
    in.target = target;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_i64(run, "V", V);
    return in;
}

static bool classifier_fwd_once(mg_run *run, const classifier_case *c, int64_t N, int64_t C, int64_t V)
{
    mg_begin(run, "mt_classifier_fwd_cpu");
    mg_answer answer[] = { mg_overwritten(run, "loss", MT_SHAPE(N)), mg_overwritten(run, "probs", MT_SHAPE(N, V)) };
    head_inputs in = head_in(run, c, N, C, V);
    double *x = mg_lift(in.x, N * C), *logits = mg_doubles(2 * N * V), *bound = logits + N * V;
    mg_oracle_linear(logits, bound, x, NULL, in.w, NULL, N, C, V);
    mg_oracle_cross_entropy(answer[0].v, answer[0].e, logits, bound, in.target, N, V);
    mg_oracle_softmax(answer[1].v, answer[1].e, logits, bound, N, V);
    free(x);
    free(in.w);
    free(logits);
    return mg_searched_and_judge(run, V == MANY, answer, 2);
}

void mg_08_classifier_fwd(mg_run *run, const void *one_case)
{
    const classifier_case *c = one_case;
    classifier_calls(run, c, classifier_fwd_once);
    if (c->refused)
        mg_08_classifier_refused(run);
    mg_part(run, "no rows of no classes", "V may be 0 where N is 0, too: only rows without classes must abort");
    if (c->N == 0)
        classifier_fwd_once(run, c, 0, 3, 0);
    if (c->N < 0 && c->C < 0 && c->V < 0)
        mg_08_classifier_nan(run);
}

/* The probabilities that forward would have saved, as f32. */
static void save_probs(float *probs, const double *x, const double *w, int64_t N, int64_t C, int64_t V)
{
    double *logits = mg_doubles(3 * N * V), *p = logits + N * V, *e = p + N * V;
    mg_oracle_linear(logits, e, x, NULL, w, NULL, N, C, V);
    mg_oracle_softmax(p, e, logits, NULL, N, V);
    for (int64_t i = 0; i < N * V; i++)
        probs[i] = (float)p[i];
    free(logits);
}

static bool classifier_bwd_once(mg_run *run, const classifier_case *c, int64_t N, int64_t C, int64_t V)
{
    mg_answer grad[3]; /* dx, dw, and the gradient of the logits, which takes the place of probs */
    float *probs;
    mg_begin(run, "mt_classifier_bwd_cpu");
    grad[0] = gradient(run, "dx", MT_SHAPE(N, C), c->wanted & MG_DX, c->held);
    grad[1] = gradient(run, "dw", MT_SHAPE(V, C), c->wanted & MG_DW, c->held);
    grad[2] = mg_replaced(run, "probs", MT_SHAPE(N, V), (mg_dist)NORMAL(0, 1), &probs);
    float *dloss_in = mg_input(run, "dloss", MT_SHAPE(N), (mg_dist)NORMAL(0, 0.1));
    for (int64_t n = 1; n < N; n += 3) /* of positions whose loss does not count */
        dloss_in[n] = 0;
    head_inputs in = head_in(run, c, N, C, V);
    double *x = mg_lift(in.x, N * C), *dloss = mg_lift(dloss_in, N);
    save_probs(probs, x, in.w, N, C, V);
    double *p = mg_lift(probs, N * V);
    mg_oracle_cross_entropy_add(grad[2].v, grad[2].e, dloss, p, NULL, in.target, N, V);
    for (int64_t i = 0; grad[0].v && i < N * C; i++) /* terms added one by one: tiny ones may be rounded alike */
        grad[0].e[i] += MG_U * (double)V * fabs(grad[0].v[i]);
    if (grad[0].v)
        mg_oracle_linear_dx_add(grad[0].v, grad[0].e, grad[2].v, grad[2].e, in.w, N, C, V);
    if (grad[1].v) /* dlogits^T x: the gradient of the weights of a layer from V to C, with their parts exchanged */
        mg_oracle_linear_dw_add(grad[1].v, grad[1].e, x, NULL, grad[2].v, grad[2].e, N, V, C);
    free(x);
    free(in.w);
    free(dloss);
    free(p);
    return mg_searched_and_judge(run, V == MANY, grad, 3);
}

void mg_08_classifier_bwd(mg_run *run, const void *one_case)
{
    const classifier_case *c = one_case;
    classifier_calls(run, c, classifier_bwd_once);
    mg_part(run, "no columns", "without columns probs becomes the gradient as always");
    if (!c->wanted)
        classifier_bwd_once(run, c, 5, 0, 7);
}
