/* 02-edges.c -- calls at the edge of what kernels/kernels.h allows: those that must abort, logits of -inf and NaN, and
 * arrays larger than a stack. */
#include "checks/02-backprop.h"
#include "checks/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* No columns: an error if there are rows. */
void mg_02_softmax_no_columns(mg_run *run)
{
    for (int64_t N = 0; N < 2; N++) {
        if (N == 0)
            mg_begin(run, "mt_softmax_fwd_cpu");
        else
            mg_begin_refused(run, "may abort: mt_softmax_fwd_cpu");
        mg_out(run, "out", MT_F32, MT_SHAPE(N, 0));
        mg_in(run, "x", MT_F32, MT_SHAPE(N, 0));
        mg_i64(run, "N", N);
        mg_i64(run, "C", 0);
        if (N == 0 ? !mg_call(run) : !mg_refused(run, "the call", "C < 1 with N > 0"))
            return;
    }
}

/* Logits of -inf, not at the beginning, have the probability 0: exp(-inf - max), as that of -1e30. */
bool mg_02_softmax_masked(mg_run *run)
{
    enum { N = 3, C = 41 };
    mg_begin(run, "mt_softmax_fwd_cpu");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N, C));
    float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 2));
    double *exact = mg_lift(x, N * C);
    for (int64_t i = C / 2; i < N * C; i += C / 2) /* columns 20 and 40 of row 0, 19 and 39 of row 1, ... */
        exact[i] = -1e30, x[i] = -INFINITY;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_oracle_softmax(out.v, out.e, exact, NULL, N, C);
    free(exact);
    return mg_call_and_judge(run, &out, 1);
}

/* The column of a NaN, also the first, where a maximum begins; of one block of columns, and of a block and a rest. */
static const struct {
    int64_t C, column; /* -1: random */
} nan_at[] = { { 1, 0 }, { -1, 0 }, { -1, -1 }, { 331, 1 }, { 331, 330 } };

/* A call with one NaN in a row: all of that row is NaN, and no element of another. */
static bool one_nan(mg_run *run, bool loss, int t, bool in_place)
{
    int64_t N = mg_pick(mg_rng(run), 2, 20), row = mt_rng_below(mg_rng(run), N);
    int64_t C = nan_at[t].C < 0 ? mg_pick(mg_rng(run), 2, 80) : nan_at[t].C;
    int64_t column = nan_at[t].column < 0 ? mt_rng_below(mg_rng(run), C) : nan_at[t].column;
    char function[64];
    snprintf(function, sizeof function, "mt_%s_fwd_cpu%s", loss ? "cross_entropy" : "softmax",
             in_place ? " in place" : "");
    mg_begin(run, function);
    if (loss)
        mg_out(run, "loss", MT_F32, MT_SHAPE(N));
    if (!in_place)
        mg_out(run, "out", MT_F32, MT_SHAPE(N, C));
    float *x = (in_place ? mg_inout : mg_in)(run, "x", MT_F32, MT_SHAPE(N, C));
    mg_fill(mg_rng(run), x, N * C, (mg_dist)NORMAL(0, 2));
    x[row * C + column] = NAN;
    if (loss)
        mg_fill_labels(mg_rng(run), mg_in(run, "label", MT_I32, MT_SHAPE(N)), N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (!mg_call(run))
        return false;
    const float *out = mg_result(run, in_place ? "x" : "out"), *losses = loss ? mg_result(run, "loss") : NULL;
    for (int64_t i = 0; i < N * C; i++)
        if ((i / C == row) != (isnan(out[i]) != 0) || (loss && (i / C == row) != (isnan(losses[i / C]) != 0))) {
            char of_loss[60] = "";
            if (loss)
                snprintf(of_loss, sizeof of_loss, ", and the loss of that row %g", (double)losses[i / C]);
            mg_hint(run, "a NaN makes its row NaN, and no other: fmaxf and a comparison can hide it");
            mg_fail(run, "one logit is NaN, [%lld,%lld]: %s[%lld,%lld] = %g%s", (long long)row, (long long)column,
                    in_place ? "x" : "out", (long long)(i / C), (long long)(i % C), (double)out[i], of_loss);
            return false;
        }
    return true;
}

static bool all_nan(mg_run *run, bool loss)
{
    for (int t = 0; t < 2 * MT_COUNT(nan_at); t++)
        if (!one_nan(run, loss, t / 2, t % 2))
            return false;
    return true;
}

void mg_02_softmax_nan(mg_run *run, const void *one_case)
{
    (void)one_case;
    all_nan(run, false);
}

bool mg_02_cross_entropy_nan(mg_run *run)
{
    return all_nan(run, true);
}

/* More than the 8 MiB of a stack: the values are all the same, so that few of them are compared. */
bool mg_02_large(mg_run *run, const char *name, float x, double want, double tolerance)
{
    const double v[] = { want, want, want }, e[] = { tolerance, tolerance, tolerance };
    char function[64];
    snprintf(function, sizeof function, "large: mt_%s_fwd_cpu", name);
    mg_begin(run, function);
    mg_out(run, "first, middle, last of out", MT_F32, MT_SHAPE(MT_COUNT(v)));
    mg_f32(run, "every x", x);
    mg_i64(run, "elements", 2200000);
    return mg_call(run) && mg_expect(run, "first, middle, last of out", v, e);
}

/* A label below 0, or as large as the number of classes, in the last of many rows, the first or the middle one. */
void mg_02_wrong_labels(mg_run *run)
{
    enum { N = 2719, C = 5 };
    static const struct {
        int64_t row;
        int32_t label;
    } wrong[] = { { N - 1, -1 }, { N - 1, C }, { N - 1, -100 }, { N - 1, INT32_MAX }, { 0, C + 2 }, { N / 2, 1000 } };
    for (int i = 0; i < MT_COUNT(wrong); i++) {
        mg_begin_refused(run, "may abort: mt_cross_entropy_fwd_cpu");
        mg_out(run, "loss", MT_F32, MT_SHAPE(N));
        mg_out(run, "probs", MT_F32, MT_SHAPE(N, C));
        mg_input(run, "logits", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 2));
        int32_t *label = mg_in(run, "label", MT_I32, MT_SHAPE(N));
        label[wrong[i].row] = wrong[i].label;
        mg_i64(run, "N", N);
        mg_i64(run, "C", C);
        mg_hint(run, "label[%lld] = %d, of %d rows and %d classes: every row's label is checked",
                (long long)wrong[i].row, wrong[i].label, N, C);
        if (!mg_refused(run, "the call", "a label out of range") || !mg_expect_named(run, "row", wrong[i].row) ||
            (i > 1 && !mg_expect_named(run, "value", wrong[i].label)))
            return;
    }
}
