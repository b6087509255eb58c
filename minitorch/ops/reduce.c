/* reduce.c -- ops that make many elements one: sums, means, maxima. A dimension splits a dense tensor into [A,B,C]: A before
 * it, B along it, C after it. */
#include "ops/op.h"

typedef struct split {
    int64_t A, B, C;
} split;

static split split_at(const mt_tensor *x, int dim)
{
    split s = { 1, 1, 1 };
    for (int d = 0; d < x->view.rank; d++)
        *(d < dim ? &s.A : d == dim ? &s.B : &s.C) *= x->view.shape[d];
    return s;
}

static int counted_dim(const char *op, const mt_tensor *x, int dim)
{
    int counted = dim < 0 ? dim + x->view.rank : dim;
    MT_CHECK(counted >= 0 && counted < x->view.rank, "%s: %s has no dimension %d", op, mt_text_of(x), dim);
    return counted;
}

static mt_shape without(mt_shape shape, int dim)
{
    for (int d = dim; d + 1 < shape.rank; d++)
        shape.dim[d] = shape.dim[d + 1];
    shape.rank--;
    return shape;
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

/* Every element summed gets the sum's gradient: add dout, broadcast along the summed dimension. */
static void sum_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *dx = mt_grad_of_input(node, 0);
    int64_t A = node->dims[0], B = node->dims[1], C = node->dims[2];
    mt_strided to = { mt_f32(dx), mt_view_contiguous(MT_SHAPE(A, B, C)) };
    mt_strided from = { .data = mt_f32(dout) };
    mt_view middle = mt_view_contiguous(MT_SHAPE(A, 1, C));
    mt_view_broadcast(&from.view, &middle, MT_SHAPE(A, B, C));
    mt_kernels(node->device)->add_strided(&to, &from);
    mt_count_work(A * B * C, 4 * (mt_numel(dout) + 2 * A * B * C));
}

static const mt_op sum_op = { .name = "sum", .backward = sum_backward };

static mt_tensor *sum_split(mt_tensor *x, split s, mt_shape shape)
{
    MT_SPAN("sum");
    mt_tensor *out = mt_result(shape, x);
    mt_kernels(mt_device_of(x))->sum_middle(mt_f32(out), mt_f32(x), s.A, s.B, s.C);
    mt_count_work(mt_numel(x), 4 * (mt_numel(x) + mt_numel(out)));
    mt_node *node = mt_record(&sum_op, out, &x, 1);
    if (node)
        node->dims[0] = s.A, node->dims[1] = s.B, node->dims[2] = s.C;
    return out;
}

mt_tensor *mt_sum(mt_tensor *x)
{
    mt_op_check("sum", x);
    x = mt_dense(x);
    return sum_split(x, (split){ 1, mt_numel(x), 1 }, MT_SCALAR);
}

mt_tensor *mt_sum_dim(mt_tensor *x, int dim)
{
    mt_op_check("sum_dim", x);
    dim = counted_dim("sum_dim", x, dim);
    x = mt_dense(x);
    return sum_split(x, split_at(x, dim), without(mt_shape_of(x), dim));
}

mt_tensor *mt_mean(mt_tensor *x)
{
    MT_CHECK(mt_numel(x) > 0, "mean: %s has no elements", mt_text_of(x));
    return mt_scale(mt_sum(x), 1 / (float)mt_numel(x));
}

/* ---- maxima --------------------------------------------------------------------------------------------- */

static void max_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)
        ->max_middle_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_data(mt_saved_tensor(node, 0)), node->dims[0],
                         node->dims[1], node->dims[2]);
}

static const mt_op max_op = { .name = "max", .backward = max_backward };

/* The largest along dim, and where it was. */
static mt_tensor *maxima(const char *op, mt_tensor *x, int dim, mt_tensor **at)
{
    split s = split_at(x, dim);
    mt_shape shape = without(mt_shape_of(x), dim);
    MT_CHECK(s.B >= 1 || s.A * s.C == 0, "%s: %s has nothing along dimension %d", op, mt_text_of(x), dim);
    mt_tensor *out = mt_result(shape, x);
    *at = mt_empty(shape, MT_I64, mt_device_of(x));
    mt_kernels(mt_device_of(x))->max_middle_fwd(mt_f32(out), mt_data(*at), mt_f32(x), s.A, s.B, s.C);
    mt_count_work(0, 4 * mt_numel(x) + 12 * mt_numel(out));
    return out;
}

mt_tensor *mt_max_dim(mt_tensor *x, int dim)
{
    MT_SPAN("max");
    mt_op_check("max_dim", x);
    dim = counted_dim("max_dim", x, dim);
    x = mt_dense(x);
    split s = split_at(x, dim);
    mt_tensor *at, *out = maxima("max_dim", x, dim, &at);
    mt_node *node = mt_record(&max_op, out, &x, 1);
    if (node) {
        node->dims[0] = s.A, node->dims[1] = s.B, node->dims[2] = s.C;
        mt_save(node, at);
    }
    return out;
}

mt_tensor *mt_argmax(mt_tensor *x)
{
    mt_tensor *at;
    mt_op_check("argmax", x);
    int last = counted_dim("argmax", x, -1);
    maxima("argmax", mt_dense(x), last, &at);
    return at;
}
