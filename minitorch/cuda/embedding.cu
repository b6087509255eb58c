/* embedding.cu -- GPT-2's embedding, a row for each token plus a row for its position, forward and backward. Rows of
 * one table: unit embedding.cu of lab 06.
 *
 * Forward: a warp per token, its lanes along the row, so that requests are whole sectors for any ids. It reads 8 B and
 * writes 4 B an element, for one addition. Backward uses two existing kernels: lab 06's sum by atomics for the tokens,
 * in no fixed order, and the sum over samples through a view for the positions. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

enum { WARPS = MT_THREADS / MT_WARP };

static __global__ void add_rows(float *out, const int32_t *id, const float *wte, const float *wpe, int64_t N, int64_t T,
                                int64_t V, int64_t C)
{
    int64_t n = mt_thread() / MT_WARP, lane = threadIdx.x % MT_WARP;
    if (n >= N)
        return;
    if (id[n] < 0 || id[n] >= V) {
        if (lane == 0)
            printf("embedding: id[%lld] is %d, but the tokens are 0 .. %lld\n", (long long)n, (int)id[n],
                   (long long)V - 1);
        __syncwarp(); /* the first lane that traps ends the kernel, perhaps before lane 0 has printed */
        __trap();
    }
    const float *token = wte + id[n] * C, *position = wpe + n % T * C;
    for (int64_t c = lane; c < C; c += MT_WARP)
        out[n * C + c] = token[c] + position[c];
}

extern "C" void mt_embedding_fwd_cuda(float *out, const int32_t *id, const float *wte, const float *wpe, int64_t B,
                                      int64_t T, int64_t V, int64_t C)
{
    MT_LAUNCH_EACH("embedding_fwd", add_rows, B * T, WARPS, out, id, wte, wpe, B * T, T, V, C);
}

extern "C" void mt_embedding_bwd_cuda(float *dwte, float *dwpe, const float *dout, const int32_t *id, int64_t B,
                                      int64_t T, int64_t C)
{
    if (dwte)
        mt_gather_rows_bwd_cuda(dwte, dout, id, B * T, INT32_MAX, C); /* forward has checked the ids */
    if (!dwpe)
        return;
    mt_view samples = mt_view_contiguous(MT_SHAPE(B, T, C)), repeated = samples;
    repeated.stride[0] = 0; /* the same positions in every sample */
    mt_strided to = { dwpe, repeated }, from = { const_cast<float *>(dout), samples };
    mt_add_strided_cuda(&to, &from);
}
