/* train_gpt2.c -- trains GPT-2 on a text: AdamW with decay on matrices only, warm-up, cosine, clipping, accumulation.
 *
 * Files in --out: metrics.csv (a row per evaluation), run.json, curve.svg, vocab.bpe (the tokens), step-N
 * (checkpoints, ckpt/checkpoint.h). Killed at any moment, `--resume` with the same flags continues from the newest
 * valid checkpoint and ends with the same bits as an unbroken run. `--plan` prints what training would take. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "autograd/tape.h"
#include "ckpt/safetensors.h"
#include "core/scope.h"
#include "memory/caching.h"
#include "models/cost.h"
#include "models/sample.h"
#include "prof/cli.h"
#include "prof/machine.h"
#include "prof/metrics.h"
#include "train/corpus.h"
#include "train/loop.h"
#include "train/recipe.h"
#include "train/run_json.h"
#include "train/saving.h"

enum { SAMPLE = 200 /* tokens */ };

static const char HEADER[] = "step,loss,val_loss,lr,tokens_per_second,loss_scale";

/* What backward computes again instead of reading it (models/recompute.h). It changes no result, so a run may go on
 * with another choice. */
typedef struct recomputation {
    mt_recompute each;
    int64_t budget; /* 0: of each block the same; else bytes, and each block's is chosen */
} recomputation;

typedef struct options {
    const char *data, *vocabulary, *size;
    mt_gpt2_config config; /* 0: as the size says */
    int64_t batch, micro, steps, eval_every, eval_batches;
    recomputation recompute;
    mt_recipe recipe;
    mt_saving saving;
    bool plan;
} options;

typedef struct run {
    options opt;
    mt_corpus corpus;
    mt_loader *train, *valid;
    mt_module *model;
    mt_optim *optim;
    mt_metrics *metrics;
    mt_saver *saver;
    double start; /* mt_now() */
    mt_loop loop;
    mt_recompute *recompute; /* [layers] */
    mt_gpt2_batch batch;
    mt_gpt2_cost cost;
    int64_t rows;      /* of metrics.csv */
    double peak_flops; /* FLOP/s of the CPU; 0 on another device: unknown */
    double val_loss;   /* of the latest evaluation */
} run;

/* ---- checkpoints --------------------------------------------------------------------------------------- */

/* What the user chose, and later steps depend on. */
static void add_settings(mt_state *state, run *r)
{
    options *o = &r->opt;
    mt_gpt2_state(state, &o->config);
    mt_state_integer(state, &r->corpus.count, "tokens");
    mt_state_integer(state, &o->batch, "batch");
    mt_state_integer(state, &o->micro, "micro-batches");
    mt_state_integer(state, &o->steps, "steps");
    mt_state_fix(state);
    mt_recipe_state(state, &o->recipe);
    mt_state_setting(state, "text checksum", "%s", mt_saving_sum(o->data));
}

/* Everything that later steps depend on. */
static void lists_of(run *r, mt_state *model, mt_state *rest)
{
    *model = *rest = (mt_state){ 0 };
    mt_module_state(model, r->model);
    mt_state_setting(rest, "program", "train_gpt2");
    add_settings(rest, r);
    mt_loop_state(rest, &r->loop);
    mt_loader_state(rest, r->train);
    mt_state_integer(rest, &r->rows, "metrics rows");
    mt_state_real(rest, &r->val_loss, "val loss");
    mt_optim_state(rest, r->optim);
}

/* run.json, at the start and at the end; returns status, or the error of writing. */
static mt_status describe(run *r, bool running, mt_status status)
{
    mt_state model, rest;
    const mt_run_note note = { r->opt.recipe.out, r->start, running, status, "val_loss", r->val_loss };
    lists_of(r, &model, &rest);
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

/* The one file that train_gpt2 wrote until November 2026. */
static mt_status load_old(run *r, const char *path)
{
    mt_safetensors *file = NULL;
    mt_state state = { 0 };
    add_settings(&state, r);
    mt_state_integer(&state, &r->loop.step, "step");
    mt_state_integer(&state, &r->rows, "metrics rows");
    mt_module_state(&state, r->model);
    mt_optim_state(&state, r->optim);
    mt_status status = mt_safetensors_open(&file, path);
    if (status == MT_OK)
        status = mt_safetensors_load(file, &state, "");
    mt_safetensors_close(file);
    mt_state_free(&state);
    if (status == MT_ERR_ARGUMENT)
        return mt_fail(status, "%s; " MT_SAME_FLAGS, mt_last_error());
    if (status == MT_OK)
        status = mt_loader_seek(r->train, (mt_loader_place){ .step = r->loop.step * r->opt.micro });
    if (status == MT_OK)
        printf("Read the old format, %s; saving in the new one, step-%" PRId64 "\n", path, r->loop.step);
    return status == MT_OK ? save(r) : status;
}

static mt_status resume(run *r)
{
    char old[MT_PATH];
    mt_state model, rest;
    mt_recipe_path(old, &r->opt.recipe, "run.ckpt");
    lists_of(r, &model, &rest);
    mt_status status = mt_saving_any(r->opt.recipe.out) || access(old, F_OK) != 0
                           ? mt_saving_load(&r->opt.saving, r->opt.recipe.out, &model, &rest)
                           : load_old(r, old);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status == MT_OK ? mt_loader_seek(r->train, mt_loader_place_of(r->train)) : status;
}

/* ---- evaluation ---------------------------------------------------------------------------------------- */

/* A sample depends on seed and step, not on what was sampled before. */
static mt_status show_sample(const run *r)
{
    mt_rng all = mt_rng_new((uint64_t)r->opt.recipe.seed, MT_STREAM_SAMPLE);
    mt_rng rng = mt_rng_substream(&all, (uint64_t)r->loop.step);
    int32_t ids[SAMPLE + 1] = { r->corpus.first };
    uint8_t *text;
    int64_t size;
    mt_gpt2_extend(ids, 1, SAMPLE, r->model, &(mt_sampling){ 0.8, 0, 1 }, &rng);
    mt_status status = mt_decode(&text, &size, r->corpus.vocabulary, ids, SAMPLE + 1);
    if (status != MT_OK)
        return status;
    printf("---- sample ----\n%.*s\n----------------\n", (int)size, (const char *)text);
    fflush(stdout);
    free(text);
    return MT_OK;
}

/* A row of the table and of metrics.csv, and a sample. */
static mt_status evaluate(void *user, const mt_stretch *since)
{
    run *r = user;
    double rate = (double)(since->samples * r->opt.config.block) / since->seconds, lr = mt_optim_lr(r->optim);
    double flops = (double)since->steps * (double)r->cost.flops / since->seconds;
    char mfu[16] = "-  ", loss[32];
    if (r->peak_flops > 0)
        snprintf(mfu, sizeof mfu, "%.1f %%", 100 * flops / r->peak_flops);
    mt_status status = mt_corpus_loss(&r->val_loss, r->model, r->valid);
    if (status != MT_OK)
        return status;
    mt_progress_clear(&r->loop.progress);
    printf("%7" PRId64 "  %8s  %9.4f  %9.2e  %9.0f  %7s\n", r->loop.step, mt_loss_text(loss, since->loss, 4),
           r->val_loss, lr, rate, mfu);
    status = mt_metrics_row(r->metrics, "%" PRId64 ",%.6f,%.6f,%.6g,%.0f,%g", r->loop.step, since->loss, r->val_loss,
                            lr, rate, mt_optim_loss_scale(r->optim));
    if (status == MT_OK)
        status = show_sample(r);
    r->rows++;
    mt_loop_note(&r->loop, r->val_loss);
    return status;
}

/* ---- command line -------------------------------------------------------------------------------------- */

static mt_status parse_recompute(const char *text, void *chosen)
{
    recomputation *r = chosen;
    for (int k = 0; k < MT_RECOMPUTES; k++)
        if (strcmp(text, mt_recompute_names[k]) == 0) {
            *r = (recomputation){ .each = (mt_recompute)k };
            return MT_OK;
        }
    return mt_cli_bytes(&r->budget, text) == MT_OK
               ? MT_OK
               : mt_fail(MT_ERR_ARGUMENT,
                         "recompute \"%s\": use one of none, selective, block, or a size such as 2.5GB", text);
}

static const mt_option flags[] = {
    { "data", 'd', "FILE", MT_TEXT(options, data), "Text or token file (default: tiny Shakespeare of datasets/fetch)" },
    { "vocab", 0, "DIR", MT_TEXT(options, vocabulary), "Folder of a token file's vocabulary" },
    { "size", 'z', "NAME", MT_TEXT(options, size), "toy (default), gpt2, gpt2-medium, gpt2-large or gpt2-xl" },
    { "layers", 0, "N", MT_I64(options, config.layers, 1, 1000), "Instead of the size's" },
    { "heads", 0, "N", MT_I64(options, config.heads, 1, 1000), "Instead of the size's" },
    { "width", 0, "N", MT_I64(options, config.width, 1, 1 << 16), "Instead of the size's" },
    { "block", 0, "N", MT_I64(options, config.block, 1, 1 << 20), "Context and window (default: the size's)" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows of a micro-batch (default 12)" },
    { "micro-batches", 0, "N", MT_I64(options, micro, 1, 65536), "Micro-batches of a step (default 1)" },
    { "steps", 0, "N", MT_I64(options, steps, 1, INT32_MAX), "Default 2000" },
    { "eval-every", 0, "STEPS", MT_I64(options, eval_every, 1, INT32_MAX), "Evaluate (default 250)" },
    { "eval-batches", 0, "N", MT_I64(options, eval_batches, 1, 1 << 20), "Of the validation text (default 80)" },
    { "recompute", 0, "WHAT", MT_PARSED(options, recompute, parse_recompute),
      "What backward computes again to save memory: none (default), selective (layernorm, GELU), block, or the least "
      "that keeps a step within so many bytes (2.5GB)" },
    { "plan", 0, NULL, MT_FLAG(options, plan), "Print what training would take in memory and arithmetic, and stop" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { "saving", 0, NULL, MT_GROUP(options, saving, mt_saving_options), "Checkpoints:" },
    { 0 },
};

/* ---- the run ------------------------------------------------------------------------------------------- */

/* What is computed again, and what training takes so. */
static mt_status plan(run *r)
{
    const options *o = &r->opt;
    int64_t layers = o->config.layers;
    r->batch = (mt_gpt2_batch){ o->batch, o->config.block, o->micro, o->recipe.dtype };
    r->recompute = malloc((size_t)layers * sizeof *r->recompute);
    MT_CHECK(r->recompute, "out of memory");
    for (int64_t l = 0; l < layers; l++)
        r->recompute[l] = o->recompute.each;
    if (o->recompute.budget && mt_gpt2_choose(r->recompute, &o->config, &r->batch, o->recompute.budget) != MT_OK)
        return mt_fail(MT_ERR_ARGUMENT, "recompute: %s", mt_last_error());
    r->cost = mt_gpt2_cost_of(&o->config, &r->batch, r->recompute);
    return MT_OK;
}

/* The text, and what training on it takes. */
static mt_status open_text(run *r)
{
    options *o = &r->opt;
    mt_status status = mt_gpt2_fill(&o->config, o->size);
    if (status == MT_OK)
        status = mt_corpus_open(&r->corpus, o->data, o->vocabulary, o->config.block);
    if (status != MT_OK)
        return status;
    o->config.vocabulary = r->corpus.vocabulary->token.count;
    status = mt_gpt2_check(&o->config);
    if (status == MT_OK)
        status = plan(r);
    if (status != MT_OK)
        return status;
    printf("%s: %" PRId64 " tokens, %" PRId64 " of them to learn from\n", o->data, r->corpus.count, r->corpus.train);
    mt_gpt2_cost_print(&r->cost, &o->config);
    if (o->plan)
        mt_gpt2_recompute_print(&o->config, &r->batch, o->recompute.budget ? r->recompute : NULL);
    if (r->cost.again_flops)
        printf("Backward computes again: %s\n", mt_recompute_text(r->recompute, o->config.layers));
    return MT_OK;
}

/* What memory it took, and the head of the table. */
static mt_status after_first_step(void *user)
{
    const run *r = user;
    mt_recipe_memory(&r->opt.recipe);
    printf("planned peak %.1f MB, measured in the first step %.1f MB\n", (double)r->cost.peak_bytes / 1e6,
           (double)mt_peak_bytes(r->opt.recipe.device) / 1e6);
    printf("   step      loss   val loss         lr   tokens/s      MFU\n");
    return MT_OK;
}

static void advise(void *user, FILE *out, int64_t had)
{
    const run *r = user;
    mt_gpt2_advise(out, &r->opt.config, &r->batch, r->recompute, had);
}

static mt_status setup(run *r)
{
    options *o = &r->opt;
    char csv[MT_PATH];
    uint64_t seed = (uint64_t)o->recipe.seed;
    mt_rng init = mt_rng_new(seed, MT_STREAM_INIT);
    mt_status status = mt_recipe_begin(&o->recipe);
    if (status == MT_OK)
        status = mt_saving_open(&r->saver, &o->saving, o->recipe.out);
    if (status != MT_OK)
        return status;
    mt_memory_advise(advise, r);
    if (o->recipe
            .caching) /* with what the plan may be wrong by; if there is not so much, memory comes as it is needed */
        mt_pool_reserve(mt_caching_pool(o->recipe.device), r->cost.peak_bytes / 40 * 41);
    r->model = mt_gpt2_new(&o->config, &init);
    o->config = *mt_gpt2_config_of(r->model); /* with the rows of its table */
    mt_gpt2_recompute(r->model, r->recompute);
    mt_module_to_device(r->model, o->recipe.device);
    r->optim = mt_recipe_optim(&o->recipe, r->model);
    if (o->micro > 1) /* gradients stay from one micro-batch to the next anyway */
        mt_optim_flat(r->optim);
    r->train = mt_recipe_batches(&o->recipe, mt_batches_random(r->corpus.train_set, seed), o->batch);
    r->valid = mt_recipe_batches(&o->recipe, mt_batches_spread(r->corpus.valid_set, o->eval_batches), o->batch);
    r->loop = mt_recipe_loop(&o->recipe, r->model, r->optim, r->train, o->steps);
    r->loop.training.loss = mt_gpt2_loss;
    r->loop.training.micro = o->micro;
    r->loop.eval_every = o->eval_every, r->loop.save_every = o->saving.every;
    r->loop.evaluate = evaluate, r->loop.save = save, r->loop.first_step = after_first_step, r->loop.user = r;
    mt_recipe_path(csv, &o->recipe, "metrics.csv");
    if (o->saving.resume)
        status = resume(r);
    if (status == MT_OK)
        status = o->saving.resume ? mt_metrics_resume(&r->metrics, csv, HEADER, r->rows)
                                  : mt_metrics_open(&r->metrics, csv, HEADER);
    if (status == MT_OK)
        status = describe(r, true, MT_OK);
    return status == MT_OK ? mt_vocabulary_save(r->corpus.vocabulary, o->recipe.out) : status;
}

static mt_status train(run *r)
{
    const options *o = &r->opt;
    r->loop.begun = r->loop.step;
    r->loop.progress = mt_recipe_progress(&o->recipe, mt_max(1, o->steps - r->loop.begun));
    r->peak_flops = o->recipe.device == MT_CPU ? mt_machine_flops(omp_get_max_threads()) : 0;
    mt_peak_reset(o->recipe.device);
    mt_status status = mt_loop_run(&r->loop, o->steps);
    mt_progress_clear(&r->loop.progress);
    if (o->recipe.caching)
        mt_caching_print(stdout, o->recipe.device);
    if (r->rows > 0)
        mt_cli_run("curve", o->recipe.out);
    if (status == MT_ERR_STOPPED)
        mt_fail(status, "%s; --resume continues there", mt_last_error());
    return describe(r, false, status);
}

static void teardown(run *r)
{
    mt_optim_free(r->optim);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    mt_loader_free(r->train);
    mt_loader_free(r->valid);
    mt_corpus_close(&r->corpus);
    mt_caching_end(r->opt.recipe.device);
    free(r->recompute);
}

int main(int argc, char **argv)
{
    run r = { .start = mt_now(),
              .opt = { .size = "toy",
                       .batch = 12,
                       .micro = 1,
                       .steps = 2000,
                       .eval_every = 250,
                       .eval_batches = 80,
                       .saving = { .keep = 2 },
                       .recipe = { .seed = 1,
                                   .out = "build/run/gpt2",
                                   .optimizer = MT_ADAMW,
                                   .schedule = MT_SCHEDULE_COSINE,
                                   .lr = 2e-3,
                                   .lr_min = 1e-4,
                                   .warmup = 100,
                                   .clip = 1,
                                   .weight_decay = 0.1 } } };
    mt_cli_parse(argc, argv, "Train GPT-2 on a text, by default the toy size on tiny Shakespeare.", flags, &r.opt);
    if (!r.opt.data)
        r.opt.data = mt_corpus_text();
    mt_status status = open_text(&r);
    if (status == MT_OK && !r.opt.plan)
        status = setup(&r);
    if (status == MT_OK && !r.opt.plan)
        status = train(&r);
    status = mt_saving_close(r.saver, status);
    if (status == MT_OK && !r.opt.plan)
        printf("train_gpt2: val_loss=%.4f steps=%" PRId64 " seconds=%.1f\n", r.val_loss, r.loop.step,
               mt_now() - r.start);
    teardown(&r);
    return mt_cli_exit(status);
}
