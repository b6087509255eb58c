/* 03-graph.h -- random graphs for the checks of lab 03, differentiated here in double, with error bounds.
 *
 * The oracle is a separate reverse mode over the description of worker/graph.h; it calls nothing of autograd/ or ops/.
 * Values and gradients carry their bounds (testing/approx.h), so the tolerance follows from the graph. */
#pragma once

#include "testing/approx.h"
#include "worker/graph.h"

#include "core/rng.h"

typedef struct mg_graph {
    int64_t S; /* every value is [S,S] */
    int count, leaves, arrays;
    int64_t row[MG_GRAPH_MOST][MG_GRAPH_COLUMNS];
    float *data;                     /* [arrays,S,S]: contents of leaves and constants, in order */
    mt_approx *value[MG_GRAPH_MOST]; /* [S,S] each */

    /* After mg_graph_differentiate: */
    bool wants[MG_GRAPH_MOST];      /* computed from a leaf, along recorded ops */
    bool reached[MG_GRAPH_MOST];    /* backward from the last value visits it */
    mt_approx *grad[MG_GRAPH_MOST]; /* gradient of the sum of the last value; zeros where backward does not go */
} mg_graph;

/* mg_graph_random -- a graph of `count` values; with 22 or more every op occurs. All graphs end in the same way: there
 * the order of visits matters, and the last value depends on the first leaf. Values stay below 10. */
mg_graph *mg_graph_random(mt_rng *rng, int64_t S, int count);

/* mg_graph_diamonds -- x, then `diamonds` times (y + y) / 2: the number of paths doubles each time. */
mg_graph *mg_graph_diamonds(mt_rng *rng, int64_t S, int diamonds);

/* mg_graph_reused -- x * x * x + x, of a leaf and of a transposed leaf, each value used several times. */
mg_graph *mg_graph_reused(mt_rng *rng, int64_t S);

/* mg_graph_many -- a leaf and a computed value, each used `uses` times and more. */
mg_graph *mg_graph_many(mt_rng *rng, int64_t S, int uses);

/* mg_graph_cut -- a leaf that reaches the loss directly, and one that reaches it through detached and unrecorded parts
 * only. */
mg_graph *mg_graph_cut(mt_rng *rng, int64_t S);

void mg_graph_differentiate(mg_graph *g);
void mg_graph_free(mg_graph *g);

/* mg_graph_text -- "v7 = v2 * v5"; lent until the next call. */
const char *mg_graph_text(const mg_graph *g, int i);

/* mg_graph_words -- the whole graph: "v0 = a leaf, v1 = v0 * v0; backward from the sum of v1; gradients wanted: v0". */
void mg_graph_words(const mg_graph *g, char *text, size_t size);

/* mg_graph_operands -- how many operands row i has: 0, 1, 2. */
int mg_graph_operands(const mg_graph *g, int i);

/* mg_graph_records -- whether the op of row i may leave a node: not a leaf, a constant, detached or quiet. */
bool mg_graph_records(const mg_graph *g, int i);
