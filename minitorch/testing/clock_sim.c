/* clock_sim.c -- the simulated clock; see clock_sim.h.
 *
 * The clock counts the members (threads that take part) that are running. A thread that sleeps or waits enters a
 * queue with the time at which it continues: the end of its sleep, or infinity until another thread wakes it, then the
 * current time. When no member runs, the earliest in the queue continues and the clock advances to its time. */
#include "testing/clock_sim.h"

#include <math.h>
#include <stdlib.h>

/* A thread that sleeps or waits; the struct is on that thread's stack. */
typedef struct resting {
    struct resting *next;
    double until;         /* continues at this time; INFINITY: when woken */
    pthread_cond_t *cond; /* what it waits for; NULL: it sleeps or was woken */
    bool running;
    pthread_cond_t go;
} resting;

typedef struct sim {
    mt_clock base;
    pthread_mutex_t lock;
    double now;
    int members, running, waits;
    resting *first, **last; /* in order of arrival */
} sim;

/* Continues the earliest thread when no member runs. The caller holds s->lock. */
static void advance(sim *s)
{
    resting **best = NULL;
    if (s->running > 0 || s->members == 0)
        return;
    for (resting **at = &s->first; *at; at = &(*at)->next)
        if (!best || (*at)->until < (*best)->until)
            best = at;
    MT_CHECK(best && isfinite((*best)->until), "deadlock: %d thread%s, and no thread is left to wake %s", s->members,
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

/* Blocks until `until`, or until cond is woken. The caller holds s->lock. */
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

/* Takes the clock's lock before it releases the caller's: a wake between the two would be lost. */
static void sim_wait_for(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock, double seconds)
{
    sim *s = (sim *)clock;
    pthread_mutex_lock(&s->lock);
    pthread_mutex_unlock(lock);
    rest(s, ++s->waits % 3 == 0 ? s->now : s->now + seconds, cond);
    pthread_mutex_unlock(&s->lock);
    pthread_mutex_lock(lock);
}

static void sim_wait(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    sim_wait_for(clock, cond, lock, INFINITY);
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
        advance(s); /* the waking thread need not be a member */
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
    sim *s = mt_calloc(1, sizeof *s);
    *s = (sim){
        .base = { sim_now, sim_sleep, sim_wait, sim_wait_for, sim_wake, sim_enter, sim_leave },
        .members = 1,
        .running = 1,
    };
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
