/* test_resume.c -- a run with everything that a checkpoint must hold (dropout, f16 with its loss scaler, shuffled
 * batches from 4 workers, sums between evaluations and between rows of the log, the best one) ends with the same bits
 * when it is continued from any step, also where an evaluation or a row failed; the rule of early stopping. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "ckpt/checkpoint.h"
#include "fake_set.h"
#include "ops/ops.h"
#include "train/loop.h"
#include "train/recipe.h"

enum { STEPS = 40, SAMPLES = 37, BATCH = 4 };

#define MUST(status) cr_assert_eq(status, MT_OK, "%s", mt_last_error())

typedef struct small {
    mt_module *model;
    mt_optim *optim;
    mt_loader *loader;
    mt_loop loop;
    mt_extras extras;
    double mean[STEPS + 1], row[STEPS + 1]; /* of each evaluation and each row, by step */
    const char *dir;
    int64_t failing, failing_row; /* steps whose evaluation or row fails */
} small;

static mt_tensor *loss(mt_module *model, mt_tensor *x, mt_tensor *label)
{
    return mt_cross_entropy(mt_forward(model, x), label);
}

static mt_status evaluate(void *user, const mt_stretch *since)
{
    small *s = user;
    if (s->loop.step == s->failing)
        return mt_fail(MT_ERR_IO, "no room for a row");
    s->mean[s->loop.step] = since->loss;
    mt_loop_note(&s->loop, since->loss);
    return MT_OK;
}

static mt_status log_row(void *user, const mt_stretch *since, bool evaluated)
{
    small *s = user;
    cr_assert_eq(evaluated, s->loop.step % 7 == 0 || s->loop.step == STEPS);
    if (s->loop.step == s->failing_row)
        return mt_fail(MT_ERR_IO, "no room for a row");
    s->row[s->loop.step] = since->loss;
    return MT_OK;
}

static void lists_of(small *s, mt_state *model, mt_state *rest)
{
    *model = *rest = (mt_state){ 0 };
    mt_module_state(model, s->model);
    mt_loop_state(rest, &s->loop);
    mt_ema_state(rest, s->extras.ema);
    mt_loader_state(rest, s->loader);
    mt_optim_state(rest, s->optim);
}

static mt_status save(void *user)
{
    small *s = user;
    mt_state model, rest;
    lists_of(s, &model, &rest);
    mt_status status = mt_checkpoint_save(s->dir, s->loop.step, &model, &rest, 200);
    mt_state_free(&model);
    mt_state_free(&rest);
    return status;
}

/* Steps `from` + 1 to `until`, in which a checkpoint is written; with one of step `from` read first. The evaluation of
 * step `failing` ends the run, or the row of step `failing_row`. */
static small run(const char *dir, int64_t from, int64_t until, int64_t failing, int64_t failing_row)
{
    const mt_recipe recipe = {
        .optimizer = MT_ADAM, .lr = 0.01, .ema = 0.9, .dtype = MT_F16, .workers = 4, .seed = 3, .quiet = true
    };
    small s = { .dir = dir, .failing = failing, .failing_row = failing_row };
    fake_set set = fake_set_of(SAMPLES);
    mt_rng init = mt_rng_new(1, MT_STREAM_INIT);
    s.model =
        mt_sequential(4, mt_linear_layer(4, 16, &init), mt_function_layer(mt_relu),
                      mt_dropout_layer(0.5f, mt_rng_new(9, MT_STREAM_DROPOUT)), mt_linear_layer(16, SAMPLES, &init));
    s.optim = mt_recipe_optim(&recipe, s.model);
    s.loader = mt_recipe_loader(&recipe, &set.base, mt_sampler_shuffling(SAMPLES, 3), BATCH);
    s.loop = (mt_loop){ .training = mt_recipe_training(&recipe, s.model, s.optim, STEPS),
                        .loader = s.loader,
                        .steps = STEPS,
                        .eval_every = 7,
                        .save_every = failing ? 0 : until,
                        .log_every = 3,
                        .evaluate = evaluate,
                        .log = log_row,
                        .save = save,
                        .user = &s,
                        .progress = mt_recipe_progress(&recipe, STEPS) };
    mt_recipe_extras(&s.extras, &recipe, &s.loop);
    s.loop.training.loss = loss;
    if (from) {
        mt_state model, rest;
        lists_of(&s, &model, &rest);
        MUST(mt_checkpoint_load(dir, from, &model, &rest));
        MUST(mt_loader_seek(s.loader, mt_loader_place_of(s.loader)));
        cr_assert_eq(s.loop.step, from);
        mt_state_free(&model);
        mt_state_free(&rest);
    }
    s.loop.begun = s.loop.step;
    cr_assert_eq(mt_loop_run(&s.loop, until), failing || failing_row ? MT_ERR_IO : MT_OK, "%s", mt_last_error());
    mt_loader_free(s.loader);
    mt_extras_free(&s.extras);
    mt_optim_free(s.optim);
    mt_module_free(s.model);
    return s;
}

Test(resume, from_any_step_to_the_same_bits)
{
    char whole[] = "/tmp/mt_resume_XXXXXX", parts[] = "/tmp/mt_resume_XXXXXX", command[256];
    cr_assert(mkdtemp(whole) && mkdtemp(parts));
    small want = run(whole, 0, STEPS, 0, 0);
    /* 9, 18: within an epoch of 10 batches; 10: at its end; 14: right after an evaluation. */
    static const int64_t stop[] = { 0, 9, 10, 14, 18, STEPS };
    for (int i = 0; i + 1 < MT_COUNT(stop); i++) {
        small got = run(parts, stop[i], stop[i + 1], 0, 0);
        for (int64_t step = stop[i] + 1; step <= stop[i + 1]; step++) {
            cr_assert_eq(got.mean[step], want.mean[step], "the mean loss at step %ld", (long)step);
            cr_assert_eq(got.row[step], want.row[step], "the row of step %ld", (long)step);
            cr_assert_eq(got.row[step] > 0, step % 3 == 0 || step % 7 == 0 || step == STEPS);
        }
    }
    snprintf(command, sizeof command, "diff -r %s/step-40 %s/step-40", whole, parts);
    cr_assert_eq(system(command), 0, "other bits");
    snprintf(command, sizeof command, "rm -r %s %s", whole, parts);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

/* A step is saved before it is evaluated; the run that goes on evaluates it first. */
Test(resume, an_evaluation_that_fails_loses_no_step)
{
    char whole[] = "/tmp/mt_resume_XXXXXX", parts[] = "/tmp/mt_resume_XXXXXX", command[256];
    cr_assert(mkdtemp(whole) && mkdtemp(parts));
    small want = run(whole, 0, STEPS, 0, 0);
    static const int64_t failing[] = { 7, 14, STEPS };
    int64_t from = 0;
    for (int i = 0; i < MT_COUNT(failing); i++) {
        small got = run(parts, from, failing[i], failing[i], 0);
        cr_assert(from == 0 || got.mean[from] == want.mean[from], "the evaluation of step %ld is made up for",
                  (long)from);
        from = failing[i];
    }
    small last = run(parts, STEPS, STEPS, 0, 0);
    cr_assert_eq(last.mean[STEPS], want.mean[STEPS]);
    snprintf(command, sizeof command, "diff -r %s/step-40 %s/step-40", whole, parts);
    cr_assert_eq(system(command), 0, "other bits");
    snprintf(command, sizeof command, "rm -r %s %s", whole, parts);
    cr_assert_eq(system(command), 0);
}

/* The step is saved, whether it had a checkpoint or not, and the run that goes on writes the row first; with an
 * evaluation, which is then made again. */
Test(resume, a_row_that_fails_loses_no_step)
{
    char whole[] = "/tmp/mt_resume_XXXXXX", parts[] = "/tmp/mt_resume_XXXXXX", command[256];
    cr_assert(mkdtemp(whole) && mkdtemp(parts));
    small want = run(whole, 0, STEPS, 0, 0);
    static const int64_t failing[] = { 3, 7, 12, 21, 28 }; /* checkpoints are due every 30 steps: `until` */
    int64_t from = 0;
    for (int i = 0; i < MT_COUNT(failing); i++) {
        small got = run(parts, from, 30, 0, failing[i]);
        char want_words[128];
        snprintf(want_words, sizeof want_words, "no room for a row; step %ld is saved, --resume continues there",
                 (long)failing[i]);
        cr_assert_str_eq(mt_last_error(), want_words);
        for (int64_t step = from ? from : 1; step < failing[i]; step++)
            cr_assert(got.row[step] == want.row[step] && got.mean[step] == want.mean[step], "step %ld", (long)step);
        from = failing[i];
    }
    small last = run(parts, from, STEPS, 0, 0);
    cr_assert(last.row[from] == want.row[from] && last.mean[from] == want.mean[from]);
    snprintf(command, sizeof command, "diff -r %s/step-40 %s/step-40", whole, parts);
    cr_assert_eq(system(command), 0, "other bits");
    snprintf(command, sizeof command, "rm -r %s %s", whole, parts);
    cr_assert_eq(system(command), 0);
}

Test(resume, the_best_evaluation_and_patience)
{
    static const double value[] = { 5, 4, 4.5, 3.95, NAN, 3 };
    static const int64_t behind[] = { 0, 0, 1, 2, 3, 0 };
    mt_loop loop = { .min_delta = 0.1 };
    cr_assert(!mt_loop_note(&loop, NAN) && loop.best.step == 0);
    loop.best.behind = 0;
    for (int i = 0; i < MT_COUNT(value); i++) {
        loop.step = 10 * (i + 1);
        cr_expect_eq(mt_loop_note(&loop, value[i]), behind[i] == 0, "evaluation %d", i);
        cr_expect_eq(loop.best.behind, behind[i]);
    }
    cr_assert(loop.best.value == 3 && loop.best.step == 60);
}

Test(resume, patience_that_has_ended_leaves_no_step)
{
    mt_loop loop = { .patience = 2, .best = { .behind = 2 }, .steps = 5 };
    MUST(mt_loop_run(&loop, 5));
    cr_assert_eq(loop.step, 0);
}
