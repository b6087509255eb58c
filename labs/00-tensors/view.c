/* view.c -- shapes, strides and offsets: where the elements of an array in row-major order are in memory.
 *
 *   memory                 a b c d e f                           element (i,j) is at
 *   [2,3] stride [3,1]     a b c / d e f                         0 + 3i + 1j
 *
 * Nothing here accesses the elements; every function computes a few integers from a few integers. Other views
 * of the same memory (transposed, sliced, broadcast): strides.c. */
#include "core/view.h"

#include <inttypes.h>

int64_t mt_view_numel(const mt_view *view)
{
    int64_t numel = 1;
    /* TODO 00.1: The number of elements.
     * Hint: a scalar has no dimension and one element; a dimension of 0 leaves none. */
    MT_TODO("00.1"); /* delete this line when yours stands here */
    return numel;
}

mt_view mt_view_contiguous(mt_shape shape)
{
    mt_view view = { .rank = shape.rank, .offset = 0 };
    mt_shape_numel(shape); /* aborts for an invalid shape */
    /* TODO 00.1: Shape and strides of an array whose rows follow each other.
     * Hint: go from the last dimension to the first. How many elements does a step in one of them skip? */
    MT_TODO("00.1"); /* delete this line when yours stands here */
    return view;
}

bool mt_view_is_contiguous(const mt_view *view)
{
    if (mt_view_numel(view) == 0)
        return true;
    /* TODO 00.2: Are the strides those that mt_view_contiguous would give?
     * Hint: the stride of a dimension of size 1 is never used, so it must not matter. */
    MT_TODO("00.2"); /* delete this line when yours stands here */
}

int64_t mt_view_at(const mt_view *view, const int64_t *index)
{
    for (int d = 0; d < view->rank; d++)
        MT_CHECK(index[d] >= 0 && index[d] < view->shape[d], "index %" PRId64 " of dimension %d is outside %s",
                 index[d], d, mt_shape_text(mt_view_shape(view)));
    /* TODO 00.2: The storage element of an index.
     * Hint: the first lines of core/view.h say where it is. Which element is at (0, 0, ...)? */
    MT_TODO("00.2"); /* delete this line when yours stands here */
}

void mt_view_unravel(const mt_view *view, int64_t n, int64_t *index)
{
    MT_CHECK(n >= 0 && n < mt_view_numel(view), "%s has no element number %" PRId64, mt_shape_text(mt_view_shape(view)),
             n);
    /* TODO 00.2: The index of the n-th element in row-major order.
     * Hint: as with hours, minutes and seconds: the last index is the remainder, and the quotient goes on to the next
     * dimension. */
    MT_TODO("00.2"); /* delete this line when yours stands here */
}
