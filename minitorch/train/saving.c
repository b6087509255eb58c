/* saving.c -- see saving.h. A model from a checkpoint is made of the sizes in the manifest; then its weights are
 * loaded. */
#include "train/saving.h"
#include "ckpt/checkpoint.h"
#include "ckpt/commit.h"
#include "ckpt/crc32c.h"
#include "core/io.h"
#include "models/classifier.h"
#include "models/gpt2.h"
#include "models/mlp.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static mt_status resume(const char *text, void *step)
{
    *(int64_t *)step = text && strcmp(text, "auto") == 0 ? MT_AUTO : MT_NEWEST;
    return text && *(int64_t *)step == MT_NEWEST ? mt_cli_i64(step, text, 1, INT64_MAX) : MT_OK;
}

const mt_option mt_saving_options[] = {
    { "save-every", 0, "STEPS", MT_I64(mt_saving, every, 1, INT32_MAX),
      "Steps from one checkpoint to the next; the best evaluation is saved in any case; default: at each evaluation" },
    { "keep", 0, "K", MT_I64(mt_saving, keep, 0, INT32_MAX),
      "Number of newest checkpoints that are kept beside the best one (0: all)" },
    { "async-save", 0, NULL, MT_FLAG(mt_saving, async), "Write checkpoints while training goes on, from a copy" },
    { "resume", 0, "[STEP", MT_PARSED(mt_saving, resume, resume),
      "Continue from the newest valid checkpoint in --out, or from that of STEP, with the same flags; later ones are "
      "moved to --out/aside-N; auto: continue if --out holds checkpoints, else begin; default: a new run" },
    { "overwrite", 0, NULL, MT_FLAG(mt_saving, overwrite),
      "Begin a new run in a folder that holds checkpoints: they are removed when the first new one is saved" },
    { 0 },
};

/* "100, 200", the oldest first, for a message. What a save that was cut off has left, without a manifest, is none. */
static void list_steps(char *text, size_t size, const char *dir)
{
    char path[MT_PATH_SIZE + sizeof MT_MANIFEST];
    int64_t *steps = NULL, count = 0;
    *text = 0;
    if (mt_checkpoint_steps(&steps, &count, dir) == MT_OK)
        for (size_t at = 0, i = (size_t)count; i-- > 0 && at < size;) {
            mt_checkpoint_path(path, dir, steps[i]);
            strcat(path, "/" MT_MANIFEST);
            if (access(path, F_OK) == 0)
                at += (size_t)snprintf(text + at, size - at, "%s%" PRId64, at ? ", " : "", steps[i]);
        }
    free(steps);
}

/* MT_OK: no checkpoint of another run is lost by a new one. */
static mt_status check_folder(const mt_saving *s, const char *dir)
{
    char there[512];
    list_steps(there, sizeof there, dir);
    if (s->resume || s->overwrite || !*there)
        return MT_OK;
    return mt_fail(
        MT_ERR_ARGUMENT,
        "%s holds checkpoints of a run (steps %s): --resume continues it, --overwrite removes them, and a new "
        "run beside it needs another --out",
        dir, there);
}

void mt_saving_decide(mt_saving *s, const char *dir)
{
    char there[512];
    list_steps(there, sizeof there, dir);
    if (s->resume == MT_AUTO)
        s->resume = *there ? MT_NEWEST : 0;
}

mt_status mt_saving_open(mt_saver **out, const mt_saving *s, const char *dir)
{
    const mt_saver_config config = {
        .dir = dir, .keep = { s->keep, 0, -1 }, .async = s->async, .new_run = s->overwrite
    };
    if (s->resume && s->overwrite)
        return mt_fail(MT_ERR_ARGUMENT,
                       "--resume continues the run that --overwrite would remove: leave one of them out");
    MT_TRY(mt_saver_open(out, &config));
    mt_checkpoint_mend(dir);
    mt_status status = check_folder(s, dir);
    if (status != MT_OK) {
        mt_saving_close(*out, status);
        *out = NULL;
    }
    return status;
}

mt_status mt_saving_find(int64_t *step, const char *dir, int64_t wanted)
{
    char there[512], why[1024];
    if (wanted == MT_NEWEST)
        return mt_recover(step, dir, NULL, NULL);
    mt_status status = mt_checkpoint_check(dir, wanted);
    if (status == MT_OK) {
        *step = wanted;
        return MT_OK;
    }
    snprintf(why, sizeof why, "%s", mt_last_error());
    list_steps(there, sizeof there, dir);
    return mt_fail(status, "%s\ncheckpoints in %s: %s", why, dir, *there ? there : "none");
}

/* What a run has beside its checkpoints, and a run that goes back changes. */
static const char *const run_files[] = { "metrics.csv", "run.json", "vocab.bpe", NULL };

static mt_status set_aside(const char *dir, int64_t step)
{
    char folder[MT_PATH_SIZE];
    MT_TRY(mt_checkpoint_aside(folder, dir, step, run_files));
    if (*folder)
        printf("What comes after step %" PRId64 " was moved to %s\n", step, folder);
    return MT_OK;
}

mt_status mt_saving_load(const mt_saving *s, const char *dir, const mt_state *model, const mt_state *rest)
{
    int64_t step = 0;
    char ema[32];
    MT_TRY(mt_saving_find(&step, dir, s->resume));
    bool had = mt_checkpoint_text(ema, sizeof ema, dir, step, "ema") == MT_OK, has = mt_state_find(rest, "ema");
    if (has && !had)
        return mt_fail(MT_ERR_ARGUMENT, "%s: without an average of the weights; --ema 0 continues it", dir);
    mt_status status = mt_checkpoint_load(dir, step, model, rest);
    if (status == MT_OK && had && !has)
        status = mt_fail(MT_ERR_ARGUMENT, "%s: with --ema %s, not without", dir, ema);
    if (status == MT_ERR_ARGUMENT)
        return mt_fail(status, "%s; --resume needs the flags of the run that it continues", mt_last_error());
    if (status == MT_OK)
        printf("Continuing from %s/step-%" PRId64 "\n", dir, step);
    return status == MT_OK ? set_aside(dir, step) : status;
}

mt_status mt_saving_save(mt_saver *saver, const mt_loop *l, mt_state *model, mt_state *rest)
{
    mt_status status = mt_saver_best(saver, l->best.step ? l->best.step : -1);
    if (status == MT_OK)
        status = mt_saver_save(saver, l->step, model, rest);
    mt_state_free(model);
    mt_state_free(rest);
    return status;
}

mt_status mt_saving_best(mt_saver *saver, const char *dir, const mt_loop *l, const mt_module *model, mt_ema *ema)
{
    if (l->best.step == 0 || l->best.step == l->step)
        return MT_OK;
    MT_TRY(mt_saver_wait(saver));
    mt_state params = mt_module_params(model), averages = { 0 };
    mt_ema_state(&averages, ema);
    mt_status status = mt_checkpoint_load(dir, l->best.step, &params, &averages);
    mt_state_free(&params);
    mt_state_free(&averages);
    return status;
}

mt_status mt_saving_close(mt_saver *saver, mt_status status)
{
    char why[1024];
    snprintf(why, sizeof why, "%s", mt_last_error());
    mt_status saved = mt_saver_close(saver);
    return status == MT_OK ? saved : mt_fail(status, "%s", why);
}

const char *mt_saving_sum(const char *path)
{
    static _Thread_local char text[9];
    mt_file_map file;
    if (mt_file_map_open(&file, path) != MT_OK)
        return "none";
    int64_t part = mt_min(file.size, 1 << 20);
    uint32_t sum = mt_crc32c(mt_crc32c(0, file.bytes, part), file.bytes + file.size - part, part);
    mt_file_map_close(&file);
    snprintf(text, sizeof text, "%08" PRIx32, sum);
    return text;
}

/* ---- models of checkpoints ------------------------------------------------------------------------------- */

/* The integers of `sizes`, of a checkpoint of this program. Frees the list. */
static mt_status load_sizes(mt_state *sizes, const char *dir, int64_t step, const char *program)
{
    const mt_state none = { 0 };
    mt_state_setting(sizes, "program", "%s", program);
    mt_status status = mt_checkpoint_load(dir, step, sizes, &none);
    mt_state_free(sizes);
    return status;
}

static mt_status load_weights(mt_module **out, mt_module *model, const char *dir, int64_t step)
{
    char decay[32];
    mt_state params = mt_module_params(model), averages = { 0 };
    /* A run with moving averages evaluates these (train/ema.h). */
    if (mt_checkpoint_text(decay, sizeof decay, dir, step, "ema") == MT_OK) {
        for (const mt_state_item *p = params.item; p < params.item + params.count; p++)
            mt_state_tensor(&averages, p->tensor, "%s/ema", p->name);
        mt_state_free(&params);
    }
    mt_status status = mt_checkpoint_load(dir, step, &params, &averages);
    mt_state_free(&params);
    mt_state_free(&averages);
    if (status == MT_OK)
        *out = model;
    else
        mt_module_free(model);
    return status;
}

mt_status mt_saved_gpt2(mt_module **out, const char *dir, int64_t step)
{
    mt_gpt2_config config = { 0 };
    mt_state sizes = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_gpt2_state(&sizes, &config);
    MT_TRY(load_sizes(&sizes, dir, step, "train_gpt2"));
    MT_TRY(mt_gpt2_check(&config));
    return load_weights(out, mt_gpt2_new(&config, &rng), dir, step);
}

mt_status mt_saved_mlp(mt_module **out, const char *dir, int64_t step)
{
    int64_t width[MT_MLP_MOST + 1], layers;
    mt_state sizes = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_mlp_state(&sizes, width, &layers);
    MT_TRY(load_sizes(&sizes, dir, step, "train_mnist"));
    bool good = layers >= 1 && layers <= MT_MLP_MOST && width[layers] == MT_CLASSES;
    for (int64_t l = 0; good && l <= layers; l++)
        good = width[l] >= 1 && width[l] <= 1 << 20;
    if (!good)
        return mt_fail(MT_ERR_FORMAT, "%s/step-%d: there is no such perceptron", dir, (int)step);
    return load_weights(out, mt_mlp_new(width, (int)layers, &rng), dir, step);
}
