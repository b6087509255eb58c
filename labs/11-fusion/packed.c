/* packed.c -- attention in tiles whose products copy nothing: the packed rung of the attention ladder
 * (models/kernels_gpt2.h). Lab 11.
 *
 * flash.c's products are lab 01's: each packs its operands again, for a tile of 64 x 64. Here a tile of keys and
 * values is packed once, for all queries of a task, into panels as in solutions/01-matmul/matmul.c:
 *
 *     keys    transposed [D,KEYS]   S = q k^T         panel v holds columns v NR .. v NR + NR-1,
 *     values             [KEYS,D]   out += P v        a row of NR numbers after the other
 *
 * The other operand is a few rows of a tile with SIDE numbers a row, a distance that the compiler knows. A tile of C is
 * MR rows high. So are the scores of forward, 7 KiB: they stay in the L1 cache from the product that makes them to the
 * one that reads them. All work arrays have a fixed size and are on the stack, at most 0.6 MB (backward). */
#include "models/heads.h"
#include "fused/kernels_fused.h"
#include "kernels/vec.h"
#include "kernels/vecmath.h"

enum {
    VL = MT_VL,
    NR = 2 * VL,             /* a tile of C is two vectors wide */
    MR = (MT_VREGS - 3) / 2, /* and as high as the registers allow: 14 x 32 in AVX-512, 6 x 16 in AVX2 */
    SIDE = 128,              /* the most columns of a head, and the numbers of a row of a tile */
    KEYS = 126,              /* keys of a tile, and in backward queries: whole tiles of 14 rows and of 6 */
    QUERIES = 2 * KEYS       /* of a task of forward, for which keys and values are packed once */
};

int64_t mt_attention_packed_saved_cpu(int64_t B, int64_t T, int64_t H)
{
    return B * H * T; /* the log-sum-exp of each row of scores */
}

/* ---- packing -------------------------------------------------------------------------------------- */

/* Rows of a matrix, times a factor, as panels of `width` columns; with width SIDE as one array of such rows. Columns
 * up to the next whole vector get zeros. */
static void pack_rows(float *to, int64_t width, const float *from, int64_t ld, int64_t rows, int64_t cols, float factor)
{
    for (int64_t c = 0; c < cols; c += VL)
        for (int64_t r = 0; r < rows; r++)
            mt_store(to + c / width * width * SIDE + r * width + c % width,
                     factor * mt_load_some(from + r * ld + c, mt_min(VL, cols - c)));
}

/* The transpose of the matrix as panels of NR columns: its rows become columns. Columns up to the next whole vector
 * repeat the last. */
static void pack_columns(float *to, const float *from, int64_t ld, int64_t rows, int64_t cols)
{
    for (int64_t r = 0; r < rows; r += VL)
        for (int64_t c = 0; c < cols; c += VL) {
            mt_vec square[VL];
            float *at = to + r / NR * NR * SIDE + c * NR + r % NR;
            for (int i = 0; i < VL; i++)
                square[i] = mt_load_some(from + mt_min(r + i, rows - 1) * ld + c, mt_min(VL, cols - c));
            mt_vec_transpose(square);
            for (int i = 0; i < VL; i++)
                mt_store(at + i * NR, square[i]);
        }
}

/* ---- the inner kernel ------------------------------------------------------------------------------ */

/* c [rows,N] = or += a b for rows <= MR; a(i,k) is a[i * row + k * col], and b is packed. Always MR rows are computed:
 * a has so many, of which those after `rows` may hold anything. Each sum runs over k = 0, 1, ... K-1. */
static inline __attribute__((always_inline)) void multiply(float *c, int64_t ldc, const float *a, int64_t row,
                                                           int64_t col, const float *b, int64_t rows, int64_t N,
                                                           int64_t K, mt_write write)
{
    for (int64_t v = 0; v < N; v += NR, b += NR * SIDE) {
        mt_vec sum[MR][2] = { 0 };
        const int64_t cols[2] = { mt_min(VL, N - v), mt_max(0, mt_min(VL, N - v - VL)) };
        /* TODO 11.11: One tile of C, in registers.
         * Hint: row k of b's panel is two vectors, at b + k * NR; load them once for all rows of a. A float times a
         * vector is a vector. `#pragma GCC unroll 16` before the loop over i keeps the sums in registers. */
        MT_TODO("11.11"); /* delete this line when yours stands here */
#pragma GCC unroll 16
        for (int i = 0; i < MR; i++)
            for (int w = 0; w < 2 && i < rows; w++) {
                float *to = c + i * ldc + v + w * VL;
                mt_store_some(to, write == MT_ACCUMULATE ? sum[i][w] + mt_load_some(to, cols[w]) : sum[i][w], cols[w]);
            }
    }
}

/* Rows of a tile times b, and columns of a tile, `at` a number of its first row, times b. */
static void rows_times(float *c, int64_t ldc, const float *at, const float *b, int64_t rows, int64_t N, int64_t K,
                       mt_write write)
{
    multiply(c, ldc, at, SIDE, 1, b, rows, N, K, write);
}

static void columns_times(float *c, int64_t ldc, const float *at, const float *b, int64_t cols, int64_t N, int64_t K)
{
    multiply(c, ldc, at, 1, SIDE, b, cols, N, K, MT_ACCUMULATE);
}

/* ---- forward -------------------------------------------------------------------------------------- */

/* The softmax of one query over the keys so far. */
typedef struct running {
    float max, sum;
} running;

/* Scores become weights, of which the first `visible` >= 0 count; the others, up to `keys`, are 0. Returns the factor
 * by which all earlier sums must be multiplied. */
static float add_tile(running *r, float *score, int64_t visible, int64_t keys)
{
    float before = r->max, max = before, sum = 0, shrink = 0;
    /* TODO 11.11: The scores of one more tile of keys, in whole vectors.
     * Hint: scores after the visible ones, up to a multiple of VL, become -INFINITY: then the loops for maximum,
     * weights and sum need not know where the visible ones end. The scores are scaled, as the queries were. */
    MT_TODO("11.11"); /* delete this line when yours stands here */
    return shrink;
}

/* Queries begin .. begin+rows-1 of a head. */
static void attend(float *out, float *lse, const mt_head *h, int64_t begin, int64_t rows)
{
    _Alignas(64) float k[SIDE * SIDE], v[SIDE * SIDE], q[MR * SIDE] = { 0 }, score[MR * SIDE] = { 0 };
    running so_far[QUERIES];
    int64_t D = h->D, C = h->C, step = 3 * C;
    for (int64_t r = 0; r < rows; r++)
        so_far[r] = (running){ -INFINITY, 0 };
    /* TODO 11.11: All tiles of keys; for each of them MR queries at a time.
     * Hint: pack the tile's keys with pack_columns and its values with pack_rows. Then for each MR queries from the
     * first that sees a key of the tile: copy them (pack_rows, width SIDE, times h->scale); the scores of the keys that
     * the last of them sees; add_tile for each row, which shrinks its row of out; the weights times the values. The
     * first tile overwrites out. A row that sees no key of this tile has 0 visible ones, not fewer. */
    MT_TODO("11.11"); /* delete this line when yours stands here */
    for (int64_t r = 0; r < rows; r++) {
        float *o = out + (begin + r) * C;
        for (int64_t d = 0; d < D; d++)
            o[d] /= so_far[r].sum;
        lse[begin + r] = so_far[r].max + logf(so_far[r].sum);
    }
}

void mt_attention_packed_fwd_cpu(float *out, float *saved, const float *qkv, int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
    if (C / H > SIDE) {
        mt_attention_tiled_fwd_cpu(out, saved, qkv, B, T, C, H);
        return;
    }
    int64_t tasks = mt_ceil_div(T, QUERIES);
#pragma omp parallel for schedule(dynamic)
    for (int64_t task = 0; task < B * H * tasks; task++) {
        int64_t index = task / tasks, begin = task % tasks * QUERIES;
        mt_head h = mt_head_of(qkv, index, T, C, H);
        attend(out + index / H * T * C + index % H * h.D, saved + index * T, &h, begin, mt_min(QUERIES, T - begin));
    }
}

/* ---- backward ------------------------------------------------------------------------------------- */

/* One row: its scores become probabilities, and dp the gradient of the scores; 0 after the visible keys. */
static void row_backward(float *p, float *dp, float lse, float delta, int64_t visible)
{
    /* TODO 11.12: The row's probabilities again, and the gradient of its scores, in whole vectors.
     * Hint: p = e^(score - lse), and p * (dp - delta), for a multiple of VL columns; then 0 in those that are not
     * visible, up to SIDE: the products of the keys read whole rows. */
    MT_TODO("11.12"); /* delete this line when yours stands here */
}

/* What one tile of queries and one of keys need of each other. */
typedef struct work {
    float k_columns[SIDE * SIDE], k_rows[SIDE * SIDE], v_columns[SIDE * SIDE];      /* packed once for all queries */
    float q[SIDE * SIDE], g[SIDE * SIDE], q_rows[SIDE * SIDE], g_rows[SIDE * SIDE]; /* g: dout */
    float p[SIDE * SIDE], ds[SIDE * SIDE];                                          /* [queries,keys] */
} work;

/* Queries i .. i+rows-1 and keys j .. j+keys-1, i >= j: their part of dq, dk and dv. */
static void pair_backward(work *w, float *dq, const float *dout, const float *out, const float *lse, const mt_head *h,
                          int64_t i, int64_t rows, int64_t j, int64_t keys)
{
    int64_t D = h->D, C = h->C, step = 3 * C;
    const float *q = h->q + i * step, *g = dout + i * C, *o = out + i * C;
    pack_rows(w->q, SIDE, q, step, rows, D, h->scale);
    pack_rows(w->q_rows, NR, q, step, rows, D, h->scale);
    pack_rows(w->g, SIDE, g, C, rows, D, 1);
    pack_rows(w->g_rows, NR, g, C, rows, D, 1);
    /* TODO 11.12: Five products: for each MR queries the scores, dp and dq, then for each MR keys dv and dk.
     * Hint: as in 11.2. delta is the sum of dout * out of a row. k_rows and q_rows are scaled, so that ds need not be.
     * The queries see keys up to their last one's own. Key c is seen by row c of the tile on the diagonal and those
     * after it. */
    MT_TODO("11.12"); /* delete this line when yours stands here */
}

/* All gradients of one head; dq, dk, dv stand to dqkv as h's to qkv. */
static void head_backward(float *dq, const float *dout, const float *out, const float *lse, const mt_head *h)
{
    _Alignas(64) work w;
    int64_t step = 3 * h->C;
    for (int64_t j = 0; j < h->T; j += KEYS) {
        int64_t keys = mt_min(KEYS, h->T - j);
        pack_columns(w.k_columns, h->k + j * step, step, keys, h->D);
        pack_rows(w.k_rows, NR, h->k + j * step, step, keys, h->D, h->scale);
        pack_columns(w.v_columns, h->v + j * step, step, keys, h->D);
        for (int64_t i = j; i < h->T; i += KEYS)
            pair_backward(&w, dq, dout, out, lse, h, i, mt_min(KEYS, h->T - i), j, keys);
    }
}

void mt_attention_packed_bwd_cpu(float *dqkv, const float *dout, const float *qkv, const float *out, float *saved,
                                 int64_t B, int64_t T, int64_t C, int64_t H)
{
    mt_heads_check(C, H);
    if (C / H > SIDE) {
        mt_attention_tiled_bwd_cpu(dqkv, dout, qkv, out, saved, B, T, C, H);
        return;
    }
#pragma omp parallel for schedule(dynamic)
    for (int64_t index = 0; index < B * H; index++) {
        mt_head h = mt_head_of(qkv, index, T, C, H);
        int64_t at = index / H * T * C + index % H * h.D;
        head_backward(dqkv + (h.q - qkv), dout + at, out + at, saved + index * T, &h);
    }
}
