/* unary.cu -- the given functions of one array (lab 06 has the others), forward and backward.
 *
 * A thread has four consecutive elements: one load and one store of 16 bytes. Forward moves 8 B an element, backward 16
 * (it also reads dx, to add to it): memory-bound. */
#include "cuda/gelu.cuh"
#include "cuda/kernels.h"
#include "cuda/launch.cuh"
#include "cuda/vector.cuh"

/* out = value(x). */
template <class F> static __global__ void map(float *out, const float *x, int64_t n, F f)
{
    int64_t i = 4 * mt_thread();
    float4 v = mt_load4(x, i, n);
    mt_store4(out, i, n, make_float4(f.value(v.x), f.value(v.y), f.value(v.z), f.value(v.w)));
}

/* dx += dout * slope(saved), where saved is x or out. */
template <class F> static __global__ void map_slope(float *dx, const float *dout, const float *saved, int64_t n, F f)
{
    int64_t i = 4 * mt_thread();
    float4 d = mt_load4(dx, i, n), g = mt_load4(dout, i, n), s = mt_load4(saved, i, n);
    mt_store4(dx, i, n,
              make_float4(d.x + g.x * f.slope(s.x), d.y + g.y * f.slope(s.y), d.z + g.z * f.slope(s.z),
                          d.w + g.w * f.slope(s.w)));
}

template <class F> static void forward(const char *name, float *out, const float *x, int64_t n, F f)
{
    MT_LAUNCH_EACH(name, map, n, 4 * MT_THREADS, out, x, n, f);
}

template <class F>
static void backward(const char *name, float *dx, const float *dout, const float *saved, int64_t n, F f)
{
    MT_LAUNCH_EACH(name, map_slope, n, 4 * MT_THREADS, dx, dout, saved, n, f);
}

/* ---- the functions: value of x, and slope at s, which is x or out as kernels/kernels.h says ------------ */

#define UNARY(name, value_of_x, slope_at_s)                                                           \
    struct name##_function {                                                                          \
        __device__ __forceinline__ float value(float x) const                                         \
        {                                                                                             \
            return value_of_x;                                                                        \
        }                                                                                             \
        __device__ __forceinline__ float slope(float s) const                                         \
        {                                                                                             \
            return slope_at_s;                                                                        \
        }                                                                                             \
    };                                                                                                \
    extern "C" void mt_##name##_fwd_cuda(float *out, const float *x, int64_t n)                       \
    {                                                                                                 \
        forward(#name "_fwd", out, x, n, name##_function());                                          \
    }                                                                                                 \
    extern "C" void mt_##name##_bwd_cuda(float *dx, const float *dout, const float *saved, int64_t n) \
    {                                                                                                 \
        backward(#name "_bwd", dx, dout, saved, n, name##_function());                                \
    }

UNARY(exp, expf(x), s)
UNARY(log, logf(x), 1 / s)
UNARY(sqrt, sqrtf(x), 0.5f / s)
UNARY(sigmoid, 1 / (1 + expf(-x)), s * (1 - s))
UNARY(tanh, tanhf(x), 1 - s * s)
UNARY(gelu_tanh, mt_gelu_tanh(x), mt_gelu_tanh_slope(s))

/* ---- scale -------------------------------------------------------------------------------------------- */

struct times {
    float factor;
    __device__ __forceinline__ float value(float x) const
    {
        return factor * x;
    }
    __device__ __forceinline__ float slope(float) const
    {
        return factor;
    }
};

extern "C" void mt_scale_fwd_cuda(float *out, const float *x, float factor, int64_t n)
{
    forward("scale_fwd", out, x, n, times{ factor });
}

/* The slope does not depend on the saved array, so dout is passed for it. */
extern "C" void mt_scale_bwd_cuda(float *dx, const float *dout, float factor, int64_t n)
{
    backward("scale_bwd", dx, dout, dout, n, times{ factor });
}
