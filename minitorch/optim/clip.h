/* clip.h -- the norm of all gradients together, and how to limit it. One norm over all arrays keeps the direction of
 * the step, which clipping each array by itself would change. Several threads may call these functions at once, for
 * different arrays. Unit: solutions/04-optimizers/clip.c */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_grad_array {
    float *grad; /* [count] */
    int64_t count;
} mt_grad_array;

/* mt_grad_norm_cpu -- sqrt of the sum of squares of all elements of all arrays; 0 for none.
 * Squares and sums are double, so that no finite gradient overflows; the same bits for any number of threads.
 * Not finite exactly when an element is not.   Moves 4 B per element.   Lab 04.9 */
double mt_grad_norm_cpu(const mt_grad_array *arrays, int64_t count);

/* mt_clip_grad_norm_cpu -- scale all arrays by max_norm / norm when the norm is above max_norm; returns the norm
 * before. A norm that is not finite (isfinite() of the result) leaves every array as it is: skip that step.
 * The factor may be computed in f32: where the norm is above FLT_MAX, the arrays are scaled, or become 0.
 * Unlike torch's, which divides by norm + 1e-6, a clipped gradient has max_norm exactly (to f32 rounding).
 * Moves 4 B per element, and 8 B more when it clips.   Aborts: max_norm negative or NaN.
 * Source: Pascanu et al. 2012, arXiv:1211.5063.   Lab 04.9 */
double mt_clip_grad_norm_cpu(const mt_grad_array *arrays, int64_t count, double max_norm);

MT_C_END
