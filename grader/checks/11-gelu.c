/* 11-gelu.c -- how the checks of bias + GELU run (steps 11.5, 11.10), and their rows. The oracle is lab
 * 02's GELU of the sum x + bias, whose rounding moves GELU by at most 1.13 of itself, and its slope by at most 0.5. */
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>

#include "checks/06-cuda.h"
#include "checks/oracle.h"

enum { CALLS = 5, ROWS = 1024, COLUMNS = 384 }; /* of each row; of the counted call: 1.5 MiB an array */

enum { LARGE = 1 << 24 }; /* rows, or columns: a grid has no such number in y, of blocks of 256 */

typedef bool gelu_fn(mg_run *run, const gelu_case *c, int64_t N, int64_t C);

/* The call of 67 rows is searched for data races. */
static bool gelu_calls(mg_run *run, const gelu_case *c, gelu_fn *once)
{
    for (int t = 0; t < CALLS; t++)
        if (!once(run, c, mg_size(run, c->N, 80), mg_size(run, c->C, 600)))
            return false;
    if (c->N >= 0 || c->C >= 0 || c->nan)
        return true;
    bool good = once(run, c, 67, 331) && once(run, c, 2, 8209);
    for (int k = 0; k < MG_UNALIGNED_ONES && c->cuda && good; k++) {
        mg_unaligned_one(run, k);
        good = once(run, c, 3, 64);
    }
    mg_unaligned(run, false);
    if (!c->cuda || !good)
        return good;
    const char *launcher = c->wanted ? "mt_bias_gelu_bwd_cuda" : "mt_bias_gelu_fwd_cuda";
    const char *names = c->wanted ? "dx dbias dout x bias" : "out x bias";
    return mg_06_large_grid(run, launcher, names, LARGE, 1) && mg_06_large_grid(run, launcher, names, 1, LARGE);
}

static bool judge(mg_run *run, const gelu_case *c, int64_t N, const mg_answer *answer, int count)
{
    if (c->cuda || c->same)
        return mg_call_and_judge(run, answer, count);
    if (!c->bar)
        return mg_searched_and_judge(run, N == 67, answer, count);
    bool good = mg_traffic_call(run, MG_L2);
    for (int k = 0; k < count; k++) {
        good = good && (!answer[k].v || mg_expect(run, answer[k].name, answer[k].v, answer[k].e));
        mg_answer_drop((mg_answer *)&answer[k]);
    }
    if (good)
        mg_traffic_credit(run, c->bar, (double)sizeof(float) * ROWS * COLUMNS * (c->wanted ? 4 : 3));
    return good;
}

/* x and bias; returns their sums, which the caller frees. */
static double *describe_inputs(mg_run *run, const gelu_case *c, float **x, int64_t N, int64_t C)
{
    *x = mg_input(run, "x", MT_SHAPE(N, C), c->dist);
    const float *bias = mg_input(run, "bias", MT_SHAPE(C), (mg_dist)NORMAL(0, 1));
    for (int64_t i = C; i < N * C && c->same; i++)
        (*x)[i] = (*x)[i - C];
    double *z = mg_doubles(N * C);
    for (int64_t i = 0; i < N * C; i++)
        z[i] = (double)(*x)[i] + (double)bias[i % C];
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    return z;
}

/* ---- forward --------------------------------------------------------------------------------------- */

static mg_answer describe_forward(mg_run *run, const gelu_case *c, float **x, int64_t N, int64_t C)
{
    mg_begin(run, c->cuda ? "mt_bias_gelu_fwd_cuda" : "mt_bias_gelu_fwd_cpu");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N, C));
    double *z = describe_inputs(run, c, x, N, C);
    mg_oracle_act(MG_GELU_TANH, out.v, out.e, z, N * C);
    for (int64_t i = 0; i < N * C; i++)
        out.e[i] += 1.13 * MG_U * fabs(z[i]);
    free(z);
    return out;
}

static bool forward(mg_run *run, const gelu_case *c, int64_t N, int64_t C)
{
    float *x;
    mg_answer out = describe_forward(run, c, &x, N, C);
    return judge(run, c, N, &out, 1);
}

/* Expects that element `at` of an input, which is NaN, makes one of the n outputs NaN: element `place`. The outputs are
 * rows of C elements. */
static bool expect_nan(mg_run *run, const mg_answer *a, int64_t n, int64_t place, int64_t C, const char *input,
                       int64_t at)
{
    const float *got = mg_result(run, a->name);
    for (int64_t i = 0; i < n; i++) {
        if (i == place ? isnan(got[i]) : fabs((double)got[i] - a->v[i]) <= a->e[i])
            continue;
        mg_fail(run, "%s, row %lld, column %lld, is %g, expected %g: only %s[%lld,%lld] of the inputs is NaN", a->name,
                (long long)(i / C), (long long)(i % C), (double)got[i], i == place ? NAN : a->v[i], input,
                (long long)(at / C), (long long)(at % C));
        return false;
    }
    return true;
}

/* One number of x is NaN. */
static bool forward_nan(mg_run *run, const gelu_case *c, int64_t N, int64_t C)
{
    float *x;
    mg_answer out = describe_forward(run, c, &x, N, C);
    int64_t at = mg_pick(mg_rng(run), 0, N * C - 1);
    x[at] = NAN;
    bool good = mg_call(run) && expect_nan(run, &out, N * C, at, C, "x", at);
    mg_answer_drop(&out);
    return good;
}

/* ---- backward -------------------------------------------------------------------------------------- */

/* The gradients of all sums, of a column with what its parts may be wrong by. Sums in double round once; 16 roundings
 * also allow those of a tree in f32, but not of thousands of numbers one after the other. */
static void expect_columns(mg_answer *dbias, const double *d, const double *e, int64_t N, int64_t C)
{
    for (int64_t i = 0; i < N * C; i++) {
        dbias->e[i % C] += e[i] + 16 * MG_U * fabs(d[i]);
        dbias->v[i % C] += d[i];
    }
    for (int64_t c = 0; c < C; c++)
        dbias->e[c] += 2 * MG_U * fabs(dbias->v[c]);
}

static void describe_backward(mg_run *run, const gelu_case *c, mg_answer grad[2], float **x, float **given, int64_t N,
                              int64_t C)
{
    mg_begin(run, c->cuda ? "mt_bias_gelu_bwd_cuda" : "mt_bias_gelu_bwd_cpu");
    for (int i = 0; i < 2; i++)
        if (c->wanted >> i & 1)
            grad[i] = mg_accumulated(run, i ? "dbias" : "dx", i ? MT_SHAPE(C) : MT_SHAPE(N, C), c->held);
        else
            mg_null(run, i ? "dbias" : "dx");
    float *g = *given = mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    for (int64_t i = C; i < N * C && c->same; i++)
        g[i] = g[i - C];
    double *dout = mg_lift(g, N * C), *z = describe_inputs(run, c, x, N, C), *d = mg_doubles(N * C),
           *e = mg_doubles(N * C);
    mg_oracle_act_add(MG_GELU_TANH, d, e, dout, z, N * C);
    for (int64_t i = 0; i < N * C; i++) {
        e[i] += 0.5 * MG_U * fabs(dout[i]);
        if (grad[0].v) {
            grad[0].e[i] += e[i] + 2 * MG_U * (fabs(grad[0].v[i]) + fabs(d[i]));
            grad[0].v[i] += d[i];
        }
    }
    if (grad[1].v)
        expect_columns(&grad[1], d, e, N, C);
    free(dout), free(z), free(d), free(e);
}

static bool backward(mg_run *run, const gelu_case *c, int64_t N, int64_t C)
{
    mg_answer grad[2] = { 0 };
    float *x, *dout;
    describe_backward(run, c, grad, &x, &dout, N, C);
    return judge(run, c, N, grad, 2);
}

typedef enum nan_of { OF_X, OF_DOUT, OF_DOUT_FLAT /* where the slope is 0 */ } nan_of;

/* One number of x or of dout is NaN: so are its gradient and its column's sum. */
static bool backward_nan(mg_run *run, const gelu_case *c, nan_of of)
{
    mg_answer grad[2] = { 0 };
    float *x, *dout;
    int64_t N = mg_pick(mg_rng(run), 2, 40), C = mg_pick(mg_rng(run), 2, 70), at = mg_pick(mg_rng(run), 0, N * C - 1);
    describe_backward(run, c, grad, &x, &dout, N, C);
    if (of == OF_DOUT_FLAT)
        x[at] = -20; /* with any bias that is drawn */
    (of == OF_X ? x : dout)[at] = NAN;
    bool good = mg_call(run);
    mg_hint(run, "a NaN must not be lost: fminf, fmaxf and comparisons replace it by a number");
    for (int i = 0; i < 2; i++) {
        int64_t n = i ? C : N * C;
        good = good && (!grad[i].v || expect_nan(run, &grad[i], n, at % n, C, of == OF_X ? "x" : "dout", at));
        mg_answer_drop(&grad[i]);
    }
    return good;
}

/* ---- counted --------------------------------------------------------------------------------------- */

/* 768 columns, as a small GPT-2 has. Forward reads x and writes out; backward reads dout and x, adds to dx. */
static void count_on_device(mg_run *run, const gelu_case *c)
{
    enum { N = 192, C = 768 };
    if (!(c->wanted ? backward : forward)(run, c, N, C))
        return;
    int64_t launches = mg_device_counts(run)->launches;
    if (launches != 1)
        mg_fail(run, "%lld launches: bias and GELU are one", (long long)launches);
    mg_device_credit(run, MG_TRAFFIC, 4.0 * N * C * (c->wanted ? 4 : 2));
}

void mg_11_gelu(mg_run *run, const void *one_case)
{
    const gelu_case *c = one_case;
    gelu_fn *once = c->nan ? forward_nan : c->wanted ? backward : forward;
    if (!c->bar) {
        bool good = gelu_calls(run, c, once), one = c->wanted == MG_DX_OF_GELU || c->wanted == MG_DBIAS;
        if (good && one && c->N < 0) /* the rows "dx" and "dbias" */
            (void)(backward_nan(run, c, OF_X) && backward_nan(run, c, OF_DOUT) && backward_nan(run, c, OF_DOUT_FLAT));
    } else if (c->cuda)
        count_on_device(run, c);
    else
        once(run, c, ROWS, COLUMNS);
}

/* ---- the rows: -1 is a random size */
// clang-format off
#define SIZE(n, c) .N = n, .C = c, .dist = NORMAL(0, 1.5)
const gelu_case mg_11_gelu_cases[6] = {
    { { 3, "values", "z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))) with z = x + bias, of this column" },
      SIZE(-1, -1) },
    { { 1, "large numbers", "tanh is 1 or -1 there: no exponential may overflow" }, .N = -1, .C = -1,
      .dist = MIXED(-20, 30) },
    { { 1, "a NaN", "a NaN is the result where it is in x, and nowhere else" }, SIZE(-1, -1), .nan = true },
    { { 1, "one column", "C = 1: every row has the same bias" }, SIZE(61, 1) },
    { { 1, "no rows", "with N = 0 nothing may be written", MG_EASY }, SIZE(0, -1) },
    { { 3, "traffic", "the sum x + bias is a variable of the loop: an array of it is written and read again" },
      SIZE(0, 0), .bar = "11.5 traffic" },
};
const gelu_case mg_11_gelu_backward_cases[7] = {
    { { 2, "dx", "dout times the slope of GELU at x + bias, with the bias of this column" }, SIZE(-1, -1),
      .wanted = MG_DX_OF_GELU },
    { { 2, "dbias", "the bias is added to every row: its gradient is the sum over rows; dx may be NULL" }, SIZE(-1, -1),
      .wanted = MG_DBIAS },
    { { 1, "large numbers", "1 - tanh^2 is 0 there, and what overflows times 0 is NaN" },
      .N = -1, .C = -1, .dist = MIXED(-20, 30),
      .wanted = MG_DX_OF_GELU | MG_DBIAS },
    { { 1, "many rows", "a sum of 20,000 numbers in f32 is wrong in the fourth digit: add them up in double" },
      SIZE(20000, 3), .same = true, .wanted = MG_DBIAS },
    { { 1, "adds to what is there", "gradients accumulate: += and not =" }, SIZE(-1, -1),
      .wanted = MG_DX_OF_GELU | MG_DBIAS, .held = true },
    { { 1, "no rows", "with N = 0 gradients stay as they are", MG_EASY },
      SIZE(0, -1), .wanted = MG_DX_OF_GELU | MG_DBIAS,
      .held = true },
    { { 3, "traffic", "a row of d is in the cache when it is added to dx and to the sums: one pass over x and dout" },
      SIZE(0, 0), .wanted = MG_DX_OF_GELU | MG_DBIAS, .bar = "11.5 backward traffic" },
};
const gelu_case mg_11_gelu_device_cases[5] = {
    { { 2, "values", "column c of rows first .. first + ROWS - 1, up to N; the bias is that of the column" },
      SIZE(-1, -1), .cuda = true },
    { { 1, "large numbers", "no exponential may overflow: mt_gelu_tanh is right" }, .N = -1, .C = -1,
      .dist = MIXED(-20, 30), .cuda = true },
    { { 1, "a NaN", "a NaN is the result where it is in x, and nowhere else" }, SIZE(-1, -1), .nan = true,
      .cuda = true },
    { { 1, "no rows", "with N = 0 nothing may be launched", MG_EASY }, SIZE(0, -1), .cuda = true },
    { { 3, "traffic", "neighbouring threads have neighbouring columns, and read the bias once for all their rows" },
      SIZE(0, 0), .cuda = true, .bar = "11.10" },
};
const gelu_case mg_11_gelu_device_backward_cases[5] = {
    { { 2, "dx", "dout times the slope of GELU at x + bias, with the bias of this column" }, SIZE(-1, -1),
      .wanted = MG_DX_OF_GELU, .cuda = true },
    { { 2, "dbias", "the sum over the rows of all warps; dx may be NULL" }, SIZE(-1, -1), .wanted = MG_DBIAS,
      .cuda = true },
    { { 1, "adds to what is there", "gradients accumulate: += and not =" }, SIZE(-1, -1),
      .wanted = MG_DX_OF_GELU | MG_DBIAS, .held = true, .cuda = true },
    { { 1, "many rows", "the sum is double: in f32 it is wrong in the fourth digit" }, SIZE(20000, 3), .same = true,
      .wanted = MG_DBIAS, .cuda = true },
    { { 3, "traffic", "dx and the column's sum are of one loop, which reads dout and x once" }, SIZE(0, 0),
      .wanted = MG_DX_OF_GELU | MG_DBIAS, .cuda = true, .bar = "11.10" },
};
#undef SIZE
// clang-format on
