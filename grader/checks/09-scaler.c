/* 09-scaler.c -- how the checks of step 09.6 run: the scale after each step, compared with the rule. Rows:
 * 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/fill.h"
#include "amp/scaler.h"

#include <string.h>

enum { COLUMNS = 4, MOST_STEPS = 400 };

/* Written from the contract: a state is { exponent, good, skipped, in_a_row }. */
static void step(int64_t s[COLUMNS], int64_t interval, bool finite)
{
    s[1] = finite ? s[1] + 1 : 0;
    s[2] += !finite;
    s[3] = finite ? 0 : s[3] + 1;
    s[0] -= !finite;
    if (s[1] >= interval) {
        s[1] = 0;
        s[0]++;
    }
    s[0] = s[0] > MT_SCALER_LIMIT ? MT_SCALER_LIMIT : s[0] < -MT_SCALER_LIMIT ? -MT_SCALER_LIMIT : s[0];
}

static bool judge_trace(mg_run *run, const mt_scaler *first, const int64_t *finite, int64_t n)
{
    static const char *const names[] = { "exponent", "good", "skipped", "in_a_row" };
    const int64_t *trace = mg_result(run, "trace"), *applied = mg_result(run, "applied");
    int64_t want[COLUMNS] = { first->exponent, first->good, first->skipped, first->in_a_row };
    for (int64_t i = 0; i < n; i++) {
        int64_t exponent = want[0];
        int64_t before = want[1];
        step(want, first->interval, finite[i]);
        if (exponent == MT_SCALER_LIMIT && finite[i] && want[1] == 0 && trace[i * COLUMNS + 1] == before + 1)
            want[1] = before + 1; /* the scale did not change: the steps since it last changed go on */
        for (int k = 0; k < COLUMNS; k++)
            if (trace[i * COLUMNS + k] != want[k])
                return mg_fail(run, "step %lld, %s, interval %lld, exponent before it %lld: %s = %lld, expected %lld",
                               (long long)i, finite[i] ? "finite" : "not finite", (long long)first->interval,
                               (long long)exponent, names[k], (long long)trace[i * COLUMNS + k], (long long)want[k]);
        if (applied[i] != finite[i])
            return mg_fail(run, "step %lld, %s: returned %lld, expected %lld", (long long)i,
                           finite[i] ? "finite" : "not finite", (long long)applied[i], (long long)finite[i]);
    }
    return true;
}

/* rare: one step in so many is not finite; 0: none; 1: all. */
static bool trace(mg_run *run, mt_scaler first, int64_t n, int64_t rare)
{
    mg_begin(run, "mt_scaler_update");
    mg_out(run, "trace", MT_I64, MT_SHAPE(n, COLUMNS));
    mg_out(run, "applied", MT_I64, MT_SHAPE(n));
    int64_t *finite = mg_in(run, "finite", MT_I64, MT_SHAPE(n)), *s = mg_in(run, "scaler", MT_I64, MT_SHAPE(5));
    memcpy(s, (int64_t[]){ first.exponent, first.interval, first.good, first.skipped, first.in_a_row }, 5 * sizeof *s);
    for (int64_t i = 0; i < n; i++)
        finite[i] = rare == 0 || mt_rng_below(mg_rng(run), rare) > 0;
    return mg_call(run) && judge_trace(run, &first, finite, n);
}

static bool expect_new(mg_run *run)
{
    static const double want[] = { 15, 2000, 0, 0, 0 };
    mg_begin(run, "mt_scaler_new");
    mg_out(run, "scaler", MT_I64, MT_SHAPE(MT_COUNT(want)));
    mg_hint(run, "scale 2^15, interval 2000; the counts begin at 0");
    return mg_call(run) && mg_expect(run, "scaler", want, NULL);
}

enum { ANY, WIDE, EACH_STEP, HALF, UPPER, LOWER };
static const mg_idea tries[] = {
    { NULL, NULL, ANY, ~(1 << SCALER_LIMITS), 6 },
    { "more steps skipped before than 16 bits count", NULL, 1 << 16 },
    { "more steps skipped before than 32 bits count", NULL, INT64_C(1) << 32 },
    { "an interval above 16 bits", NULL, WIDE, 1 << SCALER_GOOD },
    { "an interval of one step", NULL, EACH_STEP, 1 << SCALER_RANDOM, 3 },
    { "half of the steps not finite", "the scale stays at its limit, and the counts go on", HALF, 1 << SCALER_RANDOM },
    { "the upper limit", NULL, UPPER, 1 << SCALER_LIMITS, 5 },
    { "the lower limit", NULL, LOWER, 1 << SCALER_LIMITS, 5 },
};

void mg_09_scaler(mg_run *run, const void *one_case)
{
    mt_rng *rng = mg_rng(run);
    const int about = ((const scaler_case *)one_case)->about;
    if (about == SCALER_GOOD && !expect_new(run))
        return;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mt_scaler s = { .exponent = mg_pick(rng, -20, 24), .interval = mg_pick(rng, 1, 9) };
        s.skipped = mg_pick(rng, 0, 50) + (t.is > LOWER ? t.is : 0);
        switch (about) {
        case SCALER_GOOD:
            if (t.is == WIDE)
                s.interval = 70000, s.good = s.interval - 3;
            trace(run, s, mg_pick(rng, 20, 60), 0);
            break;
        case SCALER_OVERFLOW:
            s.interval += 3;
            s.good = s.interval - 2;
            trace(run, s, 200, 6);
            break;
        case SCALER_IN_A_ROW:
            (void)(trace(run, s, mg_pick(rng, 2, 12), 1) && trace(run, s, 100, 2));
            break;
        case SCALER_LIMITS:
            s.exponent = t.is == UPPER ? MT_SCALER_LIMIT - 2 : 2 - MT_SCALER_LIMIT;
            (void)(trace(run, s, 100, t.is == UPPER ? 0 : 1) && trace(run, s, 100, 2));
            break;
        default:
            s.interval = t.is == EACH_STEP ? 1 : s.interval;
            if (t.is == HALF)
                s.interval = 9, s.exponent = -MT_SCALER_LIMIT;
            trace(run, s, MOST_STEPS, t.is == HALF ? 2 : mg_pick(rng, 2, 8));
        }
    }
}
