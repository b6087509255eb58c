/* calls_05_ring.c -- how the worker calls the loader's ring: by a script of one thread, and by threads that wait until
 * it is stopped, in simulated time. */
#include "testing/clock_sim.h"
#include "data/ring.h"
#include "worker/aborts.h"
#include "worker/calls_05.h"

#include <string.h>

enum { PLAN, CLAIM, TAKE, STOP, RESET, REFUSED, FINISH = 100 };

/* A clock that notes what is woken. The script has one thread: what other threads do during a wait are its next steps,
 * which finish or plan tickets. */
typedef struct script {
    mt_clock base;
    bool woken; /* arrival, in this step */
    const mg_value *v;
    mt_ring ring;
    int64_t next; /* step */
} script;

static void hear(mt_clock *clock, pthread_cond_t *cond)
{
    script *s = (script *)clock;
    s->woken |= cond == &s->ring.arrival;
}

static void run_step(script *s);

static void wait_for_a_step(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    script *s = (script *)clock;
    const mg_value *v = s->v;
    bool more = s->next < ARRAY(got)->count && !s->ring.stopped, work = s->ring.claimed < s->ring.planned;
    MT_CHECK(more && (cond == &s->ring.arrival ? I64(step)[s->next] >= FINISH : !work),
             "the ring waits, but what it waits for is there: the other threads would wait forever");
    pthread_mutex_unlock(lock);
    run_step(s);
    pthread_mutex_lock(lock);
}

static void wait_for_a_step_or(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock, double seconds)
{
    (void)seconds;
    wait_for_a_step(clock, cond, lock);
}

static void plan(const mg_value *ring)
{
    mt_ring_plan(ring->ptr);
}

static void run_step(script *s)
{
    const mg_value *v = s->v;
    int64_t i = s->next++, step = I64(step)[i], ticket = -9, got = 0;
    s->woken = false;
    if (step == PLAN)
        mt_ring_plan(&s->ring);
    else if (step == CLAIM)
        got = mt_ring_claim(&s->ring, &ticket) ? ticket : -1;
    else if (step == TAKE)
        got = mt_ring_take(&s->ring, &ticket) ? ticket : -1;
    else if (step == STOP)
        mt_ring_stop(&s->ring);
    else if (step == RESET)
        mt_ring_reset(&s->ring);
    else if (step == REFUSED)
        got = mg_aborts(plan, &(mg_value){ .ptr = &s->ring });
    else
        mt_ring_finish(&s->ring, step - FINISH);
    I64(got)[i] = got;
    I64(ready_max)[i] = s->ring.ready_max;
    I64(woken)[i] = step == TAKE || step == CLAIM ? s->next : s->woken;
    memcpy(I64(planned, claimed, taken) + 3 * i, (int64_t[]){ s->ring.planned, s->ring.claimed, s->ring.taken },
           3 * sizeof got);
}

/* A script of one thread: 0 plan, 1 claim, 2 take, 3 stop, 4 reset, 5 a plan that must abort, the last step, 100 + t
 * finish t. Of each step: got (a ticket, -1: stopped; 1: aborted), ready_max, woken (arrival; for a take or claim the
 * step after it) [n], the ring's counts [n,3]; step [n]; slots, the first ticket: those before it were taken. */
void mg_call_ring_script(const mg_value *v)
{
    script s = { *mt_clock_real(), .v = v };
    s.base.wait = wait_for_a_step;
    s.base.wait_for = wait_for_a_step_or;
    s.base.wake = hear;
    mt_ring_init(&s.ring, N(slots), &s.base);
    s.ring.planned = s.ring.claimed = s.ring.taken = s.ring.finished = N(first ticket);
    while (s.next < ARRAY(got)->count)
        run_step(&s);
    if (!mg_aborted) /* else the ring is locked */
        mt_ring_destroy(&s.ring);
}

/* ---- threads -------------------------------------------------------------------------------- */

typedef struct waiter {
    mt_ring *ring;
    bool claims;
    int64_t *out; /* 0 and the time of the return, in ns */
} waiter;

static void *wait_in_ring(void *user)
{
    waiter *w = user;
    int64_t ticket;
    mt_clock *clock = w->ring->clock;
    w->out[0] = w->claims ? mt_ring_claim(w->ring, &ticket) : mt_ring_take(w->ring, &ticket);
    w->out[1] = (int64_t)(clock->now(clock) * 1e9);
    clock->leave(clock);
    return NULL;
}

void mg_call_ring_stop(const mg_value *v) /* out [2 * waiters]; waiters, of them taking (0 or 1) */
{
    enum { MOST = 8 };
    mt_clock *clock = mt_clock_sim_new();
    mt_ring ring;
    pthread_t thread[MOST];
    waiter w[MOST];
    int64_t n = N(waiters);
    MT_CHECK(n <= MOST, "too many");
    mt_ring_init(&ring, 4, clock);
    for (int64_t i = 0; i < n; i++) {
        w[i] = (waiter){ &ring, i >= N(taking), I64(got, and when) + 2 * i };
        clock->enter(clock);
        MT_CHECK(pthread_create(&thread[i], NULL, wait_in_ring, &w[i]) == 0, "no thread");
    }
    clock->sleep(clock, 5);
    mt_ring_stop(&ring);
    clock->leave(clock);
    for (int64_t i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    clock->enter(clock);
    mt_ring_destroy(&ring);
    mt_clock_sim_free(clock);
}

/* A clock whose first wait begins late: before it, another thread stops the ring. */
typedef struct late {
    mt_clock base;
    mt_ring ring;
    pthread_t thread;
    bool began, early;
    atomic_bool woken;
} late;

static void *stop_ring(void *user)
{
    mt_ring_stop(&((late *)user)->ring);
    return NULL;
}

static void note_wake(mt_clock *clock, pthread_cond_t *cond)
{
    ((late *)clock)->woken = true;
    mt_clock_real()->wake(mt_clock_real(), cond);
}

/* The thread that waits has the lock, so the other one cannot wake anybody before the wait; it gets 50 ms to do so. */
static void wait_late(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock)
{
    late *s = (late *)clock;
    if (!s->began) {
        s->began = true;
        s->woken = false; /* from now on only by the other thread */
        MT_CHECK(pthread_create(&s->thread, NULL, stop_ring, s) == 0, "no thread");
        for (int ms = 0; ms < 50 && !s->woken; ms++)
            clock->sleep(clock, 1e-3);
        s->early = s->woken;
        if (s->early) /* nobody would end the wait */
            return;
    }
    mt_clock_real()->wait(mt_clock_real(), cond, lock);
}

static void wait_late_or(mt_clock *clock, pthread_cond_t *cond, pthread_mutex_t *lock, double seconds)
{
    (void)seconds;
    wait_late(clock, cond, lock);
}

void mg_call_ring_stop_before_wait(const mg_value *v)
{
    late s = { .base = *mt_clock_real() };
    int64_t ticket;
    s.base.wait = wait_late;
    s.base.wait_for = wait_late_or;
    s.base.wake = note_wake;
    mt_ring_init(&s.ring, 2, &s.base);
    I64(got, woken early)[0] = mt_ring_claim(&s.ring, &ticket);
    I64(got, woken early)[1] = s.early;
    MT_CHECK(s.began, "a claim without a plan did not wait");
    pthread_join(s.thread, NULL);
    mt_ring_destroy(&s.ring);
}
