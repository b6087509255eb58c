/* 06-elements.c -- how the checks of elementwise kernels run: fill, saxpy, ReLU and GELU; and the sizes that all
 * of lab 06 goes through. Rows: 06-cuda.c. */
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
    mg_fail(run, "%lld launches for a size of 0", (long long)launches);
    return false;
}

bool mg_06_sizes(mg_run *run, const cuda_case *c, mg_06_size_fn *call, int64_t most)
{
    const int64_t sizes[] = { 1, 0, 31, 32, 33, 127, 257, 1009, 2048, 1025, 4099, -1, -1, -1, most };
    for (int i = 0; i < MT_COUNT(sizes); i++)
        if (!call(run, c, sizes[i] < 0 ? mg_pick(mg_rng(run), 2, 5000) : sizes[i]) ||
            (sizes[i] == 0 && !launches_nothing(run, c)))
            return false;
    mg_unaligned(run, true);
    bool good = call(run, c, 1024) && call(run, c, 4099);
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(run, k);
        good = call(run, c, 520);
    }
    mg_unaligned(run, false);
    return good;
}

/* More floats than the registers of a multiprocessor (65,536), or its shared memory, hold. */
enum { LONG_ROW = 65539 };

bool mg_06_shapes(mg_run *run, const cuda_case *c, mg_06_shape_fn *call, int64_t most)
{
    static const int64_t rows[] = { 1, 0, 3, 31, 33, 67 }, cols[] = { 1, 7, 31, 32, 33, 127, 768, 1025 };
    for (int i = 0; i < MT_COUNT(rows); i++)
        for (int k = 0; k < MT_COUNT(cols); k++)
            if (!call(run, c, rows[i], cols[k]) || (rows[i] == 0 && !launches_nothing(run, c)))
                return false;
    if (!call(run, c, 0, 0) || !launches_nothing(run, c)) /* no columns are allowed where there are no rows */
        return false;
    for (int i = 0; i < 4; i++)
        if (!call(run, c, mg_pick(mg_rng(run), 2, 70), mg_pick(mg_rng(run), 2, 300)))
            return false;
    if (most && !(call(run, c, most, 3) && call(run, c, 2, LONG_ROW)))
        return false;
    mg_unaligned(run, true);
    bool good = call(run, c, 8, 128) && call(run, c, 64, 5) && call(run, c, 2, 1025);
    for (int k = 0; k < MG_UNALIGNED_ONES && good; k++) {
        mg_unaligned_one(run, k);
        good = call(run, c, MG_06_GROUPS, 64);
    }
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
    return mg_06_large_grid(run, launcher, names, 65549, 1);
}

bool mg_06_large_grid(mg_run *run, const char *launcher, const char *names, int64_t N, int64_t C)
{
    char function[64];
    snprintf(function, sizeof function, "%s of many rows", launcher);
    describe_rows(run, function, names, N, C);
    mg_hint(run,
            "a grid has at most 65,535 blocks in y and in z, and 2^31 - 1 in x: put the rows, or columns, along x");
    return mg_call(run);
}

void mg_06_refuse(mg_run *run, const char *launcher, const char *names)
{
    char function[64];
    snprintf(function, sizeof function, "may abort: %s", launcher);
    describe_rows(run, function, names, 3, 0);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
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
            mg_fail(run, "out[%lld] = 0   expected -0", (long long)i);
            return false;
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

/* Numbers far from 0 in every long array, then infinity and NaN, which forward keeps, and -inf. The contract does not
 * say what GELU of -inf is, or its slope at infinity. */
static void make_special(float *x, int64_t n, mg_act act, bool forward)
{
    static const float special[] = { 1e30f, -1e30f, 20, -20, INFINITY, NAN, -INFINITY };
    for (int64_t i = 0; i < (act == MG_RELU ? 7 : forward ? 6 : 4) && n > 12; i++)
        x[i] = special[i];
}

/* Only NaN is wrong. */
static void recognise_nan(mg_run *run, const mg_answer *out, int64_t n)
{
    int64_t lost = 0, other = 0;
    for (int64_t i = 0; i < n; i++)
        if (mg_wrong(run, out->name, i, out->v[i], out->e[i]))
            *(isnan(out->v[i]) ? &lost : &other) += 1;
    if (lost && !other)
        mg_hint(run, "every comparison with NaN is false: with x < 0 ? 0 : x a NaN stays NaN");
}

/* ReLU's gradient is dout, also where saved is NaN, except where saved <= 0: not even an infinite dout counts there.
 * What the oracle gets in place of these. */
static void relu_gradient(float *dout, const float *saved, int64_t n, double *counted, double *exact)
{
    if (n > 12)
        dout[1] = INFINITY, dout[6] = NAN; /* saved: -1e30, -inf */
    for (int64_t i = 0; i < n; i++) {
        counted[i] = saved[i] <= 0 ? 0 : (double)dout[i];
        exact[i] = isnan(saved[i]) ? 1 : (double)saved[i];
    }
}

static bool unary_fwd(mg_run *run, mg_act act, int64_t n, bool in_place)
{
    mg_begin(run, act == MG_RELU ? "mt_relu_fwd_cuda" : "mt_gelu_fwd_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(n));
    float *x = mg_input(run, "x", MT_SHAPE(n), (mg_dist)NORMAL(0, 2));
    if (in_place)
        mg_in_place(run, "out", "x");
    mg_i64(run, "n", n);
    make_special(x, n, act, true);
    double *exact = mg_lift(x, n);
    mg_oracle_act(act, out.v, out.e, exact, n);
    for (int64_t i = 0; i < n; i++)
        out.v[i] = isnan(exact[i]) ? NAN : out.v[i];
    free(exact);
    bool good = mg_call(run);
    if (good) {
        recognise_nan(run, &out, n);
        good = mg_expect(run, out.name, out.v, out.e);
    }
    mg_answer_drop(&out);
    return good;
}

static bool unary_bwd(mg_run *run, mg_act act, int64_t n)
{
    mg_begin(run, act == MG_RELU ? "mt_relu_bwd_cuda" : "mt_gelu_bwd_cuda");
    mg_answer dx = mg_accumulated(run, "dx", MT_SHAPE(n), true);
    float *sent = mg_input(run, "dout", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    float *saved = mg_input(run, "saved", MT_SHAPE(n), (mg_dist)NORMAL(0, 2));
    mg_i64(run, "n", n);
    for (int64_t i = n / 2; i < n; i += 5)
        saved[i] = 0; /* where ReLU's slope is 0 too */
    make_special(saved, n, act, false);
    double *dout = mg_lift(sent, n), *exact = mg_lift(saved, n);
    if (act == MG_RELU)
        relu_gradient(sent, saved, n, dout, exact);
    mg_oracle_act_add(act, dx.v, dx.e, dout, exact, n);
    for (int64_t i = 1; i < 4 && act == MG_GELU && n > 12; i += 2) { /* saved: -1e30, -20, where the slope is 0 */
        sent[i] = NAN;
        dx.v[i] = NAN;
    }
    free(dout);
    free(exact);
    return mg_call_and_judge(run, &dx, 1);
}

static bool unary_of(mg_run *run, const cuda_case *c, mg_act act, int64_t n)
{
    bool in_place = c->about == CU_IN_PLACE;
    mg_hint(run, "%s",
            in_place || act == MG_RELU ? c->head.hint
                                       : "GELU is x Phi(x), Phi(x) = (1 + erf(x / sqrt 2)) / 2; its gradient is added: "
                                         "dout (Phi(x) + x phi(x)); and 1 / 2 in C is 0");
    return unary_fwd(run, act, n, in_place) && (in_place || unary_bwd(run, act, n));
}

static bool unary(mg_run *run, const cuda_case *c, int64_t n)
{
    return unary_of(run, c, MG_RELU, n) && unary_of(run, c, MG_GELU, n);
}

void mg_06_unary(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about != CU_COUNT)
        mg_06_sizes(run, c, unary, c->about == CU_SIZES ? MG_06_MANY : 8191);
    else if (unary_fwd(run, MG_RELU, MG_06_COUNTED, false))
        mg_device_credit(run, c->count, 8.0 * MG_06_COUNTED);
}
