/* 13-choice.c -- how the checks of step 13.5 run: the laws, the choice, and what the communication thread does with it.
 * Rows: 13-data-parallel.c. */
#include "checks/13-data-parallel.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CALLS = 48 };
static const char *const names[] = { "ring", "tree", "doubling" }; /* as mt_algorithm */
static const collective kinds[] = { RING_ALL_REDUCE, TREE_ALL_REDUCE, DOUBLING_ALL_REDUCE };

typedef struct question {
    int ranks;
    int64_t bytes;
    mg_network network;
} question;

static question question_of(mt_rng *rng)
{
    question q = { .ranks = (int)mg_pick(rng, 1, (int64_t)1 << mg_pick(rng, 3, 20)),
                   .bytes = mt_rng_below(rng, (int64_t)1 << mg_pick(rng, 1, 42)) };
    q.network.latency = ldexp(1 + (double)mt_rng_uniform(rng), (int)mg_pick(rng, -20, -8));
    q.network.byte_time = ldexp(1 + (double)mt_rng_uniform(rng), (int)mg_pick(rng, -38, -24));
    return q;
}

static double law_of(const question *q, int algorithm)
{
    return mg_13_law(kinds[algorithm], q->ranks, (double)q->bytes, q->network);
}

static void describe(mg_run *run, const question *q)
{
    int64_t *ranks = mg_in(run, "size", MT_I64, MT_SHAPE(CALLS));
    int64_t *bytes = mg_in(run, "bytes", MT_I64, MT_SHAPE(CALLS));
    int64_t *latency = mg_in(run, "latency", MT_I64, MT_SHAPE(CALLS));
    int64_t *byte_time = mg_in(run, "byte_time", MT_I64, MT_SHAPE(CALLS));
    for (int i = 0; i < CALLS; i++) {
        ranks[i] = q[i].ranks;
        bytes[i] = q[i].bytes;
        memcpy(&latency[i], &q[i].network.latency, sizeof(double));
        memcpy(&byte_time[i], &q[i].network.byte_time, sizeof(double));
    }
}

void mg_13_seconds(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { NULL }, { "1 to 48 ranks", "the law holds for any number of ranks", true } };
    int algorithm = (int)((const choice_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        question q[CALLS];
        mg_begin(run, "mt_collective_seconds");
        mg_out(run, "seconds", MT_I64, MT_SHAPE(CALLS));
        int64_t *which = mg_in(run, "algorithm", MT_I64, MT_SHAPE(CALLS));
        for (int i = 0; i < CALLS; i++) {
            q[i] = question_of(mg_rng(run));
            q[i].ranks = t.is ? i + 1 : q[i].ranks;
            which[i] = algorithm;
        }
        describe(run, q);
        const int64_t *seconds = mg_call(run) ? mg_result(run, "seconds") : NULL;
        for (int i = 0; i < CALLS && seconds; i++) {
            double got, want = law_of(&q[i], algorithm);
            memcpy(&got, seconds + i, sizeof got);
            if (!(fabs(got - want) <= 1e-12 * want)) /* a few products and sums */
                mg_fail(run, "%s, %d ranks, %" PRId64 " bytes, latency %g s, %g s a byte: %.9g s, expected %.9g",
                        names[algorithm], q[i].ranks, q[i].bytes, q[i].network.latency, q[i].network.byte_time, got,
                        want);
        }
    }
}

static int best_of(const question *q)
{
    int best = 0;
    for (int a = 1; a < MT_COUNT(kinds); a++)
        if (law_of(q, a) < law_of(q, best))
            best = a;
    return best;
}

/* Whether another algorithm is so near to the best that rounding may choose it. */
static bool is_close(const question *q)
{
    int best = best_of(q), near = 0;
    for (int a = 0; a < MT_COUNT(kinds); a++)
        near += law_of(q, a) <= law_of(q, best) * (1 + 1e-9);
    return near > 1;
}

/* Near the size from which the ring is faster, on either side. */
static question at_crossover(mt_rng *rng)
{
    question q = question_of(rng);
    q.ranks = (int)mg_pick(rng, 3, 40);
    q.bytes = 1;
    while (best_of(&q) != 0)
        q.bytes *= 2;
    q.bytes = mt_max(q.bytes / 2 + mt_rng_below(rng, q.bytes), 1);
    return q;
}

/* The ring is slower than another, or faster, by about 1e-7 of its time: far above the rounding of both. */
static question by_little(mt_rng *rng)
{
    question q = at_crossover(rng);
    double low = 0, high = 1; /* latency: the ring sends the fewest bytes, and the most messages */
    q.network.latency = high;
    while (best_of(&q) == 0)
        q.network.latency = high *= 2;
    for (int i = 0; i < 100; i++) { /* to neighbours, however small they are */
        q.network.latency = (low + high) / 2;
        *(best_of(&q) == 0 ? &low : &high) = q.network.latency;
    }
    q.network.latency = high * (mt_rng_below(rng, 2) ? 1 + 0x1p-23 : 1 - 0x1p-23);
    return q;
}

/* The same ranks and bytes on a network on which another algorithm is the best: an answer for these two alone, kept
 * from the call before, is wrong. */
static question on_another_network(question q)
{
    for (int before = best_of(&q); best_of(&q) == before || is_close(&q);)
        q.network.latency *= before == 0 ? 2 : 0.5;
    return q;
}

/* What is special in the questions of a part. */
enum { ANY, CROSSOVER, LITTLE, NETWORK, ONE_RANK, NO_LATENCY, NO_TIME };

static question special(mt_rng *rng, int64_t is, const question *before)
{
    question q = is == CROSSOVER ? at_crossover(rng) : is == LITTLE ? by_little(rng) : question_of(rng);
    if (is == NETWORK)
        q = before ? on_another_network(*before) : at_crossover(rng);
    else if (is == ONE_RANK)
        q.ranks = 1;
    else if (is == NO_LATENCY)
        q = (question){ .ranks = 2, .bytes = q.bytes & ~(int64_t)1, .network = { 0, 0x1p-30 } };
    else if (is == NO_TIME)
        q.network = (mg_network){ 0, 0 };
    return q;
}

void mg_13_pick(mg_run *run, const void *one_case)
{
    enum { OTHERS = ~(1 << CHOICE_EQUAL), EQUAL = 1 << CHOICE_EQUAL };
    static const mg_idea tries[] = {
        { .rows = OTHERS },
        { "near the crossover", NULL, CROSSOVER, OTHERS },
        { "times that differ by 1e-7", "compare the times as doubles, as they are", LITTLE, OTHERS },
        { "the same message on another network", "keep nothing of an answer: the network may be another one", NETWORK },
        { "one rank", NULL, ONE_RANK, EQUAL },
        { "two ranks without a latency", NULL, NO_LATENCY, EQUAL },
        { "messages that take no time", NULL, NO_TIME, EQUAL },
    };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, ((const choice_case *)one_case)->about);) {
        question q[CALLS];
        mg_begin(run, "mt_collective_pick");
        mg_out(run, "algorithm", MT_I64, MT_SHAPE(CALLS));
        for (int i = 0; i < CALLS; i++)
            do
                q[i] = special(mg_rng(run), t.is, i % 2 ? &q[i - 1] : NULL);
            while (t.is < ONE_RANK && is_close(&q[i]));
        describe(run, q);
        const int64_t *algorithm = mg_call(run) ? mg_result(run, "algorithm") : NULL;
        for (int i = 0; i < CALLS && algorithm; i++) {
            int64_t got = algorithm[i], want = best_of(&q[i]);
            if (got != want)
                mg_fail(run,
                        "%d ranks, %" PRId64 " bytes, latency %g s, %g s a byte: ring %.6g s, tree %.6g s, doubling "
                        "%.6g s; the choice is %s, expected %s",
                        q[i].ranks, q[i].bytes, q[i].network.latency, q[i].network.byte_time, law_of(&q[i], 0),
                        law_of(&q[i], 1), law_of(&q[i], 2),
                        got >= 0 && got < MT_COUNT(names) ? names[got] : "none of them", names[want]);
        }
    }
}

/* The communication thread's all-reduce takes the least of the three times. */
void mg_13_chosen(mg_run *run, const void *one_case)
{
    (void)one_case;
    static const mg_idea tries[] = { { "short messages", NULL, .is = 1 }, { "long messages", NULL, .is = 8000 } };
    for (mg_ideas each = { 0 }; MG_NEXT(run, &each, tries, 0);)
        for (int ranks = 2; ranks <= 8; ranks++) {
            trial t = { .what = CHOSEN_ALL_REDUCE, .ranks = ranks, .dtype = MT_F32, .network = { 1e-4, 1e-8 } };
            t.n = ranks * mg_pick(mg_rng(run), each.is, each.is + 99);
            if (!mg_13_call(run, &t) || !mg_13_judge_values(run, &t) || !mg_13_judge_time(run, &t))
                return;
        }
}
