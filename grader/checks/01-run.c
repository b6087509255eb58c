/* 01-run.c -- how the checks of lab 01 run: products of awkward sizes against the double-precision oracle, bytes moved,
 * and races. The rows and their points are in 01-matmul.c. */
#include "checks/01-matmul.h"
#include "checks/answer.h"
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

/* The same, searched for data races. */
static bool check_shared(mg_run *run, const char *function, mt_matmul_dims dims)
{
    mg_product p = { .dims = dims };
    mg_part(run, "several threads", NULL);
    mg_product_describe(run, function, &p);
    return mg_shared_call(run) && mg_product_expect(run, &p, NULL);
}

/* A size below 0, or a leading dimension one too small, must abort, the latter also where another size is 0. */
static bool check_refused(mg_run *run, const matmul_case *c)
{
    static const char *const part[] = { "a negative M", "a negative N", "a negative K",
                                        "a small lda",  "a small ldb",  "a small ldc" };
    const bool trans = c->about == MM_TRANS;
    const int least[] = { trans ? 0 : 2, trans ? 2 : 1, 1 }; /* the size that lda, ldb and ldc are at least */
    char function[64];
    snprintf(function, sizeof function, "may abort: %s", c->function);
    for (int wrong = 0; wrong < MT_COUNT(part); wrong++)
        for (int zero = -1; zero < (wrong < 3 ? 0 : 3); zero++) {
            mg_product p = { .dims = mg_product_tight(6, 5, 4, trans, trans) };
            mt_matmul_dims *d = &p.dims;
            int64_t *const field[] = { &d->M, &d->N, &d->K, &d->lda, &d->ldb, &d->ldc };
            if (wrong >= 3 && least[wrong - 3] == zero)
                continue;
            *field[wrong] = wrong < 3 ? -1 : *field[wrong] - 1;
            if (zero >= 0)
                *field[zero] = 0;
            mg_part(run, part[wrong], NULL);
            mg_product_describe(run, function, &p);
            mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
            if (!mg_refused(run, part[wrong], "a negative size or a leading dimension too small"))
                return false;
        }
    return true;
}

/* Products far from 1, none of which underflows, and zeros that meet a NaN or an infinity: the oracle has NaN there. */
static bool check_numbers(mg_run *run, const char *function)
{
#define AS_OTHERS "products of 1e-24 and 1e33 are ordinary numbers: set no small one to 0, and limit no large one"
    static const struct {
        const char *part, *hint;
        float a, b;
    } factor[] = {
        { "large numbers", AS_OTHERS, 0x1p60f, 0x1p50f },
        { "small numbers", AS_OTHERS, 0x1p-40f, 0x1p-40f },
        { "NaN and infinity", "0 times NaN or infinity is NaN: leave out no product, not even one with a factor of 0",
          1, 1 },
    };
    enum { M = 30, N = 37, K = 20 };
    for (int t = 0; t < MT_COUNT(factor); t++) {
        mg_product p = { .dims = mg_product_tight(M, N, K, MT_NO_TRANS, MT_NO_TRANS) };
        mg_part(run, factor[t].part, factor[t].hint);
        mg_product_describe(run, function, &p);
        float *a = (float *)p.a, *b = (float *)p.b; /* memory of the run, not yet sent */
        for (int64_t i = 0; i < M * K; i++)
            a[i] *= factor[t].a;
        for (int64_t i = 0; i < K * N; i++)
            b[i] *= factor[t].b;
        if (factor[t].a == 1) {
            a[2 * K + 3] = 0;
            for (int64_t i = 0; i < M; i++) /* alone it may become NaN, too: in a compensated sum, inf - inf */
                a[i * K + 5] = 0;
            b[3 * N + 4] = NAN;
            b[5 * N + 7] = INFINITY;
        }
        if (!mg_call(run) || !mg_product_expect(run, &p, factor[t].hint))
            return false;
    }
    return true;
}

/* ---- rows of values ------------------------------------------------------------------------- */

typedef struct sizes {
    const char *part, *hint;
    int64_t shape[10][3]; /* M, N, K, at least one above 0; -1: random */
} sizes;

/* First a product of whole tiles and vectors, then one with a remainder in one dimension only, so that a failure shows
 * in which dimension the error is. Where a dimension is long, the others are small, and so is the tolerance. */
static const sizes all_sizes[] = {
    { NULL, NULL, { { 168, 64, 32 } } },
    { "a remainder of rows",
      "only M is no multiple of the tiles (K and N are): look at the last rows of A and C",
      { { 173, 64, 32 } } },
    { "a remainder of columns",
      "only N is no multiple of the tiles and vectors (M and K are): look at the last columns of B and C",
      { { 168, 69, 32 } } },
    { "a remainder of terms",
      "only K is no multiple of the tiles (M and N are): look at the last terms of each sum, also in packing",
      { { 168, 64, 35 } } },
    { NULL,
      NULL,
      { { -1, -1, -1 },
        { -1, -1, -1 },
        { 16, 16, 16 },
        { 17, 31, 33 },
        { 63, 65, 64 },
        { 14, 32, 7 },
        { 13, 48, 256 },
        { 129, 257, 131 },
        { 301, 97, 43 } } },
    { "a dimension of 1", NULL, { { 1, 1, 1 }, { 1, -1, -1 }, { -1, 1, -1 }, { -1, -1, 1 } } },
    { "no rows or columns", NULL, { { 0, 5, 7 }, { 5, 0, 7 } } },
    { "no terms",
      "with K = 0 every sum is 0: MT_OVERWRITE makes C 0, and MT_ACCUMULATE adds nothing, so C must stay as it is",
      { { 6, 5, 0 } } },
    { "a long dimension", NULL, { { 3, 4231, 5 }, { 2137, 3, 5 }, { 5, 7, 4099 } } },
    { "a dimension above 65536", NULL, { { 70001, 3, 2 }, { 2, 70001, 3 }, { 3, 2, 70001 } } },
};

/* Products of these sizes in the forms of the row: A, B or both transposed; or any of them, overwriting and adding. */
static bool check_sizes(mg_run *run, const matmul_case *c, const char *function, const sizes *of, bool large)
{
    mt_rng *rng = mg_rng(run);
    const bool strides = c->about == MM_STRIDES;
    const int first = c->about == MM_TRANS, last = c->about == MM_SIZES ? 0 : 3;
    mg_part(run, of->part, NULL);
    for (const int64_t *shape = of->shape[0]; shape[0] || shape[1] || shape[2]; shape += 3)
        for (int form = 0; form < (strides ? 2 : large ? 1 : last - first + 1); form++) {
            const int trans = strides || large ? (int)mg_pick(rng, first, last) : first + form;
            int64_t size[3];
            for (int i = 0; i < 3; i++)
                size[i] = shape[i] >= 0 ? shape[i] : mg_pick_size(rng, 1, 80);
            mt_matmul_dims d = mg_product_tight(size[0], size[1], size[2], trans & 1, trans >> 1);
            if (strides) {
                d.lda += mg_pick(rng, 1, 9), d.ldb += mg_pick(rng, 1, 9), d.ldc += mg_pick(rng, 1, 9);
                d.write = form ? MT_ACCUMULATE : MT_OVERWRITE;
            }
            if (!check_product(run, function, d, of->hint))
                return false;
        }
    return true;
}

/* Once more, at addresses that are not multiples of 16, and after a call with other numbers there. Rows of whole
 * vectors: such arrays begin at multiples of 64 bytes otherwise, as they begin or end with a page. */
static bool check_again(mg_run *run, const matmul_case *c)
{
    static const sizes whole = {
        "the same arrays again",
        "this is the second call with these arrays, and their numbers changed: keep nothing from call to call; they "
        "begin 4 bytes after a multiple of 16: a pointer to float need not be aligned any better",
        { { 5, 64, 32 }, { 6, 32, 64 }, { 7, 128, 48 }, { 9, 48, 128 } }
    };
    char function[64];
    snprintf(function, sizeof function, "%s again", c->function);
    return check_sizes(run, c, function, &whole, false);
}

/* A product of square matrices after all other forms of one (plain and transposed, tight and with gaps, overwritten and
 * added). */
static bool check_forms(mg_run *run, const char *function)
{
    const int64_t n = mg_pick(mg_rng(run), 13, 19);
    char name[64];
    snprintf(name, sizeof name, "%s in all forms", function);
    return check_shared(run, name, (mt_matmul_dims){ n, n, n, n + 3, n + 2, n, 0, 0, MT_OVERWRITE });
}

static bool check_values(mg_run *run, const matmul_case *c)
{
    for (int t = 0; t < MT_COUNT(all_sizes); t++)
        if (!check_sizes(run, c, c->function, &all_sizes[t], false))
            return false;
    return check_again(run, c) && (c->about == MM_STRIDES || check_refused(run, c)) &&
           (c->about != MM_SIZES || (check_numbers(run, c->function) && check_forms(run, c->function)));
}

void mg_01_values(mg_run *run, const void *one_case)
{
    check_values(run, one_case);
}

/* Larger than a block in some dimensions, too, so that several blocks are needed. */
void mg_01_blocks(mg_run *run, const void *one_case)
{
    const sizes large = { "several blocks",
                          NULL,
                          { { mg_pick(mg_rng(run), 570, 640), mg_pick(mg_rng(run), 290, 330),
                              mg_pick(mg_rng(run), 520, 1100) },
                            { 3, 1100, 300 },
                            { 1200, 8, 300 },
                            { 1200, 300, 64 } } },
                stack = { "a B larger than a stack", NULL, { { 2, 1500, 1501 } } };
    const matmul_case *c = one_case;
    if (check_values(run, c) && check_sizes(run, c, c->function, &large, true))
        check_sizes(run, c, c->function, &stack, true);
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

/* A call may get fewer threads than it asks for, and leaves their number as it was. */
static void check_teams(mg_run *run)
{
    mg_product p = { .dims = mg_product_tight(190, 150, 170, 0, 0) };
    const int threads = 3;
    mg_part(run, "a call in a parallel region",
            "a parallel region inside another one has a single thread here: the threads that exist must compute all "
            "parts, as with `omp for`");
    mg_product_describe(run, "mt_matmul_parallel_cpu in a team", &p);
    mg_threads(run, threads);
    if (!mg_call(run) || !mg_product_expect(run, &p, NULL))
        return;
    mg_part(run, "the number of threads afterwards",
            "omp_set_num_threads changes the threads of all later parallel regions: use the clause num_threads");
    mg_begin(run, "threads left by mt_matmul_parallel_cpu");
    mg_out(run, "threads", MT_I64, MT_SHAPE(3));
    mg_threads(run, threads);
    if (mg_call(run))
        mg_expect(run, "threads", (double[]){ threads, threads, threads }, NULL);
}

void mg_01_threads(mg_run *run, const void *one_case)
{
    (void)one_case;
    /* One or two vectors and a column: divided, the parts have other remainders. */
    static const int64_t long_sums[][3] = { { 5, 7, 70001 }, { 9, 17, 9001 }, { 29, 33, 9001 } };
    mt_rng *rng = mg_rng(run);
    bool good =
        check_shared(run, "mt_matmul_parallel_cpu",
                     mg_product_tight(mg_pick(rng, 90, 120), mg_pick(rng, 90, 120), mg_pick(rng, 150, 200), 0, 0));
    mg_part(run, NULL, NULL);
    for (int trans = 0; trans < 4 && good; trans++)
        good = check_threads(run, mg_product_tight(mg_pick(rng, 1, 400), mg_pick(rng, 1, 400), mg_pick(rng, 1, 900),
                                                   trans & 1, trans >> 1));
    mg_part(run, "long sums", NULL);
    for (int t = 0; t < MT_COUNT(long_sums) && good; t++)
        good = check_threads(run, mg_product_tight(long_sums[t][0], long_sums[t][1], long_sums[t][2], 0, 0));
    mt_matmul_dims added = mg_product_tight(150, 130, 500, MT_NO_TRANS, MT_NO_TRANS);
    added.ldc += 5;
    added.write = MT_ACCUMULATE;
    mg_part(run, "MT_ACCUMULATE", NULL);
    if (good && check_threads(run, added))
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
