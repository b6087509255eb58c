/* policy.h -- the cast policy: in which element type an op computes.
 *
 *     mt_dtype in = mt_cast_dtype("linear", MT_OP_MATMUL, x->dtype);     // then cast x and w to it
 *
 * Lab 09's autocast sets a policy: f16 or bf16 for products, f32 for operations that lose too much in 16 bits.
 * Without a policy an op computes in the type of its inputs. Each thread has its own policy.
 * Source: Micikevicius et al. 2018, arXiv:1710.03740. */
#pragma once

#include "core/dtype.h"

MT_C_BEGIN

/* Kinds of ops by the precision they need. */
typedef enum mt_op_kind {
    MT_OP_MATMUL,      /* many products summed in f32: safe and fast in 16 bits (linear, attention, convolution) */
    MT_OP_ELEMENTWISE, /* one value from one or two: as precise as its inputs (ReLU, GELU, add, dropout) */
    MT_OP_REDUCTION,   /* long sums, exponentials, differences of close values: needs f32 (softmax, layernorm, exp) */
} mt_op_kind;

/* The type in which op (its name, for exceptions) computes when its widest float input is `input`: that of the operands
 * of products; of results it is the precision (mt_tensor.precision), their memory is f32. */
typedef mt_dtype mt_cast_policy(void *user, const char *op, mt_op_kind kind, mt_dtype input);

/* mt_cast_policy_set -- install a policy in this thread; NULL: none. Both must stay valid until backward is done:
 * recomputation (memory/segment.h) sets the policy of forward again. */
void mt_cast_policy_set(mt_cast_policy *policy, void *user);

/* mt_cast_policy_get -- this thread's policy and its user pointer, to restore later; NULL when there is none. */
mt_cast_policy *mt_cast_policy_get(void **user);

/* mt_cast_dtype -- the type that the policy chooses; input itself without a policy or for an integer type.
 * Aborts: the policy chooses an integer type. */
mt_dtype mt_cast_dtype(const char *op, mt_op_kind kind, mt_dtype input);

MT_C_END
