/* 11-attention.c -- the checks that only tiled attention has (steps 11.1, 11.2, 11.11, 11.12, 11.14): the same bits for
 * any number of threads, scores whose exponentials differ by all that f32 has, bytes moved. The others: attention.c and
 * 08-attention.c. Rows: 11-fusion.c. */
#include "checks/11-fusion.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 };

/* ---- threads ----------------------------------------------------------------------------------------- */

/* Several tiles of several heads, searched for data races: whether one shows in the values is chance. */
void mg_11_threads(mg_run *run, const void *one_case)
{
    const attention_case *c = one_case;
    mg_attention a = { .B = 1, .T = mg_pick(mg_rng(run), 140, 200) + (c->packed ? 120 : 0), .H = 3, .C = 3 * 3 };
    mg_answer answer[2] = { 0 };
    mg_part(run, "data races", NULL);
    int count = mg_08_describe(run, c, a, answer, c->backward);
    if (!mg_judge_answers(run, mg_shared_call(run), answer, count))
        return;
    a.C = 3 * 17;
    mg_part(run, "equal bits with 1, 2 and 3 threads", NULL);
    count = mg_08_describe(run, c, a, answer, c->backward);
    mg_threads_and_judge(run, answer, count);
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
        mg_attention_rounded(run, qkv, &a);
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

/* ---- bytes ------------------------------------------------------------------------------------------- */

/* The probabilities of a head would take 4 MiB; its queries, keys and values take 0.4 MiB, their gradients as much. */
void mg_11_attention_traffic(mg_run *run, const void *one_case)
{
    const fusion_traffic *c = one_case;
    const attention_case call = { .scores = MG_SCORES_ANY, .tiled = true, .packed = c->packed, .bf16 = c->bf16 };
    const mg_attention a = { .B = 1, .T = 1024, .H = 3, .C = 96 };
    mg_answer answer[2] = { 0 };
    const int count = mg_08_describe(run, &call, a, answer, c->backward);
    const bool good = mg_judge_answers(run, mg_traffic_call(run, c->cache), answer, count);
    /* Forward reads qkv, fetches and writes out; backward reads qkv, out and dout, fetches and writes dqkv. */
    double numbers = c->backward ? 11 : c->bf16 ? 3.5 : 5; /* of 4 bytes, for each of out */
    if (good)
        mg_traffic_credit(run, c->bar, (double)sizeof(float) * (double)(a.T * a.C) * numbers);
}
