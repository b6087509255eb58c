/* 03-run.c -- how the checks of lab 03 run: recording, buffers, graphs; 03-whole.c has the others. Rows:
 * 03-autograd.c. */
#include "checks/03-autograd.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 }; /* of each row, with a new graph or inputs each time */

/* ---- recording --------------------------------------------------------------------------------------- */

/* Kinds of a few inputs, drawn from those the row allows. */
static int64_t *kinds(mg_run *run, const kinds_case *c, int64_t n)
{
    int64_t *kind = mg_in(run, "kind", MT_I64, MT_SHAPE(n));
    for (int64_t i = 0; i < n; i++)
        do
            kind[i] = mt_rng_below(mg_rng(run), MG_KINDS);
        while (!(c->some >> kind[i] & 1));
    int64_t place = mt_rng_below(mg_rng(run), n);
    for (int always = 0; always < MG_KINDS; always++)
        if (c->always >> always & 1)
            kind[place++ % n] = always;
    return kind;
}

void mg_03_wants(mg_run *run, const void *one_case)
{
    for (int t = 0; t < CALLS; t++) {
        int64_t n = mg_pick(mg_rng(run), 4, 12);
        double want[12];
        mg_begin(run, "mt_wants_grad");
        mg_out(run, "wants", MT_I64, MT_SHAPE(n));
        const int64_t *kind = kinds(run, one_case, n);
        for (int64_t i = 0; i < n; i++)
            want[i] = kind[i] != MG_PLAIN;
        mg_i64(run, "inside_no_grad", t % 2);
        if (t % 2)
            mg_hint(run, "inside no_grad a tensor needs a gradient as outside: mt_record asks mt_recording()");
        if (!mg_call(run))
            return;
        const int64_t *got = mg_result(run, "wants");
        for (int64_t i = 0; i < n; i++)
            if (kind[i] == MG_SPENT && !got[i])
                mg_hint(run, "this tensor's node was consumed by an earlier backward: it is computed from a parameter "
                             "all the same, and the next backward refuses it");
        if (!mg_expect(run, "wants", want, NULL))
            return;
    }
}

/* NULL if the edge of one input leads where it should, or if what it leads to is held as often as it is used, else a
 * description of the error. */
static const char *wrong_edge(const int64_t edge[4], int64_t kind, int64_t uses, bool holds)
{
    bool computed = kind != MG_PLAIN && kind != MG_ASKS, leaf = kind == MG_ASKS;
    if (!holds && edge[0] != computed)
        return kind == MG_SPENT ? "does not lead to its node, which an earlier backward consumed: the next one, which "
                                  "must abort, finds it by this edge"
               : computed       ? "does not lead to the node that computed it"
                                : "leads to a node, but nothing computed it";
    if (!holds && edge[1] != leaf)
        return leaf ? "does not lead to it, a leaf" : "leads to it, which is not a leaf that requires a gradient";
    if (holds && edge[2] != uses * (computed + leaf))
        return edge[2] > uses * (computed + leaf) ? "holds what it leads to more than once"
               : uses == 1                        ? "does not hold what it leads to"
                                                  : "or that of the last input, the same tensor, does not hold it";
    return holds || edge[3] ? NULL : "has another shape than it";
}

static bool judge_record(mg_run *run, const int64_t *kind, int64_t n, bool wanted, bool twice)
{
    const int64_t *made = mg_result(run, "made"), *edge = mg_result(run, "edge");
    bool whole = made[0] == wanted && made[1] == wanted && (!wanted || made[2] == n);
    if (made[0] != wanted)
        mg_fail(run, wanted ? "no node was made" : "a node was made, but no gradient is needed here");
    else if (made[1] != wanted)
        mg_fail(run, wanted ? "out->node is not the node that was returned" : "out->node is not NULL");
    else if (!whole)
        mg_fail(run, "the node has %lld edges   expected %lld, one per input", (long long)made[2], (long long)n);
    for (int64_t k = 0; wanted && whole && k < 2 * n; k++) {
        int64_t i = k % n;
        const char *words = wrong_edge(edge + i * 4, kind[i], 1 + (twice && i % (n - 1) == 0), k >= n);
        const char *again = twice && i == n - 1 ? ", input 0 again," : "";
        if (words)
            mg_fail(run, "the edge of input %lld%s %s", (long long)i, again, words);
        whole = !words;
    }
    return whole;
}

static bool judge_freed(mg_run *run)
{
    const int64_t *bytes = mg_result(run, "bytes never freed");
    if (*bytes != 0)
        mg_fail(run, "%lld bytes were never freed: the one reference of mt_node_new belongs to out; do not add another",
                (long long)*bytes);
    return *bytes == 0;
}

void mg_03_record(mg_run *run, const void *one_case)
{
    const kinds_case *c = one_case;
    for (int t = 0; t < CALLS; t++) {
        bool last_asks = t == 0 && c->some == KIND(MG_PLAIN) && c->always; /* it alone, of many */
        int64_t n = t == CALLS - 1 ? mg_pick(mg_rng(run), 100, 110) : last_asks ? 40 : mg_pick(mg_rng(run), 2, 7);
        mg_begin(run, "mt_record");
        mg_out(run, "made", MT_I64, MT_SHAPE(3));
        mg_out(run, "edge", MT_I64, MT_SHAPE(n, 4));
        mg_out(run, "bytes never freed", MT_I64, MT_SHAPE(1));
        int64_t *kind = kinds(run, c, n);
        mg_i64(run, "no_grad_depth", c->quiet);
        mg_i64(run, "last_is_first", c->twice);
        kind[n - 1] = c->twice ? kind[0] = t % 2 ? MG_ASKS : MG_RESULT : kind[n - 1];
        for (int64_t i = 0; last_asks && i < n; i++)
            kind[i] = i == n - 1 ? MG_ASKS : MG_PLAIN;
        bool wanted = false;
        for (int64_t i = 0; i < n; i++)
            wanted = wanted || kind[i] != MG_PLAIN;
        if (!mg_call(run) || !judge_record(run, kind, n, wanted && c->quiet == 0, c->twice) || !judge_freed(run))
            return;
    }
}

void mg_03_detach(mg_run *run, const void *one_case)
{
    static const double facts[] = { 1, 0, 0, 1, 0, 0, 1, 1, 0 };
    static const char *const wrong[] = { "has its own memory: it must share the original's",
                                         "has a node",
                                         "requires a gradient",
                                         "removed the original's node",
                                         "was never freed",
                                         "requires a gradient, as the leaf that was detached",
                                         "changed requires_grad of the leaf that was detached",
                                         "has another shape, type or memory than the original, a scalar, a vector, of "
                                         "rank 3 or empty, of f32 or i32",
                                         "has a gradient, that of the leaf that was detached" };
    (void)one_case;
    for (int t = 0; t < CALLS; t++) {
        int64_t M = mg_pick(mg_rng(run), 1, 9), N = mg_pick(mg_rng(run), 1, 9);
        double want[81];
        mg_begin(run, "mt_detach");
        mg_out(run, "facts", MT_I64, MT_SHAPE(MT_COUNT(facts)));
        mg_out(run, "values", MT_F32, MT_SHAPE(N, M));
        float *x = mg_in(run, "x", MT_F32, MT_SHAPE(M, N + 1));
        mg_fill(mg_rng(run), x, M * (N + 1), (mg_dist)NORMAL(0, 1));
        mg_i64(run, "M", M);
        mg_i64(run, "N", N);
        for (int64_t i = 0; i < M * N; i++)
            want[i] = x[i % M * (N + 1) + i / M + 1];
        if (!mg_call(run))
            return;
        const int64_t *got = mg_result(run, "facts");
        for (int i = 0; i < MT_COUNT(facts); i++)
            if ((double)got[i] != facts[i]) {
                mg_fail(run, "the detached tensor %s", wrong[i]);
                return;
            }
        if (!mg_expect(run, "values", want, NULL))
            return;
    }
}

/* ---- a gradient's buffer -------------------------------------------------------------------------------- */

void mg_03_buffer(mg_run *run, const void *one_case)
{
    const buffer_case *c = one_case;
    bool wanted = c->which < 2;
    for (int t = 0; t < CALLS; t++) {
        int64_t S = mg_pick(mg_rng(run), 1, 20), which = c->held ? t % 2 : c->which, memory = c->which == 1 && t % 2;
        double first[20] = { 0 }, again[20] = { 0 }, facts[] = { wanted, 1, 1 };
        mg_begin(run, "mt_grad_of_input");
        mg_out(run, "a buffer; the same again; kept", MT_I64, MT_SHAPE(3));
        mg_out(run, "first", MT_F32, MT_SHAPE(S));
        mg_out(run, "again", MT_F32, MT_SHAPE(S));
        float *held = mg_in(run, "held", MT_F32, MT_SHAPE(S));
        mg_fill(mg_rng(run), held, S, (mg_dist)NORMAL(0, 1));
        mg_i64(run, "edge", which);
        mg_i64(run, "is_held", c->held);
        mg_i64(run, "has_grad_memory", memory);
        if (memory)
            mg_hint(run, "this leaf has grad_memory, where its gradient must be: mt_grad_zeros returns it, cleared");
        for (int64_t i = 0; i < S; i++) {
            first[i] = c->held ? held[i] : 0;
            again[i] = wanted ? (double)((float)first[i] + (float)(i + 1)) : 0;
        }
        if (!mg_call(run) || !mg_expect(run, "first", first, NULL) || !mg_expect(run, "again", again, NULL) ||
            !mg_expect(run, "a buffer; the same again; kept", facts, NULL))
            return;
    }
}

/* ---- graphs ------------------------------------------------------------------------------------------------ */

mg_graph *mg_03_random(mg_run *run, int64_t S)
{
    return mg_graph_random(mg_rng(run), S, (int)mg_pick(mg_rng(run), 14, 48));
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

/* The graph of call t: where visits are compared once one of empty matrices, whose nodes are visited too; of values
 * used several times once one with more uses than 8 bits count. */
static mg_graph *make_graph(mg_run *run, const graph_case *c, int t)
{
    bool empty = t == 1 && c->looks & LOOK_VISITS;
    int64_t S = empty ? 0 : mg_pick(mg_rng(run), 1, 6);
    if (t == 2 && c->make == mg_03_reused)
        return mg_graph_many(mg_rng(run), mt_min(S, 2), 300);
    return c->make(run, S);
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

static bool expect_visits(mg_run *run, const mg_graph *g, int passes)
{
    const int64_t *visits = mg_result(run, "visits");
    bool any = false;
    for (int i = 0; i < g->count; i++)
        any |= visits[i];
    if (!any)
        mg_hint(run, "no op's backward ran (03.8): mt_node_backward needs node->grad, which mt_node_consume frees");
    for (int i = 0; i < g->count; i++) {
        int64_t want = g->reached[i] && mg_graph_records(g, i) ? passes : 0;
        if (visits[i] == want)
            continue;
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
    mg_begin(run, "backward through a graph");
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
    if (freed)
        mg_hint(run, "the inner values were freed before backward, as a function does that returns the loss only: what "
                     "backward needs is in nodes and edges, and node->result is NULL then");
}

void mg_03_graph(mg_run *run, const void *one_case)
{
    const graph_case *c = one_case;
    bool good = true;
    for (int t = 0; t < CALLS && good; t++) {
        mg_graph *g = make_graph(run, c, t);
        mg_graph_differentiate(g);
        describe_graph(run, g, c->passes, t % 2);
        good = mg_call(run) && (!(c->looks & LOOK_RECORDED) || expect_recorded(run, g)) &&
               (!(c->looks & LOOK_VISITS) || expect_visits(run, g, c->passes)) &&
               (!(c->looks & LOOK_ORDER) || expect_order(run, g)) &&
               (!(c->looks & LOOK_GRADS) || expect_leaves(run, "grads", g, c->passes)) &&
               (!(c->looks & LOOK_NEWS) || expect_news(run, g, c->passes));
        mg_graph_free(g);
    }
}
