/* test_state.c -- the list of named values: contents, copies, counts, errors. */
#include "core/state.h"
#include "ops/ops.h"

#include "aborts.h"

#include <string.h>

Test(state, values_are_found_by_name_and_counted)
{
    int64_t step = 3;
    mt_rng rng = mt_rng_new(1, 2);
    mt_tensor *t = mt_zeros(MT_SHAPE(3, 5), MT_F32, MT_CPU);
    mt_state state = { 0 };
    mt_state_tensor(&state, t, "%d.%s", 7, "weight");
    mt_state_integer(&state, &step, "step");
    cr_assert_eq(mt_state_bytes(&state), 15 * 4 + 8);
    mt_state_rng(&state, &rng, "rng");
    cr_assert_eq(state.count, 5);
    cr_assert_eq(mt_state_find(&state, "7.weight")->tensor, t);
    cr_assert_eq(mt_state_find(&state, "step")->integer, &step);
    cr_assert_eq(*mt_state_find(&state, "rng.stream")->integer, 2);
    cr_assert(!mt_state_find(&state, "weight"));
    mt_release(t);
    mt_f32(mt_state_find(&state, "7.weight")->tensor)[14] = 1; /* the list holds it */
    mt_state_free(&state);
    cr_assert(state.count == 0 && !state.item);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(state, a_clone_keeps_values_and_copies_them_back)
{
    int64_t step = 3;
    mt_tensor *a = mt_full(MT_SHAPE(3, 5), 1), *b = mt_full(MT_SHAPE(2), 2);
    mt_state state = { 0 };
    mt_state_tensor(&state, a, "a");
    mt_state_integer(&state, &step, "step");
    mt_state_tensor(&state, b, "b");
    mt_state clone = mt_state_clone(&state);
    cr_assert_eq(clone.count, 2);
    mt_f32(a)[14] = 7, mt_f32(b)[0] = 8;
    cr_assert(mt_f32(clone.item[0].tensor)[14] == 1 && mt_f32(clone.item[1].tensor)[0] == 2);
    int64_t version = a->storage->version;
    mt_state_copy(&state, &clone);
    cr_assert(mt_f32(a)[14] == 1 && mt_f32(b)[0] == 2);
    cr_assert_gt(a->storage->version, version, "marked as written");
    mt_f32(a)[14] = 7;
    mt_state_copy(&clone, &state);
    cr_assert_eq(mt_f32(clone.item[0].tensor)[14], 7);
    clone.count--;
    ABORTS("b has no counterpart", mt_state_copy(&state, &clone));
    clone.count++;
    mt_state_free(&clone);
    mt_state_free(&state);
    mt_release(a);
    mt_release(b);
}

Test(state, misuse_aborts_in_words)
{
    mt_state state = { 0 };
    mt_tensor *t = mt_zeros(MT_SHAPE(3, 5), MT_F32, MT_CPU), *turned = mt_transpose(t, 0, 1);
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ABORTS("is too long", mt_state_tensor(&state, t, "%s", name));
    ABORTS("only dense tensors are saved", mt_state_tensor(&state, turned, "turned"));
    mt_release(t);
    mt_release(turned);
}
