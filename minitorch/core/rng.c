/* rng.c -- Philox4x32-10: ten rounds of multiply, swap and exclusive-or turn a counter into 128 random bits.
 *
 * Block c is computed without the blocks before it, so an array can be filled by any number of threads with the same
 * values. */
#include "core/rng.h"

#include <math.h>
#include <string.h>

#define BLOCK 4 /* values made from one block */

#define PARALLEL_BLOCKS 4096 /* for fewer blocks, starting threads takes longer than the work */

static const float two_pi = 6.28318530717958648f;

mt_rng mt_rng_new(uint64_t seed, uint64_t stream)
{
    return (mt_rng){ .seed = seed, .stream = stream, .counter = 0 };
}

/* The number of the new stream is a random value under the complement of the seed, whose blocks nothing else uses. */
mt_rng mt_rng_substream(const mt_rng *rng, uint64_t index)
{
    uint32_t bits[4];
    mt_philox(bits, ~rng->seed, rng->stream, index);
    return mt_rng_new(rng->seed, (uint64_t)bits[1] << 32 | bits[0]);
}

/* ---- one value ------------------------------------------------------------------------------ */

uint64_t mt_rng_u64(mt_rng *rng)
{
    uint32_t bits[4];
    mt_philox(bits, rng->seed, rng->stream, rng->counter++);
    return (uint64_t)bits[1] << 32 | bits[0];
}

uint32_t mt_rng_u32(mt_rng *rng)
{
    return (uint32_t)mt_rng_u64(rng);
}

/* x * n / 2^64 maps the 2^64 values of x onto n results. When n does not divide 2^64, some results would get one value
 * more than others, so 2^64 mod n values are rejected and drawn again (Lemire 2019, ACM TOMACS), from a substream of
 * this call, so that every call uses one block. */
int64_t mt_rng_below(mt_rng *rng, int64_t n)
{
    MT_CHECK(n >= 1, "a random number below %lld does not exist", (long long)n);
    uint64_t range = (uint64_t)n, surplus = -range % range, call = rng->counter;
    unsigned __int128 product = (unsigned __int128)mt_rng_u64(rng) * range;
    if ((uint64_t)product < surplus) {
        mt_rng other = mt_rng_new(rng->seed, ~rng->stream), again = mt_rng_substream(&other, call);
        do
            product = (unsigned __int128)mt_rng_u64(&again) * range;
        while ((uint64_t)product < surplus);
    }
    return (int64_t)(product >> 64);
}

/* ---- many values ---------------------------------------------------------------------------- */

/* [0, 1) from the upper 24 bits: an f32 holds no more, evenly spaced. */
static void uniform_block(float out[BLOCK], const uint32_t bits[BLOCK], float low, float high)
{
    for (int i = 0; i < BLOCK; i++)
        out[i] = low + (high - low) * ((float)(bits[i] >> 8) * 0x1p-24f);
}

/* Box-Muller: a random radius and a random angle give two independent normal values. The radius uses all 32 bits; its
 * smallest argument, 2^-33, limits values to 6.8 standard deviations. */
static void normal_block(float out[BLOCK], const uint32_t bits[BLOCK], float mean, float stddev)
{
    for (int i = 0; i < BLOCK; i += 2) {
        float radius = stddev * sqrtf(-2 * logf(((float)bits[i] + 0.5f) * 0x1p-32f));
        float angle = two_pi * ((float)(bits[i + 1] >> 8) * 0x1p-24f);
        out[i] = mean + radius * cosf(angle);
        out[i + 1] = mean + radius * sinf(angle);
    }
}

typedef void block_fn(float out[BLOCK], const uint32_t bits[BLOCK], float a, float b);

/* One value takes a block. Without fill: OpenMP begins and ends a team also for a loop that is not parallel. */
static float one(mt_rng *rng, block_fn *block)
{
    uint32_t bits[4];
    float values[BLOCK];
    mt_philox(bits, rng->seed, rng->stream, rng->counter++);
    block(values, bits, 0, 1);
    return values[0];
}

float mt_rng_uniform(mt_rng *rng)
{
    return one(rng, uniform_block);
}

float mt_rng_normal(mt_rng *rng)
{
    return one(rng, normal_block);
}

/* Blocks are always computed completely, so that the values do not depend on n. */
static void fill(mt_rng *rng, float *out, int64_t n, block_fn *block, float a, float b)
{
    MT_CHECK(n >= 0, "cannot fill %lld values", (long long)n);
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    uint64_t first = rng->counter;
#pragma omp parallel for if (blocks >= PARALLEL_BLOCKS)
    for (int64_t i = 0; i < blocks; i++) {
        uint32_t bits[4];
        float values[BLOCK];
        mt_philox(bits, rng->seed, rng->stream, first + (uint64_t)i);
        block(values, bits, a, b);
        memcpy(out + i * BLOCK, values, (size_t)mt_min(BLOCK, n - i * BLOCK) * sizeof *out);
    }
    rng->counter = first + (uint64_t)blocks;
}

void mt_rng_fill_uniform(mt_rng *rng, float *out, int64_t n, float low, float high)
{
    fill(rng, out, n, uniform_block, low, high);
}

void mt_rng_fill_normal(mt_rng *rng, float *out, int64_t n, float mean, float stddev)
{
    fill(rng, out, n, normal_block, mean, stddev);
}

void mt_rng_permutation(mt_rng *rng, int64_t *out, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = mt_rng_below(rng, i + 1), kept = out[i];
        out[i] = out[j];
        out[j] = kept;
    }
}
