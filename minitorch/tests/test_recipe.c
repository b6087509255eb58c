/* test_recipe.c -- options become the optimizer and the schedule that they name, with defaults for the rest; and the
 * step that training programs make with them. */
#include "aborts.h"

#include <math.h>

#include "core/scope.h"
#include "memory/accumulate.h"
#include "models/mlp.h"
#include "ops/ops.h"
#include "train/recipe.h"

static mt_recipe parsed(int count, char **words)
{
    mt_recipe recipe = { .optimizer = MT_SGD, .lr = 0.5, .weight_decay = NAN };
    char *all[16] = { "test" };
    for (int i = 0; i < count; i++)
        all[i + 1] = words[i];
    mt_cli_parse(count + 1, all, "", mt_recipe_options, &recipe);
    return recipe;
}

#define PARSED(...) parsed(sizeof((char *[]){ __VA_ARGS__ }) / sizeof(char *), (char *[]){ __VA_ARGS__ })

static double rate(const mt_recipe *recipe, int64_t step, int64_t steps)
{
    mt_schedule schedule = mt_recipe_schedule(recipe, steps);
    return mt_schedule_at(&schedule, step);
}

Test(recipe, options_change_what_they_name_and_nothing_else)
{
    mt_recipe r = PARSED("--optimizer=lion", "--clip", "2.5", "--workers", "3");
    cr_assert(r.optimizer == MT_LION && r.clip == 2.5 && r.workers == 3);
    cr_assert(r.lr == 0.5 && isnan(r.weight_decay) && r.schedule == MT_SCHEDULE_CONSTANT && r.prefetch == 0);
}

Test(recipe, wrong_options_are_refused_in_words)
{
    static char *const wrong[][3] = {
        { "--optimizer", "sgdd", "--optimizer: there is no optimizer \"sgdd\": use one of sgd," },
        { "--schedule", "cosin", "--schedule: there is no schedule \"cosin\"" },
        { "--lr", "nan", "--lr: 'nan'" },
        { "--lr", "0", "--lr: '0'" },
        { "--warmup", "-1", "--warmup: '-1'" },
        { "--gamma", "2", "--gamma: '2'" },
        { "--clip", "0", "--clip: '0'" },
        { "--beta1", "1", "--beta1: '1'" },
        { "--beta2", "0", "--beta2: '0'" },
        { "--eps", "-1", "--eps: '-1'" },
        { "--weight-decay", "x", "--weight-decay: 'x'" },
        { "--workers", "9999", "--workers: '9999'" },
        { "--prefetch", "0", "--prefetch: '0'" },
    };
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        ending end;
        if (run_in_child(&end) == 0) {
            PARSED(wrong[i][0], wrong[i][1]);
            _exit(0);
        }
        cr_assert(WIFEXITED(end.status) && WEXITSTATUS(end.status) != 0, "%s %s was taken", wrong[i][0], wrong[i][1]);
        cr_assert(strstr(end.said, wrong[i][2]), "\"%s\" does not say \"%s\"", end.said, wrong[i][2]);
    }
}

Test(recipe, schedules_fit_the_length_of_the_run)
{
    mt_recipe r = { .lr = 1, .schedule = MT_SCHEDULE_COSINE, .lr_min = 0.25, .warmup = 20 };
    cr_assert_float_eq(rate(&r, 0, 120), 1.0 / 20, 1e-15);
    cr_assert_float_eq(rate(&r, 20, 120), 1, 1e-15);
    cr_assert_float_eq(rate(&r, 70, 120), 0.625, 1e-15); /* half of the 100 steps after warm-up */
    cr_assert_float_eq(rate(&r, 120, 120), 0.25, 1e-15);
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_STEP };
    cr_assert_float_eq(rate(&r, 29, 90), 1, 1e-15);
    cr_assert_float_eq(rate(&r, 30, 90), 0.1, 1e-15);
    cr_assert_float_eq(rate(&r, 89, 90), 0.01, 1e-15);
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_EXPONENTIAL };
    cr_assert_float_eq(rate(&r, 50, 100), 0.1, 1e-12);
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_TRIANGULAR };
    cr_assert_float_eq(rate(&r, 10, 100), 1, 1e-15);
    cr_assert_float_eq(rate(&r, 20, 100), 0, 1e-15);
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_LINEAR, .lr_min = 0.25, .warmup = 20 };
    cr_assert_float_eq(rate(&r, 70, 120), 0.625, 1e-15);
    cr_assert_float_eq(rate(&r, 119, 120), 0.2575, 1e-15);
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_WSD, .warmup = 20 };
    cr_assert_float_eq(rate(&r, 110, 120), 1, 1e-15); /* the decay takes 10 of the 100 steps after warm-up */
    cr_assert_float_eq(rate(&r, 115, 120), 0.5, 1e-15);
    cr_assert_float_eq(rate(&r, 119, 120), 0.1, 1e-15);
    r.period = 500; /* longer than the run: it falls from the end of warm-up on */
    cr_assert_float_eq(rate(&r, 70, 120), 0.9, 1e-15);
    r = (mt_recipe){ .schedule = MT_SCHEDULE_STEP, .optimizer = MT_ADAM, .period = 3, .gamma = 0.5 };
    cr_assert_float_eq(rate(&r, 6, 100), 0.25e-3, 1e-18); /* the optimizer's own rate, given period and factor */
    r = (mt_recipe){ .lr = 1, .schedule = MT_SCHEDULE_COSINE, .warmup = 50 };
    cr_assert_float_eq(rate(&r, 9, 10), 0.2, 1e-15); /* a run shorter than its warm-up */
}

/* The numbers that a recipe names reach every parameter; the others are the optimizer's. */
Test(recipe, betas_and_eps_take_the_place_of_the_optimizers)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new((int64_t[]){ 2, 1 }, 1, &rng);
    mt_recipe r = PARSED("--optimizer=adamw", "--beta2", "0.95", "--eps=1e-6");
    mt_optim *optim = mt_recipe_optim(&r, model);
    cr_assert(optim->hyper.beta1 == 0.9 && optim->hyper.beta2 == 0.95 && optim->hyper.eps == 1e-6);
    cr_assert(optim->hyper.weight_decay == mt_hyper_default(MT_ADAMW).weight_decay);
    mt_optim_free(optim);
    mt_module_free(model);
    r = PARSED("--optimizer=lion", "--eps", "1e-9");
    cr_assert_eq(mt_recipe_begin(&r), MT_ERR_ARGUMENT, "lion has no eps");
    cr_assert_str_eq(mt_last_error(), "--eps: the optimizer lion has none");
    r = PARSED("--optimizer=sgd", "--beta1", "0.9");
    cr_assert_eq(mt_recipe_begin(&r), MT_ERR_ARGUMENT, "SGD has no averages");
    cr_assert_str_eq(mt_last_error(), "--beta1: the optimizer sgd has none");
}

/* ---- a step ------------------------------------------------------------------------------------------ */

/* One linear layer of a weight and a bias, both 1, fed with x = 1: the gradient of both is the factor of the loss. */
typedef struct toy {
    mt_training training;
    float *weight, *bias;
    int64_t left; /* batches that the source still has */
    float x;      /* of the batch when one is left, and of three times as many targets as the others have */
} toy;

static float factor; /* of the loss */

static mt_tensor *toy_loss(mt_module *model, mt_tensor *x, mt_tensor *y)
{
    (void)y;
    return mt_scale(mt_sum(mt_forward(model, x)), factor);
}

static bool toy_next(void *source, mt_batch *batch)
{
    toy *t = source;
    *batch =
        (mt_batch){ .x = mt_full(MT_SHAPE(1, 1), t->left == 1 ? t->x : 1), .y = mt_full(MT_SHAPE(1), 1), .count = 1 };
    return t->left-- > 0;
}

static int64_t toy_targets(void *source, int64_t ahead)
{
    int64_t left = ((toy *)source)->left - ahead;
    return left == 1 ? 3 : left > 1;
}

static void toy_init(toy *t, const mt_recipe *recipe, int64_t steps, float gradient)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_INIT);
    mt_module *model = mt_mlp_new((int64_t[]){ 1, 1 }, 1, &rng);
    mt_state params = mt_module_params(model);
    t->weight = mt_f32(params.item[0].tensor);
    t->bias = mt_f32(params.item[1].tensor);
    *t->weight = *t->bias = 1;
    factor = gradient;
    t->left = 100;
    t->training = (mt_training){ .model = model,
                                 .optim = mt_recipe_optim(recipe, model),
                                 .loss = toy_loss,
                                 .next = toy_next,
                                 .source = t,
                                 .micro = 1,
                                 .schedule = mt_recipe_schedule(recipe, steps),
                                 .clip = recipe->clip };
    mt_state_free(&params);
}

static void toy_free(toy *t)
{
    mt_optim_zero_grad(t->training.optim);
    mt_optim_free(t->training.optim);
    mt_module_free(t->training.model);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

static mt_step_result toy_step(const toy *t, int64_t step)
{
    mt_step_result result;
    cr_assert(mt_train_step(&result, &t->training, step));
    return result;
}

Test(step, weights_decay_and_biases_do_not)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5, .weight_decay = 0.25 };
    toy t;
    toy_init(&t, &r, 10, 0);
    toy_step(&t, 0);
    cr_assert_eq(*t.weight, 1 - 0.5f * 0.25f);
    cr_assert_eq(*t.bias, 1);
    toy_free(&t);
}

Test(step, the_rate_is_the_schedules)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5, .warmup = 4 };
    toy t;
    toy_init(&t, &r, 10, 1);
    mt_step_result result = toy_step(&t, 1); /* the second of four steps of warm-up: half the rate */
    cr_assert_eq(*t.bias, 0.75f);
    cr_assert(result.loss == 2 && result.samples == 1);
    toy_free(&t);
}

Test(step, large_gradients_are_clipped_and_infinite_ones_skipped)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 1, .clip = 0.5 };
    toy t;
    toy_init(&t, &r, 10, 3); /* norm 3 sqrt(2): each becomes 0.5 / sqrt(2) */
    toy_step(&t, 0);
    cr_assert_float_eq(*t.bias, 1 - 0.5 / sqrt(2), 2 * 1.2e-7);
    toy_free(&t);
    toy_init(&t, &r, 10, INFINITY);
    toy_step(&t, 0);
    cr_assert(*t.bias == 1 && *t.weight == 1);
    toy_free(&t);
}

Test(step, micro_batches_add_up_to_one_batch)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5 };
    toy t;
    toy_init(&t, &r, 10, 1);
    t.training.gradients = mt_train_accumulate;
    t.training.micro = 4; /* the mean over four equal batches is that of one */
    mt_step_result result = toy_step(&t, 0);
    cr_assert(*t.bias == 0.5f && *t.weight == 0.5f);
    cr_assert(result.loss == 2 && result.samples == 4);
    toy_free(&t);
}

Test(step, micro_batches_count_by_their_targets)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5 };
    toy t;
    toy_init(&t, &r, 10, 1);
    t.training.gradients = mt_train_accumulate;
    t.training.micro = t.left = 2;
    t.training.targets = toy_targets;
    t.x = 5;
    mt_step_result result = toy_step(&t, 0); /* the weight's gradient is (1 + 3 x 5) / 4, the loss (2 + 3 x 6) / 4 */
    cr_assert(*t.weight == -1 && *t.bias == 0.5f);
    cr_assert(result.loss == 5 && result.samples == 2);
    toy_free(&t);
}

Test(step, an_exhausted_source_changes_no_parameter)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5 };
    mt_step_result result = { 7, 7 };
    toy t;
    toy_init(&t, &r, 10, 1);
    t.training.gradients = mt_train_accumulate;
    t.training.micro = 2;
    t.left = 1;
    cr_assert_not(mt_train_step(&result, &t.training, 0));
    cr_assert(*t.bias == 1 && *t.weight == 1 && result.loss == 7);
    toy_free(&t);
}

/* ---- what surrounds a batch ------------------------------------------------------------------------------- */

typedef struct surrounded {
    int begun, ended;
} surrounded;

static double begin_of_batch(void *user)
{
    ((surrounded *)user)->begun++;
    return 8;
}

static void end_of_batch(void *user)
{
    ((surrounded *)user)->ended++;
}

Test(step, a_batch_is_surrounded_and_its_gradients_have_the_factor)
{
    mt_recipe r = { .optimizer = MT_SGD, .lr = 0.5 };
    surrounded seen = { 0 };
    toy t;
    toy_init(&t, &r, 10, 1);
    t.training.around = (mt_surround){ begin_of_batch, end_of_batch, &seen };
    t.training.gradients = mt_train_accumulate;
    t.training.micro = 4;
    mt_step_result result = toy_step(&t, 0);
    cr_assert(seen.begun == 4 && seen.ended == 4);
    cr_assert(result.loss == 2, "the loss is without the factor, %g", result.loss);
    cr_assert(*t.bias == 1 - 8 * 0.5f && *t.weight == 1 - 8 * 0.5f);
    t.training.gradients = NULL;
    ABORTS("4 micro-batches need a function", mt_train_step(&result, &t.training, 1));
    toy_free(&t);
}
