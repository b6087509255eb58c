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

typedef struct replicas {
    mt_team base;
    const mt_team_config *config;
    mt_optim *optim; /* borrowed */
    mt_ddp *ddp;
    mt_zero *zero;      /* NULL: ddp is this rank's, else it is lent by this */
    mt_tensor *flat;    /* the block of all gradients; NULL: each has its own memory. Compressed ones: */
    float *error;       /* [as long as flat] what was not sent yet */
    float **part_error; /* [buckets] of the second phase of 1bit */
    int64_t parts;
    bool (*one)(mt_step_result *sum, const mt_training *training); /* the gradients of this rank */
    mt_optim_hooks hooks;                                          /* the optimizer's own, of its parts (ZeRO) */
    double clip;                                                   /* of this step */
    mt_told *told;                                                 /* [size] */
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

mt_told mt_replicas_told(const mt_told *all, int size)
{
    mt_told sum = { 0 };
    for (const mt_told *t = all; t < all + size; t++) {
        sum.loss += t->loss * (double)t->samples;
        sum.square += t->square;
        sum.samples += t->samples;
        sum.stop |= t->stop;
    }
    sum.loss /= (double)sum.samples;
    return sum;
}

/* The samples of the step, before backward begins. */
static void begin(replicas *p, const mt_training *t)
{
    int64_t samples = 0;
    for (int64_t m = 0; m < t->micro; m++)
        samples += t->targets(t->source, m);
    if (p->zero)
        mt_zero_begin(p->zero, t->micro, samples);
    else
        mt_ddp_begin(p->ddp, t->micro, samples);
}

/* Those of the team: loss and samples are told while the last buckets are under way. */
static bool gradients(mt_step_result *sum, const mt_training *t)
{
    replicas *p = t->user;
    mt_comm *comm = p->base.comm;
    mt_told *mine = &p->told[comm->rank];
    mt_step_result own = { 0 };
    mt_request *telling;
    begin(p, t);
    if (!(p->one ? p->one(&own, t) : mt_train_batch(&own, t, 1)))
        return false;
    *mine = (mt_told){ own.loss, 0, own.samples, mt_cli_stopped() };
    mt_status status = mt_all_gather(comm, p->told, mine, sizeof *mine, MT_U8, &telling);
    p->clip = INFINITY;
    p->base.failed = p->zero ? MT_OK : mt_ddp_finish(p->ddp);
    status = status == MT_OK ? mt_wait(telling) : status;
    p->base.failed = p->base.failed == MT_OK ? status : p->base.failed;
    mt_told all = mt_replicas_told(p->told, comm->size);
    *sum = (mt_step_result){ all.loss, all.samples };
    p->base.stop |= all.stop != 0;
    return p->base.failed == MT_OK;
}

/* ZeRO: a rank knows the norm, and updates its part, once all gradients have come. */
static double clip_later(void *user, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    (void)arrays, (void)count;
    ((replicas *)user)->clip = max_norm;
    return 0;
}

static bool update_part(void *user, mt_update *updates)
{
    (void)updates;
    replicas *p = user;
    mt_optim_hooks team = p->optim->hooks;
    p->optim->hooks = p->hooks;
    p->base.failed = mt_zero_step(p->zero, p->clip, &p->optim->norm);
    p->optim->hooks = team;
    return false; /* mt_zero_step has counted it */
}

static mt_status join(mt_team *team, mt_training *t)
{
    replicas *p = (replicas *)team;
    const mt_team_config *c = p->config;
    mt_state params = mt_module_params(t->model);
    mt_status status;
    p->optim = t->optim, p->hooks = t->optim->hooks, p->one = t->gradients;
    t->gradients = gradients, t->user = p;
    p->flat = c->zero >= 2 ? NULL : mt_flat_gradients(&params);
    const mt_ddp_config config = { c->bucket_bytes, c->compress == MT_PLAIN ? NULL : send_compressed, p };
    if (c->zero) {
        const mt_zero_config parts = { (int)c->zero, config.bucket_bytes, config.send, p };
        status = mt_zero_new(&p->zero, p->base.comm, t->optim, &params, &parts);
        p->ddp = mt_zero_ddp(p->zero);
        t->optim->hooks = (mt_optim_hooks){ clip_later, update_part, p };
    } else {
        status = mt_ddp_new(&p->ddp, p->base.comm, &params, &config);
    }
    if (c->compress != MT_PLAIN)
        make_errors(p, mt_numel(p->flat));
    mt_state_free(&params);
    return status;
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
    if (p->zero)
        mt_zero_free(p->zero);
    else
        mt_ddp_free(p->ddp);
    p->zero = NULL;
    p->ddp = NULL;
}

mt_status mt_replicas_run(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user)
{
    replicas p = { .base = { comm->rank, comm->size, join, mean, list, gather, share, leave, comm->rank, comm->size,
                             .whole = whole, .comm = comm, .sent = sent, .tell = mt_replicas_tell },
                   .config = config,
                   .told = mt_calloc(comm->size, sizeof(mt_told)) };
    mt_status status = run(&p.base, user);
    for (int64_t b = 0; b < p.parts; b++)
        free(p.part_error[b]);
    free(p.part_error);
    free(p.error);
    mt_release(p.flat);
    free(p.told);
    return status;
}
