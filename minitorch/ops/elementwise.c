/* elementwise.c -- arithmetic on two operands, with broadcasting.
 * Kernels: add_*, sub_*, mul_*, div_* of kernels/kernels.h; CPU: kernels/elementwise_cpu.c; devices:
 * kernels/tables.h. */
#include "ops/call.h"
#include "kernels/kernels.h"

/* Which operands a gradient reads. */
enum { READS_NONE = 0, READS_A = 1, READS_B = 2, READS_BOTH = 3 };

typedef struct binary_op {
    mt_op op;
    int da_reads, db_reads;
} binary_op;

static mt_strided stretched(const mt_tensor *t, mt_shape shape)
{
    mt_strided s = { .data = mt_storage_data(t->storage) };
    mt_view_broadcast(&s.view, &t->view, shape);
    return s;
}

static mt_tensor *binary(const binary_op *b, mt_tensor *x, mt_tensor *y, mt_binary_fwd_fn *fwd, mt_binary_bwd_fn *bwd)
{
    MT_CALL(c, &b->op, { &x, MT_ANY_VIEW }, { &y, MT_ANY_VIEW });
    mt_shape shape = { 0 };
    MT_CHECK(mt_view_broadcast_shape(&shape, mt_shape_of(x), mt_shape_of(y)),
             "%s: a is %s, b is %s: they do not broadcast", b->op.name, mt_text_of(x), mt_text_of(y));
    mt_tensor *out = mt_call_result(&c, shape);
    mt_strided sx = stretched(x, shape), sy = stretched(y, shape);
    fwd(mt_f32(out), &sx, &sy);
    mt_node *node = mt_call_end(&c, mt_numel(out), 4 * (mt_numel(x) + mt_numel(y) + mt_numel(out)));
    if (!node)
        return out;
    /* Only what a wanted gradient reads is saved: x + y keeps nothing alive. */
    int reads = (mt_wants_grad(x) ? b->da_reads : 0) | (mt_wants_grad(y) ? b->db_reads : 0);
    node->kernel = (mt_any_fn *)bwd;
    node->dims[0] = reads;
    if (reads & READS_A)
        mt_save(node, x);
    if (reads & READS_B)
        mt_save(node, y);
    return out;
}

static void binary_backward(mt_node *node, mt_tensor *dout)
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
    mt_binary_bwd_fn *bwd = (mt_binary_bwd_fn *)node->kernel;
    bwd(&d[0], &d[1], mt_f32(dout), node->dims[0] & READS_A ? &x[0] : NULL, node->dims[0] & READS_B ? &x[1] : NULL);
}

#define BINARY_OP(name, da_reads, db_reads)                                                                \
    mt_tensor *mt_##name(mt_tensor *a, mt_tensor *b)                                                       \
    {                                                                                                      \
        static const binary_op op = { { #name, MT_OP_ELEMENTWISE, binary_backward }, da_reads, db_reads }; \
        const mt_base_table *kernels = mt_kernels(mt_device_of(a));                                        \
        return binary(&op, a, b, kernels->name##_fwd, kernels->name##_bwd);                                \
    }

BINARY_OP(add, READS_NONE, READS_NONE)
BINARY_OP(sub, READS_NONE, READS_NONE)
BINARY_OP(mul, READS_B, READS_A)
BINARY_OP(div, READS_B, READS_BOTH)
