/* clip.cu -- the norm of all gradients, and clipping by it.
 *
 * PARTS blocks each add the squares of every PARTS-th section to their own slot, array after array; the host adds the
 * slots in order, so the order of additions depends on the sizes only. Squares are in double, as on the CPU: 1e20
 * squared overflows f32. Moves 4 B an element for one multiply-add: memory-bound even where doubles are slow. */
#include "cuda/kernels.h"
#include "cuda/reduce.cuh"

#include <cmath>

enum { PARTS = 256 };

static __device__ double part[PARTS];

static __global__ void add_squares(const float *g, int64_t n)
{
    double sum = 0;
    for (int64_t i = mt_thread(); i < n; i += mt_grid_threads())
        sum += (double)g[i] * g[i];
    sum = mt_block_sum(sum);
    if (threadIdx.x == 0)
        part[blockIdx.x] += sum;
}

static double norm_of(const mt_grad_array *arrays, int64_t count)
{
    double kept[PARTS] = { 0 }, sum = 0;
    MT_CUDA(cudaMemcpyToSymbol(part, kept, sizeof kept));
    for (const mt_grad_array *a = arrays; a < arrays + count; a++)
        MT_LAUNCH("grad_norm", add_squares, PARTS, MT_THREADS, a->grad, a->count);
    mt_cuda_sync();
    MT_CUDA(cudaMemcpyFromSymbol(kept, part, sizeof kept));
    for (int k = 0; k < PARTS; k++)
        sum += kept[k];
    return sqrt(sum);
}

extern "C" double mt_unscale_grads_cuda(const mt_grad_array *arrays, int64_t count, double scale, double max_norm)
{
    MT_CHECK(scale > 0 && std::isfinite(scale), "unscale: the scale is %g; it must be positive and finite", scale);
    MT_CHECK(max_norm >= 0, "unscale: max_norm is %g; it must be 0 or more", max_norm);
    double norm = norm_of(arrays, count) / scale;
    double factor = norm > max_norm ? max_norm / norm / scale : 1 / scale;
    if (std::isfinite(norm) && factor != 1)
        for (const mt_grad_array *a = arrays; a < arrays + count; a++)
            mt_scale_fwd_cuda(a->grad, a->grad, (float)factor, a->count);
    return norm;
}

extern "C" double mt_clip_grad_norm_cuda(const mt_grad_array *arrays, int64_t count, double max_norm)
{
    MT_CHECK(max_norm >= 0, "clip: max_norm is %g; it must be 0 or more", max_norm);
    return mt_unscale_grads_cuda(arrays, count, 1, max_norm);
}
