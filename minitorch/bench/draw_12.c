/* draw_12.c -- pictures of lab 12: what a power cut leaves of a save, and what saves cost. */
#include "bench/draw.h"
#include "ckpt/checkpoint.h"
#include "ckpt/interval.h"
#include "testing/disk_sim.h"

/* ---- a power cut ------------------------------------------------------------------------------------------------ */

enum { TRIED = 64 }; /* states of a cut, of all that are possible */

static void count_skipped(void *user, int64_t step, const char *why)
{
    (void)step, (void)why;
    ++*(int *)user;
}

/* Saves of step 1 and step 2 on a simulated disk. */
static mt_io *save_twice(int64_t *begin)
{
    mt_io *disk = mt_disk_sim_new();
    mt_state model = { 0 }, rest = { 0 };
    mt_tensor *w = mt_zeros(MT_SHAPE(8), MT_F32, MT_CPU), *b = mt_zeros(MT_SHAPE(8), MT_F32, MT_CPU);
    mt_io_use(disk);
    MT_CHECK(disk->mkdir(disk, "/runs") == 0 && disk->fsync_dir(disk, "/") == 0, "no folder");
    mt_state_tensor(&model, w, "weight");
    mt_state_tensor(&model, b, "bias");
    for (int step = 1; step <= 2; step++) {
        *begin = mt_disk_sim_ops(disk);
        mt_status status = mt_checkpoint_save("/runs", step, &model, &rest, 32);
        MT_CHECK(status == MT_OK, "%s", mt_last_error());
    }
    mt_state_free(&model);
    mt_release(w);
    mt_release(b);
    return disk;
}

static void cuts(void)
{
    enum { LEFT = 60, TOP = 44, WIDE = 780, HIGH = 150 };
    static const char *const name[] = { "step 1, nothing of step 2", "step 1, and step 2 is recognised as incomplete",
                                        "step 2" };
    static const int place[] = { 0, 190, 520 };
    int64_t begin;
    mt_io *disk = save_twice(&begin);
    int64_t end = mt_disk_sim_ops(disk);
    double wide = (double)WIDE / (double)(end - begin + 1);
    draw_text('t', LEFT, 26, "what mt_recover finds when the power is cut after so many changes on the disk");
    for (int64_t ops = begin; ops <= end; ops++) {
        int64_t states = mt_disk_sim_states(disk, ops), every = mt_max(1, states / TRIED), tried = 0, found[3] = { 0 };
        for (int64_t s = 0; s < states; s += every, tried++) {
            mt_io *left = mt_disk_sim_cut(disk, ops, s);
            int64_t step = 0;
            int skipped = 0;
            mt_io_use(left);
            MT_CHECK(mt_recover(&step, "/runs", count_skipped, &skipped) == MT_OK, "step 1 is lost");
            found[step == 2 ? 2 : skipped > 0]++;
            mt_io_use(disk);
            mt_disk_sim_free(left);
        }
        double x = LEFT + (double)(ops - begin) * wide, y = TOP + HIGH;
        for (int i = 0; i < 3; i++) {
            double high = (double)HIGH * (double)found[i] / (double)tried;
            y -= high;
            if (high > 0)
                draw_box("gbc"[i], 0.8, x, y, wide, high, "%s", "");
        }
        draw_text('m', x + wide / 2, TOP + HIGH + 16, "%lld", (long long)(ops - begin));
    }
    for (int i = 0; i < 3; i++) {
        draw_box("gbc"[i], 0.8, LEFT + place[i], TOP + HIGH + 32, 14, 14, "%s", "");
        draw_text('s', LEFT + place[i] + 20, TOP + HIGH + 43, "%s", name[i]);
    }
    mt_io_use(NULL);
    mt_disk_sim_free(disk);
}

/* ---- how often -------------------------------------------------------------------------------------------------- */

static void interval(void)
{
    enum { LEFT = 60, BOTTOM = 240, OCTAVES = 7, WIDE = 105, EACH = 4, POINTS = OCTAVES * EACH + 1, RUNS = 100 };
    const double mtbf = 10 * 3600, high = 5;
    double x[POINTS], saves[POINTS], lost[POINTS], both[POINTS], runs[POINTS];
    mt_run_plan plan = { .work = 20 * mtbf, .cost = 60, .mtbf = mtbf };
    mt_rng rng = mt_rng_new(12, MT_STREAM_TEST);
    for (int i = 0; i < POINTS; i++) {
        plan.interval = 240 * exp2((double)i / EACH);
        double c = 100 * plan.cost / plan.interval, m = 100 * plan.interval / (2 * mtbf), sum = 0;
        for (int run = 0; run < RUNS; run++)
            sum += 100 * mt_run_waste(&plan, &rng) / RUNS;
        x[i] = LEFT + (double)i / EACH * WIDE;
        saves[i] = BOTTOM - high * c, lost[i] = BOTTOM - high * m, both[i] = BOTTOM - high * (c + m),
        runs[i] = BOTTOM - high * sum;
    }
    draw_text('t', LEFT, 26, "time without lasting work: a save takes 1 minute, a failure comes each 10 hours");
    for (int i = 0; i <= 4; i++) {
        draw_text('e', LEFT - 8, BOTTOM - high * i * 10 + 4, "%d %%", i * 10);
        draw_line('d', LEFT, BOTTOM - high * i * 10, LEFT + OCTAVES * WIDE, BOTTOM - high * i * 10);
    }
    for (int i = 0; i <= OCTAVES; i++)
        draw_text('m', LEFT + i * WIDE, BOTTOM + 18, i == OCTAVES ? "%d minutes" : "%d", 4 << i);
    draw_curve('b', x, saves, POINTS);
    draw_curve('a', x, lost, POINTS);
    draw_curve('d', x, both, POINTS);
    for (int i = 0; i < POINTS; i++)
        draw_box('g', 0.5, x[i] - 3, runs[i] - 3, 6, 6, "%s", "");
    double best = LEFT + log2(mt_young_interval(plan.cost, mtbf) / 240) * WIDE;
    draw_line('x', best, BOTTOM, best, BOTTOM - 100);
    draw_text('m', best, BOTTOM - 106, "Young: %.0f minutes", mt_young_interval(plan.cost, mtbf) / 60);
    draw_text('s', LEFT, BOTTOM + 44,
              "Orange: C / t. Blue: t / 2M. Red: the sum. Squares: means of %d runs of mt_run_waste.", RUNS);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "cuts.svg", 256,
          "What is recovered after a power cut at each moment of a save: the old checkpoint, then the new one", cuts },
        { "interval.svg", 300,
          "The time without lasting work by the interval between saves: law, simulated runs, Young's interval",
          interval },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
