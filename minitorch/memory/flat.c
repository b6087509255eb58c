/* flat.c -- see flat.h. */
#include "memory/flat.h"

#include "autograd/tape.h"

mt_tensor *mt_flat_part(const mt_tensor *block, int64_t first, mt_shape shape)
{
    mt_tensor *part = mt_tensor_alias(block);
    part->view = mt_view_contiguous(shape);
    part->view.offset = block->view.offset + first;
    return part;
}

mt_tensor *mt_flat_gradients(const mt_state *params)
{
    const mt_state_item *first = params->item, *end = first + params->count;
    int64_t count = 0;
    for (const mt_state_item *p = first; p < end; p++) {
        MT_CHECK(!p->tensor->grad_memory, "flat: the gradient of %s has memory of its own already", p->name);
        mt_zero_grad(p->tensor);
        count += mt_flat_room(mt_numel(p->tensor));
    }
    mt_device device = params->count > 0 ? mt_device_of(first->tensor) : MT_CPU;
    mt_tensor *block = mt_zeros_for(MT_USE_GRADIENT, MT_SHAPE(count), device);
    count = 0;
    for (const mt_state_item *p = first; p < end; p++) {
        p->tensor->grad_memory = mt_flat_part(block, count, mt_shape_of(p->tensor));
        count += mt_flat_room(mt_numel(p->tensor));
    }
    return block;
}
