/* 11-norm.c -- how the checks of residual + layernorm run (steps 11.3, 11.8). Rows: 11-fusion.c. The sum of two numbers
 * has one right rounding, bit for bit; what follows is layernorm's oracle with that sum. */
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "checks/06-cuda.h"
#include "checks/08-gpt2.h"
#include "checks/oracle.h"

enum { CALLS = 5, ROWS = 1024, COLUMNS = 384 }; /* of each row; of the counted call: 1.5 MiB an array */
enum { FEW = 5, WIDE = 133, OVERFLOW = 3 };     /* the call in which the squares of this row exceed f32 */

typedef bool norm_fn(mg_run *run, const residual_case *c, int64_t N, int64_t C);

static bool norm_calls(mg_run *run, const residual_case *c, norm_fn *once)
{
    for (int t = 0; t < CALLS; t++)
        if (!once(run, c, mg_size(run, c->N, 80), mg_size(run, c->C, 200)))
            return false;
    if (c->N >= 0 || c->C >= 0 || c->constant)
        return true;
    bool good = once(run, c, 67, 131) && /* several threads: searched for data races */
                once(run, c, FEW, WIDE) &&
                once(run, c, 3, c->cuda ? 4131 : 65539); /* more columns than stay in shared memory, or in an array */
    if (c->cuda && good)
        good = once(run, c, 2, 16411) && /* than fit there */
               (c->wanted
                    ? mg_06_many_rows(run, "mt_residual_norm_rows_bwd_cuda", "dx dpart dsum dout sum gamma mean rstd")
                    : mg_06_many_rows(run, "mt_residual_norm_fwd_cuda", "sum out mean rstd x part gamma beta eps"));
    for (int k = 0; k < MG_UNALIGNED_ONES && c->cuda && good; k++) {
        mg_unaligned_one(run, k);
        good = once(run, c, 3, 64);
    }
    mg_unaligned(run, false);
    return good;
}

static bool judge(mg_run *run, const residual_case *c, int64_t N, const mg_answer *answer, int count)
{
    if (c->cuda)
        return mg_call_and_judge(run, answer, count);
    if (!c->bar)
        return mg_searched_and_judge(run, N == 67, answer, count);
    bool good = mg_traffic_call(run, MG_L2);
    for (int k = 0; k < count; k++) {
        good = good && (!answer[k].v || mg_expect(run, answer[k].name, answer[k].v, answer[k].e));
        mg_answer_drop((mg_answer *)&answer[k]);
    }
    if (good)
        mg_traffic_credit(run, c->bar, (double)sizeof(float) * ROWS * COLUMNS * (c->wanted ? 7 : 6));
    return good;
}

/* ---- forward --------------------------------------------------------------------------------------- */

/* Each row of both repeats its first number. */
static void make_constant(float *x, int64_t N, int64_t C)
{
    for (int64_t i = 0; i < N * C; i++)
        x[i] = x[i / C * C];
}

static bool forward(mg_run *run, const residual_case *c, int64_t N, int64_t C)
{
    float eps = (float)exp2(-(double)(C == 1 ? 20 : mg_pick(mg_rng(run), 6, 16)));
    mg_begin(run, c->cuda ? "mt_residual_norm_fwd_cuda" : "mt_residual_norm_fwd_cpu");
    mg_answer answer[] = { mg_overwritten(run, "sum", MT_SHAPE(N, C)), mg_overwritten(run, "out", MT_SHAPE(N, C)),
                           mg_overwritten(run, "mean", MT_SHAPE(N)), mg_overwritten(run, "rstd", MT_SHAPE(N)) };
    float *x = mg_input(run, "x", MT_SHAPE(N, C), c->dist);
    if (c->in_place)
        mg_in_place(run, "sum", "x");
    float *part = mg_input(run, "part", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    if (c->constant)
        make_constant(x, N, C), make_constant(part, N, C);
    bool overflow = N == FEW && C == WIDE;
    for (int64_t i = 0; i < C && overflow; i++)
        x[OVERFLOW * C + i] = i % 2 ? 1e25f : -1e25f;
    const float *gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    const float *beta = mg_input(run, "beta", MT_SHAPE(C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    mg_f32(run, "eps", eps);
    float *sum = malloc((size_t)mt_max(N * C, 1) * sizeof *sum);
    MT_CHECK(sum, "out of memory");
    for (int64_t i = 0; i < N * C; i++) {
        answer[0].v[i] = sum[i] = (float)((double)x[i] + (double)part[i]);
        answer[0].e[i] = 0;
    }
    mg_oracle_layernorm(answer[1].v, answer[1].e, answer[2].v, answer[2].e, answer[3].v, answer[3].e, sum, gamma, beta,
                        N, C, eps);
    free(sum);
    if (!overflow)
        return judge(run, c, N, answer, 4);
    bool called = mg_call(run);
    for (int64_t i = 0; i < C && called && isnan(((const float *)mg_result(run, "rstd"))[OVERFLOW]); i++)
        answer[1].v[OVERFLOW * C + i] = answer[3].v[OVERFLOW] = NAN;
    mg_hint(run, "where the squares exceed f32, a row and its rstd become NaN");
    return mg_judge_answers(run, called, answer, 4);
}

/* A row without columns. */
static void refuse(mg_run *run, bool cuda)
{
    static const char *const names[] = { "sum", "out", "mean", "rstd", "x", "part", "gamma", "beta" };
    mg_begin(run, cuda ? "may abort: mt_residual_norm_fwd_cuda" : "may abort: mt_residual_norm_fwd_cpu");
    for (int i = 0; i < 8; i++)
        if (i < 4)
            mg_out(run, names[i], MT_F32, MT_SHAPE(i >= 2)); /* mean and rstd have a number for the row */
        else
            mg_in(run, names[i], MT_F32, MT_SHAPE(0));
    mg_i64(run, "N", 1);
    mg_i64(run, "C", 0);
    mg_f32(run, "eps", 1);
    mg_call_aborts(run, "keep the check: the header says \"Aborts: C < 1 with N > 0\"");
}

void mg_11_residual(mg_run *run, const void *one_case)
{
    const residual_case *c = one_case;
    if (norm_calls(run, c, forward) && c->N == 0 && forward(run, c, 0, 0)) /* no columns where there are no rows */
        refuse(run, c->cuda);
}

/* ---- backward -------------------------------------------------------------------------------------- */

/* Held, dsum and layernorm's gradient are added in some order: two roundings of at most all three magnitudes. */
static void expect_rows(mg_answer *a, const mg_layernorm_saved *s, const float *dsum)
{
    int64_t n = s->N * s->C;
    double *held = mg_doubles(n);
    memcpy(held, a->v, (size_t)n * sizeof *held);
    mg_oracle_layernorm_dx_add(a->v, a->e, s);
    for (int64_t i = 0; i < n && dsum; i++) {
        a->e[i] += 2 * MG_U * (fabs(held[i]) + fabs(a->v[i] - held[i]) + fabs((double)dsum[i]));
        a->v[i] += dsum[i];
    }
    free(held);
}

static void describe_gradients(mg_run *run, const residual_case *c, mg_answer grad[4], int64_t N, int64_t C)
{
    static const char *const name[] = { "dx", "dpart", "dgamma", "dbeta" };
    for (int i = 0; i < (c->cuda ? 2 : 4); i++)
        if (c->wanted >> i & 1)
            grad[i] = mg_accumulated(run, name[i], i < 2 ? MT_SHAPE(N, C) : MT_SHAPE(C), c->held);
        else
            mg_null(run, name[i]);
}

/* Returns dout, which may be changed before the call. */
static float *describe_backward(mg_run *run, const residual_case *c, mg_answer grad[4], int64_t N, int64_t C)
{
    mg_layernorm_saved s = { .N = N, .C = C };
    const float *dsum = NULL;
    mg_begin(run, c->cuda ? "mt_residual_norm_rows_bwd_cuda" : "mt_residual_norm_bwd_cpu");
    describe_gradients(run, c, grad, N, C);
    if (c->alone)
        mg_null(run, "dsum");
    else
        dsum = mg_input(run, "dsum", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    float *dout = mg_input(run, "dout", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    s.dout = dout;
    s.x = mg_input(run, "sum", MT_SHAPE(N, C), c->dist);
    s.gamma = mg_input(run, "gamma", MT_SHAPE(C), (mg_dist)NORMAL(1, 0.5));
    float *mean = mg_in(run, "mean", MT_F32, MT_SHAPE(N)), *rstd = mg_in(run, "rstd", MT_F32, MT_SHAPE(N));
    mg_08_save_moments(mean, rstd, &s, 0x1p-10f);
    s.mean = mean;
    s.rstd = rstd;
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    for (int i = 0; i < 2; i++)
        if (grad[i].v)
            expect_rows(&grad[i], &s, dsum);
    if (grad[2].v)
        mg_oracle_layernorm_dgamma_add(grad[2].v, grad[2].e, &s);
    if (grad[3].v)
        mg_oracle_layernorm_dbeta_add(grad[3].v, grad[3].e, &s);
    return dout;
}

static bool backward(mg_run *run, const residual_case *c, int64_t N, int64_t C)
{
    mg_answer grad[4] = { 0 };
    describe_backward(run, c, grad, N, C);
    return judge(run, c, N, grad, 4);
}

/* One number of dout is NaN: its row of dx or dpart has no result, the other rows have theirs. */
static void backward_nan(mg_run *run, const residual_case *c)
{
    mg_answer grad[4] = { 0 }, *a = &grad[c->wanted == MG_DPART];
    int64_t N = mg_pick(mg_rng(run), 2, 9), C = mg_pick(mg_rng(run), 2, 90), at = mg_pick(mg_rng(run), 0, N * C - 1);
    describe_backward(run, c, grad, N, C)[at] = NAN;
    bool good = mg_call(run);
    const float *got = good ? mg_result(run, a->name) : NULL;
    mg_hint(run, "a NaN must not be lost, and rows do not depend on each other");
    for (int64_t i = 0; i < N * C && good; i++) {
        good = i / C == at / C ? isnan(got[i]) : fabs((double)got[i] - a->v[i]) <= a->e[i];
        if (!good)
            mg_fail(run, "%s[%lld,%lld] is %g: of dout only [%lld,%lld] is NaN, so that row %lld alone has no result",
                    a->name, (long long)(i / C), (long long)(i % C), (double)got[i], (long long)(at / C),
                    (long long)(at % C), (long long)(at / C));
    }
    mg_answer_drop(a);
}

/* Every subset of the gradients. */
static void backward_subsets(mg_run *run, const residual_case *c)
{
    bool good = true;
    mg_part(run, "some gradients", "dx, dpart, dgamma and dbeta may each be NULL, whichever of the others are");
    for (int wanted = 0; wanted < 16 && good; wanted++) {
        residual_case part = *c;
        part.wanted = wanted;
        good = backward(run, &part, 9, 33);
    }
}

void mg_11_residual_backward(mg_run *run, const void *one_case)
{
    const residual_case *c = one_case;
    if (norm_calls(run, c, backward) && c->N < 0 && (c->wanted == MG_DX_OF_SUM || c->wanted == MG_DPART))
        backward_nan(run, c);
    if (c->held && !c->cuda)
        backward_subsets(run, c);
}

void mg_11_residual_traffic(mg_run *run, const void *one_case)
{
    const residual_case *c = one_case;
    (c->wanted ? backward : forward)(run, c, ROWS, COLUMNS);
}

/* ---- counted on the device ------------------------------------------------------------------------- */

/* 768 columns, as in GPT-2; gradients of gamma and beta are lab 06's kernel. */
void mg_11_residual_count(mg_run *run, const void *one_case)
{
    const residual_case *c = one_case;
    enum { N = 48, C = 768 };
    if (!(c->wanted ? backward : forward)(run, c, N, C))
        return;
    const mg_device_report *r = mg_device_counts(run);
    if (r->launches != 1)
        mg_fail(run, "%lld launches: fuse the residual sum and layernorm into one", (long long)r->launches);
    if (c->count == MG_CONFLICTS && r->shared[0].requests + r->shared[1].requests + r->shared[2].requests == 0) {
        mg_note(run, "no shared memory, and so no conflicts"); /* columns may be in registers, sums by shuffles */
        return;
    }
    /* Forward reads x and part, writes sum and out; backward reads dsum, dout and sum, reads and writes both others. */
    double bytes = 4.0 * N * C * (c->wanted ? 7 : 4);
    if (c->count == MG_TRAFFIC)
        mg_device_credit(run, MG_TRAFFIC, bytes);
    else
        mg_device_credit_shared(run, c->count,
                                c->wanted ? "11.8 residual norm backward on the device: traffic"
                                          : "11.8 residual norm on the device: traffic",
                                bytes);
}
