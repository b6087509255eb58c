/* math.c -- exponentials, logarithms, roots. */
#include "ops/call.h"
#include "ops/kernels_given.h"

MT_UNARY_OP(exp, mt_given_kernels, MT_KEEP_OUT)
MT_UNARY_OP(log, mt_given_kernels, MT_KEEP_X)
MT_UNARY_OP(sqrt, mt_given_kernels, MT_KEEP_OUT)
