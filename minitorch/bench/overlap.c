/* overlap.c -- figures 8.7 and 8.8 of the chapter, drawn from recorded runs of the loader: loading and computing in
 * turn, and overlapped. Then the formula for their time over a grid of workers and queue depths.
 *
 *     build/release/bin/overlap                      6 batches, 10 s to load, 5 s to compute: 90 s against 40 s
 *     build/release/bin/overlap --real               the same in milliseconds, on the machine's clock
 *
 * In simulated time (core/clock.h) the loader and its threads are the real ones; only sleeping takes no time. The last
 * line is for programs: `overlap: PASS sequential=90 overlapped=40 worst_ratio=1.04`. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing/clock_sim.h"
#include "bench/bench.h"
#include "data/loader.h"

enum { GRID_WORKERS = 8, GRID_PREFETCH = 8, GRID_BATCHES = 200, REAL_GRID_BATCHES = 24, LANES = 65 };
static const double WORST_RATIO = 1.1; /* of measured time to the law's, in simulated time */

/* ---- the command line ----------------------------------------------------------------------------- */

typedef struct options {
    int64_t batches, workers, prefetch;
    double load, compute, grid_load;
    bool real;
    const char *svg, *csv;
} options;

enum { LOAD_KEY = 256, COMPUTE_KEY, GRID_KEY, SVG_KEY, CSV_KEY, REAL_KEY };

static const mt_option flags[] = {
    { "batches", 'n', "N", MT_I64(options, batches, 1, 1000), "batches in the figures (6)" },
    { "workers", 'w', "N", MT_I64(options, workers, 1, LANES - 1), "workers in the second figure (2)" },
    { "prefetch", 'p', "N", MT_I64(options, prefetch, 0, 1000),
      "batches ahead in the second figure (0: two a worker)" },
    { "load", 0, "S", MT_F64(options, load, 0, 1e6), "seconds to load a batch in the figures (10)" },
    { "grid-load", 0, "S", MT_F64(options, grid_load, 0, 1e6),
      "the same in the grid (30: the chapter's crop 10, jitter 15, normalise 5)" },
    { "compute", 0, "S", MT_F64(options, compute, 1e-3, 1e6), "seconds to compute on a batch (5)" },
    { "real", 0, NULL, MT_FLAG(options, real), "let time pass: milliseconds for seconds, on the machine's clock" },
    { "svg", 0, "FILE", MT_TEXT(options, svg), "draw both timelines" },
    { "csv", 0, "FILE", MT_TEXT(options, csv), "write the grid" },
    { 0 },
};

/* ---- a run ---------------------------------------------------------------------------------------- */

/* What one thread did from begin to end. */
typedef struct span {
    int lane; /* its row in the picture (put_in_lanes): 0 is the caller, others are workers */
    bool loads;
    int64_t batch;
    double begin, end;
} span;

typedef struct run {
    mt_dataset base; /* each sample is a whole batch that takes `load` to get */
    mt_clock *clock;
    double unit, load, compute; /* unit: clock's seconds in one of ours */
    int64_t workers, prefetch;
    double start, total; /* total and the spans count from start, in our seconds */
    mt_loader_stats stats;
    pthread_mutex_t lock; /* of the next two */
    span *spans;          /* [2 * batches], NULL: not recorded */
    int64_t span_count;
    int lanes;
} run;

/* Whether the span is new; the loader goes on to the next epoch, and loads its batch 0 while we compute on the last. */
static bool is_news(const run *r, bool loads, int64_t batch)
{
    for (int64_t i = 0; i < r->span_count; i++)
        if (r->spans[i].loads == loads && r->spans[i].batch == batch)
            return false;
    return true;
}

/* Lets time pass for one thing. */
static void spend(run *r, bool loads, int64_t batch, double seconds)
{
    double begin = (r->clock->now(r->clock) - r->start) / r->unit;
    r->clock->sleep(r->clock, seconds * r->unit);
    double end = (r->clock->now(r->clock) - r->start) / r->unit;
    pthread_mutex_lock(&r->lock);
    if (r->spans && is_news(r, loads, batch))
        r->spans[r->span_count++] = (span){ 0, loads, batch, begin, end };
    pthread_mutex_unlock(&r->lock);
}

static mt_status get(const mt_dataset *set, int64_t index, mt_rng *rng, void *x, void *y)
{
    (void)rng;
    memset(x, 0, sizeof(float));
    memset(y, 0, sizeof(int32_t));
    spend((run *)set, true, index, ((const run *)set)->load);
    return MT_OK;
}

static int by_begin(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->batch > y->batch) - (x->batch < y->batch);
}

/* A load is drawn with the first worker that is free. Which of two free threads really took it is chance, and a picture
 * in simulated time is to be the same each time. */
static void put_in_lanes(run *r)
{
    double free_at[LANES] = { 0 };
    if (r->spans)
        qsort(r->spans, (size_t)r->span_count, sizeof *r->spans, by_begin);
    for (int64_t i = 0; i < r->span_count; i++) {
        span *s = &r->spans[i];
        for (s->lane = s->loads; s->loads && free_at[s->lane] > s->begin;)
            s->lane++;
        free_at[s->lane] = s->end;
        r->lanes = s->lane < r->lanes ? r->lanes : s->lane + 1;
    }
}

/* One epoch of `batches`; spans has room for twice as many, or is NULL. */
static run run_epoch(const options *o, double load, int64_t workers, int64_t prefetch, int64_t batches, span *spans)
{
    run r = { .base = { batches, { MT_F32, MT_SCALAR }, { MT_I32, MT_SCALAR }, get, NULL },
              .clock = o->real ? mt_clock_real() : mt_clock_sim_new(),
              .unit = o->real ? 1e-3 : 1,
              .load = load,
              .compute = o->compute,
              .workers = workers,
              .prefetch = prefetch ? prefetch : 2 * workers,
              .lanes = 1,
              .spans = spans };
    pthread_mutex_init(&r.lock, NULL);
    mt_loader_config config = mt_loader_config_default(&r.base);
    config.batch = 1;
    config.workers = (int)workers;
    config.prefetch = prefetch;
    config.clock = r.clock;
    mt_loader *loader = mt_loader_new(&config);
    mt_batch batch;
    r.start = r.clock->now(r.clock);
    for (int64_t i = 0; i < batches && mt_loader_next(loader, &batch); i++)
        spend(&r, false, i, r.compute);
    r.total = (r.clock->now(r.clock) - r.start) / r.unit;
    r.stats = mt_loader_stats_of(loader);
    mt_loader_free(loader);
    pthread_mutex_destroy(&r.lock);
    put_in_lanes(&r);
    if (!o->real)
        mt_clock_sim_free(r.clock);
    return r;
}

/* Seconds a batch by the law of data/loader.h: the slowest of computing, loading, and buffers going round. */
static double law(const run *r)
{
    double buffers = (r->load + r->compute) / (double)(r->prefetch + 1), slowest = r->compute;
    if (r->workers == 0)
        return r->load + r->compute;
    slowest = r->load / (double)r->workers > slowest ? r->load / (double)r->workers : slowest;
    return buffers > slowest ? buffers : slowest;
}

static double stall_percent(const run *r)
{
    return 100 * (r->total - (double)r->base.count * r->compute) / r->total;
}

/* ---- the two timelines ------------------------------------------------------------------------------ */

enum { LEFT = 90, WIDTH = 860, ROW = 26, PANEL_TOP = 46, LETTER = 9 /* width of a digit and its margin */ };

static int lanes_drawn(const run *r)
{
    return r->workers ? r->lanes : 2;
}

/* 1, 2 or 5 times a power of ten: at most ten such steps make up `seconds`. */
static double step_of(double seconds)
{
    double least = seconds / 10, power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

/* One run at height `top`; `seconds` fill the width. Without workers the caller's loads get a row of their own. */
static void draw_panel(FILE *f, const run *r, const char *title, int top, double seconds)
{
    int rows = lanes_drawn(r), bottom = top + PANEL_TOP + rows * ROW;
    double step = step_of(seconds);
    char number[24];
    fprintf(f, "<text x='%d' y='%d' font-weight='bold'>%s: %g s, stalled %.0f %% of it</text>\n", LEFT, top + 28, title,
            r->total, stall_percent(r));
    for (int row = 0; row < rows; row++) {
        const char *name = row == 0 ? "compute" : r->workers == 0 ? "load" : "worker";
        fprintf(f, "<text x='%d' y='%d' text-anchor='end'>%s", LEFT - 8, top + PANEL_TOP + row * ROW + 17, name);
        fprintf(f, r->workers && row ? " %d</text>\n" : "</text>\n", row);
    }
    for (const span *s = r->spans; s < r->spans + r->span_count; s++) {
        int row = r->workers ? s->lane : s->loads;
        double x = LEFT + s->begin / seconds * WIDTH, w = (s->end - s->begin) / seconds * WIDTH;
        snprintf(number, sizeof number, "%" PRId64, s->batch);
        fprintf(f, "<rect x='%.2f' y='%d' width='%.2f' height='%d' fill='%s'%s/>\n", x, top + PANEL_TOP + row * ROW, w,
                ROW - 4, s->loads ? "#4a7fb5" : "#e08a3c", w > 3 ? " stroke='white'" : "");
        if (w >= LETTER * (double)strlen(number)) /* narrower: there is no room for it */
            fprintf(f, "<text x='%.2f' y='%d' text-anchor='middle' fill='white'>%s</text>\n", x + w / 2,
                    top + PANEL_TOP + row * ROW + 16, number);
    }
    for (int tick = 0; step * tick <= seconds * (1 + 1e-9); tick++)
        fprintf(f, "<text x='%.2f' y='%d' text-anchor='middle' fill='#666'>%g s</text>\n",
                LEFT + step * tick / seconds * WIDTH, bottom + 14, step * tick);
}

static mt_status draw(const char *path, const run *sequential, const run *overlapped)
{
    int first = PANEL_TOP + lanes_drawn(sequential) * ROW + 20;
    int height = first + PANEL_TOP + lanes_drawn(overlapped) * ROW + 30;
    FILE *f = fopen(path, "we");
    if (!f)
        return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));
    fprintf(f,
            "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='13'>\n",
            LEFT + WIDTH + 30, height);
    fprintf(f, "<rect width='100%%' height='100%%' fill='white'/>\n");
    double seconds = fmax(sequential->total, overlapped->total);
    draw_panel(f, sequential, "Sequential (figure 8.7)", 0, seconds);
    draw_panel(f, overlapped, "Overlapped (figure 8.8)", first, seconds);
    fprintf(f, "</svg>\n");
    bool bad = ferror(f);
    if (fclose(f) != 0 || bad)
        return mt_fail(MT_ERR_IO, "%s: cannot be written", path);
    return MT_OK;
}

/* Both figures; their times in total[2]. */
static mt_status figures(const options *o, double total[2])
{
    size_t room = 2 * (size_t)o->batches;
    span *a = calloc(room, sizeof *a), *b = calloc(room, sizeof *b);
    MT_CHECK(a && b, "out of memory");
    run sequential = run_epoch(o, o->load, 0, 0, o->batches, a);
    run overlapped = run_epoch(o, o->load, o->workers, o->prefetch, o->batches, b);
    const run *both[2] = { &sequential, &overlapped };
    for (int i = 0; i < 2; i++) {
        total[i] = both[i]->total;
        printf("%-10s  %" PRId64 " workers, %2" PRId64 " batches ahead  %8.6g s   stalled %4.1f %%\n",
               i ? "overlapped" : "sequential", both[i]->workers, both[i]->prefetch, total[i], stall_percent(both[i]));
    }
    mt_status status = o->svg ? draw(o->svg, &sequential, &overlapped) : MT_OK;
    free(a);
    free(b);
    return status;
}

/* ---- the grid ---------------------------------------------------------------------------------------- */

/* Stall over workers and prefetch; the worst ratio of measured to predicted time in *worst. */
static void grid(const options *o, double *worst)
{
    FILE *csv = bench_csv_open(o->csv, "workers,prefetch,load,compute,batches,seconds,stall_percent,law_seconds,ratio");
    int64_t batches = o->real ? REAL_GRID_BATCHES : GRID_BATCHES;
    printf("\nstall in %%, %" PRId64 " batches, load %g s, compute %g s\nworkers  ahead:", batches, o->grid_load,
           o->compute);
    for (int p = 1; p <= GRID_PREFETCH; p++)
        printf("%6d", p);
    printf("   T = max(c, l/W, (l+c)/(p+1)), s a batch\n");
    for (int w = 1; w <= GRID_WORKERS; w *= 2) {
        run r;
        printf("%7d        ", w);
        for (int p = 1; p <= GRID_PREFETCH; p++) {
            r = run_epoch(o, o->grid_load, w, p, batches, NULL);
            double predicted = (double)batches * law(&r), ratio = r.total / predicted;
            *worst = ratio > *worst ? ratio : *worst;
            printf("%6.1f", stall_percent(&r));
            if (csv)
                fprintf(csv, "%d,%d,%g,%g,%" PRId64 ",%.6g,%.3f,%.6g,%.4f\n", w, p, r.load, r.compute, batches, r.total,
                        stall_percent(&r), predicted, ratio);
        }
        printf("   %.4g with %d ahead\n", law(&r), GRID_PREFETCH);
    }
    bench_csv_close(csv, o->csv);
}

int main(int argc, char **argv)
{
    options o = { .batches = 6, .workers = 2, .load = 10, .compute = 5, .grid_load = 30 };
    double total[2], worst = 0;
    mt_cli_parse(argc, argv, "Loading and computing, one after the other and at the same time.", flags, &o);
    printf("%s, %s\n", bench_machine(), o.real ? "real time: 1 s stands for 1 ms" : "simulated time");
    mt_status status = figures(&o, total);
    if (status != MT_OK)
        return mt_cli_exit(status);
    grid(&o, &worst);
    bool pass = o.real || worst <= WORST_RATIO;
    printf("\noverlap: %s sequential=%.4g overlapped=%.4g worst_ratio=%.3f\n", pass ? "PASS" : "FAIL", total[0],
           total[1], worst);
    return pass ? 0 : 1;
}
