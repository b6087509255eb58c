/* keep.c -- which saved results of products are kept in 16 bits from forward to backward, and how they come back.
 *
 *   forward    out = op(x) in f32 -----> saved: x rounded to 16 bits; x itself is freed with its scope
 *   backward   dx = op'(x rounded) <---- widened to f32 when the op asks for it
 *
 * Between the two lies the rest of forward and backward: this is the time in which activations fill the memory. */
#include "amp/autocast.h"
#include "amp/kernels_16bit.h"

bool mt_autocast_save(mt_saved *saved, mt_tensor *t, mt_dtype dtype)
{
    const mt_view *v = &t->view;
    bool kept = false;
    /* LAB 09.9 BEGIN  Is t an activation? Then keep its copy.
     * Hint: t->node tells what was computed from a parameter from parameters, data and an op's own arrays; the shape
     * tells rows from one number a row. mt_autocast_operand finds the copy that a product has made, or makes one that
     * a later product will find. The node needs a reference of its own: mt_retain. */
    kept = t->node && mt_view_is_contiguous(v) && v->rank >= 2 && v->shape[v->rank - 1] >= 2;
    if (kept)
        saved->tensor = mt_retain(mt_autocast_operand(t, dtype));
    /* LAB 09.9 END */
    return kept;
}

mt_tensor *mt_autocast_restore(const mt_saved *saved)
{
    const mt_tensor *kept = saved->tensor;
    mt_tensor *t = mt_zeros(mt_view_shape(&kept->view), MT_F32, kept->storage->device);
    /* LAB 09.9 BEGIN  Widen the copy. */
    mt_16bit_kernels(kept->storage->device)->convert(mt_data(t), MT_F32, mt_data(kept), kept->dtype, mt_numel(t));
    /* LAB 09.9 END */
    return t;
}
