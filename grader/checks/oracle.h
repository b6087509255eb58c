/* oracle.h -- expected values in double precision, each with a bound of the error of a correct f32 kernel.
 *
 * Written from the formulas of kernels/kernels.h and kernels/matmul.h, independent of the units: nothing here calls
 * one.
 *
 * Every quantity is a pair of arrays, value v and bound e: a correct f32 kernel is within e of v. The bounds follow the
 * arithmetic (running error analysis, Higham 2002, "Accuracy and Stability of Numerical Algorithms", ch. 3), so that
 * they hold for a whole network as well as for one kernel. With u = 2^-24, half an ulp of 1:
 *
 *   one f32 operation        |result| u
 *   a sum of n terms         gamma(n) sum |term|,  gamma(n) = u min(n, 8 sqrt n): n bounds every order of summation;
 *                            rounding errors of random sign exceed 8 sqrt n with probability 2 exp(-8^2 / 2) = 3e-14
 *                            (Higham and Mary 2019, SIAM J. Sci. Comput. 41(5), thm 2.4)
 *   exp, log, erf, tanh      2 ulp = 4 u relative: glibc documents 1, other libraries and hand-written ones 2
 *   an argument wrong by d   |f'| d
 *
 * FLT_MIN is added wherever a result may underflow: flushing to zero is allowed. Products of bf16 or f16 inputs are 2^8
 * or 2^12 u wrong and fail at every size the checks use.
 *
 * Bounds of inputs (ex, edout, ...) may be NULL: exact. Functions named ..._add ADD to v and e, as backward kernels do
 * (start with mg_lift of what the array held); the others overwrite both. */
#pragma once

#include "core/rng.h"
#include "kernels/matmul.h"

#define MG_U 0x1p-24

double mg_gamma(int64_t terms);

/* mg_lift -- v = x as doubles, returned in malloc'ed memory the caller frees. */
double *mg_lift(const float *x, int64_t n);

/* mg_doubles -- n zeros, malloc'ed. */
double *mg_doubles(int64_t n);

/* mg_oracle_matmul -- want, tolerance [ldc*(M-1)+N]: the M x N elements of C, and in the gap between N and ldc what c0
 * held, to the bit. a, b, c0 as passed to the kernel; c0 may be NULL when C is tight and overwritten. */
void mg_oracle_matmul(double *want, double *tolerance, const float *c0, const float *a, const float *b,
                      const mt_matmul_dims *dims);

/* mg_oracle_linear -- v, e [N,O] = x w + b;  x [N,I], w [I,O], b [O] or NULL. */
void mg_oracle_linear(double *v, double *e, const double *x, const double *ex, const double *w, const double *b,
                      int64_t N, int64_t I, int64_t O);

/* The three gradients of the above: dx [N,I] += dout w^T;  dw [I,O] += x^T dout;  db [O] += column sums of dout. */
void mg_oracle_linear_dx_add(double *v, double *e, const double *dout, const double *edout, const double *w, int64_t N,
                             int64_t I, int64_t O);
void mg_oracle_linear_dw_add(double *v, double *e, const double *dout, const double *edout, const double *x,
                             const double *ex, int64_t N, int64_t I, int64_t O);
void mg_oracle_linear_db_add(double *v, double *e, const double *dout, const double *edout, int64_t N, int64_t O);

typedef enum mg_act { MG_RELU, MG_SIGMOID, MG_TANH, MG_GELU, MG_GELU_TANH } mg_act;

/* mg_oracle_act -- v, e [n] = f(x), exact x. */
void mg_oracle_act(mg_act act, double *v, double *e, const double *x, int64_t n);

/* mg_oracle_act_add -- dx [n] += dout * f'; saved is what the kernel's backward reads (out for sigmoid and tanh, else
 * x). */
void mg_oracle_act_add(mg_act act, double *v, double *e, const double *dout, const double *saved, int64_t n);

/* mg_oracle_softmax -- v, e [N,C] = softmax of each row of x. */
void mg_oracle_softmax(double *v, double *e, const double *x, const double *ex, int64_t N, int64_t C);

/* mg_oracle_softmax_add -- dx [N,C] += out * (dout - sum_k dout out), out exact. */
void mg_oracle_softmax_add(double *v, double *e, const double *dout, const double *out, int64_t N, int64_t C);

/* mg_oracle_cross_entropy -- v, e [N] = -log softmax(x)[n, label[n]]. */
void mg_oracle_cross_entropy(double *v, double *e, const double *x, const double *ex, const int32_t *label, int64_t N,
                             int64_t C);

/* mg_oracle_cross_entropy_add -- dx [N,C] += dloss[n] * (probs[n,c] - (c == label[n])). */
void mg_oracle_cross_entropy_add(double *v, double *e, const double *dloss, const double *probs, const double *eprobs,
                                 const int32_t *label, int64_t N, int64_t C);

/* mg_oracle_layernorm -- v, e [N,C] = (x - mean) rstd gamma + beta; mean, rstd [N] and their bounds: population
 * variance, rstd = 1 / sqrt(variance + eps). oracle_layernorm.c */
void mg_oracle_layernorm(double *v, double *e, double *mean, double *mean_e, double *rstd, double *rstd_e,
                         const float *x, const float *gamma, const float *beta, int64_t N, int64_t C, double eps);

/* What layernorm's backward reads: dout, x [N,C], gamma [C], mean, rstd [N] as saved, all exact. */
typedef struct mg_layernorm_saved {
    const float *dout, *x, *gamma, *mean, *rstd;
    int64_t N, C;
} mg_layernorm_saved;

/* Its three gradients: dx [N,C], dgamma [C], dbeta [C]. */
void mg_oracle_layernorm_dx_add(double *v, double *e, const mg_layernorm_saved *saved);
void mg_oracle_layernorm_dgamma_add(double *v, double *e, const mg_layernorm_saved *saved);
void mg_oracle_layernorm_dbeta_add(double *v, double *e, const mg_layernorm_saved *saved);

/* mg_oracle_moments -- mean, rstd [N] of each row of s->x as forward would have saved them: the exact ones, as f32. */
void mg_oracle_moments(float *mean, float *rstd, const mg_layernorm_saved *s, float eps);

/* mg_ks_normal, mg_ks_uniform -- the largest distance between the share of samples below any x and what normal(0,
 * sigma), or uniform(-a, a), says (Kolmogorov and Smirnov). x is sorted in place. mg_ks_bound -- n samples of the right
 * distribution exceed it with probability 1e-9 (Dvoretzky, Kiefer, Wolfowitz; Massart 1990). */
double mg_ks_normal(double *x, int64_t n, double sigma);
double mg_ks_uniform(double *x, int64_t n, double a);
double mg_ks_bound(int64_t n);
