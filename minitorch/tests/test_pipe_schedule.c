/* test_pipe_schedule.c -- pipelines: the schedules and their times, and the division of layers. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "core/rng.h"
#include "dist/pipe.h"

TestSuite(pipe_schedule, .timeout = 60);

enum { MOST = 24, CHUNKS = 4 };

/* ---- the schedule: in time, without a communicator ------------------------------------------------------- */

typedef struct timing {
    double seconds;
    int live[8]; /* the most (micro, chunk) of each rank */
} timing;

/* Each action begins when its rank is free and its input has come, `transfer` after it was computed. */
static timing simulate(mt_pipe_kind kind, int stages, int micro, int chunks, double forward, double transfer)
{
    static mt_pipe_action list[8][2 * MOST * CHUNKS];
    static double ended[2][8 * CHUNKS][MOST];
    int next[8] = { 0 }, live[8] = { 0 }, left = stages, all = 2 * micro * chunks, parts = stages * chunks;
    double until[8] = { 0 };
    timing t = { 0 };
    for (int r = 0; r < stages; r++)
        cr_assert_eq(mt_pipe_schedule(list[r], kind, r, stages, micro, chunks), MT_OK);
    for (int i = 0; i < 2 * 8 * CHUNKS * MOST; i++)
        ((double *)ended)[i] = INFINITY;
    for (bool moved = true; left > 0; moved = false) {
        for (int r = 0; r < stages; r++)
            for (; next[r] < all; next[r]++, moved = true) {
                const mt_pipe_action *a = &list[r][next[r]];
                int part = a->chunk * stages + r, before = a->backward ? part + 1 : part - 1;
                cr_assert(a->micro >= 0 && a->micro < micro && a->chunk >= 0 && a->chunk < chunks);
                cr_assert(isinf(ended[a->backward][part][a->micro]), "twice");
                cr_assert(!a->backward || isfinite(ended[0][part][a->micro]), "backward before forward");
                double ready = before < 0 || before == parts ? 0 : ended[a->backward][before][a->micro] + transfer;
                if (isinf(ready))
                    break;
                until[r] = fmax(until[r], ready) + (a->backward ? 2 : 1) * forward;
                ended[a->backward][part][a->micro] = until[r];
                live[r] += a->backward ? -1 : 1;
                t.live[r] = (int)mt_max(t.live[r], live[r]);
                left -= next[r] + 1 == all;
            }
        cr_assert(moved, "%d stages, %d micro-batches, %d chunks: nobody can go on", stages, micro, chunks);
    }
    for (int r = 0; r < stages; r++)
        t.seconds = fmax(t.seconds, until[r]);
    return t;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

Test(pipe_schedule, schedules_are_valid_and_take_the_time_of_the_law)
{
    for (int p = 1; p <= 8; p++)
        for (int m = 1; m <= MOST; m++) {
            cr_assert(near(simulate(MT_GPIPE, p, m, 1, 1, 0).seconds, 3.0 * (m + p - 1)));
            timing t = simulate(MT_1F1B, p, m, 1, 1, 0);
            cr_assert(near(t.seconds, 3.0 * (m + p - 1)));
            for (int r = 0; r < p; r++)
                cr_assert_eq(t.live[r], mt_min(p - r, m));
            for (int v = 1; v <= CHUNKS && m % p == 0; v++) {
                t = simulate(MT_INTERLEAVED, p, m, v, 1.0 / v, 0);
                cr_assert(near(t.seconds, 3.0 * (m + (p - 1.0) / v)), "%d stages, %d micro-batches, %d chunks: %g", p,
                          m, v, t.seconds);
                for (int r = 0; r < p; r++) /* the forwards of the warm-up, and one more; fewer take the same time */
                    cr_assert_eq(t.live[r], mt_min(2 * (p - r - 1) + (v - 1) * p + 1, m * v));
            }
        }
}

Test(pipe_schedule, four_stages_and_eight_micro_batches)
{
    timing g = simulate(MT_GPIPE, 4, 8, 1, 1, 0), f = simulate(MT_1F1B, 4, 8, 1, 1, 0);
    cr_assert(near(g.seconds, 33) && near(f.seconds, 33));
    for (int r = 0; r < 4; r++)
        cr_assert(g.live[r] == 8 && f.live[r] == 4 - r);
    cr_assert(near(simulate(MT_GPIPE, 4, 8, 1, 1, 0.1).seconds, 33.6));
    cr_assert(near(simulate(MT_1F1B, 4, 8, 1, 1, 0.1).seconds, 34.6));
    cr_assert(near(simulate(MT_INTERLEAVED, 4, 8, 2, 0.5, 0).seconds, 28.5));
    cr_assert(near(simulate(MT_INTERLEAVED, 4, 8, 4, 0.25, 0).seconds, 26.25));
}

Test(pipe_schedule, schedules_that_do_not_exist_are_refused_in_words)
{
    static const struct {
        mt_pipe_kind kind;
        int stage, stages, micro, chunks;
        const char *words;
    } cases[] = {
        { MT_GPIPE, 0, 0, 1, 1, "stage 0 of 0" },         { MT_GPIPE, 2, 2, 1, 1, "stage 2 of 2" },
        { MT_1F1B, 0, 2, 0, 1, "0 micro-batches" },       { MT_1F1B, 0, 2, 2, 0, "0 chunks" },
        { MT_1F1B, 0, 2, 2, 2, "interleaved schedule" },  { MT_INTERLEAVED, 0, 4, 6, 2, "use 8, or 1f1b" },
        { MT_INTERLEAVED, -1, 4, 8, 2, "stage -1 of 4" },
    };
    for (int64_t c = 0; c < MT_COUNT(cases); c++) {
        mt_pipe_action out[32] = { { true, 7, 7 } };
        cr_assert_eq(
            mt_pipe_schedule(out, cases[c].kind, cases[c].stage, cases[c].stages, cases[c].micro, cases[c].chunks),
            MT_ERR_ARGUMENT);
        cr_assert(strstr(mt_last_error(), cases[c].words), "%s", mt_last_error());
        cr_assert(out[0].backward && out[0].micro == 7 && out[0].chunk == 7);
    }
}

/* ---- the division of layers ------------------------------------------------------------------------------ */

/* The smallest largest stage, by trying everything. */
static int64_t best_of(const int64_t *cost, int64_t layers, int stages)
{
    int64_t best = INT64_MAX, sum = 0;
    if (stages == 1) {
        for (int64_t l = 0; l < layers; l++)
            sum += cost[l];
        return sum;
    }
    for (int64_t l = 1; l <= layers - (stages - 1); l++) {
        sum += cost[l - 1];
        best = mt_min(best, mt_max(sum, best_of(cost + l, layers - l, stages - 1)));
    }
    return best;
}

Test(pipe_schedule, the_largest_stage_is_as_small_as_possible)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    for (int stages = 1; stages <= 5; stages++)
        for (int64_t layers = stages; layers <= 11; layers++) {
            int64_t cost[11], begin[6], largest = 0;
            for (int64_t l = 0; l < layers; l++)
                cost[l] = mt_rng_below(&rng, 9) * (layers % 2 ? 1 : (int64_t)1 << 40);
            cr_assert_eq(mt_pipe_partition(begin, cost, layers, stages), MT_OK);
            cr_assert(begin[0] == 0 && begin[stages] == layers);
            for (int s = 0; s < stages; s++) {
                cr_assert(begin[s] < begin[s + 1]);
                largest = mt_max(largest, best_of(cost + begin[s], begin[s + 1] - begin[s], 1));
            }
            cr_assert_eq(largest, best_of(cost, layers, stages));
        }
    int64_t begin[4] = { -7 };
    cr_assert_eq(mt_pipe_partition(begin, begin, 2, 3), MT_ERR_ARGUMENT);
    cr_assert(strstr(mt_last_error(), "3 stages for 2 layers: each stage needs one") && begin[0] == -7);
}
