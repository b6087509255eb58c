/* module.c -- the tree of modules: parameters, children, names, mode. */
#include "nn/module.h"

#include "autograd/tape.h"
#include "core/scope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mt_module *mt_module_new(const mt_module_class *kind)
{
    mt_module *module = mt_calloc(1, sizeof *module);
    module->kind = kind;
    return module;
}

mt_tensor *mt_module_param(mt_module *module, const char *name, mt_tensor *param)
{
    MT_CHECK(module->params < MT_MODULE_PARAMS, "%s: more than %d parameters", module->kind->name, MT_MODULE_PARAMS);
    param->requires_grad = true;
    module->param_name[module->params] = name;
    return module->param[module->params++] = param;
}

mt_tensor *mt_module_new_param(mt_module *module, const char *name, mt_shape shape, float value)
{
    mt_memory_use before = mt_alloc_for(MT_USE_PARAMETER);
    mt_scope_begin();
    mt_tensor *t = mt_module_param(module, name, mt_retain(mt_full(shape, value)));
    mt_scope_end();
    mt_alloc_for(before);
    return t;
}

mt_module *mt_module_child(mt_module *module, const char *name, mt_module *child)
{
    int64_t count = module->children + 1;
    module->child = mt_realloc(module->child, count, sizeof *module->child);
    module->child_name = mt_realloc(module->child_name, count, sizeof *module->child_name);
    char *kept = module->child_name[module->children];
    int length = name ? snprintf(kept, sizeof *module->child_name, "%s", name)
                      : snprintf(kept, sizeof *module->child_name, "%d", module->children);
    MT_CHECK(length < (int)sizeof *module->child_name, "module name %s... is too long", kept);
    return module->child[module->children++] = child;
}

mt_tensor *mt_forward(mt_module *module, mt_tensor *x)
{
    MT_CHECK(module->kind->forward, "a %s has no forward: its owner reads its weight", module->kind->name);
    mt_scope_begin(); /* what neither the caller nor backward reads is freed at once */
    mt_tensor *out = mt_retain((module->run ? module->run : module->kind->forward)(module, x));
    mt_scope_end();
    return mt_scope_adopt(out);
}

void mt_module_set_mode(mt_module *module, mt_mode mode)
{
    module->mode = mode;
    for (int i = 0; i < module->children; i++)
        mt_module_set_mode(module->child[i], mode);
}

static void move(mt_tensor *param, mt_device device)
{
    mt_memory_use before = mt_alloc_for(MT_USE_PARAMETER);
    mt_scope_begin();
    mt_tensor *moved = mt_to_device(param, device);
    if (moved != param) {
        MT_CHECK(!param->grad_memory, "a model is moved to %s after its gradients have memory of their own",
                 mt_device_name(device));
        mt_storage_release(param->storage);
        param->storage = mt_storage_retain(moved->storage);
        param->view = moved->view;
        mt_zero_grad(param);
        mt_tensor_keep_cast(param, NULL); /* it is on the other device */
    }
    mt_scope_end();
    mt_alloc_for(before);
}

void mt_module_to_device(mt_module *module, mt_device device)
{
    for (int i = 0; i < module->params; i++)
        move(module->param[i], device);
    for (int i = 0; i < module->children; i++)
        mt_module_to_device(module->child[i], device);
}

/* The first parameter of a module or of those below it; NULL: there is none. */
static const mt_tensor *first_param(const mt_module *module)
{
    const mt_tensor *param = module->params > 0 ? module->param[0] : NULL;
    for (int i = 0; i < module->children && !param; i++)
        param = first_param(module->child[i]);
    return param;
}

mt_device mt_module_device(const mt_module *module)
{
    const mt_tensor *param = first_param(module);
    return param ? mt_device_of(param) : MT_CPU;
}

static void collect(mt_state *state, const mt_module *module, const char *prefix, bool rngs)
{
    char path[MT_STATE_NAME];
    for (int i = 0; i < module->params; i++) {
        mt_state_tensor(state, module->param[i], "%s%s", prefix, module->param_name[i]);
        state->item[state->count - 1].table = module->table;
    }
    if (rngs && module->rng.stream != 0) {
        snprintf(path, sizeof path, "%srng", prefix);
        mt_state_rng(state, (mt_rng *)&module->rng, path);
    }
    for (int i = 0; i < module->children; i++) {
        int length = snprintf(path, sizeof path, "%s%s.", prefix, module->child_name[i]);
        MT_CHECK(length < (int)sizeof path, "module name %s... is too long", path);
        collect(state, module->child[i], path, rngs);
    }
}

mt_state mt_module_params(const mt_module *module)
{
    mt_state params = { 0 };
    collect(&params, module, "", false);
    return params;
}

void mt_module_state(mt_state *state, mt_module *module)
{
    collect(state, module, "", true);
}

void mt_module_free(mt_module *module)
{
    if (!module)
        return;
    for (int i = 0; i < module->children; i++)
        mt_module_free(module->child[i]);
    for (int i = 0; i < module->params; i++)
        mt_release(module->param[i]);
    free(module->child);
    free(module->child_name);
    free(module->config);
    free(module);
}

/* ---- by name, and size ------------------------------------------------------------------------------ */

/* The module "h.3.attn". */
static mt_module *find(const mt_module *module, const char *path)
{
    size_t length = strcspn(path, ".");
    for (int i = 0; i < module->children; i++) {
        mt_module *child = module->child[i];
        if (strncmp(module->child_name[i], path, length) == 0 && module->child_name[i][length] == 0)
            return path[length] == '.' ? find(child, path + length + 1) : child;
    }
    MT_CHECK(false, "a %s has no child %s", module->kind->name, path);
    return NULL;
}

mt_tensor *mt_module_tensor(const mt_module *module, const char *path)
{
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    char parent[MT_STATE_NAME];
    snprintf(parent, sizeof parent, "%.*s", dot ? (int)(dot - path) : 0, path);
    const mt_module *owner = dot ? find(module, parent) : module;
    for (int i = 0; i < owner->params; i++)
        if (strcmp(owner->param_name[i], name) == 0)
            return owner->param[i];
    MT_CHECK(false, "a %s has no parameter %s", owner->kind->name, name);
    return NULL;
}

int64_t mt_module_count(const mt_module *module)
{
    int64_t count = 0;
    for (int i = 0; i < module->params; i++)
        count += mt_numel(module->param[i]);
    for (int i = 0; i < module->children; i++)
        count += mt_module_count(module->child[i]);
    return count;
}
