/* test_view.c -- the arithmetic of views and the copy against a naive oracle.
 *
 * The oracle (a "list") is the list of storage elements in row-major order, rearranged by the definition of each
 * operation; it has no strides. A view is correct if its elements equal the list's. */
#include "aborts.h"
#include "core/rng.h"
#include "core/view.h"

#include <stdlib.h>

enum { MOST = 3000, STORAGE = 4096 }; /* elements of a list, of the storage behind a view */

typedef struct list {
    mt_shape shape;
    int64_t at[MOST]; /* storage element of each element */
} list;

/* ---- the oracle ------------------------------------------------------------------------------ */

static int64_t count_of(mt_shape shape)
{
    int64_t count = 1;
    for (int d = 0; d < shape.rank; d++)
        count *= shape.dim[d];
    return count;
}

/* The next index in row-major order; false after the last. */
static bool next_index(mt_shape shape, int64_t *index)
{
    for (int d = shape.rank - 1; d >= 0; d--) {
        if (++index[d] < shape.dim[d])
            return true;
        index[d] = 0;
    }
    return false;
}

static int64_t look_up(const list *l, const int64_t *index)
{
    int64_t place = 0;
    for (int d = 0; d < l->shape.rank; d++)
        place = place * l->shape.dim[d] + index[d];
    return l->at[place];
}

static void list_row_major(list *l, mt_shape shape)
{
    l->shape = shape;
    for (int64_t i = 0; i < count_of(shape); i++)
        l->at[i] = i;
}

/* out's element at index i is from's element at from_index(i), for every i. */
#define REARRANGE(out, from, i, j, ...)                           \
    do {                                                          \
        int64_t i[MT_MAX_RANK] = { 0 }, j[MT_MAX_RANK] = { 0 };   \
        for (int64_t n_ = 0; n_ < count_of((out)->shape); n_++) { \
            __VA_ARGS__;                                          \
            (out)->at[n_] = look_up(from, j);                     \
            next_index((out)->shape, i);                          \
        }                                                         \
    } while (0)

static void list_permute(list *l, const int *order)
{
    static list from;
    from = *l;
    for (int d = 0; d < from.shape.rank; d++)
        l->shape.dim[d] = from.shape.dim[order[d]];
    REARRANGE(l, &from, i, j, for (int d = 0; d < from.shape.rank; d++) j[order[d]] = i[d]);
}

static void list_slice(list *l, int dim, int64_t start, int64_t stop, int64_t step)
{
    static list from;
    from = *l;
    l->shape.dim[dim] = 0;
    for (int64_t at = start; at < stop; at += step)
        l->shape.dim[dim]++;
    REARRANGE(l, &from, i, j, memcpy(j, i, sizeof j); j[dim] = start + i[dim] * step);
}

static void list_broadcast(list *l, mt_shape shape)
{
    static list from;
    from = *l;
    l->shape = shape;
    int missing = shape.rank - from.shape.rank;
    REARRANGE(l, &from, i, j,
              for (int d = 0; d < from.shape.rank; d++) j[d] = from.shape.dim[d] == 1 ? 0 : i[d + missing]);
}

/* ---- the comparison --------------------------------------------------------------------------- */

static int64_t naive_at(const mt_view *view, const int64_t *index)
{
    int64_t at = view->offset;
    for (int d = 0; d < view->rank; d++)
        at += index[d] * view->stride[d];
    return at;
}

static void check_copy(const mt_view *view, const list *l, int64_t size)
{
    static uint8_t storage[STORAGE * 8], out[MOST * 8 + 16];
    int64_t bytes = count_of(l->shape) * size;
    for (int64_t i = 0; i < STORAGE * 8; i++)
        storage[i] = (uint8_t)(i * 131 + (i >> 8) * 31);
    memset(out, 0xEE, sizeof out);
    mt_copy_strided(out + 8, storage, view, size);
    for (int64_t i = 0; i < count_of(l->shape); i++)
        cr_assert_arr_eq(out + 8 + i * size, storage + l->at[i] * size, (size_t)size,
                         "copy of %s: element %d of size %d", mt_view_text(view), (int)i, (int)size);
    for (int i = 0; i < 8; i++)
        cr_assert(out[i] == 0xEE && out[8 + bytes + i] == 0xEE, "copy of %s wrote outside", mt_view_text(view));
}

/* Checks all properties of a view. */
static void check_view(const mt_view *view, const list *l)
{
    int64_t index[MT_MAX_RANK] = { 0 }, found[MT_MAX_RANK], n = count_of(l->shape);
    bool neighbours = true;
    cr_assert(mt_shape_equal(mt_view_shape(view), l->shape), "%s should be %s", mt_view_text(view),
              mt_shape_text(l->shape));
    cr_assert_eq(mt_view_numel(view), n, "%s", mt_view_text(view));
    for (int64_t i = 0; i < n; i++, next_index(l->shape, index)) {
        cr_assert_eq(mt_view_at(view, index), l->at[i], "%s: element %d", mt_view_text(view), (int)i);
        mt_view_unravel(view, i, found);
        cr_assert_arr_eq(found, index, (size_t)view->rank * sizeof *index, "%s: index of element %d",
                         mt_view_text(view), (int)i);
        neighbours = neighbours && l->at[i] == l->at[0] + i;
    }
    cr_assert_eq(mt_view_is_contiguous(view), neighbours, "%s", mt_view_text(view));
    for (int64_t size = 1; size <= 8; size *= 2)
        check_copy(view, l, size);
}

/* Whether any strides at all give the list's elements under a shape: strides are forced by the index with a single
 * 1. */
static bool some_strides_fit(const list *l, mt_shape shape)
{
    mt_view view = { .rank = shape.rank, .offset = l->at[0] };
    int64_t index[MT_MAX_RANK] = { 0 }, below = 1;
    if (count_of(shape) == 0)
        return true;
    for (int d = shape.rank - 1; d >= 0; d--) {
        view.stride[d] = shape.dim[d] > 1 ? l->at[below] - l->at[0] : 0;
        below *= shape.dim[d];
    }
    for (int64_t i = 0; i < count_of(shape); i++, next_index(shape, index))
        if (naive_at(&view, index) != l->at[i])
            return false;
    return true;
}

/* Reshape succeeds exactly where strides exist, and then has the list's elements; otherwise out is unchanged. */
static bool check_reshape(const mt_view *view, const list *l, mt_shape shape)
{
    mt_view result = { .rank = -5 };
    int64_t index[MT_MAX_RANK] = { 0 };
    bool possible = some_strides_fit(l, shape);
    cr_assert_eq(mt_view_reshape(&result, view, shape), possible, "reshape %s to %s should be %s", mt_view_text(view),
                 mt_shape_text(shape), possible ? "possible" : "impossible");
    if (!possible) {
        cr_assert_eq(result.rank, -5, "a failed reshape changed its output");
        return false;
    }
    cr_assert(mt_shape_equal(mt_view_shape(&result), shape));
    for (int64_t i = 0; i < count_of(shape); i++, next_index(shape, index))
        cr_assert_eq(naive_at(&result, index), l->at[i], "reshape %s to %s: element %d", mt_view_text(view),
                     mt_shape_text(shape), (int)i);
    return true;
}

/* ---- random views ------------------------------------------------------------------------------ */

static mt_rng rng;

static int64_t below(int64_t n)
{
    return mt_rng_below(&rng, n);
}

static mt_shape random_shape(int64_t most)
{
    static const int64_t sizes[] = { 1, 1, 2, 2, 3, 4, 5, 7, 11, 13 };
    mt_shape shape = { .rank = (int)below(MT_MAX_RANK + 1) };
    int64_t count = 1;
    for (int d = 0; d < shape.rank; d++) {
        shape.dim[d] = below(40) == 0 ? 0 : sizes[below(MT_COUNT(sizes))];
        if (count * shape.dim[d] > most)
            shape.dim[d] = 1;
        count *= mt_max(shape.dim[d], 1);
    }
    return shape;
}

static void random_permute(mt_view *view, list *l)
{
    int64_t wide[MT_MAX_RANK];
    int order[MT_MAX_RANK];
    mt_rng_permutation(&rng, wide, view->rank);
    for (int d = 0; d < view->rank; d++)
        order[d] = (int)wide[d];
    *view = mt_view_permute(view, order);
    list_permute(l, order);
}

static void random_transpose(mt_view *view, list *l)
{
    if (view->rank == 0)
        return;
    int rank = view->rank, a = (int)below(rank), b = (int)below(rank), order[MT_MAX_RANK];
    for (int d = 0; d < rank; d++)
        order[d] = d == a ? b : d == b ? a : d;
    *view = mt_view_transpose(view, below(2) ? a : a - rank, below(2) ? b : b - rank);
    list_permute(l, order);
}

static void random_slice(mt_view *view, list *l)
{
    if (view->rank == 0)
        return;
    int dim = (int)below(view->rank);
    int64_t size = view->shape[dim], start = below(size + 1), stop = start + below(size - start + 1),
            step = 1 + below(4);
    *view = mt_view_slice(view, below(2) ? dim : dim - view->rank, start, stop, step);
    list_slice(l, dim, start, stop, step);
}

static void random_broadcast(mt_view *view, list *l)
{
    int extra = (int)below(MT_MAX_RANK - view->rank + 1);
    mt_shape shape = { .rank = view->rank + extra };
    for (int d = 0; d < shape.rank; d++) {
        int64_t size = d < extra ? 1 : view->shape[d - extra];
        shape.dim[d] = size == 1 && below(2) ? below(4) : size;
    }
    if (count_of(shape) > MOST)
        return;
    mt_view result;
    cr_assert(mt_view_broadcast(&result, view, shape), "%s should stretch to %s", mt_view_text(view),
              mt_shape_text(shape));
    *view = result;
    list_broadcast(l, shape);
}

/* A shape of `count` elements: prime factors dealt over a random number of dimensions, or any shape with a 0. */
static mt_shape random_shape_of(int64_t count)
{
    mt_shape shape = { .rank = count == 1 ? (int)below(MT_MAX_RANK + 1) : 1 + (int)below(MT_MAX_RANK) };
    for (int d = 0; d < shape.rank; d++)
        shape.dim[d] = 1;
    if (count == 0)
        shape.dim[below(shape.rank)] = 0;
    for (int64_t prime = 2; count > 1; prime++)
        for (; count % prime == 0; count /= prime)
            shape.dim[below(shape.rank)] *= prime;
    return shape;
}

static void random_reshape(mt_view *view, list *l)
{
    mt_shape shape = random_shape_of(count_of(l->shape));
    if (!check_reshape(view, l, shape))
        return;
    mt_view_reshape(view, view, shape); /* in place is allowed: out is written last */
    l->shape = shape;
}

Test(view, random_compositions)
{
    static void (*const moves[])(mt_view *, list *) = {
        random_permute, random_transpose, random_slice, random_broadcast, random_reshape,
    };
    static list l;
    rng = mt_rng_new(31, MT_STREAM_TEST);
    for (int round = 0; round < 1500; round++) {
        list_row_major(&l, random_shape(600));
        mt_view view = mt_view_contiguous(l.shape);
        check_view(&view, &l);
        for (int move = 0; move < 5; move++)
            moves[below(MT_COUNT(moves))](&view, &l);
        check_view(&view, &l);
        check_reshape(&view, &l, l.shape);
    }
}

/* ---- all small views ---------------------------------------------------------------------------- */

/* Every shape of up to 3 dimensions with this many elements, and some with ones in between. */
static void check_all_reshapes(const mt_view *view, const list *l)
{
    int64_t n = count_of(l->shape);
    for (int64_t a = 1; a <= n; a++)
        for (int64_t b = 1; n % a == 0 && b <= n / a; b++)
            if (n / a % b == 0) {
                int64_t c = n / a / b;
                check_reshape(view, l, MT_SHAPE(a, b, c));
                check_reshape(view, l, MT_SHAPE(1, a, 1, b, c, 1));
                if (a == 1)
                    check_reshape(view, l, MT_SHAPE(b, c));
            }
    if (n == 0)
        check_reshape(view, l, MT_SHAPE(3, 0, 2));
}

/* All shapes up to 4 x 4 x 4, in all 6 orders, sliced in one dimension in all ways with steps 1 and 2. */
Test(view, all_small_slices_of_all_small_permutations)
{
    static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    static list whole, part;
    for (int code = 0; code < 125 * 6; code++) {
        mt_shape shape = MT_SHAPE(code % 5, code / 5 % 5, code / 25 % 5);
        const int *order = orders[code / 125];
        mt_view contiguous = mt_view_contiguous(shape), permuted = mt_view_permute(&contiguous, order);
        list_row_major(&whole, shape);
        list_permute(&whole, order);
        int dim = code % 3;
        for (int64_t start = 0; start <= permuted.shape[dim]; start++)
            for (int64_t stop = start; stop <= permuted.shape[dim]; stop++)
                for (int64_t step = 1; step <= 2; step++) {
                    mt_view view = mt_view_slice(&permuted, dim, start, stop, step);
                    part = whole;
                    list_slice(&part, dim, start, stop, step);
                    check_view(&view, &part);
                    check_all_reshapes(&view, &part);
                }
    }
}
