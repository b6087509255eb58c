/* transformer.c -- the layers of module.h that GPT-2 adds: tables and layernorm. In a file of their own, so that a
 * perceptron does not link their kernels. */
#include "nn/module.h"
#include "ops/ops.h"

mt_module *mt_table_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    static const mt_module_class class = { "table", NULL };
    mt_module *m = mt_module_new(&class);
    mt_tensor *w = mt_module_new_param(m, "weight", MT_SHAPE(rows, columns), 0);
    mt_rng_fill_normal(rng, mt_f32(w), mt_numel(w), 0, 1);
    return m;
}

static mt_tensor *layernorm_forward(mt_module *m, mt_tensor *x)
{
    return mt_layernorm(x, m->param[0], m->param[1], m->scalar[0]);
}

mt_module *mt_layernorm_layer(int64_t columns)
{
    static const mt_module_class class = { "layernorm", layernorm_forward };
    mt_module *m = mt_module_new(&class);
    mt_module_new_param(m, "weight", MT_SHAPE(columns), 1);
    mt_module_new_param(m, "bias", MT_SHAPE(columns), 0);
    m->scalar[0] = 1e-5f;
    return m;
}
