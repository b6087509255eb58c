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

/* With the mean in the place of the sum. */
static mt_stretch ended(const mt_stretch *sums)
{
    mt_stretch s = *sums;
    s.loss = mean_loss(sums);
    s.seconds = s.begin > 0 ? mt_now() - s.begin : 1e-9; /* no step yet */
    return s;
}

static mt_status evaluate(mt_loop *l)
{
    void (*around)(void *, mt_loop *, bool) = l->hooks.around_evaluation;
    l->since = ended(&l->since);
    if (around)
        around(l->hooks.user, l, true);
    mt_status status = l->evaluate(l->user, &l->since);
    if (around)
        around(l->hooks.user, l, false);
    l->since = (mt_stretch){ 0 };
    return status;
}

/* A row of the log. Where it fails, its sums stay. */
static mt_status write_row(mt_loop *l, bool evaluated)
{
    mt_stretch row = ended(&l->logged);
    MT_TRY(l->log ? l->log(l->user, &row, evaluated) : MT_OK);
    l->logged = (mt_stretch){ 0 };
    return MT_OK;
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
    if (l->step == 0)
        return false;
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
    mt_state_integer(state, &l->logged.finite, "row samples");
    mt_state_real(state, &l->logged.loss, "row sum");
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

static bool has_row(const mt_loop *l)
{
    return evaluates(l) || (l->log_every && l->step % l->log_every == 0);
}

static mt_status save(mt_loop *l)
{
    return l->save ? l->save(l->user) : MT_OK;
}

/* A row could not be written, for lack of room as a rule: the run ends, and no step of it is lost. */
static mt_status end_without_row(mt_loop *l, mt_status status, bool saved)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", mt_last_error());
    if (saved || save(l) == MT_OK)
        return mt_fail(status, "%s; step %" PRId64 " is saved, --resume continues there", why, l->step);
    return mt_fail(status, "%s; step %" PRId64 " could not be saved either, --resume continues from the last one", why,
                   l->step);
}

/* An evaluation with its row, and a checkpoint that holds its value: after the last evaluation of the run, and after
 * the best one so far if this step has no checkpoint yet. Without its row the evaluation does not count. */
static mt_status evaluate_saved(mt_loop *l, bool saved)
{
    const mt_stretch since = l->since;
    const mt_best before = l->best;
    MT_TRY(evaluate(l));
    mt_status status = write_row(l, true);
    if (status != MT_OK) {
        l->since = since, l->best = before;
        return end_without_row(l, status, saved);
    }
    bool best = l->best.step == l->step && !saved;
    return l->step == l->steps || best || patience_ended(l) ? save(l) : MT_OK;
}

static mt_status evaluate_or_log(mt_loop *l, bool saved)
{
    if (evaluates(l))
        return evaluate_saved(l, saved);
    mt_status status = has_row(l) ? write_row(l, false) : MT_OK;
    return status == MT_OK ? MT_OK : end_without_row(l, status, saved);
}

/* What follows a step: a checkpoint, an evaluation and a row where they are due, in this order, so that nothing that
 * happens in an evaluation loses the steps before it. A run that is resumed from such a checkpoint begins with the
 * evaluation or the row. */
static mt_status save_and_evaluate(mt_loop *l)
{
    bool due = l->stop || (l->save_every ? l->step % l->save_every == 0 : evaluates(l));
    due = due || l->step == l->steps;
    MT_TRY(due ? save(l) : MT_OK);
    if (l->stop)
        return mt_fail(MT_ERR_STOPPED, "stopped after step %" PRId64, l->step);
    return evaluate_or_log(l, due);
}

/* Whether the checkpoint that a run continues from was saved before its evaluation or its row, which is then due before
 * the next step. */
static bool owes_row(const mt_loop *l)
{
    if (l->step == 0 || l->step != l->begun || !has_row(l))
        return false;
    return (evaluates(l) ? l->since.finite : l->logged.finite) > 0;
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

static void add(mt_stretch *sums, const mt_step_result *result)
{
    sums->steps++;
    sums->samples += result->samples;
    if (isfinite(result->loss)) { /* else it overflowed in forward */
        sums->finite += result->samples;
        sums->loss += result->loss * (double)result->samples;
    }
}

/* What follows a step, before it is shown. */
static mt_status note(mt_loop *l, const mt_step_result *result)
{
    l->step++;
    l->samples += result->samples;
    add(&l->since, result);
    add(&l->logged, result);
    MT_TRY(l->hooks.stepped ? l->hooks.stepped(l->hooks.user, l, result) : MT_OK);
    mt_status status = l->first_step && l->step == l->begun + 1 ? l->first_step(l->user) : MT_OK;
    show(l);
    return status;
}

mt_status mt_loop_first(mt_loop *l)
{
    const mt_stretch none = ended(&(mt_stretch){ 0 });
    if (l->step > 0)
        return MT_OK;
    mt_optim_set_lr(l->training.optim, mt_schedule_at(&l->training.schedule, 0)); /* which is shown */
    MT_TRY(l->evaluate(l->user, &none));
    return write_row(l, true);
}

mt_status mt_loop_run(mt_loop *l, int64_t until)
{
    mt_step_result result;
    bool stepped;
    l->training.next = next_batch;
    l->training.targets = targets;
    l->training.source = l->loader;
    mt_finite_reset();
    if (owes_row(l)) {
        mt_optim_set_lr(l->training.optim, mt_schedule_at(&l->training.schedule, l->step - 1)); /* which is shown */
        MT_TRY(evaluate_or_log(l, true));
    }
    while (l->step < until && !patience_ended(l)) {
        if (l->since.steps == 0)
            l->since.begin = mt_now();
        if (l->logged.steps == 0)
            l->logged.begin = mt_now();
        MT_TRY(step(l, &stepped, &result));
        if (!stepped)
            continue;
        MT_TRY(note(l, &result));
        MT_TRY(save_and_evaluate(l));
    }
    return MT_OK;
}
