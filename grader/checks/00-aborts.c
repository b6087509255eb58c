/* 00-aborts.c -- the calls of steps 00.2, 00.3, 00.4 and 00.6 that must abort, and right ones, which must not. Rows:
 * 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"

#include <string.h>

static bool expect_aborted(mg_run *run, int64_t want, const char *what)
{
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    if (!mg_call(run))
        return false;
    return *(const int64_t *)mg_result(run, "aborted") == want ||
           mg_fail(run, want ? "%s: the call did not abort" : "%s: the call aborted, but it is allowed", what);
}

/* ---- 00.2 at ----------------------------------------------------------------------------------- */

#define FAR_INDEX INT64_C(1234567890123456)

/* One index of a random element; that of dimension bad is replaced by wrong, must abort and be named. bad < 0: none. */
static bool index_once(mg_run *run, mt_view view, int bad, int64_t wrong)
{
    mg_begin_view(run, "may abort: mt_view_at", "element", 1, &view);
    int64_t *index = mg_in(run, "index", MT_I64, MT_SHAPE(view.rank));
    mg_unravel(index, mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank)), view.shape, view.rank);
    if (bad >= 0)
        index[bad] = wrong;
    mt_shape at = { .rank = view.rank };
    memcpy(at.dim, index, sizeof *index * (size_t)view.rank);
    return expect_aborted(run, bad >= 0, mg_00_text(&view, "at", at)) &&
           (bad < 0 || wrong != FAR_INDEX || mg_expect_named(run, "index", FAR_INDEX));
}

static bool indices_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    bool good = index_once(run, view, -1, 0);
    for (int d = 0; d < view.rank && good; d++)
        good = index_once(run, view, d, view.shape[d]) && index_once(run, view, d, -1) &&
               index_once(run, view, d, FAR_INDEX);
    return good;
}

void mg_00_at_abort(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = {
        { "a stride of 0 and a size of 1",
          "test the index of every dimension, whatever its size and stride are",
          { .rank = 3, .shape = { 2, 1, 3 }, .stride = { 0, 7, 1 }, .offset = 4 } },
        { "a vector", NULL, { .rank = 1, .shape = { 5 }, .stride = { 2 }, .offset = 4 } },
    };
    mg_00_each_view(run, one_case, indices_once, given, MT_COUNT(given));
}

/* ---- 00.3 permute -------------------------------------------------------------------------------- */

static bool order_once(mg_run *run, mt_view view, const int64_t *order, bool aborts)
{
    mg_begin_view(run, "may abort: mt_view_permute", "out", MG_VIEW_WORDS, &view);
    memcpy(mg_in(run, "order", MT_I64, MT_SHAPE(view.rank)), order, sizeof *order * (size_t)view.rank);
    mt_shape by = { .rank = view.rank };
    memcpy(by.dim, order, sizeof *order * (size_t)view.rank);
    return expect_aborted(run, aborts, mg_00_text(&view, "by", by));
}

/* A permutation, and with a negative, a large and a repeated dimension at its end. */
static bool orders_once(mg_run *run, const tensor_case *c, mt_view view)
{
    int64_t order[MT_MAX_RANK], last = view.rank - 1;
    (void)c;
    mt_rng_permutation(mg_rng(run), order, view.rank);
    bool good = order_once(run, view, order, false);
    const int64_t wrong[] = { -1, view.rank, order[0] };
    for (int i = 0; i < MT_COUNT(wrong) && good; i++) {
        order[last] = wrong[i];
        good = order_once(run, view, order, true);
    }
    return good;
}

void mg_00_permute_abort(mg_run *run, const void *one_case)
{
    static const struct {
        const char *part;
        int rank;
        int64_t order[4];
    } given[] = {
        { "a dimension twice, though the sum is that of a permutation", 3, { 1, 1, 1 } },
        { "a dimension twice, though the sum is that of a permutation", 4, { 0, 0, 3, 3 } },
        { "a negative dimension", 3, { 0, 1, -1 } },
    };
    const tensor_case *c = one_case;
    bool good = mg_00_each_view(run, c, orders_once, NULL, 0);
    for (int i = 0; i < MT_COUNT(given) && good; i++) {
        mg_view_spec spec = c->spec;
        spec.rank_low = spec.rank_high = given[i].rank;
        mg_part(run, given[i].part, NULL);
        good = order_once(run, mg_random_view(mg_rng(run), &spec, MG_VIEW_ANY), given[i].order, true);
    }
}

/* ---- 00.4 slice ---------------------------------------------------------------------------------- */

void mg_00_slice_abort(mg_run *run, const void *one_case)
{
    enum { WAYS = 9 };
    static const char *const part[WAYS] = {
        "a right range",   "a dimension after the last", "a dimension before the first", "a negative start",
        "a negative stop", "a start after the stop",     "a stop beyond the end",        "a step of 0",
        "a negative step"
    };
    for (int way = 0; way < WAYS; way++) {
        mg_part(run, part[way], NULL);
        for (int t = 0; t < 4; t++) {
            const mg_view_spec *spec = &((const tensor_case *)one_case)->spec;
            mt_view view = mg_random_view(mg_rng(run), spec, t ? MG_VIEW_ANY : MG_VIEW_RANK_8);
            const int64_t dim = mt_rng_below(mg_rng(run), view.rank), size = view.shape[dim],
                          is[WAYS][4] = { { dim, 1, size, 1 },     { view.rank, 0, 0, 1 }, { -view.rank - 1, 0, 0, 1 },
                                          { dim, -1, size, 1 },    { dim, 0, -1, 1 },      { dim, size, size - 1, 1 },
                                          { dim, 0, size + 1, 1 }, { dim, 0, size, 0 },    { dim, 0, size, -1 } };
            mg_begin_view(run, "may abort: mt_view_slice", "out", MG_VIEW_WORDS, &view);
            mg_i64(run, "dim", is[way][0]);
            mg_i64(run, "start", is[way][1]);
            mg_i64(run, "stop", is[way][2]);
            mg_i64(run, "step", is[way][3]);
            if (!expect_aborted(run, way > 0, mt_view_text(&view)))
                return;
        }
    }
}

/* ---- 00.6 reshape --------------------------------------------------------------------------------- */

static bool shape_once(mg_run *run, mt_view view, mt_shape shape, bool aborts)
{
    mg_begin_view(run, "may abort: mt_view_reshape", "out", MG_VIEW_WORDS, &view);
    mg_out(run, "fits", MT_I64, MT_SHAPE(1));
    mg_in_shape(run, "shape", shape);
    return expect_aborted(run, aborts, mg_00_text(&view, "to", shape));
}

/* As many elements, one more, and one less. */
static bool shapes_once(mg_run *run, const tensor_case *c, mt_view view)
{
    int64_t count = mg_count(view.shape, view.rank);
    (void)c;
    return shape_once(run, view, mg_00_random_factors(mg_rng(run), count), false) &&
           shape_once(run, view, mg_00_random_factors(mg_rng(run), count + 1), true) &&
           (count == 0 || shape_once(run, view, mg_00_random_factors(mg_rng(run), count - 1), true));
}

void mg_00_reshape_abort(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = { { "no elements", NULL, { .rank = 2, .shape = { 0, 3 }, .stride = { 3, 1 } } },
                                        { "an empty vector", NULL, { .rank = 1, .shape = { 0 }, .stride = { 1 } } },
                                        { "a scalar", NULL, { .rank = 0 } } };
    const mt_view five = { .rank = 1, .shape = { 5 }, .stride = { 1 } };
    tensor_case c = *(const tensor_case *)one_case;
    c.spec.small = 1; /* a large number of elements, one more or less, may have a prime factor as large */
    if (!mg_00_each_view(run, &c, shapes_once, given, MT_COUNT(given)))
        return;
    mg_part(run, "to no elements", NULL);
    if (shape_once(run, five, MT_SHAPE(5, 0), true) && shape_once(run, given[2].view, MT_SHAPE(0), true))
        shape_once(run, given[0].view, MT_SHAPE(5), true);
}
