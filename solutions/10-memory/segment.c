/* segment.c -- a module whose forward keeps its input only, and whose backward computes the rest again. */
#include "memory/segment.h"

#include "autograd/node.h"
#include "core/scope.h"
#include "ops/policy.h"

#include <stdlib.h>

/* What a module's forward depends on beside x, at one moment. */
typedef struct conditions {
    mt_module *module;
    mt_mode mode;
    mt_cast_policy *policy;
    void *policy_user;
    mt_keepers keepers;
    int64_t number[]; /* of each item of mt_module_state: a random-number stream's, or the version of a parameter */
} conditions;

/* As they are now; the caller frees them. */
static conditions *conditions_now(mt_module *module)
{
    mt_state state = { 0 };
    mt_module_state(&state, module);
    conditions *now = malloc(sizeof *now + (size_t)state.count * sizeof now->number[0]);
    MT_CHECK(now, "out of memory");
    *now = (conditions){ .module = module, .mode = module->mode, .keepers = mt_keepers_now() };
    now->policy = mt_cast_policy_get(&now->policy_user);
    for (int64_t i = 0; i < state.count; i++)
        now->number[i] = state.item[i].integer ? *state.item[i].integer : state.item[i].tensor->storage->version;
    mt_state_free(&state);
    return now;
}

/* Abort where forward would compute something else now, and nothing can be done about it. */
static void check_unchanged(const conditions *then)
{
    mt_state state = { 0 };
    mt_module_state(&state, then->module);
    MT_CHECK(then->mode == then->module->mode, "a segment (%s) is computed again in another mode than in forward",
             then->module->kind->name);
    MT_CHECK(mt_recording(), "backward of a segment (%s) inside mt_no_grad", then->module->kind->name);
    for (int64_t i = 0; i < state.count; i++)
        MT_CHECK(state.item[i].integer || state.item[i].tensor->storage->version == then->number[i],
                 "backward of a segment (%s) needs its parameter %s as it was in forward, but it was written in place "
                 "since: update parameters after mt_backward",
                 then->module->kind->name, state.item[i].name);
    mt_state_free(&state);
}

/* Put random-number streams, cast policy and keepers back to what they were. */
static void conditions_restore(const conditions *then)
{
    mt_state state = { 0 };
    mt_module_state(&state, then->module);
    /* LAB 10.3 BEGIN  Random numbers, policy and keepers of an earlier moment.
     * Hint: the items of the state are in the same order as in conditions_now; those with an integer belong to
     * random-number streams. The policy and the keepers are set by functions of their headers. */
    for (int64_t i = 0; i < state.count; i++)
        if (state.item[i].integer)
            *state.item[i].integer = then->number[i];
    mt_cast_policy_set(then->policy, then->policy_user);
    mt_keepers_set(then->keepers);
    /* LAB 10.3 END */
    mt_state_free(&state);
}

/* The node of a segment: its edges are x and all parameters, so that each parameter waits for this node. */
static mt_node *record(const mt_module *module, mt_tensor *out, mt_tensor *x)
{
    static const mt_op segment_op = { "segment", MT_OP_ELEMENTWISE, mt_segment_backward };
    mt_state params = mt_module_params(module);
    mt_tensor *inputs[1 + params.count];
    inputs[0] = x;
    for (int64_t i = 0; i < params.count; i++)
        inputs[1 + i] = params.item[i].tensor;
    mt_node *node = mt_record(&segment_op, out, inputs, 1 + (int)params.count);
    mt_state_free(&params);
    return node;
}

/* Keep x as it is: autocast would round it, and what is computed from that would differ from forward. */
static void save_exactly(mt_node *node, mt_tensor *x)
{
    mt_keepers now = mt_keepers_now();
    mt_keepers_set((mt_keepers){ 0 });
    mt_save(node, x);
    mt_keepers_set(now);
}

/* The module's own forward, and of the tensors that it makes only those that backward reads. */
static mt_tensor *compute(mt_module *module, mt_tensor *x)
{
    mt_scope_begin();
    mt_tensor *out = mt_retain(module->kind->forward(module, x));
    mt_scope_end();
    return mt_scope_adopt(out);
}

mt_tensor *mt_segment_forward(mt_module *module, mt_tensor *x)
{
    if (!mt_recording())
        return compute(module, x);
    conditions *then = NULL;
    mt_tensor *out = NULL;
    /* LAB 10.2 BEGIN  The module's forward; only its result is kept.
     * Hint: ops record nothing while the tape is off (autograd/tape.h). `compute` draws random numbers: the conditions
     * `then` are those before it. */
    then = conditions_now(module);
    mt_no_grad_begin();
    out = compute(module, x);
    mt_no_grad_end();
    /* LAB 10.2 END */
    mt_node *node = NULL;
    if (out != x) {           /* x itself: a dropout layer that drops nothing */
        out = mt_detach(out); /* the result may be a tensor that others hold, too: it must not get a node */
        node = record(module, out, x);
    }
    /* LAB 10.2 BEGIN  What backward needs.
     * Hint: the node keeps x bit for bit (save_exactly, which does nothing if node is NULL) and owns `then` as its
     * user; who frees `then` if there is no node? */
    save_exactly(node, x);
    if (node)
        node->user = then;
    else
        free(then);
    /* LAB 10.2 END */
    return out;
}

static void nothing_before(mt_node *node, mt_tensor *dout)
{
    (void)node, (void)dout;
}

/* The input of forward once more: a leaf if it was one, else the result of a node without inputs, where the walk back
 * ends. */
static mt_tensor *input_again(mt_node *node)
{
    static const mt_op input_op = { "input", MT_OP_ELEMENTWISE, nothing_before };
    mt_tensor *x = mt_detach(mt_saved_tensor(node, 0)), **grad = NULL;
    if (node->edges[0].leaf) {
        x->requires_grad = true;
        grad = &x->grad;
    } else if (node->edges[0].node) {
        x->node = mt_node_new(&input_op, x, 0);
        grad = &x->node->grad;
    }
    /* LAB 10.3 BEGIN  The buffer for the gradient of x.
     * Hint: if x wants a gradient (grad is not NULL), *grad must be the buffer to which the segment's own node adds, so
     * that all users of x add to one sum. It needs a reference of its own. */
    if (grad)
        *grad = mt_retain(mt_grad_of_input(node, 0));
    /* LAB 10.3 END */
    return x;
}

void mt_segment_backward(mt_node *node, mt_tensor *dout)
{
    const conditions *then = node->user;
    mt_tensor *again = NULL;
    conditions *now = conditions_now(then->module);
    check_unchanged(then);
    mt_scope_begin();
    /* LAB 10.3 BEGIN  Forward once more, recorded.
     * Hint: `compute` needs the same x without its history (input_again) and the conditions `then`; afterwards the
     * conditions `now` hold again. */
    conditions_restore(then);
    again = compute(then->module, input_again(node));
    conditions_restore(now);
    /* LAB 10.3 END */
    /* LAB 10.3 BEGIN  Gradients, from the result back to x and the parameters.
     * Hint: the walk begins at the result with dout (autograd/tape.h). It adds to the parameters' gradients, each of
     * which still waits for this node, and so is reported ready later, once. A result without a node depends on no
     * parameter. */
    if (again->node)
        mt_backward_from(again, dout);
    /* LAB 10.3 END */
    mt_scope_end();
    free(now);
}
