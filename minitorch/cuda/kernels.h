/* kernels.h -- the given CUDA code: the driver of the device, and the kernels of the table that are not written in a
 * lab.
 *
 * Each has the contract of the CPU kernel of the same name (ops/kernels.h, ops/kernels_nd.h, ops/kernels_gpt2.h,
 * optim/updates.h, optim/clip.h), with pointers to device memory and two differences. Sums are added in f32 in
 * a tree of threads, in an order determined by the sizes alone, and have an error of at most n roundings. Where the
 * CPU's kernel aborts because of a value (a label out of range), these print the same message and trap: the next call
 * that waits for the device aborts. The kernels of labs 06 and 07 are in ops/kernels_cuda.h, optim/updates_cuda.h and
 * ops/matmul_cuda.h. */
#pragma once

#include "core/device.h"
#include "ops/kernels_gpt2.h"
#include "ops/kernels_math.h"
#include "ops/kernels_nd.h"
#include "ops/kernels_rows.h"
#include "ops/kernels_16bit.h"
#include "optim/scaler.h"
#include "optim/updates.h"

MT_C_BEGIN

/* ---- the driver (core/device.h): device.cu, and strided.cu for mt_cuda_pack --------------------------- */
mt_status mt_cuda_open(void);
void *mt_cuda_alloc(int64_t bytes);
void mt_cuda_free(void *data, int64_t bytes);
void mt_cuda_copy(void *to, mt_device to_device, const void *from, mt_device from_device, int64_t bytes);
void mt_cuda_clear(void *data, int64_t bytes);
void mt_cuda_pack(void *out, const void *storage, const mt_view *view, int64_t size);

/* ---- unary.cu -------------------------------------------------------------------------------------------- */
mt_unary_fwd_fn mt_exp_fwd_cuda, mt_log_fwd_cuda, mt_sqrt_fwd_cuda, mt_sigmoid_fwd_cuda, mt_tanh_fwd_cuda,
    mt_gelu_tanh_fwd_cuda;
mt_unary_bwd_fn mt_exp_bwd_cuda, mt_log_bwd_cuda, mt_sqrt_bwd_cuda, mt_sigmoid_bwd_cuda, mt_tanh_bwd_cuda,
    mt_gelu_tanh_bwd_cuda;
__typeof__(mt_scale_fwd_cpu) mt_scale_fwd_cuda;
__typeof__(mt_scale_bwd_cpu) mt_scale_bwd_cuda;
__typeof__(mt_residual_fwd_cpu) mt_residual_fwd_cuda; /* table.c */

/* ---- strided.cu: copies and sums through views, gradients of broadcast arithmetic ---------------------------- */
__typeof__(mt_add_strided_cpu) mt_add_strided_cuda;
__typeof__(mt_copy_to_strided_cpu) mt_copy_to_strided_cuda;
mt_binary_bwd_fn mt_add_bwd_cuda, mt_sub_bwd_cuda, mt_mul_bwd_cuda, mt_div_bwd_cuda;

/* ---- middle.cu ------------------------------------------------------------------------------------------------ */
__typeof__(mt_sum_middle_cpu) mt_sum_middle_cuda;
__typeof__(mt_mean_fwd_cpu) mt_mean_fwd_cuda;
__typeof__(mt_mean_bwd_cpu) mt_mean_bwd_cuda;
__typeof__(mt_max_middle_fwd_cpu) mt_max_middle_fwd_cuda;
__typeof__(mt_max_middle_bwd_cpu) mt_max_middle_bwd_cuda;

/* ---- loss.cu, dropout.cu ---------------------------------------------------------------------------------------- */
__typeof__(mt_cross_entropy_fwd_cpu) mt_cross_entropy_fwd_cuda;
__typeof__(mt_cross_entropy_bwd_cpu) mt_cross_entropy_bwd_cuda;
__typeof__(mt_dropout_fwd_cpu) mt_dropout_fwd_cuda; /* the same mask as on the CPU, from the same rng */
__typeof__(mt_dropout_bwd_cpu) mt_dropout_bwd_cuda;

/* ---- embedding.cu, cache.cu, classifier.cu --------------------------------------------------------- */
__typeof__(mt_embedding_fwd_cpu) mt_embedding_fwd_cuda;
__typeof__(mt_embedding_bwd_cpu) mt_embedding_bwd_cuda; /* rows of one token are added by atomics, in no fixed order */
__typeof__(mt_attention_cached_cpu) mt_attention_cached_cuda;
__typeof__(mt_classifier_fwd_cpu) mt_classifier_fwd_cuda;
__typeof__(mt_classifier_bwd_cpu) mt_classifier_bwd_cuda;

/* ---- precision.cu ------------------------------------------------------------------------------------------- */

__typeof__(mt_convert_cpu) mt_convert_cuda;
__typeof__(mt_matmul16_cpu) mt_matmul16_cuda;

/* ---- updates.cu, clip.cu ----------------------------------------------------------------------------------------- */
mt_update_fn mt_momentum_update_cuda, mt_nesterov_update_cuda, mt_rmsprop_update_cuda, mt_lion_update_cuda,
    mt_adafactor_update_cuda;
__typeof__(mt_clip_grad_norm_cpu) mt_clip_grad_norm_cuda;
__typeof__(mt_unscale_grads_cpu) mt_unscale_grads_cuda;

MT_C_END
