/* checkpoint.h -- a training run of GPT-2 as one file: sizes, place, parameters, optimizer state. What is read back goes on
 * bit for bit, for everything else (data order, learning rate) is a function of the step and of the command line.
 *
 *   offset 0   "MTCKPT01"
 *          8   i64 sizes[6], place[3], tensors      mt_gpt2_config, mt_place, how many tensors follow
 *              for each tensor: its name in 128 bytes, i64 bytes, the numbers, zeros up to a multiple of 8
 *              u64 sum of all 8-byte words before it, each step multiplied (FNV-1a): a damaged file is never half-loaded
 * All little-endian. Written beside its path and renamed. Lab 12 teaches checkpoints of anything. */
#ifndef MT_MODELS_CHECKPOINT_H
#define MT_MODELS_CHECKPOINT_H

#include "core/io.h"
#include "models/gpt2.h"
#include "optim/optim.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mt_place {
    int64_t step;  /* steps done */
    int64_t steps; /* of the whole run: the schedule depends on it */
    int64_t rows;  /* of the metrics file */
} mt_place;

mt_status mt_checkpoint_write(const char *path, const mt_place *place, const mt_module *model, const mt_optim *optim);

typedef struct mt_checkpoint {
    mt_gpt2_config config;
    mt_place place;
    int64_t tensors;
    mt_file_map file;
} mt_checkpoint;

/* mt_checkpoint_open -- MT_ERR_FORMAT, in words: foreign, truncated, damaged, or sizes that cannot be. */
mt_status mt_checkpoint_open(mt_checkpoint *out, const char *path);
void mt_checkpoint_close(mt_checkpoint *checkpoint);

/* mt_checkpoint_load -- into a model and, unless NULL, an optimizer of the same names and sizes. MT_ERR_FORMAT, with both
 * unchanged, when they are others. */
mt_status mt_checkpoint_load(const mt_checkpoint *checkpoint, mt_module *model, mt_optim *optim);

#ifdef __cplusplus
}
#endif
#endif
