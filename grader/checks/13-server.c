/* 13-server.c -- how the checks of step 13.23 run: a parameter server and its workers. Rows: 13-data-parallel.c. */
#include "checks/13-network.h"
#include "checks/13-order.h"
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One call on all ranks: that of a plan, made in two calls of mt_server_run. */
typedef struct trial {
    mg_server_plan p;
    int ranks;
    int64_t n, first;            /* first: events of the first call */
    float lr;                    /* a power of two, so that no product is rounded */
    int64_t fault, who, message; /* MG_FAULT_* */
    void *before[MG_RANKS];      /* of each rank: parameters, gradient, salt */
    const void *got[MG_RANKS];
    mg_deeds deeds[MG_RANKS];
    const int64_t *result;
} trial;

static void describe(mg_run *run, trial *t)
{
    int64_t *numbers = mg_13_describe(run, "mt_server_run", t->ranks);
    double lr = (double)t->lr;
    memcpy(mg_in(run, "events", MT_I64, MT_SHAPE(t->p.count, MG_EVENT_WORDS)), t->p.events,
           (size_t)t->p.count * sizeof(mg_event));
    numbers[MG_CALL_N] = 3 * t->n, numbers[MG_CALL_DTYPE] = MT_F32, numbers[MG_CALL_ROOT] = t->first;
    numbers[MG_CALL_FAULT] = t->fault, numbers[MG_CALL_WHO] = t->who, numbers[MG_CALL_MESSAGE] = t->message;
    memcpy(&numbers[MG_CALL_LATENCY], &lr, sizeof lr);
    mg_as_called(run,
                 "mt_server_run(comm, &server, events, count=%" PRId64 ") on %d ranks, n=%" PRId64
                 ", lr=%g; the events are those of %" PRId64 " updates with bound %" PRId64,
                 t->p.count, t->ranks, t->n, lr, t->p.updates, t->p.bound);
    mg_13_arrays(run, t->before, t->ranks, MT_F32, 3 * t->n);
    for (int r = 0; r < t->ranks; r++)
        mg_fill(mg_rng(run), t->before[r], 3 * t->n, (mg_dist)STEPS(0.5, 64));
    for (int r = 0; r < t->ranks; r++)
        mg_fill(mg_rng(run), (float *)t->before[r] + 2 * t->n, t->n, (mg_dist)NORMAL(0, 1));
}

/* Without a fault all ranks must have succeeded. */
static bool judge_status(mg_run *run, trial *t)
{
    char words[400] = "";
    for (int r = 0; r < t->ranks; r++) {
        if (t->result[2 * r] == MT_OK || t->fault == MG_FAULT_FAILS)
            continue;
        mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 });
        mg_13_say_deadlock(words, sizeof words, t->deeds, t->ranks);
        mg_hint(run,
                words[0]
                    ? "worker w is rank w + 1: for each of its events, one of it and rank 0 sends and the other one "
                      "receives, in the order of the events"
                    : "a rank returns when all of its messages have ended: every handle is waited for (mt_wait)");
        if (words[0])
            return mg_fail(run, "a deadlock. These wait for ever: %s", words);
        return mg_fail(run, "rank %d returns status %" PRId64 ": %.*s", r, t->result[2 * r], MG_RANKS_WORDS - 1,
                       (const char *)mg_result(run, "words") + (ptrdiff_t)r * MG_RANKS_WORDS);
    }
    return true;
}

static bool call(mg_run *run, trial *t, bool searched)
{
    describe(run, t);
    if (!mg_ranks_call(run, searched))
        return false;
    t->result = mg_result(run, "status, operations");
    mg_13_arrays_after(run, t->got, t->ranks, MT_F32, 3 * t->n);
    return mg_13_deeds(run, t->deeds, t->ranks, mg_13_operations(t->ranks)) && judge_status(run, t);
}

/* A message has brought an array; of the one that is changed, the number in the middle. True: it was that one. */
static bool arrives(const trial *t, int rank, int64_t *receives, float *array)
{
    uint32_t bits;
    if (t->fault != MG_FAULT_CHANGES || t->who != rank || t->message != receives[rank]++ || t->n == 0)
        return false;
    memcpy(&bits, &array[t->n / 2], sizeof bits);
    bits++;
    memcpy(&array[t->n / 2], &bits, sizeof bits);
    return true;
}

/* The parameters of all ranks after the run; whether the change was made, where one is asked for. */
static bool expect_values(const trial *t, float **params)
{
    int64_t receives[MG_RANKS] = { 0 };
    size_t bytes = (size_t)t->n * sizeof(float);
    float *grad = mt_calloc(t->n, sizeof *grad);
    bool changed = false;
    for (int r = 0; r < t->ranks; r++) {
        params[r] = mt_calloc(t->n, sizeof **params);
        memcpy(params[r], t->before[r], bytes);
    }
    for (const mg_event *e = t->p.events; e < t->p.events + t->p.count; e++) {
        int rank = e->worker + 1;
        if (!e->is_push) {
            memcpy(params[rank], params[0], bytes);
            changed = arrives(t, rank, receives, params[rank]) || changed;
            continue;
        }
        mg_server_gradient(grad, params[rank], (const float *)t->before[rank] + 2 * t->n, t->n);
        changed = arrives(t, 0, receives, grad) || changed;
        for (int64_t i = 0; i < t->n; i++)
            params[0][i] -= t->lr * grad[i];
    }
    free(grad);
    return changed;
}

static bool judge_params(mg_run *run, const trial *t, float *const *want)
{
    for (int r = 0; r < t->ranks; r++)
        for (int64_t i = 0; i < t->n; i++) {
            const float *got = t->got[r];
            if (got[i] == want[r][i])
                continue;
            return mg_fail(run, "%s%d, element %" PRId64 " of the parameters: %.9g, expected %.9g",
                           r ? "on rank " : "on the server, rank ", r, i, (double)got[i], (double)want[r][i]);
        }
    return true;
}

/* changed: whether the number that another message would bring arrives at all. */
static bool judge_values(mg_run *run, const trial *t, bool *changed)
{
    float *want[MG_RANKS];
    *changed = expect_values(t, want);
    bool good = judge_params(run, t, want);
    for (int r = 0; r < t->ranks; r++)
        free(want[r]);
    return good;
}

/* Each rank must send and receive these messages, each of n f32, and wait once for each of them. */
static bool judge_messages(mg_run *run, const trial *t)
{
    int64_t sends[MG_RANKS] = { 0 }, receives[MG_RANKS] = { 0 };
    for (const mg_event *e = t->p.events; e < t->p.events + t->p.count; e++) {
        int from = e->is_push ? e->worker + 1 : 0, to = e->is_push ? 0 : e->worker + 1;
        sends[from]++;
        receives[to]++;
    }
    for (int r = 0; r < t->ranks; r++) {
        const mg_deeds *d = &t->deeds[r];
        int64_t sent = 0, received = 0, waits = 0;
        for (int64_t i = 0; i < d->ops; i++) {
            const int64_t *op = d->op[i], kind = op[MG_OP_KIND];
            sent += kind == MG_OP_SEND, received += kind == MG_OP_RECV, waits += kind == MG_OP_WAIT;
            if (kind <= MG_OP_RECV && op[MG_OP_BYTES] != 4 * t->n)
                return mg_fail(run, "rank %d: a message of %" PRId64 " bytes, expected n=%" PRId64 " f32", r,
                               op[MG_OP_BYTES], t->n);
        }
        if (sent != sends[r] || received != receives[r])
            return mg_fail(
                run, "rank %d sends %" PRId64 " messages and receives %" PRId64 "; expected %" PRId64 " and %" PRId64,
                r, sent, received, sends[r], receives[r]);
        if (waits == sent + received)
            continue;
        mg_hint(run, "every handle is waited for once (mt_wait)");
        return mg_fail(run, "rank %d waits %" PRId64 " times for %" PRId64 " messages", r, waits, sent + received);
    }
    return true;
}

/* A gradient takes what its worker takes, a message nothing: then the run takes as long as its last push says. */
static bool judge_time(mg_run *run, trial *t)
{
    for (int w = 0; w < t->p.workers; w++)
        t->deeds[w + 1].work[0] = t->p.seconds[w];
    double took = mg_13_replay(t->deeds, t->ranks, (mg_network){ 0, 0 }), law = t->p.events[t->p.count - 1].seconds;
    return took == law || mg_fail(run, "the run takes %.9g s, by its events %.9g s", took, law);
}

enum { NO_N = MG_WORLDS, LONG_N, LONGER_N, TWO_CALLS };

/* Rank 0 and one worker more than the world has, at most as many as there may be ranks. */
static trial trial_of(mg_run *run, int64_t is)
{
    static const int64_t bounds[] = { 0, 1, 3, INT64_MAX };
    mt_rng *rng = mg_rng(run);
    int world = mg_world(rng, is == TWO_CALLS ? MG_WORLD_THREE : is < MG_WORLDS ? (int)is : MG_WORLD_TWO);
    trial t = { .ranks = mt_min(world + 1, MG_RANKS), .n = mg_pick(rng, 2, 60), .lr = mt_rng_below(rng, 2) ? 0.5F : 2 };
    if (is == NO_N)
        t.n = 0;
    if (is == LONG_N || is == LONGER_N)
        t.n = mg_long_parts(rng, 1, MT_F32, is == LONG_N ? 64 << 10 : 1 << 20);
    t.p.workers = t.ranks - 1;
    t.p.updates = t.p.workers + mg_pick(rng, 3, 6);
    t.p.bound = bounds[mt_rng_below(rng, MT_COUNT(bounds))];
    mg_13_draw_seconds(rng, &t.p, false, false);
    mg_13_expect_order(&t.p);
    if (is == TWO_CALLS)
        t.first = mg_pick(rng, t.p.workers, t.p.count - 2);
    return t;
}

/* Each message of each rank fails, or brings another number, once. */
static void fault_each(mg_run *run, int64_t fault)
{
    bool struck = false, changed, good = true;
    for (int who = 0; who < 4 && good; who++) {
        bool more = true;
        for (int64_t message = 0; more && good; message++) {
            char name[64];
            trial t = trial_of(run, MG_WORLD_THREE);
            t.fault = fault, t.who = who, t.message = message;
            snprintf(name, sizeof name, "message %" PRId64 " of rank %d fails", message + 1, who);
            good = call(run, &t, false);
            for (int r = 0; r < t.ranks && good && fault == MG_FAULT_FAILS; r++)
                good = mg_13_stops(run, name, &t.deeds[r], r, t.result[2 * r]);
            if (good && fault == MG_FAULT_CHANGES)
                good = judge_values(run, &t, &changed);
            more = good && (fault == MG_FAULT_CHANGES ? changed : t.result[2 * (ptrdiff_t)who] != MT_OK);
            more = more && message < t.p.count;
            struck = struck || more;
            free(t.p.events);
        }
    }
    if (good && !struck)
        mg_fail(run, "no rank sends or receives anything");
}

void mg_13_server(mg_run *run, const void *one_case)
{
    enum { VALUES = 1 << SERVER_VALUES };
    static const mg_idea tries[] = {
        { "one worker", "one worker pulls and pushes in turn", MG_WORLD_ONE },
        { .is = MG_WORLD_TWO },
        { .is = MG_WORLD_THREE, .times = 2 },
        { .is = MG_WORLD_PRIME },
        { "many ranks", MG_MANY_RANKS, MG_WORLD_MANY },
        { "no parameters", "a message of 0 bytes is sent too", NO_N, ~(1 << SERVER_TIME) },
        { "a run in two calls", "what a worker has pulled in the first call is in its params in the second", TWO_CALLS,
          .times = 2 },
        { "messages of more than 64 KiB", MG_LONG, LONG_N, VALUES },
        { "messages of more than 1 MiB", MG_LONG, LONGER_N, VALUES },
    };
    server_about about = ((const server_case *)one_case)->about;
    bool changed;
    if (about == SERVER_FAILS || about == SERVER_CHANGED) {
        fault_each(run, about == SERVER_FAILS ? MG_FAULT_FAILS : MG_FAULT_CHANGES);
        return;
    }
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        trial one = trial_of(run, t.is);
        if (call(run, &one, about == SERVER_VALUES && t.is == MG_WORLD_THREE)) {
            if (about == SERVER_VALUES)
                judge_values(run, &one, &changed);
            if (about == SERVER_MESSAGES)
                judge_messages(run, &one);
            if (about == SERVER_TIME)
                judge_time(run, &one);
        }
        free(one.p.events);
    }
}
