/* 06-reductions.c -- sums, row sums, row maxima and histograms on the device: signatures, oracles, edges and what is
 * counted. Rows: 06-cuda.c. Sums are of numbers whose sum is exact, but where the order of additions is asked for. */
#include "checks/06-cuda.h"
#include "checks/oracle.h"
#include "cuda/kernels_cuda.h"

#include <math.h>
#include <string.h>

/* The sums of equal parts of x. */
static void add_up(mg_trial *t, int x, int64_t part)
{
    const bool rounded = t->dist.kind == MG_DIST_NORMAL && t->dist.b;
    for (int64_t i = 0; i < mg_count_of(t, x); i++) {
        t->v[0][i / part] += t->x[x][i];
        t->e[0][i / part] += rounded ? mg_gamma(part) * fabs(t->x[x][i]) : 0;
    }
}

/* ---- the sum of everything ----------------------------------------------------------------------- */

static void sum(mg_trial *t)
{
    add_up(t, 2, t->size[0]);
}

static void sum_special(mg_trial *t)
{
    mg_nan_at(t, 2);
    for (int64_t i = 0; i < t->size[0] && t->place == 0; i++)
        t->f[2][i] = isnan(t->f[2][i]) ? INFINITY : t->f[2][i];
}

#define SUM(name)                                                                              \
    { .function = "mt_sum_" name "_cuda",                                                      \
      .sizes = "n",                                                                            \
      .operand = { MG_WRITTEN("out", "1"), MG_SCRATCH("partial", "1024"), MG_READ("x", "n") }, \
      .oracle = sum,                                                                           \
      .nan = sum_special,                                                                      \
      .dist = SIXTEENTHS }
const mg_kernel mg_06_tree_sum = SUM("interleaved"), mg_06_sequential_sum = SUM("sequential"),
                mg_06_shuffled_sum = SUM("shuffle");

/* One block for all elements, or for most, leaves the device idle. */
static bool many_blocks(mg_trial *t)
{
    enum { ATOMICS = 2, FEWEST = 8 };
    const mg_device_report *r = mg_device_counts(t->run);
    bool atomics = r->global[ATOMICS].requests > 0;
    if (mg_device_share(t->run, 4.0 * (double)t->size[0]) >= FEWEST && r->launches == 2 && !atomics)
        return true;
    return mg_fail(t->run,
                   "%lld launches with %lld blocks, of which one accesses %lld bytes%s: the first launch divides the "
                   "elements among many blocks, the second has one",
                   (long long)r->launches, (long long)r->blocks, (long long)r->busiest,
                   atomics ? ", and atomics on global memory" : "");
}

const mg_special mg_06_many[] = {
    { "two launches",
      "the header says \"Two launches: blocks store their sums in partial, then one block sums these. No "
      "atomics\"",
      { 300001 },
      .after = many_blocks },
    { "more elements than threads",
      "each thread adds all its elements, and advances by the number of threads of the grid",
      { 287003 } },
    { 0 },
};

/* What the counts of the sum are divided by: a unit may have fewer blocks than one for 256 elements, but then each adds
 * more. Idle blocks, and blocks that exit while one works, are no share. */
void mg_06_credit_sum(mg_run *run, const mg_kernel_row *row)
{
    /* The wavefronts of the tree: 8 warps store their values; a level costs 3 for each of its warps, and these are
     * 4, 2, 1, 1 ...; all warps read the result. */
    enum { TREE = 8 + 3 * (4 + 2 + 1 + 5) + 8 };
    const double n = (double)row->size[0], blocks = fmin(n / 256, mg_device_share(run, 4 * n)) + 1; /* and the second */
    mg_device_credit(run, row->count, blocks * (row->count == MG_CONFLICTS ? TREE : 1));
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static void row_sum(mg_trial *t)
{
    add_up(t, 1, t->size[1]);
}

static void row_sum_special(mg_trial *t)
{
    mg_nan_at(t, 1);
    t->f[1][mt_rng_below(mg_rng(t->run), mg_count_of(t, 1))] = INFINITY;
}

/* The maximum with a NaN is NaN, shown without its sign. */
static void row_max(mg_trial *t)
{
    for (int64_t i = 0; i < mg_count_of(t, 1); i++) {
        double *max = &t->v[0][i / t->size[1]], before = i % t->size[1] ? *max : -INFINITY, x = t->x[1][i];
        *max = isnan(x) || isnan(before) ? (double)NAN : fmax(x, before);
    }
}

/* NaN and infinities, and rows of -inf; -NaN is the least of all as an integer. */
void mg_06_spoil(mg_trial *t)
{
    static const float special[] = { NAN, INFINITY, -INFINITY };
    mt_rng *rng = mg_rng(t->run);
    const int64_t N = t->size[0], C = t->size[1];
    for (int64_t n = 0; n < N; n++) {
        float *row = t->f[1] + n * C;
        for (int64_t c = 0; n % 4 == 3 && c < C; c++)
            row[c] = -INFINITY;
        row[mt_rng_below(rng, C)] = special[n % 3];
        if (n % 5 == 4)
            row[mt_rng_below(rng, C)] = -NAN;
    }
}

#define ROWS(name, ...)                                          \
    { .function = "mt_row_" name "_cuda",                        \
      .sizes = "NC",                                             \
      .operand = { MG_WRITTEN("out", "N"), MG_READ("x", "NC") }, \
      .grid = "N",                                               \
      __VA_ARGS__ }
const mg_kernel mg_06_row_sum = ROWS("sum", .oracle = row_sum, .nan = row_sum_special, .dist = SIXTEENTHS);
/* Most rows have no positive element. */
const mg_kernel mg_06_row_max = ROWS("max", .oracle = row_max, .dist = NORMAL(-4, 1), .least = { 0, 1 });

/* ---- histograms ---------------------------------------------------------------------------------------- */

/* Counts before the call, most beyond 32 bits; in half the calls the next addition carries into these. */
static void describe_counts(mg_trial *t, int i)
{
    int64_t *count = mg_inout(t->run, "count", MT_I64, MT_SHAPE(MT_HISTOGRAM_BINS));
    const int64_t full = mt_rng_below(mg_rng(t->run), 2) ? UINT32_MAX : 0;
    t->v[i] = mg_doubles(MT_HISTOGRAM_BINS);
    t->e[i] = mg_doubles(MT_HISTOGRAM_BINS);
    for (int64_t v = 0; v < MT_HISTOGRAM_BINS; v++)
        t->v[i][v] = (double)(count[v] = mt_rng_below(mg_rng(t->run), (int64_t)1 << 40) | full);
}

static void describe_bytes(mg_trial *t, int i)
{
    uint8_t *x = t->data[i] = mg_in(t->run, "x", MT_U8, MT_SHAPE(t->size[0]));
    for (int64_t k = 0; k < t->size[0]; k++)
        x[k] = (uint8_t)mt_rng_u32(mg_rng(t->run));
}

void mg_06_one_value(mg_trial *t)
{
    memset(t->data[1], (int)mt_rng_below(mg_rng(t->run), MT_HISTOGRAM_BINS), (size_t)t->size[0]);
}

static void histogram(mg_trial *t)
{
    for (int64_t i = 0; i < t->size[0]; i++)
        t->v[0][((const uint8_t *)t->data[1])[i]]++;
}

#define HISTOGRAM(name)                                                   \
    { .function = "mt_histogram_" name "_cuda",                           \
      .sizes = "n",                                                       \
      .operand = { MG_ADDED("count", "256", .describe = describe_counts), \
                   MG_READ("x", "n", .describe = describe_bytes) },       \
      .oracle = histogram }
const mg_kernel mg_06_histogram = HISTOGRAM("global"), mg_06_private_histogram = HISTOGRAM("private");
const mg_special mg_06_full_count[] = {
    { "more than 32 elements for a thread of 1,024 blocks", NULL, { 32 * 262147 } },
    { 0 },
};

void mg_06_credit_atomics(mg_run *run, const mg_kernel_row *row)
{
    mg_device_credit(run, row->count, (double)row->size[0]);
}
