/* gpu_times.c -- make gpu-check: times of every kernel of lab 06, conversions and unscaling beside a device-to-device
 * copy, the ladder of lab 07 beside cuBLAS, the FLOPs of lab 11's attention, its bias + GELU.
 *
 *     gpu_times OUT [SECONDS]      writes OUT/times.md and OUT/times.json
 *
 * A time is the minimum of ROUNDS, each from before the launch until the device is done. What does not fit in SECONDS
 * (default 60) is named and skipped. In the emulator everything runs at small sizes, to be tested; its times are
 * meaningless. */
#include "amp/kernels_16bit.h"
#include "bench/gpu_report.h"
#include "cuda/cuda.h"
#include "cuda/kernels.h"
#include "cuda/kernels_cuda.h"
#include "cuda/matmul_cuda.h"
#include "fused/kernels_cuda.h"
#include "optim/updates_cuda.h"
#include "testing/matmul_ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 9, COLS = 1024, IDS = 1000, HEADS = 4, WIDTH = 256 };

/* Four arrays of n floats on the device, an id for each of their rows of COLS, scratch; and what a timed run needs
 * besides. */
typedef struct bench {
    float *x[4], *scratch;
    int32_t *id;
    int64_t n, rows;
    int64_t side; /* of the ladder's products */
    const mt_matmul_rung *rung;
    mt_hyper hyper;
    int rounds; /* timed, after one that warms up */
    double end; /* mt_now() after which nothing is begun */
} bench;

#define RUN(name, call)                    \
    static void run_##name(const bench *b) \
    {                                      \
        call;                              \
    }
RUN(copy, mt_copy(b->x[0], MT_CUDA, b->x[1], MT_CUDA, 4 * b->n))
RUN(fill, mt_fill_cuda(b->x[0], b->n, 1))
RUN(saxpy_scalar, mt_saxpy_scalar_cuda(b->x[0], b->x[1], b->n, 0.5f))
RUN(saxpy_vector, mt_saxpy_vector_cuda(b->x[0], b->x[1], b->n, 0.5f))
RUN(relu, mt_relu_fwd_cuda(b->x[0], b->x[1], b->n))
RUN(relu_back, mt_relu_bwd_cuda(b->x[0], b->x[1], b->x[2], b->n))
RUN(gelu, mt_gelu_fwd_cuda(b->x[0], b->x[1], b->n))
RUN(bias_gelu, mt_bias_gelu_fwd_cuda(b->x[0], b->x[1], b->x[2], b->rows, COLS))
RUN(bias_gelu_back, mt_bias_gelu_bwd_cuda(b->x[0], b->scratch, b->x[1], b->x[2], b->x[3], b->rows, COLS))
RUN(transpose_naive, mt_transpose_naive_cuda(b->x[0], b->x[1], b->rows, COLS))
RUN(transpose_tiled, mt_transpose_tiled_cuda(b->x[0], b->x[1], b->rows, COLS))
RUN(sum_interleaved, mt_sum_interleaved_cuda(b->scratch, b->scratch + 1, b->x[0], b->n))
RUN(sum_sequential, mt_sum_sequential_cuda(b->scratch, b->scratch + 1, b->x[0], b->n))
RUN(sum_shuffle, mt_sum_shuffle_cuda(b->scratch, b->scratch + 1, b->x[0], b->n))
RUN(row_sum, mt_row_sum_cuda(b->x[0], b->x[1], b->rows, COLS))
RUN(row_max, mt_row_max_cuda(b->x[0], b->x[1], b->rows, COLS))
RUN(softmax, mt_softmax_fwd_cuda(b->x[0], b->x[1], b->rows, COLS))
RUN(softmax_back, mt_softmax_bwd_cuda(b->x[0], b->x[1], b->x[2], b->rows, COLS))
RUN(layernorm,
    mt_layernorm_fwd_cuda(b->x[0], b->x[2], b->x[2] + b->rows, b->x[1], b->x[3], b->x[3], b->rows, COLS, 1e-5f))
RUN(layernorm_dx,
    mt_layernorm_bwd_cuda(b->x[0], NULL, NULL, b->x[1], b->x[2], b->x[3], b->x[3], b->x[3], b->rows, COLS))
RUN(layernorm_dgamma, mt_layernorm_bwd_cuda(NULL, b->scratch, b->scratch + COLS, b->x[1], b->x[2], b->x[3], b->x[3],
                                            b->x[3], b->rows, COLS))
RUN(gather, mt_gather_rows_fwd_cuda(b->x[0], b->x[1], b->id, b->rows, IDS, COLS))
RUN(scatter_add, mt_gather_rows_bwd_cuda(b->x[0], b->x[1], b->id, b->rows, IDS, COLS))
RUN(histogram_global, mt_histogram_global_cuda((int64_t *)b->scratch, (const uint8_t *)b->x[1], b->n))
RUN(histogram_private, mt_histogram_private_cuda((int64_t *)b->scratch, (const uint8_t *)b->x[1], b->n))

static void run_cublas_bf16(const bench *b)
{
    const mt_matmul_dims d = mt_dense_dims(b->side, b->side, b->side, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    mt_matmul16_cuda(b->x[0], b->x[1], b->x[2], MT_BF16, &d);
}

static void run_add_row(const bench *b)
{
    const mt_strided x = { b->x[1], { 2, { b->rows, COLS }, { COLS, 1 }, 0 } };
    const mt_strided row = { b->x[2], { 2, { b->rows, COLS }, { 0, 1 }, 0 } };
    mt_add_fwd_cuda(b->x[0], &x, &row);
}

RUN(to_bf16, mt_convert_cuda(b->x[0], MT_BF16, b->x[1], MT_F32, b->n))
RUN(from_bf16, mt_convert_cuda(b->x[0], MT_F32, b->x[1], MT_BF16, b->n))
RUN(unscale, mt_unscale_grads_cuda(&(mt_grad_array){ b->x[1], b->n }, 1, 2, INFINITY))

static void run_adamw(const bench *b)
{
    mt_update u = { b->x[0], b->x[1], { b->x[2], b->x[3] }, .rows = 1, .cols = b->n, .step = 1, .hyper = &b->hyper };
    mt_adamw_update_cuda(&u);
}

static void run_rung(const bench *b)
{
    const mt_matmul_dims d = mt_dense_dims(b->side, b->side, b->side, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    b->rung->run(b->x[0], b->x[1], b->x[2], &d);
}

/* Texts of `side` tokens with 4 heads of 64 columns. */
static int64_t texts(const bench *b)
{
    return b->n / (b->side * 3 * WIDTH);
}
RUN(attention, mt_attention_fwd_cuda(b->x[0], b->x[2], b->x[1], texts(b), b->side, WIDTH, HEADS))
RUN(attention_bf16, mt_attention_bf16_fwd_cuda(b->x[0], b->x[2], (void *)b->x[1], texts(b), b->side, WIDTH, HEADS))
RUN(attention_back, mt_attention_bwd_cuda(b->x[0], b->x[3], b->x[1], b->x[3], b->x[2], texts(b), b->side, WIDTH, HEADS))

/* Bytes that the formula moves for each element. */
static const struct {
    const char *name;
    void (*run)(const bench *b);
    int bytes;
} passes[] = { { "fill", run_fill, 4 },
               { "saxpy", run_saxpy_scalar, 12 },
               { "saxpy by fours", run_saxpy_vector, 12 },
               { "relu", run_relu, 8 },
               { "relu backward", run_relu_back, 16 },
               { "gelu", run_gelu, 8 },
               { "add a row", run_add_row, 8 },
               { "bias and gelu", run_bias_gelu, 8 },
               { "bias and gelu backward", run_bias_gelu_back, 16 },
               { "transpose", run_transpose_naive, 8 },
               { "tiled transpose", run_transpose_tiled, 8 },
               { "tree sum", run_sum_interleaved, 4 },
               { "tree sum without conflicts", run_sum_sequential, 4 },
               { "shuffled sum", run_sum_shuffle, 4 },
               { "row sum", run_row_sum, 4 },
               { "row maximum", run_row_max, 4 },
               { "softmax", run_softmax, 8 },
               { "softmax backward", run_softmax_back, 16 },
               { "layernorm", run_layernorm, 8 },
               { "layernorm dx", run_layernorm_dx, 16 },
               { "layernorm dgamma, dbeta", run_layernorm_dgamma, 8 },
               { "gather rows", run_gather, 8 },
               { "scatter-add", run_scatter_add, 8 },
               { "histogram", run_histogram_global, 1 },
               { "private histogram", run_histogram_private, 1 },
               { "adamw", run_adamw, 28 },
               { "f32 to bf16", run_to_bf16, 6 },
               { "bf16 to f32", run_from_bf16, 6 },
               { "unscale", run_unscale, 12 } };

/* The minimum of b->rounds; 0 when there is no time left. */
static double least_seconds(void (*run)(const bench *b), const bench *b)
{
    double least = INFINITY;
    for (int round = b->rounds > 1 ? 0 : 1; round <= b->rounds && mt_now() < b->end; round++) {
        mt_cuda_sync();
        double begin = mt_now();
        run(b);
        mt_cuda_sync();
        if (round > 0)
            least = fmin(least, mt_now() - begin);
    }
    return isfinite(least) ? least : 0;
}

/* A row of the report; returns the rate, 0 when it was cut off. */
static double row(gpu_report *r, const bench *b, const char *name, void (*run)(const bench *b), double work,
                  const char *unit, double whole, const char *of)
{
    double seconds = least_seconds(run, b), rate = seconds > 0 ? work / seconds / 1e9 : 0;
    if (rate == 0) {
        printf("%-28s cut off: no time left\n", name);
        fprintf(r->md, "| %s | cut off: no time left | |\n", name);
        return 0;
    }
    double share = whole > 0 ? rate / whole : 1;
    printf("%-28s %10.1f %s  %.2f of %s\n", name, rate, unit, share, of);
    fprintf(r->md, "| %s | %.1f %s | %.2f of %s |\n", name, rate, unit, share, of);
    fprintf(r->json, "{\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", \"share\": %.6g, \"of\": \"%s\"}\n", name,
            rate, unit, share, of);
    return rate;
}

/* The ladder at one side: f32 rungs beside cuBLAS in f32, those on tensor cores beside cuBLAS in bf16. */
static void time_ladder(gpu_report *r, bench *b, int64_t side, bool tensor_only)
{
    static const mt_matmul_rung f32 = { "cublas", "", mt_matmul_cublas };
    double flops = 2.0 * (double)side * (double)side * (double)side, whole = 0;
    char name[64];
    b->side = side, b->rung = &f32;
    for (int tensor = tensor_only; tensor < 2; tensor++) {
        const char *of = tensor ? "cuBLAS bf16" : "cuBLAS f32";
        snprintf(name, sizeof name, "%s %" PRId64 "^3", of, side);
        whole = row(r, b, name, tensor ? run_cublas_bf16 : run_rung, flops, "GFLOP/s", 0, "itself");
        for (b->rung = mt_matmul_ladder_cuda; b->rung->run != mt_matmul_cublas; b->rung++) {
            if ((strncmp(b->rung->name, "tensor", 6) == 0) != tensor)
                continue;
            snprintf(name, sizeof name, "%s %" PRId64 "^3", b->rung->name, side);
            row(r, b, name, run_rung, flops, "GFLOP/s", whole, of);
        }
        b->rung = &f32;
    }
}

/* The causal half of two products forward, five backward. */
static void time_attention(gpu_report *r, bench *b, int64_t tokens)
{
    b->side = tokens;
    double flops = 2.0 * (double)(texts(b) * tokens * (tokens + 1) * WIDTH);
    double forward = row(r, b, "attention", run_attention, flops, "GFLOP/s", 0, "itself");
    row(r, b, "attention in bf16", run_attention_bf16, flops, "GFLOP/s", forward, "f32");
    row(r, b, "attention backward", run_attention_back, 2.5 * flops, "GFLOP/s", forward, "forward");
}

static void time_all(gpu_report *r, double seconds)
{
    const bool emulated = mt_cuda_is_emulated();
    bench b = { .n = emulated ? 1 << 16 : 1 << 26, .hyper = mt_hyper_default(MT_ADAMW), .end = mt_now() + seconds };
    b.rounds = emulated ? 1 : ROUNDS;
    b.rows = b.n / COLS;
    float *numbers = malloc((size_t)b.n * sizeof *numbers);
    int32_t *id = malloc((size_t)b.rows * sizeof *id);
    MT_CHECK(numbers && id, "out of memory");
    for (int64_t i = 0; i < b.n; i++)
        numbers[i] = (float)((uint32_t)i * 2654435761u) * 0x1p-32f; /* bytes of all values, for the histograms */
    for (int64_t i = 0; i < b.rows; i++)
        id[i] = (int32_t)(i * 37 % (emulated ? b.rows : IDS));
    for (int i = 0; i < MT_COUNT(b.x); i++)
        b.x[i] = gpu_sent(numbers, b.n);
    b.scratch = gpu_sent(numbers, 4 * COLS);
    b.id = mt_alloc(b.rows * (int64_t)sizeof *id, MT_CUDA);
    mt_copy(b.id, MT_CUDA, id, MT_CPU, b.rows * (int64_t)sizeof *id);
    double copy = row(r, &b, "copy", run_copy, 8.0 * (double)b.n, "GB/s", 0, "itself");
    for (int i = 0; i < MT_COUNT(passes); i++)
        row(r, &b, passes[i].name, passes[i].run, passes[i].bytes * (double)b.n, "GB/s", copy, "copy");
    time_ladder(r, &b, emulated ? 128 : 2048, false);
    time_ladder(r, &b, emulated ? 256 : 4096, true);
    time_attention(r, &b, emulated ? 64 : 1024);
    for (int i = 0; i < MT_COUNT(b.x); i++)
        mt_free(b.x[i], 4 * b.n, MT_CUDA);
    mt_free(b.scratch, 4 * (4 * COLS), MT_CUDA);
    mt_free(b.id, b.rows * (int64_t)sizeof *id, MT_CUDA);
    free(numbers), free(id);
}

int main(int argc, char **argv)
{
    gpu_report r = gpu_report_begin(argc, argv, "times");
    fprintf(r.md, "## Times\n\n| kernel | rate | share |\n|---|---|---|\n");
    time_all(&r, argc > 2 ? atof(argv[2]) : 60);
    return gpu_report_end(&r);
}
