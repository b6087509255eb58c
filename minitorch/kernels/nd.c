/* nd.c -- merging dimensions, the odometer over those that are left, and its division among threads. */
#include "kernels/nd.h"

#include <omp.h>

/* Whether dimension d and the merged one before it are one dimension in every view. */
static bool chains(const mt_nd *it, const mt_view *const *views, int d)
{
    for (int v = 0; v < it->count; v++)
        if (it->stride[v][it->rank - 1] != views[v]->stride[d] * views[v]->shape[d])
            return false;
    return true;
}

/* Append dimension d of the views, or grow the last one by it. */
static void append(mt_nd *it, const mt_view *const *views, int d)
{
    int64_t size = views[0]->shape[d];
    if (size == 1)
        return;
    if (it->rank > 0 && chains(it, views, d))
        it->shape[it->rank - 1] *= size;
    else
        it->shape[it->rank++] = size;
    for (int v = 0; v < it->count; v++)
        it->stride[v][it->rank - 1] = views[v]->stride[d];
}

mt_nd mt_nd_begin(const mt_view *const *views, int count)
{
    mt_nd it = { .count = count, .runs = 1, .run = 1 };
    mt_shape shape = mt_view_shape(views[0]);
    for (int v = 0; v < count; v++) {
        MT_CHECK(mt_shape_equal(shape, mt_view_shape(views[v])), "walk: %s and %s differ", mt_shape_text(shape),
                 mt_view_text(views[v]));
        it.at[v] = views[v]->offset;
    }
    for (int d = 0; d < shape.rank; d++)
        append(&it, views, d);
    if (it.rank > 0) { /* the innermost dimension is the run, the others are the odometer's */
        it.rank--;
        it.run = it.shape[it.rank];
        for (int v = 0; v < count; v++)
            it.step[v] = it.stride[v][it.rank];
    }
    for (int d = 0; d < it.rank; d++)
        it.runs *= it.shape[d];
    if (it.run == 0)
        it.runs = 0;
    return it;
}

/* The dimensions of view in which `first` repeats, or those in which it does not. */
static mt_view part(const mt_view *view, const mt_view *first, bool repeated)
{
    mt_view out = { .offset = repeated ? 0 : view->offset };
    for (int i = 0; i < first->rank; i++)
        if ((first->stride[i] == 0 && first->shape[i] != 1) == repeated) {
            out.shape[out.rank] = view->shape[i];
            out.stride[out.rank++] = view->stride[i];
        }
    return out;
}

void mt_nd_split(mt_nd *kept, mt_nd *repeats, const mt_view *const *views)
{
    for (int repeated = 0; repeated < 2; repeated++) {
        mt_view parts[MT_ND_VIEWS];
        const mt_view *at[MT_ND_VIEWS];
        for (int v = 0; v < MT_ND_VIEWS; v++) {
            parts[v] = part(views[v], views[0], repeated);
            at[v] = &parts[v];
        }
        *(repeated ? repeats : kept) = mt_nd_begin(at, MT_ND_VIEWS);
    }
}

void mt_nd_next(mt_nd *it)
{
    if (--it->runs == 0)
        return;
    for (int d = it->rank - 1; d >= 0; d--) {
        bool wraps = ++it->index[d] == it->shape[d];
        for (int v = 0; v < it->count; v++)
            it->at[v] += wraps ? -(it->shape[d] - 1) * it->stride[v][d] : it->stride[v][d];
        if (!wraps)
            return;
        it->index[d] = 0;
    }
}

/* ---- threads ------------------------------------------------------------------------------------ */

/* The walk from run `first` on. */
static mt_nd jump(const mt_nd *all, int64_t first)
{
    mt_nd it = *all;
    it.runs -= first;
    for (int d = it.rank - 1; d >= 0; d--) {
        it.index[d] = first % it.shape[d];
        first /= it.shape[d];
        for (int v = 0; v < it.count; v++)
            it.at[v] += it.index[d] * it.stride[v][d];
    }
    return it;
}

/* Pieces begin .. end-1. */
static void walk(const mt_nd *all, int64_t piece, int64_t begin, int64_t end, mt_nd_piece_fn *fn, void *user)
{
    if (begin == end)
        return;
    int64_t per_run = (all->run + piece - 1) / piece, p = begin % per_run;
    mt_nd it = jump(all, begin / per_run);
    for (int64_t t = begin; t < end; t++) {
        fn(&it, p * piece, mt_min(piece, it.run - p * piece), user);
        if (++p == per_run) {
            p = 0;
            mt_nd_next(&it);
        }
    }
}

void mt_nd_for(const mt_nd *all, int64_t piece, int64_t work, mt_nd_piece_fn *fn, void *user)
{
    int64_t pieces = all->runs * ((all->run + piece - 1) / piece);
    if (pieces < 2 || all->runs * all->run * work < MT_PARALLEL_FROM) {
        walk(all, piece, 0, pieces, fn, user);
        return;
    }
#pragma omp parallel
    {
        int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
        walk(all, piece, pieces * thread / threads, pieces * (thread + 1) / threads, fn, user);
    }
}
