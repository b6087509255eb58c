/* bench_mpi.c -- all-reduces of lab 13 between processes (dist/mpi.h) beside Open MPI's own, on this machine.
 *
 *     build/release/bin/bench_mpi --ranks 2                    starts the ranks by mpirun
 *     mpirun -n 4 build/release/bin/bench_mpi --csv FILE --svg FILE
 *     mpirun -H one:2,other:2 build/release/bin/bench_mpi --node 2   also the all-reduce of ranks in nodes
 *
 * A time is the least of several rounds, of the slowest rank, from a barrier on, after a pause; all take turns in each
 * round.
 * `chosen` is mt_all_reduce after mt_collective_measure; `law` is what the law would choose of the network that
 * messages between ranks 0 and 1, or with --node between two nodes, were measured to have. */
#include "bench/bench.h"
#include "dist/collectives.h"
#include "dist/mpi.h"
#include "prof/curve.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

typedef struct options {
    int64_t ranks, node, smallest, largest;
    const char *csv, *svg;
} options;

static const mt_option flags[] = {
    { "ranks", 'n', "P", MT_I64(options, ranks, 2, 64), "Ranks, when mpirun has not started them (2)" },
    { "node", 0, "K", MT_I64(options, node, 1, 64), "Ranks of a node; default: there are no nodes" },
    { "smallest", 0, "BYTES", MT_I64(options, smallest, 4, 1 << 28), "First size (1024)" },
    { "largest", 0, "BYTES", MT_I64(options, largest, 4, 1 << 28), "Last size (67108864)" },
    { "csv", 0, "FILE", MT_TEXT(options, csv), "Write GB/s" },
    { "svg", 0, "FILE", MT_TEXT(options, svg), "Draw them; needs --csv" },
    { 0 },
};

typedef mt_status (*all_reduce_fn)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

static mt_status chosen(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    return mt_all_reduce(comm, data, n, dtype, op, NULL);
}

#ifdef MT_MPI
#include <mpi.h>
#endif

static mt_status theirs(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    (void)comm, (void)data, (void)n, (void)dtype, (void)op;
#ifdef MT_MPI
    MPI_Allreduce(MPI_IN_PLACE, data, (int)n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
#endif
    return MT_OK;
}

static const struct {
    const char *name;
    all_reduce_fn reduce;
} ways[] = {
    { "ring", mt_ring_all_reduce },
    { "tree", mt_tree_all_reduce },
    { "doubling", mt_doubling_all_reduce },
    { "hierarchical", mt_hierarchical_all_reduce },
    { "chosen", chosen },
    { "Open MPI", theirs },
};
enum { CHOSEN = MT_HIERARCHICAL + 1, THEIRS, WAYS };

/* The next way that there is: without nodes there is no hierarchy. */
static int after(const mt_comm *comm, int way)
{
    return way + 1 == MT_HIERARCHICAL && !comm->nodes.size ? way + 2 : way + 1;
}

static void must(mt_status status)
{
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
}

/* Half of the shortest round-trip time of a message, in seconds, of several measured. */
static double half_round(mt_comm *comm, char *data, int64_t bytes)
{
    double least = INFINITY;
    int other = mt_min(mt_max(comm->nodes.size, 1), comm->size - 1); /* in another node */
    for (int i = 0; i < 30; i++) {
        double start = mt_now();
        if (comm->rank == 0) {
            must(mt_send(comm, data, bytes, MT_U8, other, NULL));
            must(mt_recv(comm, data, bytes, MT_U8, other, NULL));
        } else if (comm->rank == other) {
            must(mt_recv(comm, data, bytes, MT_U8, 0, NULL));
            must(mt_send(comm, data, bytes, MT_U8, 0, NULL));
        }
        bench_keep_least(&least, (mt_now() - start) / 2);
    }
    return least;
}

/* Measures the network, the same on all ranks, for the choice. */
static void measure(mt_comm *comm)
{
    enum { LONG = 4 << 20 };
    char *data = mt_calloc(1, LONG);
    mt_network network = { .latency = half_round(comm, data, 1) };
    network.byte_time = fmax(0, half_round(comm, data, LONG) - network.latency) / LONG;
    must(mt_broadcast(comm, &network, sizeof network, MT_U8, 0, NULL));
    comm->network = comm->channel->network = network;
    free(data);
    must(mt_collective_measure(comm));
}

/* Least seconds of each way, of the slowest rank. */
static void time_ways(double least[WAYS], mt_comm *comm, int64_t bytes)
{
    int rounds = (int)mt_min(bytes <= 1 << 16 ? 400 : 40, mt_max(4, (64 << 20) / bytes));
    int64_t n = bytes / (int64_t)sizeof(float);
    float *data = malloc((size_t)bytes);
    MT_CHECK(data, "out of memory");
    for (int way = 0; way < WAYS; way++)
        least[way] = INFINITY;
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way = after(comm, way)) {
            for (int64_t i = 0; i < n; i++)
                data[i] = 1;
            usleep(1000); /* until links have sent what they hold */
            must(mt_barrier(comm));
            double start = mt_now();
            must(ways[way].reduce(comm, data, n, MT_F32, MT_SUM));
            float took = (float)(mt_now() - start);
            MT_CHECK(data[0] == (float)comm->size && data[n - 1] == (float)comm->size, "%s: %g", ways[way].name,
                     data[n - 1]);
            must(mt_all_reduce(comm, &took, 1, MT_F32, MT_MAX, NULL));
            bench_keep_least(&least[way], took);
        }
    free(data);
}

static void print_row(mt_comm *comm, int64_t bytes, FILE *csv)
{
    double least[WAYS];
    time_ways(least, comm, bytes);
    if (comm->rank > 0)
        return;
    printf("%10" PRId64, bytes);
    if (csv)
        fprintf(csv, "%" PRId64 ",%.9g", bytes, log2((double)bytes));
    for (int way = 0; way < WAYS; way = after(comm, way)) {
        printf(" %12.4f", least[way] * 1e3);
        if (csv)
            fprintf(csv, ",%.6g", (double)bytes / least[way] * 1e-9);
    }
    double best = INFINITY;
    for (int way = 0; way < WAYS; way++)
        best = way == CHOSEN ? best : fmin(best, least[way]);
    printf(" %8.2f %8.2f  %-8s  %s\n", least[THEIRS] / least[CHOSEN], best / least[CHOSEN],
           ways[mt_collective_choice(comm, bytes)].name,
           ways[mt_collective_pick(comm->size, bytes, &comm->network)].name);
    fflush(stdout);
    if (csv)
        fprintf(csv, "\n");
}

static mt_status bench(mt_comm *comm, const options *o)
{
    static const mt_curve curve = { .title = "All-reduce between processes",
                                    .x = "log2_bytes",
                                    .left = "GB/s",
                                    .line = { { "ring", "ring", MT_CURVE_LEFT },
                                              { "tree", "tree", MT_CURVE_LEFT },
                                              { "doubling", "doubling", MT_CURVE_LEFT },
                                              { "open_mpi", "Open MPI", MT_CURVE_LEFT } } };
    bool first = comm->rank == 0;
    const char *columns = o->node ? "bytes,log2_bytes,ring,tree,doubling,hierarchical,chosen,open_mpi"
                                  : "bytes,log2_bytes,ring,tree,doubling,chosen,open_mpi";
    FILE *csv = first ? bench_csv_open(o->csv, columns) : NULL;
    MT_CHECK(!o->node || comm->size % o->node == 0, "%d ranks are no nodes of %d", comm->size, (int)o->node);
    comm->nodes.size = comm->channel->nodes.size = (int)o->node;
    measure(comm);
    if (first) {
        printf("%s; %d ranks, latency %.3g us, %.3g ns a byte: ms of an all-reduce\n%10s", bench_machine(), comm->size,
               comm->network.latency * 1e6, comm->network.byte_time * 1e9, "bytes");
        for (int way = 0; way < WAYS; way = after(comm, way))
            printf(" %12s", ways[way].name);
        printf(" %8s %8s  %-8s  %s\n", "of MPI", "of best", "choice", "law");
    }
    for (int64_t bytes = o->smallest; bytes <= o->largest; bytes *= 4)
        print_row(comm, bytes, csv);
    bench_csv_close(csv, o->csv);
    return first && o->svg ? mt_curve_svg(o->svg, o->csv, &curve) : MT_OK;
}

int main(int argc, char **argv)
{
    options o = { .ranks = 2, .smallest = 1024, .largest = 64 << 20 };
    mt_comm *comm;
    int rank;
    mt_cli_parse(argc, argv, "All-reduces between processes, beside Open MPI's own.", flags, &o);
    if (o.svg && !o.csv)
        return mt_cli_exit(mt_fail(MT_ERR_ARGUMENT, "--svg draws the file of --csv: give both"));
    mt_status status = mt_mpi_launched(&rank) ? MT_OK : mt_mpi_launch((int)o.ranks);
    if (status == MT_OK)
        status = mt_comm_mpi(&comm, &(mt_wires){ .deadline = 60, .checked = false });
    if (status != MT_OK)
        return mt_cli_exit(status);
    MT_CHECK(comm->size > 1, "one rank has nothing to send");
    status = bench(comm, &o);
    mt_comm_free(comm);
    return mt_cli_exit(status);
}
