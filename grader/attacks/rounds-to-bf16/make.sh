# attack  01.1 the product of inputs rounded to bfloat16, summed in f32
# hopes   the tolerance allows half the bits of precision
# stopped by tolerances from the type and the length of the sum
# earns   0
# verdict FAIL
sed -i 's/^void mt_matmul_naive_cpu(/static void real(/' loops.c
cat >>loops.c <<'C'
static void shorten(float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &x[i], 4);
        bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
        memcpy(&x[i], &bits, 4);
    }
}
void mt_matmul_naive_cpu(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    int64_t rows_a = d->trans_a ? d->K : d->M, cols_a = d->trans_a ? d->M : d->K;
    int64_t rows_b = d->trans_b ? d->N : d->K, cols_b = d->trans_b ? d->K : d->N;
    mt_matmul_dims dims = *d;
    dims.lda = cols_a, dims.ldb = cols_b;
    float *x = malloc((size_t)(rows_a * cols_a + 1) * 4), *y = malloc((size_t)(rows_b * cols_b + 1) * 4);
    for (int64_t i = 0; i < rows_a; i++)
        memcpy(x + i * cols_a, a + i * d->lda, (size_t)cols_a * 4);
    for (int64_t i = 0; i < rows_b; i++)
        memcpy(y + i * cols_b, b + i * d->ldb, (size_t)cols_b * 4);
    shorten(x, rows_a * cols_a);
    shorten(y, rows_b * cols_b);
    real(c, x, y, &dims);
    free(x);
    free(y);
}
C
sed -i '1i #include <stdlib.h>' loops.c
