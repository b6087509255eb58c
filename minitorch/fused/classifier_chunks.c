/* classifier_chunks.c -- the head of a model and its mean loss, a chunk of rows at a time; see fused.h.
 * Kernels: classifier_chunked_* of fused/kernels_fused.h; CPU: unit chunked.c of lab 11; devices: kernels/tables.h. */
#include "ops/call.h"
#include "fused/fused.h"
#include "fused/kernels_fused.h"
#include "kernels/kernels.h"

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
    bool wanted = mt_recording() && mt_wants_grad(w);
    return c->device == MT_CPU && c->dtype == MT_F32 &&
           mt_classifier_chunks(N, C, V, wanted && (w->node || w->grad || w->grad_memory) ? mt_numel(w) : 0);
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

bool mt_classifier_chunked_rest(mt_call *c, mt_tensor *loss, mt_tensor *x, mt_tensor *w, mt_tensor *target, int64_t V)
{
    int64_t N = mt_rows(x), C = mt_dim(x, -1), rows = mt_min(N, MT_CLASSIFIER_ROWS);
    if (!in_chunks(c, w, N, C, V))
        return false;
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
    return true;
}
