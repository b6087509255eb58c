/* test_pipe.c -- pipelines on several ranks: against one device; messages, times, and ranks that leave. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/rng.h"
#include "core/scope.h"
#include "parallel/pipe.h"
#include "on_ranks.h"
#include "ops/call.h"
#include "ops/ops.h"

TestSuite(pipe, .timeout = 60);

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* ---- runs: layers of odd widths, of which the first and the last share a table ------------------------------ */

enum { RANKS = 4, PARTS = 8, ROWS = 3 };

/* Part s: [ROWS, width[s]] -> [ROWS, width[s + 1]]; the last one ends in a mean. */
static const int64_t width[PARTS + 1] = { 5, 7, 1, 13, 4, 3, 11, 2, 5 };

typedef struct trial_of {
    mt_pipe_kind kind;
    int ranks, micro, chunks, steps;
    int leaves; /* the rank that leaves instead of its steps; -1: none */
    bool tied;
    double forward; /* seconds */
    mt_clock *clock;
    float grad[PARTS][200], table[RANKS][25]; /* of the weight of each part; of the table, by rank */
    double loss[RANKS];
    int live[RANKS], most[RANKS];
    mt_traffic sent[RANKS];
    mt_status status[RANKS];
    char words[RANKS][300];
} trial_of;

typedef struct model {
    trial_of *t;
    int rank, parts, steps;
    mt_tensor *weight[PARTS], *table[2]; /* of the parts of this rank; of the first and of the last part */
} model;

static trial_of trial_with(mt_pipe_kind kind, int ranks, int micro, int chunks, bool tied)
{
    return (trial_of){
        .kind = kind, .ranks = ranks, .micro = micro, .chunks = chunks, .steps = 1, .leaves = -1, .tied = tied
    };
}

static int64_t width_after(int parts, int part)
{
    return part == parts - 1 ? width[PARTS] : width[part + 1];
}

static mt_tensor *filled(uint64_t seed, mt_shape shape)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    mt_tensor *t = mt_empty(shape, MT_F32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(t); i++)
        mt_f32(t)[i] = (float)mt_rng_normal(&rng);
    return t;
}

static model new_model(trial_of *t, int rank, int ranks)
{
    model m = { .t = t, .rank = rank, .parts = t->ranks * t->chunks };
    for (int part = 0; part < m.parts; part++)
        if (part % ranks == rank || ranks == 1) {
            m.weight[part] = filled((uint64_t)part, MT_SHAPE(width[part], width_after(m.parts, part)));
            m.weight[part]->requires_grad = true;
        }
    for (int end = 0; end < 2 && t->tied; end++)
        if (rank == end * (ranks - 1)) {
            m.table[end] = filled(99, MT_SHAPE(5, 5));
            m.table[end]->requires_grad = true;
        }
    return m;
}

/* The backward of a part on simulated time: it sleeps, and copies the gradient. */
static void sleep_backward(mt_node *node, mt_tensor *dout)
{
    model *m = *(model **)node->user;
    mt_tensor *dx = mt_grad_of_input(node, 0);
    for (int64_t i = 0; dx && i < mt_numel(dx); i++)
        mt_f32(dx)[i] += mt_f32(dout)[i];
    m->t->clock->sleep(m->t->clock, 2 * m->t->forward);
    m->t->live[m->rank]--;
}

static mt_tensor *copy_that_sleeps(model *m, mt_tensor *x)
{
    static const mt_op op = { "part of a pipeline", MT_OP_ELEMENTWISE, sleep_backward };
    mt_tensor *y = mt_empty(mt_shape_of(x), MT_F32, MT_CPU);
    memcpy(mt_f32(y), mt_f32(x), (size_t)mt_numel(x) * sizeof(float));
    m->t->clock->sleep(m->t->clock, m->t->forward);
    m->t->most[m->rank] = (int)mt_max(m->t->most[m->rank], ++m->t->live[m->rank]);
    mt_node *node = mt_record(&op, y, &x, 1);
    mt_node_copy_user(node, &m, sizeof m);
    return y;
}

static mt_tensor *part(model *m, int s, int micro, mt_tensor *x)
{
    if (!x)
        x = filled(1000 + (uint64_t)micro, MT_SHAPE(ROWS, width[0]));
    if (s == 0 && m->table[0])
        x = mt_linear(x, m->table[0], NULL);
    x = mt_tanh(mt_linear(x, m->weight[s], NULL));
    if (s == m->parts - 1 && m->table[1])
        x = mt_linear(x, m->table[1], NULL);
    if (s == m->parts - 1)
        x = mt_mean(x);
    return m->t->clock ? copy_that_sleeps(m, x) : x;
}

static mt_tensor *forward(void *user, int chunk, int micro, mt_tensor *x)
{
    model *m = user;
    return part(m, chunk * m->t->ranks + m->rank, micro, x);
}

static void take_gradients(trial_of *t, model *m)
{
    for (int s = 0; s < m->parts; s++)
        if (m->weight[s] && m->weight[s]->grad)
            memcpy(t->grad[s], mt_f32(m->weight[s]->grad), (size_t)mt_numel(m->weight[s]) * sizeof(float));
    for (int end = 0; end < 2; end++) {
        for (int i = 0; i < 25 && m->table[end] && m->table[end]->grad; i++)
            t->table[m->rank][i] += mt_f32(m->table[end]->grad)[i];
        mt_release(m->table[end]);
    }
    for (int s = 0; s < m->parts; s++)
        mt_release(m->weight[s]);
}

static mt_status train(mt_comm *comm, void *user)
{
    trial_of *t = user;
    model m = new_model(t, comm->rank, comm->size);
    mt_shape shape[PARTS];
    mt_pipe *pipe = NULL;
    for (int s = 0; s < m.parts; s++)
        shape[s] = MT_SHAPE(ROWS, width_after(m.parts, s));
    mt_status status = mt_pipe_new(&pipe, comm,
                                   &(mt_pipe_config){ t->kind, t->micro, t->chunks, shape, forward, &m,
                                                      m.table[0] ? m.table[0] : m.table[1], .device = MT_CPU });
    for (int i = 0; i < t->steps && status == MT_OK && t->leaves != comm->rank; i++)
        status = mt_pipe_step(pipe, &t->loss[comm->rank]);
    if (status != MT_OK)
        snprintf(t->words[comm->rank], sizeof t->words[0], "%s", mt_last_error());
    t->status[comm->rank] = status;
    if (pipe)
        t->sent[comm->rank] = mt_pipe_traffic(pipe);
    mt_pipe_free(pipe);
    take_gradients(t, &m);
    return status;
}

/* One device, micro-batch after micro-batch. */
static void on_one_device(trial_of *t)
{
    model m = new_model(t, 0, 1);
    for (int micro = 0; micro < t->micro; micro++) {
        mt_scope_begin();
        mt_tensor *x = NULL;
        for (int s = 0; s < m.parts; s++)
            x = part(&m, s, micro, x);
        t->loss[0] += (double)mt_f32(x)[0] / t->micro;
        mt_backward(mt_scale(x, 1 / (float)t->micro));
        mt_scope_end();
    }
    take_gradients(t, &m);
}

/* All bits: the table is here two copies, whose gradients are added at the end, as two ranks do it. */
static void equals_one_device(mt_pipe_kind kind, int ranks, int micro, int chunks, bool tied)
{
    trial_of one = trial_with(kind, ranks, micro, chunks, tied), many = one;
    on_one_device(&one);
    trial ended = run(ranks, (mt_wires){ .deadline = 1000 }, train, &many);
    cr_assert_eq(ended.status, MT_OK, "%d ranks, %d micro-batches, %d chunks: %s", ranks, micro, chunks,
                 mt_last_error());
    cr_assert(memcmp(one.grad, many.grad, sizeof one.grad) == 0, "%d ranks, %d micro-batches, %d chunks", ranks, micro,
              chunks);
    cr_assert_eq(many.loss[ranks - 1], one.loss[0]);
    cr_assert(memcmp(one.table[0], many.table[0], sizeof one.table[0]) == 0);
    cr_assert(memcmp(one.table[0], many.table[ranks - 1], sizeof one.table[0]) == 0);
    for (int r = 0, parts = ranks * chunks; r < ranks; r++) {
        mt_traffic want = { 0 };
        for (int s = r; s < parts; s += ranks) {
            want.messages += (s < parts - 1) * micro + (s > 0) * micro;
            want.bytes += 4 * ROWS * micro * ((s < parts - 1) * width[s + 1] + (s > 0) * width[s]);
        }
        if (tied && ranks > 1 && (r == 0 || r == ranks - 1))
            want.messages++, want.bytes += 4 * 25;
        cr_assert(many.sent[r].messages == want.messages && many.sent[r].bytes == want.bytes);
    }
}

Test(pipe, equals_one_device)
{
    for (int ranks = 1; ranks <= RANKS; ranks++)
        for (int micro = 1; micro <= 9; micro += 1 + micro / 3)
            for (int tied = 0; tied < 2; tied++) {
                equals_one_device(MT_GPIPE, ranks, micro, 1, tied);
                equals_one_device(MT_1F1B, ranks, micro, 1, tied);
            }
    for (int ranks = 2; ranks <= RANKS; ranks++)
        for (int groups = 1; groups <= 3; groups++)
            for (int chunks = 1; chunks * ranks <= PARTS; chunks++)
                equals_one_device(MT_INTERLEAVED, ranks, groups * ranks, chunks, groups == 2);
}

/* Without mt_zero_grad between them: what both ends have added is not added again. */
Test(pipe, a_second_step_adds_as_much_to_the_tied_gradient)
{
    for (int ranks = 2; ranks <= RANKS; ranks++)
        for (int kind = 0; kind < 3; kind++) {
            trial_of one = trial_with((mt_pipe_kind)kind, ranks, ranks, kind == MT_INTERLEAVED ? 2 : 1, true);
            trial_of two = one;
            two.steps = 2;
            cr_assert_eq(run(ranks, (mt_wires){ .deadline = 1000 }, train, &one).status, MT_OK);
            cr_assert_eq(run(ranks, (mt_wires){ .deadline = 1000 }, train, &two).status, MT_OK);
            for (int end = 0; end < 2; end++)
                for (int i = 0; i < 25; i++)
                    cr_assert_eq(two.table[end * (ranks - 1)][i], 2 * one.table[0][i], "%d ranks, kind %d", ranks,
                                 kind);
        }
}

static double in_time(mt_pipe_kind kind, int micro, int chunks, double transfer, int *most)
{
    trial_of t = trial_with(kind, 4, micro, chunks, false);
    t.forward = 1.0 / chunks;
    t.clock = mt_clock_sim_new();
    mt_wires wires = { .clock = t.clock, .network = { transfer, 0 } };
    double began = t.clock->now(t.clock);
    cr_assert_eq(mt_ranks_run(4, &wires, train, &t), MT_OK, "%s", mt_last_error());
    double seconds = t.clock->now(t.clock) - began;
    mt_clock_sim_free(t.clock);
    memcpy(most, t.most, sizeof t.most);
    return seconds;
}

Test(pipe, runs_take_the_time_of_the_schedule)
{
    int most[RANKS];
    /* mt_pipe_new splits the communicator: the ranks send their wishes to rank 0, one after the other, and get an
     * answer: 6 messages */
    for (int k = 0; k < 4; k++) {
        double transfer = k / 2 * 0.1, setup = 6 * transfer, want = k == 2 ? 33.6 : k == 3 ? 34.6 : 33;
        double got = in_time(k % 2 ? MT_1F1B : MT_GPIPE, 8, 1, transfer, most) - setup;
        cr_assert(near(got, want), "%s with %g: %.9g", k % 2 ? "1f1b" : "gpipe", transfer, got);
        for (int r = 0; r < 4; r++)
            cr_assert_eq(most[r], k % 2 ? 4 - r : 8);
    }
    cr_assert(near(in_time(MT_INTERLEAVED, 8, 2, 0, most), 28.5));
}

Test(pipe, a_rank_that_leaves_ends_all_in_words)
{
    for (int kind = 0; kind < 3; kind++)
        for (int leaves = 0; leaves < RANKS; leaves++) {
            trial_of t = trial_with((mt_pipe_kind)kind, RANKS, 4, kind == MT_INTERLEAVED ? 2 : 1, true);
            t.leaves = leaves;
            cr_assert_eq(run(RANKS, (mt_wires){ 0 }, train, &t).status, MT_ERR_UNAVAILABLE);
            for (int r = 0; r < RANKS; r++)
                cr_assert(r == leaves || (t.status[r] == MT_ERR_UNAVAILABLE && strstr(t.words[r], "rank ")),
                          "rank %d: %s", r, t.words[r]);
        }
}

Test(pipe, what_cannot_run_is_refused_in_words)
{
    trial_of t = trial_with(MT_INTERLEAVED, 1, 2, 2, false);
    cr_assert_eq(run(1, (mt_wires){ 0 }, train, &t).status, MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "one rank has one chunk"));
    t = trial_with(MT_INTERLEAVED, 4, 6, 2, false);
    cr_assert_eq(run(4, (mt_wires){ 0 }, train, &t).status, MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "use 8, or 1f1b"));
}
