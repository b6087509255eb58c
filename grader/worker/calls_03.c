/* calls_03.c -- how the worker tests the tape: it builds the graph that the checker describes, runs backward, and
 * records the visits.
 *
 * This code shares its address space with the student's: a unit could overwrite these counters and forge visits and
 * live bytes, but not gradients. The checker compares all results with its own. */
#include "autograd/node.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "worker/call.h"
#include "worker/calls_03.h"
#include "worker/graph.h"

#include <stdlib.h>
#include <string.h>

mt_tensor *mg_03_leaf(mt_shape shape, const float *data)
{
    mt_tensor *t = mt_from(shape, MT_F32, data);
    t->requires_grad = true;
    return t;
}

mt_tensor *mg_03_full_leaf(mt_shape shape, float value)
{
    mt_tensor *t = mt_full(shape, value);
    t->requires_grad = true;
    return t;
}

void mg_03_copy_grad(float *out, const mt_tensor *leaf, int64_t n)
{
    memset(out, 0, sizeof *out * (size_t)n);
    if (leaf->grad)
        memcpy(out, mt_f32(leaf->grad), sizeof *out * (size_t)n);
}

static void no_backward(mt_node *node, mt_tensor *dout)
{
    (void)node, (void)dout;
}

const mt_op mg_03_test_op = { "test", MT_OP_ELEMENTWISE, no_backward };

/* ---- recording backward: the op of every listed node is wrapped ----------------------------------------- */

static struct {
    mt_op op[MG_GRAPH_MOST]; /* op i wraps the op of value i */
    const mt_op *wrapped[MG_GRAPH_MOST];
    int64_t *visits, *order;
    int64_t so_far;
} watch;

static void watched_backward(mt_node *node, mt_tensor *dout)
{
    int64_t i = node->op - watch.op;
    watch.visits[i]++;
    watch.order[i] = ++watch.so_far;
    watch.wrapped[i]->backward(node, dout);
}

static void watch_node(mt_node *node, int64_t i)
{
    watch.wrapped[i] = node->op;
    watch.op[i] = (mt_op){ node->op->name, node->op->kind, watched_backward };
    node->op = &watch.op[i];
}

/* One per leaf: how often it was announced, after how many visits, and its gradient at that time. */
typedef struct news {
    int64_t *told, *told_at;
    float *seen;
    int64_t count;
} news;

static void note(void *user, mt_tensor *leaf)
{
    news *n = user;
    ++*n->told;
    *n->told_at = watch.so_far;
    mg_03_copy_grad(n->seen, leaf, n->count);
}

/* ---- a graph ------------------------------------------------------------------------------------------ */

static mt_tensor *quiet(mt_tensor *a, mt_tensor *b)
{
    mt_no_grad_begin();
    mt_tensor *t = mt_mul(a, b);
    mt_no_grad_end();
    return t;
}

static mt_tensor *apply(int64_t op, mt_tensor *a, mt_tensor *b)
{
    switch (op) {
    case MG_ADD:
        return mt_add(a, b);
    case MG_MUL:
        return mt_mul(a, b);
    case MG_MATMUL:
        return mt_matmul(a, b);
    case MG_TANH:
        return mt_tanh(a);
    case MG_SCALE:
        return mt_scale(a, 0.5f);
    case MG_TRANSPOSE:
        return mt_transpose(a, 0, 1);
    case MG_DETACH:
        return mt_detach(a);
    default:
        return quiet(a, b);
    }
}

/* Computes all values of the graph; leaves and constants exist already. Returns the loss. */
static mt_tensor *forward(mt_tensor **value, const int64_t *graph, int64_t count, int64_t *recorded)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t *row = graph + i * MG_GRAPH_COLUMNS;
        if (row[0] != MG_LEAF && row[0] != MG_CONSTANT)
            value[i] = apply(row[0], value[row[1]], value[row[2]]);
        recorded[i] = value[i]->node != NULL;
        if (value[i]->node)
            watch_node(value[i]->node, i);
    }
    return mt_sum(value[count - 1]);
}

static void run_graph(const mg_value *v)
{
    int64_t S = N(S), size = S * S, count = ARRAY(graph)->count / MG_GRAPH_COLUMNS, leaves = 0, arrays = 0;
    mt_tensor *value[MG_GRAPH_MOST] = { 0 }, *leaf[MG_GRAPH_MOST];
    news told[MG_GRAPH_MOST];
    memset(I64(visits), 0, sizeof(int64_t) * (size_t)count);
    memset(I64(order), 0, sizeof(int64_t) * (size_t)count);
    watch.visits = I64(visits);
    watch.order = I64(order);
    mt_scope_begin();
    for (int64_t i = 0; i < count; i++) {
        int64_t op = I64(graph)[i * MG_GRAPH_COLUMNS];
        if (op != MG_LEAF && op != MG_CONSTANT)
            continue;
        value[i] = mt_from(MT_SHAPE(S, S), MT_F32, F(data) + arrays++ * size);
        value[i]->requires_grad = op == MG_LEAF;
        if (op == MG_CONSTANT)
            continue;
        told[leaves] =
            (news){ I64(told) + leaves, I64(told_at) + leaves, F(grads when announced) + leaves * size, size };
        *told[leaves].told = *told[leaves].told_at = 0;
        memset(told[leaves].seen, 0, sizeof(float) * (size_t)size);
        leaf[leaves] = value[i];
        mt_grad_ready_on(value[i], note, &told[leaves]);
        leaves++;
    }
    for (int64_t pass = 0; pass < N(passes); pass++) {
        mt_scope_begin();
        watch.so_far = 0;
        if (N(inner_values_freed))
            mt_scope_begin();
        mt_tensor *loss = mt_retain(forward(value, I64(graph), count, I64(recorded)));
        if (N(inner_values_freed))
            mt_scope_end();
        mt_backward(loss);
        mt_release(loss);
        mt_scope_end();
    }
    for (int64_t l = 0; l < leaves; l++) {
        mt_grad_ready_off(leaf[l], note, &told[l]);
        mg_03_copy_grad(F(grads) + l * size, leaf[l], size);
    }
    mt_scope_end();
}

/* ---- deep and large ----------------------------------------------------------------------------------- */

/* A chain, and beside it many branches: their nodes wait for a visit at the same time. */
static void long_chain(const mg_value *v)
{
    mt_shape shape = MT_SHAPE(2, 2);
    mt_scope_begin();
    mt_tensor *x = mg_03_leaf(shape, F(x)), *y = x, *gradient = mt_from(shape, MT_F32, F(gradient));
    for (int64_t i = 0; i < N(nodes); i++)
        y = mt_scale(y, i % 2 ? 2 : 0.5f);
    for (int64_t i = 0; i < N(branches); i++) {
        mt_tensor *branch = mt_scale(x, 1 / (float)N(branches));
        y = i % 2 ? mt_add(y, branch) : mt_add(branch, y);
    }
    mt_backward_from(y, gradient);
    mg_03_copy_grad(F(grad), x, 4);
    memcpy(F(gradient after), mt_f32(gradient), sizeof(float) * 4);
    mt_scope_end();
}

static struct {
    int64_t visits, *live; /* at the start of each visit */
} meter;
static const mt_op *metered;

static void metered_backward(mt_node *node, mt_tensor *dout)
{
    meter.live[meter.visits++] = mt_live_bytes(MT_CPU);
    metered->backward(node, dout);
}

/* A chain of large results: live [steps], ends [4] = live before, after forward, after backward, after the scope; read
 * [2] after backward: the loss, and the first element of the first result, which is retained. */
static void large_chain(const mg_value *v)
{
    mt_op op = { "relu", MT_OP_ELEMENTWISE, metered_backward };
    meter.live = I64(live);
    meter.visits = 0;
    memset(I64(live), 0, sizeof(int64_t) * (size_t)ARRAY(live)->count);
    I64(ends)[0] = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    mt_tensor *y = mg_03_full_leaf(MT_SHAPE(N(elements)), 1), *retained = NULL;
    for (int64_t i = 0; i < N(steps); i++) {
        y = mt_relu(y);
        retained = i == 0 ? mt_retain(y) : retained;
        metered = y->node->op;
        y->node->op = &op;
    }
    mt_tensor *loss = mt_sum(y);
    I64(ends)[1] = mt_live_bytes(MT_CPU);
    mt_backward(loss);
    I64(ends)[2] = mt_live_bytes(MT_CPU);
    F(the loss; a retained result)[0] = (float)mt_item(loss);
    F(the loss; a retained result)[1] = mt_f32(retained)[0];
    mt_release(retained);
    mt_scope_end();
    I64(ends)[3] = mt_live_bytes(MT_CPU);
}

/* ---- recording ------------------------------------------------------------------------------------------ */

/* Made by given code only, so that one unwritten step does not hide another. */
static mt_tensor *tensor_of(int64_t kind, mt_shape shape, mt_dtype dtype)
{
    mt_tensor *t = mt_zeros(shape, dtype, MT_CPU);
    t->requires_grad = kind == MG_ASKS || kind == MG_ASKS_TOO;
    if (kind == MG_RESULT || kind == MG_ASKS_TOO || kind == MG_SPENT)
        t->node = mt_node_new(&mg_03_test_op, t, 0);
    if (kind == MG_SPENT)
        t->node->consumed = true;
    return t;
}

static void wants(const mg_value *v)
{
    mt_scope_begin();
    for (int64_t i = 0; i < ARRAY(kind)->count; i++) {
        mt_tensor *t = tensor_of(I64(kind)[i], MT_SHAPE(2), i % 2 ? MT_F16 : MT_F32);
        if (N(inside_no_grad))
            mt_no_grad_begin();
        I64(wants)[i] = mt_wants_grad(t);
        if (N(inside_no_grad))
            mt_no_grad_end();
    }
    mt_scope_end();
}

static mt_shape shape_of_input(int64_t i)
{
    return i % 4 == 0   ? MT_SHAPE(i + 1, 3)
           : i % 4 == 1 ? MT_SCALAR
           : i % 4 == 2 ? MT_SHAPE(2, i + 1, 3)
                        : MT_SHAPE(1, 2, 1, 3, 1, 1, i + 1, 1);
}

/* made [4] = a node was returned, out holds it, its edges, recording is on again; edge [n,4] = points to the input's
 * node, to the input as a leaf, references gained by them, the shape is the input's; left [1] = bytes that are never
 * freed; kind [n], quiet, the last input is the first; every second input is in 16 bits */
static void record(const mg_value *v)
{
    int64_t n = ARRAY(kind)->count, before = mt_live_bytes(MT_CPU);
    mt_tensor *in[MG_GRAPH_MOST];
    int refs[MG_GRAPH_MOST];
    memset(I64(made), 0, sizeof(int64_t) * (size_t)ARRAY(made)->count);
    memset(I64(edge), 0, sizeof(int64_t) * (size_t)ARRAY(edge)->count);
    mt_scope_begin();
    for (int64_t i = 0; i < n; i++) {
        in[i] = i == n - 1 && N(last_is_first) ? in[0]
                                               : tensor_of(I64(kind)[i], shape_of_input(i), i % 2 ? MT_F16 : MT_F32);
        refs[i] = in[i]->node ? in[i]->node->refs : in[i]->refs;
    }
    mt_tensor *out = mt_full(MT_SHAPE(2), 0);
#pragma omp parallel for num_threads(2) schedule(static, 1)
    for (int64_t i = 0; i < 2; i++) /* in another thread, for which alone it counts */
        if (i == 1)
            mt_no_grad_begin();
    for (int64_t i = 0; i < N(no_grad_depth); i++) /* an inner end changes nothing */
        mt_no_grad_begin(), mt_no_grad_begin(), mt_no_grad_end();
    mt_node *node = mt_record(&mg_03_test_op, out, in, (int)n);
    for (int64_t i = 0; i < N(no_grad_depth); i++)
        mt_no_grad_end();
    const int64_t made[] = { node != NULL, out->node && out->node == node, node ? node->edge_count : 0,
                             mt_recording() };
    memcpy(I64(made), made, sizeof made);
    for (int64_t i = 0; node && i < n; i++) {
        int64_t *seen = I64(edge) + i * 4;
        seen[0] = node->edges[i].node && node->edges[i].node == in[i]->node;
        seen[1] = node->edges[i].leaf == in[i];
        seen[2] = (in[i]->node ? in[i]->node->refs : in[i]->refs) - refs[i];
        seen[3] = mt_shape_equal(node->edges[i].shape, mt_view_shape(&in[i]->view));
    }
    mt_scope_end();
    I64(bytes never freed)[0] = mt_live_bytes(MT_CPU) - before;
}

/* Of ranks 0 to 3, of one element and of none; of f32 and of integers. */
static bool detaches_any_tensor(void)
{
    const mt_shape shape[] = { MT_SCALAR, MT_SHAPE(1), MT_SHAPE(3), MT_SHAPE(0, 2), MT_SHAPE(2, 3, 2) };
    bool good = true;
    for (int64_t i = 0; i < MT_COUNT(shape); i++) {
        mt_tensor *t = mt_zeros(shape[i], i % 2 ? MT_I32 : MT_F32, MT_CPU), *cut = mt_detach(t);
        good = good && mt_shape_equal(mt_shape_of(cut), shape[i]) && cut->storage == t->storage;
        good = good && cut->dtype == t->dtype;
    }
    return good;
}

/* facts [9] = shares storage, has history, wants a gradient, the original still has its node, bytes never freed, a
 * detached leaf wants a gradient, the leaf itself still does, tensors of other ranks and types keep them, a detached
 * leaf has the leaf's gradient; values [N,M]; x [M,N+1], of which all columns but the first are transposed before
 * detaching */
static void detach(const mg_value *v)
{
    int64_t *facts = I64(facts);
    int64_t M = N(M), N = N(N), before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(M, N + 1), MT_F32, F(x));
    mt_tensor *t = mt_slice(mt_transpose(x, 0, 1), 0, 1, N + 1, 1);
    t->node = mt_node_new(&mg_03_test_op, t, 0);
    mt_tensor *cut = mt_detach(t);
    facts[0] = cut->storage == t->storage;
    facts[1] = cut->node != NULL;
    facts[2] = cut->requires_grad;
    facts[3] = t->node != NULL;
    for (int64_t i = 0; i < N * M; i++)
        F(values)[i] = (float)mt_get(cut, (int64_t[]){ i / M, i % M });
    x->requires_grad = true;
    facts[5] = mt_detach(x)->requires_grad;
    facts[6] = x->requires_grad;
    facts[7] = detaches_any_tensor();
    x->grad = mt_retain(mt_full(MT_SHAPE(M, N + 1), 1));
    facts[8] = mt_detach(x)->grad != NULL;
    mt_scope_end();
    facts[4] = mt_live_bytes(MT_CPU) - before;
}

/* ---- a gradient's buffer ------------------------------------------------------------------------------------ */

/* A node with an edge to a node, one to a leaf, one to nothing. What mt_grad_of_input gives for edge `which`, before
 * and after something was added: facts [3] = a buffer at all, the same one again, kept where it belongs; first, again
 * [S] */
static void grad_of_input(const mg_value *v)
{
    int64_t *facts = I64(a buffer; the same again; kept);
    int64_t S = ARRAY(first)->count, which = N(edge);
    mt_scope_begin();
    mt_tensor *inner = mt_full(MT_SHAPE(S), 1), *leaf = mg_03_full_leaf(MT_SHAPE(S), 1), *out = mt_full(MT_SHAPE(S), 1);
    inner->node = mt_node_new(&mg_03_test_op, inner, 0);
    out->node = mt_node_new(&mg_03_test_op, out, 3);
    for (int i = 0; i < 3; i++)
        out->node->edges[i].shape = MT_SHAPE(S);
    out->node->edges[0].node = mt_node_retain(inner->node);
    out->node->edges[1].leaf = mt_retain(leaf);
    mt_tensor **kept = which == 0 ? &inner->node->grad : &leaf->grad;
    if (N(is_held))
        *kept = mt_retain(mt_from(MT_SHAPE(S), MT_F32, F(held)));
    if (N(has_grad_memory))
        leaf->grad_memory = mt_retain(mt_full(MT_SHAPE(S), 7)); /* what an earlier gradient left there */
    mt_tensor *grad = mt_grad_of_input(out->node, (int)which);
    for (int64_t i = 0; i < S; i++) {
        F(first)[i] = grad ? mt_f32(grad)[i] : 0;
        if (grad)
            mt_f32(grad)[i] += (float)(i + 1);
    }
    mt_tensor *again = mt_grad_of_input(out->node, (int)which);
    for (int64_t i = 0; i < S; i++)
        F(again)[i] = again ? mt_f32(again)[i] : 0;
    const int64_t kept_there = which == 2 ? !inner->node->grad && !leaf->grad : *kept == grad;
    const bool own = grad && leaf->grad_memory;
    facts[0] = grad != NULL;
    facts[1] = again == grad;
    facts[2] = kept_there && (!own || mt_f32(grad) == mt_f32(leaf->grad_memory));
    mt_scope_end();
}

const mg_function mg_calls_03[] = {
    { "mt_wants_grad", wants },
    { "mt_record", record },
    { "mt_detach", detach },
    { "mt_grad_of_input", grad_of_input },
    { "backward through a graph", run_graph },
    { "backward through a long chain", long_chain },
    { "backward through large results", large_chain },
    { "backward misused", mg_03_misused },
    { NULL, NULL },
};
