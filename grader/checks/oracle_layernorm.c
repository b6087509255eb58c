/* oracle_layernorm.c -- layernorm and its gradients in double, with the bounds of oracle.h. */
#include "checks/oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Values of one row, with absolute bounds. */
typedef struct moments {
    double mean, mean_e, rstd, rstd_e;
} moments;

/* The variance about a mean with error d is too large by d^2. Its sum of squares rounds as a sum does; computed
 * on the way with a running mean (Welford), rounding grows with sqrt(variance + mean^2) instead of the deviation; and
 * in one pass over x - x[0], with (x[0] - mean)^2 (Chan, Golub and LeVeque 1983, "Algorithms for Computing the Sample
 * Variance", sec. 3). mean(x^2) - mean^2 loses more than that. */
static moments moments_of(const float *x, int64_t C, double eps)
{
    double sum = 0, size = 0, square = 0;
    for (int64_t c = 0; c < C; c++) {
        sum += x[c];
        size += fabs((double)x[c]);
    }
    moments m = { .mean = sum / (double)C };
    m.mean_e = (mg_gamma(C) + 2 * MG_U) * size / (double)C + FLT_MIN;
    for (int64_t c = 0; c < C; c++)
        square += (x[c] - m.mean) * (x[c] - m.mean);
    double variance = square / (double)C, under = variance + eps;
    double running = sqrt(variance * (variance + m.mean * m.mean)), shift = x[0] - m.mean;
    double error = mg_gamma(C) * fmax(running, variance + shift * shift) + 4 * MG_U * under + m.mean_e * m.mean_e;
    m.rstd = 1 / sqrt(under);
    m.rstd_e = 1 / sqrt(fmax(under - error, under / 4)) - m.rstd + 4 * MG_U * m.rstd;
    return m;
}

void mg_oracle_layernorm(double *v, double *e, double *mean, double *mean_e, double *rstd, double *rstd_e,
                         const float *x, const float *gamma, const float *beta, int64_t N, int64_t C, double eps)
{
    for (int64_t n = 0; n < N; n++) {
        moments m = moments_of(x + n * C, C, eps);
        mean[n] = m.mean, mean_e[n] = m.mean_e;
        rstd[n] = m.rstd, rstd_e[n] = m.rstd_e;
        for (int64_t c = 0; c < C; c++) {
            int64_t i = n * C + c;
            /* As x s + (beta - mean s) with s = rstd gamma: s, the products and the difference round once each. */
            double d = x[i] - m.mean, d_e = m.mean_e + MG_U * (2 * fabs((double)x[i]) + 3 * fabs(m.mean));
            double scaled = d * m.rstd * gamma[c];
            v[i] = scaled + beta[c];
            e[i] = fabs((double)gamma[c]) * (d_e * (m.rstd + m.rstd_e) + fabs(d) * m.rstd_e) +
                   MG_U * (3 * fabs(scaled) + fabs((double)beta[c]) + fabs(v[i])) + FLT_MIN;
        }
    }
}

/* xhat has three roundings of its size: a difference, a product, and one for another order. */
static double xhat_of(const mg_layernorm_saved *s, int64_t i)
{
    return ((double)s->x[i] - s->mean[i / s->C]) * s->rstd[i / s->C];
}

/* As x rstd - mean rstd, which torch computes, it has one rounding of each product, too. */
static double xhat_off(const mg_layernorm_saved *s, int64_t i)
{
    return MG_U * (fabs((double)s->x[i]) + fabs((double)s->mean[i / s->C])) * s->rstd[i / s->C];
}

void mg_oracle_layernorm_dx_add(double *v, double *e, const mg_layernorm_saved *s)
{
    int64_t C = s->C;
    for (int64_t n = 0; n < s->N; n++) {
        double g_sum = 0, gx_sum = 0, g_size = 0, gx_size = 0, gx_off = 0, rstd = s->rstd[n];
        for (int64_t c = 0; c < C; c++) {
            double g = (double)s->dout[n * C + c] * s->gamma[c], gx = g * xhat_of(s, n * C + c);
            g_sum += g, g_size += fabs(g);
            gx_sum += gx, gx_size += fabs(gx);
            gx_off += fabs(g) * xhat_off(s, n * C + c);
        }
        double mean_g = g_sum / (double)C, mean_gx = gx_sum / (double)C;
        double g_e = (mg_gamma(C) + 3 * MG_U) * g_size / (double)C;
        double gx_e = ((mg_gamma(C) + 7 * MG_U) * gx_size + gx_off) / (double)C;
        for (int64_t c = 0; c < C; c++) {
            int64_t i = n * C + c;
            double xhat = xhat_of(s, i), g = (double)s->dout[i] * s->gamma[c], held = fabs(v[i]);
            double term = rstd * (g - mean_g - xhat * mean_gx);
            v[i] += term;
            e[i] += rstd * (g_e + fabs(xhat) * gx_e + xhat_off(s, i) * fabs(mean_gx) +
                            MG_U * (3 * fabs(g) + 2 * fabs(mean_g) + 6 * fabs(xhat * mean_gx))) +
                    MG_U * (2 * fabs(term) + held + fabs(v[i])) + FLT_MIN;
        }
    }
}

/* v[c] += column sums of dout, or of dout xhat. */
static void column_sums(double *v, double *e, const mg_layernorm_saved *s, bool with_xhat)
{
    for (int64_t c = 0; c < s->C; c++) {
        double size = fabs(v[c]), off = 0;
        for (int64_t i = c; i < s->N * s->C; i += s->C) {
            double term = s->dout[i] * (with_xhat ? xhat_of(s, i) : 1);
            v[c] += term;
            size += fabs(term);
            off += with_xhat ? fabs((double)s->dout[i]) * xhat_off(s, i) : 0;
        }
        e[c] += (mg_gamma(s->N + 1) + (with_xhat ? 4 : 0) * MG_U) * size + off + FLT_MIN;
    }
}

void mg_oracle_layernorm_dgamma_add(double *v, double *e, const mg_layernorm_saved *s)
{
    column_sums(v, e, s, true);
}

void mg_oracle_layernorm_dbeta_add(double *v, double *e, const mg_layernorm_saved *s)
{
    column_sums(v, e, s, false);
}

void mg_oracle_moments(float *mean, float *rstd, const mg_layernorm_saved *s, float eps)
{
    int64_t N = s->N, C = s->C;
    double *out = mg_doubles(2 * N * C), *m = mg_doubles(4 * N), *r = m + 2 * N;
    mg_oracle_layernorm(out, out + N * C, m, m + N, r, r + N, s->x, s->gamma, s->gamma, N, C, eps);
    for (int64_t n = 0; n < N; n++) {
        mean[n] = (float)m[n];
        rstd[n] = (float)r[n];
    }
    free(out);
    free(m);
}
