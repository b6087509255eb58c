/* test_local.c -- rounds of local training: the mean, momentum by its formula in double, delays that lose nothing. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dist/local.h"
#include "on_ranks.h"

TestSuite(local, .timeout = 60);

enum { N = 33, MOST = 5 };

typedef struct rounds {
    mt_outer outer;    /* its numbers */
    int rounds, quiet; /* of these the last ones have d = 0 */
    float global[MOST][N];
    mt_traffic sent[MOST];
} rounds;

/* How training changes element i in a round: a small integer. */
static float change(int rank, int round, int i)
{
    return (float)((rank * 3 + round * 5 + i) % 7 - 2);
}

static mt_status train(mt_comm *comm, void *user)
{
    rounds *r = user;
    mt_status status = MT_OK;
    float local[N], velocity[N] = { 0 }, *global = r->global[comm->rank];
    mt_outer o = r->outer;
    o.n = N, o.global = global, o.velocity = velocity;
    o.pending = calloc((size_t)(o.max_delay + 1) * N, sizeof(float));
    for (int i = 0; i < N; i++)
        local[i] = global[i] = (float)i;
    for (int round = 0; round < r->rounds && status == MT_OK; round++) {
        for (int i = 0; i < N && round < r->rounds - r->quiet; i++)
            local[i] += change(comm->rank, round, i);
        status = mt_outer_step(comm, &o, local);
        cr_assert(memcmp(local, global, sizeof local) == 0);
        cr_assert_eq(o.round, round + 1);
    }
    r->sent[comm->rank] = mt_comm_traffic(comm);
    free(o.pending);
    return status;
}

static void must_train(rounds *r, int size)
{
    cr_assert_eq(run(size, (mt_wires){ .checked = true }, train, r).status, MT_OK, "%s", mt_last_error());
    for (int rank = 1; rank < size; rank++)
        cr_assert(memcmp(r->global[rank], r->global[0], sizeof r->global[0]) == 0);
}

Test(local, without_momentum_it_is_the_mean_of_the_parameters)
{
    for (int size = 1; size <= 4; size *= 2) {
        rounds r = { .outer = { .lr = 1 }, .rounds = 6 };
        must_train(&r, size);
        for (int i = 0; i < N; i++) {
            double want = i;
            for (int round = 0; round < 6; round++)
                for (int rank = 0; rank < size; rank++)
                    want += (double)change(rank, round, i) / size;
            cr_assert_eq(r.global[0][i], want);
        }
    }
}

/* Each round rounds a few times, numbers of at most 64; momentum carries errors on, tenfold at most. */
Test(local, momentum_is_nesterovs)
{
    for (int size = 1; size <= MOST; size++) {
        rounds r = { .outer = { .lr = 0.7, .momentum = 0.9 }, .rounds = 8 };
        must_train(&r, size);
        for (int i = 0; i < N; i++) {
            double want = i, velocity = 0;
            for (int round = 0; round < 8; round++) {
                double mean = 0;
                for (int rank = 0; rank < size; rank++)
                    mean -= (double)change(rank, round, i) / size;
                velocity = 0.9 * velocity + mean;
                want -= 0.7 * (mean + 0.9 * velocity);
            }
            cr_assert_float_eq(r.global[0][i], want, 8 * 10 * 8 * 64 * 0x1p-24);
        }
    }
}

Test(local, delays_are_seeded_and_nothing_is_lost_or_applied_twice)
{
    rounds r = { .outer = { .lr = 1, .max_delay = 3, .seed = 5 }, .rounds = 12, .quiet = 4 }, again = r;
    must_train(&r, 4);
    must_train(&again, 4);
    cr_assert(memcmp(r.global, again.global, sizeof r.global) == 0);
    for (int i = 0; i < N; i++) {
        double want = i;
        for (int round = 0; round < 8; round++)
            for (int rank = 0; rank < 4; rank++)
                want += (double)change(rank, round, i) / 4;
        cr_assert_eq(r.global[0][i], want);
    }
    rounds other = { .outer = { .lr = 1, .max_delay = 3, .seed = 6 }, .rounds = 3 }, first = other;
    first.outer.seed = 5;
    must_train(&other, 4);
    must_train(&first, 4);
    cr_assert(memcmp(other.global, first.global, sizeof first.global) != 0, "another seed, the same delays");
}

Test(local, delays_are_all_equally_likely)
{
    mt_outer o = { .max_delay = 3, .seed = 1 };
    int count[4] = { 0 };
    for (int rank = 0; rank < 10; rank++)
        for (int64_t round = 0; round < 100; round++)
            count[mt_outer_delay(&o, rank, round)]++;
    for (int d = 0; d < 4; d++) /* 250, and 5 times the standard deviation */
        cr_assert(abs(count[d] - 250) < 70, "delay %d: %d of 1000", d, count[d]);
}

Test(local, a_round_sends_one_all_reduce)
{
    rounds r = { .outer = { .lr = 1 }, .rounds = 3 };
    cr_assert_eq(run(2, (mt_wires){ 0 }, train, &r).status, MT_OK);
    cr_assert_eq(r.sent[0].bytes, 3 * N * 4);
}
