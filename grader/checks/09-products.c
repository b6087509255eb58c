/* 09-products.c -- how the checks of step 09.3 run: products of 16-bit matrices against the oracle in double, whose
 * operands are what the 16 bits say. Rows: 09-mixed-precision.c. */
#include "checks/09-mixed-precision.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/product.h"
#include "kernels/vec16.h"
#include "rows/traffic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDENED "mt_matmul16_cpu"
#define PAIRED  "mt_matmul_bf16_cpu"

static const mt_dtype types[] = { MT_BF16, MT_F16 };

/* Whether all elements of C are numbers of 16 bits, which sums in f32 are by chance only. */
static bool sums_are_16_bits(mg_run *run, const mg_product *p)
{
    const float *c = mg_result(run, "c");
    uint32_t low = 0, bits;
    for (int64_t i = 0; i < mg_product_span(&p->dims); i++) {
        memcpy(&bits, c + i, sizeof bits);
        if (i % p->dims.ldc < p->dims.N)
            low |= isfinite(c[i]) ? bits : 1;
    }
    return mg_product_span(&p->dims) > 0 && (low & (p->dtype == MT_BF16 ? 0xffff : 0x1fff)) == 0;
}

static bool judge(mg_run *run, const mg_product *p, const char *hint)
{
    if (p->dims.K > 1 && sums_are_16_bits(run, p))
        mg_hint(run,
                "every element of C is a %s: add in f32, because a sum in 16 bits stops to grow once a term is below "
                "half of its last bit",
                mt_dtype_name(p->dtype));
    return mg_product_expect(run, p, hint);
}

/* Call number t of a row: the types by turns, or bf16 in pairs. */
static bool check_product(mg_run *run, mt_matmul_dims dims, int t, bool pairs, const char *hint)
{
    mg_product p = { .dims = dims, .dtype = pairs ? MT_BF16 : types[t % 2] };
    mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
    return mg_call(run) && judge(run, &p, hint);
}

/* ---- sums -------------------------------------------------------------------------------------------- */

/* Terms of about 0.01, all positive. In bf16 the sum stops near 4: half of its last bit is 0.016 there. */
static void long_sums(mg_run *run)
{
    static const int64_t sizes[][3] = { { 1, 1, 1000 }, { 3, 2, 1001 }, { 2, 5, 997 } };
    for (int t = 0; t < 2 * MT_COUNT(sizes); t++) {
        const int64_t *size = sizes[t / 2];
        mg_product p = { .dims = mg_product_tight(size[0], size[1], size[2], MT_NO_TRANS, MT_NO_TRANS),
                         .dtype = types[t % 2] };
        mg_product_describe(run, WIDENED, &p);
        for (int64_t i = 0; i < size[0] * size[2]; i++)
            mt_store_f64(p.a16, p.dtype, i, 0.008 + 0.004 * mt_rng_uniform(mg_rng(run)));
        for (int64_t i = 0; i < size[1] * size[2]; i++)
            mt_store_f64(p.b16, p.dtype, i, 0.8 + 0.4 * mt_rng_uniform(mg_rng(run)));
        if (!mg_call(run) || !judge(run, &p, NULL))
            return;
    }
}

/* ---- magnitudes ---------------------------------------------------------------------------------------- */

/* Ordinary numbers, then those that only one of the types has: beyond 65504, and subnormal ones of f16. The shape has
 * no rests, so that what only the others have wrong is about their exponents. */
static bool magnitudes(mg_run *run, bool pairs)
{
    static const char subnormal[] = "some of the operands are subnormal (in f16 below 2^-14): they are not 0";
    static const struct {
        mg_dist a, b;
        const char *hint;
    } kinds[] = {
        { MIXED(-3, 3), MIXED(-3, 3), NULL },
        { MIXED(-60, 60), MIXED(-60, 60), "exponents beyond those of f16: is the type that of the operands?" },
        { MIXED(-24, -13), MIXED(-24, 15), subnormal },
        { MIXED(-132, -127), MIXED(10, 30), subnormal }, /* only pairs lose them */
    };
    bool good = true;
    for (int t = 0; t < (pairs ? 2 : MT_COUNT(kinds)) && good; t++) {
        mg_product p = { .dims = mg_product_tight(48, 64, 32, MT_NO_TRANS, MT_NO_TRANS),
                         .dtype = pairs ? MT_BF16 : types[(t + 1) % 2] };
        mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
        for (int k = 0; k < 2; k++)
            for (int64_t i = 0, n = (k ? p.dims.N : p.dims.M) * p.dims.K; i < n; i++) {
                float x;
                mg_fill(mg_rng(run), &x, 1, k ? kinds[t].b : kinds[t].a);
                mt_store_f64(k ? p.b16 : p.a16, p.dtype, i, x);
            }
        good = mg_call(run) && judge(run, &p, kinds[t].hint);
    }
    return good;
}

/* ---- zeros, and what must abort ------------------------------------------------------------------------- */

/* Of one operand all is 0 but what the first terms read; the other has a NaN in a last term. */
static bool zero_times_nan(mg_run *run, mt_dtype dtype, bool pairs)
{
    enum { M = 7, N = 6, K = 1000 };
    bool good = true;
    for (int of_a = 0; of_a < 2 && good; of_a++) {
        mg_product p = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_TRANS), .dtype = dtype };
        mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
        for (int64_t i = 0; i < (of_a ? M : N) * K; i++)
            if (i % K)
                (of_a ? p.a16 : p.b16)[i] = 0;
        mt_store_f64(of_a ? p.b16 : p.a16, dtype, 3 * K - 1, NAN);
        good = mg_call(run) && mg_product_expect(run, &p, "blocks of zeros count, too: 0 times NaN is NaN");
    }
    return good;
}

/* What is refused; a pair of products has no argument for its type. */
enum { SMALL_LDA, SMALL_LDB, SMALL_LDC, ANOTHER_TYPE };
static const mg_idea refused[] = {
    { "refused: lda is too small", NULL, SMALL_LDA },
    { "refused: ldb is too small", NULL, SMALL_LDB },
    { "refused: ldc is too small", NULL, SMALL_LDC },
    { "refused: another type", NULL, ANOTHER_TYPE, 1 << false },
};

static bool refuse(mg_run *run, bool pairs)
{
    static const double yes = 1;
    bool good = true;
    for (mg_ideas t = { 0 }; good && MG_NEXT(run, &t, refused, pairs);) {
        mg_product p = { .dims = mg_product_tight(3, 5, 4, MT_NO_TRANS, MT_NO_TRANS),
                         .dtype = t.is == ANOTHER_TYPE ? MT_F32 : MT_BF16 };
        p.dims.lda -= t.is == SMALL_LDA, p.dims.ldb -= t.is == SMALL_LDB, p.dims.ldc -= t.is == SMALL_LDC;
        mg_product_describe(run, pairs ? "may abort: " PAIRED : "may abort: " WIDENED, &p);
        if (p.dtype == MT_F32) /* which that leaves out */
            mg_i64(run, "dtype", MT_F32);
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_threads(run, 1); /* the one that returns from the abort */
        mg_hint(run,
                "keep the checks: the header says \"Aborts: another type, a leading dimension that is too small\"");
        good = mg_call(run) && mg_expect(run, "aborted", &yes, NULL);
    }
    return good;
}

/* ---- sizes, transposes, strides ---------------------------------------------------------------------- */

/* First a product of whole blocks, then one that is longer than a block in one dimension only, so that a failure shows
 * in which dimension the error is. */
static const struct {
    int64_t shape[3];
    const char *hint;
} blocks[] = {
    { { 48, 64, 32 }, NULL },
    { { 2053, 37, 32 }, "only M is longer than a block: the rows of A and C where the second block of rows begins" },
    { { 9, 2051, 32 },
      "only N is longer than a block: the columns of B and C where the second block of columns begins" },
    { { 9, 37, 2305 },
      "only K is longer than a block: each block of K has its own columns of A and rows of B, the last "
      "one has a single one, and all but the first add to C" },
};

static const int64_t
    shapes[][3] = {
        /* M, N, K; -1: random */
        { 1, 1, 1 },      { 0, 5, 7 },     { 5, 0, 7 },     { 6, 5, 0 },    { -1, -1, -1 },
        { 1, -1, -1 },    { -1, 1, -1 },   { -1, -1, 1 },   { 17, 31, 33 }, { 1, 1, 64 },
        { 256, 33, 256 }, { 257, 5, 257 }, { 3, 1025, 5 },  { 5, 1024, 9 }, { -1, -1, -1 },
        { 1, 40, 1 },     { 40, 1, 1 },    { 7, 300, 513 }, { 9, 40, 512 }, { 15, 33, 768 }, /* whole blocks of K */
    };

static int64_t size_or_random(mt_rng *rng, int64_t size)
{
    return size >= 0 ? size : mg_pick_size(rng, 1, 80);
}

static mt_matmul_dims vary(mt_rng *rng, product_about about, const int64_t shape[3], int t)
{
    int64_t M = size_or_random(rng, shape[0]), N = size_or_random(rng, shape[1]), K = size_or_random(rng, shape[2]);
    int trans = about == PRODUCT_TRANS ? 1 + t % 3 : about == PRODUCT_STRIDES ? t % 4 : 0;
    mt_matmul_dims d = mg_product_tight(M, N, K, trans & 1, trans >> 1);
    d.write = about == PRODUCT_ACCUMULATE || (about == PRODUCT_STRIDES && t / 4 % 2) ? MT_ACCUMULATE : MT_OVERWRITE;
    if (about == PRODUCT_STRIDES) {
        d.lda += mg_pick(rng, 1, 9);
        d.ldb += mg_pick(rng, 1, 9);
        d.ldc += mg_pick(rng, 1, 9);
    }
    return d;
}

static bool every_shape(mg_run *run, product_about about, bool pairs)
{
    /* Longer than a block in every dimension. */
    const int64_t large[] = { mg_pick(mg_rng(run), 260, 300), mg_pick(mg_rng(run), 1030, 1100),
                              2 * mg_pick(mg_rng(run), 260, 300) + 1 };
    bool good =
        about != PRODUCT_SIZES || magnitudes(run, pairs); /* first: other numbers may have these exponents, too */
    for (int t = 0; t < 6 * MT_COUNT(blocks) && good; t += about == PRODUCT_TRANS ? 1 : 3)
        good = check_product(run, vary(mg_rng(run), about, blocks[t / 6].shape, t), t, pairs,
                             pairs ? NULL : blocks[t / 6].hint);
    for (int t = 0; t < 2 * MT_COUNT(shapes) && good; t++)
        good = check_product(run, vary(mg_rng(run), about, shapes[t / 2], t / 2), t, pairs, NULL);
    good = good && (about != PRODUCT_STRIDES || refuse(run, pairs));
    good = good && (about != PRODUCT_SIZES ||
                    (zero_times_nan(run, MT_BF16, pairs) && (pairs || zero_times_nan(run, MT_F16, false))));
    for (int t = 2; t < 4 && good; t++) /* with transposes: both, then A */
        good = check_product(run, vary(mg_rng(run), about, large, t), t, pairs, NULL);
    return good;
}

/* ---- the order of a sum ------------------------------------------------------------------------------ */

enum { ROWS = 300, COLUMNS = 1060, TERMS = 1000 }; /* more than a block of each */

/* The whole product that was answered last: of A [M,TERMS] and B [N,TERMS], transposed. */
typedef struct answer {
    int64_t M, N;
    uint16_t a[ROWS * TERMS], b[COLUMNS * TERMS];
    float c[ROWS * COLUMNS];
} answer;

static bool same_bits(mg_run *run, const double *want, int64_t count, const char *hint)
{
    int64_t wrong = 0;
    for (int64_t i = 0; i < count; i++)
        wrong += mg_wrong(run, "c", i, want[i], 0);
    if (wrong)
        mg_hint(run, "%s", hint);
    return mg_expect(run, "c", want, NULL);
}

/* lines [n,TERMS], or, by columns, [TERMS,n] */
static void put_lines(uint16_t *to, const uint16_t *lines, int64_t n, bool by_columns)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < TERMS; k++)
            to[by_columns ? k * n + i : i * TERMS + k] = lines[i * TERMS + k];
}

/* The product of the last M rows of A and the last N columns of B must have the bits that the whole has there, however
 * the two are stored. */
static bool check_part(mg_run *run, const answer *whole, int64_t M, int64_t N, int trans, bool pairs)
{
    int64_t row = whole->M - M, column = whole->N - N;
    mg_product p = { .dims = mg_product_tight(M, N, TERMS, trans & 1, trans >> 1), .dtype = MT_BF16 };
    mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
    put_lines(p.a16, whole->a + row * TERMS, M, p.dims.trans_a);
    put_lines(p.b16, whole->b + column * TERMS, N, !p.dims.trans_b);
    if (!mg_call(run))
        return false;
    double *want = mg_doubles(M * N);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = whole->c[(row + i / N) * whole->N + column + i % N];
    bool good = same_bits(run, want, M * N,
                          "expected is what a product of more rows and columns has here, with the same row of A and "
                          "column of B: the order in which the terms of a sum are added depends on K only");
    free(want);
    return good;
}

static bool check_order(mg_run *run, int64_t M, int64_t N, bool pairs)
{
    const int64_t parts[][3] = { { 1, N, MT_NO_TRANS | MT_TRANS << 1 },
                                 { 7, 33, MT_TRANS | MT_TRANS << 1 },
                                 { M, 1, MT_NO_TRANS } };
    mg_product p = { .dims = mg_product_tight(M, N, TERMS, MT_NO_TRANS, MT_TRANS), .dtype = MT_BF16 };
    answer *whole = malloc(sizeof *whole);
    MT_CHECK(whole, "out of memory");
    mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
    bool good = mg_call(run) && judge(run, &p, NULL);
    if (good) {
        whole->M = M, whole->N = N;
        memcpy(whole->a, p.a16, (size_t)(M * TERMS) * sizeof *whole->a);
        memcpy(whole->b, p.b16, (size_t)(N * TERMS) * sizeof *whole->b);
        memcpy(whole->c, mg_result(run, "c"), (size_t)(M * N) * sizeof *whole->c);
    }
    for (int i = 0; i < MT_COUNT(parts) && good; i++)
        good = check_part(run, whole, parts[i][0], parts[i][1], (int)parts[i][2], pairs);
    free(whole);
    return good;
}

static bool check_orders(mg_run *run, bool pairs)
{
    return check_order(run, ROWS, 67, pairs) && check_order(run, 9, COLUMNS, pairs);
}

/* ---- threads ----------------------------------------------------------------------------------------- */

static const char threads_hint[] =
    "expected is what one thread gives: threads may share rows of a block or parts of C, but never the sum over K";

/* The same product with each number of threads: all must give the bits of the first answer. */
static bool check_threads(mg_run *run, mt_matmul_dims dims, mt_dtype dtype, bool pairs)
{
    static const int threads[] = { 1, 2, 3, 5 };
    const mt_rng start = *mg_rng(run);
    double *bits = NULL;
    bool good = true;
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        mg_product p = { .dims = dims, .dtype = dtype };
        *mg_rng(run) = start;
        mg_product_describe(run, pairs ? PAIRED : WIDENED, &p);
        mg_threads(run, threads[i]);
        good = mg_call(run) &&
               (bits ? same_bits(run, bits, mg_product_span(&dims), threads_hint) : mg_product_expect(run, &p, NULL));
        if (good && !bits)
            bits = mg_lift(mg_result(run, "c"), mg_product_span(&dims));
    }
    free(bits);
    return good;
}

/* K is the longest side, as in the gradients of weights: threads that share K would have hundreds of terms each. */
static mt_matmul_dims many_terms(mt_rng *rng)
{
    return mg_product_tight(mg_pick(rng, 150, 200), mg_pick(rng, 30, 40), mg_pick(rng, 1400, 1500), MT_TRANS,
                            MT_NO_TRANS);
}

static void any_threads(mg_run *run)
{
    mt_rng *rng = mg_rng(run);
    mg_product p = { .dims = mg_product_tight(mg_pick(rng, 260, 280), mg_pick(rng, 150, 170), mg_pick(rng, 260, 280),
                                              MT_NO_TRANS, MT_NO_TRANS),
                     .dtype = MT_BF16 };
    mg_product_describe(run, WIDENED, &p);
    bool good = mg_shared_call(run) && mg_product_expect(run, &p, NULL);
    good = good && check_orders(run, false) && check_threads(run, many_terms(rng), MT_F16, false);
    for (int t = 0; t < 4 && good; t++)
        good = check_threads(
            run, mg_product_tight(mg_pick(rng, 1, 400), mg_pick(rng, 1, 400), mg_pick(rng, 1, 900), t & 1, t >> 1 & 1),
            types[t % 2], false);
}

void mg_09_product(mg_run *run, const void *one_case)
{
    const product_case *c = one_case;
    if (c->about == PRODUCT_SUMS)
        long_sums(run);
    else if (c->about == PRODUCT_THREADS)
        any_threads(run);
    else if (every_shape(run, c->about, c->pairs) && c->pairs && c->about == PRODUCT_SIZES && check_orders(run, true))
        check_threads(run, many_terms(mg_rng(run)), MT_BF16, true);
}

/* ---- the race ---------------------------------------------------------------------------------------- */

/* Pairs are raced where the processor multiplies them fast. Elsewhere mt_dot_pairs is two products in f32, or an
 * instruction slower than those, and what it takes says nothing about the unit: then one product is compared with the
 * oracle. */
void mg_09_product_race(mg_run *run, const void *one_case)
{
    const product_race *c = one_case;
    const char *ours = c->pairs ? PAIRED : WIDENED;
    const mg_race race = { .bar = c->bar,
                           .ours = ours,
                           .theirs = WIDENED,
                           .threads = 1,
                           .against = c->pairs ? "the product that widens" : "the reference" };
    if (!c->pairs || mt_pairs_are_fast())
        mg_product_race(run, race, c->M, c->N, c->K, MT_BF16);
    else if (check_product(run, mg_product_tight(c->M, c->N, c->K, MT_NO_TRANS, MT_TRANS), 0, true, NULL))
        mg_note(run, "not timed: this processor has no fast instruction for pairs of bf16 (avx512_bf16 by AMD)");
}
