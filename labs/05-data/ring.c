/* ring.c -- buffers that a caller and workers use in turn: ordered, bounded, and stoppable at any time.
 *
 * Each function holds the lock while it reads and changes the state, and waits in a loop: after a wake-up the condition
 * must be tested again. The clock's wait releases the lock while it waits. */
#include "data/ring.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void mt_ring_init(mt_ring *ring, int64_t slots, mt_clock *clock)
{
    MT_CHECK(slots >= 1, "a ring of %" PRId64 " slots", slots);
    *ring = (mt_ring){ .clock = clock, .slots = slots, .ready = calloc((size_t)slots, sizeof *ring->ready) };
    MT_CHECK(ring->ready, "out of memory");
    pthread_mutex_init(&ring->lock, NULL);
    pthread_cond_init(&ring->planning, NULL);
    pthread_cond_init(&ring->arrival, NULL);
}

void mt_ring_destroy(mt_ring *ring)
{
    pthread_cond_destroy(&ring->arrival);
    pthread_cond_destroy(&ring->planning);
    pthread_mutex_destroy(&ring->lock);
    free(ring->ready);
}

void mt_ring_reset(mt_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    ring->planned = ring->claimed = ring->taken = ring->finished = ring->ready_max = 0;
    ring->stopped = false;
    memset(ring->ready, 0, (size_t)ring->slots * sizeof *ring->ready);
    pthread_mutex_unlock(&ring->lock);
}

void mt_ring_plan(mt_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    MT_CHECK(ring->planned < ring->taken + ring->slots, "all %" PRId64 " slots are in use", ring->slots);
    ring->planned++;
    ring->clock->wake(ring->clock, &ring->planning);
    pthread_mutex_unlock(&ring->lock);
}

bool mt_ring_claim(mt_ring *ring, int64_t *ticket)
{
    bool got = false;
    pthread_mutex_lock(&ring->lock);
    /* TODO 05.13: Wait for planned work, and claim the next ticket.
     * Hint: ring->clock has the wait; ring->planning is its condition and ring->lock its lock. Another worker may
     * have been faster: test again after every wait, and whether the ring has stopped. Set got if *ticket was
     * claimed. Keep the lock: it is released below. */
    MT_TODO("05.13"); /* delete this line when yours stands here */
    pthread_mutex_unlock(&ring->lock);
    return got;
}

void mt_ring_finish(mt_ring *ring, int64_t ticket)
{
    pthread_mutex_lock(&ring->lock);
    /* TODO 05.14: Mark the ticket's slot as ready, and wake the caller if it is the next ticket.
     * Hint: three fields change: ready, finished, and the largest number that was ready at once. The comment at the
     * top of ring.h defines the slot of a ticket and the next ticket; the caller waits for ring->arrival. */
    MT_TODO("05.14"); /* delete this line when yours stands here */
    pthread_mutex_unlock(&ring->lock);
}

bool mt_ring_take(mt_ring *ring, int64_t *ticket)
{
    bool got = false;
    pthread_mutex_lock(&ring->lock);
    /* TODO 05.15: Wait for the next ticket, and take it.
     * Hint: only the slot of ticket ring->taken matters: a later one that is ready first must wait, or the order of
     * batches would depend on which worker is faster. A slot that was taken is no longer ready. */
    MT_TODO("05.15"); /* delete this line when yours stands here */
    pthread_mutex_unlock(&ring->lock);
    return got;
}

void mt_ring_stop(mt_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    /* TODO 05.16: End all waits.
     * Hint: workers and the caller wait for different conditions: wake both. */
    MT_TODO("05.16"); /* delete this line when yours stands here */
    pthread_mutex_unlock(&ring->lock);
}
