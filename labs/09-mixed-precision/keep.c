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
    /* TODO 09.9: Is t an activation? Then keep its copy.
     * Hint: t->node tells what was computed from a parameter from parameters, data and an op's own arrays; the shape
     * tells rows from one number a row. mt_autocast_operand finds the copy that a product has made, or makes one that
     * a later product will find. The node needs a reference of its own: mt_retain. */
    MT_TODO("09.9"); /* delete this line when yours stands here */
    return kept;
}

mt_tensor *mt_autocast_restore(const mt_saved *saved)
{
    const mt_tensor *kept = saved->tensor;
    mt_tensor *t = mt_zeros(mt_view_shape(&kept->view), MT_F32, kept->storage->device);
    /* TODO 09.9: Widen the copy. */
    MT_TODO("09.9"); /* delete this line when yours stands here */
    return t;
}
