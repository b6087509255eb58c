/* bench_stack.c -- the overhead of the framework over its kernels: an epoch of MNIST by the hand-written perceptron of
 * lab 02 on floats in memory, compared with the same network of modules, tape, optimizer and loader.
 *
 * All contestants take turns, a short piece of the epoch each, so that other programs disturb all alike; the fastest
 * round of every piece counts. The network is 784-256-128-10 with SGD; both compute the same bits
 * (minitorch/tests/test_mlp.c), so the difference is the overhead of the framework. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "data/loader.h"
#include "data/mnist.h"
#include "kernels/manual_mlp.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "optim/optim.h"
#include "cli/cli.h"
#include "prof/metrics_csv.h"

enum { CLASSES = MT_MNIST_CLASSES, LAYERS = 3, PIECE = 8 /* steps */ };

static const double RATE = 0.01;

typedef struct options {
    int64_t samples, batch, rounds, threads;
    const char *data, *csv;
} options;

/* The network and the data of all contestants. */
typedef struct bench {
    options opt;
    mt_mnist mnist;
    int64_t width[LAYERS + 1];
    int64_t count, pixels;
    mt_tensor *x, *label; /* the training set as floats [count, pixels] and classes [count] */
    mt_manual_mlp *manual;
    mt_module *model;
    mt_optim *optim;
    mt_loader *loader[2]; /* by workers */
} bench;

/* ---- contenders: some steps each, from `at` on ------------------------------------------------------ */

static void raw_steps(bench *b, int64_t at, int64_t steps)
{
    const float *x = mt_f32(b->x);
    const int32_t *label = mt_data(b->label);
    for (int64_t end = mt_min(at + steps * b->opt.batch, b->count); at < end; at += b->opt.batch) {
        int64_t N = mt_min(b->opt.batch, b->count - at);
        mt_manual_mlp_forward(b->manual, x + at * b->pixels, N);
        mt_manual_mlp_backward(b->manual, x + at * b->pixels, label + at, N);
        mt_manual_mlp_sgd(b->manual, (float)RATE);
    }
}

static void step(bench *b, mt_tensor *x, mt_tensor *label)
{
    mt_tensor *loss = mt_cross_entropy(mt_forward(b->model, x), label);
    mt_optim_zero_grad(b->optim);
    mt_backward(loss);
    mt_optim_step(b->optim);
}

static void tape_steps(bench *b, int64_t at, int64_t steps)
{
    for (int64_t end = mt_min(at + steps * b->opt.batch, b->count); at < end; at += b->opt.batch) {
        int64_t stop = mt_min(at + b->opt.batch, b->count);
        mt_scope_begin();
        step(b, mt_slice(b->x, 0, at, stop, 1), mt_slice(b->label, 0, at, stop, 1));
        mt_scope_end();
    }
}

/* The loader keeps its position; the first call after an epoch's last batch only reports the end. */
static bool next_batch(mt_loader *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch) || mt_loader_next(loader, batch);
}

static void stack_steps(bench *b, mt_loader *loader, int64_t steps)
{
    mt_batch batch;
    for (int64_t s = 0; s < steps && next_batch(loader, &batch); s++) {
        mt_scope_begin();
        step(b, batch.x, batch.y);
        mt_scope_end();
    }
}

static void load_steps(mt_loader *loader, int64_t steps)
{
    mt_batch batch;
    for (int64_t s = 0; s < steps && next_batch(loader, &batch); s++)
        continue;
}

typedef enum contender { RAW, TAPE, STACK_0, STACK_1, LOAD_0, LOAD_1, CONTENDERS } contender;

static const char *const names[CONTENDERS] = {
    "raw kernels, floats ready", "modules, tape, optimizer, floats ready",
    "full stack, no worker",     "full stack, 1 worker",
    "loader alone, no worker",   "loader alone, 1 worker",
};

static void run(bench *b, contender c, int64_t at, int64_t steps)
{
    if (c == RAW)
        raw_steps(b, at, steps);
    else if (c == TAPE)
        tape_steps(b, at, steps);
    else if (c < LOAD_0)
        stack_steps(b, b->loader[c - STACK_0], steps);
    else
        load_steps(b->loader[c - LOAD_0], steps);
}

/* race -- seconds of an epoch: the sum of each piece's fastest round. A short piece is undisturbed in some round even
 * on a busy machine; a whole epoch never is. */
static void race(bench *b, double epoch[CONTENDERS])
{
    int64_t steps = (b->count + b->opt.batch - 1) / b->opt.batch;
    memset(epoch, 0, CONTENDERS * sizeof *epoch);
    for (int64_t done = 0; done < steps; done += PIECE) {
        int64_t here = mt_min(PIECE, steps - done);
        double fastest[CONTENDERS];
        for (int c = 0; c < CONTENDERS; c++)
            fastest[c] = INFINITY;
        for (int64_t round = 0; round < b->opt.rounds; round++)
            for (int c = 0; c < CONTENDERS; c++) {
                double start = mt_now();
                run(b, (contender)c, done * b->opt.batch, here);
                double seconds = mt_now() - start;
                fastest[c] = fmin(fastest[c], seconds);
            }
        for (int c = 0; c < CONTENDERS; c++)
            epoch[c] += fastest[c];
    }
}

/* ---- report -------------------------------------------------------------------------------------- */

static mt_status report(const bench *b, const double epoch[CONTENDERS])
{
    mt_metrics *csv = NULL;
    mt_status status = b->opt.csv ? mt_metrics_open(&csv, b->opt.csv, "contender,seconds_per_epoch,ratio") : MT_OK;
    contender best = STACK_0;
    printf("784-256-128-10, batch %" PRId64 ", %" PRId64 " threads, SGD, %" PRId64 " samples; the fastest of %" PRId64
           " rounds\n%-40s %9s %9s\n",
           b->opt.batch, b->opt.threads, b->count, b->opt.rounds, "", "s/epoch", "to raw");
    for (int c = 0; c < CONTENDERS; c++) {
        printf("%-40s %9.4f %9.3f\n", names[c], epoch[c], epoch[c] / epoch[RAW]);
        if (csv && status == MT_OK)
            status = mt_metrics_row(csv, "\"%s\",%.4f,%.4f", names[c], epoch[c], epoch[c] / epoch[RAW]);
        if (c > STACK_0 && c < LOAD_0 && epoch[c] < epoch[best])
            best = (contender)c;
    }
    mt_metrics_close(csv);
    printf("bench stack: ratio=%.3f workers=%d tape_ratio=%.3f raw=%.4f stack=%.4f loader=%.4f\n",
           epoch[best] / epoch[RAW], best - STACK_0, epoch[TAPE] / epoch[RAW], epoch[RAW], epoch[best],
           epoch[best - STACK_0 + LOAD_0]);
    return status;
}

/* ---- setting up ---------------------------------------------------------------------------------- */

/* The whole training set as one tensor each of floats and labels. */
static void load_all(bench *b)
{
    mt_rng unused = mt_rng_new(1, MT_STREAM_DATA);
    b->x = mt_empty(MT_SHAPE(b->count, b->pixels), MT_F32, MT_CPU);
    b->label = mt_empty(MT_SHAPE(b->count), MT_I32, MT_CPU);
    int32_t *label = mt_data(b->label);
    for (int64_t i = 0; i < b->count; i++)
        mt_dataset_get(b->mnist.train, i, &unused, mt_f32(b->x) + i * b->pixels, label + i);
}

static void setup(bench *b)
{
    b->count = mt_min(b->opt.samples, b->mnist.train->count);
    b->pixels = mt_shape_numel(b->mnist.train->x.shape);
    memcpy(b->width, (int64_t[]){ b->pixels, 256, 128, CLASSES }, sizeof b->width);
    load_all(b);
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT), same = rng;
    b->manual = mt_manual_mlp_new(b->width, b->opt.batch);
    mt_manual_mlp_init(b->manual, &rng);
    b->model = mt_mlp_new(b->width, LAYERS, &same);
    b->optim = mt_optim_new(MT_SGD, (mt_hyper){ .lr = RATE });
    mt_state params = mt_module_params(b->model);
    for (int64_t i = 0; i < params.count; i++)
        mt_optim_add(b->optim, params.item[i].name, params.item[i].tensor);
    mt_state_free(&params);
    for (int workers = 0; workers < MT_COUNT(b->loader); workers++) {
        mt_loader_config config = mt_loader_config_default(b->mnist.train);
        config.sampler = mt_sampler_shuffling(b->mnist.train->count, 1);
        config.batch = b->opt.batch;
        config.workers = workers;
        b->loader[workers] = mt_loader_new(&config);
    }
}

static void teardown(bench *b)
{
    for (int workers = 0; workers < MT_COUNT(b->loader); workers++)
        mt_loader_free(b->loader[workers]);
    mt_optim_free(b->optim);
    mt_module_free(b->model);
    mt_manual_mlp_free(b->manual);
    mt_release(b->x);
    mt_release(b->label);
    mt_mnist_close(&b->mnist);
}

/* ---- command line -------------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data), "Folder of the four IDX files; default: of datasets/fetch" },
    { "samples", 'n', "N", MT_I64(options, samples, 1, 10000000),
      "Samples of an epoch, at most what there is (60000)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Samples in a step (64)" },
    { "rounds", 'r', "N", MT_I64(options, rounds, 1, 1000),
      "Times every piece of the epoch is run; the fastest counts (5)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "Threads (2, as in performance.md)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Also write the table as CSV" },
    { 0 },
};

int main(int argc, char **argv)
{
    bench b = { .opt = { .samples = 60000, .batch = 64, .rounds = 5, .threads = 2 } };
    double epoch[CONTENDERS];
    mt_cli_parse(argc, argv, "Full stack beside raw kernels on MNIST.", flags, &b.opt);
    omp_set_num_threads((int)b.opt.threads);
    mt_status status = mt_mnist_open(&b.mnist, b.opt.data ? b.opt.data : mt_mnist_folder());
    if (status == MT_OK) {
        setup(&b);
        race(&b, epoch);
        status = report(&b, epoch);
        teardown(&b);
    }
    return mt_cli_exit(status);
}
