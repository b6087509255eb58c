/* gpu_values.c -- make gpu-check: what the device computes, against oracles and the CPU: every case of the op table,
 * every step of the matmul ladder, conversions between f32 and 16 bits, attention in bf16 and with a cache of keys and
 * values, and ten steps of every update rule.
 *
 *     gpu_values OUT      writes OUT/values.md and OUT/values.json; exits with 1 if a value is wrong */
#include "amp/kernels_16bit.h"
#include "bench/gpu_report.h"
#include "core/scope.h"
#include "cuda/cuda.h"
#include "fused/kernels_cuda.h"
#include "models/kernels_gpt2.h"
#include "optim/updates_cuda.h"
#include "testing/compare.h"
#include "testing/matmul_ladder.h"
#include "testing/op_cases.h"
#include "testing/update_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 3 };

static void check_ops(gpu_report *r)
{
    for (int64_t i = 0; i < mt_op_case_count; i++)
        for (mt_layout layout = MT_DENSE; layout <= MT_STRIDED; layout++) {
            mt_op_want *want = mt_op_want_new(&mt_op_cases[i], SEED + (uint64_t)i);
            want->device = MT_CUDA;
            gpu_report_note(r, mt_op_case_text(&mt_op_cases[i]), mt_op_trial(want, layout));
            mt_op_want_free(want);
        }
}

/* Both sides round at most `side` products, each below 1; 16-bit operands are off by 2^-8 of themselves at most. */
static void check_rung(gpu_report *r, const mt_matmul_rung *rung, int64_t side)
{
    int64_t n = side * side, bytes = n * (int64_t)sizeof(float);
    const mt_matmul_dims d = { .M = side, .N = side, .K = side, .lda = side, .ldb = side, .ldc = side };
    float *a = mt_test_uniform(1, n, -1, 1), *b = mt_test_uniform(2, n, -1, 1), *want = malloc((size_t)bytes);
    float *got = malloc((size_t)bytes), *da = gpu_sent(a, n), *db = gpu_sent(b, n), *dc = gpu_sent(a, n);
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
    gpu_report_note(r, rung->name, mt_compare("c", got, wanted, tolerance, n));
    mt_free(da, bytes, MT_CUDA), mt_free(db, bytes, MT_CUDA), mt_free(dc, bytes, MT_CUDA);
    free(a), free(b), free(want), free(got), free(wanted), free(tolerance);
}

static bool is_nan(mt_dtype dtype, const void *x, int64_t i)
{
    return isnan(mt_load_f64(x, dtype, i));
}

/* 65536 numbers from one type to another: exactly as on the CPU, but for which NaN. */
static void check_conversion(gpu_report *r, mt_dtype to, mt_dtype from, const void *x)
{
    enum { N = 1 << 16 };
    char name[32];
    int64_t bytes_in = N * mt_dtype_size(from), bytes = N * mt_dtype_size(to), wrong = 0;
    uint8_t *want = malloc((size_t)bytes), *got = malloc((size_t)bytes);
    void *there = mt_alloc(bytes_in, MT_CUDA), *out = mt_alloc(bytes, MT_CUDA);
    MT_CHECK(want && got, "out of memory");
    mt_convert_cpu(want, to, x, from, N);
    mt_copy(there, MT_CUDA, x, MT_CPU, bytes_in);
    mt_convert_cuda(out, to, there, from, N);
    mt_copy(got, MT_CPU, out, MT_CUDA, bytes);
    for (int64_t i = 0; i < N; i++)
        wrong += memcmp(want + i * mt_dtype_size(to), got + i * mt_dtype_size(to), (size_t)mt_dtype_size(to)) != 0 &&
                 !(is_nan(to, want, i) && is_nan(to, got, i));
    snprintf(name, sizeof name, "%s to %s", mt_dtype_name(from), mt_dtype_name(to));
    gpu_report_note(r, name, wrong ? "another result than on the CPU" : NULL);
    mt_free(there, bytes_in, MT_CUDA), mt_free(out, bytes, MT_CUDA);
    free(want), free(got);
}

/* All numbers of 16 bits; f32 of every sign and exponent with random mantissas. */
static void check_conversions(gpu_report *r)
{
    enum { N = 1 << 16 };
    mt_rng rng = mt_rng_new(SEED, MT_STREAM_TEST);
    uint16_t *half = malloc(N * sizeof *half);
    uint32_t *wide = malloc(N * sizeof *wide);
    MT_CHECK(half && wide, "out of memory");
    for (uint32_t i = 0; i < N; i++) {
        half[i] = (uint16_t)i;
        wide[i] = i << 16 | (mt_rng_u32(&rng) & 0xffff);
    }
    for (int k = 0; k < 2; k++) {
        mt_dtype type = k ? MT_F16 : MT_BF16;
        check_conversion(r, MT_F32, type, half);
        check_conversion(r, type, MT_F32, wide);
    }
    free(half), free(wide);
}

/* ---- attention, update rules ------------------------------------------------------------------------ */

/* Texts of T tokens in bf16. Weights near the middle between two bf16 numbers may be rounded to either, which is 2^-8
 * of them; values are below 1. */
static void check_attention_bf16(gpu_report *r, int64_t T, int64_t D)
{
    enum { B = 2, H = 3 };
    int64_t C = H * D, n = B * T * C;
    if (!mt_attention_bf16_pays_cuda(C, H)) {
        fprintf(r->md, "- not computed: attention in bf16, of which a block needs more than the device has\n");
        return;
    }
    float *drawn = mt_test_uniform(SEED, 3 * n, -1, 1), *want = malloc((size_t)n * sizeof *want);
    float *saved = malloc((size_t)(2 * B * H * T) * sizeof *saved), *got = malloc((size_t)n * sizeof *got);
    double *wanted = malloc((size_t)n * sizeof *wanted), *tolerance = malloc((size_t)n * sizeof *tolerance);
    mt_bf16 *qkv = malloc((size_t)(3 * n) * sizeof *qkv);
    MT_CHECK(want && saved && got && wanted && tolerance && qkv, "out of memory");
    mt_convert_cpu(qkv, MT_BF16, drawn, MT_F32, 3 * n);
    mt_attention_bf16_fwd_cpu(want, saved, qkv, B, T, C, H);
    void *there = mt_alloc(6 * n, MT_CUDA);
    float *out = gpu_sent(got, n), *kept = gpu_sent(saved, 2 * B * H * T);
    mt_copy(there, MT_CUDA, qkv, MT_CPU, 6 * n);
    mt_attention_bf16_fwd_cuda(out, kept, there, B, T, C, H);
    mt_copy(got, MT_CPU, out, MT_CUDA, 4 * n);
    for (int64_t i = 0; i < n; i++) {
        wanted[i] = (double)want[i];
        tolerance[i] = 0x1p-8;
    }
    gpu_report_note(r, "attention in bf16", mt_compare("out", got, wanted, tolerance, n));
    mt_free(there, 6 * n, MT_CUDA), mt_free(out, 4 * n, MT_CUDA), mt_free(kept, 8 * B * H * T, MT_CUDA);
    free(drawn), free(want), free(saved), free(got), free(wanted), free(tolerance), free(qkv);
}

/* One token after another with a cache, as on the CPU. A score has D roundings, an exponential those and the C
 * library's, and a mean 2 (place + 1) more, in both computations. */
static void check_attention_cached(gpu_report *r, int64_t places, int64_t D)
{
    int64_t C = 2 * D, row = 3 * C;
    float *drawn = mt_test_uniform(SEED, places * row, -1, 1), *want = malloc((size_t)C * sizeof *want);
    float *cache = malloc((size_t)(places * 2 * C) * sizeof *cache), *got = malloc((size_t)C * sizeof *got);
    double *wanted = malloc((size_t)C * sizeof *wanted), *tolerance = malloc((size_t)C * sizeof *tolerance);
    MT_CHECK(want && cache && got && wanted && tolerance, "out of memory");
    memset(cache, 0, (size_t)(places * 2 * C) * sizeof *cache);
    float *qkv = gpu_sent(drawn, places * row), *kept = gpu_sent(cache, places * 2 * C), *out = gpu_sent(drawn, C);
    const char *complaint = NULL;
    for (int64_t i = 0; i < places && !complaint; i++) {
        mt_attention_cached_cpu(want, cache, drawn + i * row, i, C, 2);
        mt_gpt2_kernels(MT_CUDA)->attention_cached(out, kept, qkv + i * row, i, C, 2);
        mt_copy(got, MT_CPU, out, MT_CUDA, 4 * C);
        for (int64_t c = 0; c < C; c++) {
            wanted[c] = (double)want[c];
            tolerance[c] = 2 * mt_tolerance((double)(2 * D + 2 * MT_LIBM_ROUNDINGS + 2 * (i + 1)), 1);
        }
        complaint = mt_compare("out", got, wanted, tolerance, C);
    }
    gpu_report_note(r, "attention with a cache", complaint);
    mt_free(qkv, 4 * places * row, MT_CUDA), mt_free(kept, 8 * places * C, MT_CUDA), mt_free(out, 4 * C, MT_CUDA);
    free(drawn), free(want), free(cache), free(got), free(wanted), free(tolerance);
}

static void check_update(gpu_report *r, mt_update_kind kind, mt_update_fn *update, int64_t n)
{
    enum { STEPS = 10 };
    mt_hyper hyper = mt_hyper_default(kind);
    float *param = mt_test_uniform(1, n, -1, 1), *state[MT_UPDATE_STATES], *zeros = mt_calloc(n, sizeof *zeros);
    mt_update_oracle *oracle = mt_update_oracle_new(kind, hyper, 1, n, param);
    mt_update u = { gpu_sent(param, n), NULL, .rows = 1, .cols = n, .hyper = &hyper };
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        u.state[s] = gpu_sent(zeros, n);
        state[s] = mt_calloc(n, sizeof *state[s]);
    }
    for (u.step = 1; u.step <= STEPS; u.step++) {
        float *grad = mt_test_uniform(1 + (uint64_t)u.step, n, -1, 1), *there = gpu_sent(grad, n);
        u.grad = there;
        update(&u);
        mt_update_oracle_step(oracle, grad);
        mt_free(there, 4 * n, MT_CUDA);
        free(grad);
    }
    mt_copy(param, MT_CPU, u.param, MT_CUDA, 4 * n);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        mt_copy(state[s], MT_CPU, u.state[s], MT_CUDA, 4 * n);
    gpu_report_note(r, "update rule", mt_update_oracle_check(oracle, param, state));
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        mt_free(u.state[s], 4 * n, MT_CUDA);
        free(state[s]);
    }
    mt_free(u.param, 4 * n, MT_CUDA);
    mt_update_oracle_free(oracle);
    free(param), free(zeros);
}

static void check_updates(gpu_report *r)
{
    static const struct {
        mt_update_kind kind;
        mt_update_fn *update;
    } rule[] = { { MT_SGD, mt_sgd_update_cuda }, { MT_ADAM, mt_adam_update_cuda }, { MT_ADAMW, mt_adamw_update_cuda } };
    for (int i = 0; i < MT_COUNT(rule); i++)
        for (int64_t n = 1; n < 70000; n = 31 * n + 2)
            check_update(r, rule[i].kind, rule[i].update, n);
}

int main(int argc, char **argv)
{
    static const int64_t heads[][2] = {
        { 1, 8 }, { 33, 31 }, { 70, 64 }, { 130, 128 }
    }; /* tokens, columns of a head */
    gpu_report r = gpu_report_begin(argc, argv, "values");
    fprintf(r.md, "## Values\n\n");
    check_ops(&r);
    check_conversions(&r);
    for (const mt_matmul_rung *rung = mt_matmul_ladder_cuda; rung->name; rung++)
        for (int64_t side = 1; side <= 200; side = 3 * side + 4)
            check_rung(&r, rung, side);
    for (int i = 0; i < MT_COUNT(heads); i++) {
        check_attention_bf16(&r, heads[i][0], heads[i][1]);
        check_attention_cached(&r, heads[i][0], heads[i][1]);
    }
    check_updates(&r);
    gpu_report_verdict(&r, "values");
    return gpu_report_end(&r);
}
