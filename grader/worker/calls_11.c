/* calls_11.c -- the functions of lab 11 that the worker calls. For those of .cu units arrays are on the device. */
#include "emulator/include/cuda_runtime_api.h"
#include "cuda/kernels_cuda.h"
#include "fused/kernels_cuda.h"
#include "fused/kernels_fused.h"
#include "models/kernels_gpt2.h"
#include "optim/updates_cuda.h"
#include "worker/call.h"

#include <string.h>

static void bf16_pays(const mg_value *v) /* answers [n]; C [n], H [n]; all on the host */
{
    for (int64_t i = 0; i < ARRAY(answers)->count; i++)
        I64(answers)[i] = mt_attention_bf16_pays_cuda(I64(C)[i], I64(H)[i]);
}

enum { MOST_TENSORS = 1100 };

/* The function itself, not on_device.c's, which refuses copies to the host. */
cudaError_t __real_cudaMemcpy(void *to, const void *from, size_t size, cudaMemcpyKind kind);

static void *sent(const void *from, size_t bytes)
{
    void *there = NULL;
    MT_CHECK(cudaMalloc(&there, bytes) == cudaSuccess, "no memory on the device");
    __real_cudaMemcpy(there, from, bytes, cudaMemcpyHostToDevice);
    return there;
}

static void received(void *to, const void *from, size_t bytes)
{
    __real_cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost);
}

/* Step 0: no gradient. */
static void adamw_multi(const mg_value *v)
{
    static mt_update_segment segment[MOST_TENSORS];
    static mt_update_factors factors[MOST_TENSORS];
    static mt_update u[MOST_TENSORS];
    static mt_hyper hyper[MOST_TENSORS];
    int64_t begin[MOST_TENSORS], n[MOST_TENSORS], step[MOST_TENSORS], count = N(tensors);
    float lr[MOST_TENSORS], decay[MOST_TENSORS], *param = F(param), *grad = F(grad), *state[] = { F(m), F(v) };
    const mt_hyper all = { .beta1 = D(beta1), .beta2 = D(beta2), .eps = D(eps) };
    MT_CHECK(count >= 1 && count <= MOST_TENSORS, "a list of %d tensors", (int)count);
    received(begin, I64(begin of each tensor), (size_t)count * sizeof *begin);
    received(n, I64(elements of each), (size_t)count * sizeof *n);
    received(step, I64(step of each), (size_t)count * sizeof *step);
    received(lr, F(lr of each), (size_t)count * sizeof *lr);
    received(decay, F(weight decay of each), (size_t)count * sizeof *decay);
    for (int64_t k = 0; k < count; k++) {
        hyper[k] = all;
        hyper[k].lr = (double)lr[k];
        hyper[k].weight_decay = (double)decay[k];
        u[k] = (mt_update){ .param = param + begin[k],
                            .grad = step[k] ? grad + begin[k] : NULL,
                            .state = { state[0] + begin[k], state[1] + begin[k] },
                            .rows = n[k] % 2 ? 1 : 2,
                            .cols = n[k] / (n[k] % 2 ? 1 : 2),
                            .step = step[k],
                            .hyper = &hyper[k] };
    }
    memset(segment, 0xA5, sizeof segment); /* what the unit does not write is not a tensor */
    memset(factors, 0xA5, sizeof factors);
    int64_t chunks = mt_adamw_multi_list_cuda(segment, factors, u, count);
    void *there = sent(segment, (size_t)count * sizeof *segment), *how = sent(factors, (size_t)count * sizeof *factors);
    mt_adamw_multi_update_cuda(there, how, count, chunks, hyper);
    cudaFree(there);
    cudaFree(how);
}

// clang-format off
#define NORM      F(sum), F(out), F(mean), F(rstd), F(x), F(part), F(gamma), F(beta), N(N), N(C), S(eps)
#define HEADS     N(B), N(T), N(C), N(H)
#define BACKWARD  F(dqkv), F(dout), F(qkv), F(out), F(saved), HEADS
#define GELU      F(dx), F(dbias), F(dout), F(x), F(bias), N(N), N(C)
#define CALLS(CALL, RESULT)                                                                                     \
    CALL(mt_attention_tiled_fwd_cpu, F(out), F(saved), F(qkv), HEADS)                                           \
    CALL(mt_attention_packed_fwd_cpu, F(out), F(saved), F(qkv), HEADS)                                          \
    CALL(mt_attention_bf16_fwd_cpu, F(out), F(saved), BF16(qkv), HEADS)                                         \
    CALL(mt_attention_bf16_fwd_cuda, F(out), F(saved), BF16(qkv), HEADS)                                        \
    CALL(mt_attention_fwd_cuda, F(out), F(saved), F(qkv), HEADS)                                                \
    CALL(mt_attention_tiled_bwd_cpu, BACKWARD)                                                                  \
    CALL(mt_attention_packed_bwd_cpu, BACKWARD)                                                                 \
    CALL(mt_attention_bwd_cuda, BACKWARD)                                                                       \
    RESULT(mt_attention_tiled_saved_cpu, I64(numbers)[0], N(B), N(T), N(H))                                     \
    RESULT(mt_attention_packed_saved_cpu, I64(numbers)[0], N(B), N(T), N(H))                                    \
    CALL(mt_residual_norm_fwd_cpu, NORM)                                                                        \
    CALL(mt_residual_norm_fwd_cuda, NORM)                                                                       \
    CALL(mt_residual_norm_bwd_cpu, F(dx), F(dpart), F(dgamma), F(dbeta), F(dsum), F(dout), F(sum), F(gamma),    \
         F(mean), F(rstd), N(N), N(C))                                                                          \
    CALL(mt_residual_norm_rows_bwd_cuda, F(dx), F(dpart), F(dsum), F(dout), F(sum), F(gamma), F(mean), F(rstd), \
         N(N), N(C))                                                                                            \
    CALL(mt_bias_gelu_fwd_cpu, F(out), F(x), F(bias), N(N), N(C))                                               \
    CALL(mt_bias_gelu_fwd_cuda, F(out), F(x), F(bias), N(N), N(C))                                              \
    CALL(mt_bias_gelu_bwd_cpu, GELU)                                                                            \
    CALL(mt_bias_gelu_bwd_cuda, GELU)                                                                           \
    CALL(mt_classifier_chunked_fwd_cpu, F(loss), F(dx), F(dw), F(logits), F(x), F(w), I32(target), N(N), N(C),  \
         N(V), N(rows), S(share))
CALLS(MG_THUNK, MG_RESULT)
// clang-format on

#define MANY(call) { #call " of many rows", call##_, .grids_only = true },

static void list_of_one(const mg_value *v)
{
    static float number;
    const mt_hyper hyper = { .lr = 1, .beta1 = 0.5, .beta2 = 0.5, .eps = 1 };
    const mt_update u = { .param = &number,
                          .grad = &number,
                          .state = { &number, &number },
                          .rows = 1,
                          .cols = 1,
                          .step = N(step),
                          .hyper = &hyper };
    mt_update_segment segment;
    mt_update_factors factors;
    mt_adamw_multi_list_cuda(&segment, &factors, &u, 1);
}

static void unwritten(const mg_value *v) /* bytes [1] of a list of two tensors, one without gradient; on the host */
{
    static float number;
    const mt_hyper hyper = { .lr = 1, .beta1 = 0.5, .beta2 = 0.5, .eps = 1 };
    const mt_update with = { &number, &number, { &number, &number }, NULL, 1, 1, 1, &hyper };
    const mt_update u[] = { { &number, NULL, { &number, &number }, NULL, 1, 1, 0, &hyper }, with };
    struct {
        mt_update_segment segment[2];
        mt_update_factors factors[2];
    } list[2];
    for (int i = 0; i < 2; i++) {
        memset(&list[i], i ? 0x5A : 0xA5, sizeof list[i]);
        mt_adamw_multi_list_cuda(list[i].segment, list[i].factors, u, 2);
    }
    I64(bytes)[0] = 0;
    for (size_t i = 0; i < sizeof list[0]; i++)
        I64(bytes)[0] += ((const char *)&list[0])[i] != ((const char *)&list[1])[i];
}

// clang-format off
const mg_function mg_calls_11[] = {
    CALLS(MG_ENTRY, MG_ENTRY)
    MANY(mt_residual_norm_fwd_cuda) MANY(mt_residual_norm_rows_bwd_cuda)
    MANY(mt_bias_gelu_fwd_cuda) MANY(mt_bias_gelu_bwd_cuda)
    { "attention in bf16 pays", bf16_pays },
    { "mt_adamw_multi_update_cuda", adamw_multi },
    { "list of AdamW on the device", list_of_one },
    { "list of two tensors, one without gradient", unwritten },
    { NULL, NULL },
};
