/* strides.c -- the same memory as another array: a matrix, its transpose or a slice of it.
 *
 *   memory                 a b c d e f                           element (i,j) is at
 *   [2,3] stride [3,1]     a b c / d e f                         0 + 3i + 1j
 *   its transpose [3,2]    a d / b e / c f      stride [1,3]     0 + 1i + 3j
 *   its last column [2]    c f                  stride [3]       2 + 3i
 *   a row repeated [4,3]   a b c / a b c / ...  stride [0,1]     0 + 0i + 1j
 *
 * No function moves an element; each computes another shape, stride and offset. */
#include "core/view.h"

#include <inttypes.h>

/* dim counted from the front; aborts when the view has no such dimension. */
static int counted(const mt_view *view, int dim)
{
    int from_front = dim < 0 ? dim + view->rank : dim;
    MT_CHECK(from_front >= 0 && from_front < view->rank, "%s has no dimension %d", mt_shape_text(mt_view_shape(view)),
             dim);
    return from_front;
}

mt_view mt_view_permute(const mt_view *view, const int *order)
{
    mt_view result = *view;
    unsigned seen = 0;
    for (int i = 0; i < view->rank; i++) {
        MT_CHECK(order[i] >= 0 && order[i] < view->rank && !(seen & 1u << order[i]),
                 "permute %s: order[%d] = %d is out of range or occurs twice", mt_shape_text(mt_view_shape(view)), i,
                 order[i]);
        seen |= 1u << order[i];
    }
    /* LAB 00.3 BEGIN  Dimension i of the result is dimension order[i] of the view.
     * Hint: a dimension has a size and a stride; move both. */
    for (int i = 0; i < view->rank; i++) {
        result.shape[i] = view->shape[order[i]];
        result.stride[i] = view->stride[order[i]];
    }
    /* LAB 00.3 END */
    return result;
}

mt_view mt_view_transpose(const mt_view *view, int d0, int d1)
{
    d0 = counted(view, d0);
    d1 = counted(view, d1);
    /* LAB 00.3 BEGIN  Swap two dimensions.
     * Hint: it is a permutation that moves only d0 and d1. */
    int order[MT_MAX_RANK];
    for (int d = 0; d < view->rank; d++)
        order[d] = d;
    order[d0] = d1;
    order[d1] = d0;
    return mt_view_permute(view, order);
    /* LAB 00.3 END */
}

mt_view mt_view_slice(const mt_view *view, int dim, int64_t start, int64_t stop, int64_t step)
{
    mt_view result = *view;
    int d = counted(view, dim);
    MT_CHECK(0 <= start && start <= stop && stop <= view->shape[d] && step >= 1,
             "slice %" PRId64 ":%" PRId64 ":%" PRId64 " does not lie in dimension %d of %s", start, stop, step, d,
             mt_shape_text(mt_view_shape(view)));
    step = mt_min(step, mt_max(stop - start, 1)); /* a longer step is equivalent, and could overflow below */
    /* LAB 00.4 BEGIN  Every step-th index from start, below stop.
     * Hint: what is the offset of index 0 now, what is the stride, and how many elements are there if step does not
     * divide the distance? 0:5:2 selects 0, 2 and 4. */
    result.offset += start * view->stride[d];
    result.stride[d] *= step;
    result.shape[d] = (stop - start + step - 1) / step;
    /* LAB 00.4 END */
    return result;
}

/* ---- broadcasting ------------------------------------------------------------------------------ */

bool mt_view_broadcast(mt_view *out, const mt_view *view, mt_shape shape)
{
    mt_view result = { .rank = shape.rank, .offset = view->offset };
    int missing = shape.rank - view->rank; /* dimensions that the view lacks at the front */
    if (missing < 0)
        return false;
    /* LAB 00.5 BEGIN  Broadcast the view to the shape, with dimensions aligned at the end.
     * Hint: a stride of 0 repeats the same element; only a missing dimension or one of size 1 may be broadcast. */
    for (int d = 0; d < shape.rank; d++) {
        int from = d - missing;
        result.shape[d] = shape.dim[d];
        if (from >= 0 && view->shape[from] == shape.dim[d])
            result.stride[d] = view->stride[from];
        else if (from < 0 || view->shape[from] == 1)
            result.stride[d] = 0;
        else
            return false;
    }
    /* LAB 00.5 END */
    *out = result;
    return true;
}

bool mt_view_broadcast_shape(mt_shape *out, mt_shape a, mt_shape b)
{
    mt_shape result = { .rank = (int)mt_max(a.rank, b.rank) };
    /* LAB 00.5 BEGIN  The shape to which both a and b can be broadcast.
     * Hint: count dimensions from the end; a missing dimension counts as a 1. */
    for (int back = 1; back <= result.rank; back++) {
        int64_t in_a = back <= a.rank ? a.dim[a.rank - back] : 1;
        int64_t in_b = back <= b.rank ? b.dim[b.rank - back] : 1;
        if (in_a != in_b && in_a != 1 && in_b != 1)
            return false;
        result.dim[result.rank - back] = in_a == 1 ? in_b : in_a;
    }
    /* LAB 00.5 END */
    *out = result;
    return true;
}

/* ---- reshape ------------------------------------------------------------------------------------ */

/* The same elements in the same order with as few dimensions as possible, none of size 1; call these "runs".
 * [2,3,4] stride [12,4,1] is one run of 24; its slice [2,3,2] stride [12,4,1] is a run of 6 times a run of 2. */
static mt_view merge_runs(const mt_view *view)
{
    mt_view runs = { .rank = 0, .offset = view->offset };
    /* LAB 00.6 BEGIN  Merge neighbouring dimensions whose strides match.
     * Hint: when is a step in the outer dimension the same as going past the end of the inner one? Otherwise a new
     * run begins; a dimension of size 1 is never stepped along. */
    for (int d = 0; d < view->rank; d++) {
        int last = runs.rank - 1;
        if (view->shape[d] == 1)
            continue;
        if (last >= 0 && runs.stride[last] == view->stride[d] * view->shape[d]) {
            runs.shape[last] *= view->shape[d];
            runs.stride[last] = view->stride[d];
        } else {
            runs.shape[runs.rank] = view->shape[d];
            runs.stride[runs.rank++] = view->stride[d];
        }
    }
    /* LAB 00.6 END */
    return runs;
}

bool mt_view_reshape(mt_view *out, const mt_view *view, mt_shape shape)
{
    mt_view result = mt_view_contiguous(shape);
    MT_CHECK(mt_shape_numel(shape) == mt_view_numel(view), "reshape: %s has %" PRId64 " elements, %s has %" PRId64,
             mt_shape_text(mt_view_shape(view)), mt_view_numel(view), mt_shape_text(shape), mt_shape_numel(shape));
    result.offset = view->offset;
    if (mt_view_numel(view) > 0) { /* strides of an empty view are never used */
        mt_view runs = merge_runs(view);
        /* LAB 00.6 BEGIN  Divide the runs into the new dimensions, from the last to the first.
         * Hint: a run may be divided into several dimensions, but no dimension may contain elements of two runs. */
        int run = runs.rank;
        int64_t left = 1, stride = 1; /* of this run: elements not used yet, and the distance between them */
        for (int d = shape.rank - 1; d >= 0; d--) {
            if (left == 1 && shape.dim[d] != 1) {
                left = runs.shape[--run];
                stride = runs.stride[run];
            }
            if (left % shape.dim[d] != 0)
                return false;
            result.stride[d] = stride;
            left /= shape.dim[d];
            stride *= shape.dim[d];
        }
        /* LAB 00.6 END */
    }
    *out = result;
    return true;
}
