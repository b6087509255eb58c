/* accumulate.h -- gradients of a batch that is too large for memory: the sum over its micro-batches.
 * Unit: solutions/10-memory/accumulate.c */
#pragma once

#include "models/step.h"

MT_C_BEGIN

/* mt_train_accumulate -- a training's `gradients`: mt_train_batch for each of the next training->micro batches, so that
 * gradients and loss are those of one batch with the targets of all of them: each batch counts by its targets, the same
 * sizes exactly 1 / micro. Adds to *sum. One batch is in memory at a time; the gradients stay. False: the source ended
 * before.
 * Source: the mean over tokens and that over micro-batches differ where their sizes do.   Lab 10.1 */
bool mt_train_accumulate(mt_step_result *sum, const mt_training *training);

MT_C_END
