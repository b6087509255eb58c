/* linear.c -- x w + b. */
#include "ops/autocast.h"
#include "ops/call.h"
#include "ops/kernels_16bit.h"

#include <inttypes.h>

/* As mt_linear_fwd_cpu and mt_linear_bwd_cpu, with x and w of 16 bits; b is f32, and rows of b are the product with no
 * inputs. */
static void forward_16bit(mt_tensor *out, mt_tensor *x, mt_tensor *w, mt_tensor *b, int64_t N, int64_t I, int64_t O)
{
    mt_device on = mt_device_of(x);
    mt_matmul_dims d = mt_dense_dims(N, O, I, MT_NO_TRANS, MT_NO_TRANS, b ? MT_ACCUMULATE : MT_OVERWRITE);
    if (b)
        mt_kernels(on)->linear_fwd(mt_f32(out), NULL, NULL, mt_f32(b), N, 0, O);
    mt_16bit_kernels(on)->matmul16(mt_f32(out), mt_data(x), mt_data(w), x->dtype, &d);
}

static void backward_16bit(float *dx, float *dw, float *db, mt_tensor *dout, mt_tensor *x, mt_tensor *w, int64_t N,
                           int64_t I, int64_t O)
{
    const mt_16bit_table *kernels = mt_16bit_kernels(mt_device_of(x));
    mt_matmul_dims for_dx = mt_dense_dims(N, I, O, MT_NO_TRANS, MT_TRANS, MT_ACCUMULATE);
    mt_matmul_dims for_dw = mt_dense_dims(I, O, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    mt_scope_begin();
    void *dout16 = mt_data(mt_autocast_operand(dout, x->dtype)); /* products of 16 bits here too */
    if (dx)
        kernels->matmul16(dx, dout16, mt_data(w), x->dtype, &for_dx);
    if (dw)
        kernels->matmul16(dw, mt_data(x), dout16, x->dtype, &for_dw);
    mt_scope_end();
    if (db)
        mt_kernels(mt_device_of(x))->linear_bwd(NULL, NULL, db, mt_f32(dout), NULL, NULL, N, 0, O);
}

static void linear_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    int64_t N = mt_rows(x), I = w->view.shape[0], O = w->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    float *db = node->edge_count > 2 ? mt_grad_data(node, 2) : NULL;
    int64_t size = mt_dtype_size(x->dtype);
    if (x->dtype == MT_F32)
        mt_kernels(node->device)->linear_bwd(dx, dw, db, mt_f32(dout), mt_f32(x), mt_f32(w), N, I, O);
    else
        backward_16bit(dx, dw, db, dout, x, w, N, I, O);
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
    if (c.dtype == MT_F32)
        mt_kernels(c.device)->linear_fwd(mt_f32(out), mt_f32(x), mt_f32(w), b ? mt_f32(b) : NULL, N, I, O);
    else
        forward_16bit(out, x, w, b, N, I, O);
    int64_t bytes = mt_dtype_size(c.dtype) * (N * I + I * O) + 4 * (N * O + (b ? O : 0));
    mt_save(mt_call_end(&c, 2 * N * I * O, bytes), x, w);
    return out;
}
