/* draw_13_training.c -- pictures of lab 13: what its units leave on each rank and send in training. */
#include "bench/draw.h"
#include "dist/compress.h"
#include "dist/local.h"
#include "dist/server.h"
#include "dist/threads.h"
#include "dist/zero.h"

enum { RANKS = 4 };

/* ---- less memory ------------------------------------------------------------------------------------------------ */

/* Which elements of parameters, gradients, and Adam's moments each rank holds. */
static void zero_stage(double x, int stage, const mt_bucket *bucket, int64_t count)
{
    static const char *const name[] = { "data parallel", "ZeRO stage 1", "stage 2", "stage 3" };
    enum { WIDE = 180, HIGH = 11, ARRAYS = 4 };
    const double scale = (double)WIDE / (double)bucket[0].end;
    double bytes = 0;
    for (int rank = 0; rank < RANKS; rank++)
        for (int array = 0; array < ARRAYS; array++) { /* parameters, gradients, two moments */
            double y = 46 + rank * 62 + array * HIGH;
            bool divided = stage >= (array == 0 ? 3 : array == 1 ? 2 : 1);
            draw_box('g', 0.2, x, y, WIDE, HIGH, "%s", "");
            for (int64_t b = 0; b < count; b++) {
                int64_t begin = bucket[b].begin, end = bucket[b].end;
                if (divided)
                    mt_zero_part(&begin, &end, &bucket[b], rank, RANKS);
                draw_box("bcaa"[array], 1, x + (double)begin * scale, y, (double)(end - begin) * scale, HIGH, "%s", "");
                bytes += rank == 0 ? 4.0 * (double)(end - begin) : 0;
            }
        }
    draw_text('t', x, 28, "%s: %.4g bytes", name[stage], bytes / (double)bucket[0].end);
}

static void zero(void)
{
    static const int64_t begin[] = { 0, 960, 1280, 2240, 2560 };
    mt_bucket bucket[4];
    int64_t count = mt_buckets_plan(bucket, begin, 4, 1200);
    for (int stage = 0; stage < 4; stage++)
        zero_stage(60 + stage * 198, stage, bucket, count);
    for (int rank = 0; rank < RANKS; rank++)
        draw_text('s', 12, 72 + rank * 62, "rank %d", rank);
    static const char *const legend[] = { "parameters", "gradients", "Adam's two moments" };
    for (int i = 0; i < 3; i++) {
        draw_box("bca"[i], 1, 60 + i * 110, 292, 14, 11, "%s", "");
        draw_text('s', 80 + i * 110, 302, "%s", legend[i]);
    }
    draw_text('s', 454, 302, "two buckets; bytes of a parameter on one rank");
}

/* ---- fewer bytes ------------------------------------------------------------------------------------------------ */

enum { N = 8, STEPS = 5, KEPT = 2 };

/* n bars, of which those that are sent are green. */
static void bars(double x, double y, const float *value, const float *sent, const char *label, int number)
{
    enum { WIDE = 14, UNIT = 10 };
    draw_line('l', x, y, x + N * WIDE, y);
    for (int i = 0; i < N; i++) {
        double high = value[i] * UNIT;
        draw_box(sent && sent[i] != 0 ? 'c' : 'a', 1, x + i * WIDE + 1, high < 0 ? y : y - high, WIDE - 2, fabs(high),
                 "%s", "");
    }
    if (number == 0)
        draw_text('s', x, 52, "%s", label);
}

/* The same gradient in each step: what is sent, what is kept, and the sum of all that was sent. */
static void feedback(double x, bool one_bit)
{
    static const float gradient[N] = { 1.4f, -0.6f, 0.4f, -1.2f, 0.9f, 0.3f, -0.5f, 1.0f };
    float error[N] = { 0 };
    draw_text('t', x, 28, one_bit ? "one bit an element" : "the %d largest of %d", KEPT, N);
    for (int t = 0; t < STEPS; t++) {
        float v[N], sent[N] = { 0 }, value[KEPT];
        int32_t index[KEPT];
        uint8_t packed[4 + N / 8];
        for (int i = 0; i < N; i++)
            v[i] = gradient[i] + error[i];
        if (one_bit) {
            mt_onebit_pack(packed, error, gradient, N);
            mt_onebit_unpack(sent, packed, N);
        } else {
            mt_topk_pack(index, value, error, gradient, N, KEPT);
            for (int i = 0; i < KEPT; i++)
                sent[index[i]] = value[i];
        }
        double y = 96 + t * 66;
        bars(x, y, v, one_bit ? NULL : sent, "gradient + error", t);
        bars(x + 130, y, sent, sent, "sent", t);
        bars(x + 260, y, error, NULL, "error kept", t);
    }
}

static void compression(void)
{
    for (int t = 0; t < STEPS; t++)
        draw_text('s', 12, 100 + t * 66, "step %d", t + 1);
    feedback(66, false);
    feedback(474, true);
}

/* ---- fewer exchanges -------------------------------------------------------------------------------------------- */

enum { ROUNDS = 6, INNER = 10, POINTS = ROUNDS * (INNER + 1) + 1 };

typedef struct local {
    double lr, momentum, x[RANKS][POINTS], y[RANKS][POINTS]; /* x: steps */
    int64_t delay;
} local;

/* Rank r descends from 4 towards its own samples' minimum, in [-1.5, 1.5]; that of all is 0. */
static mt_status descend(mt_comm *comm, void *user)
{
    local *l = user;
    float global = 4, velocity = 0, mine = 4, pending[4] = { 0 };
    mt_outer outer = { 1, &global, &velocity, l->lr, l->momentum, l->delay, pending, 3, 0 };
    mt_status status = MT_OK;
    double *x = l->x[comm->rank], *y = l->y[comm->rank];
    *x++ = 0, *y++ = mine;
    for (int at = 1; at <= ROUNDS * INNER && status == MT_OK; at++) {
        mine -= 0.06f * (mine - ((float)comm->rank - 1.5f));
        *x++ = at, *y++ = mine;
        if (at % INNER > 0)
            continue;
        status = mt_outer_step(comm, &outer, &mine);
        *x++ = at, *y++ = mine;
    }
    return status;
}

static void rounds(double left, const char *title, double lr, double momentum, int64_t delay)
{
    enum { WIDE = 4, HIGH = 34, ZERO = 200 };
    local l = { .lr = lr, .momentum = momentum, .delay = delay };
    mt_status status = mt_ranks_run(RANKS, &(mt_wires){ 0 }, descend, &l);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    draw_text('t', left, 28, "%s", title);
    draw_line('l', left, ZERO, left + ROUNDS * INNER * WIDE, ZERO);
    for (int round = 1; round <= ROUNDS; round++)
        draw_line('d', left + round * INNER * WIDE, 44, left + round * INNER * WIDE, 270);
    for (int rank = 0; rank < RANKS; rank++) {
        double x[POINTS], y[POINTS];
        for (int i = 0; i < POINTS; i++)
            x[i] = left + WIDE * l.x[rank][i], y[i] = ZERO - HIGH * l.y[rank][i];
        draw_curve((char)('a' + rank), x, y, POINTS);
    }
}

static void local_sgd(void)
{
    rounds(30, "local SGD: the mean", 1, 0, 0);
    rounds(308, "DiLoCo: lr 0.7, momentum 0.5", 0.7, 0.5, 0);
    rounds(586, "up to 2 rounds late", 0.7, 0.3, 2);
    draw_text('s', 30, 292,
              "A colour is a rank, a dashed line the end of a round of %d steps; the line is the minimum for the "
              "samples of all ranks.",
              INNER);
}

/* ---- a parameter server ----------------------------------------------------------------------------------------- */

/* A box is a gradient, from the pull to the push of its worker; in between there is only waiting. */
static void served(double y, int64_t bound, const char *title)
{
    enum { WORKERS = 3, UPDATES = 30, LEFT = 90, SECOND = 36, UNTIL = 21, HIGH = 24 };
    static const double seconds[WORKERS] = { 2, 3, 7 };
    mt_server_event events[2 * UPDATES + WORKERS];
    double pulled[WORKERS];
    int pushes = 0;
    int64_t count = mt_server_order(events, UPDATES, seconds, WORKERS, bound);
    for (int w = 0; w < WORKERS; w++)
        draw_text('s', 12, y + 24 + w * HIGH, "worker %d", w);
    for (const mt_server_event *e = events; e < events + count && e->seconds <= UNTIL; e++) {
        double begin = pulled[e->worker];
        if (e->is_push)
            draw_box("abc"[e->worker], 0.7, LEFT + SECOND * begin, y + 8 + e->worker * HIGH,
                     SECOND * (e->seconds - begin), HIGH - 4, "%d", (int)e->staleness);
        else
            pulled[e->worker] = e->seconds;
        pushes += e->is_push;
    }
    draw_text('t', 12, y, "%s: %d updates in %d s", title, pushes, UNTIL);
}

static void server(void)
{
    served(24, 0, "bound 0");
    served(130, 2, "bound 2");
    served(236, INT64_MAX, "no bound");
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "zero.svg", 312, "What each of four ranks holds with data parallelism and with the three stages of ZeRO",
          zero },
        { "compression.svg", 400,
          "Five steps with error feedback: gradient and error, what is sent, and the error that is kept", compression },
        { "local.svg", 306,
          "A parameter on four ranks that exchange it after each ten steps: mean, outer momentum, late arrival",
          local_sgd },
        { "server.svg", 320,
          "Three workers of different speeds that pull from a parameter server and push to it, with bounds 0 and 2 and "
          "without one",
          server },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
