/* linear.c -- x w + b.
 * Kernels: linear_* of kernels/kernels.h; CPU: unit linear.c of lab 02; devices: kernels/tables.h.
 * mt_products_of(dtype) is the table through which the op calls them (ops/policy.h); that of f32 asks the
 * tensors' device. */
#include "ops/call.h"

#include <inttypes.h>

static void linear_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    int64_t N = mt_rows(x), I = w->view.shape[0], O = w->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    float *db = node->edge_count > 2 ? mt_grad_data(node, 2) : NULL;
    int64_t size = mt_dtype_size(x->dtype);
    mt_products_of(x->dtype)->linear_bwd(dx, dw, db, dout, x, w);
    mt_count_work(2 * N * I * O * ((dx != NULL) + (dw != NULL)), 4 * N * O + (dx ? size * I * O + 8 * N * I : 0) +
                                                                     (dw ? size * N * I + 8 * I * O : 0) +
                                                                     (db ? 8 * O : 0));
}

static const mt_op linear_op = { "linear", MT_OP_MATMUL, linear_backward };

mt_tensor *mt_linear(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    MT_CALL(c, &linear_op, { &x, MT_OPERAND }, { &w, MT_OPERAND }, { &b, MT_OPTIONAL });
    int64_t N = mt_rows(x), I = mt_last_dim("linear", x);
    MT_CHECK(w->view.rank == 2 && w->view.shape[0] == I, "linear: x is %s, w is %s: w must be [%" PRId64 ", outputs]",
             mt_text_of(x), mt_text_of(w), I);
    int64_t O = w->view.shape[1];
    MT_CHECK(!b || (b->view.rank == 1 && b->view.shape[0] == O), "linear: w is %s, b is %s: b must be [%" PRId64 "]",
             mt_text_of(w), mt_text_of(b), O);
    mt_tensor *out = mt_call_result(&c, mt_with_last_dim(mt_shape_of(x), O));
    mt_products_of(c.dtype)->linear_fwd(out, x, w, b);
    int64_t bytes = mt_dtype_size(c.dtype) * (N * I + I * O) + 4 * (N * O + (b ? O : 0));
    mt_save(mt_call_end(&c, 2 * N * I * O, bytes), x, w);
    return out;
}
