/* adamw.c -- AdamW twice, with the same arithmetic: a pass over memory for each formula, and all fused into one pass.
 *
 * Memory limits these loops, so the number of bytes counts, 4 for each array read or written:
 *     pass      m      v      m_hat  v_hat  p           fused
 *     reads     m g    v g    m      v      p m^ v^     p g m v
 *     writes    m      v      m_hat  v_hat  p           p m v
 *     bytes     12     12     8      8      16  = 56    28
 * A store to a line that is not in the cache loads it first: 4 B more for each of m_hat and v_hat, 64 in all. The
 * fused pass stores only where it has just loaded. */
#include "optim/updates.h"

#include <inttypes.h>
#include <math.h>

enum { PARALLEL_FROM = 1 << 15 }; /* elements from which waking the other threads (2 us) pays */

/* The hyper-parameters as the loops use them. */
typedef struct constants {
    float lr, eps, decay;
    float beta1, rest1; /* beta1 and 1 - beta1 */
    float beta2, rest2;
    float fix1, fix2; /* m_hat = fix1 m, v_hat = fix2 v: 1 / (1 - beta^t) */
} constants;

static constants constants_of(const mt_update *u)
{
    const mt_hyper *h = u->hyper;
    MT_CHECK(u->step >= 1, "adamw: step %" PRId64 ", but the first is 1", u->step);
    return (constants){
        .lr = (float)h->lr,
        .eps = (float)h->eps,
        .decay = (float)h->weight_decay,
        .beta1 = (float)h->beta1,
        .rest1 = (float)(1 - h->beta1),
        .beta2 = (float)h->beta2,
        .rest2 = (float)(1 - h->beta2),
        .fix1 = (float)(1 / (1 - pow(h->beta1, (double)u->step))),
        .fix2 = (float)(1 / (1 - pow(h->beta2, (double)u->step))),
    };
}

void mt_adamw_multipass_update_cpu(const mt_update *u)
{
    constants k = constants_of(u);
    int64_t n = mt_update_count(u);
    float *p = u->param, *m = u->state[0], *v = u->state[1], *m_hat = u->scratch, *v_hat = u->scratch + n;
    const float *g = u->grad;
    /* TODO 04.4: AdamW in five loops: m, v, m_hat, v_hat, p.
     * Hint: as Adam, but decay is decoupled: what does it change, and what not (optim/updates.h)? So parameters with
     * large gradients decay as fast as those with small ones. */
    MT_TODO("04.4"); /* delete this line when yours stands here */
}

void mt_adamw_update_cpu(const mt_update *u)
{
    constants k = constants_of(u);
    int64_t n = mt_update_count(u);
    float *p = u->param, *m = u->state[0], *v = u->state[1];
    const float *g = u->grad;
    /* TODO 04.5: The same in one loop that reads p, g, m, v once and writes p, m, v once.
     * Hint: m_hat and v_hat of one element fit in registers; no array is needed for them. */
    MT_TODO("04.5"); /* delete this line when yours stands here */
}
