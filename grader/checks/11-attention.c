/* 11-attention.c -- the checks of tiled attention that lab 08's plain kernels do not have (steps 11.1, 11.2,
 * 11.11, 11.12, 11.14): the same
 * bits for any number of threads, scores whose exponentials differ by all that f32 has, NaN, bytes moved. The others:
 * 08-attention.c. Rows: 11-fusion.c. */
#include "checks/11-fusion.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 };

/* ---- qkv in bf16 ------------------------------------------------------------------------------------- */

uint16_t *mg_11_rounded(mg_run *run, float *qkv, const mg_attention *a)
{
    uint16_t *sent = mg_in(run, "qkv", MT_BF16, MT_SHAPE(a->B, a->T, 3 * a->C));
    for (int64_t i = 0; i < a->B * a->T * 3 * a->C; i++) {
        mt_store_f64(sent, MT_BF16, i, qkv[i]);
        qkv[i] = (float)mt_load_f64(sent, MT_BF16, i);
    }
    return sent;
}

float *mg_11_floats(const mg_attention *a)
{
    static float *kept;
    free(kept);
    kept = malloc((size_t)mt_max(1, a->B * a->T * 3 * a->C) * sizeof *kept);
    MT_CHECK(kept, "out of memory for %lld tokens", (long long)(a->B * a->T));
    return kept;
}

/* ---- what is saved ------------------------------------------------------------------------------------ */

static void ask_saved(mg_run *run, bool packed)
{
    const double want = 2 * 3 * 5;
    mg_begin(run, packed ? "mt_attention_packed_saved_cpu" : "mt_attention_tiled_saved_cpu");
    mg_out(run, "numbers", MT_I64, MT_SHAPE(1));
    mg_i64(run, "B", 2);
    mg_i64(run, "T", 3);
    mg_i64(run, "H", 5);
    mg_hint(run, "one number for each row of scores: B H T");
    if (mg_call(run))
        mg_expect(run, "numbers", &want, NULL);
}

/* ---- aborts ---------------------------------------------------------------------------------------------- */

bool mg_11_aborts(mg_run *run, const char *hint)
{
    static const double yes = 1;
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_threads(run, 1);
    mg_hint(run, "%s", hint);
    return mg_call(run) && mg_expect(run, "aborted", &yes, NULL);
}

static void refuse_heads(mg_run *run, const attention_case *c)
{
    static const int64_t heads[] = { 0, 2 };
    bool good = true;
    for (int i = 0; i < MT_COUNT(heads) && good; i++) {
        const mg_attention a = { .B = 1, .T = 1, .C = 5, .H = heads[i] };
        char name[80];
        snprintf(name, sizeof name, "may abort: %s", mg_08_function(true, c->packed, c->bf16, false, false));
        mg_begin(run, name);
        mg_out(run, "out", MT_F32, MT_SHAPE(1, 1, a.C));
        mg_out(run, "saved", MT_F32, MT_SHAPE(1, 2, 1));
        mt_dtype dtype = c->bf16 ? MT_BF16 : MT_F32;
        memset(mg_in(run, "qkv", dtype, MT_SHAPE(1, 1, 3 * a.C)), 0, (size_t)(3 * a.C * mt_dtype_size(dtype)));
        mg_08_send_shape(run, &a);
        good = mg_11_aborts(run, "keep the check: the header says \"Aborts: H < 1, or C that H does not divide\"");
    }
}

/* ---- calls of fixed sizes ------------------------------------------------------------------------------- */

static const mg_attention wide = { .B = 1, .T = 40, .H = 2, .C = 2 * 129 }; /* no array of a packed kernel holds it */
static const mg_attention far = { .B = 1, .T = 1100, .H = 1, .C = 3 };      /* keys that are further back than 1024 */
static const mg_attention even = { .B = 1, .T = 40, .H = 2, .C = 2 * 32 };  /* rows of whole groups of four */

static bool call_of(mg_run *run, const attention_case *c, mg_attention a, bool backward)
{
    mg_answer answer[2] = { 0 };
    if (backward)
        answer[0] = mg_08_describe_backward(run, c, a);
    else
        mg_08_describe_forward(run, c, a, answer);
    if (!backward && !(c->judged & MG_JUDGE_LSE))
        mg_answer_drop(&answer[1]);
    return mg_call_and_judge(run, answer, backward ? 1 : 2);
}

/* All arrays, then each of them, are not aligned for wide loads. */
static void unaligned(mg_run *run, const attention_case *c, bool backward)
{
    mg_unaligned(run, true);
    bool good = call_of(run, c, even, backward);
    for (int k = 0; k < (backward ? 10 : 6) && good; k++) {
        mg_unaligned_one(run, k);
        good = call_of(run, c, even, backward);
    }
    mg_unaligned(run, false);
}

void mg_11_more(mg_run *run, const attention_case *c, bool backward)
{
    if (!c->tiled && !c->cuda && c->heads && (backward || c->scores == MG_SCORES_ANY))
        mg_08_heads_refused(run, backward);
    bool any = c->scores == MG_SCORES_ANY && c->judged == (backward ? MG_JUDGE_ALL : MG_JUDGE_OUT);
    if (c->cuda && any && c->tokens == (backward ? MG_TOKENS_FEW : MG_TOKENS_SHORT))
        unaligned(run, c, backward);
    if (!c->tiled && !c->cuda && !backward && c->tokens == MG_TOKENS_FEW) {
        mg_hint(run,
                "hide a score by a choice, not by adding -INFINITY: NaN would stay; and keep what is NaN and seen");
        mg_11_nan(run, c);
    }
    if (!c->tiled && !c->cuda && backward && c->held)
        mg_08_one_token_held(run, c);
    if (c->cuda || !c->tiled)
        return;
    if (any && c->tokens == MG_TOKENS_LONG && !call_of(run, c, far, backward))
        return;
    if (c->packed && !c->bf16 && c->tokens == MG_TOKENS_SHORT && (!backward || c->judged == MG_JUDGE_ALL))
        (void)call_of(run, c, wide, backward);
    if (!backward && c->tokens == MG_TOKENS_NONE)
        refuse_heads(run, c);
    if (!backward && !c->bf16 && c->judged == MG_JUDGE_LSE)
        ask_saved(run, c->packed);
}

/* ---- threads ----------------------------------------------------------------------------------------- */

/* The call that was described, on so many threads; *bits: of the answer with one thread. */
static bool same_bits(mg_run *run, const char *output, int64_t n, int threads, double **bits)
{
    mg_threads(run, threads);
    if (!mg_call(run))
        return false;
    if (*bits)
        return mg_expect(run, output, *bits, NULL);
    *bits = mg_lift(mg_result(run, output), n);
    return true;
}

/* Several tiles of several heads, searched for data races: whether one shows in the values is chance. */
static bool searched(mg_run *run, const attention_case *c, mg_attention a)
{
    mg_answer answer[2] = { 0 };
    if (c->backward)
        answer[0] = mg_08_describe_backward(run, c, a);
    else
        mg_08_describe_forward(run, c, a, answer);
    return mg_judge_answers(run, mg_shared_call(run), answer, c->backward ? 1 : 2);
}

void mg_11_threads(mg_run *run, const void *one_case)
{
    static const int threads[] = { 1, 2, 3, 5 };
    const attention_case *c = one_case;
    mg_attention a = { .B = 1, .T = mg_pick(mg_rng(run), 140, 200) + (c->packed ? 120 : 0), .H = 3, .C = 3 * 3 };
    if (!searched(run, c, a))
        return;
    a.C = 3 * 17;
    const mt_rng start = *mg_rng(run);
    double *bits = NULL;
    bool good = true;
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        mg_answer answer[2] = { 0 };
        *mg_rng(run) = start;
        if (c->backward)
            answer[0] = mg_08_describe_backward(run, c, a);
        else
            mg_08_describe_forward(run, c, a, answer);
        good = same_bits(run, c->backward ? "dqkv" : "out", a.B * a.T * a.C * (c->backward ? 3 : 1), threads[i], &bits);
        for (int k = 0; k < 2; k++)
            mg_answer_drop(&answer[k]);
    }
    free(bits);
}

/* ---- huge scores ------------------------------------------------------------------------------------- */

/* Queries are 1 in one column and 0 elsewhere, keys a power of two there, or 0: with 4^n columns a score is exactly
 * that power, divided by 2^n. The softmax is then the mean over the visible keys that have the largest score. */
static void expect_mean(mg_answer answer[2], const mg_attention *a, int64_t i, double root)
{
    int64_t D = a->C / a->H, first = i - i % a->T, out = mg_attention_row(a, i), count = 0;
    double max = -INFINITY;
    for (int64_t j = first; j <= i; j++) {
        int64_t at = mg_attention_row(a, j);
        const float *kv = a->qkv + at / a->C * 3 * a->C + a->C + at % a->C;
        double score = kv[0] / root;
        if (score > max) {
            max = score, count = 0;
            memset(answer[0].v + out, 0, (size_t)D * sizeof(double));
            memset(answer[0].e + out, 0, (size_t)D * sizeof(double));
        }
        count += score == max;
        for (int64_t d = 0; d < D && score == max; d++) {
            answer[0].v[out + d] += kv[a->C + d];
            answer[0].e[out + d] += fabs((double)kv[a->C + d]);
        }
    }
    for (int64_t d = 0; d < D; d++) { /* weights of e^0, off by 4 u and by 5 u for each larger maximum; their sum */
        answer[0].v[out + d] /= (double)count;
        answer[0].e[out + d] *= (2 * mg_gamma(count + 1) + 60 * MG_U) / (double)count;
        answer[0].e[out + d] += FLT_MIN;
    }
    answer[1].v[i] = max + log((double)count);
    answer[1].e[i] = mg_gamma(count) + 64 * MG_U + 4 * MG_U * fabs(answer[1].v[i]);
}

static bool huge(mg_run *run, const attention_case *c, int64_t T)
{
    static const float level[] = { -0x1p120f, -0x1p60f, -0x1p12f, 0, 0x1p12f, 0x1p60f, 0x1p120f };
    mt_rng *rng = mg_rng(run);
    int exponent = (int)mg_pick(rng, 0, 3);
    int64_t D = 1 << 2 * exponent;
    mg_attention a = { .B = 1, .T = T, .H = 2, .C = 2 * D };
    mg_begin(run, mg_08_function(c->tiled, c->packed, c->bf16, c->cuda, false));
    mg_answer answer[] = { mg_overwritten(run, "out", MT_SHAPE(1, T, a.C)),
                           mg_overwritten(run, "saved", MT_SHAPE(1, a.H, T)) };
    float sixteen[1 + T * 3 * a.C], *qkv = c->bf16 ? sixteen : mg_in(run, "qkv", MT_F32, MT_SHAPE(1, T, 3 * a.C));
    mg_fill(rng, qkv, T * 3 * a.C, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < T; i++)
        for (int64_t h = 0; h < a.H; h++) { /* a text's first keys have small scores, its last one the largest */
            float *q = qkv + i * 3 * a.C + h * D, *k = q + a.C;
            memset(q, 0, (size_t)D * sizeof *q);
            memset(k, 0, (size_t)D * sizeof *k);
            q[0] = 1;
            k[0] = i == T - 1 ? 0x1p122f : level[mg_pick(rng, 0, mt_min(6, i / 32))];
        }
    if (c->bf16) /* weights of e^0 = 1 and 0 are exact in it, too: sums of f32 are as near as with f32 values */
        mg_11_rounded(run, qkv, &a);
    a.qkv = qkv;
    mg_08_send_shape(run, &a);
    for (int64_t i = 0; i < mg_attention_places(&a); i++)
        expect_mean(answer, &a, i, 1 << exponent);
    return mg_call_and_judge(run, answer, 2);
}

void mg_11_huge(mg_run *run, const void *one_case)
{
    static const int64_t length[CALLS] = { 31, 64, 65, 130, 200, 1 };
    const attention_case *c = one_case;
    for (int t = 0; t < CALLS; t++)
        if (!huge(run, c, length[t]))
            return;
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

void mg_11_nan(mg_run *run, const void *one_case)
{
    static const int64_t length[CALLS] = { 1, 31, 64, 65, 130, 200 };
    for (int t = 0; t < CALLS; t++)
        if (!with_nan(run, one_case, length[t], mg_pick(mg_rng(run), 0, length[t] - 1)))
            return;
}

/* ---- bytes ------------------------------------------------------------------------------------------- */

/* The probabilities of a head would take 4 MiB; its queries, keys and values take 0.4 MiB, their gradients as much. */
void mg_11_attention_traffic(mg_run *run, const void *one_case)
{
    const fusion_traffic *c = one_case;
    const attention_case call = { .scores = MG_SCORES_ANY, .tiled = true, .packed = c->packed, .bf16 = c->bf16 };
    const mg_attention a = { .B = 1, .T = 1024, .H = 3, .C = 96 };
    mg_answer answer[2] = { 0 };
    if (c->backward)
        answer[0] = mg_08_describe_backward(run, &call, a);
    else
        mg_08_describe_forward(run, &call, a, answer);
    bool good = mg_traffic_call(run, c->cache);
    for (int k = 0; k < 2; k++) {
        good = good && (!answer[k].v || mg_expect(run, answer[k].name, answer[k].v, answer[k].e));
        mg_answer_drop(&answer[k]);
    }
    /* Forward reads qkv, fetches and writes out; backward reads qkv, out and dout, fetches and writes dqkv. */
    double numbers = c->backward ? 11 : c->bf16 ? 3.5 : 5; /* of 4 bytes, for each of out */
    if (good)
        mg_traffic_credit(run, c->bar, (double)sizeof(float) * (double)(a.T * a.C) * numbers);
}
