/* oracle_attention.h -- causal attention in double, one query or token at a time, with the bounds of oracle.h.
 *
 * Every row of scores is made whole, as a plain softmax needs it: no tiles, no running maximum. A place i counts as
 * lse does: (b * H + h) * T + t is token t of head h of sample b. */
#pragma once

#include "checks/oracle.h"

/* One call. Forward reads qkv [B,T,3C] only; backward also dout, out [B,T,C] and what forward saved: lse [B,H,T] or,
 * when that is NULL, probs [B,H,T,T]. All are taken as exact. */
typedef struct mg_attention {
    int64_t B, T, C, H;
    const float *qkv, *dout, *out, *lse, *probs;
    double *spread; /* [B,H,T] of mg_oracle_attention_spread; may be NULL */
    bool bf16;      /* qkv is exact in bf16; the weights are rounded to it before they multiply the values */
} mg_attention;

/* mg_attention_places -- how many there are: B * H * T. */
int64_t mg_attention_places(const mg_attention *a);

/* mg_attention_row -- where the C/H numbers of place i begin in out [B,T,C]. */
int64_t mg_attention_row(const mg_attention *a, int64_t i);

/* mg_oracle_attention -- v, e [C/H]: out of place i;  lse [2]: its log-sum-exp and the bound of that. */
void mg_oracle_attention(double *v, double *e, double lse[2], const mg_attention *a, int64_t i);

/* mg_oracle_attention_probs -- v, e [T]: the probabilities of place i, exactly 0 after the diagonal. */
void mg_oracle_attention_probs(double *v, double *e, const mg_attention *a, int64_t i);

/* mg_oracle_attention_spread -- of place i, the sum over the keys of p[j] |dout| . |v_j|: how far off the sum of
 * p[j] dp[j] is when it is summed over the keys and not computed as dout . out. */
double mg_oracle_attention_spread(const mg_attention *a, int64_t i);

/* mg_oracle_attention_add -- v, e [B,T,3C] += the gradients of query, key and value of place i, no others. */
void mg_oracle_attention_add(double *v, double *e, const mg_attention *a, int64_t i);
