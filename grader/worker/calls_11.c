/* calls_11.c -- the functions of lab 11 that the worker calls. For those of .cu units arrays are on the device. */
#include "emulator/include/cuda_runtime_api.h"
#include "cuda/kernels_cuda.h"
#include "fused/kernels_cuda.h"
#include "fused/kernels_fused.h"
#include "models/kernels_gpt2.h"
#include "optim/updates_cuda.h"
#include "worker/aborts.h"
#include "worker/call.h"
#include "worker/decimal.h"

#include <string.h>

static void attention_fwd(const mg_value *v) /* out, saved; qkv; B, T, C, H */
{
    mt_attention_tiled_fwd_cpu(F(0), F(1), F(2), N(3), N(4), N(5), N(6));
}

static void attention_bwd(const mg_value *v) /* dqkv, saved; dout, qkv, out; B, T, C, H */
{
    mt_attention_tiled_bwd_cpu(F(0), F(2), F(3), F(4), F(1), N(5), N(6), N(7), N(8));
}

static void packed_fwd(const mg_value *v) /* as attention_fwd */
{
    mt_attention_packed_fwd_cpu(F(0), F(1), F(2), N(3), N(4), N(5), N(6));
}

static void packed_bwd(const mg_value *v) /* as attention_bwd */
{
    mt_attention_packed_bwd_cpu(F(0), F(2), F(3), F(4), F(1), N(5), N(6), N(7), N(8));
}

static void bf16_fwd(const mg_value *v) /* as attention_fwd, but qkv is bf16 */
{
    mt_attention_bf16_fwd_cpu(F(0), F(1), v[2].ptr, N(3), N(4), N(5), N(6));
}

static void bf16_fwd_cuda(const mg_value *v) /* as bf16_fwd */
{
    mt_attention_bf16_fwd_cuda(F(0), F(1), v[2].ptr, N(3), N(4), N(5), N(6));
}

static void attention_fwd_cuda(const mg_value *v) /* as attention_fwd */
{
    mt_attention_fwd_cuda(F(0), F(1), F(2), N(3), N(4), N(5), N(6));
}

static void attention_bwd_cuda(const mg_value *v) /* as attention_bwd */
{
    mt_attention_bwd_cuda(F(0), F(2), F(3), F(4), F(1), N(5), N(6), N(7), N(8));
}

static void tiled_saved(const mg_value *v) /* numbers [1]; B, T, H */
{
    v[0].i64s[0] = mt_attention_tiled_saved_cpu(N(1), N(2), N(3));
}

static void packed_saved(const mg_value *v) /* as tiled_saved */
{
    v[0].i64s[0] = mt_attention_packed_saved_cpu(N(1), N(2), N(3));
}

static void bf16_pays(const mg_value *v) /* answers [n]; C [n], H [n]; all on the host */
{
    for (int64_t i = 0; i < v[0].count; i++)
        v[0].i64s[i] = mt_attention_bf16_pays_cuda(v[1].i64s[i], v[2].i64s[i]);
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

/* param, m, v; grad; begin, n, step of each tensor; lr, decay of each; count; betas with six decimals, eps. Step 0: no
 * gradient. */
static void adamw_multi(const mg_value *v)
{
    static mt_update_segment segment[MOST_TENSORS];
    static mt_update_factors factors[MOST_TENSORS];
    static mt_update u[MOST_TENSORS];
    static mt_hyper hyper[MOST_TENSORS];
    int64_t whole[3][MOST_TENSORS], count = N(9);
    float number[2][MOST_TENSORS];
    MT_CHECK(count >= 1 && count <= MOST_TENSORS, "a list of %d tensors", (int)count);
    for (int i = 0; i < 3; i++)
        __real_cudaMemcpy(whole[i], v[4 + i].ptr, (size_t)count * sizeof(int64_t), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 2; i++)
        __real_cudaMemcpy(number[i], v[7 + i].ptr, (size_t)count * sizeof(float), cudaMemcpyDeviceToHost);
    for (int64_t k = 0; k < count; k++) {
        int64_t at = whole[0][k];
        hyper[k] = (mt_hyper){ .lr = number[0][k],
                               .weight_decay = number[1][k],
                               .beta1 = mg_decimal(S(10)),
                               .beta2 = mg_decimal(S(11)),
                               .eps = S(12) };
        u[k] = (mt_update){ .param = F(0) + at,
                            .grad = whole[2][k] ? F(3) + at : NULL,
                            .state = { F(1) + at, F(2) + at },
                            .rows = whole[1][k] % 2 ? 1 : 2,
                            .cols = whole[1][k] / (whole[1][k] % 2 ? 1 : 2),
                            .step = whole[2][k],
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

#define FORWARD(on, CALL, IN_PLACE)                                                                    \
    CALL(mt_residual_norm_fwd_##on, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), N(8), N(9), S(10)) \
    IN_PLACE(mt_residual_norm_fwd_##on, F(0), F(1), F(2), F(3), F(0), F(4), F(5), F(6), N(7), N(8), S(9))
#define CALLS(CALL, IN_PLACE)                                                                                \
    FORWARD(cpu, CALL, IN_PLACE)                                                                             \
    FORWARD(cuda, CALL, IN_PLACE)                                                                            \
    CALL(mt_residual_norm_bwd_cpu, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), F(8), F(9), N(10), N(11)) \
    CALL(mt_residual_norm_rows_bwd_cuda, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), N(8), N(9))         \
    CALL(mt_bias_gelu_fwd_cpu, F(0), F(1), F(2), N(3), N(4))                                                 \
    CALL(mt_bias_gelu_bwd_cpu, F(0), F(1), F(2), F(3), F(4), N(5), N(6))                                     \
    CALL(mt_bias_gelu_fwd_cuda, F(0), F(1), F(2), N(3), N(4))                                                \
    CALL(mt_bias_gelu_bwd_cuda, F(0), F(1), F(2), F(3), F(4), N(5), N(6))                                    \
    CALL(mt_classifier_chunked_fwd_cpu, F(0), F(1), F(2), F(3), F(4), F(5), v[6].i32, N(7), N(8), N(9), N(10), S(11))
CALLS(MG_THUNK, MG_THUNK_IN_PLACE)

/* Of sizes that only the grid is tested with. */
#define MANY(call) { #call " of many rows", call##_ },

static void chunked_aborts(const mg_value *v) /* as mt_classifier_chunked_fwd_cpu, then aborted [1] */
{
    v[12].i64s[0] = mg_aborts(mt_classifier_chunked_fwd_cpu_, v);
}

#define ABORTS(call, at) /* as the call, then aborted [1] */ \
    static void call##_aborts(const mg_value *v)             \
    {                                                        \
        v[at].i64s[0] = mg_aborts(call, v);                  \
    }
ABORTS(attention_fwd, 7)
ABORTS(packed_fwd, 7)
ABORTS(bf16_fwd, 7)
ABORTS(mt_residual_norm_fwd_cpu_, 11)

static float *moments; /* on the device */

static void norm_without_columns(const mg_value *v)
{
    (void)v;
    mt_residual_norm_fwd_cuda(NULL, NULL, moments, moments + 1, NULL, NULL, NULL, NULL, 1, 0, 1);
}

static void device_norm_aborts(const mg_value *v) /* aborted [1], on the host, as for the next */
{
    static const float nothing[2];
    moments = sent(nothing, sizeof nothing);
    v[0].i64s[0] = mg_aborts(norm_without_columns, v);
    cudaFree(moments);
}

static void list_of_one(const mg_value *v) /* step */
{
    static float number;
    const mt_hyper hyper = { .lr = 1, .beta1 = 0.5, .beta2 = 0.5, .eps = 1 };
    const mt_update u = { .param = &number,
                          .grad = &number,
                          .state = { &number, &number },
                          .rows = 1,
                          .cols = 1,
                          .step = N(0),
                          .hyper = &hyper };
    mt_update_segment segment;
    mt_update_factors factors;
    mt_adamw_multi_list_cuda(&segment, &factors, &u, 1);
}
ABORTS(list_of_one, 1)

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
    v[0].i64s[0] = 0;
    for (size_t i = 0; i < sizeof list[0]; i++)
        v[0].i64s[0] += ((const char *)&list[0])[i] != ((const char *)&list[1])[i];
}

const mg_function mg_calls_11[] = {
    CALLS(MG_ENTRY, MG_ENTRY_IN_PLACE){ "mt_attention_tiled_fwd_cpu", attention_fwd },
    { "mt_attention_tiled_bwd_cpu", attention_bwd },
    MANY(mt_residual_norm_fwd_cuda) MANY(mt_residual_norm_rows_bwd_cuda) MANY(mt_bias_gelu_fwd_cuda)
        MANY(mt_bias_gelu_bwd_cuda){ "mt_attention_packed_fwd_cpu", packed_fwd },
    { "mt_attention_packed_bwd_cpu", packed_bwd },
    { "mt_attention_bf16_fwd_cpu", bf16_fwd },
    { "mt_attention_bf16_fwd_cuda", bf16_fwd_cuda },
    { "mt_attention_fwd_cuda", attention_fwd_cuda },
    { "mt_attention_bwd_cuda", attention_bwd_cuda },
    { "mt_attention_tiled_saved_cpu", tiled_saved },
    { "mt_attention_packed_saved_cpu", packed_saved },
    { "attention in bf16 pays", bf16_pays },
    { "mt_adamw_multi_update_cuda", adamw_multi },
    { "may abort: mt_classifier_chunked_fwd_cpu", chunked_aborts },
    { "may abort: mt_attention_tiled_fwd_cpu", attention_fwd_aborts },
    { "may abort: mt_attention_packed_fwd_cpu", packed_fwd_aborts },
    { "may abort: mt_attention_bf16_fwd_cpu", bf16_fwd_aborts },
    { "may abort: mt_residual_norm_fwd_cpu", mt_residual_norm_fwd_cpu__aborts },
    { "may abort: residual norm on the device, C = 0", device_norm_aborts },
    { "may abort: list of AdamW on the device", list_of_one_aborts },
    { "list of two tensors, one without gradient", unwritten },
    { NULL, NULL },
};
