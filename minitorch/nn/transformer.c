/* transformer.c -- the layers of module.h that language models add: embedding, layernorm, dropout. In a file of their
 * own, so that a perceptron does not link their kernels. */
#include "nn/module.h"
#include "ops/ops.h"

static mt_tensor *embedding_forward(mt_module *m, mt_tensor *ids)
{
    return mt_gather_rows(m->param[0], ids);
}

mt_module *mt_embedding_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    static const mt_module_class class = { "embedding", embedding_forward };
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
