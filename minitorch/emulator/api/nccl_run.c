/* nccl_run.c -- an operation of NCCL between its call and its end.
 *
 * When its turn on the stream has come an operation is announced to the other ranks, with a copy of what it sends: so
 * they can go on however late this rank waits. It ends, as late as possible (pending.c), when the others have announced
 * theirs; only then is anything written. What it sends has to be the same then: a program that writes to it before the
 * stream was waited for is reported.
 *
 * Its turn comes when the operations before it on the stream can end, though they have not been made to, and write
 * nothing that it sends; that of a collective behind collectives only at once. A send can end when its receive is
 * announced, so that two ranks that both send first, without a group, wait for each other here too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/api/nccl_run.h"
#include "emulator/run/hooks.h"

static const struct {
    ncclDataType_t type;
    const char *name;
    size_t size;
} types[] = { { ncclUint8, "u8", 1 },    { ncclInt32, "i32", 4 },   { ncclInt64, "i64", 8 },
              { ncclFloat16, "f16", 2 }, { ncclFloat32, "f32", 4 }, { ncclBfloat16, "bf16", 2 } };

const char *emu_nccl_type_name(ncclDataType_t type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type)
            return types[i].name;
    return NULL;
}

size_t emu_nccl_type_size(ncclDataType_t type)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].type == type)
            return types[i].size;
    return 0;
}

const char *emu_nccl_name(emu_nccl_kind kind)
{
    static const char *const names[] = { "ncclAllReduce", "ncclReduceScatter", "ncclAllGather",
                                         "ncclBroadcast", "ncclSend",          "ncclRecv" };
    return names[kind];
}

static void say(char *text, size_t size, const emu_announced *a)
{
    int n = snprintf(text, size, "%s of %llu %s", emu_nccl_name((emu_nccl_kind)a->kind), (unsigned long long)a->count,
                     emu_nccl_type_name((ncclDataType_t)a->type));
    if (a->kind <= REDUCE_SCATTER)
        n += snprintf(text + n, size - (size_t)n, ", %s",
                      a->reduction == ncclMax   ? "max"
                      : a->reduction == ncclAvg ? "avg"
                                                : "sum");
    else if (a->kind != ALL_GATHER)
        n += snprintf(text + n, size - (size_t)n, "%s %d",
                      a->kind == BROADCAST ? " from"
                      : a->kind == SEND    ? " to"
                                           : " from",
                      a->root);
    snprintf(text + n, size - (size_t)n, " (call %llu)", (unsigned long long)a->number);
}

static emu_announced announced_of(const emu_transfer *op)
{
    return (emu_announced){ .number = op->number,
                            .count = op->count,
                            .size = op->in_size,
                            .kind = (int32_t)op->kind,
                            .type = (int32_t)op->type,
                            .reduction = (int32_t)op->reduction,
                            .root = op->peer,
                            .takers = op->kind == SEND   ? 2
                                      : op->kind == RECV ? 1
                                                         : (uint32_t)op->comm->size };
}

void emu_nccl_say(const emu_transfer *op, char *text, size_t size)
{
    emu_announced mine = announced_of(op);
    say(text, size, &mine);
}

static int own_channel(const emu_transfer *op)
{
    emu_channel_kind kind = op->kind == SEND ? EMU_SENDS : op->kind == RECV ? EMU_RECEIVES : EMU_COLLECTIVES;
    return emu_channel(kind, op->comm->rank, op->peer);
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

/* The communicator fails; `report`: as a finding too, because the program cannot learn it otherwise, or is wrong. */
static void fail(emu_transfer *op, ncclResult_t code, bool report, const char *why)
{
    char what[160];
    emu_nccl_say(op, what, sizeof what);
    op->comm->failed = code;
    snprintf(op->comm->words, sizeof op->comm->words, "rank %d, %s: %s", op->comm->rank, what, why);
    if (report)
        emu_error(EMU_HOST_API, (emu_site){ .pc = op->base.made }, "%s", op->comm->words);
}

/* ---- the begin --------------------------------------------------------------------------------------------------- */

static void announce(emu_transfer *op)
{
    emu_announced mine = announced_of(op);
    emu_allocation *a = mine.size ? emu_find(op->in) : NULL;
    if (a)
        EMU_CALL(host_read, op->in, mine.size, op->base.made);
    emu_open(a);
    if (!emu_announce(op->comm->ranks, own_channel(op), &mine, op->in))
        fail(op, ncclSystemError, true, "the other ranks are too many operations behind");
    emu_close(a);
    op->announced = true;
}

static bool overlap(const void *a, size_t a_size, const void *b, size_t b_size)
{
    return a && b && (const char *)a < (const char *)b + b_size && (const char *)b < (const char *)a + a_size;
}

static bool may_begin(const emu_transfer *op);
static bool finish(emu_pending *p, bool block, bool *failed);

void emu_nccl_begin(emu_transfer *op, cudaStream_t stream)
{
    ncclComm_t comm = op->comm;
    bool failed = false;
    if (comm->open >= EMU_SLOTS / 2) /* places for announcements are not without end */
        emu_pending_finish(EMU_ALL_STREAMS, emu_pending_last(EMU_ALL_STREAMS), true, &failed);
    op->number = ++*(op->kind == SEND   ? &comm->sends[op->peer]
                     : op->kind == RECV ? &comm->receives[op->peer]
                                        : &comm->collectives);
    op->base.finish = finish;
    op->base.writes = op->out_size ? op->out : NULL;
    op->base.size = op->out_size;
    op->base.name = emu_nccl_name(op->kind);
    comm->open++;
    emu_operate_later(stream, op->base.name, (emu_site){ .pc = op->base.made });
    EMU_CALL(touched, op->in, op->in_size, false);
    EMU_CALL(touched, op->out, op->out_size, true);
    emu_pending_add(&op->base, stream);
    if (may_begin(op))
        announce(op);
}

/* Its turn has come: it begins, and with it its group. */
static void begin_group(emu_transfer *op)
{
    for (const emu_pending *p = &op->base; p; p = emu_pending_next(p)) {
        emu_transfer *other = (emu_transfer *)p;
        if (p->finish && p->stream == op->base.stream && other->group == op->group && !other->announced)
            announce(other);
    }
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

typedef enum { WAITING, READY, WRONG, ALONE } outcome;

/* What another rank has announced that belongs to this operation: of a collective that rank's, else the partner's. */
static const emu_announced *theirs(const emu_transfer *op, int rank)
{
    emu_channel_kind kind = op->kind == SEND ? EMU_RECEIVES : op->kind == RECV ? EMU_SENDS : EMU_COLLECTIVES;
    return emu_announcement(op->comm->ranks, emu_channel(kind, rank, op->comm->rank), op->number);
}

static bool agree(const emu_transfer *op, const emu_announced *a)
{
    if (op->kind >= SEND)
        return a->count * emu_nccl_type_size((ncclDataType_t)a->type) == op->count * emu_nccl_type_size(op->type);
    return a->kind == (int32_t)op->kind && a->count == op->count && a->type == (int32_t)op->type &&
           a->reduction == (int32_t)op->reduction && a->root == op->peer;
}

static outcome look_at(const emu_transfer *op, int rank, char *why, size_t size)
{
    char what[160];
    const emu_announced *a = theirs(op, rank);
    const char *gone = a ? NULL : emu_rank_gone(op->comm->ranks, rank);
    if (gone)
        a = theirs(op, rank); /* it may have been its last word */
    if (!a) {
        if (gone)
            snprintf(why, size, "rank %d %s", rank, gone);
        else
            snprintf(why, size, "rank %d has not called %s within %g s", rank,
                     op->kind == SEND   ? "ncclRecv"
                     : op->kind == RECV ? "ncclSend"
                                        : "it",
                     op->comm->ranks->deadline);
        return gone ? ALONE : WAITING;
    }
    if (agree(op, a))
        return READY;
    say(what, sizeof what, a);
    snprintf(why, size, "rank %d calls %s", rank, what);
    return WRONG;
}

static outcome look(const emu_transfer *op, char *why, size_t size)
{
    if (op->kind >= SEND)
        return look_at(op, op->peer, why, size);
    outcome all = READY;
    for (int rank = 0; rank < op->comm->size; rank++) {
        char words[300];
        outcome one = look_at(op, rank, words, sizeof words);
        if (one == READY || (all != READY && one == WAITING))
            continue;
        snprintf(why, size, "%s", words);
        all = one;
        if (all != WAITING)
            return all;
    }
    return all;
}

/* Whether its turn on the stream has come, or it is a collective that may as well be announced before: all in front of
 * it can end, and write nothing that it sends. */
static bool may_begin(const emu_transfer *op)
{
    const emu_pending *p = NULL;
    char why[300];
    while ((p = emu_pending_next(p)) != &op->base) {
        const emu_transfer *before = (const emu_transfer *)p;
        if (p->stream != op->base.stream)
            continue;
        if (!p->finish)
            return false;
        if (before->group == op->group && before->comm == op->comm)
            continue;
        bool collectives = op->kind < SEND && before->kind < SEND;
        if (!before->announced || overlap(before->out, before->out_size, op->in, op->in_size) ||
            !(collectives || look(before, why, sizeof why) == READY))
            return false;
    }
    return true;
}

/* While the host waits for one stream, time passes on the others: what can begin there does. */
static void let_others_begin(void)
{
    for (const emu_pending *p = emu_pending_next(NULL); p; p = emu_pending_next(p)) {
        emu_transfer *op = (emu_transfer *)p;
        if (p->finish && !op->announced && !op->comm->failed && may_begin(op))
            announce(op);
    }
}

/* Has what was sent been written to since? */
static void check_sent(const emu_transfer *op)
{
    char sent[4096], what[160];
    const emu_announced *mine = emu_announcement(op->comm->ranks, own_channel(op), op->number);
    size_t size = mine ? mine->size : 0;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < sizeof sent ? size - at : sizeof sent;
        emu_bytes(op->comm->ranks, mine, at, sent, n);
        if (memcmp(sent, (const char *)op->in + at, n) == 0)
            continue;
        emu_nccl_say(op, what, sizeof what);
        emu_error(EMU_RACE, (emu_site){ .pc = op->base.made },
                  "%s: what it sends was written to before the operation had ended\n"
                  "hint: wait for its stream first, or write on that stream",
                  what);
        return;
    }
}

static void deliver(emu_transfer *op)
{
    emu_ranks *ranks = op->comm->ranks;
    size_t part = op->count * emu_nccl_type_size(op->type);
    switch (op->kind) {
    case ALL_REDUCE:
        emu_nccl_reduce(op, 0, op->count);
        break;
    case REDUCE_SCATTER:
        emu_nccl_reduce(op, (size_t)op->comm->rank * op->count, op->count);
        break;
    case ALL_GATHER:
        for (int rank = 0; rank < op->comm->size; rank++)
            emu_bytes(ranks, theirs(op, rank), 0, (char *)op->out + (size_t)rank * part, part);
        break;
    case BROADCAST:
    case RECV:
        emu_bytes(ranks, theirs(op, op->peer), 0, op->out, part);
        break;
    case SEND:
        break;
    }
}

static void take(const emu_transfer *op)
{
    emu_ranks *ranks = op->comm->ranks;
    if (op->kind == SEND) {
        emu_take(ranks, emu_channel(EMU_RECEIVES, op->peer, op->comm->rank), op->number);
        emu_take(ranks, own_channel(op), op->number);
    } else if (op->kind == RECV) {
        emu_take(ranks, emu_channel(EMU_SENDS, op->peer, op->comm->rank), op->number);
    } else {
        for (int rank = 0; rank < op->comm->size; rank++)
            emu_take(ranks, emu_channel(EMU_COLLECTIVES, rank, 0), op->number);
    }
}

static void complete(emu_transfer *op)
{
    emu_allocation *in = op->in_size ? emu_find(op->in) : NULL, *out = op->out_size ? emu_find(op->out) : NULL;
    emu_open(in);
    emu_open(out);
    if (!emu_hook.touched) /* else stream_race.c has found it */
        check_sent(op);
    if (op->out_size)
        deliver(op);
    if (out)
        EMU_CALL(host_write, op->out, op->out_size);
    emu_close(in);
    emu_close(out);
    take(op);
    op->comm->open--;
}

static bool finish(emu_pending *p, bool block, bool *failed)
{
    emu_transfer *op = (emu_transfer *)p;
    char why[300];
    if (!op->announced && !op->comm->failed)
        begin_group(op);
    while (!op->comm->failed) {
        uint32_t seen = emu_changes(op->comm->ranks);
        outcome now = look(op, why, sizeof why);
        op->until = op->until > 0 ? op->until : emu_seconds() + op->comm->ranks->deadline;
        if (now == READY) {
            complete(op);
            return true;
        }
        if (now == WRONG)
            fail(op, ncclInvalidUsage, true, why);
        else if (now == ALONE || emu_seconds() > op->until)
            fail(op, ncclRemoteError, block, why);
        else
            let_others_begin();
        if (op->comm->failed)
            break;
        if (!block)
            return false;
        emu_wait_for_change(op->comm->ranks, seen);
    }
    op->comm->open--;
    *failed = true;
    return true;
}
