/* shape.c -- the given part of view.h: what a legal shape is, and how shapes and views read in messages. */
#include "core/view.h"

#include <inttypes.h>
#include <stdio.h>

/* At most this many elements, so that 8 bytes each can still be counted. */
#define MAX_ELEMENTS (INT64_MAX / 8)

int64_t mt_shape_numel(mt_shape shape)
{
    int64_t numel = 1;
    bool empty = false, fits = true;
    MT_CHECK(shape.rank >= 0 && shape.rank <= MT_MAX_RANK, "a shape has 0 to %d dimensions, not %d", MT_MAX_RANK,
             shape.rank);
    for (int d = 0; d < shape.rank; d++) {
        MT_CHECK(shape.dim[d] >= 0, "shape %s: dimension %d is negative", mt_shape_text(shape), d);
        empty = empty || shape.dim[d] == 0;
        fits = fits && !__builtin_mul_overflow(numel, shape.dim[d], &numel) && numel <= MAX_ELEMENTS;
    }
    MT_CHECK(empty || fits, "shape %s has more elements than can be counted", mt_shape_text(shape));
    return empty ? 0 : numel;
}

bool mt_shape_equal(mt_shape a, mt_shape b)
{
    if (a.rank != b.rank)
        return false;
    for (int d = 0; d < a.rank; d++)
        if (a.dim[d] != b.dim[d])
            return false;
    return true;
}

mt_shape mt_view_shape(const mt_view *view)
{
    mt_shape shape = { .rank = view->rank };
    for (int d = 0; d < view->rank; d++)
        shape.dim[d] = view->shape[d];
    return shape;
}

/* ---- text ----------------------------------------------------------------------------------- */

/* The next of 8 buffers in turn, so that one message can name several shapes. Either text takes at most two lists of 8
 * numbers of 20 characters. */
static char *next_buffer(size_t *size)
{
    static _Thread_local char buffers[8][448];
    static _Thread_local unsigned next;
    *size = sizeof buffers[0];
    return buffers[next++ % 8];
}

/* Append "[3,4]" to text; returns the new length. */
static size_t put_list(char *text, size_t size, size_t used, const int64_t *list, int count)
{
    used += (size_t)snprintf(text + used, size - used, "[");
    for (int i = 0; i < count && i < MT_MAX_RANK; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%" PRId64, i ? "," : "", list[i]);
    return used + (size_t)snprintf(text + used, size - used, "]");
}

const char *mt_shape_text(mt_shape shape)
{
    size_t size;
    char *text = next_buffer(&size);
    put_list(text, size, 0, shape.dim, shape.rank);
    return text;
}

const char *mt_view_text(const mt_view *view)
{
    size_t size;
    char *text = next_buffer(&size);
    size_t used = put_list(text, size, 0, view->shape, view->rank);
    used += (size_t)snprintf(text + used, size - used, " stride ");
    used = put_list(text, size, used, view->stride, view->rank);
    snprintf(text + used, size - used, " offset %" PRId64, view->offset);
    return text;
}
