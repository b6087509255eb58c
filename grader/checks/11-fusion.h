/* 11-fusion.h -- the checks of lab 11: structs of their rows, and the functions that run them. */
#pragma once

#include "checks/08-attention.h"
#include "checks/fill.h"
#include "checks/kernel.h"
#include "rows/device.h"
#include "build/ptxas.h"
#include "rows/traffic.h"

/* ---- tiled attention: attention.c, and what only a tiled kernel has: 11-attention.c --------------- */

void mg_11_threads(mg_run *run, const void *one_case); /* an attention_case */
void mg_11_huge(mg_run *run, const void *one_case);    /* an attention_case */

typedef struct fusion_traffic {
    mg_case head;
    mg_cache cache;
    const char *bar;
    bool backward, packed, bf16;
} fusion_traffic;

void mg_11_attention_traffic(mg_run *run, const void *one_case); /* a fusion_traffic */

/* ---- rows of packed attention and of that in bf16: 11-packed.c ------------------------------------------ */

extern const attention_case mg_11_packed[10], mg_11_packed_threads[1], mg_11_packed_huge[1], mg_11_packed_nan[1];
extern const attention_case mg_11_packed_backward[7], mg_11_packed_backward_threads[1];
extern const attention_case mg_11_bf16[10], mg_11_bf16_threads[1], mg_11_bf16_huge[1], mg_11_bf16_nan[1];
extern const fusion_traffic mg_11_packed_traffic[1], mg_11_bf16_traffic[1];
extern const attention_race mg_11_packed_race[1], mg_11_packed_backward_race[1], mg_11_bf16_race[1];

/* ---- residual + layernorm: 11-norm.c ------------------------------------------------------------------ */

extern const mg_kernel_row mg_11_residual_cases[6], mg_11_residual_traffic[1];
extern const mg_kernel_row mg_11_residual_backward_cases[5], mg_11_residual_backward_traffic[1];
extern const mg_kernel_row mg_11_device_residual_cases[4], mg_11_device_residual_counts[2];
extern const mg_kernel_row mg_11_device_residual_backward_cases[4], mg_11_device_residual_backward_counts[2];

/* ---- bias + GELU: 11-gelu.c ----------------------------------------------------------------------------- */

extern const mg_kernel_row mg_11_gelu_cases[6], mg_11_gelu_backward_cases[7];
extern const mg_kernel_row mg_11_gelu_device_cases[4], mg_11_gelu_device_counts[1];
extern const mg_kernel_row mg_11_gelu_device_backward_cases[4], mg_11_gelu_device_backward_counts[1];

/* ---- classifier in chunks: 11-classifier.c ------------------------------------------------------------ */

typedef struct chunked_case {
    mg_case head;
    int64_t N, C, V; /* -1: random */
    double spread;   /* standard deviation of x and of w: the logits have its square times sqrt(C) */
    int wanted;      /* MG_DX, MG_DW of 08-gpt2.h */
    float share;     /* of each loss; 0: 1 / N, NAN: 0 */
    const char *bar;
    mg_cache cache;
} chunked_case;

void mg_11_chunked(mg_run *run, const void *one_case);
void mg_11_chunked_traffic(mg_run *run, const void *one_case);

/* ---- AdamW of all tensors in one launch: 11-adamw.c ----------------------------------------------------- */

typedef enum adamw_about {
    MG_LENGTHS,  /* 0, 1, 31, 33, primes, and around the ends of chunks */
    MG_MANY,     /* as many tensors as GPT-2 124M has */
    MG_TINY,     /* more of them, of 0 to 3 elements */
    MG_RATES,    /* each tensor with its rate and decay */
    MG_STEPS,    /* each tensor with its count of steps */
    MG_MISSING,  /* some tensors have no gradient */
    MG_NOTHING,  /* no tensor has an element and a gradient */
    MG_BLOCK,    /* the tensors of a small block of GPT-2 */
    MG_ONE_LARGE /* one large tensor, seven small ones */
} adamw_about;

typedef struct adamw_case {
    mg_case head;
    adamw_about about;
} adamw_case;

void mg_11_adamw(mg_run *run, const void *one_case);

/* ---- on the device: 11-device.c ---------------------------------------------------------------------- */

/* One call of the size that the bars were measured at, and what the emulator counted. */
typedef struct fusion_count {
    mg_case head;
    mg_count count;
    int launches; /* that the call may make */
    bool backward, bf16;
} fusion_count;

void mg_11_attention_count(mg_run *run, const void *one_case); /* a fusion_count */

/* What nvcc makes of a unit. */
typedef struct fusion_fact {
    mg_case head;
    const char *file;
    mg_fact fact;
    bool backward, bf16;
} fusion_fact;

void mg_11_attention_compiled(mg_run *run, const void *one_case); /* a fusion_fact */

/* Of 11-packed.c: attention on tensor cores. */
extern const attention_case mg_11_tensor[9], mg_11_tensor_huge[1], mg_11_tensor_nan[1];
extern const fusion_count mg_11_tensor_counts[3];
extern const fusion_fact mg_11_tensor_facts[2];
