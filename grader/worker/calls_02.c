/* calls_02.c -- how the worker calls the kernels of lab 02, and the training of step 02.9. */
#include "worker/aborts.h"
#include "worker/call.h"
#include "core/rng.h"
#include "kernels/manual_mlp.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

// clang-format off
#define ACTIVATION(name, CALL, IN_PLACE)                   \
    CALL(mt_##name##_fwd_cpu, F(0), F(1), N(2))            \
    IN_PLACE(mt_##name##_fwd_cpu, F(0), F(0), N(1))        \
    CALL(mt_##name##_bwd_cpu, F(0), F(1), F(2), N(3))
#define CALLS(CALL, IN_PLACE)                                                          \
    CALL(mt_linear_fwd_cpu, F(0), F(1), F(2), F(3), N(4), N(5), N(6))                  \
    CALL(mt_linear_bwd_cpu, F(0), F(1), F(2), F(3), F(4), F(5), N(6), N(7), N(8))      \
    ACTIVATION(relu, CALL, IN_PLACE)                                                   \
    ACTIVATION(sigmoid, CALL, IN_PLACE)                                                \
    ACTIVATION(tanh, CALL, IN_PLACE)                                                   \
    ACTIVATION(gelu, CALL, IN_PLACE)                                                   \
    ACTIVATION(gelu_tanh, CALL, IN_PLACE)                                              \
    CALL(mt_softmax_fwd_cpu, F(0), F(1), N(2), N(3))                                   \
    IN_PLACE(mt_softmax_fwd_cpu, F(0), F(0), N(1), N(2))                               \
    CALL(mt_softmax_bwd_cpu, F(0), F(1), F(2), N(3), N(4))                             \
    CALL(mt_cross_entropy_fwd_cpu, F(0), F(1), F(2), v[3].i32, N(4), N(5))             \
    IN_PLACE(mt_cross_entropy_fwd_cpu, F(0), F(1), F(1), v[2].i32, N(3), N(4))         \
    CALL(mt_cross_entropy_bwd_cpu, F(0), F(1), F(2), v[3].i32, N(4), N(5))
CALLS(MG_THUNK, MG_THUNK_IN_PLACE)
// clang-format on

/* As many numbers as this array has, other ones. */
static float *different(const mg_value *array)
{
    float *x = malloc(sizeof *x * (size_t)mt_max(array->count, 1));
    MT_CHECK(x, "out of memory for %lld numbers", (long long)array->count);
    for (int64_t i = 0; i < array->count; i++)
        x[i] = 0.5f - array->f32[i];
    return x;
}

/* Outputs w, next, again: two calls in a row with one generator, then one from its start. */
static void init_he(const mg_value *v)
{
    mt_rng start = mt_rng_new((uint64_t)v[5].i64, MT_STREAM_INIT), rng = start;
    mt_init_he_cpu(v[0].f32, v[3].i64, v[4].i64, &rng);
    mt_init_he_cpu(v[1].f32, v[3].i64, v[4].i64, &rng);
    mt_init_he_cpu(v[2].f32, v[3].i64, v[4].i64, &start);
}

static void init_xavier(const mg_value *v)
{
    mt_rng start = mt_rng_new((uint64_t)v[6].i64, MT_STREAM_INIT), rng = start;
    mt_init_xavier_cpu(v[0].f32, v[3].i64, v[4].i64, v[5].i64, &rng);
    mt_init_xavier_cpu(v[1].f32, v[3].i64, v[4].i64, v[5].i64, &rng);
    mt_init_xavier_cpu(v[2].f32, v[3].i64, v[4].i64, v[5].i64, &start);
}

MG_THUNK_ABORTS(mt_softmax_fwd_cpu_)
MG_THUNK_ABORTS(mt_cross_entropy_fwd_cpu_)
MG_THUNK_ABORTS(init_he)
MG_THUNK_ABORTS(init_xavier)

/* ---- the perceptron ------------------------------------------------------------------------- */

static mt_manual_mlp *mlp_of(const mg_value *width, int64_t max_batch)
{
    int64_t w[MT_MLP_LAYERS + 1];
    for (int l = 0; l <= MT_MLP_LAYERS; l++)
        w[l] = width[l].i64;
    return mt_manual_mlp_new(w, max_batch);
}

/* A call of max_batch rows, which leaves its numbers in every array of the network. */
static void full_batch(mt_manual_mlp *mlp)
{
    int64_t rows = mlp->max_batch, n = rows * mlp->width[0];
    float *x = malloc(sizeof *x * (size_t)n);
    int32_t *label = calloc((size_t)rows, sizeof *label);
    MT_CHECK(x && label, "out of memory for a batch");
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i % 7) - 3;
    mt_manual_mlp_forward(mlp, x, rows);
    mt_manual_mlp_backward(mlp, x, label, rows);
    free(x);
    free(label);
}

/* The logits must stay when another network is called. */
static void mlp_forward(const mg_value *v) /* logits; params, x; N, widths */
{
    mt_manual_mlp *mlp = mlp_of(v + 4, v[3].i64 + 3), *other = mlp_of(v + 4, v[3].i64 + 3);
    memcpy(mlp->params, v[1].f32, sizeof *mlp->params * (size_t)mlp->count);
    for (int64_t N = 0; N <= v[3].i64; N += mt_max(v[3].i64, 1))
        MT_CHECK(mt_manual_mlp_forward(mlp, v[2].f32, N) == mlp->act[mlp->layers - 1],
                 "forward of %lld rows did not return mlp->act[layers - 1], where the logits are", (long long)N);
    const float *logits = mlp->act[mlp->layers - 1];
    mt_manual_mlp_forward(other, v[2].f32, v[3].i64); /* its parameters are 0 */
    memcpy(v[0].f32, logits, sizeof(float) * (size_t)v[0].count);
    mt_manual_mlp_free(mlp);
    mt_manual_mlp_free(other);
}

static void mlp_too_many_rows(const mg_value *v) /* x; N, widths */
{
    mt_manual_mlp_forward(mlp_of(v + 2, v[1].i64 - 1), v[0].f32, v[1].i64);
}
MG_THUNK_ABORTS(mlp_too_many_rows)

/* The last call must not depend on those before, of max_batch rows and of half of its own, nor on a network beside it
 * with as many. */
static void mlp_backward(const mg_value *v) /* loss, grads, second loss, logits; params, x, label; N, widths */
{
    const int64_t N = v[7].i64;
    mt_manual_mlp *mlp = mlp_of(v + 8, N + 3), *other = mlp_of(v + 8, N + 3);
    float *other_x = different(v + 5);
    memcpy(mlp->params, v[4].f32, sizeof *mlp->params * (size_t)mlp->count);
    memcpy(other->params, v[4].f32, sizeof *mlp->params * (size_t)mlp->count);
    full_batch(mlp);
    for (int part = 2; part > 0; part--) {
        mt_manual_mlp_forward(mlp, v[5].f32, N / part);
        mt_manual_mlp_forward(other, other_x, N / part);
        mt_manual_mlp_backward(other, other_x, v[6].i32, N / part);
        v[0].f32[0] = (float)mt_manual_mlp_backward(mlp, v[5].f32, v[6].i32, N / part);
    }
    memcpy(v[1].f32, mlp->grads, sizeof *mlp->grads * (size_t)mlp->count);
    v[2].f32[0] = (float)mt_manual_mlp_backward(mlp, v[5].f32, v[6].i32, N);
    memcpy(v[3].f32, mlp->act[mlp->layers - 1], sizeof(float) * (size_t)v[3].count);
    mt_manual_mlp_free(mlp);
    mt_manual_mlp_free(other);
    free(other_x);
}

static void mlp_sgd(const mg_value *v) /* params; grads, learning rate; widths */
{
    mt_manual_mlp *mlp = mlp_of(v + 3, 3); /* the batch has no part in it */
    for (int l = 0; l < mlp->layers; l++) {
        mlp->w[l] = v[0].f32 + (mlp->w[l] - mlp->params), mlp->b[l] = v[0].f32 + (mlp->b[l] - mlp->params);
        mlp->dw[l] = v[1].f32 + (mlp->dw[l] - mlp->grads), mlp->db[l] = v[1].f32 + (mlp->db[l] - mlp->grads);
    }
    mlp->params = v[0].f32; /* between guard pages, where the perceptron's own arrays have neighbours */
    mlp->grads = v[1].f32;
    for (int turn = 0; turn < 2; turn++) /* an update remembers nothing */
        mt_manual_mlp_sgd(mlp, v[2].scalar);
    mt_manual_mlp_free(mlp);
}

/* Images as bytes, which become floats from 0 to 1. */
typedef struct digits {
    const uint8_t *image, *label;
    int64_t count, pixels;
} digits;

static void gather(float *x, int32_t *label, const digits *set, const int64_t *order, int64_t batch)
{
    for (int64_t n = 0; n < batch; n++) {
        for (int64_t p = 0; p < set->pixels; p++)
            x[n * set->pixels + p] = (float)set->image[order[n] * set->pixels + p] * (1 / 255.0f);
        label[n] = set->label[order[n]];
    }
}

/* One epoch over a random order; the learning rate falls linearly over all steps of all epochs. */
static void epoch(mt_manual_mlp *mlp, const digits *set, int64_t *order, int64_t batch, float from, float to)
{
    float *x = malloc(sizeof *x * (size_t)(batch * set->pixels));
    int32_t *label = malloc(sizeof *label * (size_t)batch);
    MT_CHECK(x && label, "out of memory for a batch");
    int64_t steps = set->count / batch;
    for (int64_t s = 0; s < steps; s++) {
        gather(x, label, set, order + s * batch, batch);
        mt_manual_mlp_forward(mlp, x, batch);
        mt_manual_mlp_backward(mlp, x, label, batch);
        mt_manual_mlp_sgd(mlp, from + (to - from) * (float)s / (float)steps);
    }
    free(x);
    free(label);
}

static void train(const mg_value *v) /* params; images, labels; widths, epochs, batch, seed; learning rate */
{
    int64_t count = v[2].count, epochs = v[7].i64, batch = v[8].i64;
    const digits set = { v[1].u8, v[2].u8, count, v[3].i64 };
    uint64_t seed = (uint64_t)v[9].i64;
    mt_rng init = mt_rng_new(seed, MT_STREAM_INIT), shuffle = mt_rng_new(seed, MT_STREAM_SHUFFLE);
    mt_manual_mlp *mlp = mlp_of(v + 3, batch);
    int64_t *order = malloc(sizeof *order * (size_t)count);
    MT_CHECK(order, "out of memory for an order");
    mt_manual_mlp_init(mlp, &init);
    for (int64_t e = 0; e < epochs; e++) {
        mt_rng_permutation(&shuffle, order, count);
        epoch(mlp, &set, order, batch, v[10].scalar * (float)(epochs - e) / (float)epochs,
              v[10].scalar * (float)(epochs - e - 1) / (float)epochs);
    }
    memcpy(v[0].f32, mlp->params, sizeof *mlp->params * (size_t)mlp->count);
    free(order);
    mt_manual_mlp_free(mlp);
}

// clang-format off
const mg_function mg_calls_02[] = {
    CALLS(MG_ENTRY, MG_ENTRY_IN_PLACE)
    { "may abort: mt_softmax_fwd_cpu", mt_softmax_fwd_cpu__aborts },
    { "may abort: mt_cross_entropy_fwd_cpu", mt_cross_entropy_fwd_cpu__aborts },
    { "may abort: mt_init_he_cpu", init_he_aborts },
    { "may abort: mt_init_xavier_cpu", init_xavier_aborts },
    { "may abort: mt_manual_mlp_forward", mlp_too_many_rows_aborts },
    { "mt_init_he_cpu", init_he },
    { "mt_init_xavier_cpu", init_xavier },
    { "mt_manual_mlp_forward", mlp_forward },
    { "mt_manual_mlp_backward", mlp_backward },
    { "mt_manual_mlp_sgd", mlp_sgd },
    { "train a perceptron", train },
    { NULL, NULL },
};
