/* ring.c -- buffers that go round between a caller and workers: ordered, bounded, stoppable at any moment.
 *
 * Each function holds the lock while it looks and changes, and waits in a loop: being woken means "look again", not
 * "it is so". A waiter gives the lock back while it waits (the clock's wait does that). */
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
    /* LAB 05.13 BEGIN  Wait for planned work, and claim the next ticket.
     * Hint: while nothing is planned beyond what is claimed and the ring has not stopped: ring->clock->wait(ring->clock,
     * &ring->planning, &ring->lock). Another worker may have been faster: look again after every wait. got says whether
     * *ticket is yours. Leave the lock held: it is given back below. */
    while (ring->claimed == ring->planned && !ring->stopped)
        ring->clock->wait(ring->clock, &ring->planning, &ring->lock);
    if (!ring->stopped) {
        *ticket = ring->claimed++;
        got = true;
    }
    /* LAB 05.13 END */
    pthread_mutex_unlock(&ring->lock);
    return got;
}

void mt_ring_finish(mt_ring *ring, int64_t ticket)
{
    pthread_mutex_lock(&ring->lock);
    /* LAB 05.14 BEGIN  The ticket's slot is ready; tell the caller when it is the one that is due.
     * Hint: ring->ready[slot of the ticket], ring->finished, ring->ready_max (finished - taken are ready now), then wake
     * ring->arrival. Which slot a ticket lives in and which ticket is due stands at the top of ring.h. */
    ring->ready[ticket % ring->slots] = true;
    ring->finished++;
    ring->ready_max = mt_max(ring->ready_max, ring->finished - ring->taken);
    if (ticket == ring->taken)
        ring->clock->wake(ring->clock, &ring->arrival);
    /* LAB 05.14 END */
    pthread_mutex_unlock(&ring->lock);
}

bool mt_ring_take(mt_ring *ring, int64_t *ticket)
{
    bool got = false;
    pthread_mutex_lock(&ring->lock);
    /* LAB 05.15 BEGIN  Wait for the ticket that is due, and take it.
     * Hint: only the slot of ticket ring->taken matters: a later one that is ready first has to wait, or the order of
     * batches would depend on which worker is faster. The slot is not ready any more once it is taken. */
    bool *due = &ring->ready[ring->taken % ring->slots];
    while (!*due && !ring->stopped)
        ring->clock->wait(ring->clock, &ring->arrival, &ring->lock);
    if (!ring->stopped) {
        *due = false;
        *ticket = ring->taken++;
        got = true;
    }
    /* LAB 05.15 END */
    pthread_mutex_unlock(&ring->lock);
    return got;
}

void mt_ring_stop(mt_ring *ring)
{
    pthread_mutex_lock(&ring->lock);
    /* LAB 05.16 BEGIN  Nobody waits any more.
     * Hint: workers and the caller wait for different things: wake both. */
    ring->stopped = true;
    ring->clock->wake(ring->clock, &ring->planning);
    ring->clock->wake(ring->clock, &ring->arrival);
    /* LAB 05.16 END */
    pthread_mutex_unlock(&ring->lock);
}
