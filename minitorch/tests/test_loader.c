/* test_loader.c -- the output of a loader depends on its data and seeds only; it can be stopped and resumed at any
 * position. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/scope.h"
#include "data/loader.h"
#include "fake_set.h"

static void no_leak(void)
{
    cr_assert_eq(mt_live_bytes(MT_CPU), 0, "something was not freed");
}

TestSuite(loader, .fini = no_leak, .timeout = 120);

/* ---- no sample lost or repeated -------------------------------------------------------------- */

/* Checks one batch against an independent oracle: order, number and content of the samples. */
static void check_batch(const mt_batch *b, const mt_loader_config *c, const int64_t *order, int64_t done,
                        int64_t length)
{
    int64_t want = mt_min(c->batch, length - done);
    const float *x = mt_f32(b->x);
    const int32_t *y = mt_data(b->y);
    cr_assert_eq(b->count, want);
    cr_assert_eq(mt_dim(b->x, 0), want);
    cr_assert_eq(mt_dim(b->y, 0), want);
    for (int64_t n = 0; n < want; n++) {
        int64_t index = order[(done + n) * c->sampler.world + c->sampler.rank];
        mt_rng all = mt_rng_new(c->seed, MT_STREAM_AUGMENT), epoch = mt_rng_substream(&all, (uint64_t)b->epoch);
        mt_rng own = mt_rng_substream(&epoch, (uint64_t)index);
        float random[3];
        mt_rng_fill_uniform(&own, random, 3, 0, 1);
        cr_assert_eq(b->index[n], index);
        cr_assert_eq(y[n], index);
        cr_assert(x[4 * n] == (float)index && memcmp(x + 4 * n + 1, random, sizeof random) == 0);
    }
}

/* Reads from l's position to the end of its epoch. */
static void check_epoch(mt_loader *l, const mt_loader_config *c)
{
    mt_loader_place place = mt_loader_place_of(l);
    int64_t count = c->sampler.count, length = count / c->sampler.world,
            *order = calloc((size_t)count + 1, sizeof *order);
    mt_batch b;
    mt_sampler_order(order, &c->sampler, place.epoch);
    if (c->drop_last)
        length -= length % c->batch;
    int64_t done = mt_min(place.step * c->batch, length), soon[] = { mt_loader_ahead(l, 0), mt_loader_ahead(l, 1) };
    while (mt_loader_next(l, &b)) {
        cr_assert(b.epoch == place.epoch && b.step == place.step);
        cr_assert_eq(b.count, soon[0]);
        cr_assert_eq(mt_loader_ahead(l, 0), soon[1]);
        soon[0] = soon[1];
        soon[1] = mt_loader_ahead(l, 1);
        check_batch(&b, c, order, done, length);
        done += b.count;
        place.step++;
    }
    cr_assert_eq(mt_loader_status(l), MT_OK);
    cr_assert_eq(done, length);
    cr_assert_eq(mt_loader_place_of(l).epoch, place.epoch + 1);
    free(order);
}

/* Here ranks drop the remainder; padding is a feature of the sampler (test_sampler.c). */
static mt_loader_config random_config(const fake_set *set, mt_rng *rng)
{
    mt_loader_config c = mt_loader_config_default(&set->base);
    mt_sampler order = mt_rng_below(rng, 4) ? mt_sampler_shuffling(set->base.count, mt_rng_u64(rng)) : c.sampler;
    int64_t world = 1 + mt_rng_below(rng, 3);
    c.sampler = mt_sampler_distributed(order, mt_rng_below(rng, world), world, MT_UNEVEN_DROP);
    c.batch = 1 + mt_rng_below(rng, 9);
    c.drop_last = mt_rng_below(rng, 2);
    c.workers = (int)mt_rng_below(rng, 6);
    c.prefetch = mt_rng_below(rng, 6);
    c.seed = mt_rng_u64(rng);
    return c;
}

Test(loader, no_sample_is_lost_or_repeated_over_100_configurations)
{
    mt_rng rng = mt_rng_new(0x105e, MT_STREAM_TEST);
    for (int run = 0; run < 100; run++) {
        fake_set set = fake_set_of(1 + mt_rng_below(&rng, 60));
        mt_loader_config c = random_config(&set, &rng);
        mt_loader *l = mt_loader_new(&c);
        mt_loader_place from = { mt_rng_below(&rng, 5), mt_rng_below(&rng, mt_loader_steps(l) + 1) };
        for (int epoch = 0; epoch < 3; epoch++)
            check_epoch(l, &c);
        cr_assert_eq(mt_loader_seek(l, from), MT_OK);
        check_epoch(l, &c);
        check_epoch(l, &c);
        mt_loader_free(l);
    }
}

Test(loader, resumes_from_every_position_of_an_epoch)
{
    fake_set set = fake_set_of(23);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.sampler = mt_sampler_shuffling(23, 8);
    c.batch = 4;
    c.workers = 2;
    for (int64_t step = 0; step <= 6; step++) {
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        for (int64_t i = 0; i < step; i++)
            cr_assert(mt_loader_next(l, &b));
        mt_loader_place saved = mt_loader_place_of(l);
        mt_loader_free(l);
        l = mt_loader_new(&c);
        cr_assert_eq(mt_loader_seek(l, saved), MT_OK);
        cr_assert_eq(mt_loader_place_of(l).step, step);
        check_epoch(l, &c);
        mt_loader_free(l);
    }
}

Test(loader, refuses_a_position_that_does_not_exist)
{
    fake_set set = fake_set_of(10);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 4;
    mt_loader *l = mt_loader_new(&c);
    cr_assert_eq(mt_loader_seek(l, (mt_loader_place){ 0, 4 }), MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "3 steps"), "%s", mt_last_error());
    cr_assert_eq(mt_loader_seek(l, (mt_loader_place){ -1, 0 }), MT_ERR_ARGUMENT);
    check_epoch(l, &c);
    mt_loader_free(l);
}

Test(loader, an_epoch_without_a_full_batch_is_empty)
{
    fake_set set = fake_set_of(3);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 4;
    c.drop_last = true;
    c.workers = 2;
    mt_loader *l = mt_loader_new(&c);
    cr_assert_eq(mt_loader_steps(l), 0);
    check_epoch(l, &c);
    check_epoch(l, &c);
    mt_loader_free(l);
}

Test(loader, buffers_are_the_loaders_own_inside_a_scope)
{
    fake_set set = fake_set_of(9);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 2;
    c.workers = 1;
    mt_scope_begin();
    mt_loader *l = mt_loader_new(&c);
    mt_scope_end();
    check_epoch(l, &c);
    mt_scope_begin();
    mt_loader_free(l);
    mt_scope_end();
}

/* The caller's current batch does not change while workers prefetch as far ahead as they can. */
Test(loader, a_batch_does_not_change_until_the_next_one)
{
    fake_set set = fake_set_of(400);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.batch = 4;
    c.workers = 3;
    c.prefetch = 2;
    mt_loader *l = mt_loader_new(&c);
    mt_batch b;
    while (mt_loader_next(l, &b)) {
        usleep(500);
        cr_assert_eq(((const int32_t *)mt_data(b.y))[0], 4 * b.step);
        cr_assert_eq(mt_f32(b.x)[4 * 3], (float)(4 * b.step + 3));
        cr_assert_leq(set.loaded, 4 * (b.step + 3), "more was loaded ahead than there are buffers");
    }
    mt_loader_free(l);
}

/* ---- what a set is told ahead ---------------------------------------------------------------- */

/* A set of ten samples that counts how often each was announced, and how many were read without an announcement. */
typedef struct told_set {
    fake_set fake;
    atomic_int told[10], untold;
} told_set;

static void hear(const mt_dataset *base, const int64_t *index, int64_t count)
{
    for (int64_t n = 0; n < count; n++)
        ((told_set *)base)->told[index[n]]++;
}

static mt_status get_told(const mt_dataset *base, int64_t index, mt_rng *rng, void *x, void *y)
{
    ((told_set *)base)->untold += ((told_set *)base)->told[index] == 0;
    return fake_get(base, index, rng, x, y);
}

Test(loader, a_set_is_told_once_which_samples_come_soon)
{
    for (int workers = 0; workers <= 2; workers++) {
        told_set set = { .fake = fake_set_of(10) };
        mt_batch batch;
        set.fake.base.get = get_told;
        set.fake.base.soon = hear;
        mt_loader_config config = mt_loader_config_default(&set.fake.base);
        config.batch = 4;
        config.workers = workers;
        config.prefetch = 1;
        mt_loader *loader = mt_loader_new(&config);
        while (mt_loader_next(loader, &batch))
            continue;
        mt_loader_free(loader); /* workers may be in the next epoch already */
        for (int i = 0; i < 10; i++)
            cr_assert(set.told[i] == 1 || (workers > 0 && set.told[i] == 2), "%d: %d", i, (int)set.told[i]);
        cr_assert_eq(set.untold, 0);
    }
}

/* ---- bad samples ----------------------------------------------------------------------------- */

Test(loader, an_error_is_reported_in_order_with_the_files_name)
{
    for (int workers = 0; workers <= 4; workers += 2) {
        fake_set set = fake_set_of(40);
        set.bad_every = 40, set.bad_at = 18;
        mt_loader_config c = mt_loader_config_default(&set.base);
        c.batch = 4;
        c.workers = workers;
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        for (int step = 0; step < 4; step++)
            cr_assert(mt_loader_next(l, &b), "batch %d comes before the error", step);
        for (int again = 0; again < 2; again++) {
            cr_assert_not(mt_loader_next(l, &b));
            cr_assert_str_eq(mt_last_error(), "sample-18.png: truncated");
            mt_fail(MT_OK, "something else");
            cr_assert_eq(mt_loader_status(l), MT_ERR_FORMAT);
            cr_assert_str_eq(mt_last_error(), "sample-18.png: truncated");
        }
        cr_assert_eq(mt_loader_place_of(l).step, 4);
        cr_assert_eq(mt_loader_seek(l, (mt_loader_place){ 0, 5 }), MT_OK);
        cr_assert(mt_loader_next(l, &b) && b.index[0] == 20, "a seek goes on behind the error");
        mt_loader_free(l);
    }
}

Test(loader, bad_samples_are_replaced_by_the_next_good_one_and_counted)
{
    setenv("MT_LOG", "error", 1);
    for (int workers = 0; workers <= 4; workers += 2) {
        fake_set set = fake_set_of(30);
        set.bad_every = 10, set.bad_at = 9;
        mt_loader_config c = mt_loader_config_default(&set.base);
        c.batch = 7;
        c.workers = workers;
        c.on_bad = MT_BAD_SKIP;
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        int64_t seen = 0;
        while (mt_loader_next(l, &b)) {
            for (int64_t n = 0; n < b.count; n++, seen++) {
                int64_t want = seen % 10 == 9 ? (seen + 1) % 30 : seen;
                cr_assert_eq(b.index[n], want);
                cr_assert_eq(((const int32_t *)mt_data(b.y))[n], want);
            }
        }
        cr_assert_eq(seen, 30);
        cr_assert_eq(mt_loader_status(l), MT_OK);
        cr_assert_eq(mt_loader_stats_of(l).skipped, 3);
        mt_loader_free(l);
    }
}

Test(loader, skipping_ends_when_nothing_is_good_and_never_hides_a_broken_disk)
{
    fake_set set = fake_set_of(5);
    set.bad_every = 1;
    mt_loader_config c = mt_loader_config_default(&set.base);
    mt_batch b;
    c.on_bad = MT_BAD_SKIP;
    c.workers = 1;
    mt_loader *l = mt_loader_new(&c);
    cr_assert_not(mt_loader_next(l, &b));
    cr_assert_eq(mt_loader_status(l), MT_ERR_FORMAT);
    cr_assert(strstr(mt_last_error(), "all 5 samples are bad") && strstr(mt_last_error(), "sample-4.png"), "%s",
              mt_last_error());
    mt_loader_free(l);

    set.bad_status = MT_ERR_IO;
    set.bad_every = 5, set.bad_at = 2; /* other samples are good, but are not read */
    l = mt_loader_new(&c);
    cr_assert_not(mt_loader_next(l, &b));
    cr_assert_eq(mt_loader_status(l), MT_ERR_IO);
    cr_assert_str_eq(mt_last_error(), "sample-2.png: truncated");
    mt_loader_free(l);
}

/* ---- stopping -------------------------------------------------------------------------------- */

Test(loader, may_be_freed_at_any_moment)
{
    mt_rng rng = mt_rng_new(0x57, MT_STREAM_TEST);
    for (int run = 0; run < 150; run++) {
        fake_set set = fake_set_of(1 + mt_rng_below(&rng, 40));
        mt_loader_config c = random_config(&set, &rng);
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        for (int64_t calls = mt_rng_below(&rng, 12); calls > 0; calls--)
            mt_loader_next(l, &b);
        if (mt_rng_below(&rng, 2))
            usleep((useconds_t)mt_rng_below(&rng, 300));
        mt_loader_free(l);
    }
    mt_loader_free(NULL);
}

static void *stop_later(void *user)
{
    usleep(3000);
    mt_loader_stop(user);
    return NULL;
}

Test(loader, may_be_stopped_from_another_thread)
{
    for (int workers = 0; workers <= 3; workers++) {
        fake_set set = fake_set_of(1000000);
        set.clock = mt_clock_real();
        set.seconds = 1e-3; /* the epoch would take many minutes */
        mt_loader_config c = mt_loader_config_default(&set.base);
        c.workers = workers;
        mt_loader *l = mt_loader_new(&c);
        mt_batch b;
        pthread_t stopper;
        cr_assert_eq(pthread_create(&stopper, NULL, stop_later, l), 0);
        while (mt_loader_next(l, &b))
            continue;
        cr_assert_eq(mt_loader_status(l), MT_ERR_STOPPED);
        pthread_join(stopper, NULL);
        mt_loader_stop(l); /* a second call has no effect */
        mt_loader_free(l);
    }
}

/* ---- misuse ------------------------------------------------------------------------------------ */

Test(loader, a_sampler_of_another_set_aborts, .signal = SIGABRT, .fini = NULL)
{
    fake_set set = fake_set_of(10);
    mt_loader_config c = mt_loader_config_default(&set.base);
    c.sampler = mt_sampler_sequential(11);
    mt_loader_new(&c);
}
