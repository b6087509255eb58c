/* 00-tensors.h -- the checks of lab 00: one struct for all rows, and the functions that run them. */
#pragma once

#include "checks/00-views.h"

enum { TRIES = 12 }; /* random views of a part: an error in one view of three is missed once in 130 runs */

typedef struct tensor_case {
    mg_case head;
    mg_view_spec spec;
    int64_t step;   /* slice: steps 1 .. this */
    bool negative;  /* transpose, slice: count dimensions from the end */
    bool empty;     /* slice: start = stop */
    bool fits;      /* broadcast, reshape: possible for every view; false: for some */
    mt_dtype dtype; /* copy */
} tensor_case;

/* mg_00_text -- "[3] stride [1] offset 0 to [2,3]", with this word between them; lent until the next call. */
const char *mg_00_text(const mt_view *view, const char *word, mt_shape shape);

/* mg_00_random_factors -- a random shape of `count` elements: its prime factors distributed over a random number of
 * dimensions, some of size 1. */
mt_shape mg_00_random_factors(mt_rng *rng, int64_t count);

typedef struct mg_00_view {
    const char *part, *hint;
    mt_view view;
} mg_00_view;

/* mg_00_each_view -- one(run, c, view) for random views as the row's spec allows them, then for others in named parts
 * of the row (8 dimensions, large sizes) and for the given ones. */
typedef bool mg_00_view_fn(mg_run *run, const tensor_case *c, mt_view view);
bool mg_00_each_view(mg_run *run, const tensor_case *c, mg_00_view_fn *one, const mg_00_view *given, int count);

/* 00-aborts.c */
void mg_00_at_abort(mg_run *run, const void *one_case);
void mg_00_permute_abort(mg_run *run, const void *one_case);
void mg_00_slice_abort(mg_run *run, const void *one_case);
void mg_00_reshape_abort(mg_run *run, const void *one_case);

/* 00-index.c */
void mg_00_numel(mg_run *run, const void *one_case);
void mg_00_contiguous(mg_run *run, const void *one_case);
void mg_00_is_contiguous(mg_run *run, const void *one_case);
void mg_00_at(mg_run *run, const void *one_case);
void mg_00_unravel(mg_run *run, const void *one_case);
void mg_00_permute(mg_run *run, const void *one_case);
void mg_00_transpose(mg_run *run, const void *one_case);
void mg_00_slice(mg_run *run, const void *one_case);

/* 00-reshape.c */
void mg_00_broadcast(mg_run *run, const void *one_case);
void mg_00_broadcast_shape(mg_run *run, const void *one_case);
void mg_00_reshape(mg_run *run, const void *one_case);
void mg_00_copy(mg_run *run, const void *one_case);
