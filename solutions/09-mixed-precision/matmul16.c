/* matmul16.c -- a matrix product with operands of 16 bits and sums in f32.
 *
 * The product of two bf16 has 16 bits of mantissa, that of two f16 has 22: both are exact in the 24 of an f32. What is
 * lost is lost when the operands are rounded, before this kernel, and in the sum, which therefore stays f32: in bf16,
 * with 8 bits, a sum stops to grow once a term is below 2^-9 of it.
 *
 *               N                          Blocks of A and B are widened to f32 in memory that stays in the caches, and
 *         +---+------+--------+            lab 01's product multiplies them. From memory only 2 bytes an element come,
 *       K |   | KC x NC       |            half of what f32 operands take.
 *         +---+------+--------+
 *   +---+ +---+------+--------+            Widening a block of B is shared by all rows of A; a block of A is widened
 * M |MC | |   | MC x NC       |            again for each block of columns, so NC is large.
 *   |xKC| |   |      |        |
 *   +---+ +---+------+--------+ */
#include "kernels/kernels.h"
#include "amp/kernels_16bit.h"

enum {
    MC = 256,
    KC = 256,
    NC = 1024,
    PARALLEL_FROM = 1 << 15, /* elements from which waking the other threads (2 us) pays */
};

/* One operand as it is stored, in elements of 2 bytes: rows of op(x) lie ld apart, or, transposed, columns. */
typedef struct operand {
    const uint16_t *at;
    int64_t ld;
    mt_trans trans;
    mt_dtype dtype;
} operand;

/* Widen the rows x cols block of op(x) at (i,j) into `block`, which is stored as x is, but without gaps. Returns its
 * leading dimension. */
static int64_t widen(float *block, const operand *x, int64_t i, int64_t j, int64_t rows, int64_t cols)
{
    /* LAB 09.3 BEGIN  Convert each line of the block, which is contiguous, to f32.
     * Hint: lines are rows of op(x), or its columns where x is transposed. mt_16bit_kernels(MT_CPU)->convert converts
     * a line. Lines lie one after the other in `block`. */
    int64_t lines = x->trans ? cols : rows, length = x->trans ? rows : cols;
    const uint16_t *from = x->trans ? x->at + j * x->ld + i : x->at + i * x->ld + j;
#pragma omp parallel for if (lines * length >= PARALLEL_FROM)
    for (int64_t l = 0; l < lines; l++)
        mt_16bit_kernels(MT_CPU)->convert(block + l * length, MT_F32, from + l * x->ld, x->dtype, length);
    return length;
    /* LAB 09.3 END */
}

void mt_matmul16_cpu(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *d)
{
    mt_matmul_dims_check("matmul16", d);
    MT_CHECK(mt_is_16bit(dtype), "matmul16: the operands are %s, they must be f16 or bf16", mt_dtype_name(dtype));
    float a_block[MC * KC], b_block[KC * NC]; /* 1.3 MiB of stack, as lab 01 takes */
    operand A = { a, d->lda, d->trans_a, dtype }, B = { b, d->ldb, d->trans_b, dtype };
    /* LAB 09.3 BEGIN  For each block of columns and each block of K: widen B's block; for each block of rows widen A's
     * and multiply both into C, which is overwritten (d->write) by the first block of K only and added to by the
     * others.
     * Hint: mt_kernels(MT_CPU)->matmul takes blocks as they are stored: trans_a and trans_b stay, lda and ldb are what
     * widen returns. K may be 0: C still has to become 0. */
    for (int64_t j = 0; j < d->N; j += NC)
        for (int64_t k = 0; k == 0 || k < d->K; k += KC) {
            int64_t columns = mt_min(NC, d->N - j), depth = mt_min(KC, d->K - k);
            int64_t ldb = widen(b_block, &B, k, j, depth, columns);
            for (int64_t i = 0; i < d->M; i += MC) {
                int64_t rows = mt_min(MC, d->M - i);
                int64_t lda = widen(a_block, &A, i, k, rows, depth);
                mt_matmul_dims part = { .M = rows,
                                        .N = columns,
                                        .K = depth,
                                        .lda = lda,
                                        .ldb = ldb,
                                        .ldc = d->ldc,
                                        .trans_a = d->trans_a,
                                        .trans_b = d->trans_b,
                                        .write = k == 0 ? d->write : MT_ACCUMULATE };
                mt_kernels(MT_CPU)->matmul(c + i * d->ldc + j, a_block, b_block, &part);
            }
        }
    /* LAB 09.3 END */
}
