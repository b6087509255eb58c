/* vec16.h -- SIMD vectors of 16-bit floats: read and written as vectors of floats (kernels/vec.h), and multiplied in
 * pairs. */
#pragma once

#include "core/dtype.h"
#include "kernels/vec.h"

#include <string.h>

MT_C_BEGIN

/* mt_load_bf16, mt_load_f16 -- MT_VL numbers of 16 bits as floats, exactly. */
static inline mt_vec mt_load_bf16(const mt_bf16 *from)
{
#if defined(__AVX512F__)
    return (mt_vec)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)from)), 16);
#elif defined(__AVX2__)
    return (mt_vec)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)from)), 16);
#else
    mt_vec v;
    for (int i = 0; i < MT_VL; i++)
        v[i] = mt_bf16_to_f32(from[i]);
    return v;
#endif
}

static inline mt_vec mt_load_f16(const mt_f16 *from)
{
#if defined(__AVX512F__)
    return (mt_vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
#elif defined(__AVX2__) && defined(__F16C__)
    return (mt_vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
#else
    mt_vec v;
    for (int i = 0; i < MT_VL; i++)
        v[i] = mt_f16_to_f32(from[i]);
    return v;
#endif
}

/* mt_store_bf16 -- MT_VL numbers, rounded to nearest, ties to even; subnormal numbers may become 0. */
static inline void mt_store_bf16(void *to, mt_vec v)
{
#if defined(__AVX512BF16__) && defined(__AVX512VL__)
    _mm256_storeu_si256((__m256i *)to, (__m256i)_mm512_cvtneps_pbh((__m512)v));
#else
    mt_bf16 rounded[MT_VL];
    for (int i = 0; i < MT_VL; i++)
        rounded[i] = mt_bf16_from_f32(v[i]);
    memcpy(to, rounded, sizeof rounded);
#endif
}

/* ---- pairs of bf16 ------------------------------------------------------------------------------------- */

/* MT_VL pairs of bf16, each in 32 bits, the first number in the lower half as in memory. */
typedef uint32_t mt_pairs __attribute__((vector_size(4 * MT_VL)));
typedef uint32_t mt_pairs_anywhere __attribute__((vector_size(4 * MT_VL), aligned(2), may_alias));

/* mt_pairs_are_fast -- does mt_dot_pairs take less time than its products in f32? The instruction (avx512_bf16) has
 * 32 multiply-adds, an f32 vector 16. AMD's processors take as long for either (Zen 4, 5); Intel's take four times as
 * long for the pairs (Sapphire Rapids: 0.53 ns against 0.135), and have matrix instructions (AMX) for 16 bits. */
static inline bool mt_pairs_are_fast(void)
{
#if defined(__AVX512BF16__)
    return __builtin_cpu_is("amd");
#else
    return false;
#endif
}

/* mt_dot_pairs -- sum + the products of both numbers of each pair, the second number's first, in f32. The instruction
 * (vdpbf16ps) takes subnormal numbers for 0 and makes 0 of subnormal sums; the f32 form keeps them. */
static inline mt_vec mt_dot_pairs(mt_vec sum, mt_pairs a, mt_pairs b)
{
#if defined(__AVX512BF16__)
    return (mt_vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
    sum += (mt_vec)(a & 0xffff0000) * (mt_vec)(b & 0xffff0000);
    return sum + (mt_vec)(a << 16) * (mt_vec)(b << 16);
#endif
}

/* mt_load_pairs, mt_store_pairs -- MT_VL pairs, 2 MT_VL numbers, that lie in memory one after another. */
static inline mt_pairs mt_load_pairs(const void *from)
{
    return *(const mt_pairs_anywhere *)from;
}

static inline void mt_store_pairs(void *to, mt_pairs pairs)
{
    *(mt_pairs_anywhere *)to = pairs;
}

/* mt_same_pairs -- one pair, MT_VL times. */
static inline mt_pairs mt_same_pairs(uint32_t pair)
{
    return (mt_pairs){ 0 } + pair;
}

/* mt_pair_up -- pair i is first[i] and second[i], for the first n, 0 <= n <= MT_VL; memory after them is not touched,
 * pairs after them hold 0. second NULL: its numbers are 0. */
static inline mt_pairs mt_pair_up(const mt_bf16 *first, const mt_bf16 *second, int64_t n)
{
#if defined(MT_VEC_MASKED) && defined(__AVX512BW__) && defined(__AVX512VL__)
    __mmask16 some = (__mmask16)((1u << n) - 1);
    mt_pairs low = (mt_pairs)_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, first));
    return second ? low | (mt_pairs)_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, second)) << 16 : low;
#else
    mt_pairs pairs = { 0 };
    for (int64_t i = 0; i < n; i++)
        pairs[i] = first[i].bits | (second ? (uint32_t)second[i].bits << 16 : 0);
    return pairs;
#endif
}

MT_C_END
