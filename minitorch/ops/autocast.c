/* autocast.c -- which cast policies are in force, one on top of another; and the copies that parameters keep. */
#include "ops/autocast.h"

enum { DEPTH = 8 };

/* What was in force before each mt_autocast_begin, and the type that it chose. */
typedef struct level {
    mt_cast_policy *policy;
    void *user;
    mt_dtype dtype;
} level;

static _Thread_local level levels[DEPTH];
static _Thread_local int depth;

void mt_autocast_begin(mt_dtype dtype)
{
    MT_CHECK(dtype == MT_F32 || dtype == MT_F16 || dtype == MT_BF16, "autocast: %s is not f32, f16 or bf16",
             mt_dtype_name(dtype));
    MT_CHECK(depth < DEPTH, "autocast: nested more than %d times", DEPTH);
    level *l = &levels[depth++];
    l->policy = mt_cast_policy_get(&l->user);
    l->dtype = dtype;
    mt_cast_policy_set(mt_autocast_dtype, &l->dtype);
}

void mt_autocast_end(void)
{
    MT_CHECK(depth > 0, "autocast: mt_autocast_end without mt_autocast_begin");
    level *l = &levels[--depth];
    mt_cast_policy_set(l->policy, l->user);
}

void mt_autocast_keep(mt_tensor *t, mt_tensor *copy)
{
    if (copy)
        mt_retain(copy); /* first: it may be the one that is kept */
    mt_release(t->cast);
    t->cast = copy;
    t->cast_version = t->storage->version;
}
