/* train_mnist.c -- trains a perceptron on MNIST with the whole framework: loader, modules, tape, optimizer, schedule.
 *
 * The same seed gives the same bits for any number of threads and workers. Ctrl-C ends after the current step. Files in --out: metrics.csv (a row per test), curve.svg, best.safetensors (the weights with
 * the best test accuracy); with --trace also spans.bin. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "autograd/finite.h"
#include "data/mnist.h"
#include "models/classifier.h"
#include "models/mlp.h"
#include "train/recipe.h"
#include "train/step.h"
#include "models/weights.h"
#include "prof/cli.h"
#include "prof/curve.h"
#include "prof/metrics.h"
#include "prof/progress.h"
#include "prof/recorder.h"

enum { TEST_BATCH = 500, HIDDEN = 2 /* most hidden layers */, CLASSES = MT_MNIST_CLASSES };

typedef struct options {
    const char *data, *out;
    int64_t hidden[HIDDEN]; /* widths; the second may be 0: one hidden layer */
    int64_t epochs, batch, seed, threads;
    int64_t eval_epochs, eval_steps; /* test every so many epochs, or steps if that is not 0 */
    mt_recipe recipe;
    mt_device device;
    bool quiet, trace;
} options;

/* The mean of what training said since the last test. */
typedef struct stretch {
    int64_t samples;
    double loss, begin; /* summed over samples; mt_now() */
} stretch;

/* Everything a run needs, made by setup and released by teardown. */
typedef struct run {
    options opt;
    mt_mnist mnist;
    mt_module *model;
    mt_optim *optim;
    mt_loader *train, *test;
    mt_metrics *metrics;
    mt_weights *best;
    mt_progress progress;
    stretch since;
    mt_confusion confusion;                          /* of the latest test */
    int64_t step, steps;                             /* steps done, and of the whole run */
    int64_t seen, flops;                             /* samples trained on; FLOPs that the model needs for one */
    int64_t rows;                                    /* tests so far */
    double best_epoch, best_accuracy, epoch_seconds; /* the fastest */
} run;

/* ---- training and testing ------------------------------------------------------------------------ */

static mt_status after_step(run *r, const mt_step_result *step);

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

static mt_status train_epoch(run *r)
{
    const mt_training training = { .model = r->model,
                                   .optim = r->optim,
                                   .loss = mt_classifier_loss,
                                   .next = next_batch,
                                   .source = r->train,
                                   .micro = 1,
                                   .schedule = mt_recipe_schedule(&r->opt.recipe, r->steps),
                                   .clip = r->opt.recipe.clip };
    mt_step_result step;
    mt_status status = MT_OK;
    while (status == MT_OK && mt_train_step(&step, &training, r->step))
        status = after_step(r, &step);
    return status == MT_OK ? mt_loader_status(r->train) : status;
}

/* test_and_note -- a row of the table and of metrics.csv, and the weights if they are the best so far. */
static mt_status test_and_note(run *r)
{
    double seconds = mt_now() - r->since.begin, epochs = (double)r->since.samples / (double)r->mnist.train->count;
    double epoch = (double)r->step / (double)mt_loader_steps(r->train), loss = r->since.loss / (double)r->since.samples,
           test_loss;
    mt_status status = mt_classifier_test(&test_loss, &r->confusion, r->model, r->test);
    if (status != MT_OK)
        return status;
    double accuracy = mt_confusion_accuracy(&r->confusion);
    if (accuracy > r->best_accuracy || r->rows == 0) {
        mt_weights_keep(r->best);
        r->best_accuracy = accuracy, r->best_epoch = epoch;
    }
    r->epoch_seconds = r->rows++ == 0 ? seconds / epochs : fmin(r->epoch_seconds, seconds / epochs);
    mt_progress_clear(&r->progress);
    printf("%7.4g  %8.5f  %9.5f  %11.2f %%  %8.3f\n", epoch, loss, test_loss, 100 * accuracy, seconds);
    fflush(stdout);
    status = mt_metrics_row(r->metrics, "%.6g,%.6f,%.6f,%.4f,%.4f", epoch, loss, test_loss, accuracy, seconds);
    r->since = (stretch){ .begin = mt_now() };
    return status;
}

static mt_status not_finite(const run *r, double loss)
{
    const char *culprit = mt_finite_culprit(); /* known in the debug flavour only */
    return mt_fail(MT_ERR_ARGUMENT, "step %" PRId64 ": the loss is %f; --lr %g is too large%s%s", r->step, loss,
                   r->opt.recipe.lr, culprit ? "\nthe first result that was not finite: " : "", culprit ? culprit : "");
}

/* after_step -- count the step, test when it is time to, stop when there is a reason to. */
static mt_status after_step(run *r, const mt_step_result *step)
{
    int64_t in_epoch = mt_loader_steps(r->train), epoch = r->step / in_epoch + 1;
    int64_t every = r->opt.eval_steps ? r->opt.eval_steps : r->opt.eval_epochs * in_epoch;
    r->step++;
    r->since.loss += step->loss * (double)step->samples;
    r->since.samples += step->samples;
    r->seen += step->samples;
    if (!isfinite(step->loss))
        return not_finite(r, step->loss);
    mt_progress_show(&r->progress, r->step, "epoch %2d/%d  loss %.4f", (int)epoch, (int)r->opt.epochs,
                     r->since.loss / (double)r->since.samples);
    if (r->step % every == 0 || r->step == r->steps) {
        mt_status status = test_and_note(r);
        if (status != MT_OK)
            return status;
    }
    return mt_cli_stopped() ? mt_fail(MT_ERR_STOPPED, "stopped in epoch %" PRId64, epoch) : MT_OK;
}

static mt_status train(run *r)
{
    mt_status status = MT_OK;
    printf("  epoch      loss  test loss  test accuracy   seconds\n");
    fflush(stdout); /* before what stderr may say */
    r->progress = mt_progress_begin("steps", r->steps);
    if (r->opt.quiet)
        r->progress.mode = MT_PROGRESS_OFF;
    r->since.begin = mt_now();
    mt_finite_reset();
    for (int64_t epoch = 0; epoch < r->opt.epochs && status == MT_OK; epoch++)
        status = train_epoch(r);
    return status;
}

/* ---- report -------------------------------------------------------------------------------------- */

static void draw_curve(const run *r)
{
    char csv[4096], svg[4096];
    const mt_curve curve = {
        .title = "train\\_mnist: loss and test accuracy",
        .x = "epoch",
        .left = "loss",
        .right = "test accuracy",
        .line = { { "loss", "training loss", MT_CURVE_LEFT },
                  { "test_loss", "test loss", MT_CURVE_LEFT },
                  { "test_accuracy", "test accuracy", MT_CURVE_RIGHT } },
    };
    snprintf(csv, sizeof csv, "%s/metrics.csv", r->opt.out);
    snprintf(svg, sizeof svg, "%s/curve.svg", r->opt.out);
    if (r->rows == 1)
        printf("The numbers are in %s; a curve takes two tests\n", csv);
    else if (mt_curve_svg(svg, csv, &curve) == MT_OK)
        printf("The curve is in %s, its numbers in %s\n", svg, csv);
    else
        printf("The numbers are in %s; %s\n", csv, mt_last_error());
}

static mt_status write_best(const run *r)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/best.safetensors", r->opt.out);
    mt_status status = mt_weights_write(r->best, path);
    if (status == MT_OK)
        printf("The weights of epoch %.4g (test accuracy %.2f %%) are in %s\n", r->best_epoch, 100 * r->best_accuracy,
               path);
    else
        fprintf(stderr, "train_mnist: no weights were written: %s\n", mt_last_error());
    return status;
}

/* Spans that are lost do not fail the run. */
static void end_trace(const run *r)
{
    const char *program = program_invocation_name, *slash = strrchr(program, '/');
    if (mt_record_end(r->seen * r->flops) == MT_OK)
        printf("The profile is recorded in %s/spans.bin; to read it: %.*sprofile %s\n", r->opt.out,
               slash ? (int)(slash + 1 - program) : 0, program, r->opt.out);
    else
        printf("No profile: %s\n", mt_last_error());
}

/* report -- what there is to say after training, however it ended; weights that are lost fail a run that went well. */
static mt_status report(const run *r, mt_status status, double seconds)
{
    const char *data = mt_mnist_name(r->opt.data);
    mt_loader_stats stats = mt_loader_stats_of(r->train);
    mt_status written = MT_OK;
    mt_progress_clear(&r->progress);
    if (status == MT_OK) {
        printf("\n");
        mt_confusion_print(&r->confusion);
        printf("\nTraining waited for data %.1f %% of the time (%" PRId64 " workers)\n", stats.stall_percent,
               r->opt.recipe.workers);
    }
    if (r->opt.trace) /* first: what follows is no part of the run */
        end_trace(r);
    if (r->rows > 0) {
        written = write_best(r);
        draw_curve(r);
    }
    if (status == MT_OK)
        printf("train_mnist: test_accuracy=%.4f epochs=%" PRId64 " seconds=%.1f epoch_seconds=%.4f data=%s\n",
               mt_confusion_accuracy(&r->confusion), r->opt.epochs, seconds, r->epoch_seconds, data);
    if (status == MT_ERR_STOPPED)
        printf("train_mnist: stopped epochs=%" PRId64 " data=%s\n", r->step / mt_loader_steps(r->train), data);
    return status == MT_OK ? written : status;
}

/* ---- command line -------------------------------------------------------------------------------- */

/* "256,128" or "512". */
static mt_status hidden(const char *text, void *width)
{
    int64_t parsed[HIDDEN] = { 0 };
    const char *comma = strchrnul(text, ',');
    mt_status status = mt_cli_i64(&parsed[0], strndupa(text, (size_t)(comma - text)), 1, 65536);
    if (status == MT_OK && *comma)
        status = mt_cli_i64(&parsed[1], comma + 1, 1, 65536);
    if (status == MT_OK)
        memcpy(width, parsed, sizeof parsed);
    return status;
}

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data),
      "Folder of the four IDX files (default: where datasets/fetch put them)" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 100000), "Passes over all images (default 10)" },
    { "device", 'D', "NAME", MT_PARSED(options, device, mt_cli_device), "cpu (default) or cuda" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Images per step (default 64)" },
    { "hidden", 'H', "N,N", MT_PARSED(options, hidden, hidden),
      "Widths of the hidden layers: one or two (default 256,128)" },
    { "seed", 's', "N", MT_I64(options, seed, 1, INT64_MAX),
      "Of the first weights and of the order of images (default 1)" },
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024),
      "Threads; changes the speed, not the result (default: one per core)" },
    { "eval-every", 0, "EPOCHS", MT_I64(options, eval_epochs, 1, 100000), "Test after so many epochs (default 1)" },
    { "eval-steps", 0, "STEPS", MT_I64(options, eval_steps, 1, INT32_MAX), "Test after so many steps instead" },
    { "out", 'o', "DIR", MT_TEXT(options, out), "Folder for what is written (default build/run/mnist)" },
    { "trace", 0, NULL, MT_FLAG(options, trace),
      "Record where time, arithmetic and memory go, for the program profile" },
    { "quiet", 'q', NULL, MT_FLAG(options, quiet), "No progress line" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { 0 },
};

/* ---- setting up ---------------------------------------------------------------------------------- */

static mt_status setup(run *r)
{
    char path[4096];
    options *o = &r->opt;
    snprintf(path, sizeof path, "%s/metrics.csv", o->out);
    mt_status status = mt_mnist_open(&r->mnist, o->data);
    if (status == MT_OK)
        status = mt_cli_folder(o->out);
    if (status == MT_OK)
        status = mt_metrics_open(&r->metrics, path, "epoch,loss,test_loss,test_accuracy,seconds");
    if (status != MT_OK)
        return status;
    const mt_dataset *train_set = r->mnist.train, *test_set = r->mnist.test;
    int layers = o->hidden[1] ? 3 : 2;
    int64_t width[] = { mt_shape_numel(train_set->x.shape), o->hidden[0], layers == 3 ? o->hidden[1] : CLASSES,
                        CLASSES };
    mt_rng init = mt_rng_new((uint64_t)o->seed, MT_STREAM_INIT);
    r->model = mt_mlp_new(width, layers, &init);
    mt_module_to_device(r->model, o->device);
    r->flops = mt_mlp_flops(width, layers);
    r->best = mt_weights_new(r->model);
    mt_params params = mt_module_params(r->model);
    mt_sampler shuffled = mt_sampler_shuffling(train_set->count, (uint64_t)o->seed);
    r->optim = mt_recipe_optim(&o->recipe, &params);
    mt_params_free(&params);
    r->train = mt_recipe_loader(&o->recipe, train_set, shuffled, o->batch);
    r->test = mt_recipe_loader(&o->recipe, test_set, mt_sampler_sequential(test_set->count), TEST_BATCH);
    r->steps = o->epochs * mt_loader_steps(r->train);
    snprintf(path, sizeof path, "%s/spans.bin", o->out);
    return o->trace ? mt_record_begin(path) : MT_OK;
}

static void teardown(run *r)
{
    mt_loader_free(r->train);
    mt_loader_free(r->test);
    mt_optim_free(r->optim);
    mt_weights_free(r->best);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    mt_mnist_close(&r->mnist);
}

int main(int argc, char **argv)
{
    run r = { .opt = { .out = "build/run/mnist",
                       .hidden = { 256, 128 },
                       .epochs = 10,
                       .batch = 64,
                       .seed = 1,
                       .eval_epochs = 1,
                       .recipe = { .optimizer = MT_ADAM, .schedule = MT_SCHEDULE_COSINE, .weight_decay = NAN } } };
    double start = mt_now();
    mt_cli_parse(argc, argv,
                 "Train a perceptron on MNIST, with Adam and a cosine schedule unless options say otherwise.", flags,
                 &r.opt);
    if (r.opt.recipe.lr == 0)
        r.opt.recipe.lr = mt_mlp_usual_rate[r.opt.recipe.optimizer];
    if (!r.opt.data)
        r.opt.data = mt_mnist_folder();
    if (!strcmp(mt_mnist_name(r.opt.data), "standin"))
        printf("MNIST is not here (datasets/fetch mnist): training on stand-in digits, which say nothing of MNIST\n");
    if (r.opt.threads)
        omp_set_num_threads((int)r.opt.threads);
    mt_cli_catch_stop();
    mt_status status = setup(&r);
    if (status == MT_OK) {
        status = train(&r);
        status = report(&r, status, mt_now() - start);
    }
    teardown(&r);
    return mt_cli_exit(status);
}
