/* test_shape.c -- which shapes are compatible, which are invalid, and the messages about them. */
#include "aborts.h"
#include "core/view.h"

/* ---- broadcasting, by NumPy's table -------------------------------------------------------------- */

Test(shape, broadcast_shapes)
{
    static const struct {
        mt_shape a, b, both;
        bool fits;
    } cases[] = {
        { MT_SHAPE(256, 256, 3), MT_SHAPE(3), MT_SHAPE(256, 256, 3), true },
        { MT_SHAPE(8, 1, 6, 1), MT_SHAPE(7, 1, 5), MT_SHAPE(8, 7, 6, 5), true },
        { MT_SHAPE(5, 4), MT_SHAPE(1), MT_SHAPE(5, 4), true },
        { MT_SHAPE(15, 3, 5), MT_SHAPE(15, 1, 5), MT_SHAPE(15, 3, 5), true },
        { MT_SCALAR, MT_SHAPE(2, 0), MT_SHAPE(2, 0), true },
        { MT_SHAPE(0), MT_SHAPE(1), MT_SHAPE(0), true },
        { MT_SCALAR, MT_SCALAR, MT_SCALAR, true },
        { MT_SHAPE(3), MT_SHAPE(4), MT_SCALAR, false },
        { MT_SHAPE(2, 1), MT_SHAPE(8, 4, 3), MT_SCALAR, false },
        { MT_SHAPE(0), MT_SHAPE(2), MT_SCALAR, false },
    };
    for (int i = 0; i < MT_COUNT(cases); i++)
        for (int swap = 0; swap < 2; swap++) {
            mt_shape a = swap ? cases[i].b : cases[i].a, b = swap ? cases[i].a : cases[i].b, out = { .rank = -5 };
            mt_view view = mt_view_contiguous(a), stretched = { .rank = -5 };
            cr_assert_eq(mt_view_broadcast_shape(&out, a, b), cases[i].fits, "%s with %s", mt_shape_text(a),
                         mt_shape_text(b));
            if (cases[i].fits) {
                cr_assert(mt_shape_equal(out, cases[i].both), "%s with %s gave %s", mt_shape_text(a), mt_shape_text(b),
                          mt_shape_text(out));
                cr_assert(mt_view_broadcast(&stretched, &view, out));
            } else {
                cr_assert_eq(out.rank, -5, "a failed broadcast changed its output");
                cr_assert(!mt_view_broadcast(&stretched, &view, b));
                cr_assert_eq(stretched.rank, -5, "a failed broadcast changed its output");
            }
        }
}

Test(shape, broadcast_never_shrinks)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(2, 3)), out;
    cr_assert(!mt_view_broadcast(&out, &view, MT_SHAPE(3)));
    cr_assert(!mt_view_broadcast(&out, &view, MT_SHAPE(1, 3)));
    cr_assert(!mt_view_broadcast(&out, &view, MT_SHAPE(2, 1)));
    cr_assert(!mt_view_broadcast(&out, &view, MT_SHAPE(2, 3, 1)));
}

/* ---- faults ---------------------------------------------------------------------------------------- */

Test(shape, faults_are_named)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(2, 3)), out;
    ABORTS("index 3 of dimension 1 is outside [2,3]", mt_view_at(&view, (int64_t[]){ 1, 3 }));
    ABORTS("index -1 of dimension 0 is outside [2,3]", mt_view_at(&view, (int64_t[]){ -1, 0 }));
    ABORTS("[2,3] has no element number 6", mt_view_unravel(&view, 6, (int64_t[8]){ 0 }));
    ABORTS("[2,3] has no element number -1", mt_view_unravel(&view, -1, (int64_t[8]){ 0 }));
    ABORTS("order[1] = 0", mt_view_permute(&view, (int[]){ 0, 0 }));
    ABORTS("order[0] = 2", mt_view_permute(&view, (int[]){ 2, 0 }));
    ABORTS("order[1] = -1", mt_view_permute(&view, (int[]){ 0, -1 }));
    ABORTS("[2,3] has no dimension 2", mt_view_transpose(&view, 0, 2));
    ABORTS("[2,3] has no dimension -3", mt_view_transpose(&view, -3, 0));
    ABORTS("slice 0:4:1 does not lie in dimension 1 of [2,3]", mt_view_slice(&view, 1, 0, 4, 1));
    ABORTS("slice 2:1:1", mt_view_slice(&view, 1, 2, 1, 1));
    ABORTS("slice -1:1:1", mt_view_slice(&view, 1, -1, 1, 1));
    ABORTS("slice 0:1:0", mt_view_slice(&view, 1, 0, 1, 0));
    ABORTS("[2,3] has no dimension 5", mt_view_slice(&view, 5, 0, 1, 1));
    ABORTS("[2,3] has 6 elements, [4,2] has 8", mt_view_reshape(&out, &view, MT_SHAPE(4, 2)));
    ABORTS("1, 2, 4 or 8 bytes, not 3", mt_copy_strided(NULL, NULL, &view, 3));
}

Test(shape, impossible_shapes_are_named)
{
    ABORTS("shape [2,-3]: dimension 1 is negative", mt_view_contiguous(MT_SHAPE(2, -3)));
    ABORTS("0 to 8 dimensions, not 9", mt_shape_numel((mt_shape){ .rank = 9 }));
    ABORTS("more elements than can be counted", mt_shape_numel(MT_SHAPE(1ll << 30, 1ll << 30)));
    ABORTS("more elements than can be counted", mt_shape_numel(MT_SHAPE(1ll << 32, 1ll << 32, 1ll << 32)));
    cr_assert_eq(mt_shape_numel(MT_SHAPE(1ll << 30, 1ll << 29)), 1ll << 59);
    cr_assert_eq(mt_shape_numel(MT_SHAPE(1ll << 62, 1ll << 62, 0)), 0, "an empty shape may be as wide as it likes");
}

Test(shape, a_step_beyond_the_end_cannot_overflow)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(5, 1000)), slice = mt_view_slice(&view, 0, 1, 5, INT64_MAX);
    cr_assert_eq(slice.shape[0], 1);
    cr_assert_eq(slice.offset, 1000);
}

Test(shape, text)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(64, 784));
    mt_view turned = mt_view_transpose(&view, 0, 1);
    const char *first = mt_shape_text(MT_SHAPE(1)), *eighth = first;
    cr_assert_str_eq(mt_view_text(&turned), "[784,64] stride [1,784] offset 0");
    cr_assert_str_eq(mt_shape_text(MT_SCALAR), "[]");
    for (int i = 0; i < 5; i++)
        eighth =
            mt_shape_text(MT_SHAPE(INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN, i));
    cr_assert_str_eq(first, "[1]", "seven more texts must leave it alone");
    cr_assert(strstr(eighth, ",4]"));
}
