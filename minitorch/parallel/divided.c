/* divided.c -- a team (train/team.h) whose ranks are a mesh: a GPT-2 is divided among the ranks of a replica, and the
 * replicas share each batch. Every step is one of a pipeline, of a single stage where only matrices are divided. */
#include "parallel/divided.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "kernels/kernels.h"
#include "memory/flat.h"
#include "optim/rules.h"
#include "core/span.h"

typedef mt_divided divided;

static const mt_pipe_kind kind_of[] = {
    [MT_PP_1F1B] = MT_1F1B, [MT_PP_GPIPE] = MT_GPIPE, [MT_PP_INTERLEAVED] = MT_INTERLEAVED
};

static mt_status fits(const mt_team_config *c, const mt_gpt2_config *model, int64_t micro)
{
    int pp = (int)c->pp, chunks = (int)c->schedule.chunks;
    MT_TRY(mt_gpt2_parts_check(model, pp * chunks, (int)c->tp));
    if (c->sequence && model->block % c->tp != 0)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--sp: %" PRId64 " tokens of a sample cannot be divided equally among %d ranks: use a --block "
                       "that is a multiple of --tp",
                       model->block, (int)c->tp);
    mt_pipe_action *actions = mt_calloc(2 * micro * chunks, sizeof *actions);
    mt_status status = mt_pipe_schedule(actions, kind_of[c->schedule.kind], 0, pp, (int)micro, chunks);
    free(actions);
    return status;
}

/* Whether this rank computes a loss that no other rank computes, too. */
static bool tells_loss(const divided *d)
{
    return d->pipeline->rank == d->pipeline->size - 1 && d->tensor->rank == 0;
}

/* *sum: what all ranks have told. */
static mt_status tell(divided *d, mt_told mine, mt_told *sum)
{
    mt_status status = mt_all_gather(d->base.comm, d->told, &mine, sizeof mine, MT_U8, NULL);
    *sum = mt_replicas_told(d->told, d->base.comm->size);
    return status;
}

/* ---- the parts --------------------------------------------------------------------------------------------- */

static mt_status place(mt_team *team, mt_module *model)
{
    divided *d = (divided *)team;
    const mt_team_config *c = d->config;
    const mt_gpt2_parts_config config = { d->pipeline->rank,
                                          (int)c->pp,
                                          (int)c->schedule.chunks,
                                          d->tensor,
                                          .whole_table = strcmp(c->engine, "nccl") == 0,
                                          .sequence = c->sequence };
    d->model = model;
    return mt_gpt2_divide(&d->parts, model, &config);
}

/* ---- a step ------------------------------------------------------------------------------------------------ */

static mt_tensor *forward(void *user, int chunk, int micro, mt_tensor *x)
{
    divided *d = user;
    if (d->around.begin)
        d->around.begin(d->around.user); /* the factor of the loss is 1: there is no f16 here */
    mt_tensor *y = mt_gpt2_parts_forward(d->parts, chunk, x, d->ids[micro], d->targets[micro]);
    if (d->around.end)
        d->around.end(d->around.user);
    return y;
}

/* What parts pass on. */
static mt_shape passed_on(const divided *d, const mt_tensor *ids)
{
    int64_t width = mt_gpt2_config_of(d->model)->width;
    return d->config->sequence ? MT_SHAPE(mt_numel(ids) / d->tensor->size, width)
                               : MT_SHAPE(ids->view.shape[0], ids->view.shape[1], width);
}

static mt_status new_pipe(divided *d, const mt_training *t)
{
    int chunks = (int)d->config->schedule.chunks;
    d->shape = mt_calloc(d->pipeline->size * chunks, sizeof *d->shape);
    for (int part = 0; part < d->pipeline->size * chunks; part++)
        d->shape[part] = passed_on(d, d->ids[0]);
    const mt_pipe_config config = { .kind = kind_of[d->config->schedule.kind],
                                    .micro = (int)t->micro,
                                    .chunks = chunks,
                                    .device = d->device,
                                    .shape = d->shape,
                                    .forward = forward,
                                    .user = d,
                                    .tied = mt_gpt2_parts_tied(d->parts) };
    d->around = t->around;
    return mt_pipe_new(&d->pipe, d->pipeline, &config);
}

/* A tensor of a batch, which the loader lends, for the caller. */
static mt_tensor *taken(const divided *d, mt_tensor *lent)
{
    return mt_to_device(mt_tensor_packed(lent), d->device);
}

/* The micro-batches of a step, in the scope: a loader lends one at a time. */
static bool take_batches(divided *d, const mt_training *t, int64_t *samples)
{
    mt_batch batch;
    if (!d->ids) {
        d->ids = mt_calloc(t->micro, sizeof *d->ids);
        d->targets = mt_calloc(t->micro, sizeof *d->targets);
    }
    for (int64_t m = 0; m < t->micro; m++) {
        if (!t->next(t->source, &batch))
            return false;
        d->ids[m] = taken(d, batch.x);
        d->targets[m] = taken(d, batch.y);
        *samples += batch.count;
    }
    return true;
}

/* The token table's gradient, where all ranks of a stage have all of it: that of rank 0. A GPU adds it up by atomics,
 * in any order. With tokens divided it is a sum over the ranks. */
static mt_status same_table(divided *d)
{
    mt_state params = mt_module_params(d->model);
    const mt_state_item *table = mt_state_find(&params, "wte.weight");
    mt_tensor *grad = table ? table->tensor->grad : NULL;
    mt_state_free(&params);
    if (d->tensor->size == 1 || d->device == MT_CPU || !grad || d->config->sequence)
        return MT_OK;
    return mt_broadcast(d->tensor, mt_f32(grad), mt_numel(grad), MT_F32, 0, NULL);
}

/* What the ranks of a stage add up, or make equal, once backward is done. */
static mt_status add_up_stage(divided *d)
{
    mt_gpt2_parts_sum(d->parts);
    MT_TRY(mt_gpt2_parts_status(d->parts));
    return same_table(d);
}

/* Whether that changes the gradient of a parameter. */
static bool changes(const divided *d, const char *name)
{
    bool is_table = strncmp(name, "wte.", 4) == 0;
    return !mt_gpt2_parts_divides(d->parts, name) && (d->config->sequence || is_table);
}

/* Begins a step. Gradients that change after the last backward are sent later: the token table's, which the first and
 * the last stage add up at the end of mt_pipe_step; and with ZeRO those that change in add_up_stage, since afterwards a
 * rank has its part of them only, and the ranks of a stage may have other parts. */
static void begin(divided *d, int64_t micro, int64_t samples)
{
    mt_state params = mt_module_params(d->model);
    if (d->zero)
        mt_zero_begin(d->zero, micro, samples);
    else
        mt_ddp_begin(d->ddp, micro, samples);
    mt_ddp_hold(d->ddp, mt_gpt2_parts_tied(d->parts));
    for (const mt_state_item *p = params.item; p < params.item + params.count; p++)
        if (d->zero && changes(d, p->name))
            mt_ddp_hold(d->ddp, p->tensor);
    mt_state_free(&params);
}

/* Gradients of all micro-batches, the mean over the replicas. Most are sent while backward of the last micro-batch goes
 * on. */
static mt_status add_up(divided *d, const mt_training *t, int64_t samples, double *loss)
{
    begin(d, t->micro, samples);
    MT_TRY(d->pipe ? MT_OK : new_pipe(d, t));
    MT_TRY(mt_pipe_step(d->pipe, loss));
    MT_TRY(mt_gpt2_parts_status(d->parts));
    MT_TRY(d->zero ? add_up_stage(d) : mt_ddp_finish(d->ddp));
    return d->zero ? mt_zero_finish(d->zero) : add_up_stage(d);
}

/* The square of the norm of all gradients of which this rank has the first copy; with ZeRO, of its part of them. */
static double own_square(const divided *d)
{
    mt_grad_array *arrays = mt_calloc(d->optim->count, sizeof *arrays);
    int64_t count = 0;
    for (const mt_optim_param *p = d->optim->param; p < d->optim->param + d->optim->count; p++)
        if ((d->zero || d->data->rank == 0) && mt_divided_first(d, p->name) && p->tensor->grad)
            arrays[count++] = (mt_grad_array){ mt_f32(p->tensor->grad), mt_numel(p->tensor) };
    double norm = mt_clip_grad_norm_on(d->device, arrays, count, INFINITY);
    free(arrays);
    return norm * norm;
}

static bool gradients(mt_step_result *sum, const mt_training *t)
{
    divided *d = t->user;
    mt_told mine = { 0 }, all = { 0 };
    int64_t samples = 0;
    mt_status status = MT_OK;
    mt_scope_begin();
    bool got = take_batches(d, t, &samples);
    if (got)
        status = add_up(d, t, samples, &mine.loss);
    mt_scope_end();
    if (status == MT_OK && got) {
        mine.samples = tells_loss(d) ? samples : 0;
        mine.square = t->clip > 0 ? own_square(d) : 0;
        mine.stop = mt_cli_stopped();
        status = tell(d, mine, &all);
    }
    d->norm = sqrt(all.square);
    d->base.stop |= all.stop != 0;
    d->base.failed = status;
    *sum = (mt_step_result){ all.loss, all.samples };
    return got && status == MT_OK;
}

/* The same factor on all ranks, so that copies of a parameter stay equal. */
static double clip(void *user, const mt_grad_array *arrays, int64_t count, double limit)
{
    (void)arrays, (void)count;
    divided *d = user;
    float by = (float)(limit / d->norm);
    if (isfinite(d->norm) && d->norm > limit)
        mt_kernels(d->device)->scale_fwd(mt_f32(d->flat), mt_f32(d->flat), by, mt_numel(d->flat));
    return d->norm;
}

static bool apply(void *user, mt_update *updates)
{
    divided *d = user;
    bool done = true;
    if (d->hooks.apply)
        done = d->hooks.apply(d->hooks.user, updates);
    else
        mt_optim_apply(d->optim, updates);
    d->base.failed = d->zero ? mt_zero_updated(d->zero) : MT_OK;
    return done;
}

static mt_status join(mt_team *team, mt_training *t)
{
    divided *d = (divided *)team;
    mt_state params = mt_module_params(t->model);
    d->optim = t->optim, d->hooks = t->optim->hooks;
    t->optim->hooks = (mt_optim_hooks){ clip, apply, d };
    t->gradients = gradients, t->user = d;
    d->flat = mt_flat_gradients(&params);
    d->device = mt_module_device(t->model);
    const mt_zero_config config = { .stage = (int)d->config->zero, .bucket_bytes = d->config->bucket_bytes };
    mt_status status =
        config.stage ? mt_zero_new(&d->zero, d->data, t->optim, &params, &config)
                     : mt_ddp_new(&d->ddp, d->data, &params, &(mt_ddp_config){ .bucket_bytes = config.bucket_bytes });
    d->ddp = d->zero ? mt_zero_ddp(d->zero) : d->ddp;
    mt_state_free(&params);
    return status;
}

/* ---- evaluation --------------------------------------------------------------------------------------------- */

/* A batch through one chunk of this rank. */
static mt_status pass(divided *d, int chunk, const mt_batch *batch, double *loss)
{
    int stage = d->pipeline->rank, stages = d->pipeline->size, part = chunk * stages + stage;
    mt_tensor *x = NULL;
    if (part > 0) {
        x = mt_empty(passed_on(d, batch->x), MT_F32, d->device);
        MT_TRY(mt_recv(d->pipeline, mt_f32(x), mt_numel(x), MT_F32, (stage + stages - 1) % stages, NULL));
    }
    mt_tensor *y = mt_gpt2_parts_forward(d->parts, chunk, x, taken(d, batch->x), taken(d, batch->y));
    if (part < stages * d->config->schedule.chunks - 1)
        return mt_send(d->pipeline, mt_f32(y), mt_numel(y), MT_F32, (stage + 1) % stages, NULL);
    *loss += mt_item(y);
    return mt_gpt2_parts_status(d->parts);
}

static mt_status loss(mt_team *team, double *value, mt_loader *loader)
{
    divided *d = (divided *)team;
    mt_told mine = { .samples = tells_loss(d) }, all;
    mt_status status = MT_OK;
    mt_batch batch;
    mt_no_grad_begin();
    while (status == MT_OK && mt_loader_next(loader, &batch)) {
        mt_scope_begin();
        for (int chunk = 0; chunk < d->config->schedule.chunks && status == MT_OK; chunk++)
            status = pass(d, chunk, &batch, &mine.loss);
        mt_scope_end();
    }
    mt_no_grad_end();
    MT_TRY(status);
    MT_TRY(mt_loader_status(loader));
    mine.loss /= (double)mt_loader_steps(loader);
    MT_TRY(tell(d, mine, &all));
    *value = all.loss;
    return MT_OK;
}

static int64_t sent(const mt_team *team)
{
    const divided *d = (const divided *)team;
    int64_t pipe = d->pipe ? mt_pipe_traffic(d->pipe).values : 0;
    return mt_comm_traffic(d->data).values + pipe + mt_comm_traffic(d->tensor).values;
}

static void list(mt_team *team, mt_state *rest)
{
    mt_optim_state(rest, ((divided *)team)->optim);
}

/* ---- life --------------------------------------------------------------------------------------------------- */

/* The communicators first: what is freed later, a message may still read or write. */
static void leave(mt_team *team)
{
    divided *d = (divided *)team;
    mt_pipe_free(d->pipe);
    mt_mesh_free(d->mesh);
    if (d->zero)
        mt_zero_free(d->zero);
    else
        mt_ddp_free(d->ddp);
    mt_gpt2_parts_free(d->parts);
    d->pipe = NULL, d->mesh = NULL, d->ddp = NULL, d->zero = NULL, d->parts = NULL;
}

static mt_status run_divided(mt_comm *comm, const mt_team_config *config, mt_team_rank *run, void *user)
{
    divided d = { .base = { comm->rank, comm->size, join, .list = list, .leave = leave, .comm = comm, .sent = sent,
                            .tell = mt_replicas_tell },
                  .config = config,
                  .told = mt_calloc(comm->size, sizeof(mt_told)) };
    d.base.place = place, d.base.loss = loss, d.base.move = mt_divided_move;
    mt_status status = mt_mesh_new(&d.mesh, comm, (int)config->dp, (int)config->pp, (int)config->tp);
    if (status == MT_OK) {
        d.data = d.mesh->comm[MT_AXIS_DATA];
        d.pipeline = d.mesh->comm[MT_AXIS_PIPE];
        d.tensor = d.mesh->comm[MT_AXIS_TENSOR];
        d.base.replica = d.data->rank, d.base.replicas = d.data->size;
        status = run(&d.base, user);
    }
    leave(&d.base);
    mt_release(d.flat);
    free(d.shape);
    free(d.ids);
    free(d.targets);
    free(d.told);
    return status;
}

static const mt_team_divider divider = { run_divided, fits };
const mt_team_divider *mt_team_divide = &divider;
