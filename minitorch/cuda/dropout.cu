/* dropout.cu -- the CPU's mask, drawn on the device: element i is value i % 4 of Philox block counter + i / 4, so a
 * thread takes the four elements of one block and needs no state and no mask in memory. Moves 8 B an element, backward
 * 12. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/vector.cuh"

/* Four numbers in [0, 1), as mt_rng_fill_uniform of core/rng.c computes them from one block. */
static __device__ __forceinline__ float4 uniform4(mt_rng rng, int64_t block)
{
    const float unit = 1.0f / (1 << 24); /* the upper 24 bits, evenly spaced */
    uint32_t x[4];
    mt_philox(x, rng.seed, rng.stream, rng.counter + (uint64_t)block);
    return make_float4(unit * (float)(x[0] >> 8), unit * (float)(x[1] >> 8), unit * (float)(x[2] >> 8),
                       unit * (float)(x[3] >> 8));
}

/* out = or out +=: x / (1 - p) where the mask is 1, else 0. */
template <bool add> static __global__ void mask(float *out, const float *x, int64_t n, float p, float keep, mt_rng rng)
{
    int64_t block = mt_thread(), i = 4 * block;
    if (i >= n)
        return;
    float4 u = uniform4(rng, block), v = mt_load4(x, i, n);
    float4 old = add ? mt_load4(out, i, n) : make_float4(0, 0, 0, 0);
    mt_store4(out, i, n,
              make_float4(old.x + (u.x >= p ? v.x * keep : 0), old.y + (u.y >= p ? v.y * keep : 0),
                          old.z + (u.z >= p ? v.z * keep : 0), old.w + (u.w >= p ? v.w * keep : 0)));
}

extern "C" void mt_dropout_fwd_cuda(float *out, const float *x, int64_t n, float p, const mt_rng *rng)
{
    MT_LAUNCH_EACH("dropout_fwd", mask<false>, n, 4 * MT_THREADS, out, x, n, p, 1 / (1 - p), *rng);
}

extern "C" void mt_dropout_bwd_cuda(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng)
{
    MT_LAUNCH_EACH("dropout_bwd", mask<true>, n, 4 * MT_THREADS, dx, dout, n, p, 1 / (1 - p), *rng);
}
