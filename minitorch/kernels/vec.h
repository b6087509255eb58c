/* vec.h -- SIMD vectors of floats of the processor's width: AVX-512, AVX2, NEON, or four floats elsewhere.
 *
 * An mt_vec is a GCC vector: + - * / work on all its MT_VL numbers at once, a float times an mt_vec multiplies each.
 * The width is fixed when the file is compiled (-march=native). Works in gcc and clang. */
#pragma once

#include "core/element.h"

#include <string.h>

#if defined(__SSE__)
#include <immintrin.h>
#endif
#if defined(__AVX512F__)
enum { MT_VL = 16, MT_VREGS = 32, MT_MASKS = 1 }; /* floats in a vector; vector registers; is mt_load_some fast? */
#define MT_VEC_LOW_HALVES  0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define MT_VEC_HIGH_HALVES 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif defined(__AVX2__)
enum { MT_VL = 8, MT_VREGS = 16, MT_MASKS = 0 };
#define MT_VEC_LOW_HALVES  0, 8, 1, 9, 2, 10, 3, 11
#define MT_VEC_HIGH_HALVES 4, 12, 5, 13, 6, 14, 7, 15
#else
#if defined(__ARM_NEON)
enum { MT_VL = 4, MT_VREGS = 32, MT_MASKS = 0 };
#else
enum { MT_VL = 4, MT_VREGS = 16, MT_MASKS = 0 };
#endif
#define MT_VEC_LOW_HALVES  0, 4, 1, 5
#define MT_VEC_HIGH_HALVES 2, 6, 3, 7
#endif

MT_C_BEGIN

typedef float mt_vec __attribute__((vector_size(4 * MT_VL)));
typedef float mt_vec_anywhere __attribute__((vector_size(4 * MT_VL), aligned(4), may_alias));

/* mt_load, mt_store -- MT_VL numbers from or to memory; no alignment beyond a float's. */
static inline mt_vec mt_load(const float *from)
{
    return *(const mt_vec_anywhere *)from;
}

static inline void mt_store(float *to, mt_vec v)
{
    *(mt_vec_anywhere *)to = v;
}

/* mt_load_some, mt_store_some -- the first n numbers, 0 <= n <= MT_VL; memory after them is not touched, lanes after
 * them hold 0. By masks, except where accesses are counted or watched: the compiler reports none of a masked one. */
#if defined(__AVX512F__) && !defined(__SANITIZE_THREAD__)
#define MT_VEC_MASKED
#endif
static inline mt_vec mt_load_some(const float *from, int64_t n)
{
#ifdef MT_VEC_MASKED
    return (mt_vec)_mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), from);
#else
    mt_vec v = { 0 };
    if (n == MT_VL)
        return mt_load(from);
    for (int64_t i = 0; i < n; i++)
        v[i] = from[i];
    return v;
#endif
}

static inline void mt_store_some(float *to, mt_vec v, int64_t n)
{
#ifdef MT_VEC_MASKED
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << n) - 1), (__m512)v);
#else
    if (n == MT_VL)
        mt_store(to, v);
    else
        for (int64_t i = 0; i < n; i++)
            to[i] = v[i];
#endif
}

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

/* mt_load_bytes -- MT_VL bytes, 0 to 255, as floats. */
static inline mt_vec mt_load_bytes(const uint8_t *from)
{
#if defined(__AVX512F__)
    return (mt_vec)_mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)from)));
#elif defined(__AVX2__)
    return (mt_vec)_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)from)));
#else
    mt_vec v;
    for (int i = 0; i < MT_VL; i++)
        v[i] = from[i];
    return v;
#endif
}

/* mt_stream -- a non-temporal store, for data that will not be read again soon: the cache line is not loaded first,
 * which halves the traffic, and evicts nothing from the caches. `to` is aligned as an mt_vec. Call mt_stream_end before
 * another thread may read the data. */
static inline void mt_stream(float *to, mt_vec v)
{
#if defined(__SANITIZE_THREAD__) /* which does not see these stores */
    mt_store(to, v);
#elif defined(__AVX512F__)
    _mm512_stream_ps(to, (__m512)v);
#elif defined(__AVX2__)
    _mm256_stream_ps(to, (__m256)v);
#else
    mt_store(to, v);
#endif
}

static inline void mt_stream_end(void)
{
#if defined(__SSE__)
    _mm_sfence();
#endif
}

/* mt_vec_transpose -- MT_VL vectors are the rows of a square; make them its columns. Each round interleaves the first
 * half of the vectors with the second; after log2(MT_VL) rounds all numbers are in place. */
static inline void mt_vec_transpose(mt_vec rows[MT_VL])
{
#pragma GCC unroll 4
    for (int round = 1; round < MT_VL; round *= 2) {
        mt_vec shuffled[MT_VL];
#pragma GCC unroll 8
        for (int i = 0; i < MT_VL / 2; i++) {
            mt_vec a = rows[i], b = rows[i + MT_VL / 2];
            shuffled[2 * i] = __builtin_shufflevector(a, b, MT_VEC_LOW_HALVES);
            shuffled[2 * i + 1] = __builtin_shufflevector(a, b, MT_VEC_HIGH_HALVES);
        }
#pragma GCC unroll 16
        for (int i = 0; i < MT_VL; i++)
            rows[i] = shuffled[i];
    }
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

MT_C_END
