/* test_hierarchy.c -- ranks in nodes: views of a communicator, the all-reduce of lab 13.21 and its bytes between nodes,
 * the laws of 13.22 beside virtual time, and the same on the simulated cluster of lab 15. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "aborts.h"
#include "dist/collectives.h"
#include "on_ranks.h"
#include "plan/gpt2_tasks.h"

TestSuite(hierarchy, .timeout = 120);

enum { MOST = 24 };

static const mt_network network = { .latency = 0.5e-3, .byte_time = 8e-9 };
static const mt_network inside = { .latency = 10e-6, .byte_time = 0.1e-9 };

/* Ranks, and those of a node; none of both is a power of two in some. */
static const struct {
    int size, node;
} worlds[] = { { 8, 4 }, { 8, 2 }, { 12, 4 }, { 24, 8 }, { 6, 3 }, { 6, 2 }, { 15, 5 }, { 4, 1 }, { 4, 4 }, { 1, 1 } };

/* One sum on all ranks, by way or, if it is negative, by the choice; what ranks have sent to other nodes. */
typedef struct sum {
    int way;
    int64_t n;
    mt_traffic sent[MOST];
    int64_t left[MOST];
} sum;

static mt_comm_engine counting;
static mt_status (*message)(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request);
static _Thread_local int64_t left;

static mt_status count(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    left += is_send && peer / comm->nodes.size != comm->rank / comm->nodes.size ? bytes : 0;
    return message(comm, data, bytes, peer, is_send, request);
}

static mt_status add(mt_comm *comm, void *user)
{
    sum *s = user;
    float *data = malloc((size_t)(s->n + 1) * sizeof *data);
    for (int64_t i = 0; i < s->n; i++)
        data[i] = (float)(comm->rank + i % 7);
    comm->engine = &counting;
    left = 0;
    mt_status status = s->way < 0 ? mt_all_reduce(comm, data, s->n, MT_F32, MT_SUM, NULL)
                                  : mt_collective_all_reduce((mt_algorithm)s->way, comm, data, s->n, MT_F32, MT_SUM);
    s->sent[comm->rank] = mt_comm_traffic(comm);
    s->left[comm->rank] = left;
    for (int64_t i = 0; i < s->n; i++)
        cr_assert_eq(data[i], (float)(comm->size * (comm->size - 1) / 2 + comm->size * (i % 7)));
    free(data);
    return status;
}

static double seconds_of(sum *s, int size, int node)
{
    mt_comm *one = alone();
    counting = *one->engine;
    message = counting.message;
    counting.message = count;
    mt_comm_free(one);
    trial t = run(size, (mt_wires){ .network = network, .nodes = { node, inside } }, add, s);
    cr_assert_eq(t.status, MT_OK, "%s", mt_last_error());
    return t.seconds;
}

Test(hierarchy, sends_its_bytes_between_nodes_once_and_as_many_as_a_ring_in_all)
{
    for (int w = 0; w < MT_COUNT(worlds); w++) {
        int size = worlds[w].size, node = worlds[w].node, nodes = size / node;
        int64_t n = 8 * 3 * 5 * 128, bytes = 4 * n; /* equal parts everywhere */
        sum s = { .way = MT_HIERARCHICAL, .n = n };
        seconds_of(&s, size, node);
        for (int rank = 0; rank < size; rank++) {
            cr_assert_eq(s.sent[rank].bytes, 2 * bytes * (size - 1) / size);
            cr_assert_eq(s.sent[rank].values, s.sent[rank].bytes);
            cr_assert_eq(s.sent[rank].messages, 2 * (node - 1) + 2 * (nodes - 1));
        }
        for (int first = 0; first < size; first += node) {
            int64_t of_node = 0;
            for (int rank = first; rank < first + node; rank++)
                of_node += s.left[rank];
            cr_assert_eq(of_node, 2 * bytes * (nodes - 1) / nodes, "%d ranks in nodes of %d", size, node);
        }
    }
}

/* Of tree and doubling the law of other nodes than of 2^k is a bound. */
Test(hierarchy, takes_the_time_of_its_law_and_the_choice_takes_the_least)
{
    static const int64_t counts[] = { 240, 24000, 240000 };
    for (int w = 0; w < MT_COUNT(worlds); w++)
        for (int c = 0; c < MT_COUNT(counts); c++) {
            int size = worlds[w].size, node = worlds[w].node;
            mt_nodes nodes = { node, inside };
            double least = INFINITY, law[MT_HIERARCHICAL + 1];
            for (int way = MT_RING; way <= MT_HIERARCHICAL; way++) {
                sum s = { .way = way, .n = counts[c] };
                double took = seconds_of(&s, size, node);
                law[way] = mt_hierarchical_seconds((mt_algorithm)way, size, 4 * s.n, &nodes, &network);
                bool exact = way == MT_RING || way == MT_HIERARCHICAL || (node & (node - 1)) == 0;
                cr_assert(exact ? fabs(took - law[way]) <= 1e-9 : took <= law[way] + 1e-9,
                          "algorithm %d, %d ranks in nodes of %d, %d floats: %g s, law %g", way, size, node, (int)s.n,
                          took, law[way]);
                least = fmin(least, law[way]);
            }
            cr_assert_eq(law[mt_hierarchical_pick(size, 4 * counts[c], &nodes, &network)], least);
            sum chosen = { .way = -1, .n = counts[c] };
            cr_assert(seconds_of(&chosen, size, node) <= least + 1e-9, "%d ranks in nodes of %d", size, node);
        }
}

Test(hierarchy, takes_as_long_on_the_simulated_cluster)
{
    for (int w = 0; w < MT_COUNT(worlds); w++)
        for (int64_t n = 1; n < 200000; n = 13 * n + 5) {
            int size = worlds[w].size, node = worlds[w].node;
            int64_t rank[MOST], last[MOST];
            sum s = { .way = MT_HIERARCHICAL, .n = n };
            mt_cluster_outcome out;
            const mt_cluster cluster = { .devices = size,
                                         .machine = node,
                                         .inside = { inside.latency, 1 / inside.byte_time, INFINITY },
                                         .network = { network.latency, 1 / network.byte_time, INFINITY } };
            mt_cluster_tasks *tasks = mt_cluster_tasks_new();
            for (int r = 0; r < size; r++)
                rank[r] = r, last[r] = -1;
            mt_cluster_hierarchy(tasks, rank, size, node, n, 4, last);
            cr_assert_eq(mt_cluster_run(&out, NULL, &cluster, tasks, 0), MT_OK, "%s", mt_last_error());
            mt_cluster_tasks_free(tasks);
            double real = seconds_of(&s, size, node);
            cr_assert_float_eq(out.end, real, 1e-9, "%d ranks in nodes of %d, %d floats: %g s, ranks %g", size, node,
                               (int)n, out.end, real);
        }
}

/* Ranks 1, 3 and 5 of 6 pass a number on. */
static mt_status passes_on(mt_comm *comm, void *user)
{
    (void)user;
    mt_comm_view odd;
    int32_t mine = 100 + comm->rank, got = -1;
    mt_request *sent;
    if (comm->rank % 2 == 0)
        return MT_OK;
    mt_comm_view_of(&odd, comm, 1, 2, 3);
    cr_assert(odd.base.rank == comm->rank / 2 && odd.base.size == 3);
    MT_TRY(mt_send(&odd.base, &mine, 1, MT_I32, (odd.base.rank + 1) % 3, &sent));
    MT_TRY(mt_recv(&odd.base, &got, 1, MT_I32, (odd.base.rank + 2) % 3, NULL));
    cr_assert_eq(got, 100 + (comm->rank + 4) % 6);
    cr_assert(mt_comm_traffic(comm).messages == 1 && mt_comm_traffic(comm).values == 0);
    return mt_wait(sent);
}

Test(hierarchy, a_view_has_some_of_the_ranks_and_its_messages_are_those_of_the_communicator)
{
    cr_assert_eq(run(6, (mt_wires){ 0 }, passes_on, NULL).status, MT_OK);
    mt_comm *one = alone();
    mt_comm_view view;
    mt_comm_view_of(&view, one, 0, 1, 1);
    ABORTS("must have rank 0", mt_comm_view_of(&view, one, 0, 1, 2));
    ABORTS("must have rank 0", mt_comm_view_of(&view, one, 1, 1, 1));
    ABORTS("a view has messages only", mt_barrier(&view.base));
    mt_comm_free(one);
}
