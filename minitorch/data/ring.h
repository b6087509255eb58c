/* ring.h -- the heart of the loader: a fixed number of buffers that go round between one caller and many workers.
 *
 *     caller   plan ------> claim   worker          Batches carry tickets 0, 1, 2, ...; ticket t lives in slot t % slots.
 *       ^                     |                     The caller plans tickets in order, workers claim them in order and
 *       |                     v                     finish them in any order, the caller takes them in order again.
 *      take <--- ready --- finish
 *
 *     taken <= claimed <= planned <= taken + slots          (always)
 *
 * Back-pressure needs no rule of its own: a slot is planned again only when the caller has done with it, so workers that
 * are ahead find nothing to claim and wait. Memory is bounded by slots, for ever.
 * All waiting goes through the clock (core/clock.h).   Unit: solutions/05-data/ring.c */
#ifndef MT_DATA_RING_H
#define MT_DATA_RING_H

#include <stdatomic.h>

#include "core/clock.h"

typedef struct mt_ring {
    mt_clock *clock;
    int64_t slots;
    pthread_mutex_t lock;    /* of all that follows; taken a few times a batch, never for a sample */
    pthread_cond_t planning; /* something was planned, or the ring stopped: workers wait for it */
    pthread_cond_t arrival;  /* the ticket that is due is ready, or the ring stopped: the caller waits for it */
    int64_t planned;         /* tickets below are planned */
    int64_t claimed;         /* tickets below were claimed by workers */
    int64_t taken;           /* tickets below were taken by the caller: this one is due */
    bool *ready;             /* [slots] finished and not yet taken */
    int64_t finished;        /* tickets finished so far */
    int64_t ready_max;       /* the most tickets that were ready at once */
    atomic_bool stopped;     /* set under the lock; read anywhere: a worker looks between samples */
} mt_ring;

/* mt_ring_init -- an empty ring; slots >= 1. The clock is borrowed. */
void mt_ring_init(mt_ring *ring, int64_t slots, mt_clock *clock);
void mt_ring_destroy(mt_ring *ring); /* nobody may be inside */

/* mt_ring_reset -- empty again, and not stopped; no worker may be between claim and finish. */
void mt_ring_reset(mt_ring *ring);

/* mt_ring_plan -- the caller says that the next ticket's slot is free and described: a worker may claim it.
 * Aborts: the slot still holds a ticket that was not taken. */
void mt_ring_plan(mt_ring *ring);

/* mt_ring_claim -- a worker asks for work; waits until there is some. False: the ring stopped.   Lab 05.13 */
bool mt_ring_claim(mt_ring *ring, int64_t *ticket);

/* mt_ring_finish -- the worker has filled the slot of a ticket that it claimed.   Lab 05.14 */
void mt_ring_finish(mt_ring *ring, int64_t ticket);

/* mt_ring_take -- the caller asks for the ticket that is due; waits until it is ready, even when later ones are. The slot
 * is the caller's until it is planned again. False: the ring stopped.   Lab 05.15 */
bool mt_ring_take(mt_ring *ring, int64_t *ticket);

/* mt_ring_stop -- nobody waits any more, from now on claim and take return false. From any thread, any number of times.
 * Lab 05.16 */
void mt_ring_stop(mt_ring *ring);

#endif
