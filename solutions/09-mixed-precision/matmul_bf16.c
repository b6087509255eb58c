/* matmul_bf16.c -- the product of bf16 matrices two numbers of K at a time, for which some processors have an
 * instruction: 32 multiply-adds of 16-bit numbers in the time of 16 in f32.
 *
 *     sum[j] += a[k] b[k][j] + a[k+1] b[k+1][j]         mt_dot_pairs (kernels/vec16.h): vdpbf16ps
 *
 * Rows k and k+1 of B lie apart in memory, but the instruction needs their numbers side by side. Packing copies every
 * panel anyway, so it makes the pairs. With a pair of bf16 in the place of an f32, panels, blocks and tiles are those
 * of lab 01 (solutions/01-matmul/matmul.c), as large in bytes and twice as deep.
 *
 *     B   row k      b0 b1 b2 ...         panel of B   (b0 c0) (b1 c1) (b2 c2) ...     32 bits each
 *         row k+1    c0 c1 c2 ...                      (d0 e0) (d1 e1) (d2 e2) ...
 *         row k+2    d0 d1 d2 ...
 *
 * Without the instruction mt_dot_pairs is two products in f32: the same values, not faster than f32. There, and where
 * the instruction is slow (mt_pairs_are_fast), the table of kernels takes matmul16.c. Every element of C is summed in
 * the same order of k for any number of threads. */
#include "amp/kernels_16bit.h"
#include "kernels/vec16.h"

#include <omp.h>

enum {
    VL = MT_VL,              /* pairs in a vector register */
    NR = 2 * VL,             /* a tile is two vectors wide, */
    MR = (MT_VREGS - 3) / 2, /* and as high as the registers allow: 14 x 32 in AVX-512 */
    KP = 384,                /* pairs: a panel of A, MR x KP, takes 21 KiB and stays in L1 */
    NC = 128,                /* a block of B takes 192 KiB and stays in L2 */
    MC = 770 / MR * MR,      /* a block of A takes 1.1 MiB */
    LINE = 32,               /* bf16 in a cache line */
    GRAIN = 1000000,         /* waking a thread takes about as long as this many multiply-adds */
};

/* An operand: number (k,j) is at[k * down + j * along], with j a column of B, or a row of A. One of the steps is 1. */
typedef struct operand {
    const mt_bf16 *at;
    int64_t down, along;
} operand;

static operand from(operand x, int64_t k, int64_t j)
{
    return (operand){ x.at + k * x.down + j * x.along, x.down, x.along };
}

/* C = or += A B, of any size: the whole, a block of it, a tile of it. In a tile a and b are packed. */
typedef struct product {
    float *c;
    int64_t ldc, M, N, K;
    operand a, b;
    const uint32_t *a_panel, *b_panel;
    mt_write write;
} product;

/* The start of part p when n items are divided evenly into `parts` parts; part p ends where part p + 1 starts. */
static int64_t cut(int64_t n, int64_t parts, int64_t p)
{
    return n * p / parts;
}

/* ---- packing ------------------------------------------------------------------------------------------------ */

/* Both fill a panel of ceil(K / 2) rows with `width` pairs each: panel[p * width + j] is x's numbers (2p,j) and
 * (2p + 1,j), or (2p,j) and 0 where an odd K ends. Only `there` of the columns exist in the matrix; the pairs of the
 * others may have any value, because their results are not stored. They write whole vectors; one longer than a row
 * writes up to VL - 1 pairs past it, which are not used. Here a row of x is contiguous. */
static void pack_rows(uint32_t *panel, int64_t width, operand x, int64_t there, int64_t K)
{
    /* LAB 09.10 BEGIN  Make pairs of the numbers of two rows, a vector at a time.
     * Hint: mt_pair_up reads no more of two rows than exists; it takes NULL for a second row that does not exist. */
    for (int64_t v = 0; v < width; v += VL) {
        int64_t w = mt_max(0, mt_min(v, width - VL)), n = mt_max(0, mt_min(VL, there - w));
        for (int64_t k = 0; k < K; k += 2) {
            const mt_bf16 *row = x.at + k * x.down + w;
            mt_store_pairs(panel + k / 2 * width + w, mt_pair_up(row, k + 1 < K ? row + x.down : NULL, n));
        }
    }
    /* LAB 09.10 END */
}

/* Here a column of x is contiguous: its pairs lie in memory as they are. */
static void pack_columns(uint32_t *panel, int64_t width, operand x, int64_t there, int64_t K)
{
    /* LAB 09.10 BEGIN  Copy VL columns of x at a time into VL columns of the panel.
     * Hint: load VL pairs of each column, mt_vec_transpose, store VL rows of the panel; copy the last pairs one at a
     * time. mt_vec_transpose moves 32 bits, whatever they mean. Use the last existing column in place of a missing. */
    for (int64_t v = 0; v < width; v += VL) {
        int64_t w = mt_max(0, mt_min(v, width - VL)), k = 0;
        const mt_bf16 *column[VL];
        for (int i = 0; i < VL; i++)
            column[i] = x.at + mt_min(w + i, there - 1) * x.along;
        for (; k + 2 * VL <= K; k += 2 * VL) {
            mt_vec square[VL];
            for (int i = 0; i < VL; i++)
                square[i] = (mt_vec)mt_load_pairs(column[i] + k);
            mt_vec_transpose(square);
            for (int i = 0; i < VL; i++)
                mt_store_pairs(panel + (k / 2 + i) * width + w, (mt_pairs)square[i]);
        }
        for (; k < K; k += 2)
            for (int i = 0; i < VL; i++)
                panel[k / 2 * width + w + i] =
                    column[i][k].bits | (k + 1 < K ? (uint32_t)column[i][k + 1].bits << 16 : 0);
    }
    /* LAB 09.10 END */
}

/* Pack n panels of K rows of x; panel q has columns begin[q] to begin[q + 1]. Rows are far apart, often a page or
 * more: a few of them are packed for all panels before the next few, so that each page is visited once. */
static void pack(uint32_t *block, int64_t width, operand x, const int64_t *begin, int64_t n, int64_t K)
{
    bool in_rows = x.along == 1;
    int64_t few = in_rows ? 16 : K;
    for (int64_t k = 0; k < K; k += few)
        for (int64_t q = 0; q < n; q++)
            (in_rows ? pack_rows : pack_columns)(block + q * (width * KP + VL) + k / 2 * width, width,
                                                 from(x, k, begin[q]), begin[n] - begin[q], mt_min(few, K - k));
}

/* ---- the micro-kernel --------------------------------------------------------------------------------------- */

/* One tile of C, `rows` high (a constant where this is inlined: every sum[i][v] is a register) and two vectors wide, of
 * which t.N columns exist. */
static inline __attribute__((always_inline)) void micro_kernel(product t, int rows)
{
    mt_vec sum[MR][2] = { 0 };
    const int64_t pairs = mt_ceil_div(t.K, 2), cols[2] = { mt_min(t.N, VL), mt_max(0, t.N - VL) };
    for (int i = 0; i < rows; i++) /* C is wanted, to be written, after the sums */
        for (int v = 0; v < 2; v++)
            __builtin_prefetch(t.c + i * t.ldc + v * VL, 1);
    /* LAB 09.10 BEGIN  For each row of pairs add to sum[i][v] the products of pair i of A's row and vector v of B's.
     * Hint: a row of A's panel has MR pairs, one of B's NR. mt_load_pairs loads the vectors of B's row once for all
     * rows of A; mt_same_pairs repeats a pair of A. `#pragma GCC unroll 16` before the loops over i and v keeps the
     * sums in registers. */
    for (int64_t p = 0; p < pairs; p++) {
        const uint32_t *a = t.a_panel + p * MR, *b = t.b_panel + p * NR;
        mt_pairs b0 = mt_load_pairs(b), b1 = mt_load_pairs(b + VL);
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++) {
            sum[i][0] = mt_dot_pairs(sum[i][0], mt_same_pairs(a[i]), b0);
            sum[i][1] = mt_dot_pairs(sum[i][1], mt_same_pairs(a[i]), b1);
        }
    }
    /* LAB 09.10 END */
    if (t.write == MT_ACCUMULATE)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int v = 0; v < 2; v++)
                sum[i][v] += mt_load_some(t.c + i * t.ldc + v * VL, cols[v]);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < 2; v++)
            mt_store_some(t.c + i * t.ldc + v * VL, sum[i][v], cols[v]);
}

/* The micro-kernel compiled for every height. */
typedef void kernel(const product *t);
#define HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
// clang-format off
#define COMPILE(rows) static void tile_##rows(const product *t) { micro_kernel(*t, rows < MR ? rows : MR); }
#define NAME(rows) tile_##rows,
// clang-format on
HEIGHTS(COMPILE)
static kernel *const kernels[] = { HEIGHTS(NAME) };

/* Bring part n of `parts` of a block of B, K x cols, nearer: memory is idle while tiles are computed, and packing is
 * limited by it. */
static void prefetch(operand x, int64_t K, int64_t cols, int64_t n, int64_t parts)
{
    bool in_rows = x.along == 1;
    int64_t lines = in_rows ? K : cols, length = in_rows ? cols : K, ld = in_rows ? x.down : x.along;
    for (int64_t l = cut(lines, parts, n); l < cut(lines, parts, n + 1); l++)
        for (int64_t i = 0; i < length; i += LINE)
            __builtin_prefetch(x.at + l * ld + i, 0, 2);
}

/* A block of A, at most MC x 2 KP, times as many rows of B. */
static void multiply_block(const product *p, uint32_t *a_block, uint32_t *b_block)
{
    int64_t rows = mt_ceil_div(p->M, MR), a[MC / MR + 1], b[NC / NR + 1];
    for (int64_t q = 0; q <= rows; q++)
        a[q] = cut(p->M, rows, q);
    pack(a_block, MR, p->a, a, rows, p->K);
    for (int64_t j = 0; j < p->N; j += NC) {
        int64_t cols = mt_min(NC / NR, mt_ceil_div(p->N - j, NR)), next = j + NC;
        for (int64_t v = 0; v <= cols; v++)
            b[v] = mt_min(p->N, j + v * NR);
        pack(b_block, NR, p->b, b, cols, p->K);
        for (int64_t q = 0; q < rows; q++)
            for (int64_t v = 0; v < cols; v++) {
                product t = {
                    .c = p->c + a[q] * p->ldc + b[v],
                    .ldc = p->ldc,
                    .M = a[q + 1] - a[q],
                    .N = b[v + 1] - b[v],
                    .K = p->K,
                    .a_panel = a_block + q * (MR * KP + VL),
                    .b_panel = b_block + v * (NR * KP + VL),
                    .write = p->write,
                };
                if (next < p->N)
                    prefetch(from(p->b, 0, next), p->K, mt_min(NC, p->N - next), q * cols + v, rows * cols);
                kernels[t.M - 1](&t);
            }
    }
}

/* The packed blocks are on the stack, 1.3 MiB. */
static void multiply(const product *p)
{
    _Alignas(64) uint32_t a_block[MC / MR * (MR * KP + VL)], b_block[NC / NR * (NR * KP + VL)];
    int64_t k_parts = mt_max(1, mt_ceil_div(p->K, 2 * KP)),
            kc = mt_max(1, mt_ceil_div(p->K, k_parts * 2 * VL)) * 2 * VL;
    int64_t m_parts = mt_ceil_div(p->M, MC);
    for (int64_t k = 0; k == 0 || k < p->K; k += kc)
        for (int64_t q = 0; q < m_parts; q++) {
            int64_t i = cut(p->M, m_parts, q);
            product block = *p;
            block.c += i * p->ldc;
            block.a = from(p->a, k, i), block.b = from(p->b, k, 0);
            block.M = cut(p->M, m_parts, q + 1) - i;
            block.K = mt_min(kc, p->K - k);
            block.write = k == 0 ? p->write : MT_ACCUMULATE;
            multiply_block(&block, a_block, b_block);
        }
}

/* How many rows of parts: parts that are as square as they can be read least of A and B together. */
static int64_t grid_rows(int64_t M, int64_t N, int64_t threads)
{
    int64_t best = 1;
    for (int64_t rows = 1; rows <= threads; rows++)
        if (threads % rows == 0 && rows * N + threads / rows * M < best * N + threads / best * M)
            best = rows;
    return best;
}

void mt_matmul_bf16_cpu(float *c, const mt_bf16 *a, const mt_bf16 *b, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("matmul_bf16", d);
    product whole = { .c = c, .ldc = d->ldc, .M = d->M, .N = d->N, .K = d->K, .write = d->write };
    whole.a = d->trans_a ? (operand){ a, d->lda, 1 } : (operand){ a, 1, d->lda };
    whole.b = d->trans_b ? (operand){ b, 1, d->ldb } : (operand){ b, d->ldb, 1 };
    int64_t threads = mt_max(1, mt_min(omp_get_max_threads(), d->M * d->N * d->K / GRAIN));
    int64_t rows = grid_rows(d->M, d->N, threads), cols = threads / rows, vecs = mt_ceil_div(d->N, NR);
#pragma omp parallel for num_threads((int)threads) schedule(static, 1) if (threads > 1)
    for (int64_t t = 0; t < threads; t++) {
        int64_t i = cut(d->M, rows, t / cols), j = NR * cut(vecs, cols, t % cols);
        product part = whole;
        part.c += i * d->ldc + j;
        part.a = from(whole.a, 0, i), part.b = from(whole.b, 0, j);
        part.M = cut(d->M, rows, t / cols + 1) - i;
        part.N = mt_min(d->N, NR * cut(vecs, cols, t % cols + 1)) - j;
        multiply(&part);
    }
}
