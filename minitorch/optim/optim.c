/* optim.c -- parameters, groups and state of an optimizer; the kernels (optim/updates.h) do the arithmetic. */
#include "optim/optim.h"

#include "autograd/tape.h"
#include "ops/autocast.h"
#include "optim/master.h"
#include "optim/rules.h"
#include "core/span.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 96 };

typedef struct slot {
    char name[NAME];
    mt_tensor *param; /* retained */
    int64_t rows, cols;
    double lr_scale, weight_decay;
    mt_hyper hyper;                     /* of the latest step */
    mt_tensor *state[MT_UPDATE_STATES]; /* NULL where the rule has none */
    int64_t step;                       /* updates so far */
    bool sharded;                       /* only elements first .. first + rows * cols - 1 of param are updated, by */
    int64_t first;
    const float *piece; /* [cols] borrowed */
    float *values;      /* the same; NULL: those of param */
} slot;

struct mt_optim {
    mt_update_kind kind;
    mt_hyper hyper;                /* weight_decay: of group 0 */
    double lr_scale, weight_decay; /* of parameters that are added next */
    slot *slot;
    int64_t slots;
    mt_update_list *list; /* of the update in one launch */
    mt_tensor *flat;      /* f32 [n]: the memory of all gradients; NULL: each has its own */
    mt_scaler scaler;     /* interval 0: gradients are not scaled */
    bool unscaled;        /* gradients were divided by the scale since they were cleared, */
    bool finite;          /* and are finite */
};

mt_optim *mt_optim_new(mt_update_kind kind, mt_hyper hyper)
{
    mt_optim *optim = mt_calloc(1, sizeof *optim);
    *optim = (mt_optim){ .kind = kind, .hyper = hyper, .lr_scale = 1, .weight_decay = hyper.weight_decay };
    return optim;
}

void mt_optim_free(mt_optim *optim)
{
    if (!optim)
        return;
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        for (int i = 0; i < MT_UPDATE_STATES; i++)
            mt_release(s->state[i]);
        if (optim->flat) {
            mt_release(s->param->grad_memory);
            s->param->grad_memory = NULL;
        }
        mt_release(s->param);
    }
    mt_release(optim->flat);
    mt_update_list_free(optim->list);
    free(optim->slot);
    free(optim);
}

void mt_optim_group(mt_optim *optim, double lr_scale, double weight_decay)
{
    optim->lr_scale = lr_scale;
    optim->weight_decay = weight_decay;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void check_param(const mt_optim *optim, const char *name, const mt_tensor *param)
{
    MT_CHECK(strlen(name) < NAME, "optim: the name %s is longer than %d", name, NAME - 1);
    MT_CHECK(param->dtype == MT_F32 && mt_view_is_contiguous(&param->view),
             "optim: parameter %s is %s %s; it must be f32 and dense", name, mt_dtype_name(param->dtype),
             mt_view_text(&param->view));
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        MT_CHECK(mt_device_of(s->param) == mt_device_of(param),
                 "optim: %s is on %s, %s on %s; all must be on one device", s->name,
                 mt_device_name(mt_device_of(s->param)), name, mt_device_name(mt_device_of(param)));
        MT_CHECK(strcmp(s->name, name) != 0, "optim: there is a parameter %s already", name);
        MT_CHECK(s->param != param, "optim: %s and %s are the same tensor; it would be updated twice", s->name, name);
    }
}

/* A state with rows or columns only is a vector; one like the parameter has its shape. */
static mt_tensor *new_state(mt_update_kind kind, int which, const slot *s)
{
    mt_state_size size = mt_update_rules[kind].state_size[which];
    mt_shape shape = MT_SHAPE(mt_state_count(kind, which, s->rows, s->cols));
    if (size == MT_STATE_NONE)
        return NULL;
    return mt_zeros_for(MT_USE_STATE, size == MT_STATE_LIKE_PARAM ? mt_shape_of(s->param) : shape,
                        mt_device_of(s->param));
}

void mt_optim_add(mt_optim *optim, const char *name, mt_tensor *param)
{
    check_param(optim, name, param);
    MT_CHECK(!optim->flat, "optim: %s is added after mt_optim_flat", name);
    optim->slot = mt_realloc(optim->slot, optim->slots + 1, sizeof *optim->slot);
    slot *s = &optim->slot[optim->slots++];
    int64_t n = mt_numel(param), rows = param->view.rank >= 2 ? param->view.shape[0] : 1;
    *s = (slot){ .param = mt_retain(param),
                 .rows = rows,
                 .cols = rows > 0 ? n / rows : 0,
                 .lr_scale = optim->lr_scale,
                 .weight_decay = optim->weight_decay };
    snprintf(s->name, sizeof s->name, "%s", name);
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        s->state[i] = new_state(optim->kind, i, s);
}

void mt_optim_add_all(mt_optim *optim, mt_state params)
{
    for (const mt_state_item *p = params.item; p < params.item + params.count; p++) {
        mt_optim_group(optim, 1, p->tensor->view.rank >= 2 ? optim->hyper.weight_decay : 0);
        mt_optim_add(optim, p->name, p->tensor);
    }
    mt_optim_group(optim, 1, optim->hyper.weight_decay);
    mt_state_free(&params);
}

/* Elements of a gradient and the gap behind it: each begins at a multiple of MT_ALIGNMENT bytes. */
static int64_t room(const slot *s)
{
    const int64_t unit = MT_ALIGNMENT / sizeof(float);
    return (s->rows * s->cols + unit - 1) / unit * unit;
}

mt_tensor *mt_optim_flat(mt_optim *optim)
{
    int64_t count = 0;
    if (optim->flat || optim->slots == 0)
        return optim->flat;
    mt_optim_zero_grad(optim);
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        count += room(s);
    optim->flat = mt_zeros_for(MT_USE_GRADIENT, MT_SHAPE(count), mt_device_of(optim->slot[0].param));
    count = 0;
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        MT_CHECK(!s->param->grad_memory, "optim: the gradient of %s is in the memory of another optimizer", s->name);
        mt_tensor *part = mt_tensor_alias(optim->flat);
        part->view = mt_view_contiguous(mt_shape_of(s->param));
        part->view.offset = count;
        s->param->grad_memory = part;
        count += room(s);
    }
    return optim->flat;
}

void mt_optim_shard(mt_optim *optim, int64_t index, int64_t from, int64_t to, float *values, const float *grad)
{
    MT_CHECK(index >= 0 && index < optim->slots, "optim: there is no parameter %" PRId64, index);
    MT_CHECK(optim->kind != MT_ADAFACTOR && !mt_optim_scaler(optim),
             "optim: adafactor, and a scaler, need whole gradients");
    slot *s = &optim->slot[index];
    MT_CHECK(from >= 0 && from <= to && to <= mt_numel(s->param), "optim: elements %" PRId64 " to %" PRId64 " of %s",
             from, to, s->name);
    s->sharded = true;
    s->first = from;
    s->rows = 1, s->cols = to - from;
    s->piece = grad;
    s->values = values;
    for (int i = 0; i < MT_UPDATE_STATES; i++) {
        bool has = s->state[i] != NULL;
        mt_release(s->state[i]);
        s->state[i] = has ? mt_zeros_for(MT_USE_STATE, MT_SHAPE(to - from), mt_device_of(s->param)) : NULL;
    }
}

/* ---- stepping -------------------------------------------------------------------------------- */

void mt_optim_zero_grad(mt_optim *optim)
{
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        mt_zero_grad(s->param);
    optim->unscaled = false;
}

/* ---- scaled gradients ------------------------------------------------------------------------ */

void mt_optim_set_scaler(mt_optim *optim, mt_scaler scaler)
{
    MT_CHECK(scaler.interval >= 1, "optim: the scaler's interval is %" PRId64 ", it must be 1 or more",
             scaler.interval);
    optim->scaler = scaler;
}

const mt_scaler *mt_optim_scaler(const mt_optim *optim)
{
    return optim->scaler.interval ? &optim->scaler : NULL;
}

double mt_optim_loss_scale(const mt_optim *optim)
{
    return mt_scaler_scale(&optim->scaler); /* 2^0 without one */
}

/* Clips; with a scaler the first call unscales too, and updates it. */
static double clip(mt_optim *optim, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    mt_device device = optim->slots > 0 ? mt_device_of(optim->slot[0].param) : MT_CPU;
    if (!mt_optim_scaler(optim) || optim->unscaled)
        return mt_clip_grad_norm_on(device, arrays, count, max_norm);
    double norm = mt_unscale_grads_on(device, arrays, count, mt_scaler_scale(&optim->scaler), max_norm);
    optim->unscaled = true;
    MT_CHECK(isfinite(norm) || optim->scaler.exponent > -MT_SCALER_LIMIT,
             "optim: the gradients of the loss times 2^-%d are not finite: no scale helps. The loss or a gradient is "
             "infinite or NaN in f32: the debug flavour knows where (mt_finite_culprit)",
             MT_SCALER_LIMIT);
    optim->finite = mt_scaler_update(&optim->scaler, isfinite(norm));
    return norm;
}

/* The numbers of a slot's gradient, checked. */
static float *gradient(const slot *s)
{
    const mt_tensor *g = s->param->grad;
    MT_CHECK(g->dtype == MT_F32 && mt_device_of(g) == mt_device_of(s->param) && mt_view_is_contiguous(&g->view) &&
                 mt_shape_equal(mt_shape_of(g), mt_shape_of(s->param)),
             "optim: the gradient of %s %s is %s %s on %s; it must be f32, dense, on %s and of that shape", s->name,
             mt_text_of(s->param), mt_dtype_name(g->dtype), mt_view_text(&g->view), mt_device_name(mt_device_of(g)),
             mt_device_name(mt_device_of(s->param)));
    return mt_f32(g);
}

double mt_optim_clip_grad_norm(mt_optim *optim, double max_norm)
{
    MT_SPAN("clip");
    int64_t count = 0;
    mt_grad_array *arrays = mt_realloc(NULL, optim->slots + 1, sizeof *arrays);
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        if (s->param->grad) {
            MT_CHECK(!s->sharded, "optim: this rank has a part of the gradients only");
            arrays[count++] = (mt_grad_array){ gradient(s), s->rows * s->cols };
            mt_count_work(2 * s->rows * s->cols, 4 * s->rows * s->cols);
        }
    double norm = clip(optim, arrays, count, max_norm);
    free(arrays);
    return norm;
}

static bool is_due(const slot *s)
{
    return s->param->grad || s->sharded;
}

/* Counts the step. A parameter that is not due gets an update without a gradient. */
static mt_update next_update(const mt_optim *optim, slot *s)
{
    s->hyper = optim->hyper;
    s->hyper.lr *= s->lr_scale;
    s->hyper.weight_decay = s->weight_decay;
    s->step += is_due(s);
    mt_update u = { .param = s->values ? s->values : mt_f32(s->param) + s->first,
                    .grad = s->sharded  ? s->piece
                            : is_due(s) ? gradient(s)
                                        : NULL,
                    .rows = s->rows,
                    .cols = s->cols,
                    .step = s->step,
                    .hyper = &s->hyper };
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        u.state[i] = s->state[i] ? mt_f32(s->state[i]) : NULL;
    return u;
}

/* The 16-bit copy that an update writes too. */
static mt_tensor *copy_of(const mt_optim *optim, const slot *s)
{
    bool copies = optim->kind == MT_ADAMW && mt_device_of(s->param) == MT_CPU && !s->sharded;
    return copies ? s->param->cast : NULL;
}

static void updated(const mt_optim *optim, slot *s)
{
    mt_tensor *copy = copy_of(optim, s);
    int64_t n = s->rows * s->cols, states = 0;
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        states += s->state[i] ? mt_numel(s->state[i]) : 0;
    mt_written(s->param);
    if (copy) {
        mt_written(copy);
        mt_autocast_keep(s->param, copy);
    }
    /* gradients are read; parameters and state are read and written */
    mt_count_work(0, 4 * (3 * n + 2 * states) + (copy ? 2 * n : 0));
}

static void update_each(const mt_optim *optim, const mt_update *u)
{
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++, u++) {
        mt_tensor *copy = copy_of(optim, s);
        if (is_due(s) && copy)
            mt_adamw_master_update_cpu(u, mt_data(copy), copy->dtype);
        else if (is_due(s))
            mt_update_on(mt_device_of(s->param), optim->kind)(u);
    }
}

void mt_optim_step(mt_optim *optim)
{
    MT_SPAN_OF("step", mt_update_rules[optim->kind].name);
    if (mt_optim_scaler(optim) && !optim->unscaled)
        mt_optim_clip_grad_norm(optim, INFINITY);
    if (mt_optim_scaler(optim) && !optim->finite)
        return;
    mt_update *u = mt_realloc(NULL, optim->slots + 1, sizeof *u);
    for (int64_t k = 0; k < optim->slots; k++)
        u[k] = next_update(optim, &optim->slot[k]);
    if (optim->slots > 0 &&
        !mt_update_together(mt_device_of(optim->slot->param), optim->kind, u, optim->slots, &optim->list))
        update_each(optim, u);
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        if (is_due(s))
            updated(optim, s);
    free(u);
}

void mt_optim_set_lr(mt_optim *optim, double lr)
{
    optim->hyper.lr = lr;
}

double mt_optim_lr(const mt_optim *optim)
{
    return optim->hyper.lr;
}

void mt_optim_state(mt_state *state, mt_optim *optim)
{
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        for (int i = 0; i < MT_UPDATE_STATES; i++)
            if (s->state[i])
                mt_state_tensor(state, s->state[i], "%s/%s", s->name, mt_update_rules[optim->kind].state_name[i]);
        mt_state_integer(state, &s->step, "%s/step", s->name);
    }
    if (mt_optim_scaler(optim)) {
        mt_state_integer(state, &optim->scaler.exponent, "scaler/exponent");
        mt_state_integer(state, &optim->scaler.good, "scaler/good");
        mt_state_integer(state, &optim->scaler.skipped, "scaler/skipped");
        mt_state_integer(state, &optim->scaler.in_a_row, "scaler/in_a_row");
    }
}
