/* autocast.h -- mixed precision: products compute in 16 bits, and what is kept of them for backward has 16 bits;
 * everything else is f32. No model changes.
 *
 *     mt_autocast_begin(MT_BF16);
 *     mt_tensor *loss = mt_gpt2_loss(model, x, y);     // products read 16-bit copies of their operands
 *     mt_autocast_end();
 *     mt_backward(loss);                               // in the types that forward kept; the policy is not asked
 *
 * Parameters, gradients, sums and the state of the optimizer stay f32. A product keeps the 16-bit copies of its
 * operands for its backward. So does an elementwise op of the results of products, and of elementwise ops on these
 * (mt_tensor.precision): the same copy where both keep the same tensor. Reductions, exp, log and sqrt keep f32 of
 * everything, and elementwise ops of what no product computed: their values may be outside of f16. All of it is at
 * least as wide as what torch.autocast keeps. Units: solutions/09-mixed-precision/autocast.c and keep.c
 * Source: Micikevicius et al. 2018, arXiv:1710.03740, sec. 3.1 and 3.3. */
#pragma once

#include "ops/policy.h"

MT_C_BEGIN

/* mt_autocast_begin -- from here to mt_autocast_end, products of this thread compute in dtype, f16 or bf16; f32: they
 * do not. They nest: the policy from before is in force again after the end.   Aborts: another type; nested more than 8
 * times. */
void mt_autocast_begin(mt_dtype dtype);
void mt_autocast_end(void); /* aborts: nothing began */

/* mt_autocast_dtype -- the policy; user points to the mt_dtype of mt_autocast_begin. Products in that type; elementwise
 * ops in the type of their inputs; reductions in f32, always: a sum in bf16 stops to grow at 256 times its
 * terms.   Lab 09.4 */
mt_dtype mt_autocast_dtype(void *user, const char *op, mt_op_kind kind, mt_dtype input);

/* mt_autocast_operand -- the values of t, f32 and dense, in dtype; not recorded. A copy of t that wants a gradient
 * (mt_wants_grad) is kept with t (mt_tensor_keep_cast), and converted again only when t was written since (mt_written)
 * or another type is wanted: one conversion of a parameter an update, however many micro-batches it has, and one of an
 * activation, however many ops read or save it. Other copies belong to the scope: nobody asks for them again. A node
 * that keeps a copy goes on with forward's values when t is written; a write to the copy (AdamW's update of a
 * parameter) is noticed in backward.   Lab 09.5 */
mt_tensor *mt_autocast_operand(mt_tensor *t, mt_dtype dtype);

/* mt_autocast_save -- autocast's keeper (autograd/tape.h), dtype f16 or bf16. An activation is kept as its copy in
 * dtype, mt_autocast_operand's, of which saved->tensor becomes a reference. Asked only for tensors of this precision,
 * which ops other than reductions save. Activations are what was computed from
 * something that wants a gradient (t->node; it is f32), dense, in rows of two numbers or more, of two dimensions or
 * more. False for everything else: parameters and data, which somebody holds anyway; integers; what an op computes for
 * its own backward (mean, log-sum-exp, the classifier's probabilities); one number a row.   Lab 09.9 */
bool mt_autocast_save(mt_saved *saved, mt_tensor *t, mt_dtype dtype);

/* mt_autocast_restore -- in f32 what mt_autocast_save kept, in the scope; asks neither policy nor keeper.   Lab 09.9 */
mt_tensor *mt_autocast_restore(const mt_saved *saved);

/* mt_products16_offer -- from now on ops have products of f16 and bf16, also where a policy of a program's own chooses
 * them (ops/policy.h); mt_autocast_begin calls it. */
void mt_products16_offer(void);

MT_C_END
