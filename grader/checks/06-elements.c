/* 06-elements.c -- how the checks of elementwise kernels run: fill, saxpy, ReLU and GELU; and the sizes that all
 * of lab 06 goes through. Rows: 06-cuda.c. */
#include "checks/02-backprop.h"
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "build/ptxas.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sizes ------------------------------------------------------------------------------------- */

/* 16 * 300,000 * 3 is below 2^24. */
void mg_06_fill_sixteenths(mt_rng *rng, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(mt_rng_below(rng, 97) - 48) / 16;
}

float *mg_06_sixteenths(mg_run *run, const char *name, mt_shape shape)
{
    float *x = mg_in(run, name, MT_F32, shape);
    mg_06_fill_sixteenths(mg_rng(run), x, mt_shape_numel(shape));
    return x;
}

/* Judges a call that has no elements, or no rows. A sum of nothing is written by a launch. */
static bool launches_nothing(mg_run *run, const cuda_case *c)
{
    int64_t launches = mg_device_counts(run)->launches;
    if (launches == 0 || (c->function && strstr(c->function, "mt_sum")))
        return true;
    mg_hint(run, "a size of 0 launches nothing: return before the launch");
    return mg_fail(run, "%lld launches for a size of 0", (long long)launches);
}

bool mg_06_sizes(mg_run *run, const cuda_case *c, mg_06_size_fn *call, int64_t most)
{
    static const char odd[] = "sizes that are no multiples of a block or a warp";
    static const struct {
        const char *part;
        int64_t n; /* -1: any */
    } sizes[] = { { NULL, 32 }, { NULL, 2048 }, { odd, 31 },         { odd, 33 },   { odd, 127 },
                  { odd, 257 }, { odd, 1009 },  { odd, 1025 },       { odd, 4099 }, { odd, -1 },
                  { odd, -1 },  { odd, -1 },    { "one element", 1 } };
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        mg_part(run, sizes[i].part, NULL);
        if (!call(run, c, sizes[i].n < 0 ? mg_pick(mg_rng(run), 2, 5000) : sizes[i].n))
            return false;
    }
    mg_part(run, "no elements", NULL);
    if (!call(run, c, 0) || !launches_nothing(run, c))
        return false;
    mg_part(run, "large arrays", NULL);
    bool good = call(run, c, most);
    mg_part(run, "arrays that are not aligned", NULL);
    mg_unaligned(run, true);
    good = good && call(run, c, 1024) && call(run, c, 4099);
    mg_part(run, "one array that is not aligned", NULL);
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(run, k);
        good = call(run, c, 520);
    }
    mg_part(run, NULL, NULL);
    mg_unaligned(run, false);
    return good;
}

/* More floats than the registers of a multiprocessor (65,536), or its shared memory, hold. */
enum { LONG_ROW = 65539 };

bool mg_06_shapes(mg_run *run, const cuda_case *c, mg_06_shape_fn *call, int64_t most)
{
    static const int64_t rows[] = { 33, 3, 31, 67, 1, 0 }, cols[] = { 32, 768, 7, 31, 33, 127, 1025, 1 };
    for (int i = 0; i < MT_COUNT(rows); i++)
        for (int k = 0; k < MT_COUNT(cols); k++) {
            mg_part(run,
                    rows[i] == 0   ? "no rows"
                    : rows[i] == 1 ? "one row"
                    : cols[k] == 1 ? "one column"
                                   : NULL,
                    NULL);
            if (!call(run, c, rows[i], cols[k]) || (rows[i] == 0 && !launches_nothing(run, c)))
                return false;
        }
    mg_part(run, "no rows and no columns", NULL);
    if (!call(run, c, 0, 0) || !launches_nothing(run, c))
        return false;
    mg_part(run, NULL, NULL);
    for (int i = 0; i < 4; i++)
        if (!call(run, c, mg_pick(mg_rng(run), 2, 70), mg_pick(mg_rng(run), 2, 300)))
            return false;
    mg_part(run, "many rows, and long ones", NULL);
    if (most && !(call(run, c, most, 3) && call(run, c, 2, LONG_ROW)))
        return false;
    mg_part(run, "arrays that are not aligned", NULL);
    mg_unaligned(run, true);
    bool good = call(run, c, 8, 128) && call(run, c, 64, 5) && call(run, c, 2, 1025);
    mg_part(run, "one array that is not aligned", NULL);
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(run, k);
        good = call(run, c, MG_06_GROUPS, 64);
    }
    mg_part(run, NULL, NULL);
    mg_unaligned(run, false);
    return good;
}

typedef struct shaped_call {
    const cuda_case *c;
    mg_06_shape_fn *call;
    int64_t N, C;
} shaped_call;

static bool one_call(mg_run *run, const void *user)
{
    const shaped_call *s = user;
    return s->call(run, s->c, s->N, s->C);
}

bool mg_06_again(mg_run *run, const cuda_case *c, mg_06_shape_fn *call, int64_t N, int64_t C)
{
    mg_part(run, "equal bits in a second call", NULL);
    return mg_same_bits(run, one_call, &(shaped_call){ c, call, N, C });
}

static void describe_rows(mg_run *run, const char *function, const char *names, int64_t N, int64_t C)
{
    char name[16];
    mg_begin(run, function);
    for (int at = 0, length; sscanf(names + at, "%15s%n", name, &length) == 1; at += length)
        if (strcmp(name, "eps") == 0)
            mg_f32(run, name, 1);
        else if (strcmp(name, "V") == 0)
            mg_i64(run, name, N);
        else
            mg_inout(run, name, strcmp(name, "id") == 0 ? MT_I32 : MT_F32, MT_SHAPE(3));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
}

bool mg_06_many_rows(mg_run *run, const char *launcher, const char *names)
{
    char function[64];
    snprintf(function, sizeof function, "%s of many rows", launcher);
    describe_rows(run, function, names, 65549, 1);
    mg_part(run, "a large grid", NULL);
    mg_hint(run, "a grid has at most 65,535 blocks in y and in z, and 2^31 - 1 in x: put the rows along x");
    bool good = mg_call(run);
    mg_part(run, NULL, NULL);
    return good;
}

void mg_06_refuse(mg_run *run, const char *launcher, const char *names)
{
    char function[64];
    snprintf(function, sizeof function, "may abort: %s", launcher);
    describe_rows(run, function, names, 3, 0);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_part(run, "rows without columns must abort", NULL);
    mg_hint(run, "keep the check of the columns: the header says \"Aborts: C < 1 with N > 0\"");
    if (mg_call(run) && *(const int64_t *)mg_result(run, "aborted") != 1)
        mg_fail(run, "%s accepted rows of 0 columns", launcher);
}

/* ---- fill and saxpy ------------------------------------------------------------------------------ */

static bool fill(mg_run *run, const cuda_case *c, int64_t n)
{
    float value = n == 32 ? -0.0f : mt_rng_normal(mg_rng(run));
    (void)c;
    mg_begin(run, "mt_fill_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(n));
    mg_i64(run, "n", n);
    mg_f32(run, "value", value);
    for (int64_t i = 0; i < n; i++)
        out.v[i] = value;
    if (!mg_call_and_judge(run, &out, 1))
        return false;
    const float *got = mg_result(run, "out");
    for (int64_t i = 0; i < n; i++)
        if (signbit(got[i]) != signbit(value)) { /* which a comparison of zeros does not see */
            mg_hint(run, "-0 has a bit that is not 0: write the value itself");
            return mg_fail(run, "out[%lld] = 0   expected -0", (long long)i);
        }
    return true;
}

void mg_06_fill(mg_run *run, const void *one_case)
{
    mg_06_sizes(run, one_case, fill, MG_06_MANY);
}

/* y and x start that many floats after the start of their arrays, and end with them. */
static bool saxpy_at(mg_run *run, const cuda_case *c, int64_t n, int64_t y_at, int64_t x_at)
{
    float a = mt_rng_normal(mg_rng(run)), *y;
    mg_begin(run, c->function);
    mg_answer out = mg_replaced(run, "y", MT_SHAPE(y_at + n), (mg_dist)NORMAL(0, 1), &y);
    float *x = mg_input(run, "x", MT_SHAPE(x_at + n), (mg_dist)NORMAL(0, 1));
    if (n == 33) { /* 0 times these is NaN, among whole groups of four and behind them */
        a = 0;
        x[x_at + 4] = INFINITY;
        x[x_at + 32] = NAN;
    }
    mg_i64(run, "before y", y_at);
    mg_i64(run, "before x", x_at);
    mg_i64(run, "n", n);
    mg_f32(run, "a", a);
    for (int64_t i = 0; i < y_at; i++)
        out.v[i] = y[i];
    for (int64_t i = 0; i < n; i++) {
        double was = y[y_at + i], step = (double)a * x[x_at + i];
        out.v[y_at + i] = isnan(step) ? (double)NAN : was + step;
        out.e[y_at + i] = isnan(step) ? 0 : MG_U * (fabs(step) + fabs(was + step)) + FLT_MIN;
    }
    return mg_call_and_judge(run, &out, 1);
}

static bool saxpy(mg_run *run, const cuda_case *c, int64_t n)
{
    return saxpy_at(run, c, n, 0, 0);
}

static bool saxpy_unaligned(mg_run *run, const cuda_case *c, int64_t n)
{
    int64_t y_at = mt_rng_below(mg_rng(run), 4), x_at = mt_rng_below(mg_rng(run), 4);
    return saxpy_at(run, c, n, 1, 3) && saxpy_at(run, c, n, 2, 0) && saxpy_at(run, c, n, 0, 1) &&
           saxpy_at(run, c, n, 2, 2) && saxpy_at(run, c, n, y_at, x_at);
}

void mg_06_saxpy(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about == CU_UNALIGNED)
        mg_06_sizes(run, c, saxpy_unaligned, 8191);
    else if (c->about != CU_COUNT && c->about != CU_COMPILED)
        mg_06_sizes(run, c, saxpy, 4 * MG_06_MANY); /* by fours */
    else if (!saxpy(run, c, MG_06_COUNTED))
        return;
    else if (c->about == CU_COMPILED)
        mg_compiled_fact(run, "saxpy.cu", MG_WIDE_LOADS);
    else
        mg_device_credit(run, c->count, 12.0 * MG_06_COUNTED);
}

/* ---- ReLU and GELU ---------------------------------------------------------------------------------- */

/* Lab 02's kernels and what it knows of them, on the device. */
void mg_06_unary(mg_run *run, const void *one_case)
{
    static const struct {
        const mg_kernel *cpu;
        const char *function;
    } all[] = { { &mg_02_relu_fwd, "mt_relu_fwd_cuda" },
                { &mg_02_gelu_fwd, "mt_gelu_fwd_cuda" },
                { &mg_02_relu_bwd_of_x, "mt_relu_bwd_cuda" },
                { &mg_02_gelu_bwd, "mt_gelu_bwd_cuda" } };
    const mg_kernel_row *row = one_case;
    for (int i = 0; i < (row->in_place ? 2 : MT_COUNT(all)); i++) {
        mg_kernel k = *all[i].cpu;
        mg_kernel_row on_device = *row;
        k.function = all[i].function;
        on_device.kernel[0] = &k;
        mg_kernel_run(run, &on_device);
    }
}

void mg_06_relu_count(mg_run *run, const void *one_case)
{
    mg_kernel relu = mg_02_relu_fwd;
    relu.function = "mt_relu_fwd_cuda";
    (void)one_case;
    if (mg_kernel_once(run, &(mg_kernel_row){ .kernel = { &relu }, .size = { MG_06_COUNTED } }))
        mg_device_credit(run, MG_TRAFFIC, 8.0 * MG_06_COUNTED);
}
