/* gather_rows.c -- rows of a table by their numbers (an embedding).
 * Kernels: gather_rows_* of kernels/kernels.h; CPU: kernels/rows_cpu.c; devices: kernels/tables.h. */
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
