/* middle.cu -- sums and maxima along the middle of [A,B,C].
 *
 * C = 1: the elements of a result are contiguous: lab 06's row reductions, or a warp per row. C > 1: adjacent elements
 * belong to different results, so a warp has 32 columns and reads whole sectors, and the 8 warps of a block divide the
 * B elements of each column. */
#include "cuda/kernels.h"
#include "cuda/reduce.cuh"
#include "cuda/kernels_cuda.h"

enum { ROWS = 8 }; /* warps of a block, each with every 8th b */

/* The index a of a block's 32 columns, and the column of this thread. */
struct position {
    int64_t a, c;
};

static __device__ __forceinline__ position find(int64_t C)
{
    int64_t across = (C + MT_WARP - 1) / MT_WARP;
    return { blockIdx.x / across, blockIdx.x % across * MT_WARP + threadIdx.x };
}

static dim3 blocks(int64_t A, int64_t C)
{
    return mt_blocks(A * ((C + MT_WARP - 1) / MT_WARP), 1);
}

/* ---- sums --------------------------------------------------------------------------------------------- */

static __global__ void sum_columns(float *out, const float *x, int64_t B, int64_t C)
{
    __shared__ float part[ROWS][MT_WARP];
    position at = find(C);
    float sum = 0;
    if (at.c < C)
        for (int64_t b = threadIdx.y; b < B; b += ROWS)
            sum += x[(at.a * B + b) * C + at.c];
    part[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y > 0 || at.c >= C)
        return;
    for (int row = 1; row < ROWS; row++)
        sum += part[row][threadIdx.x];
    out[at.a * C + at.c] = sum;
}

static __device__ float partial_sums[MT_SUM_BLOCKS]; /* of one sum at a time: launches run one after another */

extern "C" void mt_sum_middle_cuda(float *out, const float *x, int64_t A, int64_t B, int64_t C)
{
    if (A == 1 && C == 1) {
        void *partial;
        MT_CUDA(cudaGetSymbolAddress(&partial, partial_sums));
        mt_sum_shuffle_cuda(out, (float *)partial, x, B);
    } else if (C == 1)
        mt_row_sum_cuda(out, x, A, B);
    else if (A * C > 0)
        MT_LAUNCH("sum_middle", sum_columns, blocks(A, C), dim3(MT_WARP, ROWS), out, x, B, C);
}

extern "C" void mt_mean_fwd_cuda(float *out, const float *x, int64_t n)
{
    mt_sum_middle_cuda(out, x, 1, n, 1);
    mt_scale_fwd_cuda(out, out, 1 / (float)n, 1);
}

static __global__ void mean_backward(float *dx, const float *dout, int64_t n)
{
    int64_t i = mt_thread();
    if (i < n)
        dx[i] += dout[0] * (1 / (float)n);
}

extern "C" void mt_mean_bwd_cuda(float *dx, const float *dout, int64_t n)
{
    MT_LAUNCH_EACH("mean_bwd", mean_backward, n, MT_THREADS, dx, dout, n);
}

/* ---- maxima --------------------------------------------------------------------------------------------- */

/* A value and its index. The first of equal values counts as larger, and NaN is larger than any number. */
struct best {
    float value;
    int64_t b;
};

static __device__ __forceinline__ best better(best x, best y)
{
    bool x_nan = x.value != x.value, y_nan = y.value != y.value;
    if (x_nan != y_nan)
        return x_nan ? x : y;
    if (x_nan || x.value == y.value)
        return x.b < y.b ? x : y;
    return x.value > y.value ? x : y;
}

/* A warp per result, whose lanes divide the B elements. With C = 1 lanes read consecutive elements; else warps of
 * adjacent columns read the same sectors. */
static __global__ void max_forward(float *out, int64_t *at, const float *x, int64_t n, int64_t B, int64_t C)
{
    int64_t result = mt_thread() / MT_WARP, lane = threadIdx.x % MT_WARP;
    if (result >= n)
        return;
    const float *column = x + result / C * B * C + result % C;
    int64_t first = lane < B ? lane : B - 1; /* lanes without an element of their own use the last one again */
    best found = { column[first * C], first };
    for (int64_t b = lane + MT_WARP; b < B; b += MT_WARP)
        found = better(found, { column[b * C], b });
    for (int distance = MT_WARP / 2; distance > 0; distance /= 2)
        found = better(found, { __shfl_xor_sync(0xffffffffu, found.value, distance),
                                __shfl_xor_sync(0xffffffffu, found.b, distance) });
    if (lane == 0) {
        out[result] = found.value;
        at[result] = found.b;
    }
}

extern "C" void mt_max_middle_fwd_cuda(float *out, int64_t *at, const float *x, int64_t A, int64_t B, int64_t C)
{
    MT_CHECK(B >= 1 || A * C == 0, "the largest of no elements");
    MT_LAUNCH_EACH("max_middle_fwd", max_forward, A * C, MT_THREADS / MT_WARP, out, at, x, A * C, B, C);
}

static __global__ void max_backward(float *dx, const float *dout, const int64_t *at, int64_t n, int64_t B, int64_t C)
{
    int64_t i = mt_thread();
    if (i < n)
        dx[(i / C * B + at[i]) * C + i % C] += dout[i];
}

extern "C" void mt_max_middle_bwd_cuda(float *dx, const float *dout, const int64_t *at, int64_t A, int64_t B, int64_t C)
{
    MT_LAUNCH_EACH("max_middle_bwd", max_backward, A * C, MT_THREADS, dx, dout, at, A * C, B, C);
}
