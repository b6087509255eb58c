/* 06-elements.c -- fill and saxpy on the device: signatures, oracles and edges. ReLU and GELU are lab 02's.
 * Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/oracle.h"
#include "build/ptxas.h"

#include <float.h>
#include <math.h>

static void fill(mg_trial *t)
{
    for (int64_t i = 0; i < t->size[0]; i++)
        t->v[0][i] = t->scalar;
}

const mg_kernel mg_06_fill = { "mt_fill_cuda", "n", .operand = { MG_WRITTEN("out", "n") }, .oracle = fill,
                               .scalar = "value" };

static void minus_zero(mg_trial *t)
{
    t->scalar = -0.0f;
}

/* A comparison of zeros does not see their sign. */
static bool is_negative(mg_trial *t)
{
    const float *out = mg_result(t->run, "out");
    for (int64_t i = 0; i < t->size[0]; i++)
        if (!signbit(out[i]))
            return mg_fail(t->run, "out[%lld] = 0   expected -0", (long long)i);
    return true;
}

const mg_special mg_06_minus_zero[] = {
    { "-0", "-0 has a bit that is not 0: write the value itself", { 33 }, .prepare = minus_zero, .after = is_negative },
    { 0 },
};

/* y += a x; a step of NaN is NaN, shown without its sign. */
static void saxpy(mg_trial *t)
{
    for (int64_t i = 0; i < t->size[0]; i++) {
        const double step = (double)t->scalar * t->x[1][i], y = t->x[0][i] + step;
        t->v[0][i] = isnan(step) ? (double)NAN : y;
        t->e[0][i] = isnan(step) ? 0 : MG_U * (fabs(step) + fabs(y)) + FLT_MIN;
    }
}

/* 0 times these is NaN, among whole groups of four and behind them. */
static void zero_times(mg_trial *t)
{
    t->scalar = 0;
    t->f[1][4] = INFINITY;
    t->f[1][32] = NAN;
}

#define SAXPY(name)                                           \
    { .function = "mt_saxpy_" name "_cuda",                   \
      .sizes = "n",                                           \
      .operand = { MG_CHANGED("y", "n"), MG_READ("x", "n") }, \
      .oracle = saxpy,                                        \
      .dist = NORMAL(0, 1),                                   \
      .scalar = "a" }
const mg_kernel mg_06_saxpy = SAXPY("scalar"), mg_06_saxpy_by_fours = SAXPY("vector");
const mg_special mg_06_saxpy_edges[] = {
    { "0 times infinity", "0 times infinity or NaN is NaN: do not leave a = 0 out", { 33 }, .prepare = zero_times },
    { "more than 1,024 blocks, of four elements a thread", NULL, { 4 * 262147 } },
    { 0 },
};

void mg_06_credit_wide_loads(mg_run *run, const mg_kernel_row *row)
{
    (void)row;
    mg_compiled_fact(run, "saxpy.cu", MG_WIDE_LOADS);
}
