/* test_seams.c -- the extension points for later labs: cast policy, tape hooks, communicator, spans. */
#include "aborts.h"
#include "ops/policy.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "on_ranks.h"
#include "core/span.h"

#include <pthread.h>

/* ---- cast policy -------------------------------------------------------------------------------- */

static mt_dtype to_bf16_but_not(void *user, const char *op, mt_op_kind kind, mt_dtype input)
{
    (void)input;
    return kind == MT_OP_MATMUL && strcmp(op, user) != 0 ? MT_BF16 : MT_F32;
}

static mt_dtype to_integer(void *user, const char *op, mt_op_kind kind, mt_dtype input)
{
    (void)user, (void)op, (void)kind, (void)input;
    return MT_I32;
}

static void *dtype_in_another_thread(void *out)
{
    *(mt_dtype *)out = mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32);
    return NULL;
}

Test(policy, without_one_types_stay)
{
    void *user;
    cr_assert_null(mt_cast_policy_get(&user));
    for (int dtype = 0; dtype < MT_DTYPE_COUNT; dtype++)
        cr_assert_eq(mt_cast_dtype("linear", MT_OP_MATMUL, (mt_dtype)dtype), dtype);
}

Test(policy, is_asked_with_op_and_kind)
{
    static char exception[] = "head";
    void *user;
    mt_dtype elsewhere;
    pthread_t thread;
    mt_cast_policy_set(to_bf16_but_not, exception);
    cr_assert(mt_cast_policy_get(&user) == to_bf16_but_not && user == exception);
    cr_assert_eq(mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32), MT_BF16);
    cr_assert_eq(mt_cast_dtype("head", MT_OP_MATMUL, MT_F32), MT_F32);
    cr_assert_eq(mt_cast_dtype("softmax", MT_OP_REDUCTION, MT_BF16), MT_F32);
    cr_assert_eq(mt_cast_dtype("embedding", MT_OP_MATMUL, MT_I32), MT_I32, "integers are left alone");
    pthread_create(&thread, NULL, dtype_in_another_thread, &elsewhere);
    pthread_join(thread, NULL);
    cr_assert_eq(elsewhere, MT_F32, "a policy holds for its thread only");
    mt_cast_policy_set(to_integer, NULL);
    ABORTS("linear to compute in i32", mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32));
    mt_cast_policy_set(NULL, NULL);
    cr_assert_eq(mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32), MT_F32);
}

/* ---- tape hooks ----------------------------------------------------------------------------------- */

static char order[64];

static void note_leaf(void *user, mt_tensor *leaf)
{
    snprintf(order + strlen(order), sizeof order - strlen(order), "%s%d ", (char *)user, (int)mt_item(leaf));
}

Test(tape, gradient_ready_callbacks_are_called_per_leaf_in_order)
{
    static char a[] = "a", b[] = "b";
    mt_tensor *leaf[40];
    for (int i = 0; i < 40; i++) {
        leaf[i] = mt_full(MT_SCALAR, (float)i);
        mt_grad_ready_on(leaf[i], note_leaf, a);
    }
    mt_grad_ready_on(leaf[7], note_leaf, b);
    mt_grad_ready(leaf[39]);
    mt_grad_ready(leaf[7]);
    cr_assert_str_eq(order, "a39 a7 b7 ");
    mt_grad_ready_off(leaf[7], note_leaf, a);
    mt_grad_ready(leaf[7]);
    cr_assert_str_eq(order, "a39 a7 b7 b7 ");
    ABORTS("this callback was not registered for the gradient of []", mt_grad_ready_off(leaf[7], note_leaf, a));
    mt_grad_ready_off(leaf[7], note_leaf, b);
    mt_grad_ready(leaf[7]);
    for (int i = 0; i < 40; i++) {
        if (i != 7)
            mt_grad_ready_off(leaf[i], note_leaf, a);
        mt_release(leaf[i]);
    }
    cr_assert_str_eq(order, "a39 a7 b7 b7 ");
}

/* ---- communicator ----------------------------------------------------------------------------------- */

Test(comm, one_rank_alone_is_a_world)
{
    mt_comm *comm = alone();
    float x[3] = { 1, 2, 3 }, y[3] = { 0 }, z[3] = { 0 };
    mt_request *request = (mt_request *)x;
    cr_assert(comm->rank == 0 && comm->size == 1);
    cr_assert_str_eq(comm->engine->name, "threads");
    cr_assert_eq(mt_all_reduce(comm, x, 3, MT_F32, MT_SUM, &request), MT_OK);
    cr_assert_eq(mt_wait(request), MT_OK);
    cr_assert_eq(mt_reduce_scatter(comm, y, x, 3, MT_F32, MT_MAX, NULL), MT_OK);
    cr_assert_eq(mt_all_gather(comm, z, y, 3, MT_F32, NULL), MT_OK);
    cr_assert_eq(mt_all_gather(comm, z, z, 3, MT_F32, NULL), MT_OK);
    cr_assert_eq(mt_broadcast(comm, z, 3, MT_F32, 0, NULL), MT_OK);
    cr_assert_eq(mt_barrier(comm), MT_OK);
    cr_assert_arr_eq(z, ((float[]){ 1, 2, 3 }), sizeof z);
    mt_comm *part = NULL;
    cr_assert_eq(mt_comm_split(&part, comm, 3, -1), MT_OK);
    cr_assert(part && part != comm && part->rank == 0 && part->size == 1);
    mt_comm_free(part);
    ABORTS("split: color -1", mt_comm_split(&part, comm, -1, 0));
    ABORTS("send: rank 0 is the caller itself", mt_send(comm, x, 3, MT_F32, 0, NULL));
    ABORTS("recv: there is no rank 1 among 1", mt_recv(comm, x, 3, MT_F32, 1, NULL));
    ABORTS("broadcast: there is no rank -1 among 1", mt_broadcast(comm, x, 3, MT_F32, -1, NULL));
    ABORTS("all_reduce: -3 elements", mt_all_reduce(comm, x, -3, MT_F32, MT_SUM, NULL));
    mt_comm_free(comm);
    mt_comm_free(NULL);
}

/* ---- spans --------------------------------------------------------------------------------------------- */

static struct {
    int count;
    const char *name[8];
    double begin[8], end[8];
} spans;

static void note_span(void *user, const mt_span *span)
{
    cr_assert_eq(user, &spans);
    spans.name[spans.count] = span->name;
    spans.begin[spans.count] = span->begin;
    spans.end[spans.count++] = span->end;
}

static int work(bool leave_early)
{
    MT_SPAN("outer");
    if (leave_early)
        return 1;
    for (int i = 0; i < 2; i++) {
        MT_SPAN("inner");
        usleep(1000);
    }
    return 0;
}

Test(span, blocks_are_timed_inner_before_outer)
{
    work(false);
    cr_assert_eq(spans.count, 0, "no listener");
    mt_span_listen(note_span, &spans);
    work(false);
    work(true);
    mt_span_listen(NULL, NULL);
    work(false);
    cr_assert_eq(spans.count, 4);
    cr_assert_str_eq(spans.name[0], "inner");
    cr_assert_str_eq(spans.name[1], "inner");
    cr_assert_str_eq(spans.name[2], "outer");
    cr_assert_str_eq(spans.name[3], "outer", "an early return ends the span");
    for (int i = 0; i < 2; i++) {
        cr_assert(spans.end[i] - spans.begin[i] >= 0.001);
        cr_assert(spans.begin[2] <= spans.begin[i] && spans.end[i] <= spans.end[2]);
    }
    cr_assert(spans.end[0] <= spans.begin[1]);
}

static void begin_listening(void)
{
    MT_SPAN("half");
    mt_span_listen(note_span, &spans);
}

Test(span, one_that_began_without_an_observer_is_not_reported)
{
    begin_listening();
    cr_assert_eq(spans.count, 0);
    mt_span_listen(NULL, NULL);
}
