/* tensor.c -- making, viewing, reading, printing and releasing tensors; see tensor.h.
 *
 * Every function that returns a tensor gives one reference, to the current scope where there is one. */
#include "core/tensor.h"
#include "core/scope.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void (*release_node)(mt_node *node); /* set by the first node; threads may set the same value at once */

/* The storage of a dropped tensor; shared by all threads, so its references are not counted. */
static mt_storage nothing;

void mt_tensor_on_release(void (*release)(mt_node *node))
{
    __atomic_store_n(&release_node, release, __ATOMIC_RELAXED);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void check_not_dropped(const mt_tensor *t)
{
    MT_CHECK(t->storage != &nothing,
             "%s was freed by mt_backward, which started from another tensor: read it before, or mt_retain it",
             mt_shape_text(mt_view_shape(&t->view)));
}

/* One more reference to t's memory. */
static mt_storage *memory_of(const mt_tensor *t)
{
    check_not_dropped(t);
    return mt_storage_retain(t->storage);
}

static void give_memory_back(mt_tensor *t)
{
    if (t->storage != &nothing)
        mt_storage_release(t->storage);
}

/* A tensor of the caller's that takes over the caller's reference to storage. */
static mt_tensor *unscoped(mt_view view, mt_dtype dtype, mt_storage *storage)
{
    mt_tensor *t = mt_calloc(1, sizeof *t);
    *t = (mt_tensor){ .view = view, .dtype = dtype, .storage = storage, .refs = 1 };
    return t;
}

static mt_tensor *tensor_new(mt_view view, mt_dtype dtype, mt_storage *storage)
{
    return mt_scope_adopt(unscoped(view, dtype, storage));
}

mt_tensor *mt_tensor_alias(const mt_tensor *t)
{
    mt_tensor *alias = unscoped(t->view, t->dtype, memory_of(t));
    alias->precision = t->precision;
    return alias;
}

mt_tensor *mt_empty(mt_shape shape, mt_dtype dtype, mt_device device)
{
    int64_t bytes = mt_shape_numel(shape) * mt_dtype_size(dtype);
    return tensor_new(mt_view_contiguous(shape), dtype, mt_storage_new(bytes, device));
}

mt_tensor *mt_zeros(mt_shape shape, mt_dtype dtype, mt_device device)
{
    mt_tensor *t = mt_empty(shape, dtype, device);
    mt_clear(t->storage->data, t->storage->bytes, device);
    return t;
}

mt_tensor *mt_zeros_for(mt_memory_use use, mt_shape shape, mt_device device)
{
    mt_memory_use before = mt_alloc_for(use);
    mt_scope_begin();
    mt_tensor *t = mt_retain(mt_zeros(shape, MT_F32, device));
    mt_scope_end();
    mt_alloc_for(before);
    return t;
}

mt_tensor *mt_full(mt_shape shape, float value)
{
    mt_tensor *t = mt_empty(shape, MT_F32, MT_CPU);
    float *data = mt_f32(t);
    for (int64_t i = 0, n = mt_numel(t); i < n; i++)
        data[i] = value;
    return t;
}

mt_tensor *mt_from(mt_shape shape, mt_dtype dtype, const void *data)
{
    mt_tensor *t = mt_empty(shape, dtype, MT_CPU);
    mt_copy(t->storage->data, MT_CPU, data, MT_CPU, t->storage->bytes);
    return t;
}

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

/* ---- views ------------------------------------------------------------------------------------- */

mt_tensor *mt_tensor_view(const mt_tensor *t, mt_view view)
{
    mt_tensor *seen = tensor_new(view, t->dtype, memory_of(t));
    seen->precision = t->precision;
    return seen;
}

mt_tensor *mt_tensor_packed(const mt_tensor *t)
{
    mt_device device = t->storage->device;
    check_not_dropped(t);
    mt_tensor *copy = mt_empty(mt_view_shape(&t->view), t->dtype, device);
    copy->precision = t->precision;
    if (device == MT_CPU)
        mt_copy_strided(copy->storage->data, mt_storage_data(t->storage), &t->view, mt_dtype_size(t->dtype));
    else
        mt_cuda->driver->pack(copy->storage->data, mt_storage_data(t->storage), &t->view, mt_dtype_size(t->dtype));
    return copy;
}

mt_tensor *mt_to_device(mt_tensor *t, mt_device device)
{
    if (t->storage->device == device)
        return mt_scope_adopt(mt_retain(t));
    mt_scope_begin();
    mt_tensor *dense = mt_view_is_contiguous(&t->view) ? t : mt_tensor_packed(t);
    mt_tensor *moved = mt_empty(mt_view_shape(&t->view), t->dtype, device);
    moved->precision = t->precision;
    mt_copy(moved->storage->data, device, mt_data(dense), dense->storage->device, moved->storage->bytes);
    mt_retain(moved);
    mt_scope_end();
    return mt_scope_adopt(moved);
}

/* ---- reading ------------------------------------------------------------------------------------ */

int64_t mt_numel(const mt_tensor *t)
{
    return mt_view_numel(&t->view);
}

int64_t mt_dim(const mt_tensor *t, int dim)
{
    int counted = dim < 0 ? dim + t->view.rank : dim;
    MT_CHECK(counted >= 0 && counted < t->view.rank, "%s has no dimension %d", mt_shape_text(mt_view_shape(&t->view)),
             dim);
    return t->view.shape[counted];
}

void *mt_data(const mt_tensor *t)
{
    check_not_dropped(t);
    MT_CHECK(mt_view_is_contiguous(&t->view), "%s is not contiguous: take mt_contiguous of it first",
             mt_view_text(&t->view));
    /* An empty view may start beyond its storage. */
    return (char *)mt_storage_data(t->storage) + (mt_numel(t) > 0 ? t->view.offset * mt_dtype_size(t->dtype) : 0);
}

float *mt_f32(const mt_tensor *t)
{
    MT_CHECK(t->dtype == MT_F32, "%s is %s, not f32", mt_shape_text(mt_view_shape(&t->view)), mt_dtype_name(t->dtype));
    return mt_data(t);
}

double mt_item(const mt_tensor *t)
{
    float value;
    check_not_dropped(t);
    MT_CHECK(mt_numel(t) == 1 && t->dtype == MT_F32, "mt_item reads one f32 element, %s has %" PRId64 " of type %s",
             mt_shape_text(mt_view_shape(&t->view)), mt_numel(t), mt_dtype_name(t->dtype));
    mt_copy(&value, MT_CPU, (float *)mt_storage_data(t->storage) + t->view.offset, t->storage->device, sizeof value);
    return value;
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

/* ---- living -------------------------------------------------------------------------------------- */

mt_tensor *mt_retain(mt_tensor *t)
{
    t->refs++;
    return t;
}

void mt_release(mt_tensor *t)
{
    if (!t || --t->refs > 0)
        return;
    mt_release(t->grad);
    mt_release(t->grad_memory);
    mt_release(t->cast);
    if (t->node)
        __atomic_load_n(&release_node, __ATOMIC_RELAXED)(t->node);
    give_memory_back(t);
    free(t);
}

void mt_tensor_keep_cast(mt_tensor *t, mt_tensor *cast)
{
    if (cast)
        mt_retain(cast); /* first: it may be the one that is kept */
    mt_release(t->cast);
    t->cast = cast;
    t->cast_version = t->storage->version;
}

void mt_tensor_drop(mt_tensor *t)
{
    give_memory_back(t);
    t->storage = &nothing;
    mt_release(t->cast);
    t->cast = NULL;
}
