/* step.c -- one step of training: gradients, learning rate, clipping, update; see train/step.h. */
#include "train/step.h"
#include "train/accumulate.h"

#include <math.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/autocast.h"
#include "ops/ops.h"

bool mt_train_batch(mt_step_result *total, const mt_training *t, float share)
{
    mt_device device = mt_module_device(t->model);
    double scale = mt_optim_loss_scale(t->optim); /* 1, but for f16 (lab 09) */
    mt_step_result own = { 0 }, *sum = &own;
    mt_batch batch;
    share *= (float)scale;
    mt_autocast_begin(t->dtype);
    mt_scope_begin(); /* every tensor made from here to mt_scope_end is released there */
    bool got = t->next(t->source, &batch);
    if (got) {
        mt_tensor *x = mt_to_device(batch.x, device), *y = mt_to_device(batch.y, device);
        /* LAB 08.12 BEGIN  Forward and backward of one batch.
         * Hint: t->loss gives the mean loss; mt_scale it by share before mt_backward, so that the gradients have the
         * same factor. Add the scaled loss (mt_item) and batch.count to *sum. */
        mt_tensor *loss = mt_scale(t->loss(t->model, x, y), share);
        mt_backward(loss);
        sum->loss += mt_item(loss);
        sum->samples += batch.count;
        /* LAB 08.12 END */
    }
    mt_scope_end();
    mt_autocast_end();
    total->loss += own.loss / scale;
    total->samples += own.samples;
    return got;
}

/* Gradients of one step: of its only batch, or of several micro-batches (lab 10). */
static bool gradients(mt_step_result *sum, const mt_training *t)
{
    return t->micro == 1 ? mt_train_batch(sum, t, 1) : mt_train_accumulate(sum, t);
}

bool mt_train_step(mt_step_result *result, const mt_training *t, int64_t step)
{
    mt_step_result sum = { 0 };
    /* LAB 08.12 BEGIN  A step, from old parameters to new ones.
     * Hint: clear the gradients of the step before; compute the new ones, and return false when there is no batch;
     * set the learning rate of this step; where there is a limit (t->clip > 0), clip; update, unless the norm that
     * the clipping returned is not finite. */
    mt_optim_zero_grad(t->optim);
    if (!gradients(&sum, t))
        return false;
    mt_optim_set_lr(t->optim, mt_schedule_at(&t->schedule, step));
    if (t->clip == 0 || isfinite(mt_optim_clip_grad_norm(t->optim, t->clip)))
        mt_optim_step(t->optim);
    /* LAB 08.12 END */
    *result = sum;
    return true;
}
