/* layernorm.c -- each row normalised, scaled and shifted: the op and its layer.
 * Kernels: layernorm_* of models/kernels_gpt2.h; CPU: unit layernorm.c of lab 08; devices: kernels/tables.h. */
#include "ops/call.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"

#include <inttypes.h>

static void layernorm_backward(mt_node *node, mt_tensor *dout)
{
    mt_gpt2_kernels(node->device)
        ->layernorm_bwd(mt_grad_data(node, 0), mt_grad_data(node, 1), mt_grad_data(node, 2), mt_f32(dout),
                        mt_saved_data(node, 0), mt_saved_data(node, 1), mt_saved_data(node, 2), mt_saved_data(node, 3),
                        mt_rows(dout), mt_dim(dout, -1));
    mt_count_work(0, (mt_grad_data(node, 0) ? 16 : 8) * mt_numel(dout));
}

static void check(const mt_tensor *x, const mt_tensor *gamma, const mt_tensor *beta, float eps)
{
    int64_t C = mt_dim(x, -1);
    MT_CHECK(gamma->view.rank == 1 && gamma->view.shape[0] == C &&
                 mt_shape_equal(mt_shape_of(gamma), mt_shape_of(beta)),
             "layernorm: x is %s, gamma is %s, beta is %s: both must be [%" PRId64 "]", mt_text_of(x),
             mt_text_of(gamma), mt_text_of(beta), C);
    MT_CHECK(eps > 0, "layernorm: eps is %g, it must be positive", (double)eps);
}

static mt_tensor *norm_again(mt_node *node)
{
    return mt_layernorm(mt_saved_tensor(node, 0), mt_saved_tensor(node, 1), mt_saved_tensor(node, 4), node->scalar);
}

static const mt_op layernorm_op = { "layernorm", MT_OP_REDUCTION, layernorm_backward };

mt_tensor *mt_layernorm(mt_tensor *x, mt_tensor *gamma, mt_tensor *beta, float eps)
{
    MT_CALL(c, &layernorm_op, { &x, MT_DENSE }, { &gamma, MT_DENSE }, { &beta, MT_DENSE });
    int64_t C = mt_last_dim("layernorm", x), N = mt_rows(x);
    check(x, gamma, beta, eps);
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_tensor *mean = mt_empty(MT_SHAPE(N), MT_F32, c.device), *rstd = mt_empty(MT_SHAPE(N), MT_F32, c.device);
    mt_gpt2_kernels(c.device)->layernorm_fwd(mt_f32(out), mt_f32(mean), mt_f32(rstd), mt_f32(x), mt_f32(gamma),
                                             mt_f32(beta), N, C, eps);
    mt_node *node = mt_call_end(&c, 0, 8 * (N * C + N + C));
    if (node) {
        node->scalar = eps;
        node->again = norm_again;
    }
    mt_save(node, x, gamma, mean, rstd, beta);
    return out;
}

/* ---- the layer ------------------------------------------------------------------------------------------ */

static mt_tensor *layernorm_forward(mt_module *m, mt_tensor *x)
{
    return mt_layernorm(x, m->param[0], m->param[1], m->scalar[0]);
}

mt_module *mt_layernorm_layer(int64_t columns)
{
    static const mt_module_class class = { "layernorm", layernorm_forward };
    mt_module *m = mt_module_new(&class);
    mt_module_new_param(m, "weight", MT_SHAPE(columns), 1);
    mt_module_new_param(m, "bias", MT_SHAPE(columns), 0);
    m->scalar[0] = 1e-5f;
    return m;
}
