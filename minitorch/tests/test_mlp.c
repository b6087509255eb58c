/* test_mlp.c -- the perceptron of modules, tape and optimizer computes the same bits as the hand-written one; its
 * weights are copied, restored and written; its test; the debug flavour's check for numbers that are not finite. */
#include "temp_dir.h"

#include <math.h>

#include "autograd/finite.h"
#include "autograd/tape.h"
#include "ckpt/safetensors.h"
#include "core/scope.h"
#include "testing/idx_write.h"
#include "models/classifier.h"
#include "kernels/manual_mlp.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "optim/optim.h"
#include "testing/profile_here.h"

TestSuite(mlp, .init = temp_dir_make, .fini = temp_dir_remove);

enum { N = 19, IN = 33, CLASSES = 10 };

static const int64_t widths[] = { IN, 20, 12, CLASSES };

static mt_module *new_model(uint64_t seed)
{
    mt_rng rng = mt_rng_new(seed, MT_STREAM_INIT);
    return mt_mlp_new(widths, 3, &rng);
}

static mt_optim *new_sgd(const mt_module *model, double lr)
{
    mt_optim *optim = mt_optim_new(MT_SGD, (mt_hyper){ .lr = lr });
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < params.count; i++)
        mt_optim_add(optim, params.item[i].name, params.item[i].tensor);
    mt_state_free(&params);
    return optim;
}

/* A random batch, in the current scope. */
static void draw(mt_tensor **x, mt_tensor **label, mt_rng *rng)
{
    int32_t labels[N];
    for (int i = 0; i < N; i++)
        labels[i] = (int32_t)mt_rng_below(rng, CLASSES);
    *x = mt_normal(MT_SHAPE(N, IN), 0, 1, rng);
    *label = mt_from(MT_SHAPE(N), MT_I32, labels);
}

static double train_step(mt_module *model, mt_optim *optim, mt_tensor *x, mt_tensor *label)
{
    mt_tensor *loss = mt_cross_entropy(mt_forward(model, x), label);
    mt_optim_zero_grad(optim);
    mt_backward(loss);
    mt_optim_step(optim);
    return mt_item(loss);
}

/* Compares the parameters of both: the manual network has them in the order of the modules' list. */
static void check_same_bits(const mt_module *model, const mt_manual_mlp *manual)
{
    mt_state params = mt_module_params(model);
    int64_t at = 0;
    for (int64_t i = 0; i < params.count; i++) {
        const mt_tensor *t = params.item[i].tensor;
        cr_assert(memcmp(mt_f32(t), manual->params + at, (size_t)mt_numel(t) * sizeof(float)) == 0, "%s differs",
                  params.item[i].name);
        at += mt_numel(t);
    }
    cr_assert_eq(at, manual->count);
    mt_state_free(&params);
}

Test(mlp, trains_to_the_same_bits_as_the_one_written_by_hand)
{
    mt_rng init = mt_rng_new(7, MT_STREAM_INIT), data = mt_rng_new(7, MT_STREAM_TEST);
    mt_manual_mlp *manual = mt_manual_mlp_new(widths, N);
    mt_module *model = new_model(7);
    mt_optim *optim = new_sgd(model, 0.125);
    mt_manual_mlp_init(manual, &init);
    check_same_bits(model, manual);
    for (int step = 0; step < 10; step++) {
        mt_tensor *x, *label;
        mt_scope_begin();
        draw(&x, &label, &data);
        mt_manual_mlp_forward(manual, mt_f32(x), N);
        double by_hand = mt_manual_mlp_backward(manual, mt_f32(x), mt_data(label), N);
        mt_manual_mlp_sgd(manual, 0.125f);
        double loss = train_step(model, optim, x, label);
        /* Losses are summed in f32 here and in double there: N - 1 additions and a division may round. */
        cr_assert_leq(fabs(loss - by_hand), (N + 1) * 1.2e-7 * by_hand);
        mt_scope_end();
        check_same_bits(model, manual);
    }
    mt_optim_free(optim);
    mt_module_free(model);
    mt_manual_mlp_free(manual);
}

/* ---- weights -------------------------------------------------------------------------------------- */

Test(mlp, weights_come_back_as_they_were_kept)
{
    mt_module *model = new_model(1), *other = new_model(1);
    mt_state params = mt_module_params(model), kept = mt_state_clone(&params), reference = mt_module_params(other);
    mt_rng data = mt_rng_new(7, MT_STREAM_TEST);
    mt_optim *optim = new_sgd(model, 0.1);
    mt_tensor *x, *label;
    mt_scope_begin();
    draw(&x, &label, &data);
    train_step(model, optim, x, label);
    mt_scope_end();
    mt_safetensors_write(in_dir("a"), &reference);
    mt_safetensors_write(in_dir("b"), &kept);
    mt_state_copy(&params, &kept);
    mt_state_copy(&kept, &params);
    mt_safetensors_write(in_dir("c"), &kept);
    char command[256];
    snprintf(command, sizeof command, "cd %s && cmp -s a b && cmp -s a c && [ $(ls | wc -l) = 3 ]", temp_dir);
    cr_assert(system(command) == 0, "what was kept, restored and kept again is not what it was");
    mt_optim_free(optim);
    mt_state_free(&params);
    mt_state_free(&kept);
    mt_state_free(&reference);
    mt_module_free(model);
    mt_module_free(other);
}

/* Reads the file by its header: the offsets given for a tensor contain that tensor. */
Test(mlp, a_file_of_weights_says_where_each_tensor_is)
{
    mt_module *model = new_model(3);
    mt_state params = mt_module_params(model);
    static char bytes[1 << 16];
    cr_assert_eq(mt_safetensors_write(in_dir("w.safetensors"), &params), MT_OK, "%s", mt_last_error());
    FILE *file = fopen(in_dir("w.safetensors"), "rb");
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    uint64_t header;
    memcpy(&header, bytes, 8);
    cr_assert(header % 8 == 0 && size == 8 + header + (size_t)mt_module_count(model) * sizeof(float));
    for (int64_t i = 0; i < params.count; i++) {
        const mt_tensor *t = params.item[i].tensor;
        char name[512];
        long long begin, end;
        snprintf(name, sizeof name, "\"%s\":{\"dtype\":\"F32\",\"shape\":%s,\"data_offsets\":", params.item[i].name,
                 mt_shape_text(mt_view_shape(&t->view)));
        const char *at = strstr(bytes + 8, name);
        cr_assert(at && sscanf(at + strlen(name), "[%lld,%lld]", &begin, &end) == 2, "no %s in %s", name, bytes + 8);
        cr_assert_eq(end - begin, mt_numel(t) * 4);
        cr_assert(memcmp(bytes + 8 + header + begin, mt_f32(t), (size_t)(end - begin)) == 0);
    }
    cr_assert_eq(mt_safetensors_write(in_dir("no/such/folder"), &params), MT_ERR_IO);
    SAYS("no/such/folder");
    mt_state_free(&params);
    mt_module_free(model);
}

/* ---- the test ------------------------------------------------------------------------------------- */

/* Ten images of ten pixels, image c black but for pixel c; a network whose logits are its pixels. */
Test(mlp, a_test_counts_what_is_taken_for_what)
{
    mt_idx images = mt_idx_new(MT_IDX_IMAGES, CLASSES, 1, CLASSES), labels = mt_idx_new(MT_IDX_LABELS, CLASSES, 1, 1);
    for (int c = 0; c < CLASSES; c++) {
        memset(images.data + c * CLASSES, 0, CLASSES);
        images.data[c * CLASSES + c] = 1;
        labels.data[c] = (uint8_t)(c == 4 ? 9 : c); /* the picture of a 4 is labelled 9 */
    }
    cr_assert(mt_idx_write(in_dir("i"), &images) == MT_OK && mt_idx_write(in_dir("l"), &labels) == MT_OK);
    mt_idx_free(&images);
    mt_idx_free(&labels);
    mt_dataset *set;
    cr_assert_eq(mt_idx_dataset_open(&set, in_dir("i"), in_dir("l"), (mt_pixel_norm){ 0, 1 }), MT_OK);

    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new((int64_t[]){ CLASSES, CLASSES }, 1, &rng);
    mt_state params = mt_module_params(model);
    for (int64_t i = 0; i < CLASSES * CLASSES; i++)
        mt_f32(params.item[0].tensor)[i] = i % (CLASSES + 1) == 0;
    mt_state_free(&params);

    mt_loader_config config = mt_loader_config_default(set);
    config.batch = 3;
    mt_loader *loader = mt_loader_new(&config);
    mt_test_result result;
    double rest = log(exp(1) + 9); /* -log softmax is this, less the logit of the label: 1, or 0 for the 4 */
    cr_assert_eq(mt_classifier_test(&result, model, loader), MT_OK);
    cr_assert_leq(fabs(result.loss - (rest - 0.9)), 8 * 1.2e-7 * rest);
    cr_assert(result.count[9][4] == 1 && result.count[4][4] == 0 && result.count[9][9] == 1);
    cr_assert_float_eq(result.accuracy, 0.9, 1e-15);
    cr_assert(mt_recording(), "the test left the tape off");
    mt_loader_stop(loader);
    mt_test_result untouched = result;
    cr_assert_eq(mt_classifier_test(&result, model, loader), MT_ERR_STOPPED);
    cr_assert(memcmp(&untouched, &result, sizeof result) == 0 && mt_recording());
    mt_loader_free(loader);
    mt_dataset_close(set);
    mt_module_free(model);
}

/* The FLOPs that ops count in a step are those that the model needs: nothing is computed twice, nor the input's
 * gradient. */
Test(mlp, flops_of_a_step_are_those_that_ops_count)
{
    mt_rng rng = mt_rng_new(5, MT_STREAM_TEST);
    mt_module *model = new_model(1);
    mt_optim *optim = new_sgd(model, 0.01);
    mt_tensor *x, *label;
    mt_scope_begin();
    draw(&x, &label, &rng);
    mt_profile_begin(0);
    train_step(model, optim, x, label);
    mt_profile *profile = mt_profile_end();
    cr_assert_eq(profile->flops, N * mt_mlp_flops(widths, 3));
    mt_profile_free(profile);
    mt_scope_end();
    mt_optim_zero_grad(optim);
    mt_optim_free(optim);
    mt_module_free(model);
}

/* ---- where a NaN came from ------------------------------------------------------------------------ */

#ifdef MT_DEBUG
Test(mlp, the_first_op_that_was_not_finite_is_remembered)
{
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(4), 60);
    x->requires_grad = true;
    mt_finite_reset();
    mt_tensor *y = mt_exp(mt_scale(x, 1));
    cr_assert_null(mt_finite_culprit(), "%s", mt_finite_culprit());
    mt_log(mt_mul(y, mt_mul(y, y))); /* exp(120) overflows */
    cr_assert_str_eq(mt_finite_culprit(), "mul [4]");
    mt_finite_reset();
    cr_assert_null(mt_finite_culprit());

    mt_tensor *zero = mt_full(MT_SHAPE(1), 0);
    zero->requires_grad = true;
    mt_backward(mt_sqrt(zero)); /* sqrt(0) is 0, its slope is not finite */
    cr_assert_str_eq(mt_finite_culprit(), "backward of sqrt to input 0 [1]");
    mt_scope_end();
}
#else
Test(mlp, other_flavours_do_not_watch)
{
    mt_scope_begin();
    mt_tensor *x = mt_full(MT_SHAPE(4), 200);
    x->requires_grad = true;
    mt_exp(x);
    cr_assert_null(mt_finite_culprit());
    mt_scope_end();
}
#endif
