/* 06-reductions.c -- how the checks of sums, row sums, row maxima and histograms run. Rows: 06-cuda.c.
 * All comparisons are exact: the sums of these numbers are exact in any order. */
#include "checks/06-cuda.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "cuda/kernels_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the sum of everything ----------------------------------------------------------------------- */

enum { BLOCK = 256 }; /* MT_THREADS of cuda/launch.cuh, which only .cu files can include */

static bool sum(mg_run *run, const cuda_case *c, int64_t n)
{
    mg_begin(run, c->function);
    mg_hint(
        run, "%s",
        n > MT_SUM_BLOCKS * BLOCK
            ? "there are more elements than threads: each thread adds all its elements, and advances by the number of "
              "threads of the grid"
            : c->head.hint);
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(1));
    mg_out(run, "partial", MT_F32, MT_SHAPE(MT_SUM_BLOCKS));
    float *x = mg_06_sixteenths(run, "x", MT_SHAPE(n));
    mg_i64(run, "n", n);
    if (n == 1009 || n == 2048) /* and so is the sum */
        x[n / 2] = n == 1009 ? NAN : INFINITY;
    for (int64_t i = 0; i < n; i++)
        out.v[0] += x[i];
    return mg_call_and_judge(run, &out, 1);
}

/* The sum of numbers that is rounded. In another order of 79 blocks it has the same bits in one of ten calls. */
static bool rounded_sum(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    int64_t n = N * C;
    mg_begin(run, c->function);
    mg_hint(run, "%s", c->head.hint);
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(1));
    mg_out(run, "partial", MT_F32, MT_SHAPE(MT_SUM_BLOCKS));
    const float *x = mg_input(run, "x", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "n", n);
    for (int64_t i = 0; i < n; i++) {
        out.v[0] += x[i];
        out.e[0] += mg_gamma(n) * fabs((double)x[i]);
    }
    return mg_call_and_judge(run, &out, 1);
}

/* One block for all elements, or for most, leaves the device idle. */
static bool many_blocks(mg_run *run, int64_t n)
{
    enum { ATOMICS = 2, FEWEST = 8 };
    const mg_device_report *r = mg_device_counts(run);
    bool atomics = r->global[ATOMICS].requests > 0;
    if (mg_device_share(run, 4.0 * (double)n) >= FEWEST && r->launches == 2 && !atomics)
        return true;
    mg_hint(run, "the header says \"Two launches: blocks store their sums in partial, then one block sums these. No "
                 "atomics\"");
    return mg_fail(run,
                   "%lld launches with %lld blocks, of which one accesses %lld bytes%s: the first launch divides the "
                   "elements among many blocks, the second has one",
                   (long long)r->launches, (long long)r->blocks, (long long)r->busiest,
                   atomics ? ", and atomics on global memory" : "");
}

/* What the counts of the sum are divided by: a unit may have fewer blocks than one for 256 elements, but then each adds
 * more. Idle blocks, and blocks that exit while one works, are no share. */
static void count_sum(mg_run *run, const cuda_case *c)
{
    enum { BLOCKS = MG_06_COUNTED / 256 };
    /* The wavefronts of the tree: 8 warps store their values; a level costs 3 for each of its warps, and these are
     * 4, 2, 1, 1 ...; all warps read the result. */
    enum { TREE = 8 + 3 * (4 + 2 + 1 + 5) + 8 };
    double bytes = 4.0 * MG_06_COUNTED, blocks = fmin(BLOCKS, mg_device_share(run, bytes)) + 1; /* and the second */
    mg_device_credit(run, c->count,
                     c->count == MG_WAVEFRONTS  ? blocks
                     : c->count == MG_CONFLICTS ? blocks * TREE
                                                : bytes);
}

void mg_06_sum(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about == CU_MANY) {
        if (sum(run, c, 300001) && many_blocks(run, 300001))
            sum(run, c, mg_pick(mg_rng(run), 262145, 300000)); /* in descending order */
    } else if (c->about != CU_COUNT) {
        bool good = mg_06_sizes(run, c, sum, MG_06_MANY);
        for (int t = 0; t < 8 && good; t++)
            good = mg_06_again(run, c, rounded_sum, 11, 1819);
    } else if (sum(run, c, MG_06_COUNTED)) {
        count_sum(run, c);
    }
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static bool row_sum(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    (void)c;
    mg_begin(run, "mt_row_sum_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N));
    float *x = mg_06_sixteenths(run, "x", MT_SHAPE(N, C));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (N == 31)
        x[C - 1] = NAN, x[2 * C - 1] = INFINITY;
    for (int64_t i = 0; i < N * C; i++)
        out.v[i / C] += x[i];
    return mg_call_and_judge(run, &out, 1);
}

/* Sums of numbers that are rounded. */
static bool rounded_row_sum(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    (void)c;
    mg_begin(run, "mt_row_sum_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N));
    const float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    for (int64_t i = 0; i < N * C; i++) {
        out.v[i / C] += x[i];
        out.e[i / C] += mg_gamma(C) * fabs((double)x[i]);
    }
    return mg_call_and_judge(run, &out, 1);
}

/* The maximum with a NaN is NaN, shown without its sign. */
static double larger(double a, double b)
{
    return isnan(a) ? (double)NAN : a > b ? a : b;
}

static void spoil(mt_rng *rng, float *x, int64_t N, int64_t C)
{
    static const float special[] = { NAN, INFINITY, -INFINITY };
    for (int64_t n = 0; n < N; n++) {
        float *row = x + n * C;
        for (int64_t c = 0; n % 4 == 3 && c < C; c++) /* the whole row */
            row[c] = -INFINITY;
        row[mt_rng_below(rng, C)] = special[n % 3];
        if (n % 5 == 4)
            row[mt_rng_below(rng, C)] = -NAN; /* the least of all as an integer */
    }
}

static bool row_max(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    mg_begin(run, "mt_row_max_cuda");
    mg_answer out = mg_overwritten(run, "out", MT_SHAPE(N));
    float *x = mg_input(run, "x", MT_SHAPE(N, C), (mg_dist)NORMAL(-4, 1)); /* most rows have no positive element */
    mg_i64(run, "N", N);
    mg_i64(run, "C", C);
    if (c->about == CU_SPECIAL)
        spoil(mg_rng(run), x, N, C);
    for (int64_t i = 0; i < N * C; i++)
        out.v[i / C] = larger(x[i], i % C ? out.v[i / C] : -INFINITY);
    return mg_call_and_judge(run, &out, 1);
}

static bool row_sum_and_max(mg_run *run, const cuda_case *c, int64_t N, int64_t C)
{
    return row_sum(run, c, N, C) && row_max(run, c, N, C);
}

void mg_06_row_sum_and_max(mg_run *run, const void *one_case)
{
    if (row_sum(run, one_case, 3, 0) && /* an empty sum is 0 */
        mg_06_shapes(run, one_case, row_sum_and_max, MG_06_WARPS) &&
        mg_06_again(run, one_case, rounded_row_sum, 31, 1025))
        (void)(mg_06_many_rows(run, "mt_row_sum_cuda", "out x") && mg_06_many_rows(run, "mt_row_max_cuda", "out x"));
}

void mg_06_row_max(mg_run *run, const void *one_case)
{
    if (mg_06_shapes(run, one_case, row_max, 0))
        mg_06_refuse(run, "mt_row_max_cuda", "out x");
}

void mg_06_row_sum(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (row_sum(run, c, MG_06_ROWS, MG_06_COLS))
        mg_device_credit(run, c->count, 4.0 * MG_06_ROWS * MG_06_COLS);
}

/* ---- histograms ---------------------------------------------------------------------------------------- */

static bool histogram(mg_run *run, const cuda_case *c, int64_t n)
{
    bool one_value = c->about == CU_ONE_VALUE;
    mg_begin(run, c->function);
    int64_t *count = mg_inout(run, "count", MT_I64, MT_SHAPE(MT_HISTOGRAM_BINS));
    uint8_t *x = mg_in(run, "x", MT_U8, MT_SHAPE(n)), value = (uint8_t)mt_rng_u32(mg_rng(run));
    mg_answer counts = { "count", mg_doubles(MT_HISTOGRAM_BINS), mg_doubles(MT_HISTOGRAM_BINS), MT_HISTOGRAM_BINS };
    mg_i64(run, "n", n);
    bool full = mt_rng_below(mg_rng(run), 2);       /* in the lower 32 bits: the next addition carries */
    for (int64_t v = 0; v < MT_HISTOGRAM_BINS; v++) /* counts before the call, most beyond 32 bits */
        counts.v[v] = (double)(count[v] = mt_rng_below(mg_rng(run), (int64_t)1 << 40) | (full ? UINT32_MAX : 0));
    for (int64_t i = 0; i < n; i++)
        counts.v[x[i] = one_value ? value : (uint8_t)mt_rng_u32(mg_rng(run))]++;
    return mg_call_and_judge(run, &counts, 1);
}

void mg_06_histogram(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    const int64_t counted = 262144;
    bool full =
        c->about == CU_ONE_VALUE && strstr(c->function, "private"); /* more than 32 for a thread of 1,024 blocks */
    if (c->about != CU_COUNT)
        mg_06_sizes(run, c, histogram, full ? 32 * MG_06_MANY : MG_06_MANY);
    else if (histogram(run, c, counted))
        mg_device_credit(run, c->count, (double)counted);
}
