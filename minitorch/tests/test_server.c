/* test_server.c -- a parameter server: its weights, bytes and virtual time, the bound on staleness, and how staleness
 * limits the rate on a quadratic. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aborts.h"
#include "dist/server.h"
#include "on_ranks.h"

TestSuite(server, .timeout = 60);

enum { N = 5, MOST = 9, EVENTS = 4096 };

static const mt_network network = { .latency = 0.5e-3, .byte_time = 8e-9 };

typedef struct job {
    double lr, seconds[MOST - 1];
    const mt_server_event *events;
    int64_t count, cut; /* cut: events of a first call */
    float params[MOST][N];
    mt_traffic sent[MOST];
} job;

/* A worker, which takes as long as its speed says. */
typedef struct own {
    double seconds;
    float offset;
} own;

static mt_clock *now; /* of the run */

/* Of half the square of params - offset. */
static void compute(float *grad, const float *params, void *user)
{
    const own *o = user;
    now->sleep(now, o->seconds);
    for (int i = 0; i < N; i++)
        grad[i] = params[i] - o->offset;
}

static mt_status train(mt_comm *comm, void *user)
{
    job *j = user;
    float grad[N];
    own o = { comm->rank ? j->seconds[comm->rank - 1] : 0, (float)comm->rank };
    mt_server s = { N, j->params[comm->rank], grad, j->lr, compute, &o };
    MT_TRY(mt_server_run(comm, &s, j->events, j->cut));
    MT_TRY(mt_server_run(comm, &s, j->events + j->cut, j->count - j->cut));
    j->sent[comm->rank] = mt_comm_traffic(comm);
    return MT_OK;
}

static double train_on(job *j, int workers, mt_network wires)
{
    mt_wires w = { .clock = mt_clock_sim_new(), .network = wires };
    now = w.clock;
    cr_assert_eq(mt_ranks_run(workers + 1, &w, train, j), MT_OK, "%s", mt_last_error());
    double seconds = w.clock->now(w.clock);
    mt_clock_sim_free(w.clock);
    return seconds;
}

/* One element of the weights after the events, in double. */
static double weight_after(const job *j, double begin)
{
    double weight = begin, pulled[MOST] = { 0 };
    for (int64_t e = 0; e < j->count; e++) {
        int w = j->events[e].worker;
        if (j->events[e].is_push)
            weight -= j->lr * (pulled[w] - (w + 1));
        else
            pulled[w] = weight;
    }
    return weight;
}

Test(server, weights_bytes_and_time_are_those_of_the_events)
{
    static const double seconds[MOST - 1] = { 1, 1.5, 4, 0.25, 0.75, 1, 2, 8 };
    static const int64_t bounds[] = { 0, 1, 5, INT64_MAX };
    mt_server_event events[EVENTS];
    for (int workers = 1; workers < MOST; workers++)
        for (int b = 0; b < MT_COUNT(bounds); b++) {
            enum { UPDATES = 60 };
            job j = { .lr = 0.125, .events = events };
            int64_t pulls = 0;
            memcpy(j.seconds, seconds, sizeof seconds);
            j.count = mt_server_order(events, UPDATES, seconds, workers, bounds[b]);
            j.cut = j.count / 3;
            for (int i = 0; i < N; i++)
                j.params[0][i] = (float)i;
            double took = train_on(&j, workers, (mt_network){ 0 });
            cr_assert_eq(took, events[j.count - 1].seconds, "%d workers: %g s", workers, took);
            for (int i = 0; i < N; i++) /* at most 60 roundings of numbers below 16, of which none grows */
                cr_assert_float_eq(j.params[0][i], weight_after(&j, i), 60 * 16 * 0x1p-23);
            for (int64_t e = 0; e < j.count; e++)
                pulls += !events[e].is_push;
            int64_t pushed = 0;
            for (int w = 1; w <= workers; w++)
                pushed += j.sent[w].bytes;
            cr_assert_eq(pushed, 4 * N * UPDATES);
            cr_assert_eq(j.sent[0].bytes, 4 * N * pulls);
            cr_assert(bounds[b] > 0 || UPDATES % workers || pulls == UPDATES, "2 P bytes for each worker and round");
        }
}

Test(server, a_round_of_the_server_takes_a_message_after_the_other)
{
    mt_server_event events[EVENTS];
    for (int workers = 1; workers < MOST; workers++) {
        job j = { .events = events };
        for (int w = 0; w < workers; w++)
            j.seconds[w] = 1;
        j.count = mt_server_order(events, workers, j.seconds, workers, 0);
        memset(j.seconds, 0, sizeof j.seconds); /* a gradient takes nothing: only messages do */
        double law = 2 * workers * (network.latency + 4 * N * network.byte_time);
        cr_assert_float_eq(train_on(&j, workers, network), law, 1e-12);
    }
}

Test(server, the_bound_holds_and_bound_0_is_synchronous)
{
    static const double seconds[] = { 1, 0.3, 7, 0.5 };
    mt_server_event events[EVENTS];
    for (int64_t bound = 0; bound < 8; bound++) {
        int64_t count = mt_server_order(events, 400, seconds, 4, bound), pushed[4] = { 0 }, most = 0;
        for (int64_t e = 0; e < count; e++) {
            int64_t least = INT64_MAX;
            for (int w = 0; w < 4; w++)
                least = mt_min(least, pushed[w]);
            most = mt_max(most, pushed[events[e].worker] + events[e].is_push - least);
            pushed[events[e].worker] += events[e].is_push;
            cr_assert(bound > 0 || events[e].staleness < 4);
        }
        cr_assert_eq(most, bound + 1, "bound %d: a worker computes gradient number %d of its lead", (int)bound,
                     (int)most);
        cr_assert(bound > 0 || events[count - 1].seconds == 700);
    }
}

/* s + 1 workers of the same speed: each gradient misses the last s updates, but for the first ones. On a quadratic of
 * curvature 1, x' = x - lr x[-s], rates below 2 sin(pi / (2 (2 s + 1))) converge, and those above diverge. */
Test(server, staleness_lowers_the_largest_stable_rate)
{
    mt_server_event events[EVENTS];
    static const double seconds[] = { 1, 1, 1, 1, 1, 1, 1, 1 };
    for (int s = 0; s < 8; s++)
        for (int side = -1; side <= 1; side += 2) {
            double lr = 2 * sin(M_PI / (2 * (2 * s + 1))) * (1 + 0.05 * side), x = 1, pulled[8] = { 0 }, largest = 0;
            int64_t count = mt_server_order(events, 2000, seconds, s + 1, INT64_MAX);
            for (int64_t e = 0; e < count; e++) {
                cr_assert(!events[e].is_push || events[e].staleness == s || e < 3 * (s + 1));
                if (events[e].is_push)
                    x -= lr * pulled[events[e].worker];
                else
                    pulled[events[e].worker] = x;
                largest = e < count - 80 ? 0 : fmax(largest, fabs(x)); /* of the last periods */
            }
            cr_assert(side < 0 ? largest < 0.1 : largest > 10, "staleness %d, rate %g: %g", s, lr, largest);
        }
}

Test(server, refuses_what_is_no_run)
{
    mt_server_event events[EVENTS];
    double seconds[] = { 1, 0, 2 };
    ABORTS("worker 1 takes 0 s", mt_server_order(events, 1, seconds, 3, 0));
    ABORTS("0 workers", mt_server_order(events, 1, seconds, 0, 0));
    ABORTS("a bound of -1", mt_server_order(events, 1, seconds, 1, -1));
    cr_assert_eq(mt_server_order(events, 0, seconds, 1, 0), 0);
}
