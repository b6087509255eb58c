/* tensor_values.c -- the values of a tensor: random ones, one read by its index, all of them printed. See tensor.h. */
#include "core/dtype.h"
#include "core/tensor.h"

#include <inttypes.h>
#include <stdio.h>

mt_tensor *mt_uniform(mt_shape shape, float low, float high, mt_rng *rng)
{
    mt_tensor *t = mt_empty(shape, MT_F32, MT_CPU);
    mt_rng_fill_uniform(rng, mt_f32(t), mt_numel(t), low, high);
    return t;
}

mt_tensor *mt_normal(mt_shape shape, float mean, float stddev, mt_rng *rng)
{
    mt_tensor *t = mt_empty(shape, MT_F32, MT_CPU);
    mt_rng_fill_normal(rng, mt_f32(t), mt_numel(t), mean, stddev);
    return t;
}

/* One element, in the first bytes of `out`. */
static void fetch(int64_t *out, const mt_tensor *t, const int64_t *index)
{
    int64_t size = mt_dtype_size(t->dtype), at = mt_view_at(&t->view, index);
    MT_CHECK(mt_storage_data(t->storage), "%s was freed by mt_backward", mt_shape_text(mt_view_shape(&t->view)));
    mt_copy(out, MT_CPU, (char *)t->storage->data + at * size, t->storage->device, size);
}

double mt_get(const mt_tensor *t, const int64_t *index)
{
    int64_t element;
    fetch(&element, t, index);
    return mt_load_f64(&element, t->dtype, 0);
}

/* Integers with all their digits: a double has 53 bits of an i64. */
static void print_element(const mt_tensor *t, const int64_t *index)
{
    int64_t element;
    fetch(&element, t, index);
    if (t->dtype == MT_I64)
        printf(" %10" PRId64, element);
    else if (t->dtype == MT_I32 || t->dtype == MT_U8)
        printf(" %10.0f", mt_load_f64(&element, t->dtype, 0));
    else
        printf(" %10.4g", mt_load_f64(&element, t->dtype, 0));
}

/* Prints the index of a row and its first 8 values. */
static void print_row(const mt_tensor *t, int64_t row, int64_t width)
{
    int64_t index[MT_MAX_RANK];
    int rank = t->view.rank;
    for (int64_t i = 0; i < mt_min(width, 8); i++) {
        mt_view_unravel(&t->view, row * width + i, index);
        if (i == 0 && rank > 1) {
            printf("[");
            for (int d = 0; d < rank - 1; d++)
                printf("%" PRId64 ",", index[d]);
            printf(":]");
        }
        print_element(t, index);
    }
    printf(width > 8 ? "  ... %" PRId64 " more\n" : "\n", width - 8);
}

void mt_print(const mt_tensor *t)
{
    int64_t width = t->view.rank > 0 ? mt_dim(t, -1) : 1, rows = width > 0 ? mt_numel(t) / width : 0;
    printf("%s %s on %s\n", mt_dtype_name(t->dtype), mt_shape_text(mt_view_shape(&t->view)),
           mt_device_name(t->storage->device));
    for (int64_t row = 0; row < mt_min(rows, 8); row++)
        print_row(t, row, width);
    if (rows > 8)
        printf("... %" PRId64 " more rows\n", rows - 8);
}
