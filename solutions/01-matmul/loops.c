/* loops.c -- the matrix product in three loops: in the order of the formula, in the order of memory, and in blocks.
 *
 * A processor multiplies much faster than it loads. Each version does the same 2MNK operations with fewer loads from
 * memory: a number that is in a cache is used as often as possible before it is replaced. matmul.c adds packing,
 * registers and threads. */
#include "kernels/matmul_parts.h"

#include <string.h>

/* C is set to zero if it is to be overwritten; its old values are not read. */
static void begin(const mt_product *p)
{
    for (int64_t i = 0; i < p->M && p->N > 0 && p->write == MT_OVERWRITE; i++)
        memset(p->c + i * p->ldc, 0, (size_t)p->N * sizeof *p->c);
}

/* row += scale * x, n numbers of x `step` apart. The conditional gives the compiler a second, vectorised loop. */
static inline void add_scaled(float *restrict row, const float *x, int64_t step, float scale, int64_t n)
{
    for (int64_t j = 0; j < n; j++)
        row[j] += scale * x[step == 1 ? j : j * step];
}

void mt_matmul_naive_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_product p = mt_product_of("matmul_naive", c, a, b, d);
    begin(&p);
    /* LAB 01.1 BEGIN  Three loops, i j k: add to each element of C the dot product of a row of A and a column of B.
     * Hint: kernels/matmul_parts.h says where element (i,j) of an mt_matrix is. C already has zeros if it is to be
     * overwritten. */
    for (int64_t i = 0; i < p.M; i++) {
        for (int64_t j = 0; j < p.N; j++) {
            float sum = 0;
            for (int64_t k = 0; k < p.K; k++)
                sum += p.a.at[i * p.a.row + k * p.a.col] * p.b.at[k * p.b.row + j * p.b.col];
            p.c[i * p.ldc + j] += sum;
        }
    }
    /* LAB 01.1 END */
}

void mt_matmul_reordered_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_product p = mt_product_of("matmul_reordered", c, a, b, d);
    begin(&p);
    /* LAB 01.2 BEGIN  The same three loops, i k j: add one element of A times a row of B to a whole row of C.
     * Hint: add_scaled is the loop over j. Now neighbours are read and written in order, no addition waits for the
     * previous one, and the compiler uses vectors. */
    for (int64_t i = 0; i < p.M; i++) {
        for (int64_t k = 0; k < p.K; k++) {
            float a_ik = p.a.at[i * p.a.row + k * p.a.col];
            add_scaled(p.c + i * p.ldc, p.b.at + k * p.b.row, p.b.col, a_ik, p.N);
        }
    }
    /* LAB 01.2 END */
}

/* A block of B, TILE_K x TILE_N, takes 256 KiB: it stays in the L2 cache while it is used for every row of A. */
enum { TILE_K = 128, TILE_N = 512 };

/* Add four elements of A times four rows of B to a row of C, so that C is loaded and stored once for the four. */
static inline void add_four(float *restrict row, mt_matrix a, mt_matrix b, int64_t n)
{
    float a0 = a.at[0], a1 = a.at[a.col], a2 = a.at[2 * a.col], a3 = a.at[3 * a.col];
    const float *b0 = b.at, *b1 = b0 + b.row, *b2 = b1 + b.row, *b3 = b2 + b.row;
    if (b.col == 1)
        for (int64_t j = 0; j < n; j++)
            row[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
    else
        for (int64_t j = 0; j < n; j++)
            row[j] += a0 * b0[j * b.col] + a1 * b1[j * b.col] + a2 * b2[j * b.col] + a3 * b3[j * b.col];
}

void mt_matmul_tiled_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    mt_product p = mt_product_of("matmul_tiled", c, a, b, d);
    begin(&p);
    /* LAB 01.3 BEGIN  Divide K and N into steps of TILE_K and TILE_N, with the loops of 01.2 for each block.
     * Hint: which order of the four loops uses a block of B for all rows before it leaves the cache? The last block
     * of a dimension may be smaller. add_four takes four values of k at a time, from a part of A (mt_matrix_from),
     * add_scaled the rest. */
    for (int64_t k0 = 0; k0 < p.K; k0 += TILE_K) {
        for (int64_t j0 = 0; j0 < p.N; j0 += TILE_N) {
            int64_t k_end = mt_min(k0 + TILE_K, p.K), n = mt_min(TILE_N, p.N - j0);
            for (int64_t i = 0; i < p.M; i++) {
                float *row = p.c + i * p.ldc + j0;
                int64_t k = k0;
                for (; k + 4 <= k_end; k += 4)
                    add_four(row, mt_matrix_from(p.a, i, k), mt_matrix_from(p.b, k, j0), n);
                for (; k < k_end; k++)
                    add_scaled(row, mt_matrix_from(p.b, k, j0).at, p.b.col, *mt_matrix_from(p.a, i, k).at, n);
            }
        }
    }
    /* LAB 01.3 END */
}
