/* rng.h -- random numbers that are a pure function of (seed, stream, counter).
 *
 * The generator is Philox4x32-10: block `counter` of stream `stream` under `seed` is 4 x 32 random bits, computed from
 * these numbers alone. So any thread can compute any part of a sequence, and the values do not depend on the number of
 * threads. Use a stream for each purpose (MT_STREAM_...), a counter range or substream for each epoch or worker.
 * Source: Salmon et al. 2011, SC11, "Parallel Random Numbers: As Easy as 1, 2, 3". */
#pragma once

#include "core/base.h"

MT_C_BEGIN

typedef struct mt_rng {
    uint64_t seed;
    uint64_t stream;
    uint64_t counter; /* the next block of this stream; save it to resume */
} mt_rng;

/* The framework's streams; a program's own start at MT_STREAM_USER. */
enum {
    MT_STREAM_INIT,    /* parameter initialisation */
    MT_STREAM_SHUFFLE, /* sample order, one substream per epoch */
    MT_STREAM_AUGMENT, /* crops, flips, jitter: one substream per sample */
    MT_STREAM_DROPOUT, /* masks, kept for recomputation */
    MT_STREAM_SAMPLE,  /* text generation */
    MT_STREAM_DATA,    /* stand-in data sets */
    MT_STREAM_TEST,    /* inputs of tests and checks */
    MT_STREAM_SPLIT,   /* which samples are held out for validation */
    MT_STREAM_USER = 1024,
};

/* mt_rng_new -- the start of a stream. */
mt_rng mt_rng_new(uint64_t seed, uint64_t stream);

/* mt_rng_substream -- an independent stream for item `index` (an epoch, a sample, a worker) of rng's stream. */
mt_rng mt_rng_substream(const mt_rng *rng, uint64_t index);

#ifdef __CUDACC__
#define MT_ON_ALL_DEVICES __host__ __device__
#else
#define MT_ON_ALL_DEVICES
#endif

/* mt_philox -- the generator itself: out[0..3] = block `counter` of (seed, stream). */
MT_ON_ALL_DEVICES static inline void mt_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t counter)
{
    uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)(counter >> 32);
    uint32_t x2 = (uint32_t)stream, x3 = (uint32_t)(stream >> 32);
    uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)x0 * 0xD2511F53, b = (uint64_t)x2 * 0xCD9E8D57;
        x0 = (uint32_t)(b >> 32) ^ x1 ^ key0;
        x1 = (uint32_t)b;
        x2 = (uint32_t)(a >> 32) ^ x3 ^ key1;
        x3 = (uint32_t)a;
        key0 += 0x9E3779B9; /* the golden ratio, and sqrt(3) - 1: the round keys of the paper */
        key1 += 0xBB67AE85;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
}

/* One value; every call uses one block. */
uint32_t mt_rng_u32(mt_rng *rng);
uint64_t mt_rng_u64(mt_rng *rng);
float mt_rng_uniform(mt_rng *rng);            /* [0, 1), 24 random bits */
float mt_rng_normal(mt_rng *rng);             /* mean 0, variance 1 (Box-Muller) */
int64_t mt_rng_below(mt_rng *rng, int64_t n); /* 0 .. n-1, without modulo bias; aborts: n < 1 */

/* Many values: element i depends on (seed, stream, counter + i/4) only, whatever the thread count; ceil(n/4) blocks.
 * Uniform values lie in [low, high); rounding may reach high itself when |low| is large beside high - low. */
void mt_rng_fill_uniform(mt_rng *rng, float *out, int64_t n, float low, float high);
void mt_rng_fill_normal(mt_rng *rng, float *out, int64_t n, float mean, float stddev);

/* mt_rng_permutation -- out[0..n-1] is a uniformly random order of 0 .. n-1 (Fisher-Yates). */
void mt_rng_permutation(mt_rng *rng, int64_t *out, int64_t n);

MT_C_END
