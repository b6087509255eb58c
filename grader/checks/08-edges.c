/* 08-edges.c -- calls at the edge of what models/kernels_gpt2.h allows: those that must abort, and a NaN. Rows:
 * 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- calls that must abort ------------------------------------------------------------------------------- */

void mg_08_norm_refused(mg_run *run)
{
    mg_part(run, "refusals", NULL);
    mg_begin_refused(run, "may abort: mt_layernorm_fwd_cpu");
    mg_out(run, "out", MT_F32, MT_SHAPE(1, 0));
    mg_out(run, "mean", MT_F32, MT_SHAPE(1));
    mg_out(run, "rstd", MT_F32, MT_SHAPE(1));
    mg_in(run, "x", MT_F32, MT_SHAPE(1, 0));
    mg_in(run, "gamma", MT_F32, MT_SHAPE(0));
    mg_in(run, "beta", MT_F32, MT_SHAPE(0));
    mg_i64(run, "N", 1);
    mg_i64(run, "C", 0);
    mg_f32(run, "eps", 1);
    mg_refused(run, "a row without columns", "C < 1 with N > 0");
}

void mg_08_embedding_refused(mg_run *run)
{
    enum { V = 7, C = 1, LONG = 2719 };
    static const struct {
        int64_t B, T, at; /* the last place, and another */
        int32_t id;
    } wrong[] = { { 2, 3, 5, V },
                  { 2, 3, 5, -1 },
                  { 2, 3, 1, V },
                  { 2, 3, 1, -1 },
                  { 1, LONG, LONG - 1, -1000003 },
                  { 1, LONG, LONG - 2, 1000003 } }; /* named by the message */
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        const int64_t B = wrong[i].B, T = wrong[i].T;
        char what[40];
        mg_part(run, "refusals", NULL);
        mg_begin_refused(run, "may abort: mt_embedding_fwd_cpu");
        mg_out(run, "out", MT_F32, MT_SHAPE(B, T, C));
        ((int32_t *)mg_in(run, "id", MT_I32, MT_SHAPE(B, T)))[wrong[i].at] = wrong[i].id;
        mg_in(run, "wte", MT_F32, MT_SHAPE(V + 1, C)); /* with a row that is no token's */
        mg_in(run, "wpe", MT_F32, MT_SHAPE(T, C));
        mg_i64(run, "B", B);
        mg_i64(run, "T", T);
        mg_i64(run, "V", V);
        mg_i64(run, "C", C);
        snprintf(what, sizeof what, "id %d of %d tokens", wrong[i].id, V);
        if (!mg_refused(run, what, "an id outside 0 .. V-1") ||
            (T == LONG &&
             (!mg_expect_named(run, "position", wrong[i].at) || !mg_expect_named(run, "value", wrong[i].id))))
            return;
    }
}

/* No heads, fewer, and columns that they do not divide. */
void mg_08_heads_refused(mg_run *run, const attention_case *c, bool backward)
{
    static const int64_t heads[] = { 2, 0, -1 };
    for (int i = 0; i < MT_COUNT(heads); i++) {
        const mg_attention a = { .B = 1, .T = 1, .C = 5, .H = heads[i] };
        const mt_shape row = MT_SHAPE(1, 1, a.C);
        char name[80];
        mg_part(run, "refused heads", NULL);
        snprintf(name, sizeof name, "may abort: %s", mg_08_function(c->tiled, c->packed, c->bf16, false, backward));
        mg_begin_refused(run, name);
        if (backward)
            mg_inout(run, "dqkv", MT_F32, MT_SHAPE(1, 1, 3 * a.C));
        else
            mg_out(run, "out", MT_F32, row);
        mg_inout(run, "saved", MT_F32, MT_SHAPE(1, 2, 1, 1));
        if (backward)
            mg_in(run, "dout", MT_F32, row);
        mg_in(run, "qkv", c->bf16 ? MT_BF16 : MT_F32, MT_SHAPE(1, 1, 3 * a.C));
        if (backward)
            mg_in(run, "out", MT_F32, row);
        mg_08_send_shape(run, &a);
        snprintf(name, sizeof name, "C = 5 with H = %d", (int)a.H);
        if (!mg_refused(run, name, "H < 1, or C that H does not divide"))
            return;
    }
}

void mg_08_cached_refused(mg_run *run, const attention_case *c)
{
    static const int64_t wrong[][2] = { { 2, 0 }, { 0, 0 }, { -1, 0 }, { 1, -1 } }; /* heads, place */
    static const char *const what[] = { "C = 5 with H = 2", "H = 0", "H = -1", "place = -1" };
    for (int i = 0; i < MT_COUNT(wrong) && c->heads && c->scores == MG_SCORES_ANY; i++) {
        enum { C = 5 };
        mg_part(run, "refusals", NULL);
        mg_begin_refused(run, "may abort: mt_attention_cached_cpu");
        mg_out(run, "out", MT_F32, MT_SHAPE(C));
        mg_inout(run, "cache", MT_F32, MT_SHAPE(1, 2 * C));
        mg_in(run, "qkv", MT_F32, MT_SHAPE(3 * C));
        mg_i64(run, "place", wrong[i][1]);
        mg_i64(run, "C", C);
        mg_i64(run, "H", wrong[i][0]);
        if (!mg_refused(run, what[i], "H < 1, or C that H does not divide; place < 0"))
            return;
    }
}

void mg_08_one_token_held(mg_run *run, const attention_case *c)
{
    mg_part(run, "one token", "dv, too, is added to what is there; dq and dk stay as they are");
    mg_answer dqkv = mg_08_describe_backward(run, c, (mg_attention){ .B = 2, .T = 1, .C = 6, .H = 2 });
    mg_call_and_judge(run, &dqkv, 1);
}

/* ---- classifier ------------------------------------------------------------------------------------------ */

/* One row of one column, and this target of V classes. */
static bool refuse_target(mg_run *run, int32_t target, int64_t V)
{
    mg_part(run, "refusals", NULL);
    mg_begin_refused(run, "may abort: mt_classifier_fwd_cpu");
    mg_out(run, "loss", MT_F32, MT_SHAPE(1));
    mg_out(run, "probs", MT_F32, MT_SHAPE(1, V));
    mg_in(run, "x", MT_F32, MT_SHAPE(1, 1));
    mg_in(run, "w", MT_F32, MT_SHAPE(V, 1));
    *(int32_t *)mg_in(run, "target", MT_I32, MT_SHAPE(1)) = target;
    mg_i64(run, "N", 1);
    mg_i64(run, "C", 1);
    mg_i64(run, "V", V);
    return mg_refused(run, V ? "a target that is no class" : "a row without classes",
                      "a target out of range; V < 1 with N > 0");
}

void mg_08_classifier_refused(mg_run *run)
{
    if (refuse_target(run, -1, 1) && refuse_target(run, 1, 1))
        refuse_target(run, 0, 0);
}

/* A NaN in the second of three rows: its loss and probabilities are NaN. All other logits are 0. */
void mg_08_classifier_nan(mg_run *run)
{
    enum { N = 3, C = 5, V = 9, ROW = 1 };
    double *logits = mg_doubles(N * V);
    mg_part(run, "NaN", "a NaN in x makes loss and probabilities of its row NaN, and of no other");
    mg_begin(run, "mt_classifier_fwd_cpu");
    mg_answer answer[] = { mg_overwritten(run, "loss", MT_SHAPE(N)), mg_overwritten(run, "probs", MT_SHAPE(N, V)) };
    float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    x[ROW * C + C - 1] = NAN;
    mg_in(run, "w", MT_F32, MT_SHAPE(V, C));
    const int32_t *target = mg_in(run, "target", MT_I32, MT_SHAPE(N));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_i64(run, "V", V);
    mg_oracle_cross_entropy(answer[0].v, answer[0].e, logits, NULL, target, N, V);
    mg_oracle_softmax(answer[1].v, answer[1].e, logits, NULL, N, V);
    answer[0].v[ROW] = NAN;
    for (int64_t v = 0; v < V; v++)
        answer[1].v[ROW * V + v] = NAN;
    free(logits);
    mg_call_and_judge(run, answer, 2);
}
