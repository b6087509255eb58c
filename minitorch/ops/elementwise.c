/* elementwise.c -- ops that compute each element from one or two: arithmetic with broadcasting, activations. */
#include "ops/op.h"

void mt_op_check(const char *op, const mt_tensor *t)
{
    MT_CHECK(t->dtype == MT_F32, "%s: %s is %s, it must be f32", op, mt_text_of(t), mt_dtype_name(t->dtype));
    MT_CHECK(t->storage->data, "%s: %s was freed by mt_backward: mt_retain it before, or use it earlier", op,
             mt_text_of(t));
}

void mt_op_check_device(const char *op, const mt_tensor *a, const mt_tensor *b)
{
    MT_CHECK(mt_device_of(a) == mt_device_of(b), "%s: operands are on %s and %s: move one of them", op,
             mt_device_name(mt_device_of(a)), mt_device_name(mt_device_of(b)));
}

void mt_op_check_pair(const char *op, const mt_tensor *a, const mt_tensor *b)
{
    mt_op_check(op, a);
    mt_op_check(op, b);
    mt_op_check_device(op, a, b);
}

/* ---- two operands --------------------------------------------------------------------------------- */

/* Which operands a gradient reads. */
enum { READS_NONE = 0, READS_A = 1, READS_B = 2, READS_BOTH = 3 };

static mt_strided stretched(const mt_tensor *t, mt_shape shape)
{
    mt_strided s = { .data = t->storage->data };
    mt_view_broadcast(&s.view, &t->view, shape);
    return s;
}

/* Only what a wanted gradient reads is saved: x + y keeps nothing alive. */
static void save_operands(mt_node *node, mt_tensor *a, mt_tensor *b, int da_reads, int db_reads)
{
    int needed = (mt_wants_grad(a) ? da_reads : 0) | (mt_wants_grad(b) ? db_reads : 0);
    if (needed & READS_A)
        mt_save(node, a);
    if (needed & READS_B)
        mt_save(node, b);
    node->dims[0] = needed;
}

static mt_tensor *binary(const mt_op *op, mt_tensor *a, mt_tensor *b, mt_binary_fwd_fn *fwd, int da_reads, int db_reads)
{
    MT_SPAN(op->name);
    mt_shape shape = { 0 };
    mt_op_check_pair(op->name, a, b);
    MT_CHECK(mt_view_broadcast_shape(&shape, mt_shape_of(a), mt_shape_of(b)),
             "%s: a is %s, b is %s: they do not broadcast", op->name, mt_text_of(a), mt_text_of(b));
    mt_tensor *out = mt_result(shape, a);
    mt_strided sa = stretched(a, shape), sb = stretched(b, shape);
    fwd(mt_f32(out), &sa, &sb);
    mt_count_work(mt_numel(out), 4 * (mt_numel(a) + mt_numel(b) + mt_numel(out)));
    mt_node *node = mt_record(op, out, (mt_tensor *[]){ a, b }, 2);
    if (node)
        save_operands(node, a, b, da_reads, db_reads);
    return out;
}

static void binary_backward(mt_node *node, mt_tensor *dout, mt_binary_bwd_fn *bwd)
{
    mt_strided d[2] = { 0 }, x[2];
    int saved = 0;
    for (int i = 0; i < 2; i++) {
        mt_tensor *grad = mt_grad_of_input(node, i);
        if (grad) {
            d[i] = stretched(grad, node->shape);
            mt_count_work(mt_numel(dout), 4 * mt_numel(dout) + 8 * mt_numel(grad));
        }
        if (node->dims[0] & (READS_A << i))
            x[i] = stretched(mt_saved_tensor(node, saved++), node->shape);
    }
    bwd(&d[0], &d[1], mt_f32(dout), node->dims[0] & READS_A ? &x[0] : NULL, node->dims[0] & READS_B ? &x[1] : NULL);
}

#define BINARY(fn, da_reads, db_reads)                                                            \
    static void fn##_backward(mt_node *node, mt_tensor *dout)                                     \
    {                                                                                             \
        binary_backward(node, dout, mt_kernels(node->device)->fn##_bwd);                          \
    }                                                                                             \
    static const mt_op fn##_op = { .name = #fn, .backward = fn##_backward };                      \
    mt_tensor *mt_##fn(mt_tensor *a, mt_tensor *b)                                                \
    {                                                                                             \
        return binary(&fn##_op, a, b, mt_kernels(mt_device_of(a))->fn##_fwd, da_reads, db_reads); \
    }

BINARY(add, READS_NONE, READS_NONE)
BINARY(sub, READS_NONE, READS_NONE)
BINARY(mul, READS_B, READS_A)
BINARY(div, READS_B, READS_BOTH)

/* ---- one operand ------------------------------------------------------------------------------------ */

typedef enum keep { KEEP_X, KEEP_OUT } keep; /* what backward reads: whichever makes the formula shorter */

static mt_tensor *unary(const mt_op *op, mt_tensor *x, mt_unary_fwd_fn *fwd, keep kept)
{
    MT_SPAN(op->name);
    mt_op_check(op->name, x);
    x = mt_dense(x);
    mt_tensor *out = mt_result(mt_shape_of(x), x);
    fwd(mt_f32(out), mt_f32(x), mt_numel(x));
    mt_count_work(0, 8 * mt_numel(x));
    mt_node *node = mt_record(op, out, &x, 1);
    if (node)
        mt_save(node, kept == KEEP_X ? x : out);
    return out;
}

static void unary_backward(mt_node *node, mt_tensor *dout, mt_unary_bwd_fn *bwd)
{
    bwd(mt_grad_data(node, 0), mt_f32(dout), mt_saved_data(node, 0), mt_shape_numel(node->shape));
    mt_count_work(0, 16 * mt_numel(dout));
}

#define UNARY(fn, kept)                                                         \
    static void fn##_backward(mt_node *node, mt_tensor *dout)                   \
    {                                                                           \
        unary_backward(node, dout, mt_kernels(node->device)->fn##_bwd);         \
    }                                                                           \
    static const mt_op fn##_op = { .name = #fn, .backward = fn##_backward };    \
    mt_tensor *mt_##fn(mt_tensor *x)                                            \
    {                                                                           \
        return unary(&fn##_op, x, mt_kernels(mt_device_of(x))->fn##_fwd, kept); \
    }

UNARY(exp, KEEP_OUT)
UNARY(log, KEEP_X)
UNARY(sqrt, KEEP_OUT)
UNARY(relu, KEEP_OUT)
UNARY(sigmoid, KEEP_OUT)
UNARY(tanh, KEEP_OUT)
UNARY(gelu, KEEP_X)
UNARY(gelu_tanh, KEEP_X)

/* ---- scale ------------------------------------------------------------------------------------------- */

static void scale_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)
        ->scale_bwd(mt_grad_data(node, 0), mt_f32(dout), node->scalar[0], mt_shape_numel(node->shape));
    mt_count_work(2 * mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op scale_op = { .name = "scale", .backward = scale_backward };

mt_tensor *mt_scale(mt_tensor *x, float factor)
{
    MT_SPAN("scale");
    mt_op_check("scale", x);
    x = mt_dense(x);
    mt_tensor *out = mt_result(mt_shape_of(x), x);
    mt_kernels(mt_device_of(x))->scale_fwd(mt_f32(out), mt_f32(x), factor, mt_numel(x));
    mt_count_work(mt_numel(x), 8 * mt_numel(x));
    mt_node *node = mt_record(&scale_op, out, &x, 1);
    if (node)
        node->scalar[0] = factor;
    return out;
}

mt_tensor *mt_neg(mt_tensor *x)
{
    return mt_scale(x, -1);
}
