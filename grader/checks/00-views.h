/* 00-views.h -- random views, and the call that gets one.
 *
 * Two views with the same shape and the same list of storage elements in row-major order are equal, whatever the
 * strides of dimensions of size 1 and of empty views are. So the checks of lab 00 compare lists and accept every right
 * answer. A view needs no memory, and some have more elements than an int can count; of such a view a sample is
 * compared. Nothing here calls a unit. */
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
    int small;    /* at most as many elements as are all compared */
} mg_view_spec;

/* What a view has beside its spec: MT_MAX_RANK dimensions of at most 3; one size or all sizes so large, with no prime
 * factor above 7, that it has 2^33 to 2^50 elements. */
enum { MG_VIEW_ANY, MG_VIEW_RANK_8, MG_VIEW_LARGE_FIRST, MG_VIEW_LARGE_ONE = 4, MG_VIEW_LARGE = 8 };

/* mg_random_view -- a random view of these kinds; the spec allows several dimensions, or sizes above 1. */
mt_view mg_random_view(mt_rng *rng, const mg_view_spec *spec, int kinds);

int64_t mg_count(const int64_t *dim, int rank); /* the product of the dimensions */

/* mg_unravel -- the n-th index in row-major order. */
void mg_unravel(int64_t *index, int64_t n, const int64_t *dim, int rank);

int64_t mg_offset(const mt_view *view, const int64_t *index);

/* mg_samples -- how many of `count` elements are compared: all, or 4,096. mg_sample: the number of the i-th of them. */
int64_t mg_samples(int64_t count);
int64_t mg_sample(int64_t count, int64_t i);

/* mg_nth -- the storage element of the n-th element in row-major order. */
int64_t mg_nth(const mt_view *view, int64_t n);

/* mg_span -- storage elements the view needs: the number of the last one plus one, 0 when empty. */
int64_t mg_span(const mt_view *view);

/* Views and shapes are sent to the worker as arrays of i64: [18] rank, offset, shape[8], stride[8]; [9] rank,
 * dim[8]. */
void mg_in_view(mg_run *run, const char *name, const mt_view *view);
void mg_in_shape(mg_run *run, const char *name, mt_shape shape);
enum { MG_VIEW_WORDS = 2 + 2 * MT_MAX_RANK };

/* mg_begin_view -- begins a call with an output of n words and a view. */
void mg_begin_view(mg_run *run, const char *function, const char *out, int64_t n, const mt_view *view);

/* mg_expect_view -- output "out" has the shape and, at the samples, the storage elements of `want`; FAIL names the
 * first that differs. from: the view that the call was given, for the message. */
bool mg_expect_view(mg_run *run, const mt_view *want, const mt_view *from);

/* mg_is -- output `name` is exactly want[0..n-1]; `what` describes it. mg_answers: the same, after mg_call. */
bool mg_is(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what);
bool mg_answers(mg_run *run, const char *name, const int64_t *want, int64_t n, const char *what);

/* mg_returns -- after mg_call: what the function returned, the output `name`, is `want`. */
bool mg_returns(mg_run *run, const char *name, bool want, const char *what);
