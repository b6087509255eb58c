/* nccl.c -- NCCL (include/nccl.h): communicators, and what their calls check. See nccl_run.c for what follows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "emulator/api/nccl_run.h"
#include "emulator/api/stream.h"
#include "emulator/run/memory.h"

#define NCCL_BEGIN()                   \
    emu_host_only(__func__, HERE);     \
    if (emu_sticky())                  \
        return ncclUnhandledCudaError; \
    emu_api_lock()
#define NCCL_END(result)               \
    do {                               \
        ncclResult_t result_ = result; \
        emu_api_unlock();              \
        return result_;                \
    } while (0)

static ncclComm_t comms; /* all that there ever were: the address of one that has ended is not used again */
static char last_words[sizeof((ncclComm_t)0)->words];
static _Thread_local struct {
    int depth;
    ncclResult_t failed; /* a call in it */
    emu_transfer *first, **last;
} group;

static ncclResult_t misuse(ncclResult_t code, ncclComm_t comm, uintptr_t pc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static ncclResult_t misuse(ncclResult_t code, ncclComm_t comm, uintptr_t pc, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_words, sizeof last_words, format, arguments);
    va_end(arguments);
    if (comm)
        memcpy(comm->words, last_words, sizeof last_words);
    emu_error(EMU_HOST_API, (emu_site){ .pc = pc }, "%s", last_words);
    if (group.depth)
        group.failed = code;
    return code;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

ncclResult_t ncclGetVersion(int *version)
{
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result)
{
    static const char *const texts[] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process exited or there was a network error",
        "NCCL operation in progress",
    };
    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

const char *ncclGetLastError(ncclComm_t comm)
{
    return comm ? comm->words : last_words;
}

/* ---- communicators ----------------------------------------------------------------------------------------------- */

ncclResult_t ncclGetUniqueId(ncclUniqueId *id)
{
    NCCL_BEGIN();
    char why[400];
    NCCL_END(emu_ranks_id(id->internal, why) ? ncclSuccess
                                             : misuse(ncclSystemError, NULL, HERE, "%s: %s", __func__, why));
}

static bool is_of(const emu_pending *p, const void *comm)
{
    return p->finish && ((const emu_transfer *)p)->comm == comm;
}

static void end(ncclComm_t comm, bool abort, const char *what)
{
    const emu_pending *p = NULL;
    bool failed = false;
    if (abort)
        emu_pending_forget(is_of, comm);
    while ((p = emu_pending_next(p)) != NULL)
        if (is_of(p, comm)) {
            emu_pending_finish(p->stream, p->number, true, &failed);
            p = NULL;
        }
    emu_ranks_leave(comm->ranks, abort || comm->failed);
    comm->ranks = NULL;
    comm->ended = what;
}

/* Are all ranks there? The communicator fails if one of them does not come. */
static ncclResult_t meet(ncclComm_t comm, bool wait, uintptr_t pc, const char *what)
{
    char why[400];
    int met = emu_ranks_met(comm->ranks, wait, why);
    comm->joining = met == 0;
    if (met < 0)
        comm->failed = misuse(ncclSystemError, comm, pc, "%s: %s", what, why);
    return comm->joining ? ncclInProgress : comm->failed;
}

static ncclResult_t join(ncclComm_t *out, int size, const ncclUniqueId *id, int rank, bool wait, uintptr_t pc)
{
    char why[400];
    const char *what = "ncclCommInitRank";
    if (!out || size < 1 || size > EMU_MOST_RANKS || rank < 0 || rank >= size)
        return misuse(ncclInvalidArgument, NULL, pc, "%s: rank %d of %d: the emulator has 1 to %d ranks", what, rank,
                      size, EMU_MOST_RANKS);
    if (group.depth)
        return misuse(ncclInvalidUsage, NULL, pc,
                      "%s in a group is for several devices in one process: the emulator has one", what);
    emu_ranks *ranks = emu_ranks_join(id->internal, size, rank, why);
    if (!ranks)
        return misuse(ncclSystemError, NULL, pc, "%s: %s", what, why);
    ncclComm_t comm = calloc(1, sizeof *comm);
    if (!comm)
        abort();
    *comm = (struct ncclComm){ .next = comms, .ranks = ranks, .rank = rank, .size = size };
    ncclResult_t result = meet(comm, wait, pc, what);
    comms = comm;
    if (result == ncclSuccess || result == ncclInProgress)
        *out = comm;
    else
        end(comm, true, what);
    return result;
}

ncclResult_t ncclCommInitRank(ncclComm_t *comm, int size, ncclUniqueId id, int rank)
{
    NCCL_BEGIN();
    NCCL_END(join(comm, size, &id, rank, true, HERE));
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank, ncclConfig_t *config)
{
    NCCL_BEGIN();
    NCCL_END(join(comm, size, &id, rank, !config || config->blocking != 0, HERE));
}

static ncclResult_t check_comm(ncclComm_t comm, uintptr_t pc, const char *what)
{
    ncclComm_t known = comms;
    while (known && known != comm)
        known = known->next;
    if (!known)
        return misuse(ncclInvalidArgument, NULL, pc, "%s: this is not a communicator (%p)", what, (void *)comm);
    if (comm->ended)
        return misuse(ncclInvalidArgument, NULL, pc, "%s: the communicator was given to %s before", what, comm->ended);
    return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm)
{
    NCCL_BEGIN();
    ncclResult_t result = check_comm(comm, HERE, __func__);
    if (result == ncclSuccess)
        end(comm, false, __func__);
    NCCL_END(result == ncclSuccess ? comm->failed : result);
}

ncclResult_t ncclCommAbort(ncclComm_t comm)
{
    NCCL_BEGIN();
    ncclResult_t result = check_comm(comm, HERE, __func__);
    if (result == ncclSuccess)
        end(comm, true, __func__);
    NCCL_END(result);
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    NCCL_BEGIN();
    ncclResult_t result = check_comm(comm, HERE, __func__);
    if (result == ncclSuccess)
        *error = comm->joining ? meet(comm, false, HERE, "ncclCommInitRankConfig") : comm->failed;
    NCCL_END(result);
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int *size)
{
    NCCL_BEGIN();
    ncclResult_t result = check_comm(comm, HERE, __func__);
    if (result == ncclSuccess)
        *size = comm->size;
    NCCL_END(result);
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int *rank)
{
    NCCL_BEGIN();
    ncclResult_t result = check_comm(comm, HERE, __func__);
    if (result == ncclSuccess)
        *rank = comm->rank;
    NCCL_END(result);
}

/* ---- operations -------------------------------------------------------------------------------------------------- */

static ncclResult_t check_buffer(const emu_transfer *op, const void *data, size_t size, const char *side)
{
    const char *what = emu_nccl_name(op->kind);
    if (!size)
        return ncclSuccess;
    if (!data)
        return misuse(ncclInvalidArgument, op->comm, op->base.made, "%s: the %s is a null pointer", what, side);
    if (!emu_find(data) && !emu_nearest(data))
        return misuse(ncclInvalidArgument, op->comm, op->base.made,
                      "%s: the %s is host memory: NCCL moves memory of cudaMalloc", what, side);
    return emu_check_side(data, size, true, side, op->base.made, what) == cudaSuccess ? ncclSuccess
                                                                                      : ncclInvalidArgument;
}

/* Buffers are apart, or where `in place` puts them: in_offset bytes behind the other's begin. */
static ncclResult_t check_places(const emu_transfer *op)
{
    const char *in = op->in, *out = op->out;
    size_t part = op->count * emu_nccl_type_size(op->type), mine = (size_t)op->comm->rank * part;
    if (!in || !out || in + op->in_size <= out || out + op->out_size <= in)
        return ncclSuccess;
    if (op->kind == REDUCE_SCATTER ? out == in + mine : op->kind == ALL_GATHER ? in == out + mine : in == out)
        return ncclSuccess;
    return misuse(ncclInvalidArgument, op->comm, op->base.made, "%s: the buffers overlap; in place, %s",
                  emu_nccl_name(op->kind),
                  op->kind == REDUCE_SCATTER ? "the receive buffer is the send buffer + rank * count"
                  : op->kind == ALL_GATHER   ? "the send buffer is the receive buffer + rank * count"
                                             : "they are the same");
}

static ncclResult_t check(const emu_transfer *op, cudaStream_t stream)
{
    const char *what = emu_nccl_name(op->kind);
    ncclResult_t result = check_comm(op->comm, op->base.made, what);
    if (result != ncclSuccess)
        return result;
    if (op->comm->failed) /* it was said why */
        return op->comm->failed;
    if (op->comm->joining)
        return misuse(ncclInvalidUsage, op->comm, op->base.made,
                      "%s: ncclCommInitRankConfig has not ended\n"
                      "hint: call ncclCommGetAsyncError until it no longer gives ncclInProgress",
                      what);
    if (!emu_nccl_type_name(op->type))
        return misuse(ncclInvalidArgument, op->comm, op->base.made,
                      "%s: data type %d: the emulator has uint8, int32, int64, float16, bfloat16 and float32", what,
                      (int)op->type);
    if (op->reduction != ncclSum && op->reduction != ncclMax && op->reduction != ncclAvg)
        return misuse(ncclInvalidArgument, op->comm, op->base.made,
                      "%s: reduction %d: the emulator has ncclSum, ncclMax and ncclAvg", what, (int)op->reduction);
    if (op->peer < 0 || op->peer >= op->comm->size)
        return misuse(ncclInvalidArgument, op->comm, op->base.made, "%s: there is no rank %d among %d", what, op->peer,
                      op->comm->size);
    if (!emu_stream_valid(stream))
        return misuse(ncclInvalidArgument, op->comm, op->base.made, "%s: the stream does not exist (was it destroyed?)",
                      what);
    if (emu_not_captured(stream, (emu_site){ .pc = op->base.made }, op->base.name) != cudaSuccess)
        return ncclInvalidUsage;
    return ncclSuccess;
}

/* Sizes in bytes: what this rank gives, and what it gets. */
static void measure(emu_transfer *op)
{
    size_t part = op->count * emu_nccl_type_size(op->type), all = part * (size_t)op->comm->size;
    bool gives = op->kind != RECV && (op->kind != BROADCAST || op->comm->rank == op->peer);
    op->in_size = !gives ? 0 : op->kind == REDUCE_SCATTER ? all : part;
    op->out_size = op->kind == SEND ? 0 : op->kind == ALL_GATHER ? all : part;
    op->in = op->in_size ? op->in : NULL;
    op->out = op->out_size ? op->out : NULL;
}

static ncclResult_t check_all(emu_transfer *op, cudaStream_t stream)
{
    const void *in = op->in, *out = op->out;
    ncclResult_t result = check(op, stream);
    if (result == ncclSuccess) {
        measure(op);
        result = check_buffer(op, in, op->in_size, "send buffer");
    }
    if (result == ncclSuccess)
        result = check_buffer(op, out, op->out_size, "receive buffer");
    return result == ncclSuccess ? check_places(op) : result;
}

static ncclResult_t enqueue(emu_transfer *op, cudaStream_t stream)
{
    static uint64_t calls;
    ncclResult_t result = check_all(op, stream);
    if (result != ncclSuccess) {
        group.failed = group.depth ? result : group.failed;
        return result;
    }
    emu_transfer *made = malloc(sizeof *made);
    if (!made)
        abort();
    *made = *op;
    if (group.depth) {
        made->base.stream = stream;
        *group.last = made;
        group.last = &made->next;
        return ncclSuccess;
    }
    made->group = ++calls << 1;
    emu_nccl_begin(made, stream);
    return ncclSuccess;
}

#define OPERATION(...)                                                                    \
    do {                                                                                  \
        NCCL_BEGIN();                                                                     \
        emu_transfer op = { .base.made = HERE, .comm = comm, .type = type, __VA_ARGS__ }; \
        NCCL_END(enqueue(&op, stream));                                                   \
    } while (0)

ncclResult_t ncclAllReduce(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                           ncclComm_t comm, cudaStream_t stream)
{
    OPERATION(.kind = ALL_REDUCE, .in = in, .out = out, .count = count, .reduction = reduction);
}

ncclResult_t ncclReduceScatter(const void *in, void *out, size_t count, ncclDataType_t type, ncclRedOp_t reduction,
                               ncclComm_t comm, cudaStream_t stream)
{
    OPERATION(.kind = REDUCE_SCATTER, .in = in, .out = out, .count = count, .reduction = reduction);
}

ncclResult_t ncclAllGather(const void *in, void *out, size_t count, ncclDataType_t type, ncclComm_t comm,
                           cudaStream_t stream)
{
    OPERATION(.kind = ALL_GATHER, .in = in, .out = out, .count = count);
}

ncclResult_t ncclBroadcast(const void *in, void *out, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                           cudaStream_t stream)
{
    OPERATION(.kind = BROADCAST, .in = in, .out = out, .count = count, .peer = root);
}

ncclResult_t ncclSend(const void *in, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    OPERATION(.kind = SEND, .in = in, .count = count, .peer = peer);
}

ncclResult_t ncclRecv(void *out, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    OPERATION(.kind = RECV, .out = out, .count = count, .peer = peer);
}

/* ---- groups ------------------------------------------------------------------------------------------------------ */

ncclResult_t ncclGroupStart(void)
{
    NCCL_BEGIN();
    if (group.depth++ == 0) {
        group.failed = ncclSuccess;
        group.first = NULL;
        group.last = &group.first;
    }
    NCCL_END(ncclSuccess);
}

/* After an error nothing of the group begins. */
ncclResult_t ncclGroupEnd(void)
{
    static uint64_t groups;
    NCCL_BEGIN();
    if (group.depth == 0)
        NCCL_END(misuse(ncclInvalidUsage, NULL, HERE, "ncclGroupEnd without ncclGroupStart"));
    if (--group.depth > 0)
        NCCL_END(ncclSuccess);
    uint64_t number = ++groups << 1 | 1;
    for (emu_transfer *op = group.first, *next; op; op = next) {
        next = op->next;
        op->group = number;
        if (group.failed == ncclSuccess)
            emu_nccl_begin(op, (cudaStream_t)(uintptr_t)op->base.stream);
        else
            free(op);
    }
    NCCL_END(group.failed);
}
