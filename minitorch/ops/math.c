/* math.c -- exponentials, logarithms, roots. */
#include "ops/call.h"
#include "ops/kernels_math.h"

MT_UNARY_OP(exp, mt_math_kernels, MT_KEEP_OUT)
MT_UNARY_OP(log, mt_math_kernels, MT_KEEP_X)
MT_UNARY_OP(sqrt, mt_math_kernels, MT_KEEP_OUT)
