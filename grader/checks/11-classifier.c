/* 11-classifier.c -- how the checks of the classifier in chunks run (step 11.4). Rows: 11-fusion.c. Values are those of
 * lab 08's classifier, forward and backward, from exact logits; chunks change no bound, as sums may have any order. */
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>

#include "checks/08-gpt2.h"
#include "checks/oracle.h"

enum { SEARCHED = 67 }; /* rows of the call that is searched for data races */

/* Value and bound of every output, and what they are computed from. */
typedef struct chunked_call {
    int64_t N, C, V;
    float share;
    const float *x, *w;
    const int32_t *target;
    mg_answer loss, dx, dw; /* dx, dw: v NULL where not wanted */
} chunked_call;

static void expect_chunked(chunked_call *s)
{
    int64_t N = s->N, C = s->C, V = s->V;
    double *x = mg_lift(s->x, N * C), *turned = mg_doubles(C * V), *dloss = mg_doubles(N);
    double *logits = mg_doubles(6 * N * V), *bound = logits + N * V, *p = bound + N * V, *ep = p + N * V;
    double *d = ep + N * V, *ed = d + N * V;
    for (int64_t i = 0; i < V * C; i++)
        turned[i % C * V + i / C] = s->w[i];
    for (int64_t n = 0; n < N; n++)
        dloss[n] = s->share;
    for (int64_t i = 0; i < 2 * N * V; i++)
        d[i] = 0;
    mg_oracle_linear(logits, bound, x, NULL, turned, NULL, N, C, V);
    mg_oracle_cross_entropy(s->loss.v, s->loss.e, logits, bound, s->target, N, V);
    mg_oracle_softmax(p, ep, logits, bound, N, V);
    mg_oracle_cross_entropy_add(d, ed, dloss, p, ep, s->target, N, V);
    if (s->dx.v)
        mg_oracle_linear_dx_add(s->dx.v, s->dx.e, d, ed, turned, N, C, V);
    if (s->dw.v) /* as in lab 08: dlogits^T x, the gradient of the weights of a layer from V to C, parts exchanged */
        mg_oracle_linear_dw_add(s->dw.v, s->dw.e, x, NULL, d, ed, N, V, C);
    free(x);
    free(turned);
    free(dloss);
    free(logits);
}

/* An output that is overwritten; its value and bound begin with zeros. */
static mg_answer wanted(mg_run *run, const char *name, mt_shape shape, bool wanted)
{
    if (!wanted) {
        mg_null(run, name);
        return (mg_answer){ 0 };
    }
    mg_answer answer = mg_overwritten(run, name, shape);
    for (int64_t i = 0; i < mt_shape_numel(shape); i++)
        answer.v[i] = answer.e[i] = 0;
    return answer;
}

enum { SPOILED = 11, ROW = 4 }; /* rows of the call with a NaN, and which row has it */

/* It makes the loss and both gradients of its row NaN; dw is a sum over all rows. */
static void spoil(const chunked_call *s, float *x)
{
    x[ROW * s->C] = NAN;
    s->loss.v[ROW] = NAN;
    for (int64_t c = 0; c < s->C && s->dx.v; c++)
        s->dx.v[ROW * s->C + c] = NAN;
    for (int64_t i = 0; i < s->V * s->C && s->dw.v; i++)
        s->dw.v[i] = NAN;
}

static bool once(mg_run *run, const chunked_case *c, int64_t N, int64_t C, int64_t V, int64_t rows)
{
    chunked_call s = { .N = N,
                       .C = C,
                       .V = V,
                       .share = isnan(c->share) ? 0
                                : c->share      ? c->share
                                                : 1 / (float)mt_max(N, 1) };
    mg_dist dist = NORMAL(0, c->spread);
    mg_begin(run, "mt_classifier_chunked_fwd_cpu");
    s.loss = mg_overwritten(run, "loss", MT_SHAPE(N));
    s.dx = wanted(run, "dx", MT_SHAPE(N, C), c->wanted & MG_DX);
    s.dw = wanted(run, "dw", MT_SHAPE(V, C), c->wanted & MG_DW);
    mg_answer scratch = mg_overwritten(run, "logits", MT_SHAPE(mt_min(N, rows), V));
    mg_answer_drop(&scratch);
    float *x = mg_input(run, "x", MT_SHAPE(N, C), dist);
    s.x = x;
    s.w = mg_input(run, "w", MT_SHAPE(V, C), dist);
    int32_t *target = mg_in(run, "target", MT_I32, MT_SHAPE(N));
    mg_fill_labels(mg_rng(run), target, N, V);
    s.target = target;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_i64(run, "V", V);
    mg_i64(run, "rows", rows);
    mg_f32(run, "share", s.share);
    expect_chunked(&s);
    bool spoiled = N == SPOILED && rows == 2;
    if (spoiled)
        spoil(&s, x);
    mg_hint(run, "%s", spoiled ? "a NaN in x makes the loss and the gradients of its row NaN" : c->head.hint);
    mg_answer answer[] = { s.loss, s.dx, s.dw };
    if (!c->bar)
        return mg_searched_and_judge(run, N == SEARCHED, answer, 3);
    bool good = mg_traffic_call(run, c->cache);
    for (int k = 0; k < 3; k++) {
        good = good && (!answer[k].v || mg_expect(run, answer[k].name, answer[k].v, answer[k].e));
        mg_answer_drop(&answer[k]);
    }
    /* Reads x, w and target, fetches dx, dw and loss; what is written may stay in a cache of 1 MiB. */
    if (good)
        mg_traffic_credit(run, c->bar, (double)sizeof(float) * (double)(2 * (N * C + V * C + N)));
    return good;
}

/* A target that is no class, or chunks without rows, must abort. The target is seen only in lab 02's cross-entropy, or
 * in a unit's own check. */
static bool refused(mg_run *run, int64_t V, int64_t label, int64_t rows)
{
    mg_begin(run, "may abort: mt_classifier_chunked_fwd_cpu");
    mg_threads(run, 1); /* the call is left by a jump, which must not be out of a team */
    mg_out(run, "loss", MT_F32, MT_SHAPE(1));
    mg_null(run, "dx");
    mg_null(run, "dw");
    mg_out(run, "logits", MT_F32, MT_SHAPE(1, V));
    mg_input(run, "x", MT_SHAPE(1, 2), (mg_dist)NORMAL(0, 1));
    mg_input(run, "w", MT_SHAPE(V, 2), (mg_dist)NORMAL(0, 1));
    *(int32_t *)mg_in(run, "target", MT_I32, MT_SHAPE(1)) = (int32_t)label;
    mg_i64(run, "N", 1);
    mg_i64(run, "C", 2);
    mg_i64(run, "V", V);
    mg_i64(run, "rows", rows);
    mg_f32(run, "share", 1);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    if (!mg_call(run))
        return false;
    if (*(const int64_t *)mg_result(run, "aborted") == 1)
        return true;
    mg_hint(run, "check both, the targets as lab 02's cross-entropy does: the header says \"Aborts: a target out of "
                 "range; rows < 1\"");
    mg_fail(run, "the target %lld of %lld classes was accepted, in chunks of %lld rows", (long long)label, (long long)V,
            (long long)rows);
    return false;
}

/* More classes than any vocabulary has, and chunks of more rows than programs take. */
static bool large_calls(mg_run *run, const chunked_case *c)
{
    mg_part(run, "a size above 16 bits", NULL);
    return once(run, c, 1, 1, 300007, 1) && once(run, c, 700, 2, 5, 700);
}

/* Labels past the end, where arrays end at a guard, and before the start, where they begin at one; no rows. */
static bool refusals(mg_run *run)
{
    mg_part(run, "refused", NULL);
    return refused(run, 9, 9, 1) && refused(run, 9, -1, 1) && refused(run, 9, 0, 0) && refused(run, 9, 0, -1);
}

/* Rows of a chunk, or, where there are no rows at all, the gradients that are wanted. */
enum { ANY = -1, ALL_BUT_ONE = -2, ALL = -3 };
static const mg_idea tries[] = {
    { "a last chunk of one row", NULL, ALL_BUT_ONE, 1 << false },
    { "one chunk", NULL, ALL, 1 << false },
    { NULL, NULL, ANY, 0, 3 },
    { "dx alone", NULL, MG_DX, 1 << true },
    { "dw alone", NULL, MG_DW, 1 << true },
    { "neither dx nor dw", NULL, 0, 1 << true },
};

void mg_11_chunked(mg_run *run, const void *one_case)
{
    const chunked_case *c = one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, c->N == 0);) {
        int64_t N = mg_size(run, c->N, 60), rows = t.is == ALL_BUT_ONE ? mt_max(N - 1, 1)
                                                   : t.is == ALL       ? mt_max(N, 1)
                                                                       : mg_pick(mg_rng(run), 1, N + 3);
        chunked_case part = *c;
        if (t.is >= 0)
            part.wanted = (int)t.is;
        if (!once(run, &part, N, mg_size(run, c->C, 50), mg_size(run, c->V, 150), rows))
            return;
    }
    if (c->N < 0 && c->C < 0 && once(run, c, SEARCHED, 33, 1031, 32) && c->V < 0 && large_calls(run, c) &&
        (c->wanted || refusals(run))) /* the row "loss" */
        once(run, c, SPOILED, 3, 7, 2);
    mg_part(run, "a share of NaN", NULL);
    chunked_case none = *c;
    none.share = NAN;
    if (c->share != 0)
        once(run, &none, 5, 3, 7, 2);
}

/* All logits take 2 MiB, those of one chunk 128 KiB; the weights take 64 KiB. */
void mg_11_chunked_traffic(mg_run *run, const void *one_case)
{
    once(run, one_case, 512, 16, 1024, 32);
}
