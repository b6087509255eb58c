/* bench_pipe.c -- draws the schedules of a pipeline, in time: what each stage does in each unit, how much of the step
 * it is idle, and how many micro-batches are live (lab 14's experiment). Then a division of layers by their costs.
 *
 *     build/release/bin/bench_pipe                          4 stages, 8 micro-batches, up to 4 chunks
 *     build/release/bin/bench_pipe --stages 8 --micro 16
 *
 * Nothing is measured: a forward takes 1 unit, a backward 2, a message none. The last line is for programs:
 * `bench_pipe: gpipe=33 1f1b=33 idle=0.2727`. */
#include "bench/bench.h"
#include "dist/pipe.h"

#include <inttypes.h>
#include <string.h>

enum { STAGES = 16, MICRO = 26, CHUNKS = 4, UNITS = 6 * (MICRO * CHUNKS + STAGES) * STAGES };

typedef struct options {
    int64_t stages, micro;
} options;

static const mt_option flags[] = {
    { "stages", 'p', "P", MT_I64(options, stages, 1, STAGES), "Stages (4)" },
    { "micro", 'm', "M", MT_I64(options, micro, 1, MICRO), "Micro-batches (8)" },
    { 0 },
};

typedef struct timing {
    char row[STAGES][UNITS];
    int until[STAGES], next[STAGES], live[STAGES], most[STAGES], took;
    int ended[2][STAGES * CHUNKS][MICRO]; /* 0: not yet */
} timing;

static mt_pipe_action list[STAGES][2 * MICRO * CHUNKS];

/* Whether the stage's next action has its input; then it takes place. */
static bool advance(timing *t, const options *o, int stage, int chunks)
{
    const mt_pipe_action *a = &list[stage][t->next[stage]];
    int stages = (int)o->stages, part = a->chunk * stages + stage, before = part + (a->backward ? 1 : -1), from = 0;
    if (before >= 0 && before < stages * chunks && (from = t->ended[a->backward][before][a->micro]) == 0)
        return false;
    if (a->backward && t->ended[0][part][a->micro] == 0)
        return false;
    from = (int)mt_max(from, t->until[stage]);
    memset(t->row[stage] + from, (a->backward ? 'a' : 'A') + a->micro, a->backward ? 2 : 1);
    t->until[stage] = t->ended[a->backward][part][a->micro] = from + (a->backward ? 2 : 1);
    t->live[stage] += a->backward ? -1 : 1;
    t->most[stage] = (int)mt_max(t->most[stage], t->live[stage]);
    t->took = (int)mt_max(t->took, t->until[stage]);
    t->next[stage]++;
    return true;
}

/* Fills `t`; aborts if the schedule is refused or comes to no end. */
static void run_schedule(timing *t, const options *o, mt_pipe_kind kind, int chunks)
{
    int all = 2 * (int)o->micro * chunks;
    memset(t, 0, sizeof *t);
    for (int s = 0; s < o->stages; s++)
        MT_CHECK(mt_pipe_schedule(list[s], kind, s, (int)o->stages, (int)o->micro, chunks) == MT_OK, "%s",
                 mt_last_error());
    for (int64_t left = o->stages * all; left > 0;) {
        int64_t before = left;
        for (int s = 0; s < o->stages; s++)
            while (t->next[s] < all && advance(t, o, s, chunks))
                left--;
        MT_CHECK(left != before, "the schedule ends in a deadlock: %" PRId64 " actions wait for others", left);
    }
}

/* A lower-case letter is half a backward, an upper-case letter a forward: A and aa are micro-batch 0. */
static double draw(const options *o, const char *name, mt_pipe_kind kind, int chunks, int *took)
{
    static timing t;
    run_schedule(&t, o, kind, chunks);
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

int main(int argc, char **argv)
{
    options o = { 4, 8 };
    int gpipe, f1b, other;
    mt_cli_parse(argc, argv, "The schedules of a pipeline, drawn.", flags, &o);
    draw(&o, "GPipe", MT_GPIPE, 1, &gpipe);
    double idle = draw(&o, "1F1B", MT_1F1B, 1, &f1b);
    for (int chunks = 2; chunks <= CHUNKS && o.micro % o.stages == 0; chunks *= 2)
        draw(&o, chunks == 2 ? "interleaved, 2 chunks" : "interleaved, 4 chunks", MT_INTERLEAVED, chunks, &other);
    divide((int)o.stages);
    printf("bench_pipe: gpipe=%d 1f1b=%d idle=%.4f\n", gpipe, f1b, idle);
    return 0;
}
