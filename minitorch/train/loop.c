/* loop.c -- see loop.h. */
#include "train/loop.h"
#include "ckpt/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "autograd/finite.h"
#include "cli/cli.h"
#include "core/span.h"

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

static int64_t targets(void *loader, int64_t ahead)
{
    return mt_loader_ahead(loader, ahead); /* each sample has as many */
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

static mt_status evaluate(mt_loop *l)
{
    void (*around)(void *, mt_loop *, bool) = l->hooks.around_evaluation;
    l->since.loss = mean_loss(&l->since);
    l->since.seconds = mt_now() - l->since_begin;
    if (around)
        around(l->hooks.user, l, true);
    mt_status status = l->evaluate(l->user, &l->since);
    if (around)
        around(l->hooks.user, l, false);
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
}

static bool evaluates(const mt_loop *l)
{
    return l->step == l->steps || l->step % l->eval_every == 0;
}

static mt_status save(mt_loop *l)
{
    return l->save ? l->save(l->user) : MT_OK;
}

/* An evaluation, and a checkpoint that holds its value: after the last evaluation of the run, and after the best one so
 * far if this step has no checkpoint yet. */
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

/* Whether the checkpoint that a run continues from was saved before its evaluation, which is then due before the next
 * step. */
static bool owes_evaluation(const mt_loop *l)
{
    return l->step > 0 && l->step == l->begun && l->since.finite > 0 && evaluates(l);
}

/* With several ranks, a step is a span of its own, so that the time of waiting can be shown as a share of the steps. */
static bool step_of_ranks(mt_loop *l, mt_step_result *result)
{
    MT_SPAN(MT_SPAN_STEP);
    return mt_train_step(result, &l->training, l->step);
}

/* *stepped false: the end of an epoch. */
static mt_status step(mt_loop *l, bool *stepped, mt_step_result *result)
{
    *stepped = l->agree ? step_of_ranks(l, result) : mt_train_step(result, &l->training, l->step);
    l->stop = !l->agree && mt_cli_stopped();
    MT_TRY(l->agree ? l->agree(l->user, &l->stop) : MT_OK);
    return *stepped ? MT_OK : mt_loader_status(l->loader);
}

/* What follows a step, before it is shown. */
static mt_status note(mt_loop *l, const mt_step_result *result)
{
    l->step++;
    l->samples += result->samples;
    l->since.steps++;
    l->since.samples += result->samples;
    if (isfinite(result->loss)) { /* else it overflowed in forward */
        l->since.finite += result->samples;
        l->since.loss += result->loss * (double)result->samples;
    }
    MT_TRY(l->hooks.stepped ? l->hooks.stepped(l->hooks.user, l, result) : MT_OK);
    mt_status status = l->first_step && l->step == l->begun + 1 ? l->first_step(l->user) : MT_OK;
    show(l);
    return status;
}

mt_status mt_loop_run(mt_loop *l, int64_t until)
{
    mt_step_result result;
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
        MT_TRY(step(l, &stepped, &result));
        if (!stepped)
            continue;
        MT_TRY(note(l, &result));
        MT_TRY(save_and_evaluate(l));
    }
    return MT_OK;
}
