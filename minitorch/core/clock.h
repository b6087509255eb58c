/* clock.h -- the clock through which the threads of the loader and of communicators sleep and wait: the machine's, or
 * in tests and experiments a simulated one (testing/clock_sim.h). */
#pragma once

#include <pthread.h>

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_clock mt_clock;

struct mt_clock {
    double (*now)(mt_clock *clock); /* seconds; only differences mean anything */

    /* sleep -- for seconds >= 0. The caller holds no lock: a thread blocked on it counts as running, and simulated time
     * would stand still. */
    void (*sleep)(mt_clock *clock, double seconds);

    /* wait, wake -- as pthread_cond_wait and pthread_cond_broadcast; check the condition again after wait. */
    void (*wait)(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock);
    /* wait_for -- as wait, but for at most `seconds` (INFINITY: wait). */
    void (*wait_for)(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock, double seconds);
    void (*wake)(mt_clock *clock, pthread_cond_t *cond);

    /* enter, leave -- one thread more, one less takes part. Call enter before a thread is created and leave as its last
     * action; around pthread_join, leave before and enter after it. */
    void (*enter)(mt_clock *clock);
    void (*leave)(mt_clock *clock);
};

/* mt_clock_real -- the machine's monotonic clock; not freed. */
mt_clock *mt_clock_real(void);

MT_C_END
