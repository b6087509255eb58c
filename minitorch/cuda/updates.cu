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

/* What a rule does to one element: its parameter p, its state s, by its gradient g. */
#define RULE(name, ...)                                                                                 \
    struct name {                                                                                       \
        __device__ __forceinline__ void operator()(float &p, float &s, float g, const numbers &h) const \
        {                                                                                               \
            __VA_ARGS__                                                                                 \
        }                                                                                               \
    };                                                                                                  \
    extern "C" void mt_##name##_update_cuda(const mt_update *u)                                         \
    {                                                                                                   \
        update(#name "_update", u, name());                                                             \
    }

/* clang-format off */
RULE(momentum, s = h.momentum * s + (g + h.decay * p);
               p -= h.lr * s;)
RULE(nesterov, float d = g + h.decay * p;
               s = h.momentum * s + d;
               p -= h.lr * (d + h.momentum * s);)
RULE(rmsprop,  float d = g + h.decay * p;
               s = h.beta2 * s + h.rest2 * d * d;
               p -= h.lr * d / (sqrtf(s) + h.eps);)
RULE(lion,     float way = h.beta1 * s + h.rest1 * g;
               p -= h.lr * ((float)((way > 0) - (way < 0)) + h.decay * p);
               s = h.beta2 * s + h.rest2 * g;)
/* clang-format on */
