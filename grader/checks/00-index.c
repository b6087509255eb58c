/* 00-index.c -- how the checks of steps 00.1 to 00.4 run: indices, strides, permutations, slices; 00-aborts.c has the
 * calls that must abort. Rows: 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"

#include <stdlib.h>
#include <string.h>

/* ---- 00.1 numel, contiguous ----------------------------------------------------------------- */

void mg_00_numel(mg_run *run, const void *one_case)
{
    for (int t = 0; t < TRIES; t++) {
        mt_view view = mg_nth_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        int64_t want = mg_count(view.shape, view.rank);
        mg_begin(run, "mt_view_numel");
        mg_out(run, "numel", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        if (!mg_call(run) || !mg_expect_i64(run, "numel", &want, 1, mt_view_text(&view)))
            return;
    }
}

/* The strides of every dimension are said, those of dimensions of size 1 and of empty views too. */
static bool expect_strides(mg_run *run, mt_shape shape)
{
    const int64_t *stride = (const int64_t *)mg_result(run, "out") + 2 + MT_MAX_RANK;
    for (int d = 0; d < shape.rank; d++) {
        int64_t want = mg_count(shape.dim + d + 1, shape.rank - d - 1);
        if (stride[d] == want)
            continue;
        mg_fail(run, "of %s: stride[%d] = %lld   expected %lld, the product of the dimensions after it",
                mt_shape_text(shape), d, (long long)stride[d], (long long)want);
        return false;
    }
    return true;
}

/* No memory is behind this view, so that its strides may be larger than 32 bits. */
static void contiguous_huge(mg_run *run)
{
    mt_shape shape = MT_SHAPE(2, 70001, 70003);
    mg_begin(run, "mt_view_contiguous");
    mg_out_view(run, "out");
    mg_in_shape(run, "shape", shape);
    if (mg_call(run))
        expect_strides(run, shape);
}

void mg_00_contiguous(mg_run *run, const void *one_case)
{
    static const mt_view given[] = { { .rank = 3, .shape = { 2, 0, 3 }, .stride = { 0, 3, 1 } },
                                     { .rank = 2, .shape = { 5, 1 }, .stride = { 1, 1 } } };
    const mg_view_spec *spec = &((const tensor_case *)one_case)->spec;
    for (int t = 0; t < TRIES; t++) {
        bool is_given = spec->rank_low == 1 && t < MT_COUNT(given);
        mt_view want = is_given ? given[t] : mg_nth_view(mg_rng(run), spec, t);
        want.offset = 0;
        mt_shape shape = mt_view_shape(&want);
        mg_begin(run, "mt_view_contiguous");
        mg_out_view(run, "out");
        mg_in_shape(run, "shape", shape);
        if (!mg_call(run))
            return;
        int64_t *elements = mg_elements(&want);
        bool good = mg_expect_view(run, "out", shape, elements, &want) && expect_strides(run, shape);
        free(elements);
        if (!good)
            return;
    }
    contiguous_huge(run);
}

/* ---- 00.2 is_contiguous, at, unravel -------------------------------------------------------- */

/* Whether a step along each dimension is as long as all elements under it. */
static bool is_contiguous(const mt_view *view)
{
    bool answer = true;
    if (mg_count(view->shape, view->rank) == 0)
        return true;
    for (int d = 0; d < view->rank; d++)
        answer =
            answer && (view->shape[d] == 1 || view->stride[d] == mg_count(view->shape + d + 1, view->rank - d - 1));
    return answer;
}

/* Only the first of eight strides is another. */
static const mt_view gap_of_rank_8 = { .rank = 8,
                                       .shape = { 2, 2, 2, 2, 2, 2, 2, 2 },
                                       .stride = { 129, 64, 32, 16, 8, 4, 2, 1 } };

static const mt_view one_of_rank_1 = { .rank = 1, .shape = { 1 }, .stride = { 5 } };

/* A view of this kind that is contiguous, or one that is not: every row tests both, so that a constant answer fails. */
static mt_view pick_contiguous(mt_rng *rng, mg_view_spec spec, bool wanted, int t)
{
    bool plain = !spec.permuted && !spec.gaps && !spec.repeats;
    if (wanted)
        spec.permuted = spec.gaps = spec.repeats = 0;
    else if (plain)
        spec.permuted = spec.gaps = 1;
    if (!wanted && spec.gaps && !plain && t == 2)
        return gap_of_rank_8;
    if (wanted && spec.ones && t == 5)
        return one_of_rank_1;
    if (!wanted && spec.dim_high < 2) /* every empty view is contiguous */
        spec.dim_low = 2, spec.dim_high = 4;
    for (;;) {
        mt_view view = mg_nth_view(rng, &spec, t);
        if (is_contiguous(&view) == wanted)
            return view;
    }
}

/* In a contiguous view, for the answer that it is not. */
static void say_what_does_not_matter(mg_run *run, const mt_view *view)
{
    bool other = false; /* strides of dimensions of size 1 */
    for (int d = 0; d < view->rank; d++)
        other |= view->shape[d] == 1 && view->stride[d] != mg_count(view->shape + d + 1, view->rank - d - 1);
    if (!is_contiguous(view) || mg_count(view->shape, view->rank) == 0)
        return;
    if (other)
        mg_hint(run, "the stride of a dimension of size 1 is never used: ignore it");
    else if (view->offset)
        mg_hint(run, "this view is contiguous: compare its strides only, it may begin at any offset");
}

void mg_00_is_contiguous(mg_run *run, const void *one_case)
{
    for (int t = 0; t < 4 * TRIES; t++) {
        int64_t want = t % 2;
        mt_view view = t == 1 ? mg_scalar_view(mg_rng(run))
                              : pick_contiguous(mg_rng(run), ((const tensor_case *)one_case)->spec, want, t);
        for (int i = 0; i < view.rank; i++)
            if (view.shape[i] == 1 && t / 2 % 2)
                view.stride[i] = mg_pick(mg_rng(run), 0, 99);
        mg_begin(run, "mt_view_is_contiguous");
        mg_out(run, "answer", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        say_what_does_not_matter(run, &view);
        if (!mg_call(run) || !mg_expect_i64(run, "answer", &want, 1, mt_view_text(&view)))
            return;
    }
}

void mg_00_at(mg_run *run, const void *one_case)
{
    for (int t = 0; t < TRIES; t++) {
        mt_view view = mg_nth_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        int64_t n = mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank));
        mg_begin(run, "mt_view_at");
        mg_out(run, "element", MT_I64, MT_SHAPE(1));
        mg_in_view(run, "view", &view);
        int64_t *index = mg_in(run, "index", MT_I64, MT_SHAPE(view.rank));
        mg_unravel(index, n, view.shape, view.rank);
        int64_t want = mg_offset(&view, index);
        if (!mg_call(run) || !mg_expect_i64(run, "element", &want, 1, mt_view_text(&view)))
            return;
    }
}

void mg_00_unravel(mg_run *run, const void *one_case)
{
    for (int t = 0; t < TRIES; t++) {
        mt_view view = t == TRIES - 1 ? mg_scalar_view(mg_rng(run)) /* it has no index, and index[0] is not written */
                                      : mg_nth_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        int64_t n = mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank)), want[MT_MAX_RANK];
        mg_unravel(want, n, view.shape, view.rank);
        mg_begin(run, "mt_view_unravel");
        mg_out(run, "index", MT_I64, MT_SHAPE(view.rank));
        mg_in_view(run, "view", &view);
        mg_i64(run, "n", n);
        if (!mg_call(run) || !mg_expect_i64(run, "index", want, view.rank, mt_view_text(&view)))
            return;
    }
}

/* ---- 00.3 permute, transpose ---------------------------------------------------------------- */

enum { EMPTY_TRY = 6 }; /* an empty view in every row of 00.3 and 00.4 */

/* A view whose sizes all differ, and one of them is 0: a result with the old shape is seen. */
static mt_view pick_view(mt_rng *rng, const mg_view_spec *spec, int t)
{
    mt_view empty = { .rank = 4, .shape = { 3, 0, 4, 5 }, .stride = { 20, 20, 5, 1 }, .offset = 2 };
    return t == EMPTY_TRY ? empty : mg_nth_view(rng, spec, t);
}

/* The elements of a view with its dimensions in another order: dimension i of the result is order[i] of the view. */
static bool expect_permuted(mg_run *run, const mt_view *view, const int64_t *order)
{
    mt_shape shape = { .rank = view->rank };
    for (int i = 0; i < view->rank; i++)
        shape.dim[i] = view->shape[order[i]];
    int64_t count = mg_count(shape.dim, shape.rank), index[MT_MAX_RANK], source[MT_MAX_RANK];
    int64_t *elements = mg_elements(view);
    for (int64_t k = 0; k < mg_samples(count); k++) {
        mg_unravel(index, mg_sample(count, k), shape.dim, shape.rank);
        for (int i = 0; i < view->rank; i++)
            source[order[i]] = index[i];
        elements[k] = mg_offset(view, source);
    }
    bool good = mg_expect_view(run, "out", shape, elements, view);
    free(elements);
    return good;
}

void mg_00_permute(mg_run *run, const void *one_case)
{
    for (int t = 0; t < TRIES; t++) {
        mt_view view = pick_view(mg_rng(run), &((const tensor_case *)one_case)->spec, t);
        mg_begin(run, "mt_view_permute");
        mg_out_view(run, "out");
        mg_in_view(run, "view", &view);
        int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(view.rank));
        mg_random_order(mg_rng(run), order, view.rank);
        if (t == EMPTY_TRY) /* the 0 moves */
            memcpy(order, ((int64_t[]){ 1, 3, 0, 2 }), sizeof *order * 4);
        if (!mg_call(run) || !expect_permuted(run, &view, order))
            return;
    }
}

void mg_00_transpose(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    for (int t = 0; t < TRIES; t++) {
        mt_view view = pick_view(mg_rng(run), &c->spec, t);
        int64_t d0 = mt_rng_below(mg_rng(run), view.rank), d1 = t == 4 ? d0 : mt_rng_below(mg_rng(run), view.rank);
        int64_t order[MT_MAX_RANK];
        if (t == EMPTY_TRY)
            d0 = 1, d1 = 2;
        for (int i = 0; i < view.rank; i++)
            order[i] = i == d0 ? d1 : i == d1 ? d0 : i;
        mg_begin(run, "mt_view_transpose");
        mg_out_view(run, "out");
        mg_in_view(run, "view", &view);
        mg_i64(run, "d0", c->negative ? d0 - view.rank : d0);
        mg_i64(run, "d1", c->negative && t % 2 ? d1 - view.rank : d1);
        mg_hint(run, "%s", d0 == d1 ? "d0 and d1 are the same dimension: the result is the view itself" : c->head.hint);
        if (!mg_call(run) || !expect_permuted(run, &view, order))
            return;
    }
}

/* ---- 00.4 slice ----------------------------------------------------------------------------- */

void mg_00_slice(mg_run *run, const void *one_case)
{
    const tensor_case *c = one_case;
    for (int t = 0; t < TRIES; t++) {
        bool of_nothing = t == EMPTY_TRY;                 /* elements 1, 2 and 3 of each of no rows */
        bool beyond = t == 0 && c->step > 1 && !c->empty; /* one step leaves the view */
        mt_view view = pick_view(mg_rng(run), &c->spec, t);
        if (t == 0 && c->empty)
            view = (mt_view){ .rank = 1, .shape = { 5 }, .stride = { 2 }, .offset = 3 };
        int64_t dim = of_nothing ? 2 : mt_rng_below(mg_rng(run), view.rank), size = view.shape[dim];
        int64_t start = of_nothing ? 1 : mg_pick(mg_rng(run), 0, c->empty ? size : size / 2), index[MT_MAX_RANK];
        int64_t stop = c->empty ? start : of_nothing ? size : mg_pick(mg_rng(run), mt_max(start, size - 2), size);
        int64_t step = c->step > 1 ? mg_pick(mg_rng(run), 2, mt_max(c->step, size / 2)) : 1;
        if (beyond)
            start = 0, stop = size, step = INT64_MAX;
        mg_begin(run, "mt_view_slice");
        mg_out_view(run, "out");
        mg_in_view(run, "view", &view);
        mg_i64(run, "dim", c->negative ? dim - view.rank : dim);
        mg_i64(run, "start", start);
        mg_i64(run, "stop", stop);
        mg_i64(run, "step", step);
        if (!mg_call(run))
            return;
        mt_shape shape = mt_view_shape(&view);
        shape.dim[dim] = beyond ? 1 : mt_ceil_div(stop - start, step);
        int64_t *elements = mg_elements(&view); /* room for at least as many elements as the slice has */
        int64_t count = mg_count(shape.dim, shape.rank);
        for (int64_t k = 0; k < mg_samples(count); k++) {
            mg_unravel(index, mg_sample(count, k), shape.dim, shape.rank);
            index[dim] = start + index[dim] * step;
            elements[k] = mg_offset(&view, index);
        }
        bool good = mg_expect_view(run, "out", shape, elements, &view);
        free(elements);
        if (!good)
            return;
    }
}
