/* gauss.c -- see gauss.h. */
#include "search/gauss.h"

#include <math.h>

enum { STRIDE = MT_GAUSS_POINTS, FIT = 64 /* points by which lengths and noise are chosen: a factor takes count^3 */ };

/* Row k is subtracted from all below it: along rows, which vector units can do, unlike dot products of rows of L. */
bool mt_cholesky(double *a, int64_t n, int64_t stride)
{
    for (int64_t k = 0; k < n; k++) {
        double *restrict row = a + k * stride;
        if (!(row[k] > 0))
            return false;
        row[k] = sqrt(row[k]);
        for (int64_t j = k + 1; j < n; j++)
            row[j] /= row[k];
        for (int64_t i = k + 1; i < n; i++) {
            double *restrict below = a + i * stride;
            for (int64_t j = i; j < n; j++)
                below[j] -= row[i] * row[j];
        }
    }
    return true;
}

/* out[j] becomes the covariance of `at` with point j, for j >= from. */
static void covariances(const mt_gauss *g, const mt_point *at, int64_t from, double *restrict out)
{
    for (int64_t j = from; j < g->count; j++)
        out[j] = 0;
    for (int64_t d = 0; d < g->space->count; d++) {
        bool choice = g->space->dimension[d].kind == MT_SPACE_CHOICE; /* choices have no order */
        double x = at->at[d], square = g->length[d] * g->length[d];
        const double *restrict other = g->along[d];
        for (int64_t j = from; j < g->count; j++) {
            double apart = choice ? x != other[j] : x - other[j];
            out[j] += apart * apart / square;
        }
    }
    for (int64_t j = from; j < g->count; j++) {
        double r = sqrt(5 * out[j]);
        out[j] = (1 + r + r * r / 3) * exp(-r);
    }
}

/* x becomes U^-T x. */
static void solve(const mt_gauss *g, double *restrict x)
{
    for (int64_t i = 0; i < g->count; i++) {
        const double *row = g->factor + i * STRIDE;
        x[i] /= row[i];
        for (int64_t k = i + 1; k < g->count; k++)
            x[k] -= row[k] * x[i];
    }
}

/* Fills factor and weight for these lengths and noise. Returns the logarithm of the likelihood without its constant. */
static double factorize(mt_gauss *g)
{
    double likelihood = 0;
    g->factors++;
    for (int64_t i = 0; i < g->count; i++) {
        covariances(g, &g->point[i], i, g->factor + i * STRIDE);
        g->factor[i * STRIDE + i] += g->noise;
    }
    if (!mt_cholesky(g->factor, g->count, STRIDE))
        return -INFINITY;
    for (int64_t i = 0; i < g->count; i++)
        g->weight[i] = g->value[i];
    solve(g, g->weight);
    for (int64_t i = 0; i < g->count; i++)
        likelihood -= 0.5 * g->weight[i] * g->weight[i] + log(g->factor[i * STRIDE + i]);
    for (int64_t i = g->count - 1; i >= 0; i--) { /* U^-1 */
        for (int64_t k = i + 1; k < g->count; k++)
            g->weight[i] -= g->factor[i * STRIDE + k] * g->weight[k];
        g->weight[i] /= g->factor[i * STRIDE + i];
    }
    return likelihood;
}

/* Moves *setting, an entry of an ascending table, to its neighbours as long as the likelihood grows. `highest` is the
 * likelihood of *setting as it is; that of the one chosen is returned. */
static double choose(mt_gauss *g, double *setting, const double *table, int64_t entries, double highest)
{
    double first = *setting, best = first;
    int64_t start = 0;
    while (table[start] != first)
        start++;
    for (int64_t step = -1; step <= 1 && best == first; step += 2)
        for (int64_t i = start + step; i >= 0 && i < entries; i += step) {
            *setting = table[i];
            double likelihood = factorize(g);
            if (likelihood <= highest)
                break;
            highest = likelihood;
            best = table[i];
        }
    *setting = best;
    return highest;
}

void mt_gauss_fit(mt_gauss *g)
{
    static const double lengths[] = { 0.1, 0.2, 0.35, 0.6, 1, 2, 5 }, noises[] = { 1e-6, 1e-4, 1e-2, 0.1 };
    MT_CHECK(g->count > 0 && g->count <= MT_GAUSS_POINTS, "%d points", (int)g->count);
    int64_t all = g->count;
    for (int64_t d = 0; d < g->space->count; d++) {
        g->length[d] = 0.6;
        for (int64_t i = 0; i < all; i++)
            g->along[d][i] = g->point[i].at[d];
    }
    g->count = mt_min(all, FIT);
    g->noise = 1e-2;
    double highest = factorize(g), before = NAN;
    for (int round = 0; round < 2 && highest != before; round++) {
        before = highest;
        for (int64_t d = 0; d < g->space->count; d++)
            highest = choose(g, &g->length[d], lengths, MT_COUNT(lengths), highest);
        highest = choose(g, &g->noise, noises, MT_COUNT(noises), highest);
    }
    g->count = all;
    MT_CHECK(isfinite(factorize(g)), "a Gaussian process over %d points has no factor", (int)g->count);
}

void mt_gauss_predict(mt_gauss *g, const mt_point *at, double *mean, double *deviation)
{
    double left = 1;
    *mean = 0;
    covariances(g, at, 0, g->scratch);
    for (int64_t i = 0; i < g->count; i++)
        *mean += g->scratch[i] * g->weight[i];
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
