/* 06-rows.c -- how the checks of softmax and layernorm run, forward and backward. Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>

/* ---- softmax --------------------------------------------------------------------------------------- */

/* Rows far above and below 0, up to what f32 holds, ordinary ones with one -inf (except in rows of one element), and
 * ordinary ones with a NaN, of either sign. */
static void fill_large(mt_rng *rng, float *x, int64_t N, int64_t C)
{
    static const mg_dist dist[] = { UNIFORM(80, 90), UNIFORM(-90, -80), UNIFORM(-3e38, -2e38),
                                    UNIFORM(-1.6e38, 1.6e38) };
    for (int64_t n = 0; n < N; n++) {
        float *row = x + n * C;
        if (n % 6 < MT_COUNT(dist))
            mg_fill(rng, row, C, dist[n % 6]);
        else if (n % 6 == 5 || C > 1)
            row[mt_rng_below(rng, C)] = n % 12 == 5 ? NAN : n % 12 == 11 ? -NAN : -INFINITY;
    }
}

/* A NaN makes its row NaN. The exp of what is far below the maximum is 0; the oracle does not multiply 0 by infinity.
 */
static void expect_softmax(mg_answer *out, const float *x, int64_t N, int64_t C)
{
    double *exact = mg_lift(x, N * C), *max = mg_doubles(N);
    for (int64_t i = 0; i < N * C; i++)
        max[i / C] = i % C == 0 || isnan(exact[i]) || exact[i] > max[i / C] ? exact[i] : max[i / C];
    for (int64_t i = 0; i < N * C; i++)
        exact[i] = isnan(max[i / C]) ? 0 : fmax(exact[i] - max[i / C], -1e4);
    mg_oracle_softmax(out->v, out->e, exact, NULL, N, C);
    for (int64_t i = 0; i < N * C; i++)
        out->v[i] = isnan(max[i / C]) ? NAN : out->v[i];
    free(exact);
    free(max);
}

static bool softmax(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    mg_begin(run, "mt_softmax_fwd_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N, C));
    float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 2));
    if (c->about == CU_IN_PLACE)
        mg_in_place(run, "out", "x");
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (c->about == CU_LARGE)
        fill_large(mg_rng(run), x, N, C);
    expect_softmax(&out, x, N, C);
    return mg_call_and_judge(run, &out, 1);
}

static void softmax_special(mg_run *run, const cuda_case *c)
{
    if (mg_06_shapes(run, c, softmax, 0) && c->about == CU_LARGE)
        mg_06_refuse(run, "mt_softmax_fwd_cuda", "out x");
}

void mg_06_softmax(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about == CU_SIZES)
        (void)(mg_06_shapes(run, c, softmax, MG_06_BLOCKS) && mg_06_again(run, c, softmax, 31, 1025) &&
               mg_06_many_rows(run, "mt_softmax_fwd_cuda", "out x"));
    else if (c->about != CU_COUNT)
        softmax_special(run, c);
    else if (softmax(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 8.0 * MG_06_ROWS * MG_06_COLS);
}

static bool softmax_backward(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    (void)c;
    mg_begin(run, "mt_softmax_bwd_cuda");
    mg_answer dx = mg_accumulated(run, "dx", MT_SHAPE(N, C), true);
    float *sent = mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    double *dout = mg_lift(sent, N * C);
    float *out = mg_input(run, "out", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 2));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    double *x = mg_lift(out, N * C), *v = mg_doubles(N * C), *e = mg_doubles(N * C);
    mg_oracle_softmax(v, e, x, NULL, N, C); /* what forward would have saved */
    for (int64_t i = 0; i < N * C; i++)
        v[i] = out[i] = (float)v[i];
    mg_oracle_softmax_add(dx.v, dx.e, dout, v, N, C);
    for (int64_t i = 0; i < C && N == 31 && C < 1000; i++) /* a NaN in the sum of row 1 */
        sent[2 * C - 1] = NAN, dx.v[C + i] = NAN;
    free(dout);
    free(x);
    free(v);
    free(e);
    return mg_call_and_judge(run, &dx, 1);
}

static void softmax_backward_values(mg_run *run, const cuda_case *c)
{
    if (mg_06_shapes(run, c, softmax_backward, MG_06_BLOCKS) && mg_06_again(run, c, softmax_backward, 31, 1025) &&
        mg_06_many_rows(run, "mt_softmax_bwd_cuda", "dx dout out"))
        mg_06_refuse(run, "mt_softmax_bwd_cuda", "dx dout out");
}

void mg_06_softmax_backward(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about != CU_COUNT)
        softmax_backward_values(run, c);
    else if (softmax_backward(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 16.0 * MG_06_ROWS * MG_06_COLS);
}

/* ---- layernorm -------------------------------------------------------------------------------------- */

/* A power of two, which no usual eps is. A small one, which rows of one number show, for the rows of `FEW` columns. */
enum { FEW = 7 };
static float draw_eps(mg_run *run, int64_t C)
{
    return (float)exp2(-(double)(C == FEW ? 20 : mg_pick(mg_rng(run), 6, 16)));
}

/* Some rows repeat one number: their variance is 0. At most 200 times: then mg_gamma holds for rounding errors of one
 * sign too. */
static void repeat_numbers(float *x, int64_t N, int64_t C)
{
    for (int64_t i = 0; i < N * C && C <= 200; i++)
        if (i / C % 4 == 3)
            x[i] = x[i / C * C];
}

/* A NaN in row n: nothing is known of the row. */
static void spoil_row(float *x, const mg_answer answer[3], int64_t n, int64_t C)
{
    x[n * C + C / 2] = NAN;
    for (int64_t c = 0; c < C; c++)
        answer[0].v[n * C + c] = NAN;
    answer[1].v[n] = answer[2].v[n] = NAN;
}

enum { SPOILED = 1 };   /* the row with a NaN */
enum { FAR_ROWS = 71 }; /* rows of the call in which the squares of the first exceed f32 */

/* Judges the call with that row: it becomes NaN, as does its rstd, unless the sums are double. */
static bool judge_far(mg_run *run, const mg_answer answer[3], int64_t C)
{
    bool called = mg_call(run);
    for (int64_t c = 0; c < C && called && isnan(((const float *)mg_result(run, "rstd"))[0]); c++)
        answer[0].v[c] = answer[2].v[0] = NAN;
    mg_hint(run, "where the squares exceed f32, a row and its rstd become NaN, as the header says");
    return mg_judge_answers(run, called, answer, 3);
}

static bool layernorm(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    bool in_place = c->about == CU_SIZES && mt_rng_below(mg_rng(run), 3) == 0;
    mg_dist dist = NORMAL(c->about == CU_LARGE ? 1000 : 0.5, 1);
    float eps = draw_eps(run, c->about == CU_SIZES ? C : 0);
    mg_begin(run, "mt_layernorm_fwd_cuda");
    mg_answer answer[] = { mg_overwritten(run, "out", MT_SHAPE(N, C)), mg_overwritten(run, "mean", MT_SHAPE(N)),
                           mg_overwritten(run, "rstd", MT_SHAPE(N)) };
    float *x = mg_input(run, "x", MT_SHAPE(N, C), dist);
    if (in_place)
        mg_in_place(run, "out", "x");
    repeat_numbers(x, N, C);
    bool far = c->about == CU_LARGE && N == FAR_ROWS;
    for (int64_t i = 0; i < C && far; i++)
        x[i] = i % 2 ? -1e25f : 1e25f;
    const float *gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    const float *beta = mg_input(run, "beta", MT_SHAPE(C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_f32(run, "eps", eps);
    mg_oracle_layernorm(answer[0].v, answer[0].e, answer[1].v, answer[1].e, answer[2].v, answer[2].e, x, gamma, beta, N,
                        C, eps);
    bool spoiled = c->about == CU_SIZES && N > 2 && C < 1000;
    if (spoiled)
        spoil_row(x, answer, SPOILED, C);
    if (far)
        return judge_far(run, answer, C);
    bool called = mg_call(run);
    if (called && spoiled && mg_wrong(run, "rstd", SPOILED, NAN, 0))
        mg_hint(run, "row 1 of x has a NaN, and so no result; fmaxf(NaN, 0) is 0");
    const mg_answer in_order[] = { answer[1], answer[2], answer[0] }; /* out is made from the other two */
    return mg_judge_answers(run, called, in_order, 3);
}

static void layernorm_far(mg_run *run, const cuda_case *c)
{
    if (mg_06_shapes(run, c, layernorm, 0) && layernorm(run, c, FAR_ROWS, 40))
        mg_06_refuse(run, "mt_layernorm_fwd_cuda", "out mean rstd x gamma beta eps");
}

void mg_06_layernorm(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about == CU_SIZES)
        (void)(mg_06_shapes(run, c, layernorm, MG_06_BLOCKS) && mg_06_again(run, c, layernorm, 31, 1025) &&
               mg_06_many_rows(run, "mt_layernorm_fwd_cuda", "out mean rstd x gamma beta eps"));
    else if (c->about != CU_COUNT)
        layernorm_far(run, c);
    else if (layernorm(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 8.0 * MG_06_ROWS * MG_06_COLS);
}

enum { DX = 1, DGAMMA = 2, DBETA = 4, ALL = 7 };

/* As forward would have saved them. */
static void save_moments(float *mean, float *rstd, const float *x, int64_t N, int64_t C, double eps)
{
    for (int64_t n = 0; n < N; n++) {
        double sum = 0, square = 0;
        for (int64_t c = 0; c < C; c++)
            sum += x[n * C + c];
        for (int64_t c = 0; c < C; c++)
            square += pow(x[n * C + c] - sum / (double)C, 2);
        mean[n] = (float)(sum / (double)C);
        rstd[n] = (float)(1 / sqrt(square / (double)C + eps));
    }
}

/* The gradients in `wanted`, the others NULL; those in `judged` are compared. */
static bool backward(mg_run *run, int64_t N, int64_t C, int wanted, int judged)
{
    static const char *const name[] = { "dx", "dgamma", "dbeta" };
    mg_answer answer[3] = { 0 };
    mg_begin(run, "mt_layernorm_bwd_cuda");
    for (int i = 0; i < 3; i++)
        if (wanted >> i & 1)
            answer[i] = mg_accumulated(run, name[i], i ? MT_SHAPE(C) : MT_SHAPE(N, C), true);
        else
            mg_null(run, name[i]);
    mg_layernorm_saved s = { .N = N, .C = C };
    s.dout = mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    s.x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0.5, 1));
    s.gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    float *mean = mg_in(run, "mean", MT_F32, MT_SHAPE(N)), *rstd = mg_in(run, "rstd", MT_F32, MT_SHAPE(N));
    save_moments(mean, rstd, s.x, N, C, draw_eps(run, 0));
    s.mean = mean;
    s.rstd = rstd;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (wanted & DX)
        mg_oracle_layernorm_dx_add(answer[0].v, answer[0].e, &s);
    if (wanted & DGAMMA)
        mg_oracle_layernorm_dgamma_add(answer[1].v, answer[1].e, &s);
    if (wanted & DBETA)
        mg_oracle_layernorm_dbeta_add(answer[2].v, answer[2].e, &s);
    bool good = mg_call(run);
    for (int i = 0; i < 3; i++) {
        good = good && (!(wanted & judged & 1 << i) || mg_expect(run, name[i], answer[i].v, answer[i].e));
        free(answer[i].v);
        free(answer[i].e);
    }
    return good;
}

static bool backward_dx(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    (void)c;
    return backward(run, N, C, DX, DX); /* alone: the row below may be wrong */
}

static bool backward_both(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    (void)c;
    return backward(run, N, C, DGAMMA | DBETA, DGAMMA | DBETA);
}

/* Some of the gradients; all where one array after the other is not aligned. */
static bool backward_affine(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    static const int wanted[] = { DGAMMA | DBETA, DGAMMA, DBETA, ALL };
    (void)c;
    C = mt_min(C, 4099);
    return backward(run, N, C, N == MG_06_GROUPS ? ALL : wanted[mt_rng_below(mg_rng(run), MT_COUNT(wanted))],
                    DGAMMA | DBETA);
}

/* Every subset of the gradients with one of `judged`. */
static bool backward_subsets(mg_run *run, int judged)
{
    bool good = true;
    for (int wanted = 0; wanted <= ALL && good; wanted++) {
        mg_hint(run, "dx, dgamma and dbeta may each be NULL, whichever of the others are");
        good = !(wanted & judged) || backward(run, 9, 33, wanted, judged);
    }
    return good;
}

enum { MANY_MOMENTS = 12301 }; /* more than shared memory holds */

void mg_06_layernorm_backward(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    const int64_t N = 256;
    if (c->about == CU_DX && mg_06_shapes(run, c, backward_dx, MG_06_BLOCKS) &&
        mg_06_again(run, c, backward_dx, 31, 1025) &&
        mg_06_many_rows(run, "mt_layernorm_bwd_cuda", "dx dgamma dbeta dout x gamma mean rstd") &&
        backward_subsets(run, DX))
        mg_06_refuse(run, "mt_layernorm_bwd_cuda", "dx dgamma dbeta dout x gamma mean rstd");
    else if (c->about == CU_AFFINE && mg_06_shapes(run, c, backward_affine, MG_06_BLOCKS) &&
             backward(run, MANY_MOMENTS, 3, DGAMMA | DBETA, DGAMMA | DBETA) && backward_subsets(run, DGAMMA | DBETA))
        mg_06_again(run, c, backward_both, 1031, 19);
    if (c->about != CU_COUNT)
        return;
    if (backward(run, N, MG_06_COLS, ALL, ALL))
        mg_device_credit(run, c->count, 16.0 * (double)N * MG_06_COLS);
}
