/* classifier.c -- loss and test of a classifier with ten classes, see classifier.h. The head of GPT-2 and its loss:
 * unit classifier.c of lab 08. */
#include "models/classifier.h"

#include <inttypes.h>
#include <stdio.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"

enum { MISTAKES = 3 /* printed */ };

mt_tensor *mt_classifier_loss(mt_module *model, mt_tensor *x, mt_tensor *label)
{
    return mt_cross_entropy(mt_forward(model, x), label);
}

static void count(mt_test_result *result, const float *logits, const int32_t *label, int64_t N)
{
    for (int64_t n = 0; n < N; n++, logits += MT_CLASSES) {
        int answer = 0;
        for (int c = 1; c < MT_CLASSES; c++)
            answer = logits[c] > logits[answer] ? c : answer;
        MT_CHECK(label[n] >= 0 && label[n] < MT_CLASSES, "label %d, expected 0 to %d", label[n], MT_CLASSES - 1);
        result->count[label[n]][answer]++;
        result->accuracy += answer == label[n];
    }
}

mt_status mt_classifier_test(mt_test_result *out, mt_module *model, mt_loader *loader)
{
    mt_test_result sum = { 0 };
    int64_t samples = 0;
    mt_device device = mt_module_device(model);
    mt_batch batch;
    mt_module_set_mode(model, MT_EVAL);
    mt_no_grad_begin();
    while (mt_loader_next(loader, &batch)) {
        mt_scope_begin();
        mt_tensor *logits = mt_forward(model, mt_to_device(batch.x, device));
        MT_CHECK(mt_dim(logits, -1) == MT_CLASSES, "classifier: logits are %s, expected [N,%d]",
                 mt_shape_text(mt_view_shape(&logits->view)), MT_CLASSES);
        sum.loss += mt_item(mt_cross_entropy(logits, mt_to_device(batch.y, device))) * (double)batch.count;
        count(&sum, mt_f32(mt_to_device(logits, MT_CPU)), mt_data(batch.y), batch.count);
        samples += batch.count;
        mt_scope_end();
    }
    mt_no_grad_end();
    mt_module_set_mode(model, MT_TRAIN);
    MT_TRY(mt_loader_status(loader));
    sum.loss /= (double)mt_max(1, samples);
    sum.accuracy /= (double)mt_max(1, samples);
    *out = sum;
    return MT_OK;
}

void mt_classifier_print(const mt_test_result *result)
{
    mt_test_result left = *result; /* mistakes that are not printed yet */
    printf("What it is (row) and what the network says (column):\n     ");
    for (int b = 0; b < MT_CLASSES; b++)
        printf("%6d", b);
    for (int a = 0; a < MT_CLASSES; a++) {
        printf("\n%5d", a);
        for (int b = 0; b < MT_CLASSES; b++)
            result->count[a][b] ? printf("%6" PRId64, result->count[a][b]) : printf("     .");
        left.count[a][a] = 0;
    }
    printf("\n\nMost often taken for another:\n");
    for (int i = 0; i < MISTAKES; i++) {
        int64_t *most = left.count[0];
        for (int64_t *at = most; at < left.count[0] + MT_CLASSES * MT_CLASSES; at++)
            most = *at > *most ? at : most;
        int64_t place = most - left.count[0];
        if (*most > 0)
            printf("  a %d for a %d: %" PRId64 " times\n", (int)(place / MT_CLASSES), (int)(place % MT_CLASSES), *most);
        *most = 0;
    }
}
