/* test_recompute.c -- modules whose activations are computed again in backward: the same bits as without, and less
 * memory, for the planned arithmetic. */
#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "fused/fused.h"
#include "memory/segment.h"
#include "models/gpt2.h"
#include "must.h"
#include "amp/autocast.h"
#include "ops/ops.h"
#include "testing/compare.h"
#include "testing/profile_here.h"

#include <math.h>
#include <stdlib.h>

TestSuite(recompute, .init = mt_fused_use);

typedef mt_tensor *run_fn(mt_module *module, mt_tensor *x);

static run_fn *const hows[] = { NULL, mt_selective_forward, mt_segment_forward };
static const char *const names[] = { "none", "selective", "segment" };

enum { NONE, SELECTIVE, SEGMENT, HOWS };

/* ---- a run and what it computed ------------------------------------------------------------------------------ */

typedef struct results {
    float value[20000];
    int64_t count;
    int64_t kept, peak; /* bytes over the state: when forward is done, the most of all */
    int64_t flops;
} results;

static void keep(results *r, const mt_tensor *t)
{
    cr_assert_leq(r->count + mt_numel(t), MT_COUNT(r->value));
    memcpy(r->value + r->count, mt_f32(t), (size_t)mt_numel(t) * sizeof *r->value);
    r->count += mt_numel(t);
}

static void expect_same_bits(const char *what, const results *got, const results *want)
{
    cr_assert_eq(got->count, want->count, "%s: %d numbers, not %d", what, (int)got->count, (int)want->count);
    must(mt_compare_bits(what, got->value, want->value, want->count));
}

/* Selective recomputation computes GELU from an input that autocast has rounded to 8 bits or more, and products have so
 * many bits anyhow: a few of them may be off, relative to the largest number. */
static void expect_near(const char *what, const results *got, const results *want)
{
    double largest = 0;
    cr_assert_eq(got->count, want->count);
    for (int64_t i = 0; i < want->count; i++)
        largest = fmax(largest, fabs((double)want->value[i]));
    for (int64_t i = 0; i < want->count; i++)
        cr_assert_float_eq(got->value[i], want->value[i], 8 * 0x1p-8 * largest, "%s[%d]: %g, not %g", what, (int)i,
                           (double)got->value[i], (double)want->value[i]);
}

static void keep_grads(results *r, const mt_module *module)
{
    mt_state params = mt_module_params(module);
    for (int64_t p = 0; p < params.count; p++) {
        cr_assert(params.item[p].tensor->grad, "%s has no gradient", params.item[p].name);
        keep(r, params.item[p].tensor->grad);
        mt_zero_grad(params.item[p].tensor);
    }
    mt_state_free(&params);
}

/* ---- GPT-2 ------------------------------------------------------------------------------------------------------ */

enum { B = 2, T = 8, C = 16, TOKENS = 11 };

static mt_module *gpt2_new(int64_t layers, run_fn *run)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&(mt_gpt2_config){ TOKENS, 16, T, layers, 2, C }, &rng);
    for (int64_t l = 0; l < layers; l++)
        model->child[MT_GPT2_H]->child[l]->run = run;
    return model;
}

/* Loss and gradients of one batch, forward in dtype. */
static void step(results *r, mt_module *model, mt_dtype dtype)
{
    int32_t ids[B * T + 1];
    for (int i = 0; i <= B * T; i++)
        ids[i] = i * i % TOKENS;
    mt_scope_begin();
    mt_tensor *x = mt_from(MT_SHAPE(B, T), MT_I32, ids), *y = mt_from(MT_SHAPE(B, T), MT_I32, ids + 1);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_profile_begin(0);
    mt_autocast_begin(dtype);
    mt_tensor *loss = mt_gpt2_loss(model, x, y);
    mt_autocast_end();
    r->kept = mt_live_bytes(MT_CPU) - before;
    mt_backward(loss);
    mt_profile *profile = mt_profile_end();
    r->peak = profile->peak[MT_CPU] - before;
    r->flops = profile->flops;
    mt_profile_free(profile);
    keep(r, loss);
    mt_scope_end();
}

static void train(results *r, int64_t layers, int how, mt_dtype dtype)
{
    mt_module *model = gpt2_new(layers, hows[how]);
    *r = (results){ 0 };
    step(r, model, dtype);
    keep_grads(r, model);
    mt_module_free(model);
}

Test(recompute, gpt2_has_the_same_bits)
{
    static results want, got;
    for (int dtype = 0; dtype < 3; dtype++) {
        mt_dtype in = (mt_dtype[]){ MT_F32, MT_BF16, MT_F16 }[dtype];
        train(&want, 3, NONE, in);
        for (int how = SELECTIVE; how < HOWS; how++) {
            train(&got, 3, how, in);
            (how == SELECTIVE && in != MT_F32 ? expect_near : expect_same_bits)(names[how], &got, &want);
            cr_expect_eq(mt_live_bytes(MT_CPU), 0, "%s in %s leaves memory", names[how], mt_dtype_name(in));
        }
    }
}

/* Numbers per token and layer, f32: 16 C + H + 4; selective drops the results of both layernorms and of GELU, 6 C; a
 * segment keeps its input, C. Under autocast operands and results of products have 16 bits, and f32 are the inputs of
 * layernorms (2 C), mean, rstd and log-sum-exp (H + 4), and a segment's input. */
Test(recompute, forward_keeps_what_is_planned)
{
    static results less, more;
    static const double layer[2][HOWS] = { { 16 * C + 2 + 4, 10 * C + 2 + 4, C }, { 9 * C + 2 + 4, 6 * C + 2 + 4, C } };
    for (int how = 0; how < HOWS; how++)
        for (int half = 0; half < 2; half++) {
            train(&less, 1, how, half ? MT_BF16 : MT_F32);
            train(&more, 2, how, half ? MT_BF16 : MT_F32);
            int64_t weights = half ? 2 * 12 * C * C : 0; /* kept in 16 bits with the parameters */
            cr_expect_eq(more.kept - less.kept - weights, 4 * B * T * layer[half][how], "%s, half %d: %g numbers",
                         names[how], half, (double)(more.kept - less.kept - weights) / (4 * B * T));
        }
}

Test(recompute, flops_are_those_of_the_blocks_once_more)
{
    static results less, more;
    int64_t layer[HOWS];
    for (int how = 0; how < HOWS; how++) {
        train(&less, 1, how, MT_F32);
        train(&more, 2, how, MT_F32);
        layer[how] = more.flops - less.flops;
    }
    /* Products with 12 C C weights, attention's two products of T (T + 1) / 2 pairs a head, two sums. */
    int64_t forward = B * T * (2 * 12 * C * C + 2 * (T + 1) * C + 2 * C);
    cr_expect_eq(layer[SELECTIVE], layer[NONE], "layernorm and GELU count no FLOPs");
    cr_expect_eq(layer[SEGMENT], layer[NONE] + forward, "%d instead of %d + %d", (int)layer[SEGMENT], (int)layer[NONE],
                 (int)forward);
}

/* The most that 12 blocks take beside parameters and gradients; B T C numbers are one array. */
static int64_t peak_of_blocks(int how)
{
    enum { BLOCKS = 12 };
    mt_rng rng = mt_rng_new(2, MT_STREAM_TEST);
    mt_module *model = gpt2_new(BLOCKS, hows[how]);
    int64_t before = 0;
    for (int pass = 0; pass < 2; pass++) { /* the first one allocates the parameters' gradients */
        mt_scope_begin();
        mt_tensor *x = mt_normal(MT_SHAPE(B, T, C), 0, 1, &rng), *dout = mt_normal(MT_SHAPE(B, T, C), 0, 1, &rng);
        before = mt_live_bytes(MT_CPU);
        mt_peak_reset(MT_CPU);
        mt_backward_from(mt_forward(model->child[MT_GPT2_H], x), dout);
        mt_scope_end();
    }
    mt_module_free(model);
    return mt_peak_bytes(MT_CPU) - before;
}

Test(recompute, twelve_blocks_peak_at_a_quarter)
{
    int64_t plain = peak_of_blocks(NONE), selective = peak_of_blocks(SELECTIVE), segment = peak_of_blocks(SEGMENT);
    cr_expect_lt(segment, 0.25 * (double)plain, "%d of %d", (int)segment, (int)plain);
    cr_expect_lt(selective, 0.75 * (double)plain, "%d of %d", (int)selective, (int)plain);
    /* 12 inputs; of one block what it keeps, its result, and gradients: of GELU's result, of both addends, of x. */
    cr_expect_leq(segment, 4 * B * T * (12 * C + 16 * C + 2 + 4 + C + (4 + 2 + 1) * C));
}

/* ---- other modules ----------------------------------------------------------------------------------------------- */

enum { N = 6, WIDTH = 5 };

static mt_tensor *twice(mt_module *module, mt_tensor *x)
{
    mt_tensor *y = mt_forward(module->child[0], x);
    return mt_add(mt_mul(y, x), mt_forward(module->child[0], y)); /* x, y and the layer have several consumers */
}

static mt_tensor *as_it_is(mt_module *module, mt_tensor *x)
{
    return module->params > 0 ? mt_reshape(x, MT_SHAPE(mt_numel(x))) : x;
}

static const mt_module_class twice_class = { "twice", twice }, view_class = { "view", as_it_is };

static mt_rng init;

static mt_module *layer_with_dropout(float p)
{
    return mt_sequential(3, mt_linear_layer(WIDTH, WIDTH, &init), mt_dropout_layer(p, mt_rng_new(5, MT_STREAM_DROPOUT)),
                         mt_function_layer(mt_gelu));
}

static mt_module *twice_of(mt_module *layer)
{
    mt_module *module = mt_module_new(&twice_class);
    mt_module_child(module, "layer", layer);
    return module;
}

static mt_module *tower_new(void)
{
    init = mt_rng_new(4, MT_STREAM_INIT);
    return mt_sequential(3, layer_with_dropout(0.3f), twice_of(layer_with_dropout(0.5f)), layer_with_dropout(0.2f));
}

static void set_run(mt_module *module, run_fn *run, int deep)
{
    module->run = run;
    for (int i = 0; deep > 0 && i < module->children; i++)
        set_run(module->child[i], run, deep - 1);
}

static void keep_streams(results *r, mt_module *module)
{
    mt_state state = { 0 };
    mt_module_state(&state, module);
    for (int64_t i = 0; i < state.count; i++)
        if (state.item[i].integer)
            r->value[r->count++] = (float)*state.item[i].integer;
    mt_state_free(&state);
}

/* Two batches forward before the first backward: each segment must draw its own masks again. */
static void train_tower(results *r, mt_module *tower)
{
    mt_rng data = mt_rng_new(6, MT_STREAM_TEST);
    *r = (results){ 0 };
    mt_scope_begin();
    mt_tensor *x = mt_normal(MT_SHAPE(N, WIDTH), 0, 1, &data), *z = mt_normal(MT_SHAPE(N, WIDTH), 0, 1, &data);
    x->requires_grad = true;
    mt_autocast_begin(MT_BF16);
    mt_tensor *first = mt_forward(tower, mt_mul(x, x)), *second = mt_forward(tower, x), *third = mt_forward(tower, z);
    mt_autocast_end();
    keep_streams(r, tower);
    keep(r, first), keep(r, second), keep(r, third);
    mt_autocast_begin(MT_F16);
    mt_backward(mt_sum(mt_mul(first, first)));
    mt_backward(mt_sum(mt_add(mt_mul(second, third), second)));
    keep_streams(r, tower);
    cr_expect_eq(mt_cast_dtype("linear", MT_OP_MATMUL, MT_F32), MT_F16);
    mt_autocast_end();
    keep(r, x->grad);
    keep_grads(r, tower);
    mt_zero_grad(x);
    mt_scope_end();
}

Test(recompute, random_numbers_and_types_are_those_of_forward)
{
    static results want, got;
    mt_module *tower = tower_new();
    train_tower(&want, tower);
    mt_module_free(tower);
    for (int how = SELECTIVE; how < HOWS; how++)
        for (int deep = 0; deep < 4; deep++) { /* the tower; with its blocks; with their layers ... */
            tower = tower_new();
            set_run(tower, hows[how], deep);
            train_tower(&got, tower);
            (how == SELECTIVE ? expect_near : expect_same_bits)(names[how], &got, &want);
            mt_module_free(tower);
        }
    cr_expect_eq(mt_live_bytes(MT_CPU), 0);
}

/* ---- gradient-ready callbacks ---------------------------------------------------------------------------------- */

typedef struct readiness {
    int calls;
    float first; /* of the gradient, then */
} readiness;

static void note_ready(void *user, mt_tensor *leaf)
{
    readiness *r = user;
    r->calls++;
    r->first = mt_f32(leaf->grad)[0];
}

Test(recompute, a_gradient_is_ready_once_and_complete)
{
    mt_module *tower = tower_new();
    mt_state params = mt_module_params(tower);
    readiness ready[16] = { 0 };
    set_run(tower, mt_segment_forward, 2);
    for (int64_t p = 0; p < params.count; p++)
        mt_grad_ready_on(params.item[p].tensor, note_ready, &ready[p]);
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(N, WIDTH), 0.5f);
    mt_backward(mt_sum(mt_forward(tower, mt_forward(tower, x)))); /* each parameter in two segments */
    mt_scope_end();
    for (int64_t p = 0; p < params.count; p++) {
        mt_tensor *leaf = params.item[p].tensor;
        cr_expect_eq(ready[p].calls, 1, "%s was ready %d times", params.item[p].name, ready[p].calls);
        cr_expect_eq(ready[p].first, mt_f32(leaf->grad)[0], "%s was not complete", params.item[p].name);
        mt_grad_ready_off(leaf, note_ready, &ready[p]);
        mt_zero_grad(leaf);
    }
    mt_state_free(&params);
    mt_module_free(tower);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

Test(recompute, without_history_there_is_no_node)
{
    mt_module *plain = mt_function_layer(mt_gelu), *empty = mt_sequential(0), *tower = tower_new();
    plain->run = empty->run = tower->run = mt_segment_forward;
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(N, WIDTH), 1), *wanted = mt_full(MT_SHAPE(1), 1);
    wanted->requires_grad = true;
    cr_expect_null(mt_forward(plain, x)->node);
    cr_expect_eq(mt_forward(empty, wanted), wanted);
    mt_no_grad_begin();
    cr_expect_null(mt_forward(tower, x)->node);
    mt_no_grad_end();
    mt_module_set_mode(tower, MT_EVAL);
    mt_no_grad_begin();
    mt_tensor *alone = mt_forward(tower, x);
    mt_no_grad_end();
    cr_expect_eq(memcmp(mt_f32(mt_forward(tower, x)), mt_f32(alone), (size_t)mt_numel(alone) * sizeof(float)), 0);
    cr_expect(mt_recording());
    mt_scope_end();
    mt_module_free(plain), mt_module_free(empty), mt_module_free(tower);
}

/* A result that is a view of x, and a parameter that forward does not use. */
Test(recompute, a_view_of_the_input_passes_its_gradient_on)
{
    mt_module *view = mt_module_new(&view_class);
    mt_module_new_param(view, "unused", MT_SHAPE(1), 0);
    view->run = mt_segment_forward;
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(2, 3), 2);
    mt_backward(mt_sum(mt_forward(view, x)));
    cr_expect_null(x->grad);
    x->requires_grad = true;
    mt_backward(mt_sum(mt_mul(mt_forward(view, x), mt_forward(view, x))));
    for (int i = 0; i < 6; i++)
        cr_expect_eq(mt_f32(x->grad)[i], 4);
    cr_expect_null(view->param[0]->grad);
    mt_zero_grad(x);
    mt_scope_end();
    mt_module_free(view);
}

Test(recompute, what_cannot_be_computed_again_aborts)
{
    mt_module *tower = tower_new();
    tower->run = mt_segment_forward;
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(N, WIDTH), 1), *loss = mt_sum(mt_forward(tower, x));
    ABORTS("written in place since", (mt_written(x), mt_backward(loss)));
    ABORTS("needs its parameter 1.layer.0.bias as it was in forward",
           (mt_written(mt_module_tensor(tower, "1.layer.0.bias")), mt_backward(loss)));
    ABORTS("in another mode", (mt_module_set_mode(tower, MT_EVAL), mt_backward(loss)));
    ABORTS("inside mt_no_grad", (mt_no_grad_begin(), mt_backward(loss)));
    mt_backward(loss);
    ABORTS("a second backward through", mt_backward(loss));
    mt_scope_end();
    mt_module_free(tower);
}
