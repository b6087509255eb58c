/* gpt2.c -- the ops that only language models need: token and place, attention, the classifier with its loss. */
#include "ops/op.h"

#include <inttypes.h>

/* ---- embedding ---------------------------------------------------------------------------------------- */

static void embedding_backward(mt_node *node, mt_tensor *dout)
{
    const int64_t *d = node->shape.dim;
    mt_kernels(node->device)
        ->embedding_bwd(mt_grad_data(node, 0), mt_grad_data(node, 1), mt_f32(dout), mt_data(mt_saved_tensor(node, 0)),
                        d[0], d[1], d[2]);
    mt_count_work(2 * mt_numel(dout), 24 * mt_numel(dout));
}

static const mt_op embedding_op = { .name = "embedding", .backward = embedding_backward };

mt_tensor *mt_embedding(mt_tensor *wte, mt_tensor *wpe, mt_tensor *ids)
{
    MT_SPAN("embedding");
    mt_op_check_pair("embedding", wte, wpe);
    MT_CHECK(ids->dtype == MT_I32 && ids->view.rank == 2, "embedding: ids are %s %s: they must be i32 [B,T]",
             mt_dtype_name(ids->dtype), mt_text_of(ids));
    int64_t B = ids->view.shape[0], T = ids->view.shape[1];
    MT_CHECK(wte->view.rank == 2 && wpe->view.rank == 2 && wte->view.shape[1] == wpe->view.shape[1],
             "embedding: wte is %s, wpe is %s: they must be [V,C] and [places,C]", mt_text_of(wte), mt_text_of(wpe));
    MT_CHECK(T <= wpe->view.shape[0], "embedding: ids are %s, but there are only %" PRId64 " places", mt_text_of(ids),
             wpe->view.shape[0]);
    mt_op_check_device("embedding", wte, ids);
    int64_t V = wte->view.shape[0], C = wte->view.shape[1];
    wte = mt_dense(wte);
    wpe = mt_dense(wpe);
    ids = mt_dense(ids);
    mt_tensor *out = mt_result(MT_SHAPE(B, T, C), wte);
    mt_kernels(mt_device_of(wte))->embedding_fwd(mt_f32(out), mt_data(ids), mt_f32(wte), mt_f32(wpe), B, T, V, C);
    mt_count_work(mt_numel(out), 12 * mt_numel(out));
    mt_node *node = mt_record(&embedding_op, out, (mt_tensor *[]){ wte, wpe }, 2);
    if (node)
        mt_save(node, ids);
    return out;
}

/* ---- attention ---------------------------------------------------------------------------------------- */

/* Multiply-adds of one product of queries and keys, the causal half, as two FLOPs each. */
static int64_t attention_flops(const int64_t *d)
{
    return d[0] * d[1] * (d[1] + 1) * d[2];
}

static void attention_backward(mt_node *node, mt_tensor *dout)
{
    const int64_t *d = node->shape.dim;
    mt_kernels(node->device)
        ->attention_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_saved_data(node, 0), mt_saved_data(node, 1),
                        mt_f32(mt_saved_tensor(node, 2)), d[0], d[1], d[2], node->dims[0]);
    mt_count_work(5 * attention_flops(d), 44 * mt_numel(dout));
}

static const mt_op attention_op = { .name = "attention", .backward = attention_backward };

mt_tensor *mt_attention(mt_tensor *qkv, int64_t heads)
{
    MT_SPAN("attention");
    mt_op_check("attention", qkv);
    MT_CHECK(qkv->view.rank == 3 && qkv->view.shape[2] % 3 == 0, "attention: qkv is %s, it must be [B,T,3C]",
             mt_text_of(qkv));
    int64_t B = qkv->view.shape[0], T = qkv->view.shape[1], C = qkv->view.shape[2] / 3;
    qkv = mt_dense(qkv);
    mt_tensor *out = mt_result(MT_SHAPE(B, T, C), qkv);
    mt_tensor *saved = mt_result(MT_SHAPE(mt_kernels(mt_device_of(qkv))->attention_saved(B, T, heads)), qkv);
    mt_kernels(mt_device_of(qkv))->attention_fwd(mt_f32(out), mt_f32(saved), mt_f32(qkv), B, T, C, heads);
    mt_count_work(2 * attention_flops((int64_t[]){ B, T, C }), 16 * mt_numel(out));
    mt_node *node = mt_record(&attention_op, out, &qkv, 1);
    if (node) {
        mt_save(node, qkv);
        mt_save(node, out);
        mt_save(node, saved);
        node->dims[0] = heads;
    }
    return out;
}

/* ---- classifier --------------------------------------------------------------------------------------- */

static void classifier_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    mt_tensor *probs = mt_saved_tensor(node, 2), *target = mt_saved_tensor(node, 3);
    int64_t N = x->view.shape[0], C = x->view.shape[1], V = probs->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    mt_scope_begin();
    const float *dloss = mt_f32(mt_mean_shares(dout, N));
    mt_kernels(node->device)
        ->classifier_bwd(dx, dw, mt_f32(probs), dloss, mt_f32(x), mt_f32(w), mt_data(target), N, C, V);
    mt_scope_end();
    mt_count_work(2 * N * V * C * ((dx != NULL) + (dw != NULL)),
                  4 * (2 * N * V + (dx ? V * C + 2 * N * C : 0) + (dw ? N * C + 2 * V * C : 0)));
}

static const mt_op classifier_op = { .name = "classifier", .backward = classifier_backward };

mt_tensor *mt_classifier(mt_tensor *x, mt_tensor *w, mt_tensor *target, int64_t classes)
{
    MT_SPAN("classifier");
    mt_op_check_pair("classifier", x, w);
    MT_CHECK(x->view.rank == 2 && w->view.rank == 2 && x->view.shape[1] == w->view.shape[1] && target->view.rank == 1 &&
                 target->dtype == MT_I32 && target->view.shape[0] == x->view.shape[0],
             "classifier: x is %s, w is %s, target is %s %s: they must be [N,C], [V,C] and i32 [N]", mt_text_of(x),
             mt_text_of(w), mt_dtype_name(target->dtype), mt_text_of(target));
    int64_t N = x->view.shape[0], C = x->view.shape[1];
    MT_CHECK(classes >= 1 && classes <= w->view.shape[0] && N >= 1,
             "classifier: the mean over %" PRId64 " rows of %" PRId64 " classes, w is %s", N, classes, mt_text_of(w));
    mt_op_check_device("classifier", x, target);
    const mt_kernel_table *kernels = mt_kernels(mt_device_of(x));
    x = mt_dense(x);
    w = mt_dense(w);
    target = mt_dense(target);
    mt_tensor *loss = mt_result(MT_SCALAR, x);
    mt_scope_begin(); /* probs, the largest array of all, shall live until backward has passed, not as long as the loss */
    mt_tensor *probs = mt_result(MT_SHAPE(N, classes), x), *rows = mt_result(MT_SHAPE(N), x);
    kernels->classifier_fwd(mt_f32(rows), mt_f32(probs), mt_f32(x), mt_f32(w), mt_data(target), N, C, classes);
    kernels->mean_fwd(mt_f32(loss), mt_f32(rows), N);
    mt_count_work(2 * N * classes * C, 4 * (N * C + classes * C + 2 * N * classes));
    mt_node *node = mt_record(&classifier_op, loss, (mt_tensor *[]){ x, w }, 2);
    if (node) {
        mt_save(node, x);
        mt_save(node, w);
        mt_save(node, probs);
        mt_save(node, target);
    }
    mt_scope_end();
    return loss;
}
