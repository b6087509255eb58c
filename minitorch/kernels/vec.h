/* vec.h -- SIMD vectors of floats of the processor's width: AVX-512, AVX2, NEON, or four floats elsewhere.
 *
 * An mt_vec is a GCC vector: + - * / work on all its MT_VL numbers at once, a float times an mt_vec multiplies each.
 * The width is fixed when the file is compiled (-march=native). Works in gcc and clang. */
#pragma once

#include "core/base.h"

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

MT_C_END
