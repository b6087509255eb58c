/* 03-autograd.c -- lab 03, the tape and the walk back over it: every row, its points and its hint. */
#include "checks/03-autograd.h"

// clang-format off

/* ---- 03.1 .. 03.4 recording */
static const kinds_case wants_cases[] = {
    { { 3, "leaves", "a leaf asks for a gradient by its requires_grad" }, KIND(MG_PLAIN) | KIND(MG_ASKS), 0, 0 },
    { { 3, "results", "what was computed from a parameter has a node" }, KIND(MG_PLAIN) | KIND(MG_RESULT), 0, 0 },
};
static const kinds_case edge_cases[] = {
    { { 4, "to the node that computed an input", "the node decides, whatever requires_grad says; hold it: mt_node_retain" },
      KIND(MG_RESULT) | KIND(MG_ASKS_TOO), KIND(MG_RESULT), 0 },
    { { 3, "to a leaf", "a leaf that asks is where the walk ends: edge.leaf, held by mt_retain" },
      KIND(MG_ASKS), KIND(MG_ASKS), 0 },
    { { 3, "to nowhere", "an input that wants nothing has neither a node nor a leaf in its edge" },
      KIND(MG_PLAIN) | KIND(MG_ASKS) | KIND(MG_RESULT), KIND(MG_ASKS), 0 },
};
static const kinds_case record_cases[] = {
    { { 4, "a node where one is wanted", "one input that wants a gradient is enough, and it need not be the first; out->node is the node" },
      KIND(MG_PLAIN), KIND(MG_ASKS), 0 },
    { { 4, "none when nobody wants one", "no input wants a gradient: return NULL, and leave out alone" },
      KIND(MG_PLAIN), 0, 0 },
    { { 4, "none inside no_grad", "mt_recording() says whether ops are recorded now" },
      KIND(MG_PLAIN) | KIND(MG_ASKS) | KIND(MG_RESULT), KIND(MG_ASKS), 2 },
};
static const mg_case detach_cases[] = {
    { 8, "same memory, no history", "an alias shares storage and view and has no node; adopt it, so that the scope frees it" },
};

/* ---- 03.5 .. 03.7 the walk */
static const graph_case count_cases[] = {
    { { 4, "values used several times", "derive the counts of y = h + h * h on paper (handout), and compare them with yours" },
      mg_03_reused, LOOK_GRADS | LOOK_VISITS, 1 },
    { { 5, "a chain of diamonds", "derive the counts of two diamonds in a row on paper (handout): they do not grow with the number of paths" },
      mg_03_diamonds, LOOK_VISITS | LOOK_GRADS, 1 },
    { { 5, "every node after its users", "a node is visited when its count reaches 0; so which gradients must the count include?" },
      mg_03_random, LOOK_VISITS | LOOK_ORDER, 1 },
};
static const buffer_case buffer_cases[] = {
    { { 2, "zeros at first, of a node", "the first to ask finds NULL and makes zeros in edge->node->grad" }, 0, false },
    { { 2, "zeros at first, of a leaf", "the first to ask finds NULL and makes zeros in edge->leaf->grad" }, 1, false },
    { { 2, "the sum so far", "who comes later must find what others have added, not zeros" }, 0, true },
    { { 2, "none for who wants none", "no node and no leaf: there is nothing to add to" }, 2, false },
};
static const graph_case add_cases[] = {
    { { 4, "two backwards add up", "a leaf's gradient goes on from one backward to the next, until mt_zero_grad" },
      mg_03_random, LOOK_GRADS, 2 },
};
static const graph_case news_cases[] = {
    { { 7, "told once, when complete", "the last of a leaf's users makes it complete: count down, and announce it at zero" },
      mg_03_random, LOOK_NEWS, 1 },
    { { 5, "and once more in the next backward", "what counts up before each walk must be at zero after it" },
      mg_03_reused, LOOK_NEWS, 2 },
};

/* ---- 03.8 backward whole */
static const graph_case graph_cases[] = {
    { { 6, "random graphs", "compare with a graph of three values on paper: who is visited when, and with which gradient" },
      mg_03_random, LOOK_GRADS | LOOK_RECORDED, 1 },
    { { 4, "detached and quiet parts", "no gradient goes through mt_detach, nor through what was computed without recording" },
      mg_03_cut, LOOK_GRADS | LOOK_RECORDED | LOOK_VISITS, 1 },
};
static const mg_case long_chain_cases[] = {
    { 5, "a chain of 200,000 nodes", "a list of what is still to do, not recursion: the stack has room for far fewer frames" },
};
static const mg_case memory_cases[] = {
    { 5, "memory is given back on the way", "when a node has passed its gradient on, nobody needs what it kept: mt_node_consume(node, loss)" },
};
static const misuse_case misuse_cases[] = {
    { { 2, "a second backward is refused", "mt_node_consume marks the node; the next walk stops at the mark" },
      MG_SAME_LOSS_TWICE, MG_SHARED_PART, true, true },
    { { 2, "a saved tensor written in place is refused", "backward must run the ops of this graph, which look at the version" },
      MG_WRITTEN, MG_WRITTEN_UNSAVED, true, false },
    { { 2, "who got no gradient is passed by", "node->grad is NULL where the op after it passed nothing on: nothing to pass on, yet its inputs are ticked off" },
      MG_IDLE_BRANCH, MG_SHARED_PART, false, true },
};

static const mg_group groups[] = {
    MG_GROUP("03.1", "who wants a gradient", mg_03_wants, wants_cases),
    MG_GROUP("03.2", "edges", mg_03_record, edge_cases),
    MG_GROUP("03.3", "recording", mg_03_record, record_cases),
    MG_GROUP("03.4", "detach", mg_03_detach, detach_cases),
    MG_GROUP("03.5", "counting", mg_03_graph, count_cases),
    MG_GROUP("03.6", "accumulation", mg_03_buffer, buffer_cases),
    MG_GROUP("03.6", "accumulation", mg_03_graph, add_cases),
    MG_GROUP("03.7", "leaves", mg_03_graph, news_cases),
    MG_GROUP("03.8", "backward", mg_03_graph, graph_cases),
    MG_GROUP("03.8", "backward", mg_03_long_chain, long_chain_cases),
    MG_GROUP("03.8", "backward", mg_03_memory, memory_cases),
    MG_GROUP("03.8", "backward", mg_03_misuse, misuse_cases),
};

// clang-format on

const mg_lab mg_lab_03 = { "03-autograd", groups, MT_COUNT(groups) };
