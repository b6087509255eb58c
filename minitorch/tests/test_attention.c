/* test_attention.c -- every step of the attention ladder against the formulas in double precision: lengths around a
 * tile, heads of odd width, large scores, accumulated gradients, and the same bits for any thread count. */
#include "core/rng.h"
#include "testing/attention_ladder.h"

#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

typedef struct problem {
    int64_t B, T, C, H;
    float *qkv, *dout;          /* given */
    double *out, *dqkv, *saved; /* expected; saved: the probabilities [B,H,T,T] */
} problem;

static void *zeros(int64_t n, size_t size)
{
    void *p = calloc((size_t)(n > 0 ? n : 1), size);
    cr_assert(p);
    return p;
}

/* One query: its row of probabilities, its output, its part of the gradients. */
static void one_row(problem *p, int64_t b, int64_t h, int64_t i)
{
    int64_t D = p->C / p->H, step = 3 * p->C, first = b * p->T * step + h * D, at = (b * p->T + i) * p->C + h * D;
    const float *q = p->qkv + first + i * step, *k = p->qkv + first + p->C, *v = k + p->C;
    double *prob = p->saved + ((b * p->H + h) * p->T + i) * p->T, max = -INFINITY, sum = 0, delta = 0;
    double *dq = p->dqkv + first + i * step, *dk = p->dqkv + first + p->C, *dv = dk + p->C;
    for (int64_t j = 0; j <= i; j++) {
        for (int64_t d = 0; d < D; d++)
            prob[j] += (double)q[d] * k[j * step + d] / sqrt((double)D);
        max = fmax(max, prob[j]);
    }
    for (int64_t j = 0; j <= i; j++)
        sum += prob[j] = exp(prob[j] - max);
    for (int64_t j = 0; j <= i; j++) {
        prob[j] /= sum;
        for (int64_t d = 0; d < D; d++)
            p->out[at + d] += prob[j] * v[j * step + d];
    }
    for (int64_t d = 0; d < D; d++)
        delta += (double)p->dout[at + d] * p->out[at + d];
    for (int64_t j = 0; j <= i; j++) {
        double dp = 0;
        for (int64_t d = 0; d < D; d++)
            dp += (double)p->dout[at + d] * v[j * step + d];
        for (int64_t d = 0; d < D; d++) {
            double ds = prob[j] * (dp - delta) / sqrt((double)D);
            dq[d] += ds * k[j * step + d];
            dk[j * step + d] += ds * q[d];
            dv[j * step + d] += prob[j] * p->dout[at + d];
        }
    }
}

static problem problem_new(int64_t B, int64_t T, int64_t C, int64_t H, float size)
{
    problem p = { .B = B, .T = T, .C = C, .H = H };
    int64_t n = B * T * C;
    mt_rng rng = mt_rng_new((uint64_t)(T * 1000 + C), MT_STREAM_TEST);
    p.qkv = zeros(3 * n, sizeof *p.qkv);
    p.dout = zeros(n, sizeof *p.dout);
    p.out = zeros(n, sizeof *p.out);
    p.dqkv = zeros(3 * n, sizeof *p.dqkv);
    p.saved = zeros(B * H * T * T, sizeof *p.saved);
    mt_rng_fill_normal(&rng, p.qkv, 3 * n, 0, size);
    for (int64_t i = 0; i < 3 * n; i++)
        p.qkv[i] = mt_bf16_to_f32(mt_bf16_from_f32(p.qkv[i]));
    mt_rng_fill_normal(&rng, p.dout, n, 0, 1);
    for (int64_t task = 0; task < B * H * T; task++)
        one_row(&p, task / T / H, task / T % H, task % T);
    return p;
}

static void problem_free(problem *p)
{
    free(p->qkv);
    free(p->dout);
    free(p->out);
    free(p->dqkv);
    free(p->saved);
}

/* Within `slack` roundings of the largest element. */
static void near(const char *rung, const char *what, const float *got, const double *want, int64_t n, double slack)
{
    double largest = 0;
    for (int64_t i = 0; i < n; i++)
        largest = fmax(largest, fabs(want[i]));
    for (int64_t i = 0; i < n; i++)
        cr_assert(fabs((double)got[i] - want[i]) <= slack * 0x1p-24 * largest, "%s: %s[%lld] is %g, not %g", rung, what,
                  (long long)i, (double)got[i], want[i]);
}

/* A rung of bf16 reads qkv exactly: it has numbers of so few bits. */
static void run(const problem *p, const mt_attention_rung *rung, float *out, float *dqkv)
{
    float *saved = zeros(rung->saved(p->B, p->T, p->H), sizeof *saved);
    mt_bf16 *rounded = zeros(p->B * p->T * 3 * p->C, sizeof *rounded);
    for (int64_t i = 0; i < p->B * p->T * 3 * p->C; i++)
        rounded[i] = mt_bf16_from_f32(p->qkv[i]);
    if (rung->fwd)
        rung->fwd(out, saved, p->qkv, p->B, p->T, p->C, p->H);
    else
        rung->fwd_bf16(out, saved, rounded, p->B, p->T, p->C, p->H);
    rung->bwd(dqkv, p->dout, p->qkv, out, saved, p->B, p->T, p->C, p->H);
    free(rounded);
    free(saved);
}

static void try_all(int64_t B, int64_t T, int64_t C, int64_t H, float size)
{
    problem p = problem_new(B, T, C, H, size);
    int64_t n = B * T * C;
    double slack = 64 * (4 + (double)size * (double)size) * sqrt((double)(T + C / H));
    for (const mt_attention_rung *rung = mt_attention_ladder_cpu; rung->name; rung++) {
        if (!rung->fwd && C > 128 * H)
            continue;
        float *out = zeros(n, sizeof *out), *dqkv = zeros(3 * n, sizeof *dqkv), *again = zeros(4 * n, sizeof *again);
        run(&p, rung, out, dqkv);
        /* Weights of 8 bits: each is off by 2^-8 of it, 2^16 roundings, and out by as much of the largest value, which
         * may be some times the largest out; delta, and so dqkv, by as much for the D terms of dout . out. */
        double coarse = rung->fwd ? 0 : 0x1p16 * 4;
        near(rung->name, "out", out, p.out, n, slack + coarse);
        near(rung->name, "dqkv", dqkv, p.dqkv, 3 * n, slack + coarse * (double)size);
        omp_set_num_threads(3);
        run(&p, rung, again, again + n);
        omp_set_num_threads(omp_get_num_procs());
        cr_assert(memcmp(again, out, (size_t)n * 4) == 0 && memcmp(again + n, dqkv, (size_t)(3 * n) * 4) == 0,
                  "%s: other bits on three threads", rung->name);
        free(out);
        free(dqkv);
        free(again);
    }
    problem_free(&p);
}

Test(attention, every_rung_beside_the_formulas)
{
    static const int64_t length[] = { 0, 1, 2, 7, 63, 64, 65, 130 };
    for (int64_t i = 0; i < MT_COUNT(length); i++) {
        try_all(2, length[i], 15, 3, 1);
        try_all(1, length[i], 34, 1, 1);
    }
    try_all(1, 257, 5, 1, 1);  /* a task of the packed rung has 252 queries, */
    try_all(1, 33, 128, 1, 1); /* and a row of its tiles 128 numbers */
    try_all(1, 3, 129, 1, 1);
    try_all(0, 5, 8, 2, 1);
    try_all(1, 100, 16, 2, 6);
}

Test(attention, gradients_are_added)
{
    problem p = problem_new(1, 9, 6, 2, 1);
    for (const mt_attention_rung *rung = mt_attention_ladder_cpu; rung->name; rung++) {
        float out[9 * 6], once[9 * 18] = { 0 }, twice[9 * 18];
        run(&p, rung, out, once);
        for (int i = 0; i < 9 * 18; i++)
            twice[i] = 1;
        run(&p, rung, out, twice);
        for (int i = 0; i < 9 * 18; i++)
            cr_assert_float_eq(twice[i], 1 + once[i], 1e-5, "%s", rung->name);
    }
    problem_free(&p);
}

Test(attention, what_is_saved)
{
    problem p = problem_new(2, 5, 6, 3, 1);
    float out[2 * 5 * 6], saved[2 * 3 * 5 * 5];
    cr_assert_eq(mt_attention_plain_saved_cpu(2, 5, 3), 2 * 3 * 5 * 5);
    cr_assert_eq(mt_attention_tiled_saved_cpu(2, 5, 3), 2 * 3 * 5);
    mt_attention_plain_fwd_cpu(out, saved, p.qkv, 2, 5, 6, 3);
    near("plain", "saved", saved, p.saved, 2 * 3 * 5 * 5, 64);
    problem_free(&p);
}
