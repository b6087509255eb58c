/* 01-run.c -- how the checks of lab 01 run: products of awkward sizes against the double-precision oracle, bytes moved,
 * and races. The rows and their points are in 01-matmul.c. */
#include "checks/01-matmul.h"
#include "checks/fill.h"
#include "checks/product.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- one product ---------------------------------------------------------------------------- */

static bool check_product(mg_run *run, const char *function, mt_matmul_dims dims, const char *hint)
{
    mg_product p = { .dims = dims };
    mg_product_describe(run, function, &p);
    return mg_call(run) && mg_product_expect(run, &p, hint);
}

/* A size below 0, or a leading dimension one too small, must abort, the latter also where another size is 0. */
static bool check_refused(mg_run *run, const matmul_case *c)
{
    char function[64];
    snprintf(function, sizeof function, "may abort: %s", c->function);
    for (int t = 0; t < 9; t++) {
        mg_product p = { .dims = mg_product_tight(6, 5, 4, c->about == MM_TRANS, c->about == MM_TRANS) };
        mt_matmul_dims *d = &p.dims;
        int64_t *const field[] = { &d->M, &d->N, &d->K, &d->lda, &d->ldb, &d->ldc };
        int too_small = t < 6 ? t : t != 7 ? 5 : c->about == MM_TRANS ? 4 : 3; /* ldc, or the one that is at least K */
        *field[too_small] = t < 3 ? -1 : *field[too_small] - 1;
        if (t >= 6)
            *field[t - 6] = 0;
        mg_product_describe(run, function, &p);
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        if (!mg_call(run))
            return false;
        if (*(const int64_t *)mg_result(run, "aborted") == 1)
            continue;
        mg_hint(run,
                "call mt_matmul_dims_check first, as mt_product_of does: the header says \"Aborts: a negative size "
                "or a leading dimension too small\"");
        mg_fail(run, "M=%lld N=%lld K=%lld lda=%lld ldb=%lld ldc=%lld was accepted", (long long)d->M, (long long)d->N,
                (long long)d->K, (long long)d->lda, (long long)d->ldb, (long long)d->ldc);
        return false;
    }
    return true;
}

/* Products far from 1, none of which underflows, and zeros that meet a NaN or an infinity: the oracle has NaN there. */
static bool check_numbers(mg_run *run, const char *function)
{
    static const float factor[][2] = { { 0x1p60f, 0x1p50f }, { 0x1p-40f, 0x1p-40f }, { 1, 1 } };
    enum { M = 30, N = 37, K = 20 };
    for (int t = 0; t < MT_COUNT(factor); t++) {
        mg_product p = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_NO_TRANS) };
        mg_product_describe(run, function, &p);
        float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
        for (int64_t i = 0; i < M * K; i++)
            a[i] *= factor[t][0];
        for (int64_t i = 0; i < K * N; i++)
            b[i] *= factor[t][1];
        if (factor[t][0] == 1) {
            a[2 * K + 3] = 0;
            for (int64_t i = 0; i < M; i++) /* alone it may become NaN, too: in a compensated sum, inf - inf */
                a[i * K + 5] = 0;
            b[3 * N + 4] = NAN;
            b[5 * N + 7] = INFINITY;
        }
        if (!mg_call(run) ||
            !mg_product_expect(run, &p,
                               factor[t][0] == 1
                                   ? "0 times NaN or infinity is NaN: no product may be left out, and NaN stays NaN"
                                   : "numbers of 1e-24 or 1e33 are as good as others: nothing may be cut off"))
            return false;
    }
    return true;
}

/* ---- rows of values ------------------------------------------------------------------------- */

/* First a product of whole tiles and vectors, then one with a rest in one dimension only, so that a failure shows in
 * which dimension the error is. */
static const struct {
    int64_t shape[3];
    const char *hint;
} rests[] = {
    { { 168, 64, 32 }, NULL },
    { { 173, 64, 32 }, "only M has a rest (K and N are whole tiles and vectors): the last rows of A and C" },
    { { 168, 69, 32 }, "only N has a rest (M and K are whole tiles and vectors): the last columns of B and C" },
    { { 168, 64, 35 }, "only K has a rest (M and N are whole tiles): the last terms of each sum, also in packing" },
};

/* Sizes that every row tries, -1 for a random one: 0, 1, vectors, and one dimension longer than any block of a
 * kernel. The other dimensions are then small, so that the tolerance is small too. The row of writing overwrites C in
 * four of them and adds to it in the next four, so K = 0 comes twice: C becomes 0, or stays as it is. */
static const int64_t shapes[][3] = {
    /* M, N, K */
    { 1, 1, 1 },     { 0, 5, 7 },    { 5, 0, 7 },    { 6, 5, 0 },       { -1, -1, -1 },  { 1, -1, -1 },
    { -1, 1, -1 },   { -1, -1, 1 },  { 16, 16, 16 }, { 17, 31, 33 },    { 63, 65, 64 },  { -1, -1, -1 },
    { 3, 4231, 5 },  { 2137, 3, 5 }, { 5, 7, 4099 }, { 129, 257, 131 }, { 14, 32, 7 },   { 13, 48, 256 },
    { 301, 97, 43 }, { -1, -1, -1 }, { 6, 5, 0 },    { 70001, 3, 2 },   { 2, 70001, 3 }, { 3, 2, 70001 },
};

static int64_t size_or_random(mt_rng *rng, int64_t size)
{
    return size >= 0 ? size : mg_pick_size(rng, 1, 80);
}

static mt_matmul_dims vary(mt_rng *rng, matmul_about about, const int64_t shape[3], int t)
{
    int64_t M = size_or_random(rng, shape[0]), N = size_or_random(rng, shape[1]), K = size_or_random(rng, shape[2]);
    int trans = about == MM_TRANS ? 1 + t % 3 : about == MM_STRIDES ? t % 4 : 0;
    mt_matmul_dims d = mg_product_tight(M, N, K, trans & 1, trans >> 1);
    if (about == MM_STRIDES) {
        d.lda += mg_pick(rng, 1, 9);
        d.ldb += mg_pick(rng, 1, 9);
        d.ldc += mg_pick(rng, 1, 9);
        d.write = t / 4 % 2 ? MT_ACCUMULATE : MT_OVERWRITE;
    }
    return d;
}

/* Once more, at addresses that are not multiples of 16, and after a call with other numbers there. Rows of whole
 * vectors: such arrays begin at multiples of 64 bytes otherwise, as they begin or end with a page. */
static bool check_again(mg_run *run, const matmul_case *c)
{
    static const int64_t whole[][3] = { { 5, 64, 32 }, { 6, 32, 64 }, { 7, 128, 48 }, { 9, 48, 128 } };
    char function[64];
    snprintf(function, sizeof function, "%s again", c->function);
    for (int t = 0; t < MT_COUNT(whole); t++)
        if (!check_product(run, function, vary(mg_rng(run), c->about, whole[t], t),
                           "the second call with these arrays, whose numbers changed; they begin 4 bytes behind a "
                           "multiple of 16: pointers need no alignment beyond a float's, and no result may be kept"))
            return false;
    return true;
}

/* A product of square matrices after all other forms of one (plain and transposed, tight and with gaps, overwritten and
 * added), which are searched for data races. */
static bool check_forms(mg_run *run, const char *function)
{
    const int64_t n = mg_pick(mg_rng(run), 13, 19);
    mg_product p = { .dims = mg_product_tight(n, n, n, MT_NO_TRANS, MT_NO_TRANS) };
    char name[64];
    snprintf(name, sizeof name, "%s in all forms", function);
    p.dims.lda += 3, p.dims.ldb += 2;
    mg_product_describe(run, name, &p);
    return mg_shared_call(run) && mg_product_expect(run, &p, NULL);
}

static bool check_values(mg_run *run, const matmul_case *c)
{
    for (int t = 0; t < MT_COUNT(rests); t++)
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, rests[t].shape, 3), rests[t].hint))
            return false;
    for (int t = 0; t < MT_COUNT(shapes); t++) {
        mt_matmul_dims dims = vary(mg_rng(run), c->about, shapes[t], t);
        const char *hint = dims.K > 0                   ? NULL
                           : dims.write == MT_OVERWRITE ? "K = 0: a sum of no products is 0, so C must be set to 0"
                                                        : "K = 0: nothing is added, so C must stay as it is";
        if (!check_product(run, c->function, dims, hint))
            return false;
    }
    return check_again(run, c) && (c->about == MM_STRIDES || check_refused(run, c)) &&
           (c->about != MM_SIZES || (check_numbers(run, c->function) && check_forms(run, c->function)));
}

void mg_01_values(mg_run *run, const void *one_case)
{
    check_values(run, one_case);
}

/* Larger than a block in every dimension, too, so that several blocks are needed. */
void mg_01_blocks(mg_run *run, const void *one_case)
{
    const matmul_case *c = one_case;
    if (!check_values(run, c))
        return;
    const int64_t large[] = { mg_pick(mg_rng(run), 570, 640), mg_pick(mg_rng(run), 290, 330),
                              mg_pick(mg_rng(run), 520, 1100) };
    for (int t = 3; t < 6; t += 2) /* plain or transposed; overwriting, then accumulating if the row tests that */
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, large, t), NULL))
            return;
    /* Several blocks of N, of M and K, or of M and N together, and a B of more than the 8 MiB of a stack. */
    static const int64_t long_ones[][3] = { { 3, 1100, 300 }, { 1200, 8, 300 }, { 1200, 300, 64 }, { 2, 1500, 1501 } };
    for (int t = 0; t < MT_COUNT(long_ones) - (c->about != MM_SIZES); t++)
        if (!check_product(run, c->function, vary(mg_rng(run), c->about, long_ones[t], t), NULL))
            return;
}

/* ---- threads -------------------------------------------------------------------------------- */

/* The same product with each number of threads, more of them where it adds: all must give the bits of the first
 * answer. */
static bool check_threads(mg_run *run, mt_matmul_dims dims)
{
    static const int threads[] = { 1, 2, 3, 5, 7, 17 };
    const int counts = dims.write == MT_ACCUMULATE ? MT_COUNT(threads) : 4;
    const mt_rng start = *mg_rng(run);
    double *bits = NULL;
    bool good = true;
    for (int i = 0; i < counts && good; i++) {
        mg_product p = { .dims = dims };
        *mg_rng(run) = start;
        mg_product_describe(run, "mt_matmul_parallel_cpu", &p);
        mg_threads(run, threads[i]);
        good = mg_call(run) && (bits ? mg_expect(run, "c", bits, NULL) : mg_product_expect(run, &p, NULL));
        if (good && !bits)
            bits = mg_lift(mg_result(run, "c"), mg_product_span(&dims));
    }
    free(bits);
    return good;
}

/* A product of several threads, searched for data races. */
static bool check_sharing(mg_run *run)
{
    mt_rng *rng = mg_rng(run);
    mg_product p = { .dims =
                         mg_product_tight(mg_pick(rng, 90, 120), mg_pick(rng, 90, 120), mg_pick(rng, 150, 200), 0, 0) };
    mg_product_describe(run, "mt_matmul_parallel_cpu", &p);
    return mg_shared_call(run) && mg_product_expect(run, &p, NULL);
}

/* A call may get fewer threads than it asks for, and leaves their number as it was. */
static void check_teams(mg_run *run)
{
    mg_product p = { .dims = mg_product_tight(190, 150, 170, 0, 0) };
    const int threads = 3;
    mg_product_describe(run, "mt_matmul_parallel_cpu in a team", &p);
    mg_threads(run, threads);
    if (!mg_call(run) || !mg_product_expect(run, &p,
                                            "called in a parallel region, where a team has one thread: all parts must "
                                            "be computed by the threads that there are, as with `omp for`"))
        return;
    mg_begin(run, "threads left by mt_matmul_parallel_cpu");
    mg_out(run, "threads", MT_I64, MT_SHAPE(3));
    mg_threads(run, threads);
    mg_hint(run, "omp_set_num_threads changes all later parallel regions: use the clause num_threads");
    if (mg_call(run))
        mg_expect(run, "threads", (double[]){ threads, threads, threads }, NULL);
}

void mg_01_threads(mg_run *run, const void *one_case)
{
    (void)one_case;
    /* Long sums. One or two vectors and a column: divided, the parts have other remainders. */
    static const int64_t long_sums[][3] = { { 5, 7, 70001 }, { 9, 17, 9001 }, { 29, 33, 9001 } };
    if (!check_sharing(run))
        return;
    for (int t = 0; t < MT_COUNT(long_sums); t++)
        if (!check_threads(run, mg_product_tight(long_sums[t][0], long_sums[t][1], long_sums[t][2], 0, 0)))
            return;
    for (int t = 0; t < 6; t++) {
        int64_t M = mg_pick(mg_rng(run), 1, 400), N = mg_pick(mg_rng(run), 1, 400), K = mg_pick(mg_rng(run), 1, 900);
        if (!check_threads(run, mg_product_tight(M, N, K, t & 1, t >> 1 & 1)))
            return;
    }
    mt_matmul_dims added = mg_product_tight(150, 130, 500, MT_NO_TRANS, MT_NO_TRANS);
    added.ldc += 5;
    added.write = MT_ACCUMULATE;
    if (check_threads(run, added))
        check_teams(run);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* What is counted. Of a cache of 32 KiB: B takes 3.8 MiB; a row of C, and one line of each row of A, stay in it, a
 * column of B does not. Of 1 MiB: B and C take 1.2 MiB each, so that neither stays there as a whole. */
static mt_matmul_dims counted(mg_cache cache)
{
    return cache == MG_L1 ? mg_product_tight(16, 1009, 983, MT_NO_TRANS, MT_NO_TRANS)
                          : mg_product_tight(83, 4001, 79, MT_NO_TRANS, MT_NO_TRANS);
}

void mg_01_traffic(mg_run *run, const void *one_case)
{
    const matmul_count *c = one_case;
    mg_product p = { .dims = counted(c->cache) };
    int64_t M = p.dims.M, N = p.dims.N, K = p.dims.K, least = M * K + K * N + 2 * M * N; /* C is fetched and written */
    mg_product_describe(run, c->function, &p);
    mg_flops(run, 2.0 * (double)(M * N * K));
    if (mg_traffic_call(run, c->cache) && mg_product_expect(run, &p, NULL))
        mg_traffic_credit(run, c->bar, (double)least * sizeof(float));
}

/* ---- races ---------------------------------------------------------------------------------- */

void mg_01_race(mg_run *run, const void *one_case)
{
    const matmul_race *c = one_case;
    mg_product_race(run, (mg_race){ c->bar, c->ours, c->theirs, c->against, c->threads, NULL, NULL }, c->M, c->N, c->K,
                    MT_F32);
}
