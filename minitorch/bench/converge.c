/* converge.c -- SGD, momentum, RMSprop and Adam on MNIST from the same weights over the same batches: how fast the loss
 * falls, and the size of their state.
 *
 *     build/release/bin/converge --svg build/bench/converge.svg
 *
 * The network is 784-256-128-10; each rule has the learning rate that suits it, held constant. A point of the curve is
 * the mean loss over so many steps, on samples just before they are trained on. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "data/mnist.h"
#include "models/classifier.h"
#include "models/mlp.h"
#include "train/recipe.h"
#include "ops/ops.h"
#include "prof/curve.h"
#include "prof/metrics_csv.h"

enum { LAYERS = 3, TEST_BATCH = 500 };

typedef struct options {
    const char *data, *csv, *svg;
    int64_t epochs, batch, every, seed;
} options;

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data), "Folder of the four IDX files; default: of datasets/fetch" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 1000), "Epochs of each (3)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Samples in a step (64)" },
    { "every", 'n', "STEPS", MT_I64(options, every, 1, 1000000),
      "Steps that a point of the curve is the mean of (50)" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Of the weights and of the order of samples (1)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "Where the points go (build/bench/converge.csv)" },
    { "svg", 'p', "FILE", MT_TEXT(options, svg), "Also draw them" },
    { 0 },
};

/* ---- one run ------------------------------------------------------------------------------------- */

static const struct {
    mt_update_kind kind;
    double lr;
} runs[] = { { MT_SGD, 0.15 }, { MT_MOMENTUM, 0.02 }, { MT_RMSPROP, 1e-3 }, { MT_ADAM, 1e-3 } };

typedef struct outcome {
    double *loss; /* [points] */
    double accuracy;
    int64_t params, state; /* bytes; state without the counts of steps */
} outcome;

static double step(mt_module *model, mt_optim *optim, const mt_batch *batch)
{
    mt_scope_begin();
    mt_tensor *loss = mt_cross_entropy(mt_forward(model, batch->x), batch->y);
    mt_optim_zero_grad(optim);
    mt_backward(loss);
    mt_optim_step(optim);
    double value = mt_item(loss);
    mt_scope_end();
    return value;
}

/* All epochs; out->loss gets the mean of every `every` steps, a rest is left out. */
static mt_status train(outcome *out, mt_module *model, mt_optim *optim, mt_loader *loader, const options *o)
{
    double sum = 0;
    int64_t steps = 0;
    mt_batch batch;
    for (int64_t epoch = 0; epoch < o->epochs; epoch++) {
        while (mt_loader_next(loader, &batch)) {
            sum += step(model, optim, &batch);
            if (++steps % o->every == 0) {
                out->loss[steps / o->every - 1] = sum / (double)o->every;
                sum = 0;
            }
        }
    }
    return mt_loader_status(loader);
}

static mt_status one_run(outcome *out, int which, const mt_mnist *mnist, const options *o)
{
    const int64_t width[LAYERS + 1] = { mt_shape_numel(mnist->train->x.shape), 256, 128, MT_MNIST_CLASSES };
    const mt_recipe recipe = { .optimizer = runs[which].kind, .weight_decay = 0 };
    mt_rng init = mt_rng_new((uint64_t)o->seed, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new(width, LAYERS, &init);
    mt_state params = mt_module_params(model);
    mt_optim *optim = mt_recipe_optim(&recipe, model);
    mt_loader *loader =
        mt_recipe_loader(&recipe, mnist->train, mt_sampler_shuffling(mnist->train->count, (uint64_t)o->seed), o->batch);
    mt_loader *test = mt_recipe_loader(&recipe, mnist->test, mt_sampler_sequential(mnist->test->count), TEST_BATCH);
    mt_test_result result;
    mt_optim_set_lr(optim, runs[which].lr);
    out->params = mt_module_count(model) * (int64_t)sizeof(float);
    mt_state state = { 0 };
    mt_optim_state(&state, optim);
    out->state = mt_state_bytes(&state) - params.count * (int64_t)sizeof(int64_t); /* without the counts of steps */
    mt_state_free(&state);
    mt_status status = train(out, model, optim, loader, o);
    if (status == MT_OK)
        status = mt_classifier_test(&result, model, test);
    if (status == MT_OK)
        out->accuracy = result.accuracy;
    mt_state_free(&params);
    mt_loader_free(loader);
    mt_loader_free(test);
    mt_optim_free(optim);
    mt_module_free(model);
    return status;
}

/* ---- report -------------------------------------------------------------------------------------- */

static const char FOLDER[] = "build/bench", POINTS[] = "build/bench/converge.csv";

/* Called before training, to detect a file that cannot be written. */
static mt_status open_points(mt_metrics **csv, const options *o)
{
    mt_status status = o->csv == POINTS ? mt_cli_folder(FOLDER) : MT_OK;
    return status == MT_OK ? mt_metrics_open(csv, o->csv, "step,sgd,momentum,rmsprop,adam") : status;
}

static mt_status write_points(mt_metrics *csv, const outcome out[], int64_t points, const options *o)
{
    mt_status status = MT_OK;
    for (int64_t i = 0; i < points && status == MT_OK; i++)
        status = mt_metrics_row(csv, "%" PRId64 ",%.5f,%.5f,%.5f,%.5f", (i + 1) * o->every, out[0].loss[i],
                                out[1].loss[i], out[2].loss[i], out[3].loss[i]);
    if (status != MT_OK || !o->svg)
        return status;
    const mt_curve curve = {
        .title = "Four optimizers on MNIST: training loss",
        .x = "step",
        .left = "loss",
        .line = { { "sgd", "SGD, lr 0.15", MT_CURVE_LEFT },
                  { "momentum", "momentum, lr 0.02", MT_CURVE_LEFT },
                  { "rmsprop", "RMSprop, lr 0.001", MT_CURVE_LEFT },
                  { "adam", "Adam, lr 0.001", MT_CURVE_LEFT } },
    };
    return mt_curve_svg(o->svg, o->csv, &curve);
}

static void print_row(int which, const outcome *out, int64_t points)
{
    printf("%-10s %7g %12.5f %12.5f %11.2f %% %13" PRId64 " %8.3fx\n", mt_update_rules[runs[which].kind].name,
           runs[which].lr, out->loss[0], out->loss[points - 1], 100 * out->accuracy, out->state,
           (double)(out->params + out->state) / (double)out->params);
}

/* All runs, their rows and their points. */
static mt_status race(mt_metrics *csv, const mt_mnist *mnist, const options *o)
{
    outcome out[MT_COUNT(runs)] = { 0 };
    mt_status status = MT_OK;
    int64_t steps = o->epochs * ((mnist->train->count + o->batch - 1) / o->batch), points = steps / o->every;
    if (points < 2)
        return mt_fail(MT_ERR_ARGUMENT,
                       "%" PRId64 " steps make %" PRId64 " points of %" PRId64 ": take a smaller --every", steps,
                       points, o->every);
    printf("%s; %" PRId64 "-256-128-10, batch %" PRId64 ", %" PRId64 " epochs; losses are means of %" PRId64 " steps\n",
           bench_machine(), mt_shape_numel(mnist->train->x.shape), o->batch, o->epochs, o->every);
    printf("%-10s %7s %12s %12s %13s %13s %9s\n", "", "lr", "first loss", "last loss", "test accuracy", "state bytes",
           "memory");
    for (int r = 0; r < MT_COUNT(runs) && status == MT_OK; r++) {
        out[r].loss = calloc((size_t)points, sizeof *out[r].loss);
        MT_CHECK(out[r].loss, "out of memory");
        status = one_run(&out[r], r, mnist, o);
        if (status == MT_OK)
            print_row(r, &out[r], points);
        fflush(stdout);
    }
    if (status == MT_OK)
        status = write_points(csv, out, points, o);
    if (status == MT_OK)
        printf("converge: sgd=%.4f momentum=%.4f rmsprop=%.4f adam=%.4f data=%s\n", out[0].accuracy, out[1].accuracy,
               out[2].accuracy, out[3].accuracy, mt_mnist_name(o->data));
    for (int r = 0; r < MT_COUNT(runs); r++)
        free(out[r].loss);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .data = mt_mnist_folder(), .epochs = 3, .batch = 64, .every = 50, .seed = 1, .csv = POINTS };
    mt_cli_parse(argc, argv, "Four optimizers race on MNIST.", flags, &o);
    mt_metrics *csv = NULL;
    mt_mnist mnist = { 0 };
    mt_status status = mt_mnist_open(&mnist, o.data);
    if (status == MT_OK)
        status = open_points(&csv, &o);
    if (status == MT_OK)
        status = race(csv, &mnist, &o);
    mt_metrics_close(csv);
    mt_mnist_close(&mnist);
    return mt_cli_exit(status);
}
