/* 00-reshape.c -- how the checks of steps 00.5 to 00.7 run: broadcasting, reshaping, copying; 00-aborts.c has the calls
 * that must abort. Rows: 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"
#include "rows/traffic.h"

#include <stdio.h>
#include <string.h>

const char *mg_00_text(const mt_view *view, const char *word, mt_shape shape)
{
    static char text[512];
    snprintf(text, sizeof text, "%s %s %s", mt_view_text(view), word, mt_shape_text(shape));
    return text;
}

/* Calls with a view and a shape; want: the right result. NULL: the answer is false, and the output does not change. */
static bool fits_once(mg_run *run, const char *function, mt_view view, mt_shape shape, const mt_view *want)
{
    int64_t before[MG_VIEW_WORDS];
    const bool fits = want != NULL;
    mg_begin(run, function);
    mg_out(run, "fits", MT_I64, MT_SHAPE(1));
    int64_t *out = mg_inout(run, "out", MT_I64, MT_SHAPE(MG_VIEW_WORDS));
    for (int i = 0; i < MG_VIEW_WORDS; i++)
        before[i] = out[i] = mg_pick(mg_rng(run), 1, MT_MAX_RANK);
    mg_in_view(run, "view", &view);
    mg_in_shape(run, "shape", shape);
    return mg_returns(run, "fits", fits, mg_00_text(&view, "to", shape)) &&
           (fits ? mg_expect_view(run, want, &view) : mg_is(run, "out", before, MG_VIEW_WORDS, "*out must not change"));
}

/* ---- 00.5 ----------------------------------------------------------------------------------- */

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

/* The view's elements under the larger shape: aligned at the end, with a stride of 0 where the view has size 1. */
static bool broadcast_once(mg_run *run, mt_view view, mt_shape shape, bool fits)
{
    mt_view want = { .rank = shape.rank, .offset = view.offset };
    memcpy(want.shape, shape.dim, sizeof want.shape);
    for (int i = 0, at = shape.rank - view.rank; i < view.rank && fits; i++)
        want.stride[at + i] = view.shape[i] == 1 ? 0 : view.stride[i];
    return fits_once(run, "mt_view_broadcast", view, shape, fits ? &want : NULL);
}

/* A shape that fits and, in rows of others, two that do not: a size of 0 is not a size of 1, and fits no other. */
static bool broadcasts_once(mg_run *run, const tensor_case *c, mt_view view)
{
    mt_shape shape = larger(mg_rng(run), &view), other = shape;
    if (!broadcast_once(run, view, shape, true) || c->fits)
        return c->fits;
    spoil(mg_rng(run), &other, &view);
    if (!broadcast_once(run, view, other, false))
        return false;
    view.shape[mt_rng_below(mg_rng(run), view.rank)] = 0;
    return broadcast_once(run, view, shape, false);
}

void mg_00_broadcast(mg_run *run, const void *one_case)
{
#define SCALAR "a scalar fits every shape, also one with sizes of 0"
#define FEWER  "leave out no dimension of the view, not even one of size 1"
    static const struct {
        bool fits;
        const char *part, *hint;
        mt_view view;
        mt_shape shape;
    } given[] = {
        { true, "a new size of 0", "a new dimension may have size 0", { 1, { 3 }, { 1 }, 0 }, { 2, { 0, 3 } } },
        { true, "a scalar to no elements", SCALAR, { .offset = 2 }, { 1, { 0 } } },
        { true, "a scalar", SCALAR, { .offset = 3 }, { 2, { 2, 3 } } },
        { false, "fewer dimensions", FEWER, { 3, { 1, 1, 3 }, { 3, 3, 1 }, 0 }, { 1, { 3 } } },
        { false, "a stride of 0", "only a size of 1 can grow", { .rank = 1, .shape = { 2 } }, { 1, { 4 } } },
    };
    const tensor_case *c = one_case;
    bool good = mg_00_each_view(run, c, broadcasts_once, NULL, 0);
    for (int i = 0; i < MT_COUNT(given) && good; i++) {
        mg_part(run, given[i].part, "%s", given[i].hint);
        good = given[i].fits != c->fits || broadcast_once(run, given[i].view, given[i].shape, c->fits);
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
static void differ(mt_rng *rng, mt_shape *a, mt_shape *b, bool zero)
{
    int64_t i = mt_rng_below(rng, a->rank), at = b->rank - a->rank + i;
    if (zero)
        *(mt_rng_below(rng, 2) ? &a->dim[i] : &b->dim[at]) = 0;
    else
        b->dim[at] += mg_pick(rng, 4, 6);
}

/* want NULL: there is no common shape. */
static bool common_once(mg_run *run, mt_shape a, mt_shape b, const mt_shape *want)
{
    enum { WORDS = 1 + MT_MAX_RANK };
    int64_t words[WORDS], n = want ? 1 + want->rank : WORDS;
    const bool fits = want != NULL;
    char what[512];
    mg_begin(run, "mt_view_broadcast_shape");
    mg_out(run, "fits", MT_I64, MT_SHAPE(1));
    int64_t *out = mg_inout(run, "out", MT_I64, MT_SHAPE(WORDS));
    for (int i = 0; i < WORDS; i++)
        words[i] = out[i] = mg_pick(mg_rng(run), 1, MT_MAX_RANK);
    mg_in_shape(run, "a", a);
    mg_in_shape(run, "b", b);
    snprintf(what, sizeof what, "%s and %s", mt_shape_text(a), mt_shape_text(b));
    if (want) {
        words[0] = want->rank;
        memcpy(words + 1, want->dim, sizeof want->dim);
    }
    return mg_returns(run, "fits", fits, what) &&
           mg_is(run, "out", words, n, fits ? "rank, then sizes" : "*out must not change");
}

/* A common shape and, in rows of shapes that have none, two pairs of such; in both orders. */
static bool commons_once(mg_run *run, const tensor_case *c, mt_view view)
{
    for (int zero = 0; zero < 2; zero++) {
        mt_shape a = mt_view_shape(&view), b = larger(mg_rng(run), &view), want = fit(mg_rng(run), &a, &b);
        if (!common_once(run, a, b, &want) || !common_once(run, b, a, &want))
            return false;
        a = mt_view_shape(&view), b = larger(mg_rng(run), &view);
        if (!c->fits)
            differ(mg_rng(run), &a, &b, zero);
        if (!c->fits && (!common_once(run, a, b, NULL) || !common_once(run, b, a, NULL)))
            return false;
    }
    return true;
}

void mg_00_broadcast_shape(mg_run *run, const void *one_case)
{
    static const mg_00_view scalar = { "a scalar and a view",
                                       "a scalar and a shape have that shape in common",
                                       { .rank = 0 } };
    const tensor_case *c = one_case;
    if (!mg_00_each_view(run, c, commons_once, &scalar, c->fits))
        return;
    mg_part(run, "two scalars", "the common shape of two scalars is that of a scalar");
    if (c->fits)
        common_once(run, MT_SCALAR, MT_SCALAR, &MT_SCALAR);
}

/* ---- 00.6 ----------------------------------------------------------------------------------- */

/* Whether strides exist under which `shape` shows the elements of the view in this order; *to is that view. They are
 * determined: a step along dimension i is a step of `after` elements, the product of the dimensions after it. So
 * compute them and compare the elements. */
static bool expressible(mt_view *to, const mt_view *view, mt_shape shape)
{
    int64_t count = mg_count(shape.dim, shape.rank);
    *to = (mt_view){ .rank = shape.rank, .offset = count ? mg_nth(view, 0) : 0 };
    memcpy(to->shape, shape.dim, sizeof to->shape);
    for (int64_t i = shape.rank - 1, after = 1; i >= 0 && count > 0; after *= shape.dim[i], i--)
        to->stride[i] = shape.dim[i] > 1 ? mg_nth(view, after) - to->offset : 0;
    for (int64_t i = 0; i < mg_samples(count); i++)
        if (mg_nth(to, mg_sample(count, i)) != mg_nth(view, mg_sample(count, i)))
            return false;
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

static mt_shape new_shape(mt_rng *rng, const mt_view *view)
{
    int64_t count = mg_count(view->shape, view->rank);
    return mt_rng_below(rng, 2) && view->rank > 0 && count > 0 ? nearby(rng, view) : mg_00_random_factors(rng, count);
}

static bool reshape_once(mg_run *run, mt_view view, mt_shape shape)
{
    mt_view want;
    bool fits = expressible(&want, &view, shape);
    return fits_once(run, "mt_view_reshape", view, shape, fits ? &want : NULL);
}

/* A row-major view fits any shape, so it may be large. */
static bool reshape_plain(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    return reshape_once(run, view, new_shape(mg_rng(run), &view));
}

/* A shape for which a view exists and, in a row of others, one for which none does. */
static bool reshape_strided(mg_run *run, const tensor_case *c, mt_view view)
{
    mt_view to;
    for (int fits = 1; fits >= c->fits; fits--)
        for (int tries = 0; tries < 100; tries++) {
            mt_shape shape = new_shape(mg_rng(run), &view);
            if (expressible(&to, &view, shape) != fits)
                continue;
            if (!reshape_once(run, view, shape))
                return false;
            break;
        }
    return true;
}

void mg_00_reshape(mg_run *run, const void *one_case)
{
    static const mg_00_view scalar = { "a scalar", NULL, { .offset = 7 } },
                            same = { "one element, repeated",
                                     "all strides of the view are 0, and so are those of the result",
                                     { .rank = 3, .shape = { 4, 3, 2 }, .offset = 3 } };
    const mt_view six = { .rank = 2, .shape = { 6, 2 }, .stride = { 2, 1 }, .offset = 4 },
                  long_runs = { .rank = 2, .shape = { 4, 6 }, .stride = { 7, 1 }, .offset = 2 },
                  short_runs = { .rank = 2, .shape = { 6, 4 }, .stride = { 5, 1 }, .offset = 2 };
    tensor_case c = *(const tensor_case *)one_case;
    if (c.fits && !c.spec.permuted) {
        if (!mg_00_each_view(run, &c, reshape_plain, &scalar, c.spec.dim_high > 1))
            return;
        mg_part(run, "new sizes of 1, 8 dimensions in all", NULL);
        if (c.spec.dim_high > 1)
            reshape_once(run, six, MT_SHAPE(2, 1, 3, 1, 2, 1, 1, 1));
        return;
    }
    c.spec.small = 1;
    if (!mg_00_each_view(run, &c, reshape_strided, &same, c.fits))
        return;
    c.spec.repeats = 1;
    mg_part(run, "repeated elements",
            "a stride of 0 is a stride like any other: the same rules say what can be merged and split");
    if (!mg_00_each_view(run, &c, reshape_strided, NULL, 0))
        return;
    mg_part(run, "sizes that do not divide",
            "dimensions that merge form one run of elements: some of the new sizes must have exactly its length as "
            "their product");
    if (!c.fits && reshape_once(run, long_runs, MT_SHAPE(2, 3, 4)))
        reshape_once(run, short_runs, MT_SHAPE(2, 4, 3));
}

/* ---- 00.7 ----------------------------------------------------------------------------------- */

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

static bool copied(mg_run *run, const tensor_case *c, mt_view view, bool searched)
{
    const int64_t size = mt_dtype_size(c->dtype), span = mg_span(&view);
    for (int d = 0; d < view.rank; d++)
        if (view.shape[d] == 1)
            view.stride[d] = mg_pick(mg_rng(run), 0, 99);
    mg_begin(run, "mt_copy_strided");
    mg_out(run, "out", c->dtype, MT_SHAPE(mg_count(view.shape, view.rank)));
    char *storage = mg_in(run, "storage", c->dtype, MT_SHAPE(span));
    fill_bytes(mg_rng(run), storage, span, size);
    mg_in_view(run, "view", &view);
    mg_i64(run, "size", size);
    return (searched ? mg_shared_call(run) : mg_call(run)) && expect_copy(run, storage, &view, size);
}

static bool copy_once(mg_run *run, const tensor_case *c, mt_view view)
{
    return copied(run, c, view, false);
}

void mg_00_copy(mg_run *run, const void *one_case)
{
    static const mg_00_view large = { "a large array",
                                      "the array may be larger than the stack: allocate none of its size there",
                                      { .rank = 2, .shape = { 2, 1100001 }, .stride = { 1100001, 1 }, .offset = 3 } },
                            repeated = { "an index above 255",
                                         "sizes and indices are int64_t",
                                         { .rank = 3, .shape = { 2, 300, 3 }, .stride = { 1, 0, 2 } } },
                            strided[] = {
                                { "only the middle permuted",
                                  "the first and the last element do not tell whether there are gaps",
                                  { .rank = 4, .shape = { 3, 2, 4, 5 }, .stride = { 40, 5, 10, 1 }, .offset = 3 } },
                                { "an index above 65535",
                                  "sizes and indices are int64_t",
                                  { .rank = 3, .shape = { 2, 70001, 2 }, .stride = { 210004, 3, 1 } } },
                                { "a long run with gaps",
                                  "a run of elements may be longer than 65,535",
                                  { .rank = 1, .shape = { 70001 }, .stride = { 2 } } },
                            };
    tensor_case c = *(const tensor_case *)one_case;
    c.spec.small = 1;
    const mg_00_view *given = c.spec.offset ? &large : c.spec.repeats ? &repeated : strided;
    const int count = given != strided ? 1 : c.spec.permuted ? MT_COUNT(strided) : 0;
    if (!mg_00_each_view(run, &c, copy_once, given, count))
        return;
    mg_part(run, "several threads", NULL);
    if (!copied(run, &c, mg_random_view(mg_rng(run), &c.spec, MG_VIEW_ANY), true))
        return;
    mg_part(run, "sizes of 1", "the stride of a dimension of size 1 is never used");
    c.spec.ones = c.spec.dim_low > 1;
    for (int t = 0; t < 3; t++)
        if (!copy_once(run, &c, mg_random_view(mg_rng(run), &c.spec, MG_VIEW_ANY)))
            return;
}
