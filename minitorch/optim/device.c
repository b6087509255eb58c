/* device.c -- the kernel of an update rule on a device, and whether the device has one; see rules.h. */
#include "optim/rules.h"

static const mt_optim_kernels *kernels_of(mt_device device)
{
    static const mt_optim_kernels cpu = { .clip_grad_norm = mt_clip_grad_norm_cpu };
    MT_CHECK(device == MT_CPU || mt_cuda, "this program has no update rules for cuda: use the cpu");
    return device == MT_CPU ? &cpu : mt_cuda->optim;
}

static mt_update_fn *find(mt_device device, mt_update_kind kind)
{
    return device == MT_CPU ? mt_update_rules[kind].update : kernels_of(device)->update[kind];
}

mt_status mt_update_available(mt_device device, mt_update_kind kind)
{
    if (find(device, kind))
        return MT_OK;
    return mt_fail(MT_ERR_UNAVAILABLE, "the optimizer %s has no kernel for %s: use another one, or another device",
                   mt_update_names[kind], mt_device_name(device));
}

mt_update_fn *mt_update_on(mt_device device, mt_update_kind kind)
{
    MT_CHECK(mt_update_available(device, kind) == MT_OK, "%s", mt_last_error());
    return find(device, kind);
}

double mt_clip_grad_norm_on(mt_device device, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    return kernels_of(device)->clip_grad_norm(arrays, count, max_norm);
}

bool mt_update_together(mt_device device, mt_update_kind kind, const mt_update *u, int64_t count, mt_update_list **list)
{
    const mt_optim_kernels *kernels = kernels_of(device);
    return kernels->update_together && kernels->update_together(kind, u, count, list);
}

void mt_update_list_free(mt_update_list *list)
{
    if (list)
        kernels_of(MT_CUDA)->list_free(list);
}
