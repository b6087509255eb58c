/* nccl_run.cu -- operations of NCCL between their call and mt_wait; see nccl.h. */
#include <cstdarg>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

#include "core/storage.h"
#include "cuda/launch.cuh"
#include "dist/nccl_parts.cuh"
#include "core/span.h"

/* ---- failures ----------------------------------------------------------------------------------- */

/* NCCL's operations are ended too: no kernel of theirs waits on the device any more. */
static mt_status failed(member *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static mt_status failed(member *m, const char *format, ...)
{
    if (!m->failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(m->words, sizeof m->words, format, arguments);
        va_end(arguments);
        m->failed = true;
        for (lane *l = m->lanes; l < m->lanes + LANES; l++)
            ncclCommAbort(l->nccl);
    }
    return mt_fail(MT_ERR_UNAVAILABLE, "%s", m->words);
}

static mt_status too_late(member *m, const char *what);
static mt_status check(member *m, ncclResult_t result, lane_kind kind, const char *what)
{
    if (result == ncclSuccess || m->failed)
        return m->failed ? failed(m, " ") : MT_OK;
    if (result == ncclInProgress)
        return too_late(m, what);
    return failed(m, "%s: %s: %s", what, ncclGetErrorString(result), ncclGetLastError(m->lanes[kind].nccl));
}

/* Nothing came before the deadline: the host's barrier knows who is missing. */
static mt_status too_late(member *m, const char *what)
{
    if (mt_barrier(m->host) == MT_OK)
        return failed(m, "%s: not done within %g s: another rank called another operation, or is far behind", what,
                      m->deadline);
    char words[240];
    snprintf(words, sizeof words, "%s", mt_last_error());
    return failed(m, "%s: not done within %g s; %s", what, m->deadline, words);
}

/* ---- waiting ------------------------------------------------------------------------------------ */

/* Asks at once some times, then with sleeps that become longer. NCCL tells errors only to those who ask. */
static mt_status await(const request *r)
{
    enum { AT_ONCE = 50 };
    member *m = r->owner;
    ncclComm_t nccl = m->lanes[r->kind].nccl;
    double until = mt_now() + m->deadline;
    for (int64_t tries = 0; !m->failed; tries++) {
        ncclResult_t error = ncclSuccess;
        cudaError_t done = cudaEventQuery(r->done);
        ncclResult_t asked = ncclCommGetAsyncError(nccl, &error);
        error = asked != ncclSuccess ? asked : error;
        if (error != ncclSuccess && error != ncclInProgress)
            return failed(m, "%s: %s: %s", r->what, ncclGetErrorString(error), ncclGetLastError(nccl));
        if (done == cudaSuccess)
            return MT_OK;
        (void)cudaGetLastError();
        if (done != cudaErrorNotReady)
            MT_CUDA(done);
        if (m->deadline > 0 && mt_now() >= until)
            return too_late(m, r->what);
        if (tries < AT_ONCE)
            sched_yield();
        else
            usleep((useconds_t)(tries < 500 ? tries : 500));
    }
    return failed(m, " ");
}

static request *new_request(member *m, mt_status (*wait)(mt_request *), const char *what)
{
    request *r = (request *)calloc(1, sizeof *r);
    MT_CHECK(r, "out of memory");
    r->base.wait = wait;
    r->owner = m;
    snprintf(r->what, sizeof r->what, "%s", what);
    return r;
}

static void end_request(request *r)
{
    if (r->done)
        MT_CUDA(cudaEventDestroy(r->done));
    mt_free(r->keys, r->key_bytes, MT_CUDA);
    r->owner->open--;
    free(r);
}

/* It is done when what is on its stream now is. */
static void mark(request *r)
{
    MT_CUDA(cudaEventCreateWithFlags(&r->done, cudaEventDisableTiming));
    MT_CUDA(cudaEventRecord(r->done, r->owner->lanes[r->kind].stream));
    r->owner->open++;
}

/* The stream waits for what was launched so far. */
static void after_compute(cudaStream_t stream)
{
    cudaEvent_t ready;
    MT_CUDA(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    MT_CUDA(cudaEventRecord(ready, mt_cuda_stream()));
    MT_CUDA(cudaStreamWaitEvent(stream, ready, 0));
    MT_CUDA(cudaEventDestroy(ready));
}

/* ---- messages ----------------------------------------------------------------------------------- */

static mt_status begin_held(member *m)
{
    ncclResult_t result = ncclSuccess;
    lane_kind kind = UPWARDS;
    if (!m->held || m->failed)
        return m->failed ? failed(m, " ") : MT_OK;
    after_compute(m->lanes[UPWARDS].stream);
    after_compute(m->lanes[DOWNWARDS].stream);
    ncclGroupStart();
    for (request *r = m->held; r && (result == ncclSuccess || result == ncclInProgress); r = r->next) {
        const lane *l = &m->lanes[kind = r->kind];
        result = r->is_send ? ncclSend(r->data, (size_t)r->bytes, ncclUint8, r->peer, l->nccl, l->stream)
                            : ncclRecv(r->data, (size_t)r->bytes, ncclUint8, r->peer, l->nccl, l->stream);
    }
    ncclResult_t ended = ncclGroupEnd(), up = nccl_result(m->lanes[UPWARDS].nccl, ended, m->deadline),
                 down = nccl_result(m->lanes[DOWNWARDS].nccl, ended, m->deadline);
    if (result == ncclSuccess || result == ncclInProgress)
        result = up != ncclSuccess ? up : down;
    mt_status status = check(m, result, kind, m->held->what);
    for (request *r = m->held, *next; r; r = next) {
        next = r->next;
        r->next = NULL;
        mark(r);
    }
    m->held = NULL;
    return status;
}

static mt_status wait_for_message(mt_request *base)
{
    MT_SPAN(MT_SPAN_WAIT);
    request *r = (request *)base;
    mt_status status = begin_held(r->owner);
    if (!r->done) { /* it failed before: it was never begun */
        request **at = &r->owner->held;
        while (*at && *at != r)
            at = &(*at)->next;
        if (*at)
            *at = r->next;
        r->owner->open++;
    }
    if (status == MT_OK)
        status = await(r);
    end_request(r);
    return status;
}

static bool on_device(const void *data)
{
    cudaPointerAttributes a;
    MT_CUDA(cudaPointerGetAttributes(&a, data));
    return a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged;
}

mt_status nccl_message(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **handle)
{
    member *m = (member *)comm;
    char what[120];
    if (bytes == 0 || !on_device(data)) {
        mt_status begun = handle ? MT_OK : begin_held(m);
        if (begun != MT_OK)
            return begun;
        return m->host->engine->message(m->host, data, bytes, peer, is_send, handle);
    }
    snprintf(what, sizeof what, "%s rank %d, %lld bytes", is_send ? "send to" : "receive from", peer, (long long)bytes);
    request *r = new_request(m, wait_for_message, what), **last = &m->held;
    r->data = data;
    r->bytes = bytes;
    r->peer = peer;
    r->is_send = is_send;
    r->kind = (peer > m->base.rank) == is_send ? UPWARDS : DOWNWARDS;
    while (*last)
        last = &(*last)->next;
    *last = r;
    return mt_begun(&r->base, handle);
}

/* ---- maxima of floats --------------------------------------------------------------------------- */

/* The bits of floats as integers of the same order: -0 below +0, and every NaN above all numbers. T: signed, of the
 * size of the float; `inf`: the bits of its infinity. */
template <class T> static __global__ void to_keys(int32_t *keys, const T *x, T inf, int64_t n)
{
    const T most = (T)(((uint32_t)1 << (8 * sizeof(T) - 1)) - 1); /* all bits but the sign's */
    int64_t i = mt_thread();
    if (i < n)
        keys[i] = (T)(x[i] & most) > inf ? most : x[i] < 0 ? (T)(x[i] ^ most) : x[i];
}

template <class T> static __global__ void from_keys(T *x, const int32_t *keys, int64_t n)
{
    const T most = (T)(((uint32_t)1 << (8 * sizeof(T) - 1)) - 1);
    int64_t i = mt_thread();
    if (i < n)
        x[i] = keys[i] < 0 ? (T)(keys[i] ^ most) : (T)keys[i];
}

static void keys_of(int32_t *keys, const void *x, mt_dtype dtype, int64_t n, cudaStream_t stream)
{
    if (dtype == MT_F32)
        to_keys<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, stream>>>(keys, (const int32_t *)x, 0x7f800000, n);
    else
        to_keys<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, stream>>>(keys, (const int16_t *)x,
                                                                     (int16_t)(dtype == MT_F16 ? 0x7c00 : 0x7f80), n);
    MT_LAUNCHED("to_keys");
}

static void keys_to(void *x, const int32_t *keys, mt_dtype dtype, int64_t n, cudaStream_t stream)
{
    if (dtype == MT_F32)
        from_keys<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, stream>>>((int32_t *)x, keys, n);
    else
        from_keys<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, stream>>>((int16_t *)x, keys, n);
    MT_LAUNCHED("from_keys");
}

/* ---- collectives -------------------------------------------------------------------------------- */

static mt_status wait_for_collective(mt_request *base)
{
    MT_SPAN(MT_SPAN_WAIT);
    request *r = (request *)base;
    mt_status status = await(r);
    end_request(r);
    return status;
}

static ncclDataType_t type_of(mt_dtype dtype)
{
    switch (dtype) {
    case MT_F32:
        return ncclFloat32;
    case MT_F16:
        return ncclFloat16;
    case MT_BF16:
        return ncclBfloat16;
    case MT_I32:
        return ncclInt32;
    case MT_I64:
        return ncclInt64;
    default:
        return ncclUint8;
    }
}

/* Elements that a reduction reads: all parts of a reduce_scatter. */
static int64_t elements(const member *m, const mt_collective *c)
{
    return c->kind == MT_REDUCE_SCATTER ? c->n * m->base.size : c->n;
}

static ncclResult_t reduce(const member *m, const mt_collective *c, void *out, const void *in, ncclDataType_t type)
{
    const lane *l = &m->lanes[COLLECTIVES];
    ncclRedOp_t op = c->op == MT_MAX ? ncclMax : ncclSum;
    ncclResult_t result = c->kind == MT_ALL_REDUCE
                              ? ncclAllReduce(in, out, (size_t)c->n, type, op, l->nccl, l->stream)
                              : ncclReduceScatter(in, out, (size_t)c->n, type, op, l->nccl, l->stream);
    return nccl_result(l->nccl, result, m->deadline); /* what follows on the stream must come behind it */
}

static ncclResult_t launch(member *m, const mt_collective *c, request *r)
{
    const lane *l = &m->lanes[COLLECTIVES];
    bool is_float = c->dtype == MT_F32 || c->dtype == MT_F16 || c->dtype == MT_BF16;
    if (c->kind == MT_ALL_GATHER)
        return ncclAllGather(c->in, c->out, (size_t)c->n, type_of(c->dtype), l->nccl, l->stream);
    if (c->kind == MT_BROADCAST)
        return ncclBroadcast(c->in, c->out, (size_t)c->n, type_of(c->dtype), c->root, l->nccl, l->stream);
    if (c->op == MT_SUM || !is_float)
        return reduce(m, c, c->out, c->in, type_of(c->dtype));
    r->key_bytes = elements(m, c) * (int64_t)sizeof(int32_t);
    int32_t *keys = (int32_t *)(r->keys = mt_alloc(r->key_bytes, MT_CUDA));
    int32_t *mine = c->kind == MT_REDUCE_SCATTER ? keys + m->base.rank * c->n : keys;
    keys_of(keys, c->in, c->dtype, elements(m, c), l->stream);
    ncclResult_t result = reduce(m, c, mine, keys, ncclInt32);
    if (result == ncclSuccess)
        keys_to(c->out, mine, c->dtype, c->n, l->stream);
    return result;
}

mt_status nccl_collective(mt_comm *comm, const mt_collective *c, mt_request **handle)
{
    member *m = (member *)comm;
    char what[120];
    mt_status begun = handle ? MT_OK : begin_held(m);
    if (begun != MT_OK || m->failed)
        return failed(m, " ");
    if (c->kind == MT_BARRIER || c->n == 0 || !on_device(c->out))
        return m->host->engine->collective(m->host, c, handle);
    MT_CHECK(on_device(c->in), "%s: out is device memory, and in is not", mt_collective_name(c->kind));
    mt_collective_words(what, c, m->calls++);
    request *r = new_request(m, wait_for_collective, what);
    after_compute(m->lanes[COLLECTIVES].stream);
    ncclResult_t result = nccl_result(m->lanes[COLLECTIVES].nccl, launch(m, c, r), m->deadline);
    mark(r);
    mt_status status = check(m, result, COLLECTIVES, what);
    if (status != MT_OK) {
        end_request(r);
        return status;
    }
    return mt_begun(&r->base, handle);
}
