/* cost.c -- memory and arithmetic of a training step of GPT-2, counted from the ops of models/gpt2.c. */
#include "models/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/choose.h"

enum { F32 = 4 };

/* With the rows of the table that mt_gpt2_new makes. */
static mt_gpt2_config filled(const mt_gpt2_config *config)
{
    mt_gpt2_config c = *config;
    c.rows = c.rows ? c.rows : (c.vocabulary + 63) / 64 * 64;
    return c;
}

/* Numbers that forward keeps for each token of a layer, its result included, its input not. */
static int64_t layer_numbers(const mt_gpt2_config *c, mt_recompute recompute)
{
    int64_t statistics = c->heads + 4; /* attention's log-sum-exp; mean and rstd of both layernorms */
    /* LAB 15.1 BEGIN  What a layer keeps for backward, per token.
     * Hint: both layernorms (2C), qkv (3C), attention's result (C), fc and GELU (8C), both sums of the residual stream
     * (2C), of which one is the layer's result. Nobody reads the results of the two projections once they are added to
     * it. Computed again are layernorms and GELU, or all but the result. */
    switch (recompute) {
    case MT_RECOMPUTE_NONE:
        return 16 * c->width + statistics;
    case MT_RECOMPUTE_SELECTIVE:
        return 10 * c->width + statistics;
    default:
        return c->width;
    }
    /* LAB 15.1 END */
}

static int64_t layer_parameters(const mt_gpt2_config *c)
{
    /* LAB 15.1 BEGIN  Parameters of a layer: four matrices and their biases, two layernorms. */
    return 12 * c->width * c->width + 13 * c->width;
    /* LAB 15.1 END */
}

/* ---- memory: a chain of blocks (memory/choose.h) --------------------------------------------------------- */

/* Numbers for each token that the backward of a layer has at most, beside those that are kept. */
static int64_t layer_work(const mt_gpt2_config *c, mt_recompute recompute)
{
    /* LAB 15.2 BEGIN  The moment when the MLP's backward has computed the gradient of GELU's result.
     * Hint: gradients of both addends of the residual stream (2C), of GELU's result (4C); the layer's result (C) is
     * freed by then. If they were not kept: GELU's result (4C), or all that a layer keeps, and the gradients of the
     * layer's input and result (2C). */
    int64_t inside = (2 + 4 - 1) * c->width;
    switch (recompute) {
    case MT_RECOMPUTE_NONE:
        return inside;
    case MT_RECOMPUTE_SELECTIVE:
        return inside + 4 * c->width;
    default:
        return inside + 2 * c->width + layer_numbers(c, MT_RECOMPUTE_NONE);
    }
    /* LAB 15.2 END */
}

/* FLOPs to compute a layer once more, for each token. */
static int64_t layer_again(const mt_gpt2_config *c, int64_t T, mt_recompute recompute)
{
    enum { LAYERNORM = 8, GELU = 20 }; /* for each number */
    int64_t selective = (2 * LAYERNORM + 4 * GELU) * c->width;
    if (recompute == MT_RECOMPUTE_NONE)
        return 0;
    return recompute == MT_RECOMPUTE_SELECTIVE ? selective
                                               : selective + 24 * c->width * c->width + 2 * (T + 1) * c->width;
}

/* blocks [layers + 2]: what is there all the time, with the result of the embedding; the layers, each with every kind
 * of recomputation; the head. */
static void chain(mt_memory_block *blocks, const mt_gpt2_config *c, const mt_gpt2_cost *cost, const mt_gpt2_batch *b)
{
    int64_t token = F32 * b->samples * b->time, table = F32 * c->rows * c->width, layer = F32 * layer_parameters(c);
    bool often = b->micro > 1; /* then gradients of earlier micro-batches exist all the time */
    mt_memory_option always = { cost->parameter_bytes + cost->optimizer_bytes + token * c->width, 0, 0 };
    mt_memory_option head = { token * (c->width + 2 + c->vocabulary + 1), token * c->width, 0 };
    /* LAB 15.2 BEGIN  Gradients of parameters are there from the layer on that computes them.
     * Hint: the head, the first in backward, makes that of the table. */
    always.kept += often ? cost->parameter_bytes : 0;
    head.work += often ? 0 : table;
    blocks[0] = (mt_memory_block){ .option = { always }, .options = 1 };
    for (int64_t l = 0; l < c->layers; l++) {
        int64_t gradients = often ? 0 : table + (c->layers - l) * layer;
        blocks[1 + l] = (mt_memory_block){ .options = MT_RECOMPUTES };
        for (int k = 0; k < MT_RECOMPUTES; k++)
            blocks[1 + l].option[k] =
                (mt_memory_option){ token * layer_numbers(c, (mt_recompute)k),
                                    token * layer_work(c, (mt_recompute)k) + gradients,
                                    b->micro * b->samples * b->time * layer_again(c, b->time, (mt_recompute)k) };
    }
    blocks[1 + c->layers] = (mt_memory_block){ .option = { head }, .options = 1 };
    /* LAB 15.2 END */
}

static void *allocate(int64_t count, size_t size)
{
    void *p = malloc((size_t)count * size);
    MT_CHECK(p, "out of memory");
    return p;
}

/* The best options of the chain within the budget, or, with `fixed` [layers], those. */
static mt_status solve(mt_memory_choice *choice, int *option, const mt_gpt2_config *c, const mt_gpt2_cost *cost,
                       const mt_gpt2_batch *batch, const mt_recompute *fixed, int64_t budget)
{
    mt_memory_block *blocks = allocate(c->layers + 2, sizeof *blocks);
    chain(blocks, c, cost, batch);
    for (int64_t l = 0; l < c->layers && fixed; l++) {
        mt_memory_block *b = &blocks[1 + l];
        b->option[0] = b->option[fixed[l]];
        b->options = 1;
    }
    mt_status status = mt_memory_choose(choice, option, blocks, c->layers + 2, budget);
    free(blocks);
    return status;
}

/* What does not depend on recomputation. */
static mt_gpt2_cost constants(const mt_gpt2_config *c, const mt_gpt2_batch *b)
{
    int64_t tokens = b->samples * b->time;
    mt_gpt2_cost cost = { .parameters = (c->rows + c->block + 2) * c->width + c->layers * layer_parameters(c) };
    cost.parameter_bytes = F32 * cost.parameters;
    cost.optimizer_bytes = 2 * cost.parameter_bytes;
    cost.layer_bytes = F32 * tokens * layer_numbers(c, MT_RECOMPUTE_NONE);
    /* LAB 15.3 BEGIN  FLOPs: attention's products of T (T + 1) / 2 pairs, and all products with weights.
     * Hint: attention has two products forward and twice that backward; a fifth one of backward is recomputation. A
     * weight costs two FLOPs a token forward, and twice that backward. */
    int64_t matrices = c->layers * 12 * c->width * c->width + c->vocabulary * c->width;
    cost.attention_flops = b->micro * 3 * c->layers * 2 * tokens * (b->time + 1) * c->width;
    cost.flops = b->micro * 3 * 2 * tokens * matrices + cost.attention_flops;
    /* LAB 15.3 END */
    return cost;
}

mt_gpt2_cost mt_gpt2_cost_of(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute)
{
    mt_gpt2_config c = filled(config);
    mt_gpt2_cost cost = constants(&c, batch);
    mt_recompute *none = allocate(c.layers, sizeof *none);
    int *option = allocate(c.layers + 2, sizeof *option);
    mt_memory_choice choice;
    for (int64_t l = 0; l < c.layers; l++)
        none[l] = MT_RECOMPUTE_NONE;
    mt_status status = solve(&choice, option, &c, &cost, batch, recompute ? recompute : none, INT64_MAX);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    free(none);
    free(option);
    cost.activation_bytes = choice.kept - cost.parameter_bytes * (batch->micro > 1 ? 2 : 1) - cost.optimizer_bytes;
    cost.peak_bytes = choice.peak;
    cost.again_flops = choice.flops;
    return cost;
}

mt_status mt_gpt2_choose(mt_recompute *recompute, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                         int64_t budget)
{
    mt_gpt2_config c = filled(config);
    mt_gpt2_cost cost = constants(&c, batch);
    mt_memory_choice choice;
    int *option = allocate(c.layers + 2, sizeof *option);
    mt_status status = solve(&choice, option, &c, &cost, batch, NULL, budget);
    for (int64_t l = 0; l < c.layers && status == MT_OK; l++)
        recompute[l] = (mt_recompute)option[1 + l];
    free(option);
    return status;
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

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

static void print_line(const char *name, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                       const mt_recompute *recompute)
{
    mt_gpt2_cost cost = mt_gpt2_cost_of(config, batch, recompute);
    printf("  %-24s %12.2f MB %12.2f MB %12.2f GFLOP (%.1f %%)\n", name, (double)cost.activation_bytes / 1e6,
           (double)cost.peak_bytes / 1e6, (double)cost.again_flops / 1e9,
           100 * (double)cost.again_flops / (double)cost.flops);
}

void mt_gpt2_recompute_print(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute)
{
    mt_recompute *all = allocate(config->layers, sizeof *all);
    printf("  %-24s %15s %15s %18s\n", "computed again", "activations", "peak", "more arithmetic");
    for (int k = 0; k < MT_RECOMPUTES; k++) {
        for (int64_t l = 0; l < config->layers; l++)
            all[l] = (mt_recompute)k;
        print_line(mt_recompute_names[k], config, batch, all);
    }
    if (recompute)
        print_line("chosen", config, batch, recompute);
    free(all);
}
