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
    /* LAB 14.2 BEGIN  Each rank has the gradient by way of its own weights; x's is their sum.
     * Hint: dout is only lent, and gradients accumulate: sum a copy_of it, and add that to dx. */
    mt_tensor *sum = copy_of(dout);
    mt_tp_all_reduce(tp, mt_f32(sum), mt_numel(sum), MT_SUM);
    mt_kernels(node->device)->scale_bwd(dx, mt_f32(sum), 1, mt_numel(sum));
    /* LAB 14.2 END */
    mt_scope_end();
}

static void reduce_backward(mt_node *node, mt_tensor *dout)
{
    /* LAB 14.2 BEGIN  All ranks have the same gradient of the sum, and each summand has that one. */
    mt_kernels(node->device)->scale_bwd(mt_grad_data(node, 0), mt_f32(dout), 1, mt_numel(dout));
    /* LAB 14.2 END */
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
    /* LAB 14.3 BEGIN  The whole input, some columns of the result. */
    return mt_linear(mt_tp_copy(tp, x), w, b);
    /* LAB 14.3 END */
}

mt_tensor *mt_tp_row_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    /* LAB 14.3 BEGIN  One summand of each rank; b belongs to the sum. */
    mt_tensor *sum = mt_tp_reduce(tp, mt_linear(x, w, NULL));
    return b ? mt_add(sum, b) : sum;
    /* LAB 14.3 END */
}

/* ---- parts of weights -------------------------------------------------------------------------------------- */

mt_status mt_tp_shard(float *out, const float *all, const mt_tp_layout *layout, int size, int rank)
{
    int64_t width = layout->width, unit = layout->unit;
    /* LAB 14.4 BEGIN  Refuse what cannot be divided, with the numbers; else copy this rank's part of each group of each
     * row, one after the other. */
    int64_t part = width / size;
    if (width % (unit * size) != 0)
        return mt_fail(MT_ERR_ARGUMENT,
                       "tensor parallel: %" PRId64 " units of %" PRId64 " cannot be divided equally among %d ranks",
                       width / unit, unit, size);
    for (int64_t i = 0; i < layout->rows * layout->groups; i++)
        memcpy(out + i * part, all + i * width + rank * part, (size_t)part * sizeof *out);
    /* LAB 14.4 END */
    return MT_OK;
}
