/* clip.c -- the norm of all gradients, and clipping by it.
 *
 * A sum depends on the order of its terms. So every array is divided into the same number of parts for any number of
 * threads, and the parts' sums are added from first to last: the norm and the scaled arrays never change. */
#include "optim/clip.h"

#include <math.h>

enum {
    PARALLEL_FROM = 1 << 15, /* elements from which waking the other threads (2 us) pays */
    PARTS = 64,              /* of every array's sum */
};

static double sum_squares(const float *g, int64_t n)
{
    double part[PARTS] = { 0 }, sum = 0;
    /* TODO 04.9: The sum of squares, each of PARTS contiguous parts by one thread, then all parts in order.
     * Hint: the parts cover all elements, with boundaries that depend on n and PARTS only. Square in double: 1e20
     * squared overflows f32. */
    MT_TODO("04.9"); /* delete this line when yours stands here */
    return sum;
}

static void scale(float *g, int64_t n, float by)
{
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++)
        g[i] *= by;
}

double mt_grad_norm_cpu(const mt_grad_array *arrays, int64_t count)
{
    double sum = 0;
    for (int64_t a = 0; a < count; a++)
        sum += sum_squares(arrays[a].grad, arrays[a].count);
    return sqrt(sum);
}

double mt_clip_grad_norm_cpu(const mt_grad_array *arrays, int64_t count, double max_norm)
{
    MT_CHECK(max_norm >= 0, "clip: max_norm is %g; it must be 0 or more", max_norm);
    double norm = mt_grad_norm_cpu(arrays, count);
    /* TODO 04.9: Scale every array by the same factor when the norm of all together is too large.
     * Hint: if the norm is inf or NaN, some element is; no factor can correct that, so change nothing. */
    MT_TODO("04.9"); /* delete this line when yours stands here */
    return norm;
}
