/* calls_15_ranks.c -- real ranks on a simulated clock: the units of labs 13 and 14, which are the reference's, and the
 * same as tasks, which the student's cluster.c runs. Nothing of the first part calls the student's code. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "parallel/mesh.h"
#include "dist/threads.h"
#include "plan/gpt2_tasks.h"
#include "ops/call.h"
#include "testing/clock_sim.h"
#include "worker/calls_15.h"
#include "worker/cluster.h"

enum { START = 100 /* the second at which all ranks begin, after all that is made before */ };

typedef struct experiment {
    const int64_t *n;
    mt_clock *clock;
    double ended[64];
} experiment;

typedef struct one_rank {
    const experiment *of;
    mt_comm *comm;
    int rank;       /* of all */
    int stage;      /* of its pipeline */
    mt_tensor *own; /* a parameter */
} one_rank;

static double number(const experiment *e, int which)
{
    double x;
    memcpy(&x, &e->n[which], sizeof x);
    return x;
}

static void compute(const experiment *e, int rank, double seconds)
{
    e->clock->sleep(e->clock, rank == e->n[MG_REAL_SLOW] ? seconds * number(e, MG_REAL_FACTOR) : seconds);
}

static void sleep_until(const experiment *e, double second)
{
    e->clock->sleep(e->clock, fmax(0, second - e->clock->now(e->clock)));
}

/* ---- a pipeline ---------------------------------------------------------------------------------------------- */

/* Twice as long as forward. */
static void backward_op(mt_node *node, mt_tensor *dout)
{
    const one_rank *r = *(const one_rank *const *)node->user;
    (void)dout;
    mt_grad_of_input(node, 0);
    mt_grad_of_input(node, 1);
    compute(r->of, r->rank, 2 * number(r->of, MG_REAL_SECONDS + r->stage));
}

static mt_tensor *forward_op(void *user, int chunk, int micro, mt_tensor *x)
{
    static const mt_op op = { "a part", MT_OP_ELEMENTWISE, backward_op };
    const one_rank *r = user;
    const int64_t *n = r->of->n;
    bool last = r->stage + chunk * n[MG_REAL_SIZE] == n[MG_REAL_SIZE] * n[MG_REAL_CHUNKS] - 1;
    mt_tensor *y = mt_zeros(MT_SHAPE(last ? 1 : n[MG_REAL_ACTIVE]), MT_F32, MT_CPU);
    mt_tensor *const inputs[] = { x ? x : r->own, r->own };
    (void)micro;
    mt_node_copy_user(mt_record(&op, y, inputs, 2), &r, sizeof r);
    compute(r->of, r->rank, number(r->of, MG_REAL_SECONDS + r->stage));
    return y;
}

static mt_status pipe_step(one_rank *r, const mt_mesh *mesh)
{
    const int64_t *n = r->of->n;
    mt_shape shape[16];
    for (int i = 0; i < MT_COUNT(shape); i++)
        shape[i] = MT_SHAPE(n[MG_REAL_ACTIVE]);
    r->stage = mesh->comm[MT_AXIS_PIPE]->rank;
    const mt_pipe_config config = { .kind = (mt_pipe_kind)n[MG_REAL_KIND],
                                    .micro = (int)n[MG_REAL_MICRO],
                                    .chunks = (int)n[MG_REAL_CHUNKS],
                                    .shape = shape,
                                    .forward = forward_op,
                                    .user = r,
                                    .tied = n[MG_REAL_TIED] ? r->own : NULL };
    mt_pipe *pipe;
    double loss;
    mt_status status = mt_pipe_new(&pipe, mesh->comm[MT_AXIS_PIPE], &config);
    if (status != MT_OK)
        return status;
    sleep_until(r->of, START);
    status = mt_pipe_step(pipe, &loss);
    float *grads = mt_calloc(n[MG_REAL_ELEMENTS] + 1, sizeof *grads);
    if (status == MT_OK)
        status = mt_ring_all_reduce(mesh->comm[MT_AXIS_DATA], grads, n[MG_REAL_ELEMENTS], MT_F32, MT_SUM);
    free(grads);
    mt_pipe_free(pipe);
    return status;
}

/* ---- the others ------------------------------------------------------------------------------------------------ */

static mt_status collect(const experiment *e, mt_comm *comm, float *data)
{
    int64_t n = e->n[MG_REAL_ELEMENTS];
    sleep_until(e, START + number(e, MG_REAL_SECONDS + comm->rank));
    switch ((mt_algorithm)e->n[MG_REAL_KIND]) {
    case MT_TREE:
        return mt_tree_all_reduce(comm, data, n, MT_F32, MT_SUM);
    case MT_DOUBLING:
        return mt_doubling_all_reduce(comm, data, n, MT_F32, MT_SUM);
    default:
        return mt_ring_all_reduce(comm, data, n, MT_F32, MT_SUM);
    }
}

static mt_status buckets(const experiment *e, mt_comm *comm, float *data)
{
    int64_t n = e->n[MG_REAL_ELEMENTS], count = e->n[MG_REAL_MICRO];
    mt_request *sent[64];
    mt_status status = MT_OK;
    mt_collective_fix(comm, MT_RING);
    sleep_until(e, START);
    for (int64_t b = 0; b < count && status == MT_OK; b++) {
        compute(e, comm->rank, number(e, MG_REAL_SECONDS + comm->rank));
        status = mt_all_reduce(comm, data + b * n, n, MT_F32, MT_SUM, &sent[b]);
    }
    for (int64_t b = 0; b < count && status == MT_OK; b++)
        status = mt_wait(sent[b]);
    return status;
}

static mt_status run_rank(mt_comm *comm, void *user)
{
    experiment *e = user;
    omp_set_num_threads(1);
    float *data = mt_calloc(e->n[MG_REAL_ELEMENTS] * e->n[MG_REAL_MICRO] + 1, sizeof *data);
    mt_status status = MT_OK;
    if (e->n[MG_REAL_ABOUT] == MG_RANKS_PIPE) {
        mt_mesh *mesh;
        mt_scope_begin();
        one_rank r = { e, comm, comm->rank, 0, mt_zeros(MT_SHAPE(e->n[MG_REAL_TIED] + 1), MT_F32, MT_CPU) };
        r.own->requires_grad = true;
        status = mt_mesh_new(&mesh, comm, (int)e->n[MG_REAL_REPLICAS], (int)e->n[MG_REAL_SIZE], 1);
        if (status == MT_OK) {
            status = pipe_step(&r, mesh);
            mt_mesh_free(mesh);
        }
        mt_scope_end();
    } else {
        status = e->n[MG_REAL_ABOUT] == MG_RANKS_COLLECT ? collect(e, comm, data) : buckets(e, comm, data);
    }
    e->ended[comm->rank] = e->clock->now(e->clock) - START;
    free(data);
    return status;
}

static double real_seconds(const int64_t *n)
{
    experiment e = { .n = n, .clock = mt_clock_sim_new() };
    const mt_wires wires = { .clock = e.clock,
                             .network = { number(&e, MG_REAL_LATENCY), number(&e, MG_REAL_BYTE_TIME) } };
    int ranks = (int)(n[MG_REAL_SIZE] * n[MG_REAL_REPLICAS]);
    double last = 0;
    mt_status status = mt_ranks_run(ranks, &wires, run_rank, &e);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    for (int r = 0; r < ranks; r++)
        last = fmax(last, e.ended[r]);
    mt_clock_sim_free(e.clock);
    return last;
}

/* ---- the same as tasks ----------------------------------------------------------------------------------------- */

static void add_pipelines(mt_cluster_tasks *tasks, const experiment *e)
{
    int64_t stages = e->n[MG_REAL_SIZE], replicas = e->n[MG_REAL_REPLICAS], last[64], rank[64], ring[64];
    double forward[8], backward[8];
    for (int s = 0; s < stages; s++)
        backward[s] = 2 * (forward[s] = number(e, MG_REAL_SECONDS + s));
    for (int64_t d = 0; d < replicas; d++) {
        for (int64_t s = 0; s < stages; s++)
            rank[s] = s * replicas + d, last[d * stages + s] = -1;
        const mt_cluster_pipe pipe = { .kind = (mt_pipe_kind)e->n[MG_REAL_KIND],
                                       .stages = (int)stages,
                                       .micro = (int)e->n[MG_REAL_MICRO],
                                       .chunks = (int)e->n[MG_REAL_CHUNKS],
                                       .width = 1,
                                       .rank = rank,
                                       .forward = forward,
                                       .backward = backward,
                                       .bytes = 4 * e->n[MG_REAL_ACTIVE],
                                       .tied = e->n[MG_REAL_TIED] ? 4 * (e->n[MG_REAL_TIED] + 1) : 0 };
        MT_CHECK(mt_cluster_pipeline(tasks, &pipe, last + d * stages) == MT_OK, "%s", mt_last_error());
    }
    for (int64_t s = 0; s < stages; s++) {
        for (int64_t d = 0; d < replicas; d++)
            rank[d] = s * replicas + d, ring[d] = last[d * stages + s];
        mt_cluster_all_reduce(tasks, MT_RING, rank, (int)replicas, e->n[MG_REAL_ELEMENTS], 4, ring);
    }
}

static void add_tasks(mt_cluster_tasks *tasks, const experiment *e)
{
    int64_t rank[8], last[8], done[8], size = e->n[MG_REAL_SIZE], n = e->n[MG_REAL_ELEMENTS];
    bool collects = e->n[MG_REAL_ABOUT] == MG_RANKS_COLLECT;
    for (int64_t r = 0; r < size; r++)
        rank[r] = r, last[r] = done[r] = -1;
    for (int64_t b = 0; b < (collects ? 1 : e->n[MG_REAL_MICRO]); b++) {
        for (int64_t r = 0; r < size; r++) {
            done[r] = mt_cluster_compute(tasks, r, number(e, MG_REAL_SECONDS + (int)r), &done[r], 1);
            last[r] = mt_cluster_join(tasks, (int64_t[]){ done[r], last[r] }, 2);
        }
        mt_cluster_all_reduce(tasks, collects ? (mt_algorithm)e->n[MG_REAL_KIND] : MT_RING, rank, (int)size, n, 4,
                              last);
    }
}

static double simulated_seconds(const int64_t *n)
{
    const experiment e = { .n = n };
    mt_cluster_tasks *tasks = mt_cluster_tasks_new();
    int64_t ranks = n[MG_REAL_SIZE] * n[MG_REAL_REPLICAS];
    const mt_cluster_slow slow = { n[MG_REAL_SLOW], 0, INFINITY, number(&e, MG_REAL_FACTOR) };
    const mt_cluster_link link = { number(&e, MG_REAL_LATENCY), 1 / number(&e, MG_REAL_BYTE_TIME), INFINITY };
    const mt_cluster cluster = {
        .devices = ranks, .machine = 2, .inside = link, .network = link, .slow = &slow, .slows = n[MG_REAL_SLOW] >= 0
    };
    mt_cluster_outcome out = { 0 };
    if (n[MG_REAL_ABOUT] == MG_RANKS_PIPE)
        add_pipelines(tasks, &e);
    else
        add_tasks(tasks, &e);
    MT_CHECK(mt_cluster_run(&out, NULL, &cluster, tasks, 0) == MT_OK, "%s", mt_last_error());
    mt_cluster_tasks_free(tasks);
    return out.end;
}

/* simulated, real [2] bits; experiments [k, MG_REAL_NUMBERS] */
void mg_call_cluster_ranks(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(experiments)->count / MG_REAL_NUMBERS; i++) {
        const int64_t *n = I64(experiments) + i * MG_REAL_NUMBERS;
        double both[2] = { simulated_seconds(n), real_seconds(n) };
        memcpy(I64(simulated, real) + 2 * i, both, sizeof both);
    }
}
