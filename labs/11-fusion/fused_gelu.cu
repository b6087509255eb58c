/* fused_gelu.cu -- a bias for each column and GPT-2's GELU of the sum on the device, forward and backward. Lab 11.
 *
 * Threads and data: a thread has one column, and several rows of it, so that it reads its bias once; the 32 threads of
 * a warp have neighbouring columns, and a request is of 4 sectors, or 5 where a row does not begin with one. Forward: a
 * block has 256 columns of ROWS rows. Backward: a block has 32 columns and all rows, a warp every WARPS-th of them, so
 * that a column's sum needs neither atomics nor a second launch.
 * Bytes: forward 8NC B, backward 16NC B; biases and sums are a few more. FLOPs: some twenty for each number. */
#include "cuda/gelu.cuh"
#include "cuda/launch.cuh"
#include "fused/kernels_cuda.h"

enum {
    ROWS = 16,  /* of a thread in forward */
    WARPS = 32, /* of a block in backward */
};

/* ---- forward -------------------------------------------------------------------------------------------- */

static __global__ void forward(float *out, const float *x, const float *bias, int64_t N, int64_t C)
{
    int64_t blocks = (C + blockDim.x - 1) / blockDim.x; /* side by side on a row */
    int64_t c = blockIdx.x % blocks * blockDim.x + threadIdx.x, first = blockIdx.x / blocks * ROWS;
    /* TODO 11.10: GELU of x + bias in column c of the rows from `first` on, ROWS of them or what is left of N.
     * Hint: threads beyond the last column have nothing to do. mt_gelu_tanh is in cuda/gelu.cuh. */
    MT_TODO("11.10"); /* delete this line when yours stands here */
}

extern "C" void mt_bias_gelu_fwd_cuda(float *out, const float *x, const float *bias, int64_t N, int64_t C)
{
    if (N * C == 0)
        return;
    int64_t across = mt_blocks(C, MT_THREADS), down = mt_blocks(N, ROWS);
    forward<<<mt_blocks(across * down, 1), MT_THREADS, 0, mt_cuda_stream()>>>(out, x, bias, N, C);
    MT_LAUNCHED("bias_gelu_fwd");
}

/* ---- backward ------------------------------------------------------------------------------------------- */

static __global__ void backward(float *dx, float *dbias, const float *dout, const float *x, const float *bias,
                                int64_t N, int64_t C)
{
    __shared__ double part[WARPS][MT_WARP];
    int64_t c = (int64_t)blockIdx.x * MT_WARP + threadIdx.x;
    double sum = 0;
    /* TODO 11.10: The gradient of x + bias in column c of this warp's rows: added to dx, and to sum.
     * Hint: a thread has row threadIdx.y and every WARPS-th after it, none beyond the last column. dx may be NULL. */
    MT_TODO("11.10"); /* delete this line when yours stands here */
    /* TODO 11.10: The block's sum of each column, added to dbias, which may be NULL.
     * Hint: warps leave their sums in part; then the first warp adds them up. All threads must reach the barrier. */
    MT_TODO("11.10"); /* delete this line when yours stands here */
}

extern "C" void mt_bias_gelu_bwd_cuda(float *dx, float *dbias, const float *dout, const float *x, const float *bias,
                                      int64_t N, int64_t C)
{
    if (N * C == 0)
        return;
    backward<<<mt_blocks(C, MT_WARP), dim3(MT_WARP, WARPS), 0, mt_cuda_stream()>>>(dx, dbias, dout, x, bias, N, C);
    MT_LAUNCHED("bias_gelu_bwd");
}
