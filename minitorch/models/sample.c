/* sample.c -- tokens ranked by their logits; the unlikely ones cut off, one of the rest drawn. */
#include "models/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "models/gpt2.h"
#include "ops/ops.h"

typedef struct ranked {
    float logit;
    int32_t id;
} ranked;

static int by_rank(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->logit != y->logit ? (x->logit < y->logit) - (x->logit > y->logit) : (x->id > y->id) - (x->id < y->id);
}

static int32_t most_likely(const float *logits, int64_t V)
{
    int64_t best = 0;
    for (int64_t v = 1; v < V; v++)
        if (logits[v] > logits[best])
            best = v;
    return (int32_t)best;
}

/* The first of n whose weights, added up, exceed part of them all. */
static int64_t drawn(const double *weight, int64_t n, double part)
{
    double sum = 0, reached = 0;
    for (int64_t i = 0; i < n; i++)
        sum += weight[i];
    for (int64_t i = 0; i < n; i++)
        if ((reached += weight[i]) > part * sum)
            return i;
    return n - 1;
}

/* How many of the most likely reach p together. */
static int64_t nucleus(const double *weight, int64_t n, double p)
{
    double sum = 0, reached = 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        sum += weight[i];
    while (kept < n && (kept == 0 || reached < p * sum))
        reached += weight[kept++];
    return kept;
}

int32_t mt_sample(const float *logits, int64_t V, const mt_sampling *how, mt_rng *rng)
{
    MT_CHECK(V >= 1 && how->temperature >= 0 && how->top_k >= 0 && how->top_p > 0 && how->top_p <= 1,
             "sample: V %d, temperature %g, top_k %d, top_p %g", (int)V, how->temperature, (int)how->top_k, how->top_p);
    if (how->temperature == 0)
        return most_likely(logits, V);
    ranked *token = malloc((size_t)V * sizeof *token);
    double *weight = malloc((size_t)V * sizeof *weight);
    MT_CHECK(token && weight, "out of memory");
    for (int64_t v = 0; v < V; v++)
        token[v] = (ranked){ logits[v], (int32_t)v };
    qsort(token, (size_t)V, sizeof *token, by_rank);
    int64_t kept = how->top_k > 0 ? mt_min(how->top_k, V) : V;
    for (int64_t i = 0; i < kept; i++)
        weight[i] = exp(((double)token[i].logit - (double)token[0].logit) / how->temperature);
    kept = nucleus(weight, kept, how->top_p);
    int32_t id = token[drawn(weight, kept, (double)mt_rng_uniform(rng))].id;
    free(token);
    free(weight);
    return id;
}

void mt_gpt2_extend(int32_t *ids, int64_t count, int64_t more, mt_module *model, const mt_sampling *how, mt_rng *rng)
{
    const mt_gpt2_config *c = mt_gpt2_config_of(model);
    mt_device device = mt_module_device(model);
    mt_no_grad_begin();
    for (int64_t end = count; end < count + more; end++) {
        int64_t T = mt_min(end, c->block);
        mt_scope_begin();
        mt_tensor *x = mt_forward(model, mt_to_device(mt_from(MT_SHAPE(1, T), MT_I32, ids + end - T), device));
        mt_tensor *tokens = mt_slice(model->child[0]->param[0], 0, 0, c->vocabulary, 1);
        mt_tensor *logits =
            mt_matmul(mt_slice(mt_reshape(x, MT_SHAPE(T, c->width)), 0, T - 1, T, 1), mt_transpose(tokens, 0, 1));
        ids[end] = mt_sample(mt_f32(mt_to_device(logits, MT_CPU)), c->vocabulary, how, rng);
        mt_scope_end();
    }
    mt_no_grad_end();
}
