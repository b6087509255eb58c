/* sequence_parallel.c -- tensor parallelism in which tokens are divided outside the products; see
 * parallel/sequence_parallel.h. */
#include "parallel/sequence_parallel.h"

#include <inttypes.h>

#include "ops/call.h"

/* ---- gather and scatter ---------------------------------------------------------------------------------- */

static void gather_backward(mt_node *node, mt_tensor *dout)
{
    mt_tp *tp = *(mt_tp **)node->user;
    mt_tensor *dx = mt_grad_of_input(node, 0);
    mt_scope_begin();
    /* TODO 14.14: Each rank has a summand of the gradient of all tokens: this rank gets the sum for its own.
     * Hint: gradients accumulate: reduce into a tensor like dx, and add that (scale_bwd of mt_kernels). */
    MT_TODO("14.14"); /* delete this line when yours stands here */
    mt_scope_end();
}

static void scatter_backward(mt_node *node, mt_tensor *dout)
{
    mt_tp *tp = *(mt_tp **)node->user;
    mt_tensor *dx = mt_grad_of_input(node, 0);
    mt_scope_begin();
    /* TODO 14.14: Each rank's summand goes into the sums of all ranks, and has the gradients of all of them. */
    MT_TODO("14.14"); /* delete this line when yours stands here */
    mt_scope_end();
}

mt_tensor *mt_sp_gather(mt_tp *tp, mt_tensor *x)
{
    static const mt_op op = { "sp_gather", MT_OP_ELEMENTWISE, gather_backward };
    MT_CALL(c, &op, { &x, MT_DENSE });
    mt_tensor *out = NULL;
    /* TODO 14.14: The result, with all ranks' rows, and what brings them.
     * Hint: mt_call_result(&c, shape) makes it. */
    MT_TODO("14.14"); /* delete this line when yours stands here */
    mt_node *node = mt_call_end(&c, 0, 4 * (mt_numel(x) + mt_numel(out)));
    if (node)
        mt_node_copy_user(node, &tp, sizeof tp);
    return out;
}

mt_tensor *mt_sp_scatter(mt_tp *tp, mt_tensor *x)
{
    static const mt_op op = { "sp_scatter", MT_OP_ELEMENTWISE, scatter_backward };
    MT_CALL(c, &op, { &x, MT_DENSE });
    MT_CHECK(mt_rows(x) % tp->comm->size == 0,
             "%s: %" PRId64 " tokens cannot be divided equally among %d ranks: use as many tokens as a multiple of %d",
             op.name, mt_rows(x), tp->comm->size, tp->comm->size);
    mt_tensor *out = NULL;
    /* TODO 14.14: The result, with this rank's rows of the sum. */
    MT_TODO("14.14"); /* delete this line when yours stands here */
    mt_node *node = mt_call_end(&c, 0, 4 * (mt_numel(x) + mt_numel(out)));
    if (node)
        mt_node_copy_user(node, &tp, sizeof tp);
    return out;
}

/* ---- products -------------------------------------------------------------------------------------------- */

mt_tensor *mt_sp_column_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    /* TODO 14.15: Some columns of the result, for all tokens. */
    MT_TODO("14.15"); /* delete this line when yours stands here */
}

mt_tensor *mt_sp_row_linear(mt_tp *tp, mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    /* TODO 14.15: One summand of each rank, for all tokens; b belongs to the sum, of this rank's tokens. */
    MT_TODO("14.15"); /* delete this line when yours stands here */
}

/* ---- gradients of what all ranks have --------------------------------------------------------------------- */

/* Copies all gradients, one after the other, into `to`, or back from it. Returns their elements; to NULL: only that. */
static int64_t copy_gradients(float *to, mt_tensor *const *params, int64_t count, bool back)
{
    int64_t n = 0;
    for (int64_t i = 0; i < count; i++) {
        mt_tensor *grad = params[i]->grad;
        if (!grad)
            continue;
        mt_device device = mt_device_of(grad);
        int64_t bytes = mt_numel(grad) * (int64_t)sizeof(float);
        if (to && back)
            mt_copy(mt_f32(grad), device, to + n, device, bytes);
        else if (to)
            mt_copy(to + n, device, mt_f32(grad), device, bytes);
        n += mt_numel(grad);
    }
    return n;
}

void mt_sp_sum_gradients(mt_tp *tp, mt_tensor *const *params, int64_t count)
{
    int64_t n = copy_gradients(NULL, params, count, false);
    if (n == 0)
        return;
    mt_scope_begin();
    mt_tensor *all = mt_empty(MT_SHAPE(n), MT_F32, mt_device_of(params[0]));
    /* TODO 14.15: All gradients in one array, which is summed over the ranks.
     * Hint: copy_gradients copies them into `all`, and back. */
    MT_TODO("14.15"); /* delete this line when yours stands here */
    mt_scope_end();
}
