/* given.h -- weights from and for other programs, and the order of a run's batches, so that another framework can start
 * from the same weights and train beside this one. */
#pragma once

#include "data/dataset.h"
#include "models/gpt2.h"
#include "text/vocabulary.h"

MT_C_BEGIN

/* Weights of a GPT-2 are a safetensors file named and shaped as Hugging Face's, or a folder with model.safetensors and
 * the sizes of the model in config.json.
 *
 * mt_given_sizes -- heads, layers, width and block that are 0 become those of the folder; a file alone says nothing.
 * MT_ERR_FORMAT: another architecture, or no sizes. MT_ERR_ARGUMENT: a size that is not 0 is another than the folder's;
 * only block may be smaller.
 * mt_given_tokens -- whether the folder's vocabulary, if it has one, numbers its tokens as this one does; otherwise
 * MT_ERR_ARGUMENT. A vocabulary that is longer is no other one.
 * mt_given_file -- the path of a file of the folder, in out; of a file itself.
 * mt_given_load -- names with or without the prefix "transformer."; the token table may lack the rows that only pad it.
 * Of a longer context than the model's the first places are read. 16 bits become f32, with a note on stderr. Fails as
 * mt_safetensors_open and _load: the model is then as before. */
mt_status mt_given_sizes(mt_gpt2_config *config, const char *path);
mt_status mt_given_tokens(const mt_vocabulary *vocabulary, const char *path);
const char *mt_given_file(char out[4096], const char *path, const char *name);
mt_status mt_given_load(mt_module *model, const char *path);

/* mt_given_export -- the same the other way, in this type; a folder if there is one of this name, or it ends with '/',
 * with the vocabulary too (mt_vocabulary_publish) unless that is NULL. Says on stdout how many parameters are there. */
mt_status mt_given_export(const mt_module *model, const char *path, mt_dtype dtype, const mt_vocabulary *vocabulary);

/* mt_given_batches -- a line "step,micro-batch,window,window,..." for each micro-batch of a run, below a line of names:
 * steps and micro-batches from 1 on, windows as the number of their first token in the training part. MT_ERR_IO. */
mt_status mt_given_batches(const char *path, const mt_batch_source *source, int64_t steps, int64_t micro,
                           int64_t batch);

MT_C_END
