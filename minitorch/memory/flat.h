/* flat.h -- the gradients of many parameters in one block of memory, which stays from step to step: one pass or one
 * message may take many of them.
 *
 *     mt_tensor *block = mt_flat_gradients(&params);     // each gradient is a view of it from now on
 *     ... mt_backward, mt_zero_grad as before ...
 *     mt_release(block);                                 // the parameters hold its memory */
#pragma once

#include "core/state.h"

MT_C_BEGIN

/* mt_flat_room -- elements from the begin of a gradient with n elements to that of the next one in a block: each begins
 * at a multiple of MT_ALIGNMENT bytes. */
static inline int64_t mt_flat_room(int64_t n)
{
    const int64_t unit = MT_ALIGNMENT / sizeof(float);
    return mt_ceil_div(n, unit) * unit;
}

/* mt_flat_part -- the elements of a dense tensor from `first` on as a tensor of this shape, over the same memory; the
 * caller's. */
mt_tensor *mt_flat_part(const mt_tensor *block, int64_t first, mt_shape shape);

/* mt_flat_gradients -- one block for the gradients of these parameters, in the order of the list, which may be freed:
 * their grad_memory are views of the block. mt_zero_grad then keeps the memory, and the next backward clears and reuses
 * it. Without a block each gradient has its own memory, which mt_zero_grad frees: less at the peak of a step with one
 * micro-batch. Gradients that are there are released.
 *   returns f32 [n], the caller's, on the parameters' device; zeros between gradients
 * Aborts: a parameter whose gradient has memory of its own already. */
mt_tensor *mt_flat_gradients(const mt_state *params);

MT_C_END
