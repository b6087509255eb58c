/* loop.c -- see loop.h. */
#include "train/loop.h"

#include <inttypes.h>
#include <math.h>

#include "autograd/finite.h"
#include "prof/cli.h"

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

enum { GIVE_UP = 100 }; /* steps in a row that the scaler skipped */

static const mt_scaler *scaler_of(const mt_loop *l)
{
    return mt_optim_scaler(l->training.optim);
}

static bool gave_up(const mt_loop *l)
{
    return scaler_of(l) && scaler_of(l)->in_a_row >= GIVE_UP;
}

static mt_status not_finite(const mt_loop *l, double loss)
{
    const char *culprit = mt_finite_culprit(); /* known in the debug flavour only */
    return mt_fail(MT_ERR_ARGUMENT, "step %" PRId64 ": the loss is %f; --lr %g is too large%s%s", l->step, loss,
                   l->training.schedule.lr, culprit ? "\nthe first result that was not finite: " : "",
                   culprit ? culprit : "");
}

static mt_status evaluate(mt_loop *l)
{
    l->since.loss /= (double)l->since.samples;
    l->since.seconds = mt_now() - l->since_begin;
    mt_status status = l->evaluate(l->user, &l->since);
    l->since = (mt_stretch){ 0 };
    return status;
}

static void show(mt_loop *l)
{
    double loss = l->since.loss / (double)l->since.samples;
    int64_t epoch = (l->step - 1) / mt_loader_steps(l->loader) + 1;
    if (l->epochs)
        mt_progress_show(&l->progress, l->step - l->begun, "epoch %2d/%d  loss %.4f", (int)epoch, (int)l->epochs, loss);
    else
        mt_progress_show(&l->progress, l->step - l->begun, "loss %.4f", loss);
}

mt_status mt_loop_run(mt_loop *l, int64_t until)
{
    mt_step_result result;
    l->training.next = next_batch;
    l->training.source = l->loader;
    mt_finite_reset();
    while (l->step < until) {
        if (l->since.steps == 0)
            l->since_begin = mt_now();
        if (!mt_train_step(&result, &l->training, l->step)) { /* the end of an epoch, or an error */
            if (mt_loader_status(l->loader) != MT_OK)
                return mt_loader_status(l->loader);
            continue;
        }
        l->step++;
        l->samples += result.samples;
        l->since.steps++;
        if (isfinite(result.loss) || !scaler_of(l)) { /* the scaler skipped a step that overflowed in forward */
            l->since.samples += result.samples;
            l->since.loss += result.loss * (double)result.samples;
        }
        if (gave_up(l))
            return mt_fail(MT_ERR_ARGUMENT,
                           "step %" PRId64 ": the gradients of %d steps in a row were not finite, the loss is %f, its "
                           "scale 2^%" PRId64 "; --lr %g is too large, or f16 too narrow: use bf16",
                           l->step, GIVE_UP, result.loss, scaler_of(l)->exponent, l->training.schedule.lr);
        if (!isfinite(result.loss) && !scaler_of(l))
            return not_finite(l, result.loss);
        show(l);
        mt_status status = l->step % l->eval_every == 0 || l->step == l->steps ? evaluate(l) : MT_OK;
        if (status != MT_OK)
            return status;
        if (mt_cli_stopped())
            return mt_fail(MT_ERR_STOPPED, "stopped after step %" PRId64, l->step);
    }
    return MT_OK;
}
