/* layers.c -- the ops of a perceptron that have weights or a loss: linear, softmax, cross-entropy. */
#include "ops/call.h"

#include <inttypes.h>

/* ---- linear --------------------------------------------------------------------------------------- */

static void linear_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    int64_t N = mt_rows(x), I = w->view.shape[0], O = w->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    float *db = node->edge_count > 2 ? mt_grad_data(node, 2) : NULL;
    mt_kernels(node->device)->linear_bwd(dx, dw, db, mt_f32(dout), mt_f32(x), mt_f32(w), N, I, O);
    mt_count_work(2 * N * I * O * ((dx != NULL) + (dw != NULL)),
                  4 * (N * O + (dx ? I * O + 2 * N * I : 0) + (dw ? N * I + 2 * I * O : 0) + (db ? 2 * O : 0)));
}

static const mt_op linear_op = { "linear", MT_OP_MATMUL, linear_backward };

mt_tensor *mt_linear(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    MT_CALL(c, &linear_op, { &x, MT_DENSE }, { &w, MT_DENSE }, { &b, MT_OPTIONAL });
    int64_t N = mt_rows(x), I = mt_last_dim("linear", x);
    MT_CHECK(w->view.rank == 2 && w->view.shape[0] == I, "linear: x is %s, w is %s: w must be [%" PRId64 ", outputs]",
             mt_text_of(x), mt_text_of(w), I);
    int64_t O = w->view.shape[1];
    MT_CHECK(!b || (b->view.rank == 1 && b->view.shape[0] == O), "linear: w is %s, b is %s: b must be [%" PRId64 "]",
             mt_text_of(w), mt_text_of(b), O);
    mt_tensor *out = mt_call_result(&c, mt_with_last_dim(mt_shape_of(x), O));
    mt_kernels(c.device)->linear_fwd(mt_f32(out), mt_f32(x), mt_f32(w), b ? mt_f32(b) : NULL, N, I, O);
    mt_save(mt_call_end(&c, 2 * N * I * O, 4 * (N * I + I * O + N * O + (b ? O : 0))), x, w);
    return out;
}

/* ---- softmax --------------------------------------------------------------------------------------- */

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

/* ---- cross-entropy ----------------------------------------------------------------------------------- */

mt_tensor *mt_mean_shares(mt_tensor *dout, int64_t N)
{
    mt_tensor *shares = mt_zeros(MT_SHAPE(N), MT_F32, mt_device_of(dout));
    mt_kernels(mt_device_of(dout))->mean_bwd(mt_f32(shares), mt_f32(dout), N);
    return shares;
}

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
