/* residual.c -- the residual stream: what a part of a block adds to it.
 * Kernels: residual_fwd, scale_bwd of kernels/kernels.h; CPU: kernels/math_cpu.c; devices: kernels/tables.h. */
#include "ops/call.h"
#include "models/gpt2_ops.h"

static void residual_backward(mt_node *node, mt_tensor *dout)
{
    for (int i = 0; i < 2; i++) {
        float *d = mt_grad_data(node, i);
        if (!d)
            continue;
        mt_kernels(node->device)->scale_bwd(d, mt_f32(dout), 1, mt_numel(dout));
        mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
    }
}

static const mt_op residual_op = { "residual", MT_OP_ELEMENTWISE, residual_backward };

mt_tensor *mt_residual(mt_tensor *x, mt_tensor *part)
{
    MT_CALL(c, &residual_op, { &x, MT_DENSE }, { &part, MT_DENSE });
    MT_CHECK(mt_shape_equal(mt_shape_of(x), mt_shape_of(part)),
             "residual: x is %s, part is %s: their shapes must be equal", mt_text_of(x), mt_text_of(part));
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->residual_fwd(mt_f32(out), mt_f32(x), mt_f32(part), mt_numel(x));
    mt_call_end(&c, mt_numel(x), 12 * mt_numel(x));
    return out;
}
