/* heads.h -- what the attention kernels of the CPU share: where a head's queries, keys and values are, and its
 * products. */
#pragma once

#include "kernels/matmul.h"

#include <inttypes.h>
#include <math.h>

MT_C_BEGIN

/* One head of one sample. Row t of its queries is q + t * 3C, likewise k and v; of its output out + t * C. */
typedef struct mt_head {
    const float *q, *k, *v;
    int64_t T, C, D; /* D = C / H columns belong to this head */
    float scale;     /* of the scores: 1 / sqrt(D) */
} mt_head;

/* Head index % H of sample index / H of qkv [B,T,3C]. */
static inline mt_head mt_head_of(const float *qkv, int64_t index, int64_t T, int64_t C, int64_t H)
{
    const float *q = qkv + index / H * T * 3 * C + index % H * (C / H);
    return (mt_head){ q, q + C, q + 2 * C, T, C, C / H, 1 / sqrtf((float)(C / H)) };
}

static inline void mt_heads_check(int64_t C, int64_t H)
{
    MT_CHECK(H >= 1 && C % H == 0, "attention: %" PRId64 " columns cannot be split between %" PRId64 " heads", C, H);
}

/* c [M,N] = or += a b on one thread (lab 01.5); each leading dimension follows its array. */
static inline void mt_head_product(float *c, int64_t ldc, const float *a, int64_t lda, mt_trans trans_a, const float *b,
                                   int64_t ldb, mt_trans trans_b, int64_t M, int64_t N, int64_t K, mt_write write)
{
    const mt_matmul_dims dims = { M, N, K, lda, ldb, ldc, trans_a, trans_b, write };
    mt_matmul_packed_cpu(c, a, b, &dims);
}

MT_C_END
