/* classifier.cu -- the head of a language model and its loss in one buffer: logits, probabilities, their gradient.
 *
 * The products are the kernel table's (cuBLAS); the loss is loss.cu's and overwrites its logits. In addition there is
 * one pass over the N x V probabilities, which reads and writes 4 B of each. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/matmul_cuda.h"

extern "C" void mt_classifier_fwd_cuda(float *loss, float *probs, const float *x, const float *w, const int32_t *target,
                                       int64_t N, int64_t C, int64_t V)
{
    mt_matmul_cuda(probs, x, w, N, V, C, MT_NO_TRANS, MT_TRANS, MT_OVERWRITE);
    mt_cross_entropy_fwd_cuda(loss, probs, probs, target, N, V);
}

/* A block per row: p becomes (p - 1 at the target) * dloss[n]. */
static __global__ void to_gradient(float *probs, const int32_t *target, const float *dloss, int64_t V)
{
    int64_t n = blockIdx.x;
    for (int64_t v = threadIdx.x; v < V; v += blockDim.x)
        probs[n * V + v] = (probs[n * V + v] - (v == target[n] ? 1 : 0)) * dloss[n];
}

extern "C" void mt_classifier_bwd_cuda(float *dx, float *dw, float *probs, const float *dloss, const float *x,
                                       const float *w, const int32_t *target, int64_t N, int64_t C, int64_t V)
{
    if (N * V == 0)
        return;
    MT_LAUNCH("classifier_bwd", to_gradient, mt_blocks(N, 1), mt_row_threads(V), probs, target, dloss, V);
    if (dx)
        mt_matmul_cuda(dx, probs, w, N, C, V, MT_NO_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    if (dw)
        mt_matmul_cuda(dw, probs, x, V, C, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
}
