/* check_mpi.c -- the engine mpi (dist/mpi.h) beside the engine threads: every collective with odd sizes, splits, and
 * handles, has to give the same bits; and ranks that fail (minitorch/tests/test_mpi.sh).
 *
 *     mpirun -n 3 build/release/bin/check_mpi
 *     mpirun -n 3 build/release/bin/check_mpi --fault stop --deadline 2     rank 1 stops: all end, with words */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/dtype.h"
#include "dist/collectives.h"
#include "dist/mpi.h"
#include "bench/faulty_rank.h"
#include "cli/cli.h"

typedef struct options {
    const char *fault;
    double deadline;
    bool unchecked;
} options;

static const mt_option flags[] = {
    { "fault", 0, "HOW", MT_TEXT(options, fault), "What rank 1 does: kill, stop, leave, late, count, kind, size" },
    { "deadline", 0, "S", MT_F64(options, deadline, 0, 1e6), "Seconds (20)" },
    { "unchecked", 0, NULL, MT_FLAG(options, unchecked), "Do not compare collectives before their data moves" },
    { 0 },
};

/* ---- what is compared ---------------------------------------------------------------------------- */

/* The results of one rank, one after the other. */
typedef struct results {
    char *bytes;
    int64_t size;
} results;

static void keep(results *r, const void *data, int64_t bytes)
{
    r->bytes = realloc(r->bytes, (size_t)(r->size + bytes) + 1);
    MT_CHECK(r->bytes, "out of memory");
    memcpy(r->bytes + r->size, data, (size_t)bytes);
    r->size += bytes;
}

/* Numbers of several sizes, so that the order of a sum shows. */
static void fill(void *data, int64_t n, mt_dtype dtype, int rank)
{
    for (int64_t i = 0; i < n; i++) {
        double x = sin((double)(i * 5 + rank)) * pow(10, rank - 1);
        mt_store_f64(data, dtype, i, dtype == MT_F32 || dtype == MT_BF16 ? x : (double)((i * 7 + rank * 5) % 23));
    }
}

typedef mt_status (*all_reduce_fn)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

static mt_status through_the_thread(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    return mt_all_reduce(comm, data, n, dtype, op, NULL);
}

static mt_status all_reduces(mt_comm *comm, results *r, int64_t n)
{
    static const all_reduce_fn each[] = { mt_ring_all_reduce, mt_tree_all_reduce, mt_doubling_all_reduce,
                                          through_the_thread };
    static const mt_dtype dtypes[] = { MT_F32, MT_BF16, MT_I64, MT_U8 };
    char *data = malloc((size_t)n * 8 + 1);
    mt_status status = MT_OK;
    for (int d = 0; d < MT_COUNT(dtypes); d++)
        for (int a = 0; a < MT_COUNT(each) && status == MT_OK; a++) {
            fill(data, n, dtypes[d], comm->rank);
            status = each[a](comm, data, n, dtypes[d], (a + d) % 2 ? MT_MAX : MT_SUM);
            keep(r, data, n * mt_dtype_size(dtypes[d]));
        }
    free(data);
    return status;
}

static mt_status others(mt_comm *comm, results *r, int64_t n)
{
    int64_t all_bytes = n * comm->size * 4;
    float *all = calloc(1, (size_t)all_bytes + 1), *part = calloc(1, (size_t)n * 4 + 1);
    fill(part, n, MT_F32, comm->rank);
    mt_status status = mt_all_gather(comm, all, part, n, MT_F32, NULL);
    keep(r, all, all_bytes);
    fill(all, n * comm->size, MT_F32, comm->rank);
    if (status == MT_OK)
        status = mt_reduce_scatter(comm, part, all, n, MT_F32, MT_SUM, NULL);
    keep(r, part, n * 4);
    for (int root = 0; root < comm->size && status == MT_OK; root++) {
        fill(part, n, MT_F32, comm->rank);
        status = mt_broadcast(comm, part, n, MT_F32, root, NULL);
        keep(r, part, n * 4);
    }
    free(all);
    free(part);
    return status == MT_OK ? mt_barrier(comm) : status;
}

/* Two sums at once, waited for in the other order, while a message of the caller goes round. */
static mt_status with_handles(mt_comm *comm, results *r)
{
    enum { N = 300001 };
    static _Thread_local float data[2][N];
    mt_request *sum[2], *sent;
    int32_t next = (comm->rank + 1) % comm->size, from = -1;
    fill(data, 2 * N, MT_F32, comm->rank);
    for (int i = 0; i < 2; i++)
        mt_all_reduce(comm, data[i], N, MT_F32, MT_SUM, &sum[i]);
    mt_status status = mt_send(comm, &comm->rank, 1, MT_I32, next, &sent);
    if (status == MT_OK)
        status = mt_recv(comm, &from, 1, MT_I32, (comm->rank + comm->size - 1) % comm->size, NULL);
    if (status == MT_OK)
        status = mt_wait(sent);
    for (int i = 1; i >= 0; i--)
        if (mt_wait(sum[i]) != MT_OK)
            status = MT_ERR_UNAVAILABLE;
    keep(r, &from, sizeof from);
    keep(r, data, sizeof data);
    return status;
}

/* Rows of a mesh, and rows of these; every communicator goes on working. */
static mt_status in_groups(mt_comm *comm, results *r)
{
    mt_comm *row = NULL, *again = NULL;
    mt_status status = mt_comm_split(&row, comm, comm->rank % 2, -comm->rank);
    if (status == MT_OK)
        status = mt_comm_split(&again, row, 0, -row->rank);
    if (status == MT_OK) {
        int shape[] = { row->rank, row->size, again->rank, again->size };
        keep(r, shape, sizeof shape);
        status = all_reduces(again, r, 33);
    }
    if (status == MT_OK)
        status = all_reduces(row, r, 31);
    mt_comm_free(again);
    mt_comm_free(row);
    return status == MT_OK ? all_reduces(comm, r, 7) : status;
}

static mt_status collect(mt_comm *comm, void *user)
{
    results *r = (results *)user + comm->rank;
    int64_t counts[] = { 0, 1, comm->size - 1, comm->size, 31, 33, 10007 };
    mt_status status = MT_OK;
    for (int c = 0; c < MT_COUNT(counts) && status == MT_OK; c++) {
        status = all_reduces(comm, r, counts[c]);
        if (status == MT_OK)
            status = others(comm, r, counts[c]);
    }
    if (status == MT_OK && comm->size > 1)
        status = with_handles(comm, r);
    return status == MT_OK ? in_groups(comm, r) : status;
}

static mt_status compare(mt_comm *comm, const mt_wires *wires)
{
    results mpi[64] = { 0 }, threads[64] = { 0 }, *mine = &mpi[comm->rank], *theirs = &threads[comm->rank];
    mt_status status = collect(comm, mpi);
    if (status == MT_OK)
        status = mt_ranks_run(comm->size, wires, collect, threads);
    if (status != MT_OK)
        return status;
    if (mine->size != theirs->size || memcmp(mine->bytes, theirs->bytes, (size_t)mine->size) != 0)
        return mt_fail(MT_ERR_UNAVAILABLE, "rank %d: other bits than with threads", comm->rank);
    printf("check_mpi: rank %d of %d: %" PRId64 " bytes as with threads\n", comm->rank, comm->size, mine->size);
    for (int rank = 0; rank < comm->size; rank++)
        free(threads[rank].bytes);
    free(mine->bytes);
    return MT_OK;
}

/* ---- faults -------------------------------------------------------------------------------------- */

static mt_status with_fault(mt_comm *comm, const char *fault)
{
    float data[8] = { 0 };
    mt_status status = rounds_with_fault(comm, fault, data);
    if (comm->rank == 1 && strcmp(fault, "late") == 0)
        raise(SIGSTOP); /* the others wait in mt_comm_free */
    return status;
}

int main(int argc, char **argv)
{
    options o = { .deadline = 20 };
    mt_comm *comm;
    mt_cli_parse(argc, argv, "Collectives between processes, beside those between threads.", flags, &o);
    const mt_wires wires = { .deadline = o.deadline, .checked = !o.unchecked };
    mt_status status = mt_comm_mpi(&comm, &wires);
    if (status != MT_OK)
        return mt_cli_exit(status);
    status = o.fault ? with_fault(comm, o.fault) : compare(comm, &wires);
    if (status != MT_OK)
        status = mt_fail(status, "rank %d: %s", comm->rank, mt_last_error());
    mt_comm_free(comm);
    return mt_cli_exit(status);
}
