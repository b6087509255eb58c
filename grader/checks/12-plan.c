/* 12-plan.c -- how the checks of step 12.2 run: plans of files, one item at a time. Rows: 12-checkpoints.c. */
#include "checks/12-checkpoints.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <string.h>

#include "core/dtype.h"

enum { ITEMS = 5003 /* more than a model with its optimizer has */, FEW = 40 };

typedef struct list {
    int64_t elements[ITEMS], dtype[ITEMS], n, limit; /* elements -1: no tensor, but an integer, a real or a text */
} list;

static int64_t bytes_of(const list *l, int64_t i)
{
    static const int64_t sizes[] = {
        [MT_F32] = 4, [MT_F16] = 2, [MT_BF16] = 2, [MT_I32] = 4, [MT_I64] = 8, [MT_U8] = 1
    };
    return mt_max(l->elements[i], 0) * sizes[l->dtype[i]];
}

static list list_of(mt_rng *rng, plan_about about, int64_t n)
{
    static const int64_t types[] = { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 };
    list l = { .n = n, .limit = mg_pick(rng, 1, n > FEW ? 40 : 400) };
    bool small = mt_rng_below(rng, 2);
    for (int64_t i = 0; i < n; i++) {
        l.dtype[i] = types[mt_rng_below(rng, MT_COUNT(types))];
        l.elements[i] = mg_pick(rng, 1, about == PLAN_LARGE ? 400 : 30);
        if (about == PLAN_WITHOUT || about == PLAN_NONE)
            l.elements[i] = mt_rng_below(rng, 3) && about == PLAN_WITHOUT ? l.elements[i] : -mt_rng_below(rng, 2);
        if (about == PLAN_FULL) { /* two, three ... of them fill a file of 48 bytes, or of 3 */
            l.dtype[i] = small ? MT_U8 : MT_F16;
            l.elements[i] = small ? mg_pick(rng, 1, 3) : 6 * mg_pick(rng, 1, 4);
            l.limit = small ? 3 : 48;
        }
        if (about == PLAN_HUGE) {
            l.limit = ((int64_t)1 << 54) + mg_pick(rng, -1, 1);
            l.elements[i] = (l.elements[i] << 47) + mt_rng_below(rng, 2) * ((int64_t)1 << 31);
        }
    }
    return l;
}

static bool check_plan(mg_run *run, list l)
{
    int64_t want[ITEMS + 2] = { 0 }, shards = 1, used = 0;
    for (int64_t i = 0; i < l.n; used += bytes_of(&l, i++))
        if (bytes_of(&l, i) > 0 && used > 0 && (used > l.limit || bytes_of(&l, i) > l.limit - used)) {
            want[shards++] = i;
            used = 0;
        }
    want[shards] = l.n;
    mg_begin(run, "mt_shards_plan");
    mg_out(run, "shards", MT_I64, MT_SHAPE(1));
    mg_out(run, "begin", MT_I64, MT_SHAPE(l.n + 2));
    memcpy(mg_in(run, "elements", MT_I64, MT_SHAPE(l.n)), l.elements, (size_t)l.n * sizeof *l.elements);
    memcpy(mg_in(run, "dtype", MT_I64, MT_SHAPE(l.n)), l.dtype, (size_t)l.n * sizeof *l.dtype);
    mg_i64(run, "limit", l.limit);
    if (!mg_call(run))
        return false;
    int64_t got = *(const int64_t *)mg_result(run, "shards");
    const int64_t *begin = mg_result(run, "begin");
    for (int64_t s = 0; s <= mt_min(got, shards); s++)
        if (begin[s] != want[s])
            return mg_fail(run,
                           "file %" PRId64 " begins with item %" PRId64 ", expected %" PRId64 ": files of %" PRId64
                           " bytes, %" PRId64 " items",
                           s, begin[s], want[s], l.limit, l.n);
    if (got != shards)
        mg_fail(run, "%" PRId64 " files, expected %" PRId64, got, shards);
    return got == shards;
}

/* A list that a row has beside random ones: all its tensors have one type. */
typedef struct fixed_list {
    plan_about about;
    const char *part, *hint;
    int64_t n, limit, elements[6];
    mt_dtype dtype;
} fixed_list;

void mg_12_plan(mg_run *run, const void *one_case)
{
    static const fixed_list fixed[] = {
        { PLAN_LARGE, "a large tensor first", NULL, 4, 3, { 4, 1, 30, 2 }, MT_F32 },
        { PLAN_LARGE, "an integer, then a large tensor", NULL, 4, 3, { -1, 4, 30, 2 }, MT_F32 },
        { PLAN_LARGE,
          "a limit of 0",
          "with a limit of 0 every tensor is larger than a file",
          3,
          0,
          { 0, 4, 1 },
          MT_F32 },
        { PLAN_WITHOUT, "after a full file", NULL, 6, 8, { 2, 0, -1, -1, -1, 1 }, MT_F32 },
        { PLAN_WITHOUT, "after a tensor larger than a file", NULL, 5, 3, { 9, 0, -1, 0, 1 }, MT_F32 },
        { PLAN_NONE, "no items", NULL, 0, 40, { 0 }, MT_F32 },
        { PLAN_HUGE,
          "one byte too many",
          NULL,
          2,
          INT64_C(1) << 54,
          { INT64_C(1) << 53, (INT64_C(1) << 53) + 1 },
          MT_U8 },
    };
    plan_about about = ((const plan_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < 8 && good; i++)
        good = check_plan(run, list_of(mg_rng(run), about, mg_pick(mg_rng(run), 1, FEW)));
    for (const fixed_list *f = fixed; f < fixed + MT_COUNT(fixed) && good; f++) {
        list l = { .n = f->n, .limit = f->limit };
        for (int64_t i = 0; i < f->n; i++)
            l.elements[i] = f->elements[i], l.dtype[i] = f->dtype;
        mg_part(run, f->part, f->hint ? "%s" : NULL, f->hint);
        good = f->about != about || check_plan(run, l);
    }
    mg_part(run, "many items", "a list may have any number of items");
    if (good && about == PLAN_ANY)
        check_plan(run, list_of(mg_rng(run), about, ITEMS));
}
