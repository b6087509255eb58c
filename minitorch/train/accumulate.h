/* accumulate.h -- gradients of a batch that is too large for memory: the sum over its micro-batches.
 * Unit: solutions/10-memory/accumulate.c (lab 10, not graded yet). */
#pragma once

#include "train/step.h"

/* mt_train_accumulate -- mt_train_batch for each of training->micro micro-batches, so that gradients, loss and
 * samples in `sum` are those of all of them together. False: the source ended before.   Lab 10.1 */
bool mt_train_accumulate(mt_step_result *sum, const mt_training *training);
