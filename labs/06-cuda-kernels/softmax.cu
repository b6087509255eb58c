/* softmax.cu -- softmax of rows, forward and backward: the first kernels that need a whole row before they can write
 * any of it.
 *
 *     out = exp(x - max) / sum of exp(x - max)            dx += out (dout - dot),  dot = sum of dout out
 *
 * Threads and data: a block for each row, of mt_row_threads(C) threads; lanes run along the row, so that every pass
 * reads whole sectors. Values that all threads need (max, sum, dot) come from mt_block_max and mt_block_sum, a general
 * form of lab 06.9.
 * Bytes and FLOPs: forward passes over the row three times, reads 12NC B and writes 4NC B; backward twice, 20NC and
 * 4NC. Some ten FLOPs per element: memory limits all of it, or the cache where a row is read again. */
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "cuda/kernels_cuda.h"

#include <inttypes.h>
#include <math.h>

static void check_columns(const char *who, int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "%s: %" PRId64 " rows of C = %" PRId64 " columns; C must be at least 1", who, N, C);
}

static __global__ void forward(float *out, const float *x, int64_t C)
{
    const float *row = x + blockIdx.x * C;
    float *p = out + blockIdx.x * C;
    /* TODO 06.11: Softmax of one row that cannot overflow.
     * Hint: three passes, each by all threads of the block: the maximum, the sum of exp(x - max), the division.
     * mt_block_max and mt_block_sum return the result for the whole block in every thread. p may be x: read before you
     * write. */
    MT_TODO("06.11"); /* delete this line when yours stands here */
}

extern "C" void mt_softmax_fwd_cuda(float *out, const float *x, int64_t N, int64_t C)
{
    check_columns("softmax", N, C);
    if (N == 0)
        return;
    forward<<<mt_blocks(N, 1), mt_row_threads(C), 0, mt_cuda_stream()>>>(out, x, C);
    MT_LAUNCHED("softmax_fwd");
}

static __global__ void backward(float *dx, const float *dout, const float *out, int64_t C)
{
    const float *dp = dout + blockIdx.x * C, *p = out + blockIdx.x * C;
    float *d = dx + blockIdx.x * C;
    /* TODO 06.11: Add out (dout - dot) to dx, for one row.
     * Hint: first dot, by all threads. The gradient is added to dx. */
    MT_TODO("06.11"); /* delete this line when yours stands here */
}

extern "C" void mt_softmax_bwd_cuda(float *dx, const float *dout, const float *out, int64_t N, int64_t C)
{
    check_columns("softmax backward", N, C);
    if (N == 0)
        return;
    backward<<<mt_blocks(N, 1), mt_row_threads(C), 0, mt_cuda_stream()>>>(dx, dout, out, C);
    MT_LAUNCHED("softmax_bwd");
}
