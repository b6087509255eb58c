/* test_scope.c -- a scope frees what was made in it, no more and no less. */
#include "aborts.h"
#include "core/scope.h"
#include "ops/ops.h"

#include <pthread.h>

static mt_tensor *four_bytes(void)
{
    return mt_full(MT_SCALAR, 1);
}

Test(scope, frees_what_was_made_inside)
{
    mt_scope_begin();
    for (int i = 0; i < 1000; i++)
        four_bytes();
    cr_assert_eq(mt_live_bytes(MT_CPU), 4000);
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(scope, nests)
{
    mt_scope_begin();
    four_bytes();
    mt_scope_begin();
    four_bytes();
    cr_assert_eq(mt_scope_depth(), 2);
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), 4);
    four_bytes();
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
    cr_assert_eq(mt_scope_depth(), 0);
}

Test(scope, a_retained_tensor_outlives_it)
{
    mt_scope_begin();
    mt_tensor *kept = mt_retain(four_bytes());
    mt_scope_end();
    cr_assert_eq(kept->refs, 1);
    cr_assert_eq(mt_item(kept), 1);
    mt_release(kept);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(scope, a_tensor_made_outside_belongs_to_its_maker)
{
    mt_tensor *mine = four_bytes();
    mt_scope_begin();
    mt_tensor *view = mt_reshape(mine, MT_SHAPE(1));
    cr_assert_eq(view->storage, mine->storage);
    mt_scope_end();
    cr_assert(mine->refs == 1 && mine->storage->refs == 1);
    mt_release(four_bytes());
    mt_release(mine);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(scope, an_outside_tensor_can_be_given_to_it)
{
    mt_tensor *mine = four_bytes();
    cr_assert_eq(mt_scope_adopt(mine), mine);
    cr_assert_eq(mine->refs, 1);
    mt_scope_begin();
    cr_assert_eq(mt_scope_adopt(mine), mine);
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

static void *in_another_thread(void *unused)
{
    (void)unused;
    if (mt_scope_depth() != 0)
        return "a new thread has an open scope";
    mt_tensor *mine = four_bytes();
    if (mine->refs != 1)
        return "a new tensor has other references";
    mt_release(mine);
    mt_scope_begin();
    four_bytes();
    mt_scope_end();
    return NULL;
}

Test(scope, each_thread_has_its_own)
{
    pthread_t thread;
    void *complaint;
    mt_scope_begin();
    four_bytes();
    pthread_create(&thread, NULL, in_another_thread, NULL);
    pthread_join(thread, &complaint);
    cr_assert_null(complaint, "%s", (char *)complaint);
    cr_assert_eq(mt_live_bytes(MT_CPU), 4);
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(scope, end_without_begin_aborts, .signal = SIGABRT)
{
    mt_scope_end();
}

static void open_many(int count)
{
    for (int i = 0; i < count; i++)
        mt_scope_begin();
}

Test(scope, missing_ends_are_detected)
{
    ABORTS("mt_scope_end without mt_scope_begin", mt_scope_end());
    ABORTS("64 scopes are open: is an mt_scope_end missing?", open_many(65));
    open_many(64);
    for (int i = 0; i < 64; i++)
        mt_scope_end();
    cr_assert_eq(mt_scope_depth(), 0);
}

#ifdef MT_DEBUG
/* The debug flavour's check at exit: a scope that was never closed is a leak. */
Test(scope, an_open_scope_at_exit_fails_the_program)
{
    ending end;
    if (run_in_child(&end) == 0) {
        mt_scope_begin();
        four_bytes();
        exit(0);
    }
    cr_assert(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1);
    cr_assert(strstr(end.said, "a missing mt_release or mt_scope_end"), "said \"%s\"", end.said);
}
#endif
