/* classifier_op.c -- the head of a model and its mean loss: logits and cross-entropy in one buffer.
 * Kernels: classifier_* of models/kernels_gpt2.h; CPU: unit classifier.c of lab 08; devices: kernels/tables.h. In
 * f32 mt_gpt2_products_of() calls the kernels of the tensors' device and nothing else. */
#include "ops/call.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"

#include <inttypes.h>

static void classifier_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    mt_tensor *probs = mt_saved_tensor(node, 2), *target = mt_saved_tensor(node, 3);
    int64_t N = probs->view.shape[0], C = w->view.shape[1], V = probs->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    mt_scope_begin();
    const float *dloss = mt_f32(mt_mean_shares(dout, N));
    mt_gpt2_products_of(x->dtype)->classifier_bwd(dx, dw, probs, dloss, x, w, target);
    mt_scope_end();
    int64_t size = mt_dtype_size(x->dtype);
    mt_count_work(2 * N * V * C * ((dx != NULL) + (dw != NULL)),
                  8 * N * V + (dx ? size * V * C + 8 * N * C : 0) + (dw ? size * N * C + 8 * V * C : 0));
}

static const mt_op classifier_op = { "classifier", MT_OP_MATMUL, classifier_backward };

mt_tensor *mt_classifier(mt_tensor *x, mt_tensor *w, mt_tensor *target, int64_t classes)
{
    MT_CALL(c, &classifier_op, { &x, MT_OPERAND }, { &w, MT_OPERAND }, { &target, MT_INTEGER });
    int64_t N = mt_rows(x), C = mt_last_dim("classifier", x);
    MT_CHECK(w->view.rank == 2 && w->view.shape[1] == C && target->dtype == MT_I32 && mt_numel(target) == N,
             "classifier: x is %s, w is %s, target is %s %s: they must be [...,C], [V,C] and i32 [...]", mt_text_of(x),
             mt_text_of(w), mt_dtype_name(target->dtype), mt_text_of(target));
    MT_CHECK(classes >= 1 && classes <= w->view.shape[0] && N >= 1,
             "classifier: the mean over %" PRId64 " rows of %" PRId64 " classes, w is %s", N, classes, mt_text_of(w));
    mt_tensor *loss = mt_call_result(&c, MT_SCALAR);
    const mt_gpt2_table *kernels = mt_gpt2_kernels(c.device);
    if (kernels->classifier_rest && kernels->classifier_rest(&c, loss, x, w, target, classes))
        return loss;
    mt_scope_begin(); /* probs, the largest array of all, lives until backward has read it, not as long as the loss */
    mt_tensor *probs = mt_empty(MT_SHAPE(N, classes), MT_F32, c.device),
              *rows = mt_empty(MT_SHAPE(N), MT_F32, c.device);
    mt_gpt2_products_of(c.dtype)->classifier_fwd(rows, probs, x, w, target);
    mt_kernels(c.device)->mean_fwd(mt_f32(loss), mt_f32(rows), N);
    int64_t bytes = mt_dtype_size(c.dtype) * (N * C + classes * C) + 8 * N * classes;
    mt_save(mt_call_end(&c, 2 * N * classes * C, bytes), x, w, probs, target);
    mt_scope_end();
    return loss;
}
