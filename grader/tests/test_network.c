/* test_network.c -- operations of ranks, run again on the checker's network: times, counts, who waits for whom. */
#include "checks/13-network.h"

#include <criterion/criterion.h>

static const mg_network network = { .latency = 1, .byte_time = 0.01 }; /* a message of 100 bytes takes 2 s */

#define SEND(peer) { MG_OP_SEND, peer, 100, 0, MT_OK }
#define RECV(peer) { MG_OP_RECV, peer, 100, 0, MT_OK }
#define WAIT(row)  { MG_OP_WAIT, row, 0, 0, MT_OK }
#define DEEDS(rows)            \
    {                          \
        .op = (rows),          \
        .ops = MT_COUNT(rows), \
    }

Test(network, both_ways_at_once)
{
    const mg_op a[] = { SEND(1), RECV(1), WAIT(1), WAIT(0) }, b[] = { SEND(0), RECV(0), WAIT(1), WAIT(0) };
    mg_deeds deeds[] = { DEEDS(a), DEEDS(b) };
    cr_expect_eq(mg_13_replay(deeds, 2, network), 2);
    cr_expect_eq(deeds[1].sends, 1);
    cr_expect_eq(deeds[1].sent, 100);
    cr_expect_eq(deeds[1].receives, 1);
    cr_expect_eq(deeds[0].waits, -1);
}

Test(network, one_message_at_a_time_in_each_direction)
{
    const mg_op a[] = { SEND(1), SEND(2), WAIT(0), WAIT(1) }, b[] = { RECV(0), WAIT(0) };
    mg_deeds deeds[] = { DEEDS(a), DEEDS(b), DEEDS(b) };
    cr_expect_eq(mg_13_replay(deeds, 3, network), 4, "two sends of one rank");
    cr_expect_eq(deeds[1].ends, 2);
    cr_expect_eq(deeds[2].ends, 4);
    const mg_op c[] = { RECV(1), RECV(2), WAIT(0), WAIT(1) }, d[] = { SEND(0), WAIT(0) };
    mg_deeds other[] = { DEEDS(c), DEEDS(d), DEEDS(d) };
    cr_expect_eq(mg_13_replay(other, 3, network), 4, "two receives of one rank");
}

Test(network, messages_between_two_ranks_keep_their_order)
{
    const mg_op a[] = { { MG_OP_SEND, 1, 0, 0, MT_OK }, SEND(1), WAIT(1), WAIT(0) };
    const mg_op b[] = { { MG_OP_RECV, 0, 0, 0, MT_OK }, WAIT(0), RECV(0), WAIT(2) };
    mg_deeds deeds[] = { DEEDS(a), DEEDS(b) };
    cr_expect_eq(mg_13_replay(deeds, 2, network), 3);
    cr_expect_eq(deeds[0].sent, 100);
}

Test(network, a_ring_of_blocking_sends_is_a_deadlock)
{
    const mg_op a[] = { SEND(1), WAIT(0), RECV(2), WAIT(2) }, b[] = { SEND(2), WAIT(0), RECV(0), WAIT(2) },
                c[] = { SEND(0), WAIT(0), RECV(1), WAIT(2) };
    mg_deeds deeds[] = { DEEDS(a), DEEDS(b), DEEDS(c) };
    char words[200] = "";
    mg_13_replay(deeds, 3, network);
    cr_expect_eq(deeds[2].waits, 1);
    mg_13_say_deadlock(words, sizeof words, deeds, 3);
    cr_expect_str_eq(words, "rank 0 to send to rank 1, rank 1 to send to rank 2, rank 2 to send to rank 0");
    mg_13_say_deadlock(words, 20, deeds, 3);
    cr_expect_str_eq(words, "rank 0 to send to r");
}

Test(network, a_rank_that_is_waited_for_and_has_left)
{
    const mg_op a[] = { RECV(1), WAIT(0) };
    mg_deeds deeds[] = { DEEDS(a), { .op = a, .ops = 0 } };
    char words[80] = "";
    cr_expect_eq(mg_13_replay(deeds, 2, network), 0);
    mg_13_say_deadlock(words, sizeof words, deeds, 2);
    cr_expect_str_eq(words, "rank 0 to receive from rank 1");
}

Test(network, work_takes_time)
{
    const mg_op a[] = { { MG_OP_WORK, 0 }, SEND(1), WAIT(1) }, b[] = { RECV(0), { MG_OP_WORK, 1 }, WAIT(0) };
    mg_deeds deeds[] = { { .op = a, .ops = 3, .work = { 4, 50 } }, { .op = b, .ops = 3, .work = { 50, 5 } } };
    cr_expect_eq(mg_13_replay(deeds, 2, network), 6, "4 of a forward, 2 of the message that begins then");
    deeds[0].work[0] = 2;
    cr_expect_eq(mg_13_replay(deeds, 2, network), 5, "the message arrives during the backward");
    cr_expect_eq(deeds[1].receives, 1);
}

Test(network, messages_of_two_communicators_do_not_meet)
{
    const mg_op a[] = { { MG_OP_SEND, 1, 0, 0, MT_OK, 1 }, { MG_OP_SEND, 1, 100, 0, MT_OK, 2 }, WAIT(0), WAIT(1) };
    const mg_op b[] = { { MG_OP_RECV, 0, 100, 0, MT_OK, 2 }, WAIT(0), { MG_OP_RECV, 0, 0, 0, MT_OK, 1 }, WAIT(2) };
    mg_deeds deeds[] = { DEEDS(a), DEEDS(b) };
    cr_expect_eq(mg_13_replay(deeds, 2, network), 3);
    cr_expect_eq(deeds[0].waits, -1);
    const mg_op c[] = { { MG_OP_RECV, 0, 100, 0, MT_OK, 3 }, WAIT(0) };
    mg_deeds other[] = { DEEDS(a), DEEDS(c) };
    mg_13_replay(other, 2, network);
    cr_expect_eq(other[1].waits, 1);
}

Test(network, rows_that_no_rank_makes)
{
    const mg_op work_of_three[] = { { MG_OP_WORK, 2 } }, wait_for_work[] = { { MG_OP_WORK, 0 }, WAIT(0) };
    const mg_op wait_for_wait[] = { SEND(1), WAIT(0), WAIT(1) }, to_itself[] = { SEND(0) },
                good[] = { SEND(1), WAIT(0) };
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(work_of_three), 0, 2, 3));
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(wait_for_work), 0, 2, 3));
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(wait_for_wait), 0, 2, 3));
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(to_itself), 0, 2, 3));
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(good), 0, 1, 3), "there is no rank 1");
    cr_expect(mg_13_is_possible(&(mg_deeds)DEEDS(good), 0, 2, 3));
    cr_expect_not(mg_13_is_possible(&(mg_deeds)DEEDS(good), 0, 2, 1), "there is room for one");
}
