/* step.h -- one step of training: forward, backward, clip, update. Unit: solutions/08-gpt2/step.c
 *
 *     mt_training training = { .model = model, .optim = optim, .loss = mt_gpt2_loss, .next = next_batch,
 *                              .source = &data, .micro = 4, .clip = recipe.clip,
 *                              .schedule = mt_recipe_schedule(&recipe, steps) };
 *     mt_step_result result;
 *     for (int64_t step = 0; step < steps && mt_train_step(&result, &training, step); step++)
 *         printf("%g\n", result.loss); */
#pragma once

#include "data/loader.h"
#include "nn/module.h"
#include "optim/optim.h"
#include "optim/schedule.h"

MT_C_BEGIN

typedef struct mt_training {
    mt_module *model;
    mt_optim *optim;                                                  /* over the model's parameters */
    mt_tensor *(*loss)(mt_module *model, mt_tensor *x, mt_tensor *y); /* mean loss of a batch, [] */
    bool (*next)(void *source, mt_batch *batch);     /* the next micro-batch, on any device; false: there is none */
    int64_t (*targets)(void *source, int64_t ahead); /* of the batch that comes after `ahead` others: the terms of its
                                                        mean loss; 0: there is none. NULL: batches are equal (lab 10) */
    void *source;
    int64_t micro;        /* micro-batches of one step; their gradients add up to that of the whole batch (lab 10) */
    mt_schedule schedule; /* of the learning rate */
    double clip;          /* the largest norm of all gradients together; 0: no limit; INFINITY is one */
    mt_dtype dtype;       /* of products: f32, f16 or bf16 (ops/autocast.h). The optimizer may have a scaler */
} mt_training;

typedef struct mt_step_result {
    double loss;     /* mean over the targets of all micro-batches, before the update */
    int64_t samples; /* in all micro-batches */
} mt_step_result;

/* mt_train_batch -- add one micro-batch: its gradients, times `share` and the optimizer's loss scale, to the
 * parameters' gradients, its loss times share and its number of samples to *total. All other tensors are released.
 * False, with nothing changed: there is no batch.   Lab 08.12 */
bool mt_train_batch(mt_step_result *total, const mt_training *training, float share);

/* mt_train_step -- step number 0, 1, ... of the schedule. Tensors that `loss` and `next` make belong to the scope of
 * their micro-batch. A gradient norm that is not finite, where a limit is set, changes no parameter. False, with
 * nothing changed but gradients: the source had fewer than `micro` batches left.   Lab 08.12 */
bool mt_train_step(mt_step_result *result, const mt_training *training, int64_t step);

MT_C_END
