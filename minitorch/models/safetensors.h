/* safetensors.h -- parameters from a safetensors file (ours of models/weights.h, Hugging Face's GPT-2): a file of the outside
 * world, so nothing in it is believed. */
#ifndef MT_MODELS_SAFETENSORS_H
#define MT_MODELS_SAFETENSORS_H

#include "nn/module.h"

#ifdef __cplusplus
extern "C" {
#endif

/* mt_safetensors_load -- every parameter of the model from the tensor of its name, "transformer." before it or not; other
 * tensors are left alone. Of wte.weight, which is padded here, the file may have fewer rows, but no fewer than
 * `tokens`: the rest of ours stays.
 * MT_ERR_FORMAT, in words, with the model unchanged: no header or more of it than file, not JSON as safetensors has it, a
 * tensor outside the file or over another, one that is missing or there twice, not F32, or of another shape. */
mt_status mt_safetensors_load(mt_module *model, const char *path, int64_t tokens);

#ifdef __cplusplus
}
#endif
#endif
