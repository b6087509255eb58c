/* gradcheck.h -- compares a gradient with finite differences of the function: each input is changed a little.
 *
 * The difference is of fourth order, (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h. Its error is h^4/30 times the
 * fifth derivative, and at most 1.5/h times the error of f itself:
 *   f computed in double:  h = 2^-10, error about 1e-13, negligible beside the roundings of an f32 gradient;
 *   f computed in f32:     h = 2^-5, error about 3e-6 of |f|: good enough where no double version of an op exists.
 * Within 2h of x, f must be smooth: keep inputs away from ReLU's corner. */
#pragma once

#include "testing/compare.h"

MT_C_BEGIN

/* A number computed from n numbers. For an op with many results: their sum, weighted by the dout handed to backward. */
typedef double mt_scalar_fn(const double *x, int64_t n, void *user);

typedef struct mt_function {
    mt_scalar_fn *value;
    void *user;
    double step;  /* h: MT_STEP_F64 or MT_STEP_F32 */
    double error; /* of one value, absolute: a few 1e-16 of its terms' magnitudes in double, mt_tolerance() in f32 */
} mt_function;

#define MT_STEP_F64 0x1p-10
#define MT_STEP_F32 0x1p-5

/* mt_numeric_grad -- grad [n] = df/dx at x [n], by differences. */
void mt_numeric_grad(double *grad, const mt_function *f, const double *x, int64_t n);

/* mt_gradcheck -- NULL when got [n] is the gradient of f at x [n]: each within tolerance[i] (of the gradient under
 * test) plus the error of the differences; otherwise a message, as mt_compare. */
const char *mt_gradcheck(const char *name, const float *got, const mt_function *f, const double *x,
                         const double *tolerance, int64_t n);

MT_C_END
