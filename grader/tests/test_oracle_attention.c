/* test_oracle_attention.c -- the oracle of attention against its definition, written with explicit indices, and against
 * finite differences of its own forward; and its bounds: f32 arithmetic is within them, 16-bit arithmetic is not. */
#include "checks/fill.h"
#include "checks/oracle_attention.h"
#include "core/dtype.h"

#include <criterion/criterion.h>
#include <math.h>

#define NEAR(got, want, by) \
    cr_assert_float_eq(got, want, by, "got %.17g, expected %.17g", (double)(got), (double)(want))

enum { B = 2, T = 9, H = 3, D = 5, C = H * D };

static mt_rng rng;
static float qkv[B][T][3][H][D], dout[B][T][H][D], out[B][T][H][D], lse[B][H][T];
static float probs[B][H][T][T];
static const mg_attention a = {
    .B = B,
    .T = T,
    .C = C,
    .H = H,
    .qkv = &qkv[0][0][0][0][0],
    .dout = &dout[0][0][0][0],
    .out = &out[0][0][0][0],
    .lse = &lse[0][0][0],
};

/* New random numbers with scores of about `size`, and the results that forward would have saved. */
static void start(float size)
{
    mg_fill(&rng, &qkv[0][0][0][0][0], B * T * 3 * C, (mg_dist)NORMAL(0, 1));
    mg_fill(&rng, &dout[0][0][0][0], B * T * C, (mg_dist)NORMAL(0, 1));
    for (int b = 0; b < B; b++)
        for (int t = 0; t < T; t++)
            for (int c = 0; c < C; c++)
                qkv[b][t][0][c / D][c % D] *= size;
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        double v[D], e[D], sum[2];
        mg_oracle_attention(v, e, sum, &a, i);
        (&lse[0][0][0])[i] = (float)sum[0];
        for (int d = 0; d < D; d++)
            (&out[0][0][0][0])[mg_attention_row(&a, i) + d] = (float)v[d];
    }
}

static void seed(void)
{
    rng = mt_rng_new(42, MT_STREAM_TEST);
}

TestSuite(oracle_attention, .init = seed);

static double score_of(int b, int h, int i, int j)
{
    double sum = 0;
    for (int d = 0; d < D; d++)
        sum += (double)qkv[b][i][0][h][d] * qkv[b][j][1][h][d];
    return sum / sqrt(D);
}

Test(oracle_attention, forward_is_its_definition)
{
    start(1);
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < T; i++) {
                double v[D], e[D], got[2], sum = 0, want[D] = { 0 };
                for (int j = 0; j <= i; j++) {
                    sum += exp(score_of(b, h, i, j));
                    for (int d = 0; d < D; d++)
                        want[d] += exp(score_of(b, h, i, j)) * qkv[b][j][2][h][d];
                }
                mg_oracle_attention(v, e, got, &a, (b * H + h) * T + i);
                NEAR(got[0], log(sum), 1e-13);
                cr_assert_lt(got[1], 1e-5);
                for (int d = 0; d < D; d++) {
                    NEAR(v[d], want[d] / sum, 1e-13);
                    cr_assert_lt(e[d], 2e-5);
                }
            }
}

Test(oracle_attention, probabilities_are_their_definition)
{
    start(1);
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        double v[T], e[T], sum = 0;
        int b = (int)(i / T / H), h = (int)(i / T % H), t = (int)(i % T);
        mg_oracle_attention_probs(v, e, &a, i);
        for (int j = 0; j < T; j++) {
            cr_assert(j <= t ? e[j] > 0 && e[j] < 1e-5 : v[j] == 0 && e[j] == 0);
            NEAR(v[j], j <= t ? v[0] * exp(score_of(b, h, t, j) - score_of(b, h, t, 0)) : 0, 1e-13);
            sum += v[j];
        }
        NEAR(sum, 1, 1e-13);
    }
}

/* With the probabilities saved instead of lse, and with the bound of a delta summed over the keys. */
Test(oracle_attention, gradients_from_probabilities)
{
    static double v[2][B * T * 3 * C], e[2][B * T * 3 * C], spread[B * H * T];
    start(1);
    mg_attention p = a;
    p.lse = NULL;
    p.probs = &probs[0][0][0][0];
    p.spread = spread;
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        double want[T], bound[T];
        mg_oracle_attention_probs(want, bound, &a, i);
        for (int j = 0; j < T; j++)
            (&probs[0][0][0][0])[i * T + j] = (float)want[j];
    }
    for (int64_t i = 0; i < mg_attention_places(&a); i++)
        spread[i] = mg_oracle_attention_spread(&p, i);
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        mg_oracle_attention_add(v[0], e[0], &a, i);
        mg_oracle_attention_add(v[1], e[1], &p, i);
    }
    for (int64_t i = 0; i < B * T * 3 * C; i++) {
        NEAR(v[1][i], v[0][i], 2e-6);
        cr_assert_lt(e[1][i], 4e-5);
    }
}

Test(oracle_attention, large_scores_do_not_overflow)
{
    start(1000);
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        double v[D], e[D], sum[2];
        mg_oracle_attention(v, e, sum, &a, i);
        for (int d = 0; d < D; d++)
            cr_assert(isfinite(v[d]) && fabs(v[d]) < 6 && e[d] < 0.1);
    }
}

/* sum of dout * out, whose gradient backward must give. */
static double weighted(void)
{
    double total = 0;
    for (int64_t i = 0; i < mg_attention_places(&a); i++) {
        double v[D], e[D], sum[2];
        mg_oracle_attention(v, e, sum, &a, i);
        for (int d = 0; d < D; d++)
            total += a.dout[mg_attention_row(&a, i) + d] * v[d];
    }
    return total;
}

/* Central differences of h = 0.002: their error is h^2 times a third derivative, and out and lse are rounded to f32. */
Test(oracle_attention, gradients_are_derivatives)
{
    static double v[B * T * 3 * C], e[B * T * 3 * C];
    float *x = &qkv[0][0][0][0][0];
    start(1);
    for (int64_t i = 0; i < B * T * 3 * C; i++)
        v[i] = 1; /* it must add */
    for (int64_t i = 0; i < mg_attention_places(&a); i++)
        mg_oracle_attention_add(v, e, &a, i);
    for (int64_t i = 0; i < B * T * 3 * C; i++) {
        float held = x[i], more = held + 0.002f, less = held - 0.002f;
        x[i] = more;
        double above = weighted();
        x[i] = less;
        double below = weighted();
        x[i] = held;
        NEAR(v[i] - 1, (above - below) / ((double)more - less), 2e-5);
        cr_assert_lt(e[i], 2e-5);
    }
}

/* ---- bounds ----------------------------------------------------------------------------------------- */

/* One query in f32, its keys one after another with a running maximum, its inputs rounded by `cut`. */
static void in_f32(float o[D], float *sum_out, float cut(float), int b, int h, int i)
{
    float max = -INFINITY, sum = 0;
    for (int d = 0; d < D; d++)
        o[d] = 0;
    for (int j = 0; j <= i; j++) {
        float s = 0, before = max;
        for (int d = 0; d < D; d++)
            s += cut(qkv[b][i][0][h][d]) * cut(qkv[b][j][1][h][d]);
        s *= 1 / sqrtf(D);
        max = fmaxf(max, s);
        float shrink = expf(before - max), weight = expf(s - max);
        sum = sum * shrink + weight;
        for (int d = 0; d < D; d++)
            o[d] = o[d] * shrink + weight * cut(qkv[b][j][2][h][d]);
    }
    for (int d = 0; d < D; d++)
        o[d] /= sum;
    *sum_out = max + logf(sum);
}

static float whole(float x)
{
    return x;
}

static float bf16(float x)
{
    return mt_bf16_to_f32(mt_bf16_from_f32(x));
}

static int64_t outside(float cut(float))
{
    int64_t count = 0;
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int i = 0; i < T; i++) {
                double v[D], e[D], sum[2];
                float o[D], l;
                mg_oracle_attention(v, e, sum, &a, (b * H + h) * T + i);
                in_f32(o, &l, cut, b, h, i);
                for (int d = 0; d < D; d++)
                    count += !(fabs(o[d] - v[d]) <= e[d]);
                count += !(fabs(l - sum[0]) <= sum[1]);
            }
    return count;
}

Test(oracle_attention, bounds_hold_for_f32_and_not_for_16_bits)
{
    const float sizes[] = { 0.1f, 1, 30 };
    for (int s = 0; s < MT_COUNT(sizes); s++)
        for (int t = 0; t < 100; t++) {
            start(sizes[s]);
            cr_assert_eq(outside(whole), 0, "scores of %g", (double)sizes[s]);
            cr_assert_gt(outside(bf16), B * T * C * 8 / 10);
        }
}
