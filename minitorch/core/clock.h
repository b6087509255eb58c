/* clock.h -- time as the loader sees it: the machine's, or a simulated one that tests can reason about exactly.
 *
 * Whoever waits, waits through a clock. In the simulated one a sleep costs no real time: when every thread that takes
 * part sleeps or waits, the clock jumps to the next moment at which one of them has something to do. One thread is woken
 * at a time, in the order they went to rest, so a run is repeatable; and when all wait for each other, that is a deadlock
 * and the program aborts saying so, instead of hanging. */
#ifndef MT_CORE_CLOCK_H
#define MT_CORE_CLOCK_H

#include <pthread.h>

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mt_clock mt_clock;

struct mt_clock {
    double (*now)(mt_clock *clock); /* seconds; only differences mean anything */

    /* sleep -- for seconds >= 0. Hold no lock: in simulated time whoever wants it would count as running for ever. */
    void (*sleep)(mt_clock *clock, double seconds);

    /* wait, wake -- as pthread_cond_wait and pthread_cond_broadcast; check your condition again afterwards. */
    void (*wait)(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock);
    void (*wake)(mt_clock *clock, pthread_cond_t *cond);

    /* enter, leave -- one more, one less thread takes part. Enter for a thread before it is created; leave as its last
     * act, and around a pthread_join, which no clock can see. */
    void (*enter)(mt_clock *clock);
    void (*leave)(mt_clock *clock);
};

/* mt_clock_real -- the machine's monotonic clock. Lent. */
mt_clock *mt_clock_real(void);

/* mt_clock_sim_new -- a simulated clock at 0 s; the calling thread takes part in it. */
mt_clock *mt_clock_sim_new(void);
void mt_clock_sim_free(mt_clock *clock); /* aborts: another thread still takes part */

#ifdef __cplusplus
}
#endif
#endif
