/* 05-loader.c -- how the checks of steps 05.13 to 05.16 run: the ring, and the loader around it. Rows: 05-data.c. */
#include "checks/05-data.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CALLS = 4, FIELDS = 4 };

/* ---- the ring, one thread at a time ------------------------------------------------------------- */

enum { PLAN, CLAIM, TAKE, STOP, RESET, REFUSED, FINISH = 100, STEPS = 150, TICKETS = STEPS, COUNTS = 3 };

typedef struct script {
    int64_t slots, first; /* the first ticket */
    int count;            /* of steps; if it is STEPS, they are random */
    int64_t step[12];
    const char *hint;
} script;

typedef struct model { /* the expected state of a ring */
    int64_t slots, first, planned, claimed, taken, finished, ready_max;
    bool done[TICKETS + 1], stopped; /* done: of the tickets from the first on */
    int64_t waiting; /* TAKE: one waits for the ticket taken; CLAIM: one waits for a plan; 0: none does */
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

/* The caller waits for the next ticket: when that is finished, arrival must be woken. Other wakes do no harm. */
static bool judge_woken(mg_run *run, const int64_t *step, const bool *due, int count)
{
    const int64_t *woken = mg_result(run, "woken");
    for (int i = 0; i < count; i++)
        if (due[i] && !woken[i]) {
            mg_hint(run, "mt_ring_finish (05.14) wakes arrival when ticket == taken");
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
    double got[STEPS], most[STEPS], counts[STEPS][COUNTS];
    int began = 0; /* the last take or claim that had to wait */
    bool due[STEPS];
    int64_t ended[STEPS];
    mg_begin(run, "a ring, step by step");
    mg_out(run, "got", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "ready_max", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "woken", MT_I64, MT_SHAPE(s->count));
    mg_out(run, "planned, claimed, taken", MT_I64, MT_SHAPE(s->count, COUNTS));
    int64_t *step = mg_in(run, "step", MT_I64, MT_SHAPE(s->count));
    mg_i64(run, "slots", s->slots);
    mg_i64(run, "first ticket", s->first);
    for (int i = 0; i < s->count; i++) {
        step[i] = s->count < STEPS ? s->step[i] : script_step(&m, i, mg_rng(run));
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
    mg_hint(run, "%s", s->hint);
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

enum { REFUSES, LARGE, USED_AGAIN };
static const script fixed[] = {
    [REFUSES] = { /* tickets 0 and 1 are ready, 0 is taken; then one more than all slots is planned */
        .slots = 3,
        .count = 10,
        .step = { PLAN, PLAN, PLAN, CLAIM, CLAIM, FINISH + 1, FINISH, TAKE, PLAN, REFUSED },
        .hint = "keep the MT_CHECK of mt_ring_plan: got is 1 if it aborts when planned == taken + slots",
    },
    [LARGE] = { /* the second ticket is finished first */
        .slots = 3,
        .first = BELOW_2_32,
        .count = 8,
        .step = { PLAN, PLAN, CLAIM, CLAIM, FINISH + BELOW_2_32 + 1, TAKE, FINISH + BELOW_2_32, TAKE },
        .hint = "the tickets are 2^32 - 1 and 2^32: a ticket and its slot are computed with 64 bits",
    },
    [USED_AGAIN] = { /* the second ticket 0 is finished after the take has begun */
        .slots = 2,
        .count = 9,
        .step = { PLAN, CLAIM, FINISH, STOP, RESET, PLAN, CLAIM, TAKE, FINISH },
        .hint = "step 4 is mt_ring_reset: then no ticket is ready, all counts are 0, and the ring has not stopped",
    },
};

void mg_05_ring(mg_run *run, const void *one_case)
{
    const data_case *c = one_case;
    script any = { .count = STEPS, .hint = c->head.hint };
    for (int t = 0; t < CALLS; t++) {
        any.slots = (const int64_t[CALLS]){ 2, 1, 3, 5 }[t];
        if (!follow_script(run, &any))
            return;
    }
    if (follow_script(run, &fixed[LARGE]))
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
    mg_hint(run, "mt_ring_stop holds the lock while it sets stopped: else a thread that begins to wait is not woken");
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

/* ---- the loader --------------------------------------------------------------------------------- */

enum { BATCH, WORKERS, PREFETCH, UNEVEN_LOAD, LOAD_NS, COMPUTE_NS, CONFIG };

typedef struct trial {
    int64_t sampler[MG_SAMPLER], config[CONFIG], seed, epoch, step, samples;
} trial;

static int64_t length_of(const trial *t)
{
    return t->sampler[MG_COUNT]; /* of one rank */
}

static int64_t steps_of(const trial *t)
{
    return (length_of(t) + t->config[BATCH] - 1) / t->config[BATCH];
}

static void trial_pick(mg_run *run, trial *t, const data_case *c, int call)
{
    mt_rng *rng = mg_rng(run);
    bool law = c->kind == MG_LOADER_LAW;
    int64_t workers = c->spread >= 0 ? c->spread : mg_pick(rng, 1, 6), batch = mg_pick(rng, 2, 6);
    *t = (trial){ .sampler = { law ? 200 * batch : mg_pick(rng, 30, 90), 1, (int64_t)mt_rng_u64(rng), 0, 1, 0 },
                  .config = { batch, workers, law ? 2 * workers : mg_pick(rng, 1, 5), law ? 0 : 3,
                              1000 * mg_pick(rng, 1, 999), 0 },
                  .seed = (int64_t)mt_rng_u64(rng) };
    /* From computing only to loading only, with equal times in between. */
    int64_t load = batch * t->config[LOAD_NS], part = workers ? load / workers : load;
    t->config[COMPUTE_NS] = law         ? part * (const int64_t[]){ 25, 80, 100, 300 }[call] / 100
                            : call == 0 ? 0 /* the caller waits for every batch */
                                        : load * mg_pick(rng, 0, 3);
    t->samples = law ? t->sampler[MG_COUNT] : 2 * t->sampler[MG_COUNT];
    if (c->kind == MG_LOADER_RESUME) {
        t->epoch = mg_pick(rng, 0, 4);
        t->step = call == 0 ? steps_of(t) : call == 1 ? steps_of(t) - 1 : mg_pick(rng, 1, steps_of(t) - 1);
    }
}

static double *expected_x(const trial *t)
{
    double *x = calloc((size_t)(t->samples * FIELDS), sizeof *x);
    int64_t epoch = t->epoch, k = mt_min(t->step * t->config[BATCH], length_of(t));
    int64_t *order = mg_05_order_of(t->sampler, epoch);
    MT_CHECK(x, "out of memory");
    for (int64_t i = 0; i < t->samples; i++, k++) {
        if (k == length_of(t)) {
            free(order);
            order = mg_05_order_of(t->sampler, ++epoch);
            k = 0;
        }
        mt_rng rng = mg_05_sample_stream(t->seed, epoch, order[k]);
        x[i * FIELDS] = (double)order[k];
        for (int f = 1; f < FIELDS; f++)
            x[i * FIELDS + f] = mt_rng_uniform(&rng);
    }
    free(order);
    return x;
}

static bool judge_facts(mg_run *run, const trial *t, int64_t kind)
{
    const int64_t *facts = mg_result(run, "status, ns, ahead, ends"), *config = t->config;
    int64_t most = config[PREFETCH] * config[BATCH]; /* without the batch in use */
    if (facts[0] != MT_OK)
        mg_fail(run, "epoch %" PRId64 ", step %" PRId64 " was refused", t->epoch, t->step);
    else if (kind == MG_LOADER_AHEAD && facts[2] > most)
        mg_fail(run, "%" PRId64 " samples were loaded ahead   expected at most %" PRId64, facts[2], most);
    else if (kind == MG_LOADER_AHEAD && facts[2] <= (config[PREFETCH] - 1) * config[BATCH])
        mg_fail(run, "at most %" PRId64 " samples were loaded ahead   expected %" PRId64 " batches of %" PRId64,
                facts[2], config[PREFETCH], config[BATCH]);
    else if (kind == MG_LOADER_LAW) {
        double load = (double)(config[BATCH] * config[LOAD_NS]), compute = (double)config[COMPUTE_NS];
        double law = mt_max(compute, load / (double)config[WORKERS]), fill = load + compute;
        double ratio = ((double)facts[1] - fill) / (law * 200);
        mg_note(run, "%.3f of max(c, l/W)  (bar 1.10)", ratio);
        if (ratio > 1.1)
            mg_fail(run, "an epoch took %.3f of max(c, l/W) with %" PRId64 " workers, l/c = %.2f: the bar is 1.1",
                    ratio, config[WORKERS], load / compute);
        else
            return true;
    } else
        return true;
    return false;
}

void mg_05_loader(mg_run *run, const void *one_case)
{
    const data_case *c = one_case; /* spread: workers, negative: any */
    for (int call = 0; call < CALLS; call++) {
        trial t;
        trial_pick(run, &t, c, call);
        if (c->kind == MG_LOADER_AHEAD)
            t.config[COMPUTE_NS] = t.config[LOAD_NS] * t.config[BATCH] * 8 * t.config[PREFETCH];
        mg_begin(run, "a loader");
        mg_out(run, "x", MT_F32, MT_SHAPE(t.samples, FIELDS));
        mg_out(run, "status, ns, ahead, ends", MT_I64, MT_SHAPE(4));
        int64_t *sampler = mg_in(run, "sampler", MT_I64, MT_SHAPE(MG_SAMPLER));
        int64_t *config = mg_in(run, "config", MT_I64, MT_SHAPE(CONFIG));
        for (int i = 0; i < MG_SAMPLER; i++)
            sampler[i] = t.sampler[i];
        for (int i = 0; i < CONFIG; i++)
            config[i] = t.config[i];
        mg_i64(run, "seed", t.seed);
        mg_i64(run, "epoch", t.epoch);
        mg_i64(run, "step", t.step);
        double *x = expected_x(&t);
        bool good = mg_call(run) && mg_expect(run, "x", x, NULL) && judge_facts(run, &t, c->kind);
        free(x);
        if (!good)
            return;
    }
}
