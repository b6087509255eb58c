/* calls_14_run.c -- how the worker calls steps 14.9 to 14.11: a pipeline of products on several ranks, whose messages
 * and work are noted; see pipe.h and ranks.h. */
#include <stdio.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "parallel/pipe.h"
#include "ops/call.h"
#include "ops/ops.h"
#include "worker/calls_13.h"
#include "worker/calls_14.h"
#include "worker/pipe.h"

static int64_t *results;            /* [P,MG_PIPE_RESULTS] of the call that runs */
static _Thread_local mt_comm *mine; /* of this thread's rank; NULL: it makes no messages now */

/* One rank's parts. A ticket is held by the worker, and by the graph of its micro-batch in its chunk while that
 * lives. */
typedef struct model {
    mt_comm *comm;
    const int64_t *numbers;
    int parts, work;
    float *weights[MG_PIPE_PARTS], *table, *samples; /* where they are in the rank's array */
    mt_tensor *weight[MG_PIPE_PARTS], *tied, *ticket[MG_PIPE_WORK];
} model;

/* Which micro-batch in which chunk a node belongs to. */
typedef struct label {
    model *m;
    int micro, chunk;
} label;

static int64_t live(const model *m)
{
    int64_t count = 0;
    for (int i = 0; i < m->work; i++)
        count += m->ticket[i]->refs > 1;
    return count;
}

static mt_tensor *parameter(mt_shape shape, const float *from)
{
    mt_tensor *t = mt_from(shape, MT_F32, from);
    t->requires_grad = true;
    return t;
}

static model new_model(mt_comm *comm, float *data, const int64_t *numbers)
{
    int chunks = (int)numbers[MG_PIPE_CHUNKS], micro = (int)numbers[MG_PIPE_MICRO];
    const int64_t *width = &numbers[MG_PIPE_WIDTH];
    model m = { .comm = comm, .numbers = numbers, .parts = comm->size * chunks, .work = micro * chunks };
    bool ends = comm->rank == 0 || comm->rank == comm->size - 1;
    MT_CHECK(m.parts <= MG_PIPE_PARTS && m.work <= MG_PIPE_WORK, "a pipeline of %d parts and %d works", m.parts,
             m.work);
    for (int s = 0; s < m.parts; s++) {
        m.weights[s] = data;
        if (s % comm->size == comm->rank)
            m.weight[s] = parameter(MT_SHAPE(width[s], width[s + 1]), data);
        data += width[s] * width[s + 1];
    }
    m.table = data;
    m.samples = data + width[0] * width[0];
    m.tied = numbers[MG_PIPE_TIED] && ends ? parameter(MT_SHAPE(width[0], width[0]), m.table) : NULL;
    for (int i = 0; i < m.work; i++)
        m.ticket[i] = parameter(MT_SHAPE(1), (float[]){ 0 });
    return m;
}

/* Gradients take the places of the parameters. */
static void free_model(model *m)
{
    for (int s = 0; s < m->parts; s++) {
        mt_tensor *w = m->weight[s];
        if (w && w->grad)
            memcpy(m->weights[s], mt_f32(w->grad), (size_t)mt_numel(w) * sizeof(float));
        mt_release(w);
    }
    if (m->tied && m->tied->grad)
        memcpy(m->table, mt_f32(m->tied->grad), (size_t)mt_numel(m->tied) * sizeof(float));
    mt_release(m->tied);
    for (int i = 0; i < m->work; i++)
        mt_release(m->ticket[i]);
}

static void note_backward(mt_node *node, mt_tensor *dout)
{
    const label *of = node->user;
    mt_tensor *dx = mt_grad_of_input(node, 0);
    for (int64_t i = 0; dx && i < mt_numel(dx); i++)
        mt_f32(dx)[i] += mt_f32(dout)[i];
    mg_ranks_work(of->m->comm, true, of->micro, of->chunk, live(of->m));
}

/* A copy of x, whose node has the ticket and notes its backward. */
static mt_tensor *noted(model *m, int micro, int chunk, mt_tensor *x)
{
    static const mt_op op = { "part of a pipeline", MT_OP_ELEMENTWISE, note_backward };
    mt_tensor *y = mt_from(mt_shape_of(x), MT_F32, mt_f32(x));
    label of = { m, micro, chunk };
    mt_tensor *const inputs[] = { x, m->ticket[micro * m->numbers[MG_PIPE_CHUNKS] + chunk] };
    mt_node_copy_user(mt_record(&op, y, inputs, 2), &of, sizeof of);
    mg_ranks_work(m->comm, false, micro, chunk, live(m));
    return y;
}

static mt_tensor *forward(void *user, int chunk, int micro, mt_tensor *x)
{
    model *m = user;
    int s = chunk * m->comm->size + m->comm->rank;
    int64_t rows = m->numbers[MG_PIPE_ROWS], width = m->numbers[MG_PIPE_WIDTH];
    bool is_there = micro >= 0 && micro < m->numbers[MG_PIPE_MICRO] && chunk >= 0 && s < m->parts;
    MT_CHECK(is_there && m->weight[s] && (s == 0) == !x, "rank %d: forward of micro-batch %d in chunk %d gets %s",
             m->comm->rank, micro, chunk, x ? "x" : "no x");
    if (!x)
        x = mt_from(MT_SHAPE(rows, width), MT_F32, m->samples + micro * rows * width);
    if (s == 0 && m->tied)
        x = mt_linear(x, m->tied, NULL);
    x = mt_linear(x, m->weight[s], NULL);
    if (s == m->parts - 1 && m->tied)
        x = mt_linear(x, m->tied, NULL);
    if (s == m->parts - 1)
        x = mt_mean(mt_mul(x, x));
    return noted(m, micro, chunk, x);
}

static mt_status steps(model *m, mt_pipe *pipe, int64_t *result)
{
    mt_status status = MT_OK;
    double loss = 0, none;
    for (int64_t s = 0; s < m->numbers[MG_PIPE_STEPS] && status == MT_OK; s++)
        status = mt_pipe_step(pipe, &loss);
    memcpy(&result[MG_PIPE_LOSS], &loss, sizeof loss);
    result[MG_PIPE_AGAIN] = MT_OK;
    if (status != MT_OK) {
        result[MG_PIPE_AGAIN] = mt_pipe_step(pipe, &none);
        return status;
    }
    mt_traffic said = mt_pipe_traffic(pipe);
    result[MG_PIPE_SAID_MESSAGES] = said.messages;
    result[MG_PIPE_SAID_BYTES] = said.bytes;
    return MT_OK;
}

/* Before a block is freed: no message may still use it. */
static void watch(void *user, mt_device device, const void *data, int64_t bytes)
{
    (void)user, (void)device;
    int64_t row = mine && bytes < 0 ? mg_ranks_message_in(mine, data, -bytes) : -1;
    if (row >= 0)
        results[(ptrdiff_t)mine->rank * MG_PIPE_RESULTS + MG_PIPE_FREED] = row + 1;
}

static mt_status run_pipe(mt_comm *comm, void *data, const int64_t *numbers)
{
    int64_t *result = results + (ptrdiff_t)comm->rank * MG_PIPE_RESULTS;
    char place;
    mt_pipe *const untouched = (mt_pipe *)&place, *pipe = untouched;
    mt_shape shape[MG_PIPE_PARTS];
    bool is_small = numbers[MG_PIPE_STEPS] > 0; /* else numbers that are refused */
    model m = is_small ? new_model(comm, data, numbers) : (model){ 0 };
    for (int s = 0; s < MG_PIPE_PARTS; s++)
        shape[s] = MT_SHAPE(numbers[MG_PIPE_ROWS], numbers[MG_PIPE_WIDTH + s + 1]);
    const mt_pipe_config config = {
        .kind = (mt_pipe_kind)numbers[MG_PIPE_KIND],
        .micro = (int)numbers[MG_PIPE_MICRO],
        .chunks = (int)numbers[MG_PIPE_CHUNKS],
        .shape = shape,
        .forward = forward,
        .user = &m,
        .tied = m.tied,
    };
    mine = comm;
    mt_status status = mt_pipe_new(&pipe, comm, &config);
    result[MG_PIPE_MADE] = pipe != untouched;
    if (status == MT_OK && is_small)
        status = steps(&m, pipe, result);
    char words[MG_RANKS_WORDS];
    snprintf(words, sizeof words, "%s", status == MT_OK ? "" : mt_last_error());
    if (pipe != untouched)
        mt_pipe_free(pipe);
    mine = NULL;
    MT_CHECK(mt_scope_depth() == 0, "rank %d has left %d scopes open", comm->rank, mt_scope_depth());
    free_model(&m);
    return status == MT_OK ? MT_OK : mt_fail(status, "%s", words);
}

void mg_call_pipe_step(const mg_value *v)
{
    int64_t before = mt_live_bytes(MT_CPU);
    results = I64(results);
    memset(results, 0, (size_t)ARRAY(results)->count * sizeof *results);
    mt_alloc_observe(watch, NULL);
    mg_on_ranks(v, run_pipe);
    mt_alloc_observe(NULL, NULL);
    results[MG_PIPE_LEFT] = mt_live_bytes(MT_CPU) - before;
}
