/* classifier.h -- how good a classifier is: the test that training programs run at intervals. */
#ifndef MT_MODELS_CLASSIFIER_H
#define MT_MODELS_CLASSIFIER_H

#include "data/loader.h"
#include "nn/module.h"
#include "prof/confusion.h"

/* mt_classifier_loss -- mean cross-entropy [] of the model's logits.   x [N, ...], label i32 [N] */
mt_tensor *mt_classifier_loss(mt_module *model, mt_tensor *x, mt_tensor *label);

/* mt_classifier_test -- one epoch of the loader without a tape, in MT_EVAL (afterwards MT_TRAIN).
 *   loss       the mean cross-entropy over all samples
 *   confusion  overwritten: what was taken for what
 * Fails as the loader does, outputs unchanged.   Aborts: the model's results are not [N, MT_CONFUSION_CLASSES]. */
mt_status mt_classifier_test(double *loss, mt_confusion *confusion, mt_module *model, mt_loader *loader);

#endif
