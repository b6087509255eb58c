/* loss.cu -- softmax fused with the negative log-likelihood, forward and backward.
 *
 * A block has a row; its threads stride over the columns, so a warp reads 32 consecutive elements at a time. Forward
 * reads a row three times (12 B an element; from memory only once if the row fits in the L1 cache) and writes it once.
 * */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/reduce.cuh"

/* Threads for rows of C: whole warps, no more than there is work for. */
static int row_threads(int64_t C)
{
    return (int)mt_min(1024, (C + MT_WARP - 1) / MT_WARP * MT_WARP);
}

static __global__ void loss_forward(float *loss, float *probs, const float *logits, const int32_t *label, int64_t C)
{
    int64_t n = blockIdx.x;
    const float *x = logits + n * C;
    float *p = probs + n * C, max = -INFINITY, sum = 0;
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        max = mt_larger()(max, x[c]);
    max = mt_block_max(max);
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        sum += expf(x[c] - max);
    sum = mt_block_sum(sum);
    if (threadIdx.x == 0) { /* before probs, which may be the logits, are written */
        if (label[n] < 0 || label[n] >= C) {
            printf("cross_entropy: label[%lld] is %d, but the classes are 0 .. %lld\n", (long long)n, (int)label[n],
                   (long long)C - 1);
            __trap();
        }
        loss[n] = max - x[label[n]] + logf(sum);
    }
    __syncthreads();
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        p[c] = expf(x[c] - max) / sum;
}

extern "C" void mt_cross_entropy_fwd_cuda(float *loss, float *probs, const float *logits, const int32_t *label,
                                          int64_t N, int64_t C)
{
    MT_CHECK(C >= 1 || N == 0, "cross_entropy: the number of classes is 0");
    if (N == 0)
        return;
    MT_LAUNCH("cross_entropy_fwd", loss_forward, mt_blocks(N, 1), row_threads(C), loss, probs, logits, label, C);
}

static __global__ void loss_backward(float *dlogits, const float *dloss, const float *probs, const int32_t *label,
                                     int64_t C)
{
    int64_t n = blockIdx.x;
    for (int64_t c = threadIdx.x; c < C; c += blockDim.x)
        dlogits[n * C + c] += dloss[n] * (probs[n * C + c] - (c == label[n] ? 1 : 0));
}

extern "C" void mt_cross_entropy_bwd_cuda(float *dlogits, const float *dloss, const float *probs, const int32_t *label,
                                          int64_t N, int64_t C)
{
    if (N * C == 0)
        return;
    MT_LAUNCH("cross_entropy_bwd", loss_backward, mt_blocks(N, 1), row_threads(C), dlogits, dloss, probs, label, C);
}
