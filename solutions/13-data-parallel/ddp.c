/* ddp.c -- gradients in buckets, averaged over the ranks during backward; see dist/ddp.h. */
#include "dist/ddp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "kernels/kernels.h"
#include "memory/flat.h"

int64_t mt_buckets_plan(mt_bucket *out, const int64_t *begin, int64_t count, int64_t limit)
{
    int64_t buckets = 0;
    /* LAB 13.6 BEGIN  From the last parameter to the first; a bucket with `limit` elements or more is closed. */
    for (int64_t last = count, first = count - 1; first >= 0; first--)
        if (first == 0 || begin[last] - begin[first] >= limit) {
            out[buckets++] = (mt_bucket){ first, last, begin[first], begin[last] };
            last = first;
        }
    /* LAB 13.6 END */
    return buckets;
}

/* A parameter, and what its callback needs. */
typedef struct slot {
    mt_ddp *ddp;
    mt_tensor *param;
    int64_t bucket;
    int64_t missing; /* calls of backward whose gradient has not come yet */
} slot;

struct mt_ddp {
    mt_comm *comm;
    slot *slot; /* [slots], in the order of the flat gradients */
    int64_t slots, buckets;
    mt_bucket *bucket;    /* [buckets] */
    int64_t *incomplete;  /* [buckets] parameters of it whose gradient is not complete */
    mt_request **request; /* [buckets] of those that were sent */
    int64_t sent;         /* buckets 0 .. sent - 1 were */
    mt_ddp_config config;
    mt_device device;             /* of the parameters */
    float *flat;                  /* NULL: config.send has its own ways */
    int64_t samples, all_samples; /* of this rank; of all, when `counting` is done */
    mt_request *counting;
    mt_status status; /* the first failure of this step */
};

int64_t mt_ddp_buckets(const mt_ddp *ddp)
{
    return ddp->buckets;
}

const mt_bucket *mt_ddp_bucket(const mt_ddp *ddp, int64_t bucket)
{
    return &ddp->bucket[bucket];
}

static void note(mt_ddp *ddp, mt_status status)
{
    if (ddp->status == MT_OK)
        ddp->status = status;
}

/* ---- a step ------------------------------------------------------------------------------------- */

/* This rank's share of the samples of all ranks. The first bucket waits for their number, which was asked for before
 * forward. */
static float share(mt_ddp *ddp)
{
    if (ddp->counting)
        note(ddp, mt_wait(ddp->counting));
    ddp->counting = NULL;
    return ddp->all_samples > 0 ? (float)((double)ddp->samples / (double)ddp->all_samples) : 0;
}

/* Sends bucket number ddp->sent. */
static void send_next(mt_ddp *ddp)
{
    const mt_bucket *b = &ddp->bucket[ddp->sent];
    float part = share(ddp), *grads;
    int64_t n = b->end - b->begin;
    mt_request **request = &ddp->request[ddp->sent++];
    *request = NULL;
    if (ddp->config.send) {
        note(ddp, ddp->config.send(ddp->config.user, ddp->sent - 1, part));
        return;
    }
    grads = ddp->flat + b->begin;
    /* LAB 13.8 BEGIN  What all ranks add up to the mean over all samples, in a call that returns at once.
     * Hint: the flat gradients of the bucket are its elements, gaps included. They are multiplied where they are, on
     * the CPU or a GPU: mt_kernels(ddp->device)->scale_fwd. */
    mt_kernels(ddp->device)->scale_fwd(grads, grads, part, n);
    note(ddp, mt_all_reduce(ddp->comm, grads, n, MT_F32, MT_SUM, request));
    /* LAB 13.8 END */
}

/* Called by each backward when the gradient of this parameter is complete. */
static void on_ready(void *user, mt_tensor *leaf)
{
    slot *s = user;
    mt_ddp *ddp = s->ddp;
    MT_CHECK(s->missing > 0, "ddp: backward gives parameter %s a gradient once more than mt_ddp_begin was told",
             mt_shape_text(mt_view_shape(&leaf->view)));
    /* LAB 13.8 BEGIN  Count down; send what can be sent.
     * Hint: the gradient is complete with that of the last micro-batch, a bucket with that of its last parameter. All
     * ranks must send the buckets in the same order: which ones may go now? */
    if (--s->missing == 0)
        ddp->incomplete[s->bucket]--;
    while (ddp->sent < ddp->buckets && ddp->incomplete[ddp->sent] == 0)
        send_next(ddp);
    /* LAB 13.8 END */
}

void mt_ddp_begin(mt_ddp *ddp, int64_t micro, int64_t samples)
{
    MT_CHECK(micro >= 0 && samples >= 0, "ddp: %" PRId64 " micro-batches, %" PRId64 " samples", micro, samples);
    ddp->sent = 0;
    ddp->samples = ddp->all_samples = samples;
    ddp->status = mt_all_reduce(ddp->comm, &ddp->all_samples, 1, MT_I64, MT_SUM, &ddp->counting);
    /* LAB 13.8 BEGIN  What is missing of each parameter, and of each bucket. */
    for (int64_t i = 0; i < ddp->slots; i++)
        ddp->slot[i].missing = micro;
    for (int64_t b = 0; b < ddp->buckets; b++)
        ddp->incomplete[b] = ddp->bucket[b].last - ddp->bucket[b].first;
    /* LAB 13.8 END */
}

void mt_ddp_hold(mt_ddp *ddp, const mt_tensor *param)
{
    for (slot *s = ddp->slot; s < ddp->slot + ddp->slots; s++)
        s->missing += s->param == param;
}

mt_status mt_ddp_finish(mt_ddp *ddp)
{
    /* LAB 13.9 BEGIN  The rest: parameters without a gradient, buckets that were not sent, all requests.
     * Hint: backward has not touched the memory of a parameter that it did not meet (param->grad is NULL): what was a
     * gradient of an earlier step is still there. param->grad is a reference to param->grad_memory (mt_retain), if
     * there is one. The gradients may be read when every request was waited for. */
    for (int64_t i = 0; i < ddp->slots; i++) {
        mt_tensor *param = ddp->slot[i].param;
        if (!param->grad && param->grad_memory) {
            param->grad = mt_retain(param->grad_memory);
            mt_clear(mt_f32(param->grad), mt_numel(param) * (int64_t)sizeof(float), ddp->device);
        }
    }
    while (ddp->sent < ddp->buckets)
        send_next(ddp);
    for (int64_t b = 0; b < ddp->buckets; b++)
        note(ddp, mt_wait(ddp->request[b]));
    /* LAB 13.9 END */
    share(ddp); /* the number of samples has come, also where there is no bucket */
    if (ddp->status == MT_OK && ddp->all_samples == 0)
        note(ddp, mt_fail(MT_ERR_ARGUMENT, "ddp: no rank had a sample in this step"));
    return ddp->status;
}

/* ---- life --------------------------------------------------------------------------------------- */

/* Whether the gradients are views of one array, in order, at begin[0 .. slots - 1]. */
static void check_flat(const mt_ddp *ddp, const mt_state *params, const int64_t *begin)
{
    for (int64_t i = 0; i < ddp->slots; i++) {
        const mt_tensor *memory = params->item[i].tensor->grad_memory;
        MT_CHECK(memory, "ddp: the gradient of %s has no place: call mt_flat_gradients before mt_ddp_new",
                 params->item[i].name);
        MT_CHECK(memory->view.offset == begin[i] && memory->storage->data == ddp->flat,
                 "ddp: the gradient of %s is not where one array of all, in this order, has it", params->item[i].name);
    }
}

/* Places of the gradients, as mt_flat_gradients divides its block, and the buckets. */
static void divide(mt_ddp *ddp, const mt_state *params)
{
    int64_t *begin = mt_calloc(ddp->slots + 1, sizeof *begin);
    for (int64_t i = 0; i < ddp->slots; i++) {
        mt_tensor *param = params->item[i].tensor;
        MT_CHECK(param && param->dtype == MT_F32 && param->storage->device == ddp->device, "ddp: %s is not f32 on %s",
                 params->item[i].name, mt_device_name(ddp->device));
        begin[i + 1] = begin[i] + mt_flat_room(mt_numel(param));
        ddp->slot[i] = (slot){ .ddp = ddp, .param = param };
    }
    if (ddp->slots > 0 && !ddp->config.send) {
        const mt_tensor *first = ddp->slot[0].param->grad_memory;
        ddp->flat = first ? first->storage->data : NULL;
        check_flat(ddp, params, begin);
    }
    ddp->buckets = mt_buckets_plan(ddp->bucket, begin, ddp->slots, ddp->config.bucket_bytes / (int64_t)sizeof(float));
    for (int64_t b = 0; b < ddp->buckets; b++)
        for (int64_t i = ddp->bucket[b].first; i < ddp->bucket[b].last; i++)
            ddp->slot[i].bucket = b;
    free(begin);
}

mt_status mt_ddp_new(mt_ddp **out, mt_comm *comm, const mt_state *params, const mt_ddp_config *config)
{
    int64_t n = params->count;
    mt_status status = MT_OK;
    mt_ddp *ddp = *out = mt_calloc(1, sizeof *ddp);
    *ddp = (mt_ddp){ .comm = comm,
                     .config = *config,
                     .device = n > 0 && params->item[0].tensor ? params->item[0].tensor->storage->device : MT_CPU,
                     .slot = mt_calloc(n, sizeof(slot)),
                     .slots = n,
                     .bucket = mt_calloc(n, sizeof(mt_bucket)),
                     .incomplete = mt_calloc(n, sizeof(int64_t)),
                     .request = mt_calloc(n, sizeof(mt_request *)) };
    divide(ddp, params);
    for (slot *s = ddp->slot; s < ddp->slot + n; s++) {
        mt_grad_ready_on(s->param, on_ready, s);
        mt_written(s->param);
        /* LAB 13.7 BEGIN  This parameter as rank 0 has it. */
        if (status == MT_OK)
            status = mt_broadcast(comm, mt_f32(s->param), mt_numel(s->param), MT_F32, 0, NULL);
        /* LAB 13.7 END */
    }
    return status;
}

void mt_ddp_free(mt_ddp *ddp)
{
    if (!ddp)
        return;
    for (int64_t i = 0; i < ddp->slots; i++)
        mt_grad_ready_off(ddp->slot[i].param, on_ready, &ddp->slot[i]);
    free(ddp->slot);
    free(ddp->bucket);
    free(ddp->incomplete);
    free(ddp->request);
    free(ddp);
}
