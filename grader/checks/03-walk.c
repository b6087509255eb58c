/* 03-walk.c -- how the checks of lab 03 run that walk backward through a graph (steps 03.5 to 03.8): the visits, their
 * order, the gradients, what is announced. Rows: 03-autograd.c. */
#include "checks/03-autograd.h"
#include "checks/fill.h"
#include "rows/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 }; /* of each part of a row, with a new graph each time */

mg_graph *mg_03_random(mg_run *run, int64_t S)
{
    return mg_graph_random(mg_rng(run), S, (int)mg_pick(mg_rng(run), 22, 48));
}

mg_graph *mg_03_diamonds(mg_run *run, int64_t S)
{
    return mg_graph_diamonds(mg_rng(run), mt_min(S, 3), (int)mg_pick(mg_rng(run), 16, 20));
}

mg_graph *mg_03_reused(mg_run *run, int64_t S)
{
    return mg_graph_reused(mg_rng(run), S);
}

mg_graph *mg_03_cut(mg_run *run, int64_t S)
{
    return mg_graph_cut(mg_rng(run), S);
}

/* The leaves' gradients after all passes, and their bounds, in the order of the leaves. */
static void want_grads(const mg_graph *g, int passes, double *want, double *tolerance)
{
    int64_t size = g->S * g->S, at = 0;
    for (int i = 0; i < g->count; i++)
        for (int64_t n = 0; g->row[i][0] == MG_LEAF && n < size; n++, at++) {
            mt_approx once = g->grad[i][n];
            want[at] = passes * once.value;
            tolerance[at] = passes * once.error + mt_tolerance(passes, fabs(passes * once.value));
        }
}

static bool expect_leaves(mg_run *run, const char *name, const mg_graph *g, int passes)
{
    size_t n = (size_t)(g->leaves * g->S * g->S);
    double *want = calloc(2 * n, sizeof *want);
    MT_CHECK(want, "out of memory");
    want_grads(g, passes, want, want + n);
    bool good = mg_expect(run, name, want, want + n);
    free(want);
    return good;
}

static int64_t visits_wanted(const mg_graph *g, int i, int passes)
{
    return g->reached[i] && mg_graph_records(g, i) ? passes : 0;
}

/* Gradients that are not judged by visits: a walk that is wrong makes them wrong too. */
static void hint_at_walk(mg_run *run, const mg_graph *g, int passes)
{
    const int64_t *visits = mg_result(run, "visits");
    for (int i = 0; i < g->count; i++)
        if (visits[i] != visits_wanted(g, i, passes)) {
            mg_hint(run, "nodes are visited too often, or never: mend the rows of 03.5, 03.7 and 03.8 first");
            return;
        }
}

static bool expect_visits(mg_run *run, const mg_graph *g, int passes, bool freed)
{
    const int64_t *visits = mg_result(run, "visits");
    bool any = false;
    for (int i = 0; i < g->count; i++)
        any |= visits[i];
    if (!any && !freed && g->S > 0)
        mg_hint(run, "no op's backward ran (03.8): mt_node_backward needs node->grad, which mt_node_consume frees");
    for (int i = 0; i < g->count; i++) {
        int64_t want = visits_wanted(g, i, passes);
        if (visits[i] == want)
            continue;
        if (any && !freed && g->S > 0 && visits[i] == 0)
            mg_hint(run,
                    "a node is visited when its count has come down to 0 (03.5) and an op has added to its gradient "
                    "(03.6: mt_grad_of_input keeps the array that it returns in edge->node->grad)");
        mg_fail(run, "the node of %s was visited %lld times   expected %lld", mg_graph_text(g, i), (long long)visits[i],
                (long long)want);
        return false;
    }
    return true;
}

/* Backward visits a value only after all reached values that use it. */
static bool expect_order(mg_run *run, const mg_graph *g)
{
    const int64_t *order = mg_result(run, "order");
    for (int i = 0; i < g->count; i++)
        for (int k = 1; g->reached[i] && mg_graph_records(g, i) && k <= mg_graph_operands(g, i); k++) {
            int64_t used = g->row[i][k];
            if (!g->wants[used] || !mg_graph_records(g, (int)used) || order[used] > order[i])
                continue;
            mg_fail(run, "the node of v%lld was visit %lld, before a node that uses it: %s, visit %lld",
                    (long long)used, (long long)order[used], mg_graph_text(g, i), (long long)order[i]);
            return false;
        }
    return true;
}

static bool expect_recorded(mg_run *run, const mg_graph *g)
{
    const int64_t *recorded = mg_result(run, "recorded");
    for (int i = 0; i < g->count; i++) {
        bool want = g->wants[i] && mg_graph_records(g, i);
        if (recorded[i] == want)
            continue;
        mg_fail(run, "%s %s", mg_graph_text(g, i), want ? "has no node, but needs a gradient" : "has a node");
        return false;
    }
    return true;
}

/* A leaf is complete when the last of its users has been visited. */
static int64_t complete_at(const mg_graph *g, const int64_t *order, int leaf)
{
    int64_t last = 0;
    for (int i = 0; i < g->count; i++)
        for (int k = 1; g->reached[i] && mg_graph_records(g, i) && k <= mg_graph_operands(g, i); k++)
            if (g->row[i][k] == leaf)
                last = mt_max(last, order[i]);
    return last;
}

static bool expect_news(mg_run *run, const mg_graph *g, int passes)
{
    const int64_t *order = mg_result(run, "order"), *told = mg_result(run, "told"), *at = mg_result(run, "told_at");
    for (int i = 0, leaf = 0; i < g->count; i++) {
        if (g->row[i][0] != MG_LEAF)
            continue;
        int64_t want = g->reached[i] ? passes : 0, when = complete_at(g, order, i);
        if (told[leaf] != want)
            mg_fail(run, "leaf v%d was announced %lld times   expected %lld", i, (long long)told[leaf],
                    (long long)want);
        else if (want && at[leaf] != when)
            mg_fail(run, "leaf v%d was announced after %lld visits   expected %lld, the visit of its last user", i,
                    (long long)at[leaf], (long long)when);
        if (told[leaf] != want || (want && at[leaf] != when))
            return false;
        leaf++;
    }
    return expect_leaves(run, "grads when announced", g, passes);
}

static void describe_graph(mg_run *run, const mg_graph *g, int passes, bool freed)
{
    int64_t size = g->S * g->S;
    mt_shape leaves = MT_SHAPE(g->leaves, g->S, g->S), rows = MT_SHAPE(g->count), each = MT_SHAPE(g->leaves);
    char words[600];
    mg_graph_words(g, words, sizeof words);
    mg_begin(run, "backward through a graph");
    mg_as_called(run, "mt_backward(loss) through a graph of %d matrices of %" PRId64 " x %" PRId64 "%s", g->count, g->S,
                 g->S,
                 passes > 1 ? ", twice"
                 : freed    ? ", whose inner values were freed"
                            : "");
    mg_in_words(run, "the graph: %s", words);
    mg_out(run, "grads", MT_F32, leaves);
    mg_out(run, "grads when announced", MT_F32, leaves);
    mg_out(run, "visits", MT_I64, rows);
    mg_out(run, "order", MT_I64, rows);
    mg_out(run, "recorded", MT_I64, rows);
    mg_out(run, "told", MT_I64, each);
    mg_out(run, "told_at", MT_I64, each);
    memcpy(mg_in(run, "graph", MT_I64, MT_SHAPE(g->count, MG_GRAPH_COLUMNS)), g->row,
           sizeof g->row[0] * (size_t)g->count);
    memcpy(mg_in(run, "data", MT_F32, MT_SHAPE(g->arrays, g->S, g->S)), g->data,
           sizeof *g->data * (size_t)(g->arrays * size));
    mg_i64(run, "S", g->S);
    mg_i64(run, "passes", passes);
    mg_i64(run, "inner_values_freed", freed);
}

#define FREED                                                                                                    \
    "the inner values were freed before backward, as by a function that returns only the loss: node->result is " \
    "NULL then, and all that backward needs is in nodes and edges"

#define EMPTY "a gradient without elements is a gradient, too: visit the nodes of empty matrices like all others"

static bool graph_once(mg_run *run, const char *part, const graph_case *c, mg_graph *g, bool freed)
{
    mg_part(run, part, freed ? FREED : g->S == 0 ? EMPTY : NULL);
    mg_graph_differentiate(g);
    describe_graph(run, g, c->passes, freed);
    bool good = mg_call(run);
    if (good && c->looks == LOOK_GRADS)
        hint_at_walk(run, g, c->passes);
    good = good && (!(c->looks & LOOK_RECORDED) || expect_recorded(run, g)) &&
           (!(c->looks & LOOK_VISITS) || expect_visits(run, g, c->passes, freed)) &&
           (!(c->looks & LOOK_ORDER) || expect_order(run, g)) &&
           (!(c->looks & LOOK_GRADS) || expect_leaves(run, "grads", g, c->passes)) &&
           (!(c->looks & LOOK_NEWS) || expect_news(run, g, c->passes));
    mg_graph_free(g);
    return good;
}

/* Counts are judged with right gradients only: else the error of another step would be said. A graph whose inner values
 * are freed is right when they are not: its hint is about that. */
void mg_03_graph(mg_run *run, const void *one_case)
{
    const graph_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    bool unwritten = mg_build_unwritten(&run->bench->build, &run->bench->info, "03.5");
    bool good = !(c->looks & LOOK_ORDER) || unwritten || mg_03_buffers_right(run);
    if (good && c->make == mg_03_random)
        good = graph_once(run, "a small graph", c, mg_graph_random(rng, 2, (int)mg_pick(rng, 13, 15)), false);
    for (int t = 0; t < 2 * CALLS && good; t++)
        good = graph_once(run, NULL, c, c->make(run, mg_pick(rng, 1, 6)), false);
    if (good && c->make == mg_03_reused)
        good = graph_once(run, "values used 300 times", c, mg_graph_many(rng, mg_pick(rng, 1, 2), 300), false);
    if (good && c->looks & LOOK_VISITS)
        good = graph_once(run, "empty matrices", c, c->make(run, 0), false);
    for (int t = 0; t < CALLS && good; t++)
        good = graph_once(run, "inner values freed", c, c->make(run, mg_pick(rng, 1, 6)), true);
}
