/* policy.c -- keeps this thread's cast policy; see policy.h. */
#include "ops/policy.h"

static _Thread_local mt_cast_policy *current;
static _Thread_local void *current_user;

static bool is_float(mt_dtype dtype)
{
    return dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16;
}

void mt_cast_policy_set(mt_cast_policy *policy, void *user)
{
    current = policy;
    current_user = user;
}

mt_cast_policy *mt_cast_policy_get(void **user)
{
    *user = current_user;
    return current;
}

mt_dtype mt_cast_dtype(const char *op, mt_op_kind kind, mt_dtype input)
{
    if (!current || !is_float(input))
        return input;
    mt_dtype wanted = current(current_user, op, kind, input);
    MT_CHECK(is_float(wanted), "the cast policy wants %s to compute in %s, which is no float type", op,
             mt_dtype_name(wanted));
    return wanted;
}
