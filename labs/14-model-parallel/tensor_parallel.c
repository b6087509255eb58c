/* tensor_parallel.c -- layers whose weights are divided among ranks; see parallel/tensor_parallel.h. */
#include "parallel/tensor_parallel.h"

#include <inttypes.h>
#include <string.h>

#include "ops/call.h"

/* ---- copy and reduce ------------------------------------------------------------------------------------- */

static mt_tensor *copy_of(const mt_tensor *t)
{
    return mt_tensor_packed(t);
}

static void copy_backward(mt_node *node, mt_tensor *dout)
{
    mt_tp *tp = *(mt_tp **)node->user;
    float *dx = mt_grad_data(node, 0);
    mt_scope_begin();
    /* TODO 14.2: Each rank has the gradient by way of its own weights; x's is their sum.
     * Hint: dout is only lent, and gradients accumulate: sum a copy_of it, and add that to dx. */
    MT_TODO("14.2"); /* delete this line when yours stands here */
    mt_scope_end();
}

static void reduce_backward(mt_node *node, mt_tensor *dout)
{
    /* TODO 14.2: All ranks have the same gradient of the sum, and each summand has that one. */
    MT_TODO("14.2"); /* delete this line when yours stands here */
}

/* The op of one input whose result has the same elements, or their sums. */
static mt_tensor *same_shape(const mt_op *op, mt_tp *tp, mt_tensor *x, bool sum)
{
    MT_CALL(c, op, { &x, MT_DENSE });
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->scale_fwd(mt_f32(out), mt_f32(x), 1, mt_numel(x));
    if (sum)
        mt_tp_all_reduce(tp, mt_f32(out), mt_numel(out), MT_SUM);
    mt_node *node = mt_call_end(&c, 0, 8 * mt_numel(x));
    if (node)
        mt_node_copy_user(node, &tp, sizeof tp);
    return out;
}

mt_tensor *mt_tp_copy(mt_tp *tp, mt_tensor *x)
{
    static const mt_op op = { "tp_copy", MT_OP_ELEMENTWISE, copy_backward };
    return same_shape(&op, tp, x, false);
}

mt_tensor *mt_tp_reduce(mt_tp *tp, mt_tensor *x)
{
    static const mt_op op = { "tp_reduce", MT_OP_ELEMENTWISE, reduce_backward };
    return same_shape(&op, tp, x, true);
}

/* ---- products -------------------------------------------------------------------------------------------- */

mt_tensor *mt_tp_column_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    /* TODO 14.3: The whole input, some columns of the result. */
    MT_TODO("14.3"); /* delete this line when yours stands here */
}

mt_tensor *mt_tp_row_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    /* TODO 14.3: One summand of each rank; b belongs to the sum. */
    MT_TODO("14.3"); /* delete this line when yours stands here */
}

/* ---- parts of weights -------------------------------------------------------------------------------------- */

mt_status mt_tp_shard(float *out, const float *all, const mt_tp_layout *layout, int size, int rank)
{
    int64_t width = layout->width, unit = layout->unit;
    /* TODO 14.4: Refuse what cannot be divided, with the numbers; else copy this rank's part of each group of each
     * row, one after the other. */
    MT_TODO("14.4"); /* delete this line when yours stands here */
    return MT_OK;
}
