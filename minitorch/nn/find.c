/* find.c -- the parts of a module by name, and their size. */
#include "nn/module.h"

#include <stdio.h>
#include <string.h>

mt_module *mt_module_find(const mt_module *module, const char *path)
{
    size_t length = strcspn(path, ".");
    for (int i = 0; i < module->children; i++) {
        mt_module *child = module->child[i];
        if (strncmp(module->child_name[i], path, length) == 0 && module->child_name[i][length] == 0)
            return path[length] == '.' ? mt_module_find(child, path + length + 1) : child;
    }
    MT_CHECK(false, "a %s has no child %s", module->kind->name, path);
    return NULL;
}

mt_tensor *mt_module_tensor(const mt_module *module, const char *path)
{
    const char *dot = strrchr(path, '.'), *name = dot ? dot + 1 : path;
    char parent[MT_STATE_NAME];
    snprintf(parent, sizeof parent, "%.*s", dot ? (int)(dot - path) : 0, path);
    const mt_module *owner = dot ? mt_module_find(module, parent) : module;
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
