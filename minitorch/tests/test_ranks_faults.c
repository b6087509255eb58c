/* test_ranks_faults.c -- ranks that leave, stop, wait for each other or disagree: every other rank gets an error. */
#include <criterion/criterion.h>
#include <string.h>

#include "aborts.h"
#include "on_ranks.h"

TestSuite(ranks_faults, .timeout = 120);

static mt_status everybody_sends_first(mt_comm *comm, void *user)
{
    (void)user;
    int32_t out = comm->rank, in;
    mt_status status = mt_send(comm, &out, 1, MT_I32, (comm->rank + 1) % comm->size, NULL);
    return status == MT_OK ? mt_recv(comm, &in, 1, MT_I32, (comm->rank + comm->size - 1) % comm->size, NULL) : status;
}

Test(ranks_faults, sends_that_wait_for_each_other_are_a_deadlock)
{
    ABORTS("deadlock: 3 threads wait", run(3, (mt_wires){ 0 }, everybody_sends_first, NULL));
    trial t = run(3, (mt_wires){ .deadline = 2 }, everybody_sends_first, NULL);
    cr_assert_eq(t.status, MT_ERR_UNAVAILABLE);
    cr_assert_eq(t.seconds, 2);
    cr_assert(strstr(mt_last_error(), "rank 0: send to rank 1: rank 1 did not take part within 2 s"), "%s",
              mt_last_error());
}

/* The ranks pass a number round; rank `who` leaves instead of its k-th message, or sleeps for long. */
typedef struct fault {
    int who, at;
    mt_clock *sleeps; /* NULL: it leaves */
    mt_status statuses[4];
} fault;

static mt_status round_and_round(mt_comm *comm, void *user)
{
    fault *f = user;
    int32_t out[3] = { comm->rank }, in[3];
    mt_status status = MT_OK;
    for (int k = 0; k < 6 && status == MT_OK; k++) {
        if (comm->rank == f->who && k == f->at) {
            if (!f->sleeps)
                return MT_OK;
            f->sleeps->sleep(f->sleeps, 1e6);
        }
        mt_request *sent;
        status = mt_send(comm, out, 3, MT_I32, (comm->rank + 1) % comm->size, &sent);
        if (status == MT_OK)
            status = mt_recv(comm, in, 3, MT_I32, (comm->rank + 3) % comm->size, NULL);
        if (status == MT_OK)
            status = mt_wait(sent);
    }
    if (status == MT_OK && !f->sleeps)
        status = mt_all_reduce(comm, out, 1, MT_I32, MT_SUM, NULL);
    f->statuses[comm->rank] = status;
    return status;
}

Test(ranks_faults, when_a_rank_leaves_at_any_message_all_others_get_an_error)
{
    for (int who = 0; who < 4; who++)
        for (int at = 0; at <= 5; at++) {
            fault f = { .who = who, .at = at };
            trial t = run(4, (mt_wires){ 0 }, round_and_round, &f);
            cr_assert_eq(t.status, MT_ERR_UNAVAILABLE);
            for (int rank = 0; rank < 4; rank++)
                cr_assert(rank == who || f.statuses[rank] == MT_ERR_UNAVAILABLE, "rank %d goes on without %d", rank,
                          who);
            cr_assert(strstr(mt_last_error(), "has failed"), "%s", mt_last_error());
        }
}

Test(ranks_faults, a_rank_that_stops_is_named_before_twice_the_deadline)
{
    fault f = { .who = 2, .at = 3, .sleeps = mt_clock_sim_new() };
    mt_wires wires = { .clock = f.sleeps, .deadline = 5 };
    cr_assert_eq(mt_ranks_run(4, &wires, round_and_round, &f), MT_ERR_UNAVAILABLE);
    for (int rank = 0; rank < 4; rank++)
        cr_assert_eq(f.statuses[rank], MT_ERR_UNAVAILABLE, "rank %d", rank);
    mt_clock_sim_free(f.sleeps);
}

/* Rank 1 calls something else. */
static mt_status disagree(mt_comm *comm, void *user)
{
    int how = *(int *)user, odd = comm->rank == 1;
    float data[8] = { 0 };
    if (how == 0)
        return mt_all_reduce(comm, data, odd ? 7 : 8, MT_F32, MT_SUM, NULL);
    if (how == 1)
        return mt_all_reduce(comm, data, 8, odd ? MT_I32 : MT_F32, MT_SUM, NULL);
    if (how == 2)
        return mt_all_reduce(comm, data, 8, MT_F32, odd ? MT_MAX : MT_SUM, NULL);
    if (how == 3)
        return mt_broadcast(comm, data, 8, MT_F32, odd, NULL);
    return odd ? mt_barrier(comm) : mt_all_reduce(comm, data, 8, MT_F32, MT_SUM, NULL);
}

Test(ranks_faults, ranks_that_call_different_things_are_named)
{
    for (int how = 0; how < 5; how++) {
        trial t = run(3, (mt_wires){ .checked = true }, disagree, &how);
        cr_assert_eq(t.status, MT_ERR_UNAVAILABLE);
        cr_assert(strstr(mt_last_error(), "rank"), "%s", mt_last_error());
    }
    int how = 0;
    cr_assert_eq(run(3, (mt_wires){ .deadline = 1 }, disagree, &how).status, MT_ERR_UNAVAILABLE, "unchecked");
}

Test(ranks_faults, words_of_a_disagreement)
{
    int how = 0;
    cr_assert_eq(run(2, (mt_wires){ .checked = true }, disagree, &how).status, MT_ERR_UNAVAILABLE);
    cr_assert(strstr(mt_last_error(),
                     "rank 0 calls all_reduce of 8 f32 (call 0), root 0, and rank 1 calls all_reduce of 7 f32"),
              "%s", mt_last_error());
}
