/* step.h -- one step of training: forward, backward, clip, update. Unit: solutions/08-gpt2/step.c
 *
 *     mt_training training = { .model = model, .optim = optim, .loss = mt_gpt2_loss, .next = next_batch,
 *                              .source = &data, .micro = 1, .clip = 1, .schedule = schedule };
 *     mt_step_result result;
 *     for (int64_t step = 0; step < steps && mt_train_step(&result, &training, step); step++)
 *         printf("%g\n", result.loss); */
#pragma once

#include "data/loader.h"
#include "nn/module.h"
#include "optim/optim.h"
#include "optim/schedule.h"

MT_C_BEGIN

typedef struct mt_step_result {
    double loss;     /* mean over the targets of all micro-batches, before the update */
    int64_t samples; /* in all micro-batches */
} mt_step_result;

/* ---- extension point: what surrounds the forward and backward of each micro-batch; NULL: nothing */
typedef struct mt_surround {
    double (*begin)(void *user); /* returns the factor that the loss, and so the gradients, have in backward */
    void (*end)(void *user);
    void *user;
} mt_surround;

typedef struct mt_training mt_training;
struct mt_training {
    mt_module *model;
    mt_optim *optim;                                                  /* over the model's parameters */
    mt_tensor *(*loss)(mt_module *model, mt_tensor *x, mt_tensor *y); /* mean loss of a batch, [] */
    bool (*next)(void *source, mt_batch *batch);     /* the next micro-batch, on any device; false: there is none */
    int64_t (*targets)(void *source, int64_t ahead); /* number of targets of the batch `ahead` batches from now; 0:
                                                        there is none. NULL: batches are equal */
    void *source;
    int64_t micro;        /* micro-batches of one step; their gradients add up to that of the whole batch */
    mt_schedule schedule; /* of the learning rate */
    double clip;          /* the largest norm of all gradients together; 0: no limit; INFINITY is one */
    mt_surround around;

    /* Adds gradients, loss and samples of the `micro` micro-batches of a step; false: there are fewer. NULL:
     * mt_train_batch, of the only one. Clipping and update have hooks of their own (mt_optim_hooks). */
    bool (*gradients)(mt_step_result *sum, const mt_training *training);
    void *user; /* what `gradients` needs */
};

/* mt_train_batch -- add one micro-batch: its gradients, times `share`, to the parameters' gradients, its loss times
 * share and its number of samples to *total. All other tensors are released. False, with nothing changed: there is no
 * batch.   Lab 08.12 */
bool mt_train_batch(mt_step_result *total, const mt_training *training, float share);

/* mt_train_step -- step number 0, 1, ... of the schedule. Tensors that `loss` and `next` make belong to the scope of
 * their micro-batch. A gradient norm that is not finite, where a limit is set, changes no parameter. False, with
 * nothing changed but gradients: the source had fewer than `micro` batches left.
 * Aborts: several micro-batches without `gradients`.   Lab 08.12 */
bool mt_train_step(mt_step_result *result, const mt_training *training, int64_t step);

MT_C_END
