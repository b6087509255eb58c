/* autocast.h -- mixed precision: products in 16 bits, everything else in f32, without a change to any model.
 *
 *     mt_autocast_begin(MT_BF16);
 *     mt_tensor *loss = mt_gpt2_loss(model, x, y);     // products read 16-bit copies of their operands
 *     mt_autocast_end();
 *     mt_backward(loss);                               // in the types that forward kept; the policy is not asked
 *
 * Parameters, gradients, sums and the state of the optimizer stay f32. What a product keeps for its backward are the
 * 16-bit copies. Unit: solutions/09-mixed-precision/autocast.c
 * Source: Micikevicius et al. 2018, arXiv:1710.03740, sec. 3.1 and 3.3. */
#pragma once

#include "core/tensor.h"
#include "ops/policy.h"

MT_C_BEGIN

/* mt_autocast_begin -- from here to mt_autocast_end, products of this thread compute in dtype, f16 or bf16; f32: they
 * do not. They nest: the policy from before is in force again after the end.   Aborts: another type; nested 8 times. */
void mt_autocast_begin(mt_dtype dtype);
void mt_autocast_end(void); /* aborts: nothing began */

/* mt_autocast_dtype -- the policy; user points to the mt_dtype of mt_autocast_begin. Products in that type; elementwise
 * ops in the type of their inputs; reductions in f32, always: a sum in bf16 stops to grow at 256 times its
 * terms.   Lab 09.4 */
mt_dtype mt_autocast_dtype(void *user, const char *op, mt_op_kind kind, mt_dtype input);

/* mt_autocast_operand -- the values of t, f32 and dense, in dtype; not recorded. The copy of a parameter (a leaf that
 * wants a gradient) is kept with it, and converted again only when the parameter was written since (mt_written) or
 * another type is wanted: one conversion an update, however many micro-batches it has. Other copies belong to the
 * scope.   Lab 09.5 */
mt_tensor *mt_autocast_operand(mt_tensor *t, mt_dtype dtype);

/* mt_autocast_keep -- make `copy` the kept copy of t, current as of now; t holds it. NULL: t holds none. */
void mt_autocast_keep(mt_tensor *t, mt_tensor *copy);

MT_C_END
