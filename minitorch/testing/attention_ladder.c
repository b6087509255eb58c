/* attention_ladder.c -- see attention_ladder.h. */
#include "testing/attention_ladder.h"

#define PARTS(rung) mt_attention_##rung##_saved_cpu, mt_attention_##rung##_fwd_cpu, mt_attention_##rung##_bwd_cpu, NULL

const mt_attention_rung mt_attention_ladder_cpu[] = {
    { "plain", "08.5", PARTS(plain) },
    { "tiled", "11.1", PARTS(tiled) },
    { "packed", "11.11", PARTS(packed) },
    { "bf16", "11.14", mt_attention_packed_saved_cpu, NULL, mt_attention_packed_bwd_cpu, mt_attention_bf16_fwd_cpu },
    { 0 },
};
