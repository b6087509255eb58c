/* 00-aborts.c -- the calls of steps 00.2, 00.3, 00.4 and 00.6 that must abort, and right ones, which must not. Rows:
 * 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"

#include <string.h>

/* ---- 00.2 at ----------------------------------------------------------------------------------- */

#define FAR_INDEX INT64_C(1234567890123456)

/* One index of a random element; that of dimension bad is replaced by wrong, must abort and be named. bad < 0: none. */
static bool at_once(mg_run *run, mt_view view, int64_t bad, int64_t wrong)
{
    int64_t want = bad >= 0;
    mg_begin(run, "may abort: mt_view_at");
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_in_view(run, "view", &view);
    int64_t *index = mg_in(run, "index", MT_I64, MT_SHAPE(view.rank));
    mg_unravel(index, mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank)), view.shape, view.rank);
    if (want)
        index[bad] = wrong;
    mt_shape at = { .rank = view.rank };
    memcpy(at.dim, index, sizeof *index * (size_t)view.rank);
    return mg_call(run) && mg_expect_i64(run, "aborted", &want, 1, mg_00_text(&view, "at", at)) &&
           (!want || wrong != FAR_INDEX || mg_expect_named(run, "index", FAR_INDEX));
}

/* The size, -1 and a far index, in every dimension of two views, of which one has a stride of 0 and a size of 1, and in
 * one of random views. */
void mg_00_at_abort(mg_run *run, const void *one_case)
{
    static const mt_view given[] = { { .rank = 3, .shape = { 2, 1, 3 }, .stride = { 0, 7, 1 }, .offset = 4 },
                                     { .rank = 1, .shape = { 5 }, .stride = { 2 }, .offset = 4 } };
    for (int t = 0; t < TRIES; t++) {
        mt_view view = mg_nth_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        int64_t bad = mt_rng_below(mg_rng(run), view.rank), wrong[] = { view.shape[bad], -1, FAR_INDEX };
        if (!at_once(run, view, t % 2 ? bad : -1, wrong[t / 2 % 3]))
            return;
    }
    for (int g = 0; g < MT_COUNT(given); g++)
        for (int t = 0; t < 3 * given[g].rank; t++)
            if (!at_once(run, given[g], t / 3, (int64_t[]){ given[g].shape[t / 3], -1, FAR_INDEX }[t % 3]))
                return;
}

/* ---- 00.3 permute -------------------------------------------------------------------------------- */

void mg_00_permute_abort(mg_run *run, const void *one_case)
{
    /* rank and order: with the sum of a permutation, or of one if -1 meant the last dimension */
    static const int64_t given[][5] = { { 3, 1, 1, 1 }, { 4, 0, 0, 3, 3 }, { 3, 0, 1, -1 } };
    for (int t = 0; t < TRIES; t++) {
        const int64_t *is_given = t % 2 && t / 2 < MT_COUNT(given) ? given[t / 2] : NULL;
        mg_view_spec spec = ((const tensor_case *)one_case)->spec;
        if (is_given)
            spec.rank_low = spec.rank_high = (int)is_given[0];
        mt_view view = is_given ? mg_random_view(mg_rng(run), &spec) : mg_nth_view(mg_rng(run), &spec, t);
        int64_t want = t % 2, wrong[] = { -1, view.rank, 0 };
        mg_begin(run, "may abort: mt_view_permute");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(view.rank));
        mg_random_order(mg_rng(run), order, view.rank);
        wrong[2] = order[0]; /* a repeated dimension */
        if (want)
            order[view.rank - 1] = wrong[t / 2 % 3];
        if (is_given)
            memcpy(order, is_given + 1, sizeof *order * (size_t)view.rank);
        if (!mg_call(run) || !mg_expect_i64(run, "aborted", &want, 1, mt_view_text(&view)))
            return;
    }
}

/* ---- 00.4 slice ---------------------------------------------------------------------------------- */

/* dim, start, stop and step that are wrong in one way, or right. */
static void slice_arguments(int64_t to[4], const mt_view *view, int64_t dim, int way)
{
    enum { WAYS = 8 };
    const int64_t size = view->shape[dim], all[WAYS + 1][4] = {
        { view->rank, 0, 0, 1 },      /* no such dimension; 0:0 fits in any */
        { -view->rank - 1, 0, 0, 1 }, /* nor from the end */
        { dim, -1, size, 1 },         /* start and stop do not count from the end */
        { dim, 0, -1, 1 },
        { dim, size, size - 1, 1 }, /* start > stop */
        { dim, 0, size + 1, 1 },
        { dim, 0, size, 0 },
        { dim, 0, size, -1 },
        { dim, 1, size, 1 },
    };
    memcpy(to, all[way < 0 ? WAYS : way % WAYS], sizeof all[0]);
}

void mg_00_slice_abort(mg_run *run, const void *one_case)
{
    for (int t = 0; t < 2 * TRIES; t++) {
        mt_view view = mg_nth_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        int64_t dim = mt_rng_below(mg_rng(run), view.rank), want = t % 2, is[4];
        slice_arguments(is, &view, dim, want ? t / 2 : -1);
        mg_begin(run, "may abort: mt_view_slice");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        mg_i64(run, "dim", is[0]);
        mg_i64(run, "start", is[1]);
        mg_i64(run, "stop", is[2]);
        mg_i64(run, "step", is[3]);
        if (!mg_call(run) || !mg_expect_i64(run, "aborted", &want, 1, mt_view_text(&view)))
            return;
    }
}

/* ---- 00.6 reshape --------------------------------------------------------------------------------- */

/* One element more or less; and no elements in one of both. */
void mg_00_reshape_abort(mg_run *run, const void *one_case)
{
    static const mt_view given[] = { { .rank = 2, .shape = { 0, 3 }, .stride = { 3, 1 } },
                                     { .rank = 1, .shape = { 5 }, .stride = { 1 } },
                                     { .rank = 1, .shape = { 0 }, .stride = { 1 } },
                                     { .rank = 0 } };
    const mt_shape to[] = { MT_SHAPE(5), MT_SHAPE(5, 0), MT_SCALAR, MT_SHAPE(0) };
    for (int t = 0; t < TRIES + 2 * MT_COUNT(to); t++) {
        bool random = t < TRIES;
        mt_view view =
            random ? mg_random_view(mg_rng(run), &((const tensor_case *)one_case)->spec) : given[(t - TRIES) / 2];
        int64_t want = t % 2, more = t / 2 % 2 ? -want : want;
        mt_shape shape = !random && want ? to[(t - TRIES) / 2]
                                         : mg_00_random_factors(mg_rng(run), mg_count(view.shape, view.rank) + more);
        mg_begin(run, "may abort: mt_view_reshape");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        mg_in_shape(run, "shape", shape);
        if (!mg_call(run) || !mg_expect_i64(run, "aborted", &want, 1, mg_00_text(&view, "to", shape)))
            return;
    }
}
