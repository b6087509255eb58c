/* classifier.c -- see classifier.h. */
#include "models/classifier.h"

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"

mt_tensor *mt_classifier_loss(mt_module *model, mt_tensor *x, mt_tensor *label)
{
    return mt_cross_entropy(mt_forward(model, x), label);
}

mt_status mt_classifier_test(double *loss, mt_confusion *confusion, mt_module *model, mt_loader *loader)
{
    double total = 0;
    int64_t samples = 0;
    mt_device device = mt_module_device(model);
    mt_confusion seen = { 0 };
    mt_batch batch;
    mt_module_set_mode(model, MT_EVAL);
    mt_no_grad_begin();
    while (mt_loader_next(loader, &batch)) {
        mt_scope_begin();
        mt_tensor *logits = mt_forward(model, mt_to_device(batch.x, device));
        MT_CHECK(mt_dim(logits, -1) == MT_CONFUSION_CLASSES, "classifier: logits are %s, expected [N,%d]",
                 mt_shape_text(mt_view_shape(&logits->view)), MT_CONFUSION_CLASSES);
        total += mt_item(mt_cross_entropy(logits, mt_to_device(batch.y, device))) * (double)batch.count;
        mt_confusion_add(&seen, mt_f32(mt_to_device(logits, MT_CPU)), mt_data(batch.y), batch.count);
        samples += batch.count;
        mt_scope_end();
    }
    mt_no_grad_end();
    mt_module_set_mode(model, MT_TRAIN);
    mt_status status = mt_loader_status(loader);
    if (status != MT_OK)
        return status;
    *loss = samples > 0 ? total / (double)samples : 0;
    *confusion = seen;
    return MT_OK;
}
