/* test_tape.c -- the tape: what is recorded, the order of backward, what it frees, what it refuses. */
#include "autograd/node.h"
#include "core/scope.h"
#include "ops/call.h"

#include "aborts.h"

static mt_tensor *leaf(float value)
{
    mt_tensor *t = mt_full(MT_SHAPE(4), value);
    t->requires_grad = true;
    return t;
}

static double grad(const mt_tensor *t)
{
    cr_assert(t->grad, "no gradient arrived");
    return mt_get(t->grad, (int64_t[]){ 0 });
}

Test(tape, a_value_used_twice_gets_both_gradients)
{
    mt_scope_begin();
    mt_tensor *x = leaf(3), *y = mt_mul(x, x);
    mt_backward(mt_sum(mt_add(y, mt_mul(y, x)))); /* x^2 + x^3 */
    cr_assert_float_eq(grad(x), 2 * 3 + 3 * 9, 1e-6);
    mt_scope_end();
}

Test(tape, gradients_accumulate_until_zeroed)
{
    mt_scope_begin();
    mt_tensor *x = leaf(2);
    mt_backward(mt_sum(mt_scale(x, 5)));
    mt_backward(mt_sum(mt_scale(x, 7)));
    cr_assert_float_eq(grad(x), 12, 1e-6);
    mt_zero_grad(x);
    cr_assert_null(x->grad);
    mt_backward(mt_sum(x));
    cr_assert_float_eq(grad(x), 1, 1e-6);
    mt_scope_end();
}

/* Each diamond doubles the number of paths: a traversal of all 2^60 paths would never end. */
Test(tape, sixty_diamonds_are_visited_once_each)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *y = x;
    for (int i = 0; i < 60; i++)
        y = mt_scale(mt_add(y, y), 0.5f);
    mt_backward(mt_sum(y));
    cr_assert_float_eq(grad(x), 1, 1e-6);
    mt_scope_end();
}

Test(tape, a_chain_of_100000_nodes_needs_no_deep_stack)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *y = x;
    for (int i = 0; i < 100000; i++)
        y = mt_scale(y, 1);
    mt_backward(mt_sum(y));
    cr_assert_float_eq(grad(x), 1, 1e-6);
    y = x;
    for (int i = 0; i < 100000; i++) /* and without backward: freed by the scope alone */
        y = mt_scale(y, 1);
    mt_scope_end();
}

Test(tape, only_what_depends_on_a_leaf_is_recorded)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *plain = mt_full(MT_SHAPE(4), 2);
    cr_assert_null(mt_mul(plain, plain)->node);
    cr_assert_not_null(mt_mul(plain, x)->node);
    mt_no_grad_begin();
    mt_no_grad_begin();
    mt_no_grad_end();
    cr_assert_null(mt_mul(plain, x)->node, "no_grad regions nest");
    mt_no_grad_end();
    mt_tensor *y = mt_mul(x, x), *cut = mt_detach(y);
    cr_assert(!mt_wants_grad(cut) && cut->storage == y->storage);
    mt_backward(mt_sum(mt_mul(cut, x)));
    cr_assert_float_eq(grad(x), 1, 1e-6, "d (cut x)/dx = cut");
    cr_assert_null(plain->grad);
    ABORTS("mt_no_grad_end without", mt_no_grad_end());
    mt_scope_end();
}

/* A chain of large results: forward holds them all, backward frees each one as soon as it has processed it. */
Test(tape, backward_frees_memory_as_it_goes)
{
    enum { BIG = 1 << 16, DEPTH = 20 };
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(BIG), 1), *y = x;
    x->requires_grad = true;
    int64_t before = mt_live_bytes(MT_CPU);
    for (int i = 0; i < DEPTH; i++)
        y = mt_relu(y);
    mt_tensor *loss = mt_sum(y), *kept = mt_retain(y);
    int64_t forward = mt_live_bytes(MT_CPU);
    cr_assert_geq(forward - before, DEPTH * BIG * 4);
    mt_peak_reset(MT_CPU);
    mt_backward(loss);
    int64_t after = mt_live_bytes(MT_CPU), peak = mt_peak_bytes(MT_CPU);
    cr_assert_leq(after - before, 3 * BIG * 4, "only x.grad, what was retained and the loss are left, not %ld",
                  (long)(after - before));
    cr_assert_leq(peak - forward, 3 * BIG * 4, "gradients never pile up: %ld", (long)(peak - forward));
    cr_assert_eq(mt_get(kept, (int64_t[]){ 5 }), 1, "what was retained can be read");
    cr_assert_eq(mt_item(loss), BIG);
    mt_release(kept);
    mt_scope_end();
}

Test(tape, results_freed_by_backward_say_so)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *y = mt_relu(x);
    mt_backward(mt_sum(y));
    ABORTS("[4] was freed by mt_backward", mt_f32(y));
    mt_scope_end();
}

/* What remains after backward is the tensor from which it started. */
Test(tape, a_loss_that_was_scaled_says_that_it_was_freed)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *loss = mt_sum(mt_relu(x));
    mt_backward(mt_scale(loss, 3));
    ABORTS("[] was freed by mt_backward, which started from another tensor: read it before, or mt_retain it",
           mt_item(loss));
    mt_scope_end();
}

/* A copy of a view that is not dense reads it, too. */
Test(tape, a_copy_of_a_freed_view_is_refused)
{
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(2, 3), 1);
    x->requires_grad = true;
    mt_tensor *y = mt_relu(x), *turned = mt_transpose(y, 0, 1);
    mt_backward(mt_sum(turned));
    ABORTS("[3,2] was freed by mt_backward", mt_contiguous(turned));
    ABORTS("[3,2] was freed by mt_backward", mt_reshape(turned, MT_SHAPE(6)));
    mt_scope_end();
}

/* A scope is open during backward, but it is not the one that holds these two. */
Test(tape, results_of_the_caller_outlive_backward)
{
    mt_tensor *x = leaf(3), *mine = mt_mul(x, x);
    mt_scope_begin();
    mt_tensor *kept = mt_retain(mt_scale(x, 2));
    mt_scope_end();
    mt_scope_begin();
    mt_backward(mt_sum(mt_mul(mine, kept)));
    mt_scope_end();
    cr_assert_eq(mt_get(mine, (int64_t[]){ 0 }), 9, "made outside every scope");
    cr_assert_eq(mt_get(kept, (int64_t[]){ 0 }), 6, "retained when its scope ended");
    mt_release(mine);
    mt_release(kept);
    mt_release(x);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

/* Backward passes in several threads share one object, the placeholder for freed memory, so it must not be written. */
Test(tape, freed_results_share_nothing_that_is_written)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *y = mt_relu(x), *z = mt_relu(x);
    mt_backward(mt_sum(y));
    const mt_storage *shared = y->storage, before = *shared;
    mt_backward(mt_sum(z));
    cr_assert(z->storage == shared && shared->refs == before.refs, "dropping z counted to %d", shared->refs);
    mt_scope_end();
    cr_assert_eq(shared->refs, before.refs, "releasing y and z counted to %d", shared->refs);
}

Test(tape, misuse_is_refused_in_words)
{
    mt_scope_begin();
    mt_tensor *x = leaf(1), *y = mt_mul(x, x), *loss = mt_sum(y);
    ABORTS("loss is [4]", mt_backward(y));
    ABORTS("no history", mt_backward(mt_full(MT_SCALAR, 1)));
    mt_tensor *alone = mt_full(MT_SCALAR, 1);
    alone->requires_grad = true;
    ABORTS("backward from [], a leaf", mt_backward(alone));
    mt_backward(loss);
    ABORTS("a second backward through sum", mt_backward(loss));
    mt_tensor *z = mt_sum(mt_mul(x, x));
    mt_f32(x)[0] = 9;
    mt_written(x);
    ABORTS("backward of mul needs a tensor [4] as it was in forward", mt_backward(z));
    mt_scope_end();
}

static char said[64];

static void note(void *user, mt_tensor *t)
{
    (void)t;
    strcat(said, user);
}

Test(tape, leaves_are_announced_once_when_complete)
{
    static char a[] = "a", b[] = "b";
    mt_scope_begin();
    mt_tensor *x = leaf(2), *w = leaf(3);
    mt_grad_ready_on(x, note, a);
    mt_grad_ready_on(w, note, b);
    mt_tensor *h = mt_mul(x, x);
    mt_backward(mt_sum(mt_mul(mt_mul(h, w), w)));
    cr_assert_str_eq(said, "ba", "w, used later, is complete before x; each once: %s", said);
    mt_grad_ready_off(x, note, a);
    mt_grad_ready_off(w, note, b);
    mt_scope_end();
}

Test(tape, backward_starts_from_any_gradient)
{
    mt_scope_begin();
    mt_tensor *x = leaf(3), *y = mt_mul(x, x), *given = mt_from(MT_SHAPE(4), MT_F32, (float[]){ 1, 2, 0, -1 });
    mt_backward_from(y, given);
    for (int i = 0; i < 4; i++)
        cr_assert_float_eq(mt_f32(x->grad)[i], 2 * 3 * mt_f32(given)[i], 1e-6);
    cr_assert_eq(mt_f32(y)[1], 9, "what it starts from stays");
    ABORTS("a second backward through mul", mt_backward_from(y, given));
    mt_tensor *z = mt_scale(x, 2);
    ABORTS("backward from [4] on cpu: the gradient is f32 [2] on cpu", mt_backward_from(z, mt_full(MT_SHAPE(2), 1)));
    ABORTS("no history", mt_backward_from(given, given));
    mt_scope_end();
}

/* ---- the cast policy ---- */

static mt_dtype as_it_is(void *user, const char *op, mt_op_kind kind, mt_dtype input)
{
    cr_assert_eq(kind, strcmp(op, "linear") == 0    ? MT_OP_MATMUL
                       : strcmp(op, "softmax") == 0 ? MT_OP_REDUCTION
                                                    : MT_OP_ELEMENTWISE);
    ++*(int *)user;
    return input;
}

Test(tape, every_op_asks_the_cast_policy)
{
    int asked = 0;
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(2, 2), 1);
    mt_cast_policy_set(as_it_is, &asked);
    mt_softmax(mt_relu(mt_add(x, x)));
    cr_assert_eq(asked, 3);
    mt_linear(x, x, NULL);
    cr_assert_eq(asked, 4);
    mt_cast_policy_set(NULL, NULL);
    mt_linear(x, x, NULL);
    cr_assert_eq(asked, 4);
    mt_scope_end();
}

Test(tape, gradients_flow_back_through_views)
{
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(2, 3), MT_F32, (float[]){ 1, 2, 3, 4, 5, 6 });
    x->requires_grad = true;
    mt_tensor *column = mt_slice(mt_transpose(x, 0, 1), 0, 1, 3, 1); /* [2,2]: columns 1 and 2 */
    mt_tensor *wide = mt_broadcast_to(mt_reshape(column, MT_SHAPE(2, 2, 1)), MT_SHAPE(2, 2, 5));
    mt_backward(mt_sum(mt_contiguous(wide)));
    const float want[6] = { 0, 5, 5, 0, 5, 5 };
    for (int i = 0; i < 6; i++)
        cr_assert_eq(mt_f32(x->grad)[i], want[i], "element %d: %g", i, (double)mt_f32(x->grad)[i]);
    mt_scope_end();
}

/* ---- keepers ------------------------------------------------------------------------------------------------- */

static bool keep_nothing(mt_saved *saved, const mt_tensor *t)
{
    (void)t;
    return saved->producer && saved->producer->again;
}

static mt_tensor *compute_again(const mt_saved *saved)
{
    return saved->producer->again(saved->producer);
}

static bool decline(mt_saved *saved, const mt_tensor *t)
{
    (void)saved;
    (void)t;
    return false;
}

/* Products of GELU's result, saved once as it is and once not at all: then only x is kept. */
static void gelu_of(mt_tensor *x, const mt_keeper *keeper, int64_t *kept)
{
    static const mt_keeper other = { decline, NULL };
    int64_t before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    mt_scope_begin();
    if (keeper)
        mt_keeper_begin(keeper);
    mt_keeper_begin(&other); /* asked first */
    mt_tensor *y = mt_gelu(x), *loss = mt_retain(mt_sum(mt_mul(y, y)));
    mt_keeper_end();
    if (keeper)
        mt_keeper_end();
    mt_scope_end();
    mt_scope_adopt(loss);
    *kept = mt_live_bytes(MT_CPU) - before;
    mt_backward(loss);
    mt_scope_end();
    cr_expect_leq(mt_live_bytes(MT_CPU) - before, 4 * mt_numel(x), "more than the gradient is left");
}

Test(tape, a_keeper_saves_memory_and_changes_no_bit)
{
    enum { N = 1031 };
    static const mt_keeper keeper = { keep_nothing, compute_again };
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    mt_scope_begin();
    mt_tensor *x = mt_normal(MT_SHAPE(N), 0, 1, &rng);
    x->requires_grad = true;
    int64_t plain, less;
    gelu_of(x, NULL, &plain);
    mt_tensor *want = mt_retain(x->grad);
    mt_zero_grad(x);
    gelu_of(x, &keeper, &less);
    cr_expect_eq(memcmp(mt_f32(x->grad), mt_f32(want), N * sizeof(float)), 0);
    cr_expect_geq(plain - less, N * 4, "kept %d bytes instead of %d", (int)less, (int)plain);
    mt_release(want);
    mt_zero_grad(x);
    mt_scope_end();
    ABORTS("mt_keeper_end without", mt_keeper_end());
}
