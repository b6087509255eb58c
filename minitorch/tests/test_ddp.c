/* test_ddp.c -- gradients in buckets: against one batch on one rank; what is sent, and when, in simulated time. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "dist/collectives.h"
#include "dist/ddp.h"
#include "memory/flat.h"
#include "nn/module.h"
#include "on_ranks.h"
#include "ops/ops.h"
#include "optim/optim.h"

TestSuite(ddp, .timeout = 60);

/* ---- the plan ----------------------------------------------------------------------------------- */

Test(ddp, buckets_are_closed_at_the_limit_and_begin_with_the_last_parameters)
{
    static const int64_t begin[] = { 0, 16, 48, 64, 160, 176 };
    static const struct {
        int64_t limit, buckets, first[5];
    } cases[] = {
        { 1, 5, { 4, 3, 2, 1, 0 } }, { 16, 5, { 4, 3, 2, 1, 0 } }, { 17, 3, { 3, 1, 0 } },
        { 112, 2, { 3, 0 } },        { 113, 2, { 2, 0 } },         { 176, 1, { 0 } },
        { 1000, 1, { 0 } },
    };
    for (int64_t c = 0; c < MT_COUNT(cases); c++) {
        mt_bucket got[5];
        int64_t last = 5, buckets = mt_buckets_plan(got, begin, 5, cases[c].limit);
        cr_assert_eq(buckets, cases[c].buckets, "limit %d: %d buckets", (int)cases[c].limit, (int)buckets);
        for (int64_t b = 0; b < buckets; b++) {
            int64_t first = cases[c].first[b];
            cr_assert(got[b].first == first && got[b].last == last);
            cr_assert(got[b].begin == begin[first] && got[b].end == begin[last]);
            last = first;
        }
    }
    cr_assert_eq(mt_buckets_plan(NULL, begin, 0, 1), 0);
}

/* ---- a model whose gradients are integers ---------------------------------------------------------- */

enum { IN = 3, WIDTH = 4, PARAMS = 5 };

static const char *const names[PARAMS] = { "first", "bias", "twice", "rank 0 only", "unused" };

typedef struct model {
    mt_tensor *param[PARAMS];
    mt_optim *optim;
    mt_state list;
} model;

static model new_model(uint64_t seed)
{
    const mt_shape shapes[PARAMS] = { MT_SHAPE(IN, WIDTH), MT_SHAPE(WIDTH), MT_SHAPE(WIDTH, WIDTH), MT_SHAPE(IN, WIDTH),
                                      MT_SHAPE(33) };
    model m = { .optim = mt_optim_new(MT_SGD, mt_hyper_default(MT_SGD)) };
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    for (int i = 0; i < PARAMS; i++) {
        mt_tensor *param = m.param[i] = mt_empty(shapes[i], MT_F32, MT_CPU);
        param->requires_grad = true;
        for (int64_t k = 0; k < mt_numel(param); k++)
            mt_f32(param)[k] = (float)(mt_rng_u64(&rng) % 5) - 2;
        mt_optim_add(m.optim, names[i], param);
        mt_state_tensor(&m.list, param, "%s", names[i]);
    }
    mt_release(mt_flat_gradients(&m.list));
    return m;
}

static void free_model(model *m)
{
    mt_optim_zero_grad(m->optim);
    mt_optim_free(m->optim);
    mt_state_free(&m->list);
    for (int i = 0; i < PARAMS; i++)
        mt_release(m->param[i]);
}

/* Adds the gradient of: sum over samples first .. last - 1 of all outputs, times factor. */
static void backward_of(const model *m, int64_t first, int64_t last, float factor, bool rank_0)
{
    mt_scope_begin();
    mt_tensor *x = mt_empty(MT_SHAPE(last - first, IN), MT_F32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(x); i++)
        mt_f32(x)[i] = (float)((first * IN + i) * 5 % 7 - 3);
    mt_tensor *h = mt_linear(x, m->param[0], m->param[1]);
    h = mt_linear(mt_linear(h, m->param[2], NULL), m->param[2], NULL);
    if (rank_0)
        h = mt_add(h, mt_linear(x, m->param[3], NULL));
    mt_backward(mt_scale(mt_sum(h), factor));
    mt_scope_end();
}

typedef struct share {
    int64_t samples[5]; /* of each rank, in order */
    int64_t micro;
    int64_t bucket_bytes;
    float *grad[5][PARAMS]; /* [numel] received after two steps, and freed by the reader */
    mt_traffic sent[5];
} share;

/* Two steps with the same samples; the second one finds old gradients in the memory. */
static mt_status train(mt_comm *comm, void *user)
{
    share *s = user;
    model m = new_model((uint64_t)comm->rank);
    mt_ddp *ddp;
    mt_status status = mt_ddp_new(&ddp, comm, &m.list, &(mt_ddp_config){ s->bucket_bytes, NULL, NULL });
    int64_t begin = 0, n = s->samples[comm->rank], micro = mt_min(s->micro, n);
    for (int rank = 0; rank < comm->rank; rank++)
        begin += s->samples[rank];
    mt_traffic before = mt_comm_traffic(comm);
    for (int step = 0; step < 2 && status == MT_OK; step++) {
        mt_optim_zero_grad(m.optim);
        mt_ddp_begin(ddp, micro, n);
        for (int64_t k = 0; k < micro; k++)
            backward_of(&m, begin + n * k / micro, begin + n * (k + 1) / micro, 1 / (float)n, comm->rank == 0);
        status = mt_ddp_finish(ddp);
    }
    s->sent[comm->rank] = mt_comm_traffic(comm);
    s->sent[comm->rank].messages -= before.messages, s->sent[comm->rank].bytes -= before.bytes;
    for (int i = 0; i < PARAMS && status == MT_OK; i++) {
        size_t bytes = (size_t)mt_numel(m.param[i]) * sizeof(float);
        s->grad[comm->rank][i] = memcpy(malloc(bytes), mt_f32(m.param[i]->grad), bytes);
    }
    mt_ddp_free(ddp);
    free_model(&m);
    return status;
}

/* The gradient of each sample is an integer, and so is any sum of them, below 2^24. What a rank has of a micro-batch is
 * multiplied by 1 / n, added up, and multiplied by n / all: four roundings and one for each micro-batch but the first;
 * then `size` of these are added. */
static void equals_one_batch(int size, share *s, bool checked)
{
    trial t = run(size, (mt_wires){ .checked = checked }, train, s);
    cr_assert_eq(t.status, MT_OK, "%s", mt_last_error());
    model m = new_model(0);
    double want[PARAMS][33] = { { 0 } }, sum[PARAMS][33] = { { 0 } };
    int64_t begin, all = 0;
    for (int rank = 0; rank < size; all += s->samples[rank++])
        for (begin = all; begin < all + s->samples[rank]; begin++) {
            mt_optim_zero_grad(m.optim);
            backward_of(&m, begin, begin + 1, 1, rank == 0);
            for (int i = 0; i < PARAMS; i++)
                for (int64_t k = 0; k < mt_numel(m.param[i]) && m.param[i]->grad; k++) {
                    want[i][k] += (double)mt_f32(m.param[i]->grad)[k];
                    sum[i][k] += fabs((double)mt_f32(m.param[i]->grad)[k]);
                }
        }
    for (int i = 0; i < PARAMS; i++)
        for (int64_t k = 0; k < mt_numel(m.param[i]); k++)
            for (int rank = 0; rank < size; rank++) {
                double bound = (double)(3 + s->micro + size) * 0x1p-24 * sum[i][k] / (double)all;
                cr_assert(fabs((double)s->grad[rank][i][k] - want[i][k] / (double)all) <= bound,
                          "%d ranks, rank %d, %s[%d]: %.9g, not %.9g", size, rank, names[i], (int)k,
                          (double)s->grad[rank][i][k], want[i][k] / (double)all);
                cr_assert(memcmp(&s->grad[rank][i][k], &s->grad[0][i][k], sizeof(float)) == 0);
            }
    for (int rank = 0; rank < size; rank++)
        for (int i = 0; i < PARAMS; i++)
            free(s->grad[rank][i]);
    free_model(&m);
}

Test(ddp, ranks_have_the_gradients_of_one_batch)
{
    static const struct {
        int size;
        int64_t samples[5];
    } cases[] = { { 1, { 11 } },         { 2, { 4, 4 } },          { 2, { 8, 3 } },         { 3, { 3, 3, 5 } },
                  { 4, { 2, 2, 2, 2 } }, { 5, { 3, 3, 3, 1, 1 } }, { 5, { 4, 0, 6, 1, 0 } } };
    static const int64_t buckets[] = { 1, 200, 1 << 20 };
    for (int64_t c = 0; c < MT_COUNT(cases); c++)
        for (int64_t micro = 1; micro <= 3; micro++) {
            share s = { .micro = micro, .bucket_bytes = buckets[(c + micro) % 3] };
            memcpy(s.samples, cases[c].samples, sizeof s.samples);
            equals_one_batch(cases[c].size, &s, true);
        }
}

Test(ddp, buckets_are_sent_once_a_step_whatever_the_number_of_micro_batches)
{
    for (int64_t micro = 1; micro <= 3; micro++) {
        share s = { .samples = { 4, 4 }, .micro = micro, .bucket_bytes = 1 };
        equals_one_batch(2, &s, false);
        int64_t flat = 4 * (16 + 16 + 16 + 16 + 48); /* every parameter is rounded up to 64 bytes */
        for (int rank = 0; rank < 2; rank++) {
            /* two ranks send each other all of a bucket, and the number of samples, in both steps */
            cr_assert_eq(s.sent[rank].bytes, 2 * (flat + 8));
            cr_assert(s.sent[rank].messages <= 2 * 2 * (PARAMS + 1));
        }
    }
}

Test(ddp, no_samples_anywhere_is_an_error)
{
    share s = { .samples = { 0, 0 }, .micro = 1, .bucket_bytes = 1 };
    cr_assert_eq(run(2, (mt_wires){ 0 }, train, &s).status, MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "no rank had a sample"));
}

Test(ddp, misuse_is_named)
{
    model m = new_model(1);
    mt_comm *self = alone();
    mt_ddp_config config = { .bucket_bytes = 1 };
    mt_ddp *ddp;
    cr_assert_eq(mt_ddp_new(&ddp, self, &m.list, &config), MT_OK);
    ABORTS("once more than mt_ddp_begin was told", backward_of(&m, 0, 1, 1, true));
    mt_ddp_begin(ddp, 1, 1);
    backward_of(&m, 0, 1, 1, true);
    cr_assert_eq(mt_ddp_finish(ddp), MT_OK);
    mt_ddp_free(ddp);
    free_model(&m);
    mt_tensor *bare = mt_zeros(MT_SHAPE(3), MT_F32, MT_CPU);
    mt_state list = { 0 };
    mt_state_tensor(&list, bare, "bare");
    ABORTS("call mt_flat_gradients before", mt_ddp_new(&ddp, self, &list, &config));
    mt_state_free(&list);
    mt_release(bare);
    mt_comm_free(self);
}

/* ---- time ------------------------------------------------------------------------------------------ */

/* 4 MiB of gradients at 8 ns a byte, but with 64 times fewer and slower bytes. */
enum { BIG = 1 << 14, MOST = 64 };
#define FORWARD  0.05
#define BACKWARD 0.1

/* Backward without a model: parameters of equal size, whose gradients come at equal intervals. */
typedef struct pace {
    mt_clock *clock;
    int buckets;
    bool ring;         /* whatever the size */
    bool out_of_order; /* rank 1 completes the first parameters first */
    double took;
} pace;

static mt_status paced(mt_comm *comm, void *user)
{
    const pace *p = user;
    mt_optim *optim = mt_optim_new(MT_SGD, mt_hyper_default(MT_SGD));
    mt_state list = { 0 };
    mt_tensor *param[MOST];
    mt_ddp *ddp;
    if (p->ring) /* no latency: the least bytes win */
        comm->channel->network.latency = 0;
    for (int i = 0; i < p->buckets; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        param[i] = mt_zeros(MT_SHAPE(BIG / p->buckets), MT_F32, MT_CPU);
        mt_optim_add(optim, name, param[i]);
        mt_state_tensor(&list, param[i], "%s", name);
    }
    mt_release(mt_flat_gradients(&list));
    mt_status status = mt_ddp_new(&ddp, comm, &list, &(mt_ddp_config){ 4 * BIG / p->buckets, NULL, NULL });
    cr_assert_eq(mt_ddp_buckets(ddp), p->buckets);
    if (status == MT_OK)
        status = mt_barrier(comm);
    double begin = p->clock->now(p->clock);
    mt_ddp_begin(ddp, 1, 1);
    p->clock->sleep(p->clock, FORWARD);
    for (int k = 0; k < p->buckets; k++) {
        int i = p->out_of_order && comm->rank == 1 ? k : p->buckets - 1 - k;
        p->clock->sleep(p->clock, BACKWARD / p->buckets);
        param[i]->grad = mt_retain(param[i]->grad_memory);
        for (int j = 0; j < 3; j++)
            mt_f32(param[i]->grad)[j] = (float)((comm->rank + 1) * (i + 1));
        mt_grad_ready(param[i]);
    }
    if (status == MT_OK)
        status = mt_ddp_finish(ddp);
    if (comm->rank == 0)
        ((pace *)user)->took = p->clock->now(p->clock) - begin;
    for (int i = 0; i < p->buckets && status == MT_OK; i++)
        for (int j = 0; j < 3; j++)
            cr_assert_eq(mt_f32(param[i]->grad)[j], (i + 1) * (comm->size + 1) / 2.0);
    mt_ddp_free(ddp);
    mt_optim_zero_grad(optim);
    mt_optim_free(optim);
    for (int i = 0; i < p->buckets; i++)
        mt_release(param[i]);
    mt_state_free(&list);
    return status;
}

static const mt_network network = { .latency = 0.5e-3, .byte_time = 64 * 8e-9 };

/* Seconds of a step that are neither forward nor backward. */
static double exposed(int buckets, bool ring, bool out_of_order)
{
    pace p = { .clock = mt_clock_sim_new(), .buckets = buckets, .ring = ring, .out_of_order = out_of_order };
    mt_wires wires = { .clock = p.clock, .network = network };
    cr_assert_eq(mt_ranks_run(4, &wires, paced, &p), MT_OK, "%s", mt_last_error());
    mt_clock_sim_free(p.clock);
    return p.took - FORWARD - BACKWARD;
}

Test(ddp, exposed_communication_is_that_of_the_law)
{
    static const int counts[] = { 1, 4, 16, 64 };
    static const double ring_ms[] = { 53.331648, 15.582912, 6.145728, 143.894148 };
    static const double ms[] = { 53.331648, 15.582912, 5.194304, 32.671364 };
    for (int c = 0; c < 4; c++) {
        int64_t bytes = 4 * BIG / counts[c];
        double t = mt_collective_seconds(mt_collective_pick(4, bytes, &network), 4, bytes, &network);
        double law = t <= BACKWARD / counts[c] ? t : BACKWARD / counts[c] + counts[c] * t - BACKWARD;
        cr_assert_float_eq(1e3 * law, ms[c], 1e-6, "%d buckets: the law says %.6f ms", counts[c], 1e3 * law);
        cr_assert_float_eq(1e3 * exposed(counts[c], false, false), ms[c], 1e-6);
        if (c >= 2) /* above, the ring is chosen anyway */
            cr_assert_float_eq(1e3 * exposed(counts[c], true, false), ring_ms[c], 1e-6);
    }
}

Test(ddp, ranks_whose_gradients_come_in_another_order_send_in_the_same)
{
    double t = mt_collective_seconds(MT_RING, 4, BIG, &network);
    cr_assert_float_eq(exposed(4, true, true), 4 * t, 1e-12, "rank 1 has the last bucket complete at the end only");
}
