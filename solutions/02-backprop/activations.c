/* activations.c -- the functions between layers, element by element, forward and backward.
 *
 * Backward multiplies dout by the slope and adds the product: dx += dout * f'(x). The slope is computed from a value
 * that forward saved: the output if that is enough (ReLU, sigmoid, tanh), else the input (GELU). Elements are
 * independent: any thread may process any of them. schedule(static, SHARE) cuts them into whole vectors, so that the
 * same elements are in an incomplete vector, where rounding may differ, for any number of threads. */
#include "kernels/kernels.h"
#include "kernels/vecmath.h"

#include <math.h>

/* Elements from which waking the other threads (2 us) pays: many of a comparison, fewer of an exponential. */
enum { CHEAP_FROM = 1 << 15, COSTLY_FROM = 1 << 13, SHARE = 1 << 12 };

static const float SQRT_HALF = 0.70710678f;      /* sqrt(1/2) */
static const float INV_SQRT_2PI = 0.39894228f;   /* 1 / sqrt(2 pi) */
static const float SQRT_2_OVER_PI = 0.79788456f; /* sqrt(2 / pi) */
static const float CUBIC = 0.044715f;            /* of GELU's tanh approximation */

/* ---- ReLU ------------------------------------------------------------------------------------ */

void mt_relu_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* LAB 02.3 BEGIN  max(x, 0), and NaN stays NaN.
     * Hint: every comparison with NaN is false, so test which values become 0 and not which values stay. */
#pragma omp parallel for simd if (parallel : n >= CHEAP_FROM)
    for (int64_t i = 0; i < n; i++)
        out[i] = x[i] < 0 ? 0 : x[i];
    /* LAB 02.3 END */
}

void mt_relu_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 02.3 BEGIN  The gradient of ReLU.
     * Hint: the slope is that of a line with a kink: kernels.h says which values have none. Add: another path may
     * already have left its gradient in dx. */
#pragma omp parallel for simd if (parallel : n >= CHEAP_FROM)
    for (int64_t i = 0; i < n; i++)
        dx[i] += saved[i] <= 0 ? 0 : dout[i];
    /* LAB 02.3 END */
}

/* ---- sigmoid and tanh ------------------------------------------------------------------------ */

void mt_sigmoid_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* LAB 02.4 BEGIN  Sigmoid without overflow.
     * Hint: e^-x overflows for one sign of x, e^-|x| for none. By which power of e must the fraction be extended
     * where x is negative? */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++) {
        float e = mt_expf(-fabsf(x[i]));
        out[i] = (x[i] < 0 ? e : 1) / (1 + e);
    }
    /* LAB 02.4 END */
}

void mt_sigmoid_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 02.4 BEGIN  The slope of sigmoid, from its output alone.
     * Hint: differentiate the fraction and write the result with s alone; no exponential is needed. */
#pragma omp parallel for simd if (parallel : n >= CHEAP_FROM)
    for (int64_t i = 0; i < n; i++)
        dx[i] += dout[i] * saved[i] * (1 - saved[i]);
    /* LAB 02.4 END */
}

void mt_tanh_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* LAB 02.4 BEGIN  tanh x.
     * Hint: mt_tanhf, from kernels/vecmath.h, lets the loop be vector code; tanhf of the C library is correct but
     * slow. */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++)
        out[i] = mt_tanhf(x[i]);
    /* LAB 02.4 END */
}

void mt_tanh_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 02.4 BEGIN  The slope of tanh, from its output alone.
     * Hint: kernels.h has it in terms of the output; derive it from tanh = sinh / cosh. */
#pragma omp parallel for simd if (parallel : n >= CHEAP_FROM)
    for (int64_t i = 0; i < n; i++)
        dx[i] += dout[i] * (1 - saved[i] * saved[i]);
    /* LAB 02.4 END */
}

/* ---- GELU ------------------------------------------------------------------------------------ */

void mt_gelu_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* LAB 02.5 BEGIN  x Phi(x), where Phi is the distribution function of the normal distribution.
     * Hint: kernels.h says how Phi follows from erf; mt_erff lets the loop be vector code. */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++) {
        float Phi = 0.5f * (1 + mt_erff(x[i] * SQRT_HALF));
        out[i] = x[i] * Phi;
    }
    /* LAB 02.5 END */
}

void mt_gelu_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 02.5 BEGIN  The slope of x Phi(x), by the product rule.
     * Hint: the derivative of a distribution function is its density, phi (kernels.h). */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++) {
        float x = saved[i];
        float Phi = 0.5f * (1 + mt_erff(x * SQRT_HALF));
        float phi = INV_SQRT_2PI * mt_expf(-0.5f * x * x);
        dx[i] += dout[i] * (Phi + x * phi);
    }
    /* LAB 02.5 END */
}

void mt_gelu_tanh_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* LAB 02.5 BEGIN  GPT-2's approximation by tanh: the formula is in kernels.h.
     * Hint: read x[i] before writing out[i]; they may be the same memory. */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++) {
        float u = SQRT_2_OVER_PI * (x[i] + CUBIC * x[i] * x[i] * x[i]);
        out[i] = 0.5f * x[i] * (1 + mt_tanhf(u));
    }
    /* LAB 02.5 END */
}

void mt_gelu_tanh_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* LAB 02.5 BEGIN  Its slope. Derive it on paper (handout, "Derive it yourself"): the formula stands nowhere here.
     * Hint: the output is a product of two functions of x, and one of them is a function of u. */
#pragma omp parallel for simd schedule(static, SHARE) if (parallel : n >= COSTLY_FROM)
    for (int64_t i = 0; i < n; i++) {
        float x = saved[i];
        float t = mt_tanhf(SQRT_2_OVER_PI * (x + CUBIC * x * x * x));
        float du = SQRT_2_OVER_PI * (1 + 3 * CUBIC * x * x);
        dx[i] += dout[i] * 0.5f * (1 + t + x * (1 - t * t) * du);
    }
    /* LAB 02.5 END */
}
