/* budgeted.c -- see budgeted.h. */
#include "capstone/budgeted.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ckpt/manifest.h"
#include "cli/allowed.h"
#include "cli/cli.h"
#include "cli/programs.h"
#include "train/corpus.h"
#include "train/recipe.h"
#include "train/saving.h"

/* ---- the recipe ---------------------------------------------------------------------------------------- */

static const char *const schedules[] = { "constant",   "cosine",      "step",      "exponential",
                                         "triangular", "triangular2", "exp-range", NULL };
static const char *const dtypes[] = { "f32", "bf16", "f16", NULL };

/* A key is an option of train_gpt2, with `_` for `-`. */
static const mt_key keys[] = {
    MT_KEY_CHOICE(mt_budgeted_recipe, "optimizer", optimizer, mt_update_names),
    MT_KEY_CHOICE(mt_budgeted_recipe, "schedule", schedule, schedules),
    MT_KEY_CHOICE(mt_budgeted_recipe, "dtype", dtype, dtypes),
    MT_KEY_CHOICE(mt_budgeted_recipe, "recompute", recompute, mt_recompute_names),
    MT_KEY_POSITIVE(mt_budgeted_recipe, "lr", lr, 1, 1000),
    MT_KEY_RANGE(mt_budgeted_recipe, "lr_min", lr_min, 1, 0, 1000),
    MT_KEY_POSITIVE(mt_budgeted_recipe, "gamma", gamma, 1, 1),
    MT_KEY_POSITIVE(mt_budgeted_recipe, "clip", clip, 1, 1e9),
    MT_KEY_RANGE(mt_budgeted_recipe, "ema", ema, 1, 0, 0.999999),
    MT_KEY_RANGE(mt_budgeted_recipe, "weight_decay", weight_decay, 1, 0, 1),
    MT_KEY_WHOLE(mt_budgeted_recipe, "batch", batch, 1, 4096, false),
    MT_KEY_WHOLE(mt_budgeted_recipe, "micro_batches", micro, 1, 4096, false),
    MT_KEY_WHOLE(mt_budgeted_recipe, "warmup", warmup, 0, 1e9, false),
    MT_KEY_WHOLE(mt_budgeted_recipe, "period", period, 1, 1e9, false),
    { 0 },
};

mt_status mt_budgeted_recipe_read(mt_budgeted *b, const cJSON *json, const char *where)
{
    b->recipe = (mt_budgeted_recipe){ -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 12, 1, -1, -1 };
    return mt_keys_read(&b->recipe, keys, json, where);
}

/* "--lr=0.002"; false: the option is left out. */
static bool option_of(char out[64], const mt_key *key, const mt_budgeted_recipe *recipe)
{
    const void *field = (const char *)recipe + key->at;
    bool real = key->kind == MT_KEY_IS_NUMBER;
    double number = real ? *(const double *)field : (double)*(const int64_t *)field;
    int length = snprintf(out, 64, "--%s=", key->name);
    for (char *p = out; *p; p++)
        *p = *p == '_' ? '-' : *p;
    if (key->kind == MT_KEY_IS_CHOICE && number >= 0)
        snprintf(out + length, 64 - (size_t)length, "%s", key->choice[(int)number]);
    else
        snprintf(out + length, 64 - (size_t)length, "%.17g", number);
    return number >= 0;
}

/* ---- the program train_gpt2 ---------------------------------------------------------------------------- */

enum { MOST_WORDS = MT_COUNT(keys) + 16 };

typedef struct command {
    char option[MOST_WORDS][4200];
    char *word[MOST_WORDS + 1];
    int count;
} command;

MT_PRINTF(2, 3) static void add(command *c, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(c->option[c->count], sizeof c->option[0], format, values);
    va_end(values);
    c->word[c->count] = c->option[c->count];
    c->count++;
}

static void fill(command *c, const mt_budgeted *b, int64_t steps)
{
    char option[64];
    *c = (command){ .count = 0 };
    add(c, "%s", mt_cli_sibling("train_gpt2"));
    add(c, "--size=%s", b->size);
    add(c, "--data=%s", b->data);
    if (b->vocabulary)
        add(c, "--vocab=%s", b->vocabulary);
    add(c, "--out=%s", b->out);
    add(c, "--seed=%" PRId64, b->seed);
    add(c, "--steps=%" PRId64, steps);
    add(c, "--eval-every=%" PRId64, mt_max(1, (steps + 3) / 4));
    add(c, "--eval-batches=4");
    add(c, "--keep=1");
    add(c, "--overwrite"); /* what an interrupted run has left counts for nothing */
    if (b->quiet)
        add(c, "--quiet");
    for (const mt_key *k = keys; k->name; k++)
        if (option_of(option, k, &b->recipe))
            add(c, "%s", option);
}

static MT_NORETURN void become(const command *c, const char *log, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    signal(SIGINT, SIG_DFL);
    int fd = log ? open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (log && (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0))
        _exit(126);
    execv(c->word[0], c->word);
    fprintf(stderr, "%s: %s: make apps builds it\n", c->word[0], strerror(errno));
    _exit(127);
}

/* Runs it and waits for its end. Ctrl-C is for it. */
static mt_status run(const command *c, const char *log)
{
    int status = 0;
    fflush(NULL);
    void (*before)(int) = signal(SIGINT, SIG_IGN);
    pid_t parent = getpid(), child = fork();
    if (child == 0)
        become(c, log, parent);
    pid_t ended = child < 0 ? child : waitpid(child, &status, 0);
    while (ended < 0 && child > 0 && errno == EINTR)
        ended = waitpid(child, &status, 0);
    signal(SIGINT, before);
    if (ended < 0)
        return mt_fail(MT_ERR_UNAVAILABLE, "train_gpt2 did not start: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return MT_OK;
    return mt_fail(MT_ERR_UNAVAILABLE, "train_gpt2 ended without a result (%s %d)%s%s: nothing is kept",
                   WIFEXITED(status) ? "exit status" : "signal",
                   WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status), log ? "; what it said is in " : "",
                   log ? log : "");
}

/* ---- the budget ---------------------------------------------------------------------------------------- */

static mt_status count_steps(mt_budgeted_result *out, const mt_budgeted *b, const mt_gpt2_config *config)
{
    const mt_budgeted_recipe *r = &b->recipe;
    const mt_dtype dtype[] = { MT_F32, MT_BF16, MT_F16 };
    mt_recompute *each = mt_calloc(config->layers, sizeof *each);
    for (int64_t l = 0; l < config->layers; l++)
        each[l] = r->recompute > 0 ? (mt_recompute)r->recompute : MT_RECOMPUTE_NONE;
    const mt_gpt2_batch batch = { r->batch, config->block, r->micro, dtype[r->dtype > 0 ? r->dtype : 0], 0, false };
    mt_gpt2_cost cost = mt_gpt2_cost_of(config, &batch, each);
    free(each);
    MT_TRY(mt_memory_check(cost.peak_bytes, "a step", "write a smaller \"batch\" and more \"micro_batches\""));
    out->step_flops = cost.flops + cost.again_flops;
    double steps = floor(b->flops / (double)out->step_flops);
    if (steps < 1)
        return mt_fail(MT_ERR_ARGUMENT,
                       "a step takes %.4g FLOPs, and the budget is %.4g: write a smaller \"batch\" or fewer "
                       "\"micro_batches\"",
                       (double)out->step_flops, b->flops);
    out->steps = (int64_t)fmin(steps, INT32_MAX);
    out->tokens = out->steps * r->micro * r->batch * config->block;
    return MT_OK;
}

static mt_status open_text(mt_corpus *corpus, mt_gpt2_config *config, const mt_budgeted *b)
{
    MT_TRY(mt_gpt2_fill(config, b->size));
    MT_TRY(mt_corpus_open(corpus, b->data, b->vocabulary, config->block));
    config->vocabulary = corpus->vocabulary->token.count;
    if (corpus->valid_set->count < b->windows)
        return mt_fail(MT_ERR_ARGUMENT, "%s: its last tenth has %" PRId64 " windows, and \"windows\" is %" PRId64,
                       b->data, corpus->valid_set->count, b->windows);
    return mt_gpt2_check(config);
}

/* The loss of the last checkpoint, and the sum of its parameters. */
static mt_status judge(mt_budgeted_result *out, const mt_budgeted *b, mt_corpus *corpus)
{
    char folder[MT_PATH_SIZE];
    mt_module *model = NULL;
    mt_manifest manifest;
    mt_checkpoint_path(folder, b->out, out->steps);
    MT_TRY(mt_manifest_read(&manifest, folder));
    for (int64_t f = manifest.files - 1; f >= 0; f--)
        if (strncmp(manifest.file[f].name, "model", 5) == 0)
            out->weights = manifest.file[f].crc32c;
    mt_manifest_free(&manifest);
    MT_TRY(mt_saved_gpt2(&model, b->out, out->steps));
    mt_batch_source source = mt_batches_spread(corpus->valid_set, b->windows / MT_BUDGETED_BATCH);
    mt_loader *loader = mt_recipe_batches(&(mt_recipe){ 0 }, source, MT_BUDGETED_BATCH);
    mt_status status = mt_corpus_loss(&out->loss, model, loader);
    mt_loader_free(loader);
    mt_module_free(model);
    if (status == MT_OK && !isfinite(out->loss))
        status = mt_fail(MT_ERR_UNAVAILABLE, "the validation loss is not finite: write a smaller \"lr\"");
    return status;
}

mt_status mt_budgeted_run(mt_budgeted_result *out, const mt_budgeted *b)
{
    mt_corpus corpus = { 0 };
    mt_gpt2_config config = { 0 };
    command *c = mt_calloc(1, sizeof *c);
    char log[4200];
    mt_budgeted_result r = { 0 };
    snprintf(log, sizeof log, "%s/log", b->out);
    mt_status status = open_text(&corpus, &config, b);
    if (status == MT_OK)
        status = count_steps(&r, b, &config);
    if (status == MT_OK)
        status = mt_cli_folder(b->out);
    if (status == MT_OK) {
        printf("%" PRId64 " steps of %.4g FLOPs are within the budget of %.4g\n", r.steps, (double)r.step_flops,
               b->flops);
        snprintf(r.data, sizeof r.data, "%s", mt_saving_sum(b->data));
        fill(c, b, r.steps);
        status = run(c, b->quiet ? log : NULL);
    }
    if (status == MT_OK)
        status = judge(&r, b, &corpus);
    mt_corpus_close(&corpus);
    free(c);
    if (status == MT_OK)
        *out = r;
    return status;
}
