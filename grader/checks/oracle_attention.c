/* oracle_attention.c -- causal attention and its gradients in double, with the bounds of oracle.h. */
#include "checks/oracle_attention.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { QUERY, KEY, VALUE };

int64_t mg_attention_places(const mg_attention *a)
{
    return a->B * a->H * a->T;
}

int64_t mg_attention_row(const mg_attention *a, int64_t i)
{
    int64_t b = i / a->T / a->H, h = i / a->T % a->H, t = i % a->T;
    return (b * a->T + t) * a->C + h * (a->C / a->H);
}

/* Where the query, key or value of place i begins in qkv: its rows are three of out's. */
static int64_t part_of(const mg_attention *a, int64_t i, int part)
{
    int64_t row = mg_attention_row(a, i);
    return row / a->C * 3 * a->C + part * a->C + row % a->C;
}

/* ---- scores ----------------------------------------------------------------------------------------- */

typedef struct number {
    double v, e;
} number;

/* The product of two vectors, of which each term has so many roundings more. */
static number dot(const float *x, const float *y, int64_t D, double more)
{
    double sum = 0, size = 0;
#pragma omp simd reduction(+ : sum, size)
    for (int64_t d = 0; d < D; d++) {
        sum += (double)x[d] * y[d];
        size += fabs((double)x[d] * y[d]);
    }
    return (number){ sum, (mg_gamma(D) + more * MG_U) * size };
}

/* Score of query i and key j. 1 / sqrt(D) has two roundings and its product one; q and k may be scaled before: one
 * more. */
static number score(const mg_attention *a, int64_t i, int64_t j)
{
    int64_t D = a->C / a->H;
    number s = dot(a->qkv + part_of(a, i, QUERY), a->qkv + part_of(a, j, KEY), D, 4);
    return (number){ s.v / sqrt((double)D), s.e / sqrt((double)D) };
}

/* ---- forward ---------------------------------------------------------------------------------------- */

/* For one query: the largest score, the logarithm of the sum of e^(score - max), and how far the sum is off,
 * relatively. */
typedef struct total {
    double max, log_sum, e;
} total;

/* Scores of one query become its probabilities.
 *
 * A weight e^(score - max) is off by the score's bound, by its argument's rounding and by exp's 4 u. Each time the
 * maximum grows after it, it shrinks by another exp and product: 5 u, and the arguments' roundings add up to that of
 * one from the score to the last maximum. The maximum's own error is in all weights alike, and goes when they are
 * divided by their sum. */
static total softmax(number *s, int64_t n)
{
    double max = -INFINITY, top = -INFINITY, sum = 0, sum_e = mg_gamma(n);
    int64_t growths = 0;
    for (int64_t j = 0; j < n; j++) {
        growths += s[j].v > max;
        max = fmax(max, s[j].v);
    }
    for (int64_t j = 0; j < n; j++)
        sum += exp(s[j].v - max);
    for (int64_t j = 0; j < n; j++) {
        double distance = max - s[j].v, p = exp(-distance) / sum;
        growths -= s[j].v > top;
        top = fmax(top, s[j].v);
        s[j] = (number){ p, p * expm1(s[j].e + MG_U * (distance + 4 + 5 * (double)growths)) + FLT_MIN };
        sum_e += s[j].e;
    }
    return (total){ max, log(sum), sum_e };
}

void mg_oracle_attention(double *v, double *e, double lse[2], const mg_attention *a, int64_t i)
{
    int64_t D = a->C / a->H, n = i % a->T + 1, first = i - i % a->T;
    number *s = calloc((size_t)n, sizeof *s);
    MT_CHECK(s, "out of memory for %lld scores", (long long)n);
    for (int64_t j = 0; j < n; j++)
        s[j] = score(a, i, first + j);
    total sum = softmax(s, n);
    double summing = mg_gamma(n + 1);
    lse[0] = sum.max + sum.log_sum; /* a relative error of the sum, 4 u by log, and two roundings of what comes out */
    lse[1] = sum.e / (1 - sum.e) + MG_U * (4 * sum.log_sum + 2 * fabs(lse[0])) + FLT_MIN;
    for (int64_t d = 0; d < D; d++)
        v[d] = e[d] = 0;
    for (int64_t j = 0; j < n; j++) {
        const float *value = a->qkv + part_of(a, first + j, VALUE);
        double off = s[j].e + summing * s[j].v + (a->bf16 ? 0x1p-8 * (s[j].v + s[j].e) : 0);
        for (int64_t d = 0; d < D; d++) {
            v[d] += s[j].v * value[d];
            e[d] += off * fabs((double)value[d]);
        }
    }
    for (int64_t d = 0; d < D; d++) /* divided by a sum that is off, or multiplied with its reciprocal */
        e[d] = (e[d] + fabs(v[d]) * (sum.e + 2 * MG_U)) / (1 - sum.e) + FLT_MIN;
    free(s);
}

void mg_oracle_attention_probs(double *v, double *e, const mg_attention *a, int64_t i)
{
    int64_t n = i % a->T + 1, first = i - i % a->T;
    number *s = calloc((size_t)n, sizeof *s);
    MT_CHECK(s, "out of memory for %lld scores", (long long)n);
    for (int64_t j = 0; j < n; j++)
        s[j] = score(a, i, first + j);
    total sum = softmax(s, n);
    for (int64_t j = 0; j < a->T; j++) {
        v[j] = j < n ? s[j].v : 0;
        e[j] = j < n ? (s[j].e + s[j].v * (sum.e + 2 * MG_U)) / (1 - sum.e) + FLT_MIN : 0;
    }
    free(s);
}

double mg_oracle_attention_spread(const mg_attention *a, int64_t i)
{
    int64_t D = a->C / a->H, n = i % a->T + 1, first = i - i % a->T;
    const float *dout = a->dout + mg_attention_row(a, i);
    double spread = 0;
    for (int64_t j = 0; j < n; j++) {
        const float *value = a->qkv + part_of(a, first + j, VALUE);
        double size = 0;
        for (int64_t d = 0; d < D; d++)
            size += fabs((double)dout[d] * value[d]);
        spread += (double)a->probs[i * a->T + j] * size;
    }
    return spread;
}

/* ---- backward --------------------------------------------------------------------------------------- */

/* For query i and key j: the probability and the gradient of the product q . k. */
typedef struct cell {
    number p, ds;
} cell;

/* The probability is the saved one, or e^(score - lse). A kernel that computes lse and out again instead of reading
 * them does not have their rounding to f32: one more. ds has four roundings of its own, besides that of the
 * difference: two products, and two of scale. */
static cell cell_of(const mg_attention *a, int64_t i, int64_t j)
{
    int64_t D = a->C / a->H;
    const float *dout = a->dout + mg_attention_row(a, i);
    number dp = dot(dout, a->qkv + part_of(a, j, VALUE), D, 0);
    number delta = dot(dout, a->out + mg_attention_row(a, i), D, 1);
    double scale = 1 / sqrt((double)D), apart = dp.v - delta.v;
    number p = { 0 };
    if (a->lse) {
        number s = score(a, i, j);
        double lse = a->lse[i];
        p.v = exp(s.v - lse);
        p.e = p.v * expm1(s.e + MG_U * (fabs(lse) + fabs(s.v - lse) + 4)) + FLT_MIN;
    } else {
        p.v = a->probs[i * a->T + j % a->T];
    }
    if (a->spread)
        delta.e += (mg_gamma(D) + mg_gamma(i % a->T + 1) + 2 * MG_U) * a->spread[i];
    double apart_e = dp.e + delta.e + MG_U * fabs(apart), ds = p.v * apart * scale;
    return (cell){ p, { ds, scale * ((p.v + p.e) * apart_e + p.e * fabs(apart)) + 4 * MG_U * fabs(ds) + FLT_MIN } };
}

/* v [D] += w x;  e gets what w is off by, size what is summed. */
static void weigh(double *v, double *e, double *size, number w, const float *x, int64_t D)
{
    for (int64_t d = 0; d < D; d++) {
        v[d] += w.v * x[d];
        e[d] += w.e * fabs((double)x[d]);
        size[d] += fabs(w.v * x[d]);
    }
}

void mg_oracle_attention_add(double *v, double *e, const mg_attention *a, int64_t i)
{
    int64_t D = a->C / a->H, t = i % a->T, first = i - t;
    int64_t part[3], terms[3] = { t + 1, a->T - t, a->T - t };
    double *size = mg_doubles(3 * D);
    for (int k = QUERY; k <= VALUE; k++) {
        part[k] = part_of(a, i, k);
        for (int64_t d = 0; d < D; d++)
            size[k * D + d] = fabs(v[part[k] + d]);
    }
    for (int64_t j = first; j <= i; j++)
        weigh(v + part[QUERY], e + part[QUERY], size, cell_of(a, i, j).ds, a->qkv + part_of(a, j, KEY), D);
    for (int64_t q = i; q < first + a->T; q++) {
        cell c = cell_of(a, q, i);
        weigh(v + part[KEY], e + part[KEY], size + D, c.ds, a->qkv + part_of(a, q, QUERY), D);
        weigh(v + part[VALUE], e + part[VALUE], size + 2 * D, c.p, a->dout + mg_attention_row(a, q), D);
    }
    for (int k = QUERY; k <= VALUE; k++)
        for (int64_t d = 0; d < D; d++)
            e[part[k] + d] += mg_gamma(terms[k] + 1) * size[k * D + d] + FLT_MIN;
    free(size);
}
