/* embedding.c -- the layers of module.h with a table of rows, and dropout. */
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

static mt_tensor *embedding_forward(mt_module *m, mt_tensor *ids)
{
    return mt_gather_rows(m->param[0], ids);
}

mt_module *mt_embedding_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    static const mt_module_class class = { "embedding", embedding_forward };
    mt_module *m = mt_table_layer(rows, columns, rng);
    m->kind = &class;
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
