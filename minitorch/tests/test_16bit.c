/* test_16bit.c -- conversions of arrays against those of single numbers, and products of 16-bit matrices against
 * double. */
#include "amp/kernels_16bit.h"
#include "kernels/vec16.h"

#include "core/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 65536 };

static bool same(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

Test(convert, every_pattern_of_16_bits_is_exact_and_comes_back)
{
    static uint16_t patterns[PATTERNS], back[PATTERNS], other[PATTERNS];
    static float wide[PATTERNS];
    for (int i = 0; i < PATTERNS; i++)
        patterns[i] = (uint16_t)i;
    for (int type = 0; type < 2; type++) {
        mt_dtype dtype = type ? MT_F16 : MT_BF16, twin = type ? MT_BF16 : MT_F16;
        mt_convert_cpu(wide, MT_F32, patterns, dtype, PATTERNS);
        mt_convert_cpu(back, dtype, wide, MT_F32, PATTERNS);
        mt_convert_cpu(other, twin, patterns, dtype, PATTERNS);
        for (int i = 0; i < PATTERNS; i++) {
            float value = type ? mt_f16_to_f32((mt_f16){ patterns[i] }) : mt_bf16_to_f32((mt_bf16){ patterns[i] });
            uint16_t want = type ? mt_bf16_from_f32(value).bits : mt_f16_from_f32(value).bits;
            cr_assert(same(wide[i], value), "%s %04x: %g for %g", mt_dtype_name(dtype), i, wide[i], value);
            cr_assert(isnan(value) || back[i] == patterns[i], "%s %04x comes back as %04x", mt_dtype_name(dtype), i,
                      back[i]);
            cr_assert_eq(other[i], want, "%s %04x to %s: %04x for %04x", mt_dtype_name(dtype), i, mt_dtype_name(twin),
                         other[i], want);
        }
    }
}

/* Both neighbours of each representable number, ties, and random bits. */
Test(convert, f32_is_rounded_as_single_numbers_are)
{
    enum { COUNT = 6 * PATTERNS + 33 };
    float *x = malloc(COUNT * sizeof *x);
    uint16_t *bf16 = malloc(COUNT * sizeof *bf16), *f16 = malloc(COUNT * sizeof *f16);
    mt_rng rng = mt_rng_new(5, 0);
    for (int i = 0; i < COUNT; i++) {
        uint32_t upper = (uint32_t)(i / 6 % PATTERNS) << 16, bits;
        const uint32_t lower[] = { 0x7fff, 0x8000, 0x8001, 0x0fff, 0x1000, 0x3000 };
        bits = i < 6 * PATTERNS ? upper | lower[i % 6] : mt_rng_u32(&rng);
        memcpy(&x[i], &bits, sizeof bits);
    }
    mt_convert_cpu(bf16, MT_BF16, x, MT_F32, COUNT);
    mt_convert_cpu(f16, MT_F16, x, MT_F32, COUNT);
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(bf16[i], mt_bf16_from_f32(x[i]).bits, "bf16 of %a: %04x", x[i], bf16[i]);
        cr_assert_eq(f16[i], mt_f16_from_f32(x[i]).bits, "f16 of %a: %04x", x[i], f16[i]);
    }
    free(x);
    free(bf16);
    free(f16);
}

/* ---- products -------------------------------------------------------------------------------------- */

static uint16_t *random_bits(mt_rng *rng, int64_t n, mt_dtype dtype)
{
    float *x = malloc((size_t)(n + 1) * sizeof *x);
    uint16_t *bits = malloc((size_t)(n + 1) * sizeof *bits);
    mt_rng_fill_normal(rng, x, n, 0, 1);
    mt_convert_cpu(bits, dtype, x, MT_F32, n);
    free(x);
    return bits;
}

/* What form a product has: bits. */
enum { TRANS_A = 1, TRANS_B = 2, ADDED = 4, F16 = 8, FORMS = 16, PAIRS = 16, AMX = 32 };

static void multiply(float *c, const uint16_t *a, const uint16_t *b, const mt_matmul_dims *d, int form)
{
    if (form & AMX)
        mt_matmul_amx(c, (const mt_bf16 *)a, (const mt_bf16 *)b, d);
    else if (form & PAIRS)
        mt_matmul_bf16_cpu(c, (const mt_bf16 *)a, (const mt_bf16 *)b, d);
    else
        mt_matmul16_cpu(c, a, b, form & F16 ? MT_F16 : MT_BF16, d);
}

static void check_product(mt_rng *rng, int64_t M, int64_t N, int64_t K, int form)
{
    enum { GAP = 3 };
    mt_dtype dtype = form & F16 ? MT_F16 : MT_BF16;
    mt_matmul_dims d =
        mt_dense_dims(M, N, K, form & TRANS_A ? MT_TRANS : MT_NO_TRANS, form & TRANS_B ? MT_TRANS : MT_NO_TRANS,
                      form & ADDED ? MT_ACCUMULATE : MT_OVERWRITE);
    d.lda += GAP, d.ldb += GAP, d.ldc += GAP;
    uint16_t *a = random_bits(rng, (d.trans_a ? K : M) * d.lda, dtype);
    uint16_t *b = random_bits(rng, (d.trans_b ? N : K) * d.ldb, dtype);
    float *c = malloc((size_t)(M * d.ldc + 1) * sizeof *c);
    for (int64_t i = 0; i < M * d.ldc; i++)
        c[i] = d.write == MT_ACCUMULATE ? 0.5f : NAN;
    multiply(c, a, b, &d, form);
    for (int64_t i = 0; i < M; i++)
        for (int64_t j = 0; j < d.ldc; j++) {
            double want = d.write == MT_ACCUMULATE ? 0.5 : 0, size = fabs(want);
            for (int64_t k = 0; j < N && k < K; k++) {
                double x = mt_load_f64(a, dtype, d.trans_a ? k * d.lda + i : i * d.lda + k);
                double y = mt_load_f64(b, dtype, d.trans_b ? j * d.ldb + k : k * d.ldb + j);
                want += x * y;
                size += fabs(x * y);
            }
            float got = c[i * d.ldc + j];
            if (j >= N)
                cr_assert(d.write == MT_ACCUMULATE ? got == 0.5f : isnan(got), "the gap of C was written");
            else
                cr_assert(fabs(got - want) <= (double)(K + 1) * 0x1p-24 * size,
                          "%s form %d [%d,%d,%d] at %d,%d: %g for %g", mt_dtype_name(dtype), form, (int)M, (int)N,
                          (int)K, (int)i, (int)j, got, want);
        }
    free(a);
    free(b);
    free(c);
}

Test(matmul16, values_of_every_form)
{
    static const int64_t size[][3] = { { 1, 1, 1 },   { 0, 3, 2 },    { 3, 0, 2 },      { 2, 3, 0 },     { 31, 33, 7 },
                                       { 5, 67, 31 }, { 33, 31, 64 }, { 300, 17, 520 }, { 3, 1030, 259 } };
    mt_rng rng = mt_rng_new(7, 0);
    for (int s = 0; s < MT_COUNT(size); s++)
        for (int form = 0; form < FORMS; form++)
            check_product(&rng, size[s][0], size[s][1], size[s][2], form);
}

Test(matmul_bf16, values_of_every_form)
{
    static const int64_t size[][3] = { { 1, 1, 1 },   { 0, 3, 2 },    { 3, 0, 2 },     { 2, 3, 0 },    { 31, 33, 7 },
                                       { 5, 67, 31 }, { 29, 31, 64 }, { 43, 17, 801 }, { 3, 270, 37 }, { 13, 1, 2 },
                                       { 1, 40, 3 },  { 777, 3, 33 }, { 15, 16, 1537 } };
    mt_rng rng = mt_rng_new(8, 0);
    for (int s = 0; s < MT_COUNT(size); s++)
        for (int form = 0; form < F16; form++)
            check_product(&rng, size[s][0], size[s][1], size[s][2], PAIRS | form);
}

/* Sizes around a tile (16 x 16 x 32), a square (32 x 32), a panel (768 of K) and a block (320 rows). */
Test(matmul_amx, values_of_every_form)
{
    static const int64_t size[][3] = { { 1, 1, 1 },     { 0, 3, 2 },    { 3, 0, 2 },    { 2, 3, 0 },
                                       { 31, 33, 7 },   { 16, 48, 33 }, { 32, 32, 64 }, { 43, 17, 801 },
                                       { 335, 64, 31 }, { 3, 270, 37 }, { 641, 33, 2 }, { 15, 16, 1537 } };
    mt_rng rng = mt_rng_new(8, 0);
    if (!mt_has_amx())
        cr_skip_test("no AMX here");
    for (int s = 0; s < MT_COUNT(size); s++)
        for (int form = 0; form < F16; form++)
            check_product(&rng, size[s][0], size[s][1], size[s][2], AMX | form);
}

/* A subnormal bf16 counts as what it is, or as 0 where the instruction says so, in both numbers of a pair. */
Test(matmul_bf16, subnormal_operands_are_exact_or_zero)
{
    const uint16_t tiny[2] = { 0x0001, 0x807f }, huge[2] = { 0x7f00, 0x7f00 }; /* 2^-133, -(2^-126 - 2^-133); 2^127 */
    const mt_matmul_dims d = mt_dense_dims(1, 1, 2, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    for (int turn = 0; turn < 2; turn++) {
        float c, exact = 0x1p-6f - (2 - 0x1p-6f);
        multiply(&c, turn ? huge : tiny, turn ? tiny : huge, &d, PAIRS);
        cr_assert(c == exact || c == 0, "%g, not %g or 0", c, exact);
    }
}

/* The table's product is the one that it says it is; AMX only for what fills a tile. */
Test(matmul16, the_table_multiplies_as_it_says)
{
    enum { M = 16, N = 40, K = 301 };
    mt_rng rng = mt_rng_new(10, 0);
    uint16_t *a = random_bits(&rng, M * K, MT_BF16), *b = random_bits(&rng, K * N, MT_BF16);
    float got[M * N], want[M * N];
    const char *words = mt_matmul16_form(MT_BF16);
    for (int64_t rows = M; rows > 0; rows -= M - 1) {
        const mt_matmul_dims d = mt_dense_dims(rows, N, K, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
        bool tiles = strstr(words, "in tiles"), pairs = mt_pairs_are_fast();
        multiply(want, a, b, &d, tiles && rows == M ? AMX : pairs ? PAIRS : 0);
        mt_16bit_kernels(MT_CPU)->matmul16(got, a, b, MT_BF16, &d);
        cr_assert_arr_eq(got, want, sizeof(float[N]) * (size_t)rows);
    }
    cr_assert(strstr(mt_matmul16_form(MT_F16), "widened"));
    free(a);
    free(b);
}

Test(matmul16, the_number_of_threads_changes_no_bit)
{
    enum { M = 67, N = 1100, K = 300 };
    mt_rng rng = mt_rng_new(9, 0);
    uint16_t *a = random_bits(&rng, M * K, MT_BF16), *b = random_bits(&rng, K * N, MT_BF16);
    mt_matmul_dims d = mt_dense_dims(M, N, K, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
    for (int form = 0; form <= AMX; form += PAIRS) {
        if (form == AMX && !mt_has_amx())
            continue;
        float *c[2];
        for (int t = 0; t < 2; t++) {
            c[t] = malloc(sizeof(float[M][N]));
            omp_set_num_threads(t ? 6 : 1);
            multiply(c[t], a, b, &d, form);
        }
        cr_assert_arr_eq(c[0], c[1], sizeof(float[M][N]));
        free(c[0]);
        free(c[1]);
    }
    free(a);
    free(b);
}
