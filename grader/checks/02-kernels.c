/* 02-kernels.c -- how the checks of linear, softmax and cross-entropy run (steps 02.1, 02.2, 02.6, 02.7), each against
 * its oracle. Rows: 02-backprop.c. */
#include "checks/02-backprop.h"
#include "checks/answer.h"

#include <math.h>
#include <stdlib.h>

enum { CALLS = 6 }; /* of each row, with fresh values and, where they are random, fresh sizes */

/* ---- linear --------------------------------------------------------------------------------- */

static bool linear_fwd_once(mg_run *run, const linear_case *c, bool large)
{
    int64_t N = large ? 17 : mg_size(run, c->N, 80), I = mg_size(run, c->I, 200);
    int64_t O = large ? 4099 : mg_size(run, c->O, 80);
    mg_begin(run, "mt_linear_fwd_cpu");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N, O));
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(N, I), (mg_dist)NORMAL(0, 1)), N * I);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(I, O), (mg_dist)NORMAL(0, 1)), I * O), *b = NULL;
    if (c->no_bias)
        mg_null(run, "b");
    else
        b = mg_lift(mg_input(run, "b", MT_SHAPE(O), (mg_dist)NORMAL(0, 4)), O);
    mg_i64(run, "N", N);
    mg_i64(run, "I", I);
    mg_i64(run, "O", O);
    mg_oracle_linear(out.v, out.e, x, NULL, w, b, N, I, O);
    free(x);
    free(w);
    free(b);
    return mg_searched_and_judge(run, large, &out, 1);
}

void mg_02_linear_fwd(mg_run *run, const void *one_case)
{
    bool large = ((const linear_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && linear_fwd_once(run, one_case, t == CALLS); t++)
        ;
}

static bool linear_bwd_once(mg_run *run, const linear_case *c, bool large)
{
    int64_t N = large ? 17 : mg_size(run, c->N, 80), I = mg_size(run, c->I, 80);
    int64_t O = large ? 4099 : mg_size(run, c->O, 80);
    const char *const name[] = { "dx", "dw", "db" };
    const mt_shape shape[] = { MT_SHAPE(N, I), MT_SHAPE(I, O), MT_SHAPE(O) };
    mg_answer grad[3] = { 0 };
    mg_begin(run, "mt_linear_bwd_cpu");
    for (int i = 0; i < 3; i++)
        if (c->wanted >> i & 1)
            grad[i] = mg_accumulated(run, name[i], shape[i], c->held);
        else
            mg_null(run, name[i]);
    double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(N, O), (mg_dist)NORMAL(0, 1)), N * O);
    double *x = mg_lift(mg_input(run, "x", MT_SHAPE(N, I), (mg_dist)NORMAL(0, 1)), N * I);
    double *w = mg_lift(mg_input(run, "w", MT_SHAPE(I, O), (mg_dist)NORMAL(0, 1)), I * O);
    mg_i64(run, "N", N);
    mg_i64(run, "I", I);
    mg_i64(run, "O", O);
    if (grad[0].v)
        mg_oracle_linear_dx_add(grad[0].v, grad[0].e, dout, NULL, w, N, I, O);
    if (grad[1].v)
        mg_oracle_linear_dw_add(grad[1].v, grad[1].e, dout, NULL, x, NULL, N, I, O);
    if (grad[2].v)
        mg_oracle_linear_db_add(grad[2].v, grad[2].e, dout, NULL, N, O);
    free(dout);
    free(x);
    free(w);
    return mg_searched_and_judge(run, large, grad, 3);
}

void mg_02_linear_bwd(mg_run *run, const void *one_case)
{
    bool large = ((const linear_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && linear_bwd_once(run, one_case, t == CALLS); t++)
        ;
}

/* ---- softmax and cross-entropy -------------------------------------------------------------- */

static bool softmax_fwd_once(mg_run *run, const row_case *c, bool large)
{
    int64_t N = large ? 5 : mg_size(run, c->N, 80), C = large ? 50257 : mg_size(run, c->C, 200), n = N * C;
    float *x;
    mg_answer out;
    mg_begin(run, c->in_place ? "mt_softmax_fwd_cpu in place" : "mt_softmax_fwd_cpu");
    if (c->in_place) {
        out = mg_replaced(run, "x", MT_SHAPE(N, C), c->dist, &x);
    } else {
        out = mg_overwritten(run, "out", MT_SHAPE(N, C));
        x = mg_input(run, "x", MT_SHAPE(N, C), c->dist);
    }
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *exact = mg_lift(x, n);
    mg_oracle_softmax(out.v, out.e, exact, NULL, N, C);
    free(exact);
    return mg_searched_and_judge(run, large, &out, 1);
}

void mg_02_softmax_fwd(mg_run *run, const void *one_case)
{
    bool large = ((const row_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && softmax_fwd_once(run, one_case, t == CALLS); t++)
        ;
}

/* One NaN in a row: all of that row is NaN, and no element of another. */
void mg_02_softmax_nan(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < CALLS; t++) {
        int64_t N = mg_pick(mg_rng(run), 2, 20), C = t ? mg_pick(mg_rng(run), 2, 80) : 1;
        int64_t row = mt_rng_below(mg_rng(run), N);
        mg_begin(run, "mt_softmax_fwd_cpu");
        mg_out(run, "out", MT_F32, MT_SHAPE(N, C));
        float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 2));
        x[row * C + (t % 2 ? 0 : mt_rng_below(mg_rng(run), C))] = NAN; /* also the first, where a maximum begins */
        mg_i64(run, "N", N);
        mg_i64(run, "C", C);
        if (!mg_call(run))
            return;
        const float *out = mg_result(run, "out");
        for (int64_t i = 0; i < N * C; i++)
            if ((i / C == row) != (isnan(out[i]) != 0)) {
                mg_fail(run, "out[%lld,%lld] = %g, but the NaN is in row %lld", (long long)(i / C), (long long)(i % C),
                        (double)out[i], (long long)row);
                return;
            }
    }
}

/* The probabilities that forward would have saved: softmax of x, as f32, over x. */
static void save_probs(float *x, int64_t N, int64_t C)
{
    double *exact = mg_lift(x, N * C), *v = mg_doubles(N * C), *e = mg_doubles(N * C);
    mg_oracle_softmax(v, e, exact, NULL, N, C);
    for (int64_t i = 0; i < N * C; i++)
        x[i] = (float)v[i];
    free(exact);
    free(v);
    free(e);
}

static bool softmax_bwd_once(mg_run *run, const row_case *c, bool large)
{
    int64_t N = large ? 5 : mg_size(run, c->N, 80), C = large ? 50257 : mg_size(run, c->C, 200), n = N * C;
    mg_begin(run, "mt_softmax_bwd_cpu");
    mg_answer dx = mg_accumulated(run, "dx", MT_SHAPE(N, C), c->held);
    double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1)), n);
    float *out = mg_input(run, "out", MT_SHAPE(N, C), c->dist);
    save_probs(out, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *p = mg_lift(out, n);
    mg_oracle_softmax_add(dx.v, dx.e, dout, p, N, C);
    free(dout);
    free(p);
    return mg_searched_and_judge(run, large, &dx, 1);
}

void mg_02_softmax_bwd(mg_run *run, const void *one_case)
{
    bool large = ((const row_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && softmax_bwd_once(run, one_case, t == CALLS); t++)
        ;
}

static const int32_t *labels(mg_run *run, int64_t N, int64_t C)
{
    int32_t *label = mg_in(run, "label", MT_I32, MT_SHAPE(N));
    mg_fill_labels(mg_rng(run), label, N, C);
    return label;
}

static bool cross_entropy_fwd_once(mg_run *run, const row_case *c, bool large)
{
    int64_t N = large ? 5 : mg_size(run, c->N, 80), C = large ? 50257 : mg_size(run, c->C, 200), n = N * C;
    float *x;
    mg_begin(run, c->in_place ? "mt_cross_entropy_fwd_cpu in place" : "mt_cross_entropy_fwd_cpu");
    mg_answer out[2] = { mg_overwritten(run, "loss", MT_SHAPE(N)) };
    if (c->in_place) {
        out[1] = mg_replaced(run, "logits", MT_SHAPE(N, C), c->dist, &x);
    } else {
        out[1] = mg_overwritten(run, "probs", MT_SHAPE(N, C));
        x = mg_input(run, "logits", MT_SHAPE(N, C), c->dist);
    }
    const int32_t *label = labels(run, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *exact = mg_lift(x, n);
    mg_oracle_cross_entropy(out[0].v, out[0].e, exact, NULL, label, N, C);
    mg_oracle_softmax(out[1].v, out[1].e, exact, NULL, N, C);
    free(exact);
    return mg_searched_and_judge(run, large, out, 2);
}

void mg_02_cross_entropy_fwd(mg_run *run, const void *one_case)
{
    bool large = ((const row_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && cross_entropy_fwd_once(run, one_case, t == CALLS); t++)
        ;
}

static bool cross_entropy_bwd_once(mg_run *run, const row_case *c, bool large)
{
    int64_t N = large ? 5 : mg_size(run, c->N, 80), C = large ? 50257 : mg_size(run, c->C, 200), n = N * C;
    mg_begin(run, "mt_cross_entropy_bwd_cpu");
    mg_answer dx = mg_accumulated(run, "dlogits", MT_SHAPE(N, C), c->held);
    double *dloss = mg_lift(mg_input(run, "dloss", MT_SHAPE(N), (mg_dist)UNIFORM(0.5, 2)), N);
    float *out = mg_input(run, "probs", MT_SHAPE(N, C), c->dist);
    save_probs(out, N, C);
    const int32_t *label = labels(run, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *p = mg_lift(out, n);
    mg_oracle_cross_entropy_add(dx.v, dx.e, dloss, p, NULL, label, N, C);
    free(dloss);
    free(p);
    return mg_searched_and_judge(run, large, &dx, 1);
}

void mg_02_cross_entropy_bwd(mg_run *run, const void *one_case)
{
    bool large = ((const row_case *)one_case)->N < 0;
    for (int t = 0; t < CALLS + large && cross_entropy_bwd_once(run, one_case, t == CALLS); t++)
        ;
}
