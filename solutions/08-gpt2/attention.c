/* attention.c -- causal self-attention of many heads, forward and backward. All probabilities of a head are stored,
 * T x T.
 *
 * Forward leaves them in saved [B,H,T,T]; backward replaces them by the gradient of the scores. The products are lab
 * 01's packed kernel on one thread. Threads share out the heads of all samples: no sum is split, so the result does
 * not depend on their number. Lab 11 writes the tiled form, which stores one number a row.
 * Source: Vaswani et al. 2017, arXiv:1706.03762, sec. 3.2. */
#include "models/heads.h"
#include "kernels/kernels.h"
#include "models/kernels_gpt2.h"

int64_t mt_attention_plain_saved_cpu(int64_t B, int64_t T, int64_t H)
{
    return B * H * T * T;
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* One head: out is [T,D] with rows C apart; p [T,T] becomes its probabilities. */
static void attend(float *out, float *p, const mt_head *h)
{
    int64_t T = h->T, C = h->C, D = h->D, step = 3 * C;
    /* LAB 08.5 BEGIN  Scores, probabilities and weighted sums of one head.
     * Hint: scores are the product of q and k transposed (mt_head_product; rows of q, k and v are `step` apart).
     * Scale them; row i sees the keys 0 .. i, and a score of -INFINITY has probability 0. Softmax of the rows is lab
     * 02's mt_softmax_fwd_cpu, which works in place. The weighted sums are the product of p and v. */
    mt_head_product(p, T, h->q, step, MT_NO_TRANS, h->k, step, MT_TRANS, T, T, D, MT_OVERWRITE);
    for (int64_t i = 0; i < T; i++)
        for (int64_t j = 0; j < T; j++)
            p[i * T + j] = j <= i ? p[i * T + j] * h->scale : -INFINITY;
    mt_softmax_fwd_cpu(p, p, T, T);
    mt_head_product(out, C, p, T, MT_NO_TRANS, h->v, step, MT_NO_TRANS, T, D, T, MT_OVERWRITE);
    /* LAB 08.5 END */
}

void mt_attention_plain_fwd_cpu(float *out, float *saved, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
#pragma omp parallel for schedule(dynamic)
    for (int64_t index = 0; index < B * H; index++) {
        mt_head h = mt_head_of(qkv, index, T, C, H);
        attend(out + index / H * T * C + index % H * h.D, saved + index * T * T, &h);
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* The sum of the products of D numbers. */
static float dot(const float *a, const float *b, int64_t D)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t d = 0; d < D; d++)
        sum += a[d] * b[d];
    return sum;
}

/* One head: dq, dk, dv stand to dqkv as h's q, k, v to qkv. p [T,T] holds the probabilities and may be overwritten. */
static void head_backward(float *dq, float *p, const float *dout, const float *out, const mt_head *h)
{
    int64_t T = h->T, C = h->C, D = h->D, step = 3 * C;
    float *dk = dq + C, *dv = dk + C;
    /* LAB 08.6 BEGIN  Gradients of the queries, keys and values of one head.
     * Hint: dv needs p as it is. Then turn p, row by row, into the gradient of the scores before they were scaled.
     * Softmax's backward (lab 02) needs a sum over the row, which also follows from dout and out of that row alone:
     * derive it. Hidden keys have p = 0 and stay 0. dq and dk are products of the result with k and q. */
    mt_head_product(dv, step, p, T, MT_TRANS, dout, C, MT_NO_TRANS, T, D, T, MT_ACCUMULATE);
    for (int64_t i = 0; i < T; i++) {
        const float *g = dout + i * C;
        float delta = dot(g, out + i * C, D);
        for (int64_t j = 0; j <= i; j++)
            p[i * T + j] *= (dot(g, h->v + j * step, D) - delta) * h->scale;
    }
    mt_head_product(dq, step, p, T, MT_NO_TRANS, h->k, step, MT_NO_TRANS, T, D, T, MT_ACCUMULATE);
    mt_head_product(dk, step, p, T, MT_TRANS, h->q, step, MT_NO_TRANS, T, D, T, MT_ACCUMULATE);
    /* LAB 08.6 END */
}

void mt_attention_plain_bwd_cpu(float *dqkv, const float *dout, const float *qkv, const float *out, float *saved,
                                int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
#pragma omp parallel for schedule(dynamic)
    for (int64_t index = 0; index < B * H; index++) {
        mt_head h = mt_head_of(qkv, index, T, C, H);
        int64_t at = index / H * T * C + index % H * h.D;
        head_backward(dqkv + (h.q - qkv), saved + index * T * T, dout + at, out + at, &h);
    }
}
