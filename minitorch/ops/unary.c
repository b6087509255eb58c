/* unary.c -- ops that compute each element from one: activations, scale.
 * Kernels: relu_* to gelu_tanh_* of kernels/kernels.h; CPU: unit activations.c of lab 02; devices: kernels/tables.h.
 * scale_*: kernels/math_cpu.c. */
#include "ops/call.h"

mt_tensor *mt_unary_call(const mt_op *op, mt_tensor *x, mt_unary_fwd_fn *fwd, mt_unary_bwd_fn *bwd, mt_kept kept)
{
    MT_CALL(c, op, { &x, MT_DENSE });
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    fwd(mt_f32(out), mt_f32(x), mt_numel(x));
    mt_node *node = mt_call_end(&c, 0, 8 * mt_numel(x));
    if (node)
        node->kernel = (mt_any_fn *)bwd;
    mt_save(node, kept == MT_KEEP_X ? x : out);
    return out;
}

void mt_unary_backward(mt_node *node, mt_tensor *dout)
{
    mt_unary_bwd_fn *bwd = (mt_unary_bwd_fn *)node->kernel;
    bwd(mt_grad_data(node, 0), mt_f32(dout), mt_saved_data(node, 0), mt_numel(dout));
    mt_count_work(0, 16 * mt_numel(dout));
}

MT_UNARY_OP(relu, MT_OP_ELEMENTWISE, MT_KEEP_OUT)
MT_UNARY_OP(sigmoid, MT_OP_ELEMENTWISE, MT_KEEP_OUT)
MT_UNARY_OP(tanh, MT_OP_ELEMENTWISE, MT_KEEP_OUT)
MT_UNARY_OP(gelu, MT_OP_ELEMENTWISE, MT_KEEP_X)
MT_UNARY_OP(gelu_tanh, MT_OP_ELEMENTWISE, MT_KEEP_X)

/* ---- scale ------------------------------------------------------------------------------------------- */

static void scale_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)->scale_bwd(mt_grad_data(node, 0), mt_f32(dout), node->scalar, mt_numel(dout));
    mt_count_work(2 * mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op scale_op = { "scale", MT_OP_ELEMENTWISE, scale_backward };

mt_tensor *mt_scale(mt_tensor *x, float factor)
{
    MT_CALL(c, &scale_op, { &x, MT_DENSE });
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->scale_fwd(mt_f32(out), mt_f32(x), factor, mt_numel(x));
    mt_node *node = mt_call_end(&c, mt_numel(x), 8 * mt_numel(x));
    if (node)
        node->scalar = factor;
    return out;
}

mt_tensor *mt_neg(mt_tensor *x)
{
    return mt_scale(x, -1);
}
