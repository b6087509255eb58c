/* policy.c -- the cast policy of each thread, and the tables of products: that of f32, and those that are offered. */
#include "ops/policy.h"
#include "ops/call.h"

/* ---- the policy in force --------------------------------------------------------------------------------- */

static _Thread_local mt_cast_policy *policy_now;
static _Thread_local void *user_now;

void mt_cast_policy_set(mt_cast_policy *policy, void *user)
{
    policy_now = policy;
    user_now = user;
}

mt_cast_policy *mt_cast_policy_get(void **user)
{
    *user = user_now;
    return policy_now;
}

mt_dtype mt_cast_dtype(const char *op, mt_op_kind kind, mt_dtype input)
{
    if (!policy_now || !mt_is_float(input))
        return input;
    mt_dtype wanted = policy_now(user_now, op, kind, input);
    MT_CHECK(mt_is_float(wanted), "the cast policy wants %s to compute in %s, which is not a float type", op,
             mt_dtype_name(wanted));
    return wanted;
}

/* ---- products of f32 ------------------------------------------------------------------------------------- */

static mt_tensor *itself(mt_tensor *t, mt_dtype dtype)
{
    (void)dtype;
    return t;
}

static void matmul(mt_device device, float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    (void)dtype;
    mt_kernels(device)->matmul(c, a, b, dims);
}

static void linear_fwd(mt_tensor *out, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    int64_t I = w->view.shape[0], O = w->view.shape[1], N = mt_rows(x);
    mt_kernels(mt_device_of(x))->linear_fwd(mt_f32(out), mt_f32(x), mt_f32(w), b ? mt_f32(b) : NULL, N, I, O);
}

static void linear_bwd(float *dx, float *dw, float *db, mt_tensor *dout, mt_tensor *x, mt_tensor *w)
{
    int64_t I = w->view.shape[0], O = w->view.shape[1], N = mt_rows(x);
    mt_kernels(mt_device_of(x))->linear_bwd(dx, dw, db, mt_f32(dout), mt_f32(x), mt_f32(w), N, I, O);
}

static const mt_products of_f32 = {
    .operand = itself, .matmul = matmul, .linear_fwd = linear_fwd, .linear_bwd = linear_bwd
};

/* ---- the tables ------------------------------------------------------------------------------------------ */

static const mt_products *tables[MT_DTYPE_COUNT] = { [MT_F32] = &of_f32 }; /* threads may offer the same one at once */

const mt_products *mt_products_of(mt_dtype dtype)
{
    const mt_products *products = __atomic_load_n(&tables[dtype], __ATOMIC_RELAXED);
    MT_CHECK(products, "this program has no products of operands in %s", mt_dtype_name(dtype));
    return products;
}

void mt_products_offer(mt_dtype dtype, const mt_products *products)
{
    __atomic_store_n(&tables[dtype], products, __ATOMIC_RELAXED);
}
