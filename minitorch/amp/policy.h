/* policy.h -- in which element type an op computes: the cast policy, asked by every op before it runs.
 *
 *     mt_dtype in = mt_cast_dtype("linear", MT_OP_MATMUL, x->dtype);     // then cast x and w to it
 *
 * Will use it: every op of ops/ (lab 03 on) asks; lab 09's autocast answers, with f16 or bf16 for products and f32 for
 * whatever loses too much in 16 bits. Without a policy an op keeps the type it was given.
 * The policy is one per thread, so that a loader's or a rank's thread is not surprised by another's.
 * This header depends on core only; the folder is lab 09's. Source: Micikevicius et al. 2018, arXiv:1710.03740. */
#ifndef MT_AMP_POLICY_H
#define MT_AMP_POLICY_H

#include "core/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an op does with its numbers, as far as precision is concerned. */
typedef enum mt_op_kind {
    MT_OP_MATMUL,      /* many products summed in f32: safe and fast in 16 bits (linear, attention, convolution) */
    MT_OP_ELEMENTWISE, /* one value from one or two: as good as its inputs (ReLU, GELU, add, dropout) */
    MT_OP_REDUCTION,   /* long sums, exponentials, differences of near values: wants f32 (softmax, layernorm, loss) */
} mt_op_kind;

/* Which type op (its name, for exceptions to the rule) should compute in, when its widest float input is `input`. */
typedef mt_dtype mt_cast_policy(void *user, const char *op, mt_op_kind kind, mt_dtype input);

/* mt_cast_policy_set -- install a policy in this thread; NULL: none. */
void mt_cast_policy_set(mt_cast_policy *policy, void *user);

/* mt_cast_policy_get -- this thread's policy and its user pointer, to put back later; NULL when there is none. */
mt_cast_policy *mt_cast_policy_get(void **user);

/* mt_cast_dtype -- the policy's answer; input itself without a policy, or when input is an integer type.
 * Aborts: a policy that turns a float into an integer. */
mt_dtype mt_cast_dtype(const char *op, mt_op_kind kind, mt_dtype input);

#ifdef __cplusplus
}
#endif
#endif
