/* call.h -- the op frame: what every op does in the same way before and after its kernel runs.
 *
 *     mt_tensor *mt_softmax(mt_tensor *x)
 *     {
 *         MT_CALL(c, &softmax_op, { &x, MT_DENSE });          // checks x, asks the policy, makes x dense, opens a span
 *         mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
 *         mt_kernels(c.device)->softmax_fwd(mt_f32(out), mt_f32(x), mt_rows(x), mt_last_dim("softmax", x));
 *         mt_save(mt_call_end(&c, 0, 8 * mt_numel(x)), out);   // counts the work, records, keeps what backward reads
 *         return out;
 *     }
 *
 * An op is written once and serves every device: it never names a kernel, it asks the table of its device. */
#pragma once

#include "autograd/tape.h"
#include "kernels/kernels.h"
#include "ops/ops.h"
#include "ops/policy.h"
#include "core/span.h"

MT_C_BEGIN

/* What an input is. */
typedef enum mt_input_kind {
    MT_DENSE = 0,    /* f32, made dense, may want a gradient */
    MT_OPTIONAL = 1, /* may be NULL */
    MT_INTEGER = 2,  /* labels, ids: any type, no gradient; the op checks the type */
    MT_ANY_VIEW = 4, /* not made dense: the kernel takes strides */
    MT_OPERAND = 8,  /* of a product: read in the type that the cast policy chooses */
} mt_input_kind;

typedef struct mt_input {
    mt_tensor **tensor; /* the op's variable; mt_call_begin points it to what the kernel reads: dense, cast */
    int kind;           /* mt_input_kind, added up */
} mt_input;

typedef struct mt_call {
    const mt_op *op;
    mt_input *inputs;   /* borrowed until mt_call_end, as is source */
    mt_tensor **source; /* of each input the f32 tensor that gets the gradient, dense where one is needed; NULL: none */
    int count;
    mt_device device; /* of all inputs and results */
    mt_dtype dtype;   /* of all MT_OPERAND inputs, and the precision of results, which are f32 */
    mt_tensor *result;
    mt_span span;
} mt_call;

/* MT_CALL -- declares and begins the call c of an op; each input is { &x, kind }. The first is not optional. */
#define MT_CALL(c, op, ...) MT_CALL_OF(c, op, ((mt_input[]){ __VA_ARGS__ }))
#define MT_CALL_OF(c, op, inputs) \
    mt_call c;                    \
    mt_call_begin(&(c), op, inputs, (mt_tensor * [MT_COUNT(inputs)]){ 0 }, (int)MT_COUNT(inputs))

/* mt_call_begin -- aborts with a message unless the inputs are f32, on one device, and not freed by backward. Asks the
 * cast policy; each MT_OPERAND variable points to its values in the type that it chooses from then on. An op
 * without such inputs has kernels for f32 only, and computes in f32 whatever the policy says. */
void mt_call_begin(mt_call *c, const mt_op *op, mt_input *inputs, mt_tensor **source, int count);

/* mt_call_result -- the f32 result, new, uninitialised, in the scope. */
mt_tensor *mt_call_result(mt_call *c, mt_shape shape);

/* mt_call_end -- counts the work (core/span.h), records the call, closes the span. Returns the node, in which backward
 * finds what mt_save and the op put there; NULL when there is nothing to record. Edges of the node are the inputs that
 * are given and not MT_INTEGER, in their order. */
mt_node *mt_call_end(mt_call *c, int64_t flops, int64_t bytes);

/* ---- helpers -------------------------------------------------------------------------------------- */

/* The size of the last dimension; aborts: rank 0. The number of rows before it. A shape with another last dimension. */
int64_t mt_last_dim(const char *op, const mt_tensor *t);
int64_t mt_rows(const mt_tensor *t);
mt_shape mt_with_last_dim(mt_shape shape, int64_t size);

/* The gradient of input i as dense memory to add to; NULL when it wants none. */
static inline float *mt_grad_data(mt_node *node, int i)
{
    mt_tensor *grad = mt_grad_of_input(node, i);
    return grad ? mt_f32(grad) : NULL;
}

static inline const float *mt_saved_data(mt_node *node, int i)
{
    return mt_f32(mt_saved_tensor(node, i));
}

/* mt_unary_call -- out = f(x), element by element; op->backward is mt_unary_backward. kept: what bwd reads. */
typedef enum mt_kept { MT_KEEP_X, MT_KEEP_OUT } mt_kept;
mt_tensor *mt_unary_call(const mt_op *op, mt_tensor *x, mt_unary_fwd_fn *fwd, mt_unary_bwd_fn *bwd, mt_kept kept);
void mt_unary_backward(mt_node *node, mt_tensor *dout);

/* MT_UNARY_OP -- defines mt_NAME(x), of an mt_op_kind, with the kernels NAME_fwd and NAME_bwd. */
#define MT_UNARY_OP(name, kind, kept)                                                                         \
    static mt_tensor *name##_again(mt_node *node)                                                             \
    {                                                                                                         \
        return mt_##name(mt_saved_tensor(node, 0));                                                           \
    }                                                                                                         \
    mt_tensor *mt_##name(mt_tensor *x)                                                                        \
    {                                                                                                         \
        static const mt_op op = { #name, kind, mt_unary_backward };                                           \
        mt_device on = mt_device_of(x);                                                                       \
        mt_tensor *out = mt_unary_call(&op, x, mt_kernels(on)->name##_fwd, mt_kernels(on)->name##_bwd, kept); \
        if (out->node && (kept) == MT_KEEP_X)                                                                 \
            out->node->again = name##_again;                                                                  \
        return out;                                                                                           \
    }

/* mt_same_order_op -- the op of a result with the elements of its only input in the same order: a copy, a reshape. */
extern const mt_op mt_same_order_op;

/* mt_mean_shares -- each row's share [N] of the gradient of a mean over N rows, in the scope. */
mt_tensor *mt_mean_shares(mt_tensor *dout, int64_t N);

MT_C_END
