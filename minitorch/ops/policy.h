/* policy.h -- in which element type an op computes: the cast policy chooses it, and a table for each type has what ops
 * need to compute in it.
 *
 *     mt_dtype type = mt_cast_dtype("linear", MT_OP_MATMUL, x->precision);
 *     const mt_products *products = mt_products_of(type);
 *     x = products->operand(x, type);                            // x itself, or its values in that type
 *     products->linear_fwd(out, x, w, b);
 *
 * Without a policy an op computes in the type of its inputs. Each thread has its own policy. All results are f32: the
 * type is that of the operands of products. Backward computes in the type of the operands that forward saved.
 * Source: Micikevicius et al. 2018, arXiv:1710.03740. */
#pragma once

#include "autograd/tape.h"
#include "kernels/matmul.h"

MT_C_BEGIN

/* ---- the policy ------------------------------------------------------------------------------------------ */

/* The type in which op (its name, for exceptions) computes when its widest float input is `input`: that of the operands
 * of products; of results it is the precision (mt_tensor.precision), their memory is f32. */
typedef mt_dtype mt_cast_policy(void *user, const char *op, mt_op_kind kind, mt_dtype input);

/* mt_cast_policy_set -- install a policy in this thread; NULL: none. Both must stay valid until backward is done: who
 * computes a part of forward again in backward sets the policy of forward again. */
void mt_cast_policy_set(mt_cast_policy *policy, void *user);

/* mt_cast_policy_get -- this thread's policy and its user pointer, to restore later; NULL when there is none. */
mt_cast_policy *mt_cast_policy_get(void **user);

/* mt_cast_dtype -- the type that the policy chooses; input itself without a policy or for an integer type.
 * Aborts: the policy chooses an integer type. */
mt_dtype mt_cast_dtype(const char *op, mt_op_kind kind, mt_dtype input);

/* ---- products of operands of one type -------------------------------------------------------------------- */

/* Operands x, w, a and b have the table's type and are dense; everything else is f32. A pointer that is NULL is not
 * wanted, as in kernels/kernels.h. Gradients ACCUMULATE. */
typedef struct mt_products {
    /* The values of an f32 tensor in dtype: t itself, or a dense copy, not recorded, which belongs to the scope or is
     * kept with t. */
    mt_tensor *(*operand)(mt_tensor *t, mt_dtype dtype);

    /* c = or += op(a) op(b); a and b of type dtype on the device, as in kernels/matmul.h. */
    void (*matmul)(mt_device device, float *c, const void *a, const void *b, mt_dtype dtype,
                   const mt_matmul_dims *dims);

    /* out [...,O] = x [...,I] w [I,O] + b [O]; b may be NULL. dx, dw, db += its gradients. */
    void (*linear_fwd)(mt_tensor *out, mt_tensor *x, mt_tensor *w, mt_tensor *b);
    void (*linear_bwd)(float *dx, float *dw, float *db, mt_tensor *dout, mt_tensor *x, mt_tensor *w);
} mt_products;

/* mt_products_of -- the products of a type; those of f32 call the kernels of the tensors' device.   Aborts: none.
 * mt_products_offer -- make this table the products of a type, for all threads, from now on; borrowed. */
const mt_products *mt_products_of(mt_dtype dtype);
void mt_products_offer(mt_dtype dtype, const mt_products *products);

/* mt_operand -- the values of an f32 tensor in dtype; t itself when that is f32. */
static inline mt_tensor *mt_operand(mt_tensor *t, mt_dtype dtype)
{
    return mt_products_of(dtype)->operand(t, dtype);
}

MT_C_END
