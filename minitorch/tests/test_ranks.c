/* test_ranks.c -- messages and collectives between threads, in simulated time: values, bytes, times. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "dist/collectives.h"
#include "dist/threads.h"
#include "on_ranks.h"

TestSuite(ranks, .timeout = 120);

static const int sizes[] = { 1, 2, 3, 4, 5, 8 };

/* ---- values ------------------------------------------------------------------------------------- */

typedef mt_status (*all_reduce_fn)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

static mt_status through_the_thread(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    return mt_all_reduce(comm, data, n, dtype, op, NULL);
}

static const all_reduce_fn all_reduces[] = { mt_ring_all_reduce, mt_tree_all_reduce, mt_doubling_all_reduce,
                                             through_the_thread };

typedef struct values {
    all_reduce_fn reduce;
    int64_t n;
    mt_dtype dtype;
    mt_reduce op;
    void *of[8];
    mt_traffic sent[8];
} values;

static mt_status reduce_values(mt_comm *comm, void *user)
{
    values *v = user;
    mt_status status = v->reduce(comm, v->of[comm->rank], v->n, v->dtype, v->op);
    v->sent[comm->rank] = mt_comm_traffic(comm);
    return status;
}

/* A small integer that every dtype holds, and that differs from rank to rank and from element to element. */
static double value_of(int rank, int64_t i)
{
    return (double)((i * 7 + rank * 5) % 23);
}

static void try_all_reduce(int size, values *v)
{
    int64_t bytes = v->n * mt_dtype_size(v->dtype);
    for (int rank = 0; rank < size; rank++) {
        v->of[rank] = malloc((size_t)bytes + 1);
        for (int64_t i = 0; i < v->n; i++)
            mt_store_f64(v->of[rank], v->dtype, i, value_of(rank, i));
    }
    trial t = run(size, (mt_wires){ .checked = true }, reduce_values, v);
    cr_assert_eq(t.status, MT_OK, "%s", mt_last_error());
    for (int64_t i = 0; i < v->n; i++) {
        double want = 0;
        for (int rank = 0; rank < size; rank++)
            want = v->op == MT_SUM ? want + value_of(rank, i) : fmax(want, value_of(rank, i));
        double got = mt_load_f64(v->of[0], v->dtype, i);
        cr_assert_eq(got, want, "%d ranks, element %" PRId64 " of %" PRId64 ": %g, not %g", size, i, v->n, got, want);
    }
    for (int rank = 0; rank < size; rank++) {
        cr_assert(memcmp(v->of[rank], v->of[0], (size_t)bytes) == 0, "rank %d of %d has other bits", rank, size);
        if (rank > 0)
            free(v->of[rank]);
    }
    free(v->of[0]);
}

Test(ranks, every_all_reduce_sums_and_finds_the_maximum)
{
    static const mt_dtype dtypes[] = { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 };
    for (int64_t s = 0; s < MT_COUNT(sizes); s++)
        for (int64_t a = 0; a < MT_COUNT(all_reduces); a++) {
            int64_t counts[] = { 0, 1, sizes[s] - 1, sizes[s], 31, 33, 1009 };
            for (int64_t c = 0; c < MT_COUNT(counts); c++)
                for (int64_t d = 0; d < MT_COUNT(dtypes); d++)
                    try_all_reduce(
                        sizes[s],
                        &(values){
                            all_reduces[a], counts[c], dtypes[d], (d + c) % 2 ? MT_MAX : MT_SUM, { 0 }, { { 0 } } });
        }
}

Test(ranks, sums_of_floats_have_the_same_bits_on_all_ranks)
{
    for (int64_t a = 0; a < MT_COUNT(all_reduces); a++) {
        values v = { all_reduces[a], 1009, MT_F32, MT_SUM, { 0 }, { { 0 } } };
        for (int rank = 0; rank < 5; rank++) {
            float *x = v.of[rank] = malloc(1009 * sizeof *x);
            for (int i = 0; i < 1009; i++)
                x[i] = sinf((float)(i * 5 + rank)) * powf(10, (float)(rank - 2));
        }
        double want[1009] = { 0 };
        for (int i = 0; i < 1009; i++)
            for (int rank = 0; rank < 5; rank++)
                want[i] += (double)((float *)v.of[rank])[i];
        cr_assert_eq(run(5, (mt_wires){ 0 }, reduce_values, &v).status, MT_OK);
        for (int i = 0; i < 1009; i++) /* four additions of numbers below 112 */
            cr_assert_float_eq(((float *)v.of[0])[i], want[i], 4 * 112 * 0x1p-24);
        for (int rank = 1; rank < 5; rank++)
            cr_assert(memcmp(v.of[rank], v.of[0], 1009 * sizeof(float)) == 0);
        for (int rank = 0; rank < 5; rank++)
            free(v.of[rank]);
    }
}

Test(ranks, a_maximum_finds_nan_and_knows_the_signs_of_zero)
{
    float a[] = { 1, NAN, 0.0f, -0.0f, -1 }, b[] = { NAN, 1, -0.0f, 0.0f, -2 };
    mt_reduce_into(a, b, 5, MT_F32, MT_MAX);
    cr_assert(isnan(a[0]) && isnan(a[1]) && !signbit(a[2]) && !signbit(a[3]) && a[4] == -1);
    int32_t top = INT32_MAX, one = 1;
    mt_reduce_into(&top, &one, 1, MT_I32, MT_SUM);
    cr_assert_eq(top, INT32_MIN);
}

/* ---- the other collectives ---------------------------------------------------------------------- */

static mt_status other_collectives(mt_comm *comm, void *user)
{
    int n = *(int *)user, size = comm->size, rank = comm->rank;
    int32_t *all = calloc((size_t)(n * size) + 1, sizeof *all), *part = calloc((size_t)n + 1, sizeof *part);
    for (int i = 0; i < n; i++)
        part[i] = rank * 1000 + i;
    mt_status status = mt_all_gather(comm, all, part, n, MT_I32, NULL);
    for (int i = 0; i < n * size && status == MT_OK; i++)
        cr_assert_eq(all[i], i / n * 1000 + i % n);
    for (int i = 0; i < n * size; i++)
        all[i] = i + rank;
    if (status == MT_OK)
        status = mt_reduce_scatter(comm, part, all, n, MT_I32, MT_SUM, NULL);
    for (int i = 0; i < n && status == MT_OK; i++)
        cr_assert_eq(part[i], size * (rank * n + i) + size * (size - 1) / 2);
    for (int i = 0; i < n * size; i++)
        cr_assert_eq(all[i], i + rank, "reduce_scatter changed its input");
    for (int root = 0; root < size && status == MT_OK; root++) {
        for (int i = 0; i < n; i++)
            part[i] = rank == root ? root * 100 + i : -1;
        status = mt_broadcast(comm, part, n, MT_I32, root, NULL);
        for (int i = 0; i < n; i++)
            cr_assert_eq(part[i], root * 100 + i);
    }
    free(all);
    free(part);
    return status == MT_OK ? mt_barrier(comm) : status;
}

Test(ranks, gather_scatter_broadcast)
{
    int counts[] = { 0, 1, 7, 33 };
    for (int64_t s = 0; s < MT_COUNT(sizes); s++)
        for (int64_t c = 0; c < MT_COUNT(counts); c++)
            cr_assert_eq(run(sizes[s], (mt_wires){ .checked = c % 2 }, other_collectives, &counts[c]).status, MT_OK);
}

static mt_status in_two_groups(mt_comm *comm, void *user)
{
    (void)user;
    mt_comm *row = NULL;
    mt_status status = mt_comm_split(&row, comm, comm->rank % 2, -comm->rank); /* ranks 4, 2, 0 and 5, 3, 1 */
    if (status != MT_OK)
        return status;
    cr_assert_eq(row->size, 3);
    cr_assert_eq(row->rank, 2 - comm->rank / 2);
    int32_t mine = comm->rank, sum = 1;
    status = mt_all_reduce(row, &mine, 1, MT_I32, MT_SUM, NULL);
    cr_assert_eq(mine, comm->rank % 2 ? 9 : 6);
    if (status == MT_OK)
        status = mt_all_reduce(comm, &sum, 1, MT_I32, MT_SUM, NULL);
    cr_assert_eq(sum, 6);
    mt_comm_free(row);
    return status;
}

Test(ranks, split_orders_by_key)
{
    cr_assert_eq(run(6, (mt_wires){ .checked = true }, in_two_groups, NULL).status, MT_OK);
}

/* ---- bytes and times ---------------------------------------------------------------------------- */

static const mt_network network = { .latency = 0.5e-3, .byte_time = 8e-9 };

Test(ranks, a_ring_sends_what_its_law_says_in_the_time_of_its_law)
{
    for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
        int size = sizes[s];
        int64_t n = 5 * 3 * 8 * 128; /* equal parts for all sizes */
        values v = { mt_ring_all_reduce, n, MT_F32, MT_SUM, { 0 }, { { 0 } } };
        for (int rank = 0; rank < size; rank++)
            v.of[rank] = calloc((size_t)n, sizeof(float));
        trial t = run(size, (mt_wires){ .network = network }, reduce_values, &v);
        double law = 2 * (size - 1) * (network.latency + 4.0 * (double)n / size * network.byte_time);
        cr_assert_float_eq(t.seconds, law, 1e-12);
        cr_assert_float_eq(mt_collective_seconds(MT_RING, size, 4 * n, &network), law, 1e-12);
        for (int rank = 0; rank < size; rank++) {
            cr_assert_eq(v.sent[rank].messages, 2 * (size - 1));
            cr_assert_eq(v.sent[rank].bytes, 2 * 4 * n * (size - 1) / size);
            free(v.of[rank]);
        }
    }
}

Test(ranks, the_chosen_algorithm_takes_the_time_that_was_predicted_and_none_takes_less)
{
    static const int64_t counts[] = { 240, 24000, 240000 };
    for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
        for (int64_t c = 0; c < MT_COUNT(counts); c++) {
            double took[4];
            for (int a = 0; a < 4; a++) {
                values v = { all_reduces[a], counts[c], MT_F32, MT_SUM, { 0 }, { { 0 } } };
                for (int rank = 0; rank < sizes[s]; rank++)
                    v.of[rank] = calloc((size_t)counts[c], sizeof(float));
                took[a] = run(sizes[s], (mt_wires){ .network = network }, reduce_values, &v).seconds;
                for (int rank = 0; rank < sizes[s]; rank++)
                    free(v.of[rank]);
                if (a < 3)
                    cr_assert_float_eq(took[a],
                                       mt_collective_seconds((mt_algorithm)a, sizes[s], 4 * counts[c], &network), 1e-9,
                                       "algorithm %d, %d ranks: %g s", a, sizes[s], took[a]);
            }
            cr_assert_float_eq(took[3], fmin(took[0], fmin(took[1], took[2])), 1e-12);
        }
    }
}

/* ---- asynchronous ------------------------------------------------------------------------------- */

static mt_status overlapped(mt_comm *comm, void *user)
{
    mt_clock *clock = *(mt_clock **)user;
    static float data[4][2][3000];
    mt_request *handles[2];
    float(*mine)[3000] = data[comm->rank];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3000; j++)
            mine[i][j] = (float)(i + 1);
    for (int i = 0; i < 2; i++)
        mt_all_reduce(comm, mine[i], 3000, MT_F32, MT_SUM, &handles[i]);
    clock->sleep(clock, 0.5);
    mt_status status = mt_wait(handles[1]); /* in any order */
    if (status == MT_OK)
        status = mt_wait(handles[0]);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3000; j++)
            cr_assert_eq(mine[i][j], 4 * (i + 1));
    return status;
}

Test(ranks, collectives_run_while_the_caller_computes)
{
    mt_wires wires = { .clock = mt_clock_sim_new(), .network = network };
    cr_assert_eq(mt_ranks_run(4, &wires, overlapped, &wires.clock), MT_OK);
    cr_assert_eq(wires.clock->now(wires.clock), 0.5, "the sums take less time than the computation");
    mt_clock_sim_free(wires.clock);
}

static mt_status reads_too_early(mt_comm *comm, void *user)
{
    mt_clock *clock = *(mt_clock **)user;
    int32_t value = comm->rank ? -1 : 42;
    mt_request *request = NULL;
    if (comm->rank == 0)
        return mt_send(comm, &value, 1, MT_I32, 1, NULL);
    mt_status status = mt_recv(comm, &value, 1, MT_I32, 0, &request);
    clock->sleep(clock, 100);
    cr_assert_eq(value, -1, "before mt_wait nothing has arrived");
    status = mt_wait(request);
    cr_assert_eq(value, 42);
    return status;
}

Test(ranks, a_message_arrives_when_it_is_waited_for)
{
    mt_wires wires = { .clock = mt_clock_sim_new() };
    cr_assert_eq(mt_ranks_run(2, &wires, reads_too_early, &wires.clock), MT_OK);
    mt_clock_sim_free(wires.clock);
}

Test(ranks, on_the_machines_clock_too)
{
    int n = 33;
    for (int times = 0; times < 20; times++)
        cr_assert_eq(mt_ranks_run(4, &(mt_wires){ .checked = true, .deadline = 60 }, other_collectives, &n), MT_OK);
}
