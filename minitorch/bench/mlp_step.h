/* mlp_step.h -- forward, backward and update of the hand-written perceptron (kernels/manual_mlp.h) in one function, for
 * plain SGD: the speed of a step that is written for one network. Used by mnist_by_hand, which is compared with
 * PyTorch.
 *
 * w -= rate * x^T dz is w += x^T (-rate * dz). So the gradient of the loss begins with -rate/N instead of 1/N, and each
 * product adds the update directly to the weights: no gradient is stored, zeroed or read again. The threads divide a
 * step in three ways, with a barrier after the first and after the second:
 *
 *   columns of layer 0    each thread computes its columns of act[0]: its part of the largest weights stays in its
 *                         cache
 *   rows of the batch     from there to the loss and back, rows are independent
 *   columns again         each thread adds its columns of every layer's update to the weights
 *
 * Columns are taken a few at a time, and a thread that has finished its own takes some of the others': on a shared
 * machine cores differ in speed, and a barrier waits for the slowest. No sum is split, so the bits depend neither on
 * the number of threads nor on which thread computed what. */
#pragma once

#include "kernels/manual_mlp.h"
#include "kernels/kernels.h"

#include <omp.h>
#include <stdatomic.h>
#include <string.h>

/* What each thread does after its own part of a step, without waiting for the others: it loads its share of the next
 * batch. It must not access the data of this step. */
typedef struct mlp_meanwhile {
    void (*run)(void *user, int thread, int threads);
    void *user;
} mlp_meanwhile;

enum {
    CHUNK = 64, /* columns taken at a time: two tiles of the widest micro-kernel, for which the input is packed once */
    ROW_WORK = 1 << 20, /* multiply-adds of a step from which several threads are faster */
    TEAM = 64,          /* at most as many threads */
    LINE = 64,          /* bytes of a cache line */
};

/* How many chunks of each thread's share are taken; every counter has a cache line of its own. */
typedef struct counter {
    _Alignas(LINE) _Atomic int64_t taken;
} counter;

typedef struct mlp_work {
    mt_manual_mlp *mlp;
    const float *x;
    const int32_t *label;
    int64_t N;
} mlp_work;

typedef struct range {
    int64_t begin, count;
} range;

/* Thread t's share of n things. */
static range share(int64_t n, int t, int threads)
{
    int64_t begin = n * t / threads;
    return (range){ begin, n * (t + 1) / threads - begin };
}

/* The next columns of n for thread t: of its own share or, when that is used up, of another's. False: all are taken. */
static bool take(counter *counters, int64_t n, int t, int threads, range *columns)
{
    for (int i = 0; i < threads; i++) {
        int whose = (t + i) % threads;
        range chunks = share((n + CHUNK - 1) / CHUNK, whose, threads);
        if (atomic_load_explicit(&counters[whose].taken, memory_order_relaxed) >= chunks.count)
            continue;
        int64_t mine = atomic_fetch_add_explicit(&counters[whose].taken, 1, memory_order_relaxed);
        if (mine < chunks.count) {
            columns->begin = (chunks.begin + mine) * CHUNK;
            columns->count = mt_min(CHUNK, n - columns->begin);
            return true;
        }
    }
    return false;
}

static const float *input_of(const mlp_work *s, int l)
{
    return l > 0 ? s->mlp->act[l - 1] : s->x;
}

/* act[l] of these rows and columns: bias, product, ReLU for all but the last layer. */
static void forward(const mlp_work *s, int l, range rows, range columns)
{
    mt_manual_mlp *mlp = s->mlp;
    int64_t I = mlp->width[l], O = mlp->width[l + 1];
    float *out = mlp->act[l] + rows.begin * O + columns.begin;
    mt_matmul_dims dims = {
        .M = rows.count, .N = columns.count, .K = I, .lda = I, .ldb = O, .ldc = O, .write = MT_ACCUMULATE
    };
    for (int64_t n = 0; n < rows.count; n++)
        memcpy(out + n * O, mlp->b[l] + columns.begin, (size_t)columns.count * sizeof *out);
    mt_matmul_packed_cpu(out, input_of(s, l) + rows.begin * I, mlp->w[l] + columns.begin, &dims);
    for (int64_t n = 0; n < rows.count && l < mlp->layers - 1; n++)
        for (int64_t c = 0; c < columns.count; c++)
            out[n * O + c] = out[n * O + c] < 0 ? 0 : out[n * O + c]; /* NaN stays NaN */
}

/* The gradient of these rows for the layer below: dz[l-1] = dz[l] w[l]^T where ReLU's input was positive. */
static void backward(const mlp_work *s, int l, range rows)
{
    mt_manual_mlp *mlp = s->mlp;
    int64_t I = mlp->width[l], O = mlp->width[l + 1];
    const float *act = mlp->act[l - 1] + rows.begin * I;
    float *dz = mlp->dz[l - 1] + rows.begin * I;
    mt_matmul_dims dims = { .M = rows.count, .N = I, .K = O, .lda = O, .ldb = O, .ldc = I, .trans_b = MT_TRANS };
    mt_matmul_packed_cpu(dz, mlp->dz[l] + rows.begin * O, mlp->w[l], &dims);
    for (int64_t i = 0; i < rows.count * I; i++)
        dz[i] = act[i] > 0 ? dz[i] : 0;
}

/* From the first layer's output to the loss and back. */
static void rows_forward_and_back(const mlp_work *s, range rows, float learning_rate)
{
    mt_manual_mlp *mlp = s->mlp;
    int last = mlp->layers - 1;
    int64_t C = mlp->classes, at = rows.begin * C;
    for (int l = 1; l <= last; l++)
        forward(s, l, rows, (range){ 0, mlp->width[l + 1] });
    mt_cross_entropy_fwd_cpu(mlp->loss + rows.begin, mlp->probs + at, mlp->act[last] + at, s->label + rows.begin,
                             rows.count, C);
    for (int64_t n = 0; n < rows.count; n++)
        mlp->dloss[rows.begin + n] = -learning_rate / (float)s->N;
    memset(mlp->dz[last] + at, 0, (size_t)(rows.count * C) * sizeof(float));
    mt_cross_entropy_bwd_cpu(mlp->dz[last] + at, mlp->dloss + rows.begin, mlp->probs + at, s->label + rows.begin,
                             rows.count, C);
    for (int l = last; l > 0; l--)
        backward(s, l, rows);
}

/* w[l] += input^T dz[l], b[l] += column sums of dz[l], for these columns; dz is scaled by the rate already. */
static void update(const mlp_work *s, int l, range columns)
{
    mt_manual_mlp *mlp = s->mlp;
    int64_t I = mlp->width[l], O = mlp->width[l + 1];
    const float *dz = mlp->dz[l] + columns.begin;
    float *b = mlp->b[l] + columns.begin;
    mt_matmul_dims dims = {
        .M = I, .N = columns.count, .K = s->N, .lda = I, .ldb = O, .ldc = O, .trans_a = MT_TRANS, .write = MT_ACCUMULATE
    };
    mt_matmul_packed_cpu(mlp->w[l] + columns.begin, input_of(s, l), dz, &dims);
    for (int64_t n = 0; n < s->N; n++)
        for (int64_t c = 0; c < columns.count; c++)
            b[c] += dz[n * O + c];
}

/* What one thread of the team does. The counters of stage k (layer 0 forward, then a layer's update each) begin at
 * 0. */
static void take_part(const mlp_work *s, counter (*counters)[TEAM], float learning_rate, int t, int threads)
{
    const mt_manual_mlp *mlp = s->mlp;
    range columns;
    while (take(counters[0], mlp->width[1], t, threads, &columns))
        forward(s, 0, (range){ 0, s->N }, columns);
#pragma omp barrier
    rows_forward_and_back(s, share(s->N, t, threads), learning_rate);
#pragma omp barrier
    for (int l = 0; l < mlp->layers; l++)
        while (take(counters[1 + l], mlp->width[l + 1], t, threads, &columns))
            update(s, l, columns);
}

/* mlp_step -- the mean loss of the batch before the update; meanwhile may be NULL. mlp->grads stays as it was. Equal to
 * mt_manual_mlp_forward, _backward and _sgd but for rounding; same bits for any number of threads. */
static inline double mlp_step(mt_manual_mlp *mlp, const float *x, const int32_t *label, int64_t N, float learning_rate,
                              const mlp_meanwhile *meanwhile)
{
    const mlp_work s = { mlp, x, label, N };
    counter counters[1 + MT_MLP_LAYERS][TEAM] = { 0 };
    double mean_loss = 0;
    int team = N * mlp->count >= ROW_WORK ? (int)mt_min(omp_get_max_threads(), TEAM) : 1;
    MT_CHECK(N >= 0 && N <= mlp->max_batch, "manual_mlp: a batch of %d rows, but max_batch is %d", (int)N,
             (int)mlp->max_batch);
#pragma omp parallel num_threads(team)
    {
        int t = omp_get_thread_num(), threads = omp_get_num_threads();
        take_part(&s, counters, learning_rate, t, threads);
        if (meanwhile)
            meanwhile->run(meanwhile->user, t, threads);
    }
    for (int64_t n = 0; n < N; n++)
        mean_loss += (double)mlp->loss[n] / (double)N;
    return mean_loss;
}
