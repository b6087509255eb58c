/* saving.h -- the checkpoints of a training program: their options, how a run begins or continues with them,
 * and how other programs get its model.
 *
 *     { "saving", 0, NULL, MT_GROUP(options, saving, mt_saving_options), "What is saved:" },  // in its option table
 *     mt_saver *saver;
 *     status = mt_saving_open(&saver, &o.saving, o.out);
 *     if (o.saving.resume)
 *         status = mt_saving_load(&o.saving, o.out, &model, &rest);
 *     status = mt_saving_save(saver, &loop, &model, &rest);
 *     status = mt_saving_close(saver, status); */
#pragma once

#include "ckpt/async.h"
#include "cli/cli.h"
#include "train/ema.h"
#include "train/loop.h"

MT_C_BEGIN

enum { MT_NEWEST = -1, MT_AUTO = -2 };

typedef struct mt_saving {
    int64_t every;  /* steps from one checkpoint to the next; 0: at each evaluation */
    int64_t keep;   /* number of the newest checkpoints to keep, beside the best; 0: all */
    int64_t resume; /* from this step, or MT_NEWEST; MT_AUTO: as mt_saving_decide finds; 0: a new run */
    bool async;     /* a thread writes, while training goes on */
    bool overwrite; /* a new run removes the checkpoints that are there */
} mt_saving;

extern const mt_option mt_saving_options[];

/* mt_saving_decide -- what MT_AUTO means for this folder: MT_NEWEST where it holds checkpoints, else 0. Every process
 * of a run calls it, before any of them saves. */
void mt_saving_decide(mt_saving *saving, const char *dir);

/* mt_saving_open -- before anything in the folder is changed. MT_ERR_UNAVAILABLE: another run saves there.
 * MT_ERR_ARGUMENT: a new run, and the folder holds checkpoints, which only saving->overwrite removes: when the first
 * new one is saved. */
mt_status mt_saving_open(mt_saver **out, const mt_saving *saving, const char *dir);

/* mt_saving_find -- the step of the newest valid checkpoint of a folder, with a warning for each newer one and why it
 * is skipped; or `wanted`, when it is not MT_NEWEST and valid. Fails, saying which checkpoints there are. */
mt_status mt_saving_find(int64_t *step, const char *dir, int64_t wanted);

/* mt_saving_load -- what saving.resume says, into both lists (mt_checkpoint_load), and one line about it to stdout.
 * Later checkpoints, which may be damaged, are moved to DIR/aside-N with copies of the run's metrics.csv, run.json and
 * vocab.bpe. */
mt_status mt_saving_load(const mt_saving *saving, const char *dir, const mt_state *model, const mt_state *rest);

/* mt_saving_save -- the loop's step; from now on that of its best evaluation is kept. Frees the lists. */
mt_status mt_saving_save(mt_saver *saver, const mt_loop *loop, mt_state *model, mt_state *rest);

/* mt_saving_best -- the weights of the loop's best evaluation, and their averages, in the place of the latest ones.
 * Nothing happens where these are the best, or no evaluation was. Fails as mt_saver_wait and mt_checkpoint_load. */
mt_status mt_saving_best(mt_saver *saver, const char *dir, const mt_loop *loop, const mt_module *model, mt_ema *ema);

/* mt_saving_close -- waits for the last checkpoint; returns its error where `status`, that of the run, is none. */
mt_status mt_saving_close(mt_saver *saver, mt_status status);

/* mt_saving_sum -- of the first and the last MiB of a file, as a text: a run does not continue with other data. Lent
 * until the next call of the thread. "none": the file cannot be read. */
const char *mt_saving_sum(const char *path);

/* ---- for programs that use a model ----------------------------------------------------------------------- */

/* mt_saved_gpt2, mt_saved_mlp -- the model of a checkpoint of train_gpt2 or train_mnist with its weights, on the CPU.
 * The checkpoint was found by mt_saving_find. Fails as mt_checkpoint_load; MT_ERR_ARGUMENT: of another program. */
mt_status mt_saved_gpt2(mt_module **out, const char *dir, int64_t step);
mt_status mt_saved_mlp(mt_module **out, const char *dir, int64_t step);

MT_C_END
