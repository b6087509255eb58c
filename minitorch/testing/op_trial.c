/* op_trial.c -- one case of the table, forward and backward, on any device: what tests of parity and make gpu-check
 * run. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "testing/op_cases.h"

#include <stdio.h>

/* d sum(out * dout) / d out = dout, exactly. */
static void go_back(const mt_op_want *want, mt_tensor *out)
{
    mt_tensor *dout = mt_to_device(mt_from(want->op_case->out, MT_F32, want->dout), want->device);
    mt_backward(mt_sum(mt_mul(out, dout)));
}

static const char *grads(mt_op_want *want, mt_layout layout, mt_tensor *const *leaf, int times)
{
    static _Thread_local char complaint[128];
    for (int i = 0; i < want->op_case->inputs; i++) {
        double rest;
        const mt_tensor *grad = mt_op_input_grad(want, i, layout, leaf[i], &rest);
        const char *words = mt_op_want_grad(want, i, grad, times);
        if (words)
            return words;
        if (rest > 1e-9) {
            snprintf(complaint, sizeof complaint, "%s: gradient %g where the view does not look",
                     mt_op_case_text(want->op_case), rest);
            return complaint;
        }
    }
    return NULL;
}

const char *mt_op_trial(mt_op_want *want, mt_layout layout)
{
    const mt_op_case *c = want->op_case;
    mt_tensor *leaf[MT_CASE_INPUTS] = { 0 }, *in[MT_CASE_INPUTS];
    const char *words = NULL;
    mt_scope_begin();
    for (int times = 1; times <= 2 && !words; times++) {
        /* Views of the leaves are results too, which the first backward freed: they are made again. */
        for (int i = 0; i < c->inputs + c->ids; i++)
            in[i] = mt_op_input(want, i, layout, &leaf[i]);
        mt_tensor *out = c->op->run(in, c);
        words = mt_op_want_values(want, out);
        if (words)
            break;
        go_back(want, out);
        words = grads(want, layout, leaf, times);
    }
    mt_scope_end();
    return words;
}
