/* node.c -- the life of a node: made by an op, held by its result and by edges, emptied by backward; and the callbacks
 * for a gradient that is complete.
 *
 * Nothing here recurses: a loop of 100,000 steps makes a chain of 100,000 nodes. */
#include "autograd/node.h"
#include "autograd/finite.h"
#include "core/scope.h"
#include "core/span.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local int64_t last_number;

/* ---- a stack of nodes ------------------------------------------------------------------------------ */

void mt_node_list_push(mt_node_list *list, mt_node *node)
{
    if (list->count == list->capacity) {
        list->capacity = mt_max(64, 2 * list->capacity);
        list->item = mt_realloc(list->item, list->capacity, sizeof *list->item);
    }
    list->item[list->count++] = node;
}

mt_node *mt_node_list_pop(mt_node_list *list)
{
    MT_CHECK(list->count > 0, "pop from an empty list of nodes");
    return list->item[--list->count];
}

void mt_node_list_free(mt_node_list *list)
{
    free(list->item);
    *list = (mt_node_list){ 0 };
}

/* ---- life -------------------------------------------------------------------------------------------- */

/* A tensor dies; its node may live on, held by the edges of consumers. */
static void result_dies(mt_node *node)
{
    node->result = NULL;
    mt_node_release(node);
}

mt_node *mt_node_new(const mt_op *op, mt_tensor *result, int edge_count)
{
    mt_node *node = mt_calloc(1, sizeof *node + (size_t)edge_count * sizeof(mt_edge));
    mt_tensor_on_release(result_dies);
    mt_finite_watch(op->name, result);
    node->op = op;
    node->number = ++last_number;
    node->refs = 1;
    node->result = result;
    node->shape = mt_shape_of(result);
    node->device = mt_device_of(result);
    node->edge_count = edge_count;
    return node;
}

mt_node *mt_node_retain(mt_node *node)
{
    node->refs++;
    return node;
}

static void drop_kept(mt_node *node)
{
    for (int i = 0; i < node->saved_count; i++)
        mt_release(node->saved[i].tensor);
    node->saved_count = 0;
    mt_release(node->grad);
    node->grad = NULL;
    free(node->user);
    node->user = NULL;
}

void mt_node_release(mt_node *node)
{
    mt_node_list dead = { 0 };
    if (--node->refs > 0)
        return;
    while (node) {
        for (int i = 0; i < node->edge_count; i++) {
            mt_node *input = node->edges[i].node;
            mt_release(node->edges[i].leaf);
            if (input && --input->refs == 0)
                mt_node_list_push(&dead, input);
        }
        drop_kept(node);
        free(node);
        node = dead.count > 0 ? mt_node_list_pop(&dead) : NULL;
    }
    mt_node_list_free(&dead);
}

void mt_node_copy_user(mt_node *node, const void *data, size_t size)
{
    node->user = mt_realloc(NULL, 1, size);
    memcpy(node->user, data, size);
}

/* ---- saving -------------------------------------------------------------------------------------------- */

static _Thread_local mt_keepers keepers;

void mt_keeper_begin(const mt_keeper *keeper)
{
    MT_CHECK(keepers.count < MT_COUNT(keepers.begun), "%d keepers are open: is an mt_keeper_end missing?",
             keepers.count);
    keepers.begun[keepers.count++] = keeper;
}

void mt_keeper_end(void)
{
    MT_CHECK(keepers.count > 0, "mt_keeper_end without mt_keeper_begin");
    keepers.count--;
}

mt_keepers mt_keepers_now(void)
{
    return keepers;
}

void mt_keepers_set(mt_keepers wanted)
{
    keepers = wanted;
}

/* The producer of tensor number `index` among those that node saves. Ops save their operands first and in order, so
 * that one of another float type has the values of the input of that number. */
static mt_node *producer_of(const mt_node *node, const mt_tensor *t, int index)
{
    if (t->dtype != MT_F32 && mt_is_float(t->dtype) && index < node->edge_count)
        return node->edges[index].node;
    for (int i = 0; i < node->edge_count; i++)
        if (t->node && node->edges[i].node == t->node)
            return t->node;
    return NULL;
}

/* What is saved is a second tensor with t's storage, and not t, which owns its node: the op's own result would then own
 * itself through that node, and freeing a long chain would recurse once for each node. */
static mt_saved save(const mt_node *node, const mt_tensor *t, int index)
{
    mt_saved saved = { .version = t->storage->version,
                       .kind = node->op->kind,
                       .producer = producer_of(node, t, index) };
    for (int k = keepers.count - 1; k >= 0 && !saved.keeper; k--)
        if (keepers.begun[k]->keep(&saved, t))
            saved.keeper = keepers.begun[k];
    if (!saved.keeper)
        saved.tensor = mt_tensor_alias(t);
    return saved;
}

void mt_save_tensors(mt_node *node, const mt_tensor *const *tensors, int count)
{
    for (int i = 0; node && i < count; i++) {
        MT_CHECK(node->saved_count < MT_NODE_SAVED, "%s saves more than %d tensors", node->op->name, MT_NODE_SAVED);
        node->saved[node->saved_count] = save(node, tensors[i], node->saved_count);
        node->saved_count++;
    }
}

/* What the keeper kept is replaced by the values themselves. */
static void restore(mt_saved *saved)
{
    mt_scope_begin();
    mt_no_grad_begin();
    mt_tensor *t = mt_retain(saved->keeper->restore(saved));
    mt_no_grad_end();
    mt_scope_end();
    mt_release(saved->tensor);
    *saved = (mt_saved){ .tensor = t, .version = t->storage->version };
}

mt_tensor *mt_saved_tensor(mt_node *node, int i)
{
    MT_CHECK(i >= 0 && i < node->saved_count, "%s saved %d tensors, not %d", node->op->name, node->saved_count, i + 1);
    if (node->saved[i].keeper)
        restore(&node->saved[i]);
    mt_tensor *t = node->saved[i].tensor;
    MT_CHECK(
        t->storage->version == node->saved[i].version,
        "backward of %s needs a tensor %s as it was in forward, but it was written in place since: write to a copy, or "
        "after mt_backward",
        node->op->name, mt_text_of(t));
    return t;
}

void mt_written(mt_tensor *t)
{
    t->storage->version++;
}

void mt_zero_grad(mt_tensor *leaf)
{
    mt_release(leaf->grad);
    leaf->grad = NULL;
}

/* ---- steps of backward ----------------------------------------------------------------------------------- */

mt_node *mt_backward_begin(mt_tensor *from, mt_tensor *gradient)
{
    mt_shape shape = mt_shape_of(from), of_gradient = mt_shape_of(gradient);
    MT_CHECK(from->node || !from->requires_grad,
             "backward from %s, a leaf: nothing was computed from it yet, so there is nothing to go back through",
             mt_shape_text(shape));
    MT_CHECK(from->node,
             "loss has no history: it was computed from nothing that requires a gradient, or inside mt_no_grad");
    MT_CHECK(mt_shape_equal(shape, of_gradient) && gradient->dtype == MT_F32 &&
                 mt_device_of(gradient) == from->node->device && mt_view_is_contiguous(&gradient->view),
             "backward from %s on %s: the gradient is %s %s on %s, it must have the same shape and device, and be f32 "
             "and contiguous",
             mt_shape_text(shape), mt_device_name(from->node->device), mt_dtype_name(gradient->dtype),
             mt_shape_text(of_gradient), mt_device_name(mt_device_of(gradient)));
    mt_node_check_fresh(from->node);
    from->node->grad = mt_retain(gradient);
    return from->node;
}

void mt_node_check_fresh(const mt_node *node)
{
    MT_CHECK(
        !node->consumed,
        "a second backward through %s %s: the first freed what it had saved; add the losses and call backward once",
        node->op->name, mt_shape_text(node->shape));
}

/* A gradient is not bound to a scope: it is freed when its last user releases it. */
mt_tensor *mt_grad_zeros(const mt_node *node, const mt_edge *edge)
{
    mt_tensor *memory = edge->leaf ? edge->leaf->grad_memory : NULL;
    if (memory) {
        mt_clear(mt_data(memory), mt_numel(memory) * (int64_t)sizeof(float), node->device);
        return mt_retain(memory);
    }
    return mt_zeros_for(edge->leaf ? MT_USE_GRADIENT : mt_alloc_use(), edge->shape, node->device);
}

void mt_node_backward(mt_node *node)
{
    MT_SPAN_OF("backward", node->op->name);
    MT_CHECK(
        !node->consumed,
        "backward of %s %s after mt_node_consume: a node is ready once, when its count reaches 0 (lab 03.7), and is "
        "consumed after its backward (03.8)",
        node->op->name, mt_shape_text(node->shape));
    node->op->backward(node, node->grad);
    for (int i = 0; i < node->edge_count; i++) {
        const mt_edge *edge = &node->edges[i];
        mt_finite_watch_grad(node->op->name, i, edge->node ? edge->node->grad : edge->leaf ? edge->leaf->grad : NULL);
    }
}

void mt_node_consume(mt_node *node, const mt_tensor *keep)
{
    drop_kept(node);
    node->consumed = true;
    mt_tensor *result = node->result;
    if (result && result != keep && result->refs == result->scoped)
        mt_tensor_drop(result);
}

/* ---- gradient-ready callbacks ---------------------------------------------------------------------------- */

typedef struct registration {
    mt_tensor *leaf;
    mt_grad_ready_fn *fn;
    void *user;
} registration;

/* In order of registration. Short, one or two per parameter: a search per finished gradient costs nothing beside it. */
static _Thread_local struct {
    registration *list;
    int64_t count, capacity;
} ready;

void mt_grad_ready(mt_tensor *leaf)
{
    for (int64_t i = 0; i < ready.count; i++)
        if (ready.list[i].leaf == leaf)
            ready.list[i].fn(ready.list[i].user, leaf);
}

void mt_grad_ready_on(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user)
{
    if (ready.count == ready.capacity) {
        ready.capacity = mt_max(16, 2 * ready.capacity);
        ready.list = mt_realloc(ready.list, ready.capacity, sizeof *ready.list);
    }
    ready.list[ready.count++] = (registration){ leaf, fn, user };
}

void mt_grad_ready_off(mt_tensor *leaf, mt_grad_ready_fn *fn, void *user)
{
    int64_t found = 0;
    while (found < ready.count &&
           (ready.list[found].leaf != leaf || ready.list[found].fn != fn || ready.list[found].user != user))
        found++;
    MT_CHECK(found < ready.count, "this callback was not registered for the gradient of %s in this thread",
             mt_text_of(leaf));
    for (int64_t i = found; i + 1 < ready.count; i++)
        ready.list[i] = ready.list[i + 1];
    if (--ready.count == 0) { /* threads come and go: leave nothing behind */
        free(ready.list);
        ready.list = NULL;
        ready.capacity = 0;
    }
}
