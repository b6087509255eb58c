/* test_matmul_cuda.c -- every step of the CUDA ladder against the whole contract of kernels/matmul.h. */
#include "core/storage.h"
#include "cuda/matmul_cuda.h"
#include "testing/matmul_ladder.h"
#include "testing/compare.h"

#include "must.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t sizes[][3] = { { 1, 1, 1 },    { 0, 5, 3 },    { 5, 0, 3 },     { 4, 3, 0 },   { 31, 33, 17 },
                                    { 64, 64, 32 }, { 65, 130, 9 }, { 129, 67, 70 }, { 7, 200, 33 } };

/* A matrix of rows x cols in rows of ld, on the host and on the device; what lies between rows is NaN. */
typedef struct matrix {
    float *here, *there;
    int64_t count;
} matrix;

static matrix matrix_new(uint64_t seed, int64_t rows, int64_t cols, int64_t ld)
{
    matrix m = { mt_test_uniform(seed, rows * ld, -2, 2), NULL, rows * ld };
    for (int64_t i = 0; i < m.count; i++)
        if (i % ld >= cols)
            m.here[i] = NAN;
    m.there = mt_alloc(m.count * (int64_t)sizeof(float), MT_CUDA);
    mt_copy(m.there, MT_CUDA, m.here, MT_CPU, m.count * (int64_t)sizeof(float));
    return m;
}

static void matrix_free(matrix *m)
{
    mt_free(m->there, m->count * (int64_t)sizeof(float), MT_CUDA);
    free(m->here);
}

/* Roundings of a rung to a unit of f32: of each operand's element, beside those of the sum. */
static double operand_units(const char *name)
{
    return strcmp(name, "tensor-f16") == 0    ? 0x1p-11 / MT_UNIT_F32
           : strcmp(name, "tensor-bf16") == 0 ? 0x1p-8 / MT_UNIT_F32
                                              : 0;
}

static double element(const matrix *m, int64_t ld, mt_trans trans, int64_t i, int64_t j)
{
    return m->here[trans ? j * ld + i : i * ld + j];
}

static void check(const mt_matmul_rung *rung, const mt_matmul_dims *d)
{
    matrix a = matrix_new(1, d->trans_a ? d->K : d->M, d->trans_a ? d->M : d->K, d->lda);
    matrix b = matrix_new(2, d->trans_b ? d->N : d->K, d->trans_b ? d->K : d->N, d->ldb);
    matrix c = matrix_new(3, d->M, d->N, d->ldc);
    float *got = malloc((size_t)(c.count + 1) * sizeof *got);
    rung->run(c.there, a.there, b.there, d);
    mt_copy(got, MT_CPU, c.there, MT_CUDA, c.count * (int64_t)sizeof *got);
    for (int64_t i = 0; i < d->M; i++)
        for (int64_t j = 0; j < d->ldc; j++) {
            float *at = &got[i * d->ldc + j], old = c.here[i * d->ldc + j];
            double want = d->write == MT_ACCUMULATE ? old : 0, size = fabs(want);
            for (int64_t k = 0; j < d->N && k < d->K; k++) {
                double term = element(&a, d->lda, d->trans_a, i, k) * element(&b, d->ldb, d->trans_b, k, j);
                want += term;
                size += fabs(term);
            }
            if (j >= d->N)
                cr_assert(isnan(*at), "%s wrote between the rows", rung->name);
            else
                cr_assert_leq(fabs(*at - want), mt_tolerance((double)d->K + 2 + 2.1 * operand_units(rung->name), size),
                              "%s M=%d N=%d K=%d trans %d %d write %d: c[%d,%d] = %g, expected %g", rung->name,
                              (int)d->M, (int)d->N, (int)d->K, d->trans_a, d->trans_b, d->write, (int)i, (int)j,
                              (double)*at, want);
        }
    free(got);
    matrix_free(&a);
    matrix_free(&b);
    matrix_free(&c);
}

/* Leading dimensions: tight, and with a gap that also breaks the alignment of rows to 16 bytes. */
static void check_all(const mt_matmul_rung *rung)
{
    for (int64_t s = 0; s < MT_COUNT(sizes); s++)
        for (int way = 0; way < 8; way++) {
            mt_matmul_dims d = { .M = sizes[s][0], .N = sizes[s][1], .K = sizes[s][2] };
            int64_t gap = way & 4 ? 3 : 0;
            d.trans_a = way & 1 ? MT_TRANS : MT_NO_TRANS;
            d.trans_b = way & 2 ? MT_TRANS : MT_NO_TRANS;
            d.write = way & 4 ? MT_ACCUMULATE : MT_OVERWRITE;
            d.lda = mt_max(1, d.trans_a ? d.M : d.K) + gap;
            d.ldb = mt_max(1, d.trans_b ? d.K : d.N) + gap;
            d.ldc = mt_max(1, d.N) + gap;
            check(rung, &d);
        }
}

Test(matmul_cuda, every_rung_keeps_the_contract, .timeout = 300)
{
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cuda; rung->name; rung++)
        check_all(rung);
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
}
