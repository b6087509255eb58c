/* layers.c -- the layers that every model has: linear, a function, a sequence. The others of module.h are in
 * embedding.c. */
#include "nn/module.h"
#include "kernels/kernels.h"
#include "ops/ops.h"

#include <stdarg.h>
#include <stdio.h>

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
