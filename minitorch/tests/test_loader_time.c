/* test_loader_time.c -- the formulas for overlap of loading and compute, exactly, in simulated time: no test sleeps.
 *
 * Times are sums of powers of two, so that they add up without rounding and can be compared with ==. */
#include <criterion/criterion.h>
#include <signal.h>

#include "testing/clock_sim.h"
#include "data/loader.h"
#include "data/ring.h"
#include "fake_set.h"

TestSuite(loader_time, .timeout = 120);

/* ---- the simulated clock ----------------------------------------------------------------------- */

typedef struct party {
    mt_clock *clock;
    double seconds, woke;
} party;

static void *nap(void *user)
{
    party *p = user;
    p->clock->sleep(p->clock, p->seconds);
    p->woke = p->clock->now(p->clock);
    p->clock->leave(p->clock);
    return NULL;
}

Test(loader_time, sleeps_end_at_their_own_times)
{
    mt_clock *clock = mt_clock_sim_new();
    party late = { clock, 3600, 0 }, early = { clock, 60, 0 };
    pthread_t a, b;
    clock->enter(clock);
    clock->enter(clock);
    cr_assert(pthread_create(&a, NULL, nap, &late) == 0 && pthread_create(&b, NULL, nap, &early) == 0);
    clock->sleep(clock, 600);
    cr_assert_eq(clock->now(clock), 600);
    clock->leave(clock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    clock->enter(clock);
    cr_assert_eq(early.woke, 60);
    cr_assert_eq(late.woke, 3600);
    mt_clock_sim_free(clock);
}

Test(loader_time, a_wait_ends_after_its_seconds)
{
    mt_clock *clocks[] = { mt_clock_sim_new(), mt_clock_real() };
    for (int i = 0; i < 2; i++) {
        pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        pthread_cond_t never = PTHREAD_COND_INITIALIZER;
        double begin = clocks[i]->now(clocks[i]), left;
        pthread_mutex_lock(&lock);
        while ((left = begin + 0.125 - clocks[i]->now(clocks[i])) > 0) /* it may end early */
            clocks[i]->wait_for(clocks[i], &never, &lock, left);
        pthread_mutex_unlock(&lock);
    }
    cr_assert_eq(clocks[0]->now(clocks[0]), 0.125);
    mt_clock_sim_free(clocks[0]);
}

Test(loader_time, a_deadlock_aborts_instead_of_hanging, .signal = SIGABRT)
{
    mt_clock *clock = mt_clock_sim_new();
    mt_ring ring;
    int64_t ticket;
    mt_ring_init(&ring, 1, clock);
    mt_ring_take(&ring, &ticket); /* nothing is planned, and there is no other thread */
}

/* ---- one epoch --------------------------------------------------------------------------------- */

typedef struct epoch_time {
    double total;
    mt_loader_stats stats;
    int loaded; /* samples */
} epoch_time;

/* One epoch of `batches` batches of 2 samples that take load seconds each batch, with compute seconds after each. */
static epoch_time run_epoch(int workers, int64_t prefetch, double load, double compute, int64_t batches)
{
    mt_clock *clock = mt_clock_sim_new();
    fake_set set = fake_set_of(2 * batches);
    set.clock = clock;
    set.seconds = load / 2;
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 2;
    c.workers = workers;
    c.prefetch = prefetch;
    c.clock = clock;
    mt_loader *l = mt_loader_new(&c);
    mt_batch b;
    int64_t seen = 0;
    for (; seen < batches && mt_loader_next(l, &b); seen++)
        clock->sleep(clock, compute);
    epoch_time t = { clock->now(clock), mt_loader_stats_of(l), set.loaded };
    cr_assert_eq(seen, batches);
    mt_loader_free(l);
    mt_clock_sim_free(clock);
    return t;
}

Test(loader_time, without_workers_load_and_compute_add_up)
{
    epoch_time t = run_epoch(0, 0, 0.5, 0.25, 100);
    cr_assert_eq(t.total, 100 * 0.75);
    cr_assert_eq(t.stats.stall_seconds, 100 * 0.5);
    cr_assert_eq(t.loaded, 2 * 100);
}

Test(loader_time, figure_8_7_takes_90_seconds_and_figure_8_8_takes_40)
{
    cr_assert_eq(run_epoch(0, 0, 10, 5, 6).total, 90);
    cr_assert_eq(run_epoch(2, 0, 10, 5, 6).total, 40);
}

/* Enough workers: only the first batch is waited for; the others have been prefetched. */
Test(loader_time, compute_hides_loading)
{
    for (int workers = 1; workers <= 8; workers++) {
        double compute = 1, load = workers; /* c = l / W, the tightest case */
        epoch_time t = run_epoch(workers, workers, load, compute, 200);
        cr_assert_eq(t.total, load + 200 * compute, "%d workers: %g s", workers, t.total);
        cr_assert_eq(t.stats.stall_seconds, load);
    }
}

/* Too few workers: they limit the throughput, to W batches in every l seconds. */
Test(loader_time, loading_bounds_the_epoch)
{
    for (int workers = 1; workers <= 8; workers++) {
        epoch_time t = run_epoch(workers, workers, 8, 0.0625, 200 / workers * workers);
        double loads = 8.0 * (200 / workers);
        cr_assert_geq(t.total, loads + 0.0625);
        cr_assert_leq(t.total, loads + 0.0625 * workers);
    }
}

/* The law of loader.h over a grid, whatever the bottleneck. Reaching the steady state costs at most one load and, when
 * the prefetch is the bottleneck, one round of it. */
Test(loader_time, the_law_holds_over_a_grid)
{
    static const double loads[] = { 0.25, 1, 3, 8 }, computes[] = { 0, 0.25, 1, 4 };
    enum { BATCHES = 120 };
    for (int workers = 1; workers <= 5; workers++)
        for (int64_t prefetch = 1; prefetch <= 6; prefetch++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) {
                    double l = loads[i], c = computes[j], slots = (double)prefetch + 1;
                    double period = l / workers > c ? l / workers : c;
                    if ((l + c) / slots > period)
                        period = (l + c) / slots;
                    double total = run_epoch(workers, prefetch, l, c, BATCHES).total;
                    cr_assert(total >= (BATCHES - slots - workers) * period && total <= BATCHES * period + 2 * (l + c),
                              "%d workers, prefetch %d, load %g, compute %g: %g s, the law says %g", workers,
                              (int)prefetch, l, c, total, BATCHES * period);
                    if (prefetch >= workers)
                        cr_assert_leq(total, 1.1 * BATCHES * (c > l / workers ? c : l / workers));
                }
}

Test(loader_time, back_pressure_bounds_what_is_loaded_ahead)
{
    mt_clock *clock = mt_clock_sim_new();
    fake_set set = fake_set_of(1000);
    set.clock = clock;
    set.seconds = 0.5;
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 2;
    c.workers = 3;
    c.prefetch = 4;
    c.clock = clock;
    mt_loader *l = mt_loader_new(&c);
    mt_batch b;
    cr_assert(mt_loader_next(l, &b));
    clock->sleep(clock, 1000); /* enough time to load hundreds of batches */
    cr_assert_eq(set.loaded, 2 * (1 + 4));
    cr_assert_eq(clock->now(clock), 1 + 1000, "the first batch took a second");
    mt_loader_free(l);
    mt_clock_sim_free(clock);
}

/* The next epoch is loaded during the computation on the last batch of this one: no stall between epochs. */
Test(loader_time, prefetch_reaches_into_the_next_epoch)
{
    mt_clock *clock = mt_clock_sim_new();
    fake_set set = fake_set_of(8);
    set.clock = clock;
    set.seconds = 0.5;
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 2;
    c.workers = 1;
    c.clock = clock;
    mt_loader *l = mt_loader_new(&c);
    mt_batch b;
    for (int epoch = 0; epoch < 3; epoch++)
        while (mt_loader_next(l, &b))
            clock->sleep(clock, 1);
    cr_assert_eq(clock->now(clock), 1 + 3 * 4);
    cr_assert_eq(mt_loader_stats_of(l).stall_seconds, 1);
    mt_loader_free(l);
    mt_clock_sim_free(clock);
}

/* Freed while workers are in the middle of a load, at each of many moments. */
Test(loader_time, may_be_freed_at_any_simulated_moment)
{
    for (int moment = 0; moment < 64; moment++) {
        mt_clock *clock = mt_clock_sim_new();
        fake_set set = fake_set_of(100);
        set.clock = clock;
        set.seconds = 0.5;
        mt_loader_config c = mt_loader_config_default(&set.base);
        c.batch = 4;
        c.workers = 1 + moment % 4;
        c.clock = clock;
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        cr_assert(mt_loader_next(l, &b));
        clock->sleep(clock, 0.125 * moment);
        double before = clock->now(clock);
        mt_loader_free(l);
        cr_assert_leq(clock->now(clock) - before, 0.5, "it waits for one sample at most, not for a batch");
        mt_clock_sim_free(clock);
    }
}

/* 5.5 s after the start, a worker that takes 1 s for a sample has loaded a batch of 4 and a sample more. */
Test(loader_time, a_seek_waits_for_the_sample_being_read_and_no_longer)
{
    mt_clock *clock = mt_clock_sim_new();
    fake_set set = fake_set_of(100);
    set.clock = clock;
    set.seconds = 1;
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 4;
    c.workers = 1;
    c.clock = clock;
    mt_loader *l = mt_loader_new(&c);
    mt_batch b;
    cr_assert(mt_loader_next(l, &b));
    clock->sleep(clock, 1.5);
    cr_assert_eq(mt_loader_seek(l, (mt_loader_place){ 0, 5 }), MT_OK);
    cr_assert_eq(set.loaded, 4 + 2);
    cr_assert(mt_loader_next(l, &b) && b.index[0] == 4 * 5, "half a batch was given");
    mt_loader_free(l);
    mt_clock_sim_free(clock);
}
