/* layers.c -- the layers that every model has: linear, a function, a sequence, rows of a table, dropout. */
#include "nn/module.h"

#include <stdarg.h>
#include <stdio.h>

#include "kernels/kernels.h"
#include "ops/ops.h"

static mt_tensor *linear_forward(mt_module *m, mt_tensor *x)
{
    return mt_linear(x, m->param[0], m->param[1]);
}

mt_module *mt_linear_layer(int64_t inputs, int64_t outputs, mt_rng *rng)
{
    static const mt_module_class class = { "linear", linear_forward };
    mt_module *m = mt_module_new(&class);
    mt_tensor *w = mt_module_new_param(m, "weight", MT_SHAPE(inputs, outputs), 0);
    mt_module_new_param(m, "bias", MT_SHAPE(outputs), 0);
    mt_init_he_cpu(mt_f32(w), mt_numel(w), inputs, rng);
    return m;
}

static mt_tensor *function_forward(mt_module *m, mt_tensor *x)
{
    return m->function(x);
}

mt_module *mt_function_layer(mt_tensor *(*function)(mt_tensor *x))
{
    static const mt_module_class class = { "function", function_forward };
    mt_module *m = mt_module_new(&class);
    m->function = function;
    return m;
}

/* Results in between that neither the next child nor backward reads are freed at once. */
static mt_tensor *sequential_forward(mt_module *m, mt_tensor *x)
{
    mt_retain(x);
    for (int i = 0; i < m->children; i++) {
        mt_scope_begin();
        mt_tensor *next = mt_retain(mt_forward(m->child[i], x));
        mt_scope_end();
        mt_release(x);
        x = next;
    }
    return mt_scope_adopt(x);
}

mt_module *mt_sequential(int count, ...)
{
    static const mt_module_class class = { "sequential", sequential_forward };
    mt_module *m = mt_module_new(&class);
    va_list args;
    va_start(args, count);
    for (int i = 0; i < count; i++)
        mt_module_child(m, NULL, va_arg(args, mt_module *));
    va_end(args);
    return m;
}

/* ---- rows of a table, dropout ------------------------------------------------------------------------------------ */

mt_module *mt_table_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    static const mt_module_class class = { "table", NULL };
    mt_module *m = mt_module_new(&class);
    mt_tensor *w = mt_module_new_param(m, "weight", MT_SHAPE(rows, columns), 0);
    mt_rng_fill_normal(rng, mt_f32(w), mt_numel(w), 0, 1);
    m->table = true;
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
