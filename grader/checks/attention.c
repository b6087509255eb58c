/* attention.c -- checks of attention that the plain kernels, the tiled ones, the packed ones and the device share: qkv
 * in bf16, calls of fixed sizes, NaN. How a call is described: 08-attention.c. */
#include "checks/08-attention.h"
#include "rows/device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- qkv in bf16 ------------------------------------------------------------------------------------- */

uint16_t *mg_attention_rounded(mg_run *run, float *qkv, const mg_attention *a)
{
    uint16_t *sent = mg_in(run, "qkv", MT_BF16, MT_SHAPE(a->B, a->T, 3 * a->C));
    for (int64_t i = 0; i < a->B * a->T * 3 * a->C; i++) {
        mt_store_f64(sent, MT_BF16, i, qkv[i]);
        qkv[i] = (float)mt_load_f64(sent, MT_BF16, i);
    }
    return sent;
}

float *mg_attention_floats(const mg_attention *a)
{
    static float *kept;
    free(kept);
    kept = malloc((size_t)mt_max(1, a->B * a->T * 3 * a->C) * sizeof *kept);
    MT_CHECK(kept, "out of memory for %lld tokens", (long long)(a->B * a->T));
    return kept;
}

/* ---- calls of fixed sizes ------------------------------------------------------------------------------- */

static void ask_saved(mg_run *run, bool packed)
{
    const double want = 2 * 3 * 5;
    mg_part(run, "the size of saved", "one number for each row of scores: B H T");
    mg_begin(run, packed ? "mt_attention_packed_saved_cpu" : "mt_attention_tiled_saved_cpu");
    mg_out(run, "numbers", MT_I64, MT_SHAPE(1));
    mg_i64(run, "B", 2);
    mg_i64(run, "T", 3);
    mg_i64(run, "H", 5);
    if (mg_call(run))
        mg_expect(run, "numbers", &want, NULL);
}

static void call_of(mg_run *run, const attention_case *c, mg_attention a, bool backward, const char *part,
                    const char *hint)
{
    mg_answer answer[2] = { 0 };
    mg_part(run, part, "%s", hint);
    const int count = mg_08_describe(run, c, a, answer, backward);
    if (!backward && !(c->judged & MG_JUDGE_LSE))
        mg_answer_drop(&answer[1]);
    mg_call_and_judge(run, answer, count);
}

/* Rows of whole groups of four; all arrays, then each of them, are not aligned for wide loads. */
static void unaligned(mg_run *run, const attention_case *c, bool backward)
{
    static const char hint[] = "a float4 must begin at a multiple of 16 bytes: test every pointer";
    const mg_attention even = { .B = 1, .T = 40, .H = 2, .C = 2 * 32 };
    mg_unaligned(run, true);
    call_of(run, c, even, backward, "arrays that are not aligned", hint);
    for (int k = 0; k < (backward ? 10 : 6); k++) {
        mg_unaligned_one(run, k);
        call_of(run, c, even, backward, "one array that is not aligned", hint);
    }
    mg_unaligned(run, false);
}

/* What follows a failure calls nothing. */
void mg_attention_more(mg_run *run, const attention_case *c, bool backward)
{
    const bool plain = !c->tiled && !c->cuda, tiled = c->tiled && !c->cuda, any = c->scores == MG_SCORES_ANY;
    const bool whole = any && c->judged == (backward ? MG_JUDGE_ALL : MG_JUDGE_OUT);
    if (plain ? c->heads && (backward || any) : tiled && !backward && c->tokens == MG_TOKENS_NONE)
        mg_08_heads_refused(run, c, backward);
    if (c->cuda && whole && c->tokens == (backward ? MG_TOKENS_FEW : MG_TOKENS_SHORT))
        unaligned(run, c, backward);
    if (plain && !backward && c->tokens == MG_TOKENS_FEW) {
        mg_part(run, "NaN",
                "hide a score by a choice, not by adding -INFINITY: NaN would stay; and keep what is NaN and seen");
        mg_attention_nan(run, c);
    }
    if (plain && backward && c->held)
        mg_08_one_token_held(run, c);
    if (tiled && whole && c->tokens == MG_TOKENS_LONG)
        call_of(run, c, (mg_attention){ .B = 1, .T = 1100, .H = 1, .C = 3 }, backward, "more than 1,024 keys",
                "a query sees all keys before it, however far back they are");
    if (tiled && c->packed && !c->bf16 && c->tokens == MG_TOKENS_SHORT && (!backward || c->judged == MG_JUDGE_ALL))
        call_of(run, c, (mg_attention){ .B = 1, .T = 40, .H = 2, .C = 2 * 129 }, backward, "heads of 129 columns",
                "a head may have more columns than an array of a fixed size holds");
    if (tiled && !backward && !c->bf16 && c->judged == MG_JUDGE_LSE)
        ask_saved(run, c->packed);
}

/* ---- NaN --------------------------------------------------------------------------------------------- */

/* A key that is NaN: the queries that see it have no result, and no others. */
static bool with_nan(mg_run *run, const attention_case *c, int64_t T, int64_t place)
{
    mg_attention a = { .B = 1, .T = T, .H = 2, .C = 2 * 9 };
    mg_answer answer[2];
    void *qkv = mg_08_describe_forward(run, c, a, answer);
    mt_store_f64(qkv, c->bf16 ? MT_BF16 : MT_F32, place * 3 * a.C + a.C, NAN);
    bool good = mg_call(run);
    const float *out = good ? mg_result(run, "out") : NULL;
    for (int64_t i = 0; i < T * a.C && good; i++) {
        bool sees = i / a.C >= place && i % a.C < a.C / a.H, right = fabs(out[i] - answer[0].v[i]) <= answer[0].e[i];
        if (sees ? isnan(out[i]) : right)
            continue;
        mg_fail(run, "out[%lld] is %g: key %lld of head 0 is NaN, so that %s", (long long)i, (double)out[i],
                (long long)place, sees ? "this query has no result" : "this query or head does not see it");
        good = false;
    }
    for (int k = 0; k < 2; k++)
        mg_answer_drop(&answer[k]);
    return good;
}

void mg_attention_nan(mg_run *run, const void *one_case)
{
    static const int64_t length[] = { 1, 31, 64, 65, 130, 200 };
    for (int t = 0; t < MT_COUNT(length); t++)
        if (!with_nan(run, one_case, length[t], mg_pick(mg_rng(run), 0, length[t] - 1)))
            return;
}
