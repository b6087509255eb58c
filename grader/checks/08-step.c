/* 08-step.c -- how the checks of the training step run (step 08.12): a linear layer learns to map rows of D numbers
 * to one number, by the mean of the squares and SGD, a batch or some micro-batches a step. The oracle does the same in
 * double. Rows: 08-gpt2.c. */
#include "checks/08-gpt2.h"
#include "checks/answer.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 3, BEFORE = 77 }; /* BEFORE: what *result holds */
enum { RATE = 1, MOST = 16 };    /* the optimizer's before each step; batches of a call */

/* The parts of a row. Those from LARGE on have a gradient that is not finite. */
enum { PLAIN, OTHER_LIMIT, BEYOND_16_BITS, BEYOND_32_BITS, RATE_0, MICRO };
enum { LARGE = MICRO + 1, NO_NUMBER, NO_LIMIT, LARGE_ONLY_BACKWARD };
static const double SLACK = 2000 * 0x1p-24; /* of the largest number: the structure is checked, not the rounding */

typedef struct fit {
    int64_t D, steps, batches, micro, warmup, from; /* from: the number of the first step */
    int64_t period;                                 /* 1: the rates are 0, lr, 0, lr ...; 0: all are lr */
    double lr, clip, momentum, decay;
    const int64_t *rows;  /* [batches] */
    const float *x, *y;   /* [all rows,D], [all rows] */
    double *w, *velocity; /* [D+1], the bias last */
} fit;

static int64_t rows_of(const fit *f, int64_t from, int64_t to)
{
    int64_t rows = 0;
    for (int64_t b = from; b < to; b++)
        rows += f->rows[b];
    return rows;
}

/* Mean loss of the rows of the batches from .. to - 1, and its gradient [D+1]. */
static double loss_of(double *grad, const fit *f, int64_t from, int64_t to)
{
    double loss = 0, N = (double)rows_of(f, from, to);
    memset(grad, 0, (size_t)(f->D + 1) * sizeof *grad);
    for (int64_t n = rows_of(f, 0, from); n < rows_of(f, 0, to); n++) {
        double apart = f->w[f->D] - f->y[n];
        for (int64_t d = 0; d < f->D; d++)
            apart += f->w[d] * f->x[n * f->D + d];
        loss += apart * apart / N;
        for (int64_t d = 0; d <= f->D; d++)
            grad[d] += 2 * apart * (d < f->D ? f->x[n * f->D + d] : 1) / N;
    }
    return loss;
}

/* One step; returns its loss. A gradient that is not finite changes nothing where there is a limit; without one it is
 * what the parameter becomes. */
static double step_of(fit *f, int64_t step)
{
    double *grad = mg_doubles(f->D + 1), squares = 0, factor = 1;
    double loss = loss_of(grad, f, step * f->micro, (step + 1) * f->micro),
           lr = f->from + step < f->warmup   ? f->lr * (double)(f->from + step + 1) / (double)f->warmup
                : f->period && step % 2 == 0 ? 0
                                             : f->lr;
    bool finite = true;
    for (int64_t d = 0; d <= f->D; d++) {
        squares += grad[d] * grad[d];
        finite = finite && fabs(grad[d]) < 3.4e38; /* as f32 */
    }
    if (f->clip > 0 && sqrt(squares) > f->clip)
        factor = f->clip / sqrt(squares);
    for (int64_t d = 0; d <= f->D && (finite || f->clip == 0); d++) {
        double slope = fabs(grad[d]) < 3.4e38 ? factor * grad[d] : copysign(INFINITY, grad[d]);
        f->velocity[d] = f->momentum * f->velocity[d] + slope + f->decay * f->w[d];
        f->w[d] -= lr * f->velocity[d];
    }
    free(grad);
    return loss < 3.4e38 || isnan(loss) ? loss : INFINITY;
}

static void expect_steps(mg_answer answer[6], fit *f)
{
    for (int64_t s = 0; s < f->steps; s++) {
        bool more = (s + 1) * f->micro <= f->batches;
        double loss = more ? step_of(f, s) : BEFORE, largest = 1;
        for (int64_t d = 0; d <= f->D; d++)
            largest = isfinite(f->w[d]) ? fmax(largest, fabs(f->w[d])) : largest;
        for (int64_t d = 0; d <= f->D; d++) {
            answer[0].v[s * (f->D + 1) + d] = f->w[d];
            answer[0].e[s * (f->D + 1) + d] = SLACK * largest;
        }
        answer[1].v[s] = loss;
        answer[1].e[s] = SLACK * (1 + loss);
        answer[2].v[s] = more ? (double)rows_of(f, s * f->micro, (s + 1) * f->micro) : BEFORE;
        answer[3].v[s] = more;
        answer[5].v[s] = RATE;
        answer[5].e[s] = more ? INFINITY : 0; /* only without a batch it must not change */
    }
}

/* The inputs of a call but for its scalars: batches of unequal sizes. */
static void data_in(mg_run *run, fit *f, float **x, float **first)
{
    int64_t rows[MOST];
    MT_CHECK(f->batches <= MOST, "%lld batches", (long long)f->batches);
    for (int64_t b = 0; b < f->batches; b++)
        rows[b] = mg_pick(mg_rng(run), 2, 3) + b % 2 * 3;
    f->rows = rows;
    int64_t all = rows_of(f, 0, f->batches);
    f->x = *x = mg_input(run, "x", MT_SHAPE(all, f->D), (mg_dist)NORMAL(0, 1));
    f->y = mg_input(run, "y", MT_SHAPE(all), (mg_dist)NORMAL(1, 2));
    *first = mg_input(run, "first", MT_SHAPE(f->D + 1), (mg_dist)NORMAL(0, 1));
    f->rows = memcpy(mg_in(run, "rows", MT_I64, MT_SHAPE(f->batches)), rows, (size_t)f->batches * sizeof *rows);
}

/* Batches of one step, each with a share that is not 1, as for accumulated gradients. */
void mg_08_batch(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < CALLS; t++) {
        mt_rng *rng = mg_rng(run);
        fit f = { .D = mg_pick(rng, 2, 5), .batches = mg_pick(rng, 2, 4) };
        float share = (float)mg_pick(rng, 2, 15) / 16, *x, *first;
        double largest = 1;
        mg_begin(run, "mt_train_batch");
        mg_answer answer[] = { mg_overwritten(run, "gradients", MT_SHAPE(f.D + 1)),
                               mg_overwritten(run, "loss", MT_SHAPE(1)) };
        mg_out(run, "samples, batches", MT_I64, MT_SHAPE(2));
        data_in(run, &f, &x, &first);
        mg_f32(run, "share", share);
        f.w = mg_lift(first, f.D + 1);
        double *grad = mg_doubles(f.D + 1), facts[] = { (double)rows_of(&f, 0, f.batches), (double)f.batches };
        for (int64_t b = 0; b < f.batches; b++) {
            double loss = loss_of(grad, &f, b, b + 1);
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

/* Something in the second batch gives a gradient that is not finite. */
static void overflow(fit *f, float *x, float *first, int part)
{
    float *second = x + f->rows[0] * f->D;
    second[0] = part == NO_NUMBER ? NAN : 1e25f; /* its square overflows f32 */
    for (int64_t n = 0; n < f->rows[0] && part == LARGE_ONLY_BACKWARD; n++)
        x[n * f->D] = 0; /* its weight remains small, and so does its part of the loss */
    if (part == LARGE_ONLY_BACKWARD)
        first[0] = 1e-8f;
}

static fit fit_of(mg_run *run, const step_case *c, int part)
{
    mt_rng *rng = mg_rng(run);
    fit f = {
        .D = mg_pick(rng, 2, 5), .steps = c->steps, .micro = 1, .lr = 0.05, .clip = c->clip, .warmup = c->warmup
    };
    if (part == OTHER_LIMIT || part == NO_NUMBER)
        f.clip = c->clip < 1 ? 5e-4 : INFINITY;
    if (part == BEYOND_16_BITS || part == BEYOND_32_BITS) {
        f.from = ((int64_t)1 << (part == BEYOND_16_BITS ? 16 : 32)) + mg_pick(rng, 200, 2000);
        f.warmup = 2 * f.from;
    }
    if (part == RATE_0)
        f.period = 1, f.warmup = 0, f.momentum = 0.9;
    if (part == MICRO)
        f.micro = c->micro;
    if (part >= LARGE) /* a step with gradients of 0 would change the parameters */
        f.momentum = 0.9, f.decay = 0.1;
    if (part == NO_LIMIT)
        f.clip = 0, f.steps = 2;
    f.batches = (f.steps - c->missing) * f.micro + (c->missing ? f.micro - 1 : 0);
    return f;
}

static bool steps_once(mg_run *run, const step_case *c, int part)
{
    fit f = fit_of(run, c, part);
    float *x, *first;
    mg_begin(run, "mt_train_step");
    mg_answer answer[6] = { mg_overwritten(run, "params", MT_SHAPE(f.steps, f.D + 1)),
                            mg_overwritten(run, "loss", MT_SHAPE(f.steps)) };
    static const char *const integers[] = { "samples", "more", "kept" };
    for (int i = 0; i < 3; i++) {
        int64_t n = i < 2 ? f.steps : 1;
        mg_out(run, integers[i], MT_I64, MT_SHAPE(n));
        answer[2 + i] = (mg_answer){ integers[i], mg_doubles(n), mg_doubles(n), n };
    }
    answer[5] = mg_overwritten(run, "rate", MT_SHAPE(f.steps));
    data_in(run, &f, &x, &first);
    if (part >= LARGE)
        overflow(&f, x, first, part);
    mg_f32(run, "lr", (float)f.lr);
    mg_f32(run, "clip", (float)f.clip);
    mg_f32(run, "momentum", (float)f.momentum);
    mg_f32(run, "weight decay", (float)f.decay);
    mg_i64(run, "warmup", f.warmup);
    mg_i64(run, "first step", f.from);
    mg_i64(run, "result before", BEFORE);
    mg_i64(run, "micro", f.micro);
    mg_i64(run, "period", f.period);
    f.w = mg_lift(first, f.D + 1);
    f.velocity = mg_doubles(f.D + 1);
    expect_steps(answer, &f);
    mg_08_drop(answer, 6, c->judged);
    free(f.w);
    free(f.velocity);
    return mg_call_and_judge(run, answer, 6);
}

#define BITS "the step is an int64_t: pass it on as it is"

void mg_08_step(mg_run *run, const void *one_case)
{
    const step_case *c = one_case;
    const struct {
        const char *part, *hint;
        bool has;
    } parts[] = {
        [PLAIN] = { NULL, NULL, !c->overflow },
        [OTHER_LIMIT] = { c->clip < 1 ? "a tiny limit" : "an infinite limit", NULL, c->clip > 0 && !c->overflow },
        [BEYOND_16_BITS] = { "a step beyond 16 bits", BITS, c->warmup },
        [BEYOND_32_BITS] = { "a step beyond 32 bits", BITS, c->warmup },
        [RATE_0] = { "a rate of 0", "a step whose rate is 0 is made like any other: clear the gradients, update, count",
                     c->warmup },
        [MICRO] = { "micro-batches", "a step has t->micro batches: gradients() adds up the gradients of all of them",
                    c->micro },
        [LARGE] = { NULL, NULL, c->overflow },
        [NO_NUMBER] = { "a gradient that is NaN, and an infinite limit", NULL, c->overflow },
        [NO_LIMIT] = { "no limit", NULL, c->overflow },
        [LARGE_ONLY_BACKWARD] = { "a loss that is finite", NULL, c->overflow },
    };
    for (int p = 0; p < MT_COUNT(parts); p++) {
        mg_part(run, parts[p].part, parts[p].hint);
        for (int t = 0; t < (p == PLAIN ? CALLS : 1) && parts[p].has; t++)
            if (!steps_once(run, c, p))
                return;
    }
}
