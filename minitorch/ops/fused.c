/* fused.c -- ops that do the work of several in one pass over memory. */
#include "ops/call.h"
#include "ops/kernels_fused.h"

#include <inttypes.h>

const mt_fused_table mt_fused_cpu = { MT_FUSED_KERNELS(MT_KERNEL_CPU) };

/* ---- residual + layernorm ------------------------------------------------------------------------------ */

static void residual_norm_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *dsum = mt_grad_of_result(node, 1);
    float *dx = mt_grad_data(node, 0), *dpart = mt_grad_data(node, 1);
    mt_fused_kernels(node->device)
        ->residual_norm_bwd(dx, dpart, mt_grad_data(node, 2), mt_grad_data(node, 3), dsum ? mt_f32(dsum) : NULL,
                            mt_f32(dout), mt_saved_data(node, 0), mt_saved_data(node, 1), mt_saved_data(node, 2),
                            mt_saved_data(node, 3), mt_rows(dout), mt_dim(dout, -1));
    mt_count_work(0, (8 + (dsum ? 4 : 0) + (dx ? 8 : 0) + (dpart ? 8 : 0)) * mt_numel(dout));
}

static const mt_op residual_norm_op = { "residual_norm", MT_OP_REDUCTION, residual_norm_backward };

mt_tensor *mt_residual_norm(mt_tensor **sum, mt_tensor *x, mt_tensor *part, mt_tensor *gamma, mt_tensor *beta,
                            float eps)
{
    MT_CALL(c, &residual_norm_op, { &x, MT_DENSE }, { &part, MT_DENSE }, { &gamma, MT_DENSE }, { &beta, MT_DENSE });
    int64_t C = mt_last_dim("residual_norm", x), N = mt_rows(x);
    MT_CHECK(mt_shape_equal(mt_shape_of(x), mt_shape_of(part)),
             "residual_norm: x is %s, part is %s: they must be equal", mt_text_of(x), mt_text_of(part));
    mt_norm_check("residual_norm", x, gamma, beta, eps);
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    *sum = mt_call_result(&c, mt_shape_of(x));
    mt_tensor *mean = mt_empty(MT_SHAPE(N), MT_F32, c.device), *rstd = mt_empty(MT_SHAPE(N), MT_F32, c.device);
    mt_fused_kernels(c.device)->residual_norm_fwd(mt_f32(*sum), mt_f32(out), mt_f32(mean), mt_f32(rstd), mt_f32(x),
                                                  mt_f32(part), mt_f32(gamma), mt_f32(beta), N, C, eps);
    mt_node *node = mt_call_end(&c, N * C, 16 * N * C + 8 * (N + C));
    if (node) {
        node->scalar = eps;
        node->again = mt_norm_again; /* the first result */
    }
    mt_save(node, *sum, gamma, mean, rstd, beta);
    return out;
}

/* ---- bias + GELU --------------------------------------------------------------------------------------- */

static void bias_gelu_backward(mt_node *node, mt_tensor *dout)
{
    float *dx = mt_grad_data(node, 0), *dbias = mt_grad_data(node, 1);
    mt_fused_kernels(node->device)
        ->bias_gelu_bwd(dx, dbias, mt_f32(dout), mt_saved_data(node, 0), mt_saved_data(node, 1), mt_rows(dout),
                        mt_dim(dout, -1));
    mt_count_work(0, (8 + (dx ? 8 : 0)) * mt_numel(dout));
}

static mt_tensor *bias_gelu_again(mt_node *node)
{
    return mt_bias_gelu(mt_saved_tensor(node, 0), mt_saved_tensor(node, 1));
}

static const mt_op bias_gelu_op = { "bias_gelu", MT_OP_ELEMENTWISE, bias_gelu_backward };

mt_tensor *mt_bias_gelu(mt_tensor *x, mt_tensor *bias)
{
    MT_CALL(c, &bias_gelu_op, { &x, MT_DENSE }, { &bias, MT_DENSE });
    int64_t C = mt_last_dim("bias_gelu", x);
    MT_CHECK(bias->view.rank == 1 && bias->view.shape[0] == C,
             "bias_gelu: x is %s, bias is %s: it must be [%" PRId64 "]", mt_text_of(x), mt_text_of(bias), C);
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_fused_kernels(c.device)->bias_gelu_fwd(mt_f32(out), mt_f32(x), mt_f32(bias), mt_rows(x), C);
    mt_node *node = mt_call_end(&c, 0, 8 * mt_numel(x) + 4 * C);
    if (node)
        node->again = bias_gelu_again;
    mt_save(node, x, bias);
    return out;
}
