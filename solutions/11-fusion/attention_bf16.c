/* attention_bf16.c -- attention in tiles of 16 bits: the forward of the attention ladder's last rung
 * (models/kernels_gpt2.h). Lab 11.
 *
 * Tiles, tasks and online softmax are packed.c's. Queries, keys and values are bf16, as mixed precision keeps them (lab
 * 09), and both products add two numbers of K at a time to f32 sums, as lab 09's product does:
 *
 *     keys    [D,KEYS]   S = q k^T     pairs of columns of a key, which are neighbours in memory
 *     values  [KEYS,D]   out += P v    pairs of rows: the numbers (2p,j) and (2p + 1,j) of pair p
 *
 * Scores, their maximum, the weights e^(score - max) and the sum of these are f32. Only what enters the second product
 * is rounded: P, to bf16. Backward is packed.c's, which reads the same queries, keys and values widened to f32. */
#include "models/heads.h"
#include "fused/kernels_fused.h"
#include "kernels/vec16.h"
#include "kernels/vecmath.h"

enum {
    VL = MT_VL,              /* floats in a vector register, and pairs */
    NR = 2 * VL,             /* a tile of C is two vectors wide */
    MR = (MT_VREGS - 3) / 2, /* and as high as the registers allow: 14 x 32 in AVX-512, 6 x 16 in AVX2 */
    SIDE = 128,              /* the most columns of a head, and the scores of a row of a tile */
    PAIRS = SIDE / 2,        /* of a row of a tile */
    KEYS = 126,              /* keys of a tile: whole tiles of 14 rows and of 6 */
    QUERIES = 2 * KEYS       /* of a task, for which keys and values are packed once */
};

/* One head of one sample: mt_head (models/heads.h) with numbers of 16 bits. */
typedef struct head {
    const mt_bf16 *q, *k, *v;
    int64_t T, C, D;
    float scale;
} head;

/* ---- packing -------------------------------------------------------------------------------------- */

static uint32_t pair_of(mt_bf16 first, mt_bf16 second)
{
    return first.bits | (uint32_t)second.bits << 16;
}

/* Rows of a matrix as they are, PAIRS pairs a row. An odd last number is paired with 0. */
static void copy_rows(uint32_t *to, const mt_bf16 *from, int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r++, to += PAIRS, from += ld) {
        for (int64_t p = 0; p < cols / 2; p++)
            to[p] = pair_of(from[2 * p], from[2 * p + 1]);
        if (cols % 2)
            to[cols / 2] = from[cols - 1].bits;
    }
}

/* The transpose of the matrix as panels of NR columns of pairs: its rows become columns. Columns up to the next whole
 * vector repeat the last; an odd last number of a row is paired with 0. */
static void pack_columns(uint32_t *to, const mt_bf16 *from, int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r += VL) {
        uint32_t *at = to + r / NR * NR * PAIRS + r % NR;
        const mt_bf16 *row[VL];
        int64_t c = 0;
        for (int i = 0; i < VL; i++)
            row[i] = from + mt_min(r + i, rows - 1) * ld;
        for (; c + 2 * VL <= cols; c += 2 * VL) {
            mt_vec square[VL];
            for (int i = 0; i < VL; i++)
                square[i] = (mt_vec)mt_load_pairs(row[i] + c);
            mt_vec_transpose(square);
            for (int i = 0; i < VL; i++)
                mt_store_pairs(at + (c / 2 + i) * NR, (mt_pairs)square[i]);
        }
        for (; c < cols; c += 2)
            for (int i = 0; i < VL; i++)
                at[c / 2 * NR + i] = pair_of(row[i][c], c + 1 < cols ? row[i][c + 1] : (mt_bf16){ 0 });
    }
}

/* Pairs of rows of a matrix as panels of NR columns. The last of an odd number of rows is paired with 0. */
static void pack_rows(uint32_t *to, const mt_bf16 *from, int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t c = 0; c < cols; c += VL)
        for (int64_t r = 0; r < rows; r += 2) {
            const mt_bf16 *row = from + r * ld + c;
            mt_store_pairs(to + c / NR * NR * PAIRS + r / 2 * NR + c % NR,
                           mt_pair_up(row, r + 1 < rows ? row + ld : NULL, mt_min(VL, cols - c)));
        }
}

/* ---- the inner kernel ------------------------------------------------------------------------------ */

/* c [rows,N] = or += a b for rows <= MR; a has PAIRS pairs a row, and b is packed. Always MR rows are computed: a has
 * so many, of which those after `rows` may hold anything. */
static inline __attribute__((always_inline)) void multiply(float *c, int64_t ldc, const uint32_t *a, const uint32_t *b,
                                                           int64_t rows, int64_t N, int64_t K, mt_write write)
{
    for (int64_t v = 0; v < N; v += NR, b += NR * PAIRS) {
        mt_vec sum[MR][2] = { 0 };
        const int64_t cols[2] = { mt_min(VL, N - v), mt_max(0, mt_min(VL, N - v - VL)) };
        /* LAB 11.14 BEGIN  One tile of C, in registers: K numbers are K / 2 pairs, rounded up.
         * Hint: as in 09.10. Row p of b's panel is two vectors of pairs, at b + p * NR; load them (mt_load_pairs) once
         * for all rows of a. Pair p of row i is a[i * PAIRS + p], the same for all columns: mt_same_pairs, then
         * mt_dot_pairs. `#pragma GCC unroll 16` before the loop over i keeps the sums in registers. */
        for (int64_t p = 0; p < mt_ceil_div(K, 2); p++) {
            mt_pairs b0 = mt_load_pairs(b + p * NR), b1 = mt_load_pairs(b + p * NR + VL);
#pragma GCC unroll 16
            for (int i = 0; i < MR; i++) {
                mt_pairs x = mt_same_pairs(a[i * PAIRS + p]);
                sum[i][0] = mt_dot_pairs(sum[i][0], x, b0);
                sum[i][1] = mt_dot_pairs(sum[i][1], x, b1);
            }
        }
        /* LAB 11.14 END */
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++)
            for (int w = 0; w < 2 && i < rows; w++) {
                float *to = c + i * ldc + v + w * VL;
                mt_store_some(to, write == MT_ACCUMULATE ? sum[i][w] + mt_load_some(to, cols[w]) : sum[i][w], cols[w]);
            }
    }
}

/* ---- forward -------------------------------------------------------------------------------------- */

/* The softmax of one query over the keys so far. */
typedef struct running {
    float max, sum;
} running;

/* Scores, of which the first `visible` >= 0 count, become weights of 16 bits; the others, up to `keys`, are 0. Returns
 * the factor by which all earlier sums must be multiplied. */
static float add_tile(running *r, uint32_t *weight, float *score, int64_t visible, int64_t keys, float scale)
{
    float before = r->max, max = before, sum = 0, shrink = 0;
    /* LAB 11.14 BEGIN  The scores of one more tile of keys, in whole vectors.
     * Hint: as in 11.11, but these scores are not scaled yet: a scaled query would have to be rounded again. The sum is
     * that of the weights in f32; then mt_store_bf16 rounds VL of them, VL / 2 pairs, at a time. */
    keys = mt_ceil_div(keys, VL) * VL;
    for (int64_t j = visible; j < keys; j++)
        score[j] = -INFINITY;
#pragma omp simd reduction(max : max)
    for (int64_t j = 0; j < keys; j++) {
        score[j] *= scale;
        max = score[j] > max ? score[j] : max;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < keys; j++)
        sum += score[j] = mt_expf(score[j] - max);
    for (int64_t j = 0; j < keys; j += VL)
        mt_store_bf16(weight + j / 2, mt_load(score + j));
    shrink = mt_expf(before - max);
    *r = (running){ max, r->sum * shrink + sum };
    /* LAB 11.14 END */
    return shrink;
}

/* Queries begin .. begin+rows-1 of a head. */
static void attend(float *out, float *lse, const head *h, int64_t begin, int64_t rows)
{
    _Alignas(64) uint32_t k[SIDE * PAIRS], v[SIDE * PAIRS], q[MR * PAIRS] = { 0 }, weight[MR * PAIRS] = { 0 };
    _Alignas(64) float score[MR * SIDE];
    running so_far[QUERIES];
    int64_t D = h->D, C = h->C, step = 3 * C;
    for (int64_t r = 0; r < rows; r++)
        so_far[r] = (running){ -INFINITY, 0 };
    /* LAB 11.14 BEGIN  All tiles of keys; for each MR queries at a time.
     * Hint: as in 11.11. Keys by pack_columns, values by pack_rows, queries by copy_rows; add_tile reads scores and
     * writes weights, which the second product reads. */
    for (int64_t j = 0; j < begin + rows; j += KEYS) {
        int64_t keys = mt_min(KEYS, begin + rows - j);
        pack_columns(k, h->k + j * step, step, keys, D);
        pack_rows(v, h->v + j * step, step, keys, D);
        for (int64_t i = mt_max(0, j - begin) / MR * MR; i < rows; i += MR) {
            int64_t at = begin + i, n = mt_min(MR, rows - i), seen = mt_min(keys, at + n - j);
            float *o = out + at * C;
            copy_rows(q, h->q + at * step, step, n, D);
            multiply(score, SIDE, q, k, n, seen, D, MT_OVERWRITE);
            for (int64_t r = 0; r < n; r++) {
                int64_t visible = mt_max(0, mt_min(seen, at + r + 1 - j));
                float shrink = add_tile(&so_far[i + r], weight + r * PAIRS, score + r * SIDE, visible, seen, h->scale);
                for (int64_t d = 0; d < D && j > 0; d++)
                    o[r * C + d] *= shrink;
            }
            multiply(o, C, weight, v, n, D, seen, j > 0 ? MT_ACCUMULATE : MT_OVERWRITE);
        }
    }
    /* LAB 11.14 END */
    for (int64_t r = 0; r < rows; r++) {
        float *o = out + (begin + r) * C;
        for (int64_t d = 0; d < D; d++)
            o[d] /= so_far[r].sum;
        lse[begin + r] = so_far[r].max + logf(so_far[r].sum);
    }
}

void mt_attention_bf16_fwd_cpu(float *out, float *saved, const mt_bf16 *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
    MT_CHECK(C / H <= SIDE, "attention in bf16: heads have %" PRId64 " columns, at most %d fit: use f32", C / H, SIDE);
    int64_t tasks = mt_ceil_div(T, QUERIES);
#pragma omp parallel for schedule(dynamic)
    for (int64_t task = 0; task < B * H * tasks; task++) {
        int64_t index = task / tasks, begin = task % tasks * QUERIES, D = C / H;
        const mt_bf16 *q = qkv + index / H * T * 3 * C + index % H * D;
        const head h = { q, q + C, q + 2 * C, T, C, D, 1 / sqrtf((float)D) };
        attend(out + index / H * T * C + index % H * D, saved + index * T, &h, begin, mt_min(QUERIES, T - begin));
    }
}
