/* test_cuda.c -- training on the device: the update rules and clipping against the CPU's, and the losses of a run.
 *
 * The tolerance of a run: in a step every number has at most ROUNDINGS roundings (the longest sum, and the operations
 * before and after it), on either device. The effect of a rounding on later losses is measured: a third run, on the
 * CPU, starts from weights with a relative perturbation of MOVED; the difference of its losses, divided by MOVED, is a
 * condition number. The losses of the two devices may differ by the roundings of all steps so far times this number. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "optim/rules.h"
#include "optim/optim.h"
#include "testing/compare.h"

#include "must.h"

#include <math.h>
#include <stdlib.h>

enum { PIXELS = 784, HIDDEN = 32, CLASSES = 10, BATCH = 16, STEPS = 20, ROUNDINGS = PIXELS + HIDDEN + BATCH + 50 };

static const double MOVED = 0x1p-10;

/* ---- update rules ----------------------------------------------------------------------------------- */

static mt_tensor *moved_by(mt_device device, mt_update_kind kind, double max_norm)
{
    float *p = mt_test_uniform(1, 35 * 70, -1, 1), *g = mt_test_uniform(2, 35 * 70, -1, 1);
    mt_tensor *param = mt_to_device(mt_from(MT_SHAPE(35, 70), MT_F32, p), device);
    mt_optim *optim = mt_optim_new(kind, mt_hyper_default(kind));
    mt_optim_add(optim, "p", param);
    for (int step = 0; step < 3; step++) {
        mt_release(param->grad);
        param->grad = mt_retain(mt_to_device(mt_from(MT_SHAPE(35, 70), MT_F32, g), device));
        if (max_norm > 0)
            cr_assert_float_eq(mt_optim_clip_grad_norm(optim, max_norm), 28.67, 0.3); /* sqrt(35 * 70 / 3), 6 sigma */
        mt_optim_step(optim);
    }
    mt_optim_free(optim);
    free(p);
    free(g);
    return mt_to_device(param, MT_CPU);
}

/* Three steps from the same numbers: each rounds a parameter and its change a dozen times at most; a rule divides by at
 * least its eps. No rule changes a parameter by more than lr * 10 a step (momentum's geometric sum). */
static void same_steps(mt_update_kind kind, double max_norm)
{
    double want[35 * 70], tolerance[35 * 70];
    mt_scope_begin();
    const float *here = mt_f32(moved_by(MT_CPU, kind, max_norm)), *there = mt_f32(moved_by(MT_CUDA, kind, max_norm));
    for (int i = 0; i < 35 * 70; i++) {
        want[i] = here[i];
        tolerance[i] = 3 * mt_tolerance(12, fabs(want[i]) + 10 * mt_hyper_default(kind).lr);
    }
    must(mt_compare(mt_update_rules[kind].name, there, want, tolerance, 35 * 70));
    mt_scope_end();
}

Test(cuda, every_rule_moves_as_on_the_cpu)
{
    for (int kind = 0; kind < MT_UPDATE_KINDS; kind++)
        if (mt_update_available(MT_CUDA, (mt_update_kind)kind) == MT_OK)
            same_steps((mt_update_kind)kind, 0);
}

/* ---- all tensors in one launch ---------------------------------------------------------------------- */

enum { TENSORS = 7, MOST = 4099 };
static const int64_t length[TENSORS] = { 33, 0, 1, MOST, 31, 97, 2 };

typedef struct moved_tensor {
    mt_tensor *param, *grad, *state[MT_UPDATE_STATES];
} moved_tensor;

static moved_tensor new_tensor(int k)
{
    float *p = mt_test_uniform(1 + (uint64_t)k, MOST, -1, 1), *g = mt_test_uniform(20 + (uint64_t)k, MOST, -1, 1);
    mt_shape shape = MT_SHAPE(length[k]);
    moved_tensor t = { mt_to_device(mt_from(shape, MT_F32, p), MT_CUDA),
                       mt_to_device(mt_from(shape, MT_F32, g), MT_CUDA),
                       { mt_zeros(shape, MT_F32, MT_CUDA), mt_zeros(shape, MT_F32, MT_CUDA) } };
    free(p);
    free(g);
    return t;
}

/* Every third tensor has no gradient in step 2. The reference updates each by itself. */
Test(cuda, adamw_of_all_tensors_has_the_bits_of_each)
{
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    mt_scope_begin();
    mt_hyper hyper = mt_hyper_default(MT_ADAMW);
    mt_optim *optim = mt_optim_new(MT_ADAMW, hyper);
    moved_tensor one[TENSORS], all[TENSORS];
    int64_t step[TENSORS] = { 0 };
    for (int k = 0; k < TENSORS; k++) {
        one[k] = new_tensor(k), all[k] = new_tensor(k);
        mt_optim_group(optim, 1 + k % 2, 0.1 * (k % 3));
        mt_optim_add(optim, (char[]){ (char)('a' + k), 0 }, all[k].param);
    }
    for (int t = 1; t <= 3; t++) {
        for (int k = 0; k < TENSORS; k++) {
            mt_optim_set_lr(optim, hyper.lr = 0.01 * t);
            mt_release(all[k].param->grad);
            all[k].param->grad = t == 2 && k % 3 == 0 ? NULL : mt_retain(all[k].grad);
            mt_hyper h = hyper;
            h.lr *= 1 + k % 2, h.weight_decay = 0.1 * (k % 3);
            mt_update u = { .param = mt_f32(one[k].param),
                            .grad = mt_f32(one[k].grad),
                            .state = { mt_f32(one[k].state[0]), mt_f32(one[k].state[1]) },
                            .rows = 1,
                            .cols = length[k],
                            .hyper = &h };
            if (all[k].param->grad) {
                u.step = ++step[k];
                mt_update_on(MT_CUDA, MT_ADAMW)(&u);
            }
        }
        mt_optim_step(optim);
        for (int k = 0; k < TENSORS; k++)
            must(mt_compare_bits("a tensor", mt_f32(mt_to_device(all[k].param, MT_CPU)),
                                 mt_f32(mt_to_device(one[k].param, MT_CPU)), length[k]));
    }
    mt_state state = { 0 };
    mt_optim_state(&state, optim);
    for (int64_t i = 0, k = 0; i < state.count; i++)
        if (state.item[i].integer) {
            cr_assert_eq(*state.item[i].integer, step[k], "%s", state.item[i].name);
            k++;
        }
    mt_state_free(&state);
    for (int k = 0; k < TENSORS; k++) {
        mt_release(all[k].param->grad);
        all[k].param->grad = NULL;
    }
    mt_optim_free(optim);
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
}

Test(cuda, clipping_shortens_as_on_the_cpu)
{
    same_steps(MT_SGD, 0.5);
}

Test(cuda, a_norm_that_is_not_finite_touches_nothing)
{
    mt_scope_begin();
    mt_tensor *g = mt_to_device(mt_from(MT_SHAPE(3), MT_F32, (float[]){ 1, INFINITY, 2 }), MT_CUDA);
    cr_assert(!isfinite(mt_clip_grad_norm_on(MT_CUDA, &(mt_grad_array){ mt_f32(g), 3 }, 1, 1)));
    cr_assert_eq(mt_get(g, (int64_t[]){ 2 }), 2);
    mt_scope_end();
}

/* ---- a run -------------------------------------------------------------------------------------------- */

/* Weights with a relative perturbation of MOVED, of alternating sign. */
static void move_weights(mt_module *model)
{
    mt_state params = mt_module_params(model);
    for (int64_t k = 0; k < params.count; k++) {
        float *w = mt_f32(params.item[k].tensor);
        for (int64_t i = 0; i < mt_numel(params.item[k].tensor); i++)
            w[i] *= (float)(1 + (i % 2 ? MOVED : -MOVED));
    }
    mt_state_free(&params);
}

/* The losses of STEPS steps of SGD on one batch of random pictures. */
static void train(double *loss, mt_device device, bool moved)
{
    mt_rng init = mt_rng_new(4, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new((int64_t[]){ PIXELS, HIDDEN, CLASSES }, 2, &init);
    if (moved)
        move_weights(model);
    mt_module_to_device(model, device);
    mt_state params = mt_module_params(model);
    mt_optim *optim = mt_optim_new(MT_SGD, (mt_hyper){ .lr = 0.02 });
    for (int64_t i = 0; i < params.count; i++)
        mt_optim_add(optim, params.item[i].name, params.item[i].tensor);
    for (int step = 0; step < STEPS; step++) {
        int32_t label[BATCH];
        mt_rng draw = mt_rng_new(5, MT_STREAM_TEST);
        mt_scope_begin();
        mt_tensor *x = mt_to_device(mt_uniform(MT_SHAPE(BATCH, PIXELS), 0, 1, &draw), device);
        for (int i = 0; i < BATCH; i++)
            label[i] = i % CLASSES;
        mt_tensor *y = mt_to_device(mt_from(MT_SHAPE(BATCH), MT_I32, label), device);
        mt_tensor *out = mt_cross_entropy(mt_forward(model, x), y);
        mt_optim_zero_grad(optim);
        mt_backward(out);
        mt_optim_step(optim);
        loss[step] = mt_item(out);
        mt_scope_end();
    }
    mt_optim_free(optim);
    mt_state_free(&params);
    mt_module_free(model);
}

Test(cuda, a_run_has_the_losses_of_the_cpu, .timeout = 120)
{
    double here[STEPS], moved[STEPS], there[STEPS], condition = 0;
    must(mt_device_open(MT_CUDA) == MT_OK ? NULL : mt_last_error());
    train(here, MT_CPU, false);
    train(moved, MT_CPU, true);
    train(there, MT_CUDA, false);
    for (int step = 0; step < STEPS; step++) {
        condition = fmax(condition, fabs(moved[step] - here[step]) / MOVED);
        double tolerance = 2 * (step + 1) * mt_tolerance(ROUNDINGS, condition + here[step]);
        cr_assert_lt(tolerance, 0.05, "a tolerance of %g would let anything pass", tolerance);
        cr_assert_leq(fabs(there[step] - here[step]), tolerance,
                      "step %d: loss %.9g on cuda, %.9g on the cpu, tolerance %g", step, there[step], here[step],
                      tolerance);
    }
    cr_assert_gt(fabs(here[STEPS - 1] - here[0]), 0.1, "the run learns nothing: %g to %g", here[0], here[STEPS - 1]);
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
}
