/* sample.c -- ranks the tokens for the kernels of lab 08.9, which draw one of them; and extends a text. */
#include "models/sample.h"

#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "kernels/kernels.h"
#include "models/kernels_gpt2.h"

typedef struct ranked {
    float logit;
    int32_t id;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit) - (x->logit > y->logit) : (x->id > y->id) - (x->id < y->id);
}

int32_t mt_sample(const float *logits, int64_t V, const mt_sampling *how, mt_rng *rng)
{
    MT_CHECK(V >= 1 && how->temperature >= 0 && how->top_k >= 0 && how->top_p > 0 && how->top_p <= 1,
             "sample: V %d, temperature %g, top_k %d, top_p %g", (int)V, how->temperature, (int)how->top_k, how->top_p);
    if (how->temperature == 0)
        return mt_most_likely_cpu(logits, V);
    ranked *token = mt_realloc(NULL, V, sizeof *token);
    float *logit = mt_realloc(NULL, 2 * V, sizeof *logit), *weight = logit + V;
    for (int64_t v = 0; v < V; v++)
        token[v] = (ranked){ logits[v], (int32_t)v };
    qsort(token, (size_t)V, sizeof *token, by_rank);
    for (int64_t i = 0; i < V; i++)
        logit[i] = token[i].logit;
    mt_sample_weights_cpu(weight, logit, V, how->temperature);
    int64_t kept = mt_sample_kept_cpu(weight, V, how->top_k, how->top_p);
    int32_t id = token[mt_sample_drawn_cpu(weight, kept, (double)mt_rng_uniform(rng))].id;
    free(token);
    free(logit);
    return id;
}

void mt_gpt2_extend(int32_t *ids, int64_t count, int64_t more, mt_module *model, const mt_sampling *how, mt_rng *rng)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_device device = mt_module_device(model);
    const mt_tensor *wte = model->child[MT_GPT2_WTE]->param[0]; /* the head is the token table */
    const mt_matmul_dims last = mt_dense_dims(1, c->vocabulary, c->width, MT_NO_TRANS, MT_TRANS, MT_OVERWRITE);
    mt_no_grad_begin();
    for (int64_t end = count; end < count + more; end++) {
        int64_t T = mt_min(end, c->block);
        mt_scope_begin();
        mt_tensor *x = mt_forward(model, mt_to_device(mt_from(MT_SHAPE(1, T), MT_I32, ids + end - T), device));
        mt_tensor *logits = mt_empty(MT_SHAPE(c->vocabulary), MT_F32, device);
        mt_kernels(device)->matmul(mt_f32(logits), mt_f32(x) + (T - 1) * c->width, mt_f32(wte), &last);
        ids[end] = mt_sample(mt_f32(mt_to_device(logits, MT_CPU)), c->vocabulary, how, rng);
        mt_scope_end();
    }
    mt_no_grad_end();
}
