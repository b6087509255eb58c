/* train_gpt2.c -- trains GPT-2 on a text: AdamW with decay on matrices only, warm-up and cosine, clipping, accumulation.
 *
 * Files in --out: metrics.csv (a row per evaluation), curve.svg, vocab.bpe and encoder.json (the tokens), run.ckpt (all that
 * --resume needs). A checkpoint follows every evaluation; killed at any moment, `--resume` with the same flags goes on from
 * the last one and ends with the same bits as an unbroken run. `--plan` says what training would cost, and stops. */
#include <inttypes.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "models/checkpoint.h"
#include "models/cost.h"
#include "train/corpus.h"
#include "train/recipe.h"
#include "train/step.h"
#include "models/sample.h"
#include "prof/cli.h"
#include "prof/curve.h"
#include "prof/machine.h"
#include "prof/metrics.h"
#include "prof/progress.h"

enum { SAMPLE = 200, PATH = 4096 }; /* tokens of a sample; bytes of a path */

static const char HEADER[] = "step,loss,val_loss,lr,tokens_per_second";

typedef struct options {
    const char *data, *vocabulary, *size;
    mt_gpt2_config config; /* 0: as the size says */
    int64_t batch, micro, steps, eval_every, eval_batches;
    mt_recipe recipe;
    bool plan, resume;
} options;

typedef struct run {
    options opt;
    mt_corpus corpus;
    mt_loader *train, *valid;
    mt_module *model;
    mt_optim *optim;
    mt_metrics *metrics;
    mt_progress progress;
    mt_gpt2_cost cost;
    mt_place place;
    double peak_flops;     /* FLOP/s of the CPU; 0 on another device, where nobody measured it */
    double loss, val_loss; /* summed since the last evaluation; of the last one */
    int64_t counted;       /* steps in that sum */
    double since;          /* mt_now() after the last evaluation */
} run;

/* ---- training ---------------------------------------------------------------------------------------- */

static bool next_batch(void *loader, mt_batch *batch)
{
    return mt_loader_next(loader, batch);
}

static mt_status validate(run *r)
{
    double total = 0;
    mt_device device = r->opt.recipe.device;
    mt_batch batch;
    mt_no_grad_begin();
    while (mt_loader_next(r->valid, &batch)) {
        mt_scope_begin();
        total += mt_item(mt_gpt2_loss(r->model, mt_to_device(batch.x, device), mt_to_device(batch.y, device)));
        mt_scope_end();
    }
    mt_no_grad_end();
    r->val_loss = total / (double)r->opt.eval_batches;
    return mt_loader_status(r->valid);
}

/* A sample depends on seed and step, not on what was sampled before. */
static mt_status show_sample(const run *r)
{
    mt_rng all = mt_rng_new((uint64_t)r->opt.recipe.seed, MT_STREAM_SAMPLE);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)r->place.step);
    int32_t ids[SAMPLE + 1] = { r->corpus.first };
    uint8_t *text;
    int64_t size;
    mt_gpt2_extend(ids, 1, SAMPLE, r->model, &(mt_sampling){ 0.8, 0, 1 }, &rng);
    mt_status status = mt_decode(&text, &size, r->corpus.tokenizer, ids, SAMPLE + 1);
    if (status != MT_OK)
        return status;
    printf("---- sample ----\n%.*s\n----------------\n", (int)size, (const char *)text);
    free(text);
    return MT_OK;
}

static void path_in(char *path, const options *o, const char *name)
{
    snprintf(path, PATH, "%s/%s", o->recipe.out, name);
}

/* evaluate -- a row of the table and of metrics.csv, a sample, a checkpoint. */
static mt_status evaluate(run *r)
{
    const options *o = &r->opt;
    double seconds = mt_now() - r->since, tokens = (double)(r->counted * o->micro * o->batch * o->config.block);
    double rate = tokens / seconds, flops = (double)r->counted * (double)r->cost.flops / seconds;
    double loss = r->loss / (double)r->counted, lr = mt_optim_lr(r->optim);
    char path[PATH], mfu[16] = "-  ";
    if (r->peak_flops > 0)
        snprintf(mfu, sizeof mfu, "%.1f %%", 100 * flops / r->peak_flops);
    mt_status status = validate(r);
    if (status != MT_OK)
        return status;
    mt_progress_clear(&r->progress);
    printf("%7" PRId64 "  %8.4f  %9.4f  %9.2e  %9.0f  %7s\n", r->place.step, loss, r->val_loss, lr, rate, mfu);
    status = mt_metrics_row(r->metrics, "%" PRId64 ",%.6f,%.6f,%.6g,%.0f", r->place.step, loss, r->val_loss, lr, rate);
    if (status == MT_OK)
        status = show_sample(r);
    fflush(stdout);
    r->place.rows++;
    r->loss = 0, r->counted = 0;
    path_in(path, o, "run.ckpt");
    if (status == MT_OK)
        status = mt_checkpoint_write(path, &r->place, r->model, r->optim);
    r->since = mt_now();
    return status;
}

static mt_status train(run *r)
{
    const options *o = &r->opt;
    const mt_training training = { .model = r->model,
                                   .optim = r->optim,
                                   .loss = mt_gpt2_loss,
                                   .next = next_batch,
                                   .source = r->train,
                                   .micro = o->micro,
                                   .schedule = mt_recipe_schedule(&o->recipe, o->steps),
                                   .clip = o->recipe.clip };
    int64_t begun = r->place.step;
    printf("   step      loss   val loss         lr   tokens/s      MFU\n");
    r->progress = mt_progress_begin("steps", mt_max(1, o->steps - begun));
    if (o->recipe.quiet)
        r->progress.mode = MT_PROGRESS_OFF;
    r->since = mt_now();
    while (r->place.step < o->steps) {
        mt_step_result step;
        if (!mt_train_step(&step, &training, r->place.step))
            return mt_loader_status(r->train);
        if (!isfinite(step.loss))
            return mt_fail(MT_ERR_ARGUMENT, "step %" PRId64 ": the loss is %f; --lr %g is too large", r->place.step,
                           step.loss, o->recipe.lr);
        r->loss += step.loss;
        r->counted++;
        r->place.step++;
        mt_progress_show(&r->progress, r->place.step - begun, "loss %.4f", r->loss / (double)r->counted);
        if (r->place.step == begun + 1)
            printf("planned peak %.1f MB, measured in the first step %.1f MB\n", (double)r->cost.peak_bytes / 1e6,
                   (double)mt_peak_bytes(o->recipe.device) / 1e6);
        bool due = r->place.step % o->eval_every == 0 || r->place.step == o->steps;
        mt_status status = due ? evaluate(r) : MT_OK;
        if (status != MT_OK)
            return status;
        if (mt_cli_stopped())
            return mt_fail(MT_ERR_STOPPED, "stopped after step %" PRId64 "; --resume goes on from the last evaluation",
                           r->place.step);
    }
    return MT_OK;
}

static void draw_curve(const run *r)
{
    char csv[PATH], svg[PATH];
    const mt_curve curve = { .title = "train\\_gpt2",
                             .x = "step",
                             .left = "loss",
                             .line = { { "loss", "training loss", MT_CURVE_LEFT },
                                       { "val_loss", "validation loss", MT_CURVE_LEFT } } };
    path_in(csv, &r->opt, "metrics.csv");
    path_in(svg, &r->opt, "curve.svg");
    if (r->place.rows >= 2 && mt_curve_svg(svg, csv, &curve) == MT_OK)
        printf("The curve is in %s, its numbers in %s\n", svg, csv);
    else if (r->place.rows > 0)
        printf("The numbers are in %s; a curve takes two evaluations, and gnuplot\n", csv);
}

/* ---- command line ------------------------------------------------------------------------------------ */

static const mt_option flags[] = {
    { "data", 'd', "FILE", MT_TEXT(options, data),
      "Text to learn, or a token file (default: tiny Shakespeare, where datasets/fetch shakespeare put it)" },
    { "vocab", 0, "DIR", MT_TEXT(options, vocabulary),
      "Folder of vocab.bpe and encoder.json (default: characters are tokens)" },
    { "size", 'z', "NAME", MT_TEXT(options, size), "toy (default), gpt2, gpt2-medium, gpt2-large or gpt2-xl" },
    { "layers", 0, "N", MT_I64(options, config.layers, 1, 1000), "Instead of the size's" },
    { "heads", 0, "N", MT_I64(options, config.heads, 1, 1000), "Instead of the size's" },
    { "width", 0, "N", MT_I64(options, config.width, 1, 1 << 16), "Instead of the size's" },
    { "block", 0, "N", MT_I64(options, config.block, 1, 1 << 20),
      "Context, and tokens of a window (default: the size's)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows of a micro-batch (default 12)" },
    { "micro-batches", 0, "N", MT_I64(options, micro, 1, 65536),
      "Micro-batches of a step, whose gradients are added up (default 1)" },
    { "steps", 0, "N", MT_I64(options, steps, 1, INT32_MAX), "Default 2000" },
    { "eval-every", 0, "STEPS", MT_I64(options, eval_every, 1, INT32_MAX),
      "Validation loss, sample and checkpoint (default 250)" },
    { "eval-batches", 0, "N", MT_I64(options, eval_batches, 1, 1 << 20),
      "Spread evenly over the validation text (default 80)" },
    { "plan", 0, NULL, MT_FLAG(options, plan), "Print what training would take in memory and arithmetic, and stop" },
    { "resume", 0, NULL, MT_FLAG(options, resume),
      "Go on from the checkpoint in --out, with the same flags as before" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { 0 },
};

/* ---- setting up -------------------------------------------------------------------------------------- */

static mt_status resume(run *r, const char *csv)
{
    char path[PATH];
    mt_checkpoint c;
    path_in(path, &r->opt, "run.ckpt");
    mt_status status = mt_checkpoint_open(&c, path);
    if (status != MT_OK)
        return status;
    if (c.place.steps != r->opt.steps || memcmp(&c.config, mt_gpt2_config_of(r->model), sizeof c.config) != 0)
        status = mt_fail(MT_ERR_ARGUMENT, "%s is of a run of %" PRId64 " steps or of another size: use its flags", path,
                         c.place.steps);
    if (status == MT_OK)
        status = mt_metrics_resume(&r->metrics, csv, HEADER, c.place.rows);
    if (status == MT_OK)
        status = mt_checkpoint_load(&c, r->model, r->optim);
    if (status == MT_OK)
        status = mt_loader_seek(r->train, (mt_loader_place){ .step = c.place.step * r->opt.micro });
    r->place = c.place;
    mt_checkpoint_close(&c);
    return status;
}

static mt_status setup(run *r)
{
    options *o = &r->opt;
    char csv[PATH];
    path_in(csv, o, "metrics.csv");
    mt_status status = mt_gpt2_fill(&o->config, o->size);
    if (status == MT_OK)
        status = mt_corpus_open(&r->corpus, o->data, o->vocabulary, o->config.block);
    if (status != MT_OK)
        return status;
    o->config.vocabulary = mt_tokenizer_count(r->corpus.tokenizer);
    r->cost = mt_gpt2_cost_of(&o->config, o->batch, o->config.block, o->micro);
    status = mt_gpt2_check(&o->config);
    if (status != MT_OK || o->plan)
        return status;
    mt_rng init = mt_rng_new((uint64_t)o->recipe.seed, MT_STREAM_INIT);
    r->model = mt_gpt2_new(&o->config, &init);
    mt_module_to_device(r->model, o->recipe.device);
    r->optim = mt_recipe_optim(&o->recipe, r->model);
    r->train =
        mt_recipe_batches(&o->recipe, mt_batches_random(r->corpus.train_set, (uint64_t)o->recipe.seed), o->batch);
    r->valid = mt_recipe_batches(&o->recipe, mt_batches_spread(r->corpus.valid_set, o->eval_batches), o->batch);
    r->place.steps = o->steps;
    status = mt_recipe_begin(&o->recipe);
    if (status == MT_OK)
        status = o->resume ? resume(r, csv) : mt_metrics_open(&r->metrics, csv, HEADER);
    return status == MT_OK ? mt_tokenizer_save(r->corpus.tokenizer, o->recipe.out) : status;
}

static void teardown(run *r)
{
    if (r->optim)
        mt_optim_zero_grad(r->optim);
    mt_optim_free(r->optim);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    mt_loader_free(r->train);
    mt_loader_free(r->valid);
    mt_corpus_close(&r->corpus);
}

static mt_status work(run *r)
{
    mt_status status = setup(r);
    if (status != MT_OK)
        return status;
    printf("%s: %" PRId64 " tokens, %" PRId64 " of them to learn from\n", r->opt.data, r->corpus.count,
           r->corpus.train);
    mt_gpt2_cost_print(&r->cost, &r->opt.config);
    if (r->opt.plan)
        return MT_OK;
    r->peak_flops = r->opt.recipe.device == MT_CPU ? mt_machine_flops(omp_get_max_threads()) : 0;
    mt_peak_reset(r->opt.recipe.device);
    status = train(r);
    mt_progress_clear(&r->progress);
    draw_curve(r);
    return status;
}

int main(int argc, char **argv)
{
    run r = { .opt = { .size = "toy",
                       .batch = 12,
                       .micro = 1,
                       .steps = 2000,
                       .eval_every = 250,
                       .eval_batches = 80,
                       .recipe = { .seed = 1,
                                   .out = "build/run/gpt2",
                                   .optimizer = MT_ADAMW,
                                   .schedule = MT_SCHEDULE_COSINE,
                                   .lr = 2e-3,
                                   .lr_min = 1e-4,
                                   .warmup = 100,
                                   .clip = 1,
                                   .weight_decay = 0.1 } } };
    double start = mt_now();
    mt_cli_parse(argc, argv, "Train GPT-2 on a text: the toy size on tiny Shakespeare unless options say otherwise.",
                 flags, &r.opt);
    if (!r.opt.data)
        r.opt.data = mt_corpus_text();
    mt_status status = work(&r);
    if (status == MT_OK && !r.opt.plan)
        printf("train_gpt2: val_loss=%.4f steps=%" PRId64 " seconds=%.1f\n", r.val_loss, r.place.step,
               mt_now() - start);
    teardown(&r);
    return mt_cli_exit(status);
}
