/* loader.h -- batches of a data set, loaded ahead of the training step by worker threads.
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
 *     mt_loader_free(loader);                       // at any time
 *
 * What comes, and in which order, depends on data set, sampler, batch and seeds only: not on workers, prefetch or luck.
 * Time: with l seconds to load a batch, c to compute on it, W workers and p batches of prefetch, a batch takes
 *     max(c, l / W, (l + c) / (p + 1)) with workers,  l + c without.
 * Memory: (p + 1) batches. One thread, the caller, uses a loader; mt_loader_stop alone may come from another. */
#ifndef MT_DATA_LOADER_H
#define MT_DATA_LOADER_H

#include "core/tensor.h"
#include "core/clock.h"
#include "data/collate.h"
#include "data/sampler.h"

typedef struct mt_loader mt_loader;

/* Seam: page-locked buffers, from which a GPU can copy while it computes (cudaHostRegister, cudaHostUnregister). */
typedef struct mt_pinner {
    mt_status (*pin)(void *data, int64_t bytes);
    void (*unpin)(void *data);
} mt_pinner;

typedef struct mt_loader_config {
    const mt_dataset *set;  /* borrowed */
    mt_sampler sampler;     /* of set->count samples: epochs in which every sample comes once */
    mt_batch_source source; /* used instead of the sampler when its pick is set; every batch is then full */
    int64_t batch;
    bool drop_last;          /* a last batch that is not full does not come */
    int workers;             /* threads that load; 0: the caller does it in mt_loader_next */
    int64_t prefetch;        /* batches loaded ahead; 0: two a worker */
    uint64_t seed;           /* of the samples' randomness (crops, flips) */
    mt_bad_sample on_bad;    /* skip or fail */
    mt_clock *clock;         /* borrowed; NULL: the machine's */
    const mt_pinner *pinner; /* borrowed; NULL: ordinary memory */
} mt_loader_config;

/* One batch, lent: buffers are used again after the next mt_loader_next, _seek, _free. */
typedef struct mt_batch {
    mt_tensor *x, *y;     /* [count, sample's shape] */
    const int64_t *index; /* [count] which samples these are */
    int64_t count;        /* samples: batch, or fewer at the end of an epoch */
    int64_t epoch, step;  /* this is batch number step of the epoch */
} mt_batch;

/* Where a loader stands: the next batch it will give. Save it with a checkpoint, seek it to go on. */
typedef struct mt_loader_place {
    int64_t epoch, step; /* step = steps: the next call of mt_loader_next ends the epoch */
} mt_loader_place;

typedef struct mt_loader_stats {
    int64_t consumed;     /* batches given to the caller */
    int64_t produced;     /* batches loaded, whether given or thrown away by a seek */
    int64_t skipped;      /* bad samples passed over, in the batches given */
    int64_t ready_max;    /* the most batches that ever stood ready */
    double seconds;       /* from the first mt_loader_next to the end of the latest */
    double stall_seconds; /* of these, spent inside mt_loader_next */
    double stall_percent; /* 100 * stall_seconds / seconds */
} mt_loader_stats;

/* mt_loader_config_default -- set in its own order, batch 64, no worker, the last batch kept, bad samples fatal. */
mt_loader_config mt_loader_config_default(const mt_dataset *set);

/* mt_loader_new -- workers start with the first mt_loader_next.   Aborts: batch < 1, workers or prefetch < 0, a sampler
 * of another size than the set.   A buffer that cannot be pinned stays ordinary memory, with a warning. */
mt_loader *mt_loader_new(const mt_loader_config *config);
void mt_loader_free(mt_loader *loader); /* at any time; waits for samples that are being read. NULL is allowed */

/* mt_loader_next -- the next batch. False, *out unchanged, at the end of an epoch (the call after it starts the next one)
 * and on an error: mt_loader_status tells which. An error comes in its batch's turn, after all batches before it. */
bool mt_loader_next(mt_loader *loader, mt_batch *out);

/* mt_loader_status -- MT_OK, or why mt_loader_next returned false; it stays so until a seek. mt_last_error() has the
 * words, with the file's name. MT_ERR_STOPPED after mt_loader_stop. */
mt_status mt_loader_status(const mt_loader *loader);

int64_t mt_loader_steps(const mt_loader *loader); /* batches in an epoch */

/* mt_loader_place_of, mt_loader_seek -- save and restore the place; what comes next is the same bits as in the run that
 * was left.   Fails, loader unchanged: a place that does not exist in this loader. */
mt_loader_place mt_loader_place_of(const mt_loader *loader);
mt_status mt_loader_seek(mt_loader *loader, mt_loader_place place);

/* mt_loader_stop -- from any thread: workers end after the sample they read, mt_loader_next returns false. */
void mt_loader_stop(mt_loader *loader);

mt_loader_stats mt_loader_stats_of(mt_loader *loader);

#endif
