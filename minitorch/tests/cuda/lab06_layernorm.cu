/* lab06_layernorm.cu -- test_lab06.cu's part on layernorm, with the derivation of its tolerances. */
#include "cuda/kernels_cuda.h"
#include "tests/cuda/arrays.h"

#include <math.h>

static const float eps = 1e-5f;

/* One row in double, and bounds for f32's absolute error of the mean and relative error of rstd. The mean has C + 1
 * roundings of the mean magnitude. Every d = x - mean has this error and its own rounding. The variance has C + 4
 * roundings and the error of d^2; the root halves a relative error. */
typedef struct row {
    double mean, rstd, mean_error, rstd_error;
} row;

static row row_of(const float *x, int64_t C)
{
    row r = {};
    double size = 0, variance = 0, spread = 0, n = (double)C;
    for (int64_t c = 0; c < C; c++) {
        r.mean += x[c] / n;
        size += fabs(x[c]) / n;
    }
    for (int64_t c = 0; c < C; c++) {
        variance += (x[c] - r.mean) * (x[c] - r.mean) / n;
        spread += fabs(x[c] - r.mean) / n;
    }
    r.rstd = 1 / sqrt(variance + eps);
    r.mean_error = mt_tolerance(n + 1, size);
    double variance_error = mt_tolerance(n + 6, variance) + 2 * r.mean_error * spread + r.mean_error * r.mean_error;
    r.rstd_error = 0.5 * variance_error / (variance + eps) + mt_tolerance(4, 1);
    return r;
}

static void forward(const float *x, int64_t N, int64_t C, int shift)
{
    float *gamma = numbers(41, C, -2, 2), *beta = numbers(42, C, -1, 1), *on = to_device(x, N * C, shift);
    float *mean = unwritten(N, 0), *rstd = unwritten(N, 1);
    double *at = (double *)host_array(N * C, sizeof *at), *by = (double *)host_array(N * C, sizeof *by);
    double *m = (double *)host_array(4 * N, sizeof *m), *r = m + 2 * N;
    for (int64_t i = 0; i < N * C; i++) {
        int64_t n = i / C, c = i % C;
        row w = row_of(x + n * C, C);
        double hat = (x[i] - w.mean) * w.rstd;
        at[i] = hat * gamma[c] + beta[c];
        by[i] = fabs(gamma[c]) * (w.rstd * w.mean_error + fabs(hat) * w.rstd_error) +
                mt_tolerance(5, fabs(hat * gamma[c]) + fabs(beta[c]));
        m[n] = w.mean, m[N + n] = w.mean_error;
        r[n] = w.rstd, r[N + n] = w.rstd * w.rstd_error;
    }
    mt_layernorm_fwd_cuda(on, mean, rstd, on, to_device(gamma, C, 0), to_device(beta, C, shift), N, C, eps);
    verdict(mt_compare("out", from_device(on, N * C), at, by, N * C), "layernorm", N, C);
    verdict(mt_compare("mean", from_device(mean, N), m, m + N, N), "layernorm", N, C);
    verdict(mt_compare("rstd", from_device(rstd, N), r, r + N, N), "layernorm", N, C);
}

/* mean and rstd are given, as forward saved them, so every error is a rounding: C (or N) of a sum, and a few. */
static void backward(const float *x, int64_t N, int64_t C, int shift)
{
    float *dout = numbers(43, N * C, -1, 1), *gamma = numbers(44, C, -2, 2), *mean = numbers(45, N, -1, 1);
    float *rstd = numbers(46, N, 0.5f, 2), *dx = numbers(47, N * C, -1, 1), *start = numbers(48, C, -1, 1);
    double *at = (double *)host_array(N * C, sizeof *at), *by = (double *)host_array(N * C, sizeof *by);
    double *dg = (double *)host_array(4 * C, sizeof *dg), *dg_by = dg + C, *db = dg + 2 * C, *db_by = dg + 3 * C;
    for (int64_t c = 0; c < C; c++) {
        dg[c] = db[c] = start[c];
        dg_by[c] = db_by[c] = mt_tolerance((double)N + 4, fabs(start[c]));
    }
    for (int64_t n = 0; n < N; n++) {
        double g_mean = 0, gx_mean = 0, g_size = 0, gx_size = 0;
        for (int64_t c = 0; c < C; c++) {
            double hat = ((double)x[n * C + c] - mean[n]) * rstd[n], dy = dout[n * C + c], g = dy * gamma[c];
            g_mean += g / (double)C, g_size += fabs(g) / (double)C;
            gx_mean += g * hat / (double)C, gx_size += fabs(g * hat) / (double)C;
            dg[c] += dy * hat, dg_by[c] += mt_tolerance((double)N + 4, fabs(dy * hat));
            db[c] += dy, db_by[c] += mt_tolerance((double)N + 4, fabs(dy));
        }
        for (int64_t c = 0; c < C; c++) {
            double hat = ((double)x[n * C + c] - mean[n]) * rstd[n], g = (double)dout[n * C + c] * gamma[c];
            at[n * C + c] = dx[n * C + c] + rstd[n] * (g - g_mean - hat * gx_mean);
            by[n * C + c] =
                mt_tolerance((double)C + 10, fabs(dx[n * C + c]) + rstd[n] * (fabs(g) + g_size + fabs(hat) * gx_size));
        }
    }
    float *on_x = to_device(x, N * C, 0), *on_dx = to_device(dx, N * C, shift), *on_dout = to_device(dout, N * C, 1);
    float *on_gamma = to_device(gamma, C, 0), *on_mean = to_device(mean, N, 0), *on_rstd = to_device(rstd, N, shift);
    float *on_dgamma = to_device(start, C, shift), *on_dbeta = to_device(start, C, 0);
    mt_layernorm_bwd_cuda(on_dx, on_dgamma, NULL, on_dout, on_x, on_gamma, on_mean, on_rstd, N, C);
    mt_layernorm_bwd_cuda(NULL, NULL, on_dbeta, on_dout, on_x, on_gamma, on_mean, on_rstd, N, C);
    verdict(mt_compare("dx", from_device(on_dx, N * C), at, by, N * C), "layernorm backward", N, C);
    verdict(mt_compare("dgamma", from_device(on_dgamma, C), dg, dg_by, C), "layernorm backward", N, C);
    verdict(mt_compare("dbeta", from_device(on_dbeta, C), db, db_by, C), "layernorm backward", N, C);
}

void test_layernorm(int64_t N, int64_t C, int shift)
{
    forward(numbers(40, N * C, -1, 1), N, C, shift);
    forward(numbers(49, N * C, 999, 1001), N, C, shift);
    backward(numbers(40, N * C, -1, 1), N, C, shift);
}
