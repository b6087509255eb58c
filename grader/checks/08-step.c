/* 08-step.c -- how the checks of the training step run (step 08.12): a linear layer learns to map rows of D numbers
 * to one number, by the mean of the squares and SGD, a batch a step. The oracle does the same in double. Rows:
 * 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3, BEFORE = 77 };            /* BEFORE: what *result holds */
static const double SLACK = 2000 * 0x1p-24; /* of the largest number: the structure is checked, not the rounding */

typedef struct fit {
    int64_t D, N, steps, batches, warmup, from; /* from: the number of the first step */
    double lr, clip;
    const float *x, *y; /* [batches,N,D], [batches,N] */
    double *w;          /* [D+1], the bias last */
} fit;

/* Loss of batch b, and its gradient [D+1]. */
static double loss_of(double *grad, const fit *f, int64_t b)
{
    double loss = 0;
    memset(grad, 0, (size_t)(f->D + 1) * sizeof *grad);
    for (int64_t n = b * f->N; n < (b + 1) * f->N; n++) {
        double apart = f->w[f->D] - f->y[n];
        for (int64_t d = 0; d < f->D; d++)
            apart += f->w[d] * f->x[n * f->D + d];
        loss += apart * apart / (double)f->N;
        for (int64_t d = 0; d <= f->D; d++)
            grad[d] += 2 * apart * (d < f->D ? f->x[n * f->D + d] : 1) / (double)f->N;
    }
    return loss;
}

/* One step; returns its loss. A gradient that is not finite changes nothing where there is a limit; without one it is
 * what the parameter becomes. */
static double step_of(fit *f, int64_t step)
{
    double *grad = mg_doubles(f->D + 1), squares = 0, factor = 1;
    double loss = loss_of(grad, f, step),
           lr = f->from + step < f->warmup ? f->lr * (double)(f->from + step + 1) / (double)f->warmup : f->lr;
    bool finite = true;
    for (int64_t d = 0; d <= f->D; d++) {
        squares += grad[d] * grad[d];
        finite = finite && fabs(grad[d]) < 3.4e38; /* as f32 */
    }
    if (f->clip > 0 && sqrt(squares) > f->clip)
        factor = f->clip / sqrt(squares);
    for (int64_t d = 0; d <= f->D && (finite || f->clip == 0); d++)
        f->w[d] -= fabs(grad[d]) < 3.4e38 ? lr * factor * grad[d] : copysign(INFINITY, grad[d]);
    free(grad);
    return loss;
}

static void expect_steps(mg_answer answer[5], fit *f)
{
    for (int64_t s = 0; s < f->steps; s++) {
        bool more = s < f->batches;
        double loss = more ? step_of(f, s) : BEFORE, largest = 1;
        for (int64_t d = 0; d <= f->D; d++)
            largest = isfinite(f->w[d]) ? fmax(largest, fabs(f->w[d])) : largest;
        for (int64_t d = 0; d <= f->D; d++) {
            answer[0].v[s * (f->D + 1) + d] = f->w[d];
            answer[0].e[s * (f->D + 1) + d] = SLACK * largest;
        }
        answer[1].v[s] = loss;
        answer[1].e[s] = loss < 1e30 ? SLACK * (1 + loss) : INFINITY;
        answer[2].v[s] = more ? (double)f->N : BEFORE;
        answer[3].v[s] = more;
    }
}

/* Batches of one step, each with a share that is not 1, as for accumulated gradients. */
void mg_08_batch(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < CALLS; t++) {
        mt_rng *rng = mg_rng(run);
        fit f = { .D = mg_pick(rng, 2, 5), .N = mg_pick(rng, 2, 6), .batches = mg_pick(rng, 2, 4) };
        float share = (float)mg_pick(rng, 2, 15) / 16;
        double facts[] = { (double)(f.batches * f.N), (double)f.batches }, largest = 1;
        mg_begin(run, "mt_train_batch");
        mg_answer answer[] = { mg_overwritten(run, "gradients", MT_SHAPE(f.D + 1)),
                               mg_overwritten(run, "loss", MT_SHAPE(1)) };
        mg_out(run, "samples, batches", MT_I64, MT_SHAPE(2));
        f.x = mg_input(run, "x", MT_SHAPE(f.batches, f.N, f.D), (mg_dist)NORMAL(0, 1));
        f.y = mg_input(run, "y", MT_SHAPE(f.batches, f.N), (mg_dist)NORMAL(1, 2));
        f.w = mg_lift(mg_input(run, "first", MT_SHAPE(f.D + 1), (mg_dist)NORMAL(0, 1)), f.D + 1);
        mg_f32(run, "share", share);
        mg_i64(run, "N", f.N);
        double *grad = mg_doubles(f.D + 1);
        for (int64_t b = 0; b < f.batches; b++) {
            double loss = loss_of(grad, &f, b);
            answer[1].v[0] += share * loss;
            for (int64_t d = 0; d <= f.D; d++) {
                answer[0].v[d] += share * grad[d];
                largest = fmax(largest, fmax(loss, fabs(grad[d])));
            }
        }
        for (int64_t d = 0; d <= f.D; d++)
            answer[0].e[d] = SLACK * largest;
        answer[1].e[0] = SLACK * largest;
        free(grad);
        free(f.w);
        if (!mg_call_and_judge(run, answer, 2) || !mg_expect(run, "samples, batches", facts, NULL))
            return;
    }
}

static bool steps_once(mg_run *run, const step_case *c, int call)
{
    mt_rng *rng = mg_rng(run);
    fit f = { .D = mg_pick(rng, 2, 5), .N = mg_pick(rng, 2, 6), .steps = c->steps, .batches = c->steps - c->missing };
    f.lr = 0.05, f.clip = c->overflow && call == 2 ? 0 : c->clip, f.warmup = c->warmup;
    if (c->warmup && call > 0) { /* late in a long run: numbers beyond 16 and 32 bits */
        f.from = ((int64_t)1 << (call == 1 ? 16 : 32)) + mg_pick(rng, 200, 2000);
        f.warmup = 2 * f.from;
    }
    mg_begin(run, "mt_train_step");
    mg_answer answer[5] = { mg_overwritten(run, "params", MT_SHAPE(f.steps, f.D + 1)),
                            mg_overwritten(run, "loss", MT_SHAPE(f.steps)) };
    static const char *const integers[] = { "samples", "more", "kept" };
    for (int i = 0; i < 3; i++) {
        int64_t n = i < 2 ? f.steps : 1;
        mg_out(run, integers[i], MT_I64, MT_SHAPE(n));
        answer[2 + i] = (mg_answer){ integers[i], mg_doubles(n), mg_doubles(n), n };
    }
    float *x = mg_input(run, "x", MT_SHAPE(f.batches, f.N, f.D), (mg_dist)NORMAL(0, 1));
    f.y = mg_input(run, "y", MT_SHAPE(f.batches, f.N), (mg_dist)NORMAL(1, 2));
    const float *first = mg_input(run, "first", MT_SHAPE(f.D + 1), (mg_dist)NORMAL(0, 1));
    if (c->overflow)
        x[0] = call == 1 ? NAN : 1e25f; /* its square overflows f32 */
    f.x = x;
    mg_f32(run, "lr", (float)f.lr);
    mg_f32(run, "clip", (float)f.clip);
    mg_i64(run, "N", f.N);
    mg_i64(run, "warmup", f.warmup);
    mg_i64(run, "first step", f.from);
    mg_i64(run, "*result before", BEFORE);
    f.w = mg_lift(first, f.D + 1);
    expect_steps(answer, &f);
    for (int k = 0; k < 5; k++)
        if (!(c->judged >> k & 1))
            mg_answer_drop(&answer[k]);
    free(f.w);
    return mg_call_and_judge(run, answer, 5);
}

void mg_08_step(mg_run *run, const void *one_case)
{
    for (int t = 0; t < CALLS; t++)
        if (!steps_once(run, one_case, t))
            return;
}
