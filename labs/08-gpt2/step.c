/* step.c -- one step of training: gradients, learning rate, clipping, update; see models/step.h. */
#include "models/step.h"

#include <inttypes.h>
#include <math.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"

bool mt_train_batch(mt_step_result *total, const mt_training *t, float share)
{
    mt_device device = mt_module_device(t->model);
    double factor = t->around.begin ? t->around.begin(t->around.user) : 1; /* of the loss in backward */
    mt_step_result own = { 0 }, *sum = &own;
    mt_batch batch;
    share *= (float)factor;
    mt_scope_begin(); /* every tensor made from here to mt_scope_end is released there */
    bool got = t->next(t->source, &batch);
    if (got) {
        mt_tensor *x = mt_to_device(batch.x, device), *y = mt_to_device(batch.y, device);
        /* TODO 08.12: Forward and backward of one batch.
         * Hint: t->loss gives the mean loss; mt_scale it by share before mt_backward, so that the gradients have the
         * same factor. Add the scaled loss (mt_item) and batch.count to *sum. */
        MT_TODO("08.12"); /* delete this line when yours stands here */
    }
    mt_scope_end();
    if (t->around.end)
        t->around.end(t->around.user);
    total->loss += own.loss / factor;
    total->samples += own.samples;
    return got;
}

/* Gradients of one step. */
static bool gradients(mt_step_result *sum, const mt_training *t)
{
    MT_CHECK(t->micro == 1 || t->gradients, "train: %" PRId64 " micro-batches need a function for their gradients",
             t->micro);
    return t->gradients ? t->gradients(sum, t) : mt_train_batch(sum, t, 1);
}

bool mt_train_step(mt_step_result *result, const mt_training *t, int64_t step)
{
    mt_step_result sum = { 0 };
    /* TODO 08.12: A step, from old parameters to new ones.
     * Hint: the old gradients must go before new ones are added. A limit (t->clip; 0: there is none) is for all
     * gradients together, before the update. models/step.h says what a norm that is not finite means, and what a
     * missing batch; the rate is that of this step. */
    MT_TODO("08.12"); /* delete this line when yours stands here */
    *result = sum;
    return true;
}
