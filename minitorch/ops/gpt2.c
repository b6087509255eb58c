/* gpt2.c -- the ops of GPT-2: layernorm, embedding of tokens and positions, the residual stream, attention, the
 * classifier with its loss. */
#include "ops/autocast.h"
#include "ops/call.h"
#include "ops/kernels_16bit.h"
#include "ops/kernels_fused.h"
#include "ops/kernels_gpt2.h"
#include "ops/vec.h"

#include <inttypes.h>

/* What lab 11 adds: the packed and the bf16 rung of the attention ladder, bias + GELU, the classifier in chunks. The
 * Makefile defines MT_PLAIN for programs with lab 08 yours and lab 11 not. */
#ifdef MT_PLAIN
#define MT_ATTENTION plain
enum { FUSED = 0 };
#else
#define MT_ATTENTION packed
enum { FUSED = 1 };
#endif
#define ATTENTION(rung, part)  ATTENTION_(rung, part)
#define ATTENTION_(rung, part) mt_attention_##rung##_##part##_cpu

static bool bf16_pays(int64_t C, int64_t H)
{
    return FUSED && mt_pairs_are_fast() && C <= H * 128;
}

const mt_gpt2_table mt_gpt2_cpu = { .attention_saved = ATTENTION(MT_ATTENTION, saved),
                                    .attention_fwd = ATTENTION(MT_ATTENTION, fwd),
                                    .attention_bwd = ATTENTION(MT_ATTENTION, bwd),
                                    .attention_bf16_pays = bf16_pays,
                                    .attention_bf16_fwd = mt_attention_bf16_fwd_cpu,
                                    MT_GPT2_KERNELS(MT_KERNEL_CPU) };

/* ---- layernorm ----------------------------------------------------------------------------------------- */

static void layernorm_backward(mt_node *node, mt_tensor *dout)
{
    mt_gpt2_kernels(node->device)
        ->layernorm_bwd(mt_grad_data(node, 0), mt_grad_data(node, 1), mt_grad_data(node, 2), mt_f32(dout),
                        mt_saved_data(node, 0), mt_saved_data(node, 1), mt_saved_data(node, 2), mt_saved_data(node, 3),
                        mt_rows(dout), mt_dim(dout, -1));
    mt_count_work(0, (mt_grad_data(node, 0) ? 16 : 8) * mt_numel(dout));
}

void mt_norm_check(const char *op, const mt_tensor *x, const mt_tensor *gamma, const mt_tensor *beta, float eps)
{
    int64_t C = mt_dim(x, -1);
    MT_CHECK(gamma->view.rank == 1 && gamma->view.shape[0] == C &&
                 mt_shape_equal(mt_shape_of(gamma), mt_shape_of(beta)),
             "%s: x is %s, gamma is %s, beta is %s: both must be [%" PRId64 "]", op, mt_text_of(x), mt_text_of(gamma),
             mt_text_of(beta), C);
    MT_CHECK(eps > 0, "%s: eps is %g, it must be positive", op, (double)eps);
}

mt_tensor *mt_norm_again(mt_node *node)
{
    return mt_layernorm(mt_saved_tensor(node, 0), mt_saved_tensor(node, 1), mt_saved_tensor(node, 4), node->scalar);
}

static const mt_op layernorm_op = { "layernorm", MT_OP_REDUCTION, layernorm_backward };

mt_tensor *mt_layernorm(mt_tensor *x, mt_tensor *gamma, mt_tensor *beta, float eps)
{
    MT_CALL(c, &layernorm_op, { &x, MT_DENSE }, { &gamma, MT_DENSE }, { &beta, MT_DENSE });
    int64_t C = mt_last_dim("layernorm", x), N = mt_rows(x);
    mt_norm_check("layernorm", x, gamma, beta, eps);
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_tensor *mean = mt_empty(MT_SHAPE(N), MT_F32, c.device), *rstd = mt_empty(MT_SHAPE(N), MT_F32, c.device);
    mt_gpt2_kernels(c.device)->layernorm_fwd(mt_f32(out), mt_f32(mean), mt_f32(rstd), mt_f32(x), mt_f32(gamma),
                                             mt_f32(beta), N, C, eps);
    mt_node *node = mt_call_end(&c, 0, 8 * (N * C + N + C));
    if (node) {
        node->scalar = eps;
        node->again = mt_norm_again;
    }
    mt_save(node, x, gamma, mean, rstd, beta);
    return out;
}

/* ---- embedding ---------------------------------------------------------------------------------------- */

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

/* ---- the residual stream ------------------------------------------------------------------------------ */

static void residual_backward(mt_node *node, mt_tensor *dout)
{
    for (int i = 0; i < 2; i++) {
        float *d = mt_grad_data(node, i);
        if (!d)
            continue;
        mt_kernels(node->device)->scale_bwd(d, mt_f32(dout), 1, mt_numel(dout));
        mt_count_work(mt_numel(dout), 12 * mt_numel(dout));
    }
}

static const mt_op residual_op = { "residual", MT_OP_ELEMENTWISE, residual_backward };

mt_tensor *mt_residual(mt_tensor *x, mt_tensor *part)
{
    MT_CALL(c, &residual_op, { &x, MT_DENSE }, { &part, MT_DENSE });
    MT_CHECK(mt_shape_equal(mt_shape_of(x), mt_shape_of(part)), "residual: x is %s, part is %s: they must be equal",
             mt_text_of(x), mt_text_of(part));
    mt_tensor *out = mt_call_result(&c, mt_shape_of(x));
    mt_kernels(c.device)->residual_fwd(mt_f32(out), mt_f32(x), mt_f32(part), mt_numel(x));
    mt_call_end(&c, mt_numel(x), 12 * mt_numel(x));
    return out;
}

/* ---- the MLP's first layer ---------------------------------------------------------------------------- */

mt_tensor *mt_linear_gelu(mt_tensor *x, mt_tensor *w, mt_tensor *b)
{
    return FUSED && b ? mt_bias_gelu(mt_linear(x, w, NULL), b) : mt_gelu_tanh(mt_linear(x, w, b));
}

/* ---- attention ---------------------------------------------------------------------------------------- */

/* Multiply-adds of one product of queries and keys, the causal half, as two FLOPs each. */
static int64_t attention_flops(const int64_t *d)
{
    return d[0] * d[1] * (d[1] + 1) * d[2];
}

/* In f32 what the op reads, which may be a copy of 16 bits; in the scope. */
static mt_tensor *widened(mt_tensor *t)
{
    if (t->dtype == MT_F32)
        return t;
    mt_tensor *wide = mt_empty(mt_shape_of(t), MT_F32, mt_device_of(t));
    mt_16bit_kernels(mt_device_of(t))->convert(mt_data(wide), MT_F32, mt_data(t), t->dtype, mt_numel(t));
    return wide;
}

static void attention_backward(mt_node *node, mt_tensor *dout)
{
    const int64_t *d = node->shape.dim;
    mt_scope_begin();
    mt_gpt2_kernels(node->device)
        ->attention_bwd(mt_grad_data(node, 0), mt_f32(dout), mt_f32(widened(mt_saved_tensor(node, 0))),
                        mt_saved_data(node, 1), mt_f32(mt_saved_tensor(node, 2)), d[0], d[1], d[2], node->dims[0]);
    mt_scope_end();
    mt_count_work(5 * attention_flops(d), 44 * mt_numel(dout));
}

static const mt_op attention_op = { "attention", MT_OP_MATMUL, attention_backward };

const char *mt_attention_name(mt_device device, mt_dtype dtype, int64_t C, int64_t heads)
{
    const mt_gpt2_table *kernels = mt_gpt2_kernels(device);
    if (dtype == MT_BF16 && kernels->attention_bf16_pays && kernels->attention_bf16_pays(C, heads))
        return "bf16";
    if (device != MT_CPU) /* the device's own */
        return "tiled";
    return !FUSED ? "plain" : C > heads * 128 ? "tiled" : "packed";
}

mt_tensor *mt_attention(mt_tensor *qkv, int64_t heads)
{
    /* Forward and backward read the same numbers: the scores of rounded queries and keys do not fit the logarithm of
     * the sum that forward saves of others. */
    MT_CALL(c, &attention_op, { &qkv, MT_OPERAND });
    MT_CHECK(qkv->view.rank == 3 && qkv->view.shape[2] % 3 == 0, "attention: qkv is %s, it must be [B,T,3C]",
             mt_text_of(qkv));
    int64_t B = qkv->view.shape[0], T = qkv->view.shape[1], C = qkv->view.shape[2] / 3;
    mt_tensor *out = mt_call_result(&c, MT_SHAPE(B, T, C));
    mt_tensor *saved = mt_empty(MT_SHAPE(mt_gpt2_kernels(c.device)->attention_saved(B, T, heads)), MT_F32, c.device);
    const mt_gpt2_table *kernels = mt_gpt2_kernels(c.device);
    bool bf16 = c.dtype == MT_BF16 && kernels->attention_bf16_pays && kernels->attention_bf16_pays(C, heads);
    mt_scope_begin();
    if (bf16)
        kernels->attention_bf16_fwd(mt_f32(out), mt_f32(saved), mt_data(qkv), B, T, C, heads);
    else
        kernels->attention_fwd(mt_f32(out), mt_f32(saved), mt_f32(widened(qkv)), B, T, C, heads);
    mt_scope_end();
    mt_node *node = mt_call_end(&c, 2 * attention_flops(out->view.shape), (bf16 ? 10 : 16) * mt_numel(out));
    if (node)
        node->dims[0] = heads;
    mt_save(node, qkv, out, saved);
    return out;
}

/* ---- classifier --------------------------------------------------------------------------------------- */

/* As mt_classifier_fwd_cpu and mt_classifier_bwd_cpu, with x and w of 16 bits; logits and probabilities are f32. */
static void classifier_forward_16bit(float *rows, float *probs, mt_tensor *x, mt_tensor *w, const int32_t *target,
                                     int64_t N, int64_t C, int64_t V)
{
    mt_matmul_dims d = mt_dense_dims(N, V, C, MT_NO_TRANS, MT_TRANS, MT_OVERWRITE);
    mt_16bit_kernels(mt_device_of(x))->matmul16(probs, mt_data(x), mt_data(w), x->dtype, &d);
    mt_kernels(mt_device_of(x))->cross_entropy_fwd(rows, probs, probs, target, N, V);
}

static void classifier_backward_16bit(float *dx, float *dw, mt_tensor *probs, const float *dloss, mt_tensor *x,
                                      mt_tensor *w, const int32_t *target, int64_t N, int64_t C, int64_t V)
{
    mt_device on = mt_device_of(x);
    mt_matmul_dims for_dx = mt_dense_dims(N, C, V, MT_NO_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    mt_matmul_dims for_dw = mt_dense_dims(V, C, N, MT_TRANS, MT_NO_TRANS, MT_ACCUMULATE);
    mt_gpt2_kernels(on)->classifier_bwd(NULL, NULL, mt_f32(probs), dloss, NULL, NULL, target, N, C, V);
    void *dlogits = mt_data(mt_autocast_operand(probs, x->dtype));
    if (dx)
        mt_16bit_kernels(on)->matmul16(dx, dlogits, mt_data(w), x->dtype, &for_dx);
    if (dw)
        mt_16bit_kernels(on)->matmul16(dw, dlogits, mt_data(x), x->dtype, &for_dw);
}

static void classifier_backward(mt_node *node, mt_tensor *dout)
{
    mt_tensor *x = mt_saved_tensor(node, 0), *w = mt_saved_tensor(node, 1);
    mt_tensor *probs = mt_saved_tensor(node, 2), *target = mt_saved_tensor(node, 3);
    int64_t N = probs->view.shape[0], C = w->view.shape[1], V = probs->view.shape[1];
    float *dx = mt_grad_data(node, 0), *dw = mt_grad_data(node, 1);
    mt_scope_begin();
    const float *dloss = mt_f32(mt_mean_shares(dout, N));
    if (x->dtype == MT_F32)
        mt_gpt2_kernels(node->device)
            ->classifier_bwd(dx, dw, mt_f32(probs), dloss, mt_f32(x), mt_f32(w), mt_data(target), N, C, V);
    else
        classifier_backward_16bit(dx, dw, probs, dloss, x, w, mt_data(target), N, C, V);
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
    if (c.dtype == MT_F32)
        mt_gpt2_kernels(c.device)->classifier_fwd(mt_f32(rows), mt_f32(probs), mt_f32(x), mt_f32(w), mt_data(target), N,
                                                  C, classes);
    else
        classifier_forward_16bit(mt_f32(rows), mt_f32(probs), x, w, mt_data(target), N, C, classes);
    mt_kernels(c.device)->mean_fwd(mt_f32(loss), mt_f32(rows), N);
    int64_t bytes = mt_dtype_size(c.dtype) * (N * C + classes * C) + 8 * N * classes;
    mt_save(mt_call_end(&c, 2 * N * classes * C, bytes), x, w, probs, target);
    mt_scope_end();
    return loss;
}
