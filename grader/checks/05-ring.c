/* 05-ring.c -- how the checks of steps 05.13 to 05.16 run: the ring, by scripts of one thread, and stopped while others
 * wait. Rows: 05-data.c. */
#include "checks/05-data.h"

#include <inttypes.h>

enum { PLAN, CLAIM, TAKE, STOP, RESET, REFUSED, FINISH = 100, STEPS = 150, COUNTS = 3 };
enum { SLOTS = 300, ROUNDS = 3, LONG = 4 * ROUNDS * SLOTS /* steps */, TICKETS = ROUNDS * SLOTS };

typedef struct script {
    int64_t slots, first; /* the first ticket */
    int count;            /* of steps; if it is STEPS, they are random, and if LONG, rounds of all slots */
    int64_t step[12];
    const char *part, *hint;
} script;

typedef struct model { /* the expected state of a ring */
    int64_t slots, first, planned, claimed, taken, finished, ready_max;
    bool done[TICKETS + 1], stopped; /* done: of the tickets from the first on */
    int64_t waiting; /* TAKE: a take waits for its ticket; CLAIM: a claim waits for a plan; 0: no call waits */
} model;

/* A valid operation; it may finish any claimed ticket, not only the oldest. A take of a ticket that is claimed waits,
 * and the next operations, of another thread, finish tickets until it is ready. A claim of what is not planned waits
 * until a plan; its wait also ends after each other operation before that. */
static int64_t next_step(const model *m, mt_rng *rng)
{
    for (;;) {
        int64_t kind = mt_rng_below(rng, 4), ticket;
        if (m->waiting == TAKE)
            kind = 3;
        if (kind == PLAN && m->planned < m->taken + m->slots)
            return PLAN;
        if (kind == CLAIM && !m->waiting)
            return CLAIM;
        if (kind == TAKE && (m->done[m->taken - m->first] || (m->taken < m->claimed && !m->waiting)))
            return TAKE;
        if (kind == 3 && m->claimed > m->taken) {
            ticket = mg_pick(rng, m->taken, m->claimed - 1);
            if (!m->done[ticket - m->first])
                return FINISH + ticket;
        }
    }
}

/* Towards a moment at which the next ticket is ready and work is planned, and there a stop. One slot holds not both. */
static int64_t step_to_stop(const model *m)
{
    if (m->done[m->taken - m->first])
        return m->claimed < m->planned ? STOP : m->planned < m->taken + m->slots ? PLAN : TAKE;
    return m->taken < m->claimed ? FINISH + m->taken : m->claimed < m->planned ? CLAIM : PLAN;
}

/* Step i of a script: any, then to a stop, and after it claims, takes and stops by turns. */
static int64_t script_step(const model *m, int i, mt_rng *rng)
{
    if (m->stopped)
        return (const int64_t[]){ STOP, CLAIM, TAKE }[i % 3];
    if (i == STEPS - 3)
        return STOP;
    return i < STEPS - 15 ? next_step(m, rng) : step_to_stop(m);
}

/* Step i of rounds: all slots are planned, then claimed, finished in an order that begins with another ticket than the
 * first, and taken. 7 and SLOTS have no common factor. */
static int64_t round_step(const model *m, int64_t i)
{
    const int64_t kind[] = { PLAN, CLAIM, FINISH + m->taken + (7 * (i % SLOTS) + 3) % SLOTS, TAKE };
    return kind[i / SLOTS % MT_COUNT(kind)];
}

static int64_t step_of(const script *s, const model *m, int i, mt_rng *rng)
{
    return s->count < STEPS ? s->step[i] : s->count == STEPS ? script_step(m, i, rng) : round_step(m, i);
}

static int64_t follow(model *m, int64_t step)
{
    if (m->stopped && (step == CLAIM || step == TAKE))
        return -1;
    if ((step == CLAIM && m->claimed == m->planned) || (step == TAKE && !m->done[m->taken - m->first])) {
        m->waiting = step;
        return step == CLAIM ? m->claimed : m->taken;
    }
    if (step == PLAN) {
        m->planned++;
        m->claimed += m->waiting == CLAIM;
        m->waiting = 0;
    } else if (step == CLAIM)
        return m->claimed++;
    else if (step == TAKE)
        return m->taken++;
    else if (step == STOP)
        m->stopped = true;
    else if (step == RESET)
        *m = (model){ .slots = m->slots };
    else if (step == REFUSED)
        return 1; /* aborted */
    else {
        m->done[step - FINISH - m->first] = true;
        m->finished++;
        m->ready_max = mt_max(m->ready_max, m->finished - m->taken);
        if (m->waiting == TAKE && m->done[m->taken - m->first]) {
            m->taken++;
            m->waiting = 0;
        }
    }
    return 0;
}

/* The counts after a step. What that step ends, a claim or a take that waited, has not yet counted its ticket. */
static void note_counts(double *counts, const model *m, int64_t ends)
{
    counts[0] = (double)m->planned;
    counts[1] = (double)(m->claimed - (ends == CLAIM));
    counts[2] = (double)(m->taken - (ends == TAKE));
}

/* The caller waits for the next ticket: once that is finished, `arrival` must be woken. Other wakes do no harm. */
static bool judge_woken(mg_run *run, const int64_t *step, const bool *due, int count)
{
    const int64_t *woken = mg_result(run, "woken");
    for (int i = 0; i < count; i++)
        if (due[i] && !woken[i]) {
            mg_hint(run, "mt_ring_finish (05.14) must wake arrival when ticket == taken");
            mg_fail(run, "ticket %" PRId64 " was finished, for which the caller waits, but arrival was not woken",
                    step[i] - FINISH);
            return false;
        }
    return true;
}

/* A take ends after the step that finishes its ticket, a claim after the one that plans it, whatever woke it before. */
static bool judge_ended(mg_run *run, const int64_t *step, const int64_t *ended, const script *s)
{
    const int64_t *got = mg_result(run, "woken");
    for (int i = 0; i < s->count; i++)
        if ((step[i] == TAKE || step[i] == CLAIM) && got[i] < ended[i]) {
            bool take = step[i] == TAKE;
            if (s->count == STEPS)
                mg_hint(run, "%s tests the condition again after every wait: while, not if",
                        take ? "mt_ring_take (05.15)" : "mt_ring_claim (05.13)");
            mg_fail(run, "the %s of step %d returned after step %" PRId64 ", but its ticket was %s in step %" PRId64,
                    take ? "take" : "claim", i, got[i] - 1, take ? "finished" : "planned", ended[i] - 1);
            return false;
        }
    return true;
}

/* After a stop every result is -1. */
static void recognise_stop(mg_run *run, const int64_t *step, const double *got, int count)
{
    bool stopped = false;
    for (int i = 0; i < count; i++) {
        if (mg_wrong(run, "got", i, got[i], 0)) {
            if (stopped && step[i] == TAKE)
                mg_hint(run, "got[%d] is a take after stop (05.15): it must return false, even if the ticket is ready",
                        i);
            else if (stopped)
                mg_hint(run, "got[%d] is a claim after stop (05.13): it must return false, even if work is planned", i);
            return;
        }
        stopped = (stopped || step[i] == STOP) && step[i] != RESET;
    }
}

static bool follow_script(mg_run *run, const script *s)
{
    model m = { s->slots, s->first, s->first, s->first, s->first, s->first, .ready_max = 0 };
    double got[LONG], most[LONG], counts[LONG][COUNTS];
    int began = 0; /* the last take or claim that had to wait */
    bool due[LONG];
    int64_t ended[LONG];
    mg_part(run, s->part, "%s", s->hint);
    mg_begin(run, "a ring, step by step");
    mg_out(run, "got", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "ready_max", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "woken", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "planned, claimed, taken", MT_I64, MT_SHAPE(s->count, COUNTS));
    int64_t *step = mg_in(run, "step", MT_I64, MT_SHAPE(s->count));
    mg_i64(run, "slots", s->slots);
    mg_i64(run, "first ticket", s->first);
    for (int i = 0; i < s->count; i++) {
        step[i] = step_of(s, &m, i, mg_rng(run));
        due[i] = step[i] == FINISH + m.taken;
        int64_t waited = m.waiting;
        got[i] = (double)follow(&m, step[i]);
        most[i] = (double)m.ready_max;
        ended[i] = i + 1;
        note_counts(counts[i], &m, m.waiting ? 0 : waited);
        if (m.waiting && !waited)
            began = i;
        if (waited && !m.waiting) {
            most[began] = most[i];
            note_counts(counts[began], &m, 0);
            ended[began] = i + 1;
        }
    }
    if (!mg_call(run))
        return false;
    recognise_stop(run, step, got, s->count);
    if (!mg_expect(run, "got", got, NULL) || !judge_ended(run, step, ended, s) ||
        !mg_expect(run, "ready_max", most, NULL) || !judge_woken(run, step, due, s->count))
        return false;
    if (s->count == STEPS)
        mg_hint(run, "claimed and taken count the calls that returned true; a stop changes none of the three");
    return mg_expect(run, "planned, claimed, taken", counts[0], NULL);
}

#define BELOW_2_32 ((1LL << 32) - 1)

enum { REFUSES, LARGE, USED_AGAIN, MANY };
static const script fixed[] = {
    [REFUSES] = { /* tickets 0 and 1 are ready, 0 is taken; then one more than all slots is planned */
        .slots = 3,
        .count = 10,
        .step = { PLAN, PLAN, PLAN, CLAIM, CLAIM, FINISH + 1, FINISH, TAKE, PLAN, REFUSED },
        .part = "more tickets than slots",
        .hint = "write or keep the MT_CHECK of mt_ring_plan: got is 1 if it aborts when planned == taken + slots",
    },
    [LARGE] = { /* the second ticket is finished first */
        .slots = 3,
        .first = BELOW_2_32,
        .count = 8,
        .step = { PLAN, PLAN, CLAIM, CLAIM, FINISH + BELOW_2_32 + 1, TAKE, FINISH + BELOW_2_32, TAKE },
        .part = "tickets of 32 bits and more",
        .hint = "the tickets are 2^32 - 1 and 2^32: a ticket and its slot are computed with 64 bits",
    },
    [USED_AGAIN] = { /* the second ticket 0 is finished after the take has begun */
        .slots = 2,
        .count = 9,
        .step = { PLAN, CLAIM, FINISH, STOP, RESET, PLAN, CLAIM, TAKE, FINISH },
        .part = "used again after a reset",
        .hint = "step 4 is mt_ring_reset: then no ticket is ready, all counts are 0, and the ring has not stopped",
    },
    [MANY] = {
        .slots = SLOTS,
        .count = LONG,
        .part = "300 slots",
        .hint = "all slots are claimed before a ticket is finished: each of the ring->slots has a `ready` of its own",
    },
};

void mg_05_ring(mg_run *run, const void *one_case)
{
    const data_case *c = one_case;
    script any = { .count = STEPS, .hint = c->head.hint };
    static const int64_t slots[] = { 2, 3, 5, 1 };
    for (int i = 0; i < MT_COUNT(slots); i++) {
        any.slots = slots[i];
        any.part = any.slots == 1 ? "one slot" : NULL;
        if (!follow_script(run, &any))
            return;
    }
    if (follow_script(run, &fixed[LARGE]) && follow_script(run, &fixed[MANY]))
        follow_script(run, &fixed[REFUSES]);
}

/* A claim has found nothing planned, and the ring stops before it waits: it holds the lock, so the stop must wait. */
static bool stop_before_wait(mg_run *run)
{
    mg_begin(run, "a ring that is stopped just before a wait");
    mg_out(run, "got, woken early", MT_I64, MT_SHAPE(2));
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "got, woken early");
    if (got[0] == 0 && got[1] == 0)
        return true;
    mg_hint(run,
            "mt_ring_stop must hold the lock while it sets stopped: else a thread that is about to wait is not woken");
    mg_fail(run, got[0] ? "a claim after stop returned true"
                        : "mt_ring_stop woke the threads between a claim's test of stopped and its wait");
    return false;
}

/* All wait, one for a ticket and the others for work; after 5 s the ring stops, and all must return false. */
void mg_05_stop(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* kind: waiters; spread: of them waiting for a ticket */
    double want[16];
    mg_begin(run, "a ring that is stopped");
    mg_out(run, "got, and when", MT_I64, MT_SHAPE(2 * c->kind));
    mg_i64(run, "waiters", c->kind);
    mg_i64(run, "taking", c->spread);
    for (int64_t i = 0; i < c->kind; i++) {
        want[2 * i] = 0;
        want[2 * i + 1] = 5e9;
    }
    if (!mg_call(run) || !mg_expect(run, "got, and when", want, NULL))
        return;
    if (c->kind == 4 && stop_before_wait(run))
        follow_script(run, &fixed[USED_AGAIN]);
}
