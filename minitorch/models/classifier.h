/* classifier.h -- the loss of a classifier with ten classes, and its test: loss, accuracy, confusion matrix. */
#pragma once

#include "data/loader.h"
#include "nn/module.h"

MT_C_BEGIN

enum { MT_CLASSES = 10 };

typedef struct mt_test_result {
    double loss;                           /* mean cross-entropy */
    double accuracy;                       /* share of right answers; 0 for no samples */
    int64_t count[MT_CLASSES][MT_CLASSES]; /* the confusion matrix: [label][answer] */
} mt_test_result;

/* mt_classifier_loss -- mean cross-entropy [] of the model's logits.   x [N, ...], label i32 [N] */
mt_tensor *mt_classifier_loss(mt_module *model, mt_tensor *x, mt_tensor *label);

/* mt_classifier_test -- one epoch of the loader without a tape, in MT_EVAL (afterwards MT_TRAIN). The answer is the
 * class of the largest logit, the first of equal ones.   Fails as the loader does, *out unchanged.
 * Aborts: the model's results are not [N, MT_CLASSES], or a label is not a class. */
mt_status mt_classifier_test(mt_test_result *out, mt_module *model, mt_loader *loader);

/* mt_classifier_print -- the confusion matrix and the most frequent mistakes, to stdout. */
void mt_classifier_print(const mt_test_result *result);

MT_C_END
