/* call.c -- the op frame, see call.h; and mt_contiguous, which it uses. */
#include "ops/call.h"
#include "autograd/node.h"

/* ---- dense copies ---------------------------------------------------------------------------------- */

/* Both gradients are dense, whatever the strides of the tensors were. */
static void copy_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)->scale_bwd(mt_grad_data(node, 0), mt_f32(dout), 1, mt_numel(dout));
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

const mt_op mt_same_order_op = { "view", MT_OP_ELEMENTWISE, copy_backward };

mt_tensor *mt_contiguous(mt_tensor *t)
{
    if (mt_view_is_contiguous(&t->view))
        return mt_scope_adopt(mt_retain(t));
    mt_tensor *copy = mt_tensor_packed(t);
    if (t->dtype == MT_F32)
        mt_record(&mt_same_order_op, copy, &t, 1);
    return copy;
}

/* ---- the frame --------------------------------------------------------------------------------------- */

static void check_input(const mt_call *c, const mt_tensor *t, int kind)
{
    const char *op = c->op->name;
    MT_CHECK(kind & MT_INTEGER || t->dtype == MT_F32, "%s: %s is %s, it must be f32", op, mt_text_of(t),
             mt_dtype_name(t->dtype));
    MT_CHECK(mt_storage_data(t->storage), "%s: %s was freed by mt_backward: mt_retain it before, or use it earlier", op,
             mt_text_of(t));
    MT_CHECK(mt_device_of(t) == c->device, "%s: operands are on %s and %s: move one of them", op,
             mt_device_name(c->device), mt_device_name(mt_device_of(t)));
}

/* What the kernel reads, into the op's variable. Returns the tensor that gets the gradient: the same, but for an
 * operand of another type. */
static mt_tensor *prepare(const mt_call *c, mt_tensor **variable, int kind)
{
    bool cast = kind & MT_OPERAND && c->dtype != MT_F32;
    if ((cast || !(kind & MT_ANY_VIEW)) && !mt_view_is_contiguous(&(*variable)->view))
        *variable = mt_contiguous(*variable);
    mt_tensor *source = *variable;
    if (cast)
        *variable = mt_operand(source, c->dtype);
    return source;
}

/* The precision that all float inputs have; f32 where they differ, and where no policy is in force. */
static mt_dtype precision_of(const mt_input *inputs, int count)
{
    void *user;
    mt_dtype precision = MT_F32;
    for (int i = 0, floats = 0; i < count && mt_cast_policy_get(&user); i++) {
        const mt_tensor *t = *inputs[i].tensor;
        if (t && !(inputs[i].kind & MT_INTEGER))
            precision = floats++ == 0 || t->precision == precision ? t->precision : MT_F32;
    }
    return precision;
}

void mt_call_begin(mt_call *c, const mt_op *op, mt_input *inputs, mt_tensor **source, int count)
{
    c->op = op;
    c->inputs = inputs;
    c->source = source;
    c->count = count;
    c->device = mt_device_of(*inputs[0].tensor);
    mt_span_open(&c->span, op->name, NULL);
    c->dtype = mt_cast_dtype(op->name, op->kind, precision_of(inputs, count)); /* the one place where it is asked */
    for (int i = 0; i < count; i++) {
        source[i] = NULL;
        if (!*inputs[i].tensor && inputs[i].kind & MT_OPTIONAL)
            continue;
        check_input(c, *inputs[i].tensor, inputs[i].kind);
        source[i] = prepare(c, inputs[i].tensor, inputs[i].kind);
    }
}

mt_tensor *mt_call_result(mt_call *c, mt_shape shape)
{
    mt_tensor *result = mt_empty(shape, MT_F32, c->device);
    result->precision = c->dtype;
    return c->result = result;
}

mt_node *mt_call_end(mt_call *c, int64_t flops, int64_t bytes)
{
    mt_tensor *differentiable[c->count];
    int count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->source[i] && !(c->inputs[i].kind & MT_INTEGER))
            differentiable[count++] = c->source[i];
    mt_count_work(flops, bytes);
    mt_node *node = c->op->backward ? mt_record(c->op, c->result, differentiable, count) : NULL;
    mt_span_close(&c->span);
    return node;
}

/* ---- helpers -------------------------------------------------------------------------------------- */

int64_t mt_last_dim(const char *op, const mt_tensor *t)
{
    MT_CHECK(t->view.rank >= 1, "%s: a scalar has no last dimension", op);
    return t->view.shape[t->view.rank - 1];
}

int64_t mt_rows(const mt_tensor *t)
{
    int64_t rows = 1;
    for (int d = 0; d + 1 < t->view.rank; d++)
        rows *= t->view.shape[d];
    return rows;
}

mt_shape mt_with_last_dim(mt_shape shape, int64_t size)
{
    shape.dim[shape.rank - 1] = size;
    return shape;
}

mt_tensor *mt_mean_shares(mt_tensor *dout, int64_t N)
{
    mt_tensor *shares = mt_zeros(MT_SHAPE(N), MT_F32, mt_device_of(dout));
    mt_kernels(mt_device_of(dout))->mean_bwd(mt_f32(shares), mt_f32(dout), N);
    return shares;
}
