/* module.h -- models as trees of modules: each owns its named parameters and its children.
 *
 *     mt_module *model = mt_sequential(3, mt_linear_layer(784, 256, &rng), mt_function_layer(mt_relu), ...);
 *     mt_tensor *logits = mt_forward(model, x);
 *     mt_state params = mt_module_params(model);     // "0.weight" [784,256], "0.bias" [256], "2.weight" ...
 *
 * A module owns its parameters and children, and mt_module_free frees the whole tree. Parameters outlive every scope.
 * Code outside a module finds its parts by name (mt_module_tensor), not by their number. */
#pragma once

#include "core/state.h"

MT_C_BEGIN

typedef struct mt_module mt_module;

typedef struct mt_module_class {
    const char *name;                                       /* "linear" */
    mt_tensor *(*forward)(mt_module *module, mt_tensor *x); /* the result belongs to the scope; NULL: it has none */
} mt_module_class;

typedef enum mt_mode { MT_TRAIN, MT_EVAL } mt_mode; /* dropout drops only in MT_TRAIN */

enum { MT_MODULE_PARAMS = 4 };

struct mt_module {
    const mt_module_class *kind;
    mt_mode mode;
    bool table; /* its parameters are tables, of which a sample reads some rows */
    int params, children;
    mt_tensor *param[MT_MODULE_PARAMS];
    const char *param_name[MT_MODULE_PARAMS];
    mt_module **child;
    char (*child_name)[32];
    mt_rng rng;      /* of dropout: its random numbers; the stream is 0 elsewhere */
    float scalar[2]; /* of layernorm: eps; of dropout: p */
    int64_t size;    /* of attention: heads */
    void *config;    /* of a model: its sizes; freed with the module */
    mt_tensor *(*function)(mt_tensor *x);

    /* ---- extension point: what mt_forward calls instead of kind->forward (lab 10: recomputation); NULL: that */
    mt_tensor *(*run)(mt_module *module, mt_tensor *x);
};

/* ---- layers ------------------------------------------------------------------------------------ */

mt_module *mt_linear_layer(int64_t inputs, int64_t outputs, mt_rng *rng);  /* He weights [I,O], zero bias [O] */
mt_module *mt_table_layer(int64_t rows, int64_t columns, mt_rng *rng);     /* weight [V,C] ~ normal(0, 1); no forward */
mt_module *mt_embedding_layer(int64_t rows, int64_t columns, mt_rng *rng); /* the same; ids i32 to rows [...,C] */
mt_module *mt_dropout_layer(float p, mt_rng rng);
mt_module *mt_function_layer(mt_tensor *(*function)(mt_tensor *x)); /* mt_relu, mt_gelu, ... */
mt_module *mt_sequential(int count, ...);                           /* of mt_module *, which it then owns */

/* ---- for modules written elsewhere (models/) ------------------------------------------------------ */

mt_module *mt_module_new(const mt_module_class *kind);
/* mt_module_param, mt_module_child -- add what the last argument is, and return it. The module takes over the caller's
 * reference of a parameter and sets requires_grad. The name of a child is copied (NULL: its number, from 0 on),
 * that of a parameter must be a constant. Abort: more than 4 parameters; a child's name of more than 31 characters. */
mt_tensor *mt_module_param(mt_module *module, const char *name, mt_tensor *param);

/* mt_module_new_param -- the same for a new f32 tensor on the CPU, filled with value. */
mt_tensor *mt_module_new_param(mt_module *module, const char *name, mt_shape shape, float value);
mt_module *mt_module_child(mt_module *module, const char *name, mt_module *child);

/* ---- use ------------------------------------------------------------------------------------------- */

/* mt_forward -- the module's result, in the scope. Other tensors that it makes are freed when it returns, but for what
 * backward needs of them. */
mt_tensor *mt_forward(mt_module *module, mt_tensor *x);
void mt_module_set_mode(mt_module *module, mt_mode mode); /* of the whole tree */

/* mt_module_to_device -- move the memory of all parameters of the tree; the tensors stay the same, gradients are
 * released. Call it before an optimizer is made.   Aborts: a gradient has memory of its own (grad_memory).
 * mt_module_device -- where the parameters are; MT_CPU for a module without any. */
void mt_module_to_device(mt_module *module, mt_device device);
mt_device mt_module_device(const mt_module *module);

/* mt_module_params -- all parameters of the tree by their paths ("h.3.ln_1.weight"), in order of definition; free the
 * list with mt_state_free.
 * mt_module_state -- append them and the random-number streams of dropout layers. Parameters are retained; the streams
 * are valid while the module lives. */
mt_state mt_module_params(const mt_module *module);
void mt_module_state(mt_state *state, mt_module *module);
int64_t mt_module_count(const mt_module *module); /* elements in all parameters */

/* mt_module_tensor -- the parameter "h.3.attn.weight"; lent.   Aborts: there is none. */
mt_tensor *mt_module_tensor(const mt_module *module, const char *path);
void mt_module_free(mt_module *module); /* NULL is allowed */

MT_C_END
