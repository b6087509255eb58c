/* classifier_op.c -- the head of a model and its mean loss: logits and cross-entropy in one buffer, or in chunks. */
#include "ops/call.h"
#include "fused/kernels_fused.h"
#include "models/kernels_gpt2.h"
#include "models/gpt2_ops.h"

#include <inttypes.h>

/* The classifier in chunks is lab 11's. The Makefile defines MT_PLAIN for programs with lab 08 yours and lab 11 not. */
#ifdef MT_PLAIN
enum { FUSED = 0 };
#else
enum { FUSED = 1 };
#endif

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

/* Gradients that forward made, times that of the loss. One that is the first of its tensor stays where it is. */
static void chunked_backward(mt_node *node, mt_tensor *dout)
{
    float factor = mt_f32(dout)[0];
    for (int i = 0, saved = 0; i < 2; i++) {
        mt_edge *e = &node->edges[i];
        mt_tensor **grad = e->node ? &e->node->grad : e->leaf ? &e->leaf->grad : NULL;
        if (!grad)
            continue;
        mt_tensor *made = mt_saved_tensor(node, saved++);
        int64_t n = mt_numel(made);
        bool first = !*grad && !(e->leaf && e->leaf->grad_memory);
        if (first)
            *grad = mt_retain(made);
        if (first && factor != 1)
            mt_kernels(MT_CPU)->scale_fwd(mt_f32(made), mt_f32(made), factor, n);
        else if (!first)
            mt_kernels(MT_CPU)->scale_bwd(mt_grad_data(node, i), mt_f32(made), factor, n);
        mt_count_work(first ? 0 : n, first ? factor == 1 ? 0 : 8 * n : 12 * n);
    }
}

static const mt_op chunked_op = { "classifier", MT_OP_MATMUL, chunked_backward };

/* Another gradient of w would be beside the one that forward makes. */
static bool in_chunks(const mt_call *c, const mt_tensor *w, int64_t N, int64_t C, int64_t V)
{
    bool fused = FUSED && c->device == MT_CPU && c->dtype == MT_F32, wanted = mt_recording() && mt_wants_grad(w);
    return fused && mt_classifier_chunks(N, C, V, wanted && (w->node || w->grad || w->grad_memory) ? mt_numel(w) : 0);
}

/* A gradient of t that forward makes; NULL: none is wanted. */
static mt_tensor *made_for(const mt_tensor *t, mt_memory_use use)
{
    if (!mt_recording() || !mt_wants_grad(t))
        return NULL;
    mt_memory_use before = mt_alloc_for(use);
    mt_tensor *made = mt_empty(mt_shape_of(t), MT_F32, MT_CPU);
    mt_alloc_for(before);
    return made;
}

/* The rest of mt_classifier: fills loss, ends the call. */
static void chunked_forward(mt_call *c, mt_tensor *loss, mt_tensor *x, mt_tensor *w, mt_tensor *target, int64_t V)
{
    int64_t N = mt_rows(x), C = mt_dim(x, -1), rows = mt_min(N, MT_CLASSIFIER_ROWS);
    mt_scope_begin();
    mt_tensor *dx = made_for(x, mt_alloc_use()), *dw = made_for(w, MT_USE_GRADIENT);
    mt_scope_begin();
    mt_tensor *losses = mt_empty(MT_SHAPE(N), MT_F32, MT_CPU), *logits = mt_empty(MT_SHAPE(rows, V), MT_F32, MT_CPU);
    mt_fused_kernels(MT_CPU)->classifier_chunked_fwd(mt_f32(losses), dx ? mt_f32(dx) : NULL, dw ? mt_f32(dw) : NULL,
                                                     mt_f32(logits), mt_f32(x), mt_f32(w), mt_data(target), N, C, V,
                                                     rows, 1 / (float)N);
    mt_kernels(MT_CPU)->mean_fwd(mt_f32(loss), mt_f32(losses), N);
    mt_scope_end();
    if (dw) /* rows that belong to no class */
        mt_clear(mt_f32(dw) + V * C, (mt_numel(dw) - V * C) * (int64_t)sizeof(float), MT_CPU);
    int64_t chunks = (N + rows - 1) / rows;
    int products = 1 + (dx != NULL) + (dw != NULL);
    c->op = &chunked_op;
    mt_node *node = mt_call_end(
        c, 2 * N * V * C * products,
        4 * (products * N * C + chunks * V * C * (1 + (dx != NULL) + 2 * (dw != NULL)) + 2 * N * V * products));
    mt_save_tensors(node, (const mt_tensor *[]){ dx ? dx : dw, dw }, products - 1);
    mt_scope_end();
}

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
    if (in_chunks(&c, w, N, C, classes)) {
        chunked_forward(&c, loss, x, w, target, classes);
        return loss;
    }
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
