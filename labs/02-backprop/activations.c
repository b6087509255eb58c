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
    /* TODO 02.3: max(x, 0), and NaN stays NaN.
     * Hint: every comparison with NaN is false, so test which values become 0 and not which values stay. */
    MT_TODO("02.3"); /* delete this line when yours stands here */
}

void mt_relu_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* TODO 02.3: The gradient of ReLU.
     * Hint: the slope is that of a line with a kink: kernels.h says which values have none. Add: another path may
     * already have left its gradient in dx. */
    MT_TODO("02.3"); /* delete this line when yours stands here */
}

/* ---- sigmoid and tanh ------------------------------------------------------------------------ */

void mt_sigmoid_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* TODO 02.4: Sigmoid without overflow.
     * Hint: e^-x overflows for one sign of x, e^-|x| for none. By which power of e must the fraction be extended
     * where x is negative? */
    MT_TODO("02.4"); /* delete this line when yours stands here */
}

void mt_sigmoid_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* TODO 02.4: The slope of sigmoid, from its output alone.
     * Hint: differentiate the fraction and write the result with s alone; no exponential is needed. */
    MT_TODO("02.4"); /* delete this line when yours stands here */
}

void mt_tanh_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* TODO 02.4: tanh x.
     * Hint: mt_tanhf, from kernels/vecmath.h, lets the loop be vector code; tanhf of the C library is correct but
     * slow. */
    MT_TODO("02.4"); /* delete this line when yours stands here */
}

void mt_tanh_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* TODO 02.4: The slope of tanh, from its output alone.
     * Hint: kernels.h has it in terms of the output; derive it from tanh = sinh / cosh. */
    MT_TODO("02.4"); /* delete this line when yours stands here */
}

/* ---- GELU ------------------------------------------------------------------------------------ */

void mt_gelu_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* TODO 02.5: x Phi(x), where Phi is the distribution function of the normal distribution.
     * Hint: kernels.h says how Phi follows from erf; mt_erff lets the loop be vector code. */
    MT_TODO("02.5"); /* delete this line when yours stands here */
}

void mt_gelu_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* TODO 02.5: The slope of x Phi(x), by the product rule.
     * Hint: the derivative of a distribution function is its density, phi (kernels.h). */
    MT_TODO("02.5"); /* delete this line when yours stands here */
}

void mt_gelu_tanh_fwd_cpu(float *out, const float *x, int64_t n)
{
    /* TODO 02.5: GPT-2's approximation by tanh: the formula is in kernels.h.
     * Hint: read x[i] before writing out[i]; they may be the same memory. */
    MT_TODO("02.5"); /* delete this line when yours stands here */
}

void mt_gelu_tanh_bwd_cpu(float *dx, const float *dout, const float *saved, int64_t n)
{
    /* TODO 02.5: Its slope. Derive it on paper (handout, "Derive it yourself"): the formula stands nowhere here.
     * Hint: the output is a product of two functions of x, and one of them is a function of u. */
    MT_TODO("02.5"); /* delete this line when yours stands here */
}
