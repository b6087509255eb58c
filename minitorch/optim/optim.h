/* optim.h -- an optimizer over named parameters: it holds their state and updates them by their gradients.
 *
 *     mt_optim *optim = mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW));
 *     mt_optim_add(optim, "0.weight", weight);            // group 0: as the hyper-parameters say
 *     mt_optim_group(optim, 1, 0);                        // from here on: lr times 1, no weight decay
 *     mt_optim_add(optim, "0.bias", bias);
 *     ...
 *     mt_optim_set_lr(optim, mt_schedule_at(&schedule, step));
 *     mt_optim_zero_grad(optim);
 *     mt_backward(loss);
 *     double norm = mt_optim_clip_grad_norm(optim, 1.0);
 *     if (isfinite(norm))
 *         mt_optim_step(optim);
 *
 * The optimizer retains its parameters. */
#pragma once

#include "core/state.h"
#include "optim/scaler.h"
#include "optim/updates.h"

MT_C_BEGIN

typedef struct mt_optim mt_optim; /* opaque */

mt_optim *mt_optim_new(mt_update_kind kind, mt_hyper hyper);
void mt_optim_free(mt_optim *optim); /* NULL is allowed */

/* mt_optim_group -- parameters added from now on learn with lr * lr_scale and decay with weight_decay. */
void mt_optim_group(mt_optim *optim, double lr_scale, double weight_decay);

/* mt_optim_add -- one more parameter, with its state at zero. The name is its path in the model, copied. For Adafactor
 * the rows are the first dimension; a tensor of rank 0 or 1 is one row.
 * Aborts: not f32, dense and on one device with the others; a name or a tensor that is there already; a name longer
 * than 95. */
void mt_optim_add(mt_optim *optim, const char *name, mt_tensor *param);

/* mt_optim_add_all -- add every parameter of a list, as mt_module_params makes it, and free the list. Those of rank 2
 * and more decay as the hyper-parameters say, vectors (biases, gains) do not. It ends the group of mt_optim_group. */
void mt_optim_add_all(mt_optim *optim, mt_state params);

/* mt_optim_flat -- from now on the gradients are views of one flat block, in order of addition, each at a multiple of
 * 64 bytes: what all-reduce and sharding work on. zero_grad then keeps the memory, and the next backward clears and
 * reuses it. Without this call each gradient has its own memory, which zero_grad frees: less at the peak of a step with
 * one micro-batch.
 *   returns f32 [n], lent, on the parameters' device; zeros between gradients. NULL: there are no parameters.
 * Aborts: a parameter of another optimizer with a flat block. No parameter can be added afterwards. */
mt_tensor *mt_optim_flat(mt_optim *optim);

/* mt_optim_shard -- from now on this optimizer has and updates only elements from .. to - 1 of parameter `index`, in
 * order of addition (dist/zero.h): its state is that of these elements, all zeros, and their gradient is grad
 * [to - from], borrowed, whatever param->grad is. values [to - from], borrowed: what is updated; NULL: these elements
 * of the parameter itself. from = to: it only counts steps.   Aborts: Adafactor; a scaler. */
void mt_optim_shard(mt_optim *optim, int64_t index, int64_t from, int64_t to, float *values, const float *grad);

/* mt_optim_zero_grad -- release every gradient (param->grad becomes NULL); the next backward starts new sums. */
void mt_optim_zero_grad(mt_optim *optim);

/* mt_optim_clip_grad_norm -- mt_clip_grad_norm_cpu (optim/clip.h) over every gradient there is; returns the norm
 * before. When that is not finite nothing was changed: skip the step.   Aborts: after mt_optim_shard. */
double mt_optim_clip_grad_norm(mt_optim *optim, double max_norm);

/* mt_optim_step -- update every parameter that has a gradient. One without is unchanged, and so is its state: steps are
 * counted for each parameter, so that the bias correction fits its averages. The 16-bit copy that a parameter keeps
 * (ops/autocast.h) is current afterwards with AdamW on the CPU; else the next product converts it.
 * Aborts: a gradient that is not f32, dense, on the device and of the shape of its parameter. */
void mt_optim_step(mt_optim *optim);

/* mt_optim_set_scaler -- gradients are those of the loss times mt_optim_loss_scale. mt_optim_clip_grad_norm, or
 * mt_optim_step when that was not called, divides them by the scale, once between two mt_optim_zero_grad, and updates
 * the scaler; mt_optim_step then does nothing when they were not finite.   Both abort when they are not finite and the
 * scale is at its lower limit, which 141 steps that are skipped in a row reach.
 * mt_optim_scaler -- the scaler, lent; NULL: none was set. */
void mt_optim_set_scaler(mt_optim *optim, mt_scaler scaler);
const mt_scaler *mt_optim_scaler(const mt_optim *optim);
double mt_optim_loss_scale(const mt_optim *optim); /* 1 without a scaler */

void mt_optim_set_lr(mt_optim *optim, double lr); /* before the groups' factors */
double mt_optim_lr(const mt_optim *optim);

/* mt_optim_state -- append what later steps depend on besides parameters and learning rate: for each parameter
 * "0.weight/exp_avg" and so on (f32, on its device) and the integer "0.weight/step"; and the integers of the scaler.
 * Valid until the next mt_optim_add. */
void mt_optim_state(mt_state *state, mt_optim *optim);

MT_C_END
