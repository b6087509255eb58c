/* test_zero.c -- sharded training: the parameters of one rank that has all, the memory and the bytes of the paper's
 * table, clipping, and other numbers of ranks. Gradients are small integers and shares powers of two, so that sums of
 * them are exact and results are compared bit by bit. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aborts.h"
#include "autograd/tape.h"
#include "ckpt/checkpoint.h"
#include "core/scope.h"
#include "memory/flat.h"
#include "dist/zero.h"
#include "on_ranks.h"
#include "temp_dir.h"

TestSuite(zero, .timeout = 60);

enum { PARAMS = 4, MOST = 400 };

static const int64_t odd_sizes[PARAMS] = { 37, 5, 96, 1 }, even_sizes[PARAMS] = { 192, 384, 96, 96 };

typedef struct model {
    mt_tensor *param[PARAMS];
    mt_optim *optim;
    mt_state list;
} model;

static model new_model(const int64_t *sizes, int seed, bool flat)
{
    mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    hyper.lr = 0.01;
    model m = { .optim = mt_optim_new(MT_ADAMW, hyper) };
    for (int i = 0; i < PARAMS; i++) {
        char name[16];
        snprintf(name, sizeof name, "p%d", i);
        m.param[i] = mt_zeros(MT_SHAPE(sizes[i]), MT_F32, MT_CPU);
        m.param[i]->requires_grad = true;
        for (int64_t k = 0; k < sizes[i]; k++)
            mt_f32(m.param[i])[k] = (float)((k + i + seed) % 7) - 3;
        mt_optim_group(m.optim, 1 + i, 0.1 * i);
        mt_optim_add(m.optim, name, m.param[i]);
        mt_state_tensor(&m.list, m.param[i], "%s", name);
    }
    if (flat)
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

/* The gradient of a rank in a step: what the samples of all ranks give, times a number whose weighted mean is 1. */
static float gradient_of(int64_t step, int i, int64_t k, float factor)
{
    return factor * (float)((step * 5 + i * 3 + k) % 9 - 4);
}

/* As forward does it: reads every parameter, two at once. */
static void forward_like(const model *m)
{
    for (int i = 0; i + 1 < PARAMS; i++) {
        const float *one = mt_f32(m->param[i]), *two = mt_f32(m->param[i + 1]);
        cr_assert(isfinite(*one) && isfinite(*two));
    }
}

/* As backward does it, the last parameter first. */
static void backward_like(model *m, int64_t step, float factor)
{
    for (int i = PARAMS - 1; i >= 0; i--) {
        mt_tensor *p = m->param[i];
        cr_assert(isfinite(*mt_f32(p)));
        p->grad = p->grad_memory ? mt_retain(p->grad_memory) : mt_zeros(mt_view_shape(&p->view), MT_F32, MT_CPU);
        for (int64_t k = 0; k < mt_numel(p); k++)
            mt_f32(p->grad)[k] = gradient_of(step, i, k, factor);
        mt_grad_ready(p);
    }
}

typedef struct part {
    const int64_t *sizes;
    int64_t bucket_bytes, from, to; /* steps */
    int stage, size, old_size;      /* old_size: goes on from the files of so many ranks; 0: begins */
    bool halves;                    /* of a step, with an update between them */
    bool sends;                     /* buckets in another way */
    double max_norm, norm[4];
    const char *dir; /* NULL: nothing is saved */
    float got[4][PARAMS][MOST];
    mt_traffic sent[4];
    int64_t live[4]; /* of all ranks together, before the update */
} part;

static int64_t step_of(int rank, int size)
{
    return 100 * size + rank;
}

static mt_status read_old(const part *p, mt_zero *zero)
{
    mt_status status = MT_OK;
    for (int old = 0; old < p->old_size && status == MT_OK; old++) {
        mt_state saved = mt_zero_saved(zero, old, p->old_size), none = { 0 };
        status = mt_checkpoint_load(p->dir, step_of(old, p->old_size), &none, &saved);
        mt_zero_take(zero, &saved, old, p->old_size);
        mt_state_free(&saved);
    }
    return status;
}

static mt_status save(const part *p, const mt_comm *comm, mt_optim *optim)
{
    mt_state state = { 0 }, none = { 0 };
    mt_optim_state(&state, optim);
    mt_status status = mt_checkpoint_save(p->dir, step_of(comm->rank, comm->size), &none, &state, MT_SHARD_BYTES);
    mt_state_free(&state);
    return status;
}

/* By number of ranks and rank. Samples are 2, 1, 1 on three ranks, else 1 each; the mean of the factors is 1. */
static const float factors[5][4] = { { 0 }, { 1 }, { 0, 2 }, { 0, 1, 3 }, { -1, 2, 0, 3 } };

/* A step of a caller that has the mean gradients of its parts, and updates by itself. */
static mt_status two_halves(mt_zero *zero, const mt_comm *comm, mt_optim *optim, int64_t step)
{
    MT_TRY(mt_zero_finish(zero));
    for (int i = 0; i < PARAMS; i++) {
        const mt_tensor *mine = optim->param[i].tensor;
        int64_t from, to;
        mt_zero_piece(zero, i, comm->rank, comm->size, &from, &to);
        cr_assert_eq(to - from, mt_numel(mine));
        for (int64_t k = from; k < to; k++)
            cr_assert_eq(mt_f32(mine->grad)[k - from], gradient_of(step, i, k, 1));
    }
    mt_optim_step(optim);
    return mt_zero_updated(zero);
}

/* The mean of all of a bucket, on each rank. */
typedef struct other_way {
    mt_comm *comm;
    mt_zero *zero;
    float *flat;
    int64_t calls;
} other_way;

static mt_status send(void *user, int64_t bucket, float share)
{
    other_way *w = user;
    const mt_bucket *b = mt_ddp_bucket(mt_zero_ddp(w->zero), bucket);
    for (int64_t i = b->begin; i < b->end; i++)
        w->flat[i] *= share;
    w->calls++;
    return mt_all_reduce(w->comm, w->flat + b->begin, b->end - b->begin, MT_F32, MT_SUM, NULL);
}

static mt_status train(mt_comm *comm, void *user)
{
    part *p = user;
    model m = new_model(p->sizes, comm->rank, p->stage == 1);
    mt_zero *zero;
    int64_t samples = comm->size == 3 && comm->rank == 0 ? 2 : 1;
    float factor = factors[comm->size][comm->rank];
    other_way way = { comm, NULL, p->sends ? mt_f32(m.param[0]->grad_memory) : NULL, 0 };
    const mt_zero_config config = { p->stage, p->bucket_bytes, p->sends ? send : NULL, &way };
    mt_status status = mt_zero_new(&zero, comm, m.optim, &m.list, &config);
    way.zero = zero;
    if (status == MT_OK && p->old_size)
        status = mt_zero_whole(zero);
    if (status == MT_OK && p->old_size) {
        for (int i = 0; i < PARAMS; i++)
            memcpy(mt_f32(m.param[i]), p->got[0][i], (size_t)p->sizes[i] * sizeof(float));
        mt_zero_changed(zero);
        status = read_old(p, zero);
    }
    mt_barrier(comm);
    mt_traffic before = mt_comm_traffic(comm);
    for (int64_t step = p->from; step < p->to && status == MT_OK; step++) {
        mt_zero_begin(zero, 1, samples);
        forward_like(&m);
        backward_like(&m, step, factor);
        status =
            p->halves ? two_halves(zero, comm, m.optim, step) : mt_zero_step(zero, p->max_norm, &p->norm[comm->rank]);
    }
    cr_assert_eq(way.calls, p->sends ? (p->to - p->from) * mt_ddp_buckets(mt_zero_ddp(zero)) : 0);
    p->sent[comm->rank] = mt_comm_traffic(comm);
    p->sent[comm->rank].messages -= before.messages, p->sent[comm->rank].bytes -= before.bytes;
    if (status == MT_OK && p->dir)
        status = save(p, comm, m.optim);
    if (status == MT_OK)
        status = mt_barrier(comm);
    p->live[comm->rank] = mt_live_bytes(MT_CPU);
    if (status == MT_OK)
        status = mt_barrier(comm);
    for (int i = 0; i < PARAMS; i++)
        memcpy(p->got[comm->rank][i], mt_f32(m.param[i]), (size_t)p->sizes[i] * sizeof(float));
    mt_zero_free(zero);
    free_model(&m);
    return status;
}

/* Steps from .. to - 1 of a model of one rank that has everything. */
static void one_rank(float want[PARAMS][MOST], const int64_t *sizes, int64_t to, double max_norm, double *norm)
{
    model m = new_model(sizes, 0, true);
    for (int64_t step = 0; step < to; step++) {
        mt_optim_zero_grad(m.optim);
        backward_like(&m, step, 1);
        *norm = mt_optim_clip_grad_norm(m.optim, max_norm);
        mt_optim_step(m.optim);
    }
    for (int i = 0; i < PARAMS; i++)
        memcpy(want[i], mt_f32(m.param[i]), (size_t)sizes[i] * sizeof(float));
    free_model(&m);
}

static void must_train(part *p)
{
    cr_assert_eq(run(p->size, (mt_wires){ .checked = true }, train, p).status, MT_OK, "%s", mt_last_error());
}

static void must_equal(const part *p, float want[PARAMS][MOST], float tolerance)
{
    for (int rank = 0; rank < p->size; rank++)
        for (int i = 0; i < PARAMS; i++)
            for (int64_t k = 0; k < p->sizes[i]; k++)
                cr_assert(fabsf(p->got[rank][i][k] - want[i][k]) <= tolerance,
                          "stage %d, rank %d of %d, p%d[%d]: %.9g, not %.9g", p->stage, rank, p->size, i, (int)k,
                          (double)p->got[rank][i][k], (double)want[i][k]);
}

static part p; /* large */
static float want[PARAMS][MOST];

Test(zero, every_stage_has_the_parameters_of_one_rank)
{
    static const int64_t buckets[] = { 1, 300, 1 << 20 };
    double norm;
    one_rank(want, odd_sizes, 3, INFINITY, &norm);
    for (int stage = 1; stage <= 3; stage++)
        for (int size = 1; size <= 4; size++)
            for (int b = 0; b < 3; b++) {
                p = (part){ .sizes = odd_sizes, .bucket_bytes = buckets[b], .to = 3, .stage = stage, .size = size };
                p.max_norm = INFINITY;
                must_train(&p);
                must_equal(&p, want, 0);
                for (int rank = 0; rank < size; rank++) /* sums of squares of integers: but for their roots */
                    cr_assert_float_eq(p.norm[rank], norm, norm * 4 * 0x1p-53);
            }
}

Test(zero, its_halves_are_a_step)
{
    double norm;
    one_rank(want, odd_sizes, 3, INFINITY, &norm);
    for (int stage = 1; stage <= 3; stage++) {
        p = (part){ .sizes = odd_sizes, .bucket_bytes = 300, .to = 3, .stage = stage, .size = 4, .halves = true };
        must_train(&p);
        must_equal(&p, want, 0);
    }
}

Test(zero, a_bucket_may_be_sent_in_another_way)
{
    double norm;
    one_rank(want, odd_sizes, 3, INFINITY, &norm);
    p = (part){ .sizes = odd_sizes, .bucket_bytes = 300, .to = 3, .stage = 1, .max_norm = INFINITY, .sends = true };
    for (p.size = 1; p.size <= 4; p.size++) {
        must_train(&p);
        must_equal(&p, want, 0);
    }
}

/* The gradient of AdamW's first step is divided by its own size: what the norm is wrong by hardly matters there. */
Test(zero, gradients_are_clipped_by_the_norm_of_all)
{
    double norm;
    one_rank(want, odd_sizes, 4, 10, &norm);
    for (int stage = 1; stage <= 3; stage++) {
        p = (part){ .sizes = odd_sizes, .bucket_bytes = 300, .to = 4, .stage = stage, .size = 4, .max_norm = 10 };
        must_train(&p);
        must_equal(&p, want, 1e-6f);
        for (int rank = 1; rank < 4; rank++)
            cr_assert(memcmp(&p.norm[rank], &p.norm[0], sizeof norm) == 0);
    }
}

Test(zero, memory_and_bytes_are_those_of_the_table)
{
    const double elements = 192 + 384 + 96 + 96;
    for (int stage = 1; stage <= 3; stage++)
        for (int size = 2; size <= 4; size++) {
            int64_t before = mt_live_bytes(MT_CPU);
            p = (part){ .sizes = even_sizes, .bucket_bytes = 4 * 192, .to = 1, .stage = stage, .size = size };
            p.max_norm = INFINITY;
            cr_assert_eq(run(size, (mt_wires){ 0 }, train, &p).status, MT_OK, "%s", mt_last_error());
            double law = stage == 1 ? 8 + 8.0 / size : stage == 2 ? 4 + 12.0 / size : 16.0 / size;
            /* buckets of 192, 384, 192: forward gathers each, backward the last one, which was closed, again */
            double moved = 4 * (2 * elements + (stage == 3 ? 192 : 0)) * (size - 1) / size;
            for (int rank = 0; rank < size; rank++) {
                cr_assert_eq((double)(p.live[rank] - before), law * elements * size, "%d ranks: %g bytes, not %g", size,
                             (double)(p.live[rank] - before), law * elements * size);
                /* gradients and parameters; the number of samples by doubling, the norms by the ring */
                double extra = 8.0 * (size - 1);
                cr_assert_geq((double)p.sent[rank].bytes, moved + extra);
                cr_assert_leq((double)p.sent[rank].bytes, moved + extra + 4 * 8);
            }
        }
}

Test(zero, goes_on_with_another_number_of_ranks_bit_for_bit, .init = temp_dir_make, .fini = temp_dir_remove)
{
    double norm;
    for (int stage = 1; stage <= 3; stage++) {
        one_rank(want, odd_sizes, 6, INFINITY, &norm);
        p = (part){ .sizes = odd_sizes, .bucket_bytes = 300, .to = 2, .stage = stage, .size = 4, .dir = temp_dir };
        p.max_norm = INFINITY;
        must_train(&p);
        p.from = 2, p.to = 4, p.size = 2, p.old_size = 4;
        must_train(&p);
        p.from = 4, p.to = 6, p.size = 3, p.old_size = 2;
        must_train(&p);
        must_equal(&p, want, 0);
    }
}

static mt_status dies(mt_comm *comm, void *user)
{
    (void)user;
    model m = new_model(odd_sizes, 0, false);
    mt_zero *zero;
    mt_status status = mt_zero_new(&zero, comm, m.optim, &m.list, &(mt_zero_config){ .stage = 2, .bucket_bytes = 1 });
    if (comm->rank != 1 && status == MT_OK) {
        mt_zero_begin(zero, 1, 1);
        backward_like(&m, 0, 1);
        status = mt_zero_step(zero, INFINITY, NULL);
        cr_assert_eq(status, MT_ERR_UNAVAILABLE);
    }
    mt_zero_free(zero);
    free_model(&m);
    return status;
}

Test(zero, a_rank_that_leaves_ends_the_others)
{
    cr_assert_eq(run(3, (mt_wires){ 0 }, dies, NULL).status, MT_ERR_UNAVAILABLE);
    cr_assert(strstr(mt_last_error(), "has failed or left"), "%s", mt_last_error());
}

/* Rank 1 has no samples: in stage 3 it takes part, and its gradients count as zeros. */
static mt_status one_has_samples(mt_comm *comm, void *user)
{
    float *got = user;
    model m = new_model(odd_sizes, 0, false);
    mt_zero *zero;
    mt_status status = mt_zero_new(&zero, comm, m.optim, &m.list, &(mt_zero_config){ .stage = 3, .bucket_bytes = 1 });
    if (comm->rank == 1)
        ABORTS("give it any micro-batch, with samples = 0", mt_zero_begin(zero, 0, 0));
    if (status == MT_OK) {
        mt_zero_begin(zero, 1, comm->rank == 0);
        forward_like(&m);
        backward_like(&m, 0, comm->rank == 0 ? 1 : 100);
        status = mt_zero_step(zero, INFINITY, NULL);
    }
    if (status == MT_OK)
        status = mt_zero_whole(zero);
    for (int i = 0; i < PARAMS && status == MT_OK && comm->rank == 0; i++)
        memcpy(got + i * MOST, mt_f32(m.param[i]), (size_t)odd_sizes[i] * sizeof *got);
    mt_zero_free(zero);
    free_model(&m);
    return status;
}

Test(zero, a_rank_without_samples_takes_part)
{
    static float alone_got[PARAMS * MOST], both_got[PARAMS * MOST];
    cr_assert_eq(run(1, (mt_wires){ 0 }, one_has_samples, alone_got).status, MT_OK, "%s", mt_last_error());
    cr_assert_eq(run(2, (mt_wires){ 0 }, one_has_samples, both_got).status, MT_OK, "%s", mt_last_error());
    cr_assert_arr_eq(both_got, alone_got, sizeof both_got);
}

Test(zero, misuse_is_named)
{
    model m = new_model(odd_sizes, 0, true);
    mt_comm *self = alone();
    mt_zero *zero;
    ABORTS("there is no stage 4",
           mt_zero_new(&zero, self, m.optim, &m.list, &(mt_zero_config){ .stage = 4, .bucket_bytes = 1 }));
    ABORTS("stage 2 for others",
           mt_zero_new(&zero, self, m.optim, &m.list, &(mt_zero_config){ .stage = 2, .bucket_bytes = 1 }));
    mt_comm_free(self);
    free_model(&m);
}
