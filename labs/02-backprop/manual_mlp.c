/* manual_mlp.c -- forward, backward and update of a perceptron, written out by hand: backward is forward read from its
 * last line to its first, every kernel replaced by its gradient. */
#include "kernels/manual_mlp.h"

#include "kernels/kernels.h"

#include <inttypes.h>

enum { PARALLEL_FROM = 1 << 15 }; /* elements a pass must touch before waking the other threads (2 us) pays */

static void check_batch(const mt_manual_mlp *mlp, int64_t N)
{
    MT_CHECK(N >= 0 && N <= mlp->max_batch, "manual_mlp: a batch of %" PRId64 " rows, but max_batch is %" PRId64, N,
             mlp->max_batch);
}

/* Every thread of the team clears its share. */
static void zero_share(float *a, int64_t n)
{
#pragma omp for simd nowait
    for (int64_t i = 0; i < n; i++)
        a[i] = 0;
}

/* Kernels accumulate: all arrays to which backward adds must be zero first. One team of threads clears them all. */
static void zero_gradients(mt_manual_mlp *mlp, int64_t N)
{
#pragma omp parallel if (mlp->count >= PARALLEL_FROM)
    {
        zero_share(mlp->grads, mlp->count);
        for (int l = 0; l < mlp->layers; l++)
            zero_share(mlp->dz[l], N * mlp->width[l + 1]);
        for (int l = 0; l < mlp->layers - 1; l++)
            zero_share(mlp->dact[l], N * mlp->width[l + 1]);
    }
}

const float *mt_manual_mlp_forward(mt_manual_mlp *mlp, const float *x, int64_t N)
{
    check_batch(mlp, N);
    /* TODO 02.9: Layer after layer: act[l] = linear(input, w[l], b[l]), then ReLU in place for all but the last.
     * Hint: the input of layer 0 is x, of layer l it is act[l - 1]; layer l turns width[l] into width[l + 1]. */
    MT_TODO("02.9"); /* delete this line when yours stands here */
    return mlp->act[mlp->layers - 1];
}

double mt_manual_mlp_backward(mt_manual_mlp *mlp, const float *x, const int32_t *label, int64_t N)
{
    int last = mlp->layers - 1;
    double mean_loss = 0;
    check_batch(mlp, N);
    zero_gradients(mlp, N);
    /* TODO 02.9: Loss, then the layers from last to first: dz[l] gives dw[l], db[l] and dact[l - 1], and that
     * gives dz[l - 1] through ReLU. Leave the mean of mlp->loss in mean_loss.
     * Hint: each row has the same share of the mean. act[l - 1] is the input of layer l, and it is positive where
     * ReLU has slope 1. The gradient of x is not needed: pass NULL for layer 0. */
    MT_TODO("02.9"); /* delete this line when yours stands here */
    return mean_loss;
}

void mt_manual_mlp_sgd(mt_manual_mlp *mlp, float learning_rate)
{
    /* TODO 02.9: A step of all parameters against their gradients.
     * Hint: all parameters lie in one array of mlp->count, so this is one loop. */
    MT_TODO("02.9"); /* delete this line when yours stands here */
}
