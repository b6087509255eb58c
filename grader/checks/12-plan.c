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

static list list_of(mt_rng *rng, plan_about about, int round)
{
    static const int64_t types[] = { MT_F32, MT_F16, MT_BF16, MT_I32, MT_I64, MT_U8 };
    list l = { .n = about == PLAN_NONE && round % 2 == 0 ? 0 : mg_pick(rng, 1, FEW), .limit = mg_pick(rng, 1, 400) };
    if (about == PLAN_ANY && round == 0)
        l.n = ITEMS, l.limit = mg_pick(rng, 1, 40);
    for (int64_t i = 0; i < l.n; i++) {
        l.dtype[i] = types[mt_rng_below(rng, MT_COUNT(types))];
        l.elements[i] = mg_pick(rng, 1, about == PLAN_LARGE ? 400 : 30);
        if (about == PLAN_WITHOUT || about == PLAN_NONE)
            l.elements[i] = mt_rng_below(rng, 3) && about == PLAN_WITHOUT ? l.elements[i] : -mt_rng_below(rng, 2);
        if (about == PLAN_FULL) { /* two, three ... of them fill a file of 48 bytes, or of 3 */
            bool few = round % 2;
            l.dtype[i] = few ? MT_U8 : MT_F16;
            l.elements[i] = few ? mg_pick(rng, 1, 3) : 6 * mg_pick(rng, 1, 4);
            l.limit = few ? 3 : 48;
        }
        if (about == PLAN_HUGE) {
            l.elements[i] <<= 47;
            l.limit = ((int64_t)1 << 54) + mg_pick(rng, -1, 1);
            l.elements[i] += mt_rng_below(rng, 2) * ((int64_t)1 << 31);
        }
    }
    if (about == PLAN_LARGE && round % 2) { /* the first tensor with bytes does not fit; others follow */
        l = (list){ .n = mt_max(l.n, 3), .limit = 3, .elements = { -(round / 2 % 2), 4 }, .dtype = { MT_U8, MT_F32 } };
        for (int64_t i = 2; i < l.n; i++)
            l.elements[i] = mg_pick(rng, 1, 30);
        l.limit = round % 4 == 3 ? 0 : l.limit;
    }
    if (about == PLAN_WITHOUT && round == 0) /* behind a full file */
        l = (list){ .n = 6, .limit = 8, .elements = { 2, 0, -1, -1, -1, 1 } };
    if (about == PLAN_HUGE && round % 2) /* one byte too many, which a sum of doubles does not have */
        l = (list){ .n = 2,
                    .limit = (int64_t)1 << 54,
                    .elements = { (int64_t)1 << 53, ((int64_t)1 << 53) + 1 },
                    .dtype = { MT_U8, MT_U8 } };
    if (about == PLAN_WITHOUT && round == 1) /* behind one that is larger than a file */
        l = (list){
            .n = 5, .limit = 3, .elements = { 9, 0, -1, 0, 1 }, .dtype = { MT_U8, MT_F32, MT_U8, MT_U8, MT_U8 }
        };
    return l;
}

static bool check_plan(mg_run *run, const list *l)
{
    int64_t want[ITEMS + 2] = { 0 }, shards = 1, used = 0;
    for (int64_t i = 0; i < l->n; used += bytes_of(l, i++))
        if (bytes_of(l, i) > 0 && used > 0 && (used > l->limit || bytes_of(l, i) > l->limit - used)) {
            want[shards++] = i;
            used = 0;
        }
    want[shards] = l->n;
    mg_begin(run, "mt_shards_plan");
    mg_out(run, "shards", MT_I64, MT_SHAPE(1));
    mg_out(run, "begin", MT_I64, MT_SHAPE(l->n + 2));
    memcpy(mg_in(run, "elements", MT_I64, MT_SHAPE(l->n)), l->elements, (size_t)l->n * sizeof *l->elements);
    memcpy(mg_in(run, "dtype", MT_I64, MT_SHAPE(l->n)), l->dtype, (size_t)l->n * sizeof *l->dtype);
    mg_i64(run, "limit", l->limit);
    if (!mg_call(run))
        return false;
    int64_t got = *(const int64_t *)mg_result(run, "shards");
    const int64_t *begin = mg_result(run, "begin");
    for (int64_t s = 0; s <= mt_min(got, shards); s++)
        if (begin[s] != want[s]) {
            mg_fail(run,
                    "file %" PRId64 " begins with item %" PRId64 ", expected %" PRId64 ": files of %" PRId64
                    " bytes, %" PRId64 " items",
                    s, begin[s], want[s], l->limit, l->n);
            return false;
        }
    if (got != shards)
        mg_fail(run, "%" PRId64 " files, expected %" PRId64, got, shards);
    return got == shards;
}

void mg_12_plan(mg_run *run, const void *one_case)
{
    bool good = true;
    for (int round = 0; round < 8 && good; round++) {
        list l = list_of(mg_rng(run), ((const plan_case *)one_case)->about, round);
        good = check_plan(run, &l);
    }
}
