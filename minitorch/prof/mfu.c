/* mfu.c -- see mfu.h. */
#include "prof/mfu.h"
#include "core/base.h"

#include <omp.h>

#if defined(__AVX512F__)
enum { LANES = 16 };
#elif defined(__AVX__)
enum { LANES = 8 };
#else
enum { LANES = 4 };
#endif
typedef float vector __attribute__((vector_size(4 * LANES)));

enum { ROUNDS = 7, CHAINS = 12, STEPS = 400000 };

/* CHAINS independent sums hide the latency of a multiply-add; their total is returned so that none is left out. */
static float multiply_add(void)
{
    vector sum[CHAINS], factor = { 0 };
    float total = 0;
    factor += 0.999f;
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++)
        sum[c] = factor * (float)c;
    for (int64_t i = 0; i < STEPS; i++) {
#pragma GCC unroll 12
        for (int c = 0; c < CHAINS; c++)
            sum[c] = sum[c] * factor + factor;
    }
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++)
        total += sum[c][0];
    return total;
}

double mt_machine_flops(int threads)
{
    double best = 0;
    volatile float sink;
    for (int round = 0; round < ROUNDS; round++) {
        float total = 0;
        double begin = mt_now();
#pragma omp parallel num_threads(threads) reduction(+ : total)
        total += multiply_add();
        double rate = 2.0 * CHAINS * STEPS * LANES * threads / (mt_now() - begin);
        sink = total;
        best = rate > best ? rate : best;
    }
    (void)sink;
    return best;
}

double mt_mfu(double flops, double seconds, double peak)
{
    return peak > 0 && seconds > 0 ? flops / seconds / peak : 0;
}
