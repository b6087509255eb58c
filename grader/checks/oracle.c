/* oracle.c -- double-precision answers with derived bounds; oracle.h derives the bounds. */
#include "checks/oracle.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double mg_gamma(int64_t terms)
{
    return MG_U * fmin((double)terms, 8 * sqrt((double)terms));
}

double *mg_doubles(int64_t n)
{
    double *v = calloc((size_t)mt_max(n, 1), sizeof *v);
    MT_CHECK(v, "out of memory for %lld doubles", (long long)n);
    return v;
}

double *mg_lift(const float *x, int64_t n)
{
    double *v = mg_doubles(n);
    for (int64_t i = 0; i < n; i++)
        v[i] = x[i];
    return v;
}

/* ---- products ------------------------------------------------------------------------------- */

enum { THREADS_FROM = 1 << 18 }; /* products from which threads pay off */

/* A matrix of values and bounds; element (i,j) is v[i * row + j * col]. */
typedef struct operand {
    const double *v, *e;
    int64_t row, col;
} operand;

/* v[i,j] += sum_k A B,  e[i,j] += sum_k (eA |B| + |A| eB + eA eB),  size[i,j] += sum_k |A B|. */
static void product_row(double *v, double *e, double *size, operand A, operand B, int64_t N, int64_t K)
{
    for (int64_t k = 0; k < K; k++) {
        double a = A.v[k * A.col], ea = A.e ? A.e[k * A.col] : 0;
        const double *b = B.v + k * B.row, *eb = B.e ? B.e + k * B.row : NULL;
        for (int64_t j = 0; j < N; j++) {
            v[j] += a * b[j * B.col];
            size[j] += fabs(a * b[j * B.col]);
        }
        for (int64_t j = 0; j < N && (eb || ea > 0); j++)
            e[j] += ea * fabs(b[j * B.col]) + (eb ? (fabs(a) + ea) * eb[j * B.col] : 0);
    }
}

/* C += A B; e has the bounds of C before. The sum has K products and the old value: gamma(K + 1) of all their sizes. */
static void product_add(double *v, double *e, int64_t ldc, operand A, operand B, int64_t M, int64_t N, int64_t K)
{
#pragma omp parallel for if (M * N * K >= THREADS_FROM)
    for (int64_t i = 0; i < M; i++) {
        double *vi = v + i * ldc, *ei = e + i * ldc, *size = mg_doubles(N);
        for (int64_t j = 0; j < N; j++)
            size[j] = fabs(vi[j]);
        operand row = { A.v + i * A.row, A.e ? A.e + i * A.row : NULL, A.row, A.col };
        product_row(vi, ei, size, row, B, N, K);
        for (int64_t j = 0; j < N; j++)
            ei[j] += mg_gamma(K + 1) * (size[j] + ei[j]);
        free(size);
    }
}

/* A dense copy of the rows x cols matrix x (i,j) = x[i * row + j * col]; NaN in a gap is never read. */
static double *lift_matrix(const float *x, int64_t rows, int64_t cols, int64_t row, int64_t col)
{
    double *v = mg_doubles(rows * cols);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++)
            v[i * cols + j] = x[i * row + j * col];
    return v;
}

void mg_oracle_matmul(double *want, double *tolerance, const float *c0, const float *a, const float *b,
                      const mt_matmul_dims *d)
{
    if (d->M < 1 || d->N < 1)
        return;
    double *A = lift_matrix(a, d->M, d->K, d->trans_a ? 1 : d->lda, d->trans_a ? d->lda : 1);
    double *B = lift_matrix(b, d->K, d->N, d->trans_b ? 1 : d->ldb, d->trans_b ? d->ldb : 1);
    int64_t span = (d->M - 1) * d->ldc + d->N;
    for (int64_t i = 0; i < span; i++) {
        want[i] = c0 && (i % d->ldc >= d->N || d->write == MT_ACCUMULATE) ? c0[i] : 0;
        tolerance[i] = 0;
    }
    product_add(want, tolerance, d->ldc, (operand){ A, NULL, d->K, 1 }, (operand){ B, NULL, d->N, 1 }, d->M, d->N,
                d->K);
    free(A);
    free(B);
}

void mg_oracle_linear(double *v, double *e, const double *x, const double *ex, const double *w, const double *b,
                      int64_t N, int64_t I, int64_t O)
{
    for (int64_t i = 0; i < N * O; i++) {
        v[i] = b ? b[i % O] : 0;
        e[i] = 0;
    }
    product_add(v, e, O, (operand){ x, ex, I, 1 }, (operand){ w, NULL, O, 1 }, N, O, I);
}

void mg_oracle_linear_dx_add(double *v, double *e, const double *dout, const double *edout, const double *w, int64_t N,
                             int64_t I, int64_t O)
{
    product_add(v, e, I, (operand){ dout, edout, O, 1 }, (operand){ w, NULL, 1, O }, N, I, O);
}

void mg_oracle_linear_dw_add(double *v, double *e, const double *dout, const double *edout, const double *x,
                             const double *ex, int64_t N, int64_t I, int64_t O)
{
    product_add(v, e, O, (operand){ x, ex, 1, I }, (operand){ dout, edout, O, 1 }, I, O, N);
}

void mg_oracle_linear_db_add(double *v, double *e, const double *dout, const double *edout, int64_t N, int64_t O)
{
    const double one = 1;
    product_add(v, e, O, (operand){ &one, NULL, 0, 0 }, (operand){ dout, edout, O, 1 }, 1, O, N);
}

/* ---- activations ---------------------------------------------------------------------------- */

/* A number and its bound in units of u: what one scalar function returns. */
typedef struct pair {
    double v, e;
} pair;

static double Phi(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static double phi(double x)
{
    return exp(-0.5 * x * x) * 0.5 * M_2_SQRTPI * M_SQRT1_2;
}

/* tanh's argument in GPT-2's GELU, and its derivative. Its f32 value has up to 7 roundings, constants included: 7 u
 * |t|. */
static double gelu_t(double x)
{
    return 0.5 * M_SQRT2 * M_2_SQRTPI * (x + 0.044715 * x * x * x);
}

static double gelu_dt(double x)
{
    return 0.5 * M_SQRT2 * M_2_SQRTPI * (1 + 3 * 0.044715 * x * x);
}

/* sigmoid: exp (4 u), one addition, one division: 6 u; 8 allows for other formulas. 0.5 + 0.5 tanh(x/2) cancels for x <
 * 0, and tanh's 4 u are halved: an absolute error of 2 u. kernels/kernels.h promises no more.
 * tanh: libm's 4 u; through exp, 1 - e^-2x cancels: an absolute error of some u.
 * GELU: erf wrong by 4 u and by its argument's rounding, 1 + erf rounded, all halved, times x: an absolute error of
 * |x| 4 u even where Phi itself is tiny. The tanh form: tanh wrong by 4 u and by 7 u |t| sech^2 t, then the same. */
static pair act_value(mg_act act, double x)
{
    double t, sech;
    switch (act) {
    case MG_RELU:
        return (pair){ x < 0 ? 0 : x, 0 };
    case MG_SIGMOID:
        t = x > 0 ? 1 / (1 + exp(-x)) : exp(x) / (1 + exp(x));
        return (pair){ t, 8 * t + 2 };
    case MG_TANH:
        return (pair){ tanh(x), 8 * fabs(tanh(x)) };
    case MG_GELU:
        return (pair){ x * Phi(x), fabs(x) * (4 + 2 * Phi(x) + 2 * fabs(x) * phi(x)) };
    default:
        t = gelu_t(x);
        sech = 1 / cosh(t);
        return (pair){ 0.5 * x * (1 + tanh(t)), 0.5 * fabs(x) * (4 + 7 * fabs(t) * sech * sech + 4 * (1 + tanh(t))) };
    }
}

/* sigmoid, tanh from their output: three or four roundings, and 1 - out^2 cancels to an absolute error of u.
 * GELU: Phi wrong by 4 u absolute; the density's argument x^2/2 by 2 u relative, exp by 4 u, two products by u each.
 * The tanh form: 1 + tanh as forward; the second term has sech^2 = 1 - tanh^2, absolutely wrong by 2 tanh * 4 u + 2 u
 * and by its argument's error, times |x| dt / 2, and 6 more roundings. */
static pair act_slope(mg_act act, double s)
{
    double t, sech2, factor;
    switch (act) {
    case MG_RELU:
        return (pair){ !(s <= 0), 0 };
    case MG_SIGMOID:
        return (pair){ s * (1 - s), 4 * fabs(s * (1 - s)) + 2 * s * s }; /* or s - s^2, as tanh */
    case MG_TANH:
        return (pair){ 1 - s * s, 2 * s * s + 2 };
    case MG_GELU:
        return (pair){ Phi(s) + s * phi(s), 4 + 4 * Phi(s) + 2 * fabs(s) * phi(s) + fabs(s) * phi(s) * (8 + s * s) };
    default:
        t = gelu_t(s);
        sech2 = 1 / (cosh(t) * cosh(t));
        factor = 0.5 * s * gelu_dt(s);
        return (pair){ 0.5 * (1 + tanh(t)) + factor * sech2,
                       4 + 7 * fabs(t) * sech2 + fabs(factor) * (10 * fabs(tanh(t)) + sech2 * (14 * fabs(t) + 8)) };
    }
}

void mg_oracle_act(mg_act act, double *v, double *e, const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        pair f = act_value(act, x[i]);
        v[i] = f.v;
        e[i] = act == MG_RELU ? 0 : MG_U * f.e + FLT_MIN;
    }
}

void mg_oracle_act_add(mg_act act, double *v, double *e, const double *dout, const double *saved, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        pair f = act_slope(act, saved[i]);
        double d = act == MG_RELU && saved[i] <= 0 ? 0 : dout[i]; /* where not even infinity counts */
        double term = d * f.v, held = fabs(v[i]);
        v[i] += term;
        e[i] += MG_U * (fabs(d) * f.e + 2 * fabs(term) + held + fabs(v[i])) + FLT_MIN;
    }
}

/* ---- softmax and cross-entropy -------------------------------------------------------------- */

/* Values for the softmax of one row: its maximum and log(sum exp(x - max)), and u-free bounds:
 *   reach   error of an exponent's argument: u |x - max| from the subtraction, and the errors of the inputs
 *   sum_e   relative error of the sum: each term exp's 4 u and reach; the summation gamma(C) */
typedef struct row_sum {
    double max, log_sum, reach, sum_e;
} row_sum;

static row_sum sum_row(const double *x, const double *ex, int64_t C)
{
    row_sum r = { .max = x[0] };
    double sum = 0, width = 0, worst = 0;
    for (int64_t c = 1; c < C; c++)
        r.max = fmax(r.max, x[c]);
    for (int64_t c = 0; c < C; c++) {
        double term = exp(x[c] - r.max);
        sum += term;
        width += term * (r.max - x[c]); /* the error of an exponent is weighted by its term */
        worst = fmax(worst, ex ? ex[c] : 0);
    }
    r.log_sum = log(sum);
    r.reach = 2 * worst; /* of this input and of the maximum */
    r.sum_e = MG_U * (4 + width / sum) + mg_gamma(C) + r.reach;
    return r;
}

void mg_oracle_softmax(double *v, double *e, const double *x, const double *ex, int64_t N, int64_t C)
{
    for (int64_t n = 0; n < N; n++) {
        const double *xn = x + n * C;
        row_sum r = sum_row(xn, ex ? ex + n * C : NULL, C);
        for (int64_t c = 0; c < C; c++) {
            double p = exp(xn[c] - r.max - r.log_sum);
            v[n * C + c] = p;
            /* own exponent, exp, the sum, and a division or a reciprocal and a product */
            e[n * C + c] = p * (MG_U * (r.max - xn[c] + 4 + 2) + r.reach + r.sum_e) + FLT_MIN;
        }
    }
}

void mg_oracle_softmax_add(double *v, double *e, const double *dout, const double *out, int64_t N, int64_t C)
{
    for (int64_t n = 0; n < N; n++) {
        const double *g = dout + n * C, *p = out + n * C;
        double dot = 0, size = 0;
        for (int64_t c = 0; c < C; c++) {
            dot += g[c] * p[c];
            size += fabs(g[c] * p[c]);
        }
        for (int64_t c = 0; c < C; c++) {
            int64_t i = n * C + c;
            double term = p[c] * (g[c] - dot), held = fabs(v[i]);
            v[i] += term;
            e[i] += fabs(p[c]) * (mg_gamma(C + 1) * size + MG_U * (fabs(g[c]) + fabs(dot))) +
                    MG_U * (2 * fabs(term) + held + fabs(v[i])) + FLT_MIN;
        }
    }
}

void mg_oracle_cross_entropy(double *v, double *e, const double *x, const double *ex, const int32_t *label, int64_t N,
                             int64_t C)
{
    for (int64_t n = 0; n < N; n++) {
        const double *xn = x + n * C;
        row_sum r = sum_row(xn, ex ? ex + n * C : NULL, C);
        double below = r.max - xn[label[n]];
        v[n] = below + r.log_sum;
        /* Either the logarithm of the sum plus the distance from the maximum, or the logarithm of the probability: the
         * relative error of sum (and term) becomes absolute, log adds 4 u of each part it takes, and the rest rounds.
         * Or the logarithm of the sum plus the maximum, rounded, less the label's logit. */
        double lse = fabs(r.max + r.log_sum);
        e[n] = r.sum_e + r.reach + MG_U * (6 + 2 * below + 4 * fabs(r.log_sum) + 2 * fabs(v[n]) + lse) + FLT_MIN;
    }
}

void mg_oracle_cross_entropy_add(double *v, double *e, const double *dloss, const double *probs, const double *eprobs,
                                 const int32_t *label, int64_t N, int64_t C)
{
    for (int64_t i = 0; i < N * C; i++) {
        int64_t n = i / C;
        bool right = i % C == label[n];
        double term = dloss[n] * (probs[i] - right), held = fabs(v[i]);
        double size = fabs(dloss[n]) * (fabs(probs[i]) + right); /* in two steps: += dloss p, then -= dloss */
        v[i] += term;
        e[i] += fabs(dloss[n]) * (eprobs ? eprobs[i] : 0) + MG_U * (2 * size + held + fabs(v[i])) + FLT_MIN;
    }
}

/* ---- distributions -------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double distance(double share, int64_t i, int64_t n)
{
    return fmax(fabs(share - (double)i / n), fabs(share - (double)(i + 1) / n));
}

double mg_ks_normal(double *x, int64_t n, double sigma)
{
    double worst = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, distance(Phi(x[i] / sigma), i, n));
    return worst;
}

double mg_ks_uniform(double *x, int64_t n, double a)
{
    double worst = 0;
    qsort(x, (size_t)n, sizeof *x, ascending);
    for (int64_t i = 0; i < n; i++)
        worst = fmax(worst, distance(fmin(1, fmax(0, (x[i] + a) / (2 * a))), i, n));
    return worst;
}

double mg_ks_bound(int64_t n)
{
    return sqrt(log(2 / 1e-9) / (2 * (double)n));
}
