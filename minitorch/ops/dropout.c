/* dropout.c -- zeroes numbers at random while a model trains.
 * Kernels: dropout_* of kernels/kernels.h; CPU: kernels/rows_cpu.c; devices: kernels/tables.h. */
#include "ops/call.h"
#include "kernels/kernels.h"

/* The mask is not stored: backward draws it again from the same position of the same stream. */
static void dropout_backward(mt_node *node, mt_tensor *dout)
{
    mt_kernels(node->device)
        ->dropout_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_numel(dout), node->scalar, node->user);
    mt_count_work(2 * mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op dropout_op = { "dropout", MT_OP_ELEMENTWISE, dropout_backward };

mt_tensor *mt_dropout(mt_tensor *x, float p, mt_rng *rng)
{
    MT_CALL(c, &dropout_op, { &x, MT_DENSE });
    MT_CHECK(p >= 0 && p < 1, "dropout: p is %g, it must be in [0, 1)", (double)p);
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->dropout_fwd(mt_f32(out), mt_f32(x), mt_numel(x), p, rng);
    mt_node *node = mt_call_end(&c, mt_numel(x), 8 * mt_numel(x));
    if (node) {
        node->scalar = p;
        mt_node_copy_user(node, rng, sizeof *rng);
    }
    rng->counter += (uint64_t)((mt_numel(x) + 3) / 4);
    return out;
}
