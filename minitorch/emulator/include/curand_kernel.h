/* curand_kernel.h -- cuRAND's device API: Philox4x32-10 and XORWOW, with the bits of the published algorithms.
 *
 * Philox: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. Block k of a sequence is
 * philox((k, subsequence), seed), four numbers. XORWOW: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8
 * (14), 2003; subsequences begin 2^67 numbers apart. The formulas of floats, of doubles and of pairs of
 * normal numbers (by Box and Muller) are those of cuRAND's guide. */
#ifndef CUEMU_CURAND_KERNEL_H
#define CUEMU_CURAND_KERNEL_H

#include "cuda_runtime.h"

/* What a state keeps of a pair of normal numbers. */
struct cuemu_pair_rest {
    float normal;
    bool has_normal;
    double normal_double;
    bool has_normal_double;
};

struct curandStateXORWOW {
    unsigned d, v[5];
    cuemu_pair_rest rest;
};
struct curandStatePhilox4_32_10 {
    unsigned counter[4], key[2], output[4];
    unsigned used; /* of output */
    cuemu_pair_rest rest;
};
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

/* ---- Philox4x32-10 ---- */

namespace cuemu
{
CUEMU_INLINE void philox(curandStatePhilox4_32_10 *s)
{
    unsigned x[4] = { s->counter[0], s->counter[1], s->counter[2], s->counter[3] }, key[2] = { s->key[0], s->key[1] };
    for (int round = 0; round < 10; round++) {
        const unsigned long long a = 0xd2511f53ull * x[0], b = 0xcd9e8d57ull * x[2];
        x[0] = (unsigned)(b >> 32) ^ x[1] ^ key[0];
        x[1] = (unsigned)b;
        x[2] = (unsigned)(a >> 32) ^ x[3] ^ key[1];
        x[3] = (unsigned)a;
        key[0] += 0x9e3779b9, key[1] += 0xbb67ae85;
    }
    for (int i = 0; i < 4; i++)
        s->output[i] = x[i];
}
/* Adds n to the counter's words from `word` on. */
CUEMU_INLINE void philox_advance(curandStatePhilox4_32_10 *s, int word, unsigned long long n)
{
    for (; word < 4 && n > 0; word++) {
        const unsigned long long sum = (n & 0xffffffff) + s->counter[word];
        s->counter[word] = (unsigned)sum;
        n = (n >> 32) + (sum >> 32);
    }
    philox(s);
}
} // namespace cuemu

CUEMU_INLINE unsigned curand(curandStatePhilox4_32_10 *s)
{
    const unsigned number = s->output[s->used++];
    if (s->used == 4) {
        s->used = 0;
        cuemu::philox_advance(s, 0, 1);
    }
    return number;
}
CUEMU_INLINE void skipahead(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    const unsigned used = s->used + n % 4;
    s->used = used % 4;
    cuemu::philox_advance(s, 0, n / 4 + used / 4);
}
CUEMU_INLINE void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10 *s)
{
    cuemu::philox_advance(s, 2, n);
}
CUEMU_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                              curandStatePhilox4_32_10 *s)
{
    *s = { { 0, 0, 0, 0 }, { (unsigned)seed, (unsigned)(seed >> 32) }, { 0, 0, 0, 0 }, 0, { 0, false, 0, false } };
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- XORWOW ---- */

CUEMU_INLINE unsigned curand(curandStateXORWOW *s)
{
    const unsigned t = s->v[0] ^ s->v[0] >> 2, last = s->v[4];
    for (int i = 0; i < 4; i++)
        s->v[i] = s->v[i + 1];
    s->v[4] = last ^ last << 4 ^ t ^ t << 1;
    return s->v[4] + (s->d += 362437);
}
namespace cuemu
{
/* Advances the state by n 2^doublings steps. */
CUEMU_INLINE void xorwow_advance(curandStateXORWOW *s, unsigned long long n, int doublings)
{
    uint32_t v[5] = { s->v[0], s->v[1], s->v[2], s->v[3], s->v[4] };
    cuemu_xorwow_advance(v, n, doublings);
    for (int i = 0; i < 5; i++)
        s->v[i] = v[i];
}
} // namespace cuemu
CUEMU_INLINE void skipahead(unsigned long long n, curandStateXORWOW *s)
{
    s->d += 362437 * (unsigned)n;
    cuemu::xorwow_advance(s, n, 0);
}
CUEMU_INLINE void skipahead_sequence(unsigned long long n, curandStateXORWOW *s)
{
    cuemu::xorwow_advance(s, n, 67); /* d returns to itself after 2^32 steps */
}
CUEMU_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                              curandStateXORWOW *s)
{
    const unsigned low = ((unsigned)seed ^ 0xaad26b49) * 1099087573u;
    const unsigned high = ((unsigned)(seed >> 32) ^ 0xf7dcefdd) * 2591861531u;
    *s = { 6615241 + high + low,
           { 123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low },
           { 0, false, 0, false } };
    skipahead_sequence(subsequence, s);
    skipahead(offset, s);
}

/* ---- distributions of both generators ---- */

namespace cuemu
{
/* Uniform numbers in (0, 1]. */
CUEMU_INLINE float uniform(unsigned x)
{
    return (float)x * 0x1p-32f + 0x1p-33f;
}
CUEMU_INLINE double uniform(unsigned x, unsigned y)
{
    return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
template <class S> CUEMU_INLINE float2 normals(S *s)
{
    const float u = uniform(curand(s)), turn = 6.2831855f * 0x1p-32f;
    const float v = fmaf((float)curand(s), turn, turn / 2), size = sqrtf(-2.0f * logf(u));
    return make_float2(size * sinf(v), size * cosf(v));
}
template <class S> CUEMU_INLINE double uniform_double(S *s)
{
    const unsigned x = curand(s);
    return uniform(x, curand(s));
}
template <class S> CUEMU_INLINE double2 normals_double(S *s)
{
    const double size = sqrt(-2.0 * log(uniform_double(s)));
    const unsigned x = curand(s);
    const double v = (double)(x ^ (unsigned long long)curand(s) << 21) * 0x1p-52 + 0x1p-53;
    return make_double2(size * sinpi(v), size * cospi(v));
}
} // namespace cuemu

CUEMU_INLINE double curand_uniform_double(curandStateXORWOW *s)
{
    return cuemu::uniform_double(s);
}
/* Made of one 32-bit number, as in cuRAND; curand_uniform2_double fills all bits of a double. */
CUEMU_INLINE double curand_uniform_double(curandStatePhilox4_32_10 *s)
{
    return ((double)curand(s) + 1) * 0x1p-32;
}

#define CUEMU_RANDOM(S)                                                      \
    CUEMU_INLINE float curand_uniform(S *s)                                  \
    {                                                                        \
        return cuemu::uniform(curand(s));                                    \
    }                                                                        \
    CUEMU_INLINE float2 curand_normal2(S *s)                                 \
    {                                                                        \
        return cuemu::normals(s);                                            \
    }                                                                        \
    CUEMU_INLINE double2 curand_normal2_double(S *s)                         \
    {                                                                        \
        return cuemu::normals_double(s);                                     \
    }                                                                        \
    CUEMU_INLINE float curand_normal(S *s)                                   \
    {                                                                        \
        float2 pair = { s->rest.normal, s->rest.normal };                    \
        if (!s->rest.has_normal)                                             \
            pair = cuemu::normals(s), s->rest.normal = pair.y;               \
        s->rest.has_normal = !s->rest.has_normal;                            \
        return pair.x;                                                       \
    }                                                                        \
    CUEMU_INLINE double curand_normal_double(S *s)                           \
    {                                                                        \
        double2 pair = { s->rest.normal_double, s->rest.normal_double };     \
        if (!s->rest.has_normal_double)                                      \
            pair = cuemu::normals_double(s), s->rest.normal_double = pair.y; \
        s->rest.has_normal_double = !s->rest.has_normal_double;              \
        return pair.x;                                                       \
    }                                                                        \
    CUEMU_INLINE float curand_log_normal(S *s, float mean, float deviation)  \
    {                                                                        \
        return expf(mean + deviation * curand_normal(s));                    \
    }
CUEMU_RANDOM(curandStateXORWOW)
CUEMU_RANDOM(curandStatePhilox4_32_10)
#undef CUEMU_RANDOM

/* ---- four at a time, of Philox ---- */

CUEMU_INLINE uint4 curand4(curandStatePhilox4_32_10 *s)
{
    const unsigned x = curand(s), y = curand(s), z = curand(s);
    return make_uint4(x, y, z, curand(s));
}
CUEMU_INLINE float4 curand_uniform4(curandStatePhilox4_32_10 *s)
{
    const uint4 x = curand4(s);
    return make_float4(cuemu::uniform(x.x), cuemu::uniform(x.y), cuemu::uniform(x.z), cuemu::uniform(x.w));
}
CUEMU_INLINE float4 curand_normal4(curandStatePhilox4_32_10 *s)
{
    const float2 a = cuemu::normals(s), b = cuemu::normals(s);
    return make_float4(a.x, a.y, b.x, b.y);
}
CUEMU_INLINE double2 curand_uniform2_double(curandStatePhilox4_32_10 *s)
{
    const double x = cuemu::uniform_double(s);
    return make_double2(x, cuemu::uniform_double(s));
}

#endif
