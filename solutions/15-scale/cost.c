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
    /* LAB 15.1 BEGIN  What a layer keeps for backward, per token.
     * Hint: its input and the middle of the residual stream (2C), the results of both layernorms (2C), qkv (3C),
     * attention's result (C), fc and GELU (8C), each number in kept_size. Nobody reads the results of the two
     * projections once they are added to the stream. Computed again are layernorms and GELU, or all but the input,
     * which a segment keeps in f32. */
    switch (recompute) {
    case MT_RECOMPUTE_NONE:
        return 16 * c->width * kept_size(b) + statistics;
    case MT_RECOMPUTE_SELECTIVE:
        return 10 * c->width * kept_size(b) + statistics;
    default:
        return F32 * c->width;
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

/* Bytes for each token that a layer's backward has at most, beside those that are kept. */
static int64_t backward_work(const mt_gpt2_config *c, const mt_gpt2_batch *b, mt_recompute recompute)
{
    int64_t size = kept_size(b), C = c->width;
    /* LAB 15.2 BEGIN  The moment when the MLP's backward computes the gradient of GELU's argument.
     * Hint: f32 are the gradients of both addends of the residual stream (2C), of GELU's result and of its argument
     * (8C), and the argument (4C), which is widened if 16 bits of it were kept. What was kept of the argument and of
     * the result (8C) is freed by then. With selective recomputation nothing was kept of the result. A segment has,
     * beside that, the gradients of its input and result and the result (3C), and all that a layer keeps; its input is
     * kept anyway, and is not kept again in f32. */
    int64_t inside = F32 * (2 + 8 + 4) * C - size * 8 * C;
    switch (recompute) {
    case MT_RECOMPUTE_NONE:
        return inside;
    case MT_RECOMPUTE_SELECTIVE:
        return inside + size * 4 * C;
    default:
        return inside + F32 * 3 * C + layer_kept(c, b, MT_RECOMPUTE_NONE) - (size == F32 ? F32 * C : 0);
    }
    /* LAB 15.2 END */
}

/* Bytes for each token that a layer's forward has at most, beside those that are kept; that of a segment is the one in
 * backward. */
static int64_t forward_work(const mt_gpt2_config *c, const mt_gpt2_batch *b, mt_recompute recompute)
{
    bool half = b->dtype != MT_F32;
    /* LAB 15.2 BEGIN  The moment when the MLP's second projection has computed its result.
     * Hint: the results of both projections (2C) are not kept. With 16 bits that holds for all f32 results: also those
     * of both layernorms (2C), of fc and GELU (8C) and the middle of the residual stream (C), the layer's input and the
     * embedding (2C); and products have read copies of layernorms and GELU even if these are not kept for backward. A
     * segment is computed again beside the gradients of its input and result (2C), and with all that a layer keeps. */
    int64_t extra = F32 * (half ? 13 : 2) * c->width, two = F32 * 2 * c->width;
    int64_t all = layer_kept(c, b, MT_RECOMPUTE_NONE), kept = layer_kept(c, b, recompute);
    if (recompute == MT_RECOMPUTE_BLOCK)
        return extra + two + all - (half ? 0 : kept);
    return extra + (half ? two : 0) + all - kept;
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

/* blocks [layers + 2]: what is there all the time; the layers, each with every kind of recomputation; the head. */
static void chain(mt_memory_block *blocks, const mt_gpt2_config *c, const mt_gpt2_cost *cost, const mt_gpt2_batch *b)
{
    int64_t tokens = b->samples * b->time, C = c->width, size = kept_size(b);
    int64_t table = F32 * c->rows * C, layer = F32 * layer_parameters(c);
    bool often = b->micro > 1; /* then gradients of earlier micro-batches exist all the time */
    mt_memory_option always = { cost->parameter_bytes + cost->copy_bytes + cost->optimizer_bytes, 0, 0 };
    /* LAB 15.2 BEGIN  The head's arrays, and gradients of parameters from the layer on that computes them.
     * Hint: kept are the last layernorm's input, its result (f32), mean and rstd, and the probabilities (f32); the
     * backward of the head, the first one, makes the gradients of the layernorm's result and of the table. Products of
     * 16 bits read copies of the result and of the probabilities' gradients. Where the op takes chunks
     * (mt_classifier_chunks), forward makes both gradients, with MT_CLASSIFIER_ROWS rows of logits, and keeps them in
     * place of the probabilities. */
    int64_t copies = size == F32 ? 0 : size, V = c->vocabulary, stream = tokens * ((size + copies + F32) * C + F32 * 2);
    mt_memory_option head = { stream + tokens * F32 * V, tokens * (F32 * C + copies * V) + (often ? 0 : table), 0 };
    if (size == F32 && mt_classifier_chunks(tokens, C, V, often ? c->rows * C : 0))
        head = (mt_memory_option){ stream + tokens * F32 * C + table, F32 * (MT_CLASSIFIER_ROWS * V + tokens), 0 };
    always.kept += often ? cost->parameter_bytes : 0;
    blocks[0] = (mt_memory_block){ .option = { always }, .options = 1 };
    for (int64_t l = 0; l < c->layers; l++) {
        int64_t later = often ? 0 : table + (c->layers - 1 - l) * layer, gradients = often ? 0 : later + layer;
        blocks[1 + l] = (mt_memory_block){ .options = MT_RECOMPUTES };
        for (int k = 0; k < MT_RECOMPUTES; k++)
            blocks[1 + l].option[k] = (mt_memory_option){
                tokens * layer_kept(c, b, (mt_recompute)k),
                mt_max(tokens * forward_work(c, b, (mt_recompute)k) + (k == MT_RECOMPUTE_BLOCK ? later : 0),
                       tokens * backward_work(c, b, (mt_recompute)k) + gradients),
                b->micro * tokens * layer_again(c, b->time, (mt_recompute)k)
            };
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
    cost.layer_bytes = tokens * layer_kept(c, b, MT_RECOMPUTE_NONE);
    /* LAB 15.2 BEGIN  Products of 16 bits read copies of their weights: a layer's four matrices, and the table. */
    if (b->dtype != MT_F32)
        cost.copy_bytes = kept_size(b) * (12 * c->layers * c->width + c->rows) * c->width;
    /* LAB 15.2 END */
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
