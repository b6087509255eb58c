/* gauss.c -- see gauss.h. */
#include "search/gauss.h"

#include <math.h>

enum { STRIDE = MT_GAUSS_POINTS, FIT = 64 /* points by which lengths and noise are chosen: a factor takes count^3 */ };

bool mt_cholesky(double *a, int64_t n, int64_t stride)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * stride + j];
            for (int64_t k = 0; k < j; k++)
                sum -= a[i * stride + k] * a[j * stride + k];
            if (i == j && !(sum > 0))
                return false;
            a[i * stride + j] = i == j ? sqrt(sum) : sum / a[j * stride + j];
        }
    return true;
}

static double covariance(const mt_gauss *g, const mt_point *a, const mt_point *b)
{
    double square = 0;
    for (int64_t d = 0; d < g->space->count; d++) {
        double apart = a->at[d] - b->at[d];
        if (g->space->dimension[d].kind == MT_SPACE_CHOICE) /* choices have no order */
            apart = apart != 0;
        square += apart * apart / (g->length[d] * g->length[d]);
    }
    double r = sqrt(5 * square);
    return (1 + r + r * r / 3) * exp(-r);
}

/* x becomes L^-1 x. */
static void solve(const mt_gauss *g, double *x)
{
    for (int64_t i = 0; i < g->count; i++) {
        for (int64_t k = 0; k < i; k++)
            x[i] -= g->factor[i * STRIDE + k] * x[k];
        x[i] /= g->factor[i * STRIDE + i];
    }
}

/* Fills factor and weight for these lengths and noise. Returns the logarithm of the likelihood without its constant. */
static double factorize(mt_gauss *g)
{
    double likelihood = 0;
    for (int64_t i = 0; i < g->count; i++)
        for (int64_t j = 0; j <= i; j++)
            g->factor[i * STRIDE + j] = covariance(g, &g->point[i], &g->point[j]) + (i == j ? g->noise : 0);
    if (!mt_cholesky(g->factor, g->count, STRIDE))
        return -INFINITY;
    for (int64_t i = 0; i < g->count; i++)
        g->weight[i] = g->value[i];
    solve(g, g->weight);
    for (int64_t i = 0; i < g->count; i++)
        likelihood -= 0.5 * g->weight[i] * g->weight[i] + log(g->factor[i * STRIDE + i]);
    for (int64_t i = g->count - 1; i >= 0; i--) { /* L^-T */
        for (int64_t k = i + 1; k < g->count; k++)
            g->weight[i] -= g->factor[k * STRIDE + i] * g->weight[k];
        g->weight[i] /= g->factor[i * STRIDE + i];
    }
    return likelihood;
}

/* Sets *setting to the entry of the table with the highest likelihood. */
static void choose(mt_gauss *g, double *setting, const double *table, int64_t entries)
{
    double best = *setting, highest = factorize(g);
    for (int64_t i = 0; i < entries; i++) {
        *setting = table[i];
        double likelihood = factorize(g);
        if (likelihood > highest) {
            highest = likelihood;
            best = table[i];
        }
    }
    *setting = best;
}

void mt_gauss_fit(mt_gauss *g)
{
    static const double lengths[] = { 0.1, 0.2, 0.35, 0.6, 1, 2, 5 }, noises[] = { 1e-6, 1e-4, 1e-2, 0.1 };
    MT_CHECK(g->count > 0 && g->count <= MT_GAUSS_POINTS, "%d points", (int)g->count);
    int64_t all = g->count;
    g->count = mt_min(all, FIT);
    g->noise = 1e-2;
    for (int64_t d = 0; d < g->space->count; d++)
        g->length[d] = 0.6;
    for (int round = 0; round < 2; round++) {
        for (int64_t d = 0; d < g->space->count; d++)
            choose(g, &g->length[d], lengths, MT_COUNT(lengths));
        choose(g, &g->noise, noises, MT_COUNT(noises));
    }
    g->count = all;
    MT_CHECK(isfinite(factorize(g)), "a Gaussian process over %d points has no factor", (int)g->count);
}

void mt_gauss_predict(mt_gauss *g, const mt_point *at, double *mean, double *deviation)
{
    double left = 1;
    *mean = 0;
    for (int64_t i = 0; i < g->count; i++) {
        g->scratch[i] = covariance(g, at, &g->point[i]);
        *mean += g->scratch[i] * g->weight[i];
    }
    solve(g, g->scratch);
    for (int64_t i = 0; i < g->count; i++)
        left -= g->scratch[i] * g->scratch[i];
    *deviation = sqrt(fmax(left, 0));
}

double mt_gauss_improvement(double mean, double deviation, double best)
{
    if (!(deviation > 0))
        return fmax(best - mean, 0);
    double z = (best - mean) / deviation;
    double below = 0.5 * erfc(-z * M_SQRT1_2), density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
    return fmax(deviation * (z * below + density), 0);
}
