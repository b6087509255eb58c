/* 13-choice.c -- how the checks of steps 13.5 and 13.22 run: the laws, the choice, and what the communication thread
 * does with it. * Rows: 13-data-parallel.c. */
#include "checks/13-data-parallel.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 48 };
static const char *const names[] = { "ring", "tree", "doubling", "hierarchical" }; /* as mt_algorithm */
static const collective kinds[] = { RING_ALL_REDUCE, TREE_ALL_REDUCE, DOUBLING_ALL_REDUCE };

typedef struct question {
    int ranks;
    int64_t bytes;
    mg_network network;
    mg_nodes nodes; /* of step 13.22 */
} question;

static question question_of(mt_rng *rng)
{
    question q = { .ranks = (int)mg_pick(rng, 1, (int64_t)1 << mg_pick(rng, 3, 20)),
                   .bytes = mt_rng_below(rng, (int64_t)1 << mg_pick(rng, 1, 42)) };
    q.network.latency = ldexp(1 + (double)mt_rng_uniform(rng), (int)mg_pick(rng, -20, -8));
    q.network.byte_time = ldexp(1 + (double)mt_rng_uniform(rng), (int)mg_pick(rng, -38, -24));
    return q;
}

/* A step of a ring is as slow as its slowest message. Ranks whose numbers differ in a low bit are in one node, if it
 * has 2^k of them. */
static double law_of(const question *q, int algorithm)
{
    int node = q->nodes.size, count = node ? q->ranks / node : 0;
    double bytes = (double)q->bytes;
    if (algorithm == MT_COUNT(kinds))
        return mg_13_law(RING_ALL_REDUCE, node, bytes, q->nodes.inside) +
               mg_13_law(RING_ALL_REDUCE, count, bytes / node, q->network);
    if (algorithm > 0 && node && (node & (node - 1)) == 0)
        return mg_13_law(kinds[algorithm], node, bytes, q->nodes.inside) +
               mg_13_law(kinds[algorithm], count, bytes, q->network);
    return mg_13_law(kinds[algorithm], q->ranks, bytes, count == 1 ? q->nodes.inside : q->network);
}

static int algorithms_of(const question *q)
{
    return MT_COUNT(kinds) + (q->nodes.size > 0);
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
    if (q[0].nodes.size == 0)
        return;
    int64_t *node = mg_in(run, "node", MT_I64, MT_SHAPE(CALLS));
    latency = mg_in(run, "inside latency", MT_I64, MT_SHAPE(CALLS));
    byte_time = mg_in(run, "inside byte_time", MT_I64, MT_SHAPE(CALLS));
    for (int i = 0; i < CALLS; i++) {
        node[i] = q[i].nodes.size;
        memcpy(&latency[i], &q[i].nodes.inside.latency, sizeof(double));
        memcpy(&byte_time[i], &q[i].nodes.inside.byte_time, sizeof(double));
    }
}

static const char *words_of(const question *q, char words[200])
{
    int used = snprintf(words, 200, "%d ranks, %" PRId64 " bytes, latency %g s, %g s a byte", q->ranks, q->bytes,
                        q->network.latency, q->network.byte_time);
    if (q->nodes.size)
        snprintf(words + used, 200 - (size_t)used, ", nodes of %d, inside %g s, %g s a byte", q->nodes.size,
                 q->nodes.inside.latency, q->nodes.inside.byte_time);
    return words;
}

/* The times of so many algorithms. */
static void ask_seconds(mg_run *run, const char *function, const question *q, const int *algorithm)
{
    char words[200];
    mg_begin(run, function);
    mg_out(run, "seconds", MT_I64, MT_SHAPE(CALLS));
    int64_t *which = mg_in(run, "algorithm", MT_I64, MT_SHAPE(CALLS));
    for (int i = 0; i < CALLS; i++)
        which[i] = algorithm[i];
    describe(run, q);
    const int64_t *seconds = mg_call(run) ? mg_result(run, "seconds") : NULL;
    for (int i = 0; i < CALLS && seconds; i++) {
        double got, want = law_of(&q[i], algorithm[i]);
        memcpy(&got, seconds + i, sizeof got);
        if (!(fabs(got - want) <= 1e-12 * want)) /* a few products and sums */
            mg_fail(run, "%s, %s: %.9g s, expected %.9g", names[algorithm[i]], words_of(&q[i], words), got, want);
    }
}

void mg_13_seconds(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { NULL }, { "1 to 48 ranks", "the law holds for any number of ranks", true } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        question q[CALLS];
        int algorithm[CALLS];
        for (int i = 0; i < CALLS; i++) {
            q[i] = question_of(mg_rng(run));
            q[i].ranks = t.is ? i + 1 : q[i].ranks;
            algorithm[i] = (int)((const choice_case *)one_case)->about;
        }
        ask_seconds(run, "mt_collective_seconds", q, algorithm);
    }
}

/* What is special in nodes. */
enum { POWER_OF_TWO = 100, OTHER_NODES, ONE_NODE, NODES_OF_ONE };

static question in_nodes(mt_rng *rng, int64_t is)
{
    question q = question_of(rng);
    int count = is == ONE_NODE ? 1 : (int)mg_pick(rng, 2, 40), node = 1 << mg_pick(rng, 1, 5);
    if (is == OTHER_NODES)
        node = (int)mg_pick(rng, 0, 1) ? 3 << mg_pick(rng, 0, 3) : 2 * (int)mg_pick(rng, 1, 9) + 1;
    else if (is == NODES_OF_ONE)
        node = 1;
    q.ranks = node * count;
    q.nodes.size = node;
    q.nodes.inside.latency = q.network.latency * (double)mt_rng_uniform(rng);
    q.nodes.inside.byte_time = q.network.byte_time * (double)mt_rng_uniform(rng);
    return q;
}

void mg_13_hierarchical_seconds(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { NULL, NULL, POWER_OF_TWO },
                                     { "nodes of 3, 5, 6 ... ranks", NULL, OTHER_NODES },
                                     { "one node", "there is no message between nodes", ONE_NODE },
                                     { "nodes of one rank", "there is no message inside of a node", NODES_OF_ONE } };
    choice_about about = ((const choice_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        question q[CALLS];
        int algorithm[CALLS];
        for (int i = 0; i < CALLS; i++) {
            q[i] = in_nodes(mg_rng(run), t.is);
            algorithm[i] = about == CHOICE_TREE ? 1 + i % 2 : about == CHOICE_RING ? 0 : MT_COUNT(kinds);
        }
        ask_seconds(run, "mt_hierarchical_seconds", q, algorithm);
    }
}

static int best_of(const question *q)
{
    int best = 0;
    for (int a = 1; a < algorithms_of(q); a++)
        if (law_of(q, a) < law_of(q, best))
            best = a;
    return best;
}

/* Whether another algorithm is so near to the best that rounding may choose it. */
static bool is_close(const question *q)
{
    int best = best_of(q), near = 0;
    for (int a = 0; a < algorithms_of(q); a++)
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

static void ask_pick(mg_run *run, const char *function, const question *q)
{
    char words[200], times[120];
    mg_begin(run, function);
    mg_out(run, "algorithm", MT_I64, MT_SHAPE(CALLS));
    describe(run, q);
    const int64_t *algorithm = mg_call(run) ? mg_result(run, "algorithm") : NULL;
    for (int i = 0; i < CALLS && algorithm; i++) {
        int64_t got = algorithm[i], want = best_of(&q[i]);
        if (got == want)
            continue;
        for (int a = 0, used = 0; a < algorithms_of(&q[i]); a++)
            used += snprintf(times + used, sizeof times - (size_t)used, "%s%s %.6g s", a ? ", " : "", names[a],
                             law_of(&q[i], a));
        mg_fail(run, "%s: %s; the choice is %s, expected %s", words_of(&q[i], words), times,
                got >= 0 && got < algorithms_of(&q[i]) ? names[got] : "none of them", names[want]);
    }
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
        for (int i = 0; i < CALLS; i++)
            do
                q[i] = special(mg_rng(run), t.is, i % 2 ? &q[i - 1] : NULL);
            while (t.is < ONE_RANK && is_close(&q[i]));
        ask_pick(run, "mt_collective_pick", q);
    }
}

/* Near the size from which the hierarchy is faster than doubling, on either side. */
static question at_nodes_crossover(mt_rng *rng)
{
    question q = in_nodes(rng, POWER_OF_TWO);
    q.bytes = 1;
    while (best_of(&q) != MT_COUNT(kinds))
        q.bytes *= 2;
    q.bytes = mt_max(q.bytes / 2 + mt_rng_below(rng, q.bytes), 1);
    return q;
}

/* Numbers with which the times of 2^k ranks are exact in doubles, in whatever order their terms are added. */
static question exact(question q)
{
    double *times[] = { &q.network.latency, &q.network.byte_time, &q.nodes.inside.latency, &q.nodes.inside.byte_time };
    for (int i = 0; i < MT_COUNT(times); i++)
        *times[i] = ceil(*times[i] * 0x1p44) * 0x1p-44;
    q.bytes = mt_ceil_div(q.bytes % (1 << 24), q.ranks) * q.ranks;
    return q;
}

static bool is_power_of_two(int n)
{
    return (n & (n - 1)) == 0;
}

/* In one node, and in nodes of one rank, a hierarchy is a ring. */
void mg_13_hierarchical_pick(mg_run *run, const void *one_case)
{
    enum { CROSSOVER_OF_NODES = 200, OTHERS = 1 << CHOICE_PICK, EQUAL = 1 << CHOICE_EQUAL };
    static const mg_idea tries[] = {
        { NULL, NULL, POWER_OF_TWO, OTHERS },
        { "near the crossover", NULL, CROSSOVER_OF_NODES, OTHERS },
        { "nodes of 3, 5, 6 ... ranks", NULL, OTHER_NODES, OTHERS },
        { "one node", NULL, ONE_NODE, EQUAL },
        { "nodes of one rank", NULL, NODES_OF_ONE, EQUAL },
    };
    int about = (int)((const choice_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        question q[CALLS];
        for (int i = 0; i < CALLS; i++)
            do
                q[i] = t.is == CROSSOVER_OF_NODES ? at_nodes_crossover(mg_rng(run))
                       : about == CHOICE_EQUAL    ? exact(in_nodes(mg_rng(run), t.is))
                                                  : in_nodes(mg_rng(run), t.is);
            while (about == CHOICE_EQUAL ? best_of(&q[i]) != 0 || !is_power_of_two(q[i].ranks) : is_close(&q[i]));
        ask_pick(run, "mt_hierarchical_pick", q);
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
