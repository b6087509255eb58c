/* scaler.h -- dynamic loss scaling, and the clipping of scaled gradients.
 *
 * In f16 a gradient below 2^-25 is rounded to 0. The loss is therefore multiplied by a scale before backward, which
 * multiplies all gradients by it, and gradients are divided by it before they are used. The scale is a power of two, so
 * neither rounds; the largest without overflow is found by trying. amp/amp.h does in each step
 *
 *     backward of scale * loss  ->  mt_unscale_grads  ->  finite?  ->  mt_scaler_update  ->  update, or skip the step
 *
 * bf16 has the exponents of f32 and needs no scale.
 * Source: Micikevicius et al. 2018, arXiv:1710.03740, sec. 3.2; the rule is that of torch.amp.GradScaler. */
#pragma once

#include "optim/clip.h"

#include <math.h>

MT_C_BEGIN

enum { MT_SCALER_LIMIT = 126 }; /* 2^126 and 2^-126 are normal in f32 */

typedef struct mt_scaler {
    int64_t exponent; /* the loss is multiplied by 2^exponent; from -MT_SCALER_LIMIT to MT_SCALER_LIMIT */
    int64_t interval; /* finite steps in a row after which the scale is doubled, >= 1 */
    int64_t good;     /* finite steps since the scale last changed */
    int64_t skipped;  /* steps that were skipped, in all */
    int64_t in_a_row; /* of these the latest, without a finite one after them */
} mt_scaler;

/* mt_scaler_new -- scale 2^15, interval 2000. */
mt_scaler mt_scaler_new(void);

static inline double mt_scaler_scale(const mt_scaler *scaler)
{
    return ldexp(1, (int)scaler->exponent);
}

/* mt_scaler_update -- after each backward: whether to apply the step, and the scale of the next. A step that is not
 * finite is skipped, the scale is halved, and the count of good steps starts again; `interval` good ones since the last
 * change double it. At its limits the scale stays as it is.
 * Unit: solutions/09-mixed-precision/scaler.c   Lab 09.6 */
bool mt_scaler_update(mt_scaler *scaler, bool finite);

/* mt_unscale_grads_cpu -- divide all gradients by scale, and scale them again when their norm is above max_norm; both
 * in one pass. Returns the norm after dividing and before clipping. A norm that is not finite leaves every array as it
 * is. scale: 2^-MT_SCALER_LIMIT to 2^MT_SCALER_LIMIT, a power of two; max_norm >= 0, INFINITY: no limit.
 * Gradients whose norm after dividing is at most max_norm are divided exactly (but for underflow).
 * Where f32 does not hold the norm, with the scale or without it, arrays that are clipped may become 0.
 * Several threads may call it at once, for different arrays.
 * Moves 4 B per element for the norm, and 8 B more where the factor is not 1.
 * Aborts: a scale that is not positive and finite; max_norm negative or NaN.
 * Unit: solutions/09-mixed-precision/scaler.c   Lab 09.7 */
double mt_unscale_grads_cpu(const mt_grad_array *arrays, int64_t count, double scale, double max_norm);

MT_C_END
