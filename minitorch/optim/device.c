/* device.c -- whose kernels move parameters on which device; see rules.h. */
#include "optim/rules.h"

#include "core/storage.h"

#include <stdlib.h>
#include <string.h>

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

/* The list twice: what is on the device, and what this step needs. */
struct mt_update_list {
    mt_device device;
    int64_t count;
    mt_update_segment *segment, *sent, *there;
    mt_update_factors *factors, *factors_there;
};

static mt_update_list *list_new(mt_device device, int64_t count)
{
    mt_update_list *list = mt_calloc(1, sizeof *list);
    *list = (mt_update_list){ .device = device, .count = count };
    list->segment = calloc((size_t)count, sizeof *list->segment);
    list->sent = calloc((size_t)count, sizeof *list->sent);
    list->factors = calloc((size_t)count, sizeof *list->factors);
    MT_CHECK(list->segment && list->sent && list->factors, "out of memory");
    mt_memory_use before = mt_alloc_for(MT_USE_STATE);
    list->there = mt_alloc(count * (int64_t)sizeof *list->there, device);
    list->factors_there = mt_alloc(count * (int64_t)sizeof *list->factors, device);
    mt_alloc_for(before);
    return list;
}

void mt_update_list_free(mt_update_list *list)
{
    if (!list)
        return;
    mt_free(list->there, list->count * (int64_t)sizeof *list->there, list->device);
    mt_free(list->factors_there, list->count * (int64_t)sizeof *list->factors, list->device);
    free(list->segment);
    free(list->sent);
    free(list->factors);
    free(list);
}

bool mt_update_together(mt_device device, mt_update_kind kind, const mt_update *u, int64_t count, mt_update_list **list)
{
    const mt_optim_kernels *kernels = device == MT_CPU ? NULL : cuda_kernels();
    if (!kernels || kind != MT_ADAMW || !kernels->adamw_list || count == 0)
        return false;
    if (*list && (*list)->count != count) {
        mt_update_list_free(*list);
        *list = NULL;
    }
    mt_update_list *l = *list = *list ? *list : list_new(device, count);
    int64_t bytes = count * (int64_t)sizeof *l->segment, chunks = kernels->adamw_list(l->segment, l->factors, u, count);
    if (memcmp(l->segment, l->sent, (size_t)bytes) != 0) {
        memcpy(l->sent, l->segment, (size_t)bytes);
        mt_copy(l->there, device, l->sent, MT_CPU, bytes);
    }
    mt_copy(l->factors_there, device, l->factors, MT_CPU, count * (int64_t)sizeof *l->factors);
    kernels->adamw_all(l->there, l->factors_there, count, chunks, u->hyper);
    return true;
}
