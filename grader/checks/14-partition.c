/* 14-partition.c -- how the checks of step 14.8 run: the largest stage of the division, beside every division (few
 * layers) or the smallest bound that a greedy division keeps (many). Rows: 14-model-parallel.c. */
#include "checks/14-model-parallel.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <string.h>

#include "core/base.h"

enum { LAYERS = 300, STAGES = 40, WORDS = 256 };

typedef struct model {
    int64_t layers;
    int stages;
    int64_t cost[LAYERS];
} model;

static bool call(mg_run *run, const model *m)
{
    mg_begin(run, "mt_pipe_partition");
    mg_as_called(run, "mt_pipe_partition(begin, cost, layers=%" PRId64 ", stages=%d)", m->layers, m->stages);
    mg_out(run, "status", MT_I64, MT_SHAPE(1));
    int64_t *begin = mg_inout(run, "begin", MT_I64, MT_SHAPE(mt_max(m->stages, 0) + 1));
    for (int s = 0; s <= m->stages; s++)
        begin[s] = -7;
    mg_inout(run, "words", MT_U8, MT_SHAPE(WORDS));
    memcpy(mg_in(run, "cost", MT_I64, MT_SHAPE(m->layers)), m->cost, (size_t)m->layers * sizeof *m->cost);
    mg_i64(run, "layers", m->layers);
    mg_i64(run, "stages", m->stages);
    return mg_call(run);
}

/* ---- the smallest largest stage ------------------------------------------------------------------------------- */

static int64_t sum_of(const int64_t *cost, int64_t layers)
{
    int64_t sum = 0;
    for (int64_t l = 0; l < layers; l++)
        sum += cost[l];
    return sum;
}

/* The cost of the largest stage in the best of all divisions. */
static int64_t by_brute_force(const int64_t *cost, int64_t layers, int stages)
{
    if (stages == 1)
        return sum_of(cost, layers);
    int64_t best = INT64_MAX;
    for (int64_t l = 1; l <= layers - (stages - 1); l++)
        best = mt_min(best, mt_max(sum_of(cost, l), by_brute_force(cost + l, layers - l, stages - 1)));
    return best;
}

/* The smallest bound with which stages that take layers as long as they keep it are not too many. Fewer may be cut
 * further, since costs are not negative and there are enough layers. */
static int64_t by_bounds(const int64_t *cost, int64_t layers, int stages)
{
    int64_t low = 0, high = sum_of(cost, layers);
    while (low < high) {
        int64_t bound = low + (high - low) / 2, sum = 0;
        int used = 1;
        for (int64_t l = 0; l < layers; l++) {
            bool is_over = cost[l] > bound;
            if (is_over || sum > bound - cost[l]) {
                used += is_over ? stages : 1;
                sum = 0;
            }
            sum += is_over ? 0 : cost[l];
        }
        if (used <= stages)
            high = bound;
        else
            low = bound + 1;
    }
    return low;
}

/* ---- rows ------------------------------------------------------------------------------------------------------- */

static bool check(mg_run *run, const model *m)
{
    if (!call(run, m))
        return false;
    const int64_t *begin = mg_result(run, "begin"), *status = mg_result(run, "status");
    if (*status != MT_OK || begin[0] != 0 || begin[m->stages] != m->layers)
        return mg_fail(run, "%" PRId64 " layers in %d stages: status %" PRId64 ", from layer %" PRId64 " to %" PRId64,
                       m->layers, m->stages, *status, begin[0], begin[m->stages]);
    for (int s = 0; s < m->stages; s++)
        if (begin[s] < 0 || begin[s + 1] <= begin[s] || begin[s + 1] > m->layers) {
            mg_hint(run, "every stage has at least one layer: the last cut is before the last stages - s layers");
            return mg_fail(
                run, "%" PRId64 " layers in %d stages: stage %d has the layers from %" PRId64 " to before %" PRId64,
                m->layers, m->stages, s, begin[s], begin[s + 1]);
        }
    int64_t got = 0, at = 0,
            want = m->layers <= 12 ? by_brute_force(m->cost, m->layers, m->stages)
                                   : by_bounds(m->cost, m->layers, m->stages);
    for (int s = 0; s < m->stages; s++) {
        int64_t sum = sum_of(m->cost + begin[s], begin[s + 1] - begin[s]);
        at = sum > got ? s : at;
        got = mt_max(got, sum);
    }
    if (got == want)
        return true;
    return mg_fail(
        run, "%" PRId64 " layers in %d stages: stage %" PRId64 " is the largest with %" PRId64 ", possible is %" PRId64,
        m->layers, m->stages, at, got, want);
}

static bool check_refused(mg_run *run, int64_t layers, int stages)
{
    model m = { layers, stages, { 1, 2, 3 } };
    if (!call(run, &m))
        return false;
    const int64_t *begin = mg_result(run, "begin"), *status = mg_result(run, "status");
    const char *said = mg_result(run, "words");
    bool is_same = true;
    for (int s = 0; s <= stages; s++)
        is_same = is_same && begin[s] == -7;
    if (*status == MT_ERR_ARGUMENT && is_same && said[0])
        return true;
    return mg_fail(run, "%" PRId64 " layers in %d stages: status %" PRId64 ", expected %d with a message; begin is %s",
                   layers, stages, *status, MT_ERR_ARGUMENT, is_same ? "unchanged" : "written");
}

static bool check_random(mg_run *run, int64_t layers, int stages, int64_t most)
{
    model m = { layers, stages, { 0 } };
    for (int64_t l = 0; l < layers; l++)
        m.cost[l] = mt_rng_below(mg_rng(run), most + 1);
    return check(run, &m);
}

static void ties(mg_run *run)
{
    static const model some[] = {
        { 8, 4, { 3, 3, 3, 3, 3, 3, 3, 3 } },
        { 7, 3, { 5, 5, 5, 5, 5, 5, 5 } },
        { 6, 4, { 0 } },
        { 9, 4, { 0, 0, 0, 0, 0, 0, 0, 0, 1 } },
        { 9, 4, { 1 } },
        { 9, 3, { 0, 0, 4, 0, 4, 4, 0, 0, 4 } },
        { 5, 5, { 0, 9, 0, 9, 0 } },
        { 11, 2, { 2, 2, 0, 0, 0, 0, 0, 0, 0, 2, 2 } },
        { 4, 2, { 5, 5, 0, 1 } },
    };
    for (int i = 0; i < MT_COUNT(some); i++)
        if (!check(run, &some[i]))
            return;
}

/* The sum of all costs is up to 2^63 - 1: more than an int holds, and in a double the last bits are lost. */
static void large(mg_run *run)
{
    static const mg_idea tries[] = { { .times = 2 }, { "many layers", "there may be any number of layers", true } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);) {
        int stages = t.is ? STAGES : (int)mg_pick(mg_rng(run), 2, STAGES);
        int64_t layers = t.is ? LAYERS : mg_pick(mg_rng(run), stages, LAYERS);
        if (!check_random(run, layers, stages, 1000) || !check_random(run, layers, stages, ((int64_t)1 << 62) / layers))
            return;
    }
    mg_part(run, "sums near 2^62 and 2^63", "costs and their sums are int64_t: a double loses their last bits");
    int64_t half = (int64_t)1 << 61, most = INT64_MAX / 2;
    (void)(check(run, &(model){ 4, 2, { half - 1, 1, 1, half - 1 } }) &&
           check(run, &(model){ 4, 2, { half - 2, 1, 2, half - 2 } }) &&
           check(run, &(model){ 3, 2, { half - 1, 2, half - 2 } }) && check(run, &(model){ 2, 1, { half, half } }) &&
           check(run, &(model){ 3, 2, { half, 1, half + 1 } }) && check(run, &(model){ 3, 2, { half + 1, 1, half } }) &&
           check(run, &(model){ 4, 2, { most - 1, 1, 1, most - 1 } }) &&
           check(run, &(model){ 2, 2, { most + 9, most - 9 } }) && check(run, &(model){ 2, 1, { most, most } }));
}

void mg_14_partition(mg_run *run, const void *one_case)
{
    partition_about about = ((const partition_case *)one_case)->about;
    if (about == PARTITION_TIES) {
        ties(run);
    } else if (about == PARTITION_LARGE) {
        large(run);
    } else if (about == PARTITION_EDGES) {
        bool good = check_random(run, 1, 1, 9) && check_random(run, 11, 1, 99) && check_random(run, 7, 7, 99) &&
                    check_random(run, 8, 7, 99);
        mg_part(run, "refusals", NULL);
        (void)(good && check_refused(run, 2, 3) && check_refused(run, 0, 1) && check_refused(run, 3, 0) &&
               check_refused(run, 3, -1));
    } else {
        for (int stages = 2; stages <= 6; stages++)
            for (int64_t layers = stages + 1; layers <= 12; layers += 3)
                if (!check_random(run, layers, stages, layers % 2 ? 9 : 1000))
                    return;
    }
}
