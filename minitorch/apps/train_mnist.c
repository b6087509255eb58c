/* train_mnist.c -- trains a perceptron on MNIST with the whole framework: loader, modules, tape, optimizer, schedule.
 *
 * The same seed gives the same bits for any number of threads and workers. Ctrl-C ends after the current step.
 * Files in --out: metrics.csv (a row per test), curve.svg, best.safetensors (the weights with the best test accuracy);
 * with --trace also spans.bin. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ckpt/safetensors.h"
#include "data/mnist.h"
#include "memory/caching.h"
#include "models/classifier.h"
#include "models/mlp.h"
#include "prof/cli.h"
#include "prof/metrics.h"
#include "prof/recorder.h"
#include "train/loop.h"
#include "train/recipe.h"

enum { TEST_BATCH = 500 };

typedef struct options {
    const char *data;
    int64_t hidden[2]; /* widths; the second may be 0: one hidden layer */
    int64_t epochs, batch;
    int64_t eval_epochs, eval_steps; /* test every so many epochs, or steps if that is not 0 */
    mt_recipe recipe;
    bool trace;
} options;

/* Everything a run needs, made by setup and released by teardown. */
typedef struct run {
    options opt;
    mt_mnist mnist;
    mt_module *model;
    mt_optim *optim;
    mt_loader *train, *test;
    mt_metrics *metrics;
    mt_state params, best; /* parameters, and a copy of those with the best test accuracy */
    mt_loop loop;
    mt_test_result result;                           /* of the latest test */
    int64_t flops, rows;                             /* FLOPs that the model needs for a sample; tests so far */
    double best_epoch, best_accuracy, epoch_seconds; /* the fastest */
    bool tracing;                                    /* a recording runs */
} run;

/* ---- testing and reporting ----------------------------------------------------------------------- */

/* A row of the table and of metrics.csv, and the weights if they are the best so far. */
static mt_status test_and_note(void *user, const mt_stretch *since)
{
    run *r = user;
    double epochs = (double)since->samples / (double)r->mnist.train->count, seconds = since->seconds;
    double epoch = (double)r->loop.step / (double)mt_loader_steps(r->train);
    mt_status status = mt_classifier_test(&r->result, r->model, r->test);
    if (status != MT_OK)
        return status;
    double accuracy = r->result.accuracy;
    if (accuracy > r->best_accuracy || r->rows == 0) {
        mt_state_copy(&r->best, &r->params);
        r->best_accuracy = accuracy, r->best_epoch = epoch;
    }
    r->epoch_seconds = r->rows++ == 0 ? seconds / epochs : fmin(r->epoch_seconds, seconds / epochs);
    mt_progress_clear(&r->loop.progress);
    char loss[32];
    printf("%7.4g  %8s  %9.5f  %11.2f %%  %8.3f\n", epoch, mt_loss_text(loss, since->loss, 5), r->result.loss,
           100 * accuracy, seconds);
    fflush(stdout);
    return mt_metrics_row(r->metrics, "%.6g,%.6f,%.6f,%.4f,%.4f,%g", epoch, since->loss, r->result.loss, accuracy,
                          seconds, mt_optim_loss_scale(r->optim));
}

static mt_status write_best(const run *r)
{
    char path[4096];
    mt_recipe_path(path, &r->opt.recipe, "best.safetensors");
    mt_status status = mt_safetensors_write(path, &r->best);
    if (status == MT_OK)
        printf("The weights of epoch %.4g (test accuracy %.2f %%) are in %s\n", r->best_epoch, 100 * r->best_accuracy,
               path);
    else
        fprintf(stderr, "train_mnist: no weights were written: %s\n", mt_last_error());
    return status;
}

/* What there is to say after training, however it ended. Fails when the weights are lost. */
static mt_status report(const run *r, mt_status status, double seconds)
{
    const char *data = mt_mnist_name(r->opt.data), *out = r->opt.recipe.out;
    mt_status written = MT_OK;
    mt_progress_clear(&r->loop.progress);
    /* First, because what follows is no part of the run. Spans that are lost do not fail it. */
    if (r->tracing && mt_record_end(r->loop.samples * r->flops) == MT_OK)
        printf("The profile is recorded in %s/spans.bin; to read it: %s %s\n", out, mt_cli_sibling("profile"), out);
    else if (r->tracing)
        printf("No profile: %s\n", mt_last_error());
    if (status == MT_OK) {
        printf("\n");
        mt_classifier_print(&r->result);
        printf("\nTraining waited for data %.1f %% of the time (%" PRId64 " workers)\n",
               mt_loader_stats_of(r->train).stall_percent, r->opt.recipe.workers);
    }
    if (r->rows > 0) {
        written = write_best(r);
        mt_cli_run("curve", out);
    }
    if (status == MT_OK)
        printf("train_mnist: test_accuracy=%.4f epochs=%" PRId64 " seconds=%.1f epoch_seconds=%.4f data=%s\n",
               r->result.accuracy, r->opt.epochs, seconds, r->epoch_seconds, data);
    if (status == MT_ERR_STOPPED)
        printf("train_mnist: stopped epochs=%" PRId64 " data=%s\n", r->loop.step / mt_loader_steps(r->train), data);
    return written;
}

/* ---- command line -------------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data), "Folder of the four IDX files (default: of datasets/fetch)" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 100000), "Passes over all images (default 10)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Images per step (default 64)" },
    { "hidden", 'H', "N,N", MT_PARSED(options, hidden, mt_mlp_hidden), "Widths of one or two hidden layers (256,128)" },
    { "eval-every", 0, "EPOCHS", MT_I64(options, eval_epochs, 1, 100000), "Test after so many epochs (default 1)" },
    { "eval-steps", 0, "STEPS", MT_I64(options, eval_steps, 1, INT32_MAX), "Test after so many steps instead" },
    { "trace", 0, NULL, MT_FLAG(options, trace), "Record where the time goes, for the program profile" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { 0 },
};

/* ---- the run ------------------------------------------------------------------------------------- */

static mt_status open_files(run *r)
{
    char path[4096];
    mt_status status = mt_mnist_open(&r->mnist, r->opt.data);
    if (status == MT_OK)
        status = mt_recipe_begin(&r->opt.recipe);
    mt_recipe_path(path, &r->opt.recipe, "metrics.csv");
    return status == MT_OK ? mt_metrics_open(&r->metrics, path, "epoch,loss,test_loss,test_accuracy,seconds,loss_scale")
                           : status;
}

static void make_model(run *r)
{
    const options *o = &r->opt;
    const mt_dataset *set = r->mnist.train;
    int layers = o->hidden[1] ? 3 : 2;
    const int64_t width[] = { mt_shape_numel(set->x.shape), o->hidden[0], layers == 3 ? o->hidden[1] : MT_CLASSES,
                              MT_CLASSES };
    mt_rng init = mt_rng_new((uint64_t)o->recipe.seed, MT_STREAM_INIT);
    r->model = mt_mlp_new(width, layers, &init);
    mt_module_to_device(r->model, o->recipe.device);
    r->flops = mt_mlp_flops(width, layers);
    r->params = mt_module_params(r->model);
    r->best = mt_state_clone(&r->params);
    r->optim = mt_recipe_optim(&o->recipe, r->model);
    r->train = mt_recipe_loader(&o->recipe, set, mt_sampler_shuffling(set->count, (uint64_t)o->recipe.seed), o->batch);
    r->test = mt_recipe_loader(&o->recipe, r->mnist.test, mt_sampler_sequential(r->mnist.test->count), TEST_BATCH);
}

static mt_status begin_trace(run *r)
{
    char path[4096];
    mt_recipe_path(path, &r->opt.recipe, "spans.bin");
    mt_status status = r->opt.trace ? mt_record_begin(path) : MT_OK;
    r->tracing = r->opt.trace && status == MT_OK;
    return status;
}

/* What memory it took, and the head of the table. With a report of memory the trace is of the steps that follow: there
 * is one recording at a time. */
static mt_status after_first_step(void *user)
{
    run *r = user;
    mt_recipe_memory(&r->opt.recipe);
    printf("  epoch      loss  test loss  test accuracy   seconds\n");
    fflush(stdout); /* before what stderr may say */
    return r->opt.recipe.memory_report ? begin_trace(r) : MT_OK;
}

static mt_status train(run *r)
{
    const options *o = &r->opt;
    int64_t in_epoch = mt_loader_steps(r->train), steps = o->epochs * in_epoch;
    r->loop = (mt_loop){ .training = mt_recipe_training(&o->recipe, r->model, r->optim, steps),
                         .loader = r->train,
                         .steps = steps,
                         .epochs = o->epochs,
                         .eval_every = o->eval_steps ? o->eval_steps : o->eval_epochs * in_epoch,
                         .evaluate = test_and_note,
                         .first_step = after_first_step,
                         .user = r,
                         .progress = mt_recipe_progress(&o->recipe, steps) };
    r->loop.training.loss = mt_classifier_loss;
    mt_status status = o->recipe.memory_report ? MT_OK : begin_trace(r);
    return status == MT_OK ? mt_loop_run(&r->loop, steps) : status;
}

static void teardown(run *r)
{
    mt_loader_free(r->train);
    mt_loader_free(r->test);
    mt_optim_free(r->optim);
    mt_state_free(&r->best);
    mt_state_free(&r->params);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    mt_mnist_close(&r->mnist);
    mt_caching_end(r->opt.recipe.device);
}

int main(int argc, char **argv)
{
    run r = { .opt = { .data = mt_mnist_folder(),
                       .hidden = { 256, 128 },
                       .epochs = 10,
                       .batch = 64,
                       .eval_epochs = 1,
                       .recipe = { .optimizer = MT_ADAM,
                                   .schedule = MT_SCHEDULE_COSINE,
                                   .weight_decay = NAN,
                                   .seed = 1,
                                   .out = "build/run/mnist" } } };
    double start = mt_now();
    mt_cli_parse(argc, argv, "Train a perceptron on MNIST, by default with Adam and a cosine schedule.", flags, &r.opt);
    if (r.opt.recipe.lr == 0)
        r.opt.recipe.lr = mt_mlp_usual_rate[r.opt.recipe.optimizer];
    if (!strcmp(mt_mnist_name(r.opt.data), "standin"))
        printf("MNIST is not here (datasets/fetch mnist): training on stand-in digits, which say nothing of MNIST\n");
    mt_status status = open_files(&r);
    if (status == MT_OK) {
        mt_memory_advise("To need less: a smaller --batch, or smaller layers with --hidden.");
        make_model(&r);
        status = train(&r);
    }
    int code = mt_cli_exit(status);
    if (r.model && report(&r, status, mt_now() - start) != MT_OK)
        code = 1;
    teardown(&r);
    return code;
}
