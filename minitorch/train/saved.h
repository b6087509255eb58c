/* saved.h -- the models of checkpoints, for programs that use them. */
#pragma once

#include "nn/module.h"

MT_C_BEGIN

/* mt_saved_gpt2, mt_saved_mlp -- the model of a checkpoint of train_gpt2 or train_mnist with its weights, on the CPU.
 * The checkpoint was found by mt_saving_find. Fails as mt_checkpoint_load; MT_ERR_ARGUMENT: of another program. */
mt_status mt_saved_gpt2(mt_module **out, const char *dir, int64_t step);
mt_status mt_saved_mlp(mt_module **out, const char *dir, int64_t step);

MT_C_END
