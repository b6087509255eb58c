/* gradcheck.h -- is a gradient right? Ask the function itself: move one input a little and see how far the value moves.
 *
 * The difference is of fourth order, (f(x-2h) - 8 f(x-h) + 8 f(x+h) - f(x+2h)) / 12h: off by h^4/30 of the fifth
 * derivative, and by at most 1.5/h times the error of f itself. That leaves
 *   f computed in double:  h = 2^-10, about 1e-13: nothing beside the roundings of the f32 gradient under test;
 *   f computed in f32:     h = 2^-5, about 3e-6 of |f|: good enough where no double version of an op exists.
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
 * test) plus the error of the differences; otherwise words, as mt_compare. */
const char *mt_gradcheck(const char *name, const float *got, const mt_function *f, const double *x,
                         const double *tolerance, int64_t n);

MT_C_END
