/* amp.c -- see amp.h. */
#include "amp/amp.h"

#include <stdlib.h>

#include "amp/master.h"
#include "amp/state8.h"
#include "autograd/tape.h"
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"
#include "optim/rules.h"
#include "core/span.h"

struct mt_amp {
    mt_optim *optim; /* borrowed */
    mt_dtype dtype;
    mt_scaler scaler;  /* f16 only */
    bool scaled;       /* the gradients are those of the loss times the scale */
    bool finite;       /* false: they were not finite when they were unscaled */
    mt_state8 *state8; /* moments of 8 bits; NULL: the optimizer's own */
};

/* ---- around forward and backward --------------------------------------------------------------------- */

const mt_scaler *mt_amp_scaler(const mt_amp *amp)
{
    return amp && amp->dtype == MT_F16 ? &amp->scaler : NULL;
}

double mt_amp_scale(const mt_amp *amp)
{
    return mt_amp_scaler(amp) ? mt_scaler_scale(&amp->scaler) : 1;
}

double mt_amp_begin(mt_amp *amp)
{
    if (!amp)
        return 1;
    mt_autocast_begin(amp->dtype);
    amp->scaled = mt_amp_scaler(amp) != NULL;
    amp->finite = true;
    return mt_amp_scale(amp);
}

void mt_amp_end(mt_amp *amp)
{
    if (amp)
        mt_autocast_end();
}

static double begin(void *amp)
{
    return mt_amp_begin(amp);
}

static void end(void *amp)
{
    mt_amp_end(amp);
}

mt_surround mt_amp_around(mt_amp *amp)
{
    return amp ? (mt_surround){ begin, end, amp } : (mt_surround){ 0 };
}

/* ---- the optimizer's hooks ---------------------------------------------------------------------------- */

/* Clips; gradients that are scaled are unscaled in the same pass, and the scaler is updated. */
static double clip(void *user, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    mt_amp *amp = user;
    mt_device device = amp->optim->count > 0 ? mt_device_of(amp->optim->param->tensor) : MT_CPU;
    if (!amp->scaled)
        return mt_clip_grad_norm_on(device, arrays, count, max_norm);
    double norm = mt_16bit_kernels(device)->unscale_grads(arrays, count, mt_amp_scale(amp), max_norm);
    amp->scaled = false;
    MT_CHECK(isfinite(norm) || amp->scaler.exponent > -MT_SCALER_LIMIT,
             "amp: the gradients of the loss times 2^-%d are not finite: no scale helps. The loss or a gradient is "
             "infinite or NaN in f32: the debug flavour knows where (mt_finite_culprit)",
             MT_SCALER_LIMIT);
    amp->finite = mt_scaler_update(&amp->scaler, isfinite(norm));
    return norm;
}

/* An update that writes the parameter's 16-bit copy too. */
static void update_copy(mt_tensor *param, const mt_update *u)
{
    mt_tensor *copy = param->cast;
    mt_adamw_master_update_cpu(u, mt_data(copy), copy->dtype);
    mt_written(param);
    mt_written(copy);
    mt_tensor_keep_cast(param, copy);
    mt_count_work(0, 2 * mt_numel(copy));
}

static bool apply(void *user, mt_update *updates)
{
    mt_amp *amp = user;
    if (amp->scaled)
        mt_optim_clip_grad_norm(amp->optim, INFINITY);
    if (!amp->finite)
        return false;
    if (amp->state8)
        mt_state8_apply(amp->state8, updates); /* which are done then; copies are converted by the next product */
    for (int64_t i = 0; i < amp->optim->count; i++) {
        mt_tensor *param = amp->optim->param[i].tensor;
        if (amp->optim->param[i].rule != MT_ADAMW || !updates[i].grad || !param->cast || mt_device_of(param) != MT_CPU)
            continue;
        update_copy(param, &updates[i]);
        updates[i].grad = NULL; /* this one is done */
    }
    mt_optim_apply(amp->optim, updates);
    return true;
}

/* ---- life --------------------------------------------------------------------------------------------- */

static mt_amp *amp_new(mt_optim *optim, mt_dtype dtype)
{
    mt_amp *amp = mt_calloc(1, sizeof *amp);
    *amp = (mt_amp){ .optim = optim, .dtype = dtype, .scaler = mt_scaler_new(), .finite = true };
    optim->hooks = (mt_optim_hooks){ clip, apply, amp };
    return amp;
}

mt_amp *mt_amp_new(mt_optim *optim, mt_dtype dtype)
{
    return dtype == MT_F32 ? NULL : amp_new(optim, dtype);
}

mt_amp *mt_amp_new8(mt_optim *optim, mt_dtype dtype)
{
    mt_amp *amp = amp_new(optim, dtype);
    amp->state8 = mt_state8_new(optim);
    return amp;
}

void mt_amp_free(mt_amp *amp)
{
    if (!amp)
        return;
    amp->optim->hooks = (mt_optim_hooks){ 0 };
    mt_state8_free(amp->state8);
    free(amp);
}

void mt_amp_state(mt_state *state, mt_amp *amp)
{
    if (amp && amp->state8)
        mt_state8_state(state, amp->state8);
    if (!mt_amp_scaler(amp))
        return;
    mt_state_integer(state, &amp->scaler.exponent, "scaler/exponent");
    mt_state_integer(state, &amp->scaler.good, "scaler/good");
    mt_state_integer(state, &amp->scaler.skipped, "scaler/skipped");
    mt_state_integer(state, &amp->scaler.in_a_row, "scaler/in_a_row");
}
