/* shards.h -- a list of tensors in several safetensors files, as Hugging Face's tools read and write it.
 *
 *   model-00001-of-00002.safetensors, model-00002-of-00002.safetensors
 *   model.safetensors.index.json: {"metadata":{"total_size":BYTES},"weight_map":{"TENSOR":"FILE",...}}
 *
 * Unit: solutions/12-checkpoints/shards.c. */
#pragma once

#include "ckpt/commit.h"

MT_C_BEGIN

/* mt_shards_plan -- which items of the list go into which file, in the list's order: begin[s] .. begin[s+1] - 1 are
 * those of file s, and the result is the number of files, at least 1. A file has at most `limit` bytes of tensors, or
 * one tensor that is larger; it is as full as the order allows. Items without a tensor take no bytes.
 *   begin [count + 2]   Lab 12.2 */
int64_t mt_shards_plan(int64_t *begin, const mt_state *state, int64_t limit);

/* mt_shards_name -- "model-00001-of-00002.safetensors" for stem "model", shard 0 of 2.
 *   out [MT_PART_NAME] */
void mt_shards_name(char *out, const char *stem, int64_t shard, int64_t shards);

/* mt_shards -- the files of a list, ready to be committed; borrows the list. `index` is the last of them. */
typedef struct mt_shards {
    const char *stem;
    const mt_state *state;
    mt_state *part; /* of each file: a range of the list's items */
    int64_t *begin;
    int64_t count;
} mt_shards;

mt_shards mt_shards_of(const mt_state *state, const char *stem, int64_t limit);
void mt_shards_free(mt_shards *shards);
void mt_shards_parts(mt_part *parts, const mt_shards *shards); /* shards->count + 1 of them, the index last */

/* mt_shards_load -- every tensor of the list from the shards of any writer; integers and settings are left out. `dry`
 * only checks. MT_ERR_IO, MT_ERR_FORMAT: a file is missing or invalid, its name is a path, a tensor is in another file
 * than the index says, or in two; or as mt_safetensors_load. Nothing is changed then. */
mt_status mt_shards_load(const char *folder, const char *stem, const mt_state *state, bool dry);

MT_C_END
