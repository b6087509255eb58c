/* dropout.c -- the dropout layer of module.h. */
#include "nn/module.h"
#include "ops/ops.h"

static mt_tensor *dropout_forward(mt_module *m, mt_tensor *x)
{
    return m->mode == MT_TRAIN ? mt_dropout(x, m->scalar[0], &m->rng) : x;
}

mt_module *mt_dropout_layer(float p, mt_rng rng)
{
    static const mt_module_class class = { "dropout", dropout_forward };
    mt_module *m = mt_module_new(&class);
    m->rng = rng;
    m->scalar[0] = p;
    return m;
}
