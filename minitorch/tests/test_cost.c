/* test_cost.c -- the plan of a training step of GPT-2 (plan/gpt2_cost.h) beside one that is taken: its arithmetic as
 * the ops count it, its memory as the allocator counts it, in f32, bf16 and f16. */
#include "amp/amp.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "plan/gpt2_cost.h"
#include "amp/autocast.h"
#include "ops/ops.h"
#include "optim/optim.h"
#include "testing/profile_here.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(cost, .init = mt_fused_use);

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* FLOPs of the products with weights, and of attention's, in a step of 2 x 31 tokens. */
typedef struct counted {
    int64_t products, attention;
} counted;

static counted count_flops(mt_module *model, const mt_recompute *recompute)
{
    counted c = { 0 };
    mt_gpt2_recompute(model, recompute);
    mt_scope_begin();
    mt_tensor *ids = mt_zeros(MT_SHAPE(2, 31), MT_I32, MT_CPU);
    mt_profile_begin(0);
    mt_backward(mt_gpt2_loss(model, ids, ids));
    mt_profile *profile = mt_profile_end();
    mt_scope_end();
    for (const mt_profile_line *line = profile->line; line < profile->line + profile->line_count; line++) {
        c.products += begins(line->name, "linear") || begins(line->name, "classifier") ? line->flops : 0;
        c.attention += begins(line->name, "attention") ? line->flops : 0;
    }
    mt_profile_free(profile);
    return c;
}

/* The planned FLOPs against those that the ops count. Attention's backward recomputes the scores: of its seven products
 * six are in the plan. A block has a third of its FLOPs once more; those of layernorm and GELU are not counted. */
Test(cost, planned_arithmetic_is_the_counted)
{
    const mt_recompute none[3] = { MT_RECOMPUTE_NONE }, some[3] = { MT_RECOMPUTE_SELECTIVE, MT_RECOMPUTE_SELECTIVE },
                       most[3] = { MT_RECOMPUTE_BLOCK, MT_RECOMPUTE_BLOCK };
    const mt_gpt2_config config = { 65, 0, 32, 3, 2, 48 };
    const mt_gpt2_batch batch = { 2, 31, 1, MT_F32, 0, false };
    mt_gpt2_cost cost = mt_gpt2_cost_of(&config, &batch, none);
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    counted is = count_flops(model, none), less = count_flops(model, some), again = count_flops(model, most);
    cr_expect_eq(is.attention, cost.attention_flops / 6 * 7);
    cr_expect_eq(is.products, cost.flops - cost.attention_flops);
    cr_expect(less.attention == is.attention && less.products == is.products);
    cr_expect_eq(again.attention + again.products - is.attention - is.products,
                 mt_gpt2_cost_of(&config, &batch, most).again_flops -
                     mt_gpt2_cost_of(&config, &batch, some).again_flops);
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        mt_zero_grad(params.item[i].tensor);
    mt_state_free(&params);
    mt_module_free(model);
}

/* The bytes of one step. */
typedef struct measured {
    int64_t state;      /* parameters and the optimizer's */
    int64_t kept;       /* when forward is done, beside the state; with copies of weights */
    int64_t loss, peak; /* bytes of the loss; the most of all */
} measured;

static measured measure(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute,
                        mt_update_kind rule)
{
    measured m;
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(config, &rng);
    mt_optim *optim = mt_optim_new(rule, mt_hyper_default(rule));
    mt_optim_add_all(optim, mt_module_params(model));
    mt_gpt2_recompute(model, recompute);
    mt_offload *offload = NULL;
    cr_assert(!batch->offload || mt_gpt2_offload(&offload, model) == MT_OK, "%s", mt_last_error());
    m.state = mt_live_bytes(MT_CPU);
    mt_peak_reset(MT_CPU);
    for (int64_t i = 0; i < batch->micro; i++) {
        mt_scope_begin();
        mt_tensor *ids = mt_zeros(MT_SHAPE(batch->samples, batch->time), MT_I32, MT_CPU);
        int64_t before = mt_live_bytes(MT_CPU);
        mt_autocast_begin(batch->dtype);
        mt_tensor *loss = mt_gpt2_loss(model, ids, ids);
        mt_autocast_end();
        m.kept = i ? m.kept : mt_live_bytes(MT_CPU) - before;
        m.loss = loss->storage->bytes;
        mt_backward(loss);
        mt_scope_end();
    }
    m.peak = mt_peak_bytes(MT_CPU);
    mt_optim_zero_grad(optim);
    mt_optim_free(optim);
    mt_gpt2_offload_end(offload);
    mt_module_free(model);
    return m;
}

/* Parameters, state, copies and what forward keeps: to the byte. The peak: within 2.5 %. */
static double expect_planned_with(mt_update_kind rule, const mt_gpt2_config *config, const mt_gpt2_batch *batch,
                                  const mt_recompute *recompute)
{
    mt_gpt2_cost cost = mt_gpt2_cost_of(config, batch, recompute);
    measured is = measure(config, batch, recompute, rule);
    double ratio = (double)cost.peak_bytes / (double)is.peak;
    const char *in = mt_dtype_name(batch->dtype), *how = mt_recompute_text(recompute, config->layers);
    cr_expect_eq(cost.parameter_bytes + cost.optimizer_bytes, is.state);
    cr_expect_eq(cost.activation_bytes + cost.copy_bytes + is.loss, is.kept, "%s, %s: planned %lld + %lld, kept %lld",
                 in, how, (long long)cost.activation_bytes, (long long)cost.copy_bytes, (long long)is.kept);
    cr_expect(ratio > 0.975 && ratio < 1.025, "%s, %s: planned %lld, measured %lld: %.3f", in, how,
              (long long)cost.peak_bytes, (long long)is.peak, ratio);
    return (double)cost.peak_bytes;
}

static double expect_planned(const mt_gpt2_config *config, const mt_gpt2_batch *batch, const mt_recompute *recompute)
{
    return expect_planned_with(MT_ADAMW, config, batch, recompute);
}

/* With each kind of recomputation, and with what is chosen for a budget between the largest peak and the least. */
static void plan_is_right_in(mt_dtype dtype, const mt_gpt2_config *config, mt_gpt2_batch batch)
{
    mt_recompute recompute[8];
    double peak[MT_RECOMPUTES];
    batch.dtype = dtype;
    for (int k = 0; k < MT_RECOMPUTES; k++) {
        for (int64_t l = 0; l < config->layers; l++)
            recompute[l] = (mt_recompute)k;
        peak[k] = expect_planned(config, &batch, recompute);
    }
    for (int64_t l = 0; l < config->layers; l++)
        recompute[l] = MT_RECOMPUTE_NONE;
    batch.offload = true;
    expect_planned(config, &batch, recompute);
    batch.offload = false;
    for (int share = 1; share < 4; share++) {
        double budget = peak[MT_RECOMPUTE_NONE] - share * (peak[MT_RECOMPUTE_NONE] - peak[MT_RECOMPUTE_BLOCK]) / 4;
        cr_assert_eq(mt_gpt2_choose(recompute, config, &batch, (int64_t)budget), MT_OK, "%s", mt_last_error());
        cr_expect_leq(expect_planned(config, &batch, recompute), budget);
    }
    cr_expect_eq(mt_gpt2_choose(recompute, config, &batch, 1), MT_ERR_ARGUMENT);
}

static void plan_is_right(const mt_gpt2_config *config, const mt_gpt2_batch *batch)
{
    plan_is_right_in(MT_F32, config, *batch);
    plan_is_right_in(batch->samples > 4 ? MT_BF16 : MT_F16, config, *batch);
}

/* With mostly activations, with mostly gradients, and with two micro-batches. */
Test(cost, planned_memory_is_the_measured)
{
    plan_is_right(&(mt_gpt2_config){ 65, 0, 32, 4, 4, 64 }, &(mt_gpt2_batch){ 12, 32, 1, MT_F32, 0, false });
    plan_is_right(&(mt_gpt2_config){ 65, 0, 32, 4, 4, 64 }, &(mt_gpt2_batch){ 12, 32, 2, MT_F32, 0, false });
    plan_is_right(&(mt_gpt2_config){ 5000, 0, 16, 2, 2, 32 }, &(mt_gpt2_batch){ 4, 16, 1, MT_F32, 0, false });
    plan_is_right(&(mt_gpt2_config){ 300, 0, 16, 6, 2, 96 }, &(mt_gpt2_batch){ 1, 8, 1, MT_F32, 0, false });
    plan_is_right(&(mt_gpt2_config){ 65, 0, 32, 8, 2, 32 }, &(mt_gpt2_batch){ 16, 32, 1, MT_F32, 0, false });
}

Test(cost, planned_state_is_that_of_the_rule)
{
    const mt_gpt2_config config = { 65, 0, 32, 4, 4, 64 };
    const mt_recompute none[4] = { MT_RECOMPUTE_NONE };
    int64_t scratch, adam = mt_gpt2_rule_bytes(&scratch, &config, MT_ADAMW, false);
    for (mt_update_kind rule = 0; rule < MT_UPDATE_KINDS; rule++) {
        mt_gpt2_batch batch = { 12, 32, 1, MT_F32, mt_gpt2_rule_bytes(&scratch, &config, rule, false) - adam, false };
        expect_planned_with(rule, &config, &batch, none);
        cr_expect_eq(scratch, rule == MT_MUON ? 4 * 4 * 4 * 64 * 64 : 0);
    }
}

Test(cost, planned_moments_of_8_bits_are_those_of_the_optimizer)
{
    const mt_gpt2_config config = { 65, 0, 32, 3, 4, 60 };
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    mt_optim *optim = mt_optim_new(MT_ADAMW, mt_hyper_default(MT_ADAMW));
    mt_optim_add_all(optim, mt_module_params(model));
    mt_amp *amp = mt_amp_new8(optim, MT_F32);
    mt_state state = { 0 };
    int64_t scratch;
    mt_amp_state(&state, amp);
    cr_expect_eq(mt_gpt2_rule_bytes(&scratch, &config, MT_ADAMW, true), mt_state_bytes(&state));
    mt_state_free(&state);
    mt_amp_free(amp);
    mt_optim_free(optim);
    mt_module_free(model);
}
