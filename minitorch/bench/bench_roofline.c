/* bench_roofline.c -- lab 01's "measure it yourself": products in the roofline model of this machine.
 *
 *   attainable FLOP/s = min(peak FLOP/s, arithmetic intensity * memory bandwidth)
 *
 * One matrix of weights [4096,4096] is multiplied by a batch of 1, 2, 4 ... rows. At batch 1 each weight is loaded for
 * one multiply-add; the larger the batch, the more often it is used per load. Peak and bandwidth are measured first.
 * Source: Williams, Waterman, Patterson 2009, CACM 52(4), "Roofline". */
#include <inttypes.h>
#include <omp.h>
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "core/rng.h"
#include "core/storage.h"
#include "kernels/matmul.h"
#include "prof/mfu.h"

enum { WIDE = 4096, LARGEST = 1024, ROUNDS = 7 };

typedef struct options {
    int64_t threads;
    const char *csv;
} options;

static const mt_option flags[] = {
    { "threads", 't', "N", MT_I64(options, threads, 1, 1024), "threads (1)" },
    { "csv", 'c', "FILE", MT_TEXT(options, csv), "also write the table as CSV" },
    { 0 },
};

/* B/s of y[i] = a x[i] + y[i] over arrays far larger than the caches: 12 B an element (read x, read y, write y); the
 * best of several rounds. */
static double measure_bandwidth(int threads)
{
    const int64_t n = 32 << 20; /* two arrays of 128 MiB */
    float *x = mt_alloc(n * 4, MT_CPU), *y = mt_alloc(n * 4, MT_CPU);
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = mt_now();
#pragma omp parallel for num_threads(threads) schedule(static)
        for (int64_t i = 0; i < n; i++) {
            if (round == 0) /* first touch: memory near the thread that uses it */
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

/* The fastest of several products of [batch,WIDE] and [WIDE,WIDE], in seconds. */
static double time_product(float *c, const float *a, const float *b, int64_t batch)
{
    double best = 1e30;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = mt_now();
        mt_matmul_cpu(c, a, b, batch, WIDE, WIDE, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
        bench_keep_least(&best, mt_now() - begin);
    }
    return best;
}

static void print_rows(FILE *csv, double peak, double bandwidth)
{
    int64_t weights = (int64_t)WIDE * WIDE, rows = (int64_t)LARGEST * WIDE;
    float *a = mt_alloc(rows * 4, MT_CPU), *b = mt_alloc(weights * 4, MT_CPU), *c = mt_alloc(rows * 4, MT_CPU);
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST);
    mt_rng_fill_uniform(&rng, a, rows, -1, 1);
    mt_rng_fill_uniform(&rng, b, weights, -1, 1);
    printf("%6s %12s %10s %12s %8s\n", "batch", "FLOP/byte", "GFLOP/s", "attainable", "reached");
    for (int64_t batch = 1; batch <= LARGEST; batch *= 2) {
        double flops = 2.0 * (double)batch * WIDE * WIDE,
               bytes = 4.0 * ((double)WIDE * WIDE + 2.0 * (double)batch * WIDE);
        double intensity = flops / bytes, roof = intensity * bandwidth < peak ? intensity * bandwidth : peak;
        double rate = flops / time_product(c, a, b, batch);
        printf("%6" PRId64 " %12.2f %10.1f %12.1f %7.0f%%\n", batch, intensity, rate * 1e-9, roof * 1e-9,
               100 * rate / roof);
        if (csv)
            fprintf(csv, "%" PRId64 ",%.4f,%.3f,%.3f\n", batch, intensity, rate * 1e-9, roof * 1e-9);
    }
    mt_free(a, rows * 4, MT_CPU);
    mt_free(b, weights * 4, MT_CPU);
    mt_free(c, rows * 4, MT_CPU);
}

int main(int argc, char **argv)
{
    options o = { .threads = 1 };
    mt_cli_parse(argc, argv, "Products of growing batches under this machine's roofs.", flags, &o);
    FILE *csv = bench_csv_open(o.csv, "batch,flop_per_byte,gflops,attainable");
    omp_set_num_threads((int)o.threads);
    double peak = mt_machine_flops((int)o.threads), bandwidth = measure_bandwidth((int)o.threads);
    printf("%s; %" PRId64 " threads\n", bench_machine(), o.threads);
    printf("peak %.1f GFLOP/s, memory %.1f GB/s: they meet at %.1f FLOP/byte\n", peak * 1e-9, bandwidth * 1e-9,
           peak / bandwidth);
    print_rows(csv, peak, bandwidth);
    printf("bench roofline: peak_gflops=%.1f bandwidth_gbs=%.1f ridge=%.2f\n", peak * 1e-9, bandwidth * 1e-9,
           peak / bandwidth);
    bench_csv_close(csv, o.csv);
    return 0;
}
