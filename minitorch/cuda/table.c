/* table.c -- what a program with CUDA puts in place of the weak NULLs of core/device.c, ops/tables.c and optim/rules.c: the
 * driver, the kernels, the update rules. Only programs that are linked with this file know the device. */
#include "cuda/kernels.h"
#include "ops/kernels_cuda.h"
#include "ops/matmul_cuda.h"
#include "ops/tables.h"
#include "optim/rules.h"
#include "optim/updates_cuda.h"

static const mt_device_driver driver = {
    .open = mt_cuda_open,
    .alloc = mt_cuda_alloc,
    .free = mt_cuda_free,
    .copy = mt_cuda_copy,
    .clear = mt_cuda_clear,
    .pack = mt_cuda_pack,
};
const mt_device_driver *mt_cuda_driver = &driver;

static const mt_kernel_table kernels = {
    .matmul = mt_matmul_cublas,
    .linear_fwd = mt_linear_fwd_cuda,
    .linear_bwd = mt_linear_bwd_cuda,
    .relu_fwd = mt_relu_fwd_cuda,
    .relu_bwd = mt_relu_bwd_cuda,
    .sigmoid_fwd = mt_sigmoid_fwd_cuda,
    .sigmoid_bwd = mt_sigmoid_bwd_cuda,
    .tanh_fwd = mt_tanh_fwd_cuda,
    .tanh_bwd = mt_tanh_bwd_cuda,
    .gelu_fwd = mt_gelu_fwd_cuda,
    .gelu_bwd = mt_gelu_bwd_cuda,
    .gelu_tanh_fwd = mt_gelu_tanh_fwd_cuda,
    .gelu_tanh_bwd = mt_gelu_tanh_bwd_cuda,
    .softmax_fwd = mt_softmax_fwd_cuda,
    .softmax_bwd = mt_softmax_bwd_cuda,
    .cross_entropy_fwd = mt_cross_entropy_fwd_cuda,
    .cross_entropy_bwd = mt_cross_entropy_bwd_cuda,
    .layernorm_fwd = mt_layernorm_fwd_cuda,
    .layernorm_bwd = mt_layernorm_bwd_cuda,
    .embedding_fwd = mt_embedding_fwd_cuda,
    .embedding_bwd = mt_embedding_bwd_cuda,
    .attention_saved = mt_attention_saved_cuda,
    .attention_fwd = mt_attention_fwd_cuda,
    .attention_bwd = mt_attention_bwd_cuda,
    .attention_cached = mt_attention_cached_cuda,
    .classifier_fwd = mt_classifier_fwd_cuda,
    .classifier_bwd = mt_classifier_bwd_cuda,
    .add_fwd = mt_add_fwd_cuda,
    .add_bwd = mt_add_bwd_cuda,
    .sub_fwd = mt_sub_fwd_cuda,
    .sub_bwd = mt_sub_bwd_cuda,
    .mul_fwd = mt_mul_fwd_cuda,
    .mul_bwd = mt_mul_bwd_cuda,
    .div_fwd = mt_div_fwd_cuda,
    .div_bwd = mt_div_bwd_cuda,
    .exp_fwd = mt_exp_fwd_cuda,
    .exp_bwd = mt_exp_bwd_cuda,
    .log_fwd = mt_log_fwd_cuda,
    .log_bwd = mt_log_bwd_cuda,
    .sqrt_fwd = mt_sqrt_fwd_cuda,
    .sqrt_bwd = mt_sqrt_bwd_cuda,
    .scale_fwd = mt_scale_fwd_cuda,
    .scale_bwd = mt_scale_bwd_cuda,
    .add_strided = mt_add_strided_cuda,
    .copy_to_strided = mt_copy_to_strided_cuda,
    .sum_middle = mt_sum_middle_cuda,
    .mean_fwd = mt_mean_fwd_cuda,
    .mean_bwd = mt_mean_bwd_cuda,
    .max_middle_fwd = mt_max_middle_fwd_cuda,
    .max_middle_bwd = mt_max_middle_bwd_cuda,
    .gather_rows_fwd = mt_gather_rows_fwd_cuda,
    .gather_rows_bwd = mt_gather_rows_bwd_cuda,
    .dropout_fwd = mt_dropout_fwd_cuda,
    .dropout_bwd = mt_dropout_bwd_cuda,
};
const mt_kernel_table *mt_kernels_cuda = &kernels;

static const mt_optim_kernels optim_kernels = {
    .update = { [MT_SGD] = mt_sgd_update_cuda,
                [MT_MOMENTUM] = mt_momentum_update_cuda,
                [MT_NESTEROV] = mt_nesterov_update_cuda,
                [MT_RMSPROP] = mt_rmsprop_update_cuda,
                [MT_ADAM] = mt_adam_update_cuda,
                [MT_ADAMW] = mt_adamw_update_cuda,
                [MT_LION] = mt_lion_update_cuda,
                [MT_ADAFACTOR] = mt_adafactor_update_cuda },
    .clip_grad_norm = mt_clip_grad_norm_cuda,
};
const mt_optim_kernels *mt_optim_kernels_cuda = &optim_kernels;

void mt_matmul_cuda(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                    mt_trans trans_b, mt_write write)
{
    const mt_matmul_dims dims = { .M = M,
                                  .N = N,
                                  .K = K,
                                  .lda = trans_a ? M : K,
                                  .ldb = trans_b ? K : N,
                                  .ldc = N,
                                  .trans_a = trans_a,
                                  .trans_b = trans_b,
                                  .write = write };
    mt_kernels(MT_CUDA)->matmul(c, a, b, &dims);
}
