/* device.c -- whose kernels move parameters on which device; see rules.h. */
#include "optim/rules.h"

static const mt_optim_kernels *cuda_kernels(void)
{
    MT_CHECK(mt_cuda, "this program has no update rules for cuda: use the cpu");
    return mt_cuda->optim;
}

mt_update_fn *mt_update_on(mt_device device, mt_update_kind kind)
{
    return device == MT_CPU ? mt_update_rules[kind].update : cuda_kernels()->update[kind];
}

double mt_clip_grad_norm_on(mt_device device, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    return device == MT_CPU ? mt_clip_grad_norm_cpu(arrays, count, max_norm)
                            : cuda_kernels()->clip_grad_norm(arrays, count, max_norm);
}

double mt_unscale_grads_on(mt_device device, const mt_grad_array *arrays, int64_t count, double scale, double max_norm)
{
    return device == MT_CPU ? mt_unscale_grads_cpu(arrays, count, scale, max_norm)
                            : cuda_kernels()->unscale_grads(arrays, count, scale, max_norm);
}

/* ---- all tensors in one launch -------------------------------------------------------------------- */

bool mt_update_together(mt_device device, mt_update_kind kind, const mt_update *u, int64_t count, mt_update_list **list)
{
    const mt_optim_kernels *kernels = device == MT_CPU ? NULL : cuda_kernels();
    return kernels && kernels->update_together && kernels->update_together(kind, u, count, list);
}

void mt_update_list_free(mt_update_list *list)
{
    if (list)
        cuda_kernels()->list_free(list);
}
