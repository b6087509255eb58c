/* given.c -- the kernels of given code, which is not instrumented: a counted unit that calls one is noticed. */
#include "worker/unseen.h"

#define KERNELS2(a, b) UNSEEN4(mt_##a##_fwd_cpu, mt_##a##_bwd_cpu, mt_##b##_fwd_cpu, mt_##b##_bwd_cpu)
KERNELS2(add, sub)
KERNELS2(mul, div)
KERNELS2(exp, log)
KERNELS2(sqrt, scale)
KERNELS2(mean, max_middle)
KERNELS2(dropout, gather_rows)
UNSEEN4(mt_residual_fwd_cpu, mt_sum_cpu, mt_sum_middle_cpu, mt_add_strided_cpu)
UNSEEN(mt_copy_to_strided_cpu)
