/* rows.c -- rows of a table (an embedding); dropout. */
#include "ops/call.h"
#include "kernels/kernels.h"

static void gather_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *ids = mt_saved_tensor(node, 0);
    const int64_t *table = node->edges[0].shape.dim;
    mt_kernels(node->device)
        ->gather_rows_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_data(ids), mt_numel(ids), table[0], table[1]);
    mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
}

static const mt_op gather_op = { "gather_rows", MT_OP_ELEMENTWISE, gather_backward };

mt_tensor *mt_gather_rows(mt_tensor *table, mt_tensor *ids)
{
    MT_CALL(c, &gather_op, { &table, MT_DENSE }, { &ids, MT_INTEGER });
    mt_shape shape = mt_shape_of(ids);
    MT_CHECK(table->view.rank == 2 && ids->dtype == MT_I32 && shape.rank < MT_MAX_RANK,
             "gather_rows: table is %s, ids are %s %s: they must be [V,C] and i32", mt_text_of(table),
             mt_dtype_name(ids->dtype), mt_text_of(ids));
    int64_t V = table->view.shape[0], C = table->view.shape[1];
    shape.dim[shape.rank++] = C;
    mt_tensor *out = mt_call_result(&c, shape);
    mt_kernels(c.device)->gather_rows_fwd(mt_f32(out), mt_f32(table), mt_data(ids), mt_numel(ids), V, C);
    mt_save(mt_call_end(&c, 0, 8 * mt_numel(out)), ids);
    return out;
}

/* ---- dropout --------------------------------------------------------------------------------------- */

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
