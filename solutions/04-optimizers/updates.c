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
    /* LAB 04.1 BEGIN  A step against the gradient.
     * Hint: weight decay is the gradient of decay/2 * p^2, so it is added to g. */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++)
        p[i] -= lr * (g[i] + decay * p[i]);
    /* LAB 04.1 END */
}

void mt_momentum_update_cpu(const mt_update *u)
{
    float *p = u->param, *b = u->state[0];
    float lr = (float)u->hyper->lr, momentum = (float)u->hyper->momentum, decay = (float)u->hyper->weight_decay;
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* LAB 04.1 BEGIN  A step along a running sum of gradients.
     * Hint: constant gradients add up to ten times g for a momentum of 0.9; gradients that alternate in sign cancel.
     * As in all rules here but Lion, g means the gradient with weight decay already in it. */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++) {
        b[i] = momentum * b[i] + (g[i] + decay * p[i]);
        p[i] -= lr * b[i];
    }
    /* LAB 04.1 END */
}

void mt_nesterov_update_cpu(const mt_update *u)
{
    float *p = u->param, *b = u->state[0];
    float lr = (float)u->hyper->lr, momentum = (float)u->hyper->momentum, decay = (float)u->hyper->weight_decay;
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* LAB 04.1 BEGIN  Momentum that looks ahead. Derive the step on paper (handout, "Derive it yourself").
     * Hint: every use of g means the gradient with weight decay already in it. */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] + decay * p[i];
        b[i] = momentum * b[i] + d;
        p[i] -= lr * (d + momentum * b[i]);
    }
    /* LAB 04.1 END */
}

/* ---- RMSprop and Adam ------------------------------------------------------------------------ */

void mt_rmsprop_update_cpu(const mt_update *u)
{
    float *p = u->param, *v = u->state[0];
    float lr = (float)u->hyper->lr, eps = (float)u->hyper->eps, decay = (float)u->hyper->weight_decay;
    float beta2 = (float)u->hyper->beta2, rest2 = (float)(1 - u->hyper->beta2);
    const float *g = u->grad;
    int64_t n = mt_update_count(u);
    /* LAB 04.2 BEGIN  Divide each gradient by the root of its mean square.
     * Hint: v is a running average of squares (optim/updates.h), of the gradient with weight decay in it. Is eps
     * inside the root or outside? */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] + decay * p[i];
        v[i] = beta2 * v[i] + rest2 * d * d;
        p[i] -= lr * d / (sqrtf(v[i]) + eps);
    }
    /* LAB 04.2 END */
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
    /* LAB 04.3 BEGIN  Average g in m and g^2 in v, correct both for their start at zero, and step along their ratio.
     * Hint: after t steps the weights in such an average add up to less than 1 (handout, "Bias correction"). Compute
     * the two corrections in double, once, outside the loop. g has weight decay in it. */
    float fix1 = (float)(1 / (1 - pow(h->beta1, (double)u->step)));
    float fix2 = (float)(1 / (1 - pow(h->beta2, (double)u->step)));
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++) {
        float d = g[i] + decay * p[i];
        m[i] = beta1 * m[i] + rest1 * d;
        v[i] = beta2 * v[i] + rest2 * d * d;
        float m_hat = fix1 * m[i], v_hat = fix2 * v[i];
        p[i] -= lr * m_hat / (sqrtf(v_hat) + eps);
    }
    /* LAB 04.3 END */
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
    /* LAB 04.6 BEGIN  Every element changes by lr, up or down: only the sign of an average of g is used.
     * Hint: m serves twice, with another beta each time: which of the two comes first (optim/updates.h)? A sign that
     * is 0 at 0 can be made of two comparisons. Decay is decoupled. */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++) {
        float way = beta1 * m[i] + rest1 * g[i];
        float sign = (float)((way > 0) - (way < 0));
        p[i] -= lr * (sign + decay * p[i]);
        m[i] = beta2 * m[i] + rest2 * g[i];
    }
    /* LAB 04.6 END */
}
