/* weights.h -- a copy of a model's parameters: keep the best of a run, bring it back, write it to a file.
 *
 * The file is safetensors, which Python and others read: u64 n; n bytes of JSON that name each tensor's dtype, shape and
 * [begin, end) in what follows; the numbers, all little-endian. Whole checkpoints, with optimizer and place, are lab 12. */
#ifndef MT_MODELS_WEIGHTS_H
#define MT_MODELS_WEIGHTS_H

#include "nn/module.h"

typedef struct mt_weights mt_weights; /* opaque */

/* mt_weights_new -- a copy of all parameters as they are now. The model is borrowed, and must outlive the copy.
 * Aborts: a parameter that is not dense f32 on the CPU. */
mt_weights *mt_weights_new(const mt_module *model);
void mt_weights_free(mt_weights *weights); /* NULL is allowed */

void mt_weights_keep(mt_weights *weights);          /* copy again */
void mt_weights_restore(const mt_weights *weights); /* into the model */

/* mt_weights_write -- the copy as a file; written under another name and renamed, so that path is never half a file. */
mt_status mt_weights_write(const mt_weights *weights, const char *path);

#endif
