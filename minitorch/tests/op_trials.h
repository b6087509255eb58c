/* op_trials.h -- what tests try of every op of testing/op_cases.h: values, gradients, layouts, accumulation, the same
 * bits for every thread count. */
#pragma once

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "testing/op_cases.h"

#include "must.h"

#include <omp.h>
#include <stdlib.h>

enum { SEED = 3 };

/* One case as tensors of the current scope. */
typedef struct trial {
    mt_op_want *want;
    mt_layout layout;
    mt_tensor *leaf[MT_CASE_INPUTS], *in[MT_CASE_INPUTS];
} trial;

/* Bit i of wanted: input i requires a gradient. */
static void see_inputs(trial *t, int wanted)
{
    const mt_op_case *c = t->want->op_case;
    for (int i = 0; i < c->inputs + c->ids; i++)
        t->in[i] = mt_op_input(t->want, i, t->layout, wanted >> i & 1 ? &t->leaf[i] : NULL);
}

static trial trial_new(mt_op_want *want, mt_layout layout, int wanted)
{
    trial t = { .want = want, .layout = layout };
    see_inputs(&t, wanted);
    return t;
}

static mt_tensor *run(const trial *t)
{
    return t->want->op_case->op->run(t->in, t->want->op_case);
}

/* d sum(out * dout) / d out = dout, exactly. */
static void go_back(const trial *t, mt_tensor *out)
{
    mt_backward(mt_sum(mt_mul(out, mt_from(t->want->op_case->out, MT_F32, t->want->dout))));
}

static void check_grads(const trial *t, int times)
{
    for (int i = 0; i < t->want->op_case->inputs; i++) {
        double rest;
        must(mt_op_want_grad(t->want, i, mt_op_input_grad(t->want, i, t->layout, t->leaf[i], &rest), times));
        cr_assert_lt(rest, 1e-9, "%s: gradient %g where the view does not look", mt_op_case_text(t->want->op_case),
                     rest);
    }
}

static void for_all(void (*check)(mt_op_want *want))
{
    for (int64_t i = 0; i < mt_op_case_count; i++) {
        mt_op_want *want = mt_op_want_new(&mt_op_cases[i], SEED + (uint64_t)i);
        mt_scope_begin();
        check(want);
        mt_scope_end();
        mt_op_want_free(want);
    }
}

/* ---- what is tried of each case ---------------------------------------------------------------------- */

static void right_and_added(mt_op_want *want)
{
    for (mt_layout layout = MT_DENSE; layout <= MT_STRIDED; layout++) {
        trial t = trial_new(want, layout, 7);
        for (int times = 1; times <= 2; times++) {
            see_inputs(&t, 7); /* views of the leaves are results too: the first backward freed them */
            mt_tensor *out = run(&t);
            must(mt_op_want_values(want, out));
            go_back(&t, out);
            check_grads(&t, times);
        }
    }
}

static void alone_as_together(mt_op_want *want)
{
    trial all = trial_new(want, MT_DENSE, 7);
    go_back(&all, run(&all));
    for (int i = 0; i < want->op_case->inputs; i++) {
        trial one = trial_new(want, MT_DENSE, 1 << i);
        go_back(&one, run(&one));
        must(mt_compare_bits(mt_op_case_text(want->op_case), mt_f32(one.leaf[i]->grad), mt_f32(all.leaf[i]->grad),
                             mt_numel(one.leaf[i])));
    }
}

static void nothing_recorded(mt_op_want *want)
{
    trial t = trial_new(want, MT_STRIDED, 7), plain = trial_new(want, MT_STRIDED, 0);
    mt_no_grad_begin();
    mt_tensor *out = run(&t);
    mt_no_grad_end();
    cr_assert_null(out->node, "%s recorded inside no_grad", mt_op_case_text(want->op_case));
    must(mt_op_want_values(want, out));
    cr_assert_null(run(&plain)->node, "%s recorded for inputs that want no gradient", mt_op_case_text(want->op_case));
}

/* Values and all gradients of one run, end to end. */
static float *all_results(mt_op_want *want, int64_t *count)
{
    trial t = trial_new(want, MT_DENSE, 7);
    const mt_op_case *c = want->op_case;
    int64_t n = mt_shape_numel(c->out), used = n;
    for (int i = 0; i < c->inputs; i++)
        n += mt_shape_numel(c->in[i]);
    float *all = malloc((size_t)(n + 1) * sizeof *all);
    mt_tensor *out = run(&t);
    mt_copy_strided(all, out->storage->data, &out->view, sizeof *all);
    go_back(&t, out);
    for (int i = 0; i < c->inputs; i++) {
        mt_tensor *grad = t.leaf[i]->grad;
        mt_copy_strided(all + used, grad->storage->data, &grad->view, sizeof *all);
        used += mt_numel(grad);
    }
    *count = n;
    return all;
}

static void same_bits(mt_op_want *want)
{
    int64_t n;
    omp_set_num_threads(1);
    float *first = all_results(want, &n);
    for (int threads = 2; threads <= 5; threads++) {
        omp_set_num_threads(threads);
        float *now = all_results(want, &n);
        must(mt_compare_bits(mt_op_case_text(want->op_case), now, first, n));
        free(now);
    }
    free(first);
}
