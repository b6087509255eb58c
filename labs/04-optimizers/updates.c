/* updates.c -- SGD and the rules derived from it: momentum averages the direction, RMSprop the size, Adam both; Lion
 * uses the sign only. Each is one loop over independent elements, which threads may divide; one thread is enough. AdamW
 * has a unit of its own, adamw.c, and so has Adafactor, adafactor.c. */
#include "optim/updates.h"

#include <inttypes.h>
#include <math.h>

enum { PARALLEL_FROM = 1 << 15 }; /* elements from which waking the other threads (2 us) pays */

/* ---- SGD and momentum ------------------------------------------------------------------------ */

void mt_sgd_update_cpu(const mt_update *u)
{
    float *p = u->param, lr = (float)u->hyper->lr, decay = (float)u->hyper->weight_decay;
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* TODO 04.1: A step against the gradient.
     * Hint: weight decay is the gradient of decay/2 * p^2, so it is added to g. */
    MT_TODO("04.1"); /* delete this line when yours stands here */
}

void mt_momentum_update_cpu(const mt_update *u)
{
    float *p = u->param, *b = u->state[0];
    float lr = (float)u->hyper->lr, momentum = (float)u->hyper->momentum, decay = (float)u->hyper->weight_decay;
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* TODO 04.1: A step along a running sum of gradients.
     * Hint: constant gradients add up to ten times g for a momentum of 0.9; gradients that alternate in sign cancel.
     * As in all rules here but Lion, g means the gradient with weight decay already in it. */
    MT_TODO("04.1"); /* delete this line when yours stands here */
}

void mt_nesterov_update_cpu(const mt_update *u)
{
    float *p = u->param, *b = u->state[0];
    float lr = (float)u->hyper->lr, momentum = (float)u->hyper->momentum, decay = (float)u->hyper->weight_decay;
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* TODO 04.1: Momentum that looks ahead. Derive the step on paper (handout, "Derive it yourself").
     * Hint: every use of g means the gradient with weight decay already in it. */
    MT_TODO("04.1"); /* delete this line when yours stands here */
}

/* ---- RMSprop and Adam ------------------------------------------------------------------------ */

void mt_rmsprop_update_cpu(const mt_update *u)
{
    float *p = u->param, *v = u->state[0];
    float lr = (float)u->hyper->lr, eps = (float)u->hyper->eps, decay = (float)u->hyper->weight_decay;
    float beta2 = (float)u->hyper->beta2, rest2 = (float)(1 - u->hyper->beta2);
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* TODO 04.2: Divide each gradient by the root of its mean square.
     * Hint: v is a running average of squares (optim/updates.h), of the gradient with weight decay in it. Is eps
     * inside the root or outside? */
    MT_TODO("04.2"); /* delete this line when yours stands here */
}

void mt_adam_update_cpu(const mt_update *u)
{
    const mt_hyper *h = u->hyper;
    float *p = u->param, *m = u->state[0], *v = u->state[1];
    float lr = (float)h->lr, eps = (float)h->eps, decay = (float)h->weight_decay;
    float beta1 = (float)h->beta1, rest1 = (float)(1 - h->beta1), beta2 = (float)h->beta2,
          rest2 = (float)(1 - h->beta2);
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    MT_CHECK(u->step >= 1, "adam: step %" PRId64 ", but the first is 1", u->step);
    /* TODO 04.3: Average g in m and g^2 in v, correct both for their start at zero, and step along their ratio.
     * Hint: after t steps the weights in such an average add up to less than 1 (handout, "Bias correction"). Compute
     * the two corrections in double, once, outside the loop. g has weight decay in it. */
    MT_TODO("04.3"); /* delete this line when yours stands here */
}

/* ---- Lion ------------------------------------------------------------------------------------ */

void mt_lion_update_cpu(const mt_update *u)
{
    const mt_hyper *h = u->hyper;
    float *p = u->param, *m = u->state[0], lr = (float)h->lr, decay = (float)h->weight_decay;
    float beta1 = (float)h->beta1, rest1 = (float)(1 - h->beta1), beta2 = (float)h->beta2,
          rest2 = (float)(1 - h->beta2);
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* TODO 04.6: Every element changes by lr, up or down: only the sign of an average of g is used.
     * Hint: m serves twice, with another beta each time: which of the two comes first (optim/updates.h)? A sign that
     * is 0 at 0 can be made of two comparisons. Decay is decoupled. */
    MT_TODO("04.6"); /* delete this line when yours stands here */
}
