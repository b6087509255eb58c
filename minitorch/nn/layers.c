/* layers.c -- the layers of module.h: what each owns, and the op it calls. */
#include "nn/module.h"
#include "core/scope.h"
#include "ops/kernels.h"
#include "ops/ops.h"

#include <stdarg.h>
#include <stdio.h>

/* A parameter outlives the scope it is made in. */
static mt_tensor *parameter(mt_shape shape, float value)
{
    mt_scope_begin();
    mt_tensor *t = mt_retain(mt_full(shape, value));
    mt_scope_end();
    return t;
}

/* ---- linear ------------------------------------------------------------------------------------ */

static mt_tensor *linear_forward(mt_module *m, mt_tensor *x)
{
    return mt_linear(x, m->param[0], m->param[1]);
}

static const mt_module_class linear_class = { "linear", linear_forward };

mt_module *mt_linear_layer(int64_t inputs, int64_t outputs, mt_rng *rng)
{
    mt_module *m = mt_module_new(&linear_class);
    mt_tensor *w = mt_module_param(m, "weight", parameter(MT_SHAPE(inputs, outputs), 0));
    mt_module_param(m, "bias", parameter(MT_SHAPE(outputs), 0));
    mt_init_he_cpu(mt_f32(w), mt_numel(w), inputs, rng);
    return m;
}

/* ---- embedding ----------------------------------------------------------------------------------- */

static mt_tensor *embedding_forward(mt_module *m, mt_tensor *ids)
{
    return mt_gather_rows(m->param[0], ids);
}

static const mt_module_class embedding_class = { "embedding", embedding_forward };

mt_module *mt_embedding_layer(int64_t rows, int64_t columns, mt_rng *rng)
{
    mt_module *m = mt_module_new(&embedding_class);
    mt_tensor *w = mt_module_param(m, "weight", parameter(MT_SHAPE(rows, columns), 0));
    mt_rng_fill_normal(rng, mt_f32(w), mt_numel(w), 0, 1);
    return m;
}

/* ---- layernorm ------------------------------------------------------------------------------------- */

static mt_tensor *layernorm_forward(mt_module *m, mt_tensor *x)
{
    return mt_layernorm(x, m->param[0], m->param[1], m->scalar[0]);
}

static const mt_module_class layernorm_class = { "layernorm", layernorm_forward };

mt_module *mt_layernorm_layer(int64_t columns)
{
    mt_module *m = mt_module_new(&layernorm_class);
    mt_module_param(m, "weight", parameter(MT_SHAPE(columns), 1));
    mt_module_param(m, "bias", parameter(MT_SHAPE(columns), 0));
    m->scalar[0] = 1e-5f;
    return m;
}

/* ---- dropout ----------------------------------------------------------------------------------------- */

static mt_tensor *dropout_forward(mt_module *m, mt_tensor *x)
{
    return m->mode == MT_TRAIN ? mt_dropout(x, m->scalar[0], &m->rng) : x;
}

static const mt_module_class dropout_class = { "dropout", dropout_forward };

mt_module *mt_dropout_layer(float p, mt_rng rng)
{
    mt_module *m = mt_module_new(&dropout_class);
    m->rng = rng;
    m->scalar[0] = p;
    return m;
}

/* ---- a function without parameters --------------------------------------------------------------------- */

static mt_tensor *function_forward(mt_module *m, mt_tensor *x)
{
    return m->function(x);
}

static const mt_module_class function_class = { "function", function_forward };

mt_module *mt_function_layer(mt_tensor *(*function)(mt_tensor *x))
{
    mt_module *m = mt_module_new(&function_class);
    m->function = function;
    return m;
}

/* ---- one after the other ---------------------------------------------------------------------------------- */

static mt_tensor *sequential_forward(mt_module *m, mt_tensor *x)
{
    for (int i = 0; i < m->children; i++)
        x = mt_forward(m->child[i], x);
    return x;
}

static const mt_module_class sequential_class = { "sequential", sequential_forward };

mt_module *mt_sequential(int count, ...)
{
    mt_module *m = mt_module_new(&sequential_class);
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
