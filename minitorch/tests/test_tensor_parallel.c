/* test_tensor_parallel.c -- a layer on several ranks: values and gradients of one device, and what is sent. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2_ops.h"
#include "counted.h"
#include "parallel/tensor_parallel.h"
#include "on_ranks.h"
#include "ops/ops.h"

TestSuite(tensor_parallel, .timeout = 60);

/* Attention and an MLP, as in a block of GPT-2; 12 heads of 3, so that 1, 2, 3 and 4 ranks divide all widths. */
enum { B = 2, T = 5, D = 3, HEADS = 12, C = D * HEADS, HIDDEN = 4 * C, N = B * T * C, WEIGHTS = 8 };

static const struct {
    mt_tp_layout layout; /* of a rank's part; groups 0: the whole on each rank */
    int64_t n;
} weights[WEIGHTS] = {
    { { C, 3, C, D }, 3 * C *C },          { { 1, 3, C, D }, 3 * C },       /* queries, keys and values */
    { { 1, 1, C *C, D *C }, C *C },        { { 1, 0, C, 1 }, C },           /* their projection */
    { { C, 1, HIDDEN, 1 }, C *HIDDEN },    { { 1, 1, HIDDEN, 1 }, HIDDEN }, /* MLP */
    { { 1, 1, HIDDEN *C, C }, HIDDEN *C }, { { 1, 0, C, 1 }, C },
};

/* What one rank has in the end: the result, then the gradients of x and of the whole weights where it has a part. */
typedef struct outcome {
    float y[N], dx[N], *dw[WEIGHTS];
} outcome;

static float value(int64_t i, int64_t seed) /* between -0.5 and 0.5, no two alike in a row */
{
    return (float)((i * 7919 + seed * 104729) % 1009) / 1009.0F - 0.5F;
}

static mt_shape shape_of(int i, int size)
{
    switch (i) {
    case 0:
        return MT_SHAPE(C, 3 * C / size);
    case 1:
        return MT_SHAPE(3 * C / size);
    case 2:
        return MT_SHAPE(C / size, C);
    case 4:
        return MT_SHAPE(C, HIDDEN / size);
    case 5:
        return MT_SHAPE(HIDDEN / size);
    case 6:
        return MT_SHAPE(HIDDEN / size, C);
    default:
        return MT_SHAPE(C);
    }
}

/* The part of a whole array; a whole one is its own part. */
static void part_of(float *out, const float *all, int i, const mt_comm *comm)
{
    if (weights[i].layout.groups == 0)
        memcpy(out, all, (size_t)weights[i].n * sizeof *out);
    else
        cr_assert_eq(mt_tp_shard(out, all, &weights[i].layout, comm->size, comm->rank), MT_OK);
}

static mt_tensor *weight_of(int i, const mt_comm *comm)
{
    float *all = malloc((size_t)weights[i].n * sizeof *all);
    mt_tensor *w = mt_empty(shape_of(i, comm->size), MT_F32, MT_CPU);
    for (int64_t k = 0; k < weights[i].n; k++)
        all[k] = value(k, i);
    part_of(mt_f32(w), all, i, comm);
    w->requires_grad = true;
    free(all);
    return w;
}

/* Without tp: one device, by other functions than those under test. */
static mt_tensor *forward(mt_tp *tp, mt_tensor *x, mt_tensor **w)
{
    if (!tp) {
        mt_tensor *a = mt_add(x, mt_linear(mt_attention(mt_linear(x, w[0], w[1]), HEADS), w[2], w[3]));
        return mt_add(a, mt_linear(mt_gelu_tanh(mt_linear(a, w[4], w[5])), w[6], w[7]));
    }
    mt_tensor *qkv = mt_tp_column_linear(tp, x, w[0], w[1]);
    mt_tensor *a = mt_add(x, mt_tp_row_linear(tp, mt_attention(qkv, HEADS / tp->comm->size), w[2], w[3]));
    mt_tensor *h = mt_gelu_tanh(mt_tp_column_linear(tp, a, w[4], w[5]));
    return mt_add(a, mt_tp_row_linear(tp, h, w[6], w[7]));
}

static void step(outcome *out, const mt_comm *comm, mt_tp *tp)
{
    mt_tensor *w[WEIGHTS], *x, *dy;
    mt_scope_begin();
    x = mt_empty(MT_SHAPE(B, T, C), MT_F32, MT_CPU), dy = mt_empty(MT_SHAPE(B, T, C), MT_F32, MT_CPU);
    for (int64_t k = 0; k < N; k++)
        mt_f32(x)[k] = value(k, 20), mt_f32(dy)[k] = value(k, 21);
    x->requires_grad = true;
    for (int i = 0; i < WEIGHTS; i++)
        w[i] = weight_of(i, comm);
    mt_tensor *y = forward(tp, x, w);
    mt_backward_from(y, dy);
    memcpy(out->y, mt_data(y), sizeof out->y);
    memcpy(out->dx, mt_data(x->grad), sizeof out->dx);
    for (int i = 0; i < WEIGHTS; i++) {
        size_t bytes = (size_t)mt_numel(w[i]) * sizeof(float);
        out->dw[i] = malloc(bytes);
        memcpy(out->dw[i], mt_data(w[i]->grad), bytes);
        mt_zero_grad(w[i]);
    }
    mt_zero_grad(x);
    mt_scope_end();
}

static void free_outcome(outcome *o)
{
    for (int i = 0; i < WEIGHTS; i++)
        free(o->dw[i]);
}

/* Sums of at most HIDDEN products in another order: the depth of the layer times that many roundings of the largest. */
static void near(const float *got, const float *want, int64_t n, const char *what, int i)
{
    double largest = 0;
    for (int64_t k = 0; k < n; k++)
        largest = fmax(largest, fabs((double)want[k]));
    for (int64_t k = 0; k < n; k++)
        cr_assert(fabs((double)got[k] - (double)want[k]) <= 4 * HIDDEN * (FLT_EPSILON / 2) * largest, "%s %d: %g, %g",
                  what, i, (double)got[k], (double)want[k]);
}

static mt_status compare(mt_comm *comm, void *user)
{
    const outcome *one = user;
    outcome mine;
    counted c = new_counted(comm, -1);
    mt_tp tp = { &c.base, MT_OK };
    step(&mine, comm, &tp);
    cr_assert(tp.status == MT_OK && c.calls == 4 && c.sums == 4 * N && c.maxima == 0, "%d all-reduces of %d elements",
              (int)c.calls, (int)c.sums);
    near(mine.y, one->y, N, "y", 0);
    near(mine.dx, one->dx, N, "dx", 0);
    for (int i = 0; i < WEIGHTS; i++) {
        int64_t n = mt_shape_numel(shape_of(i, comm->size));
        float *want = malloc((size_t)n * sizeof *want);
        part_of(want, one->dw[i], i, comm);
        near(mine.dw[i], want, n, "gradient of weight", i);
        free(want);
    }
    free_outcome(&mine);
    return MT_OK;
}

static mt_status fail_one(mt_comm *comm, void *user)
{
    outcome mine;
    counted c = new_counted(comm, *(int64_t *)user);
    mt_tp tp = { &c.base, MT_OK };
    step(&mine, comm, &tp);
    cr_assert(tp.status == MT_ERR_UNAVAILABLE && c.calls == c.fails + 1);
    free_outcome(&mine);
    return MT_OK;
}

Test(tensor_parallel, a_layer_has_the_values_and_gradients_of_one_device_with_2_and_2_all_reduces)
{
    static outcome one;
    mt_comm *self = alone();
    step(&one, self, NULL);
    mt_comm_free(self);
    for (int size = 1; size <= 4; size++)
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, compare, &one).status, MT_OK);
    free_outcome(&one);
}

Test(tensor_parallel, nothing_is_called_after_a_collective_that_failed)
{
    for (int64_t fails = 0; fails < 4; fails++)
        cr_assert_eq(run(2, (mt_wires){ .deadline = 100 }, fail_one, &fails).status, MT_OK);
}

Test(tensor_parallel, what_cannot_be_divided_is_refused)
{
    float out[12] = { 7 }, all[12] = { 0 };
    mt_tp_layout heads = { 1, 3, 4, 2 }, one = { 2, 1, 5, 1 };
    cr_assert_eq(mt_tp_shard(out, all, &heads, 4, 0), MT_ERR_ARGUMENT); /* 2 heads of 2 */
    cr_assert(strstr(mt_last_error(), "2 units of 2 cannot be divided equally among 4 ranks"));
    cr_assert_eq(mt_tp_shard(out, all, &one, 2, 1), MT_ERR_ARGUMENT);
    cr_assert_eq(out[0], 7);
}

Test(tensor_parallel, a_rank_has_its_part_of_every_group_of_every_row)
{
    float all[2 * 3 * 4], out[2 * 3 * 2];
    mt_tp_layout layout = { 2, 3, 4, 1 };
    for (int i = 0; i < MT_COUNT(all); i++)
        all[i] = (float)i;
    for (int rank = 0; rank < 2; rank++) {
        cr_assert_eq(mt_tp_shard(out, all, &layout, 2, rank), MT_OK);
        for (int i = 0; i < MT_COUNT(out); i++) /* group i / 2, and of its four elements two */
            cr_assert_eq(out[i], (float)(i / 2 * 4 + rank * 2 + i % 2));
    }
}
