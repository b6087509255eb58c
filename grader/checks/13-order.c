/* 13-order.c -- how the checks of step 13.24 run: the order of pulls and pushes. Rows: 13-data-parallel.c.
 *
 * The expected order comes from a recursion: worker w pulls for its gradient number c at the time of its own push c - 1
 * or, if that is later, of everybody's push c - 1 - bound. Times are multiples of 2^-20 s: their sums are exact in
 * double, and not in float. */
#include "checks/13-order.h"
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/worlds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order that is expected -------------------------------------------------------------------------- */

typedef struct push {
    double at;
    int64_t worker, number; /* number: of its worker, from 0 on */
} push;

static int earlier(const void *left, const void *right)
{
    const push *a = left, *b = right;
    return a->at != b->at ? (a->at > b->at ? 1 : -1) : (int)(a->worker - b->worker);
}

/* All pushes that may be among the first ones, in order. */
static push *pushes_of(const mg_server_plan *p)
{
    int64_t all = p->workers * p->updates;
    double *ends = mg_doubles(all); /* [updates, workers] */
    push *out = mt_calloc(all, sizeof *out);
    for (int64_t c = 0; c < p->updates; c++)
        for (int64_t w = 0; w < p->workers; w++) {
            double begins = c > 0 ? ends[(c - 1) * p->workers + w] : 0;
            for (int64_t v = 0; v < p->workers && c - 1 >= p->bound; v++)
                begins = fmax(begins, ends[(c - 1 - p->bound) * p->workers + v]);
            ends[c * p->workers + w] = begins + p->seconds[w];
            out[c * p->workers + w] = (push){ ends[c * p->workers + w], w, c };
        }
    qsort(out, (size_t)all, sizeof *out, earlier);
    free(ends);
    return out;
}

/* Behind which push worker w pulls for its gradient number c; -1: at the beginning. at: [updates, workers] the place of
 * each push in their order. */
static int64_t pull_behind(const mg_server_plan *p, const int64_t *at, int64_t w, int64_t c)
{
    int64_t last = c > 0 ? at[(c - 1) * p->workers + w] : -1;
    for (int64_t v = 0; v < p->workers && c - 1 >= p->bound; v++)
        last = mt_max(last, at[(c - 1 - p->bound) * p->workers + v]);
    return last;
}

void mg_13_expect_order(mg_server_plan *p)
{
    int64_t next[MG_RANKS] = { 0 }, behind[MG_RANKS] = { 0 };
    push *order = pushes_of(p);
    int64_t *at = mt_calloc(p->workers * p->updates, sizeof *at);
    for (int64_t i = 0; i < p->workers * p->updates; i++)
        at[order[i].number * p->workers + order[i].worker] = i;
    p->events = mt_calloc(2 * p->updates + p->workers, sizeof *p->events);
    p->count = 0;
    for (int64_t i = -1; i < p->updates; i++) {
        if (i >= 0) {
            int64_t w = order[i].worker;
            p->events[p->count++] = (mg_event){ order[i].at, i - behind[w] - 1, (int32_t)w, true };
        }
        for (int w = 0; w < p->workers && i < p->updates - 1; w++)
            if (next[w] < p->updates && pull_behind(p, at, w, next[w]) == i) {
                p->events[p->count++] = (mg_event){ .seconds = i < 0 ? 0 : order[i].at, .worker = w };
                behind[w] = i;
                next[w]++;
            }
    }
    free(order);
    free(at);
}

/* ---- 13.24 ------------------------------------------------------------------------------------------------ */

static const char *event_words(char words[120], const mg_event *e)
{
    int used = snprintf(words, 120, "worker %" PRId32 " %s at %.13g s", e->worker, e->is_push ? "pushes" : "pulls",
                        e->seconds);
    if (e->is_push)
        snprintf(words + used, 120 - (size_t)used, ", staleness %" PRId64, e->staleness);
    return words;
}

static bool same(const mg_event *a, const mg_event *b)
{
    return a->seconds == b->seconds && a->staleness == b->staleness && a->worker == b->worker &&
           a->is_push == b->is_push;
}

static bool judge_order(mg_run *run, const mg_server_plan *p)
{
    const mg_event *got = mg_result(run, "events");
    int64_t count = *(const int64_t *)mg_result(run, "count");
    char is[120], want[120];
    for (int64_t e = 0; e < p->count; e++)
        if (!same(&got[e], &p->events[e]))
            return mg_fail(run, "event %" PRId64 " of %" PRId64 ": %s; expected: %s", e, p->count,
                           event_words(is, &got[e]), event_words(want, &p->events[e]));
    return count == p->count || mg_fail(run, "the number of events is %" PRId64 ", expected %" PRId64, count, p->count);
}

static void describe_order(mg_run *run, const mg_server_plan *p)
{
    mg_begin(run, "mt_server_order");
    mg_out(run, "events", MT_I64, MT_SHAPE(2 * p->updates + p->workers, MG_EVENT_WORDS));
    mg_out(run, "count", MT_I64, MT_SHAPE(1));
    memcpy(mg_in(run, "seconds", MT_I64, MT_SHAPE(p->workers)), p->seconds, (size_t)p->workers * sizeof *p->seconds);
    mg_i64(run, "updates", p->updates);
    mg_i64(run, "bound", p->bound);
    mg_as_called(run, "mt_server_order(events, updates=%" PRId64 ", seconds, workers=%d, bound=%" PRId64 ")",
                 p->updates, p->workers, p->bound);
    char words[160] = "";
    for (int w = 0; w < p->workers && w < 8; w++)
        snprintf(words + strlen(words), sizeof words - strlen(words), "%s%.9g", w ? ", " : "", p->seconds[w]);
    mg_in_words(run, "seconds of the first workers: %s", words);
}

enum { ANY, ONE, MANY, NONE, FEW, LONG, SLOW, ZERO, NEVER, NEAR }; /* what is special in a plan */

/* Equal times: all workers take as long, or one, two or four times as long. */
void mg_13_draw_seconds(mt_rng *rng, mg_server_plan *p, bool equal, bool slow)
{
    int64_t unit = mg_pick(rng, 1, 1 << 20), most = mg_pick(rng, 0, 2);
    for (int w = 0; w < p->workers; w++)
        p->seconds[w] = 0x1p-20 * (double)(equal ? unit << mg_pick(rng, 0, most) : mg_pick(rng, 1 << 16, 10 << 20));
    if (slow)
        p->seconds[mt_rng_below(rng, p->workers)] = 1000;
}

static mg_server_plan draw_plan(mt_rng *rng, server_about about, int64_t is)
{
    mg_server_plan p = { .workers = is == ONE    ? 1
                                    : is == MANY ? mg_world(rng, MG_WORLD_MANY)
                                    : is == SLOW ? 2
                                                 : (int)mg_pick(rng, 2, 7),
                         .updates = is == NONE   ? 0
                                    : is == FEW  ? 1
                                    : is == LONG ? 3000
                                    : is == MANY ? 150
                                    : is == SLOW ? 400
                                                 : mg_pick(rng, 12, 60),
                         .bound = INT64_MAX };
    if (about != ORDER_SPEEDS)
        p.bound = is == ZERO ? 0 : is == NEVER ? INT64_MAX : is == SLOW ? 300 : mg_pick(rng, 1, 4);
    mg_13_draw_seconds(rng, &p, about == ORDER_EQUAL, is == SLOW);
    for (int w = 0; w < p.workers && is == NEAR; w++)
        p.seconds[w] += 0x1p-34 * (p.workers - w);
    mg_13_expect_order(&p);
    return p;
}

void mg_13_server_order(mg_run *run, const void *one_case)
{
    enum { SPEEDS = 1 << ORDER_SPEEDS, BOUND = 1 << ORDER_BOUND, EQUAL = 1 << ORDER_EQUAL };
    static const mg_idea tries[] = {
        { .times = 6 },
        { "one worker", "one worker pulls and pushes in turn, and never waits", ONE },
        { "no updates", "without a push there is no event", NONE },
        { "one update", "all workers pull at time 0; nothing follows the last push", FEW },
        { "bound 0", "with bound 0 a worker waits until all have pushed as often as it has", ZERO, BOUND | EQUAL, 3 },
        { "no bound", "the bound may be INT64_MAX: no int64_t has a sum with it", NEVER, BOUND | EQUAL, 2 },
        { "one worker is much slower", "a worker may be ahead by as many pushes as the bound says", SLOW, ~EQUAL },
        { "nearly the same time", "times are compared as they are: 0.06 ns earlier is earlier", NEAR, EQUAL, 3 },
        { "many updates", "the times of a worker are added up from the first pull on", LONG, SPEEDS | BOUND },
        { "many workers", "there may be any number of workers", MANY },
    };
    server_about about = ((const server_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        mg_server_plan p = draw_plan(mg_rng(run), about, t.is);
        describe_order(run, &p);
        if (mg_call(run))
            judge_order(run, &p);
        free(p.events);
    }
}
