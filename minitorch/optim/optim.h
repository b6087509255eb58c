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
#include "optim/clip.h"
#include "optim/updates.h"

MT_C_BEGIN

enum { MT_OPTIM_NAME = 96 };

/* A parameter and what the optimizer has of it. */
typedef struct mt_optim_param {
    char name[MT_OPTIM_NAME];
    mt_update_kind rule;
    mt_tensor *tensor;                  /* retained */
    int64_t rows, cols;                 /* a vector is one row */
    double lr_scale, weight_decay;      /* of its group */
    mt_hyper hyper;                     /* of the latest step */
    mt_tensor *state[MT_UPDATE_STATES]; /* NULL where the rule has none */
    int64_t step;                       /* updates so far */
} mt_optim_param;

/* ---- extension point: two parts of a step that something around the optimizer may do; NULL: the optimizer does */
typedef struct mt_optim_hooks {
    /* clip -- mt_optim_clip_grad_norm of the gradients that there are. By itself: mt_clip_grad_norm_on (rules.h). */
    double (*clip)(void *user, const mt_grad_array *arrays, int64_t count, double max_norm);
    /* apply -- the updates of a step, one for each parameter in order; grad is NULL where a parameter has no gradient.
     * False: this step is left out, and not counted. By itself: mt_optim_apply, which it may call for all or some. */
    bool (*apply)(void *user, mt_update *updates);
    void *user;
} mt_optim_hooks;

typedef struct mt_optim {
    mt_update_kind kind;
    mt_hyper hyper;      /* weight_decay: of group 0 */
    mt_update_kind rule; /* of parameters that are added next, as the two below */
    double lr_scale, weight_decay;
    mt_optim_param *param; /* [count], in order of addition */
    int64_t count;
    double norm;                 /* of all gradients, as the latest mt_optim_clip_grad_norm returned it; 0: none yet */
    struct mt_update_list *list; /* what the device keeps for an update of all parameters in one launch */
    float *scratch;              /* [scratch_floats] what the rule of the largest parameter needs; NULL: nothing */
    int64_t scratch_floats;
    mt_optim_hooks hooks;
} mt_optim;

mt_optim *mt_optim_new(mt_update_kind kind, mt_hyper hyper);
void mt_optim_free(mt_optim *optim); /* NULL is allowed */

/* mt_optim_group -- parameters added from now on learn with lr * lr_scale and decay with weight_decay. */
void mt_optim_group(mt_optim *optim, double lr_scale, double weight_decay);

/* mt_optim_add -- one more parameter, with its state at zero. The name is its path in the model, copied. For Adafactor
 * and Muon the rows are the first dimension; a tensor of rank 0 or 1 is one row.
 * Aborts: not f32, dense and on one device with the others; a name or a tensor that is there already; a name longer
 * than 95. */
void mt_optim_add(mt_optim *optim, const char *name, mt_tensor *param);

/* mt_optim_add_all -- add every parameter of a list, as mt_module_params makes it, and free the list. Those of rank 2
 * and more decay as the hyper-parameters say, vectors (biases, gains) do not; each has the rule of mt_update_for. It
 * ends the group of mt_optim_group. */
void mt_optim_add_all(mt_optim *optim, mt_state params);

/* mt_optim_replace -- the parameter at `index` of the list is another tensor from now on, such as a part of it, with
 * its state at zero; name and group stay.   Aborts: no such parameter; as mt_optim_add. */
void mt_optim_replace(mt_optim *optim, int64_t index, mt_tensor *param);

/* mt_optim_zero_grad -- release every gradient (param->grad becomes NULL); the next backward starts new sums. */
void mt_optim_zero_grad(mt_optim *optim);

/* mt_optim_clip_grad_norm -- mt_clip_grad_norm_cpu (optim/clip.h) over every gradient there is; returns the norm
 * before. When that is not finite nothing was changed: skip the step. */
double mt_optim_clip_grad_norm(mt_optim *optim, double max_norm);

/* mt_optim_step -- update every parameter that has a gradient. One without is unchanged, and so is its state: steps are
 * counted for each parameter, so that the bias correction fits its averages.
 * Aborts: a gradient that is not f32, dense, on the device and of the shape of its parameter. */
void mt_optim_step(mt_optim *optim);

/* mt_optim_apply -- updates, one for each parameter in order, by the kernels of their device; none where grad is
 * NULL. */
void mt_optim_apply(mt_optim *optim, const mt_update *updates);

void mt_optim_set_lr(mt_optim *optim, double lr); /* before the groups' factors */
double mt_optim_lr(const mt_optim *optim);

/* mt_optim_state -- append what later steps depend on besides parameters and learning rate: for each parameter
 * "0.weight/exp_avg" and so on (f32, on its device) and the integer "0.weight/step".
 * Valid until the next mt_optim_add or mt_optim_replace. */
void mt_optim_state(mt_state *state, mt_optim *optim);

MT_C_END
