/* 00-views.c -- random views and their meaning, for the checks of lab 00. */
#include "checks/00-views.h"
#include "checks/fill.h"

#include <string.h>

enum { SAMPLES = 4096 }; /* most elements of a view that are compared */

static mt_shape random_shape(mt_rng *rng, const mg_view_spec *spec)
{
    mt_shape shape = { .rank = (int)mg_pick(rng, spec->rank_low, spec->rank_high) };
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = spec->ones && mt_rng_below(rng, 2) ? 1 : mg_pick(rng, spec->dim_low, spec->dim_high);
    return shape;
}

/* A view of this shape. */
static mt_view view_of(mt_rng *rng, const mg_view_spec *spec, mt_shape shape)
{
    mt_view view = { .rank = shape.rank, .offset = spec->gaps || spec->offset ? mg_pick(rng, 1, 9) : 0 };
    int64_t order[MT_MAX_RANK], step = spec->gaps ? mg_pick(rng, 1, 2) : 1;
    for (int i = 0; i < shape.rank; i++)
        order[i] = i;
    if (spec->permuted)
        mt_rng_permutation(rng, order, shape.rank);
    for (int i = shape.rank - 1; i >= 0; i--) {
        int64_t d = order[i];
        view.shape[d] = shape.dim[d];
        view.stride[d] = spec->repeats && mt_rng_below(rng, 3) == 0 ? 0 : step;
        step *= mt_max(shape.dim[d], 1) + (spec->gaps ? mg_pick(rng, 0, 2) : 0);
    }
    return view;
}

mt_view mg_random_view(mt_rng *rng, const mg_view_spec *spec, int kinds)
{
    mg_view_spec drawn = *spec;
    if (kinds & MG_VIEW_RANK_8) {
        drawn.rank_low = drawn.rank_high = MT_MAX_RANK;
        drawn.dim_low = mt_min(spec->dim_low, 2), drawn.dim_high = mt_min(spec->dim_high, 3);
    }
    mt_shape shape;
    do
        shape = random_shape(rng, &drawn);
    while (kinds & MG_VIEW_RANK_8 && mg_count(shape.dim, shape.rank) > SAMPLES);
    for (int i = 0; i < shape.rank && kinds & MG_VIEW_LARGE; i++)
        if (shape.dim[i] > 1)
            shape.dim[i] = 3ll << mg_pick(rng, 36 / shape.rank, 48 / shape.rank - 2);
    if (kinds & (MG_VIEW_LARGE_FIRST | MG_VIEW_LARGE_ONE))
        shape.dim[kinds & MG_VIEW_LARGE_ONE ? mt_rng_below(rng, shape.rank) : 0] = 3ll << mg_pick(rng, 32, 34);
    return view_of(rng, spec, shape);
}

int64_t mg_count(const int64_t *dim, int rank)
{
    int64_t count = 1;
    for (int i = 0; i < rank; i++)
        count *= dim[i];
    return count;
}

void mg_unravel(int64_t *index, int64_t n, const int64_t *dim, int rank)
{
    for (int i = rank - 1; i >= 0; i--) {
        index[i] = n % dim[i];
        n /= dim[i];
    }
}

int64_t mg_offset(const mt_view *view, const int64_t *index)
{
    uint64_t at = (uint64_t)view->offset; /* unsigned: strides from the worker may have any value and overflow */
    for (int i = 0; i < view->rank; i++)
        at += (uint64_t)index[i] * (uint64_t)view->stride[i];
    return (int64_t)at;
}

int64_t mg_samples(int64_t count)
{
    return mt_min(count, SAMPLES);
}

int64_t mg_sample(int64_t count, int64_t i)
{
    if (count <= SAMPLES)
        return i;
    if (i < 64) /* the first ones, the last one, and others everywhere between them */
        return i == 0 ? count - 1 : i - 1;
    return (int64_t)(((uint64_t)i * 0x9e3779b97f4a7c15u >> 1) % (uint64_t)count);
}

int64_t mg_nth(const mt_view *view, int64_t n)
{
    int64_t index[MT_MAX_RANK];
    mg_unravel(index, n, view->shape, view->rank);
    return mg_offset(view, index);
}

int64_t mg_span(const mt_view *view)
{
    int64_t last = view->offset;
    for (int i = 0; i < view->rank; i++) {
        if (view->shape[i] == 0)
            return 0;
        last += (view->shape[i] - 1) * view->stride[i];
    }
    return last + 1;
}

/* ---- sending and receiving views ----------------------------------------------------------------- */

void mg_in_view(mg_run *run, const char *name, const mt_view *view)
{
    int64_t *words = mg_in(run, name, MT_I64, MT_SHAPE(MG_VIEW_WORDS));
    words[0] = view->rank;
    words[1] = view->offset;
    memcpy(words + 2, view->shape, sizeof view->shape);
    memcpy(words + 2 + MT_MAX_RANK, view->stride, sizeof view->stride);
}

void mg_in_shape(mg_run *run, const char *name, mt_shape shape)
{
    int64_t *words = mg_in(run, name, MT_I64, MT_SHAPE(1 + MT_MAX_RANK));
    words[0] = shape.rank;
    memcpy(words + 1, shape.dim, sizeof shape.dim);
}

void mg_begin_view(mg_run *run, const char *function, const char *out, int64_t n, const mt_view *view)
{
    mg_begin(run, function);
    mg_out(run, out, MT_I64, MT_SHAPE(n));
    mg_in_view(run, "view", view);
}

bool mg_expect_view(mg_run *run, const mt_view *want, const mt_view *from)
{
    const int64_t *words = mg_result(run, "out");
    const mt_shape shape = mt_view_shape(want);
    mt_view got = { .rank = want->rank, .offset = words[1] };
    memcpy(got.shape, words + 2, sizeof got.shape);
    memcpy(got.stride, words + 2 + MT_MAX_RANK, sizeof got.stride);
    if (words[0] != want->rank)
        return mg_fail(run, "of %s: got rank %lld   expected shape %s", mt_view_text(from), (long long)words[0],
                       mt_shape_text(shape)),
               false;
    for (int i = 0; i < shape.rank; i++)
        if (got.shape[i] != shape.dim[i])
            return mg_fail(run, "of %s: dimension %d is %lld   expected shape %s", mt_view_text(from), i,
                           (long long)got.shape[i], mt_shape_text(shape)),
                   false;
    int64_t count = mg_count(shape.dim, shape.rank);
    for (int64_t i = 0; i < mg_samples(count); i++) {
        int64_t n = mg_sample(count, i), at = mg_nth(&got, n), right = mg_nth(want, n);
        if (at == right)
            continue;
        mt_shape where = shape;
        mg_unravel(where.dim, n, shape.dim, shape.rank);
        return mg_fail(run, "of %s: got %s   its element %s is storage element %lld   expected %lld",
                       mt_view_text(from), mt_view_text(&got), mt_shape_text(where), (long long)at, (long long)right),
               false;
    }
    return true;
}

bool mg_is(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what)
{
    const int64_t *got = mg_result(run, name);
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i])
            return mg_fail(run, "%s: %s[%lld] = %lld   expected %lld", what, name, (long long)i, (long long)got[i],
                           (long long)want[i]),
                   false;
    return true;
}

bool mg_returns(mg_run *run, const char *name, bool want, const char *what)
{
    static const char *const word[] = { "false", "true" };
    if (!mg_call(run))
        return false;
    return *(const int64_t *)mg_result(run, name) == want ||
           mg_fail(run, "%s: returned %s   expected %s", what, word[!want], word[want]);
}

bool mg_answers(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what)
{
    return mg_call(run) && mg_is(run, name, want, n, what);
}
