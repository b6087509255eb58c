/* bench_sharing.c -- the cost of cache coherence between two cores: why two threads gain less on a small network than
 * on a large one, and why in mlp_step each core has its own columns of the weights.
 *
 * Two threads, each bound to its own processor, access one array in turns. A cache line is either in several cores for
 * reading, or in one core for writing. Its state before the access:
 *
 *   own       this core accessed it last
 *   changed   the other core has written it: the line is transferred from there
 *   shared    both have read it: a write first invalidates the other core's copy
 *
 * Medians of ROUNDS. These are properties of the machine, independent of the framework. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/storage.h"

enum { ROUNDS = 201 };

typedef enum use { READ_OWN, READ_CHANGED, WRITE_OWN, WRITE_CHANGED, WRITE_SHARED, USES } use;

static const char *const names[USES] = { "read, own", "read, changed by the other", "write, own",
                                         "write, changed by the other", "write, shared with the other" };

typedef struct options {
    int64_t bytes;
} options;

static const mt_option flags[] = {
    { "bytes", 'b', "N", MT_I64(options, bytes, 4096, 1 << 30), "of the array (262144)" },
    { 0 },
};

/* Binds the calling thread to the k-th processor that this process may use; false if there are fewer. */
static bool hold_on(int k)
{
    cpu_set_t all, one;
    if (sched_getaffinity(0, sizeof all, &all) != 0)
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && k-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof one, &one) == 0;
        }
    return false;
}

static __attribute__((noinline)) float read_all(const float *a, int64_t n)
{
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

static __attribute__((noinline)) void change_all(float *a, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        a[i] += 1;
}

static volatile float sink; /* where sums go: without it the compiler would leave them out */

static double timed(use what, float *a, int64_t n)
{
    double begin = mt_now();
    if (what == READ_OWN || what == READ_CHANGED)
        sink = read_all(a, n);
    else
        change_all(a, n);
    return mt_now() - begin;
}

/* One round of both threads: thread 0 brings the lines into the state, thread 1 uses them and is timed. */
static void round_of(double seconds[USES][ROUNDS], int round, float *a, int64_t n)
{
    for (use what = 0; what < USES; what++) {
        bool mine = omp_get_thread_num() == 1, own = what == READ_OWN || what == WRITE_OWN;
#pragma omp barrier
        if (mine && !(what == READ_CHANGED || what == WRITE_CHANGED))
            change_all(a, n);
#pragma omp barrier
        if (!mine && what == WRITE_SHARED)
            sink = read_all(a, n);
        else if (!mine && !own)
            change_all(a, n);
#pragma omp barrier
        if (mine)
            seconds[what][round] = timed(what, a, n);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    static double seconds[USES][ROUNDS], gbs[USES];
    options o = { .bytes = 256 << 10 };
    bool held[2] = { false, false };
    mt_cli_parse(argc, argv, "What two cores pay for touching the same memory.", flags, &o);
    int64_t bytes = o.bytes;
    float *a = mt_alloc(bytes, MT_CPU);
    memset(a, 0, (size_t)bytes);
#pragma omp parallel num_threads(2)
    {
        int thread = omp_get_thread_num();
        held[thread] = omp_get_num_threads() == 2 && hold_on(thread);
#pragma omp barrier
        for (int round = 0; round < ROUNDS && held[0] && held[1]; round++)
            round_of(seconds, round, a, bytes / 4);
    }
    mt_free(a, bytes, MT_CPU);
    if (!held[0] || !held[1]) {
        printf("bench sharing: skipped, there is only one processor to use\n");
        return 0;
    }
    printf("%s, %lld bytes, median of %d rounds\n", bench_machine(), (long long)bytes, ROUNDS);
    for (use what = 0; what < USES; what++) {
        qsort(seconds[what], ROUNDS, sizeof **seconds, by_size);
        gbs[what] = (double)bytes / seconds[what][ROUNDS / 2] * 1e-9;
        printf("  %-30s %8.1f us %8.1f GB/s\n", names[what], seconds[what][ROUNDS / 2] * 1e6, gbs[what]);
    }
    printf("bench sharing: read_own=%.1f read_changed=%.1f write_own=%.1f write_changed=%.1f write_shared=%.1f\n",
           gbs[READ_OWN], gbs[READ_CHANGED], gbs[WRITE_OWN], gbs[WRITE_CHANGED], gbs[WRITE_SHARED]);
    return 0;
}
