/* tape.h -- the record of a forward pass, and the walk back over it.
 *
 * Every op that computes from a tensor that wants a gradient leaves one node: which op it was, where its inputs'
 * gradients go (edges), and what backward needs (saved tensors, numbers). Nodes point from results to inputs only, so
 * the graph has no cycle, and is freed with the last tensor computed from it.
 *
 *     x, w (leaves) --> [linear] --> h --> [relu] --> r --> [sum] --> loss     forward: ops make tensors and nodes
 *     x.grad w.grad <-- [linear] <-------- [relu] <-------- [sum] <-- 1        mt_backward: gradients along the edges
 *
 * Units: solutions/03-autograd/tape.c (recording) and solutions/03-autograd/backward.c (the walk).   Lab 03 */
#pragma once

#include "core/tensor.h"

MT_C_BEGIN

enum { MT_NODE_SAVED = 6, MT_NODE_DIMS = 3 };

typedef void mt_any_fn(void); /* cast to its own type before it is called */

/* Kinds of ops by the precision they need. */
typedef enum mt_op_kind {
    MT_OP_MATMUL,      /* many products summed in f32: precise enough with operands of few bits (linear, attention) */
    MT_OP_ELEMENTWISE, /* one value from one or two: as precise as its inputs (ReLU, GELU, add, dropout) */
    MT_OP_REDUCTION,   /* long sums, exponentials, differences of close values: needs f32 (softmax, layernorm, exp) */
} mt_op_kind;

typedef struct mt_op {
    const char *name; /* "linear": for messages, the profiler and the cast policy (ops/policy.h) */
    mt_op_kind kind;

    /* Add to the gradient of each input that wants one (mt_grad_of_input), from dout, the gradient of the node's
     * result: dense, of the result's shape. Gradients ACCUMULATE; dout is only lent. NULL: the op has no
     * gradient, and its caller does not record it. */
    void (*backward)(mt_node *node, mt_tensor *dout);
} mt_op;

/* Where one input's gradient goes: into the node that computed the input, or into the leaf itself. Both are NULL when
 * the input wants no gradient. What an edge points at it keeps alive. */
typedef struct mt_edge {
    mt_node *node;
    mt_tensor *leaf;
    mt_shape shape; /* of the input, and so of its gradient; set where both are NULL, too */
} mt_edge;

/* A tensor that backward will read, and how often its storage had been written in place when it was saved. */
typedef struct mt_saved {
    mt_tensor *tensor;
    int64_t version;
    mt_op_kind kind;                /* of the op that saves it */
    mt_node *producer;              /* the node that computed it, if it is an input of the op, or one in another type */
    const struct mt_keeper *keeper; /* tensor is what this keeper put in its place; NULL: it is itself */
} mt_saved;

struct mt_node {
    const mt_op *op;
    int64_t number;    /* increases in order of recording, per thread: an input's is smaller than its consumer's */
    int refs;          /* the result and the edges that hold it */
    mt_tensor *result; /* borrowed; NULL once the result is freed */
    mt_shape shape;    /* of the result, and so of grad */
    mt_device device;
    mt_tensor *grad; /* gradient of the result, a sum while consumers deliver; NULL before the first does */
    int waiting;     /* consumers in this backward that have not delivered yet */
    bool consumed;   /* backward has visited it and freed what it saved */
    int saved_count;
    mt_saved saved[MT_NODE_SAVED];
    int64_t dims[MT_NODE_DIMS]; /* the op's own: sizes */
    float scalar;               /* the op's own: a factor, a probability */
    mt_any_fn *kernel;          /* the op's own: the kernel of its backward */
    void *user;                 /* the op's own, anything larger (mt_node_copy_user) */

    /* The result once more, bit for bit, from what the node saved; in the scope. NULL: the op cannot, or that would
     * take long. */
    mt_tensor *(*again)(mt_node *node);
    int edge_count;
    mt_edge edges[]; /* one per input */
};

/* ---- recording, called by ops ------------------------------------------------------------------ */

/* mt_wants_grad -- a leaf with requires_grad, or computed from one; whether ops are recorded now does not matter.
 * Lab 03.1 */
bool mt_wants_grad(const mt_tensor *t);

/* mt_record -- the node of out = op(inputs), which out now holds. NULL, and out wants no gradient, when recording is
 * off or no input wants a gradient. No input is NULL.   Lab 03.2-3 */
mt_node *mt_record(const mt_op *op, mt_tensor *out, mt_tensor *const *inputs, int count);

/* mt_save(node, t, ...) -- keep the memory of tensors, as it is now, until backward has passed node; nothing when node
 * is NULL. Given. */
#define mt_save(node, ...) \
    mt_save_tensors(node, (const mt_tensor *[]){ __VA_ARGS__ }, (int)MT_COUNT(((const mt_tensor *[]){ __VA_ARGS__ })))
void mt_save_tensors(mt_node *node, const mt_tensor *const *tensors, int count);

/* mt_node_copy_user -- node->user becomes a copy of size bytes that the node owns. */
void mt_node_copy_user(mt_node *node, const void *data, size_t size);

/* ---- without a tape: evaluation, optimizer steps -------------------------------------------------- */

void mt_no_grad_begin(void); /* they nest; per thread */
void mt_no_grad_end(void);
bool mt_recording(void);

/* mt_detach -- the same memory without history; of a leaf too: the result wants no gradient, t is as before.
 * The result belongs to the current scope (mt_scope_adopt).   Lab 03.4 */
mt_tensor *mt_detach(const mt_tensor *t);

/* ---- backward ---------------------------------------------------------------------------------------- */

/* mt_backward -- add d loss / d leaf to leaf->grad of every leaf that loss was computed from: mt_backward_from with a
 * gradient of 1.   Aborts: loss has more than one element; as below. */
void mt_backward(mt_tensor *loss);

/* mt_backward_from -- add sum_i gradient[i] * d from[i] / d leaf to leaf->grad of every leaf that `from` was computed
 * from. Each node is visited once, after all nodes that used its result; the op of one that got no gradient is not
 * called, and the node is consumed like the others. On the way everything that only backward
 * needed is freed: saved tensors, inner gradients, and the memory of results that only the scope holds (mt_retain what
 * you want to read afterwards; `from` stays). gradient has from's shape, type and device and is only read.
 * Aborts: no history (a leaf has none); a node that an earlier backward has consumed; a saved tensor that was written
 * in place since.
 * Lab 03.5-8 */
void mt_backward_from(mt_tensor *from, mt_tensor *gradient);

/* mt_zero_grad -- release leaf->grad; the next backward starts a new sum. */
void mt_zero_grad(mt_tensor *leaf);

/* mt_written -- t's memory was written in place (an optimizer, a copy into it, a program through mt_f32): saved aliases
 * of it, and its values in another type (t->cast), are stale now. */
void mt_written(mt_tensor *t);

/* For backward functions: saved tensor i, checked, restored where a keeper has it; the buffer that input i's gradient
 * is added to, zeros at first, NULL when input i wants none. */
mt_tensor *mt_saved_tensor(mt_node *node, int i);
mt_tensor *mt_grad_of_input(mt_node *node, int i); /* Lab 03.6 */

/* ---- extension point: how saved tensors are kept: in fewer bytes, or by what computes them again ----------------- */

typedef struct mt_keeper {
    /* False: this tensor is not for it. True: all that is kept of t is what keep puts into saved->tensor, as a
     * reference for the node (NULL: nothing), and saved->producer, which backward visits later and so is intact.
     * That t is written in place afterwards is not noticed: backward reads what was kept. */
    bool (*keep)(mt_saved *saved, const mt_tensor *t);
    mt_tensor *(*restore)(const mt_saved *saved); /* t's values, in the scope; called once at most, in backward */
} mt_keeper;

/* mt_keeper_begin, mt_keeper_end -- what is saved in between is offered to this keeper, to those begun earlier if it
 * declines, and else kept as it is. They nest up to 8 deep; per thread. */
void mt_keeper_begin(const mt_keeper *keeper);
void mt_keeper_end(void);

/* mt_keepers_now, mt_keepers_set -- those in force in this thread, to set them again later; { 0 }: none. */
typedef struct mt_keepers {
    const mt_keeper *begun[8];
    int count;
} mt_keepers;
mt_keepers mt_keepers_now(void);
void mt_keepers_set(mt_keepers keepers);

/* ---- extension point: gradient-ready callbacks, during backward --------------------------------------------- */

/* leaf->grad is complete for this backward. Called in the thread that runs backward, in the order in which gradients
 * become complete (about the reverse of forward); must return quickly. */
typedef void mt_grad_ready_fn(void *user, mt_tensor *leaf);

/* mt_grad_ready_on -- call fn for this leaf until mt_grad_ready_off; several are called in order of registration.
 * Register in the thread that runs backward, not from inside a callback. */
void mt_grad_ready_on(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user);
void mt_grad_ready_off(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user); /* aborts: not registered */
void mt_grad_ready(mt_tensor *leaf); /* backward calls it, once per leaf and pass, with or without a gradient */

MT_C_END
