/* bench_pipe.c -- draws the schedules of a pipeline, in time: what each stage does in each unit, how much of the step
 * it is idle, and how many micro-batches are live (lab 14's experiment). Then a division of layers by their costs.
 *
 *     build/release/bin/bench_pipe                          4 stages, 8 micro-batches, up to 4 chunks
 *     build/release/bin/bench_pipe --stages 8 --micro 16
 *     build/release/bin/bench_pipe --chunks 2 --svg FILE    draws those with up to 2 chunks into a file, too
 *
 * Nothing is measured: a forward takes 1 unit, a backward 2, a message none. The last line is for programs:
 * `bench_pipe: gpipe=33 1f1b=33 idle=0.2727`. */
#include "bench/bench.h"
#include "parallel/pipe.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { STAGES = 16, MICRO = 26, CHUNKS = 4, UNITS = 6 * (MICRO * CHUNKS + STAGES) * STAGES };

typedef struct options {
    int64_t stages, micro, chunks;
    const char *svg;
} options;

static const mt_option flags[] = {
    { "stages", 'p', "P", MT_I64(options, stages, 1, STAGES), "Stages (4)" },
    { "micro", 'm', "M", MT_I64(options, micro, 1, MICRO), "Micro-batches (8)" },
    { "chunks", 'v', "V", MT_I64(options, chunks, 1, CHUNKS), "Chunks of a stage, at most (4)" },
    { "svg", 0, "FILE", MT_TEXT(options, svg), "Also draw them into a file" },
    { 0 },
};

typedef struct timing {
    char row[STAGES][UNITS];
    int until[STAGES], next[STAGES], live[STAGES], most[STAGES], took;
    int ended[2][STAGES * CHUNKS][MICRO];  /* 0: not yet */
    int began[STAGES][2 * MICRO * CHUNKS]; /* each action of the list */
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
    t->began[stage][t->next[stage]] = from;
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

/* ---- as a picture ------------------------------------------------------------------------------------- */

enum { LEFT = 70, WIDTH = 920, RIGHT = 70, PANEL_TOP = 36, ROW = 26, LETTER = 8 /* width of a digit */ };

static int panel_height(const options *o)
{
    return PANEL_TOP + (int)o->stages * ROW + 14;
}

static int panels(const options *o)
{
    return 2 + (o->micro % o->stages == 0 ? (o->chunks >= 2) + (o->chunks >= 4) : 0);
}

/* The colors of forward and backward in chunk 0, 1, ...; a stage that does nothing stays grey. */
static void begin_picture(FILE *f, const options *o)
{
    static const char *const color[2][CHUNKS] = { { "#a9cbec", "#6fa5da", "#4682b4", "#2f5f8a" },
                                                  { "#c3e0b4", "#93c47d", "#6a9e55", "#4a7a3a" } };
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d'>\n", LEFT + WIDTH + RIGHT,
            panels(o) * panel_height(o));
    fprintf(f, "<style>text{font:12px sans-serif;text-anchor:middle}.t{font:bold 14px sans-serif;text-anchor:start}"
               ".i{fill:#eee}");
    for (int backward = 0; backward < 2; backward++)
        for (int chunk = 0; chunk < CHUNKS; chunk++)
            fprintf(f, ".%c%d{fill:%s;stroke:#fff}", "fb"[backward], chunk, color[backward][chunk]);
    fprintf(f, "</style>\n<rect width='100%%' height='100%%' fill='white'/>\n");
}

/* `unit` pixels are one unit of this schedule. */
static void draw_stage(FILE *f, const options *o, const timing *t, int stage, int chunks, int y, double unit)
{
    fprintf(f, "<text x='%d' y='%d'>stage %d</text><rect class='i' x='%d' y='%d' width='%.1f' height='%d'/>\n",
            LEFT / 2, y + 16, stage, LEFT, y, t->took * unit, ROW - 3);
    for (int k = 0; k < 2 * (int)o->micro * chunks; k++) {
        const mt_pipe_action *a = &list[stage][k];
        double x = LEFT + t->began[stage][k] * unit, wide = (a->backward ? 2 : 1) * unit;
        fprintf(f, "<rect class='%c%d' x='%.1f' y='%d' width='%.1f' height='%d'/>", "fb"[a->backward], a -> chunk, x, y,
                wide, ROW - 3);
        if (wide >= LETTER * (a->micro > 9 ? 2 : 1))
            fprintf(f, "<text x='%.1f' y='%d'>%d</text>", x + wide / 2, y + 16, a->micro);
        fputc('\n', f);
    }
    fprintf(f, "<text x='%.1f' y='%d'>live %d</text>\n", LEFT + t->took * unit + RIGHT / 2.0, y + 16, t->most[stage]);
}

static void draw_panel(FILE *f, const options *o, const timing *t, const char *name, int chunks, int top)
{
    double unit = (double)WIDTH / (double)(3 * (o->micro + o->stages - 1) * chunks);
    fprintf(f, "<text class='t' x='%d' y='%d'>%s: %.4g units, each stage is idle for %.2f %% of them</text>\n", LEFT,
            top + 24, name, (double)t->took / chunks, 100 * (1 - 3.0 * (double)(o->micro * chunks) / t->took));
    for (int s = 0; s < o->stages; s++)
        draw_stage(f, o, t, s, chunks, top + PANEL_TOP + s * ROW, unit);
}

/* ---- as text ------------------------------------------------------------------------------------------ */

/* A lower-case letter is half a backward, an upper-case letter a forward: A and aa are micro-batch 0. */
static double draw(const options *o, FILE *svg, const char *name, mt_pipe_kind kind, int chunks, int *took)
{
    static timing t;
    static int panel;
    run_schedule(&t, o, kind, chunks);
    if (svg)
        draw_panel(svg, o, &t, name, chunks, panel++ * panel_height(o));
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

static double draw_all(const options *o, FILE *svg, int *gpipe, int *f1b)
{
    int other;
    if (svg)
        begin_picture(svg, o);
    draw(o, svg, "GPipe", MT_GPIPE, 1, gpipe);
    double idle = draw(o, svg, "1F1B", MT_1F1B, 1, f1b);
    for (int chunks = 2; chunks <= o->chunks && o->micro % o->stages == 0; chunks *= 2)
        draw(o, svg, chunks == 2 ? "interleaved, 2 chunks" : "interleaved, 4 chunks", MT_INTERLEAVED, chunks, &other);
    if (svg)
        fprintf(svg, "</svg>\n");
    return idle;
}

int main(int argc, char **argv)
{
    options o = { 4, 8, CHUNKS, NULL };
    int gpipe, f1b;
    mt_cli_parse(argc, argv, "The schedules of a pipeline, drawn.", flags, &o);
    FILE *svg = o.svg ? fopen(o.svg, "we") : NULL;
    if (o.svg && !svg)
        return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: %s", o.svg, strerror(errno)));
    double idle = draw_all(&o, svg, &gpipe, &f1b);
    bool bad = svg && ferror(svg);
    if (svg && (fclose(svg) != 0 || bad))
        return mt_cli_exit(mt_fail(MT_ERR_IO, "%s: cannot be written", o.svg));
    divide((int)o.stages);
    printf("bench_pipe: gpipe=%d 1f1b=%d idle=%.4f\n", gpipe, f1b, idle);
    return 0;
}
