/* gpt2_cost.h -- memory and arithmetic of a training step of GPT-2, before anything is allocated: plan/cost.h of one
 * device, with a choice of what is computed again for each layer.
 *
 *     const mt_gpt2_batch batch = { .samples = 4, .time = 1024, .micro = 1 };
 *     mt_gpt2_cost cost = mt_gpt2_cost_of(mt_gpt2_size("gpt2"), &batch, NULL);
 *     mt_gpt2_cost_print(&cost, mt_gpt2_size("gpt2")); */
#pragma once

#include "memory/recompute.h"
#include "optim/updates.h"

#include <stdio.h>

MT_C_BEGIN

typedef struct mt_gpt2_batch {
    int64_t samples, time; /* of a micro-batch: its tokens */
    int64_t micro;         /* micro-batches of a step */
    mt_dtype dtype;        /* of products, and of what is kept of them: f32, bf16 or f16 (amp/autocast.h) */
    int64_t more;          /* bytes of the optimizer's state beyond AdamW's two moments; below 0: it has less */
    bool offload;          /* activations of all layers but the last wait on the host (mt_gpt2_offload) */
} mt_gpt2_batch;

typedef struct mt_gpt2_cost {
    int64_t parameters;       /* padding included */
    int64_t parameter_bytes;  /* f32; gradients need as much */
    int64_t copy_bytes;       /* of weights, in 16 bits; 0 with f32 */
    int64_t optimizer_bytes;  /* its state */
    int64_t layer_bytes;      /* what one layer keeps for backward, with nothing computed again */
    int64_t activation_bytes; /* what forward keeps in all: layers, embedding, last layernorm, probabilities */
    int64_t peak_bytes;       /* the most that is allocated at once in a training step */
    int64_t flops;            /* of a training step: matmuls and attention, causal half, backward twice forward */
    int64_t attention_flops;  /* the part of it that grows with T^2: scores and weighted sums */
    int64_t again_flops;      /* to compute again what backward reads and forward did not keep; not part of flops */
} mt_gpt2_cost;

/* mt_gpt2_rule_bytes -- of the optimizer's state with this rule (mt_update_for), or of adam's and adamw's moments in 8
 * bits (amp/state8.h); *scratch: of its scratch, which is no
 * memory of the allocator and not in the peak. */
int64_t mt_gpt2_rule_bytes(int64_t *scratch, const mt_gpt2_config *config, mt_update_kind rule, bool state8);

/* mt_gpt2_cost_of -- a training step. recompute [layers]: what is computed again of each; NULL: nothing. */
mt_gpt2_cost mt_gpt2_cost_of(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute);

/* mt_gpt2_choose -- what to compute again of each layer, so that the peak of a step is within the budget, for the
 * fewest FLOPs (memory/choose.h).
 *   recompute [layers]
 * Fails: MT_ERR_ARGUMENT, with the least budget in the message. */
mt_status mt_gpt2_choose(mt_recompute *recompute, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                         int64_t budget);

/* mt_gpt2_cost_print -- the same as a table on standard output.
 * mt_gpt2_recompute_print -- a table of what each kind of recomputation would take, and recompute [layers]; NULL: not
 * that. */
void mt_gpt2_cost_print(const mt_gpt2_cost *cost, const mt_gpt2_config *config);
void mt_gpt2_recompute_print(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute);

/* mt_gpt2_advise -- a line that says with which --batch, --micro-batches and --recompute of train_gpt2 the planned peak
 * is within `had` bytes, less the 2.5 % by which the plan may be wrong: the largest batch up to this one with what is
 * computed again chosen for the budget, and the largest with `recompute` as it is. Windows of a step stay as many. */
void mt_gpt2_advise(FILE *out, const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute,
                    int64_t had);

MT_C_END
