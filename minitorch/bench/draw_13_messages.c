/* draw_13_messages.c -- pictures of lab 13: ranks on a simulated network run its units, and what they send is drawn. */
#include "testing/clock_sim.h"
#include "autograd/tape.h"
#include "bench/draw.h"
#include "dist/collectives.h"
#include "dist/ddp.h"
#include "dist/threads.h"
#include "memory/flat.h"

enum { RANKS = 8, MESSAGES = 1024, PARTS = 4, MOST = 64 };

/* ---- what is sent ----------------------------------------------------------------------------------------------- */

typedef struct message {
    int peer;
    bool is_send;
    double called;
    int64_t bytes;
    const float *from;
    float data[PARTS]; /* what the rank had when it sent */
} message;

/* What the ranks of one run share. */
typedef struct run {
    mt_clock *clock;
    mt_comm_engine engine; /* that of the ranks, whose messages are noted */
    mt_status (*message)(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request);
    mt_status (*all_reduce)(mt_comm *comm, void *data, int64_t n, mt_dtype dtype, mt_reduce op);
    float data[RANKS][PARTS];
    message noted[RANKS][MESSAGES];
    int count[RANKS], size;
} run;

static run of;

static mt_status note(mt_comm *comm, void *data, int64_t bytes, int peer, bool is_send, mt_request **request)
{
    int rank = comm->rank;
    MT_CHECK(of.count[rank] < MESSAGES, "more than %d messages", MESSAGES);
    message *m = &of.noted[rank][of.count[rank]++];
    *m = (message){ peer, is_send, of.clock->now(of.clock), bytes, data, { 0 } };
    memcpy(m->data, of.data[rank], sizeof m->data);
    return of.message(comm, data, bytes, peer, is_send, request);
}

/* When this message of a rank began: when both ranks had called. Messages between two ranks stay in order. */
static double began(int rank, const message *m)
{
    int nth = 0;
    for (const message *before = of.noted[rank]; before < m; before++)
        nth += before->is_send && before->peer == m->peer;
    for (int i = 0; i < of.count[m->peer]; i++) {
        const message *other = &of.noted[m->peer][i];
        if (!other->is_send && other->peer == rank && nth-- == 0)
            return fmax(m->called, other->called);
    }
    MT_CHECK(false, "a message that nobody receives");
    return 0;
}

/* Rank r begins with 2^r in each part: a sum is the set of ranks whose data is in it. */
static mt_status reduce(mt_comm *comm, void *user)
{
    (void)user;
    float *data = of.data[comm->rank];
    for (int part = 0; part < PARTS; part++)
        data[part] = (float)(1 << comm->rank);
    comm->engine = &of.engine;
    return of.all_reduce(comm, data, PARTS, MT_F32, MT_SUM);
}

static void run_ranks(int size, mt_network network, mt_status (*rank)(mt_comm *comm, void *user), void *user)
{
    mt_clock *clock = mt_clock_sim_new();
    mt_wires wires = { .clock = clock, .network = network };
    mt_comm *alone;
    mt_comm_threads(&alone, 1, &(mt_wires){ 0 });
    of.engine = *alone->engine;
    of.message = of.engine.message;
    of.engine.message = note;
    mt_comm_free(alone);
    of.clock = clock, of.size = size;
    memset(of.count, 0, sizeof of.count);
    mt_status status = mt_ranks_run(size, &wires, rank, user);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    mt_clock_sim_free(clock);
}

/* ---- collectives ------------------------------------------------------------------------------------------------ */

/* The parts of all ranks; what a rank sends next has a thick edge. */
static void parts(double x, double y, const char *title, const float data[][PARTS], const int *sends)
{
    enum { WIDE = 40, HIGH = 26 };
    draw_text('t', x, y, "%s", title);
    for (int rank = 0; rank < PARTS; rank++)
        for (int part = 0; part < PARTS; part++) {
            char ranks[PARTS + 1] = "";
            double at = x + part * WIDE, top = y + 12 + rank * HIGH;
            for (int r = 0; r < PARTS; r++)
                if ((int)data[rank][part] >> r & 1)
                    snprintf(ranks + strlen(ranks), 2, "%d", r);
            draw_box('a', (double)(strlen(ranks) - 1) / 3, at, top, WIDE, HIGH, "%s", ranks);
        }
    for (int rank = 0; sends && rank < PARTS; rank++) {
        double at = x + sends[rank] * WIDE + 2, top = y + 14 + rank * HIGH;
        const double edge_x[] = { at, at + WIDE - 4, at + WIDE - 4, at, at },
                     edge_y[] = { top, top, top + HIGH - 4, top + HIGH - 4, top };
        draw_curve('b', edge_x, edge_y, 5);
    }
}

static void ring(void)
{
    enum { STEPS = 2 * (PARTS - 1) };
    static const char *const title[] = { "begin",        "after step 1", "after step 2",     "after step 3: sums",
                                         "after step 4", "after step 5", "after step 6: all" };
    of.all_reduce = mt_ring_all_reduce;
    run_ranks(PARTS, (mt_network){ 1, 0 }, reduce, NULL);
    for (int step = 0; step <= STEPS; step++) {
        float data[PARTS][PARTS];
        int sends[PARTS];
        for (int rank = 0; rank < PARTS; rank++) {
            const message *sent = NULL;
            int nth = 0;
            for (int i = 0; i < of.count[rank] && !sent; i++)
                if (of.noted[rank][i].is_send && nth++ == step)
                    sent = &of.noted[rank][i];
            memcpy(data[rank], sent ? sent->data : of.data[rank], sizeof data[rank]);
            sends[rank] = sent ? (int)(sent->from - of.data[rank]) : 0;
        }
        bool gather = step >= PARTS;
        double x = 66 + (gather ? step - PARTS + 1 : step) * 200, y = gather ? 188 : 30;
        parts(x, y, title[step], data, step < STEPS ? sends : NULL);
    }
    for (int rank = 0; rank < PARTS; rank++) {
        draw_text('s', 12, 60 + rank * 26, "rank %d", rank);
        draw_text('e', 256, 218 + rank * 26, "rank %d", rank);
    }
    static const char *const words[] = { "A column is a part of the array.", "Digits: the ranks whose",
                                         "data is summed in it.", "Thick edge: what goes to the",
                                         "next rank in the next step." };
    for (int line = 0; line < MT_COUNT(words); line++)
        draw_text('s', 12, 210 + line * 18, "%s", words[line]);
}

/* Who sends to whom, and when: the time runs to the right. */
static void arrows(double x, double y, const char *title, int size,
                   mt_status (*all_reduce)(mt_comm *, void *, int64_t, mt_dtype, mt_reduce))
{
    enum { STEP = 44, HIGH = 30 };
    double last = 0;
    of.all_reduce = all_reduce;
    run_ranks(size, (mt_network){ 1, 0 }, reduce, NULL);
    for (int rank = 0; rank < size; rank++)
        for (int i = 0; i < of.count[rank]; i++) {
            const message *m = &of.noted[rank][i];
            if (!m->is_send)
                continue;
            double from = began(rank, m);
            draw_line('h', x + from * STEP + 4, y + 28 + rank * HIGH, x + (from + 1) * STEP - 2,
                      y + 28 + m->peer * HIGH);
            last = fmax(last, from + 1);
        }
    draw_text('t', x - 44, y, "%s", title);
    for (int rank = 0; rank < size; rank++) {
        draw_text('e', x - 6, y + 32 + rank * HIGH, "rank %d", rank);
        draw_line('d', x, y + 28 + rank * HIGH, x + last * STEP, y + 28 + rank * HIGH);
    }
    for (int step = 1; step <= (int)last; step++)
        draw_text('m', x + (step - 0.5) * STEP, y + 34 + size * HIGH - 8, "%d", step);
}

static void trees(void)
{
    arrows(62, 28, "tree, 8 ranks: 6 steps", 8, mt_tree_all_reduce);
    arrows(404, 28, "doubling, 8 ranks: 3 steps", 8, mt_doubling_all_reduce);
    arrows(650, 28, "doubling, 5 ranks: 4 steps", 5, mt_doubling_all_reduce);
}

/* ---- data parallelism ------------------------------------------------------------------------------------------- */

/* 4 MiB of gradients at 8 ns a byte, but with 64 times fewer and slower bytes. */
enum { GRADIENTS = 1 << 14, LANE = 20 };
static const mt_network slow = { .latency = 0.5e-3, .byte_time = 64 * 8e-9 };
static const double forward = 0.05, backward = 0.1;

/* A step of which rank 0 notes when it began and ended. */
typedef struct step {
    int buckets;
    double begin, end;
    const float *gradients;
} step;

/* Backward without a model: parameters of equal size, whose gradients come at equal intervals. */
static mt_status train(mt_comm *comm, void *user)
{
    step *s = user;
    mt_state list = { 0 };
    mt_tensor *param[MOST];
    mt_ddp *ddp;
    for (int i = 0; i < s->buckets; i++) {
        param[i] = mt_zeros(MT_SHAPE(GRADIENTS / s->buckets), MT_F32, MT_CPU);
        param[i]->requires_grad = true;
        mt_state_tensor(&list, param[i], "%d", i);
    }
    mt_tensor *block = mt_flat_gradients(&list);
    mt_status status = mt_ddp_new(&ddp, comm, &list, &(mt_ddp_config){ 4 * GRADIENTS / s->buckets, NULL, NULL });
    if (status == MT_OK)
        status = mt_barrier(comm);
    double begin = of.clock->now(of.clock);
    mt_ddp_begin(ddp, 1, 1);
    comm->channel->engine = &of.engine;
    of.clock->sleep(of.clock, forward);
    for (int i = s->buckets - 1; i >= 0; i--) {
        of.clock->sleep(of.clock, backward / s->buckets);
        param[i]->grad = mt_retain(param[i]->grad_memory);
        mt_grad_ready(param[i]);
    }
    if (status == MT_OK)
        status = mt_ddp_finish(ddp);
    if (comm->rank == 0)
        s->begin = begin, s->end = of.clock->now(of.clock), s->gradients = mt_f32(block);
    mt_ddp_free(ddp);
    for (int i = 0; i < s->buckets; i++) {
        mt_release(param[i]->grad);
        param[i]->grad = NULL;
        mt_release(param[i]);
    }
    mt_release(block);
    mt_state_free(&list);
    return status;
}

/* Rank 0 during a step: its forward and backward, and below them its buckets while they are sent. */
static void overlap(double y, int buckets)
{
    const double x = 90, second = 3700;
    step s = { .buckets = buckets };
    run_ranks(4, slow, train, &s);
    double done = s.begin + forward + backward, first[MOST], last[MOST];
    for (int b = 0; b < buckets; b++)
        first[b] = INFINITY, last[b] = 0;
    for (int i = 0; i < of.count[0]; i++) {
        const message *m = &of.noted[0][i];
        int64_t place = m->from - s.gradients;
        if (!m->is_send || place < 0 || place >= GRADIENTS) /* the number of samples of all ranks */
            continue;
        int b = buckets - 1 - (int)(place * buckets / GRADIENTS);
        first[b] = fmin(first[b], began(0, m));
        last[b] = fmax(last[b], began(0, m) + slow.latency + (double)m->bytes * slow.byte_time);
    }
    draw_text('t', 12, y, "%d bucket%s: %.1f ms exposed", buckets, buckets > 1 ? "s" : "", 1e3 * (s.end - done));
    draw_text('s', 12, y + 24, "computes");
    draw_text('s', 12, y + 24 + LANE, "sends");
    draw_box('b', .5, x, y + 10, forward * second, LANE, "forward");
    for (int b = 0; b < buckets; b++) {
        double wide = backward / buckets * second, sent = (last[b] - first[b]) * second;
        draw_box('a', 1 - 0.6 * b / MOST, x + forward * second + b * wide, y + 10, wide, LANE, wide > 18 ? "%d" : "",
                 b);
        draw_box('c', 1, x + (first[b] - s.begin) * second, y + 10 + LANE, sent, LANE, sent > 18 ? "%d" : "", b);
    }
    draw_line('x', x + (done - s.begin) * second, y + 6, x + (done - s.begin) * second, y + 14 + 2 * LANE);
    draw_line('d', x + (s.end - s.begin) * second, y + 6, x + (s.end - s.begin) * second, y + 14 + 2 * LANE);
}

static void buckets(void)
{
    for (int i = 0; i < 4; i++)
        overlap(28 + i * 76, 1 << 2 * i);
}

int main(int argc, char **argv)
{
    static const draw_picture pictures[] = {
        { "ring.svg", 320,
          "Ring of four ranks: which ranks are summed in each part after each step of reduce-scatter and all-gather",
          ring },
        { "trees.svg", 306, "Messages of an all-reduce by a tree on 8 ranks, and by doubling on 8 and on 5", trees },
        { "buckets.svg", 326,
          "A step of rank 0 with 1, 4, 16 and 64 buckets: what it computes, what it sends, and what is exposed",
          buckets },
        { 0 },
    };
    return draw_all(argc, argv, pictures);
}
