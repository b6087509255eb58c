/* bench_pipe.c -- draws the schedules of a pipeline, in time: what each stage does in each unit, how much of the step
 * it is idle, and how many micro-batches are live (lab 14's experiment). Then a division of layers by their costs.
 *
 *     build/release/bin/bench_pipe                          4 stages, 8 micro-batches, up to 4 chunks
 *     build/release/bin/bench_pipe --stages 8 --micro 16
 *
 * Nothing is measured: a forward takes 1 unit, a backward 2, a message none. The last line is for programs:
 * `bench_pipe: gpipe=33 1f1b=33 idle=0.2727`. */
#include "bench/bench.h"
#include "bench/pipe_timing.h"

#include <inttypes.h>

typedef struct options {
    int64_t stages, micro, chunks;
} options;

static const mt_option flags[] = {
    { "stages", 'p', "P", MT_I64(options, stages, 1, STAGES), "Stages (4)" },
    { "micro", 'm', "M", MT_I64(options, micro, 1, MICRO), "Micro-batches (8)" },
    { "chunks", 'v', "V", MT_I64(options, chunks, 1, CHUNKS), "Chunks of a stage, at most (4)" },
    { 0 },
};

/* ---- as text ------------------------------------------------------------------------------------------ */

/* A lower-case letter is half a backward, an upper-case letter a forward: A and aa are micro-batch 0. */
static double draw(const options *o, const char *name, mt_pipe_kind kind, int chunks, int *took)
{
    static timing t;
    run_schedule(&t, (int)o->stages, (int)o->micro, kind, chunks);
    double idle = 1 - 3.0 * (double)(o->micro * chunks) / t.took;
    printf("%s: %d units of 1 / %d, idle %.2f %%\n", name, t.took, chunks, 100 * idle);
    for (int s = 0; s < o->stages; s++) {
        for (int u = 0; u < t.took; u++)
            t.row[s][u] = t.row[s][u] ? t.row[s][u] : '.';
        printf("  stage %-2d |%.*s|  live %d\n", s, t.took, t.row[s], t.most[s]);
    }
    putchar('\n');
    *took = t.took;
    return idle;
}

/* A GPT whose last layer, the logits, costs as much as three blocks. */
static void divide(int stages)
{
    static const int64_t cost[] = { 1, 4, 4, 4, 4, 4, 4, 4, 4, 12 };
    int64_t begin[STAGES + 1], layers = MT_COUNT(cost);
    if (stages > layers)
        return;
    MT_CHECK(mt_pipe_partition(begin, cost, layers, stages) == MT_OK, "%s", mt_last_error());
    printf("layers of cost 1, 8 times 4, 12:");
    for (int s = 0; s < stages; s++) {
        int64_t sum = 0;
        for (int64_t l = begin[s]; l < begin[s + 1]; l++)
            sum += cost[l];
        printf("  %" PRId64 "-%" PRId64 " (%" PRId64 ")", begin[s], begin[s + 1] - 1, sum);
    }
    printf("\n\n");
}

static double draw_all(const options *o, int *gpipe, int *f1b)
{
    int other;
    draw(o, "GPipe", MT_GPIPE, 1, gpipe);
    double idle = draw(o, "1F1B", MT_1F1B, 1, f1b);
    for (int chunks = 2; chunks <= o->chunks && o->micro % o->stages == 0; chunks *= 2)
        draw(o, chunks == 2 ? "interleaved, 2 chunks" : "interleaved, 4 chunks", MT_INTERLEAVED, chunks, &other);
    return idle;
}

int main(int argc, char **argv)
{
    options o = { 4, 8, CHUNKS };
    int gpipe, f1b;
    mt_cli_parse(argc, argv, "The schedules of a pipeline, drawn.", flags, &o);
    double idle = draw_all(&o, &gpipe, &f1b);
    divide((int)o.stages);
    printf("bench_pipe: gpipe=%d 1f1b=%d idle=%.4f\n", gpipe, f1b, idle);
    return 0;
}
