/* 00-views.h -- random views, and the list of storage elements of a view in row-major order.
 *
 * Two views with the same shape and the same list are equal, whatever the strides of dimensions of size 1 and of empty
 * views are. So the checks of lab 00 compare lists and accept every right answer. A view needs no memory, and every
 * third one has more elements than an int can count; the list of such a view is a sample. Nothing here calls a unit. */
#pragma once

#include "check.h"

/* What a random view is like. Zero means no. */
typedef struct mg_view_spec {
    int rank_low, rank_high;
    int64_t dim_low, dim_high;
    int ones;     /* about every second dimension has size 1 */
    int permuted; /* the dimensions are stored in a random order */
    int offset;   /* element 0 is not the storage's first */
    int gaps;     /* unused storage elements between neighbours; an offset too */
    int repeats;  /* about every third dimension has stride 0 */
} mg_view_spec;

mt_view mg_random_view(mt_rng *rng, const mg_view_spec *spec);
mt_shape mg_random_shape(mt_rng *rng, const mg_view_spec *spec);

/* mg_nth_view -- a random view. For t = 2, 5, 8 ... a huge one, if sizes above 1 are allowed, with no prime factor
 * above 7; for even t one dimension alone is huge. For t = 3, 7, 11 ... one with MT_MAX_RANK dimensions, if several are
 * allowed. */
mt_view mg_nth_view(mt_rng *rng, const mg_view_spec *spec, int t);

/* mg_rank_8_view -- one with MT_MAX_RANK dimensions of 1 to 3, and at most as many elements as are all compared. */
mt_view mg_rank_8_view(mt_rng *rng, const mg_view_spec *spec);

/* mg_scalar_view -- one element, not the storage's first. */
mt_view mg_scalar_view(mt_rng *rng);

/* mg_random_order -- a random permutation of 0 .. rank-1. */
void mg_random_order(mt_rng *rng, int64_t *order, int rank);

int64_t mg_count(const int64_t *dim, int rank); /* the product of the dimensions */

/* mg_unravel -- the n-th index in row-major order. */
void mg_unravel(int64_t *index, int64_t n, const int64_t *dim, int rank);

/* mg_ravel -- the inverse. */
int64_t mg_ravel(const int64_t *index, const int64_t *dim, int rank);

int64_t mg_offset(const mt_view *view, const int64_t *index);

/* mg_samples -- how many of `count` elements are compared: all, or 4,096. mg_sample: the number of the i-th of them. */
int64_t mg_samples(int64_t count);
int64_t mg_sample(int64_t count, int64_t i);

/* mg_elements -- the storage element of each sample, in row-major order, malloc'ed; the caller frees. */
int64_t *mg_elements(const mt_view *view);

/* mg_span -- storage elements the view needs: the number of the last one plus one, 0 when empty. */
int64_t mg_span(const mt_view *view);

/* Views and shapes are sent to the worker as arrays of i64: [18] rank, offset, shape[8], stride[8]; [9] rank,
 * dim[8]. */
void mg_in_view(mg_run *run, const char *name, const mt_view *view);
void mg_in_shape(mg_run *run, const char *name, mt_shape shape);
void mg_out_view(mg_run *run, const char *name);

/* mg_result_view -- output `name` as a view; false and FAIL when its rank or shape is not `shape`. */
bool mg_result_view(mg_run *run, const char *name, mt_view *view, mt_shape shape, const mt_view *from);

/* mg_expect_view -- output `name` has this shape and these storage elements at the samples; FAIL names the first that
 * differs. from: the view the call was given, for the message. */
bool mg_expect_view(mg_run *run, const char *name, mt_shape shape, const int64_t *elements, const mt_view *from);

/* mg_expect_i64 -- output `name` is exactly want[0..n-1]; `what` describes it. */
bool mg_expect_i64(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what);
