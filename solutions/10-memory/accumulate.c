/* accumulate.c -- one update from several micro-batches; only one of them is in memory at a time. */
#include "memory/accumulate.h"

/* Targets of the batch that the source gives after `ahead` others. */
static int64_t targets(const mt_training *t, int64_t ahead)
{
    return t->targets ? t->targets(t->source, ahead) : 1;
}

bool mt_train_accumulate(mt_step_result *sum, const mt_training *t)
{
    /* LAB 10.1 BEGIN  The micro-batches of one step, one after the other, each with its share of the targets.
     * Hint: the loss of a batch is the mean over its targets, that of the step the mean over those of all its
     * micro-batches: a batch counts by its targets over theirs. Their sum is needed before the first backward. `ahead`
     * is counted from the batch that the source gives next, which is another one after each mt_train_batch. Backward
     * adds to the gradients that are there. */
    int64_t all = 0;
    for (int64_t m = 0; m < t->micro; m++)
        all += targets(t, m);
    for (int64_t m = 0; m < t->micro; m++)
        if (!mt_train_batch(sum, t, (float)((double)targets(t, 0) / (double)all)))
            return false;
    return true;
    /* LAB 10.1 END */
}
