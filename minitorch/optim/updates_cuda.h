/* updates_cuda.h -- the update rules on the device; param, grad and state of an mt_update are device memory there, the
 * mt_update itself and its hyper-parameters are the host's. Meaning and state are those of the CPU's kernels in
 * optim/updates.h; launches go to mt_cuda_stream(). Units: solutions/06-cuda-kernels/updates.cu, and for all tensors in
 * one launch solutions/11-fusion/multi_adamw.cu */
#pragma once

#include "optim/updates.h"

MT_C_BEGIN

mt_update_fn mt_sgd_update_cuda;   /* moves 12 B per element    Lab 06.17 */
mt_update_fn mt_adam_update_cuda;  /* moves 28 B per element; aborts: t < 1    Lab 06.17 */
mt_update_fn mt_adamw_update_cuda; /* moves 28 B per element; aborts: t < 1    Lab 06.17 */

/* ---- all tensors in one launch ------------------------------------------------------------------- */

/* Where a tensor is: the same in every step, unless its gradient moves. */
typedef struct mt_update_segment {
    float *param;
    const float *grad; /* NULL: none, the tensor is not updated */
    float *state[MT_UPDATE_STATES];
    int64_t count;  /* elements */
    int64_t before; /* chunks of the tensors before this one; a block has a chunk */
} mt_update_segment;

/* What differs from tensor to tensor and from step to step. */
typedef struct mt_update_factors {
    float lr, decay;
    float fix1, fix2; /* 1 / (1 - beta^t) for m and for v */
} mt_update_factors;

/* mt_adamw_multi_list_cuda -- the list of tensors for the kernel below, made on the host; returns its chunks.
 *   segment, factors [count]  overwritten, in the order of u;  u [count], of any lengths, each with hyper-parameters
 *   and step t of its own. One with grad NULL has no chunks, and its t is not read.
 * Aborts: t < 1.   Lab 11.9 */
int64_t mt_adamw_multi_list_cuda(mt_update_segment *segment, mt_update_factors *factors, const mt_update *u,
                                 int64_t count);

/* mt_adamw_multi_update_cuda -- AdamW (mt_adamw_update_cuda) for every tensor of a list, in one launch; none if there
 * make no chunks.
 *   segment, factors [count]: copies on the device;  h: the host's, of which beta1, beta2 and eps are for all tensors
 * Moves 28 B per element.   Lab 11.9 */
void mt_adamw_multi_update_cuda(const mt_update_segment *segment, const mt_update_factors *factors, int64_t count,
                                int64_t chunks, const mt_hyper *h);

/* Given, cuda/update_list.c: those of mt_optim_kernels (optim/rules.h), with the two above. */
struct mt_update_list;
bool mt_update_together_cuda(mt_update_kind kind, const mt_update *u, int64_t count, struct mt_update_list **list);
void mt_update_list_free_cuda(struct mt_update_list *list);

MT_C_END
