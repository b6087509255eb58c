/* 04-schedules.c -- how the checks of step 04.8 run: 300 steps of a random schedule, compared with its formula.
 * All values are double, so the tolerance counts roundings of 2^-53. Rows: 04-optimizers.c. */
#include "checks/04-optimizers.h"
#include "checks/answer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double U64 = 0x1p-53; /* unit roundoff of a double */

static double uniform(mt_rng *rng, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

/* Doubles are sent as the bits of an i64. */
static double rate_at(mg_run *run, int64_t i)
{
    double number;
    memcpy(&number, (const int64_t *)mg_result(run, "lr") + i, sizeof number);
    return number;
}

/* The height of a cyclical schedule by Smith's formula (2015, section 3), exact except for the last division. */
static double smith(const mt_schedule *s, int64_t t)
{
    int64_t cycle = 1 + t / (2 * s->period), x = t - (2 * cycle - 1) * s->period;
    double height = 1 - (double)(x < 0 ? -x : x) / (double)s->period;
    switch (s->kind) {
    case MT_SCHEDULE_TRIANGULAR2:
        return height / exp2((double)(cycle - 1));
    case MT_SCHEDULE_EXP_RANGE:
        return height * pow(s->gamma, (double)t);
    default:
        return height;
    }
}

/* The rate of step t after warm-up. */
static double rate(const mt_schedule *s, int64_t t)
{
    switch (s->kind) {
    case MT_SCHEDULE_CONSTANT:
        return s->lr;
    case MT_SCHEDULE_STEP:
        return s->lr * pow(s->gamma, (double)(t / s->period));
    case MT_SCHEDULE_EXPONENTIAL:
        return s->lr * pow(s->gamma, (double)t);
    case MT_SCHEDULE_COSINE: /* (1 + cos 2a) / 2 = cos^2 a */
        return t >= s->period ? s->lr_min
                              : s->lr_min + (s->lr - s->lr_min) * pow(cos(M_PI_2 * (double)t / (double)s->period), 2);
    case MT_SCHEDULE_LINEAR: /* given, as wsd, which no row gives stable steps */
    case MT_SCHEDULE_WSD:
        return t >= s->period ? s->lr_min : s->lr - (s->lr - s->lr_min) * (double)t / (double)s->period;
    default:
        return s->lr_min + (s->lr - s->lr_min) * smith(s, t);
    }
}

static double rate_with_warmup(const mt_schedule *s, int64_t step)
{
    if (step >= s->warmup)
        return rate(s, step - s->warmup);
    return rate(s, 0) * (double)(step + 1) / (double)s->warmup;
}

static mt_schedule draw_schedule(mt_rng *rng, const schedule_case *c, mt_schedule_kind kind)
{
    return (mt_schedule){
        .kind = kind,
        .lr = uniform(rng, 0.1, 1),
        .lr_min = uniform(rng, 0.01, 0.05),
        .period = mg_pick_size(rng, 1, 60),
        .gamma = uniform(rng, 0.9, 0.99),
        .warmup = c->warmup ? mg_pick(rng, 1, 40) : 0,
    };
}

/* The same schedule with a period, a warm-up and steps that no int holds, and f32 only rounded. */
static bool stretch(mt_rng *rng, mt_schedule *s)
{
    bool powers_of_t = s->kind == MT_SCHEDULE_EXPONENTIAL || s->kind == MT_SCHEDULE_EXP_RANGE; /* 0 before that */
    if (powers_of_t)
        return false;
    s->period = mg_pick(rng, 3ll << 31, 1ll << 36) | 1;
    s->warmup = s->warmup ? mg_pick(rng, 3ll << 31, 1ll << 36) | 1 : 0;
    return true;
}

enum { STEPS = 300 };

/* What is new in a call: those before it were right. */
typedef struct request {
    const char *part, *hint; /* NULL: the row's */
    bool shortest;           /* a period of 1, so that the number of periods is large */
    bool shuffled;           /* steps in any order */
    bool huge;               /* numbers that no int holds */
    bool no_gamma;           /* gamma 0 */
} request;

static void recognise(mg_run *run, const mt_schedule *s, int64_t t, double got, bool huge)
{
    if (huge)
        return;
    if (!isfinite(got) && s->warmup == 0 && s->gamma > 0)
        mg_hint(run, "with warmup = 0 no step belongs to the warm-up: compare with <, because <= divides by 0 here");
    else if (isfinite(got) && s->warmup > 0 && t >= s->warmup)
        mg_hint(run, "the warm-up is over: step %" PRId64 " is step %" PRId64 " of the schedule itself", t,
                t - s->warmup);
}

/* 16 roundings, and one more for each factor of a power computed by multiplication, all relative to the largest
 * rate. */
static bool judge_schedule(mg_run *run, const mt_schedule *s, const int64_t *step, int64_t steps, bool huge)
{
    for (int64_t i = 0; i < steps; i++) {
        int64_t t = step[i];
        double got = rate_at(run, i), want = rate_with_warmup(s, t);
        double tolerance = (16 + (double)(huge ? t / s->period : t)) * U64 * s->lr;
        if (fabs(got - want) <= tolerance) /* false for NaN */
            continue;
        recognise(run, s, t, got, huge);
        mg_fail(run,
                "%s, step %" PRId64 ": %.17g, expected %.17g   tolerance %.2g   (lr %.4g, lr_min %.4g, period %" PRId64
                ", gamma %.10g, warmup %" PRId64 ")",
                mt_schedule_name(s->kind), t, got, want, tolerance, s->lr, s->lr_min, s->period, s->gamma, s->warmup);
        return false;
    }
    return true;
}

static int64_t *describe(mg_run *run, const char *function, const mt_schedule *s, int64_t steps)
{
    const double numbers[] = { s->lr, s->lr_min, s->gamma };
    mg_begin(run, function);
    mg_out(run, "lr", MT_I64, MT_SHAPE(steps));
    int64_t *step = mg_in(run, "step", MT_I64, MT_SHAPE(steps));
    memcpy(mg_in(run, "numbers", MT_I64, MT_SHAPE(MT_COUNT(numbers))), numbers, sizeof numbers);
    mg_i64(run, "kind", s->kind);
    mg_i64(run, "period", s->period);
    mg_i64(run, "warmup", s->warmup);
    return step;
}

/* A schedule that does not use the period gets -1, 0 or 1. */
static bool follow(mg_run *run, const schedule_case *c, mt_schedule_kind kind, const request *r)
{
    mt_schedule s = draw_schedule(mg_rng(run), c, kind);
    bool periodic = kind != MT_SCHEDULE_CONSTANT && kind != MT_SCHEDULE_EXPONENTIAL;
    s.period = !periodic ? mg_pick(mg_rng(run), -1, 1) : r->shortest ? 1 : s.period;
    s.gamma = r->no_gamma ? 0 : s.gamma;
    bool huge = r->huge && stretch(mg_rng(run), &s);
    int64_t *step = describe(run, "mt_schedule_at", &s, STEPS);
    for (int64_t t = 0; t < STEPS; t++)
        step[t] = huge ? mg_pick(mg_rng(run), 0, s.warmup + 5 * s.period) : t;
    if (r->shuffled)
        mt_rng_permutation(mg_rng(run), step, STEPS);
    return mg_call(run) && judge_schedule(run, &s, step, STEPS, huge);
}

/* Some steps of a fixed schedule without warm-up, from `first` on. */
static bool follow_from(mg_run *run, mt_schedule_kind kind, int64_t period, double gamma, int64_t first, int64_t steps)
{
    const mt_schedule s = { .kind = kind, .lr = 0.5, .lr_min = 0.01, .period = period, .gamma = gamma };
    int64_t *step = describe(run, "mt_schedule_at", &s, steps);
    for (int64_t i = 0; i < steps; i++)
        step[i] = first + i;
    return mg_call(run) && judge_schedule(run, &s, step, steps, false);
}

/* Periods whose reciprocal, times the period, is below 1; and powers that no int holds: gamma^(2^31) is about 1 / e. */
static bool follow_fixed(mg_run *run, mt_schedule_kind kind)
{
    static const int64_t periods[] = { 49, 98, 103, 107 }, far[] = { 1ll << 31, 1ll << 32, 1ll << 33 };
    bool good = true;
    mg_part(run, "around whole periods", "divide t by period as integers: in double, 49 * (1.0 / 49) is below 1");
    for (int i = 0; i < MT_COUNT(periods) && good; i++)
        good = follow_from(run, kind, periods[i], 0.5, periods[i] - 1, 3);
    mg_part(run, "large powers", "the exponent of a power may be larger than an int holds: use pow, not a loop");
    for (int i = 0; i < MT_COUNT(far) && good; i++)
        good = follow_from(run, kind, 1, 1 - 0x1p-31, far[i], 2);
    return good;
}

/* What the header forbids must abort. */
static bool refuses(mg_run *run, mt_schedule s, int64_t step, const char *what)
{
    mg_part(run, what, NULL);
    describe(run, "may abort: mt_schedule_at", &s, 1)[0] = step;
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    return mg_refused(run, what, "step or warmup < 0; period < 1 where there is one");
}

static void refuse_misuse(mg_run *run, const schedule_case *c)
{
    mt_schedule s = draw_schedule(mg_rng(run), c, c->kind), before = s, never = s, later;
    before.warmup = -1;
    never.period = 0;
    later = never;
    later.warmup = 10;
    if (c->warmup)
        (void)(refuses(run, s, -1, "step -1") && refuses(run, before, 0, "a warm-up of -1 steps"));
    else if (refuses(run, never, 0, "a period of 0"))
        refuses(run, later, 0, "a period of 0 with a warm-up of 10 steps");
}

void mg_04_schedule(mg_run *run, const void *one_case)
{
    static const request requests[] = {
        { "a period of 1", NULL, .shortest = true },
        { 0 },
        { 0 },
        { 0 },
        { "steps in any order", "a rate follows from schedule and step alone: keep nothing from the call before",
          .shuffled = true },
        { "large numbers",
          "step, period and warm-up are int64_t: here they are larger than an int holds, or a float holds exactly",
          .huge = true },
        { "gamma = 0", "gamma may be 0, and pow(0, 0) is 1; but exp(t * log(gamma)) computes 0 * -inf, which is NaN",
          .no_gamma = true },
    };
    const schedule_case *c = one_case;
    bool good = true;
    for (int i = 0; i < MT_COUNT(requests) && good; i++) {
        mg_part(run, requests[i].part, requests[i].hint ? "%s" : NULL, requests[i].hint);
        for (int kind = 0; kind < MT_SCHEDULE_KINDS && good; kind++)
            if (c->warmup || (mt_schedule_kind)kind == c->kind)
                good = follow(run, c, (mt_schedule_kind)kind, &requests[i]);
    }
    for (int kind = 0; kind < MT_SCHEDULE_KINDS && good; kind++)
        if (c->warmup || (mt_schedule_kind)kind == c->kind)
            good = follow_fixed(run, (mt_schedule_kind)kind);
    if (good)
        refuse_misuse(run, c);
}
