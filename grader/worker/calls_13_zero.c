/* calls_13_zero.c -- how the worker calls steps 13.10 to 13.13: steps of sharded training, whose gradients are numbers
 * of the checker. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "memory/flat.h"
#include "dist/zero.h"
#include "worker/calls_13_training.h"

void mg_call_zero_part(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(begin)->count; i++) {
        mt_bucket b = { .begin = I64(bucket begin)[i], .end = I64(bucket end)[i] };
        mt_zero_part(&I64(begin)[i], &I64(end)[i], &b, (int)I64(rank)[i], (int)I64(size)[i]);
    }
}

/* results [P,MG_ZERO_RESULTS], rows [P,..], parameters [P,flat] (before and after), norms [P,steps] (bits of doubles);
 * sizes [K], numbers, samples [P], gradients [steps,P,flat], used [steps,P,K], max_norm */
typedef struct model {
    const mg_value *v;
    int64_t rank, size, count, flat, *place;
    mt_tensor **param;
    mt_optim *optim;
    mt_state list;
    int64_t closed, open;  /* MG_ZERO_CLOSED, MG_ZERO_OPEN */
    struct model *another; /* which this thread reads, too; NULL: none */
} model;

static int64_t bytes_before; /* of tensors */

static model new_model(const mt_comm *comm, const mg_value *v)
{
    mt_update_kind kind = I64(numbers)[MG_ZERO_ADAM] ? MT_ADAMW : MT_MOMENTUM;
    mt_hyper hyper = mt_hyper_default(kind);
    hyper.lr = 0.5, hyper.momentum = 0.5, hyper.weight_decay = 0;
    model m = { .v = v, .rank = comm->rank, .size = comm->size, .count = ARRAY(sizes)->count };
    m.optim = mt_optim_new(kind, hyper);
    m.param = calloc((size_t)m.count, sizeof *m.param);
    m.place = calloc((size_t)m.count, sizeof *m.place);
    MT_CHECK(m.param && m.place, "out of memory");
    m.flat = ARRAY(parameters)->count / m.size;
    for (int64_t i = 0, at = 0; i < m.count; i++) {
        char name[24];
        snprintf(name, sizeof name, "p%lld", (long long)i);
        m.param[i] = mt_from(MT_SHAPE(I64(sizes)[i]), MT_F32, F(parameters) + m.rank * m.flat + at);
        m.param[i]->requires_grad = true;
        mt_optim_add(m.optim, name, m.param[i]);
        mt_state_tensor(&m.list, m.param[i], "%s", name);
        m.place[i] = at;
        at += mt_ceil_div(I64(sizes)[i], 16) * 16;
    }
    if (I64(numbers)[MG_ZERO_STAGE] == 1)
        mt_release(mt_flat_gradients(&m.list));
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

/* An op that reads two parameters. */
static void read_two(model *m, int64_t i, int64_t j)
{
    const float *one = mt_f32(m->param[i]), *two = mt_f32(m->param[j]);
    const mt_tensor *a = m->param[i], *b = m->param[j];
    m->closed += !a->storage->data || !b->storage->data || one != (float *)a->storage->data + a->view.offset ||
                 two != (float *)b->storage->data + b->view.offset;
}

/* Two at a time; before and after them the first and the last, as a language model reads its table of tokens. The
 * last is read again when it is the one that was opened first. Then another model is, which closes nothing here. */
static void forward(model *m)
{
    read_two(m, m->count - 1, 0);
    read_two(m, m->count - 1, 1);
    if (m->another)
        read_two(m->another, 0, 1);
    for (int64_t i = 0; i < m->count; i += 2)
        read_two(m, i, mt_min(i + 1, m->count - 1));
    read_two(m, m->count - 1, 0);
}

static void backward(model *m, int64_t step)
{
    const mg_value *v = m->v;
    int64_t which = step * m->size + m->rank;
    for (int64_t i = m->count - 1; i >= 0; i--) {
        mt_tensor *p = m->param[i];
        read_two(m, i, i);
        if (!I64(used)[which * m->count + i])
            continue;
        p->grad = p->grad_memory ? mt_retain(p->grad_memory) : mt_zeros(mt_view_shape(&p->view), MT_F32, MT_CPU);
        memcpy(mt_f32(p->grad), F(gradients) + which * m->flat + m->place[i], (size_t)mt_numel(p) * sizeof(float));
        mt_grad_ready(p);
    }
}

/* At a collective: neighbours share the memory of their bucket. */
static void count_open(mg_hub_rank *rank, const mt_collective *call)
{
    model *m = rank->user;
    int64_t open = 0;
    for (int64_t i = 0; i < m->count; i++) {
        const mt_storage *memory = m->param[i]->storage;
        open += memory->data && (i == 0 || memory != m->param[i - 1]->storage);
    }
    if (call->kind == MT_ALL_GATHER && call->dtype == MT_F32)
        m->open = mt_max(m->open, open);
}

/* A communicator of one rank, whose collectives do not come to the hub. */
static mt_status alone(mt_comm *comm, const mt_collective *c, mt_request **request)
{
    (void)comm;
    if (c->out != c->in && c->n > 0)
        memmove(c->out, c->in, (size_t)(c->n * mt_dtype_size(c->dtype)));
    if (request)
        *request = NULL;
    return MT_OK;
}

static const mt_comm_engine engine_alone = { "alone", alone, NULL, NULL, NULL };

static mt_status train(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    const int64_t *numbers = I64(numbers);
    model m = new_model(&rank->base, v);
    int64_t *result = I64(results) + m.rank * MG_ZERO_RESULTS, steps = numbers[MG_ZERO_STEPS];
    mt_zero *zero, *second = NULL;
    mt_comm one = { .rank = 0, .size = 1, .engine = &engine_alone };
    model another;
    if (numbers[MG_ZERO_STAGE] == 3 && !numbers[MG_ZERO_ADAM]) {
        another = new_model(&one, v);
        m.another = &another;
        mt_zero_new(&second, &one, another.optim, &another.list, &(mt_zero_config){ 3, 4 * 16, NULL, NULL });
    }
    const mt_zero_config config = { (int)numbers[MG_ZERO_STAGE], numbers[MG_ZERO_LIMIT], NULL, NULL };
    mt_status status = mt_zero_new(&zero, &rank->base, m.optim, &m.list, &config);
    result[MG_ZERO_HAS] = 0;
    if (numbers[MG_ZERO_STAGE] == 3)
        rank->seen = count_open, rank->user = &m;
    for (int64_t s = 0; s < steps && status == MT_OK; s++) {
        double norm = 0;
        mt_zero_begin(zero, 1, I64(samples)[m.rank]);
        forward(&m);
        backward(&m, s);
        status = mt_zero_step(zero, (double)S(max_norm), &norm);
        memcpy(&I64(norms)[m.rank * steps + s], &norm, sizeof norm);
    }
    result[MG_ZERO_CALLS] = rank->calls;
    result[MG_ZERO_CLOSED] = m.closed + (second ? another.closed : 0);
    result[MG_ZERO_OPEN] = m.open;
    rank->seen = NULL;
    if (numbers[MG_ZERO_ADAM] && mt_barrier(&rank->base) == MT_OK) { /* no rank goes on before all have looked */
        result[MG_ZERO_BYTES] = mt_live_bytes(MT_CPU) - bytes_before;
        mt_barrier(&rank->base);
    }
    for (int64_t i = 0; i < m.count; i++) {
        result[MG_ZERO_HAS] += m.param[i]->grad != NULL;
        memcpy(F(parameters) + m.rank * m.flat + m.place[i], mt_f32(m.param[i]),
               (size_t)mt_numel(m.param[i]) * sizeof(float));
    }
    result[MG_ZERO_STATUS] = status;
    mt_zero_free(zero);
    free_model(&m);
    mt_zero_free(second);
    if (second)
        free_model(&another);
    return MT_OK;
}

void mg_call_zero(const mg_value *v)
{
    bytes_before = mt_live_bytes(MT_CPU);
    mg_on_hub((int)ARRAY(samples)->count, I64(numbers), I64(rows), train, (void *)v);
}
