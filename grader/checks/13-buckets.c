/* 13-buckets.c -- how the checks of step 13.6 run: parameters are divided into buckets. Rows: 13-data-parallel.c. */
#include "checks/13-training.h"
#include "checks/fill.h"

#include <inttypes.h>
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

enum { MANY = 300 };

void mg_13_buckets(mg_run *run, const void *one_case)
{
    plan_about about = ((const buckets_case *)one_case)->about;
    mt_rng *rng = mg_rng(run);
    for (int try = 0; try < (about == BUCKETS_ONE || about == BUCKETS_ANY ? 7 : 6); try++) {
        bool none = about == BUCKETS_ONE && try == 6, empty = about == BUCKETS_ANY && try == 6;
        int64_t at = 0, limit, count = none ? 0 /* has no bucket */ : mg_pick(rng, try == 0 ? 1 : 2, MANY);
        mg_bucket want[MANY];
        mg_begin(run, "mt_buckets_plan");
        mg_out(run, "buckets", MT_I64, MT_SHAPE(1));
        mg_inout(run, "bucket", MT_I64, MT_SHAPE(count, 4));
        int64_t *begin = mg_in(run, "begin", MT_I64, MT_SHAPE(count + 1));
        for (int64_t i = 0; i <= count; i++) {
            begin[i] = at;
            if (empty) /* parameters without elements, the first of them in a bucket of its own */
                at += i == 0 ? 0 : 16 * mg_pick(rng, i == 1, 2);
            else
                at += 16 * mg_pick(rng, 1, try % 2 ? 6 : (int64_t)1 << 36);
        }
        limit = about == BUCKETS_EACH  ? mg_pick(rng, 0, 16)
                : about == BUCKETS_ONE ? begin[count] + mg_pick(rng, 0, 100)
                                       : mt_max(1, begin[count] / mg_pick(rng, 1, 9));
        if (empty)
            limit = 16;
        if (about == BUCKETS_EXACT) /* of the last parameters together, or one more */
            limit = begin[count] - begin[mg_pick(rng, 0, mt_max(count - 1, 0))] + try / 3;
        mg_i64(run, "limit", limit);
        if (!mg_call(run))
            return;
        if (empty)
            mg_hint(run, "a parameter without elements is in a bucket, too: the first may have one of its own");
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
