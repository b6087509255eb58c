/* bench_server.c -- a parameter server beside a ring, what a bound on staleness costs, and with --train what staleness
 * does to training (lab 13's experiments).
 *
 *     build/release/bin/bench_server            bytes and virtual time of one round; updates of workers of two speeds
 *     build/release/bin/bench_server --train    rates and updates of a small network at staleness 0, 1, 4 and 16
 *
 * Ranks are threads on a simulated clock: the first two tables are exact, the same in every run. In the third, s + 1
 * workers that are equally fast push in turn, and wait for nobody: each gradient misses the last s updates. The network
 * learns the classes of another one with random weights. Rates are powers of the root of 2, of which the largest is
 * one that reaches the loss, beside that of a quadratic of curvature 1. The last line is for programs:
 * `bench_server: worst=1.000`, the largest time over its law. */
#include "testing/clock_sim.h"
#include "bench/bench.h"
#include "dist/collectives.h"
#include "dist/server.h"
#include "dist/threads.h"
#include "kernels/manual_mlp.h"

#include <inttypes.h>
#include <math.h>
#include <omp.h>

typedef struct options {
    int64_t bytes, limit, seed;
    double latency, byte_time, loss, small;
    bool train;
} options;

static const mt_option flags[] = {
    { "bytes", 'n', "BYTES", MT_I64(options, bytes, 4, 1 << 28), "Bytes of the parameters (4194304)" },
    { "latency", 0, "S", MT_F64(options, latency, 0, 10), "Seconds of a message of 0 bytes (0.0005)" },
    { "byte-time", 0, "S", MT_F64(options, byte_time, 0, 1), "Seconds a byte more (8e-9)" },
    { "train", 't', NULL, MT_FLAG(options, train), "Train a small network with each staleness" },
    { "loss", 0, "X", MT_F64(options, loss, 0, 10), "Loss that training is to reach (0.7)" },
    { "small", 0, "RATE", MT_F64(options, small, 0, 10), "Rate that is small for every staleness (0.02)" },
    { "limit", 0, "N", MT_I64(options, limit, 1, 1000000), "Most updates of a run (8000)" },
    { "seed", 's', "N", MT_I64(options, seed, 0, INT64_MAX), "Seed of weights and samples (1)" },
    { 0 },
};

/* ---- one round of all workers -------------------------------------------------------------------- */

enum { MOST = 17 };

typedef struct job {
    int64_t n, count;
    const mt_server_event *events; /* NULL: a ring */
    mt_traffic sent[MOST];
} job;

static void no_gradient(float *grad, const float *params, void *user)
{
    (void)grad, (void)params, (void)user;
}

static mt_status run_round(mt_comm *comm, void *user)
{
    job *j = user;
    float *data = mt_calloc(2 * j->n, sizeof *data);
    mt_server s = { .n = j->n, .params = data, .grad = data + j->n, .compute = no_gradient };
    mt_status status =
        j->events ? mt_server_run(comm, &s, j->events, j->count) : mt_ring_all_reduce(comm, data, j->n, MT_F32, MT_SUM);
    j->sent[comm->rank] = mt_comm_traffic(comm);
    free(data);
    return status;
}

static double seconds_of(const options *o, int ranks, job *j)
{
    mt_wires wires = { .clock = mt_clock_sim_new(), .network = { o->latency, o->byte_time } };
    mt_status status = mt_ranks_run(ranks, &wires, run_round, j);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    double seconds = wires.clock->now(wires.clock);
    mt_clock_sim_free(wires.clock);
    return seconds;
}

/* Each worker pulls once and pushes once. */
static double print_links(const options *o)
{
    double worst = 0;
    printf("%.2f MB of parameters, latency %g ms, %g ns a byte: a pull and a push of each worker, and one ring\n"
           "workers   MB of the server's link   MB of a link of the ring   ms by the server   ms by the ring\n",
           (double)o->bytes * 1e-6, o->latency * 1e3, o->byte_time * 1e9);
    for (int workers = 2; workers < MOST; workers *= 2) {
        mt_server_event events[3 * MOST];
        double seconds[MOST];
        for (int w = 0; w < workers; w++)
            seconds[w] = 1;
        int64_t n = o->bytes / (int64_t)sizeof(float), sent = 0;
        job server = { n, mt_server_order(events, workers, seconds, workers, 0), events, { { 0 } } }, ring = { .n = n };
        double took = seconds_of(o, workers + 1, &server), by_ring = seconds_of(o, workers, &ring);
        double law = 2 * workers * (o->latency + 4 * (double)n * o->byte_time);
        for (int rank = 0; rank <= workers; rank++)
            sent += server.sent[rank].bytes;
        printf("%7d %25.2f %26.2f %18.3f %16.3f\n", workers, (double)sent * 1e-6, 1e-6 * (double)ring.sent[0].bytes,
               took * 1e3, by_ring * 1e3);
        worst = law > 0 ? fmax(worst, took / law) : worst;
    }
    return worst;
}

/* ---- workers of two speeds ----------------------------------------------------------------------- */

static void print_bounds(void)
{
    enum { WORKERS = 4, UPDATES = 4000 };
    static const double seconds[WORKERS] = { 1, 1, 1, 4 };
    static const int64_t bounds[] = { 0, 1, 4, 16, 256, INT64_MAX };
    mt_server_event *events = mt_calloc(2 * UPDATES + WORKERS, sizeof *events);
    printf("\n%d updates of %d workers, of which one takes 4 s for a gradient, the others 1 s\n"
           "bound    updates/s   staleness, mean   largest   part of the slow worker\n",
           UPDATES, WORKERS);
    for (int b = 0; b < MT_COUNT(bounds); b++) {
        int64_t count = mt_server_order(events, UPDATES, seconds, WORKERS, bounds[b]), sum = 0, most = 0, slow = 0;
        for (int64_t e = 0; e < count; e++) {
            sum += events[e].staleness;
            most = mt_max(most, events[e].staleness);
            slow += events[e].is_push && events[e].worker == WORKERS - 1;
        }
        if (bounds[b] == INT64_MAX)
            printf("none ");
        else
            printf("%-5" PRId64, bounds[b]);
        printf(" %12.3f %17.2f %9" PRId64 " %23.3f\n", UPDATES / events[count - 1].seconds, (double)sum / UPDATES, most,
               (double)slow / UPDATES);
    }
    free(events);
}

/* ---- training ------------------------------------------------------------------------------------ */

enum { INPUTS = 16, HIDDEN = 32, CLASSES = 8, BATCH = 32, JUDGED = 512, EVERY = 8 };

static const int64_t width[MT_MLP_LAYERS + 1] = { INPUTS, HIDDEN, CLASSES };

/* A run of the network, and what a rank has of it. */
typedef struct training {
    const options *o;
    const mt_server_event *events;
    int64_t count;
    double lr;
    int64_t updates; /* after which the loss is reached; 0: it is not */
} training;

typedef struct learner {
    mt_manual_mlp *mlp, *teacher;
    mt_rng rng;
    float x[JUDGED * INPUTS];
    int32_t label[JUDGED];
} learner;

static void draw_samples(learner *l, int64_t count)
{
    mt_rng_fill_normal(&l->rng, l->x, count * INPUTS, 0, 1);
    const float *logits = mt_manual_mlp_forward(l->teacher, l->x, count);
    for (int64_t i = 0; i < count; i++) {
        l->label[i] = 0;
        for (int c = 1; c < CLASSES; c++)
            l->label[i] = logits[i * CLASSES + c] > logits[i * CLASSES + l->label[i]] ? c : l->label[i];
    }
}

static void compute(float *grad, const float *params, void *user)
{
    learner *l = user;
    draw_samples(l, BATCH);
    memcpy(l->mlp->params, params, (size_t)l->mlp->count * sizeof *params);
    mt_manual_mlp_forward(l->mlp, l->x, BATCH);
    mt_manual_mlp_backward(l->mlp, l->x, l->label, BATCH);
    memcpy(grad, l->mlp->grads, (size_t)l->mlp->count * sizeof *grad);
}

static double loss_of(learner *l, const float *params)
{
    memcpy(l->mlp->params, params, (size_t)l->mlp->count * sizeof *params);
    mt_manual_mlp_forward(l->mlp, l->x, JUDGED);
    return mt_manual_mlp_backward(l->mlp, l->x, l->label, JUDGED);
}

static learner *new_learner(const options *o, int rank)
{
    learner *l = mt_calloc(1, sizeof *l);
    mt_rng teacher = mt_rng_new((uint64_t)o->seed, MT_STREAM_DATA),
           init = mt_rng_new((uint64_t)o->seed, MT_STREAM_INIT);
    l->mlp = mt_manual_mlp_new(width, JUDGED);
    l->teacher = mt_manual_mlp_new(width, JUDGED);
    mt_manual_mlp_init(l->teacher, &teacher);
    mt_manual_mlp_init(l->mlp, &init);
    l->rng = mt_rng_new((uint64_t)o->seed, MT_STREAM_USER + (uint64_t)rank);
    if (rank == 0)
        draw_samples(l, JUDGED); /* those that the loss is of */
    return l;
}

/* The events of EVERY updates at a time; then rank 0 looks at the loss, and says whether that was all. */
static mt_status train(mt_comm *comm, void *user)
{
    training *t = user;
    omp_set_num_threads(1);
    learner *l = new_learner(t->o, comm->rank);
    int64_t n = l->mlp->count, updates = 0;
    float *params = mt_calloc(2 * n, sizeof *params);
    int32_t over = 0;
    mt_server s = { n, params, params + n, t->lr, compute, l };
    memcpy(params, l->mlp->params, (size_t)n * sizeof *params);
    mt_status status = MT_OK;
    for (int64_t from = 0, to; status == MT_OK && !over && from < t->count; from = to) {
        int64_t before = updates;
        for (to = from; to < t->count && updates < before + EVERY; to++)
            updates += t->events[to].is_push;
        status = mt_server_run(comm, &s, t->events + from, to - from);
        double loss = comm->rank == 0 ? loss_of(l, params) : 0;
        over = !(loss > t->o->loss && loss < 100);
        if (comm->rank == 0 && loss <= t->o->loss)
            t->updates = updates;
        if (status == MT_OK)
            status = mt_broadcast(comm, &over, 1, MT_I32, 0, NULL);
    }
    mt_manual_mlp_free(l->mlp);
    mt_manual_mlp_free(l->teacher);
    free(params);
    free(l);
    return status;
}

/* The updates that it takes to reach the loss with so many workers; INFINITY: more than the limit. */
static double updates_of(const options *o, int workers, double lr)
{
    double seconds[MOST];
    mt_server_event *events = mt_calloc(2 * o->limit + workers, sizeof *events);
    for (int w = 0; w < workers; w++)
        seconds[w] = 1;
    training t = { o, events, mt_server_order(events, o->limit, seconds, workers, INT64_MAX), lr, 0 };
    mt_wires wires = { .clock = mt_clock_sim_new() };
    mt_status status = mt_ranks_run(workers + 1, &wires, train, &t);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    mt_clock_sim_free(wires.clock);
    free(events);
    return t.updates ? (double)t.updates : INFINITY;
}

/* The percentage by which a run needs more updates than the least; INFINITY: it did not reach the loss. */
static double more_than(double least, double updates)
{
    return updates < INFINITY ? 100 * (updates / least - 1) : INFINITY;
}

static void print_training(const options *o)
{
    static const int staleness[] = { 0, 1, 4, 16 };
    double least = 0, slow = 0;
    printf("\nupdates to a loss of %g\n"
           "staleness   largest rate (quadratic)   best rate   updates   more   at rate %-6g   more\n",
           o->loss, o->small);
    for (int i = 0; i < MT_COUNT(staleness); i++) {
        double largest = 0, best = INFINITY, rate = 0, small = updates_of(o, staleness[i] + 1, o->small);
        for (double lr = 4; lr > o->small && !(best < INFINITY && lr < rate / 4); lr *= M_SQRT1_2) {
            double updates = updates_of(o, staleness[i] + 1, lr);
            largest = largest > 0 || updates == INFINITY ? largest : lr;
            if (updates < best)
                best = updates, rate = lr;
        }
        least = i ? least : best, slow = i ? slow : small;
        printf("%9d %14.3f %11.3f %11.3f %9.0f %5.0f%% %14.0f %5.0f%%\n", staleness[i], largest,
               2 * sin(M_PI / (2 * (2 * staleness[i] + 1))), rate, best, more_than(least, best), small,
               more_than(slow, small));
    }
}

int main(int argc, char **argv)
{
    options o = {
        .bytes = 4 << 20, .limit = 8000, .seed = 1, .latency = 0.5e-3, .byte_time = 8e-9, .loss = 0.7, .small = 0.02
    };
    mt_cli_parse(argc, argv, "A parameter server, and asynchronous SGD.", flags, &o);
    double worst = print_links(&o);
    print_bounds();
    if (o.train)
        print_training(&o);
    printf("\nbench_server: worst=%.3f\n", worst);
    return 0;
}
