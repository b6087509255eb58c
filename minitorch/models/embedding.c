/* embedding.c -- a row for each token, plus a row for its position.
 * Kernels: embedding_* of models/kernels_gpt2.h; CPU: unit embedding.c of lab 08; devices: kernels/tables.h. */
#include "ops/call.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"

#include <inttypes.h>

static void embedding_backward(mt_node *node, mt_tensor *dout)
{
    const int64_t *d = node->shape.dim;
    mt_gpt2_kernels(node->device)
        ->embedding_bwd(mt_grad_data(node, 0), mt_grad_data(node, 1), mt_f32(dout), mt_data(mt_saved_tensor(node, 0)),
                        d[0], d[1], d[2]);
    mt_count_work(2 * mt_numel(dout), 24 * mt_numel(dout));
}

static const mt_op embedding_op = { "embedding", MT_OP_ELEMENTWISE, embedding_backward };

mt_tensor *mt_embedding(mt_tensor *wte, mt_tensor *wpe, mt_tensor *ids)
{
    MT_CALL(c, &embedding_op, { &wte, MT_DENSE }, { &wpe, MT_DENSE }, { &ids, MT_INTEGER });
    MT_CHECK(ids->dtype == MT_I32 && ids->view.rank == 2, "embedding: ids are %s %s: they must be i32 [B,T]",
             mt_dtype_name(ids->dtype), mt_text_of(ids));
    int64_t B = ids->view.shape[0], T = ids->view.shape[1];
    MT_CHECK(wte->view.rank == 2 && wpe->view.rank == 2 && wte->view.shape[1] == wpe->view.shape[1],
             "embedding: wte is %s, wpe is %s: they must be [V,C] and [positions,C]", mt_text_of(wte), mt_text_of(wpe));
    MT_CHECK(T <= wpe->view.shape[0], "embedding: ids are %s, but there are only %" PRId64 " positions",
             mt_text_of(ids), wpe->view.shape[0]);
    int64_t V = wte->view.shape[0], C = wte->view.shape[1];
    mt_tensor *out = mt_call_result(&c, MT_SHAPE(B, T, C));
    mt_gpt2_kernels(c.device)->embedding_fwd(mt_f32(out), mt_data(ids), mt_f32(wte), mt_f32(wpe), B, T, V, C);
    mt_save(mt_call_end(&c, mt_numel(out), 12 * mt_numel(out)), ids);
    return out;
}
