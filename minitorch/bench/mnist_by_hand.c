/* mnist_by_hand.c -- an MNIST epoch without the framework: the hand-written perceptron of lab 02, plain SGD, one fused
 * step per batch (mlp_step). train_mnist is compared with it, and bench_mnist.sh compares it with PyTorch. The same
 * seed gives the same bits for any number of threads. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/mlp_step.h"
#include "core/storage.h"
#include "data/mnist.h"
#include "kernels/manual_mlp.h"
#include "models/mlp.h"

enum { BATCH = 64, TEST_BATCH = 500 };

typedef struct options {
    const char *data, *csv;
    int64_t width[MT_MLP_LAYERS + 1], epochs, threads, seed;
    double rate;
} options;

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data), "folder of the four IDX files (of datasets/fetch)" },
    { "hidden", 'h', "N[,N]", MT_PARSED(options, width[1], mt_mlp_hidden), "hidden layers ; default: 256,128" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 10000), "epochs (10)" },
    { "lr", 'l', "RATE", MT_F64(options, rate, 0, 1000), "learning rate (0.15)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "threads (all processors)" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "seed (1)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write epoch,seconds,test_accuracy as CSV" },
    { 0 },
};

/* Two batches: the one a step works on, and the next, gathered meanwhile. */
typedef struct batches {
    mt_mnist mnist;
    float *x[2];
    int32_t *label[2];
    int64_t *order, pixels;
    int64_t at, count; /* the batch to gather: order[at .. at+count-1], into x[into] */
    int into;
} batches;

static void gather(float *x, int32_t *label, const mt_dataset *set, const int64_t *order, int64_t N)
{
    for (int64_t n = 0; n < N; n++)
        mt_dataset_get(set, order[n], NULL, x + n * set->x.shape.dim[0], &label[n]); /* IDX samples do not fail */
}

/* A thread's share of the rows; prefetches its share of the following batch. */
static void gather_share(void *user, int thread, int threads)
{
    const batches *b = user;
    const mt_dataset *set = b->mnist.train;
    int64_t begin = b->count * thread / threads, N = b->count * (thread + 1) / threads - begin;
    const int64_t *order = b->order + b->at + begin;
    gather(b->x[b->into] + begin * b->pixels, b->label[b->into] + begin, set, order, N);
    set->soon(set, order + b->count, mt_max(0, mt_min(N, set->count - b->at - b->count - begin)));
}

static double train_epoch(mt_manual_mlp *mlp, batches *b, const options *o, int64_t epoch)
{
    const mlp_meanwhile meanwhile = { gather_share, b };
    mt_rng shuffle = mt_rng_new((uint64_t)o->seed, MT_STREAM_SHUFFLE),
           mine = mt_rng_substream(&shuffle, (uint64_t)epoch);
    double total = 0;
    mt_rng_permutation(&mine, b->order, b->mnist.train->count);
    b->at = b->into = 0;
    b->count = mt_min(BATCH, b->mnist.train->count);
    gather_share(b, 0, 1);
    while (b->count > 0) {
        int64_t N = b->count;
        int now = b->into;
        b->at += N;
        b->count = mt_min(BATCH, b->mnist.train->count - b->at);
        b->into = !now;
        total += mlp_step(mlp, b->x[now], b->label[now], N, (float)o->rate, &meanwhile) * (double)N;
    }
    return total / (double)b->mnist.train->count;
}

static double test_accuracy(mt_manual_mlp *mlp, batches *b)
{
    int64_t right = 0, C = mlp->classes;
    for (int64_t i = 0; i < b->mnist.test->count; i++)
        b->order[i] = i;
    for (int64_t done = 0; done < b->mnist.test->count; done += TEST_BATCH) {
        int64_t N = mt_min(TEST_BATCH, b->mnist.test->count - done);
        gather(b->x[0], b->label[0], b->mnist.test, b->order + done, N);
        const float *logits = mt_manual_mlp_forward(mlp, b->x[0], N);
        for (int64_t n = 0; n < N; n++) {
            int64_t best = 0;
            for (int64_t c = 1; c < C; c++)
                best = logits[n * C + c] > logits[n * C + best] ? c : best;
            right += best == b->label[0][n];
        }
    }
    return (double)right / (double)b->mnist.test->count;
}

static mt_status run(options *o, FILE *csv)
{
    batches b = { 0 };
    mt_status status = mt_mnist_open(&b.mnist, o->data);
    if (status != MT_OK)
        return status;
    o->width[0] = b.pixels = b.mnist.train->x.shape.dim[0];
    o->width[o->width[2] ? 3 : 2] = MT_MNIST_CLASSES;
    int64_t pixels = TEST_BATCH * b.pixels * 4, most = mt_max(b.mnist.train->count, b.mnist.test->count) * 8;
    for (int i = 0; i < 2; i++) {
        b.x[i] = mt_alloc(pixels, MT_CPU);
        b.label[i] = mt_alloc(TEST_BATCH * 4, MT_CPU);
    }
    b.order = mt_alloc(most, MT_CPU);
    mt_manual_mlp *mlp = mt_manual_mlp_new(o->width, TEST_BATCH);
    mt_rng init = mt_rng_new((uint64_t)o->seed, MT_STREAM_INIT);
    mt_manual_mlp_init(mlp, &init);
    double fastest = 0, accuracy = 0;
    for (int64_t epoch = 1; epoch <= o->epochs; epoch++) {
        double begin = mt_now(), loss = train_epoch(mlp, &b, o, epoch), seconds = mt_now() - begin;
        if (!isfinite(loss)) {
            status = mt_fail(MT_ERR_ARGUMENT, "epoch %" PRId64 ": the loss is %f; --lr %g is too large", epoch, loss,
                             o->rate);
            break;
        }
        accuracy = test_accuracy(mlp, &b);
        fastest = epoch == 1 || seconds < fastest ? seconds : fastest;
        printf("epoch %2" PRId64 "  loss %.5f  test accuracy %.2f %%  %.3f s\n", epoch, loss, 100 * accuracy, seconds);
        fflush(stdout);
        if (csv)
            fprintf(csv, "%" PRId64 ",%.4f,%.4f\n", epoch, seconds, accuracy);
    }
    if (status == MT_OK)
        printf("mnist_by_hand: test_accuracy=%.4f epochs=%" PRId64 " epoch_seconds=%.4f data=%s\n", accuracy, o->epochs,
               fastest, mt_mnist_name(o->data));
    mt_manual_mlp_free(mlp);
    for (int i = 0; i < 2; i++) {
        mt_free(b.x[i], pixels, MT_CPU);
        mt_free(b.label[i], TEST_BATCH * 4, MT_CPU);
    }
    mt_free(b.order, most, MT_CPU);
    mt_mnist_close(&b.mnist);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .data = mt_mnist_folder(), .width = { 0, 256, 128 }, .epochs = 10, .seed = 1, .rate = 0.15 };
    mt_cli_parse(argc, argv, "MNIST by lab 02's kernels and nothing else.", flags, &o);
    if (o.threads)
        omp_set_num_threads((int)o.threads);
    FILE *csv = bench_csv_open(o.csv, "epoch,seconds,test_accuracy");
    mt_status status = run(&o, csv);
    int code = mt_cli_exit(status);
    bench_csv_close(csv, o.csv);
    return code;
}
