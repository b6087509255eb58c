/* test_optim.c -- the optimizer as a whole: groups, missing gradients, state by name, saving and restoring. The values
 * of a step are tested in test_updates.c; here the result must equal a direct call of the kernel, bit for bit. */
#include "optim/optim.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "nn/module.h"
#include "ops/ops.h"
#include "tests/aborts.h"
#include "tests/must.h"
#include "testing/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { R = 7, C = 5 };

/* Outside all scopes the caller owns a new tensor, and a parameter owns its gradient. */
static void give_grad(mt_tensor *param, uint64_t seed)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_TEST);
    mt_release(param->grad);
    param->grad = mt_uniform(mt_view_shape(&param->view), -1, 1, &rng);
}

typedef struct model {
    mt_tensor *weight, *bias;
    mt_optim *optim;
} model;

static model new_model(mt_update_kind kind)
{
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    model m = { mt_uniform(MT_SHAPE(R, C), -1, 1, &rng), mt_uniform(MT_SHAPE(C), -1, 1, &rng),
                mt_optim_new(kind, mt_hyper_default(kind)) };
    mt_optim_add(m.optim, "0.weight", m.weight);
    mt_optim_group(m.optim, 0.5, 0);
    mt_optim_add(m.optim, "0.bias", m.bias);
    return m;
}

static void free_model(model *m)
{
    mt_optim_zero_grad(m->optim);
    mt_optim_free(m->optim);
    mt_release(m->weight);
    mt_release(m->bias);
}

static void train(model *m, int from, int to)
{
    for (int t = from; t < to; t++) {
        mt_scope_begin();
        mt_optim_set_lr(m->optim, 0.01 / (t + 1));
        mt_optim_zero_grad(m->optim);
        mt_scope_end();
        give_grad(m->weight, (uint64_t)(2 * t));
        give_grad(m->bias, (uint64_t)(2 * t + 1));
        mt_optim_step(m->optim);
    }
}

Test(optim, steps_are_the_kernels_with_the_groups_hyper_parameters)
{
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        model m = new_model((mt_update_kind)kind);
        mt_hyper hyper = mt_hyper_default((mt_update_kind)kind);
        float w[R * C], b[C], ws[2][R * C] = { 0 }, bs[2][C] = { 0 }, scratch[4 * R * C];
        memcpy(w, mt_f32(m.weight), sizeof w);
        memcpy(b, mt_f32(m.bias), sizeof b);
        for (int t = 0; t < 10; t++) {
            mt_hyper for_w = hyper, for_b = hyper;
            for_w.lr = 0.01 / (t + 1), for_b.lr = 0.5 * for_w.lr, for_b.weight_decay = 0;
            train(&m, t, t + 1);
            mt_update uw = { w, mt_f32(m.weight->grad), { ws[0], ws[1] }, scratch, R, C, t + 1, &for_w };
            mt_update ub = { b, mt_f32(m.bias->grad), { bs[0], bs[1] }, scratch, 1, C, t + 1, &for_b };
            mt_update_rules[kind].update(&uw);
            mt_update_rules[kind].update(&ub);
        }
        must(mt_compare_bits(mt_update_rules[kind].name, mt_f32(m.weight), w, R * C));
        must(mt_compare_bits(mt_update_rules[kind].name, mt_f32(m.bias), b, C));
        cr_assert_eq(mt_optim_lr(m.optim), 0.01 / 10);
        free_model(&m);
    }
}

Test(optim, without_gradient_nothing_happens_and_steps_are_counted_apart)
{
    model m = new_model(MT_ADAM);
    float before[C];
    memcpy(before, mt_f32(m.bias), sizeof before);
    for (int t = 0; t < 100; t++) {
        give_grad(m.weight, (uint64_t)t);
        mt_optim_step(m.optim);
    }
    must(mt_compare_bits("bias", mt_f32(m.bias), before, C));
    /* Adam's first step is lr long, also after 100 steps of others; the parameters are below 1 and round by that. */
    give_grad(m.bias, 1);
    mt_optim_step(m.optim);
    for (int i = 0; i < C; i++)
        cr_assert_float_eq(fabsf(before[i] - mt_f32(m.bias)[i]), 0.5e-3, mt_tolerance(4, 1), "%g", (double)before[i]);
    free_model(&m);
}

Test(optim, zero_grad_gives_the_memory_back)
{
    model m = new_model(MT_SGD);
    int64_t live = mt_live_bytes(MT_CPU);
    give_grad(m.weight, 1);
    give_grad(m.bias, 2);
    cr_assert_gt(mt_live_bytes(MT_CPU), live);
    mt_optim_zero_grad(m.optim);
    cr_assert(!m.weight->grad && !m.bias->grad);
    cr_assert_eq(mt_live_bytes(MT_CPU), live);
    mt_optim_zero_grad(m.optim);
    mt_optim_step(m.optim);
    free_model(&m);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(optim, state_has_names_and_shapes)
{
    static const char *const want[] = { "0.weight/exp_avg", "0.weight/exp_avg_sq", "0.weight/step",
                                        "0.bias/exp_avg",   "0.bias/exp_avg_sq",   "0.bias/step" };
    model m = new_model(MT_ADAMW);
    train(&m, 0, 3);
    mt_state states = { 0 };
    mt_optim_state(&states, m.optim);
    cr_assert_eq(states.count, MT_COUNT(want));
    for (int64_t i = 0; i < states.count; i++) {
        const mt_state_item *item = &states.item[i];
        cr_assert_str_eq(item->name, want[i]);
        if (i % 3 == 2)
            cr_assert_eq(*item->integer, 3);
        else
            cr_assert(
                mt_shape_equal(mt_view_shape(&item->tensor->view), mt_view_shape(&(i < 3 ? m.weight : m.bias)->view)));
    }
    mt_state_free(&states);
    free_model(&m);

    m = new_model(MT_ADAFACTOR);
    mt_optim_state(&states, m.optim);
    cr_assert_str_eq(states.item[0].name, "0.weight/exp_avg_sq_row");
    cr_assert(mt_numel(states.item[0].tensor) == R && mt_numel(states.item[1].tensor) == C);
    cr_assert(mt_numel(states.item[3].tensor) == 1 && mt_numel(states.item[4].tensor) == C);
    mt_state_free(&states);
    free_model(&m);
}

/* Matrices of products get Muon, with memory for its products; tables and vectors AdamW, with its states. */
Test(optim, muon_leaves_tables_and_vectors_to_adamw)
{
    enum { V = 6, I = 3, O = 4 };
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    mt_module *net = mt_sequential(2, mt_embedding_layer(V, I, &rng), mt_linear_layer(I, O, &rng));
    const mt_hyper hyper = mt_hyper_default(MT_MUON);
    mt_hyper plain = hyper;
    float before[V * I], state[2][V * I] = { 0 }, scratch[4 * V * I];
    plain.weight_decay = 0;
    mt_optim *optim = mt_optim_new(MT_MUON, hyper);
    mt_optim_add_all(optim, mt_module_params(net));
    static const mt_update_kind want[] = { MT_ADAMW, MT_MUON, MT_ADAMW };
    for (int i = 0; i < 3; i++) {
        mt_optim_param *p = &optim->param[i];
        cr_assert_eq(p->rule, want[i], "%s", p->name);
        cr_assert_eq(p->state[1] != NULL, want[i] == MT_ADAMW, "%s", p->name);
        memcpy(before, mt_f32(p->tensor), (size_t)mt_numel(p->tensor) * sizeof *before);
        memset(state, 0, sizeof state);
        mt_zero_grad(optim->param[(i + 2) % 3].tensor);
        give_grad(p->tensor, (uint64_t)i);
        mt_optim_step(optim);
        mt_update u = { before, mt_f32(p->tensor->grad), { state[0], state[1] }, scratch, p->rows, p->cols,
                        1,      i == 2 ? &plain : &hyper };
        mt_update_rules[want[i]].update(&u);
        must(mt_compare_bits(p->name, mt_f32(p->tensor), before, mt_numel(p->tensor)));
    }
    mt_optim_free(optim);
    mt_module_free(net);
}

/* Five steps, save by name, restore into a new optimizer over copies, five more: the bits of ten steps without a break.
 * */
Test(optim, restored_state_goes_on_bit_for_bit)
{
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        model whole = new_model((mt_update_kind)kind), first = new_model((mt_update_kind)kind);
        model second = new_model((mt_update_kind)kind);
        train(&whole, 0, 10);
        train(&first, 0, 5);
        mt_state from = { 0 }, to = { 0 };
        mt_state_tensor(&from, first.weight, "w"), mt_state_tensor(&from, first.bias, "b");
        mt_state_tensor(&to, second.weight, "w"), mt_state_tensor(&to, second.bias, "b");
        mt_optim_state(&from, first.optim), mt_optim_state(&to, second.optim);
        mt_state_copy(&to, &from);
        for (int64_t i = 0; i < from.count; i++)
            if (from.item[i].integer)
                *to.item[i].integer = *from.item[i].integer;
        mt_state_free(&from), mt_state_free(&to);
        train(&second, 5, 10);
        must(mt_compare_bits(mt_update_rules[kind].name, mt_f32(second.weight), mt_f32(whole.weight), R * C));
        must(mt_compare_bits(mt_update_rules[kind].name, mt_f32(second.bias), mt_f32(whole.bias), C));
        free_model(&whole), free_model(&first), free_model(&second);
    }
}

/* The chapter's 1x, 2x, 2x, 3x count the parameters too: so state alone is 0, 1, 1, 2 of them, and 8 B of step each. */
Test(optim, state_bytes_are_the_memory_it_takes)
{
    static const int64_t times[MT_UPDATE_KINDS] = { 0, 1, 1, 1, 2, 2, 1, 0, 1 };
    mt_tensor *param = mt_zeros(MT_SHAPE(100, 200), MT_F32, MT_CPU);
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        mt_optim *optim = mt_optim_new((mt_update_kind)kind, mt_hyper_default((mt_update_kind)kind));
        int64_t live = mt_live_bytes(MT_CPU);
        mt_scope_begin();
        mt_optim_add(optim, "p", param);
        mt_scope_end();
        int64_t want = kind == MT_ADAFACTOR ? (100 + 200) * 4 : times[kind] * 80000;
        mt_state state = { 0 };
        mt_optim_state(&state, optim);
        cr_assert_eq(mt_state_bytes(&state), want + 8, "%s", mt_update_rules[kind].name);
        mt_state_free(&state);
        cr_assert_eq(mt_live_bytes(MT_CPU) - live, want, "%s: state survives the scope", mt_update_rules[kind].name);
        mt_optim_free(optim);
        cr_assert_eq(mt_live_bytes(MT_CPU), live);
    }
    mt_release(param);
}

/* After the step, values that a graph saved before it have changed: its backward must be refused. */
Test(optim, a_backward_through_what_a_step_has_changed_is_refused)
{
    model m = new_model(MT_SGD);
    m.weight->requires_grad = true;
    mt_scope_begin();
    mt_tensor *loss = mt_sum(mt_mul(m.weight, m.weight));
    mt_backward(mt_sum(mt_scale(m.weight, 1)));
    mt_optim_step(m.optim);
    ABORTS("was written in place since", mt_backward(loss));
    mt_scope_end();
    free_model(&m);
}

Test(optim, clips_over_all_parameters)
{
    model m = new_model(MT_SGD);
    cr_assert_eq(mt_optim_clip_grad_norm(m.optim, 1), 0, "no gradient, no norm");
    give_grad(m.weight, 1);
    double alone = mt_optim_clip_grad_norm(m.optim, INFINITY);
    give_grad(m.bias, 2);
    double both = mt_optim_clip_grad_norm(m.optim, 0.5);
    cr_assert_gt(both, alone);
    cr_assert_float_eq(mt_optim_clip_grad_norm(m.optim, 1), 0.5, mt_tolerance(2, 0.5));
    mt_f32(m.bias->grad)[0] = NAN;
    cr_assert(isnan(mt_optim_clip_grad_norm(m.optim, 1)));
    free_model(&m);
}

/* Elements 3 .. 12 of weight in its place: the update of these, and nothing else, under the name and in the group. */
Test(optim, a_parameter_is_replaced_by_a_part_of_it)
{
    model m = new_model(MT_ADAMW);
    train(&m, 0, 2);
    mt_tensor *part = mt_tensor_alias(m.weight);
    part->view = mt_view_contiguous(MT_SHAPE(10));
    part->view.offset = 3;
    mt_optim_replace(m.optim, 0, part);
    mt_release(part);
    float before[R * C], want[10], state[2][10] = { 0 };
    memcpy(before, mt_f32(m.weight), sizeof before);
    memcpy(want, before + 3, sizeof want);
    give_grad(m.optim->param[0].tensor, 7);
    mt_optim_step(m.optim);
    mt_update u = {
        want, mt_f32(m.optim->param[0].tensor->grad), { state[0], state[1] }, NULL, 1, 10, 1, &m.optim->param[0].hyper
    };
    mt_adamw_update_cpu(&u);
    must(mt_compare_bits("the part", mt_f32(m.weight) + 3, want, 10));
    must(mt_compare_bits("before it", mt_f32(m.weight), before, 3));
    must(mt_compare_bits("behind it", mt_f32(m.weight) + 13, before + 13, R * C - 13));
    mt_state states = { 0 };
    mt_optim_state(&states, m.optim);
    cr_assert_str_eq(states.item[0].name, "0.weight/exp_avg");
    cr_assert_eq(mt_numel(states.item[0].tensor), 10);
    cr_assert_eq(*states.item[2].integer, 1, "steps are counted from the replacement");
    mt_state_free(&states);
    ABORTS("there is no parameter 2", mt_optim_replace(m.optim, 2, m.weight));
    ABORTS("the same tensor", mt_optim_replace(m.optim, 0, m.bias));
    mt_zero_grad(m.weight);
    free_model(&m);
}

typedef struct seen {
    mt_optim *optim;
    double max_norm;
    int64_t arrays, updates;
    bool leave_out;
} seen;

static double see_clip(void *user, const mt_grad_array *arrays, int64_t count, double max_norm)
{
    seen *s = user;
    s->arrays = count, s->max_norm = max_norm;
    return mt_clip_grad_norm_cpu(arrays, count, max_norm);
}

static bool see_apply(void *user, mt_update *updates)
{
    seen *s = user;
    for (int i = 0; i < 2; i++)
        s->updates += updates[i].grad != NULL;
    if (!s->leave_out)
        mt_optim_apply(s->optim, updates);
    return !s->leave_out;
}

Test(optim, what_is_around_it_clips_and_applies_and_may_leave_a_step_out)
{
    model plain = new_model(MT_ADAM), around = new_model(MT_ADAM);
    seen s = { .optim = around.optim };
    around.optim->hooks = (mt_optim_hooks){ see_clip, see_apply, &s };
    for (int t = 0; t < 3; t++) {
        s.leave_out = t == 1;
        for (int k = 0; k < 2; k++) {
            model *m = k ? &around : &plain;
            give_grad(m->weight, (uint64_t)t);
            if (k == 1 || t != 1) {
                mt_optim_clip_grad_norm(m->optim, 0.5);
                mt_optim_step(m->optim);
            }
        }
    }
    cr_assert(s.arrays == 1 && s.max_norm == 0.5 && s.updates == 3);
    must(mt_compare_bits("weight", mt_f32(around.weight), mt_f32(plain.weight), R * C));
    cr_assert_eq(around.optim->param[0].step, 2, "a step that is left out is not counted");
    free_model(&plain), free_model(&around);
}

Test(optim, ranks_and_sizes)
{
    mt_shape shapes[] = { MT_SCALAR, MT_SHAPE(0), MT_SHAPE(0, 4), MT_SHAPE(4, 0), MT_SHAPE(3, 2, 5) };
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++) {
        for (int64_t k = 0; k < MT_COUNT(shapes); k++) {
            mt_tensor *param = mt_zeros(shapes[k], MT_F32, MT_CPU);
            mt_optim *optim = mt_optim_new((mt_update_kind)kind, mt_hyper_default((mt_update_kind)kind));
            mt_optim_add(optim, "p", param);
            give_grad(param, 1);
            mt_optim_step(optim);
            float along = 0;
            for (int64_t i = 0; i < mt_numel(param); i++) {
                along += mt_f32(param)[i] * mt_f32(param->grad)[i];
                cr_assert(kind == MT_MUON || mt_f32(param)[i] * mt_f32(param->grad)[i] < 0,
                          "%s moves against the gradient", mt_update_rules[kind].name);
            }
            cr_assert(mt_numel(param) == 0 || along < 0, "%s moves against the gradient", mt_update_rules[kind].name);
            mt_optim_zero_grad(optim);
            mt_optim_free(optim);
            mt_release(param);
        }
    }
}

Test(optim, misuse_aborts_in_words)
{
    model m = new_model(MT_SGD);
    mt_tensor *ids = mt_zeros(MT_SHAPE(3), MT_I32, MT_CPU), *other = mt_zeros(MT_SHAPE(C, R), MT_F32, MT_CPU);
    mt_tensor *turned = mt_transpose(m.weight, 0, 1);
    char name[200];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ABORTS("a parameter 0.bias already", mt_optim_add(m.optim, "0.bias", other));
    ABORTS("0.weight and tied are the same", mt_optim_add(m.optim, "tied", m.weight));
    ABORTS("ids is i32 [3]", mt_optim_add(m.optim, "ids", ids));
    ABORTS("turned is f32 [5,7] stride [1,5]", mt_optim_add(m.optim, "turned", turned));
    ABORTS("longer than 95", mt_optim_add(m.optim, name, other));
    m.weight->grad = other;
    ABORTS("gradient of 0.weight [7,5] is f32 [5,7]", mt_optim_step(m.optim));
    m.weight->grad = NULL;
    mt_release(ids), mt_release(other), mt_release(turned);
    free_model(&m);
}
