/* cross_entropy.c -- the mean loss of a classifier.
 * Kernels: cross_entropy_* of kernels/kernels.h; CPU: unit softmax.c of lab 02; devices: kernels/tables.h. mean_*:
 * kernels/math_cpu.c. */
#include "ops/call.h"

static void cross_entropy_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *probs = mt_saved_tensor(node, 0), *label = mt_saved_tensor(node, 1);
    int64_t N = probs->view.shape[0], C = probs->view.shape[1];
    mt_scope_begin();
    const float *dloss = mt_f32(mt_mean_shares(dout, N));
    mt_kernels(node->device)->cross_entropy_bwd(mt_grad_data(node, 0), dloss, mt_f32(probs), mt_data(label), N, C);
    mt_count_work(0, 12 * N * C);
    mt_scope_end();
}

static const mt_op cross_entropy_op = { "cross_entropy", MT_OP_REDUCTION, cross_entropy_backward };

mt_tensor *mt_cross_entropy(mt_tensor *logits, mt_tensor *label)
{
    MT_CALL(c, &cross_entropy_op, { &logits, MT_DENSE }, { &label, MT_INTEGER });
    const int64_t *d = logits->view.shape;
    MT_CHECK(logits->view.rank == 2 && label->view.rank == 1 && label->view.shape[0] == d[0],
             "cross_entropy: logits are %s, label is %s: they must be [N,C] and [N]", mt_text_of(logits),
             mt_text_of(label));
    MT_CHECK(label->dtype == MT_I32, "cross_entropy: label is %s, it must be i32", mt_dtype_name(label->dtype));
    MT_CHECK(d[0] > 0, "cross_entropy: the mean over no rows, logits are %s", mt_text_of(logits));
    MT_CHECK(d[1] > 0, "cross_entropy: logits are %s: there is no class", mt_text_of(logits));
    mt_tensor *loss = mt_call_result(&c, MT_SCALAR);
    mt_tensor *probs = mt_empty(mt_shape_of(logits), MT_F32, c.device),
              *rows = mt_empty(MT_SHAPE(d[0]), MT_F32, c.device);
    mt_kernels(c.device)->cross_entropy_fwd(mt_f32(rows), mt_f32(probs), mt_f32(logits), mt_data(label), d[0], d[1]);
    mt_kernels(c.device)->mean_fwd(mt_f32(loss), mt_f32(rows), d[0]);
    mt_save(mt_call_end(&c, 0, 8 * mt_numel(probs)), probs, label);
    return loss;
}
