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

/* What the loop tells of a step that has ended. */
typedef struct mt_steps_step {
    int64_t step, samples; /* of all ranks */
    double loss, lr, grad_norm;
} mt_steps_step;

/* mt_steps_open -- called by the thread that will take the steps. MT_ERR_IO: the file cannot be written. */
mt_status mt_steps_open(mt_steps **out, const char *dir, const mt_steps_config *config);

/* mt_steps_row -- a step has ended. Where there is no room for its row, a warning says once that these are the last
 * figures: they show the run, and are no part of it. NULL is allowed, here and below. */
void mt_steps_row(mt_steps *steps, const mt_steps_step *step);

void mt_steps_close(mt_steps *steps);

/* ---- all of it ----------------------------------------------------------------------------------------------- */

/* Each may be NULL: it is not wanted. */
typedef struct mt_extras {
    mt_amp *amp;
    mt_ema *ema;       /* updated by each step, and in place of the parameters in evaluations */
    mt_steps *figures; /* of each step */
    bool silent;       /* another rank prints */
    mt_steps_config about;
} mt_extras;

/* mt_extras_hooks -- for a loop; lends `extras`. A step ends the run with MT_ERR_ARGUMENT when the loss is not finite;
 * with a loss scale, when 100 steps in a row were left out. */
mt_loop_hooks mt_extras_hooks(mt_extras *extras);

/* ---- columns that metrics.csv has in every program: learning rate, samples or tokens a second, loss scale, norm of
 * the gradients, the most memory, MFU. A row's value that is not known is empty. */

/* mt_extras_names -- separated by commas. mt_extras_values -- after so much training, with `about` filled in
 * (mt_recipe_figures). Both return text. */
const char *mt_extras_names(char text[256], const mt_steps_config *about);
const char *mt_extras_values(char text[256], const mt_extras *extras, const mt_loop *loop, const mt_stretch *since);

/* mt_metric_text -- a value of a row; NaN: empty. Returns text. */
const char *mt_metric_text(char text[32], const char *format, double value);

/* mt_stretch_loss -- the loss of a row: empty before the first step, "nan" where every step was left out. Returns
 * text. */
const char *mt_stretch_loss(char text[32], const mt_stretch *since);

void mt_extras_free(mt_extras *extras); /* what it points to; before the optimizer is freed */

MT_C_END
