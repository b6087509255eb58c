/* copy.c -- copies the elements of any view in row-major order, for example to make a transpose contiguous.
 *
 * Two things make it fast. Elements that are neighbours in storage are copied together by memcpy. And the position of
 * the next element is computed with additions, like an odometer that carries, and without divisions. */
#include "core/view.h"

#include <string.h>

/* n elements of `size` bytes, `step` bytes apart. Called with a constant size, memcpy of it is one move. */
static inline void gather(char *to, const char *from, int64_t n, int64_t step, size_t size)
{
    for (int64_t i = 0; i < n; i++)
        memcpy(to + (size_t)i * size, from + i * step, size);
}

/* to[0..n-1] = from[0], from[stride], from[2 stride] ..., elements of `size` bytes. */
static void copy_run(char *to, const char *from, int64_t n, int64_t stride, int64_t size)
{
    if (stride == 1 || n == 1)
        memcpy(to, from, (size_t)(n * size));
    else if (size == 8)
        gather(to, from, n, stride * 8, 8);
    else if (size == 4)
        gather(to, from, n, stride * 4, 4);
    else if (size == 2)
        gather(to, from, n, stride * 2, 2);
    else
        gather(to, from, n, stride, 1);
}

void mt_copy_strided(void *out, const void *storage, const mt_view *view, int64_t size)
{
    char *to = out, *end = to + mt_view_numel(view) * size;
    const char *from = storage;
    int64_t n = 1, stride = 1; /* the run: the last dimensions of the view whose strides match */
    int outer = view->rank;    /* dimensions before the run */
    MT_CHECK(size == 1 || size == 2 || size == 4 || size == 8, "an element has 1, 2, 4 or 8 bytes, not %d", (int)size);
    if (to == end)
        return;

    /* TODO 00.7: Find the longest run at the end: n elements, `stride` apart.
     * Hint: start with one element. A dimension joins when a step along it goes where the run would go on. One of
     * size 1 always joins; the first one of another size sets the stride. */
    MT_TODO("00.7"); /* delete this line when yours stands here */

    int64_t index[MT_MAX_RANK] = { 0 }, at = view->offset; /* of the run's first element, in dimensions 0 .. outer-1 */
    while (to < end) {
        copy_run(to, from + at * size, n, stride, size);
        to += n * size;
        /* TODO 00.7: Move index and at to the next run.
         * Hint: an odometer: count up the last outer dimension; one that is past its end begins again, takes its way
         * back out of at, and carries to the dimension before it. */
        MT_TODO("00.7"); /* delete this line when yours stands here */
    }
}
