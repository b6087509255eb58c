/* 01-run.c -- how the checks of lab 01 run: products of awkward sizes against the double-precision oracle, and races.
 * The rows and their points are in 01-matmul.c. */
#include "checks/01-matmul.h"
#include "checks/fill.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- one product ---------------------------------------------------------------------------- */

/* A matrix as it lies in memory: rows of `cols` numbers, ld apart, ending with the last number and not with a gap. */
static int64_t span(int64_t rows, int64_t cols, int64_t ld)
{
    return rows > 0 && cols > 0 ? (rows - 1) * ld + cols : 0;
}

static int64_t span_a(const mt_matmul_dims *d)
{
    return d->trans_a ? span(d->K, d->M, d->lda) : span(d->M, d->K, d->lda);
}

static int64_t span_b(const mt_matmul_dims *d)
{
    return d->trans_b ? span(d->N, d->K, d->ldb) : span(d->K, d->N, d->ldb);
}

static int64_t span_c(const mt_matmul_dims *d)
{
    return span(d->M, d->N, d->ldc);
}

static void fill_matrix(mt_rng *rng, float *x, int64_t count, int64_t cols, int64_t ld, float gap)
{
    mg_fill(rng, x, count, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < count && ld > cols; i++)
        if (i % ld >= cols)
            x[i] = gap;
}

static mt_matmul_dims tight(int64_t M, int64_t N, int64_t K, mt_trans trans_a, mt_trans trans_b)
{
    return (mt_matmul_dims){ M, N, K, trans_a ? M : K, trans_b ? K : N, N, trans_a, trans_b, MT_OVERWRITE };
}

static void send_dims(mg_run *run, const mt_matmul_dims *d)
{
    mg_i64(run, "M", d->M);
    mg_i64(run, "N", d->N);
    mg_i64(run, "K", d->K);
    mg_i64(run, "lda", d->lda);
    mg_i64(run, "ldb", d->ldb);
    mg_i64(run, "ldc", d->ldc);
    mg_i64(run, "trans_a", d->trans_a);
    mg_i64(run, "trans_b", d->trans_b);
    mg_i64(run, "accumulate", d->write == MT_ACCUMULATE);
}

/* What one call was given, to compute what it should answer. */
typedef struct product {
    mt_matmul_dims dims;
    const float *c0, *a, *b; /* as sent; the run's, until the next call is described */
} product;

/* The inputs, a and b. NaN fills their gaps: a kernel that takes a number from there spoils its result. */
static void describe_inputs(mg_run *run, product *p)
{
    const mt_matmul_dims *d = &p->dims;
    float *a = mg_in(run, "a", MT_F32, MT_SHAPE(span_a(d)));
    float *b = mg_in(run, "b", MT_F32, MT_SHAPE(span_b(d)));
    fill_matrix(mg_rng(run), a, span_a(d), d->trans_a ? d->M : d->K, d->lda, NAN);
    fill_matrix(mg_rng(run), b, span_b(d), d->trans_b ? d->K : d->N, d->ldb, NAN);
    p->a = a;
    p->b = b;
}

/* The whole call. C starts as NaN where it is to be overwritten, and as numbers to be kept in its gaps. */
static void describe_product(mg_run *run, const char *function, product *p)
{
    const mt_matmul_dims *d = &p->dims;
    int64_t count = span_c(d);
    mg_begin(run, function);
    float *c = mg_inout(run, "c", MT_F32, MT_SHAPE(count));
    mg_fill(mg_rng(run), c, count, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < count; i++)
        if (d->write == MT_OVERWRITE && i % d->ldc < d->N)
            c[i] = NAN;
    p->c0 = c;
    describe_inputs(run, p);
    send_dims(run, d);
}

static bool expect_product(mg_run *run, const product *p)
{
    int64_t count = span_c(&p->dims);
    double *want = mg_doubles(count), *tolerance = mg_doubles(count);
    mg_oracle_matmul(want, tolerance, p->c0, p->a, p->b, &p->dims);
    bool good = mg_expect(run, "c", want, tolerance);
    free(want);
    free(tolerance);
    return good;
}

static bool check_product(mg_run *run, const char *function, mt_matmul_dims dims)
{
    product p = { .dims = dims };
    describe_product(run, function, &p);
    return mg_call(run) && expect_product(run, &p);
}

/* ---- rows of values ------------------------------------------------------------------------- */

/* Sizes that every row tries, -1 standing for a random one: nothing, one number, vectors, and one dimension longer than
 * any block a kernel could be cut into. The others are small, so that rounding has no room for a wrong answer. */
static const int64_t shapes[][3] = {
    /* M, N, K */
    { 1, 1, 1 },    { 0, 5, 7 },       { 5, 0, 7 },    { 6, 5, 0 },     { -1, -1, -1 },  { 1, -1, -1 },  { -1, 1, -1 },
    { -1, -1, 1 },  { 16, 16, 16 },    { 17, 31, 33 }, { 63, 65, 64 },  { -1, -1, -1 },  { 3, 4231, 5 }, { 2137, 3, 5 },
    { 5, 7, 4099 }, { 129, 257, 131 }, { 14, 32, 7 },  { 13, 48, 256 }, { 301, 97, 43 }, { -1, -1, -1 },
};

static int64_t size_or_random(mt_rng *rng, int64_t size)
{
    return size >= 0 ? size : mg_pick_size(rng, 1, 80);
}

static mt_matmul_dims vary(mt_rng *rng, matmul_about about, const int64_t shape[3], int t)
{
    int64_t M = size_or_random(rng, shape[0]), N = size_or_random(rng, shape[1]), K = size_or_random(rng, shape[2]);
    int trans = about == MM_TRANS ? 1 + t % 3 : about == MM_STRIDES ? t % 4 : 0;
    mt_matmul_dims d = tight(M, N, K, trans & 1, trans >> 1);
    if (about == MM_STRIDES) {
        d.lda += mg_pick(rng, 1, 9);
        d.ldb += mg_pick(rng, 1, 9);
        d.ldc += mg_pick(rng, 1, 9);
        d.write = t / 4 % 2 ? MT_ACCUMULATE : MT_OVERWRITE;
    }
    return d;
}

void mg_01_values(mg_run *run, const void *one_case)
{
    const matmul_case *c = one_case;
    for (int t = 0; t < MT_COUNT(shapes); t++)
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, shapes[t], t)))
            return;
    /* Larger than a block in every dimension, so that blocks have to be put together. */
    const int64_t large[] = { mg_pick(mg_rng(run), 570, 640), mg_pick(mg_rng(run), 290, 330),
                              mg_pick(mg_rng(run), 520, 1100) };
    for (int t = 3; t < 6; t += 2) /* plain or transposed; overwriting, then accumulating where the row is about that */
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, large, t)))
            return;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* The same product, called anew with each number of threads: the bits of the first answer are the right ones for all.
 * */
static bool check_threads(mg_run *run, mt_matmul_dims dims)
{
    static const int threads[] = { 1, 2, 3, 5 };
    const mt_rng start = *mg_rng(run);
    double *bits = NULL;
    bool good = true;
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        product p = { .dims = dims };
        *mg_rng(run) = start;
        describe_product(run, "mt_matmul_parallel_cpu", &p);
        mg_threads(run, threads[i]);
        good = mg_call(run) && (bits ? mg_expect(run, "c", bits, NULL) : expect_product(run, &p));
        if (good && !bits)
            bits = mg_lift(mg_result(run, "c"), span_c(&dims));
    }
    free(bits);
    return good;
}

void mg_01_threads(mg_run *run, const void *one_case)
{
    (void)one_case;
    for (int t = 0; t < 6; t++) {
        int64_t M = mg_pick(mg_rng(run), 1, 400), N = mg_pick(mg_rng(run), 1, 400), K = mg_pick(mg_rng(run), 1, 900);
        if (!check_threads(run, tight(M, N, K, t & 1, t >> 1 & 1)))
            return;
    }
}

/* ---- races ---------------------------------------------------------------------------------- */

static product racing; /* the call described last; the checker races one pair at a time */

/* The side of a square matrix that no cache of this machine holds: an eighth more than the last one, 64 MiB at most. */
static int64_t out_of_cache(void)
{
    double bytes = (double)mt_max(sysconf(_SC_LEVEL3_CACHE_SIZE), 16 << 20);
    return mt_min(4096, (int64_t)(sqrt(1.125 * bytes / sizeof(float)) / 64) * 64 + 64);
}

static void describe_race(mg_run *run, const void *one_case, const char *function)
{
    const matmul_race *c = one_case;
    int64_t N = c->N ? c->N : out_of_cache(), K = c->K ? c->K : out_of_cache();
    racing = (product){ .dims = tight(c->M, N, K, MT_NO_TRANS, MT_NO_TRANS) };
    mg_begin(run, function);
    mg_out(run, "c", MT_F32, MT_SHAPE(span_c(&racing.dims)));
    describe_inputs(run, &racing);
    send_dims(run, &racing.dims);
}

static bool verify_race(mg_run *run, const void *one_case)
{
    (void)one_case;
    return expect_product(run, &racing);
}

void mg_01_race(mg_run *run, const void *one_case)
{
    const matmul_race *c = one_case;
    const mg_race race = { c->bar, c->ours, c->theirs, c->against, c->threads, describe_race, verify_race };
    mg_perf(run, &race, one_case);
}
