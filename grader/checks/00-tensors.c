/* 00-tensors.c -- lab 00, the arithmetic of views: every row of the grade, its points and its hint. All exact. */
#include "checks/00-tensors.h"

// clang-format off

#define ANY      .spec = { .rank_low = 1, .rank_high = 5, .dim_low = 2, .dim_high = 5 }
#define OFFSET   .spec = { .rank_low = 1, .rank_high = 4, .dim_low = 2, .dim_high = 9, .offset = 1 }
#define STRIDED  .spec = { .rank_low = 2, .rank_high = 4, .dim_low = 2, .dim_high = 5, .permuted = 1, .gaps = 1 }
#define PERMUTED .spec = { .rank_low = 2, .rank_high = 4, .dim_low = 2, .dim_high = 5, .permuted = 1 }
#define GAPS     .spec = { .rank_low = 2, .rank_high = 4, .dim_low = 2, .dim_high = 5, .gaps = 1 }
#define LONG     .spec = { .rank_low = 1, .rank_high = 3, .dim_low = 4, .dim_high = 9, .permuted = 1, .gaps = 1 }
#define SCALAR   .spec = { .gaps = 1 }
#define EMPTY    .spec = { .rank_low = 1, .rank_high = 4, .ones = 1 }
#define WITH_1S  .spec = { .rank_low = 2, .rank_high = 5, .dim_low = 2, .dim_high = 4, .ones = 1 }
#define REPEATED .spec = { .rank_low = 2, .rank_high = 4, .dim_low = 2, .dim_high = 4, .repeats = 1, .permuted = 1 }
#define RANK_8   .spec = { .rank_low = 8, .rank_high = 8, .dim_low = 1, .dim_high = 3 }

/* ---- 00.1 */
static const tensor_case numel_cases[] = {
    { { 3, "random shapes", "multiply all dimensions" }, ANY },
    { { 1, "scalar", "a scalar has rank 0 and one element: the empty product is 1", MG_EASY }, SCALAR },
    { { 1, "a dimension of 0", "a dimension of size 0 makes the whole view empty" }, EMPTY },
};
static const tensor_case contiguous_cases[] = {
    { { 4, "random shapes", "the last stride is 1; every other stride is the product of the sizes after it" },
      ANY },
    { { 1, "scalar", "a scalar has rank 0 and no strides; its offset is 0" }, SCALAR },
    { { 1, "rank 8", "MT_MAX_RANK dimensions must work too" }, RANK_8 },
};

/* ---- 00.2 */
static const tensor_case is_contiguous_cases[] = {
    { { 3, "row-major",
        "the last stride must be 1, and each other stride the product of the sizes after it" },
      OFFSET },
    { { 1, "permuted", "neighbours in row-major order must be neighbours in storage" }, PERMUTED },
    { { 1, "gaps between rows", "the stride of every dimension must be right, not only that of the last" }, GAPS },
    { { 2, "dimensions of size 1", "the stride of a dimension of size 1 is never used: ignore it" }, WITH_1S },
    { { 1, "empty", "a view without elements is contiguous" }, EMPTY },
    { { 1, "repeated elements", "a stride of 0 repeats one element, so these elements are not neighbours in storage" },
      REPEATED },
};
static const tensor_case at_cases[] = {
    { { 4, "strided views", "the element is number offset + index[0]*stride[0] + index[1]*stride[1] + ..." }, STRIDED },
    { { 1, "scalar", "a scalar has no index: the answer is the offset" }, SCALAR },
};
static const tensor_case at_abort_cases[] = {
    { { 2, "index out of range",
        "an MT_CHECK must test for every dimension that 0 <= index[i] < shape[i]", MG_EASY }, STRIDED },
};
static const tensor_case unravel_cases[] = {
    { { 3, "strided views",
      "the last index changes fastest: divide n by the last size first; strides and offset do not matter" }, STRIDED },
    { { 1, "rank 8", "MT_MAX_RANK dimensions must work too" }, RANK_8 },
};

/* ---- 00.3 */
static const tensor_case permute_cases[] = {
    { { 4, "strided views", "dimension i of the result is dimension order[i] of the view, with its stride" }, STRIDED },
};
static const tensor_case permute_abort_cases[] = {
    { { 2, "not a permutation",
        "an MT_CHECK must test that every dimension occurs exactly once in order", MG_EASY }, STRIDED },
};
static const tensor_case transpose_cases[] = {
    { { 4, "strided views", "swap both the sizes and the strides of the two dimensions" }, STRIDED },
    { { 2, "negative dimensions", "-1 is the last dimension: add the rank to a negative one" }, STRIDED,
      .negative = true },
};

/* ---- 00.4 */
static const tensor_case slice_cases[] = {
    { { 4, "start and stop", "start moves the offset by start * stride[dim]; the element at stop is not included" },
      LONG, .step = 1 },
    { { 3, "steps", "the stride is multiplied by the step; ceil((stop - start) / step) elements remain" },
      LONG, .step = 4 },
    { { 2, "negative dimensions", "-1 is the last dimension: add the rank to a negative one" }, LONG, .step = 2,
      .negative = true },
    { { 1, "nothing left",
        "start = stop is allowed, even at the end of the dimension: the result has size 0 there" },
      STRIDED, .step = 3, .empty = true },
};
static const tensor_case slice_abort_cases[] = {
    { { 2, "bad ranges",
        "MT_CHECKs must test that -rank <= dim < rank, 0 <= start <= stop <= shape[dim] and step >= 1", MG_EASY },
      STRIDED },
};

/* ---- 00.5 */
static const tensor_case broadcast_cases[] = {
    { { 3, "sizes of 1 repeat",
        "align both shapes at their last dimensions; a size of 1 becomes the new size, with stride 0" },
      WITH_1S, .fits = true },
    { { 3, "missing dimensions",
        "align both shapes at their last dimensions: new dimensions come first, with stride 0" }, STRIDED,
      .fits = true },
    { { 2, "does not fit",
        "only a size of 1 can become another size; if the shape does not fit, return false and do not change *out" },
      STRIDED },
};
static const tensor_case broadcast_shape_cases[] = {
    { { 4, "common shape",
        "align the shapes at their last dimensions; where one size is 1, take the other, even if it is 0" }, WITH_1S,
      .fits = true },
    { { 2, "no common shape", "where two sizes differ and neither is 1, return false and do not change *out" }, ANY },
};

/* ---- 00.6 */
static const tensor_case reshape_cases[] = {
    { { 4, "contiguous",
        "a contiguous view can have any shape with the same number of elements; keep its offset" }, OFFSET,
      .fits = true },
    { { 4, "split and merge, strided",
      "two dimensions merge where stride[i] = shape[i+1] * stride[i+1]; any dimension may be split" },
      STRIDED, .fits = true },
    { { 4, "a copy is needed", "if no strides give the same order of elements, return false and do not change *out" },
      STRIDED },
    { { 2, "dimensions of size 1", "inserting or removing a dimension of size 1 changes no other stride" },
      .spec = { .rank_low = 2, .rank_high = 4, .dim_low = 2, .dim_high = 4, .ones = 1, .permuted = 1, .gaps = 1 },
      .fits = true },
    { { 1, "empty", "a view without elements can have any shape with 0 elements" }, EMPTY, .fits = true },
};
static const tensor_case reshape_abort_cases[] = {
    { { 1, "another number of elements",
        "an MT_CHECK must test that both shapes have the same number of elements, also where one has none" }, ANY },
};

/* ---- 00.7 */
static const tensor_case copy_cases[] = {
    { { 2, "contiguous", "start at the view's offset, not at the storage's first element" }, OFFSET, .dtype = MT_F32 },
    { { 3, "permuted and with gaps", "the last dimension's stride need not be 1" }, STRIDED, .dtype = MT_F32 },
    { { 3, "repeated elements",
        "where the stride is 0, the same element is read again and again" }, REPEATED, .dtype = MT_F32 },
    { { 2, "1-byte elements", "offsets and strides count elements: multiply them by size" }, STRIDED, .dtype = MT_U8 },
    { { 1, "2-byte elements", "offsets and strides count elements: multiply them by size" }, STRIDED, .dtype = MT_F16 },
    { { 2, "8-byte elements", "offsets and strides count elements: multiply them by size" }, STRIDED, .dtype = MT_I64 },
    { { 1, "scalar", "a scalar is one element at the offset", MG_EASY }, SCALAR, .dtype = MT_F32 },
    { { 1, "empty", "a view without elements copies nothing" }, EMPTY, .dtype = MT_F32 },
};

#define GROUP(step, title, run) MG_GROUP(step, title, mg_00_##run, run##_cases)

static const mg_group groups[] = {
    GROUP("00.1", "numel", numel),
    GROUP("00.1", "contiguous", contiguous),
    GROUP("00.2", "is_contiguous", is_contiguous),
    GROUP("00.2", "at", at),
    GROUP("00.2", "at", at_abort),
    GROUP("00.2", "unravel", unravel),
    GROUP("00.3", "permute", permute),
    GROUP("00.3", "permute", permute_abort),
    GROUP("00.3", "transpose", transpose),
    GROUP("00.4", "slice", slice),
    GROUP("00.4", "slice", slice_abort),
    GROUP("00.5", "broadcast", broadcast),
    GROUP("00.5", "broadcast_shape", broadcast_shape),
    GROUP("00.6", "reshape", reshape),
    GROUP("00.6", "reshape", reshape_abort),
    GROUP("00.7", "copy", copy),
};

// clang-format on

const mg_lab mg_lab_00 = { "00-tensors", groups, MT_COUNT(groups) };
