/* kernels.h -- the CPU kernels of lab 02 and the given ones: raw pointers and sizes, no tensor, no allocation; and
 * the table in which ops find the kernels of each device.
 *
 * Letters: N rows (samples, or batch x time), I inputs, O outputs, C columns (classes), n any number of elements.
 * All arrays are dense, row-major f32 unless said. Any size may be 0. Forward kernels overwrite; backward kernels
 * ACCUMULATE (+=) into what the caller zeroed, because a value used twice gets two gradients. Pointers of different
 * arguments must not alias unless said. The reference's results have the same bits for any number of threads; lab 02
 * asks for that in products, softmax and cross-entropy. Two threads may call a kernel at once on different arrays, as
 * ranks do in lab 13: a static variable that two calls share is wrong unless it is locked or thread-local. */
#pragma once

#include "core/base.h"
#include "core/rng.h"
#include "core/view.h"
#include "kernels/matmul.h"
#include "kernels/tables.h"

MT_C_BEGIN

/* ---- linear: solutions/02-backprop/linear.c -------------------------------------------------- */

/* mt_linear_fwd_cpu -- out = x w + b.
 *   out [N,O]  overwritten;  x [N,I];  w [I,O];  b [O] or NULL
 * Cost: N*I*O multiply-adds.   Source: Goodfellow, Bengio, Courville 2016, sec. 6.   Lab 02.1 */
void mt_linear_fwd_cpu(float *out, const float *x, const float *w, const float *b, int64_t N, int64_t I, int64_t O);

/* mt_linear_bwd_cpu -- gradients of the above; dx, dw, db may each be NULL when they are not needed.
 *   dx [N,I] += dout w^T;  dw [I,O] += x^T dout;  db [O] += column sums of dout
 *   dout [N,O];  x [N,I] and w [I,O] as given to forward
 * Cost: twice the forward.   Lab 02.2 */
void mt_linear_bwd_cpu(float *dx, float *dw, float *db, const float *dout, const float *x, const float *w, int64_t N,
                       int64_t I, int64_t O);

/* ---- activations, element by element: solutions/02-backprop/activations.c --------------------
 *   out [n] overwritten, may alias x;  x [n].   dx [n] += dout * f'(x);  what backward reads is stated. */
typedef void mt_unary_fwd_fn(float *out, const float *x, int64_t n);
typedef void mt_unary_bwd_fn(float *dx, const float *dout, const float *saved, int64_t n);

mt_unary_fwd_fn mt_relu_fwd_cpu;      /* max(x, 0); NaN stays NaN                                  Lab 02.3 */
mt_unary_bwd_fn mt_relu_bwd_cpu;      /* saved = out or x: dx += dout, except where saved <= 0     Lab 02.3 */
mt_unary_fwd_fn mt_sigmoid_fwd_cpu;   /* 1 / (1 + e^-x); never overflows                           Lab 02.4 */
mt_unary_bwd_fn mt_sigmoid_bwd_cpu;   /* saved = out: dx += dout * out * (1 - out)                 Lab 02.4 */
mt_unary_fwd_fn mt_tanh_fwd_cpu;      /* tanh x                                                    Lab 02.4 */
mt_unary_bwd_fn mt_tanh_bwd_cpu;      /* saved = out: dx += dout * (1 - out^2)                     Lab 02.4 */
mt_unary_fwd_fn mt_gelu_fwd_cpu;      /* x Phi(x), exact: Phi by erf                               Lab 02.5 */
mt_unary_bwd_fn mt_gelu_bwd_cpu;      /* saved = x: dx += dout * (Phi(x) + x phi(x))               Lab 02.5 */
mt_unary_fwd_fn mt_gelu_tanh_fwd_cpu; /* GPT-2's: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))    Lab 02.5 */
mt_unary_bwd_fn mt_gelu_tanh_bwd_cpu; /* saved = x, |x| < 6e12: beyond, x^3 overflows              Lab 02.5 */
/* ReLU of NaN is NaN, and passes its gradient on, as in PyTorch. GELU of NaN is NaN, in both forms.
 * Phi(x) = (1 + erf(x / sqrt 2)) / 2 is the distribution function of the normal distribution, phi(x) = e^(-x^2/2) /
 * sqrt(2 pi) its density.
 * Sources: Nair and Hinton 2010 (ReLU); Hendrycks and Gimpel 2016, arXiv:1606.08415 (GELU). */

/* ---- softmax and cross-entropy: solutions/02-backprop/softmax.c ------------------------------ */

/* mt_softmax_fwd_cpu -- softmax of each row.
 *   out [N,C]  overwritten; may alias x;  x [N,C]
 * out[n,c] = exp(x[n,c] - max_n) / sum_k exp(x[n,k] - max_n)
 * A NaN makes its row NaN, and no other.   Aborts: C < 1 with N > 0.
 * Moves: reads 16NC B, writes 8NC B in four passes; a row that fits in the cache comes from memory once.
 * Source: Goodfellow, Bengio, Courville 2016, sec. 4.1.   Lab 02.6 */
void mt_softmax_fwd_cpu(float *out, const float *x, int64_t N, int64_t C);

/* mt_softmax_bwd_cpu -- dx[n,c] += out[n,c] * (dout[n,c] - sum_k dout[n,k] out[n,k]).
 *   dx, dout, out [N,C]; out as forward wrote it.   Lab 02.6 */
void mt_softmax_bwd_cpu(float *dx, const float *dout, const float *out, int64_t N, int64_t C);

/* mt_cross_entropy_fwd_cpu -- softmax fused with the negative log-likelihood of the right class.
 *   loss  [N]    overwritten: -log softmax(logits)[n, label[n]], finite for |logits| <= 1.7e38
 *   probs [N,C]  overwritten: softmax(logits), saved for backward; may alias logits
 *   logits [N,C];  label [N] i32, each 0 .. C-1
 * A NaN makes loss and probs of its row NaN, and of no other.
 * Aborts: a label out of range, naming row and value; C < 1 with N > 0.   Lab 02.7 */
void mt_cross_entropy_fwd_cpu(float *loss, float *probs, const float *logits, const int32_t *label, int64_t N,
                              int64_t C);

/* mt_cross_entropy_bwd_cpu -- dlogits[n,c] += dloss[n] * (probs[n,c] - (c == label[n])).
 *   dlogits [N,C];  dloss [N] (1/N each when the training loss is the mean);  probs [N,C];  label [N].   Lab 02.7 */
void mt_cross_entropy_bwd_cpu(float *dlogits, const float *dloss, const float *probs, const int32_t *label, int64_t N,
                              int64_t C);

/* ---- initialisation: solutions/02-backprop/init.c -------------------------------------------- */

/* mt_init_he_cpu -- w [n] ~ normal(0, sqrt(2 / fan_in)), for layers followed by ReLU.
 * Source: He et al. 2015, arXiv:1502.01852.   Aborts: fan_in < 1.   Lab 02.8 */
void mt_init_he_cpu(float *w, int64_t n, int64_t fan_in, mt_rng *rng);

/* mt_init_xavier_cpu -- w [n] ~ uniform(-a, a), a = sqrt(6 / (fan_in + fan_out)), for tanh and sigmoid.
 * Source: Glorot and Bengio 2010.   Aborts: a fan < 1.   Lab 02.8 */
void mt_init_xavier_cpu(float *w, int64_t n, int64_t fan_in, int64_t fan_out, mt_rng *rng);

/* ---- given: math_cpu.c ------------------------------------------------------------------------- */

/* out = factor * x, may alias x;  dx += factor * dout.   out, x, dx, dout [n] */
void mt_scale_fwd_cpu(float *out, const float *x, float factor, int64_t n);
void mt_scale_bwd_cpu(float *dx, const float *dout, float factor, int64_t n);

/* out = x + part, may alias either.   out, x, part [n] */
void mt_residual_fwd_cpu(float *out, const float *x, const float *part, int64_t n);

/* out[0] = the mean of x [n], n >= 1;  dx[i] += dout[0] / n.   mt_sum_cpu: the sum of x [n], in double. */
void mt_mean_fwd_cpu(float *out, const float *x, int64_t n);
void mt_mean_bwd_cpu(float *dx, const float *dout, int64_t n);
double mt_sum_cpu(const float *x, int64_t n);

/* ---- strided arrays: elementwise_cpu.c ------------------------------------------------------------
 * Arithmetic with broadcasting, copies and sums through views. An operand is a pointer and a view of it; a broadcast
 * operand has stride 0 where it repeats, and its gradient is the sum over the repeats. All operands of a call have the
 * same shape. A NULL gradient is not computed. */
typedef struct mt_strided {
    float *data; /* the storage; view.offset is added */
    mt_view view;
} mt_strided;

/* out dense. da, db are views of dense gradients, broadcast as a and b were; dout dense. Backward of add and sub reads
 * neither a nor b, da of mul and div reads b, db reads a, of div both: NULL for what is not read. */
typedef void mt_binary_fwd_fn(float *out, const mt_strided *a, const mt_strided *b);
typedef void mt_binary_bwd_fn(const mt_strided *da, const mt_strided *db, const float *dout, const mt_strided *a,
                              const mt_strided *b);

mt_binary_fwd_fn mt_add_fwd_cpu, mt_sub_fwd_cpu, mt_mul_fwd_cpu, mt_div_fwd_cpu;
mt_binary_bwd_fn mt_add_bwd_cpu, mt_sub_bwd_cpu, mt_mul_bwd_cpu, mt_div_bwd_cpu;

/* mt_add_strided_cpu -- dst += src; a dst of stride 0 receives the sum. The gradient of every view. */
void mt_add_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* mt_copy_to_strided_cpu -- dst = src; dst has no stride 0. */
void mt_copy_to_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* ---- functions of dense arrays, sums and maxima along a dimension: math_cpu.c --------------------- */
mt_unary_fwd_fn mt_exp_fwd_cpu, mt_log_fwd_cpu, mt_sqrt_fwd_cpu;
mt_unary_bwd_fn mt_exp_bwd_cpu;  /* saved = out */
mt_unary_bwd_fn mt_log_bwd_cpu;  /* saved = x */
mt_unary_bwd_fn mt_sqrt_bwd_cpu; /* saved = out */

/* mt_sum_middle_cpu -- out[a,c] = sum_b x[a,b,c];  x [A,B,C] dense, out [A,C] overwritten. */
void mt_sum_middle_cpu(float *out, const float *x, int64_t A, int64_t B, int64_t C);

/* mt_max_middle_fwd_cpu -- out[a,c] = the largest of x[a,:,c], at[a,c] = its first b; NaN counts as the largest.
 * Aborts: B < 1 with A*C > 0. */
void mt_max_middle_fwd_cpu(float *out, int64_t *at, const float *x, int64_t A, int64_t B, int64_t C);
/* mt_max_middle_bwd_cpu -- dx[a,at[a,c],c] += dout[a,c]. */
void mt_max_middle_bwd_cpu(float *dx, const float *dout, const int64_t *at, int64_t A, int64_t B, int64_t C);

/* ---- rows of a table, dropout: rows_cpu.c ---------------------------------------------------------- */

/* mt_gather_rows_fwd_cpu -- out[n,:] = table[id[n],:];  table [V,C], id [N], out [N,C].   Aborts: an id outside 0 ..
 * V-1. */
void mt_gather_rows_fwd_cpu(float *out, const float *table, const int32_t *id, int64_t N, int64_t V, int64_t C);
/* mt_gather_rows_bwd_cpu -- dtable[id[n],:] += dout[n,:], in the order of n. */
void mt_gather_rows_bwd_cpu(float *dtable, const float *dout, const int32_t *id, int64_t N, int64_t V, int64_t C);

/* mt_dropout_fwd_cpu -- keep x[i] / (1 - p) where element i of rng's uniform stream is >= p, else 0;  0 <= p < 1.
 * mt_dropout_bwd_cpu -- dx += dout through the same mask, which is drawn again from the same rng, never stored. */
void mt_dropout_fwd_cpu(float *out, const float *x, int64_t n, float p, const mt_rng *rng);
void mt_dropout_bwd_cpu(float *dx, const float *dout, int64_t n, float p, const mt_rng *rng);

/* ---- the table: see kernels/tables.h ----------------------------------------------------------------- */

/* clang-format off */
#define MT_KERNELS(K) \
    K(linear_fwd) K(linear_bwd) K(relu_fwd) K(relu_bwd) K(sigmoid_fwd) K(sigmoid_bwd) K(tanh_fwd) K(tanh_bwd) \
    K(gelu_fwd) K(gelu_bwd) K(gelu_tanh_fwd) K(gelu_tanh_bwd) K(softmax_fwd) K(softmax_bwd) K(cross_entropy_fwd) \
    K(cross_entropy_bwd) K(scale_fwd) K(scale_bwd) K(residual_fwd) K(mean_fwd) K(mean_bwd) \
    K(add_fwd) K(add_bwd) K(sub_fwd) K(sub_bwd) K(mul_fwd) K(mul_bwd) K(div_fwd) K(div_bwd) K(add_strided) \
    K(copy_to_strided) K(exp_fwd) K(exp_bwd) K(log_fwd) K(log_bwd) K(sqrt_fwd) K(sqrt_bwd) K(sum_middle) \
    K(max_middle_fwd) K(max_middle_bwd) K(gather_rows_fwd) K(gather_rows_bwd) K(dropout_fwd) K(dropout_bwd)
/* clang-format on */

typedef struct mt_base_table {
    mt_matmul_fn *matmul; /* the best of each device's ladder */
    MT_KERNELS(MT_KERNEL_ENTRY)
} mt_base_table;

MT_TABLES(base)

static inline const mt_base_table *mt_kernels(mt_device device)
{
    return mt_base_kernels(device);
}

MT_C_END
