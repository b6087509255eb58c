/* view.h -- the layout of an n-dimensional array in memory: shape, stride, offset. No data, no allocation.
 *
 * Element (i0, i1, ...) of a view is element  offset + i0*stride[0] + i1*stride[1] + ...  of its storage, all counted
 * in elements. Transposing, slicing and broadcasting change only these numbers. Several threads may call each function
 * at once.
 * Units: solutions/00-tensors/view.c (00.1-2), strides.c (00.3-6) and copy.c (00.7).   Lab 00 */
#pragma once

#include "core/base.h"
#include "core/dtype.h"

MT_C_BEGIN

#define MT_MAX_RANK 8

/* A shape as functions take it: MT_SHAPE(64, 784), or MT_SCALAR for rank 0. */
typedef struct mt_shape {
    int rank;
    int64_t dim[MT_MAX_RANK];
} mt_shape;

#define MT_SHAPE(...) \
    ((mt_shape){ .rank = (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)), .dim = { __VA_ARGS__ } })
#define MT_SCALAR ((mt_shape){ .rank = 0 })

typedef struct mt_view {
    int rank;                    /* 0 .. MT_MAX_RANK; a scalar has rank 0 and one element */
    int64_t shape[MT_MAX_RANK];  /* each >= 0 */
    int64_t stride[MT_MAX_RANK]; /* elements between neighbours; 0 repeats one element (broadcast); never negative */
    int64_t offset;              /* storage element of index (0, 0, ...) */
} mt_view;

/* mt_view_numel -- how many elements: the product of the shape, 1 for a scalar.   Lab 00.1 */
int64_t mt_view_numel(const mt_view *view);

/* mt_view_contiguous -- the row-major view of a shape at offset 0: stride[rank-1] = 1, each stride the product of the
 * dimensions after it.   Lab 00.1 */
mt_view mt_view_contiguous(mt_shape shape);

/* mt_view_is_contiguous -- whether elements in row-major order are neighbours in storage (any offset). Dimensions of
 * size 1 do not matter; an empty view is contiguous.   Lab 00.2 */
bool mt_view_is_contiguous(const mt_view *view);

/* mt_view_at -- storage element of index[0..rank-1].   Aborts: an index out of range, naming it.   Lab 00.2 */
int64_t mt_view_at(const mt_view *view, const int64_t *index);

/* mt_view_unravel -- the index of the n-th element in row-major order, 0 <= n < numel.   Lab 00.2 */
void mt_view_unravel(const mt_view *view, int64_t n, int64_t *index);

/* mt_view_permute -- dimension i of the result is dimension order[i] of the view; transpose is a permute of two.
 * Aborts: order is not a permutation of 0 .. rank-1.   Lab 00.3 */
mt_view mt_view_permute(const mt_view *view, const int *order);

/* mt_view_transpose -- dimensions d0 and d1, which may be the same, swapped; negative ones count from the end.
 * Lab 00.3 */
mt_view mt_view_transpose(const mt_view *view, int d0, int d1);

/* mt_view_slice -- indices start, start+step, ... below stop of dimension dim (negative dims count from the end);
 * 0 <= start <= stop <= shape[dim], step >= 1; a step beyond stop counts as stop - start.   Aborts: anything else.
 * Lab 00.4 */
mt_view mt_view_slice(const mt_view *view, int dim, int64_t start, int64_t stop, int64_t step);

/* mt_view_broadcast -- the view stretched to shape: dimensions align at the end, size 1 and missing ones repeat with
 * stride 0. False, *out unchanged, when shapes do not fit.   Source: NumPy, "Broadcasting".   Lab 00.5 */
bool mt_view_broadcast(mt_view *out, const mt_view *view, mt_shape shape);

/* mt_view_broadcast_shape -- the common shape of two operands; false, *out unchanged, when there is none.   Lab 00.5 */
bool mt_view_broadcast_shape(mt_shape *out, mt_shape a, mt_shape b);

/* mt_view_reshape -- the same elements, in the same row-major order, under a new shape of as many elements, without
 * moving any. False, *out unchanged, when no strides describe that (a copy is needed).
 * Aborts: the number of elements differs.   Lab 00.6 */
bool mt_view_reshape(mt_view *out, const mt_view *view, mt_shape shape);

/* mt_copy_strided -- out[0..numel-1] = the view's elements in row-major order.
 *   out  [numel] of `size`-byte elements, overwritten, must not alias storage
 *   storage      the view's storage; size is 1, 2, 4 or 8
 * Moves: reads and writes size * numel B; a run of neighbours is one memcpy.   Lab 00.7 */
void mt_copy_strided(void *out, const void *storage, const mt_view *view, int64_t size);

/* ---- given, in core/shape.c ----------------------------------------------------------------- */

/* mt_shape_numel -- product of the dimensions.  Aborts: a rank outside 0 .. 8, a negative dimension, or more elements
 * than can be counted in bytes. */
int64_t mt_shape_numel(mt_shape shape);
bool mt_shape_equal(mt_shape a, mt_shape b);
mt_shape mt_view_shape(const mt_view *view);

/* mt_shape_text, mt_view_text -- "[64,784]" and "[64,784] stride [784,1] offset 0" for messages; valid until 8 more
 * calls in this thread. */
const char *mt_shape_text(mt_shape shape);
const char *mt_view_text(const mt_view *view);

MT_C_END
