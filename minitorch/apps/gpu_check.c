/* gpu_check.c -- what `make gpu-check` runs on a machine with a GPU: every case of the op table against its oracle, every
 * rung of the matmul ladder against the CPU's product, then times beside cuBLAS and a device-to-device copy.
 *
 *     gpu_check OUT [values]      writes OUT/report.md and OUT/report.json; with `values` nothing is timed
 *
 * A time is the least of ROUNDS, each from before the launch until the device is done. It exits 1 when a value is wrong. */
#include "core/scope.h"
#include "cuda/cuda.h"
#include "ops/kernels_cuda.h"
#include "ops/matmul_cuda.h"
#include "testing/compare.h"
#include "testing/op_cases.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 3, ROUNDS = 9, SIDE = 2048, LENGTH = 1 << 26 };

typedef struct report {
    FILE *md, *json;
    int64_t passed, failed;
} report;

static void note(report *r, const char *what, const char *complaint)
{
    r->passed += !complaint;
    r->failed += complaint != NULL;
    if (complaint) {
        printf("FAIL %s: %s\n", what, complaint);
        fprintf(r->md, "- FAIL %s: %s\n", what, complaint);
    }
}

/* ---- values --------------------------------------------------------------------------------------- */

static void check_ops(report *r)
{
    for (int64_t i = 0; i < mt_op_case_count; i++)
        for (mt_layout layout = MT_DENSE; layout <= MT_STRIDED; layout++) {
            mt_op_want *want = mt_op_want_new(&mt_op_cases[i], SEED + (uint64_t)i);
            want->device = MT_CUDA;
            note(r, mt_op_case_text(&mt_op_cases[i]), mt_op_trial(want, layout));
            mt_op_want_free(want);
        }
}

static float *sent(const float *here, int64_t n)
{
    float *there = mt_alloc(n * (int64_t)sizeof *there, MT_CUDA);
    mt_copy(there, MT_CUDA, here, MT_CPU, n * (int64_t)sizeof *there);
    return there;
}

/* Both sides round at most `side` products, each below 1; 16-bit operands are off by 2^-8 of themselves at most. */
static void check_rung(report *r, const mt_matmul_rung *rung, int64_t side)
{
    int64_t n = side * side, bytes = n * (int64_t)sizeof(float);
    const mt_matmul_dims d = { .M = side, .N = side, .K = side, .lda = side, .ldb = side, .ldc = side };
    float *a = mt_test_uniform(1, n, -1, 1), *b = mt_test_uniform(2, n, -1, 1), *want = malloc((size_t)bytes);
    float *got = malloc((size_t)bytes), *da = sent(a, n), *db = sent(b, n), *dc = sent(a, n);
    double *wanted = malloc((size_t)n * sizeof *wanted), *tolerance = malloc((size_t)n * sizeof *tolerance);
    MT_CHECK(want && got && wanted && tolerance, "out of memory");
    mt_matmul_parallel_cpu(want, a, b, &d);
    rung->run(dc, da, db, &d);
    mt_copy(got, MT_CPU, dc, MT_CUDA, bytes);
    double operands = strncmp(rung->name, "tensor", 6) == 0 ? 2 * 0x1p-8 : 0;
    for (int64_t i = 0; i < n; i++) {
        wanted[i] = (double)want[i];
        tolerance[i] = mt_tolerance(2 * (double)side, (double)side) + operands * (double)side;
    }
    note(r, rung->name, mt_compare("c", got, wanted, tolerance, n));
    mt_free(da, bytes, MT_CUDA), mt_free(db, bytes, MT_CUDA), mt_free(dc, bytes, MT_CUDA);
    free(a), free(b), free(want), free(got), free(wanted), free(tolerance);
}

/* ---- times ------------------------------------------------------------------------------------------ */

typedef struct bench {
    float *a, *b, *c;
    const mt_matmul_rung *rung;
    mt_matmul_dims dims;
} bench;

static void run_copy(const bench *b)
{
    mt_copy(b->c, MT_CUDA, b->a, MT_CUDA, (int64_t)LENGTH * (int64_t)sizeof(float));
}

static void run_saxpy(const bench *b)
{
    mt_saxpy_vector_cuda(b->c, b->a, LENGTH, 0.5f);
}

static void run_relu(const bench *b)
{
    mt_relu_fwd_cuda(b->c, b->a, LENGTH);
}

static void run_softmax(const bench *b)
{
    mt_softmax_fwd_cuda(b->c, b->a, LENGTH / 1024, 1024);
}

static void run_rung(const bench *b)
{
    b->rung->run(b->c, b->a, b->b, &b->dims);
}

static double least_seconds(void (*run)(const bench *b), const bench *b)
{
    double least = INFINITY;
    for (int round = 0; round <= ROUNDS; round++) { /* the first warms up */
        mt_cuda_sync();
        double begin = mt_now();
        run(b);
        mt_cuda_sync();
        if (round > 0)
            least = fmin(least, mt_now() - begin);
    }
    return least;
}

static void row(report *r, const char *name, double value, const char *unit, double share, const char *of)
{
    printf("%-12s %10.1f %s  %.2f of %s\n", name, value, unit, share, of);
    fprintf(r->md, "| %s | %.1f %s | %.2f of %s |\n", name, value, unit, share, of);
    fprintf(r->json, ",\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"share\": %.6g}", name, value, unit,
            share);
}

static void time_all(report *r)
{
    const struct {
        const char *name;
        void (*run)(const bench *b);
        int moves; /* floats an element */
    } passes[] = { { "saxpy", run_saxpy, 3 }, { "relu", run_relu, 2 }, { "softmax", run_softmax, 2 } };
    float *zeros = calloc(LENGTH, sizeof *zeros);
    MT_CHECK(zeros, "out of memory");
    bench b = { .a = sent(zeros, LENGTH), .b = sent(zeros, LENGTH), .c = sent(zeros, LENGTH) };
    b.dims = (mt_matmul_dims){ .M = SIDE, .N = SIDE, .K = SIDE, .lda = SIDE, .ldb = SIDE, .ldc = SIDE };
    double copy = 2 * 4.0 * LENGTH / least_seconds(run_copy, &b) / 1e9;
    row(r, "copy", copy, "GB/s", 1, "itself");
    for (int i = 0; i < MT_COUNT(passes); i++) {
        double rate = passes[i].moves * 4.0 * LENGTH / least_seconds(passes[i].run, &b) / 1e9;
        row(r, passes[i].name, rate, "GB/s", rate / copy, "copy");
    }
    double flops = 2.0 * SIDE * SIDE * SIDE, cublas = 0;
    b.rung = &(const mt_matmul_rung){ "cublas", "", mt_matmul_cublas };
    cublas = flops / least_seconds(run_rung, &b) / 1e9;
    for (b.rung = mt_matmul_ladder_cuda; b.rung->name; b.rung++) {
        double rate = flops / least_seconds(run_rung, &b) / 1e9;
        row(r, b.rung->name, rate, "GFLOP/s", rate / cublas, "cuBLAS f32");
    }
    mt_free(b.a, (int64_t)LENGTH * 4, MT_CUDA), mt_free(b.b, (int64_t)LENGTH * 4, MT_CUDA);
    mt_free(b.c, (int64_t)LENGTH * 4, MT_CUDA);
    free(zeros);
}

/* ---- the report --------------------------------------------------------------------------------------- */

static FILE *opened(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    MT_CHECK(file, "cannot write %s", path);
    return file;
}

int main(int argc, char **argv)
{
    if (argc < 2 || mt_device_open(MT_CUDA) != MT_OK) {
        fprintf(stderr, "gpu_check: %s\n", argc < 2 ? "usage: gpu_check OUT [values]" : mt_last_error());
        return 2;
    }
    report r = { .md = opened(argv[1], "report.md"), .json = opened(argv[1], "report.json") };
    fprintf(r.md, "# gpu-check\n\n## Values\n\n");
    check_ops(&r);
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cuda; rung->name; rung++)
        for (int64_t side = 1; side <= 200; side = 3 * side + 4)
            check_rung(&r, rung, side);
    fprintf(r.md, "%" PRId64 " passed, %" PRId64 " failed\n", r.passed, r.failed);
    fprintf(r.json, "[\n  {\"name\": \"values\", \"passed\": %" PRId64 ", \"failed\": %" PRId64 "}", r.passed,
            r.failed);
    if (argc < 3) {
        fprintf(r.md, "\n## Times\n\n| kernel | rate | share |\n|---|---|---|\n");
        time_all(&r);
    }
    fprintf(r.json, "\n]\n");
    printf("gpu-check: %" PRId64 " passed, %" PRId64 " failed\n", r.passed, r.failed);
    return fclose(r.md) || fclose(r.json) || r.failed > 0;
}
