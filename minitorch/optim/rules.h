/* rules.h -- the update kernels of each device, as ops/tables.h has the kernels of ops. */
#pragma once

#include "core/device.h"
#include "optim/scaler.h"
#include "optim/updates.h"

MT_C_BEGIN

typedef struct mt_optim_kernels {
    mt_update_fn *update[MT_UPDATE_KINDS];
    __typeof__(mt_clip_grad_norm_cpu) *clip_grad_norm;
    __typeof__(mt_unscale_grads_cpu) *unscale_grads;
} mt_optim_kernels;

/* mt_update_on, mt_clip_grad_norm_on, mt_unscale_grads_on -- a device's.   Abort: the device has no kernels. */
mt_update_fn *mt_update_on(mt_device device, mt_update_kind kind);
double mt_clip_grad_norm_on(mt_device device, const mt_grad_array *arrays, int64_t count, double max_norm);
double mt_unscale_grads_on(mt_device device, const mt_grad_array *arrays, int64_t count, double scale, double max_norm);

MT_C_END
