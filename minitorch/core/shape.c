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

enum { LIST = 200, TEXTS = 24 }; /* 8 numbers of 20 characters; 8 texts of views take 16 lists */

/* "[3,4]" in one of several buffers in turn, so that a message can name several shapes. */
static const char *list_text(const int64_t *list, int count)
{
    static _Thread_local char texts[TEXTS][LIST];
    static _Thread_local unsigned next;
    char *text = texts[next++ % TEXTS];
    int used = snprintf(text, LIST, "[");
    for (int i = 0; i < count && i < MT_MAX_RANK; i++)
        used += snprintf(text + used, (size_t)(LIST - used), "%s%" PRId64, i ? "," : "", list[i]);
    snprintf(text + used, (size_t)(LIST - used), "]");
    return text;
}

const char *mt_shape_text(mt_shape shape)
{
    return list_text(shape.dim, shape.rank);
}

const char *mt_view_text(const mt_view *view)
{
    static _Thread_local char texts[8][2 * LIST + 48];
    static _Thread_local unsigned next;
    char *text = texts[next++ % 8];
    snprintf(text, sizeof texts[0], "%s stride %s offset %" PRId64, list_text(view->shape, view->rank),
             list_text(view->stride, view->rank), view->offset);
    return text;
}
