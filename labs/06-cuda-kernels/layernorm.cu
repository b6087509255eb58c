/* layernorm.cu -- normalise each row, then scale and shift; forward and backward.
 *
 *     xhat = (x - mean) rstd,   out = xhat gamma + beta,   rstd = 1 / sqrt(variance + eps)
 *     g = dout gamma,   dx += rstd (g - mean of g - xhat mean of g xhat)
 *     dgamma += column sums of dout xhat,   dbeta += column sums of dout
 *
 * Threads and data: out and dx use a block for each row, as softmax does. dgamma and dbeta are column sums: a block has
 * 8 columns, and a warp 4 rows of them. 8 floats are one sector, so a request is still 4 whole sectors, and a matrix of
 * 768 columns makes 96 blocks; with 32 columns per warp there would be 24, and most of the GPU would be idle. No two
 * blocks have a column in common, so there are no atomics and the bits are always the same.
 * Bytes and FLOPs: forward 24NC B, dx 32NC B, dgamma and dbeta 10NC B, gamma and beta counted at every row (they come
 * from the cache); ten FLOPs per element. */
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"
#include "cuda/kernels_cuda.h"

#include <inttypes.h>

static void check_columns(const char *who, int64_t N, int64_t C)
{
    MT_CHECK(N == 0 || C >= 1, "%s: %" PRId64 " rows of C = %" PRId64 " columns; C must be at least 1", who, N, C);
}

/* ---- forward ------------------------------------------------------------------------------------ */

static __global__ void forward(float *out, float *mean, float *rstd, const float *x, const float *gamma,
                               const float *beta, int64_t C, float eps)
{
    const float *row = x + blockIdx.x * C;
    float *to = out + blockIdx.x * C;
    float sum = 0, square = 0, m = 0, r = 0;
    /* TODO 06.12: The mean m of the row, then its variance about m, then r = 1 / sqrt(variance + eps).
     * Hint: mean(x^2) - m^2 would need one pass less, but it cancels for large numbers with a small variance: a float
     * has too few digits for 1000.1^2. Two passes do not. mt_block_sum returns the block's sum in every thread. */
    MT_TODO("06.12"); /* delete this line when yours stands here */
    r = r == 0 ? NAN : r; /* the squares overflowed: the row is not known, and zeros would hide that */
    /* TODO 06.12: Write the row, and let one thread save m and r for backward. */
    MT_TODO("06.12"); /* delete this line when yours stands here */
}

extern "C" void mt_layernorm_fwd_cuda(float *out, float *mean, float *rstd, const float *x, const float *gamma,
                                      const float *beta, int64_t N, int64_t C, float eps)
{
    check_columns("layernorm", N, C);
    if (N == 0)
        return;
    forward<<<mt_blocks(N, 1), mt_row_threads(C), 0, mt_cuda_stream()>>>(out, mean, rstd, x, gamma, beta, C, eps);
    MT_LAUNCHED("layernorm_fwd");
}

/* ---- gradient of x: along the rows --------------------------------------------------------------- */

static __global__ void backward_x(float *dx, const float *dout, const float *x, const float *gamma, const float *mean,
                                  const float *rstd, int64_t C)
{
    const float *row = x + blockIdx.x * C, *dy = dout + blockIdx.x * C;
    float *d = dx + blockIdx.x * C;
    float m = mean[blockIdx.x], r = rstd[blockIdx.x];
    /* TODO 06.13: Add rstd (g - mean of g - xhat mean of g xhat) to dx, for one row.
     * Hint: one pass for the two sums over the row, one that writes. It is cheaper to compute g and xhat again than to
     * store them. */
    MT_TODO("06.13"); /* delete this line when yours stands here */
}

/* ---- gradients of gamma and beta: along the columns -------------------------------------------------- */

enum {
    COLUMNS = 8, /* of a block: the floats of a sector */
    LANES = 128, /* threads for each of them */
    WARPS = COLUMNS * LANES / MT_WARP,
};

static __global__ void backward_gamma_beta(float *dgamma, float *dbeta, const float *dout, const float *x,
                                           const float *mean, const float *rstd, int64_t N, int64_t C)
{
    __shared__ float slot_gamma[WARPS][COLUMNS], slot_beta[WARPS][COLUMNS];
    int column = threadIdx.x % COLUMNS, warp = threadIdx.x / MT_WARP;
    int64_t c = (int64_t)blockIdx.x * COLUMNS + column;
    float sum_gamma = 0, sum_beta = 0;
    /* TODO 06.13: Add up dout xhat and dout of column c, over every LANES-th row from threadIdx.x / COLUMNS on.
     * Hint: the last block may have columns beyond C; their threads must still reach the barrier below. */
    MT_TODO("06.13"); /* delete this line when yours stands here */
    /* TODO 06.13: Combine the 4 lanes of each warp that have the same column, then the warps; add to the
     * gradients.
     * Hint: lane l has column l % 8, so shuffles over 8 and 16 combine the lanes of a column. Combine the warps through
     * the array in shared memory. dgamma and dbeta may each be NULL. */
    MT_TODO("06.13"); /* delete this line when yours stands here */
}

extern "C" void mt_layernorm_bwd_cuda(float *dx, float *dgamma, float *dbeta, const float *dout, const float *x,
                                      const float *gamma, const float *mean, const float *rstd, int64_t N, int64_t C)
{
    check_columns("layernorm backward", N, C);
    if (N == 0)
        return;
    if (dx) {
        backward_x<<<mt_blocks(N, 1), mt_row_threads(C), 0, mt_cuda_stream()>>>(dx, dout, x, gamma, mean, rstd, C);
        MT_LAUNCHED("layernorm_bwd of x");
    }
    if (dgamma || dbeta) {
        backward_gamma_beta<<<mt_blocks(C, COLUMNS), COLUMNS * LANES, 0, mt_cuda_stream()>>>(dgamma, dbeta, dout, x,
                                                                                             mean, rstd, N, C);
        MT_LAUNCHED("layernorm_bwd of gamma and beta");
    }
}
