/* embedding.c -- the layer that looks up the rows of its table. */
#include "nn/module.h"
#include "ops/ops.h"

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
