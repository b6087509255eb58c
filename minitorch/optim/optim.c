/* optim.c -- parameters, their groups and their state; the arithmetic is the kernels' (optim/updates.h). */
#include "optim/optim.h"

#include "autograd/tape.h"
#include "core/scope.h"
#include "optim/clip.h"
#include "prof/span.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME = 96 };

typedef struct slot {
    char name[NAME];
    mt_tensor *param; /* borrowed */
    int64_t rows, cols;
    double lr_scale, weight_decay;
    mt_tensor *state[MT_UPDATE_STATES]; /* NULL where the rule has none */
    mt_tensor *step;                    /* i64 []: updates so far */
} slot;

struct mt_optim {
    mt_update_kind kind;
    mt_hyper hyper;                /* weight_decay: of group 0 */
    double lr_scale, weight_decay; /* of parameters to come */
    slot *slot;
    int64_t slots;
};

mt_optim *mt_optim_new(mt_update_kind kind, mt_hyper hyper)
{
    mt_optim *optim = malloc(sizeof *optim);
    MT_CHECK(optim, "out of memory");
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
        mt_release(s->step);
    }
    free(optim->slot);
    free(optim);
}

void mt_optim_group(mt_optim *optim, double lr_scale, double weight_decay)
{
    optim->lr_scale = lr_scale;
    optim->weight_decay = weight_decay;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* State outlives the scope it is made in. */
static mt_tensor *kept_zeros(mt_shape shape, mt_dtype dtype)
{
    mt_scope_begin();
    mt_tensor *t = mt_retain(mt_zeros(shape, dtype, MT_CPU));
    mt_scope_end();
    return t;
}

static void check_param(const mt_optim *optim, const char *name, const mt_tensor *param)
{
    MT_CHECK(strlen(name) < NAME, "optim: the name %s is longer than %d", name, NAME - 1);
    MT_CHECK(param->dtype == MT_F32 && param->storage->device == MT_CPU && mt_view_is_contiguous(&param->view),
             "optim: parameter %s is %s %s on %s; it must be f32, dense and on the cpu", name,
             mt_dtype_name(param->dtype), mt_view_text(&param->view), mt_device_name(param->storage->device));
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        MT_CHECK(strcmp(s->name, name) != 0, "optim: there is a parameter %s already", name);
        MT_CHECK(s->param != param, "optim: %s and %s are the same tensor; it would be updated twice", s->name, name);
    }
}

/* A state with rows or columns only is a vector; one like the parameter has its shape. */
static mt_tensor *new_state(mt_update_kind kind, int which, const slot *s)
{
    mt_state_size size = mt_update_rules[kind].state_size[which];
    if (size == MT_STATE_NONE)
        return NULL;
    if (size == MT_STATE_LIKE_PARAM)
        return kept_zeros(mt_view_shape(&s->param->view), MT_F32);
    return kept_zeros(MT_SHAPE(mt_state_count(kind, which, s->rows, s->cols)), MT_F32);
}

void mt_optim_add(mt_optim *optim, const char *name, mt_tensor *param)
{
    check_param(optim, name, param);
    optim->slot = realloc(optim->slot, (size_t)(optim->slots + 1) * sizeof *optim->slot);
    MT_CHECK(optim->slot, "out of memory");
    slot *s = &optim->slot[optim->slots++];
    int64_t n = mt_numel(param), rows = param->view.rank >= 2 ? param->view.shape[0] : 1;
    *s = (slot){ .param = param,
                 .rows = rows,
                 .cols = rows > 0 ? n / rows : 0,
                 .lr_scale = optim->lr_scale,
                 .weight_decay = optim->weight_decay };
    snprintf(s->name, sizeof s->name, "%s", name);
    for (int i = 0; i < MT_UPDATE_STATES; i++)
        s->state[i] = new_state(optim->kind, i, s);
    s->step = kept_zeros(MT_SCALAR, MT_I64);
}

/* ---- stepping -------------------------------------------------------------------------------- */

void mt_optim_zero_grad(mt_optim *optim)
{
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        mt_release(s->param->grad);
        s->param->grad = NULL;
    }
}

/* The numbers of a slot's gradient, checked. */
static float *gradient(const slot *s)
{
    const mt_tensor *g = s->param->grad;
    MT_CHECK(g->dtype == MT_F32 && g->storage->device == MT_CPU && mt_view_is_contiguous(&g->view) &&
                 mt_shape_equal(mt_view_shape(&g->view), mt_view_shape(&s->param->view)),
             "optim: the gradient of %s %s is %s %s on %s; it must be f32, dense, on the cpu and of that shape",
             s->name, mt_shape_text(mt_view_shape(&s->param->view)), mt_dtype_name(g->dtype), mt_view_text(&g->view),
             mt_device_name(g->storage->device));
    return mt_f32(g);
}

double mt_optim_clip_grad_norm(mt_optim *optim, double max_norm)
{
    MT_SPAN("clip");
    int64_t count = 0;
    mt_grad_array *arrays = malloc((size_t)(optim->slots + 1) * sizeof *arrays);
    MT_CHECK(arrays, "out of memory");
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        if (s->param->grad) {
            arrays[count++] = (mt_grad_array){ gradient(s), s->rows * s->cols };
            mt_count_work(2 * s->rows * s->cols, 4 * s->rows * s->cols);
        }
    double norm = mt_clip_grad_norm_cpu(arrays, count, max_norm);
    free(arrays);
    return norm;
}

static void update_slot(const mt_optim *optim, slot *s)
{
    int64_t *step = mt_data(s->step);
    mt_hyper hyper = optim->hyper;
    hyper.lr *= s->lr_scale;
    hyper.weight_decay = s->weight_decay;
    mt_update u = { .param = mt_f32(s->param),
                    .grad = gradient(s),
                    .rows = s->rows,
                    .cols = s->cols,
                    .step = ++*step,
                    .hyper = &hyper };
    int64_t n = s->rows * s->cols, states = 0;
    for (int i = 0; i < MT_UPDATE_STATES; i++) {
        u.state[i] = s->state[i] ? mt_f32(s->state[i]) : NULL;
        states += s->state[i] ? mt_numel(s->state[i]) : 0;
    }
    mt_update_rules[optim->kind].update(&u);
    mt_written(s->param);
    mt_count_work(0, 4 * (3 * n + 2 * states)); /* gradients are read; parameters and state are read and written */
}

void mt_optim_step(mt_optim *optim)
{
    MT_SPAN_OF("step", mt_update_rules[optim->kind].name);
    for (slot *s = optim->slot; s < optim->slot + optim->slots; s++)
        if (s->param->grad)
            update_slot(optim, s);
}

void mt_optim_set_lr(mt_optim *optim, double lr)
{
    optim->hyper.lr = lr;
}

double mt_optim_lr(const mt_optim *optim)
{
    return optim->hyper.lr;
}

/* ---- state ----------------------------------------------------------------------------------- */

static void list_one(mt_optim_states *states, const slot *s, const char *what, mt_tensor *tensor)
{
    mt_optim_state *state = &states->item[states->count++];
    state->tensor = tensor;
    snprintf(state->name, sizeof state->name, "%s/%s", s->name, what);
}

mt_optim_states mt_optim_list(const mt_optim *optim)
{
    const mt_update_rule *rule = &mt_update_rules[optim->kind];
    mt_optim_states states = { malloc((size_t)(optim->slots * (MT_UPDATE_STATES + 1) + 1) * sizeof *states.item), 0 };
    MT_CHECK(states.item, "out of memory");
    for (const slot *s = optim->slot; s < optim->slot + optim->slots; s++) {
        for (int i = 0; i < MT_UPDATE_STATES; i++)
            if (s->state[i])
                list_one(&states, s, rule->state_name[i], s->state[i]);
        list_one(&states, s, "step", s->step);
    }
    return states;
}

void mt_optim_states_free(mt_optim_states *states)
{
    free(states->item);
    *states = (mt_optim_states){ 0 };
}

int64_t mt_optim_state_bytes(const mt_optim *optim)
{
    int64_t bytes = 0;
    mt_optim_states states = mt_optim_list(optim);
    for (int64_t i = 0; i < states.count; i++)
        bytes += mt_numel(states.item[i].tensor) * mt_dtype_size(states.item[i].tensor->dtype);
    mt_optim_states_free(&states);
    return bytes;
}
