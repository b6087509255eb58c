/* optim.c -- parameters, groups and state of an optimizer; the kernels (optim/updates.h) do the arithmetic. */
#include "optim/optim.h"

#include "autograd/tape.h"
#include "optim/rules.h"
#include "core/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mt_optim *mt_optim_new(mt_update_kind kind, mt_hyper hyper)
{
    mt_optim *optim = mt_calloc(1, sizeof *optim);
    *optim =
        (mt_optim){ .kind = kind, .hyper = hyper, .rule = kind, .lr_scale = 1, .weight_decay = hyper.weight_decay };
    return optim;
}

static void release(mt_optim_param *p)
{
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        mt_release(p->state[i]);
    mt_release(p->tensor);
}

void mt_optim_free(mt_optim *optim)
{
    if (!optim)
        return;
    for (int64_t i = 0; i < optim->count; i++)
        release(&optim->param[i]);
    mt_update_list_free(optim->list);
    free(optim->param);
    free(optim->scratch);
    free(optim);
}

/* ---- the list of parameters ---------------------------------------------------------------------- */

void mt_optim_group(mt_optim *optim, double lr_scale, double weight_decay)
{
    optim->lr_scale = lr_scale;
    optim->weight_decay = weight_decay;
}

/* That `tensor` may stand at `index` of the list, beside the others. */
static void check(const mt_optim *optim, int64_t index, const char *name, const mt_tensor *tensor)
{
    MT_CHECK(strlen(name) < MT_OPTIM_NAME, "optim: the name %s is longer than %d", name, MT_OPTIM_NAME - 1);
    MT_CHECK(tensor->dtype == MT_F32 && mt_view_is_contiguous(&tensor->view),
             "optim: parameter %s is %s %s; it must be f32 and dense", name, mt_dtype_name(tensor->dtype),
             mt_view_text(&tensor->view));
    for (const mt_optim_param *p = optim->param; p < optim->param + optim->count; p++) {
        if (p == optim->param + index)
            continue;
        MT_CHECK(mt_device_of(p->tensor) == mt_device_of(tensor),
                 "optim: %s is on %s, %s on %s; all must be on one device", p->name,
                 mt_device_name(mt_device_of(p->tensor)), name, mt_device_name(mt_device_of(tensor)));
        MT_CHECK(strcmp(p->name, name) != 0, "optim: there is a parameter %s already", name);
        MT_CHECK(p->tensor != tensor, "optim: %s and %s are the same tensor; it would be updated twice", p->name, name);
    }
}

/* A state with rows or columns only is a vector; one like the parameter has its shape. */
static mt_tensor *new_state(int which, const mt_optim_param *p)
{
    mt_state_size size = mt_update_rules[p->rule].state_size[which];
    mt_shape shape = MT_SHAPE(mt_update_state_floats(p->rule, which, p->rows, p->cols));
    if (size == MT_STATE_NONE)
        return NULL;
    return mt_zeros_for(MT_USE_STATE, size == MT_STATE_LIKE_PARAM ? mt_shape_of(p->tensor) : shape,
                        mt_device_of(p->tensor));
}

/* Tensor, sizes and state of a parameter; and memory for its rule, which all parameters share. */
static void take(mt_optim *optim, mt_optim_param *p, mt_tensor *tensor)
{
    p->tensor = mt_retain(tensor);
    p->rows = tensor->view.rank >= 2 ? tensor->view.shape[0] : 1;
    p->cols = p->rows > 0 ? mt_numel(tensor) / p->rows : 0;
    p->step = 0;
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        p->state[i] = new_state(i, p);
    int64_t floats = mt_update_rules[p->rule].scratch * p->rows * p->cols;
    if (floats > optim->scratch_floats)
        optim->scratch = mt_realloc(optim->scratch, optim->scratch_floats = floats, sizeof(float));
}

void mt_optim_add(mt_optim *optim, const char *name, mt_tensor *param)
{
    check(optim, optim->count, name, param);
    optim->param = mt_realloc(optim->param, optim->count + 1, sizeof *optim->param);
    mt_optim_param *p = &optim->param[optim->count++];
    *p = (mt_optim_param){ .rule = optim->rule, .lr_scale = optim->lr_scale, .weight_decay = optim->weight_decay };
    snprintf(p->name, sizeof p->name, "%s", name);
    take(optim, p, param);
}

void mt_optim_add_all(mt_optim *optim, mt_state params)
{
    for (const mt_state_item *p = params.item; p < params.item + params.count; p++) {
        bool vector = p->tensor->view.rank < 2;
        optim->rule = mt_update_for(optim->kind, !vector && !p->table);
        mt_optim_group(optim, 1, vector ? 0 : optim->hyper.weight_decay);
        mt_optim_add(optim, p->name, p->tensor);
    }
    mt_optim_group(optim, 1, optim->hyper.weight_decay);
    optim->rule = optim->kind;
    mt_state_free(&params);
}

void mt_optim_replace(mt_optim *optim, int64_t index, mt_tensor *param)
{
    MT_CHECK(index >= 0 && index < optim->count, "optim: there is no parameter %" PRId64, index);
    mt_optim_param *p = &optim->param[index];
    check(optim, index, p->name, param);
    mt_retain(param); /* it may be all that holds the memory of the one before */
    release(p);
    take(optim, p, param);
    mt_release(param);
}

void mt_optim_state(mt_state *state, mt_optim *optim)
{
    for (mt_optim_param *p = optim->param; p < optim->param + optim->count; p++) {
        for (int i = 0; i < MT_UPDATE_STATES; i++)
            if (p->state[i])
                mt_state_tensor(state, p->state[i], "%s/%s", p->name, mt_update_rules[p->rule].state_name[i]);
        mt_state_integer(state, &p->step, "%s/step", p->name);
    }
}

/* ---- a step -------------------------------------------------------------------------------------- */

static mt_device device_of(const mt_optim *optim)
{
    return optim->count > 0 ? mt_device_of(optim->param->tensor) : MT_CPU;
}

void mt_optim_set_lr(mt_optim *optim, double lr)
{
    optim->hyper.lr = lr;
}

double mt_optim_lr(const mt_optim *optim)
{
    return optim->hyper.lr;
}

void mt_optim_zero_grad(mt_optim *optim)
{
    for (int64_t i = 0; i < optim->count; i++)
        mt_zero_grad(optim->param[i].tensor);
}

/* The numbers of a parameter's gradient, checked; NULL: it has none. */
static float *gradient(const mt_optim_param *p)
{
    const mt_tensor *t = p->tensor, *g = t->grad;
    MT_CHECK(!g || (g->dtype == MT_F32 && mt_device_of(g) == mt_device_of(t) && mt_view_is_contiguous(&g->view) &&
                    mt_shape_equal(mt_shape_of(g), mt_shape_of(t))),
             "optim: the gradient of %s %s is %s %s on %s; it must be f32, dense, on %s and of that shape", p->name,
             mt_text_of(t), mt_dtype_name(g->dtype), mt_view_text(&g->view), mt_device_name(mt_device_of(g)),
             mt_device_name(mt_device_of(t)));
    return g ? mt_f32(g) : NULL;
}

double mt_optim_clip_grad_norm(mt_optim *optim, double max_norm)
{
    MT_SPAN("clip");
    int64_t count = 0;
    mt_grad_array *arrays = mt_realloc(NULL, optim->count + 1, sizeof *arrays);
    for (const mt_optim_param *p = optim->param; p < optim->param + optim->count; p++)
        if (p->tensor->grad) {
            arrays[count++] = (mt_grad_array){ gradient(p), p->rows * p->cols };
            mt_count_work(2 * p->rows * p->cols, 4 * p->rows * p->cols);
        }
    double norm = optim->hooks.clip ? optim->hooks.clip(optim->hooks.user, arrays, count, max_norm)
                                    : mt_clip_grad_norm_on(device_of(optim), arrays, count, max_norm);
    free(arrays);
    return optim->norm = norm;
}

/* The next update of a parameter; without a gradient it does nothing. */
static mt_update next_update(const mt_optim *optim, mt_optim_param *p)
{
    p->hyper = optim->hyper;
    p->hyper.lr *= p->lr_scale;
    p->hyper.weight_decay = p->weight_decay;
    mt_update u = { .param = mt_f32(p->tensor),
                    .grad = gradient(p),
                    .scratch = optim->scratch,
                    .rows = p->rows,
                    .cols = p->cols,
                    .step = p->step + 1,
                    .hyper = &p->hyper };
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        u.state[i] = p->state[i] ? mt_f32(p->state[i]) : NULL;
    return u;
}

void mt_optim_apply(mt_optim *optim, const mt_update *u)
{
    mt_device device = device_of(optim);
    bool together = mt_update_together(device, optim->kind, u, optim->count, &optim->list);
    for (int64_t i = 0; i < optim->count; i++)
        if (u[i].grad) {
            if (!together)
                mt_update_on(device, optim->param[i].rule)(&u[i]);
            mt_written(optim->param[i].tensor);
        }
}

static bool apply(mt_optim *optim, mt_update *updates)
{
    if (optim->hooks.apply)
        return optim->hooks.apply(optim->hooks.user, updates);
    mt_optim_apply(optim, updates);
    return true;
}

/* Counts the parameter's step, the FLOPs of products, and the bytes that its update moves: the gradient is read, the
 * parameter and its states are read and written. */
static void finish_step(mt_optim_param *p)
{
    int64_t states = 0;
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        states += p->state[i] ? mt_numel(p->state[i]) : 0;
    mt_count_work(p->rule == MT_MUON ? mt_muon_flops(p->rows, p->cols) : 0, 4 * (3 * p->rows * p->cols + 2 * states));
    p->step++;
}

void mt_optim_step(mt_optim *optim)
{
    MT_SPAN_OF("step", mt_update_rules[optim->kind].name);
    mt_update *u = mt_realloc(NULL, optim->count + 1, sizeof *u);
    for (int64_t i = 0; i < optim->count; i++)
        u[i] = next_update(optim, &optim->param[i]);
    bool done = optim->count > 0 && apply(optim, u);
    for (mt_optim_param *p = optim->param; p < optim->param + optim->count && done; p++)
        if (p->tensor->grad)
            finish_step(p);
    free(u);
}
