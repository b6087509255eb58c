/* softmax.c -- the softmax of each row, which is the last dimension.
 * Kernels: softmax_* of kernels/kernels.h; CPU: unit softmax.c of lab 02; devices: kernels/tables.h. */
#include "ops/call.h"

static void softmax_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)
        ->softmax_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_saved_data(node, 0), mt_rows(dout), mt_dim(dout, -1));
    mt_count_work(0, 16 * mt_numel(dout));
}

static const mt_op softmax_op = { "softmax", MT_OP_REDUCTION, softmax_backward };

mt_tensor *mt_softmax(mt_tensor *x)
{
    MT_CALL(c, &softmax_op, { &x, MT_DENSE });
    int64_t C = mt_last_dim("softmax", x);
    MT_CHECK(C >= 1 || mt_rows(x) == 0, "softmax: the rows of %s are empty", mt_text_of(x));
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->softmax_fwd(mt_f32(out), mt_f32(x), mt_rows(x), C);
    mt_save(mt_call_end(&c, 0, 8 * mt_numel(x)), out);
    return out;
}
