/* amp.h -- automatic mixed precision: what a training does beside its steps in f32, to compute products in 16 bits.
 *
 *     mt_amp *amp = mt_amp_new(optim, MT_F16);                  // NULL for f32, which every function here takes
 *     training.around = mt_amp_around(amp);                     // or, in a loop of one's own:
 *
 *     double scale = mt_amp_begin(amp);                         // products compute in 16 bits from here on
 *     mt_backward(mt_scale(loss, scale));
 *     mt_amp_end(amp);
 *     mt_optim_step(optim);                                     // divides the gradients by scale first
 *
 * It wraps the optimizer (mt_optim_hooks). In f16 the loss has a scale (amp/scaler.h): mt_optim_clip_grad_norm, or
 * mt_optim_step when that was not called, divides the gradients by it, once after mt_amp_begin, and updates the scaler;
 * mt_optim_step leaves a step out whose gradients were not finite. Both abort when gradients are not finite and the
 * scale is at its lower limit, which 141 steps that are left out in a row reach. AdamW on the CPU writes the 16-bit
 * copies that parameters keep (amp/autocast.h) in its own pass (amp/master.h); else the next product converts them.
 * Beside that, or alone, adam's and adamw's moments can have 8 bits (amp/state8.h). */
#pragma once

#include "amp/scaler.h"
#include "models/step.h"

MT_C_BEGIN

typedef struct mt_amp mt_amp; /* opaque */

/* mt_amp_new -- borrows the optimizer; f16 has a scaler, mt_scaler_new(). mt_amp_free -- before the optimizer.
 * mt_amp_new8 -- the same, of f32 too, with moments of 8 bits in place of the optimizer's. Aborts: as mt_state8_new. */
mt_amp *mt_amp_new(mt_optim *optim, mt_dtype dtype);
mt_amp *mt_amp_new8(mt_optim *optim, mt_dtype dtype);
void mt_amp_free(mt_amp *amp);

/* mt_amp_begin, mt_amp_end -- around forward and backward. Returns the scale of the loss: 1 without a scaler. */
double mt_amp_begin(mt_amp *amp);
void mt_amp_end(mt_amp *amp);
mt_surround mt_amp_around(mt_amp *amp); /* both, for a training */

/* mt_amp_scaler -- lent; NULL: there is none. mt_amp_scale -- its scale, or 1. */
const mt_scaler *mt_amp_scaler(const mt_amp *amp);
double mt_amp_scale(const mt_amp *amp);

/* mt_amp_state -- append what later steps depend on: the integers of the scaler, and moments of 8 bits. */
void mt_amp_state(mt_state *state, mt_amp *amp);

MT_C_END
