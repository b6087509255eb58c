/* 03-run.c -- how the checks of lab 03 run: recording, and a gradient's buffer; 03-walk.c and 03-whole.c have the
 * others. Rows: 03-autograd.c. */
#include "checks/03-autograd.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

enum { CALLS = 3 }; /* of each part of a row, with new inputs each time */

/* ---- recording --------------------------------------------------------------------------------------- */

/* Kinds of inputs, drawn from those that the row allows. Those that always occur are the first ones, or the last; if
 * the row has plain data, the input at the other end is plain, and all others are if those that always occur are
 * alone. */
static int64_t *kinds(mg_run *run, const kinds_case *c, int64_t n, bool last, bool alone)
{
    int64_t *kind = mg_in(run, "kind", MT_I64, MT_SHAPE(n)), others = 0;
    bool plain = c->some >> MG_PLAIN & 1 && c->always;
    for (int always = 0; always < MG_KINDS; always++)
        if (c->always >> always & 1 && others < n)
            kind[others++] = always;
    for (int64_t i = others; i < n; i++)
        do
            kind[i] = plain && (alone || i == n - 1) ? MG_PLAIN : mt_rng_below(mg_rng(run), MG_KINDS);
        while (!(c->some >> kind[i] & 1));
    for (int64_t i = 0; last && i < n / 2; i++) {
        int64_t other = kind[i];
        kind[i] = kind[n - 1 - i];
        kind[n - 1 - i] = other;
    }
    return kind;
}

static bool wants_once(mg_run *run, const kinds_case *c, bool quiet)
{
    int64_t n = mg_pick(mg_rng(run), 4, 12);
    double want[12];
    mg_part(run, quiet ? "inside no_grad" : NULL,
            quiet ? "inside no_grad a tensor needs a gradient as outside: mt_record asks mt_recording()" : NULL);
    mg_begin(run, "mt_wants_grad");
    mg_out(run, "wants", MT_I64, MT_SHAPE(n));
    const int64_t *kind = kinds(run, c, n, mt_rng_below(mg_rng(run), 2), false);
    for (int64_t i = 0; i < n; i++)
        want[i] = kind[i] != MG_PLAIN;
    mg_i64(run, "inside_no_grad", quiet);
    if (!mg_call(run))
        return false;
    const int64_t *got = mg_result(run, "wants");
    bool others = true; /* are right */
    for (int64_t i = 0; i < n; i++)
        others = others && (kind[i] == MG_SPENT || (double)got[i] == want[i]);
    for (int64_t i = 0; i < n && others; i++)
        if (kind[i] == MG_SPENT && !got[i])
            mg_hint(run, "an earlier backward consumed this tensor's node: it still needs a gradient, and the next "
                         "backward finds the node and refuses it");
    return mg_expect(run, "wants", want, NULL);
}

void mg_03_wants(mg_run *run, const void *one_case)
{
    for (int t = 0; t < 2 * CALLS; t++)
        if (!wants_once(run, one_case, false) || !wants_once(run, one_case, true))
            return;
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
    if (wanted && !whole)
        mg_hint(run, "mt_record (03.3) makes a node with an edge for each input, and out->node is that node");
    if (made[0] != wanted)
        mg_fail(run, wanted ? "no node was made" : "a node was made, but no gradient is needed here");
    else if (made[1] != wanted)
        mg_fail(run, wanted ? "out->node is not the node that was returned" : "out->node is not NULL");
    else if (!whole)
        mg_fail(run, "the node has %lld edges   expected %lld, one per input", (long long)made[2], (long long)n);
    else if (!made[3])
        mg_fail(run, "after as many mt_no_grad_end as mt_no_grad_begin nothing is recorded");
    whole = whole && made[3];
    /* Where edges lead: first those of nodes that no backward has consumed, whose error is the general one. */
    for (int64_t k = 0; wanted && whole && k < 3 * n; k++) {
        int64_t i = k % n;
        if (k < 2 * n && (kind[i] == MG_SPENT) != (k >= n))
            continue;
        const char *words = wrong_edge(edge + i * 4, kind[i], 1 + (twice && i % (n - 1) == 0), k >= 2 * n);
        const char *again = twice && i == n - 1 ? ", input 0 again," : "";
        if (words && strstr(words, "shape"))
            mg_hint(run, "an edge keeps the shape of its input, whatever its rank is");
        else if (words && k >= 2 * n)
            mg_hint(run, "each edge holds exactly one reference to what it leads to: one mt_node_retain or mt_retain");
        if (words)
            mg_fail(run, "the edge of input %lld%s %s", (long long)i, again, words);
        whole = !words;
    }
    return whole;
}

static bool judge_freed(mg_run *run)
{
    const int64_t *bytes = mg_result(run, "bytes never freed");
    mg_hint(run, "out holds the one reference that mt_node_new returns: do not add another");
    if (*bytes != 0)
        mg_fail(run, "%lld bytes were never freed", (long long)*bytes);
    return *bytes == 0;
}

static bool record_once(mg_run *run, const char *part, const kinds_case *c, int64_t n, bool last, bool alone,
                        int64_t quiet)
{
    bool wanted = false;
    mg_part(run, part, NULL);
    mg_begin(run, "mt_record");
    mg_out(run, "made", MT_I64, MT_SHAPE(4));
    mg_out(run, "edge", MT_I64, MT_SHAPE(n, 4));
    mg_out(run, "bytes never freed", MT_I64, MT_SHAPE(1));
    int64_t *kind = kinds(run, c, n, last, alone);
    mg_i64(run, "no_grad_depth", quiet);
    mg_i64(run, "last_is_first", c->twice);
    if (c->twice)
        kind[n - 1] = kind[0] = last ? MG_ASKS : MG_RESULT;
    for (int64_t i = 0; i < n; i++)
        wanted = wanted || kind[i] != MG_PLAIN;
    if (quiet == 0)
        mg_hint(run,
                "an edge must hold a reference to what it leads to: else that is freed while the edge is still there");
    if (!mg_call(run))
        return false;
    mg_hint(run, "%s", n < 40 ? c->head.hint : "there may be any number of inputs: treat each like the first ones");
    return judge_record(run, kind, n, wanted && quiet == 0, c->twice) && judge_freed(run);
}

void mg_03_record(mg_run *run, const void *one_case)
{
    const kinds_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    bool good = true;
    for (int t = 0; t < CALLS && good; t++)
        good = record_once(run, NULL, c, mg_pick(rng, 2, 7), false, false, c->quiet) &&
               record_once(run, NULL, c, mg_pick(rng, 2, 7), true, false, c->quiet);
    if (good && record_once(run, "one input of its kind", c, mg_pick(rng, 2, 7), false, true, c->quiet) &&
        record_once(run, "the last of 40 inputs", c, 40, true, true, c->quiet) &&
        record_once(run, "more than 100 inputs", c, mg_pick(rng, 101, 110), true, false, c->quiet) && c->quiet)
        record_once(run, "65,536 nested no_grad", c, 4, true, false, 1 << 16);
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

/* memory: the leaf has grad_memory. */
static bool buffer_calls(mg_run *run, const buffer_case *c, int64_t which, bool memory)
{
    bool wanted = which < 2;
    for (int t = 0; t < CALLS; t++) {
        int64_t S = mg_pick(mg_rng(run), 1, 20);
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
        for (int64_t i = 0; i < S; i++) {
            first[i] = c->held ? held[i] : 0;
            again[i] = wanted ? (double)((float)first[i] + (float)(i + 1)) : 0;
        }
        if (!mg_call(run) || !mg_expect(run, "first", first, NULL) || !mg_expect(run, "again", again, NULL) ||
            !mg_expect(run, "a buffer; the same again; kept", facts, NULL))
            return false;
    }
    return true;
}

void mg_03_buffer(mg_run *run, const void *one_case)
{
    const buffer_case *c = one_case;
    bool good = buffer_calls(run, c, c->which, false) && (!c->held || buffer_calls(run, c, 1, false));
    mg_part(run, "a leaf with grad_memory",
            "the gradient of a leaf with grad_memory must be there: mt_grad_zeros returns it, cleared");
    if (good && c->which == 1)
        buffer_calls(run, c, 1, true);
}

/* A walk cannot be judged where gradients get lost: then the error is said where it is. */
bool mg_03_buffers_right(mg_run *run)
{
    const buffer_case fresh = { .held = false }, held = { .held = true };
    mg_part(run, "the gradients of an op's inputs",
            "mend mt_grad_of_input (03.6) first: a node without a gradient is not visited");
    return buffer_calls(run, &held, 0, false) && buffer_calls(run, &fresh, 0, false) &&
           buffer_calls(run, &fresh, 1, false) && buffer_calls(run, &fresh, 1, true) &&
           buffer_calls(run, &fresh, 2, false);
}
