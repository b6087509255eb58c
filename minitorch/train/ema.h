/* ema.h -- an exponential moving average (EMA) of a model's parameters, which evaluations take in their place.
 *
 *     mt_ema *ema = mt_ema_new(model, 0.999);
 *     mt_ema_update(ema);                          // after each step
 *     mt_ema_swap(ema);  ... evaluate ...  mt_ema_swap(ema);
 *
 * After t steps the average is the sum of d^(t-i) w_i over the steps i, times (1 - d) / (1 - d^t): the weights of the
 * sum add up to 1 from the first step on, as in Adam. train/extras.h does all of this.
 * Source: Polyak and Juditsky 1992; Kingma and Ba 2015, arXiv:1412.6980, sec. 7.2. */
#pragma once

#include "core/state.h"
#include "nn/module.h"

MT_C_BEGIN

typedef struct mt_ema mt_ema; /* opaque */

/* mt_ema_new -- of all parameters, on their device; the model outlives it. decay: d, 0 < d < 1. */
mt_ema *mt_ema_new(const mt_module *model, double decay);
void mt_ema_free(mt_ema *ema); /* NULL is allowed, here and below: nothing happens */

void mt_ema_update(mt_ema *ema); /* one more step. Moves 12 B an element */
void mt_ema_swap(mt_ema *ema);   /* averages and parameters change places; after a second call they are as before */

/* mt_ema_state -- append "NAME/ema" for each parameter, and "ema steps"; not between two swaps. */
void mt_ema_state(mt_state *state, mt_ema *ema);

MT_C_END
