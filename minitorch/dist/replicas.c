/* replicas.c -- see replicas.h. */
#include "dist/replicas.h"

#include <math.h>
#include <stdlib.h>

#include "autograd/tape.h"
#include "dist/compress.h"
#include "memory/flat.h"
#include "dist/zero.h"
#include "kernels/kernels.h"
#include "core/span.h"

/* What ranks tell each other of a step. */
typedef struct told {
    double loss;
    int64_t samples, stop;
} told;

typedef struct replicas {
    mt_team base;
    const mt_team_config *config;
    mt_optim *optim; /* borrowed */
    mt_ddp *ddp;     /* of these two one is NULL */
    mt_zero *zero;
    mt_tensor *flat;    /* the block of all gradients; NULL: each has its own memory. Compressed ones: */
    float *error;       /* [as long as flat] what was not sent yet */
    float **part_error; /* [buckets] of the second phase of 1bit */
    int64_t parts;
    told *told; /* [size] */
} replicas;

/* ---- compressed gradients ------------------------------------------------------------------------------ */

/* The mean over the ranks, as if all had as many samples; n elements on the CPU. */
static mt_status compressed(replicas *p, int64_t bucket, float *grads, int64_t n)
{
    float *error = p->error + mt_ddp_bucket(p->ddp, bucket)->begin;
    if (p->config->compress == MT_TOP_K)
        return mt_topk_all_reduce(p->base.comm, grads, n, mt_ceil_div(n, 100), error);
    return mt_onebit_all_reduce(p->base.comm, grads, n, error, p->part_error[bucket]);
}

/* A complete bucket. Gradients on a GPU are packed, and sent, from the CPU's memory. */
static mt_status send_compressed(void *user, int64_t bucket, float share)
{
    MT_SPAN(MT_SPAN_WAIT); /* packing and messages, while backward stands still */
    replicas *p = user;
    const mt_bucket *b = mt_ddp_bucket(p->ddp, bucket);
    int64_t n = b->end - b->begin;
    float *grads = mt_f32(p->flat) + b->begin, *here = grads;
    mt_device device = mt_device_of(p->flat);
    mt_kernels(device)->scale_fwd(grads, grads, share * (float)p->base.comm->size, n);
    if (device != MT_CPU) {
        here = mt_alloc(n * (int64_t)sizeof(float), MT_CPU);
        mt_copy(here, MT_CPU, grads, device, n * (int64_t)sizeof(float));
    }
    mt_status status = compressed(p, bucket, here, n);
    if (device != MT_CPU) {
        mt_copy(grads, device, here, MT_CPU, n * (int64_t)sizeof(float));
        mt_free(here, n * (int64_t)sizeof(float), MT_CPU);
    }
    return status;
}

static void make_errors(replicas *p, int64_t elements)
{
    p->error = mt_calloc(elements, sizeof(float));
    p->parts = mt_ddp_buckets(p->ddp);
    p->part_error = mt_calloc(p->parts, sizeof(float *));
    for (int64_t b = 0; b < p->parts; b++) {
        const mt_bucket *bucket = mt_ddp_bucket(p->ddp, b);
        p->part_error[b] = mt_calloc(mt_ceil_div(bucket->end - bucket->begin, p->base.comm->size), sizeof(float));
    }
}

/* ---- a step ---------------------------------------------------------------------------------------------- */

static mt_status join(mt_team *team, mt_module *model, mt_optim *optim)
{
    replicas *p = (replicas *)team;
    const mt_team_config *c = p->config;
    mt_state params = mt_module_params(model);
    mt_status status;
    p->optim = optim;
    p->flat = c->zero >= 2 ? NULL : mt_flat_gradients(&params);
    if (c->zero) {
        status =
            mt_zero_new(&p->zero, p->base.comm, optim, &params, &(mt_zero_config){ (int)c->zero, c->bucket_bytes });
    } else {
        const mt_ddp_config config = { c->bucket_bytes, c->compress == MT_PLAIN ? NULL : send_compressed, p };
        status = mt_ddp_new(&p->ddp, p->base.comm, &params, &config);
        if (c->compress != MT_PLAIN)
            make_errors(p, mt_numel(p->flat));
    }
    mt_state_free(&params);
    return status;
}

static void begin(replicas *p, int64_t micro, int64_t samples)
{
    if (p->zero) {
        mt_zero_begin(p->zero, micro, samples);
        return;
    }
    mt_optim_zero_grad(p->optim);
    mt_ddp_begin(p->ddp, micro, samples);
}

/* The rest of a step, when all gradients of this rank are there. */
static mt_status update(replicas *p, double clip)
{
    if (p->zero)
        return mt_zero_step(p->zero, clip > 0 ? clip : INFINITY, NULL);
    mt_status status = mt_ddp_finish(p->ddp);
    if (status == MT_OK && (clip == 0 || isfinite(mt_optim_clip_grad_norm(p->optim, clip))))
        mt_optim_step(p->optim);
    return status;
}

/* Loss and samples of all ranks, in order of rank: the same bits on each. */
static void add_up(const replicas *p, mt_step_result *result, bool *stop)
{
    *result = (mt_step_result){ 0 };
    for (int rank = 0; rank < p->base.comm->size; rank++) {
        result->loss += p->told[rank].loss * (double)p->told[rank].samples;
        result->samples += p->told[rank].samples;
        *stop = *stop || p->told[rank].stop;
    }
    result->loss /= (double)result->samples;
}

static mt_status step(mt_team *team, bool *stepped, bool *stop, mt_step_result *result, const mt_training *t,
                      int64_t number)
{
    MT_SPAN(MT_SPAN_STEP);
    replicas *p = (replicas *)team;
    mt_step_result own = { 0 };
    mt_request *telling;
    int64_t samples = 0;
    for (int64_t m = 0; m < t->micro; m++)
        samples += t->targets(t->source, m);
    begin(p, t->micro, samples);
    *stepped = t->gradients ? t->gradients(&own, t) : mt_train_batch(&own, t, 1);
    if (!*stepped)
        return MT_OK;
    told *mine = &p->told[p->base.comm->rank];
    *mine = (told){ own.loss, own.samples, mt_cli_stopped() };
    mt_status status = mt_all_gather(p->base.comm, p->told, mine, sizeof *mine, MT_U8, &telling);
    mt_optim_set_lr(p->optim, mt_schedule_at(&t->schedule, number));
    mt_status updated = update(p, t->clip);
    if (status == MT_OK)
        status = mt_wait(telling);
    if (status == MT_OK)
        add_up(p, result, stop);
    return updated == MT_OK ? status : updated;
}

static mt_status mean(mt_team *team, double *value)
{
    replicas *p = (replicas *)team;
    double *all = mt_calloc(p->base.comm->size, sizeof *all), sum = 0;
    mt_status status = mt_all_gather(p->base.comm, all, value, sizeof *value, MT_U8, NULL);
    for (int rank = 0; rank < p->base.comm->size; rank++)
        sum += all[rank];
    *value = sum / p->base.comm->size;
    free(all);
    return status;
}

mt_status mt_replicas_tell(mt_team *team, void *all, const void *mine, int64_t bytes)
{
    return mt_all_gather(team->comm, all, mine, bytes, MT_U8, NULL);
}

static int64_t sent(const mt_team *team)
{
    return mt_comm_traffic(team->comm).values;
}

/* ---- checkpoints ----------------------------------------------------------------------------------------- */

static void list(mt_team *team, mt_state *rest)
{
    replicas *p = (replicas *)team;
    if (!p->zero) {
        mt_optim_state(rest, p->optim);
        return;
    }
    mt_state whole = mt_zero_saved(p->zero, 0, 1); /* what one rank alone saves */
    for (const mt_state_item *i = whole.item; i < whole.item + whole.count; i++)
        if (i->tensor)
            mt_state_tensor(rest, i->tensor, "%s", i->name);
        else
            mt_state_integer(rest, i->integer, "%s", i->name);
    mt_state_free(&whole);
}

/* The end of rest: what `list` has appended. */
static mt_state tail(const replicas *p, const mt_state *rest)
{
    mt_state now = { 0 };
    mt_optim_state(&now, p->optim);
    mt_state last = { rest->item + rest->count - now.count, now.count };
    mt_state_free(&now);
    return last;
}

static mt_status whole(mt_team *team)
{
    replicas *p = (replicas *)team;
    return p->zero ? mt_zero_whole(p->zero) : MT_OK;
}

static mt_status gather(mt_team *team, const mt_state *rest)
{
    replicas *p = (replicas *)team;
    MT_TRY(whole(team));
    if (!p->zero)
        return MT_OK;
    mt_state all = rest ? tail(p, rest) : (mt_state){ 0 };
    return mt_zero_gather(p->zero, rest ? &all : NULL);
}

static mt_status broadcast(mt_comm *comm, const mt_state *state)
{
    for (const mt_state_item *i = state->item; i < state->item + state->count; i++)
        if (i->tensor) {
            MT_TRY(mt_broadcast(comm, mt_data(i->tensor), mt_numel(i->tensor), i->tensor->dtype, 0, NULL));
            mt_written(i->tensor);
        } else if (i->integer || i->real) {
            MT_TRY(mt_broadcast(comm, i->integer ? (void *)i->integer : i->real, 8, MT_U8, 0, NULL));
        }
    return MT_OK;
}

static mt_status share(mt_team *team, const mt_state *model, const mt_state *rest)
{
    replicas *p = (replicas *)team;
    MT_TRY(broadcast(p->base.comm, model));
    MT_TRY(broadcast(p->base.comm, rest));
    if (p->zero) {
        mt_state all = tail(p, rest);
        mt_zero_take(p->zero, &all, 0, 1);
        mt_zero_changed(p->zero);
    }
    return MT_OK;
}

/* ---- life ------------------------------------------------------------------------------------------------ */

static void leave(mt_team *team)
{
    replicas *p = (replicas *)team;
    mt_zero_free(p->zero);
    mt_ddp_free(p->ddp);
    p->zero = NULL;
    p->ddp = NULL;
}

mt_status mt_replicas_run(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user)
{
    replicas p = { .base = { comm->rank, comm->size, join, step, mean, list, gather, share, leave, comm->rank,
                             comm->size, .whole = whole, .comm = comm, .sent = sent, .tell = mt_replicas_tell },
                   .config = config,
                   .told = mt_calloc(comm->size, sizeof(told)) };
    mt_status status = run(&p.base, user);
    for (int64_t b = 0; b < p.parts; b++)
        free(p.part_error[b]);
    free(p.part_error);
    free(p.error);
    mt_release(p.flat);
    free(p.told);
    return status;
}
