/* manual_mlp.c -- the memory of the hand-written perceptron: one block, every array a piece of it, each on a cache line
 * of its own. The parameters (and so the gradients) follow each other without a gap: an update is one loop.
 * Forward, backward and update: unit manual_mlp.c of lab 02. */
#include "kernels/manual_mlp.h"

#include "core/storage.h"
#include "kernels/kernels.h"

#include <inttypes.h>
#include <string.h>

/* The next n floats of the block; with no block yet, only counts them. */
static float *take(mt_manual_mlp *mlp, int64_t n)
{
    const int64_t line = MT_ALIGNMENT / (int64_t)sizeof(float);
    float *piece = mlp->block ? mlp->block + mlp->block_bytes / (int64_t)sizeof(float) : NULL;
    mlp->block_bytes += (n + line - 1) / line * line * (int64_t)sizeof(float);
    return piece;
}

static void lay_out(mt_manual_mlp *mlp)
{
    mlp->block_bytes = 0;
    mlp->params = take(mlp, mlp->count);
    mlp->grads = take(mlp, mlp->count);
    for (int l = 0; l < mlp->layers; l++) {
        int64_t n = mlp->max_batch * mlp->width[l + 1];
        mlp->act[l] = take(mlp, n);
        mlp->dz[l] = take(mlp, n);
        if (l < mlp->layers - 1)
            mlp->dact[l] = take(mlp, n);
    }
    mlp->probs = take(mlp, mlp->max_batch * mlp->classes);
    mlp->loss = take(mlp, mlp->max_batch);
    mlp->dloss = take(mlp, mlp->max_batch);
}

/* Point w, b, dw and db of every layer into params and grads. */
static void name_parameters(mt_manual_mlp *mlp)
{
    int64_t at = 0;
    for (int l = 0; l < mlp->layers; l++) {
        int64_t weights = mlp->width[l] * mlp->width[l + 1];
        mlp->w[l] = mlp->params + at;
        mlp->dw[l] = mlp->grads + at;
        mlp->b[l] = mlp->params + at + weights;
        mlp->db[l] = mlp->grads + at + weights;
        at += weights + mlp->width[l + 1];
    }
}

/* Layers up to the first zero; all widths after it must be zero. */
static int count_layers(const int64_t width[MT_MLP_LAYERS + 1])
{
    int layers = MT_MLP_LAYERS;
    while (layers > 0 && width[layers] == 0)
        layers--;
    MT_CHECK(layers > 0, "manual_mlp: no layer; give the widths of the input and of at least the classes");
    for (int l = 0; l <= layers; l++)
        MT_CHECK(width[l] >= 1, "manual_mlp: width[%d] is %" PRId64 "; it must be at least 1", l, width[l]);
    return layers;
}

mt_manual_mlp *mt_manual_mlp_new(const int64_t width[MT_MLP_LAYERS + 1], int64_t max_batch)
{
    int layers = count_layers(width);
    MT_CHECK(max_batch >= 1, "manual_mlp: max_batch is %" PRId64 "; it must be at least 1", max_batch);
    mt_manual_mlp *mlp = mt_alloc(sizeof *mlp, MT_CPU);
    *mlp = (mt_manual_mlp){ .layers = layers, .classes = width[layers], .max_batch = max_batch };
    memcpy(mlp->width, width, sizeof mlp->width);
    for (int l = 0; l < layers; l++)
        mlp->count += (width[l] + 1) * width[l + 1];
    lay_out(mlp);
    mlp->block = mt_alloc(mlp->block_bytes, MT_CPU);
    memset(mlp->block, 0, (size_t)mlp->block_bytes);
    lay_out(mlp);
    name_parameters(mlp);
    return mlp;
}

void mt_manual_mlp_free(mt_manual_mlp *mlp)
{
    if (!mlp)
        return;
    mt_free(mlp->block, mlp->block_bytes, MT_CPU);
    mt_free(mlp, sizeof *mlp, MT_CPU);
}

void mt_manual_mlp_init(mt_manual_mlp *mlp, mt_rng *rng)
{
    for (int l = 0; l < mlp->layers; l++) {
        mt_init_he_cpu(mlp->w[l], mlp->width[l] * mlp->width[l + 1], mlp->width[l], rng);
        memset(mlp->b[l], 0, (size_t)mlp->width[l + 1] * sizeof(float));
    }
}
