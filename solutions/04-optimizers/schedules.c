/* schedules.c -- learning rates as functions of the step. t counts from 0, after warm-up. */
#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double stairs(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* LAB 04.8 BEGIN  lr times gamma for every whole period that has passed.
     * Hint: how many periods have passed? A division of integers rounds down. */
    lr = s->lr * pow(s->gamma, (double)(t / s->period));
    /* LAB 04.8 END */
    return lr;
}

static double cosine(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* LAB 04.8 BEGIN  Half a wave from lr, at t = 0, down to lr_min, at t = period, and lr_min afterwards.
     * Hint: optim/schedule.h has the formula; after the period the cosine would rise again. */
    double height = t < s->period ? (1 + cos(M_PI * (double)t / (double)s->period)) / 2 : 0;
    lr = s->lr_min + (s->lr - s->lr_min) * height;
    /* LAB 04.8 END */
    return lr;
}

static double cyclical(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* LAB 04.8 BEGIN  Triangles: they rise from lr_min to lr in one period and fall in the next. Their height is
     * constant (MT_SCHEDULE_TRIANGULAR), halves from each triangle to the next (..._TRIANGULAR2), or is gamma^t
     * (..._EXP_RANGE).
     * Hint: which triangle is step t in, and how many steps is it away from that triangle's tip? Integers answer
     * both. */
    int64_t from_tip = llabs(t % (2 * s->period) - s->period);
    double height = 1 - (double)from_tip / (double)s->period;
    if (s->kind == MT_SCHEDULE_TRIANGULAR2)
        height *= pow(0.5, (double)(t / (2 * s->period)));
    if (s->kind == MT_SCHEDULE_EXP_RANGE)
        height *= pow(s->gamma, (double)t);
    lr = s->lr_min + (s->lr - s->lr_min) * height;
    /* LAB 04.8 END */
    return lr;
}

/* Linear, and wsd after its stable steps. */
static double straight(const mt_schedule *s, int64_t t)
{
    int64_t past = t - (s->kind == MT_SCHEDULE_WSD ? s->stable : 0), left = s->period - mt_max(0, past);
    return s->lr_min + (s->lr - s->lr_min) * ((double)mt_max(0, left) / (double)s->period);
}

static double after_warmup(const mt_schedule *s, int64_t t)
{
    switch (s->kind) {
    case MT_SCHEDULE_STEP:
        return stairs(s, t);
    case MT_SCHEDULE_EXPONENTIAL:
        return s->lr * pow(s->gamma, (double)t);
    case MT_SCHEDULE_COSINE:
        return cosine(s, t);
    case MT_SCHEDULE_TRIANGULAR:
    case MT_SCHEDULE_TRIANGULAR2:
    case MT_SCHEDULE_EXP_RANGE:
        return cyclical(s, t);
    case MT_SCHEDULE_LINEAR:
    case MT_SCHEDULE_WSD:
        return straight(s, t);
    default:
        return s->lr;
    }
}

double mt_schedule_at(const mt_schedule *s, int64_t step)
{
    bool periodic = s->kind != MT_SCHEDULE_CONSTANT && s->kind != MT_SCHEDULE_EXPONENTIAL;
    double lr = 0;
    MT_CHECK(step >= 0 && s->warmup >= 0, "schedule: step %" PRId64 " and warmup %" PRId64 " must not be negative",
             step, s->warmup);
    MT_CHECK(!periodic || s->period >= 1, "schedule %s: period is %" PRId64 "; it must be at least 1",
             mt_schedule_name(s->kind), s->period);
    /* LAB 04.8 BEGIN  Linear warm-up, then after_warmup() from its step 0 on.
     * Hint: optim/schedule.h says which share of the rate the first and the last step of warm-up have. */
    if (step < s->warmup)
        lr = after_warmup(s, 0) * (double)(step + 1) / (double)s->warmup;
    else
        lr = after_warmup(s, step - s->warmup);
    /* LAB 04.8 END */
    return lr;
}
