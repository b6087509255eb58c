/* approx.h -- a number in double with a bound of the error of an f32 computation of it.
 *
 * Every operation propagates the errors of its operands and adds its own rounding: running error analysis (Higham 2002,
 * "Accuracy and Stability of Numerical Algorithms", sec. 3.3). So an oracle written with these numbers gets its
 * tolerances from the formula itself, however often it is iterated. Each operation counts
 * MT_APPROX_ROUNDINGS roundings, not one, so that the same formula in another order (a / b * c, a * c / b) stays
 * inside; a fused multiply-add rounds less. */
#pragma once

#include "testing/compare.h"

#include <float.h>
#include <math.h>

#define MT_APPROX_ROUNDINGS 2

typedef struct mt_approx {
    double value;
    double error; /* |f32 computation - value| is at most this; infinite when nothing can be said */
} mt_approx;

static inline mt_approx mt_approx_exact(double value)
{
    return (mt_approx){ value, 0 };
}

/* The result of one operation, with its own roundings added to the error handed on. */
static inline mt_approx mt_approx_rounded(double value, double error)
{
    return (mt_approx){ value, error + mt_tolerance(MT_APPROX_ROUNDINGS, fabs(value)) };
}

static inline bool mt_approx_is_zero(mt_approx a)
{
    return a.value == 0 && a.error == 0;
}

static inline mt_approx mt_approx_add(mt_approx a, mt_approx b)
{
    if (mt_approx_is_zero(a) || mt_approx_is_zero(b))
        return mt_approx_is_zero(a) ? b : a; /* 0 + b rounds nothing */
    return mt_approx_rounded(a.value + b.value, a.error + b.error);
}

static inline mt_approx mt_approx_sub(mt_approx a, mt_approx b)
{
    return mt_approx_add(a, (mt_approx){ -b.value, b.error });
}

static inline mt_approx mt_approx_mul(mt_approx a, mt_approx b)
{
    if (mt_approx_is_zero(a) || mt_approx_is_zero(b))
        return mt_approx_exact(0);
    return mt_approx_rounded(a.value * b.value, fabs(a.value) * b.error + fabs(b.value) * a.error + a.error * b.error);
}

static inline mt_approx mt_approx_div(mt_approx a, mt_approx b)
{
    double quotient = a.value / b.value, least = fabs(b.value) - b.error;
    if (mt_approx_is_zero(a))
        return mt_approx_exact(0);
    return mt_approx_rounded(quotient, least > 0 ? (a.error + fabs(quotient) * b.error) / least : INFINITY);
}

/* Requires a >= 0. |sqrt(x) - sqrt(a)| = |x - a| / (sqrt(x) + sqrt(a)), largest for the smallest x. */
static inline mt_approx mt_approx_sqrt(mt_approx a)
{
    double root = sqrt(a.value), least = sqrt(fmax(0, a.value - a.error));
    if (mt_approx_is_zero(a))
        return a;
    return mt_approx_rounded(root, a.error > 0 ? a.error / (root + least) : 0);
}

static inline mt_approx mt_approx_max(mt_approx a, mt_approx b)
{
    return (mt_approx){ fmax(a.value, b.value), fmax(a.error, b.error) };
}
