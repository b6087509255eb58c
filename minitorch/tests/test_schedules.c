/* test_schedules.c -- learning rates against closed forms, at every boundary; cyclical ones against Smith's formula.
 *
 * All computations are in double. A schedule has fewer than ten roundings (pow and cos are accurate to a unit in the
 * last place), so 1e-14 of the largest rate is a sufficient tolerance, far below any relevant difference. */
#include "optim/schedule.h"
#include "cli/cli.h"
#include "tests/must.h"

#include <math.h>
#include <signal.h>
#include <string.h>

static void check(const mt_schedule *s, int64_t step, double want)
{
    double got = mt_schedule_at(s, step);
    cr_assert_leq(fabs(got - want), 1e-14 * s->lr, "%s at step %d: %.17g, expected %.17g", mt_schedule_name(s->kind),
                  (int)step, got, want);
}

Test(schedules, constant)
{
    mt_schedule s = { MT_SCHEDULE_CONSTANT, .lr = 0.3 };
    check(&s, 0, 0.3);
    check(&s, 1, 0.3);
    check(&s, INT64_C(1) << 40, 0.3);
}

Test(schedules, step_drops_at_every_period)
{
    mt_schedule s = { MT_SCHEDULE_STEP, .lr = 0.8, .period = 30, .gamma = 0.5 };
    check(&s, 0, 0.8);
    check(&s, 29, 0.8);
    check(&s, 30, 0.4);
    check(&s, 59, 0.4);
    check(&s, 60, 0.2);
    check(&s, 30 * 20, ldexp(0.8, -20));
}

Test(schedules, exponential)
{
    mt_schedule s = { MT_SCHEDULE_EXPONENTIAL, .lr = 0.8, .gamma = 0.99 };
    double want = 0.8;
    for (int64_t t = 0; t < 100; t++) {
        check(&s, t, want);
        want *= 0.99;
    }
}

Test(schedules, cosine_starts_halves_and_ends)
{
    mt_schedule s = { MT_SCHEDULE_COSINE, .lr = 0.9, .lr_min = 0.1, .period = 120 };
    check(&s, 0, 0.9);
    check(&s, 40, 0.7); /* cos 60 degrees = 1/2 */
    check(&s, 60, 0.5);
    check(&s, 80, 0.3);
    check(&s, 119, 0.1 + 0.8 * (1 + cos(M_PI * 119 / 120)) / 2);
    cr_assert_eq(mt_schedule_at(&s, 120), 0.1, "the end is lr_min itself");
    cr_assert_eq(mt_schedule_at(&s, 121), 0.1, "and does not rise again");
    cr_assert_eq(mt_schedule_at(&s, 240), 0.1);
    s.period = 1;
    check(&s, 0, 0.9);
    check(&s, 1, 0.1);
}

Test(schedules, linear_and_wsd_fall_in_a_straight_line)
{
    mt_schedule s = { MT_SCHEDULE_LINEAR, .lr = 0.9, .lr_min = 0.1, .period = 8, .stable = 99 }; /* of wsd only */
    for (int64_t t = 0; t < 8; t++)
        check(&s, t, 0.9 - 0.1 * (double)t);
    cr_assert_eq(mt_schedule_at(&s, 8), 0.1, "the end is lr_min itself");
    cr_assert_eq(mt_schedule_at(&s, INT64_C(1) << 40), 0.1);
    s.kind = MT_SCHEDULE_WSD, s.stable = 100, s.warmup = 10;
    check(&s, 4, 0.45);
    for (int64_t t = 9; t <= 110; t++) /* the last step of warm-up has the full rate, too */
        check(&s, t, 0.9);
    for (int64_t t = 0; t < 8; t++)
        check(&s, 110 + t, 0.9 - 0.1 * (double)t);
    cr_assert_eq(mt_schedule_at(&s, 118), 0.1);
}

Test(schedules, triangles_have_their_extremes_where_documented)
{
    mt_schedule s = { MT_SCHEDULE_TRIANGULAR, .lr = 1.0, .lr_min = 0.2, .period = 4, .gamma = 0.9 };
    static const double first[] = { 0.2, 0.4, 0.6, 0.8, 1.0, 0.8, 0.6, 0.4, 0.2 };
    for (int64_t t = 0; t < 9; t++) {
        check(&s, t, first[t]);
        check(&s, t + 8, first[t]);
    }
    s.kind = MT_SCHEDULE_TRIANGULAR2;
    check(&s, 4, 1.0);
    check(&s, 8, 0.2);
    check(&s, 12, 0.6); /* half as high above 0.2 */
    check(&s, 20, 0.4);
    s.kind = MT_SCHEDULE_EXP_RANGE;
    check(&s, 4, 0.2 + 0.8 * pow(0.9, 4));
    check(&s, 8, 0.2);
    check(&s, 12, 0.2 + 0.8 * pow(0.9, 12));
}

/* Section 3 of the paper: cycle = floor(1 + t / (2 stepsize)), x = |t / stepsize - 2 cycle + 1|,
 * lr = base + (max - base) max(0, 1 - x), with the height over 2^(cycle - 1), or times gamma^t. */
Test(schedules, cyclical_is_smiths)
{
    static const int64_t periods[] = { 1, 2, 7, 100 };
    for (int64_t p = 0; p < MT_COUNT(periods); p++) {
        for (int kind = MT_SCHEDULE_TRIANGULAR; kind <= MT_SCHEDULE_EXP_RANGE; kind++) {
            mt_schedule s = { (mt_schedule_kind)kind, .lr = 1, .lr_min = 0.25, .period = periods[p], .gamma = 0.97 };
            for (int64_t t = 0; t < 450; t++) {
                double stepsize = (double)s.period, cycle = floor(1 + (double)t / (2 * stepsize));
                double height = fmax(0, 1 - fabs((double)t / stepsize - 2 * cycle + 1));
                if (kind == MT_SCHEDULE_TRIANGULAR2)
                    height /= pow(2, cycle - 1);
                if (kind == MT_SCHEDULE_EXP_RANGE)
                    height *= pow(0.97, (double)t);
                /* Smith's x is a difference of numbers near t / stepsize, so it is off by a rounding of that. */
                double tolerance = 1e-14 + 4 * 0x1p-53 * (double)t / stepsize;
                cr_assert_float_eq(mt_schedule_at(&s, t), 0.25 + 0.75 * height, tolerance, "%s, period %d, step %d",
                                   mt_schedule_name(s.kind), (int)s.period, (int)t);
            }
        }
    }
}

Test(schedules, warmup_wraps_any_other)
{
    for (int kind = 0; kind < MT_SCHEDULE_KINDS; kind++) {
        mt_schedule bare = { (mt_schedule_kind)kind, .lr = 0.7, .lr_min = 0.1, .period = 10, .gamma = 0.9 };
        mt_schedule s = bare;
        for (s.warmup = 0; s.warmup <= 5; s.warmup++) {
            double top = mt_schedule_at(&bare, 0);
            for (int64_t t = 0; t < s.warmup; t++)
                check(&s, t, top * (double)(t + 1) / (double)s.warmup);
            for (int64_t t = 0; t < 50; t++)
                check(&s, s.warmup + t, mt_schedule_at(&bare, t));
        }
    }
}

/* GPT-2's, from the chapter: 500 steps to 2.5e-4, then cosine. */
Test(schedules, gpt2)
{
    mt_schedule s = { MT_SCHEDULE_COSINE, .lr = 2.5e-4, .period = 49500, .warmup = 500 };
    check(&s, 0, 5e-7);
    check(&s, 249, 1.25e-4);
    check(&s, 499, 2.5e-4);
    check(&s, 500, 2.5e-4);
    check(&s, 500 + 24750, 1.25e-4);
    check(&s, 50000, 0);
}

Test(schedules, names)
{
    unsigned kind = MT_SCHEDULE_STEP;
    for (unsigned k = 0; k < MT_SCHEDULE_KINDS; k++) {
        cr_assert_eq(mt_cli_choice(&kind, "schedule", mt_schedule_name((mt_schedule_kind)k), mt_schedule_names), MT_OK);
        cr_assert_eq(kind, k);
    }
    kind = MT_SCHEDULE_STEP;
    cr_assert_eq(mt_cli_choice(&kind, "schedule", "sawtooth", mt_schedule_names), MT_ERR_ARGUMENT);
    cr_assert(kind == MT_SCHEDULE_STEP && strstr(mt_last_error(), "sawtooth") &&
              strstr(mt_last_error(), "exp-range, linear, wsd"));
}

Test(schedules, negative_step_aborts, .signal = SIGABRT)
{
    mt_schedule s = { MT_SCHEDULE_CONSTANT, .lr = 1 };
    mt_schedule_at(&s, -1);
}

Test(schedules, missing_period_aborts, .signal = SIGABRT)
{
    mt_schedule s = { MT_SCHEDULE_COSINE, .lr = 1 };
    mt_schedule_at(&s, 0);
}
