/* stress_loader.c -- loaders are created, abandoned, stopped and freed at random moments, repeatedly; for the thread
 * sanitizer, which cannot run Criterion's test programs:
 *
 *     make FLAVOUR=tsan build/tsan/bin/stress_loader && build/tsan/bin/stress_loader
 *
 * Exit status 0: every batch was right and nothing was left behind. Last line: `stress_loader: PASS rounds=300`. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/loader.h"
#include "cli/cli.h"

typedef struct options {
    int64_t rounds;
} options;

static const mt_option flags[] = {
    { "rounds", 'n', "N", MT_I64(options, rounds, 1, 1000000), "Loaders to make (300)" },
    { 0 },
};

/* Sample i is { i, its random number }; every 13th is bad. */
static mt_status get(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y)
{
    (void)set;
    if (index % 13 == 12)
        return mt_fail(MT_ERR_FORMAT, "sample %d is bad", (int)index);
    memcpy(x, (float[]){ (float)index, mt_rng_uniform(rng) }, 2 * sizeof(float));
    memcpy(y, &(int32_t){ (int32_t)index }, sizeof(int32_t));
    return MT_OK;
}

static void check(const mt_batch *batch, const mt_loader_config *config)
{
    const float *x = mt_f32(batch->x);
    const int32_t *y = mt_data(batch->y);
    for (int64_t n = 0; n < batch->count; n++) {
        mt_rng rng = mt_sample_rng(config->seed, batch->epoch, batch->index[n]);
        MT_CHECK(y[n] == batch->index[n] && x[2 * n] == (float)y[n] && x[2 * n + 1] == mt_rng_uniform(&rng),
                 "batch %" PRId64 " of epoch %" PRId64 ", sample %" PRId64 " is not what it should be", batch->step,
                 batch->epoch, n);
    }
}

typedef struct stop_order {
    mt_loader *loader;
    useconds_t after;
} stop_order;

static void *stop_later(void *user)
{
    stop_order *order = user;
    usleep(order->after);
    mt_loader_stop(order->loader);
    return NULL;
}

/* One loader: some batches, perhaps a seek, perhaps a stop by another thread, then it is freed at a random moment. */
static void live(mt_rng *rng)
{
    mt_dataset set = {
        .count = 1 + mt_rng_below(rng, 80), .x = { MT_F32, MT_SHAPE(2) }, .y = { MT_I32, MT_SCALAR }, .get = get
    };
    mt_loader_config config = mt_loader_config_default(&set);
    config.sampler = mt_sampler_shuffling(set.count, mt_rng_u64(rng));
    config.batch = 1 + mt_rng_below(rng, 8);
    config.workers = (int)mt_rng_below(rng, 6);
    config.prefetch = mt_rng_below(rng, 5);
    config.seed = mt_rng_u64(rng);
    config.on_bad = mt_rng_below(rng, 3) ? MT_BAD_SKIP : MT_BAD_FATAL;
    mt_loader *loader = mt_loader_new(&config);
    stop_order order = { loader, (useconds_t)mt_rng_below(rng, 2000) };
    bool outside = mt_rng_below(rng, 2);
    pthread_t stopper;
    if (outside)
        MT_CHECK(pthread_create(&stopper, NULL, stop_later, &order) == 0, "no thread");
    mt_batch batch;
    for (int64_t calls = mt_rng_below(rng, 60); calls > 0; calls--) {
        if (mt_loader_next(loader, &batch))
            check(&batch, &config);
        if (mt_rng_below(rng, 20) == 0)
            mt_loader_seek(loader, (mt_loader_place){ mt_rng_below(rng, 3), mt_rng_below(rng, 4) });
        mt_loader_stats_of(loader);
    }
    if (outside)
        pthread_join(stopper, NULL);
    mt_loader_free(loader);
}

int main(int argc, char **argv)
{
    options o = { .rounds = 300 };
    mt_cli_parse(argc, argv, "Loaders that are made, stopped and freed at random moments.", flags, &o);
    setenv("MT_LOG", "error", 0); /* thousands of samples are skipped here on purpose */
    mt_rng rng = mt_rng_new(0x57e55, MT_STREAM_TEST);
    for (int64_t round = 0; round < o.rounds; round++)
        live(&rng);
    MT_CHECK(mt_live_bytes(MT_CPU) == 0, "%" PRId64 " bytes were left behind", mt_live_bytes(MT_CPU));
    printf("stress_loader: PASS rounds=%" PRId64 "\n", o.rounds);
    return 0;
}
