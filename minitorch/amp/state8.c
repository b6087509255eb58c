/* state8.c -- codes and scales of all parameters of an optimizer, see state8.h. How numbers become codes and are
 * updated: unit state8.c of lab 09. */
#include "amp/state8.h"

#include <stdlib.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "core/span.h"

typedef struct moments {
    mt_tensor *code[MT_UPDATE_STATES], *scale[MT_UPDATE_STATES];
} moments;

struct mt_state8 {
    mt_optim *optim; /* borrowed */
    moments *of;     /* [optim->count] */
};

/* The caller's, as state of an optimizer. */
static mt_tensor *zeros(int64_t n, mt_dtype dtype)
{
    mt_memory_use before = mt_alloc_for(MT_USE_STATE);
    mt_scope_begin();
    mt_tensor *t = mt_retain(mt_zeros(MT_SHAPE(n), dtype, MT_CPU));
    mt_scope_end();
    mt_alloc_for(before);
    return t;
}

mt_state8 *mt_state8_new(mt_optim *optim)
{
    mt_state8 *s = mt_calloc(1, sizeof *s);
    *s = (mt_state8){ optim, mt_calloc(optim->count + 1, sizeof *s->of) };
    for (int64_t i = 0; i < optim->count; i++) {
        mt_optim_param *p = &optim->param[i];
        int64_t n = mt_numel(p->tensor);
        MT_CHECK((p->rule == MT_ADAM || p->rule == MT_ADAMW) && mt_device_of(p->tensor) == MT_CPU,
                 "state8: %s of %s on %s: moments of 8 bits are adam's and adamw's, on the CPU", p->name,
                 mt_update_names[p->rule], mt_device_name(mt_device_of(p->tensor)));
        for (int k = 0; k < MT_UPDATE_STATES; k++) {
            mt_release(p->state[k]);
            p->state[k] = NULL;
            s->of[i].code[k] = zeros(n, MT_U8);
            s->of[i].scale[k] = zeros(mt_blocks8(n), MT_F32);
        }
    }
    return s;
}

void mt_state8_free(mt_state8 *s)
{
    for (int64_t i = 0; s && i < s->optim->count; i++)
        for (int k = 0; k < MT_UPDATE_STATES; k++) {
            mt_release(s->of[i].code[k]);
            mt_release(s->of[i].scale[k]);
        }
    if (s)
        free(s->of);
    free(s);
}

void mt_state8_apply(mt_state8 *s, mt_update *updates)
{
    for (int64_t i = 0; i < s->optim->count; i++) {
        const mt_optim_param *p = &s->optim->param[i];
        mt_moment8 moment[MT_UPDATE_STATES];
        if (!updates[i].grad)
            continue;
        for (int k = 0; k < MT_UPDATE_STATES; k++)
            moment[k] = (mt_moment8){ mt_data(s->of[i].code[k]), mt_f32(s->of[i].scale[k]), k == 0 };
        mt_adam8_update_cpu(&updates[i], mt_update_rules[p->rule].update, moment);
        mt_count_work(0, 2 * mt_state8_bytes(mt_numel(p->tensor))); /* the optimizer counts parameter and gradient */
        mt_written(p->tensor);
        updates[i].grad = NULL;
    }
}

void mt_state8_state(mt_state *state, const mt_state8 *s)
{
    for (int64_t i = 0; i < s->optim->count; i++)
        for (int k = 0; k < MT_UPDATE_STATES; k++) {
            const mt_optim_param *p = &s->optim->param[i];
            const char *name = mt_update_rules[p->rule].state_name[k];
            mt_state_tensor(state, s->of[i].code[k], "%s/%s8", p->name, name);
            mt_state_tensor(state, s->of[i].scale[k], "%s/%s8_scale", p->name, name);
        }
}
