/* dropout.h -- dropout in a model that was made without it, as an option of training.
 *
 * A module that draws has a stream of its own, which is saved with the model (mt_module_state), so that a run that is
 * resumed, and a segment that is computed again, draw the same masks. In MT_EVAL nothing is dropped.
 * Source: Srivastava et al. 2014, "Dropout: A Simple Way to Prevent Neural Networks from Overfitting". */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

/* Numbers become 0 with probability p, the rest are divided by 1 - p; p = 0 changes nothing. Called once, before the
 * model is trained; takes the `run` of the modules it names, which must be free.
 *
 * mt_gpt2_dropout -- of what the blocks read, and of what attention and MLP add to the residual stream, as GPT-2 was
 * trained; the weights of attention stay.
 * mt_mlp_dropout  -- of the hidden layers, behind ReLU. */
void mt_gpt2_dropout(mt_module *model, double p, int64_t seed);
void mt_mlp_dropout(mt_module *model, double p, int64_t seed);

MT_C_END
