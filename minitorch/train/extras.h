/* extras.h -- what a recipe adds to the steps of the plain loop: products of 16 bits, a moving average, figures.
 *
 *     mt_recipe_extras(&extras, &recipe, &loop);                // the loop calls it by its hooks
 *     mt_loop_run(&loop, loop.steps);
 *     mt_extras_free(&extras); */
#pragma once

#include "amp/amp.h"
#include "train/ema.h"
#include "train/loop.h"

MT_C_BEGIN

/* ---- DIR/steps.csv: a row of figures after each step, for what follows a run (apps/follow.c) ---------------- */

typedef struct mt_steps mt_steps; /* opaque */

typedef struct mt_steps_config {
    mt_device device; /* whose memory is shown */
    int64_t begun;    /* steps that were done when the process began: above 0 after a restart */
    double tokens;    /* of a sample; 0: samples have none */
    double flops;     /* of the model for a sample, and */
    double peak;      /* FLOP/s of all devices; 0: unknown, there is no MFU */
    bool waits;       /* several ranks: measure how long the calling thread waits for others, by spans (core/span.h) */
} mt_steps_config;

/* mt_steps_open -- called by the thread that will take the steps. MT_ERR_IO: the file cannot be written; so does a row
 * fail. */
mt_status mt_steps_open(mt_steps **out, const char *dir, const mt_steps_config *config);

/* mt_steps_row -- a step has ended, of so many samples in all ranks. NULL is allowed, here and below. */
mt_status mt_steps_row(mt_steps *steps, int64_t step, double loss, int64_t samples);

void mt_steps_close(mt_steps *steps);

/* ---- all of it ----------------------------------------------------------------------------------------------- */

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
