/* attention.c -- causal self-attention of many heads, forward and backward, without ever holding T x T scores.
 *
 * A tile of ROWS queries meets the keys KEYS at a time. Forward keeps each query's largest score and sum so far, and shrinks
 * what it has summed when a larger score comes (the online softmax); backward makes the probabilities again from the
 * log-sum-exp that forward saved. The products are lab 01's packed kernel on one thread; threads share out heads and tiles
 * of queries (forward), heads (backward), never a sum. Source: Dao et al. 2022, arXiv:2205.14135, with CPU tiles. */
#include "ops/kernels_gpt2.h"
#include "ops/matmul.h"
#include "ops/vecmath.h"

#include <inttypes.h>
#include <math.h>

enum {
    ROWS = 64,
    KEYS = 64
}; /* a tile of scores, 16 KiB, stays in the L1 cache; equal, so that one tile has the diagonal */

/* One head of one sample. Row t of its queries is q + t * 3C, likewise k and v; of its output out + t * C. */
typedef struct head {
    const float *q, *k, *v;
    int64_t T, C, D; /* D = C / H columns are this head's */
    float scale;     /* of the scores: 1 / sqrt(D) */
} head;

static head head_of(const float *qkv, int64_t index, int64_t T, int64_t C, int64_t H)
{
    const float *q = qkv + index / H * T * 3 * C + index % H * (C / H);
    return (head){ q, q + C, q + 2 * C, T, C, C / H, 1 / sqrtf((float)(C / H)) };
}

static void check_heads(int64_t C, int64_t H)
{
    MT_CHECK(H >= 1 && C % H == 0, "attention: %" PRId64 " columns cannot be split between %" PRId64 " heads", C, H);
}

/* c [M,N] = or += a b; leading dimensions stand beside their arrays. */
static void multiply(float *c, int64_t ldc, const float *a, int64_t lda, mt_trans trans_a, const float *b, int64_t ldb,
                     mt_trans trans_b, int64_t M, int64_t N, int64_t K, mt_write write)
{
    const mt_matmul_dims dims = { M, N, K, lda, ldb, ldc, trans_a, trans_b, write };
    mt_matmul_packed_cpu(c, a, b, &dims);
}

/* ---- forward ------------------------------------------------------------------------------------ */

/* A query's share of the softmax so far. */
typedef struct running {
    float max, sum;
} running;

/* Scores become unnormalised probabilities, of which the first `visible` of KEYS count; returns what all sums before must
 * be multiplied with. */
static float absorb(running *r, float *score, int64_t visible, int64_t keys, float scale)
{
    float before = r->max, max = before, sum = 0, shrink = 0;
    /* TODO 08.5: Meet the scores of one more tile of keys.
     * Hint: scale the visible scores and find the new maximum. What was summed before was divided by e^before, and now has
     * to be divided by e^max: shrink = e^(before - max). Keys after the query get probability 0, not score 0. */
    MT_TODO("08.5");
    return shrink;
}

/* Queries begin .. begin+rows-1 of a head. */
static void attend(float *out, float *lse, const head *h, int64_t begin, int64_t rows)
{
    _Alignas(64) float score[ROWS * KEYS];
    running so_far[ROWS];
    for (int64_t r = 0; r < rows; r++)
        so_far[r] = (running){ -INFINITY, 0 };
    for (int64_t j = 0; j <= begin; j += KEYS) {
        int64_t keys = mt_min(KEYS, begin + rows - j), step = 3 * h->C;
        multiply(score, KEYS, h->q + begin * step, step, MT_NO_TRANS, h->k + j * step, step, MT_TRANS, rows, keys, h->D,
                 MT_OVERWRITE);
        for (int64_t r = 0; r < rows; r++) {
            float *o = out + (begin + r) * h->C;
            float shrink = absorb(&so_far[r], score + r * KEYS, mt_min(keys, begin + r + 1 - j), keys, h->scale);
            for (int64_t d = 0; d < h->D && j > 0; d++)
                o[d] *= shrink;
        }
        multiply(out + begin * h->C, h->C, score, KEYS, MT_NO_TRANS, h->v + j * step, step, MT_NO_TRANS, rows, h->D,
                 keys, j > 0 ? MT_ACCUMULATE : MT_OVERWRITE);
    }
    for (int64_t r = 0; r < rows; r++) {
        float *o = out + (begin + r) * h->C;
        for (int64_t d = 0; d < h->D; d++)
            o[d] /= so_far[r].sum;
        lse[begin + r] = so_far[r].max + logf(so_far[r].sum);
    }
}

void mt_attention_fwd_cpu(float *out, float *lse, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    check_heads(C, H);
    int64_t tiles = (T + ROWS - 1) / ROWS;
#pragma omp parallel for schedule(dynamic)
    for (int64_t task = 0; task < B * H * tiles; task++) {
        int64_t index = task / tiles, begin = task % tiles * ROWS;
        head h = head_of(qkv, index, T, C, H);
        attend(out + index / H * T * C + index % H * h.D, lse + index * T, &h, begin, mt_min(ROWS, T - begin));
    }
}

/* ---- backward ----------------------------------------------------------------------------------- */

/* Rows of a tile: the scores become probabilities, and dp becomes the gradient of the scores before they were scaled. */
static void tile_backward(float *score, float *dp, const float *lse, const float *delta, int64_t rows, int64_t keys,
                          int64_t ahead, float scale)
{
    for (int64_t r = 0; r < rows; r++) {
        float *p = score + r * KEYS, *d = dp + r * KEYS;
        int64_t visible = mt_min(keys, ahead + r + 1);
        /* TODO 08.6: The row's probabilities again, and the gradient of its scores.
         * Hint: p = e^(score * scale - lse). Softmax's backward is p * (dp - delta), where delta = sum of p * dp was made
         * from out and dout. The scores were scaled: so is their gradient. What is not visible is 0 in both. */
        MT_TODO("08.6");
    }
}

/* All gradients of one head; dq, dk, dv stand to dqkv as h's to qkv. */
static void head_backward(float *dq, const float *dout, const float *out, const float *lse, const head *h)
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
        for (int64_t j = 0; j <= i; j += KEYS) {
            int64_t keys = mt_min(KEYS, i + rows - j), at = j * step;
            multiply(score, KEYS, q, step, MT_NO_TRANS, h->k + at, step, MT_TRANS, rows, keys, D, MT_OVERWRITE);
            multiply(dp, KEYS, g, h->C, MT_NO_TRANS, h->v + at, step, MT_TRANS, rows, keys, D, MT_OVERWRITE);
            tile_backward(score, dp, lse + i, delta, rows, keys, i - j, h->scale);
            multiply(dv + at, step, score, KEYS, MT_TRANS, g, h->C, MT_NO_TRANS, keys, D, rows, MT_ACCUMULATE);
            multiply(dk + at, step, dp, KEYS, MT_TRANS, q, step, MT_NO_TRANS, keys, D, rows, MT_ACCUMULATE);
            multiply(dq + i * step, step, dp, KEYS, MT_NO_TRANS, h->k + at, step, MT_NO_TRANS, rows, D, keys,
                     MT_ACCUMULATE);
        }
    }
}

void mt_attention_bwd_cpu(float *dqkv, const float *dout, const float *qkv, const float *out, const float *lse,
                          int64_t B, int64_t T, int64_t C, int64_t H)
{
    check_heads(C, H);
#pragma omp parallel for schedule(dynamic)
    for (int64_t index = 0; index < B * H; index++) {
        head h = head_of(qkv, index, T, C, H);
        int64_t at = index / H * T * C + index % H * h.D;
        head_backward(dqkv + (h.q - qkv), dout + at, out + at, lse + index * T, &h);
    }
}
