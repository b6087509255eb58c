/* fused_norm.cu -- the residual sum and the layernorm of it on the device, forward and backward. Lab 11.
 *
 * Threads and data: a block for each row, as in lab 06's layernorm. A thread has every blockDim.x-th column, in all
 * passes the same ones: what it will need again of them it keeps in shared memory, where it is the only reader, so that
 * no barrier is needed but those of mt_block_sum. Columns from KEPT on come from memory once more.
 * Bytes: forward reads 8NC B and writes 8NC B; gamma and beta, 8NC B, are counted at every row and come from the cache.
 * Backward reads 12NC B, adds to dx and dpart, and reads gamma, 4NC B; dgamma and dbeta are made by lab 06's layernorm.
 * FLOPs: some ten for each number. */
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "fused/kernels_cuda.h"

#include <inttypes.h>

enum { KEPT = 4096 }; /* columns of a row in shared memory; backward has two such arrays, 32 KiB of the 48 */

static size_t shared_bytes(int64_t C, int arrays)
{
    return sizeof(float) * (size_t)arrays * (size_t)mt_min(C, KEPT);
}

static void check_columns(const char *who, int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "%s: %" PRId64 " rows of C = %" PRId64 " columns; C must be at least 1", who, N, C);
}

/* ---- forward -------------------------------------------------------------------------------------------- */

static __global__ void forward(float *sum, float *out, float *mean, float *rstd, const float *x, const float *part,
                               const float *gamma, const float *beta, int64_t C, float eps)
{
    extern __shared__ float kept[];
    const float *a = x + blockIdx.x * C, *b = part + blockIdx.x * C;
    float *row = sum + blockIdx.x * C, *to = out + blockIdx.x * C;
    float total = 0, squares = 0, m = 0, r = 0;
    /* LAB 11.8 BEGIN  The sums of this thread's columns, to memory and to kept; then the row's m and r.
     * Hint: column c is in kept[c] if c < KEPT, else in row[c]. Read each of x and part once: sum may be x. The squares
     * are of the sum minus m, in a second pass. mt_block_sum gives all threads the block's sum. */
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x) {
        float s = a[c] + b[c];
        row[c] = s;
        if (c < KEPT)
            kept[c] = s;
        total += s;
    }
    m = mt_block_sum(total) / (float)C;
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x) {
        float d = (c < KEPT ? kept[c] : row[c]) - m;
        squares += d * d;
    }
    r = 1 / sqrtf(mt_block_sum(squares) / (float)C + eps);
    /* LAB 11.8 END */
    r = r == 0 ? NAN : r; /* as in lab 06: the squares overflowed */
    /* LAB 11.8 BEGIN  Write the row of out, and let one thread save m and r for backward. */
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        to[c] = ((c < KEPT ? kept[c] : row[c]) - m) * r * gamma[c] + beta[c];
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = m;
        rstd[blockIdx.x] = r;
    }
    /* LAB 11.8 END */
}

extern "C" void mt_residual_norm_fwd_cuda(float *sum, float *out, float *mean, float *rstd, const float *x,
                                          const float *part, const float *gamma, const float *beta, int64_t N,
                                          int64_t C, float eps)
{
    check_columns("residual_norm", N, C);
    if (N == 0)
        return;
    forward<<<mt_blocks(N, 1), mt_row_threads(C), shared_bytes(C, 1), mt_cuda_stream()>>>(sum, out, mean, rstd, x, part,
                                                                                          gamma, beta, C, eps);
    MT_LAUNCHED("residual_norm_fwd");
}

/* ---- backward ------------------------------------------------------------------------------------------- */

static __global__ void backward(float *dx, float *dpart, const float *dsum, const float *dout, const float *sum,
                                const float *gamma, const float *mean, const float *rstd, int64_t C)
{
    extern __shared__ float kept[];
    float *g = kept, *xhat = kept + (C < KEPT ? C : (int64_t)KEPT);
    const int64_t begin = blockIdx.x * C;
    const float *dy = dout + begin, *row = sum + begin, m = mean[blockIdx.x], r = rstd[blockIdx.x];
    float sum_g = 0, sum_gx = 0;
    /* LAB 11.8 BEGIN  The row's two sums, of g = dout gamma and of g xhat, with g and xhat = (sum - m) r kept.
     * Hint: as in lab 06.13's first pass. Both are computed again below for a column from KEPT on. */
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x) {
        float g_c = dy[c] * gamma[c], x_c = (row[c] - m) * r;
        if (c < KEPT) {
            g[c] = g_c;
            xhat[c] = x_c;
        }
        sum_g += g_c;
        sum_gx += g_c * x_c;
    }
    float mean_g = mt_block_sum(sum_g) / (float)C, mean_gx = mt_block_sum(sum_gx) / (float)C;
    /* LAB 11.8 END */
    /* LAB 11.8 BEGIN  The gradient of the sum: what reaches it directly, and layernorm's; both addends get it.
     * Hint: dsum, dx and dpart may be NULL; gradients accumulate. */
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x) {
        float g_c = c < KEPT ? g[c] : dy[c] * gamma[c], x_c = c < KEPT ? xhat[c] : (row[c] - m) * r;
        float d = r * (g_c - mean_g - x_c * mean_gx) + (dsum ? dsum[begin + c] : 0);
        if (dx)
            dx[begin + c] += d;
        if (dpart)
            dpart[begin + c] += d;
    }
    /* LAB 11.8 END */
}

extern "C" void mt_residual_norm_rows_bwd_cuda(float *dx, float *dpart, const float *dsum, const float *dout,
                                               const float *sum, const float *gamma, const float *mean,
                                               const float *rstd, int64_t N, int64_t C)
{
    check_columns("residual_norm backward", N, C);
    if (N == 0 || (!dx && !dpart))
        return;
    backward<<<mt_blocks(N, 1), mt_row_threads(C), shared_bytes(C, 2), mt_cuda_stream()>>>(dx, dpart, dsum, dout, sum,
                                                                                           gamma, mean, rstd, C);
    MT_LAUNCHED("residual_norm_bwd");
}
