/* attention_ladder.c -- the kernels of attention on the CPU, for tests and benchmarks that run each of them. */
#include "ops/kernels_gpt2.h"

const mt_attention_rung mt_attention_ladder_cpu[] = {
    { "plain", "08.5", mt_attention_plain_saved_cpu, mt_attention_plain_fwd_cpu, mt_attention_plain_bwd_cpu },
    { "tiled", "11.1", mt_attention_tiled_saved_cpu, mt_attention_tiled_fwd_cpu, mt_attention_tiled_bwd_cpu },
    { "packed", "11.11", mt_attention_packed_saved_cpu, mt_attention_packed_fwd_cpu, mt_attention_packed_bwd_cpu },
    { 0 },
};
