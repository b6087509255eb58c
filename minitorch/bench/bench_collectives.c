/* bench_collectives.c -- how long an all-reduce takes by ring, tree and doubling, and with --node by a hierarchy, in
 * virtual time, beside the laws of mt_collective_seconds and mt_hierarchical_seconds; what it sends; and the algorithm
 * that is chosen (lab 13's experiments).
 *
 *     build/release/bin/bench_collectives                          8 ranks, 0.5 ms, 8 ns a byte (125 MB/s)
 *     build/release/bin/bench_collectives --node 4                 the same in two nodes, inside of which it is faster
 *     build/release/bin/bench_collectives --ranks 5 --csv FILE --svg FILE
 *
 * Ranks are threads on a simulated clock (dist/threads.h): the times are exact, and the same in every run. The last
 * line is for programs: `bench_collectives: worst=1.000 crossover=131072`, the largest time over its law, and the first
 * size at which the ring is chosen. */
#include "testing/clock_sim.h"
#include "bench/bench.h"
#include "dist/collectives.h"
#include "dist/threads.h"
#include "prof/curve.h"

#include <inttypes.h>
#include <math.h>

typedef struct options {
    int64_t ranks, node, smallest, largest, table;
    double latency, byte_time, inside_latency, inside_byte_time;
    const char *csv, *svg;
} options;

static const mt_option flags[] = {
    { "ranks", 'n', "P", MT_I64(options, ranks, 1, 64), "Ranks (8)" },
    { "latency", 0, "S", MT_F64(options, latency, 0, 10), "Seconds of a message of 0 bytes (0.0005)" },
    { "byte-time", 0, "S", MT_F64(options, byte_time, 0, 1), "Seconds a byte more (8e-9)" },
    { "node", 0, "K", MT_I64(options, node, 1, 64), "Ranks of a node; default: there are no nodes" },
    { "inside-latency", 0, "S", MT_F64(options, inside_latency, 0, 10), "The same inside of a node (0.00001)" },
    { "inside-byte-time", 0, "S", MT_F64(options, inside_byte_time, 0, 1), "The same inside of a node (1e-10)" },
    { "smallest", 0, "BYTES", MT_I64(options, smallest, 4, 1 << 28), "First size of the table (1024)" },
    { "largest", 0, "BYTES", MT_I64(options, largest, 4, 1 << 28), "Last size of the table (4194304)" },
    { "messages", 0, "BYTES", MT_I64(options, table, 4, 1 << 28), "Size of the second table (4194304)" },
    { "csv", 0, "FILE", MT_TEXT(options, csv), "Write the times" },
    { "svg", 0, "FILE", MT_TEXT(options, svg), "Draw them; needs --csv" },
    { 0 },
};

/* ---- algorithms --------------------------------------------------------------------------------- */

typedef mt_status (*all_reduce_fn)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);

/* What the chapter compares the ring with: everyone sends everything to everyone. */
static mt_status to_everyone(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    size_t bytes = (size_t)(n * mt_dtype_size(dtype));
    char *mine = malloc(2 * bytes + 1);
    MT_CHECK(mine, "out of memory");
    memcpy(mine, data, bytes);
    mt_status status = MT_OK;
    for (int step = 1; step < comm->size && status == MT_OK; step++) {
        mt_request *sent;
        status = mt_send(comm, mine, n, dtype, (comm->rank + step) % comm->size, &sent);
        if (status == MT_OK)
            status = mt_recv(comm, mine + bytes, n, dtype, (comm->rank + comm->size - step) % comm->size, NULL);
        if (status == MT_OK)
            status = mt_wait(sent);
        if (status == MT_OK)
            mt_reduce_into(data, mine + bytes, n, dtype, op);
    }
    free(mine);
    return status;
}

static mt_status chosen(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op)
{
    return mt_all_reduce(comm, data, n, dtype, op, NULL);
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
    { "to everyone", to_everyone },
};
enum { LAWS = MT_HIERARCHICAL + 1, CHOSEN = LAWS, EVERYONE, WAYS = MT_COUNT(ways) };

/* The next way that there is: without nodes there is no hierarchy. */
static int after(const options *o, int way)
{
    return way + 1 == MT_HIERARCHICAL && !o->node ? way + 2 : way + 1;
}

/* ---- bytes that leave a node -------------------------------------------------------------------- */

static mt_comm_engine counting;
static mt_status (*message)(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request);
static _Thread_local int64_t left; /* by this rank */

static mt_status count(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    int node = comm->nodes.size;
    left += is_send && node && peer / node != comm->rank / node ? bytes : 0;
    return message(comm, data, bytes, peer, is_send, request);
}

/* Before there are ranks: how messages are counted. */
static void count_from_now_on(void)
{
    mt_comm *alone;
    mt_comm_threads(&alone, 1, &(mt_wires){ 0 });
    counting = *alone->engine;
    message = counting.message;
    counting.message = count;
    mt_comm_free(alone);
}

/* ---- a run -------------------------------------------------------------------------------------- */

typedef struct job {
    all_reduce_fn reduce;
    int64_t n;
    mt_traffic sent[64];
    int64_t left[64]; /* of these bytes, those to other nodes */
} job;

static mt_status run_rank(mt_comm *comm, void *user)
{
    job *j = user;
    float *data = mt_calloc(j->n + 1, sizeof *data);
    comm->engine = &counting;
    left = 0;
    mt_status status = j->reduce(comm, data, j->n, MT_F32, MT_SUM);
    j->sent[comm->rank] = mt_comm_traffic(comm);
    j->left[comm->rank] = left;
    free(data);
    return status;
}

static mt_nodes nodes_of(const options *o)
{
    return (mt_nodes){ (int)o->node, { o->inside_latency, o->inside_byte_time } };
}

static double seconds_of(const options *o, int way, int64_t bytes, job *j)
{
    mt_wires wires = { .clock = mt_clock_sim_new(), .network = { o->latency, o->byte_time }, .nodes = nodes_of(o) };
    *j = (job){ .reduce = ways[way].reduce, .n = bytes / (int64_t)sizeof(float) };
    mt_status status = mt_ranks_run((int)o->ranks, &wires, run_rank, j);
    MT_CHECK(status == MT_OK, "%s: %s", ways[way].name, mt_last_error());
    double seconds = wires.clock->now(wires.clock);
    mt_clock_sim_free(wires.clock);
    return seconds;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static mt_algorithm best_of(const options *o, int64_t bytes)
{
    const mt_network network = { o->latency, o->byte_time };
    const mt_nodes nodes = nodes_of(o);
    return o->node ? mt_hierarchical_pick((int)o->ranks, bytes, &nodes, &network)
                   : mt_collective_pick((int)o->ranks, bytes, &network);
}

static double law_of(const options *o, int way, int64_t bytes)
{
    const mt_network network = { o->latency, o->byte_time };
    const mt_nodes nodes = nodes_of(o);
    mt_algorithm by = way == CHOSEN ? best_of(o, bytes) : (mt_algorithm)way;
    return o->node ? mt_hierarchical_seconds(by, (int)o->ranks, bytes, &nodes, &network)
                   : mt_collective_seconds(by, (int)o->ranks, bytes, &network);
}

typedef struct summary {
    double worst;
    int64_t crossover;
} summary;

static void print_row(const options *o, int64_t bytes, FILE *csv, summary *s)
{
    mt_algorithm best = best_of(o, bytes);
    job j;
    printf("%10" PRId64, bytes);
    if (csv)
        fprintf(csv, "%" PRId64 ",%.9g", bytes, log2((double)bytes));
    for (int way = 0; way < CHOSEN + 1; way = after(o, way)) {
        double took = seconds_of(o, way, bytes, &j), law = law_of(o, way, bytes);
        s->worst = law > 0 ? fmax(s->worst, took / law) : s->worst;
        printf(way < LAWS ? " %10.3f (%10.3f)" : " %10.3f", took * 1e3, law * 1e3);
        if (csv)
            fprintf(csv, ",%.9g", took * 1e3);
    }
    printf("  %s\n", ways[best].name);
    if (csv)
        fprintf(csv, "\n");
    if ((best == MT_RING || best == MT_HIERARCHICAL) && s->crossover == 0)
        s->crossover = bytes;
}

static void print_messages(const options *o)
{
    printf("\n%-12s %9s %16s %10s%s\n", "", "messages", "MB of one rank", "ms", o->node ? "  MB out of a node" : "");
    for (int way = 0; way < WAYS; way = after(o, way)) {
        job j;
        int64_t messages = 0, most = 0, out = 0;
        double took = seconds_of(o, way, o->table, &j);
        for (int rank = 0; rank < o->ranks; rank++) {
            messages += j.sent[rank].messages;
            most = mt_max(most, j.sent[rank].bytes);
            out += rank < o->node ? j.left[rank] : 0;
        }
        if (way == CHOSEN)
            continue;
        printf("%-12s %9" PRId64 " %16.2f %10.3f", ways[way].name, messages, (double)most * 1e-6, took * 1e3);
        if (o->node)
            printf(" %17.2f", (double)out * 1e-6);
        printf("\n");
    }
}

static mt_status draw(const options *o)
{
    mt_curve curve = { .title = "All-reduce",
                       .x = "log2_bytes",
                       .left = "ms",
                       .line = { { "ring", "ring", MT_CURVE_LEFT },
                                 { "tree", "tree", MT_CURVE_LEFT },
                                 { "doubling", "doubling", MT_CURVE_LEFT },
                                 { o->node ? "hierarchical" : NULL, "hierarchical", MT_CURVE_LEFT } } };
    return mt_curve_svg(o->svg, o->csv, &curve);
}

int main(int argc, char **argv)
{
    options o = { 8, 0, 1024, 4 << 20, 4 << 20, 0.5e-3, 8e-9, 10e-6, 0.1e-9, NULL, NULL };
    summary s = { 0 };
    mt_cli_parse(argc, argv, "Times of all-reduce algorithms on simulated networks, beside their laws.", flags, &o);
    if (o.svg && !o.csv)
        return mt_cli_exit(mt_fail(MT_ERR_ARGUMENT, "--svg draws the file of --csv: give both"));
    if (o.node && o.ranks % o.node)
        return mt_cli_exit(
            mt_fail(MT_ERR_ARGUMENT, "--node %d: %d ranks are no nodes of equally many", (int)o.node, (int)o.ranks));
    count_from_now_on();
    FILE *csv = bench_csv_open(o.csv, o.node ? "bytes,log2_bytes,ring,tree,doubling,hierarchical,chosen"
                                             : "bytes,log2_bytes,ring,tree,doubling,chosen");
    printf("%" PRId64 " ranks, latency %g ms, %g ns a byte: virtual ms of an all-reduce (by the law)\n", o.ranks,
           o.latency * 1e3, o.byte_time * 1e9);
    if (o.node)
        printf("nodes of %" PRId64 " ranks, inside %g ms, %g ns a byte\n", o.node, o.inside_latency * 1e3,
               o.inside_byte_time * 1e9);
    printf("%10s", "bytes");
    for (int way = 0; way < CHOSEN; way = after(&o, way))
        printf(way == MT_HIERARCHICAL ? " %12s %10s" : " %10s %12s", ways[way].name, "");
    printf(" %10s\n", "chosen");
    for (int64_t bytes = o.smallest; bytes <= o.largest; bytes *= 4)
        print_row(&o, bytes, csv, &s);
    bench_csv_close(csv, o.csv);
    print_messages(&o);
    printf("\nbench_collectives: worst=%.3f crossover=%" PRId64 "\n", s.worst, s.crossover);
    return mt_cli_exit(o.svg ? draw(&o) : MT_OK);
}
