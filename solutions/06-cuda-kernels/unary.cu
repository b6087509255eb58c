/* unary.cu -- ReLU and GELU: one operand, element by element, out = f(x), and dx += dout f'(x).
 *
 * Threads and data: thread t takes element t. Only the function of one element differs, so there is one forward kernel
 * and one backward kernel with the function as a template argument, which the compiler inlines.
 * Bytes and FLOPs: forward moves 8n B, backward 16n B. ReLU does one FLOP for them and GELU some thirty: on a GPU both
 * take as long as a copy of the array. */
#include "cuda/launch.cuh"
#include "cuda/kernels_cuda.h"

#include <math.h>

/* out = value(x); the addition to dx = slope(dout, saved). */
typedef float value_fn(float x);
typedef float slope_fn(float dout, float saved);

/* ---- functions of one element ----------------------------------------------------------------------------- */

static __device__ float relu(float x)
{
    float y = 0;
    /* LAB 06.3 BEGIN  y = max(x, 0); NaN stays NaN.
     * Hint: every comparison with NaN is false. Which comparison then gives x? */
    y = x < 0 ? 0 : x;
    /* LAB 06.3 END */
    return y;
}

static __device__ float relu_slope(float dout, float out)
{
    float dx = 0;
    /* LAB 06.3 BEGIN  The addition to dx, from the saved output. */
    dx = out <= 0 ? 0 : dout;
    /* LAB 06.3 END */
    return dx;
}

static const float ROOT_HALF = 0.70710678f, ROOT_2PI = 2.50662827f;

static __device__ float gelu(float x)
{
    float y = 0;
    /* LAB 06.3 BEGIN  y = x Phi(x), with Phi(x) = (1 + erf(x / sqrt(2))) / 2.
     * Hint: 0.5 is a double, and double arithmetic is 2 to 64 times slower on a GPU: write 0.5f, and erff. */
    y = 0.5f * x * (1 + erff(x * ROOT_HALF));
    /* LAB 06.3 END */
    return y;
}

static __device__ float gelu_slope(float dout, float x)
{
    float dx = 0;
    /* LAB 06.3 BEGIN  The addition to dx, from the saved input: dout (Phi(x) + x phi(x)).
     * Hint: phi(x) = exp(-x^2 / 2) / sqrt(2 pi). */
    float Phi = 0.5f * (1 + erff(x * ROOT_HALF)), phi = expf(-0.5f * x * x) / ROOT_2PI;
    dx = dout * (Phi + x * phi);
    /* LAB 06.3 END */
    return dx;
}

/* ---- kernels -------------------------------------------------------------------------------------- */

template <value_fn *VALUE> static __global__ void forward(float *out, const float *x, int64_t n)
{
    /* LAB 06.3 BEGIN  out = VALUE(x), one element. */
    int64_t i = mt_thread();
    if (i < n)
        out[i] = VALUE(x[i]);
    /* LAB 06.3 END */
}

template <slope_fn *SLOPE> static __global__ void backward(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 06.3 BEGIN  Add SLOPE(dout, saved) to dx, one element. */
    int64_t i = mt_thread();
    if (i < n)
        dx[i] += SLOPE(dout[i], saved[i]);
    /* LAB 06.3 END */
}

template <value_fn *VALUE> static void launch(const char *name, float *out, const float *x, int64_t n)
{
    if (n == 0)
        return;
    forward<VALUE><<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(out, x, n);
    MT_LAUNCHED(name);
}

template <slope_fn *SLOPE>
static void launch(const char *name, float *dx, const float *dout, const float *saved, int64_t n)
{
    if (n == 0)
        return;
    backward<SLOPE><<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(dx, dout, saved, n);
    MT_LAUNCHED(name);
}

/* ---- launchers -------------------------------------------------------------------------------------- */

extern "C" void mt_relu_fwd_cuda(float *out, const float *x, int64_t n)
{
    launch<relu>("relu_fwd", out, x, n);
}

extern "C" void mt_gelu_fwd_cuda(float *out, const float *x, int64_t n)
{
    launch<gelu>("gelu_fwd", out, x, n);
}

extern "C" void mt_relu_bwd_cuda(float *dx, const float *dout, const float *saved, int64_t n)
{
    launch<relu_slope>("relu_bwd", dx, dout, saved, n);
}

extern "C" void mt_gelu_bwd_cuda(float *dx, const float *dout, const float *saved, int64_t n)
{
    launch<gelu_slope>("gelu_bwd", dx, dout, saved, n);
}
