/* kernels.h -- the given CUDA code: the driver of the device, and the kernels of the table that are not written in a
 * lab.
 *
 * Each has the contract of the CPU kernel of the same name (kernels/kernels.h, optim/updates.h, optim/clip.h), with
 * pointers to device memory and two differences. Sums are added in f32 in a tree of threads, in an order determined by
 * the sizes alone, and have an error of at most n roundings. Where the CPU's kernel aborts because of a value (a label
 * out of range), these print the same message and trap: the next call that waits for the device aborts.
 * The kernels of labs 06 and 07 are in cuda/kernels_cuda.h, optim/updates_cuda.h and cuda/matmul_cuda.h. */
#pragma once

#include "core/device.h"
#include "kernels/kernels.h"
#include "optim/clip.h"
#include "optim/updates.h"

MT_C_BEGIN

/* ---- the driver (core/device.h): device.cu, and strided.cu for mt_cuda_pack --------------------------- */
mt_status mt_cuda_open(void);
void *mt_cuda_alloc(int64_t bytes);
void mt_cuda_free(void *data, int64_t bytes);
void mt_cuda_copy(void *to, mt_device to_device, const void *from, mt_device from_device, int64_t bytes);
void mt_cuda_clear(void *data, int64_t bytes);
void mt_cuda_pack(void *out, const void *storage, const mt_view *view, int64_t size);

/* ---- the table of kernels/kernels.h: unary.cu, strided.cu, middle.cu, loss.cu, dropout.cu, table.c, and lab 06.
 * Dropout has the same mask as on the CPU, from the same rng. */
MT_KERNELS(MT_KERNEL_DECLARE)

/* ---- updates.cu, clip.cu ----------------------------------------------------------------------------------------- */
mt_update_fn mt_momentum_update_cuda, mt_nesterov_update_cuda, mt_rmsprop_update_cuda, mt_lion_update_cuda,
    mt_adafactor_update_cuda;
__typeof__(mt_clip_grad_norm_cpu) mt_clip_grad_norm_cuda;

MT_C_END
