/* check_nccl.c -- the engine nccl (dist/nccl.h), on GPUs or in the emulator: every collective of device memory and of
 * host memory, messages, splits and handles, against sums made here; and ranks that fail
 * (minitorch/tests/test_nccl.sh).
 *
 *     build/release/bin/check_nccl                 without MPI, one rank: what one GPU can show
 *     mpirun -n 3 build/release/bin/check_nccl
 *     mpirun -n 3 build/release/bin/check_nccl --fault stop --deadline 2     rank 1 stops: all end, with words */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dtype.h"
#include "core/storage.h"
#include "dist/mpi.h"
#include "dist/nccl.h"
#include "bench/faulty_rank.h"
#include "cli/cli.h"

typedef struct options {
    const char *fault;
    double deadline;
} options;

static const mt_option flags[] = {
    { "fault", 0, "HOW", MT_TEXT(options, fault), "What rank 1 does: kill, stop, leave, count, kind, size; unwaited" },
    { "deadline", 0, "S", MT_F64(options, deadline, 0, 1e6), "Seconds (20)" },
    { 0 },
};

/* ---- values --------------------------------------------------------------------------------------- */

/* Whole numbers that every type has, and their sums over 8 ranks too. */
static double input(int rank, int64_t i)
{
    return (double)((i * 7 + rank * 5) % 23);
}

static double expected(int size, int64_t i, mt_reduce op)
{
    double sum = 0, most = 0;
    for (int rank = 0; rank < size; rank++) {
        sum += input(rank, i);
        most = fmax(most, input(rank, i));
    }
    return op == MT_MAX ? most : sum;
}

/* An array on a device, [n]: this rank's inputs from element `first` on. */
typedef struct array {
    mt_device device;
    mt_dtype dtype;
    int64_t n;
    void *data, *here; /* here: a copy on the host */
} array;

static int64_t bytes_of(const array *a)
{
    return a->n * mt_dtype_size(a->dtype);
}

static array new_array(mt_device device, mt_dtype dtype, int64_t n, int rank, int64_t first)
{
    array a = { device, dtype, n, mt_alloc(n * mt_dtype_size(dtype) + 1, device), malloc((size_t)n * 8 + 1) };
    MT_CHECK(a.here, "out of memory");
    for (int64_t i = 0; i < n; i++)
        mt_store_f64(a.here, dtype, i, input(rank, first + i));
    mt_copy(a.data, device, a.here, MT_CPU, bytes_of(&a));
    return a;
}

static void free_array(array *a)
{
    mt_free(a->data, bytes_of(a) + 1, a->device);
    free(a->here);
}

static double value(array *a, int64_t i)
{
    return mt_load_f64(a->here, a->dtype, i);
}

static void read_back(array *a)
{
    mt_copy(a->here, MT_CPU, a->data, a->device, bytes_of(a));
}

static mt_status wrong(const char *what, const array *a, int64_t i, double got)
{
    return mt_fail(MT_ERR_ARGUMENT, "%s of %" PRId64 " %s on %s: element %" PRId64 " is %g", what, a->n,
                   mt_dtype_name(a->dtype), mt_device_name(a->device), i, got);
}

/* ---- collectives ------------------------------------------------------------------------------------ */

static mt_status reductions(mt_comm *comm, mt_device device, mt_dtype dtype, int64_t n, mt_reduce op)
{
    array a = new_array(device, dtype, n, comm->rank, 0);
    array all = new_array(device, dtype, n * comm->size, comm->rank, 0);
    char *own = (char *)all.data + comm->rank * n * mt_dtype_size(dtype);
    mt_status status = mt_all_reduce(comm, a.data, n, dtype, op, NULL);
    if (status == MT_OK)
        status = mt_reduce_scatter(comm, own, all.data, n, dtype, op, NULL);
    read_back(&a);
    read_back(&all);
    for (int64_t i = 0; i < n && status == MT_OK; i++) {
        int64_t at = comm->rank * n + i;
        if (value(&a, i) != expected(comm->size, i, op))
            status = wrong("all_reduce", &a, i, value(&a, i));
        else if (value(&all, at) != expected(comm->size, at, op))
            status = wrong("reduce_scatter", &all, at, value(&all, at));
    }
    free_array(&a);
    free_array(&all);
    return status;
}

static mt_status copies(mt_comm *comm, mt_device device, mt_dtype dtype, int64_t n)
{
    array one = new_array(device, dtype, n, comm->rank, 0), all = new_array(device, dtype, n * comm->size, 0, 0);
    int root = comm->size - 1;
    mt_status status = mt_all_gather(comm, all.data, one.data, n, dtype, NULL);
    if (status == MT_OK)
        status = mt_broadcast(comm, one.data, n, dtype, root, NULL);
    read_back(&one);
    read_back(&all);
    for (int64_t i = 0; i < all.n && status == MT_OK; i++)
        if (value(&all, i) != input((int)(i / n), i % n))
            status = wrong("all_gather", &all, i, value(&all, i));
    for (int64_t i = 0; i < n && status == MT_OK; i++)
        if (value(&one, i) != input(root, i))
            status = wrong("broadcast", &one, i, value(&one, i));
    free_array(&one);
    free_array(&all);
    return status;
}

/* The maximum of a NaN and anything is NaN, of either sign, on each rank; +0 is above -0. */
static mt_status special(mt_comm *comm, mt_dtype dtype)
{
    const double values[] = { comm->rank == 0 ? NAN : 1, comm->rank == comm->size - 1 ? -NAN : -INFINITY,
                              comm->rank == 0 ? -0.0 : 0.0, -1.5 - comm->rank, comm->rank ? -INFINITY : INFINITY };
    enum { N = sizeof values / sizeof values[0] };
    array a = new_array(MT_CUDA, dtype, N, 0, 0);
    for (int i = 0; i < N; i++)
        mt_store_f64(a.here, dtype, i, values[i]);
    mt_copy(a.data, MT_CUDA, a.here, MT_CPU, bytes_of(&a));
    mt_status status = mt_all_reduce(comm, a.data, N, dtype, MT_MAX, NULL);
    read_back(&a);
    if (status == MT_OK &&
        !(isnan(value(&a, 0)) && isnan(value(&a, 1)) && value(&a, 2) == 0 &&
          !!signbit(value(&a, 2)) == (comm->size == 1) && value(&a, 3) == -1.5 && value(&a, 4) == INFINITY))
        status = mt_fail(MT_ERR_ARGUMENT, "all_reduce of %s, max: %g %g %g %g %g", mt_dtype_name(dtype), value(&a, 0),
                         value(&a, 1), value(&a, 2), value(&a, 3), value(&a, 4));
    free_array(&a);
    return status;
}

static mt_status all_collectives(mt_comm *comm, const int64_t *counts, int number)
{
    static const mt_dtype dtypes[] = { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 };
    mt_status status = MT_OK;
    for (int c = 0; c < number; c++)
        for (int d = 0; d < MT_COUNT(dtypes); d++)
            for (int device = MT_CPU; device < MT_DEVICE_COUNT; device++) {
                status = status == MT_OK ? copies(comm, (mt_device)device, dtypes[d], counts[c]) : status;
                for (int op = MT_SUM; op <= MT_MAX && status == MT_OK; op++)
                    status = reductions(comm, (mt_device)device, dtypes[d], counts[c], (mt_reduce)op);
            }
    for (int d = 0; d < 3 && status == MT_OK; d++)
        status = special(comm, dtypes[d]);
    return status;
}

/* ---- messages, handles, splits ------------------------------------------------------------------------ */

/* Two sums at once, waited for in the other order, while messages of both kinds of memory go round, sends first. */
static mt_status with_handles(mt_comm *comm)
{
    enum { N = 1009, ARRAYS = 6 };
    int next = (comm->rank + 1) % comm->size, before = (comm->rank + comm->size - 1) % comm->size;
    array sum[2], out[2], in[2], *all[ARRAYS] = { &sum[0], &sum[1], &out[0], &out[1], &in[0], &in[1] };
    mt_request *request[ARRAYS];
    for (int i = 0; i < ARRAYS; i++)
        *all[i] = new_array(i % 2 ? MT_CUDA : MT_CPU, MT_F32, N, comm->rank, 0);
    for (int i = 0; i < 2; i++)
        mt_all_reduce(comm, sum[i].data, N, MT_F32, MT_SUM, &request[i]);
    for (int i = 0; i < 2; i++)
        mt_send(comm, out[i].data, N, MT_F32, next, &request[2 + i]);
    mt_status status = mt_recv(comm, in[0].data, N, MT_F32, before, NULL);
    mt_recv(comm, in[1].data, N, MT_F32, before, &request[5]);
    for (int i = ARRAYS - 1; i >= 0; i--)
        if (i != 4 && mt_wait(request[i]) != MT_OK)
            status = MT_ERR_UNAVAILABLE;
    for (int i = 0; i < ARRAYS; i++)
        read_back(all[i]);
    for (int i = 0; i < N * 2 && status == MT_OK; i++) {
        if (value(&sum[i % 2], i / 2) != expected(comm->size, i / 2, MT_SUM))
            status = wrong("a sum with a handle", &sum[i % 2], i / 2, value(&sum[i % 2], i / 2));
        else if (value(&in[i % 2], i / 2) != input(before, i / 2))
            status = wrong("a message", &in[i % 2], i / 2, value(&in[i % 2], i / 2));
    }
    for (int i = 0; i < ARRAYS; i++)
        free_array(all[i]);
    return status;
}

/* Rows of a mesh; every communicator goes on working. */
static mt_status in_groups(mt_comm *comm)
{
    const int64_t few[] = { 33 };
    mt_comm *row = NULL;
    mt_status status = mt_comm_split(&row, comm, comm->rank % 2, -comm->rank);
    if (status == MT_OK && row->rank != (comm->size - 1 - comm->rank) / 2)
        status = mt_fail(MT_ERR_ARGUMENT, "split: rank %d is rank %d of its row", comm->rank, row->rank);
    if (status == MT_OK)
        status = all_collectives(row, few, 1);
    mt_comm_free(row);
    return status == MT_OK ? all_collectives(comm, few, 1) : status;
}

static mt_status everything(mt_comm *comm)
{
    const int64_t counts[] = { 0, 1, comm->size - 1, 31, 33, 1009 };
    mt_status status = all_collectives(comm, counts, MT_COUNT(counts));
    if (status == MT_OK && comm->size > 1)
        status = with_handles(comm);
    if (status == MT_OK)
        status = in_groups(comm);
    if (status == MT_OK)
        printf("check_nccl: rank %d of %d: all values are right\n", comm->rank, comm->size);
    return status;
}

/* ---- faults -------------------------------------------------------------------------------------------- */

/* What a program reads that does not wait: in the emulator, always the old values. */
static mt_status unwaited(mt_comm *comm, float *data)
{
    float before = 1, early, late;
    mt_request *sum;
    mt_copy(data, MT_CUDA, &before, MT_CPU, sizeof before);
    mt_status status = mt_all_reduce(comm, data, 1, MT_F32, MT_SUM, &sum);
    mt_copy(&early, MT_CPU, data, MT_CUDA, sizeof early);
    status = status == MT_OK ? mt_wait(sum) : status;
    mt_copy(&late, MT_CPU, data, MT_CUDA, sizeof late);
    printf("check_nccl: rank %d read %g without waiting, %g after it\n", comm->rank, early, late);
    return status;
}

static mt_status with_fault(mt_comm *comm, const char *fault)
{
    enum { BYTES = 8 * sizeof(float) };
    float *data = mt_alloc(BYTES, MT_CUDA);
    mt_clear(data, BYTES, MT_CUDA);
    mt_status status = strcmp(fault, "unwaited") == 0 ? unwaited(comm, data) : rounds_with_fault(comm, fault, data);
    mt_free(data, BYTES, MT_CUDA);
    return status;
}

int main(int argc, char **argv)
{
    options o = { .deadline = 20 };
    mt_comm *host, *comm = NULL;
    int rank;
    mt_cli_parse(argc, argv, "Collectives of device memory between processes, by NCCL.", flags, &o);
    const mt_wires wires = { .deadline = o.deadline, .checked = true };
    mt_status status = MT_OK;
    if (mt_mpi_launched(&rank))
        status = mt_comm_mpi(&host, &wires);
    else
        mt_comm_threads(&host, 1, &wires);
    if (status != MT_OK)
        return mt_cli_exit(status);
    rank = host->rank;
    status = mt_comm_nccl(&comm, host, o.deadline);
    if (status == MT_OK)
        status = mt_device_open(MT_CUDA);
    if (status == MT_OK)
        status = o.fault ? with_fault(comm, o.fault) : everything(comm);
    if (status != MT_OK)
        return mt_cli_exit(mt_fail(status, "rank %d: %s", rank, mt_last_error())); /* mpirun ends the others */
    mt_comm_free(comm);
    return mt_cli_exit(MT_OK);
}
