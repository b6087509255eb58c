/* clock.c -- the machine's clock, and the simulated one.
 *
 * The simulated clock counts the threads that run. A thread that sleeps or waits stands in a queue with the moment at
 * which it goes on: a sleeper knows it, a waiter's is infinity until somebody wakes it, then it is now. Whenever nobody
 * runs, the earliest in the queue goes on and the clock shows its moment. */
#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* ---- the machine's clock -------------------------------------------------------------------- */

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

static void real_wake(mt_clock *clock, pthread_cond_t *cond)
{
    (void)clock;
    pthread_cond_broadcast(cond);
}

static void real_member(mt_clock *clock)
{
    (void)clock; /* the kernel knows who runs */
}

mt_clock *mt_clock_real(void)
{
    static mt_clock real = { real_now, real_sleep, real_wait, real_wake, real_member, real_member };
    return &real;
}

/* ---- the simulated clock -------------------------------------------------------------------- */

/* A thread at rest; lives on its own stack. */
typedef struct resting {
    struct resting *next;
    double until;         /* goes on at this moment; INFINITY: when woken */
    pthread_cond_t *cond; /* what it waits for; NULL: it sleeps, or was woken */
    bool running;
    pthread_cond_t go;
} resting;

typedef struct sim {
    mt_clock base;
    pthread_mutex_t lock;
    double now;
    int members, running;
    resting *first, **last; /* in the order they came */
} sim;

/* Lets the earliest thread go on when nobody runs; called with the lock. */
static void advance(sim *s)
{
    resting **best = NULL;
    if (s->running > 0 || s->members == 0)
        return;
    for (resting **at = &s->first; *at; at = &(*at)->next)
        if (!best || (*at)->until < (*best)->until)
            best = at;
    MT_CHECK(best && isfinite((*best)->until), "deadlock: %d thread%s, nobody is left to wake %s", s->members,
             s->members == 1 ? " waits" : "s wait", s->members == 1 ? "it" : "them");
    resting *r = *best;
    *best = r->next;
    if (!r->next)
        s->last = best;
    s->now = r->until;
    s->running++;
    r->running = true;
    pthread_cond_signal(&r->go);
}

/* Rests until its turn; called with the lock. */
static void rest(sim *s, double until, pthread_cond_t *cond)
{
    resting r = { .until = until, .cond = cond };
    pthread_cond_init(&r.go, NULL);
    *s->last = &r;
    s->last = &r.next;
    s->running--;
    advance(s);
    while (!r.running)
        pthread_cond_wait(&r.go, &s->lock);
    pthread_cond_destroy(&r.go);
}

static double sim_now(mt_clock *clock)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    double now = s->now;
    pthread_mutex_unlock(&s->lock);
    return now;
}

static void sim_sleep(mt_clock *clock, double seconds)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    rest(s, s->now + seconds, NULL);
    pthread_mutex_unlock(&s->lock);
}

/* The caller's lock is given back only after the simulation's is held: no wake can fall in between. */
static void sim_wait(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    pthread_mutex_unlock(lock);
    rest(s, INFINITY, cond);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(lock);
}

static void sim_wake(mt_clock *clock, pthread_cond_t *cond)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    for (resting *r = s->first; r; r = r->next) {
        if (r->cond == cond) {
            r->cond = NULL;
            r->until = s->now;
        }
    }
    if (s->first)
        advance(s); /* the waker may be no member */
    pthread_mutex_unlock(&s->lock);
}

static void sim_enter(mt_clock *clock)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    s->members++;
    s->running++;
    pthread_mutex_unlock(&s->lock);
}

static void sim_leave(mt_clock *clock)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    s->members--;
    s->running--;
    advance(s);
    pthread_mutex_unlock(&s->lock);
}

mt_clock *mt_clock_sim_new(void)
{
    sim *s = calloc(1, sizeof *s);
    MT_CHECK(s, "out of memory");
    *s = (sim){ .base = { sim_now, sim_sleep, sim_wait, sim_wake, sim_enter, sim_leave }, .members = 1, .running = 1 };
    s->last = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    return &s->base;
}

void mt_clock_sim_free(mt_clock *clock)
{
    sim *s = (sim *)clock;
    MT_CHECK(s->members == 1, "%d threads still take part in the simulated clock", s->members - 1);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
