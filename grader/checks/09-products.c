/* 09-products.c -- products of 16-bit matrices (steps 09.3 and 09.10) against the oracle in double, whose operands are
 * what the 16 bits say. Rows: 09-mixed-precision.c. */
#include "checks/09-mixed-precision.h"
#include "checks/oracle.h"
#include "checks/product.h"
#include "kernels/vec16.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDENED "mt_matmul16_cpu"
#define PAIRED  "mt_matmul_bf16_cpu"

/* ---- one call: c, a, b; M, N, K and the form -------------------------------------------------------------- */

enum { TRANS_A = 1, TRANS_B = 2, ADDED = 4, GAPS = 8, OF_F16 = 16 };    /* forms */
enum { SMALL_LDA = 1, SMALL_LDB = 2, SMALL_LDC = 4, ANOTHER_TYPE = 8 }; /* what is refused */

static mg_product now; /* of the call described last */

static void describe_arrays(mg_trial *t, int i)
{
    const int form = t->kernel->about;
    const int64_t wrong = t->special && t->special->aborts ? t->special->value : 0, *size = t->size;
    mt_matmul_dims d = mg_product_tight(size[0], size[1], size[2], form & TRANS_A, form / TRANS_B & 1);
    if (form & ADDED)
        d.write = MT_ACCUMULATE;
    if (form & GAPS && !wrong)
        for (int k = 0; k < 3; k++)
            *(int64_t *[]){ &d.lda, &d.ldb, &d.ldc }[k] += mg_pick(mg_rng(t->run), 1, 9);
    d.lda -= wrong == SMALL_LDA, d.ldb -= wrong == SMALL_LDB, d.ldc -= wrong == SMALL_LDC;
    now = (mg_product){ .dims = d, .dtype = wrong == ANOTHER_TYPE ? MT_F32 : form & OF_F16 ? MT_F16 : MT_BF16 };
    mg_product_arrays(t->run, &now);
    t->v[i] = mg_doubles(mg_product_span(&d)), t->e[i] = mg_doubles(mg_product_span(&d));
}

static void describe_form(mg_trial *t)
{
    mg_product_form(t->run, &now);
    if (now.dtype == MT_F32) /* which that leaves out */
        mg_i64(t->run, "dtype", MT_F32);
}

static void expect(mg_trial *t)
{
    mg_product_oracle(&now, t->v[0], t->e[0]);
}

/* Whether all elements of C are numbers of 16 bits, which sums in f32 are by chance only. */
static bool sums_are_16_bits(mg_run *run)
{
    const float *c = mg_result(run, "c");
    uint32_t low = 0, bits;
    for (int64_t i = 0; i < mg_product_span(&now.dims); i++) {
        memcpy(&bits, c + i, sizeof bits);
        if (i % now.dims.ldc < now.dims.N)
            low |= isfinite(c[i]) ? bits : 1;
    }
    return mg_product_span(&now.dims) > 0 && (low & (now.dtype == MT_BF16 ? 0xffff : 0x1fff)) == 0;
}

static bool recognise(mg_trial *t)
{
    if (now.dims.K > 1 && sums_are_16_bits(t->run))
        mg_hint(t->run,
                "every element of C is a %s: add in f32, because a sum in 16 bits stops to grow once a term is below "
                "half of its last bit",
                mt_dtype_name(now.dtype));
    mg_product_recognise(t->run, &now.dims, t->v[0], t->e[0], t->special ? t->special->hint : NULL);
    return true;
}

#define PRODUCT(function, form)                                          \
    { function,                                                          \
      "MNK",                                                             \
      .operand = { MG_WRITTEN("c", "MN", .describe = describe_arrays) }, \
      .draw = describe_form,                                             \
      .oracle = expect,                                                  \
      .judge = recognise,                                                \
      .about = form }
const mg_kernel mg_09_product = PRODUCT(WIDENED, 0), mg_09_product_f16 = PRODUCT(WIDENED, OF_F16);
const mg_kernel mg_09_product_a = PRODUCT(WIDENED, TRANS_A), mg_09_product_b = PRODUCT(WIDENED, TRANS_B | OF_F16);
const mg_kernel mg_09_product_ab = PRODUCT(WIDENED, TRANS_A | TRANS_B);
const mg_kernel mg_09_added = PRODUCT(WIDENED, ADDED), mg_09_added_f16 = PRODUCT(WIDENED, ADDED | OF_F16);
const mg_kernel mg_09_gaps[] = { PRODUCT(WIDENED, GAPS), PRODUCT(WIDENED, GAPS | TRANS_A | ADDED | OF_F16),
                                 PRODUCT(WIDENED, GAPS | TRANS_B | OF_F16),
                                 PRODUCT(WIDENED, GAPS | TRANS_A | TRANS_B | ADDED) };
const mg_kernel mg_09_pairs = PRODUCT(PAIRED, 0), mg_09_pairs_a = PRODUCT(PAIRED, TRANS_A);
const mg_kernel mg_09_pairs_b = PRODUCT(PAIRED, TRANS_B), mg_09_pairs_ab = PRODUCT(PAIRED, TRANS_A | TRANS_B);
const mg_kernel mg_09_pairs_gaps[] = { PRODUCT(PAIRED, GAPS), PRODUCT(PAIRED, GAPS | TRANS_A | ADDED),
                                       PRODUCT(PAIRED, GAPS | TRANS_B),
                                       PRODUCT(PAIRED, GAPS | TRANS_A | TRANS_B | ADDED) };

/* ---- numbers ------------------------------------------------------------------------------------------ */

static uint16_t *a_at(const mg_product *p, int64_t i, int64_t k)
{
    return p->a16 + (p->dims.trans_a ? k * p->dims.lda + i : i * p->dims.lda + k);
}

static uint16_t *b_at(const mg_product *p, int64_t k, int64_t j)
{
    return p->b16 + (p->dims.trans_b ? j * p->dims.ldb + k : k * p->dims.ldb + j);
}

/* The form of matrices without gaps. */
static void draw(mg_trial *t, mg_dist a, mg_dist b)
{
    const int64_t of_a = t->size[0] * t->size[2], of_b = t->size[1] * t->size[2];
    for (int64_t i = 0; i < of_a + of_b; i++) {
        float x;
        mg_fill(mg_rng(t->run), &x, 1, i < of_a ? a : b);
        mt_store_f64(i < of_a ? now.a16 : now.b16, now.dtype, i < of_a ? i : i - of_a, x);
    }
}

/* Terms of about 0.01. In bf16 the sum of a thousand stops near 4: half of its last bit is 0.016 there. */
void mg_09_positive(mg_trial *t)
{
    draw(t, (mg_dist)UNIFORM(0.008, 0.012), (mg_dist)UNIFORM(0.8, 1.2));
}

static void far(mg_trial *t)
{
    const mg_dist f16 = MIXED(-14, 15), bf16 = MIXED(-60, 60), own = now.dtype == MT_F16 ? f16 : bf16;
    draw(t, own, own);
}

/* In bf16, only products that are computed in pairs lose subnormal numbers. */
static void subnormal(mg_trial *t)
{
    if (now.dtype == MT_F16)
        draw(t, (mg_dist)MIXED(-24, -13), (mg_dist)MIXED(-24, 15));
    else
        draw(t, (mg_dist)MIXED(-132, -127), (mg_dist)MIXED(10, 15));
}

/* All of A, or of B, is 0 but what the first terms read; the other one has a NaN in a last term. */
static void zeros_and_nan(mg_trial *t)
{
    const bool of_a = t->value;
    const int64_t K = t->size[2];
    for (int64_t i = 0; i < t->size[of_a ? 0 : 1]; i++)
        for (int64_t k = 1; k < K; k++)
            *(of_a ? a_at(&now, i, k) : b_at(&now, k, i)) = 0;
    mt_store_f64(of_a ? b_at(&now, K - 1, 2) : a_at(&now, 2, K - 1), now.dtype, 0, NAN);
}

/* ---- the order of a sum ------------------------------------------------------------------------------ */

/* The product of the last M rows of A and the last N columns of B must have the bits, in double, that the whole has
 * there, however the two are stored. */
static bool check_part(mg_trial *t, const mg_product *whole, const double *bits, int64_t M, int64_t N, int trans)
{
    const mt_matmul_dims *d = &whole->dims;
    const int64_t row = d->M - M, column = d->N - N;
    mg_product p = { .dims = mg_product_tight(M, N, d->K, trans & TRANS_A, trans / TRANS_B), .dtype = whole->dtype };
    mg_product_describe(t->run, t->function, &p);
    for (int64_t k = 0; k < d->K; k++) {
        for (int64_t i = 0; i < M; i++)
            *a_at(&p, i, k) = *a_at(whole, row + i, k);
        for (int64_t j = 0; j < N; j++)
            *b_at(&p, k, j) = *b_at(whole, k, column + j);
    }
    if (!mg_call(t->run))
        return false;
    double *want = mg_doubles(M * N);
    for (int64_t i = 0; i < M * N; i++)
        want[i] = bits[(row + i / N) * d->N + column + i % N];
    bool good = mg_expect(t->run, "c", want, NULL);
    free(want);
    return good;
}

static uint16_t *copied(const uint16_t *x, int64_t count)
{
    uint16_t *copy = malloc((size_t)count * sizeof *copy);
    MT_CHECK(copy, "out of memory for %lld numbers", (long long)count);
    memcpy(copy, x, (size_t)count * sizeof *copy);
    return copy;
}

static bool parts_are_equal(mg_trial *t)
{
    mg_product whole = now;
    const int64_t M = t->size[0], N = t->size[1], K = t->size[2];
    double *bits = mg_lift(mg_result(t->run, "c"), M * N);
    whole.a16 = copied(now.a16, M * K), whole.b16 = copied(now.b16, N * K);
    bool good = check_part(t, &whole, bits, 1, N, TRANS_B) && check_part(t, &whole, bits, 7, 33, TRANS_A | TRANS_B) &&
                check_part(t, &whole, bits, M, 1, 0);
    free(bits), free(whole.a16), free(whole.b16);
    return good;
}

/* ---- the calls of rows -------------------------------------------------------------------------------- */

#define NAN_HINT "blocks of zeros count, too: 0 times NaN is NaN"
/* Longer than a block in one dimension, so that a failure shows in which dimension the error is; whole blocks; longer
 * in all dimensions; blocks of zeros. */
const mg_special mg_09_product_blocks[] = {
    { "more than a block of rows",
      "only M is longer than a block: the rows of A and C where the second block of rows begins",
      { 2053, 37, 32 } },
    { "more than a block of columns",
      "only N is longer than a block: the columns of B and C where the second block of columns begins",
      { 9, 2051, 32 } },
    { "more than a block of terms",
      "only K is longer than a block: each block of K has its own columns of A and rows of B, the last one may be "
      "short, and all but the first add to C",
      { 9, 37, 2305 } },
    { "whole blocks of rows and terms", NULL, { 256, 33, 256 } },
    { "a whole block of columns", NULL, { 5, 1024, 9 } },
    { "two whole blocks of terms", NULL, { 9, 40, 512 } },
    { "three whole blocks of terms", NULL, { 15, 33, 768 } },
    { "more than a block of each dimension", NULL, { 283, 1061, 547 } },
    { "0 times NaN, A is 0", NAN_HINT, { 7, 6, 1000 }, .prepare = zeros_and_nan, .value = true },
    { "0 times NaN, B is 0", NAN_HINT, { 7, 6, 1000 }, .prepare = zeros_and_nan, .value = false },
    { 0 },
};

const mg_special mg_09_product_numbers[] = {
    { "subnormal numbers",
      "some of the operands are subnormal (in f16 below 2^-14): they are not 0",
      { 48, 64, 32 },
      .prepare = subnormal },
    { "numbers far from 1",
      "exponents beyond those of f16: is the type that of the operands?",
      { 48, 64, 32 },
      .prepare = far },
    { 0 },
};

#define REFUSED(name, wrong) \
    { "refused: " name,      \
      NULL,                  \
      { 3, 5, 4 },           \
      .value = (wrong),      \
      .aborts = "another type, a leading dimension that is too small" }
const mg_special mg_09_product_refused[] = {
    REFUSED("another type", ANOTHER_TYPE),
    REFUSED("lda is too small", SMALL_LDA),
    REFUSED("ldb is too small", SMALL_LDB),
    REFUSED("ldc is too small", SMALL_LDC),
    { 0 },
};

#define ORDER_HINT                                                                                                \
    "the order of the terms of a sum depends on K only: expected is what a product of more rows and columns has " \
    "here, with the same row of A and column of B"
const mg_special mg_09_product_order[] = {
    { "the order of sums in fewer rows", ORDER_HINT, { 300, 67, 1000 }, .after = parts_are_equal },
    { "the order of sums in fewer columns", ORDER_HINT, { 9, 1060, 1000 }, .after = parts_are_equal },
    { 0 },
};

/* Blocks that threads share, and a K as long as in the gradients of weights. */
const mg_special mg_09_product_threads[] = {
    { "data races between blocks", NULL, { 1031, 37, 269 }, .how = MG_CALL_SEARCHED },
    { "equal bits of long sums", NULL, { 173, 37, 1451 }, .how = MG_CALL_BY_THREADS },
    { "equal bits of several blocks", NULL, { 283, 307, 797 }, .how = MG_CALL_BY_THREADS },
    { 0 },
};

/* ---- the race ---------------------------------------------------------------------------------------- */

static bool one_product(mg_run *run, mt_matmul_dims dims)
{
    mg_product p = { .dims = dims, .dtype = MT_BF16 };
    mg_product_describe(run, PAIRED, &p);
    return mg_call(run) && mg_product_expect(run, &p, NULL);
}

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
    else if (one_product(run, mg_product_tight(c->M, c->N, c->K, MT_NO_TRANS, MT_TRANS)))
        mg_note(run, "not timed: this processor has no fast instruction for pairs of bf16 (avx512_bf16 by AMD)");
}
