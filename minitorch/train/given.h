/* given.h -- weights from and for other programs, and the order of a run's batches, so that another framework can start
 * from the same weights and train beside this one. */
#pragma once

#include "data/dataset.h"
#include "nn/module.h"

MT_C_BEGIN

/* mt_given_load -- the weights of a GPT-2 from a safetensors file named and shaped as Hugging Face's, with or without
 * the prefix "transformer."; its token table may lack the rows that only pad it. 16 bits become f32, with a note on
 * stderr. Fails as mt_safetensors_open and _load: the model is then as before. */
mt_status mt_given_load(mt_module *model, const char *path);

/* mt_given_export -- the same the other way, in this type. Says on stdout how many parameters are there. */
mt_status mt_given_export(const mt_module *model, const char *path, mt_dtype dtype);

/* mt_given_batches -- a line "step,micro-batch,window,window,..." for each micro-batch of a run, below a line of names:
 * steps and micro-batches from 1 on, windows as the number of their first token in the training part. MT_ERR_IO. */
mt_status mt_given_batches(const char *path, const mt_batch_source *source, int64_t steps, int64_t micro,
                           int64_t batch);

MT_C_END
