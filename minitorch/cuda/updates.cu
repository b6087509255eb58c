/* updates.cu -- the given update rules with one state (lab 06 has the others); the arithmetic is that of the CPU's
 * rules. */
#include "cuda/kernels.h"
#include "cuda/launch.cuh"

/* The hyper-parameters for the kernels: rounded to f32 once, after 1 - beta. */
struct numbers {
    float lr, momentum, beta1, rest1, beta2, rest2, eps, decay;
};

static numbers numbers_of(const mt_hyper *h)
{
    return { (float)h->lr,    (float)h->momentum,    (float)h->beta1, (float)(1 - h->beta1),
             (float)h->beta2, (float)(1 - h->beta2), (float)h->eps,   (float)h->weight_decay };
}

/* One element: its parameter, its state, its gradient. */
struct momentum {
    __device__ __forceinline__ void operator()(float &p, float &b, float g, const numbers &h) const
    {
        b = h.momentum * b + (g + h.decay * p);
        p -= h.lr * b;
    }
};

struct nesterov {
    __device__ __forceinline__ void operator()(float &p, float &b, float g, const numbers &h) const
    {
        float d = g + h.decay * p;
        b = h.momentum * b + d;
        p -= h.lr * (d + h.momentum * b);
    }
};

struct rmsprop {
    __device__ __forceinline__ void operator()(float &p, float &v, float g, const numbers &h) const
    {
        float d = g + h.decay * p;
        v = h.beta2 * v + h.rest2 * d * d;
        p -= h.lr * d / (sqrtf(v) + h.eps);
    }
};

struct lion {
    __device__ __forceinline__ void operator()(float &p, float &m, float g, const numbers &h) const
    {
        float way = h.beta1 * m + h.rest1 * g;
        p -= h.lr * ((float)((way > 0) - (way < 0)) + h.decay * p);
        m = h.beta2 * m + h.rest2 * g;
    }
};

template <class Rule>
static __global__ void step(float *p, float *state, const float *g, int64_t n, numbers h, Rule rule)
{
    int64_t i = mt_thread();
    if (i >= n)
        return;
    float value = p[i], kept = state[i];
    rule(value, kept, g[i], h);
    p[i] = value;
    state[i] = kept;
}

template <class Rule> static void update(const char *name, const mt_update *u, Rule rule)
{
    int64_t n = mt_update_count(u);
    MT_LAUNCH_EACH(name, step, n, MT_THREADS, u->param, u->state[0], u->grad, n, numbers_of(u->hyper), rule);
}

#define RULE(name)                                              \
    extern "C" void mt_##name##_update_cuda(const mt_update *u) \
    {                                                           \
        update(#name "_update", u, name());                     \
    }

RULE(momentum)
RULE(nesterov)
RULE(rmsprop)
RULE(lion)
