/* math.c -- exponentials, logarithms, roots. */
#include "ops/call.h"
#include "ops/kernels_math.h"

mt_tensor *mt_exp(mt_tensor *x)
{
    static const mt_op op = { "exp", MT_OP_ELEMENTWISE, mt_unary_backward };
    const mt_math_table *kernels = mt_math_kernels(mt_device_of(x));
    return mt_unary_call(&op, x, kernels->exp_fwd, kernels->exp_bwd, MT_KEEP_OUT);
}

mt_tensor *mt_log(mt_tensor *x)
{
    static const mt_op op = { "log", MT_OP_ELEMENTWISE, mt_unary_backward };
    const mt_math_table *kernels = mt_math_kernels(mt_device_of(x));
    return mt_unary_call(&op, x, kernels->log_fwd, kernels->log_bwd, MT_KEEP_X);
}

mt_tensor *mt_sqrt(mt_tensor *x)
{
    static const mt_op op = { "sqrt", MT_OP_ELEMENTWISE, mt_unary_backward };
    const mt_math_table *kernels = mt_math_kernels(mt_device_of(x));
    return mt_unary_call(&op, x, kernels->sqrt_fwd, kernels->sqrt_bwd, MT_KEEP_OUT);
}
