/* test_gpt2.c -- a small GPT-2 beside torch's (datasets/reference/gpt2_torch.py): logits, every gradient, ten steps of
 * AdamW; then its initialisation, its names and counts, and what it refuses.
 *
 * The tolerance for f32 is measured on the model. Rounding in products and sums is equivalent to a perturbation of
 * their operands by as many units in the last place (backward error: Higham 2002, sec. 3.1). So the test perturbs every
 * weight by a relative +-2^-12, measures the change of each result, and allows ROUNDINGS * 2^-24 / 2^-12 of it.
 * ROUNDINGS is the length of the longest path: in each layer two rows of layernorm, four products, scores and
 * probabilities. */
#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "plan/gpt2_cost.h"
#include "must.h"
#include "ops/ops.h"
#include "optim/optim.h"
#include "testing/compare.h"
#include "testing/dump.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 2, T = 11, C = 8, TOKENS = 29, STEPS = 10, LAYERS = 4 };
enum { ROUNDINGS = LAYERS * (2 * 2 * C + 3 * C + 4 * C + C / 2 + 2 * T) + 2 * C };

static const mt_gpt2_config small = { TOKENS, 32, 12, LAYERS, 2, C };

/* ---- beside torch ---------------------------------------------------------------------------------------- */

/* Everything that a run computes: logits, gradients, losses, parameters after ten steps, one after the other. */
typedef struct results {
    float *value;
    int64_t count;
} results;

static void keep(results *r, const float *from, int64_t n)
{
    r->value = realloc(r->value, (size_t)(r->count + n) * sizeof *from);
    memcpy(r->value + r->count, from, (size_t)n * sizeof *from);
    r->count += n;
}

static mt_dump *reference(void)
{
    mt_dump *dump = NULL;
    cr_assert_eq(mt_dump_open(&dump, "datasets/reference/gpt2_torch.dump"), MT_OK, "%s (run this from the root)",
                 mt_last_error());
    return dump;
}

static const void *array(const mt_dump *dump, const char *what, const mt_state_item *p, const char *type)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", what, p->name);
    return mt_dump_array(dump, name, type, mt_view_shape(&p->tensor->view));
}

static void load(const mt_state *params, const mt_dump *dump, float moved)
{
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    for (int64_t i = 0; i < params->count; i++) {
        const float *from = array(dump, "param", &params->item[i], "f32");
        for (int64_t k = 0; k < mt_numel(params->item[i].tensor); k++)
            mt_f32(params->item[i].tensor)[k] = from[k] * (1 + (mt_rng_u32(&rng) & 1 ? moved : -moved));
    }
}

static mt_optim *optimizer(const mt_state *params)
{
    const mt_hyper hyper = { .lr = 1e-2, .beta1 = 0.9, .beta2 = 0.95, .eps = 1e-3, .weight_decay = 0.1 };
    mt_optim *optim = mt_optim_new(MT_ADAMW, hyper);
    for (int64_t i = 0; i < params->count; i++) {
        mt_optim_group(optim, 1, params->item[i].tensor->view.rank == 2 ? 0.1 : 0);
        mt_optim_add(optim, params->item[i].name, params->item[i].tensor);
    }
    return optim;
}

static float loss_and_gradients(mt_module *model, const mt_dump *dump)
{
    mt_tensor *ids = mt_from(MT_SHAPE(B, T), MT_I32, mt_dump_array(dump, "ids", "i32", MT_SHAPE(B, T)));
    mt_tensor *targets = mt_from(MT_SHAPE(B, T), MT_I32, mt_dump_array(dump, "targets", "i32", MT_SHAPE(B, T)));
    mt_tensor *loss = mt_gpt2_loss(model, ids, targets);
    mt_backward(loss);
    return (float)mt_item(loss);
}

static results run(const mt_dump *dump, float moved)
{
    results r = { 0 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&small, &rng);
    mt_state params = mt_module_params(model);
    load(&params, dump, moved);
    mt_optim *optim = optimizer(&params);
    mt_scope_begin();
    mt_tensor *ids = mt_from(MT_SHAPE(B, T), MT_I32, mt_dump_array(dump, "ids", "i32", MT_SHAPE(B, T)));
    keep(&r, mt_f32(mt_gpt2_logits(model, ids)), B * T * TOKENS);
    mt_scope_end();
    float losses[STEPS + 1];
    for (int step = 0; step <= STEPS; step++) {
        mt_scope_begin();
        mt_optim_zero_grad(optim);
        losses[step] = loss_and_gradients(model, dump);
        for (int64_t i = 0; i < params.count && step == 0; i++)
            keep(&r, mt_f32(params.item[i].tensor->grad), mt_numel(params.item[i].tensor));
        if (step < STEPS)
            mt_optim_step(optim);
        mt_scope_end();
    }
    keep(&r, losses, STEPS + 1);
    for (int64_t i = 0; i < params.count; i++)
        keep(&r, mt_f32(params.item[i].tensor), mt_numel(params.item[i].tensor));
    mt_optim_zero_grad(optim);
    mt_optim_free(optim);
    mt_state_free(&params);
    mt_module_free(model);
    return r;
}

/* Compares n results from *at on with torch's; the tolerance is from their change under the perturbation. */
static int64_t compare(const char *name, const results *got, const results *moved, int64_t at, const double *want,
                       int64_t n)
{
    double *tolerance = malloc((size_t)n * sizeof *tolerance), farthest = 0;
    for (int64_t i = 0; i < n; i++)
        farthest = fmax(farthest, fabs((double)moved->value[at + i] - want[i]));
    cr_assert(isfinite(farthest), "%s moved by %g", name, farthest);
    for (int64_t i = 0; i < n; i++)
        tolerance[i] = farthest * ROUNDINGS * 0x1p-24 / 0x1p-12;
    must(mt_compare(name, got->value + at, want, tolerance, n));
    free(tolerance);
    return at + n;
}

static int64_t compare_all(const char *what, const results *got, const results *moved, int64_t at,
                           const mt_state *params, const mt_dump *dump)
{
    for (int64_t i = 0; i < params->count; i++) {
        char name[128];
        snprintf(name, sizeof name, "%s/%s", what, params->item[i].name);
        at =
            compare(name, got, moved, at, array(dump, what, &params->item[i], "f64"), mt_numel(params->item[i].tensor));
    }
    return at;
}

Test(gpt2, beside_torch)
{
    mt_dump *dump = reference();
    results got = run(dump, 0), moved = run(dump, 0x1p-12f);
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&small, &rng);
    mt_state params = mt_module_params(model);
    int64_t at = compare("logits", &got, &moved, 0, mt_dump_array(dump, "logits", "f64", MT_SHAPE(B, T, TOKENS)),
                         B * T * TOKENS);
    at = compare_all("grad", &got, &moved, at, &params, dump);
    at = compare("loss", &got, &moved, at, mt_dump_array(dump, "loss", "f64", MT_SHAPE(STEPS + 1)), STEPS + 1);
    at = compare_all("after", &got, &moved, at, &params, dump);
    cr_assert_eq(at, got.count);
    mt_state_free(&params);
    mt_module_free(model);
    mt_dump_close(dump);
    free(got.value);
    free(moved.value);
}

/* ---- initialisation, counts, cost --------------------------------------------------------------------------- */

static double deviation(const mt_tensor *t)
{
    double squares = 0;
    for (int64_t i = 0; i < mt_numel(t); i++)
        squares += (double)mt_f32(t)[i] * mt_f32(t)[i];
    return sqrt(squares / (double)mt_numel(t));
}

/* The standard deviation of n normal numbers has a relative standard error of 1/sqrt(2n); the bound is five times that.
 * */
Test(gpt2, first_weights_are_gpt2s)
{
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ 65, 0, 16, 3, 2, 32 }, &rng);
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++) {
        const mt_state_item *p = &params.item[i];
        bool writer = strstr(p->name, "c_proj.weight"), gain = strstr(p->name, "ln_") && strstr(p->name, "weight");
        double want = p->tensor->view.rank == 2 ? 0.02 / (writer ? sqrt(6) : 1) : gain;
        double slack = p->tensor->view.rank == 2 ? 5 * want / sqrt(2 * (double)mt_numel(p->tensor)) : 0;
        cr_expect_leq(fabs(deviation(p->tensor) - want), slack, "%s has deviation %g", p->name, deviation(p->tensor));
    }
    cr_expect_eq(mt_gpt2_config_of(model)->rows, 128);
    mt_state_free(&params);
    mt_module_free(model);
}

/* The published counts, without the table's padding. */
Test(gpt2, published_sizes)
{
    static const struct {
        const char *name;
        int64_t parameters;
    } sizes[] = {
        { "gpt2", 124439808 }, { "gpt2-medium", 354823168 }, { "gpt2-large", 774030080 }, { "gpt2-xl", 1557611200 }
    };
    for (int64_t i = 0; i < MT_COUNT(sizes); i++) {
        mt_gpt2_config config = *mt_gpt2_size(sizes[i].name);
        config.rows = config.vocabulary;
        cr_expect_eq(mt_gpt2_cost_of(&config, &(mt_gpt2_batch){ 1, 1, 1, MT_F32, 0, false }, NULL).parameters,
                     sizes[i].parameters, "%s", sizes[i].name);
    }
    mt_gpt2_config own = { 65, 0, 0, 2, 0, 0 };
    cr_expect_eq(mt_gpt2_fill(&own, "gpt2-xl"), MT_OK);
    cr_expect(own.vocabulary == 65 && own.block == 1024 && own.layers == 2 && own.heads == 25 && own.width == 1600);
    cr_expect_eq(mt_gpt2_fill(&own, "gpt3"), MT_ERR_ARGUMENT);
    cr_expect_null(mt_gpt2_size("gpt3"));
    cr_expect(strstr(mt_last_error(), "gpt2-xl"));
}

/* Before the step ends, activations and the probabilities of all tokens have been freed. */
Test(gpt2, backward_leaves_gradients_only)
{
    enum { SAMPLES = 4, TIME = 16, VOCABULARY = 3000 };
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ VOCABULARY, 0, TIME, 2, 2, 16 }, &rng);
    int64_t parameters = mt_live_bytes(MT_CPU), probabilities = SAMPLES * TIME * VOCABULARY * 4;
    mt_scope_begin();
    mt_tensor *ids = mt_zeros(MT_SHAPE(SAMPLES, TIME), MT_I32, MT_CPU);
    mt_backward(mt_gpt2_loss(model, ids, ids));
    int64_t more = mt_live_bytes(MT_CPU) - 2 * parameters;
    cr_expect(more >= 0 && more < probabilities / 4, "%d bytes more", (int)more);
    mt_scope_end();
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        mt_zero_grad(params.item[i].tensor);
    mt_state_free(&params);
    mt_module_free(model);
}

Test(gpt2, refuses_what_cannot_be)
{
    cr_expect_eq(mt_gpt2_check(&(mt_gpt2_config){ 65, 0, 64, 4, 3, 128 }), MT_ERR_ARGUMENT);
    cr_expect(strstr(mt_last_error(), "3 heads cannot share a width of 128"));
    cr_expect_eq(mt_gpt2_check(&(mt_gpt2_config){ 65, 0, 64, 0, 4, 128 }), MT_ERR_ARGUMENT);
    cr_expect_eq(mt_gpt2_check(&(mt_gpt2_config){ 65, 64, 64, 4, 4, 128 }), MT_ERR_ARGUMENT);
    mt_rng rng = mt_rng_new(7, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&small, &rng);
    mt_scope_begin();
    ABORTS("there are only 12 positions", mt_forward(model, mt_zeros(MT_SHAPE(1, 13), MT_I32, MT_CPU)));
    int32_t outside[] = { 32 };
    ABORTS("the tokens are 0 .. 31", mt_forward(model, mt_from(MT_SHAPE(1, 1), MT_I32, outside)));
    mt_scope_end();
    mt_module_free(model);
}
