/* loop.c -- see loop.h. */
#include "train/loop.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "autograd/finite.h"
#include "cli/cli.h"

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

static int64_t targets(void *loader, int64_t ahead)
{
    return mt_loader_ahead(loader, ahead); /* each sample has as many */
}

enum { GIVE_UP = 100 }; /* steps in a row that the scaler skipped */

static const mt_scaler *scaler_of(const mt_loop *l)
{
    return mt_amp_scaler(l->amp);
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

const char *mt_loss_text(char text[32], double loss, int decimals)
{
    snprintf(text, 32, isnan(loss) ? "-" : "%.*f", decimals, loss);
    return text;
}

static double mean_loss(const mt_stretch *since)
{
    return since->finite > 0 ? since->loss / (double)since->finite : NAN;
}

/* Without a scaler a loss that is not finite ends the run. */
static void say_skipped(mt_loop *l)
{
    mt_progress_clear(&l->progress);
    fprintf(stderr,
            "no loss of the last %" PRId64 " steps is finite: each was skipped, and the scale halved, to 2^%" PRId64
            "\n",
            l->since.steps, scaler_of(l)->exponent);
}

static mt_status evaluate(mt_loop *l)
{
    l->since.loss = mean_loss(&l->since);
    if (isnan(l->since.loss) && scaler_of(l) && !l->silent)
        say_skipped(l);
    l->since.seconds = mt_now() - l->since_begin;
    mt_ema_swap(l->ema);
    mt_status status = l->evaluate(l->user, &l->since);
    mt_ema_swap(l->ema);
    l->since = (mt_stretch){ 0 };
    return status;
}

static void show(mt_loop *l)
{
    char loss[32];
    mt_loss_text(loss, mean_loss(&l->since), 4);
    int64_t epoch = (l->step - 1) / mt_loader_steps(l->loader) + 1;
    if (l->epochs)
        mt_progress_show(&l->progress, l->step - l->begun, "epoch %2d/%d  loss %s", (int)epoch, (int)l->epochs, loss);
    else
        mt_progress_show(&l->progress, l->step - l->begun, "loss %s", loss);
}

bool mt_loop_note(mt_loop *l, double value)
{
    bool better = l->best.step == 0 ? !isnan(value) : value < l->best.value - l->min_delta;
    l->best.behind++;
    if (better)
        l->best = (mt_best){ value, l->step, 0 };
    return better;
}

static bool patience_ended(const mt_loop *l)
{
    return l->patience && l->best.behind >= l->patience;
}

void mt_loop_state(mt_state *state, mt_loop *l)
{
    mt_state_integer(state, &l->step, "step");
    mt_state_integer(state, &l->since.finite, "loss samples");
    mt_state_real(state, &l->since.loss, "loss sum");
    mt_state_integer(state, &l->best.step, "best step");
    mt_state_integer(state, &l->best.behind, "evaluations since best");
    mt_state_real(state, &l->best.value, "best value");
    mt_state_setting(state, "patience", "%" PRId64, l->patience);
    mt_state_setting(state, "min-delta", "%.17g", l->min_delta);
    mt_ema_state(state, l->ema);
}

static bool evaluates(const mt_loop *l)
{
    return l->step == l->steps || l->step % l->eval_every == 0;
}

static mt_status save(mt_loop *l)
{
    return l->save ? l->save(l->user) : MT_OK;
}

/* An evaluation, after which a checkpoint is due that has its value: of the last step, and of the best evaluation where
 * not each one is saved. */
static mt_status evaluate_saved(mt_loop *l, bool saved)
{
    MT_TRY(evaluate(l));
    bool best = l->best.step == l->step && !saved;
    return l->step == l->steps || best || patience_ended(l) ? save(l) : MT_OK;
}

/* What follows a step: a checkpoint and an evaluation where they are due, in this order, so that nothing that happens
 * in an evaluation loses the steps before it. A run that is resumed from such a checkpoint begins with the evaluation.
 */
static mt_status save_and_evaluate(mt_loop *l)
{
    bool due = l->stop || (l->save_every ? l->step % l->save_every == 0 : evaluates(l));
    due = due || l->step == l->steps;
    MT_TRY(due ? save(l) : MT_OK);
    if (l->stop)
        return mt_fail(MT_ERR_STOPPED, "stopped after step %" PRId64, l->step);
    return evaluates(l) ? evaluate_saved(l, due) : MT_OK;
}

/* Whether the checkpoint that a run continues from was saved before its evaluation: that ends a stretch. */
static bool owes_evaluation(const mt_loop *l)
{
    return l->step > 0 && l->step == l->begun && l->since.finite > 0 && evaluates(l);
}

/* A step, of this rank or of all. *stepped false: the end of an epoch. */
static mt_status step(mt_loop *l, bool *stepped, mt_step_result *result)
{
    mt_status status = MT_OK;
    if (l->take) {
        status = l->take(l->user, stepped, result);
    } else {
        *stepped = mt_train_step(result, &l->training, l->step);
        l->stop = mt_cli_stopped();
    }
    return status == MT_OK && !*stepped ? mt_loader_status(l->loader) : status;
}

mt_status mt_loop_run(mt_loop *l, int64_t until)
{
    mt_step_result result;
    mt_status status;
    bool stepped;
    l->training.next = next_batch;
    l->training.targets = targets;
    l->training.source = l->loader;
    mt_finite_reset();
    if (owes_evaluation(l)) {
        l->since_begin = mt_now();
        mt_optim_set_lr(l->training.optim, mt_schedule_at(&l->training.schedule, l->step - 1)); /* which is shown */
        MT_TRY(evaluate_saved(l, true));
    }
    while (l->step < until && !patience_ended(l)) {
        if (l->since.steps == 0)
            l->since_begin = mt_now();
        if ((status = step(l, &stepped, &result)) != MT_OK)
            return status;
        if (!stepped)
            continue;
        l->step++;
        mt_ema_update(l->ema);
        l->samples += result.samples;
        l->since.steps++;
        l->since.samples += result.samples;
        if (isfinite(result.loss)) { /* else it overflowed in forward */
            l->since.finite += result.samples;
            l->since.loss += result.loss * (double)result.samples;
        }
        if (gave_up(l))
            return mt_fail(MT_ERR_ARGUMENT,
                           "step %" PRId64 ": the gradients of %d steps in a row were not finite, the loss is %f, its "
                           "scale 2^%" PRId64 "; --lr %g is too large, or f16 too narrow: use bf16",
                           l->step, GIVE_UP, result.loss, scaler_of(l)->exponent, l->training.schedule.lr);
        if (!isfinite(result.loss) && !scaler_of(l))
            return not_finite(l, result.loss);
        status = l->after_step ? l->after_step(l->user, &result) : MT_OK;
        show(l);
        status = status == MT_OK ? save_and_evaluate(l) : status;
        if (status != MT_OK)
            return status;
    }
    return MT_OK;
}
