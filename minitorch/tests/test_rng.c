/* test_rng.c -- the generator against published results, its contracts about counters and threads, and its statistics.
 *
 * Statistical bounds: the sum of many independent values is nearly normal, so it is outside of 5 standard deviations
 * once in 1.7 million times; seeds are fixed, so a test that passes once always passes. */
#include "aborts.h"
#include "core/rng.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

enum { MANY = 1 << 20 };

static const double sigmas = 5;

/* Random123 (Salmon et al. 2011), tests/kat_vectors, the three lines "philox4x32 10": counter words, key words,
 * result. */
Test(rng, philox_gives_the_published_answers)
{
    static const struct {
        uint32_t counter[4], key[2], result[4];
    } vectors[] = {
        { { 0, 0, 0, 0 }, { 0, 0 }, { 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8 } },
        { { 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff },
          { 0xffffffff, 0xffffffff },
          { 0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd } },
        { { 0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344 },
          { 0xa4093822, 0x299f31d0 },
          { 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1 } },
    };
    for (int i = 0; i < MT_COUNT(vectors); i++) {
        const uint32_t *counter = vectors[i].counter, *key = vectors[i].key;
        uint32_t got[4];
        mt_philox(got, (uint64_t)key[1] << 32 | key[0], (uint64_t)counter[3] << 32 | counter[2],
                  (uint64_t)counter[1] << 32 | counter[0]);
        for (int k = 0; k < 4; k++)
            cr_assert_eq(got[k], vectors[i].result[k], "vector %d, word %d: %08x", i, k, got[k]);
    }
}

/* ---- counters, streams, threads -------------------------------------------------------------- */

Test(rng, every_call_takes_one_block_and_can_be_resumed)
{
    mt_rng rng = mt_rng_new(1, 2);
    mt_rng_u32(&rng);
    mt_rng_u64(&rng);
    mt_rng_uniform(&rng);
    mt_rng_normal(&rng);
    for (int i = 0; i < 1000; i++)
        mt_rng_below(&rng, 3ll << 61); /* a quarter of these calls draws again */
    cr_assert_eq(rng.counter, 1004);
    mt_rng saved = rng;
    uint64_t next = mt_rng_u64(&rng);
    cr_assert_eq(mt_rng_u64(&saved), next);
}

static void fill(bool normal, mt_rng *rng, float *out, int64_t n)
{
    if (normal)
        mt_rng_fill_normal(rng, out, n, 2, 3);
    else
        mt_rng_fill_uniform(rng, out, n, -1, 4);
}

Test(rng, filling_takes_a_block_per_four_values_and_no_more_memory)
{
    for (int normal = 0; normal < 2; normal++)
        for (int64_t n = 0; n < 20; n++) {
            float whole[32], part[32];
            mt_rng a = mt_rng_new(3, 4), b = a;
            for (int i = 0; i < 32; i++)
                part[i] = -77;
            fill(normal, &a, whole, 32);
            fill(normal, &b, part, n);
            cr_assert_eq(b.counter, (uint64_t)(n + 3) / 4);
            cr_assert_arr_eq(part, whole, (size_t)n * sizeof(float), "the first %d values changed", (int)n);
            for (int64_t i = n; i < 32; i++)
                cr_assert_eq(part[i], -77, "value %d of %d was written", (int)i, (int)n);
        }
    mt_rng rng = mt_rng_new(0, 0);
    ABORTS("-1 values", mt_rng_fill_normal(&rng, NULL, -1, 0, 1));
}

Test(rng, values_do_not_depend_on_the_number_of_threads)
{
    int64_t n = 100003;
    float *one = malloc((size_t)n * sizeof *one), *more = malloc((size_t)n * sizeof *more);
    for (int normal = 0; normal < 2; normal++)
        for (int threads = 2; threads <= 7; threads++) {
            mt_rng a = mt_rng_new(5, 6), b = a;
            omp_set_num_threads(1);
            fill(normal, &a, one, n);
            omp_set_num_threads(threads);
            fill(normal, &b, more, n);
            cr_assert_arr_eq(one, more, (size_t)n * sizeof *one, "%d threads", threads);
            cr_assert_eq(a.counter, b.counter);
        }
    free(one);
    free(more);
}

Test(rng, single_values_are_the_first_of_their_block)
{
    mt_rng a = mt_rng_new(8, 9), b = a;
    float values[4];
    mt_rng_fill_uniform(&a, values, 4, 0, 1);
    cr_assert_eq(mt_rng_uniform(&b), values[0]);
    mt_rng_fill_normal(&a, values, 4, 0, 1);
    cr_assert_eq(mt_rng_normal(&b), values[0]);
}

Test(rng, substreams_depend_on_stream_and_index_only)
{
    mt_rng rng = mt_rng_new(1, MT_STREAM_SHUFFLE), other = mt_rng_new(1, MT_STREAM_AUGMENT);
    mt_rng first = mt_rng_substream(&rng, 7);
    mt_rng_u32(&rng);
    mt_rng again = mt_rng_substream(&rng, 7);
    cr_assert_eq(first.stream, again.stream);
    cr_assert_eq(first.counter, 0);
    cr_assert_eq(first.seed, 1);
    cr_assert_neq(first.stream, mt_rng_substream(&rng, 8).stream);
    cr_assert_neq(first.stream, mt_rng_substream(&other, 7).stream);
    mt_rng block = { .seed = 1, .stream = MT_STREAM_SHUFFLE, .counter = 7 };
    cr_assert_neq(first.stream, mt_rng_u64(&block), "its number must not be a value the stream hands out");
}

/* ---- statistics ------------------------------------------------------------------------------- */

static void check_near(const char *what, double got, double want, double deviation)
{
    cr_assert(fabs(got - want) <= sigmas * deviation, "%s is %g, not within %g of %g", what, got, sigmas * deviation,
              want);
}

/* Chi-square of counts against equal expectations: mean bins - 1, variance 2 (bins - 1). */
static void check_even(const char *what, const int64_t *count, int bins, int64_t total)
{
    double expected = (double)total / bins, chi = 0;
    for (int i = 0; i < bins; i++)
        chi += ((double)count[i] - expected) * ((double)count[i] - expected) / expected;
    check_near(what, chi, bins - 1, sqrt(2.0 * (bins - 1)));
}

/* Mean, variance and skew of n values that should have mean 0, variance 1, skew 0 and the given fourth and sixth
 * moments. */
static void check_moments(const char *what, const double *x, int64_t n, double fourth, double sixth)
{
    double sum = 0, squares = 0, cubes = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i];
        squares += x[i] * x[i];
        cubes += x[i] * x[i] * x[i];
    }
    double root = sqrt((double)n);
    check_near(what, sum / (double)n, 0, 1 / root);
    check_near(what, squares / (double)n, 1, sqrt(fourth - 1) / root);
    check_near(what, cubes / (double)n, 0, sqrt(sixth) / root);
}

Test(rng, uniform_values_are_uniform)
{
    float *values = malloc(MANY * sizeof *values);
    double *scaled = malloc(MANY * sizeof *scaled);
    int64_t count[256] = { 0 };
    mt_rng rng = mt_rng_new(21, MT_STREAM_TEST);
    mt_rng_fill_uniform(&rng, values, MANY, 0, 1);
    for (int64_t i = 0; i < MANY; i++) {
        cr_assert(values[i] >= 0 && values[i] < 1);
        count[(int)(values[i] * 256)]++;
        scaled[i] = (values[i] - 0.5) * sqrt(12); /* variance 1; moments of [-a, a], a = sqrt 3: 9/5 and 27/7 */
    }
    check_even("uniform chi-square", count, 256, MANY);
    check_moments("uniform moment", scaled, MANY, 9.0 / 5, 27.0 / 7);
    free(values);
    free(scaled);
}

Test(rng, uniform_values_keep_their_interval)
{
    float values[4096];
    mt_rng rng = mt_rng_new(22, MT_STREAM_TEST);
    mt_rng_fill_uniform(&rng, values, 4096, -3, 5);
    float least = values[0], most = values[0];
    for (int i = 0; i < 4096; i++) {
        least = fminf(least, values[i]);
        most = fmaxf(most, values[i]);
    }
    cr_assert(least >= -3 && most < 5);
    /* None of 4096 values in the outer 1/256 at either end has probability (255/256)^4096 = 1.1e-7. */
    cr_assert(least < -3 + 8.0f / 256 && most > 5 - 8.0f / 256, "only %g .. %g", least, most);
    mt_rng_fill_uniform(&rng, values, 4096, 7, 7);
    for (int i = 0; i < 4096; i++)
        cr_assert_eq(values[i], 7);
}

Test(rng, normal_values_are_normal)
{
    float *values = malloc(MANY * sizeof *values);
    double *scaled = malloc(MANY * sizeof *scaled);
    int64_t count[64] = { 0 };
    mt_rng rng = mt_rng_new(23, MT_STREAM_TEST);
    mt_rng_fill_normal(&rng, values, MANY, -2, 3);
    for (int64_t i = 0; i < MANY; i++) {
        cr_assert(isfinite(values[i]));
        scaled[i] = ((double)values[i] + 2) / 3;
        double probability = 0.5 * erfc(-scaled[i] / sqrt(2)); /* uniform, when the values are normal */
        count[(int)fmin(probability * 64, 63)]++;
    }
    check_even("normal chi-square", count, 64, MANY);
    check_moments("normal moment", scaled, MANY, 3, 15);
    free(values);
    free(scaled);
}

Test(rng, neighbours_streams_and_seeds_do_not_correlate)
{
    mt_rng pairs[][2] = {
        { mt_rng_new(1, 0), { .seed = 1, .stream = 0, .counter = 1 } },
        { mt_rng_new(1, 0), mt_rng_new(1, 1) },
        { mt_rng_new(1, 0), mt_rng_new(2, 0) },
        { mt_rng_new(1, 0), mt_rng_substream(&(mt_rng){ .seed = 1 }, 0) },
    };
    for (int p = 0; p < MT_COUNT(pairs); p++) {
        double sum = 0;
        int n = 100000;
        for (int i = 0; i < n; i++)
            sum += 12 * (mt_rng_uniform(&pairs[p][0]) - 0.5) * (mt_rng_uniform(&pairs[p][1]) - 0.5);
        check_near("correlation", sum / n, 0, 1 / sqrt(n));
    }
}

/* Values of one fill, up to two blocks apart: products of independent values of mean 0 and variance 1. */
Test(rng, neighbours_in_an_array_do_not_correlate)
{
    enum { COUNT = 200000 };
    float *values = malloc(COUNT * sizeof *values);
    for (int normal = 0; normal < 2; normal++)
        for (int lag = 1; lag <= 8; lag++) {
            double sum = 0;
            mt_rng rng = mt_rng_new(28, MT_STREAM_TEST);
            if (normal)
                mt_rng_fill_normal(&rng, values, COUNT, 0, 1);
            else
                mt_rng_fill_uniform(&rng, values, COUNT, -sqrtf(3), sqrtf(3));
            for (int i = 0; i + lag < COUNT; i++)
                sum += (double)values[i] * values[i + lag];
            check_near("correlation", sum / (COUNT - lag), 0, 1 / sqrt(COUNT - lag));
        }
    free(values);
}

Test(rng, every_bit_is_fair)
{
    int64_t ones[64] = { 0 }, ones_below_point[24] = { 0 };
    mt_rng rng = mt_rng_new(24, MT_STREAM_TEST);
    int n = 100000;
    for (int i = 0; i < n; i++) {
        uint64_t value = mt_rng_u64(&rng), fraction = (uint64_t)(mt_rng_uniform(&rng) * 0x1p24f);
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += value >> bit & 1;
        for (int bit = 0; bit < 24; bit++)
            ones_below_point[bit] += fraction >> bit & 1;
    }
    for (int bit = 0; bit < 64; bit++)
        check_near("share of ones", (double)ones[bit], n / 2.0, sqrt(n) / 2);
    for (int bit = 0; bit < 24; bit++)
        check_near("share of ones of a fraction", (double)ones_below_point[bit], n / 2.0, sqrt(n) / 2);
}

/* Without rejection, 2^64 values cannot be distributed evenly over 3 * 2^61 results: by multiplication, results with
 * remainder 2 (mod 3) occur 2 times in 8 instead of once in 3; by remainder, the lower third occurs too often. */
Test(rng, below_has_no_bias)
{
    mt_rng rng = mt_rng_new(25, MT_STREAM_TEST);
    int64_t by_remainder[3] = { 0 }, by_third[3] = { 0 }, dice[6] = { 0 }, n = 3ll << 61;
    int rolls = 60000;
    for (int i = 0; i < rolls; i++) {
        int64_t value = mt_rng_below(&rng, n), die = mt_rng_below(&rng, 6);
        cr_assert(value >= 0 && value < n && die >= 0 && die < 6);
        by_remainder[value % 3]++;
        by_third[value / (1ll << 61)]++;
        dice[die]++;
    }
    check_even("remainders", by_remainder, 3, rolls);
    check_even("thirds", by_third, 3, rolls);
    check_even("dice", dice, 6, rolls);
    cr_assert_eq(mt_rng_below(&rng, 1), 0);
    cr_assert(mt_rng_below(&rng, INT64_MAX) >= 0);
    ABORTS("below 0", mt_rng_below(&rng, 0));
    ABORTS("below -5", mt_rng_below(&rng, -5));
}

Test(rng, permutations_hold_every_number_once)
{
    for (int64_t n = 0; n < 200; n += 13) {
        int64_t order[200], seen[200] = { 0 };
        mt_rng rng = mt_rng_new(26, (uint64_t)n);
        mt_rng_permutation(&rng, order, n);
        for (int64_t i = 0; i < n; i++) {
            cr_assert(order[i] >= 0 && order[i] < n && !seen[order[i]]++, "n = %d", (int)n);
        }
    }
}

Test(rng, every_order_is_equally_likely)
{
    int64_t count[24] = { 0 };
    mt_rng rng = mt_rng_new(27, MT_STREAM_TEST);
    int rounds = 48000;
    for (int i = 0; i < rounds; i++) {
        int64_t order[4];
        mt_rng_permutation(&rng, order, 4);
        int place = 0; /* its number among the 24 orders: how many later entries are smaller, at each place */
        for (int a = 0; a < 4; a++) {
            int smaller = 0;
            for (int b = a + 1; b < 4; b++)
                smaller += order[b] < order[a];
            place = place * (4 - a) + smaller;
        }
        count[place]++;
    }
    check_even("orders", count, 24, rounds);
}
