/* bench_views.c -- the cost of a view, and of a contiguous copy of it: lab 00's "measure it yourself".
 *
 * Times mt_copy_strided of the same 16.8 million floats through different views, compared with memcpy in the same
 * rounds, and mt_view_transpose itself. Bandwidth counts every byte as read once and written once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/storage.h"
#include "core/view.h"
#include "cli/cli.h"

enum { KINDS = 5, ROUNDS = 7 };

static const char *const names[KINDS] = { "memcpy", "contiguous", "every 2nd row", "every 2nd column", "transposed" };

typedef struct options {
    int64_t size;
} options;

static const mt_option flags[] = {
    { "size", 'n', "N", MT_I64(options, size, 2, 16384), "rows and columns of the matrix (4096)" },
    { 0 },
};

/* The view of kind k over an [n,n] matrix; halves have half the elements. */
static mt_view view_of(int k, int64_t n)
{
    mt_view whole = mt_view_contiguous(MT_SHAPE(n, n));
    if (k == 2)
        return mt_view_slice(&whole, 0, 0, n, 2);
    if (k == 3)
        return mt_view_slice(&whole, 1, 0, n, 2);
    return k == 4 ? mt_view_transpose(&whole, 0, 1) : whole;
}

static double time_copy(int k, float *to, const float *from, int64_t n)
{
    mt_view view = view_of(k, n);
    double begin = mt_now();
    if (k == 0)
        memcpy(to, from, (size_t)(n * n) * sizeof *to);
    else
        mt_copy_strided(to, from, &view, sizeof *to);
    return mt_now() - begin;
}

/* Nanoseconds of one mt_view_transpose; the sum keeps the compiler from leaving
 * it out. */
static double time_view(int64_t n)
{
    enum { CALLS = 1000000 };
    mt_view view = mt_view_contiguous(MT_SHAPE(n, n));
    volatile int64_t sum = 0;
    double begin = mt_now();
    for (int i = 0; i < CALLS; i++) {
        view = mt_view_transpose(&view, 0, 1);
        sum += view.stride[0];
    }
    return (mt_now() - begin) / CALLS * 1e9;
}

int main(int argc, char **argv)
{
    options o = { .size = 4096 };
    mt_cli_parse(argc, argv, "What a view costs, and what a copy of it costs.", flags, &o);
    int64_t n = o.size;
    int64_t bytes = n * n * (int64_t)sizeof(float);
    float *from = mt_alloc(bytes, MT_CPU), *to = mt_alloc(bytes, MT_CPU);
    double best[KINDS];
    memset(from, 0, (size_t)bytes);
    memset(to, 0, (size_t)bytes);
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < KINDS; k++) {
            double seconds = time_copy(k, to, from, n);
            best[k] = round == 0 || seconds < best[k] ? seconds : best[k];
        }
    }
    printf("%-18s %10s %8s %10s\n", "copy of", "elements", "GB/s", "of memcpy");
    double peak = 2.0 * (double)bytes / best[0] * 1e-9, share = 0;
    for (int k = 0; k < KINDS; k++) {
        mt_view view = view_of(k, n);
        double rate = 2.0 * (double)mt_view_numel(&view) * sizeof(float) / best[k] * 1e-9;
        share = rate / peak;
        printf("%-18s %10ld %8.2f %9.2fx\n", names[k], (long)mt_view_numel(&view), rate, share);
    }
    double view_ns = time_view(n);
    printf("making the transposed view itself: %.0f ns\n", view_ns);
    printf("bench views: transposed_copy=%.3f transpose_ns=%.1f\n", share, view_ns);
    mt_free(from, bytes, MT_CPU);
    mt_free(to, bytes, MT_CPU);
    return 0;
}
