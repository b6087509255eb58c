/* draw_14.c -- pictures of lab 14: the parts of a layer, what ranks add up for the loss, schedules of a pipeline. */
#include "bench/draw.h"
#include "bench/pipe_timing.h"
#include "core/scope.h"
#include "dist/threads.h"
#include "parallel/tensor_parallel.h"

/* ---- a layer on two ranks --------------------------------------------------------------------------------------- */

enum { CELL = 20, MOST = 128 };

/* A matrix [rows, columns], of which mt_tp_shard gives each element to the rank that is written in it. */
static void divided(double x, double y, const char *name, int64_t columns, mt_tp_layout layout)
{
    float all[MOST], part[MOST];
    int owner[MOST] = { 0 };
    int64_t n = layout.rows * layout.groups * layout.width;
    MT_CHECK(n <= MOST, "at most %d elements", MOST);
    for (int64_t i = 0; i < n; i++)
        all[i] = (float)i;
    for (int rank = 0; rank < 2; rank++) {
        mt_status status = mt_tp_shard(part, all, &layout, 2, rank);
        MT_CHECK(status == MT_OK, "%s", mt_last_error());
        for (int64_t i = 0; i < n / 2; i++)
            owner[(int)part[i]] = rank;
    }
    for (int64_t i = 0; i < n; i++) {
        double at = x + (double)(i % columns) * CELL, top = y + (double)(i / columns) * CELL;
        draw_box("ab"[owner[i]], 0.8, at, top, CELL, CELL, "%d", owner[i]);
    }
    draw_text('m', x + (double)columns * CELL / 2, y - 8, "%s", name);
}

/* The same of a matrix that a rank, or both, have whole. */
static void whole(double x, double y, const char *name, char color, const char *words)
{
    draw_box(color, 0.6, x, y, 4 * CELL, 3 * CELL, "%s", words);
    draw_text('m', x + 2 * CELL, y - 8, "%s", name);
}

static void layer(void)
{
    enum { TOP = 66, NEXT = 278 };
    static const char *const sign[] = { "x", "=", "x", "=", "+" }, *const group[] = { "queries", "keys", "values" };
    static const int at[] = { 104, 287, 472, 574, 678 };
    draw_text('t', 14, 26, "MLP: y = gelu(x w1) w2");
    whole(14, TOP, "x", 'g', "both");
    divided(116, TOP, "w1: columns", 8, (mt_tp_layout){ 4, 1, 8, 1 });
    divided(300, TOP, "gelu(x w1)", 8, (mt_tp_layout){ 3, 1, 8, 1 });
    divided(484, TOP, "w2: rows", 4, (mt_tp_layout){ 1, 1, 8 * 4, 4 });
    whole(586, TOP, "term", 'a', "rank 0");
    whole(690, TOP, "term", 'b', "rank 1");
    for (int i = 0; i < MT_COUNT(sign); i++)
        draw_text('m', at[i], TOP + 34, "%s", sign[i]);
    draw_text('s', 14, TOP + 112, "mt_tp_copy: an all-reduce of dx in backward");
    draw_text('s', 580, TOP + 112, "mt_tp_reduce: an all-reduce of y in forward");
    draw_text('t', 14, NEXT - 34, "attention: 4 of the 8 rows of c_attn [C,3C], 4 heads of D = 2");
    divided(116, NEXT, "", 24, (mt_tp_layout){ 4, 3, 8, 2 });
    for (int i = 0; i < 3; i++)
        draw_text('m', 116 + (i + 0.5) * 8 * CELL, NEXT - 8, "%s", group[i]);
}

/* ---- the loss of one row on four ranks -------------------------------------------------------------------------- */

enum { RANKS = 4, V = 10, TARGET = 6 };

typedef struct loss {
    mt_comm_engine engine; /* that of the ranks, whose all-reduces are noted */
    mt_status (*collective)(mt_comm *comm, const mt_collective *call, mt_request **request);
    float logits[V], before[RANKS][8], after[8], value;
    int count[RANKS];
} loss;

static loss of;

static mt_status note(mt_comm *comm, const mt_collective *call, mt_request **request)
{
    int first = of.count[comm->rank], last = of.count[comm->rank] += (int)call->n;
    MT_CHECK(last <= 8, "more than 3 numbers a row");
    memcpy(of.before[comm->rank] + first, call->in, sizeof(float) * (size_t)call->n);
    mt_status status = of.collective(comm, call, request);
    if (comm->rank == 0)
        memcpy(of.after + first, call->out, sizeof(float) * (size_t)call->n);
    return status;
}

static mt_status compute(mt_comm *comm, void *user)
{
    (void)user;
    comm->engine = &of.engine;
    mt_tp tp = { comm, MT_OK };
    int32_t target = TARGET;
    mt_tp_range mine = mt_tp_range_of(V, RANKS, comm->rank);
    mt_scope_begin();
    mt_tensor *logits = mt_from(MT_SHAPE(1, mine.end - mine.begin), MT_F32, of.logits + mine.begin);
    mt_tensor *result = mt_tp_cross_entropy(&tp, logits, mt_from(MT_SHAPE(1), MT_I32, &target), mine);
    if (comm->rank == 0)
        of.value = mt_f32(result)[0];
    mt_scope_end();
    return tp.status;
}

static void run(void)
{
    static const float logits[V] = { 0.5f, 2.0f, -1.0f, 1.5f, 0.0f, 3.0f, 2.5f, -0.5f, 1.0f, 0.5f };
    mt_comm *alone;
    mt_comm_threads(&alone, 1, &(mt_wires){ 0 });
    of.engine = *alone->engine;
    of.collective = of.engine.collective;
    of.engine.collective = note;
    mt_comm_free(alone);
    memcpy(of.logits, logits, sizeof logits);
    mt_status status = mt_ranks_run(RANKS, &(mt_wires){ 0 }, compute, NULL);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
}

static void vocabulary(void)
{
    enum { WIDE = 40, HIGH = 26, LEFT = 76, TOP = 54, NUMBERS = LEFT + V * WIDE + 40, STEP = 108 };
    static const char *const name[] = { "max l", "sum exp(l - m)", "l[t] - m" };
    run();
    draw_text('t', LEFT, 24, "logits l of one token, target t = %d", TARGET);
    draw_text('t', NUMBERS, 24, "what the ranks reduce");
    for (int v = 0; v < V; v++)
        draw_text('m', LEFT + (v + 0.5) * WIDE, TOP - 8, "%d", v);
    for (int rank = 0; rank < RANKS; rank++) {
        mt_tp_range mine = mt_tp_range_of(V, RANKS, rank);
        double y = TOP + rank * (HIGH + 6);
        draw_text('s', 14, y + 18, "rank %d", rank);
        for (int64_t v = mine.begin; v < mine.end; v++)
            draw_box(v == TARGET ? 'c' : "abde"[rank], 0.7, LEFT + (double)v * WIDE, y, WIDE, HIGH, "%.1f",
                     of.logits[v]);
        for (int i = 0; i < of.count[rank]; i++)
            draw_box("abde"[rank], 0.7, NUMBERS + i * STEP, y, STEP - 16, HIGH, "%.3f", of.before[rank][i]);
    }
    for (int i = 0; i < of.count[0]; i++) {
        double y = TOP + RANKS * (HIGH + 6);
        draw_text('m', NUMBERS + i * STEP + STEP / 2 - 8, TOP - 8, "%s", name[i % 3]);
        draw_line('h', NUMBERS + i * STEP + STEP / 2 - 8, y - 4, NUMBERS + i * STEP + STEP / 2 - 8, y + 16);
        draw_box('c', 0.7, NUMBERS + i * STEP, y + 18, STEP - 16, HIGH, "%.3f", of.after[i]);
    }
    draw_text('e', NUMBERS - 12, TOP + RANKS * (HIGH + 6) + 36, "maximum, sum and sum on all ranks: m, s, r");
    draw_text('s', NUMBERS, TOP + RANKS * (HIGH + 6) + 70, "loss = log(s) - r = %.3f", of.value);
}

/* ---- schedules -------------------------------------------------------------------------------------------------- */

/* A number is a micro-batch; the second chunk is darker. */
static void schedule(double y, const char *name, mt_pipe_kind kind, int chunks)
{
    enum { PIPES = 4, BATCHES = 8, WIDE = 660, HIGH = 24, BEGIN = 72 };
    static timing t;
    run_schedule(&t, PIPES, BATCHES, kind, chunks);
    double unit = (double)WIDE / (3 * (BATCHES + PIPES - 1) * chunks), idle = 1 - 3.0 * BATCHES * chunks / t.took;
    draw_text('t', BEGIN, y, "%s: %.4g units, each stage is idle for %.2f %% of them", name, (double)t.took / chunks,
              100 * idle);
    for (int s = 0; s < PIPES; s++) {
        double top = y + 12 + s * HIGH;
        draw_text('s', 14, top + 16, "stage %d", s);
        draw_box('g', 0.25, BEGIN, top, t.took * unit, HIGH, "%s", "");
        for (int k = 0; k < 2 * BATCHES * chunks; k++) {
            const mt_pipe_action *a = &list[s][k];
            double wide = (a->backward ? 2 : 1) * unit;
            draw_box("ac"[a->backward], a -> chunk ? 1 : 0.5, BEGIN + t.began[s][k] * unit, top, wide, HIGH,
                     wide > 8 ? "%d" : "", a->micro);
        }
        draw_text('s', BEGIN + t.took * unit + 12, top + 16, "live %d", t.most[s]);
    }
}

static void schedules(void)
{
    schedule(26, "GPipe", MT_GPIPE, 1);
    schedule(170, "1F1B", MT_1F1B, 1);
    schedule(314, "interleaved, 2 chunks", MT_INTERLEAVED, 2);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "layer.svg", 376, "Weights of an MLP and of attention on two ranks: which elements each rank has", layer },
        { "vocabulary.svg", 272,
          "The loss of one token on four ranks: the logits of each, and the three numbers that they reduce",
          vocabulary },
        { "schedules.svg", 440, "4 stages and 8 micro-batches: GPipe and 1F1B 33 units, interleaved with 2 chunks 28.5",
          schedules },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
