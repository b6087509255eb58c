/* loader.h -- batches of a data set, loaded by worker threads ahead of the training step.
 *
 *     mt_loader_config config = mt_loader_config_default(set);
 *     config.sampler = mt_sampler_shuffling(set->count, seed);
 *     config.workers = 2;
 *     mt_loader *loader = mt_loader_new(&config);
 *     mt_batch batch;
 *     for (int64_t epoch = 0; epoch < 10; epoch++) {
 *         while (mt_loader_next(loader, &batch))
 *             train(batch.x, batch.y);
 *         if (mt_loader_status(loader) != MT_OK)
 *             die(mt_last_error());                 // names the file
 *     }
 *     mt_loader_free(loader);
 *
 * The batches and their order depend on data set, sampler or source, batch size and seeds only, not on workers,
 * prefetch or timing. With l seconds to load a batch, c to compute on it, W workers and p batches of prefetch, a batch
 * takes
 *     max(c, l / W, (l + c) / (p + 1)) seconds with workers,  l + c without.
 * Memory: p + 1 batches. A loader is used by one thread; only mt_loader_stop may be called from another. */
#pragma once

#include "core/clock.h"
#include "core/state.h"
#include "data/collate.h"
#include "data/sampler.h"

MT_C_BEGIN

typedef struct mt_loader mt_loader;

typedef struct mt_loader_config {
    const mt_dataset *set;  /* borrowed */
    mt_sampler sampler;     /* of set->count samples: each once an epoch */
    mt_batch_source source; /* used instead of the sampler when its pick is set; all batches are then full */
    int64_t batch;          /* samples */
    bool drop_last;         /* leave out a last batch that is not full */
    int workers;            /* threads that load; 0: the caller does it in mt_loader_next */
    int64_t prefetch;       /* batches loaded ahead; 0: two for each worker */
    uint64_t seed;          /* of the samples' randomness (crops, flips) */
    mt_bad_sample on_bad;   /* skip or fail */
    mt_clock *clock;        /* borrowed; NULL: real time */
} mt_loader_config;

/* One batch, lent until the next mt_loader_next, _seek or _free. */
typedef struct mt_batch {
    mt_tensor *x, *y;     /* [count, shape of a sample] */
    const int64_t *index; /* [count] the numbers of these samples */
    int64_t count;        /* samples: batch, or fewer at the end of an epoch */
    int64_t epoch, step;  /* this is batch `step` of the epoch */
} mt_batch;

/* The position of a loader: the next batch it returns. */
typedef struct mt_loader_place {
    int64_t epoch, step; /* step = steps: the next mt_loader_next ends the epoch */
} mt_loader_place;

typedef struct mt_loader_stats {
    int64_t skipped;      /* bad samples that were replaced in the batches so far */
    double seconds;       /* from the first mt_loader_next to the end of the latest */
    double stall_seconds; /* of these, spent inside mt_loader_next */
    double stall_percent; /* 100 * stall_seconds / seconds */
} mt_loader_stats;

/* mt_loader_config_default -- samples in order, batches of 64, no workers, bad samples are errors. */
mt_loader_config mt_loader_config_default(const mt_dataset *set);

/* mt_loader_new -- workers start with the first mt_loader_next.
 * Aborts: batch < 1, workers or prefetch < 0, a sampler or source of another number of samples than the set. */
mt_loader *mt_loader_new(const mt_loader_config *config);
void mt_loader_free(mt_loader *loader); /* at any time; waits for samples that are being read. NULL is allowed */

/* mt_loader_next -- the next batch. False, *out unchanged, at the end of an epoch (the following call starts the next
 * epoch) and on an error, which mt_loader_status tells apart. An error is reported after all batches before the failed
 * one. */
bool mt_loader_next(mt_loader *loader, mt_batch *out);

/* mt_loader_status -- MT_OK, or the error of mt_loader_next, which stays until a seek: its message is in
 * mt_last_error(). MT_ERR_STOPPED after mt_loader_stop. */
mt_status mt_loader_status(const mt_loader *loader);

int64_t mt_loader_steps(const mt_loader *loader); /* batches in an epoch */

/* mt_loader_ahead -- samples of the batch that mt_loader_next gives after `ahead` others; 0: the epoch has none. */
int64_t mt_loader_ahead(const mt_loader *loader, int64_t ahead);

/* mt_loader_place_of, mt_loader_seek -- save and restore the position; the batches that follow are the same bits as in
 * the run that was interrupted.   Fails, loader unchanged: a position outside the epoch. */
mt_loader_place mt_loader_place_of(const mt_loader *loader);
mt_status mt_loader_seek(mt_loader *loader, mt_loader_place place);

/* mt_loader_state -- append the position as integers, "loader.epoch" and "loader.step", to save or to load it. After
 * loading, mt_loader_seek(loader, mt_loader_place_of(loader)) checks it and makes it take effect. */
void mt_loader_state(mt_state *state, mt_loader *loader);

/* mt_loader_stop -- from any thread: workers end after the sample they are reading, mt_loader_next returns false. */
void mt_loader_stop(mt_loader *loader);

mt_loader_stats mt_loader_stats_of(const mt_loader *loader);

MT_C_END
