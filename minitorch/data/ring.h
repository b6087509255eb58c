/* ring.h -- the queue of the loader: a fixed number of buffers that circulate between one caller and many workers.
 *
 *     caller   plan ------> claim   worker          Batches have tickets 0, 1, 2, ...; ticket t uses slot t % slots.
 *       ^                     |                     The caller plans tickets in order, workers claim them in order and
 *       |                     v                     finish them in any order, the caller takes them in order again.
 *      take <--- ready --- finish
 *
 *     taken <= claimed <= planned <= taken + slots          (always)
 *
 * A slot is planned again only after the caller has finished with it, so workers that are ahead find nothing to claim
 * and wait: memory stays bounded by slots.
 * All waiting goes through the clock (core/clock.h).   Unit: solutions/05-data/ring.c */
#pragma once

#ifndef __cplusplus
#include <stdatomic.h>
#else
#include <atomic>
using std::atomic_bool;
#endif

#include "core/clock.h"

MT_C_BEGIN

typedef struct mt_ring {
    mt_clock *clock;
    int64_t slots;
    pthread_mutex_t lock;    /* of all fields below; taken a few times per batch, never per sample */
    pthread_cond_t planning; /* a ticket was planned, or the ring stopped: workers wait for it */
    pthread_cond_t arrival;  /* the ticket that is due is ready, or the ring stopped: the caller waits for it */
    int64_t planned;         /* tickets below are planned */
    int64_t claimed;         /* tickets below were claimed by workers */
    int64_t taken;           /* tickets below were taken by the caller: this one is due */
    bool *ready;             /* [slots] finished and not yet taken */
    int64_t finished;        /* tickets finished so far */
    int64_t ready_max;       /* the most tickets that were ready at once */
    atomic_bool stopped;     /* set under the lock; read anywhere: workers check it between samples */
} mt_ring;

/* mt_ring_init -- an empty ring; slots >= 1. The clock is borrowed. */
void mt_ring_init(mt_ring *ring, int64_t slots, mt_clock *clock);
void mt_ring_destroy(mt_ring *ring); /* no thread may use the ring any more */

/* mt_ring_reset -- empty again, all counts 0, and not stopped; no worker may be between claim and finish. */
void mt_ring_reset(mt_ring *ring);

/* mt_ring_plan -- for the caller: the slot of the next ticket is free and described, so a worker may claim it.
 * Aborts: the slot still holds a ticket that was not taken. */
void mt_ring_plan(mt_ring *ring);

/* mt_ring_claim -- for a worker: wait for a planned ticket and claim it. False: the ring stopped.   Lab 05.13 */
bool mt_ring_claim(mt_ring *ring, int64_t *ticket);

/* mt_ring_finish -- for a worker: the slot of a ticket that it claimed is filled.   Lab 05.14 */
void mt_ring_finish(mt_ring *ring, int64_t ticket);

/* mt_ring_take -- for the caller: wait until the ticket that is due is ready, even when later ones are, and take it.
 * The caller owns the slot until it plans it again. False: the ring stopped.   Lab 05.15 */
bool mt_ring_take(mt_ring *ring, int64_t *ticket);

/* mt_ring_stop -- end all waiting; from now on claim and take return false. From any thread, any number of times.
 * Lab 05.16 */
void mt_ring_stop(mt_ring *ring);

MT_C_END
