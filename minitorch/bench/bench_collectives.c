/* bench_collectives.c -- how long an all-reduce takes by ring, tree and doubling, in virtual time, beside the laws of
 * mt_collective_seconds; what it sends; and the algorithm that is chosen (lab 13's experiment).
 *
 *     build/release/bin/bench_collectives                          8 ranks, 0.5 ms, 8 ns a byte (125 MB/s)
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
    int64_t ranks, smallest, largest, table;
    double latency, byte_time;
    const char *csv, *svg;
} options;

static const mt_option flags[] = {
    { "ranks", 'n', "P", MT_I64(options, ranks, 1, 64), "Ranks (8)" },
    { "latency", 0, "S", MT_F64(options, latency, 0, 10), "Seconds of a message of 0 bytes (0.0005)" },
    { "byte-time", 0, "S", MT_F64(options, byte_time, 0, 1), "Seconds a byte more (8e-9)" },
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
    { "ring", mt_ring_all_reduce }, { "tree", mt_tree_all_reduce }, { "doubling", mt_doubling_all_reduce },
    { "chosen", chosen },           { "to everyone", to_everyone },
};
enum { LAWS = 3, CHOSEN = LAWS, EVERYONE, WAYS = MT_COUNT(ways) };

/* ---- a run -------------------------------------------------------------------------------------- */

typedef struct job {
    all_reduce_fn reduce;
    int64_t n;
    mt_traffic sent[64];
} job;

static mt_status run_rank(mt_comm *comm, void *user)
{
    job *j = user;
    float *data = mt_calloc(j->n + 1, sizeof *data);
    mt_status status = j->reduce(comm, data, j->n, MT_F32, MT_SUM);
    j->sent[comm->rank] = mt_comm_traffic(comm);
    free(data);
    return status;
}

static double seconds_of(const options *o, int way, int64_t bytes, job *j)
{
    mt_wires wires = { .clock = mt_clock_sim_new(), .network = { o->latency, o->byte_time } };
    *j = (job){ .reduce = ways[way].reduce, .n = bytes / (int64_t)sizeof(float) };
    mt_status status = mt_ranks_run((int)o->ranks, &wires, run_rank, j);
    MT_CHECK(status == MT_OK, "%s: %s", ways[way].name, mt_last_error());
    double seconds = wires.clock->now(wires.clock);
    mt_clock_sim_free(wires.clock);
    return seconds;
}

/* ---- tables ------------------------------------------------------------------------------------- */

static double law_of(const options *o, int way, int64_t bytes)
{
    mt_network network = { o->latency, o->byte_time };
    if (way == EVERYONE)
        return (double)(o->ranks - 1) * (o->latency + (double)bytes * o->byte_time);
    if (way == CHOSEN)
        way = mt_collective_pick((int)o->ranks, bytes, &network);
    return mt_collective_seconds((mt_algorithm)way, (int)o->ranks, bytes, &network);
}

typedef struct summary {
    double worst;
    int64_t crossover;
} summary;

static void print_row(const options *o, int64_t bytes, FILE *csv, summary *s)
{
    mt_network network = { o->latency, o->byte_time };
    mt_algorithm best = mt_collective_pick((int)o->ranks, bytes, &network);
    job j;
    printf("%10" PRId64, bytes);
    if (csv)
        fprintf(csv, "%" PRId64 ",%.9g", bytes, log2((double)bytes));
    for (int way = 0; way < CHOSEN + 1; way++) {
        double took = seconds_of(o, way, bytes, &j), law = law_of(o, way, bytes);
        s->worst = law > 0 ? fmax(s->worst, took / law) : s->worst;
        printf(way < LAWS ? " %10.3f (%10.3f)" : " %10.3f", took * 1e3, law * 1e3);
        if (csv)
            fprintf(csv, ",%.9g", took * 1e3);
    }
    printf("  %s\n", ways[best].name);
    if (csv)
        fprintf(csv, "\n");
    if (best == MT_RING && s->crossover == 0)
        s->crossover = bytes;
}

static void print_messages(const options *o)
{
    printf("\n%-12s %9s %16s %10s\n", "", "messages", "MB of one rank", "ms");
    for (int way = 0; way < WAYS; way++) {
        job j;
        int64_t messages = 0, most = 0;
        double took = seconds_of(o, way, o->table, &j);
        for (int rank = 0; rank < o->ranks; rank++) {
            messages += j.sent[rank].messages;
            most = mt_max(most, j.sent[rank].bytes);
        }
        if (way != CHOSEN)
            printf("%-12s %9" PRId64 " %16.2f %10.3f\n", ways[way].name, messages, (double)most * 1e-6, took * 1e3);
    }
}

static mt_status draw(const options *o)
{
    static const mt_curve curve = { .title = "All-reduce",
                                    .x = "log2_bytes",
                                    .left = "ms",
                                    .line = { { "ring", "ring", MT_CURVE_LEFT },
                                              { "tree", "tree", MT_CURVE_LEFT },
                                              { "doubling", "doubling", MT_CURVE_LEFT } } };
    return mt_curve_svg(o->svg, o->csv, &curve);
}

int main(int argc, char **argv)
{
    options o = { 8, 1024, 4 << 20, 4 << 20, 0.5e-3, 8e-9, NULL, NULL };
    summary s = { 0 };
    mt_cli_parse(argc, argv, "Times of all-reduce algorithms on simulated networks, beside their laws.", flags, &o);
    if (o.svg && !o.csv)
        return mt_cli_exit(mt_fail(MT_ERR_ARGUMENT, "--svg draws the file of --csv: give both"));
    FILE *csv = bench_csv_open(o.csv, "bytes,log2_bytes,ring,tree,doubling,chosen");
    printf("%" PRId64 " ranks, latency %g ms, %g ns a byte: virtual ms of an all-reduce (by the law)\n", o.ranks,
           o.latency * 1e3, o.byte_time * 1e9);
    printf("%10s %10s %12s %10s %12s %10s %12s %10s\n", "bytes", "ring", "", "tree", "", "doubling", "", "chosen");
    for (int64_t bytes = o.smallest; bytes <= o.largest; bytes *= 4)
        print_row(&o, bytes, csv, &s);
    bench_csv_close(csv, o.csv);
    print_messages(&o);
    printf("\nbench_collectives: worst=%.3f crossover=%" PRId64 "\n", s.worst, s.crossover);
    return mt_cli_exit(o.svg ? draw(&o) : MT_OK);
}
