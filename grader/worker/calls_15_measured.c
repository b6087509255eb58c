/* calls_15_measured.c -- a training step of the real framework, on one device and on ranks: bytes that the allocator
 * and the communicators count. It calls nothing of lab 15. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "dist/ddp.h"
#include "fused/fused.h"
#include "memory/flat.h"
#include "parallel/mesh.h"
#include "dist/threads.h"
#include "dist/zero.h"
#include "parallel/parts.h"
#include "memory/recompute.h"
#include "amp/autocast.h"
#include "optim/optim.h"
#include "worker/calls_15.h"
#include "worker/plan.h"

enum { LAYERS = 64 };

/* A model with its optimizer. */
typedef struct model {
    mt_module *module;
    mt_state params;
    mt_optim *optim;
} model;

static mt_module *new_module(const int64_t *m, mt_recompute recompute)
{
    const mt_gpt2_config config = { m[0], m[1], m[2], m[3], m[4], m[5] };
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_fused_use();
    mt_module *module = mt_gpt2_new(&config, &rng);
    mt_recompute each[LAYERS];
    for (int l = 0; l < LAYERS; l++)
        each[l] = recompute;
    mt_gpt2_recompute(module, each);
    return module;
}

static model with_optim(mt_module *module)
{
    model m = { module, mt_module_params(module), mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW)) };
    for (int64_t i = 0; i < m.params.count; i++)
        mt_optim_add(m.optim, m.params.item[i].name, m.params.item[i].tensor);
    return m;
}

static void free_model(model *m)
{
    mt_optim_zero_grad(m->optim);
    mt_optim_free(m->optim);
    mt_state_free(&m->params);
    mt_module_free(m->module);
}

/* ---- one device: state, kept, peak [3]; model, strategy -------------------------------------------------------- */

void mg_call_measured_step(const mg_value *v)
{
    mt_plan_strategy s = mg_plan_strategy(I64(strategy));
    int64_t start = mt_live_bytes(MT_CPU);
    model m = with_optim(new_module(I64(model), s.recompute));
    I64(result)[0] = mt_live_bytes(MT_CPU) - start;
    mt_peak_reset(MT_CPU);
    for (int64_t i = 0; i < s.micro; i++) {
        mt_scope_begin();
        mt_tensor *ids = mt_zeros(MT_SHAPE(s.samples, s.time), MT_I32, MT_CPU);
        int64_t before = mt_live_bytes(MT_CPU);
        mt_autocast_begin(s.dtype);
        mt_tensor *loss = mt_gpt2_loss(m.module, ids, ids);
        mt_autocast_end();
        if (i == 0)
            I64(result)[1] = mt_live_bytes(MT_CPU) - before - loss->storage->bytes;
        mt_backward(loss);
        mt_scope_end();
    }
    I64(result)[2] = mt_peak_bytes(MT_CPU) - start;
    free_model(&m);
}

/* ---- ranks: data, pipe, tensor [ranks,3]; model, strategy ------------------------------------------------------ */

typedef struct job {
    const mg_value *v;
    mt_plan_strategy s;
} job;

typedef struct one_rank {
    const mt_plan_strategy *s;
    mt_gpt2_parts *parts;
    mt_tensor *ids;
} one_rank;

static mt_tensor *forward(void *user, int chunk, int micro, mt_tensor *x)
{
    const one_rank *r = user;
    (void)micro;
    return mt_gpt2_parts_forward(r->parts, chunk, x, r->ids, r->ids);
}

/* Bytes of the messages about the step that are neither gradients nor parameters: how many samples, and ZeRO's norm. */
static mt_status about(mt_comm *data, bool zero)
{
    int64_t samples = 1;
    double *norms = calloc((size_t)data->size, sizeof *norms);
    mt_status status = mt_all_reduce(data, &samples, 1, MT_I64, MT_SUM, NULL);
    if (zero && status == MT_OK)
        status = mt_all_gather(data, norms, &norms[data->rank], sizeof *norms, MT_U8, NULL);
    free(norms);
    return status;
}

static mt_status replica_step(const mt_plan_strategy *s, model *m, mt_comm *data, mt_tensor *ids, int64_t *sent)
{
    mt_zero *zero;
    mt_status status = MT_OK;
    if (s->zero == 1)
        mt_release(mt_flat_gradients(&m->params));
    status = mt_zero_new(&zero, data, m->optim, &m->params, &(mt_zero_config){ (int)s->zero, 1 << 12, NULL, NULL });
    int64_t before = mt_comm_traffic(data).bytes;
    mt_zero_begin(zero, s->micro, s->micro * mt_numel(ids));
    for (int64_t i = 0; i < s->micro; i++) {
        mt_scope_begin();
        mt_backward(mt_gpt2_loss(m->module, ids, ids));
        mt_scope_end();
    }
    if (status == MT_OK)
        status = mt_zero_step(zero, INFINITY, NULL);
    *sent = mt_comm_traffic(data).bytes - before;
    mt_zero_free(zero);
    return status;
}

static mt_status divided_step(one_rank *r, model *m, const mt_mesh *mesh, const int64_t *dims, int64_t *sent)
{
    const mt_plan_strategy *s = r->s;
    mt_shape shape[LAYERS];
    mt_ddp *ddp;
    mt_pipe *pipe = NULL;
    mt_comm *data = mesh->comm[MT_AXIS_DATA], *tensor = mesh->comm[MT_AXIS_TENSOR];
    double loss;
    for (int i = 0; i < LAYERS; i++)
        shape[i] = MT_SHAPE(s->samples, s->time, dims[5]);
    const mt_pipe_config config = { .kind = MT_1F1B,
                                    .micro = (int)s->micro,
                                    .chunks = 1,
                                    .shape = shape,
                                    .forward = forward,
                                    .user = r,
                                    .tied = mt_gpt2_parts_tied(r->parts) };
    mt_release(mt_flat_gradients(&m->params));
    mt_status status = mt_ddp_new(&ddp, data, &m->params, &(mt_ddp_config){ .bucket_bytes = INT64_C(1) << 40 });
    if (status == MT_OK)
        status = mt_pipe_new(&pipe, mesh->comm[MT_AXIS_PIPE], &config);
    int64_t before = mt_comm_traffic(data).bytes, tensor_before = mt_comm_traffic(tensor).bytes;
    mt_ddp_begin(ddp, s->micro + 1, s->micro * mt_numel(r->ids));
    if (status == MT_OK)
        status = mt_pipe_step(pipe, &loss);
    if (status == MT_OK)
        status = mt_ddp_finish(ddp);
    sent[0] = mt_comm_traffic(data).bytes - before;
    sent[1] = pipe ? mt_pipe_traffic(pipe).bytes : 0;
    sent[2] = mt_comm_traffic(tensor).bytes - tensor_before;
    mt_pipe_free(pipe);
    mt_ddp_free(ddp);
    return status;
}

static mt_status run(mt_comm *comm, void *user)
{
    const job *j = user;
    const mg_value *v = j->v;
    const mt_plan_strategy *s = &j->s;
    const int64_t *dims = I64(model);
    int64_t *sent = I64(result) + (ptrdiff_t)3 * comm->rank;
    one_rank r = { s, NULL, NULL };
    mt_mesh *mesh;
    omp_set_num_threads(1); /* of this rank */
    mt_status status = mt_mesh_new(&mesh, comm, (int)s->dp, (int)s->pp, (int)s->tp);
    if (status != MT_OK)
        return status;
    mt_comm *data = mesh->comm[MT_AXIS_DATA];
    mt_module *module = new_module(dims, s->recompute);
    mt_scope_begin();
    r.ids = mt_zeros(MT_SHAPE(s->samples, s->time), MT_I32, MT_CPU);
    memset(sent, 0, 3 * sizeof *sent);
    if (s->zero == 0) {
        const mt_gpt2_parts_config config = { .stage = mesh->comm[MT_AXIS_PIPE]->rank,
                                              .stages = (int)s->pp,
                                              .chunks = 1,
                                              .tensor = mesh->comm[MT_AXIS_TENSOR] };
        status = mt_gpt2_divide(&r.parts, module, &config);
    }
    model m = with_optim(module);
    if (status == MT_OK)
        status = s->zero ? replica_step(s, &m, data, r.ids, sent) : divided_step(&r, &m, mesh, dims, sent);
    int64_t before = mt_comm_traffic(data).bytes;
    if (status == MT_OK)
        status = about(data, s->zero > 0);
    sent[0] -= mt_comm_traffic(data).bytes - before;
    mt_scope_end();
    free_model(&m);
    mt_gpt2_parts_free(r.parts);
    mt_mesh_free(mesh);
    return status;
}

void mg_call_measured_wire(const mg_value *v)
{
    job j = { v, mg_plan_strategy(I64(strategy)) };
    const mt_wires wires = { .network = { 0, 1e-12 }, .deadline = 20 };
    mt_status status = mt_ranks_run((int)(j.s.dp * j.s.pp * j.s.tp), &wires, run, &j);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
}
