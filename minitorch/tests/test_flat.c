/* test_flat.c -- gradients in one block: where each is, what stays when they are cleared, and that no bit changes. */
#include <criterion/criterion.h>

#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "memory/flat.h"
#include "must.h"
#include "ops/ops.h"
#include "optim/optim.h"
#include "testing/compare.h"

enum { R = 7, C = 5 };

typedef struct model {
    mt_tensor *weight, *bias;
    mt_optim *optim;
    mt_state params;
} model;

static model new_model(void)
{
    mt_rng rng = mt_rng_new(3, MT_STREAM_TEST);
    model m = { mt_uniform(MT_SHAPE(R, C), -1, 1, &rng),
                mt_uniform(MT_SHAPE(C), -1, 1, &rng),
                mt_optim_new(MT_ADAM, mt_hyper_default(MT_ADAM)),
                { 0 } };
    m.weight->requires_grad = m.bias->requires_grad = true;
    mt_state_tensor(&m.params, m.weight, "weight");
    mt_state_tensor(&m.params, m.bias, "bias");
    for (int i = 0; i < 2; i++)
        mt_optim_add(m.optim, m.params.item[i].name, m.params.item[i].tensor);
    return m;
}

static void free_model(model *m)
{
    mt_optim_free(m->optim);
    mt_state_free(&m->params);
    mt_release(m->weight);
    mt_release(m->bias);
}

/* One step of a graph that reaches weight, and bias where `both`. */
static void one_step(model *m, bool both, float factor)
{
    mt_scope_begin();
    mt_optim_zero_grad(m->optim);
    mt_tensor *loss = mt_sum(mt_mul(m->weight, m->weight));
    if (both)
        loss = mt_add(loss, mt_sum(mt_mul(m->bias, m->bias)));
    mt_backward(mt_scale(loss, factor));
    mt_optim_step(m->optim);
    mt_scope_end();
}

Test(flat, gradients_are_cleared_and_kept)
{
    model own = new_model(), flat = new_model();
    mt_tensor *block = mt_flat_gradients(&flat.params);
    cr_assert_eq(mt_numel(block), 48 + 16, "35 and 5 elements, rounded up to 64 bytes");
    one_step(&own, true, 1), one_step(&flat, true, 1);
    int64_t live = mt_live_bytes(MT_CPU);
    for (int t = 0; t < 5; t++) {
        one_step(&own, t % 2, (float)t);
        one_step(&flat, t % 2, (float)t);
        cr_assert_eq(mt_f32(flat.weight->grad), mt_f32(block), "in the block");
        cr_assert_eq(!flat.bias->grad, t % 2 == 0, "a parameter that the loss does not reach has no gradient");
        must(mt_compare_bits("weight", mt_f32(flat.weight), mt_f32(own.weight), R * C));
        must(mt_compare_bits("bias", mt_f32(flat.bias), mt_f32(own.bias), C));
    }
    mt_optim_zero_grad(own.optim);
    cr_assert_eq(mt_live_bytes(MT_CPU), live - 4 * (R * C + C), "the block stays, the other gradients are freed");
    ABORTS("the gradient of weight has memory of its own", mt_flat_gradients(&flat.params));
    mt_release(block);
    free_model(&own), free_model(&flat);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

Test(flat, no_parameters)
{
    mt_tensor *block = mt_flat_gradients(&(mt_state){ 0 });
    cr_assert_eq(mt_numel(block), 0);
    mt_release(block);
}
