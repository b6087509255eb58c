/* calls_02.c -- how the worker calls the kernels of lab 02, and the training of step 02.9. */
#include "worker/call.h"
#include "core/rng.h"
#include "kernels/manual_mlp.h"
#include "kernels/kernels.h"

#include <stdlib.h>
#include <string.h>

// clang-format off
#define ACTIVATION(name, CALL)                                \
    CALL(mt_##name##_fwd_cpu, F(out), F(x), N(n))             \
    CALL(mt_##name##_bwd_cpu, F(dx), F(dout), F(saved), N(n))
#define CALLS(CALL)                                                                        \
    CALL(mt_linear_fwd_cpu, F(out), F(x), F(w), F(b), N(N), N(I), N(O))                    \
    CALL(mt_linear_bwd_cpu, F(dx), F(dw), F(db), F(dout), F(x), F(w), N(N), N(I), N(O))    \
    ACTIVATION(relu, CALL)                                                                 \
    ACTIVATION(sigmoid, CALL)                                                              \
    ACTIVATION(tanh, CALL)                                                                 \
    ACTIVATION(gelu, CALL)                                                                 \
    ACTIVATION(gelu_tanh, CALL)                                                            \
    CALL(mt_softmax_fwd_cpu, F(out), F(x), N(N), N(C))                                     \
    CALL(mt_softmax_bwd_cpu, F(dx), F(dout), F(out), N(N), N(C))                           \
    CALL(mt_cross_entropy_fwd_cpu, F(loss), F(probs), F(logits), I32(label), N(N), N(C))   \
    CALL(mt_cross_entropy_bwd_cpu, F(dlogits), F(dloss), F(probs), I32(label), N(N), N(C))
CALLS(MG_THUNK)
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
    mt_rng start = mt_rng_new((uint64_t)N(seed), MT_STREAM_INIT), rng = start;
    mt_init_he_cpu(F(w), N(n), N(fan_in), &rng);
    mt_init_he_cpu(F(next), N(n), N(fan_in), &rng);
    mt_init_he_cpu(F(again), N(n), N(fan_in), &start);
}

static void init_xavier(const mg_value *v)
{
    mt_rng start = mt_rng_new((uint64_t)N(seed), MT_STREAM_INIT), rng = start;
    mt_init_xavier_cpu(F(w), N(n), N(fan_in), N(fan_out), &rng);
    mt_init_xavier_cpu(F(next), N(n), N(fan_in), N(fan_out), &rng);
    mt_init_xavier_cpu(F(again), N(n), N(fan_in), N(fan_out), &start);
}

/* ---- the perceptron ------------------------------------------------------------------------- */

static mt_manual_mlp *mlp_of(const mg_value *v, int64_t max_batch)
{
    const int64_t width[MT_MLP_LAYERS + 1] = { N(width0), N(width1), N(width2), N(width3) };
    return mt_manual_mlp_new(width, max_batch);
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
static void mlp_forward(const mg_value *v)
{
    mt_manual_mlp *mlp = mlp_of(v, N(N) + 3), *other = mlp_of(v, N(N) + 3);
    memcpy(mlp->params, F(params), sizeof *mlp->params * (size_t)mlp->count);
    for (int64_t N = 0; N <= N(N); N += mt_max(N(N), 1))
        MT_CHECK(mt_manual_mlp_forward(mlp, F(x), N) == mlp->act[mlp->layers - 1],
                 "forward of %lld rows did not return mlp->act[layers - 1], where the logits are", (long long)N);
    const float *logits = mlp->act[mlp->layers - 1];
    mt_manual_mlp_forward(other, F(x), N(N)); /* its parameters are 0 */
    memcpy(F(logits), logits, sizeof(float) * (size_t)ARRAY(logits)->count);
    mt_manual_mlp_free(mlp);
    mt_manual_mlp_free(other);
}

static void mlp_too_many_rows(const mg_value *v)
{
    mt_manual_mlp_forward(mlp_of(v, N(N) - 1), F(x), N(N));
}

/* The last call must not depend on those before, of max_batch rows and of half of its own, nor on a network beside it
 * with as many. */
static void mlp_backward(const mg_value *v)
{
    const int64_t N = N(N);
    mt_manual_mlp *mlp = mlp_of(v, N + 3), *other = mlp_of(v, N + 3);
    float *other_x = different(ARRAY(x));
    memcpy(mlp->params, F(params), sizeof *mlp->params * (size_t)mlp->count);
    memcpy(other->params, F(params), sizeof *mlp->params * (size_t)mlp->count);
    full_batch(mlp);
    for (int part = 2; part > 0; part--) {
        mt_manual_mlp_forward(mlp, F(x), N / part);
        mt_manual_mlp_forward(other, other_x, N / part);
        mt_manual_mlp_backward(other, other_x, I32(label), N / part);
        F(loss)[0] = (float)mt_manual_mlp_backward(mlp, F(x), I32(label), N / part);
    }
    memcpy(F(grads), mlp->grads, sizeof *mlp->grads * (size_t)mlp->count);
    F(loss of a second backward)[0] = (float)mt_manual_mlp_backward(mlp, F(x), I32(label), N);
    memcpy(F(logits after both), mlp->act[mlp->layers - 1], sizeof(float) * (size_t)ARRAY(logits after both)->count);
    mt_manual_mlp_free(mlp);
    mt_manual_mlp_free(other);
    free(other_x);
}

static void mlp_sgd(const mg_value *v)
{
    mt_manual_mlp *mlp = mlp_of(v, 3); /* the batch has no part in it */
    for (int l = 0; l < mlp->layers; l++) {
        mlp->w[l] = F(params) + (mlp->w[l] - mlp->params), mlp->b[l] = F(params) + (mlp->b[l] - mlp->params);
        mlp->dw[l] = F(grads) + (mlp->dw[l] - mlp->grads), mlp->db[l] = F(grads) + (mlp->db[l] - mlp->grads);
    }
    mlp->params = F(params); /* between guard pages, where the perceptron's own arrays have neighbours */
    mlp->grads = F(grads);
    for (int turn = 0; turn < 2; turn++) /* an update remembers nothing */
        mt_manual_mlp_sgd(mlp, S(learning_rate));
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

/* One epoch over a random order; the learning rate falls linearly to 0. */
static void epoch(mt_manual_mlp *mlp, const digits *set, const int64_t *order, int64_t batch, float rate)
{
    float *x = malloc(sizeof *x * (size_t)(batch * set->pixels));
    int32_t *label = malloc(sizeof *label * (size_t)batch);
    MT_CHECK(x && label, "out of memory for a batch");
    int64_t steps = set->count / batch;
    for (int64_t s = 0; s < steps; s++) {
        gather(x, label, set, order + s * batch, batch);
        mt_manual_mlp_forward(mlp, x, batch);
        mt_manual_mlp_backward(mlp, x, label, batch);
        mt_manual_mlp_sgd(mlp, rate * (float)(steps - s) / (float)steps);
    }
    free(x);
    free(label);
}

static void train(const mg_value *v)
{
    int64_t count = ARRAY(labels)->count, batch = N(batch);
    const digits set = { U8(images), U8(labels), count, N(width0) };
    uint64_t seed = (uint64_t)N(seed);
    mt_rng init = mt_rng_new(seed, MT_STREAM_INIT), shuffle = mt_rng_new(seed, MT_STREAM_SHUFFLE);
    mt_manual_mlp *mlp = mlp_of(v, batch);
    int64_t *order = malloc(sizeof *order * (size_t)count);
    MT_CHECK(order, "out of memory for an order");
    mt_manual_mlp_init(mlp, &init);
    mt_rng_permutation(&shuffle, order, count);
    epoch(mlp, &set, order, batch, S(learning_rate));
    memcpy(F(params), mlp->params, sizeof *mlp->params * (size_t)mlp->count);
    free(order);
    mt_manual_mlp_free(mlp);
}

// clang-format off
const mg_function mg_calls_02[] = {
    CALLS(MG_ENTRY)
    { "mt_manual_mlp_forward of too many rows", mlp_too_many_rows },
    { "mt_init_he_cpu", init_he },
    { "mt_init_xavier_cpu", init_xavier },
    { "mt_manual_mlp_forward", mlp_forward },
    { "mt_manual_mlp_backward", mlp_backward },
    { "mt_manual_mlp_sgd", mlp_sgd },
    { "train a perceptron", train },
    { NULL, NULL },
};
