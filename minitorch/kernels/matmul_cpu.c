/* matmul_cpu.c -- the product of dense matrices by the kernel in use: mt_matmul_cpu of matmul.h. */
#include "kernels/kernels.h"

void mt_matmul_cpu(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                   mt_trans trans_b, mt_write write)
{
    const mt_matmul_dims dims = mt_dense_dims(M, N, K, trans_a, trans_b, write);
    mt_kernels(MT_CPU)->matmul(c, a, b, &dims);
}
