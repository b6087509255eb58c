/* schedules.c -- learning rates as functions of the step. t counts from 0, after warm-up. */
#include "optim/schedule.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

static double stairs(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* TODO 04.8: lr times gamma for every whole period that has passed.
     * Hint: t / period of two integers rounds down. */
    MT_TODO("04.8"); /* delete this line when yours stands here */
    return lr;
}

static double cosine(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* TODO 04.8: Half a wave from lr, at t = 0, down to lr_min, at t = period, and lr_min afterwards.
     * Hint: (1 + cos(pi t / period)) / 2 falls from 1 to 0; after the period it would rise again. */
    MT_TODO("04.8"); /* delete this line when yours stands here */
    return lr;
}

static double cyclical(const mt_schedule *s, int64_t t)
{
    double lr = 0;
    /* TODO 04.8: Triangles: they rise from lr_min to lr in one period and fall in the next. Their height is
     * constant (MT_SCHEDULE_TRIANGULAR), halves from each triangle to the next (..._TRIANGULAR2), or is gamma^t
     * (..._EXP_RANGE).
     * Hint: the triangle's number is t / (2 period). Within it, the distance from the maximum is |t mod 2 period -
     * period|.
     * */
    MT_TODO("04.8"); /* delete this line when yours stands here */
    return lr;
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
    /* TODO 04.8: Linear warm-up, then after_warmup() from its step 0 on.
     * Hint: step 0 of w warm-up steps has 1/w of the rate at the schedule's step 0; step w - 1 has all of it. */
    MT_TODO("04.8"); /* delete this line when yours stands here */
    return lr;
}
