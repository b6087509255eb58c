/* calls_11.c -- the functions of lab 11 that the worker calls. For those of .cu units arrays are on the device. */
#include "ops/kernels_cuda.h"
#include "ops/kernels_fused.h"
#include "ops/kernels_gpt2.h"
#include "worker/call.h"

static void attention_fwd(const mg_value *v) /* out, saved; qkv; B, T, C, H */
{
    mt_attention_tiled_fwd_cpu(F(0), F(1), F(2), N(3), N(4), N(5), N(6));
}

static void attention_bwd(const mg_value *v) /* dqkv, saved; dout, qkv, out; B, T, C, H */
{
    mt_attention_tiled_bwd_cpu(F(0), F(2), F(3), F(4), F(1), N(5), N(6), N(7), N(8));
}

static void attention_fwd_cuda(const mg_value *v) /* as attention_fwd */
{
    mt_attention_fwd_cuda(F(0), F(1), F(2), N(3), N(4), N(5), N(6));
}

static void attention_bwd_cuda(const mg_value *v) /* as attention_bwd */
{
    mt_attention_bwd_cuda(F(0), F(2), F(3), F(4), F(1), N(5), N(6), N(7), N(8));
}

#define CALLS(CALL, IN_PLACE)                                                                            \
    CALL(mt_residual_norm_fwd_cpu, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), N(8), N(9), S(10))    \
    IN_PLACE(mt_residual_norm_fwd_cpu, F(0), F(1), F(2), F(3), F(0), F(4), F(5), F(6), N(7), N(8), S(9)) \
    CALL(mt_residual_norm_bwd_cpu, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), N(10), N(11))
CALLS(MG_THUNK, MG_THUNK_IN_PLACE)

const mg_function mg_calls_11[] = {
    CALLS(MG_ENTRY, MG_ENTRY_IN_PLACE){ "mt_attention_tiled_fwd_cpu", attention_fwd },
    { "mt_attention_tiled_bwd_cpu", attention_bwd },
    { "mt_attention_fwd_cuda", attention_fwd_cuda },
    { "mt_attention_bwd_cuda", attention_bwd_cuda },
    { NULL, NULL },
};
