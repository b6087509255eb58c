/* ema.c -- see ema.h. With a = (1 - d) / (1 - d^t), which is 1 at first and then approaches 1 - d, the average moves by
 * a (w - average). That is a step of SGD on it with w as the gradient, weight decay -1 and learning rate -a:
 * average -= -a (w - average). So every device has its kernel (optim/rules.h). */
#include "train/ema.h"

#include <math.h>
#include <stdlib.h>

#include "core/scope.h"
#include "optim/rules.h"

struct mt_ema {
    mt_state params, average; /* the same tensors in the same order; an average is called "NAME/ema" */
    int64_t steps;
    double decay;
};

mt_ema *mt_ema_new(const mt_module *model, double decay)
{
    mt_ema *ema = calloc(1, sizeof *ema);
    MT_CHECK(ema && decay > 0 && decay < 1, "a moving average with decay %g: use 0 < decay < 1", decay);
    *ema = (mt_ema){ .params = mt_module_params(model), .decay = decay };
    mt_scope_begin();
    for (const mt_state_item *p = ema->params.item; p < ema->params.item + ema->params.count; p++) {
        const mt_storage *s = p->tensor->storage;
        mt_tensor *average = mt_zeros(mt_view_shape(&p->tensor->view), p->tensor->dtype, s->device);
        mt_state_tensor(&ema->average, average, "%s/ema", p->name);
    }
    mt_scope_end();
    return ema;
}

void mt_ema_free(mt_ema *ema)
{
    if (!ema)
        return;
    mt_state_free(&ema->params);
    mt_state_free(&ema->average);
    free(ema);
}

void mt_ema_update(mt_ema *ema)
{
    if (!ema)
        return;
    ema->steps++;
    const mt_hyper hyper = { .lr = -(1 - ema->decay) / (1 - pow(ema->decay, (double)ema->steps)), .weight_decay = -1 };
    for (int64_t i = 0; i < ema->params.count; i++) {
        const mt_tensor *w = ema->params.item[i].tensor, *average = ema->average.item[i].tensor;
        const mt_update u = {
            .param = mt_data(average), .grad = mt_data(w), .rows = 1, .cols = mt_numel(w), .step = 1, .hyper = &hyper
        };
        mt_update_on(w->storage->device, MT_SGD)(&u);
    }
}

void mt_ema_swap(mt_ema *ema)
{
    for (int64_t i = 0; ema && i < ema->params.count; i++) {
        mt_tensor *w = ema->params.item[i].tensor, *average = ema->average.item[i].tensor;
        mt_device device = w->storage->device;
        int64_t bytes = mt_numel(w) * mt_dtype_size(w->dtype);
        mt_scope_begin();
        mt_tensor *before = mt_empty(mt_view_shape(&w->view), w->dtype, device);
        mt_copy(mt_data(before), device, mt_data(w), device, bytes);
        mt_copy(mt_data(w), device, mt_data(average), device, bytes);
        mt_copy(mt_data(average), device, mt_data(before), device, bytes);
        mt_scope_end();
        w->storage->version++;
    }
}

void mt_ema_state(mt_state *state, mt_ema *ema)
{
    if (!ema)
        return;
    for (const mt_state_item *a = ema->average.item; a < ema->average.item + ema->average.count; a++)
        mt_state_tensor(state, a->tensor, "%s", a->name);
    mt_state_integer(state, &ema->steps, "ema steps");
}
