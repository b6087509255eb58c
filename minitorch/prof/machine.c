/* machine.c -- peak arithmetic, memory bandwidth and the name of this machine. */
#include "prof/machine.h"
#include "core/storage.h"

#include <omp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

double mt_machine_bandwidth(int threads)
{
    const int64_t n = 32 << 20; /* two arrays of 128 MiB */
    float *x = mt_alloc(n * 4, MT_CPU), *y = mt_alloc(n * 4, MT_CPU);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = mt_now();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            if (round == 0) /* first touch: each thread brings its own part into memory */
                x[i] = y[i] = 1;
            y[i] = 0.5f * x[i] + y[i];
        }
        double rate = 12.0 * (double)n / (mt_now() - begin);
        best = round > 0 && rate > best ? rate : best;
    }
    mt_free(x, n * 4, MT_CPU);
    mt_free(y, n * 4, MT_CPU);
    return best;
}

const char *mt_machine_name(void)
{
    static char name[256];
    char line[256], cpu[128] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "model name : %127[^\n]", cpu) == 1)
            break;
    if (info)
        fclose(info);
    snprintf(name, sizeof name, "%s, %ld cores, %s %d.%d.%d", cpu, sysconf(_SC_NPROCESSORS_ONLN),
#ifdef __clang__
             "clang", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
             "gcc", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    return name;
}
