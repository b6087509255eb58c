/* recompute.h -- what backward computes again of each block of a GPT-2, instead of reading what forward kept; or that
 * this waits on the host. In f32 it changes no result, nor do whole blocks in 16 bits or what waits; selective
 * recomputation in 16 bits changes gradients by roundings (memory/segment.h). */
#pragma once

#include "memory/offload.h"
#include "memory/segment.h"
#include "models/gpt2.h"

MT_C_BEGIN

extern const char *const mt_recompute_names[]; /* "none", "selective", "block"; ended by NULL */

/* mt_gpt2_recompute -- from the next forward on.   recompute [layers] */
void mt_gpt2_recompute(mt_module *model, const mt_recompute *recompute);

/* mt_recompute_text -- "layers 0-5 block, 6 selective, 7-11 none"; lent until the next call of the thread. */
const char *mt_recompute_text(const mt_recompute *recompute, int64_t layers);

/* mt_gpt2_offload -- from the next forward on, in this thread, the activations of all blocks but the last wait on the
 * host (memory/offload.h). Nothing, and *out is NULL, with fewer than two blocks. Fails as mt_bus_open.
 * mt_gpt2_offload_end -- of *out, before the model is freed; NULL is allowed. */
mt_status mt_gpt2_offload(mt_offload **out, mt_module *model);
void mt_gpt2_offload_end(mt_offload *offload);

/* What a user chose. */
typedef struct mt_recompute_choice {
    mt_recompute each;
    int64_t budget; /* 0: of each block the same; else bytes, and each block's is chosen (plan/gpt2_cost.h) */
    bool offload;   /* in place of that, mt_gpt2_offload */
} mt_recompute_choice;

/* mt_recompute_parse -- for MT_PARSED (cli/cli.h): one of the names, "offload", or a size such as "2.5GB". */
mt_status mt_recompute_parse(const char *text, void *choice);

MT_C_END
