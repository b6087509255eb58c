/* test_choice.c -- which all-reduce a communicator takes: by the law, fixed, or measured. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "dist/collectives.h"
#include "dist/threads.h"
#include "on_ranks.h"

TestSuite(choice, .timeout = 120);

enum { RANKS = 4, ROOM = 16384 };

/* Of ranks 0 to 3: messages of each algorithm, with 4 ranks, and with nodes of 2. */
static const int64_t messages[][RANKS] = { { 6, 6, 6, 6 }, { 2, 2, 1, 1 }, { 2, 2, 2, 2 }, { 4, 4, 4, 4 } };

/* Messages that one sum of n floats on comm takes this rank; its result must be right. */
static int64_t messages_of_a_sum(mt_comm *comm, int64_t n)
{
    float data[ROOM];
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)(comm->rank + 1);
    int64_t before = mt_comm_traffic(comm).messages;
    cr_assert_eq(mt_all_reduce(comm, data, n, MT_F32, MT_SUM, NULL), MT_OK);
    for (int64_t i = 0; i < n; i++)
        cr_assert_eq(data[i], (float)(comm->size * (comm->size + 1) / 2));
    return mt_comm_traffic(comm).messages - before;
}

static mt_status sums_by_each(mt_comm *comm, void *user)
{
    (void)user;
    cr_assert_eq(messages_of_a_sum(comm, 5), 6); /* a network that costs nothing: the first of equal ones */
    for (mt_algorithm a = MT_RING; a <= MT_HIERARCHICAL; a++) {
        mt_comm *same;
        mt_collective_fix(comm, a);
        for (int64_t n = 0; n <= ROOM; n = 4 * n + 1)
            cr_assert_eq(messages_of_a_sum(comm, n), messages[a][comm->rank], "algorithm %d, %d floats", a, (int)n);
        cr_assert_eq(mt_comm_split(&same, comm, 0, 0), MT_OK);
        cr_assert_eq(messages_of_a_sum(same, 5), messages[a == MT_HIERARCHICAL ? MT_RING : a][comm->rank],
                     "algorithm %d, after a split, which does not know of nodes", a);
        mt_comm_free(same);
    }
    return MT_OK;
}

Test(choice, a_fixed_algorithm_is_that_of_all_sums_and_of_split_communicators)
{
    cr_assert_eq(run(RANKS, (mt_wires){ .nodes.size = 2 }, sums_by_each, NULL).status, MT_OK);
}

Test(choice, is_that_of_the_nearest_power_of_4)
{
    const int64_t bytes[] = {
        0,        1, 2, 7, 8, 31, 32, 511, 512, 2047, 2048, (1 << 29) - 1, 1 << 29, (int64_t)1 << 31, (int64_t)1 << 40,
        INT64_MAX
    };
    const int nearest[] = { 0, 0, 1, 1, 2, 2, 3, 4, 5, 5, 6, 14, 15, 15, 15, 15 };
    for (int64_t k = 0; k < MT_COUNT(bytes); k++)
        for (int i = 0; i < 16; i++) {
            mt_comm comm = { .size = RANKS };
            comm.way[i] = 1 + MT_TREE; /* elsewhere the law's, which is the ring */
            cr_assert_eq(mt_collective_choice(&comm, bytes[k]), i == nearest[k] ? MT_TREE : MT_RING,
                         "%lld bytes, way[%d]", (long long)bytes[k], i);
        }
    mt_comm law = { .size = 8, .network = { 1e-3, 1e-9 } };
    cr_assert_eq(mt_collective_choice(&law, 100), MT_DOUBLING);
    cr_assert_eq(mt_collective_choice(&law, 1 << 30), MT_RING);
}

/* What rank 0 has measured. */
static uint8_t first[16];

static mt_status measures(mt_comm *comm, void *user)
{
    (void)user;
    mt_status status = mt_collective_measure(comm);
    if (comm->rank == 0)
        memcpy(first, comm->way, sizeof first);
    cr_assert_eq(mt_barrier(comm), MT_OK);
    for (int i = 0; i < 16; i++) {
        cr_assert(comm->way[i] == first[i], "rank %d: way[%d] is %d, that of rank 0 %d", comm->rank, i, comm->way[i],
                  first[i]);
        bool known = comm->way[i] >= 1 && comm->way[i] <= 1 + (comm->size == 4 ? MT_HIERARCHICAL : MT_DOUBLING);
        cr_assert(comm->size == 1 ? comm->way[i] == 0 : known);
    }
    if (comm->size == RANKS)
        cr_assert_eq(messages_of_a_sum(comm, 64), messages[comm->way[4] - 1][comm->rank]);
    return status;
}

Test(choice, is_the_same_on_all_ranks_when_it_is_measured)
{
    for (int size = 1; size <= RANKS; size++)
        cr_assert_eq(mt_ranks_run(size, &(mt_wires){ .deadline = 60, .nodes.size = 2 }, measures, NULL), MT_OK, "%s",
                     mt_last_error());
}

/* ---- the order of calls ------------------------------------------------------------------------- */

/* A sum that is waited for, after two that were begun: all are right, in the order of their calls on every rank. */
static mt_status in_turn(mt_comm *comm, void *user)
{
    (void)user;
    float a[3] = { 1, 1, 1 }, b = 2;
    mt_request *begun[2];
    cr_assert_eq(mt_all_reduce(comm, a, 3, MT_F32, MT_SUM, &begun[0]), MT_OK);
    cr_assert_eq(mt_all_reduce(comm, &b, 1, MT_F32, MT_MAX, &begun[1]), MT_OK);
    messages_of_a_sum(comm, 7);
    cr_assert(a[2] == 4 && b == 2, "a sum was computed before those that were begun before it");
    cr_assert_eq(mt_wait(begun[0]), MT_OK);
    cr_assert_eq(messages_of_a_sum(comm, 7), 6 + 1);
    return mt_wait(begun[1]);
}

Test(choice, a_sum_that_is_waited_for_comes_after_those_begun_before)
{
    cr_assert_eq(run(RANKS, (mt_wires){ .checked = true, .network = { 1e-3, 1e-3 } }, in_turn, NULL).status, MT_OK);
}
