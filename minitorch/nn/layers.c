/* layers.c -- the layers of module.h: the parameters of each, and the op that it calls. */
#include "nn/module.h"
#include "core/scope.h"
#include "ops/kernels.h"
#include "ops/ops.h"

#include <stdarg.h>
#include <stdio.h>

/* A new parameter, which outlives the current scope. */
static mt_tensor *add_param(mt_module *m, const char *name, mt_shape shape, float value)
{
    mt_scope_begin();
    mt_tensor *t = mt_module_param(m, name, mt_retain(mt_full(shape, value)));
    mt_scope_end();
    return t;
}

static mt_tensor *linear_forward(mt_module *m, mt_tensor *x)
{
    return mt_linear(x, m->param[0], m->param[1]);
}

mt_module *mt_linear_layer(int64_t inputs, int64_t outputs, mt_rng *rng)
{
    static const mt_module_class class = { "linear", linear_forward };
    mt_module *m = mt_module_new(&class);
    mt_tensor *w = add_param(m, "weight", MT_SHAPE(inputs, outputs), 0);
    add_param(m, "bias", MT_SHAPE(outputs), 0);
    mt_init_he_cpu(mt_f32(w), mt_numel(w), inputs, rng);
    return m;
}

static mt_tensor *embedding_forward(mt_module *m, mt_tensor *ids)
{
    return mt_gather_rows(m->param[0], ids);
}

mt_module *mt_embedding_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    static const mt_module_class class = { "embedding", embedding_forward };
    mt_module *m = mt_module_new(&class);
    mt_tensor *w = add_param(m, "weight", MT_SHAPE(rows, columns), 0);
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
    add_param(m, "weight", MT_SHAPE(columns), 1);
    add_param(m, "bias", MT_SHAPE(columns), 0);
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

static mt_tensor *sequential_forward(mt_module *m, mt_tensor *x)
{
    for (int i = 0; i < m->children; i++)
        x = mt_forward(m->child[i], x);
    return x;
}

mt_module *mt_sequential(int count, ...)
{
    static const mt_module_class class = { "sequential", sequential_forward };
    mt_module *m = mt_module_new(&class);
    va_list args;
    va_start(args, count);
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%d", i);
        mt_module_child(m, name, va_arg(args, mt_module *));
    }
    va_end(args);
    return m;
}
