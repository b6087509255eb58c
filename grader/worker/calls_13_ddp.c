/* calls_13_ddp.c -- how the worker calls steps 13.6 to 13.9: backward is a script, which says when which gradient is
 * complete; gradients are numbers of the checker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "dist/ddp.h"
#include "memory/flat.h"
#include "optim/optim.h"
#include "worker/calls_13_training.h"

/* results [P,MG_DDP_RESULTS], rows [P,..], parameters [P,flat] (first what a rank has, then what all have), gradients
 * [P,flat], has a gradient [P,K]; sizes [K], numbers, samples [steps,P], gradients of backward [steps,P,micro,flat],
 * order [steps,P,micro,K] (-1: no gradient), nanoseconds before each [P,K] */
typedef struct model {
    const mg_value *v;
    mg_hub_rank *rank;
    int64_t count, flat, *place; /* parameters, elements of all */
    mt_tensor **param;
    mt_optim *optim;
    mt_state list;
} model;

static model new_model(mg_hub_rank *rank, const mg_value *v)
{
    model m = { .v = v, .rank = rank, .count = ARRAY(sizes)->count };
    m.optim = mt_optim_new(MT_SGD, mt_hyper_default(MT_SGD));
    m.param = calloc((size_t)m.count, sizeof *m.param);
    m.place = calloc((size_t)m.count, sizeof *m.place);
    m.flat = ARRAY(parameters)->count / rank->base.size;
    MT_CHECK(m.param && m.place, "out of memory");
    for (int64_t i = 0, at = 0; i < m.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%lld", (long long)i);
        int64_t n = I64(sizes)[i];
        const mt_shape shapes[] = { MT_SHAPE(1, 1, n), MT_SHAPE(n, 1), MT_SHAPE(n) };
        m.param[i] = mt_from(shapes[i % 3], MT_F32, F(parameters) + rank->base.rank * m.flat + at);
        m.param[i]->requires_grad = true;
        mt_optim_add(m.optim, name, m.param[i]);
        mt_state_tensor(&m.list, m.param[i], "%s", name);
        m.place[i] = at;
        at += mt_ceil_div(I64(sizes)[i], 16) * 16;
    }
    mt_tensor *flat = mt_flat_gradients(&m.list);
    rank->array = mt_data(flat);
    rank->bytes = mt_numel(flat) * (int64_t)sizeof(float);
    memset(mt_data(flat), 0, (size_t)rank->bytes);
    mt_release(flat); /* the parameters hold its memory */
    return m;
}

static void free_model(model *m)
{
    mt_optim_zero_grad(m->optim);
    mt_optim_free(m->optim);
    mt_state_free(&m->list);
    for (int64_t i = 0; i < m->count; i++)
        mt_release(m->param[i]);
    free(m->param);
    free(m->place);
}

static void take(const model *m, int64_t i, const float *given)
{
    mt_tensor *p = m->param[i];
    if (!p->grad) {
        p->grad = mt_retain(p->grad_memory);
        memset(mt_f32(p->grad), 0, (size_t)mt_numel(p) * sizeof(float));
    }
    for (int64_t k = 0; k < mt_numel(p); k++)
        mt_f32(p->grad)[k] += given[m->place[i] + k];
    mt_grad_ready(p);
}

static mt_status step(const model *m, mt_ddp *ddp, int64_t number)
{
    const mg_value *v = m->v;
    const int64_t *numbers = I64(numbers);
    int rank = m->rank->base.rank, size = m->rank->base.size;
    int64_t samples = I64(samples)[number * size + rank], micro = samples ? numbers[MG_DDP_MICRO] : 0;
    mt_clock *clock = mg_hub_clock(m->rank);
    mt_optim_zero_grad(m->optim);
    mt_ddp_begin(ddp, micro, samples);
    mt_tensor *held = numbers[MG_DDP_HELD] < 0 ? NULL : m->param[numbers[MG_DDP_HELD]];
    if (held)
        mt_ddp_hold(ddp, held);
    clock->sleep(clock, 1e-9 * (double)numbers[MG_DDP_FORWARD]);
    for (int64_t b = 0; b < micro; b++) {
        int64_t which = (number * size + rank) * numbers[MG_DDP_MICRO] + b;
        for (int64_t k = 0; k < m->count; k++) {
            int64_t i = I64(order)[which * m->count + k];
            clock->sleep(clock, 1e-9 * (double)I64(pauses)[rank * m->count + k]);
            if (i >= 0)
                take(m, i, F(gradients of backward) + which * m->flat);
        }
    }
    for (int64_t k = 0; held && held->grad && k < mt_numel(held); k++)
        mt_f32(held->grad)[k] *= 2;
    return mt_ddp_finish(ddp);
}

static void copy_out(const model *m)
{
    const mg_value *v = m->v;
    int rank = m->rank->base.rank;
    for (int64_t i = 0; i < m->count; i++) {
        int64_t at = rank * m->flat + m->place[i], n = mt_numel(m->param[i]);
        memcpy(F(parameters) + at, mt_f32(m->param[i]), (size_t)n * sizeof(float));
        I64(has a gradient)[rank * m->count + i] = m->param[i]->grad != NULL;
        if (m->param[i]->grad)
            memcpy(F(gradients) + at, mt_f32(m->param[i]->grad), (size_t)n * sizeof(float));
    }
}

static mt_status train(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    const int64_t *numbers = I64(numbers);
    model m = new_model(rank, v);
    int64_t *result = I64(results) + rank->base.rank * MG_DDP_RESULTS;
    mt_ddp *ddp;
    memset(F(gradients) + rank->base.rank * m.flat, 0, (size_t)m.flat * sizeof(float));
    mt_status status = mt_ddp_new(&ddp, &rank->base, &m.list, &(mt_ddp_config){ numbers[MG_DDP_LIMIT], NULL, NULL });
    result[MG_DDP_BEGAN] = mg_hub_now(rank);
    for (int64_t s = 0; s < numbers[MG_DDP_STEPS] && status == MT_OK; s++)
        status = step(&m, ddp, s);
    result[MG_DDP_ENDED] = mg_hub_now(rank);
    result[MG_DDP_STATUS] = status;
    result[MG_DDP_CALLS] = rank->calls;
    copy_out(&m);
    mt_ddp_free(ddp);
    free_model(&m);
    return MT_OK;
}

void mg_call_ddp(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_DDP_RESULTS), I64(numbers), I64(rows), train, (void *)v);
}
