/* test_tensor.c -- creating, viewing and reading tensors; ownership; calls of the tape. */
#include "aborts.h"
#include "core/dtype.h"
#include "core/scope.h"
#include "core/tensor.h"
#include "ops/ops.h"

#include <math.h>

/* Row-major values of any tensor equal want[]. */
static void check_values(const mt_tensor *t, const double *want)
{
    int64_t index[MT_MAX_RANK];
    for (int64_t i = 0; i < mt_numel(t); i++) {
        mt_view_unravel(&t->view, i, index);
        cr_assert_eq(mt_get(t, index), want[i], "element %d is %g, should be %g", (int)i, mt_get(t, index), want[i]);
    }
}

static mt_tensor *counting(mt_shape shape)
{
    float values[64];
    for (int i = 0; i < 64; i++)
        values[i] = (float)i;
    return mt_from(shape, MT_F32, values);
}

static void check_nothing_lives(void)
{
    cr_assert_eq(mt_scope_depth(), 0);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
}

TestSuite(tensor, .fini = check_nothing_lives);

/* ---- making ------------------------------------------------------------------------------------- */

Test(tensor, makers)
{
    static const int32_t labels[] = { 3, 1, 4 };
    mt_rng rng = mt_rng_new(1, MT_STREAM_TEST), again = rng;
    float values[6];
    mt_scope_begin();
    for (int dtype = 0; dtype < MT_DTYPE_COUNT; dtype++)
        check_values(mt_zeros(MT_SHAPE(2, 2), (mt_dtype)dtype, MT_CPU), (double[]){ 0, 0, 0, 0 });
    check_values(mt_full(MT_SHAPE(3), 2.5f), (double[]){ 2.5, 2.5, 2.5 });
    check_values(mt_from(MT_SHAPE(3), MT_I32, labels), (double[]){ 3, 1, 4 });
    cr_assert_eq(mt_item(mt_full(MT_SCALAR, 7)), 7);
    cr_assert_eq(mt_empty(MT_SHAPE(5, 0, 2), MT_I64, MT_CPU)->storage->bytes, 0);
    cr_assert_eq(mt_empty(MT_SHAPE(5, 2), MT_I64, MT_CPU)->storage->bytes, 80);
    cr_assert_eq(mt_numel(mt_from(MT_SHAPE(0), MT_F32, NULL)), 0);
    mt_tensor *uniform = mt_uniform(MT_SHAPE(2, 3), -1, 1, &rng);
    mt_rng_fill_uniform(&again, values, 6, -1, 1);
    cr_assert_arr_eq(mt_f32(uniform), values, sizeof values);
    mt_tensor *normal = mt_normal(MT_SHAPE(6), 5, 2, &rng);
    mt_rng_fill_normal(&again, values, 6, 5, 2);
    cr_assert_arr_eq(mt_f32(normal), values, sizeof values);
    mt_scope_end();
}

/* Large ones are zeroed in parts by several threads; no element may keep an earlier value. */
Test(tensor, zeros_of_any_size)
{
    static const int64_t sizes[] = { 0, 1, (1 << 16) - 1, (1 << 17) - 1, 1 << 17, (1 << 17) + 1, 777777 };
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        mt_scope_begin();
        mt_tensor *used = mt_empty(MT_SHAPE(sizes[i]), MT_U8, MT_CPU);
        memset(mt_data(used), 0xFF, (size_t)sizes[i]);
        mt_scope_end();
        mt_scope_begin();
        const uint8_t *data = mt_data(mt_zeros(MT_SHAPE(sizes[i]), MT_U8, MT_CPU));
        for (int64_t at = 0; at < sizes[i]; at++)
            cr_assert_eq(data[at], 0, "byte %d of %d", (int)at, (int)sizes[i]);
        mt_scope_end();
    }
}

Test(tensor, a_new_tensor_is_a_leaf_without_gradient)
{
    mt_tensor *t = mt_zeros(MT_SHAPE(2), MT_F32, MT_CPU);
    cr_assert(!t->grad && !t->node && !t->requires_grad && t->refs == 1 && t->storage->refs == 1);
    mt_release(t);
}

/* ---- views ---------------------------------------------------------------------------------------- */

Test(tensor, views_share_storage_and_outlive_their_source)
{
    mt_tensor *t = counting(MT_SHAPE(2, 3));
    mt_tensor *turned = mt_transpose(t, 0, -1), *column = mt_slice(turned, 0, 1, 3, 1);
    cr_assert(turned->storage == t->storage && column->storage == t->storage);
    cr_assert_eq(t->storage->refs, 3);
    mt_f32(t)[5] = 50;
    mt_release(t);
    mt_release(turned);
    cr_assert_eq(mt_live_bytes(MT_CPU), 24);
    check_values(column, (double[]){ 1, 4, 2, 50 });
    mt_release(column);
}

Test(tensor, each_view_has_its_elements)
{
    mt_scope_begin();
    mt_tensor *t = counting(MT_SHAPE(2, 3));
    check_values(mt_reshape(t, MT_SHAPE(3, 2)), (double[]){ 0, 1, 2, 3, 4, 5 });
    check_values(mt_permute(t, (int[]){ 1, 0 }), (double[]){ 0, 3, 1, 4, 2, 5 });
    check_values(mt_slice(t, -1, 0, 3, 2), (double[]){ 0, 2, 3, 5 });
    check_values(mt_broadcast_to(t, MT_SHAPE(2, 2, 3)), (double[]){ 0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5 });
    mt_tensor *turned = mt_transpose(t, 0, 1), *copy = mt_contiguous(turned), *flat = mt_reshape(turned, MT_SHAPE(6));
    check_values(copy, (double[]){ 0, 3, 1, 4, 2, 5 });
    check_values(flat, (double[]){ 0, 3, 1, 4, 2, 5 });
    cr_assert(copy->storage != t->storage && flat->storage != t->storage, "these need copies");
    cr_assert(mt_reshape(t, MT_SHAPE(6))->storage == t->storage, "this needs none");
    mt_scope_end();
}

Test(tensor, copies_keep_every_type)
{
    for (int dtype = 0; dtype < MT_DTYPE_COUNT; dtype++) {
        mt_scope_begin();
        mt_tensor *t = mt_zeros(MT_SHAPE(2, 3), (mt_dtype)dtype, MT_CPU);
        for (int i = 0; i < 6; i++)
            mt_store_f64(mt_data(t), (mt_dtype)dtype, i, i);
        mt_tensor *copy = mt_contiguous(mt_transpose(t, 0, 1));
        cr_assert_eq(copy->dtype, dtype);
        check_values(copy, (double[]){ 0, 3, 1, 4, 2, 5 });
        mt_scope_end();
    }
}

Test(tensor, contiguous_of_contiguous_is_one_more_reference)
{
    mt_tensor *t = counting(MT_SHAPE(4)), *same = mt_contiguous(t);
    cr_assert(same == t && t->refs == 2);
    mt_release(same);
    cr_assert_eq(t->refs, 1);
    mt_scope_begin();
    mt_contiguous(t);
    mt_scope_end();
    cr_assert_eq(t->refs, 1);
    mt_release(t);
}

/* ---- reading ---------------------------------------------------------------------------------------- */

Test(tensor, data_starts_at_the_view)
{
    mt_scope_begin();
    mt_tensor *t = counting(MT_SHAPE(4, 3)), *rows = mt_slice(t, 0, 1, 3, 1);
    cr_assert_eq(mt_f32(rows), mt_f32(t) + 3);
    cr_assert_eq(mt_item(mt_slice(mt_slice(t, 0, 2, 3, 1), 1, 1, 2, 1)), 7);
    cr_assert(mt_dim(t, 0) == 4 && mt_dim(t, -1) == 3 && mt_numel(t) == 12);
    mt_tensor *nothing = mt_slice(mt_slice(t, 0, 4, 4, 1), 1, 3, 3, 1);
    cr_assert_eq(mt_data(nothing), t->storage->data, "an empty view points into its storage");
    mt_scope_end();
}

Test(tensor, faults_name_the_shapes)
{
    mt_scope_begin();
    mt_tensor *t = counting(MT_SHAPE(2, 3)), *turned = mt_transpose(t, 0, 1);
    ABORTS("broadcast: [2,3] does not stretch to [2,4]", mt_broadcast_to(t, MT_SHAPE(2, 4)));
    ABORTS("shape [-2]: dimension 0 is negative", mt_broadcast_to(counting(MT_SHAPE(1)), MT_SHAPE(-2)));
    ABORTS("more elements than can be counted", mt_broadcast_to(counting(MT_SHAPE(1)), MT_SHAPE(1ll << 40, 1ll << 40)));
    ABORTS("reshape: [2,3] has 6 elements, [5] has 5", mt_reshape(t, MT_SHAPE(5)));
    ABORTS("[3,2] stride [1,3] offset 0 is not contiguous", mt_f32(turned));
    ABORTS("[2] is i32, not f32", mt_f32(mt_zeros(MT_SHAPE(2), MT_I32, MT_CPU)));
    ABORTS("mt_item reads one f32 element, [2,3] has 6 of type f32", mt_item(t));
    ABORTS("[1] has 1 of type i32", mt_item(mt_zeros(MT_SHAPE(1), MT_I32, MT_CPU)));
    ABORTS("[2,3] has no dimension -3", mt_dim(t, -3));
    ABORTS("index 2 of dimension 0 is outside [2,3]", mt_get(t, (int64_t[]){ 2, 0 }));
    ABORTS("no memory on cuda: open the device first", mt_zeros(MT_SHAPE(2), MT_F32, MT_CUDA));
    ABORTS("more elements than can be counted", mt_empty(MT_SHAPE(1ll << 60), MT_I64, MT_CPU));
    mt_scope_end();
}

/* The output of mt_print of t. */
static const char *printed(const mt_tensor *t)
{
    static ending end;
    if (run_in_child(&end) == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        mt_print(t);
        fflush(stdout);
        _exit(0);
    }
    return end.said;
}

Test(tensor, print_shows_at_most_eight_by_eight)
{
    mt_scope_begin();
    const char *small = printed(mt_transpose(counting(MT_SHAPE(2, 2)), 0, 1));
    cr_assert_str_eq(small, "f32 [2,2] on cpu\n"
                            "[0,:]          0          2\n"
                            "[1,:]          1          3\n");
    cr_assert_str_eq(printed(mt_full(MT_SCALAR, 1.5f)), "f32 [] on cpu\n        1.5\n");
    cr_assert_str_eq(printed(mt_full(MT_SHAPE(3, 0), 1)), "f32 [3,0] on cpu\n");
    cr_assert_str_eq(printed(mt_from(MT_SHAPE(2), MT_I64, (int64_t[]){ INT64_MAX, -1234567 })),
                     "i64 [2] on cpu\n 9223372036854775807   -1234567\n");
    cr_assert_str_eq(printed(mt_from(MT_SHAPE(2), MT_I32, (int32_t[]){ INT32_MIN, 50257 })),
                     "i32 [2] on cpu\n -2147483648      50257\n");
    const char *large = printed(mt_full(MT_SHAPE(10, 9), 1));
    cr_assert(strstr(large, "  ... 1 more\n") && strstr(large, "\n... 2 more rows\n"), "printed \"%s\"", large);
    mt_scope_end();
}

/* ---- living ------------------------------------------------------------------------------------------- */

Test(tensor, dies_with_its_last_reference_and_takes_its_gradient_along)
{
    mt_tensor *t = counting(MT_SHAPE(4));
    t->grad = mt_zeros(MT_SHAPE(4), MT_F32, MT_CPU);
    cr_assert_eq(mt_retain(t), t);
    mt_release(t);
    cr_assert_eq(mt_live_bytes(MT_CPU), 32);
    mt_release(t);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
    mt_release(NULL);
}

/* ---- for the tape ---------------------------------------------------------------------------------------- */

static mt_node *released;

static void release_node(mt_node *node)
{
    released = node;
}

Test(tensor, a_tensor_that_dies_releases_its_node)
{
    mt_node *node = (mt_node *)&released;
    mt_tensor_on_release(release_node);
    mt_scope_begin();
    mt_tensor *t = counting(MT_SHAPE(2, 3));
    t->node = node;
    mt_tensor *view = mt_tensor_view(t, mt_view_transpose(&t->view, 0, 1)), *copy = mt_tensor_packed(view);
    cr_assert(view->storage == t->storage && !view->node && !copy->node, "views and copies have no history");
    cr_assert_eq(mt_f32(copy)[1], mt_f32(t)[3]);
    cr_assert_null(released);
    mt_scope_end();
    cr_assert_eq(released, node);
}
