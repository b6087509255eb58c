/* test_lab06.cu -- every kernel of lab 06 against an oracle in double: sizes 0, 1 and primes, any alignment of
 * pointers, every step of every ladder. Runs on a GPU, and in the emulator in both builds and both orders of threads.
 *
 * Tolerances count roundings (testing/compare.h): a sum of n terms has at most n, in any order of additions; expf and
 * erff count MT_LIBM_ROUNDINGS: the maximum error of CUDA's is 2 units too (CUDA C++ Programming Guide, "Mathematical
 * Functions"). */
#include "cuda/kernels_cuda.h"
#include "optim/updates_cuda.h"
#include "testing/update_oracle.h"
#include "tests/cuda/arrays.h"

#include <math.h>

/* rules.c names it. It has no CUDA kernel to compare, and would need the CPU's products. */
extern "C" void mt_muon_update_cpu(const mt_update *)
{
}

/* An array as f32 on the host with its initial values, the expected result, and the tolerance. */
typedef struct wanted {
    double *value, *tolerance;
} wanted;

static wanted want(int64_t n)
{
    return { (double *)host_array(n, sizeof(double)), (double *)host_array(n, sizeof(double)) };
}

static void check(const char *name, const float *device, wanted w, int64_t N, int64_t C)
{
    verdict(mt_compare(name, from_device(device, N * C), w.value, w.tolerance, N * C), name, N, C);
}

static void check_bits(const char *name, const float *device, const float *host, int64_t N, int64_t C)
{
    verdict(mt_compare_bits(name, from_device(device, N * C), host, N * C), name, N, C);
}

/* ---- elements: N is 1 --------------------------------------------------------------------------- */

static void fill(int64_t, int64_t n, int shift)
{
    float *out = unwritten(n, shift), *host = (float *)host_array(n, sizeof *host);
    for (int64_t i = 0; i < n; i++)
        host[i] = 2.5f;
    mt_fill_cuda(out, n, 2.5f);
    check_bits("fill", out, host, 1, n);
}

static void saxpy(int64_t, int64_t n, int shift)
{
    for (const mt_saxpy_rung *rung = mt_saxpy_ladder_cuda; rung->name; rung++) {
        float *x = numbers(1, n, -1, 1), *y = numbers(2, n, -1, 1), *on = to_device(y, n, shift % 2);
        wanted w = want(n);
        for (int64_t i = 0; i < n; i++) {
            w.value[i] = y[i] + 0.7f * (double)x[i];
            w.tolerance[i] = mt_tolerance(2, fabs(y[i]) + fabs(x[i]));
        }
        rung->run(on, to_device(x, n, shift), n, 0.7f); /* y may be aligned where x is not */
        check(rung->name, on, w, 1, n);
    }
}

static void relu(int64_t, int64_t n, int shift)
{
    float *x = numbers(3, n, -1, 1), *dout = numbers(4, n, -1, 1), *dx = numbers(5, n, -1, 1);
    if (n > 2)
        x[2] = NAN;
    float *on_x = to_device(x, n, 0), *on_dx = to_device(dx, n, shift);
    mt_relu_bwd_cuda(on_dx, to_device(dout, n, 1), on_x, n);
    mt_relu_fwd_cuda(on_x, on_x, n);
    for (int64_t i = 0; i < n; i++) {
        dx[i] += x[i] <= 0 ? 0 : dout[i];
        x[i] = x[i] < 0 ? 0 : x[i];
    }
    check_bits("relu backward", on_dx, dx, 1, n);
    check_bits("relu", on_x, x, 1, n);
}

/* Phi is wrong by libm's roundings of 1, its argument's, and two of its own; the density by those of its exponent. */
static void gelu(int64_t, int64_t n, int shift)
{
    float *x = numbers(6, n, -6, 6), *dout = numbers(7, n, -1, 1), *dx = numbers(8, n, -1, 1);
    float *on_x = to_device(x, n, shift), *on_dx = to_device(dx, n, 0), *out = unwritten(n, 0);
    wanted w = want(n), dw = want(n);
    for (int64_t i = 0; i < n; i++) {
        double Phi = 0.5 * erfc(-x[i] * sqrt(0.5)), slope = Phi + x[i] * exp(-0.5 * x[i] * x[i]) * 0.3989422804014327;
        w.value[i] = x[i] * Phi;
        w.tolerance[i] = mt_tolerance(MT_LIBM_ROUNDINGS + 4, fabs(x[i]));
        dw.value[i] = dx[i] + dout[i] * slope;
        dw.tolerance[i] = mt_tolerance(2 * MT_LIBM_ROUNDINGS + 12, fabs(dx[i]) + fabs(dout[i]) * (1 + fabs(x[i])));
    }
    mt_gelu_fwd_cuda(out, on_x, n);
    mt_gelu_bwd_cuda(on_dx, to_device(dout, n, shift), on_x, n);
    check("gelu", out, w, 1, n);
    check("gelu backward", on_dx, dw, 1, n);
}

static void histogram(int64_t, int64_t n, int shift)
{
    for (const mt_histogram_rung *rung = mt_histogram_ladder_cuda; rung->name; rung++) {
        uint8_t *x = (uint8_t *)host_array(n, 1);
        int64_t *count = (int64_t *)host_array(MT_HISTOGRAM_BINS, sizeof *count);
        for (int v = 0; v < MT_HISTOGRAM_BINS; v++)
            count[v] = v; /* what was there stays */
        int64_t *on = to_device(count, MT_HISTOGRAM_BINS, 0);
        for (int64_t i = 0; i < n; i++)
            count[x[i] = shift == 2 ? 77 : (uint8_t)(i * 2654435761u >> 13)]++;
        rung->run(on, to_device(x, n, shift), n);
        bool same = memcmp(from_device(on, MT_HISTOGRAM_BINS), count, MT_HISTOGRAM_BINS * sizeof *count) == 0;
        verdict(same ? NULL : "other counts", rung->name, 1, n);
    }
}

/* ---- updates: five steps, and what momentum has become ---------------------------------------------- */

static void updates(int64_t, int64_t n, int shift)
{
    static const struct {
        mt_update_kind kind;
        mt_update_fn *update;
    } rules[] = { { MT_SGD, mt_sgd_update_cuda },
                  { MT_ADAM, mt_adam_update_cuda },
                  { MT_ADAMW, mt_adamw_update_cuda } };
    for (int r = 0; r < MT_COUNT(rules); r++) {
        mt_hyper hyper = mt_hyper_default(rules[r].kind);
        hyper.weight_decay = 0.1;
        float *param = numbers(9, n, -1, 1), *zero = (float *)host_array(n, sizeof *zero), *state[MT_UPDATE_STATES];
        mt_update_oracle *oracle = mt_update_oracle_new(rules[r].kind, hyper, 1, n, param);
        mt_update u = {};
        u.param = to_device(param, n, shift);
        u.rows = 1, u.cols = n, u.hyper = &hyper;
        u.state[0] = to_device(zero, n, 0), u.state[1] = to_device(zero, n, shift);
        for (u.step = 1; u.step <= 5; u.step++) {
            float *grad = numbers(10 + (uint64_t)u.step, n, -1, 1);
            u.grad = to_device(grad, n, 0);
            rules[r].update(&u);
            mt_update_oracle_step(oracle, grad);
        }
        for (int i = 0; i < MT_UPDATE_STATES; i++)
            state[i] = from_device(u.state[i], n);
        verdict(mt_update_oracle_check(oracle, from_device(u.param, n), state), mt_update_rules[rules[r].kind].name, 1,
                n);
        mt_update_oracle_free(oracle);
    }
}

/* ---- sums ---------------------------------------------------------------------------------------------- */

static void sum_of(int64_t n, int shift)
{
    float *x = numbers(20, n, 0.5f, 1); /* all positive: omitting a block's sum is an error of more than n roundings */
    wanted w = want(1);
    double magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        w.value[0] += x[i];
        magnitude += fabs(x[i]);
    }
    w.tolerance[0] = mt_tolerance((double)n, magnitude);
    for (const mt_sum_rung *rung = mt_sum_ladder_cuda; rung->name; rung++) {
        float *out = unwritten(1, shift);
        rung->run(out, unwritten(MT_SUM_BLOCKS, 0), to_device(x, n, shift), n);
        check(rung->name, out, w, 1, 1);
    }
}

/* Besides all sizes, one of more elements than the grid has threads. */
static void sums(int64_t, int64_t n, int shift)
{
    sum_of(n, shift);
    if (n == 0)
        sum_of(300001, shift);
}

/* ---- rows and columns ------------------------------------------------------------------------------------- */

static void transpose(int64_t N, int64_t C, int shift)
{
    for (const mt_transpose_rung *rung = mt_transpose_ladder_cuda; rung->name; rung++) {
        float *x = numbers(21, N * C, -1, 1), *turned = (float *)host_array(N * C, sizeof *turned);
        float *out = unwritten(N * C, shift);
        for (int64_t i = 0; i < N * C; i++)
            turned[i % C * N + i / C] = x[i];
        rung->run(out, to_device(x, N * C, 0), N, C);
        check_bits(rung->name, out, turned, C, N);
    }
}

static void row_sums(int64_t N, int64_t C, int shift)
{
    float *x = numbers(22, N * C, -1, 1), *max = (float *)host_array(N, sizeof *max);
    if (N > 2)
        x[2 * C + C / 2] = NAN;
    if (N > 0)
        for (int64_t c = 0; c < C; c++)
            x[c] = -INFINITY;
    float *on = to_device(x, N * C, shift), *out = unwritten(N, 0);
    for (int64_t n = 0; n < N; n++) {
        max[n] = x[n * C];
        for (int64_t c = 0; c < C; c++)
            max[n] = x[n * C + c] > max[n] || isnan(x[n * C + c]) ? x[n * C + c] : max[n];
    }
    mt_row_max_cuda(out, on, N, C);
    check_bits("row max", out, max, N, 1);
    wanted w = want(N);
    x = numbers(23, N * C, -1, 1);
    for (int64_t i = 0; i < N * C; i++) {
        w.value[i / C] += x[i];
        w.tolerance[i / C] += mt_tolerance((double)C, fabs(x[i]));
    }
    mt_row_sum_cuda(out, to_device(x, N * C, shift), N, C);
    check("row sum", out, w, N, 1);
}

/* As in tests/test_softmax.c: 2 (span + libm) + C + 2 roundings, and two of the scale. */
static void softmax(int64_t N, int64_t C, int shift)
{
    float *x = numbers(24, N * C, 80, 95), *dout = numbers(25, N * C, -1, 1), *dx = numbers(26, N * C, -1, 1);
    float *on = to_device(x, N * C, shift), *p = (float *)host_array(N * C, sizeof *p),
          *on_dx = to_device(dx, N * C, 1);
    wanted w = want(N * C), dw = want(N * C);
    for (int64_t n = 0; n < N; n++) {
        double max = 0, sum = 0, dot = 0, size = 0;
        for (int64_t c = n * C; c < (n + 1) * C; c++)
            max = fmax(max, x[c]);
        for (int64_t c = n * C; c < (n + 1) * C; c++)
            sum += exp(x[c] - max);
        for (int64_t c = n * C; c < (n + 1) * C; c++) {
            p[c] = (float)(w.value[c] = exp(x[c] - max) / sum);
            w.tolerance[c] = mt_tolerance(2 * 15 + 2 * MT_LIBM_ROUNDINGS + (double)C + 4, w.value[c]);
            dot += (double)dout[c] * p[c];
            size += fabs((double)dout[c] * p[c]);
        }
        for (int64_t c = n * C; c < (n + 1) * C; c++) {
            dw.value[c] = dx[c] + p[c] * (dout[c] - dot);
            dw.tolerance[c] = mt_tolerance((double)C + 4, fabs(dx[c]) + p[c] * (fabs(dout[c]) + size));
        }
    }
    mt_softmax_fwd_cuda(on, on, N, C);
    mt_softmax_bwd_cuda(on_dx, to_device(dout, N * C, shift), to_device(p, N * C, 0), N, C);
    check("softmax", on, w, N, C);
    check("softmax backward", on_dx, dw, N, C);
}

static void gather(int64_t N, int64_t C, int shift)
{
    enum { V = 5 };
    float *table = numbers(27, V * C, -1, 1), *dout = numbers(28, N * C, -1, 1), *dtable = numbers(29, V * C, -1, 1);
    float *rows = (float *)host_array(N * C, sizeof *rows), *out = unwritten(N * C, shift);
    int32_t *id = (int32_t *)host_array(N, sizeof *id);
    wanted w = want(V * C);
    for (int64_t i = 0; i < V * C; i++)
        w.value[i] = dtable[i], w.tolerance[i] = mt_tolerance((double)N, fabs(dtable[i]));
    for (int64_t i = 0; i < N * C; i++) {
        int64_t from = (id[i / C] = (int32_t)(i / C * 7 % V)) * C + i % C;
        rows[i] = table[from];
        w.value[from] += dout[i];
        w.tolerance[from] += mt_tolerance((double)N, fabs(dout[i]));
    }
    float *on = to_device(dtable, V * C, shift);
    int32_t *on_id = to_device(id, N, 0);
    mt_gather_rows_fwd_cuda(out, to_device(table, V * C, 0), on_id, N, V, C);
    mt_gather_rows_bwd_cuda(on, to_device(dout, N * C, 1), on_id, N, V, C);
    check_bits("gather", out, rows, N, C);
    check("scatter-add", on, w, V, C);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

/* tests/cuda/lab06_layernorm.cu, lab06_broadcast.cu */
void test_layernorm(int64_t N, int64_t C, int shift);
void test_broadcast(int64_t N, int64_t C, int shift);

static const int64_t sizes[] = { 0, 1, 31, 32, 33, 127, 257, 1009, 1025, 4099 };
static const int64_t rows_of[] = { 0, 1, 3, 33, 67 }, columns_of[] = { 1, 7, 31, 32, 33, 127, 300, 1025 };

static const struct {
    const char *name;
    void (*run)(int64_t N, int64_t C, int shift);
    bool matrix;
} tests[] = {
    { "fill", fill, false },
    { "saxpy", saxpy, false },
    { "relu", relu, false },
    { "gelu", gelu, false },
    { "sums", sums, false },
    { "histogram", histogram, false },
    { "updates", updates, false },
    { "transpose", transpose, true },
    { "rows", row_sums, true },
    { "softmax", softmax, true },
    { "gather", gather, true },
    { "layernorm", test_layernorm, true },
    { "broadcast", test_broadcast, true },
};

int main(int argc, char **argv)
{
    for (int t = 0; t < MT_COUNT(tests); t++) {
        if (argc > 1 && strcmp(argv[1], tests[t].name) != 0)
            continue;
        int before = failures;
        for (int i = 0; i < (tests[t].matrix ? MT_COUNT(rows_of) : 3); i++)
            for (int k = 0; k < (tests[t].matrix ? MT_COUNT(columns_of) : MT_COUNT(sizes)); k++) {
                tests[t].run(tests[t].matrix ? rows_of[i] : 1, tests[t].matrix ? columns_of[k] : sizes[k], i % 3);
                free_arrays();
            }
        printf("%-10s %s\n", tests[t].name, failures == before ? "passed" : "FAILED");
    }
    return failures > 0;
}
