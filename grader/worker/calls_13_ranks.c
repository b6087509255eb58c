/* calls_13_ranks.c -- ranks on a simulated clock, whose messages are noted; see ranks.h. */
#include "testing/clock_sim.h"
#include "worker/calls_13.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorder recorder;

/* A message that has begun. */
typedef struct message {
    mt_request base;
    recorder *owner;
    mt_request *inner;
    uint32_t *changed; /* which receiving it adds one to, or NULL */
} message;

/* One rank's communicator. */
struct recorder {
    mt_comm base;
    mt_comm *inner;
    const int64_t *numbers;
    const char *data;
    int64_t (*op)[MG_OP_COLUMNS], ops, begun, receives;
    message message[MG_RANKS_OPS]; /* by the row in which it began */
};

static int64_t note(recorder *r, int64_t kind, int64_t peer, int64_t bytes, int64_t at)
{
    MT_CHECK(r->ops < MG_RANKS_OPS, "rank %d of %d: more than %d calls of messages", r->base.rank, r->base.size,
             MG_RANKS_OPS);
    memcpy(r->op[r->ops], (int64_t[]){ kind, peer, bytes, at, MT_OK }, sizeof *r->op);
    return r->ops++;
}

static bool has_fault(const recorder *r, int64_t fault, int64_t number)
{
    return r->numbers[MG_CALL_FAULT] == fault && r->numbers[MG_CALL_WHO] == r->base.rank &&
           r->numbers[MG_CALL_MESSAGE] == number;
}

static mt_status wait_for(mt_request *request)
{
    message *m = (message *)request;
    recorder *r = m->owner;
    int64_t row = note(r, MG_OP_WAIT, m - r->message, 0, 0);
    mt_status status = mt_wait(m->inner);
    m->inner = NULL;
    r->op[row][MG_OP_STATUS] = status;
    if (status == MT_OK && m->changed)
        ++*m->changed;
    return status;
}

static mt_status begin(mt_comm *comm, char *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    recorder *r = (recorder *)comm;
    bool elsewhere = data < r->data;
    int64_t row = note(r, is_send ? MG_OP_SEND : MG_OP_RECV, peer, bytes, elsewhere ? -1 : data - r->data);
    message *m = &r->message[row];
    *m = (message){ .base.wait = wait_for, .owner = r };
    if (has_fault(r, MG_FAULT_FAILS, r->begun++)) {
        r->op[row][MG_OP_STATUS] = MT_ERR_UNAVAILABLE;
        return mt_fail(MT_ERR_UNAVAILABLE, "rank %d: its message to or from rank %d fails", comm->rank, peer);
    }
    if (!is_send && has_fault(r, MG_FAULT_CHANGES, r->receives++) && bytes >= (int64_t)sizeof *m->changed)
        m->changed = (uint32_t *)data + bytes / (int64_t)sizeof *m->changed / 2;
    const mt_comm_engine *engine = r->inner->engine;
    int64_t moved = r->numbers[MG_CALL_FAULT] == MG_FAULT_NO_DATA ? 0 : bytes;
    mt_status status = is_send ? engine->send(r->inner, data, moved, peer, &m->inner)
                               : engine->recv(r->inner, data, moved, peer, &m->inner);
    if (status != MT_OK || !request)
        return status == MT_OK ? wait_for(&m->base) : status;
    *request = &m->base;
    return MT_OK;
}

static mt_status send_noted(mt_comm *comm, const void *data, int64_t bytes, int to, mt_request **request)
{
    return begin(comm, (char *)data, bytes, to, true, request);
}

static mt_status recv_noted(mt_comm *comm, void *data, int64_t bytes, int from, mt_request **request)
{
    return begin(comm, data, bytes, from, false, request);
}

static mt_status refuse(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    (void)call, (void)request;
    MT_CHECK(false, "rank %d: a unit that implements collectives has mt_send and mt_recv only", comm->rank);
    return MT_ERR_ARGUMENT;
}

static const mt_comm_engine recording = {
    .name = "recording", .collective = refuse, .send = send_noted, .recv = recv_noted
};

/* ---- all ranks ---------------------------------------------------------------------------------- */

enum { RESULT, WORDS, OPS, NUMBERS, DATA };

static mt_clock *now;

mt_clock *mg_ranks_clock(void)
{
    return now;
}

typedef struct job {
    const mg_value *v;
    mg_rank rank;
    recorder *recorders;
} job;

static mt_status run_rank(mt_comm *comm, void *user)
{
    job *j = user;
    const mg_value *v = j->v;
    int rank = comm->rank;
    recorder *r = &j->recorders[rank];
    char *far = (char *)((uintptr_t)1 << 45), *data = v[DATA + rank].ptr; /* far: an address that is never used */
    *r = (recorder){ .inner = comm, .numbers = v[NUMBERS].i64s };
    r->base = (mt_comm){ .rank = rank, .size = comm->size, .engine = &recording };
    r->base.network = (mt_network){ mg_number(r->numbers[MG_CALL_LATENCY]), mg_number(r->numbers[MG_CALL_BYTE_TIME]) };
    r->op = (int64_t(*)[MG_OP_COLUMNS])v[OPS].i64s + (ptrdiff_t)rank * MG_RANKS_OPS;
    r->data = r->numbers[MG_CALL_FAULT] == MG_FAULT_NO_DATA ? far : data;
    mt_status status = j->rank(&r->base, (char *)r->data, r->numbers);
    v[RESULT].i64s[2 * rank] = status;
    v[RESULT].i64s[2 * rank + 1] = r->ops;
    snprintf((char *)v[WORDS].u8 + (ptrdiff_t)rank * MG_RANKS_WORDS, MG_RANKS_WORDS, "%s",
             status == MT_OK ? "" : mt_last_error());
    return status;
}

void mg_on_ranks(const mg_value *v, mg_rank rank)
{
    int size = (int)(v[RESULT].count / 2);
    job j = { v, rank, calloc((size_t)size, sizeof *j.recorders) };
    mt_wires wires = { .clock = mt_clock_sim_new(), .deadline = MG_RANKS_DEADLINE };
    MT_CHECK(j.recorders, "out of memory");
    now = wires.clock;
    mt_ranks_run(size, &wires, run_rank, &j); /* what each said is in its result */
    mt_clock_sim_free(wires.clock);
    free(j.recorders);
}
