/* confusion.h -- what a classifier takes for what: counts, accuracy, and the mistakes it makes most often. */
#ifndef MT_PROF_CONFUSION_H
#define MT_PROF_CONFUSION_H

#include "core/base.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MT_CONFUSION_CLASSES = 10 };

typedef struct mt_confusion {
    int64_t count[MT_CONFUSION_CLASSES]
                 [MT_CONFUSION_CLASSES]; /* [what it is][what the classifier says]; { 0 }: empty */
} mt_confusion;

/* mt_confusion_add -- N more answers: the largest of each row of logits (the first of equals).
 *   logits [N, MT_CONFUSION_CLASSES],  label [N].   Aborts: a label that is no class. */
void mt_confusion_add(mt_confusion *c, const float *logits, const int32_t *label, int64_t N);

double mt_confusion_accuracy(const mt_confusion *c); /* share of right answers; 0 for none */
void mt_confusion_print(const mt_confusion *c);      /* the table, and the pairs with most mistakes, on stdout */

#ifdef __cplusplus
}
#endif
#endif
