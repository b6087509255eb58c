/* train_gpt2.c -- the loop of gpt2.c, with all that a long run needs: options, validation, checkpoints, ranks, sizes.
 *
 * Files in --out: metrics.csv (a row every --log-every steps and per evaluation), run.json, curve.svg, vocab.bpe (the
 * tokens), step-N (checkpoints, ckpt/checkpoint.h), with --metrics-port steps.csv. Killed at any moment, `--resume`
 * with the same flags continues from the newest valid checkpoint and ends with the same bits as an unbroken run.
 * `--plan` prints what training would take. */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "fused/fused.h"
#include "memory/flat.h"
#include "memory/accumulate.h"
#include "memory/caching.h"
#include "ops/ops.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "cli/programs.h"
#include "models/gpt2_ops.h"
#include "prof/mfu.h"
#include "prof/metrics_csv.h"
#include "train/dropout.h"
#include "train/given.h"
#include "train/gpt2_run.h"
#include "train/mixture.h"

typedef mt_gpt2_options options;
typedef mt_gpt2_run run;

static mt_status agree(void *user, bool *stop)
{
    const run *r = user;
    *stop = r->team->stop;
    return r->team->failed;
}

/* ---- evaluation ---------------------------------------------------------------------------------------- */

static void print_head(run *r)
{
    if (!r->headed)
        printf("   step      loss   val loss         lr   tokens/s      MFU\n");
    r->headed = true;
}

/* A row of the table, and a sample. */
static mt_status evaluate(void *user, const mt_stretch *since)
{
    run *r = user;
    double rate = (double)(since->samples * r->opt.config.block) / since->seconds;
    double flops = (double)(since->steps * r->flops * mt_team_replicas(r->team));
    char mfu[16] = "-  ", loss[32];
    if (r->peak_flops > 0)
        snprintf(mfu, sizeof mfu, "%.1f %%", 100 * mt_mfu(flops, since->seconds, r->peak_flops));
    bool divides = mt_team_divides(r->team);
    MT_TRY(mt_team_whole(r->team));
    MT_TRY(divides ? r->team->loss(r->team, &r->val_loss, r->valid) : mt_corpus_loss(&r->val_loss, r->model, r->valid));
    if (r->team && !divides)
        MT_TRY(r->team->mean(r->team, &r->val_loss));
    mt_loop_note(&r->loop, r->val_loss);
    if (r->loop.step == 0) {
        if (mt_team_first(r->team))
            printf("Before the first step the validation loss is %.4f\n", r->val_loss);
        return MT_OK;
    }
    if (!mt_team_first(r->team))
        return mt_gpt2_run_sample(r);
    mt_progress_clear(&r->loop.progress);
    print_head(r);
    printf("%7" PRId64 "  %8s  %9.4f  %9.2e  %9.0f  %7s\n", r->loop.step, mt_loss_text(loss, since->loss, 4),
           r->val_loss, mt_optim_lr(r->optim), rate, mfu);
    return mt_gpt2_run_sample(r);
}

/* ---- command line -------------------------------------------------------------------------------------- */

static const char *const allocators[] = { "system", "caching", NULL };

static const mt_option flags[] = {
    { "data", 'd', "FILE", MT_TEXT(options, data),
      "Text or token file, or several: FILE=WEIGHT,FILE=WEIGHT, where weights are shares of what is read (without any, "
      "the files' lengths are); default: tiny Shakespeare of datasets/fetch" },
    { "valid", 0, "FILE", MT_TEXT(options, valid),
      "Text or token file to evaluate by; default: the last tenth of each file of --data" },
    { "vocab", 0, "DIR", MT_TEXT(options, vocabulary), "Folder of a token file's vocabulary" },
    { "from", 0, "PATH", MT_TEXT(options, from),
      "First weights: a safetensors file of a model of this size, or a folder with model.safetensors and config.json, "
      "which says the size; --block may be smaller than theirs; default: random ones" },
    { "export", 0, "FILE", MT_TEXT(options, first), "Safetensors file to which the first weights are written" },
    { "list-batches", 0, "FILE", MT_TEXT(options, batches), "CSV file to which the windows of each step are written" },
    { "size", 'z', "NAME", MT_TEXT(options, size), "Size of the model: toy, gpt2, gpt2-medium, gpt2-large or gpt2-xl" },
    { "layers", 0, "N", MT_I64(options, config.layers, 1, 1000), "Number of layers; default: that of --size" },
    { "heads", 0, "N", MT_I64(options, config.heads, 1, 1000), "Number of attention heads; default: that of --size" },
    { "width", 0, "N", MT_I64(options, config.width, 1, 1 << 16),
      "Width of the residual stream; default: that of --size" },
    { "block", 0, "N", MT_I64(options, config.block, 1, 1 << 20),
      "Tokens of a window, the model's context; default: that of --size" },
    { "batch", 'b', "N", MT_I64(options, batch, 1, 65536), "Windows of a micro-batch, on all ranks" },
    { "micro-batches", 0, "N", MT_I64(options, micro, 1, 65536), "Micro-batches of a step" },
    { "steps", 0, "N", MT_I64(options, steps, 1, INT32_MAX), "Steps of the whole run" },
    { "tokens", 0, "N", MT_I64(options, tokens, 1, INT64_MAX),
      "Tokens of the whole run, in place of --steps: so many steps as read at least these; default: as --steps says" },
    { "eval-every", 0, "STEPS", MT_I64(options, eval_every, 1, INT32_MAX), "Steps from one evaluation to the next" },
    { "eval-batches", 0, "N", MT_I64(options, eval_batches, 1, 1 << 20),
      "Batches of the validation text in an evaluation" },
    { "recompute", 0, "WHAT", MT_PARSED(options, recompute, mt_recompute_parse),
      "What backward computes again to save memory: none, selective (layernorm, GELU), block, or the least that keeps "
      "a step within so many bytes (2.5GB); or offload, where nothing is, and activations wait on the host; default: "
      "none" },
    { "allocator", 0, "NAME", MT_CHOICE(options, caching, allocators),
      "Allocator of the device's memory: system, or caching, which keeps what was freed" },
    { "plan", 0, NULL, MT_FLAG(options, plan), "Print what training would take in memory and arithmetic, and stop" },
    { "recipe", 0, NULL, MT_GROUP(options, recipe, mt_recipe_options), "How to learn:" },
    { "saving", 0, NULL, MT_GROUP(options, saving, mt_saving_options), "Checkpoints:" },
    { "team", 0, NULL, MT_GROUP(options, team, mt_team_options), "Several ranks:" },
    { 0 },
};

/* ---- the run ------------------------------------------------------------------------------------------- */

/* What is computed again, and what training takes so. */
static mt_status plan(run *r)
{
    const options *o = &r->opt;
    r->recompute = mt_realloc(NULL, o->config.layers, sizeof *r->recompute);
    for (int64_t l = 0; l < o->config.layers; l++)
        r->recompute[l] = o->recompute.each;
    if (mt_gpt2_plan)
        return mt_gpt2_plan->plan(r);
    return o->plan || o->recompute.budget
               ? mt_fail(MT_ERR_UNAVAILABLE,
                         "this program was built without plans: use neither --plan nor a size for --recompute")
               : MT_OK;
}

/* The number of steps, where tokens were asked for. */
static mt_status count_steps(options *o)
{
    int64_t each = o->batch * o->micro * o->config.block;
    if (o->tokens && o->tokens / each >= INT32_MAX)
        return mt_fail(MT_ERR_ARGUMENT, "--tokens %" PRId64 ": more than %d steps of %" PRId64 " tokens", o->tokens,
                       INT32_MAX, each);
    if (o->tokens)
        o->steps = mt_ceil_div(o->tokens, each);
    if (o->steps <= o->recipe.warmup)
        printf("The learning rate rises until the end of the run: --warmup %" PRId64 ", --steps %" PRId64 "\n",
               o->recipe.warmup, o->steps);
    return MT_OK;
}

/* The text, and what training on it takes. */
static mt_status open_text(run *r)
{
    options *o = &r->opt;
    MT_TRY(mt_team_check(&o->team, &o->recipe, o->batch, &o->caching));
    MT_TRY(o->from ? mt_given_sizes(&o->config, o->from) : MT_OK);
    MT_TRY(mt_gpt2_fill(&o->config, o->size));
    MT_TRY(mt_team_fits(&o->team, &o->config, o->micro));
    if (o->recompute.offload && o->team.pp > 1)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--recompute offload and --pp: a stage has several micro-batches at a time; use "
                       "--recompute block");
    MT_TRY(mt_corpus_open_valid(&r->corpus, o->data, o->valid, o->vocabulary, o->config.block));
    MT_TRY(o->from ? mt_given_tokens(r->corpus.vocabulary, o->from) : MT_OK);
    o->config.vocabulary = r->corpus.vocabulary->token.count;
    MT_TRY(mt_gpt2_check(&o->config));
    MT_TRY(count_steps(o));
    MT_TRY(plan(r));
    if (!o->plan) {
        MT_TRY(mt_gpt2_plan ? mt_gpt2_plan->fits(r) : MT_OK);
        MT_TRY(mt_team_launch(&o->team, &o->recipe));
        mt_gpt2_run_rate(o);
    }
    if (o->team.ranks > 1)
        printf("%s: %s; of each%s:\n", o->team.dp == o->team.ranks ? "Data parallel" : "Model parallel",
               mt_team_text(&o->team), o->team.dp == o->team.ranks ? "" : " replica");
    int64_t others = o->team.pp - 1; /* stages */
    if (others > 0)
        printf("Pipeline: a stage waits for others in %.0f %% of a step; more --micro-batches make it less\n",
               100.0 * (double)others / (double)(o->team.schedule.chunks * o->micro + others));
    printf("%s: %" PRId64 " tokens, %" PRId64 " of them to learn from\n", o->data, r->corpus.count, r->corpus.train);
    printf("Attention: %s\n", mt_attention_name(o->recipe.device, o->recipe.dtype, o->config.width, o->config.heads));
    if (mt_gpt2_plan)
        mt_gpt2_plan->print(r);
    return MT_OK;
}

/* What memory it took, and the head of the table. */
static mt_status after_first_step(void *user)
{
    run *r = user;
    MT_TRY(r->team ? mt_gpt2_run_took(r) : MT_OK);
    if (!mt_team_first(r->team))
        return MT_OK;
    if (r->opt.recipe.memory_report)
        mt_caching_record(r->opt.recipe.device);
    mt_recipe_memory(&r->opt.recipe);
    if (r->offload)
        printf("offloaded in the first step: %.1f MB to the host, %.1f MB back\n", (double)r->offload->bus->out / 1e6,
               (double)r->offload->bus->in / 1e6);
    if (!r->team && r->peak)
        printf("planned peak %.1f MB, measured in the first step %.1f MB\n", (double)r->peak / 1e6,
               (double)mt_peak_bytes(r->opt.recipe.device) / 1e6);
    print_head(r);
    return mt_recipe_trace(&r->opt.recipe, true);
}

/* Weights and an order of batches from and for other programs. The model is whole, and on the CPU. */
static mt_status give(const run *r, const mt_batch_source *train)
{
    const options *o = &r->opt;
    if (o->saving.resume)
        return MT_OK;
    MT_TRY(o->from ? mt_given_load(r->model, o->from) : MT_OK);
    if (!mt_team_first(r->team))
        return MT_OK;
    MT_TRY(o->first ? mt_given_export(r->model, o->first, MT_F32, r->corpus.vocabulary) : MT_OK);
    return o->batches ? mt_given_batches(o->batches, train, o->steps, o->micro, o->batch) : MT_OK;
}

/* Gradients in one block, where they stay from one micro-batch to the next anyway. */
static void flatten(mt_module *model)
{
    mt_state params = mt_module_params(model);
    mt_release(mt_flat_gradients(&params));
    mt_state_free(&params);
}

static mt_status setup(run *r)
{
    options *o = &r->opt;
    uint64_t seed = (uint64_t)o->recipe.seed;
    mt_rng init = mt_rng_new(seed, MT_STREAM_INIT);
    MT_TRY(mt_team_first(r->team) ? mt_saving_open(&r->saver, &o->saving, o->recipe.out) : MT_OK);
    r->model = mt_gpt2_new(&o->config, &init);
    o->config = *mt_gpt2_config_of(r->model); /* now with the number of rows of its token table */
    mt_batch_source train = mt_batches_mixed(r->corpus.train_set, seed);
    MT_TRY(give(r, &train));
    mt_gpt2_recompute(r->model, r->recompute);
    mt_gpt2_dropout(r->model, o->recipe.dropout, o->recipe.seed);
    if (mt_team_divides(r->team))
        MT_TRY(r->team->place(r->team, r->model));
    mt_module_to_device(r->model, o->recipe.device);
    MT_TRY(o->recompute.offload ? mt_gpt2_offload(&r->offload, r->model) : MT_OK);
    r->optim = mt_recipe_optim(&o->recipe, r->model);
    if (o->micro > 1 && !r->team)
        flatten(r->model);
    mt_batch_source valid = mt_batches_spread(r->corpus.valid_set, o->eval_batches);
    r->train = mt_recipe_batches(&o->recipe, mt_team_share(r->team, train), o->batch);
    r->valid = mt_recipe_batches(&o->recipe, mt_team_share(r->team, valid), o->batch);
    r->loop = mt_recipe_loop(&o->recipe, r->model, r->optim, r->train, o->steps);
    mt_recipe_extras(&r->extras, &o->recipe, &r->loop);
    r->loop.agree = r->team ? agree : NULL, r->extras.silent = !mt_team_first(r->team);
    r->loop.training.loss = mt_gpt2_loss, r->loop.training.micro = o->micro;
    r->loop.training.gradients = o->micro > 1 ? mt_train_accumulate : NULL;
    r->loop.eval_every = o->eval_every, r->loop.save_every = o->saving.every;
    r->loop.evaluate = evaluate, r->loop.log = mt_gpt2_run_log, r->loop.save = mt_gpt2_run_save,
    r->loop.first_step = after_first_step, r->loop.user = r;
    if (r->team)
        MT_TRY(r->team->join(r->team, &r->loop.training));
    if (o->saving.resume)
        MT_TRY(mt_gpt2_run_resume(r));
    if (o->saving.async)
        MT_TRY(mt_team_whole(r->team)); /* the saver makes room for copies */
    if (!mt_team_first(r->team))
        return MT_OK;
    const mt_steps_config figures = { .begun = r->loop.step,
                                      .tokens = (double)o->config.block,
                                      .flops = (double)r->flops / (double)(o->batch / o->team.dp * o->micro),
                                      .peak = r->peak_flops,
                                      .waits = r->team };
    MT_TRY(mt_recipe_figures(&r->extras, &o->recipe, &figures));
    MT_TRY(
        mt_recipe_metrics(&r->metrics, &o->recipe, &r->extras, "step,loss,val_loss", o->saving.resume ? r->rows : -1));
    MT_TRY(mt_vocabulary_save(r->corpus.vocabulary, o->recipe.out));
    return mt_gpt2_run_describe(r, true, MT_OK);
}

static mt_status train(run *r)
{
    const options *o = &r->opt;
    r->loop.begun = r->loop.step;
    mt_status status = mt_loop_first(&r->loop);
    r->loop.progress = mt_recipe_progress(&o->recipe, mt_max(1, o->steps - r->loop.begun));
    r->sent = r->team ? r->team->sent(r->team) : 0;
    mt_peak_reset(o->recipe.device);
    if (!mt_team_first(r->team))
        return status == MT_OK ? mt_loop_run(&r->loop, o->steps) : status;
    if (status == MT_OK)
        status = mt_recipe_trace(&o->recipe, false);
    if (status == MT_OK)
        status = mt_loop_run(&r->loop, o->steps);
    mt_progress_clear(&r->loop.progress);
    int64_t flops = (r->loop.step - r->loop.begun) * r->flops, ranks = mt_team_size(r->team);
    mt_recipe_traced(&o->recipe, flops * mt_team_replicas(r->team) / ranks, (int)ranks);
    if (o->caching)
        mt_caching_print(stdout, o->recipe.device);
    if (r->rows > 1)
        mt_cli_run((const char *[]){ "curve", o->recipe.out, NULL });
    if (status == MT_ERR_STOPPED)
        mt_fail(status, "%s; --resume continues there", mt_last_error());
    return mt_gpt2_run_describe(r, false, status);
}

static void teardown(run *r)
{
    if (r->team)
        r->team->leave(r->team);
    mt_extras_free(&r->extras);
    mt_optim_free(r->optim);
    mt_gpt2_offload_end(r->offload);
    mt_module_free(r->model);
    mt_metrics_close(r->metrics);
    mt_loader_free(r->train);
    mt_loader_free(r->valid);
    free(r->took);
}

/* The whole run of one rank. */
static mt_status run_rank(mt_team *team, void *opened)
{
    run r = *(const run *)opened;
    r.team = team;
    r.opt.recipe.quiet |= !mt_team_first(team);
    mt_status status = setup(&r);
    if (status == MT_OK)
        status = train(&r);
    status = mt_saving_close(r.saver, status);
    if (status == MT_OK && mt_team_first(team))
        printf("train_gpt2: val_loss=%.4f steps=%" PRId64 " seconds=%.1f\n", r.val_loss, r.loop.step,
               mt_now() - r.start);
    teardown(&r);
    return status;
}

/* What the ranks of a process share, and the ranks. */
static mt_status start(run *r)
{
    const options *o = &r->opt;
    if (o->caching)
        mt_caching_begin(o->recipe.device);
    mt_status status = mt_recipe_begin(&o->recipe);
    r->peak_flops = o->recipe.device == MT_CPU ? mt_machine_flops(omp_get_max_threads()) : 0;
    if (mt_gpt2_plan && o->team.ranks <= 1) /* it speaks of the batch of one rank */
        mt_memory_advise(mt_gpt2_plan->advise, r);
    if (o->caching) /* with what the plan may be wrong by; if there is less, memory comes as it is needed */
        mt_pool_reserve(mt_caching_pool(o->recipe.device), r->peak / 40 * 41 / (o->team.pp * o->team.tp));
    return status == MT_OK ? mt_team_run(&o->team, run_rank, r) : status;
}

int main(int argc, char **argv)
{
    mt_threads_begin(argv);
    mt_fused_use();
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
                                   .log_every = 10,
                                   .optimizer = MT_ADAMW,
                                   .schedule = MT_SCHEDULE_COSINE,
                                   .lr = 2e-3,
                                   .lr_min = 1e-4,
                                   .warmup = 100,
                                   .clip = 1,
                                   .weight_decay = 0.1 } } };
    mt_cli_parse(argc, argv, "Train GPT-2 on a text, by default the toy size on tiny Shakespeare.", flags, &r.opt);
    mt_saving_decide(&r.opt.saving, r.opt.recipe.out);
    if (!r.opt.data)
        r.opt.data = mt_corpus_text();
    mt_status status = open_text(&r);
    if (status == MT_OK && !r.opt.plan)
        status = start(&r);
    mt_corpus_close(&r.corpus);
    mt_caching_end(r.opt.recipe.device);
    free(r.recompute);
    return mt_cli_exit(status);
}
