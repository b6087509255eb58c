/* bias_gelu.c -- a bias and GELU in one pass; and the CPU's table of the fused kernels.
 * Kernels: bias_gelu_* of fused/kernels_fused.h; CPU: unit bias_gelu.c of lab 11; devices: kernels/tables.h. */
#include "ops/call.h"
#include "ops/ops.h"
#include "fused/fused.h"
#include "fused/kernels_fused.h"

#include <inttypes.h>

const mt_fused_table mt_fused_cpu = { MT_FUSED_KERNELS(MT_KERNEL_CPU) };
MT_TABLES_DEFINE(fused)

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

mt_tensor *mt_linear_bias_gelu(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    return b ? mt_bias_gelu(mt_linear(x, w, NULL), b) : mt_gelu_tanh(mt_linear(x, w, NULL));
}
