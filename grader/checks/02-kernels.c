/* 02-kernels.c -- how the checks of linear, softmax and cross-entropy run (steps 02.1, 02.2, 02.6, 02.7), each against
 * its oracle. Rows: 02-backprop.c. */
#include "checks/02-backprop.h"
#include "checks/answer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The calls of a row, with fresh values and, where they are random, fresh sizes. Rows of random sizes then have three
 * calls with a size of 0, one of many rows, one that is searched for data races, and three that are repeated with other
 * numbers of threads: of five rows, of one, and of two. In linear, so are long sums over rows and over inputs. */
enum {
    CALLS = 6,
    NO_ROWS = CALLS,
    NO_INPUTS,
    NO_OUTPUTS,
    MANY_ROWS,
    SEARCHED,
    BITS,
    ONE_ROW,
    TWO_ROWS,
    ROW_BITS,
    INPUT_BITS,
    ALL
};

/* Numbers of rows and of columns beyond what 16 bits count, and a number of threads beyond what most machines have. */
enum { MANY = (1 << 16) + 3, WIDE = 70001, THREADS = 17, ENOUGH = 20011 /* columns for all threads */ };

/* Rows and columns of call t of a row of softmax or cross-entropy: N and C, or random where these are negative. */
static mt_shape rows_of(mg_run *run, const row_case *c, int t)
{
    if (t == MANY_ROWS)
        return MT_SHAPE(MANY, mg_pick(mg_rng(run), 2, 5));
    if (t == SEARCHED)
        return MT_SHAPE(5, ENOUGH);
    if (t >= BITS)
        return MT_SHAPE(t < ONE_ROW ? 5 : t - ONE_ROW + 1, WIDE);
    int64_t N = mg_size(run, c->N, 80), C = mg_size(run, c->C, 200); /* drawn in this order */
    return MT_SHAPE(N, C);
}

static mg_dist logits_of(const row_case *c, int t)
{
    bool negative =
        c->dist.kind == MG_DIST_UNIFORM && c->dist.b < 0; /* all of them: a maximum must not begin at -1e9 */
    if (t >= ONE_ROW)
        return (mg_dist)UNIFORM(-21.2, -21.1);
    if (!c->far || t < CALLS - 2)
        return c->dist;
    return t == CALLS - 1 && !negative   ? (mg_dist)UNIFORM(-1.7e38, 1.7e38)
           : t == CALLS - 1 || !negative ? (mg_dist)UNIFORM(-1.7e38, -1e38)
                                         : (mg_dist)UNIFORM(-20130, -20110);
}

/* Calls of one and of two rows have one logit, 0, far above all others of the row, whose terms are lost beside its
 * term: a sum that is divided among threads loses fewer of them. All together are less than the tolerance. Where races
 * are searched, the last logit of a row is so large that a maximum without it makes its term infinite, and that of the
 * first row where bits are compared, among more columns. */
static void raise_one(float *x, int t, int64_t N, int64_t C)
{
    for (int64_t n = 0; n < N && t >= ONE_ROW; n++)
        x[n * C] = 0;
    int64_t raised = t == SEARCHED ? N : t == BITS;
    for (float *row = x; row < x + raised * C; row += C) {
        float most = row[0];
        for (int64_t c = 1; c < C; c++)
            most = fmaxf(most, row[c]);
        row[C - 1] = most + 0.1F * fabsf(most) + 100;
    }
}

static bool is_plain(const row_case *c)
{
    return c->dist.b == 2 && !c->in_place && !c->held;
}

/* The call after t. A row of fixed sizes has the first CALLS only. Of those with random sizes, rows of softmax and
 * cross-entropy have no size of 0, and only the `first` of a function has the calls from BITS on. */
static int next_call(int t, bool random, bool linear, bool first)
{
    int next = t + 1 == CALLS && !linear ? MANY_ROWS : t + 1;
    return next < CALLS || (random && next < (!first ? BITS : linear ? ALL : ROW_BITS)) ? next : ALL;
}

static bool judge(mg_run *run, int t, const mg_answer *answers, int count)
{
    if (t == MANY_ROWS)
        mg_threads(run, THREADS);
    return t == SEARCHED ? mg_shared_and_judge(run, answers, count)
           : t >= BITS   ? mg_threads_and_judge(run, answers, count)
                         : mg_call_and_judge(run, answers, count);
}

/* ---- linear --------------------------------------------------------------------------------- */

/* N, I and O of call t. */
static mt_shape linear_sizes(mg_run *run, const linear_case *c, int t, int64_t most_inputs)
{
    int64_t N = mg_size(run, c->N, 80), I = mg_size(run, c->I, most_inputs), O = mg_size(run, c->O, 80);
    switch (t) {
    case NO_ROWS:
        return MT_SHAPE(0, I, O);
    case NO_INPUTS:
        return MT_SHAPE(N, 0, O);
    case NO_OUTPUTS:
        return MT_SHAPE(N, I, 0);
    case MANY_ROWS:
        return MT_SHAPE(MANY, mt_min(I, 9), 5);
    case SEARCHED:
        return MT_SHAPE(17, mt_min(I, 20), 4099);
    case BITS:
        return MT_SHAPE(17, I, 4099);
    case ONE_ROW:
    case TWO_ROWS:
        return MT_SHAPE(t - ONE_ROW + 1, I, 4099);
    case ROW_BITS:
        return MT_SHAPE(4099, 17, 9);
    case INPUT_BITS:
        return MT_SHAPE(17, 4099, 9);
    default:
        return MT_SHAPE(N, I, O);
    }
}

static bool linear_fwd_once(mg_run *run, const linear_case *c, int t)
{
    mt_shape size = linear_sizes(run, c, t, 200);
    int64_t N = size.dim[0], I = size.dim[1], O = size.dim[2];
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
    return judge(run, t, &out, 1);
}

void mg_02_linear_fwd(mg_run *run, const void *one_case)
{
    const linear_case *c = one_case;
    for (int t = 0; t < ALL && linear_fwd_once(run, c, t); t = next_call(t, c->N < 0, true, !c->no_bias))
        ;
}

enum { AGAIN = 2 }; /* after a call with other weights at the same address, as an optimizer changes them */

/* The row of all three gradients also tests two of them at a time: layer 0 of a network needs no dx. */
static bool linear_bwd_once(mg_run *run, const linear_case *c, int t)
{
    mt_shape size = linear_sizes(run, c, t, 80);
    int64_t N = size.dim[0], I = size.dim[1], O = size.dim[2];
    int wanted = c->wanted == WANT_ALL && t % 2 && t < CALLS ? WANT_ALL - (1 << t / 2) : c->wanted;
    const char *const name[] = { "dx", "dw", "db" };
    const mt_shape shape[] = { MT_SHAPE(N, I), MT_SHAPE(I, O), MT_SHAPE(O) };
    mg_answer grad[3] = { 0 };
    mg_begin(run, t == AGAIN ? "mt_linear_bwd_cpu again" : "mt_linear_bwd_cpu");
    for (int i = 0; i < 3; i++)
        if (wanted >> i & 1)
            grad[i] = mg_accumulated(run, name[i], shape[i], c->held);
        else
            mg_null(run, name[i]);
    float *given = mg_input(run, "dout", MT_SHAPE(N, O), (mg_dist)NORMAL(0, 1));
    if (t == MANY_ROWS) /* only the last three count: in a sum of so many, theirs are less than the tolerance */
        memset(given, 0, (size_t)((N - 3) * O) * sizeof *given);
    double *dout = mg_lift(given, N * O);
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
    return judge(run, t, grad, 3);
}

/* db may also be summed in one part for each thread (variant bias-gradient-by-rows): its bits are not
 * compared. */
void mg_02_linear_bwd(mg_run *run, const void *one_case)
{
    const linear_case *c = one_case;
    for (int t = 0; t < ALL && linear_bwd_once(run, c, t); t = next_call(t, c->N < 0, true, c->wanted < WANT_DB))
        ;
}

/* ---- softmax and cross-entropy -------------------------------------------------------------- */

static bool softmax_fwd_once(mg_run *run, const row_case *c, int t)
{
    mt_shape shape = rows_of(run, c, t);
    int64_t N = shape.dim[0], C = shape.dim[1], n = N * C;
    float *x;
    mg_answer out;
    mg_begin(run, c->in_place ? "mt_softmax_fwd_cpu in place" : "mt_softmax_fwd_cpu");
    if (c->in_place) {
        out = mg_replaced(run, "x", MT_SHAPE(N, C), logits_of(c, t), &x);
    } else {
        out = mg_overwritten(run, "out", MT_SHAPE(N, C));
        x = mg_input(run, "x", MT_SHAPE(N, C), logits_of(c, t));
    }
    raise_one(x, t, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *exact = mg_lift(x, n);
    mg_oracle_softmax(out.v, out.e, exact, NULL, N, C);
    free(exact);
    return judge(run, t, &out, 1);
}

void mg_02_softmax_fwd(mg_run *run, const void *one_case)
{
    const row_case *c = one_case;
    for (int t = 0; t < ALL && softmax_fwd_once(run, c, t); t = next_call(t, c->N < 0, false, is_plain(c)))
        ;
    double want = 1e-3; /* of 1000 columns: a sum of as many terms, each an exponential, and a quotient */
    if (c->N < 0 && is_plain(c) && mg_02_large(run, "softmax", 0.5f, want, want * 1024 * MG_U) &&
        mg_02_softmax_masked(run))
        mg_02_softmax_no_columns(run);
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

static bool softmax_bwd_once(mg_run *run, const row_case *c, int t)
{
    mt_shape shape = rows_of(run, c, t);
    int64_t N = shape.dim[0], C = shape.dim[1], n = N * C;
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
    return judge(run, t, &dx, 1);
}

void mg_02_softmax_bwd(mg_run *run, const void *one_case)
{
    const row_case *c = one_case;
    for (int t = 0; t < ALL && softmax_bwd_once(run, c, t); t = next_call(t, c->N < 0, false, is_plain(c)))
        ;
}

static const int32_t *labels(mg_run *run, int64_t N, int64_t C)
{
    int32_t *label = mg_in(run, "label", MT_I32, MT_SHAPE(N));
    mg_fill_labels(mg_rng(run), label, N, C);
    if (C == WIDE) /* a label that 16 bits do not hold */
        label[N - 1] = WIDE - 1;
    return label;
}

static bool cross_entropy_fwd_once(mg_run *run, const row_case *c, int t)
{
    mt_shape shape = rows_of(run, c, t);
    int64_t N = shape.dim[0], C = shape.dim[1], n = N * C;
    float *x;
    mg_begin(run, c->in_place ? "mt_cross_entropy_fwd_cpu in place" : "mt_cross_entropy_fwd_cpu");
    mg_answer out[2] = { mg_overwritten(run, "loss", MT_SHAPE(N)) };
    if (c->in_place) {
        out[1] = mg_replaced(run, "logits", MT_SHAPE(N, C), logits_of(c, t), &x);
    } else {
        out[1] = mg_overwritten(run, "probs", MT_SHAPE(N, C));
        x = mg_input(run, "logits", MT_SHAPE(N, C), logits_of(c, t));
    }
    const int32_t *label = labels(run, N, C);
    raise_one(x, t, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *exact = mg_lift(x, n);
    mg_oracle_cross_entropy(out[0].v, out[0].e, exact, NULL, label, N, C);
    mg_oracle_softmax(out[1].v, out[1].e, exact, NULL, N, C);
    free(exact);
    return judge(run, t, out, 2);
}

void mg_02_cross_entropy_fwd(mg_run *run, const void *one_case)
{
    const row_case *c = one_case;
    for (int t = 0; t < ALL && cross_entropy_fwd_once(run, c, t); t = next_call(t, c->N < 0, false, is_plain(c)))
        if (c->far && t == CALLS - 1 && !mg_02_cross_entropy_nan(run))
            return;
    if (c->N < 0 && is_plain(c))
        mg_02_wrong_labels(run);
}

static bool cross_entropy_bwd_once(mg_run *run, const row_case *c, int t)
{
    mt_shape shape = rows_of(run, c, t);
    int64_t N = shape.dim[0], C = shape.dim[1], n = N * C;
    mg_begin(run, "mt_cross_entropy_bwd_cpu");
    mg_answer dx = mg_accumulated(run, "dlogits", MT_SHAPE(N, C), c->held);
    double *dloss = mg_lift(mg_input(run, "dloss", MT_SHAPE(N), (mg_dist)NORMAL(0, 1)), N);
    float *out = mg_input(run, "probs", MT_SHAPE(N, C), c->dist);
    save_probs(out, N, C);
    const int32_t *label = labels(run, N, C);
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *p = mg_lift(out, n);
    mg_oracle_cross_entropy_add(dx.v, dx.e, dloss, p, NULL, label, N, C);
    free(dloss);
    free(p);
    return judge(run, t, &dx, 1);
}

void mg_02_cross_entropy_bwd(mg_run *run, const void *one_case)
{
    const row_case *c = one_case;
    for (int t = 0; t < ALL && cross_entropy_bwd_once(run, c, t); t = next_call(t, c->N < 0, false, is_plain(c)))
        ;
}
