/* extras.c -- see extras.h. */
#include "train/extras.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "autograd/finite.h"
#include "core/span.h"
#include "core/storage.h"
#include "prof/metrics_csv.h"
#include "prof/mfu.h"

/* ---- figures of each step ------------------------------------------------------------------------------------- */

struct mt_steps {
    mt_steps_config config;
    mt_metrics *file;
    int64_t samples, started; /* started: seconds since 1970 */
    double last, waited;      /* mt_now() of the last step; seconds of waiting since then */
};

static __thread bool counts; /* whether this thread's waits count */

/* A span ended; outer waits contain inner ones. */
static void waited(void *steps, const mt_span *span)
{
    if (!counts || strcmp(span->name, MT_SPAN_WAIT) != 0)
        return;
    for (const mt_span *s = span->outer; s; s = s->outer)
        if (strcmp(s->name, MT_SPAN_WAIT) == 0)
            return;
    ((mt_steps *)steps)->waited += span->end - span->begin;
}

mt_status mt_steps_open(mt_steps **out, const char *dir, const mt_steps_config *c)
{
    char path[4096], names[256];
    mt_metrics *file;
    snprintf(path, sizeof path, "%s/steps.csv", dir);
    snprintf(names, sizeof names,
             "step,loss,lr,grad_norm,first_step,start_time_seconds,samples_total,samples_per_second,memory_bytes,"
             "memory_peak_bytes%s%s%s",
             c->tokens > 0 ? ",tokens_per_second" : "", c->peak > 0 ? ",mfu_ratio" : "",
             c->waits ? ",communication_ratio" : "");
    MT_TRY(mt_metrics_open(&file, path, names));
    mt_steps *s = *out = mt_calloc(1, sizeof *s);
    *s = (mt_steps){ .config = *c, .file = file, .started = (int64_t)time(NULL), .last = mt_now() };
    counts = true;
    if (c->waits)
        mt_span_listen(waited, s);
    return MT_OK;
}

void mt_steps_row(mt_steps *s, const mt_steps_step *of)
{
    if (!s || !s->file)
        return;
    const mt_steps_config *c = &s->config;
    double now = mt_now(), seconds = fmax(now - s->last, 1e-9), rate = (double)of->samples / seconds;
    const double value[] = { rate * c->tokens, mt_mfu((double)of->samples * c->flops, seconds, c->peak),
                             s->waited / seconds };
    const bool shown[] = { c->tokens > 0, c->peak > 0, c->waits };
    char more[128] = "", norm[32];
    for (int i = 0; i < MT_COUNT(value); i++)
        if (shown[i])
            snprintf(more + strlen(more), sizeof more - strlen(more), ",%.9g", value[i]);
    s->samples += of->samples, s->last = now, s->waited = 0;
    if (mt_metrics_row(s->file,
                       "%" PRId64 ",%.9g,%.9g,%s,%" PRId64 ",%" PRId64 ",%" PRId64 ",%.9g,%" PRId64 ",%" PRId64 "%s",
                       of->step, of->loss, of->lr, mt_metric_text(norm, "%.9g", of->grad_norm), c->begun, s->started,
                       s->samples, rate, mt_live_bytes(c->device), mt_peak_bytes(c->device), more) == MT_OK)
        return;
    mt_warn("%s: --metrics-port shows no step after %" PRId64, mt_last_error(), of->step - 1);
    mt_metrics_close(s->file);
    s->file = NULL;
}

void mt_steps_close(mt_steps *s)
{
    if (!s)
        return;
    if (s->config.waits)
        mt_span_listen(NULL, NULL);
    mt_metrics_close(s->file);
    free(s);
}

/* ---- columns of metrics.csv ------------------------------------------------------------------------------------ */

const char *mt_metric_text(char text[32], const char *format, double value)
{
    *text = 0;
    if (!isnan(value))
        snprintf(text, 32, format, value);
    return text;
}

const char *mt_stretch_loss(char text[32], const mt_stretch *since)
{
    snprintf(text, 32, since->steps + since->finite > 0 ? "%.6f" : "", since->loss);
    return text;
}

/* Without a limit of the norm nobody computes it; 0: there was no step. */
static double grad_norm(const mt_loop *l)
{
    double norm = l->training.optim->norm;
    return l->training.clip > 0 && norm != 0 ? norm : NAN;
}

const char *mt_extras_names(char text[256], const mt_steps_config *about)
{
    snprintf(text, 256, "lr,%s_per_second,loss_scale,grad_norm,memory_peak_bytes,mfu_ratio",
             about->tokens > 0 ? "tokens" : "samples");
    return text;
}

const char *mt_extras_values(char text[256], const mt_extras *e, const mt_loop *l, const mt_stretch *since)
{
    char rate[32], norm[32], mfu[32];
    const mt_steps_config *c = &e->about;
    double samples = since->steps ? (double)since->samples : NAN;
    double reached = c->peak > 0 ? mt_mfu(samples * c->flops, since->seconds, c->peak) : NAN;
    snprintf(text, 256, "%.6g,%s,%g,%s,%" PRId64 ",%s", mt_optim_lr(l->training.optim),
             mt_metric_text(rate, "%.6g", samples * (c->tokens > 0 ? c->tokens : 1) / since->seconds),
             mt_amp_scale(e->amp), mt_metric_text(norm, "%.6f", grad_norm(l)), mt_peak_bytes(c->device),
             mt_metric_text(mfu, "%.4f", reached));
    return text;
}

/* ---- around steps and evaluations ------------------------------------------------------------------------------ */

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
    mt_steps_row(e->figures, &(mt_steps_step){ l->step, result->samples, result->loss, mt_optim_lr(l->training.optim),
                                               grad_norm(l) });
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
