/* 02-edges.c -- calls at the edge of what ops/kernels.h allows: those that must abort, and logits of -inf. */
#include "checks/02-backprop.h"
#include "checks/answer.h"

#include <math.h>
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
