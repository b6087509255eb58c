/* test_sequence_parallel.c -- a block whose tokens several ranks divide outside its products: values and gradients of
 * one device, the bytes of tensor parallelism, and what forward keeps. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "counted.h"
#include "models/gpt2_ops.h"
#include "on_ranks.h"
#include "ops/ops.h"
#include "parallel/sequence_parallel.h"

TestSuite(sequence_parallel, .timeout = 60);

/* 12 heads of 4 and 24 tokens, so that 1, 2, 3 and 4 ranks divide all of them. */
enum { B = 2, T = 12, TOKENS = B * T, HEADS = 12, D = 4, C = HEADS * D, HIDDEN = 4 * C, N = TOKENS * C };
enum {
    QKV,
    QKV_BIAS,
    PROJ,
    FC,
    FC_BIAS,
    DOWN,
    DIVIDED,
    GAIN = DIVIDED,
    SHIFT,
    PROJ_BIAS,
    GAIN_2,
    SHIFT_2,
    DOWN_BIAS,
    ALL
};

static const mt_tp_layout layouts[DIVIDED] = { { C, 3, C, D },      { 1, 3, C, D },      { 1, 1, C *C, D *C },
                                               { C, 1, HIDDEN, 1 }, { 1, 1, HIDDEN, 1 }, { 1, 1, HIDDEN *C, C } };

typedef enum how { ONE, TENSOR, SEQUENCE } how;

/* A rank in a step: its communicator, and what came of it. */
typedef struct rank {
    mt_comm *comm;
    how how;
    mt_tp tp;
    mt_tensor *w[ALL];
    float y[N], dx[N], *dw[ALL]; /* of a rank that divides tokens, y and dx begin with its part */
} rank;

static float value(int64_t i, int64_t seed) /* between -0.5 and 0.5, no two alike in a row */
{
    return (float)((i * 7919 + seed * 104729) % 1009) / 1009.0F - 0.5F;
}

static mt_tensor *filled(mt_shape shape, int64_t first, int64_t seed)
{
    mt_tensor *t = mt_empty(shape, MT_F32, MT_CPU);
    for (int64_t i = 0; i < mt_numel(t); i++)
        mt_f32(t)[i] = value(first + i, seed);
    return t;
}

static mt_tensor *weight(int i, const mt_comm *comm)
{
    const int P = comm->size;
    const mt_shape shapes[DIVIDED] = { MT_SHAPE(C, 3 * C / P),  MT_SHAPE(3 * C / P),  MT_SHAPE(C / P, C),
                                       MT_SHAPE(C, HIDDEN / P), MT_SHAPE(HIDDEN / P), MT_SHAPE(HIDDEN / P, C) };
    mt_tensor *w = filled(i < DIVIDED ? shapes[i] : MT_SHAPE(C), 0, i);
    if (i < DIVIDED) {
        mt_tensor *whole = filled(MT_SHAPE(mt_numel(w) * P), 0, i);
        cr_assert_eq(mt_tp_shard(mt_f32(w), mt_f32(whole), &layouts[i], P, comm->rank), MT_OK);
    }
    w->requires_grad = true;
    return w;
}

static mt_tensor *column(rank *r, mt_tensor *x, int w)
{
    if (r->how == ONE)
        return mt_linear(x, r->w[w], r->w[w + 1]);
    return (r->how == TENSOR ? mt_tp_column_linear : mt_sp_column_linear)(&r->tp, x, r->w[w], r->w[w + 1]);
}

static mt_tensor *row(rank *r, mt_tensor *x, int w, int b)
{
    if (r->how == ONE)
        return mt_linear(x, r->w[w], r->w[b]);
    return (r->how == TENSOR ? mt_tp_row_linear : mt_sp_row_linear)(&r->tp, x, r->w[w], r->w[b]);
}

/* A block of GPT-2; x [TOKENS,C], or this rank's part. Only y and what backward reads are left. */
static mt_tensor *forward(rank *r, mt_tensor *x)
{
    mt_scope_begin();
    mt_tensor *qkv = column(r, mt_layernorm(x, r->w[GAIN], r->w[SHIFT], 1e-5F), QKV);
    mt_tensor *heads = mt_attention(mt_reshape(qkv, MT_SHAPE(B, T, mt_dim(qkv, -1))), HEADS / r->comm->size);
    mt_tensor *part = mt_reshape(row(r, heads, PROJ, PROJ_BIAS), mt_view_shape(&x->view));
    mt_tensor *a = mt_residual(x, part);
    mt_tensor *h = mt_gelu_tanh(column(r, mt_layernorm(a, r->w[GAIN_2], r->w[SHIFT_2], 1e-5F), FC));
    mt_tensor *y = mt_retain(mt_residual(a, row(r, h, DOWN, DOWN_BIAS)));
    mt_scope_end();
    return mt_scope_adopt(y);
}

static void step(rank *r)
{
    int64_t tokens = r->how == SEQUENCE ? TOKENS / r->comm->size : TOKENS, first = tokens * r->comm->rank * C;
    mt_scope_begin();
    mt_tensor *x = filled(MT_SHAPE(tokens, C), r->how == SEQUENCE ? first : 0, 20);
    mt_tensor *dy = filled(MT_SHAPE(tokens, C), r->how == SEQUENCE ? first : 0, 21);
    x->requires_grad = true;
    for (int i = 0; i < ALL; i++)
        r->w[i] = weight(i, r->comm);
    mt_tensor *y = forward(r, x);
    memcpy(r->y, mt_data(y), (size_t)mt_numel(y) * sizeof(float));
    mt_backward_from(y, dy);
    if (r->how == SEQUENCE)
        mt_sp_sum_gradients(&r->tp, r->w + DIVIDED, ALL - DIVIDED);
    memcpy(r->dx, mt_data(x->grad), (size_t)mt_numel(x) * sizeof(float));
    mt_zero_grad(x);
    for (int i = 0; i < ALL; i++) {
        size_t bytes = (size_t)mt_numel(r->w[i]) * sizeof(float);
        r->dw[i] = malloc(bytes);
        memcpy(r->dw[i], mt_data(r->w[i]->grad), bytes);
        mt_zero_grad(r->w[i]);
    }
    mt_scope_end();
}

static void free_gradients(rank *r)
{
    for (int i = 0; i < ALL; i++)
        free(r->dw[i]);
}

/* Sums of at most HIDDEN products in another order: the depth of the block times that many roundings of the largest. */
static void near(const float *got, const float *want, int64_t n, int i)
{
    double largest = 0;
    for (int64_t k = 0; k < n; k++)
        largest = fmax(largest, fabs((double)want[k]));
    for (int64_t k = 0; k < n; k++)
        cr_assert(fabs((double)got[k] - (double)want[k]) <= 4 * HIDDEN * (FLT_EPSILON / 2) * largest, "%d: %g, %g", i,
                  (double)got[k], (double)want[k]);
}

static mt_status compare(mt_comm *comm, void *user)
{
    const rank *one = user;
    counted c = new_counted(comm, -1);
    rank mine = { comm, SEQUENCE, .tp = { &c.base, MT_OK } };
    int64_t part = N / comm->size;
    step(&mine);
    /* The bytes of 2 + 2 all-reduces of N numbers, and one of 6 C for gradients. */
    cr_assert(mine.tp.status == MT_OK && c.calls == 9 && c.gathered == 4 * part * 4 && c.scattered == 4 * part);
    cr_assert(c.sums == 6 * C && c.maxima == 0);
    near(mine.y, one->y + comm->rank * part, part, -1);
    near(mine.dx, one->dx + comm->rank * part, part, -2);
    for (int i = 0; i < ALL; i++) {
        int64_t n = mt_numel(one->w[i]) / (i < DIVIDED ? comm->size : 1);
        float *want = malloc((size_t)n * sizeof *want);
        memcpy(want, one->dw[i], (size_t)n * sizeof *want);
        if (i < DIVIDED)
            cr_assert_eq(mt_tp_shard(want, one->dw[i], &layouts[i], comm->size, comm->rank), MT_OK);
        near(mine.dw[i], want, n, i);
        free(want);
    }
    free_gradients(&mine);
    return MT_OK;
}

Test(sequence_parallel, a_block_has_the_values_and_gradients_of_one_device_and_the_bytes_of_its_all_reduces)
{
    static rank one;
    one = (rank){ .comm = alone(), .how = ONE };
    mt_scope_begin(); /* compare asks for the weights' sizes */
    step(&one);
    for (int i = 0; i < ALL; i++)
        one.w[i] = weight(i, one.comm);
    for (int size = 1; size <= 4; size++)
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, compare, &one).status, MT_OK);
    free_gradients(&one);
    mt_scope_end();
    mt_comm_free(one.comm);
}

/* ---- memory ------------------------------------------------------------------------------------------------ */

typedef struct kept {
    how how;
    int64_t bytes; /* of all ranks, between forward and backward, beside weights */
} kept;

static mt_status keep(mt_comm *comm, void *user)
{
    kept *k = user;
    rank r = { comm, k->how, .tp = { comm, MT_OK } };
    mt_scope_begin();
    for (int i = 0; i < ALL; i++)
        r.w[i] = weight(i, comm);
    mt_barrier(comm);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_barrier(comm);
    mt_tensor *x = filled(MT_SHAPE(k->how == SEQUENCE ? TOKENS / comm->size : TOKENS, C), 0, 20);
    x->requires_grad = true;
    forward(&r, x);
    mt_barrier(comm);
    if (comm->rank == 0)
        k->bytes = mt_live_bytes(MT_CPU) - before;
    mt_barrier(comm);
    mt_scope_end();
    return MT_OK;
}

/* x, the middle of the stream and y, and two layernorms' mean and rstd: of all tokens on each rank, or of its own. */
Test(sequence_parallel, what_is_kept_outside_the_products_falls_to_1_of_P)
{
    const int64_t outside = TOKENS * (3 * C + 4) * 4;
    for (int size = 1; size <= 4; size++) {
        kept tensor = { .how = TENSOR }, sequence = { .how = SEQUENCE };
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, keep, &tensor).status, MT_OK);
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, keep, &sequence).status, MT_OK);
        cr_assert_eq(tensor.bytes - sequence.bytes, size * outside - outside, "%d ranks keep %d and %d bytes", size,
                     (int)tensor.bytes, (int)sequence.bytes);
    }
}

/* ---- refused ------------------------------------------------------------------------------------------------- */

static mt_status scatter_5(mt_comm *comm, void *user)
{
    (void)user;
    mt_tp tp = { comm, MT_OK };
    mt_scope_begin();
    mt_sp_scatter(&tp, filled(MT_SHAPE(5, C), 0, 0));
    mt_scope_end();
    return MT_OK;
}

Test(sequence_parallel, tokens_that_ranks_cannot_divide_are_refused, .signal = SIGABRT)
{
    run(2, (mt_wires){ .deadline = 100 }, scatter_5, NULL);
}
