/* module.c -- the tree: parameters, children, their names, their mode. */
#include "nn/module.h"

#include "autograd/tape.h"
#include "core/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

mt_module *mt_module_new(const mt_module_class *kind)
{
    mt_module *module = calloc(1, sizeof *module);
    MT_CHECK(module, "out of memory");
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

mt_module *mt_module_child(mt_module *module, const char *name, mt_module *child)
{
    int64_t count = module->children + 1;
    module->child = realloc(module->child, (size_t)count * sizeof *module->child);
    module->child_name = realloc(module->child_name, (size_t)count * sizeof *module->child_name);
    MT_CHECK(module->child && module->child_name, "out of memory");
    char *kept = module->child_name[module->children];
    int length = snprintf(kept, sizeof *module->child_name, "%s", name);
    MT_CHECK(length < (int)sizeof *module->child_name, "module name %s... is too long", kept);
    return module->child[module->children++] = child;
}

mt_tensor *mt_forward(mt_module *module, mt_tensor *x)
{
    return module->kind->forward(module, x);
}

void mt_module_set_mode(mt_module *module, mt_mode mode)
{
    module->mode = mode;
    for (int i = 0; i < module->children; i++)
        mt_module_set_mode(module->child[i], mode);
}

static void move(mt_tensor *param, mt_device device)
{
    mt_scope_begin();
    mt_tensor *moved = mt_to_device(param, device);
    if (moved != param) {
        mt_storage_release(param->storage);
        param->storage = mt_storage_retain(moved->storage);
        param->view = moved->view;
        mt_zero_grad(param);
    }
    mt_scope_end();
}

void mt_module_to_device(mt_module *module, mt_device device)
{
    for (int i = 0; i < module->params; i++)
        move(module->param[i], device);
    for (int i = 0; i < module->children; i++)
        mt_module_to_device(module->child[i], device);
}

mt_device mt_module_device(const mt_module *module)
{
    mt_params params = mt_module_params(module);
    mt_device device = params.count > 0 ? params.item[0].tensor->storage->device : MT_CPU;
    mt_params_free(&params);
    return device;
}

static void collect(const mt_module *module, const char *prefix, mt_params *params)
{
    char path[96];
    for (int i = 0; i < module->params; i++) {
        params->item = realloc(params->item, (size_t)(params->count + 1) * sizeof *params->item);
        MT_CHECK(params->item, "out of memory");
        mt_param *param = &params->item[params->count++];
        param->tensor = module->param[i];
        int length = snprintf(param->name, sizeof param->name, "%s%s", prefix, module->param_name[i]);
        MT_CHECK(length < (int)sizeof param->name, "parameter name %s... is too long", param->name);
    }
    for (int i = 0; i < module->children; i++) {
        int length = snprintf(path, sizeof path, "%s%s.", prefix, module->child_name[i]);
        MT_CHECK(length < (int)sizeof path, "module name %s... is too long", path);
        collect(module->child[i], path, params);
    }
}

mt_params mt_module_params(const mt_module *module)
{
    mt_params params = { 0 };
    collect(module, "", &params);
    return params;
}

void mt_params_free(mt_params *params)
{
    free(params->item);
    *params = (mt_params){ 0 };
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

void mt_module_print(const mt_module *module)
{
    mt_params params = mt_module_params(module);
    for (int64_t i = 0; i < params.count; i++) {
        const mt_tensor *t = params.item[i].tensor;
        printf("%-32s %-16s %12" PRId64 "\n", params.item[i].name, mt_shape_text(mt_view_shape(&t->view)), mt_numel(t));
    }
    printf("%-32s %-16s %12" PRId64 "\n", "all parameters", "", mt_module_count(module));
    mt_params_free(&params);
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
