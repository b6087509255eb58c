/* clock.c -- the machine's clock; see clock.h. */
#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <time.h>

static double real_now(mt_clock *clock)
{
    (void)clock;
    return mt_now();
}

static void real_sleep(mt_clock *clock, double seconds)
{
    (void)clock;
    struct timespec left = { .tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - floor(seconds)) * 1e9) };
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

static void real_wait(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    (void)clock;
    pthread_cond_wait(cond, lock);
}

static void real_wait_for(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock, double seconds)
{
    struct timespec end;
    if (seconds > 1e9) { /* thirty years, and INFINITY */
        real_wait(clock, cond, lock);
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double fraction = (double)end.tv_nsec * 1e-9 + seconds;
    end.tv_sec += (time_t)floor(fraction);
    end.tv_nsec = (long)((fraction - floor(fraction)) * 1e9);
    pthread_cond_clockwait(cond, lock, CLOCK_MONOTONIC, &end);
}

static void real_wake(mt_clock *clock, pthread_cond_t *cond)
{
    (void)clock;
    pthread_cond_broadcast(cond);
}

static void real_member(mt_clock *clock)
{
    (void)clock; /* the kernel schedules threads without our help */
}

mt_clock *mt_clock_real(void)
{
    static mt_clock real = {
        real_now, real_sleep, real_wait, real_wait_for, real_wake, real_member, real_member,
    };
    return &real;
}
