/* updates.cu -- SGD, Adam and AdamW on the device.
 *
 *     sgd     p -= lr (g + wd p)
 *     adam    d = g + wd p;  m = b1 m + (1 - b1) d;  v = b2 v + (1 - b2) d^2;  p -= lr m^ / (sqrt(v^) + eps)
 *     adamw   the same with d = g, and  p -= lr (m^ / (sqrt(v^) + eps) + wd p)
 *             m^ = m / (1 - b1^t),  v^ = v / (1 - b2^t)
 *
 * Threads and data: thread t updates element t; intermediate values stay in registers.
 * Bytes and FLOPs: SGD moves 12 B for 4 FLOPs per element, Adam 28 B for some 15. The constants that are the same for
 * every element are computed once, on the host, in double. */
#include "optim/updates.h"

#include "cuda/launch.cuh"
#include "optim/updates_cuda.h"

#include <inttypes.h>
#include <math.h>

/* ---- SGD ------------------------------------------------------------------------------------------ */

static __global__ void sgd(float *p, const float *g, int64_t n, float lr, float decay)
{
    /* TODO 06.17: A step against the gradient, one element. */
    MT_TODO("06.17"); /* delete this line when yours stands here */
}

extern "C" void mt_sgd_update_cuda(const mt_update *u)
{
    int64_t n = mt_update_count(u);
    if (n == 0)
        return;
    float lr = (float)u->hyper->lr, decay = (float)u->hyper->weight_decay;
    sgd<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(u->param, u->grad, n, lr, decay);
    MT_LAUNCHED("sgd_update");
}

/* ---- Adam ------------------------------------------------------------------------------------------- */

/* The hyper-parameters as the kernel uses them. */
typedef struct constants {
    float lr, eps;
    float coupled;      /* decay that is added to the gradient: Adam's */
    float decoupled;    /* decay applied to p only: AdamW's */
    float beta1, rest1; /* beta1 and 1 - beta1 */
    float beta2, rest2;
    float fix1, fix2; /* m^ = fix1 m, v^ = fix2 v */
} constants;

static constants constants_of(const mt_update *u)
{
    const mt_hyper *h = u->hyper;
    constants k = {};
    MT_CHECK(u->step >= 1, "adam: step %" PRId64 ", but the first is 1", u->step);
    k.lr = (float)h->lr;
    k.eps = (float)h->eps;
    k.beta1 = (float)h->beta1;
    k.rest1 = (float)(1 - h->beta1);
    k.beta2 = (float)h->beta2;
    k.rest2 = (float)(1 - h->beta2);
    /* TODO 06.17: The factors of m and v that correct their start at zero: 1 / (1 - beta^t).
     * Hint: t is u->step. In double, and on the host: pow() in every thread would take longer than the rest of the
     * update. */
    MT_TODO("06.17"); /* delete this line when yours stands here */
    return k;
}

static __global__ void adam(float *p, float *m, float *v, const float *g, int64_t n, constants k)
{
    /* TODO 06.17: One element of Adam; decoupled decay added to its step, coupled decay to its gradient.
     * Hint: read p, g, m, v once and write p, m, v once: keep intermediate values in variables. */
    MT_TODO("06.17"); /* delete this line when yours stands here */
}

static void launch_adam(const mt_update *u, constants k, const char *name)
{
    int64_t n = mt_update_count(u);
    if (n == 0)
        return;
    adam<<<mt_blocks(n, MT_THREADS), MT_THREADS, 0, mt_cuda_stream()>>>(u->param, u->state[0], u->state[1], u->grad, n,
                                                                        k);
    MT_LAUNCHED(name);
}

extern "C" void mt_adam_update_cuda(const mt_update *u)
{
    constants k = constants_of(u);
    k.coupled = (float)u->hyper->weight_decay;
    launch_adam(u, k, "adam_update");
}

extern "C" void mt_adamw_update_cuda(const mt_update *u)
{
    constants k = constants_of(u);
    k.decoupled = (float)u->hyper->weight_decay;
    launch_adam(u, k, "adamw_update");
}
