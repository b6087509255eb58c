/* 00-reshape.c -- how the checks of steps 00.5 to 00.7 run: broadcasting, reshaping, copying; 00-aborts.c has the calls
 * that must abort. Rows: 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"
#include "rows/traffic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Random contents for an output that must not change when the answer is false. */
static int64_t *fill_words(mg_run *run, const char *name, int64_t words)
{
    int64_t *out = mg_inout(run, name, MT_I64, MT_SHAPE(words)), *copy = malloc(sizeof *copy * (size_t)words);
    MT_CHECK(copy, "out of memory for %lld words", (long long)words);
    for (int64_t i = 0; i < words; i++)
        copy[i] = out[i] = mg_pick(mg_rng(run), 1, MT_MAX_RANK);
    return copy;
}

const char *mg_00_text(const mt_view *view, const char *word, mt_shape shape)
{
    static char text[512];
    snprintf(text, sizeof text, "%s %s %s", mt_view_text(view), word, mt_shape_text(shape));
    return text;
}

/* The answer and, if it is false, the unchanged output. */
static bool expect_answer(mg_run *run, bool fits, const int64_t *before, int64_t words, const char *what)
{
    int64_t want = fits;
    return mg_expect_i64(run, "fits", &want, 1, what) &&
           (fits || mg_expect_i64(run, "out", before, words, "*out must not change"));
}

/* ---- 00.5 ----------------------------------------------------------------------------------- */

/* The view's elements under the larger shape: indices aligned at the end, 0 where the view has size 1. */
static int64_t *stretched(const mt_view *view, mt_shape shape)
{
    int64_t count = mg_count(shape.dim, shape.rank), samples = mg_samples(count), index[MT_MAX_RANK], own[MT_MAX_RANK];
    int64_t *elements = malloc(sizeof *elements * (size_t)mt_max(samples, 1));
    MT_CHECK(elements, "out of memory for %lld elements", (long long)samples);
    for (int64_t n = 0; n < samples; n++) {
        mg_unravel(index, mg_sample(count, n), shape.dim, shape.rank);
        for (int i = 0; i < view->rank; i++)
            own[i] = view->shape[i] == 1 ? 0 : index[shape.rank - view->rank + i];
        elements[n] = mg_offset(view, own);
    }
    return elements;
}

/* A shape the view can be broadcast to: up to two new dimensions in front, some sizes of 1 replaced by another size, or
 * 0. */
static mt_shape larger(mt_rng *rng, const mt_view *view)
{
    mt_shape shape = { .rank = (int)mt_min(view->rank + mt_rng_below(rng, 3), MT_MAX_RANK) };
    int more = shape.rank - view->rank;
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i < more                     ? mg_pick(rng, 1, 3)
                       : view->shape[i - more] != 1 ? view->shape[i - more]
                                                    : mg_pick(rng, 0, 4);
    return shape;
}

/* Change one dimension, or remove the first, so that the view cannot be broadcast to the shape. */
static void spoil(mt_rng *rng, mt_shape *shape, const mt_view *view)
{
    if (mt_rng_below(rng, 3) == 0 && view->rank > 1) {
        *shape = (mt_shape){ .rank = view->rank - 1 };
        memcpy(shape->dim, view->shape + 1, sizeof *shape->dim * (size_t)shape->rank);
        return;
    }
    int64_t at = mt_rng_below(rng, view->rank), size = view->shape[at];
    int64_t wrong[] = { 1, size + 1, 2 * size, 0 };
    shape->dim[shape->rank - view->rank + at] = wrong[mt_rng_below(rng, MT_COUNT(wrong))];
}

/* A view and a shape with a size of 0, or fewer dimensions, or the right size only if a stride of 0 meant a size of 1.
 */
static bool pick_given(const tensor_case *c, int t, mt_view *view, mt_shape *shape)
{
    static const struct {
        mt_view view;
        mt_shape shape;
    } fits[] = { { { .rank = 1, .shape = { 3 }, .stride = { 1 } }, { 2, { 0, 3 } } },
                 { { .offset = 2 }, { 1, { 0 } } } },
      refused[] = { { { .rank = 3, .shape = { 1, 1, 3 }, .stride = { 3, 3, 1 } }, { 1, { 3 } } },
                    { { .rank = 1, .shape = { 2 } }, { 1, { 4 } } } };
    if (c->spec.ones || t % 2 || t / 2 >= MT_COUNT(fits))
        return false;
    *view = c->fits ? fits[t / 2].view : refused[t / 2].view;
    *shape = c->fits ? fits[t / 2].shape : refused[t / 2].shape;
    return true;
}

void mg_00_broadcast(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    for (int t = 0; t < 2 * TRIES; t++) {
        mt_view view = c->fits && t == 4 ? mg_scalar_view(mg_rng(run)) : mg_nth_view(mg_rng(run), &c->spec, t);
        mt_shape shape = larger(mg_rng(run), &view);
        bool fits = c->fits || t % 2;
        bool is_given = pick_given(c, t, &view, &shape);
        if (!fits && !is_given && t % 3 == 1) /* a size of 0 is not a size of 1: it fits no other */
            view.shape[mt_rng_below(mg_rng(run), view.rank)] = 0;
        else if (!fits && !is_given)
            spoil(mg_rng(run), &shape, &view);
        mg_begin(run, "mt_view_broadcast");
        mg_out(run, "fits", MT_I64, MT_SHAPE(1));
        int64_t *before = fill_words(run, "out", 2 + 2 * MT_MAX_RANK);
        mg_in_view(run, "view", &view);
        mg_in_shape(run, "shape", shape);
        bool good =
            mg_call(run) && expect_answer(run, fits, before, 2 + 2 * MT_MAX_RANK, mg_00_text(&view, "to", shape));
        free(before);
        if (good && fits) {
            int64_t *elements = stretched(&view, shape);
            good = mg_expect_view(run, "out", shape, elements, &view);
            free(elements);
        }
        if (!good)
            return;
    }
}

/* b, to which a can be broadcast, but each may be the larger in some dimensions; some sizes of both become 0. Returns
 * their common shape. */
static mt_shape fit(mt_rng *rng, mt_shape *a, mt_shape *b)
{
    mt_shape want = *b;
    for (int i = 0, back = b->rank - a->rank; i < a->rank; i++) {
        int64_t how = a->dim[i] == 1 ? 0 : mt_rng_below(rng, 6);
        if (how == 1 || how == 2)
            b->dim[back + i] = 1;
        else if (how == 3)
            a->dim[i] = b->dim[back + i] = want.dim[back + i] = 0;
    }
    return want;
}

/* One size of both becomes different, neither of them 1: one is 0, or both are larger. The sizes of a are above 1. */
static void part(mt_rng *rng, mt_shape *a, mt_shape *b, bool zero)
{
    int64_t i = mt_rng_below(rng, a->rank), at = b->rank - a->rank + i;
    if (zero)
        *(mt_rng_below(rng, 2) ? &a->dim[i] : &b->dim[at]) = 0;
    else
        b->dim[at] += mg_pick(rng, 4, 6);
}

void mg_00_broadcast_shape(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    for (int t = 0; t < 4 * TRIES; t++) {
        bool fits = c->fits || t / 2 % 2;
        mt_view view =
            c->fits && (t == 0 || t == 4) ? mg_scalar_view(mg_rng(run)) : mg_nth_view(mg_rng(run), &c->spec, t);
        mt_shape a = mt_view_shape(&view), b = larger(mg_rng(run), &view), want = { 0 };
        if (c->fits && t == 0) /* of two scalars */
            b = a;
        if (fits)
            want = fit(mg_rng(run), &a, &b);
        else
            part(mg_rng(run), &a, &b, t % 8 < 4);
        mg_begin(run, "mt_view_broadcast_shape");
        mg_out(run, "fits", MT_I64, MT_SHAPE(1));
        int64_t *before = fill_words(run, "out", 1 + MT_MAX_RANK);
        mg_in_shape(run, "a", t % 2 ? a : b);
        mg_in_shape(run, "b", t % 2 ? b : a);
        char what[512];
        snprintf(what, sizeof what, "%s and %s", mt_shape_text(a), mt_shape_text(b));
        bool good = mg_call(run) && expect_answer(run, fits, before, 1 + MT_MAX_RANK, what);
        free(before);
        int64_t words[1 + MT_MAX_RANK] = { want.rank };
        memcpy(words + 1, want.dim, sizeof want.dim);
        if (!good || (fits && !mg_expect_i64(run, "out", words, 1 + want.rank, "rank, then sizes")))
            return;
    }
}

/* ---- 00.6 ----------------------------------------------------------------------------------- */

/* Whether strides exist under which `shape` shows these elements in this order. They are determined: a step along
 * dimension i is a step of `after` elements, the product of the dimensions after it. So compute them and compare every
 * element. */
static bool expressible(const int64_t *elements, mt_shape shape)
{
    int64_t count = mg_count(shape.dim, shape.rank), index[MT_MAX_RANK];
    if (count == 0)
        return true;
    mt_view forced = { .rank = shape.rank, .offset = elements[0] };
    for (int64_t i = shape.rank - 1, after = 1; i >= 0; after *= shape.dim[i], i--)
        forced.stride[i] = shape.dim[i] > 1 ? elements[after] - elements[0] : 0;
    for (int64_t n = 0; n < count; n++) {
        mg_unravel(index, n, shape.dim, shape.rank);
        if (mg_offset(&forced, index) != elements[n])
            return false;
    }
    return true;
}

mt_shape mg_00_random_factors(mt_rng *rng, int64_t count)
{
    mt_shape shape = { .rank = (int)mg_pick(rng, count > 1, 5) };
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = 1;
    if (count == 0 && shape.rank == 0)
        shape.rank = 1;
    if (count == 0)
        shape.dim[mt_rng_below(rng, shape.rank)] = 0;
    for (int64_t p = 2; count > 1; p++)
        for (; count % p == 0; count /= p)
            shape.dim[mt_rng_below(rng, shape.rank)] *= p;
    return shape;
}

/* A shape similar to the view's: two dimensions merged, one split, or a 1 inserted. It often needs no copy. */
static mt_shape nearby(mt_rng *rng, const mt_view *view)
{
    mt_shape shape = mt_view_shape(view);
    int at = (int)mt_rng_below(rng, shape.rank);
    int64_t size = shape.dim[at];
    at = shape.rank == MT_MAX_RANK && at > 0 ? at - 1 : at;
    if ((mt_rng_below(rng, 2) || shape.rank == MT_MAX_RANK) && at + 1 < shape.rank) {
        shape.dim[at] *= shape.dim[at + 1];
        shape.rank--;
        memmove(shape.dim + at + 1, shape.dim + at + 2, sizeof *shape.dim * (size_t)(shape.rank - at - 1));
        return shape;
    }
    int64_t factor = size % 2 == 0 && mt_rng_below(rng, 4) ? 2 : 1;
    memmove(shape.dim + at + 1, shape.dim + at, sizeof *shape.dim * (size_t)(shape.rank - at));
    shape.rank++;
    shape.dim[at] = factor;
    shape.dim[at + 1] = size / factor;
    return shape;
}

/* Two runs that do not merge, and a shape whose last sizes do not divide them: quotients rounded down seem to fit. */
static mt_view pick_rounded(mt_shape *shape, int64_t **elements, int t)
{
    static const int64_t cases[][5] = { { 4, 6, 2, 3, 4 }, { 6, 4, 2, 4, 3 } };
    const int64_t *c = cases[t];
    *shape = MT_SHAPE(c[2], c[3], c[4]);
    mt_view view = { .rank = 2, .shape = { c[0], c[1] }, .stride = { c[1] + 1, 1 }, .offset = 2 };
    *elements = mg_elements(&view);
    return view;
}

/* A view and a shape with as many elements, for which a view exists, or none. Row-major views fit any shape, so these
 * may be huge. Of the others some repeat elements, and some have 8 dimensions. */
static mt_view pick_reshape(mt_rng *rng, const mg_view_spec *spec, bool fits, mt_shape *shape, int64_t **elements,
                            int t)
{
    bool plain = fits && !spec->permuted && !spec->gaps && !spec->repeats;
    mg_view_spec strided = *spec;
    strided.repeats = spec->repeats || t % 4 >= 2;
    if (!fits && t < 4)
        return pick_rounded(shape, elements, t / 2);
    if (plain && spec->dim_high > 1 && t == 0) {
        mt_view view = { .rank = 2, .shape = { 6, 2 }, .stride = { 2, 1 }, .offset = 4 };
        *shape = MT_SHAPE(2, 1, 3, 1, 2, 1, 1, 1);
        *elements = mg_elements(&view);
        return view;
    }
    for (;;) {
        mt_view view = plain && t == 4 ? mg_scalar_view(rng)
                       : plain         ? mg_nth_view(rng, spec, t)
                       : t % 8 == 7    ? mg_rank_8_view(rng, &strided)
                                       : mg_random_view(rng, &strided);
        int64_t count = mg_count(view.shape, view.rank);
        for (int d = 0; d < view.rank && fits && !plain && t % 4 == 1; d++) /* one element, repeated, has any shape */
            view.stride[d] = 0;
        *shape =
            mt_rng_below(rng, 2) && view.rank > 0 && count > 0 ? nearby(rng, &view) : mg_00_random_factors(rng, count);
        *elements = mg_elements(&view);
        if (plain || expressible(*elements, *shape) == fits)
            return view;
        free(*elements);
    }
}

void mg_00_reshape(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    for (int t = 0; t < 4 * TRIES; t++) {
        bool fits = c->fits || t % 2;
        mt_shape shape;
        int64_t *elements;
        mt_view view = pick_reshape(mg_rng(run), &c->spec, fits, &shape, &elements, t);
        mg_begin(run, "mt_view_reshape");
        mg_out(run, "fits", MT_I64, MT_SHAPE(1));
        int64_t *before = fill_words(run, "out", 2 + 2 * MT_MAX_RANK);
        mg_in_view(run, "view", &view);
        mg_in_shape(run, "shape", shape);
        bool good = mg_call(run) &&
                    expect_answer(run, fits, before, 2 + 2 * MT_MAX_RANK, mg_00_text(&view, "to", shape)) &&
                    (!fits || mg_expect_view(run, "out", shape, elements, &view));
        free(before);
        free(elements);
        if (!good && mg_count(view.shape, view.rank) == 0)
            mg_note(run, "a view with 0 elements can have any shape with 0 elements, by which nothing is divided");
        if (!good)
            return;
    }
}

/* ---- 00.7 ----------------------------------------------------------------------------------- */

/* A view to copy: of ranks as the row has them, or 8, some with dimensions of size 1, whose strides must not matter. */
static mt_view pick_copied(mt_rng *rng, mg_view_spec spec, int t)
{
    if (t == 0 && spec.repeats) /* an index above 255 */
        return (mt_view){ .rank = 3, .shape = { 2, 300, 3 }, .stride = { 1, 0, 2 } };
    if (t == 1 && spec.permuted) /* as many elements as from the first to the last, but the middle is transposed */
        return (mt_view){ .rank = 4, .shape = { 3, 2, 4, 5 }, .stride = { 40, 5, 10, 1 }, .offset = 3 };
    if (t == 4 && spec.offset) /* more than a stack of 8 MiB */
        return (mt_view){ .rank = 2, .shape = { 2, 1100001 }, .stride = { 1100001, 1 }, .offset = 3 };
    if (t == 4 && spec.gaps && spec.permuted) /* an index above 65535 */
        return (mt_view){ .rank = 3, .shape = { 2, 70001, 2 }, .stride = { 210004, 3, 1 } };
    if (t == 5 && spec.gaps && spec.permuted) /* a long run with gaps */
        return (mt_view){ .rank = 1, .shape = { 70001 }, .stride = { 2 } };
    spec.ones = spec.ones || t % 4 == 2;
    mt_view view = t % 4 == 3 && spec.rank_high > 1 ? mg_rank_8_view(rng, &spec) : mg_random_view(rng, &spec);
    for (int d = 0; d < view.rank; d++)
        if (view.shape[d] == 1)
            view.stride[d] = mg_pick(rng, 0, 99);
    return view;
}

/* Any bytes; some elements are a negative zero or a signalling NaN, which arithmetic does not keep. */
static void fill_bytes(mt_rng *rng, char *to, int64_t n, int64_t size)
{
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = mt_rng_u64(rng);
        if (size > 2 && bits % 16 == 0)
            bits = 1ull << (8 * size - 1);
        else if (size > 2 && bits % 16 == 1)
            bits = size == 4 ? 0x7f800001 : 0x7ff0000000000001;
        memcpy(to + i * size, &bits, (size_t)size);
    }
}

static uint64_t bits_of(const char *element, int64_t size)
{
    uint64_t bits = 0;
    memcpy(&bits, element, (size_t)size);
    return bits;
}

static bool expect_copy(mg_run *run, const char *storage, const mt_view *view, int64_t size)
{
    const char *out = mg_result(run, "out");
    int64_t index[MT_MAX_RANK], count = mg_count(view->shape, view->rank);
    for (int64_t n = 0; n < count; n++) {
        mg_unravel(index, n, view->shape, view->rank);
        int64_t at = mg_offset(view, index);
        uint64_t got = bits_of(out + n * size, size), want = bits_of(storage + at * size, size);
        if (got == want)
            continue;
        mg_fail(run, "of %s: out[%lld] = 0x%llx   expected 0x%llx, the bytes of storage element %lld",
                mt_view_text(view), (long long)n, (unsigned long long)got, (unsigned long long)want, (long long)at);
        return false;
    }
    return true;
}

void mg_00_copy(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    const int64_t size = mt_dtype_size(c->dtype);
    for (int t = 0; t < TRIES; t++) {
        mt_view view = pick_copied(mg_rng(run), c->spec, t);
        int64_t count = mg_count(view.shape, view.rank), span = mg_span(&view);
        mg_begin(run, "mt_copy_strided");
        mg_out(run, "out", c->dtype, MT_SHAPE(count));
        char *storage = mg_in(run, "storage", c->dtype, MT_SHAPE(span));
        fill_bytes(mg_rng(run), storage, span, size);
        mg_in_view(run, "view", &view);
        mg_i64(run, "size", size);
        if (!(t == 2 ? mg_shared_call(run) : mg_call(run)) || !expect_copy(run, storage, &view, size))
            return;
    }
}
