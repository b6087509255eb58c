/* calls_03_misuse.c -- graphs that are used twice, and ops that pass on no gradient: what must abort, and what must
 * not. */
#include "autograd/node.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "worker/aborts.h"
#include "worker/calls_03.h"
#include "worker/graph.h"

/* ---- misuse: it must abort ------------------------------------------------------------------------------------ */

static void backward(const mg_value *loss)
{
    mt_backward(loss->ptr);
}

static bool refuses(mt_tensor *loss)
{
    return mg_aborts(backward, &(mg_value){ .ptr = loss });
}

static void must_get_a_gradient(mt_node *node, mt_tensor *dout)
{
    MT_CHECK(dout, "backward of %s, which no gradient has reached", node->op->name);
}

static void count_news(void *user, mt_tensor *leaf)
{
    (void)leaf;
    ++*(int64_t *)user;
}

/* An op delivers no gradient to its input, the result of another, whose inputs are a leaf and a value that reaches the
 * loss along another path too: facts [5], see misuse; grad [S] of x after another sum of x * x. */
static void idle_branch(const mg_value *v, mt_tensor *x)
{
    int64_t *facts = I64(facts);
    static const mt_op idle_op = { "idle", MT_OP_ELEMENTWISE, must_get_a_gradient };
    mt_tensor *idle = mt_full(MT_SHAPE(2), 0), *out = mt_full(MT_SHAPE(2), 0), *h = mt_mul(x, x);
    mt_tensor *leaf = mg_03_full_leaf(MT_SHAPE(2), 1);
    mt_grad_ready_on(leaf, count_news, &facts[3]);
    mt_record(&idle_op, idle, (mt_tensor *[]){ h, leaf }, 2);
    mt_record(&mg_03_test_op, out, &idle, 1);
    facts[1] = refuses(mt_add(mt_sum(out), mt_sum(h)));
    facts[2] = idle->node && idle->node->consumed;
    mt_grad_ready_off(leaf, count_news, &facts[3]);
    mg_03_copy_grad(F(grad), x, ARRAY(grad)->count);
}

/* A loss that is recorded after the first backward, on a value that it went through. */
static bool refuses_later_loss(mt_tensor *x)
{
    mt_tensor *h = mt_retain(mt_mul(x, x));
    bool refused = !refuses(mt_sum(h)) && refuses(mt_sum(mt_mul(h, x)));
    mt_release(h);
    return refused;
}

/* facts [5] = the right use was refused, the other one; of an idle branch: its node was emptied, its leaf announced; of
 * a shared part: a later loss was refused; grad [S] after the right use; x [S]; how */
void mg_03_misused(const mg_value *v)
{
    int64_t *facts = I64(facts);
    int64_t S = ARRAY(grad)->count, how = N(how);
    bool once = false; /* the loss of one node is allowed once */
    mt_scope_begin();
    mt_tensor *x = mg_03_leaf(MT_SHAPE(S), F(x)), *part = mt_scale(x, 1), *h = mt_mul(part, x);
    mt_tensor *first = mt_sum(h), *of_one_node = mt_sum(x), *of_part = mt_sum(mt_scale(part, 3));
    mt_tensor *second = how == MG_SHARED_PART ? mt_sum(mt_scale(h, 3)) : first;
    facts[0] = refuses(first);
    mg_03_copy_grad(F(grad), x, S);
    if (how == MG_WRITTEN || how == MG_WRITTEN_UNSAVED) {
        second = mt_sum(how == MG_WRITTEN ? mt_mul(x, x) : mt_scale(x, 3));
        mt_f32(x)[0] = 1;
        mt_written(x);
    }
    facts[2] = facts[3] = 0;
    facts[4] = how == MG_SHARED_PART && refuses_later_loss(x);
    if (how == MG_SAME_LOSS_TWICE)
        once = !refuses(of_one_node);
    if (how == MG_IDLE_BRANCH)
        idle_branch(v, x);
    else
        facts[1] = (how != MG_SHARED_PART || refuses(of_part)) && refuses(second) &&
                   (how != MG_SAME_LOSS_TWICE || (once && refuses(of_one_node)));
    mt_scope_end();
}
