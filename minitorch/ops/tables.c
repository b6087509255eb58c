/* tables.c -- the kernel tables of each device; see tables.h. A new kernel is a new line here. */
#include "ops/tables.h"

/* Functions of one rung of the attention ladder; the Makefile says which: plain or tiled. */
#ifndef MT_ATTENTION
#define MT_ATTENTION tiled
#endif
#define ATTENTION(rung, part)  ATTENTION_(rung, part)
#define ATTENTION_(rung, part) mt_attention_##rung##_##part##_cpu

const mt_kernel_table mt_kernels_cpu = {
    .matmul = mt_matmul_parallel_cpu,
    .linear_fwd = mt_linear_fwd_cpu,
    .linear_bwd = mt_linear_bwd_cpu,
    .relu_fwd = mt_relu_fwd_cpu,
    .relu_bwd = mt_relu_bwd_cpu,
    .sigmoid_fwd = mt_sigmoid_fwd_cpu,
    .sigmoid_bwd = mt_sigmoid_bwd_cpu,
    .tanh_fwd = mt_tanh_fwd_cpu,
    .tanh_bwd = mt_tanh_bwd_cpu,
    .gelu_fwd = mt_gelu_fwd_cpu,
    .gelu_bwd = mt_gelu_bwd_cpu,
    .gelu_tanh_fwd = mt_gelu_tanh_fwd_cpu,
    .gelu_tanh_bwd = mt_gelu_tanh_bwd_cpu,
    .softmax_fwd = mt_softmax_fwd_cpu,
    .softmax_bwd = mt_softmax_bwd_cpu,
    .cross_entropy_fwd = mt_cross_entropy_fwd_cpu,
    .cross_entropy_bwd = mt_cross_entropy_bwd_cpu,
    .layernorm_fwd = mt_layernorm_fwd_cpu,
    .layernorm_bwd = mt_layernorm_bwd_cpu,
    .embedding_fwd = mt_embedding_fwd_cpu,
    .embedding_bwd = mt_embedding_bwd_cpu,
    .attention_saved = ATTENTION(MT_ATTENTION, saved),
    .attention_fwd = ATTENTION(MT_ATTENTION, fwd),
    .attention_bwd = ATTENTION(MT_ATTENTION, bwd),
    .attention_cached = mt_attention_cached_cpu,
    .classifier_fwd = mt_classifier_fwd_cpu,
    .classifier_bwd = mt_classifier_bwd_cpu,
    .add_fwd = mt_add_fwd_cpu,
    .add_bwd = mt_add_bwd_cpu,
    .sub_fwd = mt_sub_fwd_cpu,
    .sub_bwd = mt_sub_bwd_cpu,
    .mul_fwd = mt_mul_fwd_cpu,
    .mul_bwd = mt_mul_bwd_cpu,
    .div_fwd = mt_div_fwd_cpu,
    .div_bwd = mt_div_bwd_cpu,
    .exp_fwd = mt_exp_fwd_cpu,
    .exp_bwd = mt_exp_bwd_cpu,
    .log_fwd = mt_log_fwd_cpu,
    .log_bwd = mt_log_bwd_cpu,
    .sqrt_fwd = mt_sqrt_fwd_cpu,
    .sqrt_bwd = mt_sqrt_bwd_cpu,
    .scale_fwd = mt_scale_fwd_cpu,
    .scale_bwd = mt_scale_bwd_cpu,
    .add_strided = mt_add_strided_cpu,
    .copy_to_strided = mt_copy_to_strided_cpu,
    .sum_middle = mt_sum_middle_cpu,
    .mean_fwd = mt_mean_fwd_cpu,
    .mean_bwd = mt_mean_bwd_cpu,
    .max_middle_fwd = mt_max_middle_fwd_cpu,
    .max_middle_bwd = mt_max_middle_bwd_cpu,
    .gather_rows_fwd = mt_gather_rows_fwd_cpu,
    .gather_rows_bwd = mt_gather_rows_bwd_cpu,
    .dropout_fwd = mt_dropout_fwd_cpu,
    .dropout_bwd = mt_dropout_bwd_cpu,
};

/* Weak: a program that is linked with cuda/table.c has its own in its place. */
__attribute__((weak)) const mt_kernel_table *mt_kernels_cuda = NULL;

static const mt_kernel_table *replaced[MT_DEVICE_COUNT];

const mt_kernel_table *mt_kernels(mt_device device)
{
    const mt_kernel_table *own = device == MT_CPU ? &mt_kernels_cpu : mt_kernels_cuda;
    const mt_kernel_table *used = replaced[device] ? replaced[device] : own;
    MT_CHECK(used, "this program has no kernels for %s: use the cpu", mt_device_name(device));
    return used;
}

void mt_kernels_set(mt_device device, const mt_kernel_table *table)
{
    replaced[device] = table;
}

void mt_matmul_cpu(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                   mt_trans trans_b, mt_write write)
{
    const mt_matmul_dims dims = {
        .M = M,
        .N = N,
        .K = K,
        .lda = trans_a ? M : K,
        .ldb = trans_b ? K : N,
        .ldc = N,
        .trans_a = trans_a,
        .trans_b = trans_b,
        .write = write,
    };
    mt_kernels(MT_CPU)->matmul(c, a, b, &dims);
}
