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
    /* LAB 00.1 BEGIN  The number of elements.
     * Hint: a scalar has no dimension and one element; a dimension of 0 leaves none. */
    for (int d = 0; d < view->rank; d++)
        numel *= view->shape[d];
    /* LAB 00.1 END */
    return numel;
}

mt_view mt_view_contiguous(mt_shape shape)
{
    mt_view view = { .rank = shape.rank, .offset = 0 };
    mt_shape_numel(shape); /* aborts for an invalid shape */
    /* LAB 00.1 BEGIN  Shape and strides of an array whose rows follow each other.
     * Hint: go from the last dimension to the first. How many elements does a step in one of them skip? */
    int64_t below = 1; /* elements under one index of dimension d */
    for (int d = shape.rank - 1; d >= 0; d--) {
        view.shape[d] = shape.dim[d];
        view.stride[d] = below;
        below *= shape.dim[d];
    }
    /* LAB 00.1 END */
    return view;
}

bool mt_view_is_contiguous(const mt_view *view)
{
    if (mt_view_numel(view) == 0)
        return true;
    /* LAB 00.2 BEGIN  Are the strides those that mt_view_contiguous would give?
     * Hint: the stride of a dimension of size 1 is never used, so it must not matter. */
    int64_t below = 1;
    for (int d = view->rank - 1; d >= 0; d--) {
        if (view->shape[d] != 1 && view->stride[d] != below)
            return false;
        below *= view->shape[d];
    }
    return true;
    /* LAB 00.2 END */
}

int64_t mt_view_at(const mt_view *view, const int64_t *index)
{
    for (int d = 0; d < view->rank; d++)
        MT_CHECK(index[d] >= 0 && index[d] < view->shape[d], "index %" PRId64 " of dimension %d is outside %s",
                 index[d], d, mt_shape_text(mt_view_shape(view)));
    /* LAB 00.2 BEGIN  The storage element of an index.
     * Hint: the first lines of core/view.h say where it is. Which element is at (0, 0, ...)? */
    int64_t at = view->offset;
    for (int d = 0; d < view->rank; d++)
        at += index[d] * view->stride[d];
    return at;
    /* LAB 00.2 END */
}

void mt_view_unravel(const mt_view *view, int64_t n, int64_t *index)
{
    MT_CHECK(n >= 0 && n < mt_view_numel(view), "%s has no element number %" PRId64, mt_shape_text(mt_view_shape(view)),
             n);
    /* LAB 00.2 BEGIN  The index of the n-th element in row-major order.
     * Hint: as with hours, minutes and seconds: the last index is the remainder, and the quotient goes on to the next
     * dimension. */
    for (int d = view->rank - 1; d >= 0; d--) {
        index[d] = n % view->shape[d];
        n /= view->shape[d];
    }
    /* LAB 00.2 END */
}
