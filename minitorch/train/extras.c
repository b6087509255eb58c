/* extras.c -- see extras.h. */
#include "train/extras.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "autograd/finite.h"

enum { GIVE_UP = 100 }; /* steps in a row that the scaler skipped */

static mt_status not_finite(const mt_loop *l, double loss)
{
    const char *culprit = mt_finite_culprit(); /* known in the debug flavour only */
    return mt_fail(MT_ERR_ARGUMENT, "step %" PRId64 ": the loss is %f; --lr %g is too large%s%s", l->step, loss,
                   l->training.schedule.lr, culprit ? "\nthe first result that was not finite: " : "",
                   culprit ? culprit : "");
}

static mt_status stepped(void *user, const mt_loop *l, const mt_step_result *result)
{
    mt_extras *e = user;
    const mt_scaler *scaler = mt_amp_scaler(e->amp);
    mt_ema_update(e->ema);
    MT_TRY(mt_steps_row(e->figures, l->step, result->loss, result->samples));
    if (scaler && scaler->in_a_row >= GIVE_UP)
        return mt_fail(MT_ERR_ARGUMENT,
                       "step %" PRId64 ": the gradients of %d steps in a row were not finite, the loss is %f, its "
                       "scale 2^%" PRId64 "; --lr %g is too large, or f16 too narrow: use bf16",
                       l->step, GIVE_UP, result->loss, scaler->exponent, l->training.schedule.lr);
    return isfinite(result->loss) || scaler ? MT_OK : not_finite(l, result->loss);
}

/* Without a scaler a loss that is not finite has ended the run. */
static void say_skipped(mt_loop *l, const mt_scaler *scaler)
{
    mt_progress_clear(&l->progress);
    fprintf(stderr,
            "no loss of the last %" PRId64 " steps is finite: each was skipped, and the scale halved, to 2^%" PRId64
            "\n",
            l->since.steps, scaler->exponent);
}

static void around_evaluation(void *user, mt_loop *l, bool begins)
{
    mt_extras *e = user;
    if (begins && isnan(l->since.loss) && mt_amp_scaler(e->amp) && !e->silent)
        say_skipped(l, mt_amp_scaler(e->amp));
    mt_ema_swap(e->ema);
}

mt_loop_hooks mt_extras_hooks(mt_extras *e)
{
    return (mt_loop_hooks){ stepped, around_evaluation, e };
}

void mt_extras_free(mt_extras *e)
{
    mt_steps_close(e->figures);
    mt_ema_free(e->ema);
    mt_amp_free(e->amp);
}
