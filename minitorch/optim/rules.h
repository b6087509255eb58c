/* rules.h -- the update kernels of each device, as kernels/tables.h has the kernels of ops. */
#pragma once

#include "core/device.h"
#include "optim/clip.h"
#include "optim/updates.h"

MT_C_BEGIN

typedef struct mt_update_list mt_update_list; /* opaque: what a device keeps of a list of tensors */

typedef struct mt_optim_kernels {
    mt_update_fn *update[MT_UPDATE_KINDS];
    __typeof__(mt_clip_grad_norm_cpu) *clip_grad_norm;
    bool (*update_together)(mt_update_kind kind, const mt_update *u, int64_t count,
                            mt_update_list **list); /* NULL: each tensor has a launch of its own */
    void (*list_free)(mt_update_list *list);
} mt_optim_kernels;

/* mt_update_available -- MT_ERR_UNAVAILABLE: the device has no kernel for this rule.   Aborts: it has no rules. */
mt_status mt_update_available(mt_device device, mt_update_kind kind);

/* mt_update_on, mt_clip_grad_norm_on -- the function of this device (optim/updates.h, clip.h).
 * Aborts: the device has none. */
mt_update_fn *mt_update_on(mt_device device, mt_update_kind kind);
double mt_clip_grad_norm_on(mt_device device, const mt_grad_array *arrays, int64_t count, double max_norm);

/* mt_update_together -- update all tensors of u [count] with one launch (cuda/update_list.c); false, and nothing was
 * done: the device has no kernel for it. *list begins as NULL; it keeps the list on the device from step to step, and
 * copies it again only after a tensor or gradient moved. The betas and eps of u[0].hyper hold for all.
 * mt_update_list_free -- NULL is allowed. */
bool mt_update_together(mt_device device, mt_update_kind kind, const mt_update *u, int64_t count,
                        mt_update_list **list);
void mt_update_list_free(mt_update_list *list);

MT_C_END
