/* matmul.c -- the matrix product at nearly the peak speed of the processor: packed panels, a micro-kernel, threads.
 *
 * The idea of loops.c at each level of memory: what is in registers, L1 or L2 is used as often as possible before it
 * is replaced.
 *
 *                      N                   C is cut into tiles of MR x NR. One tile is the sum over k of
 *              +---+====+---------+        (a column of A's panel) x (a row of B's panel), and it stays in
 *            K | B |####| KC rows |        registers during the whole sum: MR + NR loads feed MR * NR products.
 *              +---+====+---------+
 *       K           NR                     panel of B   KC x NR   used by every panel of A in the block
 *    +-----+   +---+----+---------+        panel of A   MR x KC   used by every panel of B
 *    | A   |   | C                |        block of A   MC x KC   packed once, stays in L2 and L3
 *    |=====|   |   +----+         |
 *  M |#####| MC|   |tile| MR      |        Packing copies a panel so that the micro-kernel reads it from first byte to
 *    |=====|   |   +----+         |        last: no cache line half used, no page touched for a few numbers.
 *    +-----+   +------------------+
 *      KC
 *
 * Every element of C is summed in the same order of k for any number of threads: its bits never change. */
#include "kernels/matmul_parts.h"
#include "kernels/vec.h"

#include <omp.h>

enum {
    VL = MT_VL,              /* floats in a vector register */
    NR = 2 * VL,             /* a tile is two vectors wide, and as high as the registers allow, */
    MR = (MT_VREGS - 3) / 2, /* with 2 MR sums, 2 vectors of B and 1 number of A: 14 x 32 in AVX-512, 6 x 16 in AVX2 */
    KC = 256,                /* a panel of A has MR x KC numbers, 14 KiB in AVX-512: it stays in L1 */
    NC = 256,                /* a block of B has KC x NC numbers, 256 KiB: it streams from L2 */
    MC = 1120 / MR * MR,     /* a block of A takes 1.1 MiB, from L2 and L3. Larger: B is packed less often */
    A_REUSE = 16,            /* a panel of a transposed A is packed if more panels of B than this use it, */
    A_FAR = 1 << 16,         /* or than a quarter of this, if its rows are spread over more floats, 64 pages; */
    A_NEAR = 1023,           /* and any panel of A if its rows are more floats apart than this: they share cache sets */
    B_REUSE = 8,             /* a panel of B is packed if more panels of A than this use it, */
    B_FAR_REUSE = 3,         /* or than this, if B has */
    B_NEAR = 1 << 19,        /* more elements, 2 MiB, and does not fit in L2 */
    LINE = 16,               /* floats in a cache line */
};

/* The start of part p when n items are divided evenly into `parts` parts; part p ends where part p + 1 starts. */
static int64_t cut(int64_t n, int64_t parts, int64_t p)
{
    return n * p / parts;
}

/* ---- 01.4: packing --------------------------------------------------------------------------- */

/* Both fill a panel of K rows with `width` numbers each, of which only `there` exist in the matrix; the others may have
 * any finite value, because their results are not stored. Here panel[k * width + w] is from[k * ld + w]: a row of the
 * panel is contiguous in the matrix. They write whole vectors: the last of several is moved back, to end with its row;
 * a row shorter than a vector has up to VL - 1 numbers written past it, which are not used. */
static void pack_rows(float *panel, int64_t width, const float *from, int64_t ld, int64_t there, int64_t K)
{
    /* TODO 01.4: Copy the K rows, a vector at a time.
     * Hint: mt_store writes a whole vector; mt_load_some reads no more of it than exists. Prefetch the row that lies
     * K rows below: pack copies it next. */
    MT_TODO("01.4"); /* delete this line when yours stands here */
}

/* Here panel[k * width + w] is from[w * ld + k]: a column of the panel is contiguous in the matrix. */
static void pack_columns(float *panel, int64_t width, const float *from, int64_t ld, int64_t there, int64_t K)
{
    /* TODO 01.4: Copy VL lines of the matrix at a time into VL columns of the panel.
     * Hint: load VL numbers of each line, mt_vec_transpose, store VL rows of the panel; copy the last K % VL rows one
     * number at a time. Use the last existing line in place of a missing one. */
    MT_TODO("01.4"); /* delete this line when yours stands here */
}

/* Neighbouring columns of a matrix, read from the matrix itself or from a packed copy. */
typedef struct panel {
    int64_t begin, end;
    mt_matrix at;
} panel;

/* Pack n panels of K rows of B, or of K columns of A, which are flipped into rows. Rows are far apart, often a page or
 * more: a few of them are packed for all panels before the next few, so that each page is visited once. */
static void pack(panel *panels, int64_t n, float *block, int64_t width, mt_matrix rows, int64_t K)
{
    bool in_rows = rows.col == 1;
    int64_t few = in_rows ? 16 : K, end = panels[n - 1].end;
    for (int64_t k = 0; k < K; k += few)
        for (int64_t q = 0; q < n; q++) {
            float *to = block + q * (width * KC + VL);
            const float *at = mt_matrix_from(rows, k, panels[q].begin).at;
            (in_rows ? pack_rows : pack_columns)(to + k * width, width, at, in_rows ? rows.row : rows.col,
                                                 end - panels[q].begin, mt_min(few, K - k));
            panels[q].at = (mt_matrix){ to, width, 1 };
        }
}

/* ---- 01.5: the micro-kernel ------------------------------------------------------------------ */

/* One tile of C, `rows` high and `vecs` vectors wide (constants where this is inlined: every sum[i][v] is a register),
 * the last of which may be incomplete (t.N). In a wide tile A is packed or transposed (multiply_block),
 * so t.a.row is 1 and A's addresses need no registers. */
static inline __attribute__((always_inline)) void micro_kernel(mt_product t, int rows, int vecs)
{
    mt_vec sum[MR][2] = { 0 };
    const int64_t cols[2] = { vecs == 2 ? VL : t.N, t.N - VL }; /* columns in each vector */
    for (int i = 0; i < rows; i++) /* C, which comes from L3 or memory, is wanted, to be written, after the sums */
        for (int v = 0; v < vecs; v++)
            __builtin_prefetch(t.c + i * t.ldc + v * VL, 1);
    /* TODO 01.5: For each k add to sum[i][v] element (i,k) of A times vector v of row k of B.
     * Hint: load the vectors of B's row once and use them for all rows of A; a float times a vector is a vector.
     * Advance t.a.at, t.b.at and t.ahead.at along k, and prefetch the last. `#pragma GCC unroll 16` before the loops
     * over i and v keeps them in registers: `objdump -d` shows `vfmadd` without stores. */
    MT_TODO("01.5"); /* delete this line when yours stands here */
    if (t.write == MT_ACCUMULATE)
#pragma GCC unroll 16
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 16
            for (int v = 0; v < vecs; v++)
                sum[i][v] += mt_load_some(t.c + i * t.ldc + v * VL, cols[v]);
#pragma GCC unroll 16
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 16
        for (int v = 0; v < vecs; v++)
            mt_store_some(t.c + i * t.ldc + v * VL, sum[i][v], cols[v]);
}

/* The micro-kernel compiled for every height, one vector wide and two. */
typedef void kernel(const mt_product *t);
#define HEIGHTS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
// clang-format off
#define COMPILE(rows)                                                                                                  \
    static void narrow_##rows(const mt_product *t) { micro_kernel(*t, rows < MR ? rows : MR, 1); }                     \
    static void wide_##rows(const mt_product *t) { micro_kernel(*t, rows < MR ? rows : MR, 2); }
#define NAME(rows) { narrow_##rows, wide_##rows },
// clang-format on
HEIGHTS(COMPILE)
static kernel *const kernels[][2] = { HEIGHTS(NAME) };

/* A block of A, at most MC x KC, times as many rows of B. Each is packed if that is faster, else read in place. */
static void multiply_block(const mt_product *p, float *a_block, float *b_block)
{
    int64_t rows = mt_ceil_div(p->M, MR), cols, reuse = p->K * p->a.col > A_FAR ? A_REUSE / 4 : A_REUSE;
    bool copy_a = p->N > (p->a.row == 1 ? reuse * NR : VL) || p->a.row > A_NEAR,
         copy_b = p->b.col != 1 || p->M > (p->far ? B_FAR_REUSE : B_REUSE) * MR;
    panel a[MC / MR], b[NC / NR];
    for (int64_t q = 0; q < rows; q++)
        a[q] = (panel){ cut(p->M, rows, q), cut(p->M, rows, q + 1),
                        mt_matrix_flip(mt_matrix_from(p->a, cut(p->M, rows, q), 0)) };
    if (copy_a)
        pack(a, rows, a_block, MR, mt_matrix_flip(p->a), p->K);
    for (int64_t j = 0; j < p->N; j += cols * NR) {
        cols = copy_b ? mt_min(NC / NR, mt_ceil_div(p->N - j, NR)) : 1;
        for (int64_t v = 0; v < cols; v++)
            b[v] = (panel){ j + v * NR, mt_min(p->N, j + (v + 1) * NR), mt_matrix_from(p->b, 0, j + v * NR) };
        if (copy_b || (b->end % VL && !MT_MASKS))
            pack(b, cols, b_block, NR, p->b, p->K);
        /* TODO 01.5: Multiply every panel a[q] of A with every panel b[v] of B.
         * Hint: a tile has its own M, N, a (a[q].at flipped back), b and c, for kernels[M - 1][N > VL]; ahead: the next
         * columns of B, or its own b if B is packed. Write all fields once: a vector that copies fields written just
         * before must wait for all stores of the last tile. Loop over v inside: tiles side by side share pages of C. */
        MT_TODO("01.5"); /* delete this line when yours stands here */
    }
}

/* The packed blocks are on the stack: 1.4 MiB, which are not touched if nothing is packed. Each thread has its own, and
 * nothing must be freed. The division of K does not depend on M, N or the threads, so every sum has one order. */
static void multiply(const mt_product *p)
{
    _Alignas(64) float a_block[MC / MR * (MR * KC + VL)], b_block[NC / NR * (NR * KC + VL)];
    int64_t k_parts = mt_max(1, mt_ceil_div(p->K, KC)), kc = mt_max(1, mt_ceil_div(p->K, k_parts * VL)) * VL;
    int64_t m_parts = mt_ceil_div(p->M, MC);
    for (int64_t k = 0; k == 0 || k < p->K; k += kc)
        for (int64_t q = 0; q < m_parts; q++) {
            int64_t i = cut(p->M, m_parts, q);
            mt_product block = *p;
            block.c += i * p->ldc;
            block.a = mt_matrix_from(p->a, i, k), block.b = mt_matrix_from(p->b, k, 0);
            block.M = cut(p->M, m_parts, q + 1) - i;
            block.K = mt_min(kc, p->K - k);
            block.write = k == 0 ? p->write : MT_ACCUMULATE;
            block.far = p->K * p->N > B_NEAR;
            multiply_block(&block, a_block, b_block);
        }
}

void mt_matmul_packed_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_product p = mt_product_of("matmul_packed", c, a, b, d);
    multiply(&p);
}

/* ---- 01.6: threads --------------------------------------------------------------------------- */

enum { GRAIN = 250000 }; /* waking a thread takes about as long as this many multiply-adds */

/* Among all grids of rows x cols threads, the one with the least work per thread: m n / VL multiplications for each k
 * and, for loads, half a cycle for each number of A and of B. */
static int64_t best_grid_rows(int64_t M, int64_t N, int64_t threads)
{
    int64_t best = 1, best_cost = INT64_MAX;
    for (int64_t rows = 1; rows <= threads; rows++) {
        int64_t m = mt_ceil_div(M, rows), n = mt_ceil_div(N, threads / rows * VL) * VL, cost = m * n / VL + (m + n) / 2;
        if (threads % rows == 0 && cost < best_cost) {
            best = rows;
            best_cost = cost;
        }
    }
    return best;
}

void mt_matmul_parallel_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_product whole = mt_product_of("matmul_parallel", c, a, b, d);
    int64_t threads = mt_max(1, mt_min(omp_get_max_threads(), whole.M * whole.N * whole.K / GRAIN));
    if (threads == 1) {
        multiply(&whole);
        return;
    }
    int64_t rows = best_grid_rows(whole.M, whole.N, threads), cols = threads / rows, vecs = mt_ceil_div(whole.N, VL);
    /* TODO 01.6: Divide C into a grid with one part per thread, and let each thread compute its own part.
     * Hint: number the parts by rows of the grid. M may be divided anywhere, N only between whole vectors. The parts
     * are independent: one `omp parallel for`, no lock, and the same bits. */
    MT_TODO("01.6"); /* delete this line when yours stands here */
}
