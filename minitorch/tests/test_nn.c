/* test_nn.c -- modules: names, counts, modes, ownership; and a perceptron of modules that trains like the one whose
 * backward pass lab 02 wrote by hand. */
#include "autograd/tape.h"
#include "core/scope.h"
#include "kernels/manual_mlp.h"
#include "models/gpt2_ops.h"
#include "nn/module.h"
#include "ops/ops.h"
#include "testing/compare.h"

#include "aborts.h"
#include "must.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree --------------------------------------------------------------------------------------- */

static mt_module *small_model(mt_rng *rng)
{
    return mt_sequential(3, mt_linear_layer(5, 3, rng), mt_function_layer(mt_relu),
                         mt_sequential(2, mt_layernorm_layer(3), mt_linear_layer(3, 2, rng)));
}

Test(nn, parameters_are_named_by_their_path_in_order)
{
    static const char *const name[] = { "0.weight", "0.bias", "2.0.weight", "2.0.bias", "2.1.weight", "2.1.bias" };
    static const int64_t size[] = { 15, 3, 3, 3, 6, 2 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = small_model(&rng);
    mt_state params = mt_module_params(model);
    cr_assert_eq(params.count, 6);
    for (int i = 0; i < 6; i++) {
        cr_assert_str_eq(params.item[i].name, name[i]);
        cr_assert_eq(mt_numel(params.item[i].tensor), size[i], "%s", name[i]);
        cr_assert(params.item[i].tensor->requires_grad);
    }
    cr_assert_eq(mt_module_count(model), 32);
    mt_state_free(&params);
    cr_assert(params.count == 0 && !params.item);
    mt_module_free(model);
}

Test(nn, parameters_are_found_by_their_paths)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = small_model(&rng);
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        cr_assert_eq(mt_module_tensor(model, params.item[i].name), params.item[i].tensor);
    ABORTS("a sequential has no child 3", mt_module_tensor(model, "3.weight"));
    ABORTS("a sequential has no child 21", mt_module_tensor(model, "21.1.weight"));
    ABORTS("a linear has no child weight", mt_module_tensor(model, "0.weight.weight"));
    ABORTS("a linear has no parameter gain", mt_module_tensor(model, "2.1.gain"));
    mt_state_free(&params);
    mt_module_free(model);
}

Test(nn, state_is_the_parameters_and_the_streams_of_dropout)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *dropout = mt_dropout_layer(0.5f, mt_rng_new(5, MT_STREAM_DROPOUT));
    mt_module *model = mt_sequential(2, mt_linear_layer(5, 3, &rng), dropout);
    mt_state state = { 0 };
    mt_module_state(&state, model);
    cr_assert_eq(state.count, 5);
    cr_assert_eq(mt_state_find(&state, "1.rng.seed")->integer[0], 5);
    *mt_state_find(&state, "1.rng.counter")->integer = 7;
    cr_assert_eq(dropout->rng.counter, 7);
    mt_state_free(&state);
    mt_module_free(model);
}

Test(nn, layers_start_as_promised)
{
    mt_rng rng = mt_rng_new(2, MT_STREAM_INIT);
    mt_module *linear = mt_linear_layer(1000, 50, &rng), *norm = mt_layernorm_layer(7);
    mt_module *embedding = mt_embedding_layer(300, 100, &rng);
    double squares = 0;
    for (int64_t i = 0; i < 50000; i++)
        squares += pow(mt_f32(linear->param[0])[i], 2);
    /* A variance estimated from n normal numbers is off by sqrt(2 / n) of itself; 6 sigma. */
    cr_assert_float_eq(squares / 50000, 2.0 / 1000, 6 * sqrt(2.0 / 50000) * 2 / 1000, "He: variance 2 / inputs");
    squares = 0;
    for (int64_t i = 0; i < 30000; i++)
        squares += pow(mt_f32(embedding->param[0])[i], 2);
    cr_assert_float_eq(squares / 30000, 1, 6 * sqrt(2.0 / 30000));
    for (int i = 0; i < 50; i++)
        cr_assert_eq(mt_f32(linear->param[1])[i], 0);
    for (int i = 0; i < 7; i++)
        cr_assert(mt_f32(norm->param[0])[i] == 1 && mt_f32(norm->param[1])[i] == 0);
    mt_module_free(linear);
    mt_module_free(norm);
    mt_module_free(embedding);
}

Test(nn, forward_goes_through_the_children_and_belongs_to_the_scope)
{
    mt_rng rng = mt_rng_new(3, MT_STREAM_INIT);
    mt_module *model = small_model(&rng);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_scope_begin();
    mt_tensor *x = mt_normal(MT_SHAPE(4, 5), 0, 1, &rng), *y = mt_forward(model, x);
    const mt_module *head = model->child[2];
    mt_tensor *h = mt_relu(mt_linear(x, model->child[0]->param[0], model->child[0]->param[1]));
    h = mt_layernorm(h, head->child[0]->param[0], head->child[0]->param[1], 1e-5f);
    h = mt_linear(h, head->child[1]->param[0], head->child[1]->param[1]);
    must(mt_compare_bits("forward", mt_f32(y), mt_f32(h), 8));
    mt_scope_end();
    cr_assert_eq(mt_live_bytes(MT_CPU), before, "parameters outlive the scope, nothing else does");
    mt_module_free(model);
    mt_module_free(NULL);
}

Test(nn, embedding_picks_rows)
{
    mt_rng rng = mt_rng_new(4, MT_STREAM_INIT);
    mt_module *embedding = mt_embedding_layer(5, 3, &rng);
    mt_scope_begin();
    mt_tensor *y = mt_forward(embedding, mt_from(MT_SHAPE(1, 2), MT_I32, (int32_t[]){ 4, 0 }));
    cr_assert(mt_shape_equal(mt_view_shape(&y->view), MT_SHAPE(1, 2, 3)));
    must(mt_compare_bits("row 4", mt_f32(y), mt_f32(embedding->param[0]) + 12, 3));
    mt_scope_end();
    mt_module_free(embedding);
}

/* A sequence holds the input and the result of the child that computes, and no earlier results. */
Test(nn, a_sequence_frees_what_nothing_reads)
{
    enum { N = 1000, BYTES = N * 4 };
    mt_module *model =
        mt_sequential(6, mt_function_layer(mt_relu), mt_function_layer(mt_exp), mt_function_layer(mt_relu),
                      mt_function_layer(mt_relu), mt_function_layer(mt_relu), mt_function_layer(mt_relu));
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(N), -1);
    int64_t before = mt_live_bytes(MT_CPU);
    mt_peak_reset(MT_CPU);
    mt_tensor *out = mt_forward(model, x);
    cr_expect_eq(mt_f32(out)[N - 1], 1);
    cr_expect_eq(mt_live_bytes(MT_CPU) - before, BYTES);
    cr_expect_eq(mt_peak_bytes(MT_CPU) - before, 2 * BYTES);
    mt_scope_end();
    mt_module_free(model);
}

/* ---- modes -------------------------------------------------------------------------------------------- */

Test(nn, dropout_drops_only_in_training_and_the_mode_reaches_the_leaves)
{
    mt_module *dropout = mt_dropout_layer(0.5f, mt_rng_new(5, MT_STREAM_DROPOUT));
    mt_module *model = mt_sequential(1, mt_sequential(1, dropout));
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(64), 1);
    mt_module_set_mode(model, MT_EVAL);
    cr_assert_eq(mt_forward(model, x), x);
    mt_module_set_mode(model, MT_TRAIN);
    mt_tensor *a = mt_forward(model, x), *b = mt_forward(model, x);
    cr_assert(memcmp(mt_f32(a), mt_f32(b), 64 * sizeof(float)) != 0, "every call draws anew");
    dropout->rng = mt_rng_new(5, MT_STREAM_DROPOUT);
    must(mt_compare_bits("the same stream, the same mask", mt_f32(mt_forward(model, x)), mt_f32(a), 64));
    mt_scope_end();
    mt_module_free(model);
}

/* ---- misuse ------------------------------------------------------------------------------------------- */

Test(nn, misuse_is_refused_in_words)
{
    static const mt_module_class class = { "crowded", NULL };
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *m = mt_module_new(&class), *linear = mt_linear_layer(3, 2, &rng);
    mt_scope_begin();
    for (int i = 0; i < MT_MODULE_PARAMS; i++)
        mt_module_param(m, "p", mt_retain(mt_full(MT_SCALAR, 0)));
    ABORTS("crowded: more than 4 parameters", mt_module_param(m, "p", mt_full(MT_SCALAR, 0)));
    ABORTS("linear: x is [5,4], w is [3,2]", mt_forward(linear, mt_full(MT_SHAPE(5, 4), 0)));
    ABORTS("module name a_name_cut_to_31_letters_would_... is too long", /* and the same as another's */
           mt_module_child(m, "a_name_cut_to_31_letters_would_be_another", linear));
    mt_scope_end();
    mt_module_free(m);
    mt_module_free(linear);
}

/* ---- against the perceptron written by hand ------------------------------------------------------------ */

enum { IN = 7, H1 = 13, H2 = 11, CLASSES = 3, BATCH = 31, STEPS = 60 };

/* Three clouds around three points. */
static void toy_batch(float *x, int32_t *label, mt_rng *rng)
{
    mt_rng_fill_normal(rng, x, BATCH * IN, 0, 0.7f);
    for (int n = 0; n < BATCH; n++) {
        label[n] = n % CLASSES;
        x[n * IN + label[n]] += 2;
    }
}

static void copy_weights(mt_module *model, const mt_manual_mlp *mlp)
{
    for (int l = 0; l < 3; l++) {
        mt_tensor **param = model->child[2 * l]->param;
        memcpy(mt_f32(param[0]), mlp->w[l], (size_t)mt_numel(param[0]) * sizeof(float));
        memcpy(mt_f32(param[1]), mlp->b[l], (size_t)mt_numel(param[1]) * sizeof(float));
    }
}

/* The same kernels in the same order on the same numbers: the tape may not change a bit. The loss is summed in another
 * order: the mean of BATCH rows, each term rounded BATCH + 1 times on either side. */
static void compare_grads(const mt_module *model, const mt_manual_mlp *mlp, double loss, double by_hand)
{
    cr_assert_float_eq(loss, by_hand, mt_tolerance(2 * (BATCH + 1), by_hand), "loss %g, by hand %g", loss, by_hand);
    for (int l = 0; l < 3; l++) {
        mt_tensor *const *param = model->child[2 * l]->param;
        must(mt_compare_bits("dw", mt_f32(param[0]->grad), mlp->dw[l], mt_numel(param[0])));
        must(mt_compare_bits("db", mt_f32(param[1]->grad), mlp->db[l], mt_numel(param[1])));
    }
}

static double step(mt_module *model, float *x, int32_t *label)
{
    mt_scope_begin();
    mt_tensor *logits = mt_forward(model, mt_from(MT_SHAPE(BATCH, IN), MT_F32, x));
    mt_tensor *loss = mt_cross_entropy(logits, mt_from(MT_SHAPE(BATCH), MT_I32, label));
    double value = mt_item(loss);
    mt_backward(loss);
    mt_scope_end();
    return value;
}

/* w -= rate * dw: a product and a difference, rounded twice here and twice there, or once each when fused. */
static void sgd_alike(mt_module *model, mt_manual_mlp *mlp, float rate)
{
    mt_manual_mlp_sgd(mlp, rate);
    for (int i = 0; i < 6; i++) {
        mt_tensor *t = model->child[i / 2 * 2]->param[i % 2];
        const float *by_hand = i % 2 ? mlp->b[i / 2] : mlp->w[i / 2];
        for (int64_t k = 0; k < mt_numel(t); k++) {
            float *w = mt_f32(t) + k;
            double magnitude = fabs((double)*w) + fabs((double)rate * mt_f32(t->grad)[k]);
            *w -= rate * mt_f32(t->grad)[k];
            cr_assert_float_eq(*w, by_hand[k], mt_tolerance(4, magnitude));
        }
        mt_written(t);
        mt_zero_grad(t);
    }
    copy_weights(model, mlp);
}

Test(nn, a_perceptron_of_modules_trains_like_the_one_by_hand)
{
    mt_rng rng = mt_rng_new(6, MT_STREAM_INIT), data = mt_rng_new(6, MT_STREAM_TEST);
    mt_manual_mlp *mlp = mt_manual_mlp_new((int64_t[]){ IN, H1, H2, CLASSES }, BATCH);
    mt_manual_mlp_init(mlp, &rng);
    mt_module *model =
        mt_sequential(5, mt_linear_layer(IN, H1, &rng), mt_function_layer(mt_relu), mt_linear_layer(H1, H2, &rng),
                      mt_function_layer(mt_relu), mt_linear_layer(H2, CLASSES, &rng));
    copy_weights(model, mlp);
    double first = 0, last = 0;
    for (int s = 0; s < STEPS; s++) {
        float x[BATCH * IN];
        int32_t label[BATCH];
        toy_batch(x, label, &data);
        last = step(model, x, label);
        first = s == 0 ? last : first;
        mt_manual_mlp_forward(mlp, x, BATCH);
        compare_grads(model, mlp, last, mt_manual_mlp_backward(mlp, x, label, BATCH));
        sgd_alike(model, mlp, 0.1f);
    }
    cr_assert(last < 0.3 * first, "it learns: loss %g after %g", last, first);
    mt_manual_mlp_free(mlp);
    mt_module_free(model);
}

/* Tensors that a module creates besides its result are freed when it returns, unless backward reads them. */
static mt_tensor *twice_negated(mt_module *module, mt_tensor *x)
{
    (void)module;
    return mt_neg(mt_neg(x));
}

static mt_tensor *run_instead(mt_module *module, mt_tensor *x)
{
    return module->kind->forward(module, mt_neg(x));
}

Test(nn, forward_leaves_only_its_result)
{
    enum { N = 4096 };
    static const mt_module_class kind = { "twice", twice_negated };
    mt_module *module = mt_module_new(&kind);
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(N), 3);
    int64_t before = mt_live_bytes(MT_CPU);
    cr_expect_eq(mt_get(mt_forward(module, x), (int64_t[]){ 7 }), 3);
    cr_expect_eq(mt_live_bytes(MT_CPU) - before, 4 * N);
    module->run = run_instead;
    cr_expect_eq(mt_get(mt_forward(module, x), (int64_t[]){ 7 }), -3);
    mt_scope_end();
    mt_module_free(module);
}
