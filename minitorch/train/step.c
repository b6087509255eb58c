/* step.c -- the training loop's body; see step.h. */
#include "train/step.h"

#include <math.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"

bool mt_train_step(mt_step_result *result, const mt_training *t, int64_t step)
{
    mt_device device = mt_module_device(t->model);
    mt_step_result sum = { 0 };
    mt_optim_zero_grad(t->optim);
    for (int64_t m = 0; m < t->micro; m++) {
        mt_batch batch;
        mt_scope_begin(); /* every tensor made from here to mt_scope_end is released there */
        bool got = t->next(t->source, &batch);
        if (got) {
            mt_tensor *loss = t->loss(t->model, mt_to_device(batch.x, device), mt_to_device(batch.y, device));
            loss = mt_scale(loss, 1 / (float)t->micro);
            mt_backward(loss); /* adds to the gradients */
            sum.loss += mt_item(loss);
            sum.samples += batch.count;
        }
        mt_scope_end();
        if (!got)
            return false;
    }
    mt_optim_set_lr(t->optim, mt_schedule_at(&t->schedule, step));
    if (t->clip == 0 || isfinite(mt_optim_clip_grad_norm(t->optim, t->clip)))
        mt_optim_step(t->optim);
    *result = sum;
    return true;
}
