/* extras.h -- what a recipe adds to the steps of the plain loop: products of 16 bits, a moving average, figures.
 *
 *     mt_recipe_extras(&extras, &recipe, &loop);                // the loop calls it by its hooks
 *     mt_loop_run(&loop, loop.steps);
 *     mt_extras_free(&extras); */
#pragma once

#include "amp/amp.h"
#include "train/ema.h"
#include "train/loop.h"
#include "train/steps.h"

MT_C_BEGIN

/* Each may be NULL: it is not wanted. */
typedef struct mt_extras {
    mt_amp *amp;
    mt_ema *ema;       /* updated by each step, and in place of the parameters in evaluations */
    mt_steps *figures; /* of each step */
    bool silent;       /* another rank prints */
} mt_extras;

/* mt_extras_hooks -- for a loop; lends `extras`. A step ends the run with MT_ERR_ARGUMENT when the loss is not finite;
 * with a loss scale, when 100 steps in a row were left out. */
mt_loop_hooks mt_extras_hooks(mt_extras *extras);

void mt_extras_free(mt_extras *extras); /* what it points to; before the optimizer is freed */

MT_C_END
