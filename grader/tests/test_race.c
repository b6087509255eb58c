/* test_race.c -- when the result of a race is used, and which: with made-up times, independent of noise. */
#include "rows/race.h"

#include <criterion/criterion.h>
#include <math.h>

static mg_tally tally;

/* A launch of nine rounds with a little noise; cpu and waited are shares of the wall time. */
static void launch(mg_side *side, double wall, double cpu, double waited)
{
    for (int i = 0; i < 18; i++) {
        double noisy = wall * (1 + 0.01 * i);
        mg_race_slice(&tally, side, noisy, noisy * cpu, noisy * waited);
    }
}

static void begin(int processors)
{
    tally = (mg_tally){ .processors = processors };
    mg_race_launch(&tally);
}

/* Two launches of each side, alike. */
static void run(int processors, double ours, double theirs, double cpu, double waited)
{
    begin(processors);
    for (int i = 0; i < 2; i++) {
        launch(&tally.ours, ours, cpu, waited);
        launch(&tally.theirs, theirs, cpu, waited);
        mg_race_launch(&tally);
    }
}

Test(race, the_ratio_is_of_the_minima)
{
    run(1, 2e-3, 3e-3, 1, 0);
    mg_race_slice(&tally, &tally.ours, 9e-3, 9e-3, 0); /* one disturbed slice changes nothing */
    mg_score s = mg_race_score(&tally, false);
    cr_expect_float_eq(s.ratio, 1.5, 1e-9);
    cr_expect_float_eq(s.least, 1.5, 1e-9);
    cr_expect_float_eq(s.most, 1.5, 1e-9);
    cr_expect_float_eq(s.spread, 0.09, 1e-9);
    cr_expect_not(s.contended);
    cr_expect_not(s.net);
}

Test(race, without_the_processor_it_is_contended_and_in_the_end_waiting_does_not_count)
{
    begin(1);
    launch(&tally.theirs, 3e-3, 1, 0);
    launch(&tally.ours, 3e-3, 2. / 3, 1. / 3); /* our side had the processor for two thirds of each slice */
    mg_score s = mg_race_score(&tally, false);
    cr_expect(s.contended);
    cr_expect_float_eq(s.least, 1, 1e-9, "as if nothing had disturbed: %g", s.least);
    cr_expect_float_eq(s.most, 1.5, 1e-9);
    s = mg_race_score(&tally, true);
    cr_expect_not(s.contended);
    cr_expect(s.net);
    cr_expect_float_eq(s.ratio, 1.5, 1e-9);
}

Test(race, a_disturbed_reference_is_no_merit)
{
    begin(1);
    launch(&tally.ours, 2e-3, 1, 0);
    launch(&tally.theirs, 8e-3, 0.25, 0.75);
    mg_score s = mg_race_score(&tally, true);
    cr_expect(s.net);
    cr_expect_float_eq(s.ratio, 1, 1e-9);
    cr_expect_float_eq(s.least, 1, 1e-9);
}

Test(race, who_sleeps_is_slow_and_not_disturbed)
{
    begin(1);
    launch(&tally.theirs, 2e-3, 1, 0);
    launch(&tally.ours, 650e-3, 0.003, 0.01); /* ready to run only when it woke */
    mg_score s = mg_race_score(&tally, false);
    cr_expect_not(s.contended);
    cr_expect_not(s.net);
    cr_expect_lt(s.ratio, 0.01);
    launch(&tally.theirs, 1e-3, 0.5, 0.5); /* nor when the reference was disturbed */
    s = mg_race_score(&tally, true);
    cr_expect(s.net);
    cr_expect_lt(s.ratio, 0.01);
}

Test(race, a_second_thread_in_a_race_of_one_gains_nothing)
{
    begin(1);
    launch(&tally.theirs, 2e-3, 1, 0);
    launch(&tally.ours, 1e-3, 2, 0); /* half the time, the same work */
    mg_score s = mg_race_score(&tally, true);
    cr_expect_float_eq(s.ratio, 1, 1e-9, "%g", s.ratio);
}

Test(race, the_disturbed_slices_do_not_matter_when_the_fastest_was_not)
{
    run(1, 2e-3, 2e-3, 1, 0);
    launch(&tally.ours, 8e-3, 0.3, 0.7);
    cr_expect_not(mg_race_score(&tally, false).contended);
}

Test(race, several_threads_may_wait_for_each_other_but_not_for_a_processor)
{
    run(4, 2e-3, 2e-3, 2.5, 0.03); /* 2.5 of 4 processors busy: an imbalance of their own */
    cr_expect_not(mg_race_score(&tally, true).contended);
    run(4, 2e-3, 2e-3, 2.5, 0.3); /* one thread ready but not running for a third of the time: the others wait for it */
    cr_expect(mg_race_score(&tally, true).contended, "INCONCLUSIVE even in the end");
}

Test(race, threads_that_crowd_out_each_other_are_not_disturbed)
{
    run(2, 2e-3, 2e-3, 2, 6); /* eight threads keep both processors busy: six wait at any time */
    cr_expect_not(mg_race_score(&tally, true).contended);
}

/* As measured beside a program that kept both processors busy: two threads took turns on one of them, in all slices but
 * one of the reference's. Racing itself it had 0.56x. */
Test(race, threads_put_on_one_processor_are_disturbed)
{
    begin(2);
    for (int i = 0; i < 2; i++) {
        launch(&tally.ours, 3.601e-3, 0.96, 0.5);
        launch(&tally.theirs, 3.616e-3, 0.98, 0.51);
        mg_race_launch(&tally);
    }
    mg_race_slice(&tally, &tally.theirs, 2.006e-3, 3.707e-3, 0);
    mg_score s = mg_race_score(&tally, true);
    cr_expect(s.contended);
    cr_expect(s.least < 1 && s.most > 1, "%g .. %g", s.least, s.most);
}

Test(race, on_several_processors_the_best_time_must_come_up_in_two_launches)
{
    begin(2);
    launch(&tally.ours, 3e-3, 1.9, 0);
    launch(&tally.theirs, 2e-3, 1.9, 0);
    mg_race_launch(&tally);
    launch(&tally.ours, 2e-3, 1.9, 0);
    launch(&tally.theirs, 2e-3, 1.9, 0);
    cr_expect(mg_race_score(&tally, true).contended, "ours took 2 ms once, 3 ms once");
    mg_race_launch(&tally);
    launch(&tally.ours, 2.1e-3, 1.9, 0);
    launch(&tally.theirs, 2.5e-3, 1.9, 0);
    mg_score s = mg_race_score(&tally, true);
    cr_expect_not(s.contended);
    cr_expect_float_eq(s.ratio, 1, 1e-9);
}

Test(race, the_least_needs_no_quiet_machine)
{
    begin(2);
    launch(&tally.ours, 2.2e-3, 1.7, 0.1); /* all but undisturbed, once */
    launch(&tally.theirs, 9e-3, 0.4, 1);   /* needs 1.8 ms at least */
    mg_score s = mg_race_score(&tally, true);
    cr_expect(s.contended);
    cr_expect_float_eq(s.least, 1.8 / 2.2, 1e-9, "%g", s.least);
}

Test(race, a_thread_that_ended_slows_nobody)
{
    run(2, 2e-3, 2e-3, 1.9, -3);
    mg_score s = mg_race_score(&tally, true);
    cr_expect_not(s.contended);
    cr_expect_float_eq(s.least, 1, 1e-9, "%g", s.least);
}

Test(race, more_slices_and_launches_than_there_is_room_for)
{
    run(1, 2e-3, 2e-3, 1, 0);
    for (int i = 0; i < 60; i++) {
        mg_race_launch(&tally);
        launch(&tally.ours, 1e-3, 1, 0);
        launch(&tally.theirs, 1e-3, 1, 0);
    }
    cr_expect_float_eq(mg_race_score(&tally, false).ratio, 1, 1e-9);
}

/* Two races of the same units may lie on both sides of a bar. PASS and FAIL are apart by more than they differ; what is
 * further below the bar is a FAIL on a busy machine, too, because the ratio allows for waiting. */
Test(race, just_below_the_bar_is_no_failure)
{
    mg_score quiet = { .spread = 0.01 }, busy = { .net = true }, contended = { .contended = true };
    static const struct {
        double ratio;
        bool quiet, busy;
    } near[] = { { 0.61, false, false }, { 0.6, true, true },    { 0.56, true, true }, { 0.54, false, true },
                 { 0.49, false, true },  { 0.45, false, false }, { 0, false, false },  { NAN, false, false } };
    for (int64_t i = 0; i < MT_COUNT(near); i++) {
        cr_expect_eq(mg_race_near(&quiet, near[i].ratio, 0.6), near[i].quiet, "quiet, %g", near[i].ratio);
        cr_expect_eq(mg_race_near(&busy, near[i].ratio, 0.6), near[i].busy, "busy, %g", near[i].ratio);
        cr_expect_eq(mg_race_near(&contended, near[i].ratio, 0.6), near[i].busy, "contended, %g", near[i].ratio);
    }
}

/* Of several races the worst counts; a disturbed one only if it may be that. */
Test(race, the_worst_of_several_counts)
{
    mg_score fast = { .ratio = 1, .least = 1, .most = 1 }, slow = { .ratio = 0.2, .least = 0.2, .most = 0.21 };
    mg_score may_be_slow = { .ratio = 0.9, .least = 0.1, .most = 1.5, .contended = true };
    mg_score is_fast = { .ratio = 0.9, .least = 0.8, .most = 1.5, .contended = true };
    mg_score s = mg_race_worse(&fast, &slow);
    cr_expect(s.ratio == slow.ratio && s.least == slow.least && s.most == slow.most && !s.contended);
    s = mg_race_worse(&may_be_slow, &fast);
    cr_expect(s.contended && s.least == may_be_slow.least && s.most == fast.most, "%g .. %g", s.least, s.most);
    s = mg_race_worse(&slow, &may_be_slow);
    cr_expect(s.contended && s.most == slow.most, "at most %g", s.most);
    s = mg_race_worse(&slow, &is_fast);
    cr_expect(!s.contended && s.ratio == slow.ratio);
}

Test(race, of_three_races_the_middle_one_decides)
{
    static const double order[][3] = { { 1, 2, 3 }, { 1, 3, 2 }, { 2, 1, 3 }, { 2, 3, 1 }, { 3, 1, 2 }, { 3, 2, 1 } };
    for (int64_t i = 0; i < MT_COUNT(order); i++) {
        mg_score s[3] = { { .ratio = order[i][0] }, { .ratio = order[i][1] }, { .ratio = order[i][2] } };
        cr_expect_float_eq(mg_race_median(s).ratio, 2, 1e-9, "%g %g %g", order[i][0], order[i][1], order[i][2]);
    }
    mg_score equal[3] = { { .ratio = 2 }, { .ratio = 2 }, { .ratio = 1 } };
    cr_expect_float_eq(mg_race_median(equal).ratio, 2, 1e-9);
}
