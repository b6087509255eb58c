/* kernels_gpt2.h -- the CPU kernels of GPT-2. The CUDA kernels of the same contracts are given (cuda/kernels.h).
 * Conventions and letters are those of kernels/kernels.h. */
#pragma once

#include "core/dtype.h"
#include "kernels/tables.h"

MT_C_BEGIN

struct mt_call;
struct mt_tensor;

/* mt_layernorm_fwd_cpu -- normalise each row, then scale and shift.
 *   out   [N,C] f32  overwritten; may alias x
 *   mean  [N]   f32  overwritten; saved for backward
 *   rstd  [N]   f32  1/sqrt(var+eps); saved for backward
 *   x     [N,C] f32;  gamma, beta [C] f32;  eps > 0
 * out = (x - mean) * rstd * gamma + beta        (population variance)
 * A row whose squares exceed f32 (|x| above about 1e19) becomes NaN, as does its rstd, unless the sums are double.
 * Moves: reads 12NC B at worst, writes 4NC B.    Aborts: C < 1 with N > 0.
 * Source: Ba et al. 2016, arXiv:1607.06450, sec. 3.   Lab 08.3 */
void mt_layernorm_fwd_cpu(float *out, float *mean, float *rstd, const float *x, const float *gamma, const float *beta,
                          int64_t N, int64_t C, float eps);

/* mt_layernorm_bwd_cpu -- gradients of the above; dx, dgamma, dbeta may each be NULL when they are not needed.
 *   dx [N,C] += rstd * (g - mean of g - xhat * mean of g*xhat),  g = dout * gamma,  xhat = (x - mean) * rstd
 *   dgamma [C] += column sums of dout * xhat;  dbeta [C] += column sums of dout
 *   dout, x [N,C];  gamma [C];  mean, rstd [N] as forward wrote them
 * Moves: reads 24NC B at worst, writes 4NC B.   Lab 08.3 */
void mt_layernorm_bwd_cpu(float *dx, float *dgamma, float *dbeta, const float *dout, const float *x, const float *gamma,
                          const float *mean, const float *rstd, int64_t N, int64_t C);

/* ---- embedding: solutions/08-gpt2/embedding.c ------------------------------------------------- */

/* mt_embedding_fwd_cpu -- a row for each token, plus a row for its position.
 *   out [B,T,C]  overwritten;  id [B,T] i32;  wte [V,C];  wpe [T,C], or longer
 * out[b,t,:] = wte[id[b,t],:] + wpe[t,:].   Aborts: an id outside 0 .. V-1, naming position and value.   Lab 08.4 */
void mt_embedding_fwd_cpu(float *out, const int32_t *id, const float *wte, const float *wpe, int64_t B, int64_t T,
                          int64_t V, int64_t C);

/* mt_embedding_bwd_cpu -- dwte[id[b,t],:] += dout[b,t,:];  dwpe[t,:] += dout[b,t,:]; either may be NULL.   Lab 08.4 */
void mt_embedding_bwd_cpu(float *dwte, float *dwpe, const float *dout, const int32_t *id, int64_t B, int64_t T,
                          int64_t C);

/* ---- attention: one signature, a ladder of kernels ---------------------------------------------- */

/* Causal self-attention with H heads of D = C/H columns.
 *   out    [B,T,C]   overwritten; head h has columns h*D .. h*D+D-1
 *   saved            overwritten, for backward: as many numbers as the rung's saved(B, T, H) says
 *   qkv    [B,T,3C]  each row: queries, keys, values, C of each, split between the heads in the same way
 * score[i,j] = q_i . k_j / sqrt(D) for j <= i;  out_i = sum_j softmax_j(score[i,:]) v_j
 * A key that is NaN makes the queries i >= j NaN, and no others. A value that is NaN or infinite may reach all queries
 * of its head: a rung may multiply hidden values by 0, as PyTorch does.
 * Cost: 2 B T^2 C multiply-adds at most.   Aborts: H < 1, or C that H does not divide.
 * Source: Vaswani et al. 2017, arXiv:1706.03762, sec. 3.2. */
typedef void mt_attention_fwd_fn(float *out, float *saved, const float *qkv, int64_t B, int64_t T, int64_t C,
                                 int64_t H);

/* dqkv [B,T,3C] += the gradient of the above.
 *   dout, out [B,T,C];  qkv [B,T,3C];  out and saved as forward wrote them; saved may be OVERWRITTEN
 * Aborts: as forward. */
typedef void mt_attention_bwd_fn(float *dqkv, const float *dout, const float *qkv, const float *out, float *saved,
                                 int64_t B, int64_t T, int64_t C, int64_t H);

/* How many numbers forward saves. */
typedef int64_t mt_attention_saved_fn(int64_t B, int64_t T, int64_t H);

/* Plain, solutions/08-gpt2/attention.c: saved [B,H,T,T] holds the probabilities, 0 for the keys j > i. */
mt_attention_saved_fn mt_attention_plain_saved_cpu;
mt_attention_fwd_fn mt_attention_plain_fwd_cpu; /* Lab 08.5 */
mt_attention_bwd_fn mt_attention_plain_bwd_cpu; /* Lab 08.6 */

/* The same forward of qkv in bf16. A table may have one beside attention_fwd, with the same saved.
 * pays: is it faster than attention_fwd, for these sizes? */
typedef void mt_attention_bf16_fwd_fn(float *out, float *saved, const mt_bf16 *qkv, int64_t B, int64_t T, int64_t C,
                                      int64_t H);
typedef bool mt_attention_bf16_pays_fn(int64_t C, int64_t H);

/* ---- cache: solutions/08-gpt2/cache.c ---------------------------------------------------------- */

/* mt_attention_cached_cpu -- the row of attention that belongs to one new token of one sample.
 *   out [C]  overwritten;  qkv [3C] of the new token;  place: its position, the number of tokens before it
 *   cache [place + 1, 2C]  rows 0 .. place-1: keys and values, C of each, of the tokens before; row place is written
 * Moves: 8C(place + 1) B, which limits the speed.   Aborts: as above; place < 0.   Lab 08.8 */
void mt_attention_cached_cpu(float *out, float *cache, const float *qkv, int64_t place, int64_t C, int64_t H);

/* ---- classifier: solutions/08-gpt2/classifier.c ------------------------------------------------ */

/* mt_classifier_fwd_cpu -- logits and cross-entropy in one buffer.
 *   loss [N] overwritten: -log softmax(x w^T)[n, target[n]];  probs [N,V] overwritten, saved for backward
 *   x [N,C];  w [V,C];  target [N] i32, each 0 .. V-1
 * A NaN makes loss and probs of its row NaN, and of no other.
 * Cost: N V C multiply-adds.   Aborts: a target out of range; V < 1 with N > 0.   Lab 08.7 */
void mt_classifier_fwd_cpu(float *loss, float *probs, const float *x, const float *w, const int32_t *target, int64_t N,
                           int64_t C, int64_t V);

/* mt_classifier_bwd_cpu -- dx [N,C], dw [V,C] += gradients, of the sum of dloss[n] * loss[n].
 *   dloss [N] (1/N each when the training loss is the mean);  x, w, target as given to forward
 *   probs [N,V] as forward wrote it, OVERWRITTEN: it becomes the gradient of the logits. dx, dw may be NULL.
 * Cost: twice the forward.   Lab 08.7 */
void mt_classifier_bwd_cpu(float *dx, float *dw, float *probs, const float *dloss, const float *x, const float *w,
                           const int32_t *target, int64_t N, int64_t C, int64_t V);

/* ---- the table ------------------------------------------------------------------------------------ */

/* clang-format off */
#define MT_GPT2_KERNELS(K) \
    K(layernorm_fwd) K(layernorm_bwd) K(embedding_fwd) K(embedding_bwd) \
    K(attention_cached) K(classifier_fwd) K(classifier_bwd)
/* clang-format on */

/* Other ways to compute two ops of models/gpt2_ops.h, in terms of tensors; NULL: there is none. linear_gelu is all of
 * mt_linear_gelu. classifier_rest is what mt_classifier does once its operands are checked: it fills loss and ends the
 * call c; or it is false, and has done nothing. */
typedef struct mt_tensor *mt_linear_gelu_fn(struct mt_tensor *x, struct mt_tensor *w, struct mt_tensor *b);
typedef bool mt_classifier_rest_fn(struct mt_call *c, struct mt_tensor *loss, struct mt_tensor *x, struct mt_tensor *w,
                                   struct mt_tensor *target, int64_t classes);

MT_GPT2_KERNELS(MT_KERNEL_DECLARE) /* those of the device, where it has them */

enum { MT_HEAD_COLUMNS = 128 }; /* the most that a head may have there */

typedef struct mt_gpt2_table {
    mt_attention_saved_fn *attention_saved; /* three of one rung of the ladder */
    mt_attention_fwd_fn *attention_fwd;
    mt_attention_bwd_fn *attention_bwd;
    mt_attention_bf16_pays_fn *attention_bf16_pays; /* NULL: there is no attention_bf16_fwd */
    mt_attention_bf16_fwd_fn *attention_bf16_fwd;
    mt_linear_gelu_fn *linear_gelu;
    mt_classifier_rest_fn *classifier_rest;
    MT_GPT2_KERNELS(MT_KERNEL_ENTRY)
} mt_gpt2_table;

MT_TABLES(gpt2) /* models/products.c */

/* ---- sampling: solutions/08-gpt2/sample.c ------------------------------------------------------- */

/* mt_most_likely_cpu -- the largest of V logits, V >= 1; of equal ones the first.   Lab 08.9 */
int32_t mt_most_likely_cpu(const float *logits, int64_t V);

/* The next three take ranked tokens: logit [V] and weight [V] never increase. Sums are in double: the sum of fifty
 * thousand small numbers is too inexact in f32. */

/* mt_sample_weights_cpu -- weight[i] = exp((logit[i] - logit[0]) / temperature), overwritten; temperature > 0.
 * Source: Hinton, Vinyals, Dean 2015, arXiv:1503.02531, sec. 2.   Lab 08.9 */
void mt_sample_weights_cpu(float *weight, const float *logit, int64_t V, double temperature);

/* mt_sample_kept_cpu -- how many of V >= 1 tokens may be drawn, 1 .. V: of the first top_k (0: of all) the fewest
 * whose sum is at least top_p times that of the top_k; 0 < top_p <= 1.
 * Source: Fan et al. 2018, arXiv:1805.04833 (top-k); Holtzman et al. 2020, arXiv:1904.09751 (top-p).   Lab 08.9 */
int64_t mt_sample_kept_cpu(const float *weight, int64_t V, int64_t top_k, double top_p);

/* mt_sample_drawn_cpu -- the first i < kept with weight[0] + ... + weight[i] > part * (sum of the kept); kept >= 1,
 * 0 <= part < 1.   Lab 08.9 */
int64_t mt_sample_drawn_cpu(const float *weight, int64_t kept, double part);

MT_C_END
