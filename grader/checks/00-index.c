/* 00-index.c -- how the checks of steps 00.1 to 00.4 run: indices, strides, permutations, slices; 00-aborts.c has the
 * calls that must abort. Rows: 00-tensors.c. */
#include "checks/00-tensors.h"
#include "checks/fill.h"

#include <string.h>

#define LARGE_HINT "sizes, strides, offsets and numbers of elements need 64 bits here: compute them as int64_t"

bool mg_00_each_view(mg_run *run, const tensor_case *c, mg_00_view_fn *one, const mg_00_view *given, int count)
{
    static const struct {
        const char *part, *hint;
        int kinds, views;
    } drawn[] = {
        { "8 dimensions", "a view may have MT_MAX_RANK dimensions", MG_VIEW_RANK_8, 3 },
        { "a large first dimension", LARGE_HINT, MG_VIEW_LARGE_FIRST, 2 },
        { "one large dimension", LARGE_HINT, MG_VIEW_LARGE_ONE, 2 },
        { "a large view", LARGE_HINT, MG_VIEW_LARGE, 2 },
        { "8 large dimensions", LARGE_HINT, MG_VIEW_RANK_8 | MG_VIEW_LARGE, 1 },
    };
    bool good = true;
    for (int t = 0; t < TRIES && good; t++)
        good = one(run, c, mg_random_view(mg_rng(run), &c->spec, MG_VIEW_ANY));
    for (int p = 0; p < MT_COUNT(drawn) && good; p++) {
        const int kinds = drawn[p].kinds;
        mg_part(run, drawn[p].part, drawn[p].hint);
        if ((!(kinds & MG_VIEW_RANK_8) || c->spec.rank_high > 1) &&
            (kinds == MG_VIEW_RANK_8 || (c->spec.dim_low > 1 && !c->spec.small)))
            for (int t = 0; t < drawn[p].views && good; t++)
                good = one(run, c, mg_random_view(mg_rng(run), &c->spec, kinds));
    }
    for (int p = 0; p < count && good; p++) {
        mg_part(run, given[p].part, given[p].hint);
        good = one(run, c, given[p].view);
    }
    return good;
}

/* ---- 00.1 numel, contiguous ----------------------------------------------------------------- */

static bool numel_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    int64_t want = mg_count(view.shape, view.rank);
    mg_begin_view(run, "mt_view_numel", "numel", 1, &view);
    return mg_answers(run, "numel", &want, 1, mt_view_text(&view));
}

void mg_00_numel(mg_run *run, const void *one_case)
{
    mg_00_each_view(run, one_case, numel_once, NULL, 0);
}

/* The strides of every dimension are said, those of dimensions of size 1 and of empty views too. */
static bool contiguous_once(mg_run *run, const tensor_case *c, mt_view want)
{
    (void)c;
    want.offset = 0;
    mt_shape shape = mt_view_shape(&want);
    mg_begin(run, "mt_view_contiguous");
    mg_out(run, "out", MT_I64, MT_SHAPE(MG_VIEW_WORDS));
    mg_in_shape(run, "shape", shape);
    if (!mg_call(run) || !mg_expect_view(run, &want, &want))
        return false;
    const int64_t *stride = (const int64_t *)mg_result(run, "out") + 2 + MT_MAX_RANK;
    for (int d = 0; d < shape.rank; d++) {
        int64_t right = mg_count(shape.dim + d + 1, shape.rank - d - 1);
        if (stride[d] == right)
            continue;
        mg_fail(run, "of %s: stride[%d] = %lld   expected %lld, the product of the dimensions after it",
                mt_shape_text(shape), d, (long long)stride[d], (long long)right);
        return false;
    }
    return true;
}

void mg_00_contiguous(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = {
        { "a size of 0",
          "a size of 0 is a factor like any other: the strides before it are 0",
          { .rank = 3, .shape = { 2, 0, 3 }, .stride = { 0, 3, 1 } } },
        { "a size of 1",
          "a dimension of size 1 has a stride like any other: the product of the sizes after it",
          { .rank = 2, .shape = { 5, 1 }, .stride = { 1, 1 } } },
        { "large strides",
          "strides and products of sizes need 64 bits here: compute them as int64_t",
          { .rank = 3, .shape = { 2, 70001, 70003 }, .stride = { 70001LL * 70003, 70003, 1 } } },
    };
    mg_00_each_view(run, one_case, contiguous_once, given, MT_COUNT(given));
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
        mg_hint(run, "this view is contiguous: compare only its strides, because it may begin at any offset");
}

/* The view, and the same with other strides of its dimensions of size 1. */
static bool is_contiguous_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    for (int again = 0; again < 2; again++) {
        mg_begin_view(run, "mt_view_is_contiguous", "answer", 1, &view);
        say_what_does_not_matter(run, &view);
        if (!mg_returns(run, "answer", is_contiguous(&view), mt_view_text(&view)))
            return false;
        for (int d = 0; d < view.rank; d++)
            if (view.shape[d] == 1)
                view.stride[d] = mg_pick(mg_rng(run), 0, 99);
    }
    return true;
}

/* Every row has views that are contiguous, and others, so that a constant answer fails. */
void mg_00_is_contiguous(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = {
        { "a scalar", "a scalar is contiguous, at any offset", { .offset = 7 } },
        { "a vector of one element", NULL, { .rank = 1, .shape = { 1 }, .stride = { 5 } } },
        { "a gap in the first of 8 dimensions",
          NULL,
          { .rank = 8, .shape = { 2, 2, 2, 2, 2, 2, 2, 2 }, .stride = { 129, 64, 32, 16, 8, 4, 2, 1 } } },
    };
    const mg_view_spec *spec = &((const tensor_case *)one_case)->spec;
    tensor_case other = *(const tensor_case *)one_case;
    other.spec.permuted = other.spec.gaps = !spec->permuted && !spec->gaps && !spec->repeats;
    other.spec.repeats = 0;
    if (spec->dim_high < 2) /* every empty view is contiguous */
        other.spec.dim_low = 2, other.spec.dim_high = 4;
    if (mg_00_each_view(run, &other, is_contiguous_once, NULL, 0))
        mg_00_each_view(run, one_case, is_contiguous_once, given, MT_COUNT(given));
}

static bool at_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    int64_t n = mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank));
    mg_begin_view(run, "mt_view_at", "element", 1, &view);
    int64_t *index = mg_in(run, "index", MT_I64, MT_SHAPE(view.rank));
    mg_unravel(index, n, view.shape, view.rank);
    int64_t want = mg_offset(&view, index);
    return mg_answers(run, "element", &want, 1, mt_view_text(&view));
}

void mg_00_at(mg_run *run, const void *one_case)
{
    mg_00_each_view(run, one_case, at_once, NULL, 0);
}

static bool unravel_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    int64_t n = mt_rng_below(mg_rng(run), mg_count(view.shape, view.rank)), want[MT_MAX_RANK];
    mg_unravel(want, n, view.shape, view.rank);
    mg_begin_view(run, "mt_view_unravel", "index", view.rank, &view);
    mg_i64(run, "n", n);
    return mg_answers(run, "index", want, view.rank, mt_view_text(&view));
}

void mg_00_unravel(mg_run *run, const void *one_case)
{
    static const mg_00_view scalar = { "a scalar", "a scalar has no index: nothing is written", { .offset = 7 } };
    mg_00_each_view(run, one_case, unravel_once, &scalar, 1);
}

/* ---- 00.3 permute, transpose ---------------------------------------------------------------- */

/* All sizes differ, and one of them is 0: a result with the old shape is seen. */
#define NO_ELEMENTS                                                     \
    { "no elements",                                                    \
      "a view without elements has a shape and strides like any other", \
      { .rank = 4, .shape = { 3, 0, 4, 5 }, .stride = { 20, 20, 5, 1 }, .offset = 2 } }

/* Dimension i of the result is order[i] of the view. */
static bool expect_permuted(mg_run *run, const mt_view *view, const int64_t *order)
{
    mt_view want = *view;
    for (int i = 0; i < view->rank; i++)
        want.shape[i] = view->shape[order[i]], want.stride[i] = view->stride[order[i]];
    return mg_call(run) && mg_expect_view(run, &want, view);
}

static bool permute_once(mg_run *run, const tensor_case *c, mt_view view)
{
    (void)c;
    mg_begin_view(run, "mt_view_permute", "out", MG_VIEW_WORDS, &view);
    int64_t *order = mg_in(run, "order", MT_I64, MT_SHAPE(view.rank));
    mt_rng_permutation(mg_rng(run), order, view.rank);
    return expect_permuted(run, &view, order);
}

void mg_00_permute(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = { NO_ELEMENTS, NO_ELEMENTS }; /* at least once not in the old order */
    mg_00_each_view(run, one_case, permute_once, given, MT_COUNT(given));
}

static bool transpose_once(mg_run *run, const tensor_case *c, mt_view view)
{
    int64_t d0 = mt_rng_below(mg_rng(run), view.rank), order[MT_MAX_RANK];
    int64_t d1 = (d0 + mg_pick(mg_rng(run), view.rank > 1, view.rank - 1)) % view.rank;
    for (int i = 0; i < view.rank; i++)
        order[i] = i == d0 ? d1 : i == d1 ? d0 : i;
    mg_begin_view(run, "mt_view_transpose", "out", MG_VIEW_WORDS, &view);
    mg_i64(run, "d0", c->negative ? d0 - view.rank : d0);
    mg_i64(run, "d1", c->negative && mt_rng_below(mg_rng(run), 2) ? d1 - view.rank : d1);
    return expect_permuted(run, &view, order);
}

void mg_00_transpose(mg_run *run, const void *one_case)
{
    static const mg_00_view given[] = {
        NO_ELEMENTS,
        { "a dimension with itself",
          "d0 and d1 are the same dimension: the result is the view itself",
          { .rank = 1, .shape = { 5 }, .stride = { 2 }, .offset = 3 } },
    };
    mg_00_each_view(run, one_case, transpose_once, given, MT_COUNT(given));
}

/* ---- 00.4 slice ----------------------------------------------------------------------------- */

static bool slice_once(mg_run *run, const tensor_case *c, mt_view view, int64_t dim, int64_t start, int64_t stop,
                       int64_t step)
{
    mt_view want = view;
    want.offset += start * view.stride[dim];
    want.shape[dim] = (stop - start) / step + ((stop - start) % step > 0);
    want.stride[dim] = want.shape[dim] > 1 ? step * view.stride[dim] : 0;
    mg_begin_view(run, "mt_view_slice", "out", MG_VIEW_WORDS, &view);
    mg_i64(run, "dim", c->negative ? dim - view.rank : dim);
    mg_i64(run, "start", start);
    mg_i64(run, "stop", stop);
    mg_i64(run, "step", step);
    return mg_call(run) && mg_expect_view(run, &want, &view);
}

static bool slice_at_random(mg_run *run, const tensor_case *c, mt_view view)
{
    mt_rng *rng = mg_rng(run);
    int64_t dim = mt_rng_below(rng, view.rank), size = view.shape[dim];
    int64_t start = mg_pick(rng, 0, c->empty ? size : size / 2);
    int64_t stop = c->empty ? start : mg_pick(rng, mt_max(start, size - 2), size);
    return slice_once(run, c, view, dim, start, stop, c->step > 1 ? mg_pick(rng, 2, mt_max(c->step, size / 2)) : 1);
}

void mg_00_slice(mg_run *run, const void *one_case)
{
    static const mg_00_view vector = { "a vector",
                                       "the same rules hold for a view of one dimension",
                                       { .rank = 1, .shape = { 5 }, .stride = { 2 }, .offset = 3 } },
                            nothing = NO_ELEMENTS;
    const tensor_case *c = one_case;
    if (!mg_00_each_view(run, c, slice_at_random, &vector, 1))
        return;
    mg_part(run, nothing.part, nothing.hint);
    if (!slice_once(run, c, nothing.view, 2, 1, c->empty ? 1 : 4, c->step))
        return;
    mg_part(run, "a step beyond the end",
            "the first step already leaves the view: one element remains, and a sum with so large a step overflows");
    if (c->step > 1 && !c->empty)
        slice_once(run, c, vector.view, 0, 0, 5, INT64_MAX);
}
