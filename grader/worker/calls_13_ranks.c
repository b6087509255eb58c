/* calls_13_ranks.c -- ranks on a simulated clock, whose messages are noted; see ranks.h. */
#include "core/storage.h"
#include "testing/clock_sim.h"
#include "worker/calls_13.h"
#include "worker/sharing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct journal journal;

/* A message that has begun. */
typedef struct message {
    mt_request base;
    journal *owner;
    mt_request *inner;
    uint32_t *changed; /* which receiving it adds one to, or NULL */
    const char *data;  /* NULL: not begun, or waited for, or its communicator was left */
    int comm;
    mg_told told; /* by who sends it */
} message;

/* What one rank does, on all its communicators. */
struct journal {
    int rank, comms;
    journal *all; /* of each rank */
    const int64_t *numbers;
    const char *data;
    int64_t (*op)[MG_OP_COLUMNS], ops, most, begun, receives;
    message *message; /* [most] by the row in which it began */
};

/* One rank's communicator. */
typedef struct recorder {
    mt_comm base;
    mt_comm *inner;
    journal *journal;
    int number;            /* 0: the first */
    int64_t its[MG_RANKS]; /* what its ranks are in the first */
} recorder;

static int64_t note(journal *j, const int64_t row[MG_OP_COLUMNS])
{
    MT_CHECK(j->ops < j->most, "rank %d: more than %lld calls of messages", j->rank, (long long)j->most);
    memcpy(j->op[j->ops], row, sizeof *j->op);
    return j->ops++;
}

void mg_ranks_work(mt_comm *comm, bool backward, int64_t micro, int64_t chunk, int64_t live)
{
    note(((recorder *)comm)->journal, (int64_t[]){ MG_OP_WORK, backward, micro, chunk, MT_OK, live });
}

int64_t mg_ranks_message_in(mt_comm *comm, const void *block, int64_t bytes)
{
    const journal *j = ((recorder *)comm)->journal;
    const char *begin = block;
    for (int64_t i = 0; i < j->ops; i++)
        if (j->message[i].data && j->message[i].data >= begin && j->message[i].data < begin + bytes)
            return i;
    return -1;
}

static bool has_fault(const journal *j, int64_t fault, int64_t number)
{
    return j->numbers[MG_CALL_FAULT] == fault && j->numbers[MG_CALL_WHO] == j->rank &&
           j->numbers[MG_CALL_MESSAGE] == number;
}

/* The row of the message of this kind that follows `after` messages of it with that rank. */
static int64_t row_of(const journal *j, int64_t kind, int64_t peer, int comm, int64_t after)
{
    for (int64_t row = 0; row < j->most; row++)
        if (j->message[row].owner && j->op[row][MG_OP_KIND] == kind && j->op[row][MG_OP_PEER] == peer &&
            j->message[row].comm == comm && after-- == 0)
            return row;
    return -1;
}

/* A message has arrived: messages of two ranks on one communicator arrive in order. */
static void hear(const message *m)
{
    const journal *j = m->owner, *from = &j->all[j->op[m - j->message][MG_OP_PEER]];
    int64_t before = 0, sent;
    while (row_of(j, MG_OP_RECV, from->rank, m->comm, before) != m - j->message)
        before++;
    sent = row_of(from, MG_OP_SEND, j->rank, m->comm, before);
    if (sent < 0) /* the ranks number their communicators otherwise */
        mg_share_unknown();
    else
        mg_share_hear(&from->message[sent].told);
}

static mt_status wait_for(mt_request *request)
{
    message *m = (message *)request;
    journal *j = m->owner;
    int64_t row = note(j, (int64_t[]){ MG_OP_WAIT, m - j->message, 0, 0, MT_OK, 0 });
    mg_share_pause();
    mt_status status = mt_wait(m->inner);
    mg_share_resume();
    if (status == MT_OK && mg_share_region() && j->op[m - j->message][MG_OP_KIND] == MG_OP_RECV)
        hear(m);
    m->inner = NULL;
    m->data = NULL;
    j->op[row][MG_OP_STATUS] = status;
    if (status == MT_OK && m->changed)
        ++*m->changed;
    return status;
}

/* Ranks are threads, here and in dist/threads.h. Static arrays that may be written are between these addresses. */
static void check_own(const recorder *r, const void *data)
{
    extern char __data_start[], _end[];
    MT_CHECK((const char *)data < __data_start || (const char *)data >= _end,
             "rank %d has a message in static memory: ranks are threads of one program, which share it",
             r->journal->rank);
}

/* As a failure of the engine itself, after which it touches no buffer of the rank: its message to itself has two
 * lengths. */
static void leave_as_failed(const recorder *r)
{
    const mt_comm_engine *engine = r->inner->engine;
    char bytes[2] = { 0 };
    mt_request *sent;
    engine->message(r->inner, bytes, 1, r->base.rank, true, &sent);
    mt_status status = engine->message(r->inner, bytes, 2, r->base.rank, false, NULL);
    MT_CHECK(status != MT_OK, "rank %d: a message of 1 byte is received as 2", r->base.rank);
}

static mt_status begin(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    recorder *r = (recorder *)comm;
    journal *j = r->journal;
    check_own(r, data);
    int64_t at = (char *)data < j->data ? -1 : (char *)data - j->data;
    int64_t row = note(j, (int64_t[]){ is_send ? MG_OP_SEND : MG_OP_RECV, r->its[peer], bytes, at, MT_OK, r->number });
    message *m = &j->message[row];
    *m = (message){ .base.wait = wait_for, .owner = j, .comm = r->number };
    if (is_send)
        mg_share_tell(&m->told);
    if (has_fault(j, MG_FAULT_FAILS, j->begun++)) {
        j->op[row][MG_OP_STATUS] = MT_ERR_UNAVAILABLE;
        mg_share_pause();
        leave_as_failed(r);
        mg_share_resume();
        return mt_fail(MT_ERR_UNAVAILABLE, "rank %d: its message to or from rank %d fails", j->rank, (int)r->its[peer]);
    }
    if (!is_send && has_fault(j, MG_FAULT_CHANGES, j->receives++) && bytes >= (int64_t)sizeof *m->changed)
        m->changed = (uint32_t *)data + bytes / (int64_t)sizeof *m->changed / 2;
    const mt_comm_engine *engine = r->inner->engine;
    int64_t moved = j->numbers[MG_CALL_FAULT] == MG_FAULT_NO_DATA ? 0 : bytes;
    mg_share_pause();
    mt_status status = engine->message(r->inner, data, moved, peer, is_send, &m->inner);
    mg_share_resume();
    if (status != MT_OK || !request)
        return status == MT_OK ? wait_for(&m->base) : status;
    m->data = data;
    *request = &m->base;
    return MT_OK;
}

static mt_status refuse(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    (void)call, (void)request;
    MT_CHECK(false, "rank %d: this unit has mt_send and mt_recv only", comm->rank);
    return MT_ERR_ARGUMENT;
}

static mt_status split(mt_comm **out, mt_comm *comm, int color, int key);

static void leave(mt_comm *comm)
{
    recorder *r = (recorder *)comm;
    MT_CHECK(r->number > 0, "rank %d frees the communicator that it was lent", comm->rank);
    mt_comm_free(r->inner);
    for (int64_t i = 0; i < r->journal->ops; i++)
        if (r->journal->message[i].comm == r->number)
            r->journal->message[i].data = NULL;
    free(r);
}

static const mt_comm_engine recording = { "recording", refuse, begin, split, leave };

static mt_status split(mt_comm **out, mt_comm *comm, int color, int key)
{
    recorder *r = (recorder *)comm, *made = calloc(1, sizeof *made);
    mt_comm *inner = NULL;
    MT_CHECK(made, "out of memory");
    mg_share_pause();
    mt_status status = mt_comm_split(&inner, r->inner, color, key);
    if (status == MT_OK) {
        *made =
            (recorder){ { .rank = inner->rank, .size = inner->size, .engine = &recording, .network = comm->network },
                        .inner = inner,
                        .journal = r->journal,
                        .number = ++r->journal->comms };
        status = mt_all_gather(inner, made->its, &r->its[comm->rank], 1, MT_I64, NULL);
    }
    mg_share_resume();
    if (status == MT_OK) {
        *out = &made->base;
        return MT_OK;
    }
    mt_comm_free(inner);
    free(made);
    return status;
}

/* ---- all ranks ---------------------------------------------------------------------------------- */

static mt_clock *now;

mt_clock *mg_ranks_clock(void)
{
    return now;
}

typedef struct job {
    const mg_value *v;
    mg_rank rank;
    journal *journals;
} job;

/* The array of a rank. */
static char *array_of(const mg_value *v, int rank, int size)
{
    const int64_t *numbers = I64(numbers);
    if (size <= MG_RANKS_APART)
        return TAKE("data of rank ", rank, MG_ANY)->ptr;
    return (char *)ARRAY(data of all ranks)->ptr +
           rank * numbers[MG_CALL_N] * mt_dtype_size((mt_dtype)numbers[MG_CALL_DTYPE]);
}

static mt_status run_rank(mt_comm *comm, void *user)
{
    job *one = user;
    const mg_value *v = one->v;
    int rank = comm->rank;
    journal *j = &one->journals[rank];
    const int64_t *numbers = I64(numbers);
    char *far = (char *)((uintptr_t)1 << 45),
         *data = array_of(v, rank, comm->size); /* far: an address that is never used */
    *j = (journal){ .rank = rank, .all = one->journals, .numbers = numbers };
    j->most = ARRAY(operations)->count / comm->size / MG_OP_COLUMNS;
    j->op = (int64_t(*)[MG_OP_COLUMNS])I64(operations) + rank * j->most;
    j->message = mt_calloc(j->most, sizeof *j->message);
    j->data = numbers[MG_CALL_FAULT] == MG_FAULT_NO_DATA ? far : data;
    recorder r = { { .rank = rank, .size = comm->size, .engine = &recording }, comm, j, 0, { 0 } };
    r.base.network = (mt_network){ mg_number(numbers[MG_CALL_LATENCY]), mg_number(numbers[MG_CALL_BYTE_TIME]) };
    r.base.nodes.size = (int)numbers[MG_CALL_NODE];
    for (int other = 0; other < comm->size; other++)
        r.its[other] = other;
    mt_status status = one->rank(&r.base, (char *)j->data, numbers);
    I64(status, operations)[2 * rank] = status;
    I64(status, operations)[2 * rank + 1] = j->ops;
    snprintf((char *)U8(words) + (ptrdiff_t)rank * MG_RANKS_WORDS, MG_RANKS_WORDS, "%s",
             status == MT_OK ? "" : mt_last_error());
    return status;
}

void mg_on_ranks(const mg_value *v, mg_rank rank)
{
    int size = (int)(ARRAY(status, operations)->count / 2);
    job one = { v, rank, calloc((size_t)size, sizeof *one.journals) };
    mt_wires wires = { .clock = mt_clock_sim_new(), .deadline = MG_RANKS_DEADLINE };
    MT_CHECK(one.journals, "out of memory");
    now = wires.clock;
    mt_storage_release(mt_storage_new(1, MT_CPU)); /* what it does once is not searched for races */
    mt_ranks_run(size, &wires, run_rank, &one);    /* what each said is in its result */
    mt_clock_sim_free(wires.clock);
    mg_keeps = mg_keeps || I64(numbers)[MG_CALL_FAULT] == MG_FAULT_FAILS; /* what is under way need not be freed */
    for (int r = 0; r < size; r++)
        free(one.journals[r].message);
    free(one.journals);
}
