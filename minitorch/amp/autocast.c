/* autocast.c -- the cast policies in force, one on top of another, and the keeper of saved tensors that goes with
 * them. Which op computes in which type: unit autocast.c of lab 09. */
#include "amp/autocast.h"

enum { DEPTH = 8 };

typedef struct in_force {
    mt_cast_policy *policy;
    void *user;
} in_force;

static _Thread_local in_force before[DEPTH]; /* each mt_autocast_begin */
static _Thread_local int depth;

/* What user of mt_autocast_dtype points to: a policy can be set again after its mt_autocast_end (lab 10). */
static mt_dtype chosen[MT_DTYPE_COUNT] = { [MT_F32] = MT_F32, [MT_F16] = MT_F16, [MT_BF16] = MT_BF16 };

/* Not what needs f32: operands of reductions, and values that no product computed. Their range and their digits may be
 * those of f32: 70000 or 1e-9 in f16 would give gradients that are infinite or 0, and the f32 statistics of a row
 * (layernorm's) do not belong to its rounded values. In the type of the policy in force, which recomputation may have
 * set again, after its mt_autocast_end. */
static bool keep(mt_saved *saved, const mt_tensor *t)
{
    void *user;
    mt_dtype dtype = mt_cast_policy_get(&user) == mt_autocast_dtype ? *(mt_dtype *)user : MT_F32;
    /* The copy that t holds from now on changes none of its values. */
    return dtype != MT_F32 && t->precision == dtype && saved->kind != MT_OP_REDUCTION &&
           mt_autocast_save(saved, (mt_tensor *)t, dtype);
}

static const mt_keeper keeper = { keep, mt_autocast_restore };

void mt_autocast_begin(mt_dtype dtype)
{
    MT_CHECK(mt_is_float(dtype), "autocast: %s is not f32, f16 or bf16", mt_dtype_name(dtype));
    MT_CHECK(depth < DEPTH, "autocast: nested more than %d times", DEPTH);
    if (depth == 0)
        mt_keeper_begin(&keeper); /* one for all levels: the innermost one's type counts, also when it is f32 */
    mt_products16_offer();
    in_force *now = &before[depth++];
    now->policy = mt_cast_policy_get(&now->user);
    mt_cast_policy_set(mt_autocast_dtype, &chosen[dtype]);
}

void mt_autocast_end(void)
{
    MT_CHECK(depth > 0, "autocast: mt_autocast_end without mt_autocast_begin");
    depth--;
    mt_cast_policy_set(before[depth].policy, before[depth].user);
    if (depth == 0)
        mt_keeper_end();
}
