/* train_mnist.c -- the loop of mnist.c, with all that a long run needs: options, a schedule, validation, checkpoints.
 *
 * A part of the training images is held out: the accuracy on these says which weights are the best. The test images
 * are used once, at the end, with the best weights.
 *
 * The same seed gives the same bits for any number of threads and workers. Ctrl-C ends after the current step.
 * Files in --out: metrics.csv (a row per evaluation, with --log-every more), run.json, curve.svg, step-N (checkpoints:
 * the newest and the best, ckpt/checkpoint.h), from which --resume continues; with --trace also spans.bin, with
 * --metrics-port steps.csv. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "data/mnist.h"
#include "models/classifier.h"
#include "models/mlp.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "cli/programs.h"
#include "prof/mfu.h"
#include "train/dropout.h"
#include "train/loop.h"
#include "train/pictures.h"
#include "train/recipe.h"
#include "train/run_json.h"
#include "train/saving.h"

enum { TEST_BATCH = 500 };

typedef struct options {
    const char *data;
    int64_t hidden[2]; /* widths; the second may be 0: one hidden layer */
    int64_t epochs, batch;
    int64_t eval_epochs, eval_steps; /* validate every so many epochs, or steps if that is not 0 */
    int64_t hold_out;                /* images for validation; -1: a twelfth */
    mt_recipe recipe;
    mt_saving saving;
} options;

/* Everything a run needs, made by setup and released by teardown. */
typedef struct run {
    options opt;
    mt_mnist mnist;
    char sum[9];                       /* of the training images */
    mt_dataset *train_set, *valid_set; /* the training images in two parts; without validation NULL */
    mt_module *model;
    mt_optim *optim;
    mt_loader *train, *valid, *test;
    mt_saver *saver;
    double start; /* mt_now() */
    mt_metrics *metrics;
    bool headed; /* the head of the table is printed */
    mt_loop loop;
    mt_extras extras;
    int64_t width[MT_MLP_MOST + 1], layers;
    int64_t flops, rows;         /* FLOPs that the model needs for a sample; evaluations so far */
    double peak_flops;           /* FLOP/s of the CPU; 0 on another device: unknown */
    double epoch_seconds;        /* of the fastest epoch */
    double accuracy;             /* of the test images */
    mt_test_result valid_result; /* of the latest validation */
} run;

/* ---- checkpoints --------------------------------------------------------------------------------- */

/* Everything that later steps depend on: what the user chose, and what training changes. */
static void lists_of(run *r, mt_state *model, mt_state *rest)
{
    *model = *rest = (mt_state){ 0 };
    mt_module_state(model, r->model);
    mt_state_setting(rest, "program", "train_mnist");
    mt_mlp_state(rest, r->width, &r->layers);
    mt_state_integer(rest, &r->loop.steps, "steps");
    mt_state_integer(rest, &r->opt.batch, "batch");
    mt_state_integer(rest, &r->opt.hold_out, "hold-out");
    mt_state_fix(rest);
    mt_recipe_state(rest, &r->opt.recipe);
    mt_state_setting(rest, "images checksum", "%s", r->sum);
    mt_loop_state(rest, &r->loop);
    mt_ema_state(rest, r->extras.ema);
    mt_loader_state(rest, r->train);
    mt_state_integer(rest, &r->rows, "metrics rows");
    mt_optim_state(rest, r->optim);
    mt_amp_state(rest, r->extras.amp);
}

/* run.json, at the start and at the end; returns status, or the error of writing. */
static mt_status describe(run *r, bool running, mt_status status)
{
    char images[MT_PATH];
    mt_state model, rest;
    mt_run_note note = { .dir = r->opt.recipe.out, r->start, running, status, "test_accuracy", r->accuracy };
    note.data = r->opt.data,
    note.summed = mt_mnist_path(images, r->opt.data, "t10k-images", 3) == MT_OK ? images : NULL;
    lists_of(r, &model, &rest);
    mt_saver_prepare(r->saver, &model, &rest);
    status = mt_run_json(&note, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status;
}

static mt_status save(void *user)
{
    run *r = user;
    mt_state model, rest;
    lists_of(r, &model, &rest);
    return mt_saving_save(r->saver, &r->loop, &model, &rest);
}

static mt_status resume(run *r)
{
    mt_state model, rest;
    lists_of(r, &model, &rest);
    mt_status status = mt_saving_load(&r->opt.saving, r->opt.recipe.out, &model, &rest);
    mt_state_free(&model);
    mt_state_free(&rest);
    r->loop.begun = r->loop.step;
    return status == MT_OK ? mt_loader_seek(r->train, mt_loader_place_of(r->train)) : status;
}

/* ---- evaluation and report ----------------------------------------------------------------------- */

static void print_head(run *r)
{
    if (!r->headed)
        printf("  epoch      loss   val loss   val accuracy   seconds\n");
    r->headed = true;
    fflush(stdout); /* before what stderr may say */
}

static double epoch_of(const run *r)
{
    return (double)r->loop.step / (double)mt_loader_steps(r->train);
}

/* A row of metrics.csv. */
static mt_status log_row(void *user, const mt_stretch *since, bool evaluated)
{
    run *r = user;
    char columns[96] = "", loss[32], val_loss[32], accuracy[32], more[256];
    if (r->valid)
        snprintf(columns, sizeof columns, "%s,%s,",
                 mt_metric_text(val_loss, "%.6f", evaluated ? r->valid_result.loss : NAN),
                 mt_metric_text(accuracy, "%.4f", evaluated ? r->valid_result.accuracy : NAN));
    MT_TRY(mt_metrics_row(r->metrics, "%.6g,%s,%s%.4f,%" PRId64 ",%s", epoch_of(r), mt_stretch_loss(loss, since),
                          columns, since->seconds, r->loop.step, mt_extras_values(more, &r->extras, &r->loop, since)));
    r->rows++;
    return MT_OK;
}

/* A row of the table. */
static mt_status validate(void *user, const mt_stretch *since)
{
    run *r = user;
    mt_test_result result = { .loss = NAN, .accuracy = NAN };
    double epochs = (double)since->samples / (double)r->train_set->count, seconds = since->seconds;
    MT_TRY(r->valid ? mt_classifier_test(&result, r->model, r->valid) : MT_OK);
    mt_loop_note(&r->loop, 1 - result.accuracy);
    r->valid_result = result;
    if (r->loop.step == 0) {
        printf("Before the first step: validation loss %.5f, accuracy %.2f %%\n", result.loss, 100 * result.accuracy);
        return MT_OK;
    }
    if (epochs > 0) /* a run that is resumed may begin with an evaluation */
        r->epoch_seconds = r->epoch_seconds == 0 ? seconds / epochs : fmin(r->epoch_seconds, seconds / epochs);
    mt_progress_clear(&r->loop.progress);
    print_head(r);
    char loss[32], val_loss[32], accuracy[32];
    printf("%7.4g  %8s  %9s  %11s %%  %8.3f\n", epoch_of(r), mt_loss_text(loss, since->loss, 5),
           mt_loss_text(val_loss, result.loss, 5), mt_loss_text(accuracy, 100 * result.accuracy, 2), seconds);
    fflush(stdout);
    return MT_OK;
}

/* The test images, with the best weights. */
static mt_status test(run *r)
{
    mt_test_result result;
    double best = (double)r->loop.best.step / (double)mt_loader_steps(r->train);
    MT_TRY(mt_saving_best(r->saver, r->opt.recipe.out, &r->loop, r->model, r->extras.ema));
    mt_ema_swap(r->extras.ema);
    MT_TRY(mt_classifier_test(&result, r->model, r->test));
    r->accuracy = result.accuracy;
    printf("\nOf the test images, none of which was used before:\n");
    mt_classifier_print(&result);
    printf("\nTraining waited for data %.1f %% of the time (%" PRId64 " workers)\n",
           mt_loader_stats_of(r->train).stall_percent, r->opt.recipe.workers);
    if (r->loop.best.step)
        printf("The best weights are those of epoch %.4g (validation accuracy %.2f %%), in %s/step-%" PRId64 "\n", best,
               100 * (1 - r->loop.best.value), r->opt.recipe.out, r->loop.best.step);
    mt_cli_run((const char *[]){ "curve", r->opt.recipe.out, NULL });
    printf("train_mnist: test_accuracy=%.4f epochs=%" PRId64 " seconds=%.1f epoch_seconds=%.4f data=%s\n",
           result.accuracy, r->loop.step / mt_loader_steps(r->train), mt_now() - r->start, r->epoch_seconds,
           mt_mnist_name(r->opt.data));
    return MT_OK;
}

/* What there is to say after training, however it ended. */
static mt_status report(run *r, mt_status status)
{
    const char *out = r->opt.recipe.out;
    mt_progress_clear(&r->loop.progress);
    /* First, because what follows is not part of the run. Spans that are lost do not fail it. */
    mt_recipe_traced(&r->opt.recipe, r->loop.samples * r->flops, 1);
    if (status == MT_OK)
        return test(r);
    if (r->rows > 1)
        mt_cli_run((const char *[]){ "curve", out, NULL });
    if (status == MT_ERR_STOPPED)
        printf("train_mnist: stopped epochs=%" PRId64 " data=%s\n", r->loop.step / mt_loader_steps(r->train),
               mt_mnist_name(r->opt.data));
    return status;
}

/* ---- command line -------------------------------------------------------------------------------- */

static const mt_option flags[] = {
    { "data", 'd', "DIR", MT_TEXT(options, data),
      "Folder of the four IDX files, or of pictures with a folder for each class (2 to 10)" },
    { "epochs", 'e', "N", MT_I64(options, epochs, 1, 100000), "Passes over all images" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Images per step" },
    { "hidden", 'H', "N,N", MT_PARSED(options, hidden, mt_mlp_hidden),
      "Widths of one or two hidden layers; default: 256,128" },
    { "eval-every", 0, "EPOCHS", MT_I64(options, eval_epochs, 1, 100000), "Epochs from one validation to the next" },
    { "eval-steps", 0, "STEPS", MT_I64(options, eval_steps, 1, INT32_MAX), "The same in steps; default: by epochs" },
    { "hold-out", 0, "N", MT_I64(options, hold_out, 0, INT32_MAX),
      "Training images used for validation only (0: none, and the last weights are tested); default: a twelfth" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { "saving", 0, NULL, MT_GROUP(options, saving, mt_saving_options), "Checkpoints:" },
    { 0 },
};

/* ---- the run ------------------------------------------------------------------------------------- */

static mt_status open_data(run *r)
{
    options *o = &r->opt;
    MT_TRY(mt_pictures_open(&r->mnist, r->sum, o->data, o->recipe.quiet));
    int64_t images = r->mnist.train->count;
    o->hold_out = o->hold_out < 0 ? images / 12 : o->hold_out;
    if (o->hold_out >= images)
        return mt_fail(MT_ERR_ARGUMENT, "--hold-out: there are %" PRId64 " training images", images);
    if (o->hold_out)
        mt_dataset_split(&r->train_set, &r->valid_set, r->mnist.train, o->hold_out, (uint64_t)o->recipe.seed);
    else
        r->train_set = r->mnist.train;
    MT_TRY(mt_recipe_begin(&o->recipe));
    r->peak_flops = o->recipe.device == MT_CPU ? mt_machine_flops(omp_get_max_threads()) : 0;
    return mt_saving_open(&r->saver, &o->saving, o->recipe.out);
}

static mt_loader *in_order(const run *r, const mt_dataset *set)
{
    return mt_recipe_loader(&r->opt.recipe, set, mt_sampler_sequential(set->count), TEST_BATCH);
}

/* Weights and gradients, the optimizer's state, the average; what layers have of a batch, and its gradient. */
static mt_status check_memory(const run *r)
{
    const options *o = &r->opt;
    int64_t weights = 0, columns = 0, copies = 2 + (o->recipe.ema > 0);
    for (int state = 0; state < MT_UPDATE_STATES; state++)
        copies += mt_update_rules[o->recipe.optimizer].state_size[state] == MT_STATE_LIKE_PARAM;
    for (int64_t l = 1; l <= r->layers; l++) {
        weights += (r->width[l - 1] + 1) * r->width[l];
        columns += r->width[l];
    }
    if (o->recipe.device != MT_CPU)
        return MT_OK;
    return mt_memory_check(4 * (copies * weights + 2 * o->batch * columns), "a step",
                           "use a smaller --batch, or smaller layers with --hidden");
}

static mt_status make_model(run *r)
{
    const options *o = &r->opt;
    uint64_t seed = (uint64_t)o->recipe.seed;
    r->layers = o->hidden[1] ? 3 : 2;
    r->width[0] = mt_shape_numel(r->mnist.train->x.shape);
    r->width[1] = o->hidden[0], r->width[2] = o->hidden[1];
    r->width[r->layers] = MT_CLASSES;
    MT_TRY(check_memory(r));
    mt_rng init = mt_rng_new(seed, MT_STREAM_INIT);
    r->model = mt_mlp_new(r->width, (int)r->layers, &init);
    mt_mlp_dropout(r->model, o->recipe.dropout, o->recipe.seed);
    mt_module_to_device(r->model, o->recipe.device);
    r->flops = mt_mlp_flops(r->width, (int)r->layers);
    r->optim = mt_recipe_optim(&o->recipe, r->model);
    r->train = mt_recipe_loader(&o->recipe, r->train_set, mt_sampler_shuffling(r->train_set->count, seed), o->batch);
    r->valid = r->valid_set ? in_order(r, r->valid_set) : NULL;
    r->test = in_order(r, r->mnist.test);
    return MT_OK;
}

/* What memory it took, and the head of the table. With a report of memory the trace is of the steps that follow: there
 * is one recording at a time. */
static mt_status after_first_step(void *user)
{
    run *r = user;
    mt_recipe_memory(&r->opt.recipe);
    print_head(r);
    return mt_recipe_trace(&r->opt.recipe, true);
}

static mt_status train(run *r)
{
    const options *o = &r->opt;
    const char *header = r->valid ? "epoch,loss,val_loss,val_accuracy,seconds,step" : "epoch,loss,seconds,step";
    int64_t in_epoch = mt_loader_steps(r->train);
    r->loop = mt_recipe_loop(&o->recipe, r->model, r->optim, r->train, o->epochs * in_epoch);
    mt_recipe_extras(&r->extras, &o->recipe, &r->loop);
    r->loop.training.loss = mt_classifier_loss;
    r->loop.epochs = o->epochs, r->loop.save_every = o->saving.every;
    r->loop.eval_every = o->eval_steps ? o->eval_steps : o->eval_epochs * in_epoch;
    r->loop.evaluate = validate, r->loop.log = log_row, r->loop.save = save, r->loop.first_step = after_first_step,
    r->loop.user = r;
    MT_TRY(o->saving.resume ? resume(r) : MT_OK);
    const mt_steps_config figures = { .begun = r->loop.step, .flops = (double)r->flops, .peak = r->peak_flops };
    MT_TRY(mt_recipe_figures(&r->extras, &o->recipe, &figures));
    MT_TRY(mt_recipe_metrics(&r->metrics, &o->recipe, &r->extras, header, o->saving.resume ? r->rows : -1));
    MT_TRY(describe(r, true, MT_OK));
    MT_TRY(r->valid ? mt_loop_first(&r->loop) : MT_OK);
    MT_TRY(mt_recipe_trace(&o->recipe, false));
    r->loop.progress = mt_recipe_progress(&o->recipe, mt_max(1, r->loop.steps - r->loop.begun));
    return mt_loop_run(&r->loop, r->loop.steps);
}

static void teardown(run *r)
{
    mt_loader_free(r->train);
    mt_loader_free(r->valid);
    mt_loader_free(r->test);
    mt_extras_free(&r->extras);
    mt_optim_free(r->optim);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    if (r->valid_set)
        mt_dataset_close(r->train_set);
    mt_dataset_close(r->valid_set);
    mt_mnist_close(&r->mnist);
}

static void advise(mt_device device, int64_t bytes)
{
    (void)device, (void)bytes;
    fprintf(stderr, "To need less memory: a smaller --batch, or smaller layers with --hidden.\n");
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    run r = { .start = mt_now(),
              .opt = { .data = mt_mnist_folder(),
                       .hidden = { 256, 128 },
                       .epochs = 10,
                       .batch = 64,
                       .eval_epochs = 1,
                       .hold_out = -1,
                       .saving = { .keep = 2 },
                       .recipe = { .optimizer = MT_ADAM,
                                   .schedule = MT_SCHEDULE_COSINE,
                                   .weight_decay = NAN,
                                   .seed = 1,
                                   .ema = 0.999,
                                   .out = "build/run/mnist" } } };
    mt_cli_parse(argc, argv, "Train a perceptron on MNIST, by default with Adam and a cosine schedule.", flags, &r.opt);
    mt_saving_decide(&r.opt.saving, r.opt.recipe.out);
    if (r.opt.recipe.lr == 0)
        r.opt.recipe.lr = mt_mlp_usual_rate[r.opt.recipe.optimizer];
    if (!strcmp(mt_mnist_name(r.opt.data), "standin"))
        printf("MNIST is not here (datasets/fetch mnist): training on stand-in digits, which say nothing of MNIST\n");
    mt_status status = open_data(&r);
    if (status == MT_OK) {
        mt_out_of_memory_hook = advise;
        status = make_model(&r);
        status = status == MT_OK ? train(&r) : status;
    }
    int code = mt_cli_exit(status);
    mt_status told = r.metrics ? describe(&r, false, report(&r, status)) : status;
    told = mt_saving_close(r.saver, told);
    if (told != status)
        code = mt_cli_exit(told);
    teardown(&r);
    return code;
}
