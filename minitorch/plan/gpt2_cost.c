/* gpt2_cost.c -- see gpt2_cost.h. */
#include "plan/gpt2_cost.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "amp/state8.h"
#include "plan/cost.h"

static mt_plan_model model_of(const mt_gpt2_config *c)
{
    return (mt_plan_model){ c->vocabulary, c->rows, c->block, c->layers, c->heads, c->width };
}

static mt_plan_strategy alone(const mt_gpt2_batch *b, mt_recompute recompute)
{
    return (mt_plan_strategy){ 1, 1, 1, b->samples, b->time, b->micro, 0, recompute, b->dtype, false };
}

int64_t mt_gpt2_rule_bytes(int64_t *scratch, const mt_gpt2_config *config, mt_update_kind rule, bool state8)
{
    const mt_plan_model m = model_of(config), filled = mt_plan_filled(&m);
    const int64_t C = m.width, L = m.layers;
    const struct {
        int64_t count, rows, cols;
        bool matrix; /* of a product, as Muon takes it; the others are tables and vectors */
    } params[] = {
        { 1, filled.rows, C, false }, { 1, m.block, C, false }, { 2 + 6 * L, 1, C, false }, { L, 1, 3 * C, false },
        { L, 1, 4 * C, false },       { L, C, 3 * C, true },    { L, C, C, true },          { L, C, 4 * C, true },
        { L, 4 * C, C, true },
    };
    int64_t floats = 0, bytes8 = 0; /* bytes of moments in 8 bits */
    *scratch = 0;
    for (int i = 0; i < MT_COUNT(params); i++) {
        mt_update_kind kind = mt_update_for(rule, params[i].matrix);
        int64_t each = mt_update_rules[kind].scratch * params[i].rows * params[i].cols * (int64_t)sizeof(float);
        *scratch = mt_max(*scratch, each);
        bytes8 += params[i].count * mt_state8_bytes(params[i].rows * params[i].cols);
        for (int s = 0; s < MT_UPDATE_STATES; s++)
            floats += params[i].count * mt_update_state_floats(kind, s, params[i].rows, params[i].cols);
    }
    return state8 ? bytes8 : floats * (int64_t)sizeof(float);
}

/* What all layers but the last keep waits on the host: while the device is at one of them it has that of this and of
 * the one before (memory/offload.h). */
static void offload(mt_memory_block *layer, int64_t layers)
{
    for (int64_t l = layers - 1; l >= 0; l--) {
        mt_memory_option *o = &layer[l].option[0];
        o->work += (l > 0 ? layer[l - 1].option[0].kept : 0) + (l < layers - 1 ? o->kept : 0);
        o->kept = l < layers - 1 ? 0 : o->kept;
    }
}

/* The best options within the budget, [layers + 2], or, with `fixed` [layers], those. */
static mt_status solve(mt_memory_choice *choice, int *option, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                       const mt_recompute *fixed, int64_t budget)
{
    mt_plan_model model = model_of(config);
    mt_plan_strategy strategy = alone(batch, MT_RECOMPUTE_NONE);
    mt_memory_block *blocks = mt_realloc(NULL, config->layers + 2, sizeof *blocks);
    mt_plan_chain(blocks, &model, &strategy, 0);
    blocks[0].option[0].kept += batch->more;
    for (int64_t l = 0; l < config->layers && fixed; l++) {
        mt_memory_block *b = &blocks[1 + l];
        b->option[0] = b->option[fixed[l]];
        b->options = 1;
    }
    if (batch->offload)
        offload(blocks + 1, config->layers);
    mt_status status = mt_memory_choose(choice, option, blocks, config->layers + 2, budget);
    choice->kept -= blocks[0].option[0].kept;
    free(blocks);
    return status;
}

mt_gpt2_cost mt_gpt2_cost_of(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute)
{
    mt_plan_model model = model_of(config);
    mt_plan_strategy strategy = alone(batch, MT_RECOMPUTE_NONE);
    mt_plan_cost is = mt_plan_cost_of(&model, &strategy, 0);
    mt_memory_block *blocks = mt_realloc(NULL, config->layers + 2, sizeof *blocks);
    mt_recompute *none = mt_realloc(NULL, config->layers, sizeof *none);
    int *option = mt_realloc(NULL, config->layers + 2, sizeof *option);
    mt_memory_choice choice;
    for (int64_t l = 0; l < config->layers; l++)
        none[l] = MT_RECOMPUTE_NONE;
    mt_status status = solve(&choice, option, config, batch, recompute ? recompute : none, INT64_MAX);
    MT_CHECK(status == MT_OK, "%s", mt_last_error());
    mt_plan_chain(blocks, &model, &strategy, 0);
    mt_gpt2_cost cost = { .parameters = is.params,
                          .parameter_bytes = is.parameters,
                          .copy_bytes = is.copies,
                          .optimizer_bytes = is.optimizer + batch->more,
                          .layer_bytes = blocks[1].option[MT_RECOMPUTE_NONE].kept,
                          .activation_bytes = choice.kept,
                          .peak_bytes = choice.peak,
                          .flops = is.forward + is.backward,
                          .attention_flops = is.attention,
                          .again_flops = choice.flops };
    free(none);
    free(option);
    free(blocks);
    return cost;
}

mt_status mt_gpt2_choose(mt_recompute *recompute, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                         int64_t budget)
{
    mt_memory_choice choice = { 0 };
    int *option = mt_realloc(NULL, config->layers + 2, sizeof *option);
    mt_status status = solve(&choice, option, config, batch, NULL, budget);
    for (int64_t l = 0; l < config->layers && status == MT_OK; l++)
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
    mt_recompute *all = mt_realloc(NULL, config->layers, sizeof *all);
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

/* ---- advice ------------------------------------------------------------------------------------------------- */

/* The same windows of a step, in micro-batches of so many samples. */
static mt_gpt2_batch with(const mt_gpt2_batch *batch, int64_t samples)
{
    mt_gpt2_batch b = *batch;
    b.samples = samples;
    b.micro = mt_ceil_div(batch->micro * batch->samples, samples);
    return b;
}

/* The largest batch whose plan is within the budget, 0 if none is; each smaller one is, too. recompute [layers] is
 * read; with `choose` it is chosen for each batch, and undefined in the end. */
static int64_t largest(const mt_gpt2_config *config, const mt_gpt2_batch *batch, mt_recompute *recompute, bool choose,
                       int64_t budget)
{
    int64_t low = 0, high = batch->samples + 1;
    while (low + 1 < high) {
        int64_t middle = low + (high - low) / 2;
        mt_gpt2_batch b = with(batch, middle);
        bool fits = choose ? mt_gpt2_choose(recompute, config, &b, budget) == MT_OK
                           : mt_gpt2_cost_of(config, &b, recompute).peak_bytes <= budget;
        *(fits ? &low : &high) = middle;
    }
    return low;
}

static void put_batch(FILE *out, const mt_gpt2_batch *batch, int64_t samples)
{
    if (samples < batch->samples)
        fprintf(out, " --batch %" PRId64 " --micro-batches %" PRId64, samples, with(batch, samples).micro);
}

void mt_gpt2_advise(FILE *out, const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute,
                    int64_t had)
{
    int64_t budget = had / 41 * 40, bytes = config->layers * (int64_t)sizeof *recompute;
    mt_recompute *chosen = mt_realloc(NULL, bytes, 1);
    memcpy(chosen, recompute, (size_t)bytes);
    int64_t plain = largest(config, batch, chosen, false, budget), again = largest(config, batch, chosen, true, budget);
    free(chosen);
    fprintf(out, "By the plan a step fits into the %.1f MB that there were", (double)had / 1e6);
    if (again == 0) {
        fprintf(out, " with no --batch: use a smaller --block or --size\n");
        return;
    }
    fprintf(out, " with");
    put_batch(out, batch, again);
    fprintf(out, " --recompute %" PRId64 "kB", budget / 1000);
    if (plain > 0) {
        fprintf(out, ", or with");
        put_batch(out, batch, plain);
    }
    fputc('\n', out);
}
