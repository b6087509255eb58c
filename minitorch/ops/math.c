/* math.c -- exponentials, logarithms, roots; sums, means and maxima, where a dimension splits a dense tensor into
 * [A,B,C]: A before it, B along it, C after it.
 * Kernels: exp_*, log_*, sqrt_*, sum_middle, max_middle_* of kernels/kernels.h; CPU: kernels/math_cpu.c; devices:
 * kernels/tables.h. */
#include "ops/call.h"
#include "kernels/kernels.h"

MT_UNARY_OP(exp, MT_OP_REDUCTION, MT_KEEP_OUT)
MT_UNARY_OP(log, MT_OP_REDUCTION, MT_KEEP_X)
MT_UNARY_OP(sqrt, MT_OP_REDUCTION, MT_KEEP_OUT)

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

static const mt_op sum_op = { "sum", MT_OP_REDUCTION, sum_backward };

static mt_tensor *sum_split(mt_tensor *x, split s, mt_shape shape)
{
    MT_CALL(c, &sum_op, { &x, MT_DENSE });
    mt_tensor *out = mt_call_result(&c, shape);
    mt_kernels(c.device)->sum_middle(mt_f32(out), mt_f32(x), s.A, s.B, s.C);
    mt_node *node = mt_call_end(&c, mt_numel(x), 4 * (mt_numel(x) + mt_numel(out)));
    if (node)
        node->dims[0] = s.A, node->dims[1] = s.B, node->dims[2] = s.C;
    return out;
}

mt_tensor *mt_sum(mt_tensor *x)
{
    return sum_split(x, (split){ 1, mt_numel(x), 1 }, MT_SCALAR);
}

mt_tensor *mt_sum_dim(mt_tensor *x, int dim)
{
    dim = counted_dim("sum_dim", x, dim);
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

static const mt_op max_op = { "max", MT_OP_REDUCTION, max_backward }, argmax_op = { "argmax", MT_OP_REDUCTION, NULL };

/* The largest along dim, and at which index of dim each is. */
static mt_tensor *maxima(const mt_op *op, const char *name, mt_tensor *x, int dim, mt_tensor **at)
{
    MT_CALL(c, op, { &x, MT_DENSE });
    dim = counted_dim(name, x, dim);
    split s = split_at(x, dim);
    mt_shape shape = without(mt_shape_of(x), dim);
    MT_CHECK(s.B >= 1 || s.A * s.C == 0, "%s: %s has nothing along dimension %d", name, mt_text_of(x), dim);
    mt_tensor *out = mt_call_result(&c, shape);
    *at = mt_empty(shape, MT_I64, c.device);
    mt_kernels(c.device)->max_middle_fwd(mt_f32(out), mt_data(*at), mt_f32(x), s.A, s.B, s.C);
    mt_node *node = mt_call_end(&c, 0, 4 * mt_numel(x) + 12 * mt_numel(out));
    if (node)
        node->dims[0] = s.A, node->dims[1] = s.B, node->dims[2] = s.C;
    mt_save(node, *at);
    return out;
}

mt_tensor *mt_max_dim(mt_tensor *x, int dim)
{
    mt_tensor *at;
    return maxima(&max_op, "max_dim", x, dim, &at);
}

mt_tensor *mt_argmax(mt_tensor *x)
{
    mt_tensor *at;
    maxima(&argmax_op, "argmax", x, -1, &at);
    return at;
}
