/* 13-topk.c -- how the checks of step 13.16 run: the largest elements. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "checks/worlds.h"
#include "rows/traffic.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define EPS 0x1p-24

enum { MOST = 300, ALL_GATHER = 2 /* as mt_collective_kind */ };

static float sum_of(const float *x, const float *error, int64_t i)
{
    return x[i] + error[i];
}

/* Which elements are sent: of equal sizes the first. */
static void choose(bool *sent, const float *x, const float *error, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t before = 0;
        for (int64_t j = 0; j < n; j++) {
            float other = fabsf(sum_of(x, error, j)), own = fabsf(sum_of(x, error, i));
            before += other > own || (other == own && j < i);
        }
        sent[i] = before < k;
    }
}

static void fill(mg_run *run, float *x, float *error, int64_t n, compress_about about)
{
    mg_fill(mg_rng(run), x, n, (mg_dist)MIXED(-10, 3));
    if (about != COMPRESS_FIRST && about != COMPRESS_TIES)
        mg_fill(mg_rng(run), error, n, (mg_dist)MIXED(-10, 3));
    for (int64_t i = 0; i < n && about == COMPRESS_TIES; i++)
        x[i] = (float)(mt_rng_below(mg_rng(run), 5) - 2);
}

/* As many elements as a model has, the largest of which are known. */
static bool pack_many(mg_run *run)
{
    enum { K = 7 };
    int64_t place[K], n = MG_13_MANY, at = 0;
    mg_begin(run, "mt_topk_pack");
    mg_as_called(run, "mt_topk_pack(index, value, error, x, n=%" PRId64 ", k=%d)", n, K);
    mg_i64(run, "k", K);
    mg_out(run, "index", MT_I32, MT_SHAPE(K));
    mg_out(run, "value", MT_F32, MT_SHAPE(K));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    for (int64_t i = 0; i < n; i++)
        error[i] = x[i] = mt_rng_uniform(mg_rng(run)) - 0.5f;
    for (int64_t j = 0; j < K; j++) { /* one in each stretch: their sizes are above 2, those of all others below 1 */
        place[j] = n / K * j + mt_rng_below(mg_rng(run), n / K);
        x[place[j]] = (float)(j % 2 ? -3 - j : 3 + j);
    }
    if (!mg_call(run))
        return false;
    const int32_t *index = mg_result(run, "index");
    const float *value = mg_result(run, "value"), *kept = mg_result(run, "error");
    for (int64_t i = 0; i < n; i++) {
        float v = sum_of(x, error, i);
        bool sent = at < K && place[at] == i;
        if (kept[i] == (sent ? 0 : v) && (!sent || (index[at] == i && value[at] == v))) {
            at += sent;
            continue;
        }
        if (sent)
            mg_fail(run,
                    "%d of %" PRId64 " elements: number %" PRId64 " is element %d, %.9g; expected %" PRId64 ", %.9g", K,
                    n, at, (int)index[at], (double)value[at], i, (double)v);
        else
            mg_fail(run, "%d of %" PRId64 " elements: error[%" PRId64 "] is %.9g, expected %.9g", K, n, i,
                    (double)kept[i], (double)v);
        return false;
    }
    return true;
}

/* Fewer than no elements, and more than there are, for which there is room. */
static void refuse(mg_run *run, int64_t k)
{
    int64_t n = mg_pick(mg_rng(run), 20, MOST);
    mg_begin(run, "may abort: mt_topk_pack");
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_inout(run, "index", MT_I32, MT_SHAPE(n + 1));
    mg_inout(run, "value", MT_F32, MT_SHAPE(n + 1));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    k = k < 0 ? k : n + k;
    mg_i64(run, "k", k);
    fill(run, x, error, n, COMPRESS_AGAIN);
    if (!mg_call(run) || *(const int64_t *)mg_result(run, "aborted") == 1)
        return;
    mg_fail(run, "%" PRId64 " of %" PRId64 " elements were accepted", k, n);
}

/* Few elements that are not zero, and some of these below the smallest normal number; or as many zeros. */
static const float few[] = { 0, -0.0f, 1e-40f, 0, 2, -0.0f, -1e-44f, 0, -2, 0, -0.0f, 1e-42f };

static void fill_few(float *x, float *error, bool zeros)
{
    for (int64_t i = 0; i < MT_COUNT(few); i++) {
        error[i] = signbit(few[i]) ? -0.0f : 0;
        x[i] = zeros ? error[i] : few[i];
    }
}

static bool judge_packed(mg_run *run, const float *x, const float *error, int64_t n, int64_t k)
{
    const int32_t *index = mg_result(run, "index");
    const float *value = mg_result(run, "value"), *kept = mg_result(run, "error");
    int64_t at = 0;
    bool sent[MOST];
    choose(sent, x, error, n, k);
    for (int64_t i = 0; i < n; i++) {
        float v = sum_of(x, error, i), want = sent[i] ? 0 : v;
        if (sent[i] && (index[at] != i || value[at] != v))
            return mg_fail(run,
                           "%" PRId64 " of %" PRId64 " elements: number %" PRId64
                           " is element %d, %.9g; expected %" PRId64 ", %.9g",
                           k, n, at, (int)index[at], (double)value[at], i, (double)v);
        at += sent[i];
        if (kept[i] != want)
            return mg_fail(run, "%" PRId64 " of %" PRId64 " elements: error[%" PRId64 "] is %.9g, expected %.9g", k, n,
                           i, (double)kept[i], (double)want);
    }
    return true;
}

/* Calls beside random ones: k of n elements; n is FEW or ZEROS, or a number. */
enum { FEW = -2, ZEROS, ALL = MT_COUNT(few) };
#define FEW_HINT   "3 of 5 elements that are not 0 are below the smallest normal number; -0 has the size of 0"
#define ZEROS_HINT "of equal sizes the first k are sent, each once: here all are 0 or -0"

static const struct pack_try {
    compress_about about;
    const char *part, *hint;
    int64_t n, k;
} pack_tries[] = {
    { COMPRESS_SIZES, "one element", NULL, 1, 1 },
    { COMPRESS_SIZES, "none of the elements", "k may be 0: then nothing is sent", 33, 0 },
    { COMPRESS_SIZES, "one of the elements", NULL, 33, 1 },
    { COMPRESS_SIZES, "all elements", "k may be n: then all are sent, and all errors are 0", 33, 33 },
    { COMPRESS_TIES, "few elements that are not 0", FEW_HINT, FEW, 3 },
    { COMPRESS_TIES, "few elements that are not 0", FEW_HINT, FEW, 7 },
    { COMPRESS_TIES, "few elements that are not 0", FEW_HINT, FEW, ALL },
    { COMPRESS_TIES, "only zeros", ZEROS_HINT, ZEROS, 0 },
    { COMPRESS_TIES, "only zeros", ZEROS_HINT, ZEROS, 5 },
    { COMPRESS_TIES, "only zeros", ZEROS_HINT, ZEROS, ALL },
};

static bool pack(mg_run *run, compress_about about, int64_t is, int64_t k)
{
    int64_t n = is < 0 ? ALL : is;
    mg_begin(run, "mt_topk_pack");
    mg_as_called(run, "mt_topk_pack(index, value, error, x, n=%" PRId64 ", k=%" PRId64 ")", n, k);
    mg_i64(run, "k", k);
    mg_out(run, "index", MT_I32, MT_SHAPE(k));
    mg_out(run, "value", MT_F32, MT_SHAPE(k));
    float *error = mg_inout(run, "error", MT_F32, MT_SHAPE(n)), *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    if (is < 0)
        fill_few(x, error, is == ZEROS);
    else
        fill(run, x, error, n, about);
    return mg_call(run) && judge_packed(run, x, error, n, k);
}

void mg_13_topk_pack(mg_run *run, const void *one_case)
{
    compress_about about = ((const compress_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < 4 && good && about != COMPRESS_SIZES; i++) {
        int64_t n = mg_pick(mg_rng(run), 20, MOST);
        good = pack(run, about, n, mg_pick(mg_rng(run), 1, n - 1));
    }
    for (const struct pack_try *t = pack_tries; t < pack_tries + MT_COUNT(pack_tries) && good; t++) {
        mg_part(run, t->part, t->hint ? "%s" : NULL, t->hint);
        good = t->about != about || pack(run, about, t->n, t->k);
    }
    if (!good || about != COMPRESS_SIZES)
        return;
    mg_part(run, "many elements", "an array of all elements does not fit on a stack");
    good = pack_many(run);
    mg_part(run, "refusals", "write or keep the MT_CHECK of k: the header says \"Aborts: not 0 <= k <= n\"");
    for (int64_t k = -1; k <= 1 && good; k += 2)
        refuse(run, k);
}

/* Whether a rank has called collective number k. Rows that are not used are 0, and no array is named to the hub. */
static bool is_called(mg_run *run, int64_t ranks, int64_t k)
{
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    bool is = false;
    for (int64_t r = 0; r < ranks; r++)
        is = is || row[r * MG_HUB_ROWS + k][MG_HUB_AT] == -1;
    return is;
}

/* Every rank returns the failure of collective number `fails`, and calls no other when it knows of that. */
static bool judge_failure(mg_run *run, int64_t ranks, int64_t fails)
{
    const int64_t *status = mg_result(run, "status");
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    for (int64_t r = 0; r < ranks; r++, row += MG_HUB_ROWS) {
        if (status[r] != MT_ERR_UNAVAILABLE) {
            mg_hint(run, "return the status of the collective that failed");
            return mg_fail(
                run, "collective %" PRId64 " of %" PRId64 " ranks failed, and rank %" PRId64 " returns status %" PRId64,
                fails, ranks, r, status[r]);
        }
        if (!row[fails + 1][MG_HUB_LATE]) /* or begun before, with a handle */
            continue;
        mg_hint(run, "call no further collective after one has failed");
        return mg_fail(run, "collective %" PRId64 " of %" PRId64 " ranks failed, and rank %" PRId64 " calls another",
                       fails, ranks, r);
    }
    return true;
}

/* What all ranks gather, seen by rank 0; one alone need not gather. */
static bool judge_gathered(mg_run *run, int64_t ranks, int64_t k)
{
    const int64_t(*row)[MG_HUB_COLUMNS] = mg_result(run, "rows");
    int64_t bytes = 0;
    for (int64_t i = 0; i < MG_HUB_ROWS; i++) /* of rank 0; rows that are not used are 0 */
        bytes += (row[i][MG_HUB_KIND] == ALL_GATHER) * row[i][MG_HUB_N] * mt_dtype_size((mt_dtype)row[i][MG_HUB_DTYPE]);
    bool good = bytes == 8 * k || (ranks == 1 && bytes == 0);
    if (!good)
        mg_fail(run, "rank 0 gathers %" PRId64 " bytes for %" PRId64 " elements, expected %" PRId64, bytes, k, 8 * k);
    return good;
}

static bool same_bits(mg_run *run, int64_t ranks, int64_t n)
{
    const float *got = mg_result(run, "data");
    for (int64_t r = 1; r < ranks; r++)
        if (memcmp(got, got + r * n, (size_t)n * sizeof *got) != 0)
            return mg_fail(run, "ranks 0 and %" PRId64 " have other bits", r);
    return true;
}

/* One call: data and error of all ranks, and what they should become. */
typedef struct means {
    int64_t ranks, n, k;
    bool bytes;                      /* of what is gathered are judged */
    float *data, *error;             /* [ranks,n] */
    double *want, *tolerance, *kept; /* [ranks,n] */
} means;

/* For more elements than can be compared with each other: any k of them have sizes above 2, all others below 1. */
static void fill_long(mt_rng *rng, bool *sent, float *x, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < n; i++) {
        float u = mt_rng_uniform(rng), sign = mt_rng_below(rng, 2) ? -1 : 1;
        sent[i] = mt_rng_below(rng, n - i) < k;
        k -= sent[i];
        x[i] = sign * (sent[i] ? 3 + u : u);
    }
}

/* The elements of rank r: what it sends, for the means of all; what it keeps. */
static void add_rank(mg_run *run, means *m, int64_t r)
{
    int64_t n = m->n;
    float *data = m->data + r * n, *error = m->error + r * n;
    bool *sent = calloc((size_t)n, sizeof *sent);
    MT_CHECK(sent, "out of memory");
    if (n > MOST) {
        fill_long(mg_rng(run), sent, data, n, m->k);
    } else {
        fill(run, data, error, n, COMPRESS_AGAIN);
        choose(sent, data, error, n, m->k);
    }
    for (int64_t i = 0; i < n; i++) {
        double v = (double)sum_of(data, error, i);
        m->kept[r * n + i] = sent[i] ? 0 : v;
        for (int64_t to = i; to < m->ranks * n && sent[i]; to += n) {
            m->want[to] += v / (double)m->ranks;
            m->tolerance[to] += (double)(m->ranks + 2) * EPS * fabs(v / (double)m->ranks);
        }
    }
    free(sent);
}

static bool judge_means(mg_run *run, const means *m, int64_t fails)
{
    if (fails >= 0 && is_called(run, m->ranks, fails))
        return judge_failure(run, m->ranks, fails);
    for (int64_t r = 0; r < m->ranks; r++)
        if (((const int64_t *)mg_result(run, "status"))[r] != MT_OK)
            return mg_fail(run, "rank %" PRId64 " of %" PRId64 " returns status %" PRId64, r, m->ranks,
                           ((const int64_t *)mg_result(run, "status"))[r]);
    return mg_expect(run, "data", m->want, m->tolerance) && mg_expect(run, "error", m->kept, NULL) &&
           same_bits(run, m->ranks, m->n) && (!m->bytes || judge_gathered(run, m->ranks, m->k));
}

static bool mean_of_largest(mg_run *run, int64_t ranks, int64_t n, int64_t k, int64_t fails, bool bytes, bool searched)
{
    int64_t all = ranks * n;
    means m = { ranks, n, k, bytes, .want = mg_doubles(all), .tolerance = mg_doubles(all), .kept = mg_doubles(all) };
    mg_begin(run, "mt_topk_all_reduce");
    mg_out(run, "status", MT_I64, MT_SHAPE(ranks));
    mg_inout(run, "rows", MT_I64, MT_SHAPE(ranks, MG_HUB_ROWS, MG_HUB_COLUMNS));
    mg_as_called(run, "mt_topk_all_reduce(comm, data, n=%" PRId64 ", k=%" PRId64 ", error) on %" PRId64 " ranks", n, k,
                 ranks);
    m.data = mg_inout(run, "data", MT_F32, MT_SHAPE(ranks, n));
    m.error = mg_inout(run, "error", MT_F32, MT_SHAPE(ranks, n));
    ((int64_t *)mg_in(run, "numbers", MT_I64, MT_SHAPE(MG_HUB_NUMBERS)))[MG_HUB_FAILS] = fails;
    mg_i64(run, "k", k);
    for (int64_t r = 0; r < ranks; r++)
        add_rank(run, &m, r);
    bool good = mg_ranks_call(run, searched) && judge_means(run, &m, fails);
    free(m.want);
    free(m.tolerance);
    free(m.kept);
    return good;
}

void mg_13_topk(mg_run *run, const void *one_case)
{
    enum { NONE = MG_WORLDS, FAIL_FIRST, FAIL_SECOND, LONG, LONGER, VALUES = ~(1 << COMPRESS_BYTES), BYTES = ~VALUES };
    static const mg_idea tries[] = {
        { "one rank", NULL, MG_WORLD_ONE },
        { .is = MG_WORLD_TWO },
        { .is = MG_WORLD_THREE },
        { .is = MG_WORLD_POWER },
        { .is = MG_WORLD_PRIME },
        { "many ranks", MG_MANY_RANKS, MG_WORLD_MANY },
        { "no element", "k may be 0: then all data are 0", NONE },
        { "a first gather that fails", "return the status of the collective that failed", FAIL_FIRST, BYTES },
        { "a second gather that fails", "return the status of the collective that failed", FAIL_SECOND, BYTES },
        { "long messages", MG_LONG, LONG, VALUES },
        { "long arrays", "elements may be more than a stack has room for", LONGER, VALUES },
    };
    mt_rng *rng = mg_rng(run);
    compress_about about = ((const compress_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        int64_t n = t.is == LONG     ? mg_long_parts(rng, 1, MT_F32, 64 << 10)
                    : t.is == LONGER ? mg_long_parts(rng, 1, MT_F32, 1 << 20)
                                     : mg_pick(rng, 20, MOST);
        int64_t k = t.is == NONE ? 0 : t.is == LONG ? n - mg_pick(rng, 0, 9) : mg_pick(rng, 1, 9);
        bool fails = t.is == FAIL_FIRST || t.is == FAIL_SECOND;
        int ranks = t.is < NONE ? mg_world(rng, (int)t.is)
                    : fails     ? 3
                                : mg_world(rng, t.is == NONE ? MG_WORLD_ONE : MG_WORLD_TWO);
        mean_of_largest(run, ranks, n, k, fails ? t.is - FAIL_FIRST : -1, about == COMPRESS_BYTES,
                        about != COMPRESS_BYTES && t.is == MG_WORLD_THREE);
    }
}
