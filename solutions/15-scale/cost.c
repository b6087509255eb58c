/* cost.c -- memory and arithmetic of a training step of GPT-2, counted from the ops of models/gpt2.c. */
#include "models/cost.h"

#include <inttypes.h>
#include <stdio.h>

enum { F32 = 4 };

/* Numbers that forward keeps for each token of a layer. */
static int64_t layer_numbers(const mt_gpt2_config *c)
{
    /* LAB 15.1 BEGIN  What a layer keeps for backward, per token.
     * Hint: both layernorms with mean and rstd (2C + 4), qkv (3C), attention's result and its log-sum-exp (C + H), both
     * projections (2C), fc and GELU (8C), both sums of the residual stream (2C). */
    return 18 * c->width + c->heads + 4;
    /* LAB 15.1 END */
}

static int64_t layer_parameters(const mt_gpt2_config *c)
{
    /* LAB 15.1 BEGIN  Parameters of a layer: four matrices and their biases, two layernorms. */
    return 12 * c->width * c->width + 13 * c->width;
    /* LAB 15.1 END */
}

/* The most that is allocated at once. */
static int64_t peak(const mt_gpt2_config *c, const mt_gpt2_cost *cost, int64_t tokens, int64_t micro_batches)
{
    int64_t table = F32 * c->rows * c->width, layer_gradients = F32 * layer_parameters(c);
    int64_t state = cost->parameter_bytes + cost->optimizer_bytes;
    /* LAB 15.2 BEGIN  The largest of three moments: backward starts, its first layer, its last layer.
     * Hint: backward starts with all activations and ends with all gradients. In between each layer frees more, or
     * less, than its gradients take: the maximum is at one of the two ends. There the MLP has, beside what it has
     * not freed yet, the gradients of the residual stream (2C), of GELU and of fc (8C); both results of the MLP (2C)
     * are freed by then. */
    int64_t inside = F32 * tokens * (10 - 2) * c->width;
    int64_t kept = cost->layer_bytes * c->layers + F32 * tokens * (2 * c->width + 2);
    int64_t start = cost->activation_bytes + table + F32 * tokens * c->width;
    int64_t first = kept + table + layer_gradients + inside;
    int64_t last = cost->layer_bytes + F32 * tokens * c->width + cost->parameter_bytes + inside;
    if (micro_batches > 1) { /* gradients of earlier micro-batches exist all the time */
        start += cost->parameter_bytes - table;
        first += cost->parameter_bytes - table - layer_gradients;
    }
    return state + mt_max(start, mt_max(first, last));
    /* LAB 15.2 END */
}

mt_gpt2_cost mt_gpt2_cost_of(const mt_gpt2_config *config, int64_t B, int64_t T, int64_t micro_batches)
{
    mt_gpt2_config c = *config;
    c.rows = c.rows ? c.rows : (c.vocabulary + 63) / 64 * 64;
    int64_t tokens = B * T;
    mt_gpt2_cost cost = { .parameters = (c.rows + c.block + 2) * c.width + c.layers * layer_parameters(&c) };
    cost.parameter_bytes = F32 * cost.parameters;
    cost.optimizer_bytes = 2 * cost.parameter_bytes;
    cost.layer_bytes = F32 * tokens * layer_numbers(&c);
    cost.activation_bytes = c.layers * cost.layer_bytes + F32 * tokens * (2 * c.width + 2 + c.vocabulary + 1);
    cost.peak_bytes = peak(&c, &cost, tokens, micro_batches);
    /* LAB 15.3 BEGIN  FLOPs: attention's products of T (T + 1) / 2 pairs, and all products with weights.
     * Hint: attention has two products forward and twice that backward; a fifth one of backward is recomputation. A
     * weight costs two FLOPs a token forward, and twice that backward. */
    int64_t matrices = c.layers * 12 * c.width * c.width + c.vocabulary * c.width;
    cost.attention_flops = micro_batches * 3 * c.layers * 2 * tokens * (T + 1) * c.width;
    cost.flops = micro_batches * 3 * 2 * tokens * matrices + cost.attention_flops;
    /* LAB 15.3 END */
    return cost;
}

void mt_gpt2_cost_print(const mt_gpt2_cost *cost, const mt_gpt2_config *c)
{
    const struct {
        const char *what;
        int64_t bytes;
    } lines[] = {
        { "parameters", cost->parameter_bytes },          { "gradients", cost->parameter_bytes },
        { "optimizer state", cost->optimizer_bytes },     { "activations of a layer", cost->layer_bytes },
        { "activations in all", cost->activation_bytes }, { "peak of a step", cost->peak_bytes },
    };
    printf("%" PRId64 " layers, %" PRId64 " heads, %" PRId64 " wide, context %" PRId64 ", %" PRId64
           " tokens: %.3f M parameters\n",
           c->layers, c->heads, c->width, c->block, c->vocabulary, (double)cost->parameters / 1e6);
    for (int64_t i = 0; i < MT_COUNT(lines); i++)
        printf("  %-24s %12.2f MB\n", lines[i].what, (double)lines[i].bytes / 1e6);
    printf("  %-24s %12.2f GFLOP, attention %.2f (%.1f %%)\n", "arithmetic of a step", (double)cost->flops / 1e9,
           (double)cost->attention_flops / 1e9, 100 * (double)cost->attention_flops / (double)cost->flops);
}
