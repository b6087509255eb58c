/* table_gpt2.c -- the device's kernels of GPT-2 (models/kernels_gpt2.h). mt_embedding_bwd_cuda adds the rows of one
 * token by atomics, in no fixed order. Attention is that of table_fused.c, where it is linked. */
#include "cuda/kernels.h"
#include "models/kernels_gpt2.h"

extern mt_attention_saved_fn mt_attention_saved_cuda __attribute__((weak));
extern mt_attention_fwd_fn mt_attention_fwd_cuda __attribute__((weak));
extern mt_attention_bwd_fn mt_attention_bwd_cuda __attribute__((weak));
extern mt_attention_bf16_pays_fn mt_attention_bf16_pays_cuda __attribute__((weak));
extern mt_attention_bf16_fwd_fn mt_attention_bf16_fwd_cuda __attribute__((weak));

const mt_gpt2_table mt_gpt2_cuda = { .attention_saved = mt_attention_saved_cuda,
                                     .attention_fwd = mt_attention_fwd_cuda,
                                     .attention_bwd = mt_attention_bwd_cuda,
                                     .attention_bf16_pays = mt_attention_bf16_pays_cuda,
                                     .attention_bf16_fwd = mt_attention_bf16_fwd_cuda,
                                     MT_GPT2_KERNELS(MT_KERNEL_CUDA) };
