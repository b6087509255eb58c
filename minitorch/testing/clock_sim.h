/* clock_sim.h -- a simulated clock: sleeping takes no real time, and every run is the same.
 *
 * When every thread that takes part sleeps or waits, the clock advances to the next time at which one of them
 * continues. Threads continue one at a time, in order of arrival. When all of them wait for each other, that is a
 * deadlock: the program aborts with a message instead of hanging. Every third wait ends at once although nobody wakes
 * the thread, as a wait for a condition may. */
#pragma once

#include "core/clock.h"

MT_C_BEGIN

/* mt_clock_sim_new -- a simulated clock at 0 s; the calling thread takes part in it. */
mt_clock *mt_clock_sim_new(void);
void mt_clock_sim_free(mt_clock *clock); /* aborts: another thread still takes part */

MT_C_END
