/* flash.c -- causal self-attention of many heads, forward and backward, without storing T x T scores: the tiled rung
 * of the attention ladder (models/kernels_gpt2.h). Lab 11.
 *
 * A tile of ROWS queries and KEYS keys at a time. Forward keeps each query's largest score and its sum so far, and
 * rescales what it has summed when a larger score comes (the online softmax); backward computes the probabilities
 * again from the log-sum-exp that forward saved. The products are lab 01's packed kernel on one thread; threads
 * share out heads and tiles of queries (forward), heads (backward), never a sum. Source: Dao et al. 2022,
 * arXiv:2205.14135, with CPU tiles. */
#include "models/heads.h"
#include "fused/kernels_fused.h"
#include "kernels/vecmath.h"

enum {
    ROWS = 64,
    KEYS = 64
}; /* a tile of scores, 16 KiB, stays in the L1 cache; equal, so that one tile has the diagonal */

int64_t mt_attention_tiled_saved_cpu(int64_t B, int64_t T, int64_t H)
{
    return B * H * T; /* the log-sum-exp of each row of scores */
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* The softmax of one query over the keys so far. */
typedef struct running {
    float max, sum;
} running;

/* Scores become unnormalised probabilities, of which the first `visible` count; returns the factor by which all earlier
 * sums must be multiplied. */
static float add_tile(running *r, float *score, int64_t visible, int64_t keys, float scale)
{
    float before = r->max, max = before, sum = 0, shrink = 0;
    /* LAB 11.1 BEGIN  The scores of one more tile of keys.
     * Hint: scale the visible scores and find the new maximum. What was summed before was divided by e^before, and
     * now has to be divided by e^max: shrink = e^(before - max). Keys after the query get probability 0, not score
     * 0. */
#pragma omp simd reduction(max : max)
    for (int64_t j = 0; j < visible; j++) {
        score[j] *= scale;
        max = score[j] > max ? score[j] : max;
    }
#pragma omp simd
    for (int64_t j = 0; j < visible; j++)
        score[j] = mt_expf(score[j] - max);
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < visible; j++)
        sum += score[j];
    for (int64_t j = visible; j < keys; j++)
        score[j] = 0;
    shrink = mt_expf(before - max);
    *r = (running){ max, r->sum * shrink + sum };
    /* LAB 11.1 END */
    return shrink;
}

/* Queries begin .. begin+rows-1 of a head. */
static void attend(float *out, float *lse, const mt_head *h, int64_t begin, int64_t rows)
{
    _Alignas(64) float score[ROWS * KEYS];
    running so_far[ROWS];
    for (int64_t r = 0; r < rows; r++)
        so_far[r] = (running){ -INFINITY, 0 };
    /* LAB 11.1 BEGIN  All tiles of keys that these queries see.
     * Hint: mt_head_product gives the scores of all rows and `keys` keys, add_tile makes each row's weights of them.
     * What a row of out holds from the tiles before shrinks like its sum; then the product of the weights and the
     * values is added. The first tile overwrites out. Rows of q, k and v are 3C apart, rows of out C. */
    for (int64_t j = 0; j <= begin; j += KEYS) {
        int64_t keys = mt_min(KEYS, begin + rows - j), step = 3 * h->C;
        mt_head_product(score, KEYS, h->q + begin * step, step, MT_NO_TRANS, h->k + j * step, step, MT_TRANS, rows,
                        keys, h->D, MT_OVERWRITE);
        for (int64_t r = 0; r < rows; r++) {
            float *o = out + (begin + r) * h->C;
            float shrink = add_tile(&so_far[r], score + r * KEYS, mt_min(keys, begin + r + 1 - j), keys, h->scale);
            for (int64_t d = 0; d < h->D && j > 0; d++)
                o[d] *= shrink;
        }
        mt_head_product(out + begin * h->C, h->C, score, KEYS, MT_NO_TRANS, h->v + j * step, step, MT_NO_TRANS, rows,
                        h->D, keys, j > 0 ? MT_ACCUMULATE : MT_OVERWRITE);
    }
    /* LAB 11.1 END */
    for (int64_t r = 0; r < rows; r++) {
        float *o = out + (begin + r) * h->C;
        for (int64_t d = 0; d < h->D; d++)
            o[d] /= so_far[r].sum;
        lse[begin + r] = so_far[r].max + logf(so_far[r].sum);
    }
}

void mt_attention_tiled_fwd_cpu(float *out, float *saved, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
    int64_t tiles = (T + ROWS - 1) / ROWS;
#pragma omp parallel for schedule(dynamic)
    for (int64_t task = 0; task < B * H * tiles; task++) {
        int64_t index = task / tiles, begin = task % tiles * ROWS;
        mt_head h = mt_head_of(qkv, index, T, C, H);
        attend(out + index / H * T * C + index % H * h.D, saved + index * T, &h, begin, mt_min(ROWS, T - begin));
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* Rows of a tile: the scores become probabilities, and dp becomes the gradient of the scores before they were
 * scaled. */
static void tile_backward(float *score, float *dp, const float *lse, const float *delta, int64_t rows, int64_t keys,
                          int64_t ahead, float scale)
{
    for (int64_t r = 0; r < rows; r++) {
        float *p = score + r * KEYS, *d = dp + r * KEYS;
        int64_t visible = mt_min(keys, ahead + r + 1);
        /* LAB 11.2 BEGIN  The row's probabilities again, and the gradient of its scores.
         * Hint: p = e^(score * scale - lse). Softmax's backward is p * (dp - delta), where delta, the sum of p * dp,
         * was computed from out and dout. The scores were scaled: so is their gradient. What is not visible is 0 in
         * both. */
#pragma omp simd
        for (int64_t j = 0; j < visible; j++) {
            p[j] = mt_expf(p[j] * scale - lse[r]);
            d[j] = p[j] * (d[j] - delta[r]) * scale;
        }
        for (int64_t j = visible; j < keys; j++)
            p[j] = d[j] = 0;
        /* LAB 11.2 END */
    }
}

/* All gradients of one head; dq, dk, dv stand to dqkv as h's to qkv. */
static void head_backward(float *dq, const float *dout, const float *out, const float *lse, const mt_head *h)
{
    _Alignas(64) float score[ROWS * KEYS], dp[ROWS * KEYS], delta[ROWS];
    int64_t D = h->D, step = 3 * h->C;
    float *dk = dq + h->C, *dv = dk + h->C;
    for (int64_t i = 0; i < h->T; i += ROWS) {
        int64_t rows = mt_min(ROWS, h->T - i);
        const float *q = h->q + i * step, *g = dout + i * h->C, *o = out + i * h->C;
        for (int64_t r = 0; r < rows; r++) {
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t d = 0; d < D; d++)
                sum += g[r * h->C + d] * o[r * h->C + d];
            delta[r] = sum;
        }
        /* LAB 11.2 BEGIN  All tiles of keys that these queries see, in five products.
         * Hint: the scores again, as in forward, and dp = dout v^T; tile_backward makes probabilities and gradients of
         * both. Then dv += p^T dout, dk += ds^T q and dq += ds k, each with the tile's rows of both. */
        for (int64_t j = 0; j <= i; j += KEYS) {
            int64_t keys = mt_min(KEYS, i + rows - j), at = j * step;
            mt_head_product(score, KEYS, q, step, MT_NO_TRANS, h->k + at, step, MT_TRANS, rows, keys, D, MT_OVERWRITE);
            mt_head_product(dp, KEYS, g, h->C, MT_NO_TRANS, h->v + at, step, MT_TRANS, rows, keys, D, MT_OVERWRITE);
            tile_backward(score, dp, lse + i, delta, rows, keys, i - j, h->scale);
            mt_head_product(dv + at, step, score, KEYS, MT_TRANS, g, h->C, MT_NO_TRANS, keys, D, rows, MT_ACCUMULATE);
            mt_head_product(dk + at, step, dp, KEYS, MT_TRANS, q, step, MT_NO_TRANS, keys, D, rows, MT_ACCUMULATE);
            mt_head_product(dq + i * step, step, dp, KEYS, MT_NO_TRANS, h->k + at, step, MT_NO_TRANS, rows, D, keys,
                            MT_ACCUMULATE);
        }
        /* LAB 11.2 END */
    }
}

void mt_attention_tiled_bwd_cpu(float *dqkv, const float *dout, const float *qkv, const float *out, float *saved,
                                int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
#pragma omp parallel for schedule(dynamic)
    for (int64_t index = 0; index < B * H; index++) {
        mt_head h = mt_head_of(qkv, index, T, C, H);
        int64_t at = index / H * T * C + index % H * h.D;
        head_backward(dqkv + (h.q - qkv), dout + at, out + at, saved + index * T, &h);
    }
}
