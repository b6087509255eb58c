/* 03-autograd.c -- lab 03, the tape and the walk backwards over it: every row, its points and its hint. */
#include "checks/03-autograd.h"

// clang-format off

/* ---- 03.1 .. 03.4 recording */
static const kinds_case wants_cases[] = {
    { { 3, "leaves", "a leaf needs a gradient if its requires_grad is set", MG_EASY },
      KIND(MG_PLAIN) | KIND(MG_ASKS), 0, 0, false },
    { { 3, "results", "a tensor computed from a parameter has a node" },
      KIND(MG_PLAIN) | KIND(MG_RESULT) | KIND(MG_SPENT), KIND(MG_RESULT) | KIND(MG_SPENT), 0, false },
};
static const kinds_case edge_cases[] = {
    { { 4, "to the node that computed an input",
        "an input with a node gets an edge to that node, whatever its requires_grad is; mt_node_retain holds the "
        "node" },
      KIND(MG_RESULT) | KIND(MG_ASKS_TOO) | KIND(MG_SPENT), KIND(MG_RESULT) | KIND(MG_SPENT), 0, false },
    { { 3, "to a leaf", "a leaf with requires_grad goes into edge.leaf; mt_retain holds it" },
      KIND(MG_ASKS), KIND(MG_ASKS), 0, false },
    { { 3, "to nowhere", "the edge of an input without a gradient has neither a node nor a leaf" },
      KIND(MG_PLAIN) | KIND(MG_ASKS) | KIND(MG_RESULT), KIND(MG_ASKS), 0, false },
};
static const kinds_case record_cases[] = {
    { { 2, "a node if a gradient is needed",
        "one input that needs a gradient is enough, whatever its position and type; every input gets an edge; set "
        "out->node" },
      KIND(MG_PLAIN), KIND(MG_ASKS), 0, false },
    { { 2, "an input used twice",
        "x * x has two edges to x, and each holds a reference to it: backward delivers a gradient through each" },
      KIND(MG_PLAIN) | KIND(MG_ASKS) | KIND(MG_RESULT), KIND(MG_ASKS) | KIND(MG_RESULT), 0, true },
    { { 4, "none if no gradient is needed",
        "if no input needs a gradient, return NULL and do not change out", MG_EASY },
      KIND(MG_PLAIN), 0, 0, false },
    { { 4, "none inside no_grad",
        "mt_recording() says whether ops are recorded now; mt_no_grad_begin and mt_no_grad_end nest", MG_EASY },
      KIND(MG_PLAIN) | KIND(MG_ASKS) | KIND(MG_RESULT), KIND(MG_ASKS), 2, false },
};
static const mg_case detach_cases[] = {
    { 8, "same memory, no history",
      "an alias shares storage and view and has no node; mt_scope_adopt makes the scope free it" },
};

/* ---- 03.5 .. 03.7 the walk */
static const graph_case count_cases[] = {
    { { 4, "values used several times",
        "derive the counts of y = h + h * h on paper (handout), and compare them with yours" },
      mg_03_reused, LOOK_VISITS | LOOK_ORDER, 1 },
    { { 5, "a chain of diamonds",
        "derive the counts of two diamonds in a row on paper (handout): they do not grow with the number of paths" },
      mg_03_diamonds, LOOK_VISITS | LOOK_ORDER, 1 },
    { { 5, "every node after its users",
        "a node is visited when its count reaches 0: compare the count with the number of gradients that it gets" },
      mg_03_random, LOOK_VISITS | LOOK_ORDER, 1 },
};
static const buffer_case buffer_cases[] = {
    { { 2, "zeros at first, of a node", "at the first call edge->node->grad is NULL: allocate zeros" }, 0, false },
    { { 2, "zeros at first, of a leaf", "at the first call edge->leaf->grad is NULL: allocate zeros" }, 1, false },
    { { 2, "the sum so far", "later calls must return the sum so far, not zeros" }, 0, true },
    { { 2, "none for an input without gradient",
        "an edge without a node and a leaf has no gradient: return NULL", MG_EASY },
      2, false },
};
static const graph_case add_cases[] = {
    { { 4, "two backwards add up", "a leaf's gradient is kept from one backward to the next, until mt_zero_grad" },
      mg_03_random, LOOK_GRADS, 2 },
};
static const graph_case news_cases[] = {
    { { 7, "announced once, when complete",
        "a leaf is complete after its last user: count down, and call mt_grad_ready at zero" },
      mg_03_random, LOOK_NEWS, 1 },
    { { 5, "and once again in the next backward", "counts that are increased before a walk must be zero after it" },
      mg_03_reused, LOOK_NEWS, 2 },
};

/* ---- 03.8 backward whole */
static const graph_case graph_cases[] = {
    { { 6, "random graphs",
        "draw a graph of three values and follow which node is visited when, and with which gradient" },
      mg_03_random, LOOK_GRADS | LOOK_RECORDED, 1 },
    { { 4, "detached and unrecorded parts",
        "no gradient passes through mt_detach or through values computed without recording" },
      mg_03_cut, LOOK_GRADS | LOOK_RECORDED | LOOK_VISITS, 1 },
};
static const mg_case long_chain_cases[] = {
    { 5, "a chain of 200,000 nodes",
      "use a list of ready nodes and no recursion: the stack is too small for so many frames" },
};
static const mg_case memory_cases[] = {
    { 5, "memory is freed during backward",
      "mt_node_consume frees what a node saved: call it as soon as the node's backward has run, and not earlier" },
};
static const misuse_case misuse_cases[] = {
    { { 2, "a second backward is refused",
        "mt_node_consume marks a node as consumed, and the next walk must test for that mark (mt_node_check_fresh)" },
      MG_SAME_LOSS_TWICE, MG_SHARED_PART, true, true },
    { { 2, "a saved tensor written in place is refused",
        "run each op's backward, which compares the versions of its saved tensors (mt_saved_tensor)" },
      MG_WRITTEN, MG_WRITTEN_UNSAVED, true, false },
    { { 2, "nodes without a gradient are skipped",
        "node->grad is NULL if no user delivered anything: do not run the op, but count down its inputs" },
      MG_IDLE_BRANCH, MG_SHARED_PART, false, true },
};

static const mg_group groups[] = {
    MG_GROUP("03.1", "needs a gradient", mg_03_wants, wants_cases),
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
