/* attention_ladder.h -- the CPU kernels of attention as a table, for tests and benchmarks that run each of them. */
#pragma once

#include "fused/kernels_fused.h"

MT_C_BEGIN

typedef struct mt_attention_rung {
    const char *name; /* "plain", "tiled", "packed", "bf16" */
    const char *step; /* "08.5", ... */
    mt_attention_saved_fn *saved;
    mt_attention_fwd_fn *fwd; /* NULL: fwd_bf16, of qkv rounded to bf16 */
    mt_attention_bwd_fn *bwd; /* of the same qkv, widened to f32 */
    mt_attention_bf16_fwd_fn *fwd_bf16;
} mt_attention_rung;

/* The ladder from the simplest to the one of the fewest bytes, ended by a rung whose name is NULL. Programs use one of
 * them, and the bf16 one where the cast policy wants bf16 and the processor is fast with it (fused/use.c). */
extern const mt_attention_rung mt_attention_ladder_cpu[];

MT_C_END
