/* graph.h -- how the checks of lab 03 describe a graph to the worker: one row of three numbers per value, in order of
 * creation.
 *
 *     { MG_LEAF, 0, 0 }, { MG_MUL, 0, 0 }, { MG_ADD, 1, 0 }        x;  x * x;  x * x + x
 *
 * Every value is a square matrix [S,S]; operands are earlier rows. The loss is the sum of the last value's elements. */
#pragma once

enum {
    MG_LEAF,      /* requires a gradient; contents: the next of the arrays sent along */
    MG_CONSTANT,  /* does not; contents likewise */
    MG_ADD,       /* a + b */
    MG_MUL,       /* a * b, element by element */
    MG_MATMUL,    /* a b */
    MG_TANH,      /* of a */
    MG_SCALE,     /* a / 2 */
    MG_TRANSPOSE, /* a view of a */
    MG_DETACH,    /* a without its history */
    MG_QUIET,     /* a * b inside mt_no_grad_begin and _end */
    MG_OPS
};

enum { MG_GRAPH_COLUMNS = 3, MG_GRAPH_MOST = 640 /* values */ };

/* Kinds of tensors, for the checks of recording. */
enum {
    MG_PLAIN,    /* data */
    MG_ASKS,     /* a leaf that requires a gradient */
    MG_RESULT,   /* computed: has a node */
    MG_ASKS_TOO, /* computed, with requires_grad set too: the node decides */
    MG_SPENT,    /* computed, and an earlier backward has consumed the node */
    MG_KINDS
};

/* Ways to use a graph a second time, wrong or right. */
enum { MG_SAME_LOSS_TWICE, MG_SHARED_PART, MG_WRITTEN, MG_WRITTEN_UNSAVED, MG_IDLE_BRANCH };
