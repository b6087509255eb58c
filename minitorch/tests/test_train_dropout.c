/* test_train_dropout.c -- dropout as an option of training: which numbers it drops, how many, and when. */
#include "tests/must.h"

#include <math.h>
#include <string.h>

#include "core/scope.h"
#include "models/gpt2.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "train/dropout.h"

/* The hidden layer of a perceptron whose weights are 1: of x = 1 / inputs each number is 1, or 2 where half are
 * dropped; the sum of n of them has a standard deviation of sqrt(n), of which 5 are allowed. */
Test(train_dropout, drops_hidden_numbers_of_a_perceptron)
{
    enum { WIDE = 4096 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new((int64_t[]){ 4, WIDE, 1 }, 2, &rng);
    mt_scope_begin();
    for (int64_t i = 0; i < 4 * WIDE; i++)
        mt_f32(mt_module_tensor(model, "0.weight"))[i] = 1;
    mt_mlp_dropout(model, 0.5, 7);
    mt_tensor *x = mt_full(MT_SHAPE(1, 4), 0.25f), *hidden = mt_forward(model->child[0], x);
    mt_tensor *dropped = mt_forward(model->child[1], hidden), *again = mt_forward(model->child[1], hidden);
    double sum = 0, same = 0;
    for (int64_t i = 0; i < WIDE; i++) {
        cr_assert(mt_f32(dropped)[i] == 0 || mt_f32(dropped)[i] == 2, "%g", (double)mt_f32(dropped)[i]);
        sum += mt_f32(dropped)[i];
        same += mt_f32(dropped)[i] == mt_f32(again)[i];
    }
    cr_assert_float_eq(sum, WIDE, 5 * sqrt(WIDE));
    cr_assert_float_eq(same, WIDE / 2.0, 5 * sqrt(WIDE) / 2, "the next batch has other masks");
    mt_module_set_mode(model, MT_EVAL);
    mt_tensor *whole = mt_forward(model->child[1], hidden);
    cr_assert_eq(memcmp(mt_f32(whole), mt_f32(hidden), WIDE * sizeof(float)), 0, "an evaluation drops nothing");
    mt_scope_end();
    mt_module_free(model);
}

static double loss(mt_module *model)
{
    const int32_t ids[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, next[] = { 2, 3, 4, 5, 6, 7, 8, 9 };
    mt_scope_begin();
    double value =
        mt_item(mt_gpt2_loss(model, mt_from(MT_SHAPE(1, 8), MT_I32, ids), mt_from(MT_SHAPE(1, 8), MT_I32, next)));
    mt_scope_end();
    return value;
}

static mt_module *small(double p, int64_t seed)
{
    const mt_gpt2_config config = { .vocabulary = 10, .block = 8, .layers = 2, .heads = 2, .width = 16 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_gpt2_new(&config, &rng);
    mt_gpt2_dropout(model, p, seed);
    return model;
}

Test(train_dropout, a_gpt2_drops_while_it_trains_only)
{
    mt_module *bare = small(0, 1), *model = small(0.3, 1), *other = small(0.3, 2);
    double value = loss(model);
    cr_assert_neq(value, loss(bare), "nothing is dropped");
    cr_assert_neq(value, loss(other), "another seed has other masks");
    mt_state state = { 0 };
    mt_module_state(&state, model);
    int64_t streams = 0;
    for (int64_t i = 0; i < state.count; i++) {
        const char *end = strrchr(state.item[i].name, '.');
        if (state.item[i].integer && end && strcmp(end, ".counter") == 0) {
            cr_assert_eq(*state.item[i].integer, 8 * 16 / 4, "%s drew nothing", state.item[i].name);
            *state.item[i].integer = 0;
            streams++;
        }
    }
    mt_state_free(&state);
    cr_assert_eq(streams, 5, "the blocks' input, and two parts of each block");
    cr_assert_eq(value, loss(model), "the saved streams give the same masks");
    cr_assert_neq(value, loss(model), "the next batch has other masks");
    mt_module_set_mode(model, MT_EVAL);
    cr_assert_eq(loss(model), loss(bare), "an evaluation drops nothing");
    mt_module_free(bare), mt_module_free(model), mt_module_free(other);
}
