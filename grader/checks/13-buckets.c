/* 13-buckets.c -- how the checks of steps 13.6, 13.10 and 13.13 run: parameters in buckets, buckets in parts, and parts
 * of other numbers of ranks. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"
#include "worker/hub.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"

int64_t mg_13_divide(mg_bucket *out, const int64_t *begin, int64_t count, int64_t limit)
{
    int64_t buckets = 0, last = count;
    for (int64_t first = count - 1; first >= 0; first--) {
        if (begin[last] - begin[first] < limit && first > 0)
            continue;
        out[buckets++] = (mg_bucket){ first, last, begin[first], begin[last] };
        last = first;
    }
    return buckets;
}

enum { MANY = 300, CALLS = 40 };

void mg_13_buckets(mg_run *run, const void *one_case)
{
    enum { ANY, LARGE, ZERO, MORE, NONE, EMPTY };
    static const mg_idea tries[] = {
        { .times = 3 },
        { "parameters of up to 2^40 elements", "numbers of elements are int64_t", LARGE, .times = 3 },
        { "a limit of 0", "with a limit of 0 each parameter has a bucket of its own", ZERO, 1 << BUCKETS_EACH },
        { "one element more than the last parameters", NULL, MORE, 1 << BUCKETS_EXACT, 3 },
        { "no parameters", "without parameters there are no buckets", NONE, 1 << BUCKETS_ONE },
        { "parameters without elements",
          "a parameter without elements is in a bucket, too: the first may have one of its own", EMPTY,
          1 << BUCKETS_ANY },
    };
    plan_about about = ((const buckets_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);) {
        int64_t at = 0, limit, count = t.is == NONE ? 0 : mg_pick(rng, 1, MANY);
        mg_bucket want[MANY];
        mg_begin(run, "mt_buckets_plan");
        mg_out(run, "buckets", MT_I64, MT_SHAPE(1));
        mg_inout(run, "bucket", MT_I64, MT_SHAPE(count, 4));
        int64_t *begin = mg_in(run, "begin", MT_I64, MT_SHAPE(count + 1));
        for (int64_t i = 0; i <= count; i++) {
            begin[i] = at;
            if (t.is == EMPTY)
                at += i == 0 ? 0 : 16 * mg_pick(rng, i == 1, 2);
            else
                at += 16 * mg_pick(rng, 1, t.is == LARGE ? (int64_t)1 << 36 : 6);
        }
        limit = about == BUCKETS_EACH  ? (t.is == ZERO ? 0 : mg_pick(rng, 0, 16))
                : about == BUCKETS_ONE ? begin[count] + mg_pick(rng, 0, 100)
                                       : mt_max(1, begin[count] / mg_pick(rng, 1, 9));
        if (t.is == EMPTY)
            limit = 16;
        if (about == BUCKETS_EXACT) /* of the last parameters together */
            limit = begin[count] - begin[mg_pick(rng, 0, mt_max(count - 1, 0))] + (t.is == MORE);
        mg_i64(run, "limit", limit);
        if (!mg_call(run))
            return;
        int64_t buckets = mg_13_divide(want, begin, count, limit), got = *(const int64_t *)mg_result(run, "buckets");
        const mg_bucket *is = mg_result(run, "bucket");
        if (got != buckets) {
            mg_fail(run,
                    "%" PRId64 " parameters with %" PRId64 " elements, limit %" PRId64 ": %" PRId64
                    " buckets, expected %" PRId64,
                    count, begin[count], limit, got, buckets);
            return;
        }
        for (int64_t b = 0; b < buckets; b++)
            if (memcmp(&is[b], &want[b], sizeof *is) != 0) {
                mg_fail(run,
                        "bucket %" PRId64 " has parameters %" PRId64 " to %" PRId64 ", elements %" PRId64 " to %" PRId64
                        "; expected %" PRId64 " to %" PRId64 ", %" PRId64 " to %" PRId64,
                        b, is[b].first, is[b].last, is[b].begin, is[b].end, want[b].first, want[b].last, want[b].begin,
                        want[b].end);
                return;
            }
    }
}

/* ---- collectives ------------------------------------------------------------------------------------------------ */

typedef int64_t row_of[MG_HUB_COLUMNS];

static void name(char *to, size_t size, const row_of row)
{
    static const char *const kinds[] = { "all-reduce", "reduce-scatter", "all-gather", "broadcast", "barrier" };
    bool is = row[MG_HUB_WAITED] != 0 && row[MG_HUB_KIND] >= 0 && row[MG_HUB_KIND] < MT_COUNT(kinds);
    snprintf(to, size, is ? "%s of %" PRId64 " elements" : "none", is ? kinds[row[MG_HUB_KIND]] : "", row[MG_HUB_N]);
}

const char *mg_13_differ(mg_run *run, int64_t ranks)
{
    static char text[240];
    char one[80], other[80];
    const row_of *row = mg_result(run, "rows");
    for (int64_t k = 0; k < MG_HUB_ROWS; k++)
        for (int64_t r = 1; r < ranks; r++) {
            name(one, sizeof one, row[k]);
            name(other, sizeof other, row[r * MG_HUB_ROWS + k]);
            if (strcmp(one, other) == 0)
                continue;
            snprintf(text, sizeof text, "collective %" PRId64 " is on rank 0: %s; on rank %" PRId64 ": %s", k, one, r,
                     other);
            return text;
        }
    return "another rank has called another collective, or none";
}

/* ---- parts ----------------------------------------------------------------------------------------------------- */

void mg_13_zero_part(mg_run *run, const void *one_case)
{
    static const char *const names[] = { "bucket begin", "bucket end", "rank", "size" };
    static const mg_idea tries[] = { { .is = 20 }, { "large buckets", "elements are int64_t", INT64_C(1) << 40 } };
    (void)one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        int64_t *in[4];
        double begin[CALLS], end[CALLS];
        mg_begin(run, "mt_zero_part");
        mg_out(run, "begin", MT_I64, MT_SHAPE(CALLS));
        mg_out(run, "end", MT_I64, MT_SHAPE(CALLS));
        for (int a = 0; a < 4; a++)
            in[a] = mg_in(run, names[a], MT_I64, MT_SHAPE(CALLS));
        for (int i = 0; i < CALLS; i++) {
            int64_t size = mg_pick(mg_rng(run), 1, 9), n = mg_pick(mg_rng(run), 1, t.is);
            int64_t first = mg_pick(mg_rng(run), 0, 1000), rank = mg_pick(mg_rng(run), 0, size - 1);
            int64_t length = (n + size - 1) / size;
            in[0][i] = first, in[1][i] = first + n, in[2][i] = rank, in[3][i] = size;
            begin[i] = (double)(first + mt_min(rank * length, n));
            end[i] = (double)(first + mt_min((rank + 1) * length, n));
        }
        if (mg_call(run) && mg_expect(run, "begin", begin, NULL))
            mg_expect(run, "end", end, NULL);
    }
}

void mg_13_zero_overlap(mg_run *run, const void *one_case)
{
    enum { ANY, FAR, BEFORE, BEHIND, AROUND, INSIDE };
    static const mg_idea tries[] = {
        { .times = 2 },
        { "beyond 2^33 elements", "elements are int64_t", FAR, .times = 2 },
        { "a part that begins before", NULL, BEFORE },
        { "a part that ends behind", NULL, BEHIND },
        { "a part around the other", NULL, AROUND },
        { "a part from the same element on", NULL, INSIDE },
    };
    (void)one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        int64_t n = mg_pick(mg_rng(run), 2, 40), m = t.is == AROUND ? 3 * n : mg_pick(mg_rng(run), 1, 40);
        int64_t begin = 50, from_begin = t.is == BEFORE   ? begin - m / 2
                                         : t.is == BEHIND ? begin + n / 2
                                         : t.is == AROUND ? begin - n
                                         : t.is == INSIDE ? begin
                                                          : mg_pick(mg_rng(run), 0, 100);
        int64_t far = t.is == FAR ? INT64_C(1) << 33 : 0;
        double want[40];
        mg_begin(run, "mt_zero_overlap");
        float *into = mg_inout(run, "into", MT_F32, MT_SHAPE(n)), *from = mg_in(run, "from", MT_F32, MT_SHAPE(m));
        mg_fill(mg_rng(run), into, n, (mg_dist)NORMAL(0, 1));
        mg_fill(mg_rng(run), from, m, (mg_dist)NORMAL(0, 1));
        for (int64_t i = 0; i < n; i++) {
            int64_t at = begin + i - from_begin;
            want[i] = (double)(at >= 0 && at < m ? from[at] : into[i]);
        }
        mg_i64(run, "begin", far + begin);
        mg_i64(run, "from_begin", far + from_begin);
        if (!mg_call(run) || !mg_expect(run, "into", want, NULL))
            return;
    }
}
