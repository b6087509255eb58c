/* cost.c -- memory and arithmetic of a training step of GPT-2, counted from the ops of models/gpt2.c. */
#include "models/cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory/choose.h"
#include "ops/kernels_fused.h"

enum { F32 = 4 };

/* With the rows of the table that mt_gpt2_new makes. */
static mt_gpt2_config filled(const mt_gpt2_config *config)
{
    mt_gpt2_config c = *config;
    c.rows = c.rows ? c.rows : (c.vocabulary + 63) / 64 * 64;
    return c;
}

/* Bytes of a number that forward keeps for backward: those of products' operands, as autocast does (ops/autocast.h). */
static int64_t kept_size(const mt_gpt2_batch *b)
{
    return mt_dtype_size(b->dtype);
}

/* Bytes that forward keeps for each token of a layer, its input included, its result not: that is the next one's
 * input. */
static int64_t layer_kept(const mt_gpt2_config *c, const mt_gpt2_batch *b, mt_recompute recompute)
{
    int64_t statistics = F32 * (c->heads + 4); /* attention's log-sum-exp; mean and rstd of both layernorms */
    /* TODO 15.1: What a layer keeps for backward, per token.
     * Hint: its input and the middle of the residual stream (2C), the results of both layernorms (2C), qkv (3C),
     * attention's result (C), fc and GELU (8C), each number in kept_size. Nobody reads the results of the two
     * projections once they are added to the stream. Computed again are layernorms and GELU, or all but the input,
     * which a segment keeps in f32. */
    MT_TODO("15.1"); /* delete this line when yours stands here */
}

static int64_t layer_parameters(const mt_gpt2_config *c)
{
    /* TODO 15.1: Parameters of a layer: four matrices and their biases, two layernorms. */
    MT_TODO("15.1"); /* delete this line when yours stands here */
}

/* ---- memory: a chain of blocks (memory/choose.h) --------------------------------------------------------- */

/* Bytes for each token that a layer's backward has at most, beside those that are kept. */
static int64_t backward_work(const mt_gpt2_config *c, const mt_gpt2_batch *b, mt_recompute recompute)
{
    int64_t size = kept_size(b), C = c->width;
    /* TODO 15.2: The moment when the MLP's backward computes the gradient of GELU's argument.
     * Hint: f32 are the gradients of both addends of the residual stream (2C), of GELU's result and of its argument
     * (8C), and the argument (4C), which is widened if 16 bits of it were kept. What was kept of the argument and of
     * the result (8C) is freed by then. With selective recomputation nothing was kept of the result. A segment has,
     * beside that, the gradients of its input and result and the result (3C), and all that a layer keeps; its input is
     * kept anyway, and is not kept again in f32. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
}

/* Bytes for each token that a layer's forward has at most, beside those that are kept; that of a segment is the one in
 * backward. */
static int64_t forward_work(const mt_gpt2_config *c, const mt_gpt2_batch *b, mt_recompute recompute)
{
    bool half = b->dtype != MT_F32;
    /* TODO 15.2: The moment when the MLP's second projection has computed its result.
     * Hint: the results of both projections (2C) are not kept. With 16 bits that holds for all f32 results: also those
     * of both layernorms (2C), of fc and GELU (8C) and the middle of the residual stream (C), the layer's input and the
     * embedding (2C); and products have read copies of layernorms and GELU even if these are not kept for backward. A
     * segment is computed again beside the gradients of its input and result (2C), and with all that a layer keeps. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
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

/* blocks [layers + 2]: what is there all the time; the layers, each with every kind of recomputation; the head. */
static void chain(mt_memory_block *blocks, const mt_gpt2_config *c, const mt_gpt2_cost *cost, const mt_gpt2_batch *b)
{
    int64_t tokens = b->samples * b->time, C = c->width, size = kept_size(b);
    int64_t table = F32 * c->rows * C, layer = F32 * layer_parameters(c);
    bool often = b->micro > 1; /* then gradients of earlier micro-batches exist all the time */
    mt_memory_option always = { cost->parameter_bytes + cost->copy_bytes + cost->optimizer_bytes, 0, 0 };
    /* TODO 15.2: The head's arrays, and gradients of parameters from the layer on that computes them.
     * Hint: kept are the last layernorm's input, its result (f32), mean and rstd, and the probabilities (f32); the
     * backward of the head, the first one, makes the gradients of the layernorm's result and of the table. Products of
     * 16 bits read copies of the result and of the probabilities' gradients. Where the op takes chunks
     * (mt_classifier_chunks), forward makes both gradients, with MT_CLASSIFIER_ROWS rows of logits, and keeps them in
     * place of the probabilities. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
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
    cost.layer_bytes = tokens * layer_kept(c, b, MT_RECOMPUTE_NONE);
    /* TODO 15.2: Products of 16 bits read copies of their weights: a layer's four matrices, and the table. */
    MT_TODO("15.2"); /* delete this line when yours stands here */
    /* TODO 15.3: FLOPs: attention's products of T (T + 1) / 2 pairs, and all products with weights.
     * Hint: attention has two products forward and twice that backward; a fifth one of backward is recomputation. A
     * weight costs two FLOPs a token forward, and twice that backward. */
    MT_TODO("15.3"); /* delete this line when yours stands here */
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
    cost.activation_bytes =
        choice.kept - cost.parameter_bytes * (batch->micro > 1 ? 2 : 1) - cost.copy_bytes - cost.optimizer_bytes;
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
        { "parameters", cost->parameter_bytes },         { "their copies of 16 bits", cost->copy_bytes },
        { "gradients", cost->parameter_bytes },          { "optimizer state", cost->optimizer_bytes },
        { "activations of a layer", cost->layer_bytes }, { "activations in all", cost->activation_bytes },
        { "peak of a step", cost->peak_bytes },
    };
    printf("%" PRId64 " layers, %" PRId64 " heads, %" PRId64 " wide, context %" PRId64 ", %" PRId64
           " tokens: %.3f M parameters\n",
           c->layers, c->heads, c->width, c->block, c->vocabulary, (double)cost->parameters / 1e6);
    for (int64_t i = 0; i < MT_COUNT(lines); i++)
        if (lines[i].bytes)
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
