/* 00-views.c -- random views and their meaning, for the checks of lab 00. */
#include "checks/00-views.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 4096 }; /* most elements of a view that are compared */

mt_shape mg_random_shape(mt_rng *rng, const mg_view_spec *spec)
{
    mt_shape shape = { .rank = (int)mg_pick(rng, spec->rank_low, spec->rank_high) };
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = spec->ones && mt_rng_below(rng, 2) ? 1 : mg_pick(rng, spec->dim_low, spec->dim_high);
    return shape;
}

void mg_random_order(mt_rng *rng, int64_t *order, int rank)
{
    if (rank > 0)
        mt_rng_permutation(rng, order, rank);
}

/* A view of this shape. */
static mt_view view_of(mt_rng *rng, const mg_view_spec *spec, mt_shape shape)
{
    mt_view view = { .rank = shape.rank, .offset = spec->gaps || spec->offset ? mg_pick(rng, 1, 9) : 0 };
    int64_t order[MT_MAX_RANK], step = spec->gaps ? mg_pick(rng, 1, 2) : 1;
    for (int i = 0; i < shape.rank; i++)
        order[i] = i;
    if (spec->permuted)
        mg_random_order(rng, order, shape.rank);
    for (int i = shape.rank - 1; i >= 0; i--) {
        int64_t d = order[i];
        view.shape[d] = shape.dim[d];
        view.stride[d] = spec->repeats && mt_rng_below(rng, 3) == 0 ? 0 : step;
        step *= mt_max(shape.dim[d], 1) + (spec->gaps ? mg_pick(rng, 0, 2) : 0);
    }
    return view;
}

mt_view mg_random_view(mt_rng *rng, const mg_view_spec *spec)
{
    return view_of(rng, spec, mg_random_shape(rng, spec));
}

mt_view mg_nth_view(mt_rng *rng, const mg_view_spec *spec, int t)
{
    mt_shape shape = mg_random_shape(rng, spec);
    if (t % 4 == 3 && spec->rank_high > 1)
        for (shape.rank = 0; shape.rank < MT_MAX_RANK; shape.rank++)
            shape.dim[shape.rank] = mg_pick(rng, mt_min(spec->dim_low, 1), mt_min(spec->dim_high, 3));
    bool huge = spec->dim_low > 1 && t % 3 == 2; /* at most 2^50 elements, at least 2^33 */
    for (int i = 0; i < shape.rank && huge && t % 2; i++)
        if (shape.dim[i] > 1)
            shape.dim[i] = 3ll << mg_pick(rng, 36 / shape.rank, 48 / shape.rank - 2);
    if (huge && t % 2 == 0) /* the first dimension, or any */
        shape.dim[t % 4 == 2 ? 0 : mt_rng_below(rng, shape.rank)] = 3ll << mg_pick(rng, 32, 34);
    return view_of(rng, spec, shape);
}

mt_view mg_rank_8_view(mt_rng *rng, const mg_view_spec *spec)
{
    for (;;) {
        mt_view view = mg_nth_view(rng, spec, 3);
        if (mg_count(view.shape, view.rank) <= SAMPLES)
            return view;
    }
}

mt_view mg_scalar_view(mt_rng *rng)
{
    return (mt_view){ .rank = 0, .offset = mg_pick(rng, 1, 9) };
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

int64_t mg_ravel(const int64_t *index, const int64_t *dim, int rank)
{
    int64_t n = 0;
    for (int i = 0; i < rank; i++)
        n = n * dim[i] + index[i];
    return n;
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

int64_t *mg_elements(const mt_view *view)
{
    int64_t count = mg_count(view->shape, view->rank), samples = mg_samples(count), index[MT_MAX_RANK];
    int64_t *elements = malloc(sizeof *elements * (size_t)mt_max(samples, 1));
    MT_CHECK(elements, "out of memory for %lld elements", (long long)samples);
    for (int64_t i = 0; i < samples; i++) {
        mg_unravel(index, mg_sample(count, i), view->shape, view->rank);
        elements[i] = mg_offset(view, index);
    }
    return elements;
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

enum { VIEW_WORDS = 2 + 2 * MT_MAX_RANK, SHAPE_WORDS = 1 + MT_MAX_RANK };

void mg_in_view(mg_run *run, const char *name, const mt_view *view)
{
    int64_t *words = mg_in(run, name, MT_I64, MT_SHAPE(VIEW_WORDS));
    words[0] = view->rank;
    words[1] = view->offset;
    memcpy(words + 2, view->shape, sizeof view->shape);
    memcpy(words + 2 + MT_MAX_RANK, view->stride, sizeof view->stride);
}

void mg_in_shape(mg_run *run, const char *name, mt_shape shape)
{
    int64_t *words = mg_in(run, name, MT_I64, MT_SHAPE(SHAPE_WORDS));
    words[0] = shape.rank;
    memcpy(words + 1, shape.dim, sizeof shape.dim);
}

void mg_out_view(mg_run *run, const char *name)
{
    mg_out(run, name, MT_I64, MT_SHAPE(VIEW_WORDS));
}

bool mg_result_view(mg_run *run, const char *name, mt_view *view, mt_shape shape, const mt_view *from)
{
    const int64_t *words = mg_result(run, name);
    *view = (mt_view){ .rank = words[0] == shape.rank ? shape.rank : 0, .offset = words[1] };
    memcpy(view->shape, words + 2, sizeof view->shape);
    memcpy(view->stride, words + 2 + MT_MAX_RANK, sizeof view->stride);
    if (words[0] != shape.rank)
        return mg_fail(run, "of %s: got rank %lld   expected shape %s", mt_view_text(from), (long long)words[0],
                       mt_shape_text(shape)),
               false;
    for (int i = 0; i < shape.rank; i++)
        if (view->shape[i] != shape.dim[i])
            return mg_fail(run, "of %s: dimension %d is %lld   expected shape %s", mt_view_text(from), i,
                           (long long)view->shape[i], mt_shape_text(shape)),
                   false;
    return true;
}

bool mg_expect_view(mg_run *run, const char *name, mt_shape shape, const int64_t *elements, const mt_view *from)
{
    mt_view got;
    if (!mg_result_view(run, name, &got, shape, from))
        return false;
    int64_t count = mg_count(shape.dim, shape.rank), index[MT_MAX_RANK];
    for (int64_t i = 0; i < mg_samples(count); i++) {
        mg_unravel(index, mg_sample(count, i), shape.dim, shape.rank);
        int64_t at = mg_offset(&got, index);
        if (at == elements[i])
            continue;
        mt_shape where = { .rank = shape.rank };
        memcpy(where.dim, index, sizeof index);
        return mg_fail(run, "of %s: got %s   its element %s is storage element %lld   expected %lld",
                       mt_view_text(from), mt_view_text(&got), mt_shape_text(where), (long long)at,
                       (long long)elements[i]),
               false;
    }
    return true;
}

bool mg_expect_i64(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what)
{
    const int64_t *got = mg_result(run, name);
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i])
            return mg_fail(run, "%s: %s[%lld] = %lld   expected %lld", what, name, (long long)i, (long long)got[i],
                           (long long)want[i]),
                   false;
    return true;
}
