/* zero.c -- each rank updates its part of every bucket; see dist/zero.h. */
#include "dist/zero.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "memory/flat.h"
#include "dist/zero3.h"
#include "kernels/kernels.h"
#include "optim/rules.h"

void mt_zero_part(int64_t *begin, int64_t *end, const mt_bucket *bucket, int rank, int size)
{
    /* TODO 13.10: Parts of equal length, rounded up; none reaches beyond the end of the bucket. */
    MT_TODO("13.10"); /* delete this line when yours stands here */
}

/* A bucket of this rank. */
typedef struct shard {
    int64_t begin, end;  /* elements of this rank's part */
    int64_t length;      /* of the longest part: what is sent of each */
    int64_t bytes;       /* of all parts of that length */
    float *grads;        /* [end - begin] where the mean of this part is kept */
    float *parts;        /* [size, length] while messages are on their way; else NULL */
    mt_request *request; /* of them */
} shard;

struct mt_zero {
    mt_comm *comm;
    mt_optim *optim; /* borrowed; its parameters are this rank's parts */
    mt_ddp *ddp;
    int stage;
    mt_device device;  /* of the parameters, and of all memory here */
    mt_tensor **param; /* [params] */
    int64_t *place;    /* [params] of the flat gradients */
    int64_t params, buckets;
    shard *shard;      /* [buckets] */
    mt_tensor *grads;  /* the parts of this rank, one after the other; stage 1: the block of all gradients */
    mt_zero3 *sharded; /* stage 3: the parameters */
};

/* Memory for all parts of a bucket, filled with zeros. */
static void open_parts(const mt_zero *z, shard *s)
{
    s->request = NULL;
    s->parts = mt_alloc(s->bytes, z->device);
    mt_clear(s->parts, s->bytes, z->device);
}

static void close_parts(const mt_zero *z, shard *s)
{
    mt_free(s->parts, s->bytes, z->device);
    s->parts = NULL;
}

/* to [n] = from [n] */
static void copy(const mt_zero *z, float *to, const float *from, int64_t n)
{
    mt_copy(to, z->device, from, z->device, n * (int64_t)sizeof(float));
}

/* ---- gradients ---------------------------------------------------------------------------------- */

/* Waits for a bucket that was sent, and keeps the mean of this rank's part. */
static mt_status collect(mt_zero *z, shard *s)
{
    mt_status status = MT_OK;
    if (!s->parts)
        return MT_OK;
    /* TODO 13.11: This rank's part of the bucket is complete: it belongs into s->grads.
     * Hint: what of s->parts may be read before mt_wait? The last parts may be shorter than s->length. `copy` works on
     * any device. */
    MT_TODO("13.11"); /* delete this line when yours stands here */
    close_parts(z, s);
    return status;
}

/* All gradients of a bucket are complete: called by ddp.c, in the same order on all ranks. */
static mt_status reduce(void *user, int64_t bucket, float share)
{
    mt_zero *z = user;
    const mt_bucket *b = mt_ddp_bucket(z->ddp, bucket);
    shard *s = &z->shard[bucket];
    mt_status status = bucket > 0 ? collect(z, &z->shard[bucket - 1]) : MT_OK; /* one at a time has memory */
    open_parts(z, s);
    for (int64_t i = b->first; i < b->last; i++) {
        mt_tensor *param = z->param[i];
        const float *grad = param->grad ? mt_f32(param->grad) : NULL; /* [n] */
        float *part = s->parts + (z->place[i] - b->begin);
        int64_t n = mt_numel(param);
        /* TODO 13.11: What this rank adds to the mean, at its place; a parameter without gradient adds nothing.
         * Hint: the place of the gradient's first element in s->parts is `part`; scale_fwd of mt_kernels multiplies
         * on the device. In stage 2 nobody needs the gradient afterwards: mt_zero_grad frees it. */
        MT_TODO("13.11"); /* delete this line when yours stands here */
    }
    /* TODO 13.11: Each rank gets the sum of its part, in a call that returns at once.
     * Hint: the sum may go to this rank's part of s->parts. */
    MT_TODO("13.11"); /* delete this line when yours stands here */
    return status;
}

mt_ddp *mt_zero_ddp(mt_zero *z)
{
    return z->ddp;
}

void mt_zero_begin(mt_zero *z, int64_t micro, int64_t samples)
{
    MT_CHECK(!z->sharded || micro > 0,
             "zero, stage 3: all ranks open parameters together: give it any micro-batch, with samples = 0");
    if (z->sharded)
        mt_zero3_close(z->sharded);
    for (int64_t i = 0; i < z->params; i++)
        mt_zero_grad(z->param[i]);
    mt_ddp_begin(z->ddp, micro, samples);
}

/* ---- the step ----------------------------------------------------------------------------------- */

/* The norm of the gradients of all ranks, and clipping of this rank's. */
static mt_status clip(mt_zero *z, double max_norm, double *norm)
{
    mt_grad_array *mine = mt_calloc(z->buckets + 1, sizeof *mine);
    double *squares = mt_calloc(z->comm->size, sizeof *squares), sum = 0;
    mt_status status = MT_OK;
    for (int64_t b = 0; b < z->buckets; b++)
        mine[b] = (mt_grad_array){ z->shard[b].grads, z->shard[b].end - z->shard[b].begin };
    double own = mt_clip_grad_norm_on(z->device, mine, z->buckets, INFINITY);
    /* TODO 13.12: The norm over all ranks, with the same bits on each; where it is above max_norm, scale this
     * rank's gradients.
     * Hint: squares of norms may be added, in one order on all ranks. There is no collective for doubles: gather their
     * bytes (MT_U8). A norm that is not finite changes nothing. */
    MT_TODO("13.12"); /* delete this line when yours stands here */
    free(squares);
    free(mine);
    return status;
}

/* Copies between the parameters of a bucket and its parts: elements begin .. end - 1 of the flat order. */
static void copy_params(mt_zero *z, int64_t bucket, int64_t begin, int64_t end, bool to_params)
{
    const mt_bucket *b = mt_ddp_bucket(z->ddp, bucket);
    for (int64_t i = b->first; i < b->last; i++) {
        int64_t from = mt_max(begin, z->place[i]), to = mt_min(end, z->place[i] + mt_numel(z->param[i]));
        float *values = mt_f32(z->param[i]) + (from - z->place[i]), *part = z->shard[bucket].parts + (from - b->begin);
        if (from < to)
            copy(z, to_params ? values : part, to_params ? part : values, to - from);
        if (to_params)
            mt_written(z->param[i]);
    }
}

mt_status mt_zero_updated(mt_zero *z)
{
    mt_status status = MT_OK;
    for (int64_t i = 0; i < z->buckets && !z->sharded && status == MT_OK; i++) {
        shard *s = &z->shard[i];
        open_parts(z, s);
        copy_params(z, i, s->begin, s->end, false);
        /* TODO 13.12: All parts of this bucket, from all ranks. */
        MT_TODO("13.12"); /* delete this line when yours stands here */
        if (status == MT_OK)
            copy_params(z, i, mt_ddp_bucket(z->ddp, i)->begin, mt_ddp_bucket(z->ddp, i)->end, true);
        close_parts(z, s);
    }
    return status;
}

mt_status mt_zero_finish(mt_zero *z)
{
    mt_status status = mt_ddp_finish(z->ddp);
    mt_status last = z->buckets > 0 ? collect(z, &z->shard[z->buckets - 1]) : MT_OK;
    status = status == MT_OK ? last : status;
    if (status == MT_OK && z->sharded) {
        mt_zero3_close(z->sharded); /* they are about to change */
        status = mt_zero3_status(z->sharded);
    }
    for (int64_t i = 0; i < z->params; i++) {
        mt_tensor *part = z->optim->param[i].tensor;
        part->grad = part->grad ? part->grad : mt_retain(part->grad_memory);
        mt_written(z->param[i]);
    }
    return status;
}

mt_status mt_zero_step(mt_zero *z, double max_norm, double *norm)
{
    double own, *all = norm ? norm : &own;
    *all = 0;
    MT_TRY(mt_zero_finish(z));
    MT_TRY(clip(z, max_norm, all));
    if (!isfinite(*all))
        return MT_OK;
    mt_optim_step(z->optim);
    return mt_zero_updated(z);
}

mt_status mt_zero_whole(mt_zero *z)
{
    return z->sharded ? mt_zero3_whole(z->sharded) : MT_OK;
}

void mt_zero_changed(mt_zero *z)
{
    if (z->sharded)
        mt_zero3_keep(z->sharded);
}

/* ---- checkpoints -------------------------------------------------------------------------------- */

void mt_zero_overlap(float *into, int64_t begin, int64_t end, const float *from, int64_t from_begin, int64_t from_end)
{
    /* TODO 13.13: The elements that both have. */
    MT_TODO("13.13"); /* delete this line when yours stands here */
}

int64_t mt_zero_piece(const mt_zero *z, int64_t param, int rank, int size, int64_t *from, int64_t *to)
{
    int64_t bucket = 0, n = mt_numel(z->param[param]);
    while (mt_ddp_bucket(z->ddp, bucket)->first > param)
        bucket++;
    mt_zero_part(from, to, mt_ddp_bucket(z->ddp, bucket), rank, size);
    *from = mt_min(mt_max(*from - z->place[param], 0), n);
    *to = mt_max(mt_min(*to - z->place[param], n), *from);
    return bucket;
}

/* The items of a list are those of the parameters in order, each ending with its number of steps. */
mt_state mt_zero_saved(mt_zero *z, int rank, int size)
{
    mt_state now = { 0 }, saved = { 0 };
    int64_t param = 0, from, to;
    mt_optim_state(&now, z->optim);
    for (const mt_state_item *item = now.item; item < now.item + now.count; item++)
        if (item->tensor) {
            mt_zero_piece(z, param, rank, size, &from, &to);
            mt_scope_begin();
            mt_shape shape = size == 1 ? mt_view_shape(&z->param[param]->view) : MT_SHAPE(to - from);
            mt_state_tensor(&saved, mt_zeros(shape, MT_F32, z->device), "%s", item->name);
            mt_scope_end();
        } else {
            mt_state_integer(&saved, item->integer, "%s", item->name);
            param++;
        }
    mt_state_free(&now);
    return saved;
}

void mt_zero_take(mt_zero *z, const mt_state *saved, int rank, int size)
{
    mt_state now = { 0 };
    int64_t param = 0, begin, end, from, to;
    mt_optim_state(&now, z->optim);
    MT_CHECK(now.count == saved->count, "zero: a list of %d values, there are %d", (int)saved->count, (int)now.count);
    for (int64_t i = 0; i < now.count; param += !now.item[i++].tensor)
        if (now.item[i].tensor) {
            mt_zero_piece(z, param, z->comm->rank, z->comm->size, &begin, &end);
            mt_zero_piece(z, param, rank, size, &from, &to);
            mt_scope_begin();
            mt_tensor *to_have = now.item[i].tensor, *mine = mt_to_device(to_have, MT_CPU);
            mt_zero_overlap(mt_f32(mine), begin, end, mt_f32(mt_to_device(saved->item[i].tensor, MT_CPU)), from, to);
            if (mine != to_have)
                mt_copy(mt_f32(to_have), z->device, mt_f32(mine), MT_CPU, (end - begin) * (int64_t)sizeof(float));
            mt_scope_end();
        }
    mt_state_free(&now);
}

mt_status mt_zero_gather(mt_zero *z, const mt_state *whole)
{
    mt_state now = { 0 };
    mt_status status = MT_OK;
    int64_t param = 0, from, to;
    mt_optim_state(&now, z->optim);
    for (int64_t i = 0; i < now.count && status == MT_OK; param += !now.item[i++].tensor) {
        mt_tensor *mine = now.item[i].tensor;
        float *all = mine && whole ? mt_f32(whole->item[i].tensor) : NULL;
        if (!mine)
            continue;
        mt_zero_piece(z, param, z->comm->rank, z->comm->size, &from, &to);
        if (z->comm->rank > 0)
            status = mt_send(z->comm, mt_f32(mine), to - from, MT_F32, 0, NULL);
        else
            copy(z, all + from, mt_f32(mine), to - from);
        for (int rank = 1; rank < z->comm->size && all && status == MT_OK; rank++) {
            mt_zero_piece(z, param, rank, z->comm->size, &from, &to);
            status = mt_recv(z->comm, all + from, to - from, MT_F32, rank, NULL);
        }
    }
    mt_state_free(&now);
    return status;
}

/* ---- life --------------------------------------------------------------------------------------- */

/* The parts of this rank, and where their gradients are. */
static void divide(mt_zero *z)
{
    int64_t all = 0, at = 0;
    for (int64_t b = 0; b < z->buckets; b++) {
        const mt_bucket *bucket = mt_ddp_bucket(z->ddp, b);
        shard *s = &z->shard[b];
        s->length = mt_ceil_div(bucket->end - bucket->begin, z->comm->size);
        s->bytes = s->length * z->comm->size * (int64_t)sizeof(float);
        mt_zero_part(&s->begin, &s->end, bucket, z->comm->rank, z->comm->size);
        all += s->end - s->begin;
    }
    z->grads = z->stage == 1 && z->params > 0 ? mt_flat_part(z->param[0]->grad_memory, 0, MT_SHAPE(z->place[z->params]))
                                              : mt_zeros_for(MT_USE_GRADIENT, MT_SHAPE(all), z->device);
    for (shard *s = z->shard; s < z->shard + z->buckets; at += s->end - s->begin, s++)
        s->grads = mt_f32(z->grads) + (z->stage == 1 ? s->begin : at);
}

/* From now on the optimizer has, of each parameter, the part that belongs to this rank. */
static void shard_optimizer(mt_zero *z)
{
    int64_t from, to;
    MT_CHECK(z->optim->count == z->params && !mt_update_rules[z->optim->kind].whole,
             "zero: the optimizer must be one of these parameters, not adafactor or muon, which need whole gradients");
    for (int64_t i = 0; i < z->params; i++) {
        int64_t bucket = mt_zero_piece(z, i, z->comm->rank, z->comm->size, &from, &to);
        const shard *s = &z->shard[bucket];
        int64_t at = from < to ? z->place[i] + from - s->begin : 0;
        mt_tensor *part = z->sharded ? mt_zero3_part(z->sharded, bucket, at, to - from)
                                     : mt_flat_part(z->param[i], from, MT_SHAPE(to - from));
        part->grad_memory = mt_flat_part(z->grads, s->grads - mt_f32(z->grads) + at, MT_SHAPE(to - from));
        mt_optim_replace(z->optim, i, part);
        mt_release(part);
    }
}

mt_status mt_zero_new(mt_zero **out, mt_comm *comm, mt_optim *optim, const mt_state *params,
                      const mt_zero_config *config)
{
    const int64_t n = params->count;
    MT_CHECK(config->stage >= 1 && config->stage <= 3, "zero: there is no stage %d", config->stage);
    mt_zero *z = *out = mt_calloc(1, sizeof *z);
    *z = (mt_zero){ .comm = comm, .optim = optim, .stage = config->stage, .params = n };
    z->param = mt_calloc(n, sizeof(mt_tensor *));
    z->place = mt_calloc(n + 1, sizeof(int64_t));
    z->device = n > 0 && params->item[0].tensor ? params->item[0].tensor->storage->device : MT_CPU;
    bool sends = config->send; /* otherwise, and in another way */
    const mt_ddp_config buckets = { config->bucket_bytes, sends ? config->send : reduce, sends ? config->user : z };
    mt_status status = mt_ddp_new(&z->ddp, comm, params, &buckets);
    for (int64_t i = 0; i < n; i++) {
        z->param[i] = params->item[i].tensor;
        MT_CHECK((z->param[i]->grad_memory != NULL) == (z->stage == 1),
                 "zero: stage 1 is for flat gradients (mt_flat_gradients), stage 2 for others");
        z->place[i + 1] = z->place[i] + mt_flat_room(mt_numel(z->param[i]));
    }
    z->buckets = mt_ddp_buckets(z->ddp);
    z->shard = mt_calloc(z->buckets, sizeof(shard));
    divide(z);
    if (z->stage == 3)
        z->sharded = mt_zero3_new(comm, z->ddp, z->param, z->place);
    shard_optimizer(z);
    return status;
}

void mt_zero_free(mt_zero *z)
{
    if (!z)
        return;
    for (shard *s = z->shard; s < z->shard + z->buckets; s++)
        close_parts(z, s); /* which a step that failed has left open */
    mt_zero3_free(z->sharded);
    mt_ddp_free(z->ddp);
    mt_release(z->grads);
    free(z->shard);
    free(z->place);
    free(z->param);
    free(z);
}
