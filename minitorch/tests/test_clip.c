/* test_clip.c -- the global norm against long double, and clipping by it. Squares and sums in double have a relative
 * error of at most n 2^-53, in any order; the root halves that and rounds once. Scaling rounds twice. */
#include "optim/clip.h"
#include "testing/compare.h"
#include "tests/must.h"

#include <float.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static void check_norm(const mt_grad_array *arrays, int64_t count)
{
    long double sum = 0;
    int64_t n = 0;
    for (int64_t a = 0; a < count; a++) {
        n += arrays[a].count;
        for (int64_t i = 0; i < arrays[a].count; i++)
            sum += (long double)arrays[a].grad[i] * arrays[a].grad[i];
    }
    double got = mt_grad_norm_cpu(arrays, count), want = (double)sqrtl(sum);
    cr_assert_leq(fabs(got - want), ((double)n + 4) * 0x1p-53 * want, "%d numbers: norm %.17g, expected %.17g", (int)n,
                  got, want);
}

Test(clip, norm_of_any_size)
{
    static const int64_t sizes[] = { 0, 1, 2, 31, 33, 63, 64, 65, 127, 1021, 40009 };
    mt_grad_array all[MT_COUNT(sizes)];
    for (int64_t s = 0; s < MT_COUNT(sizes); s++) {
        all[s] = (mt_grad_array){ mt_test_uniform((uint64_t)s, sizes[s], -3, 3), sizes[s] };
        all[s].grad[sizes[s]] = 1e30f; /* past the end: must not count */
        check_norm(&all[s], 1);
    }
    check_norm(all, MT_COUNT(sizes));
    cr_assert_eq(mt_grad_norm_cpu(all, 0), 0);
    for (int64_t s = 0; s < MT_COUNT(sizes); s++)
        free(all[s].grad);
}

Test(clip, norm_neither_overflows_nor_underflows)
{
    float large[] = { 3e38f, -3e38f }, small[] = { 3e-42f, 4e-42f };
    check_norm(&(mt_grad_array){ large, 2 }, 1);
    check_norm(&(mt_grad_array){ small, 2 }, 1);
}

/* 3-4-5: the norm of both arrays is 5, so both are scaled by 2/5; clipped separately, both would have norm 2. */
Test(clip, all_arrays_shrink_alike)
{
    float a[] = { 0, 3, 0 }, b[] = { -4, 0, 77 };
    mt_grad_array arrays[] = { { a, 3 }, { b, 2 } };
    cr_assert_eq(mt_clip_grad_norm_cpu(arrays, 2, 2), 5);
    double want[] = { 0, 1.2, 0, -1.6, 0 }, tolerance[5];
    for (int i = 0; i < 5; i++)
        tolerance[i] = mt_tolerance(2, fabs(want[i]));
    must(mt_compare("a", a, want, tolerance, 3));
    must(mt_compare("b", b, want + 3, tolerance + 3, 2));
    cr_assert_eq(b[2], 77, "past the end");
    cr_assert_float_eq(mt_grad_norm_cpu(arrays, 2), 2, mt_tolerance(2, 2), "clipped to the norm asked for");
}

static void check_untouched(float *grad, int64_t n, double max_norm)
{
    float *before = malloc((size_t)n * sizeof *before);
    memcpy(before, grad, (size_t)n * sizeof *before);
    mt_clip_grad_norm_cpu(&(mt_grad_array){ grad, n }, 1, max_norm);
    must(mt_compare_bits("grad", grad, before, n));
    free(before);
}

Test(clip, short_gradients_stay_as_they_are)
{
    float at[] = { 3, 4 }, below[] = { 0.1f, -0.2f }, zero[] = { 0, -0.0f };
    check_untouched(at, 2, 5);
    check_untouched(below, 2, 1);
    check_untouched(zero, 2, 1);
    check_untouched(zero, 2, 0);
    cr_assert_eq(mt_clip_grad_norm_cpu(&(mt_grad_array){ zero, 2 }, 1, 0), 0);
    check_untouched(at, 2, INFINITY);
}

Test(clip, no_norm_at_all)
{
    float a[] = { 1, 2 };
    cr_assert_eq(mt_clip_grad_norm_cpu(&(mt_grad_array){ a, 2 }, 1, 0), sqrt(5));
    cr_assert(a[0] == 0 && a[1] == 0);
}

Test(clip, what_is_not_finite_is_reported_and_left)
{
    static const float bad[] = { INFINITY, -INFINITY, NAN };
    for (int64_t k = 0; k < MT_COUNT(bad); k++) {
        float fine[] = { 30, 40 }, hurt[33] = { 0 };
        hurt[17] = bad[k];
        mt_grad_array arrays[] = { { fine, 2 }, { hurt, 33 } };
        double norm = mt_clip_grad_norm_cpu(arrays, 2, 1);
        cr_assert(!isfinite(norm), "%g among the gradients, and the norm is %g", (double)bad[k], norm);
        cr_assert(fine[0] == 30 && fine[1] == 40, "%g in one array changed another", (double)bad[k]);
        check_untouched(hurt, 33, 1);
    }
}

Test(clip, same_bits_for_any_thread_count)
{
    enum { N = 200003 };
    float *source = mt_test_uniform(9, N, -1, 1), *first = malloc(N * sizeof *first), *now = malloc(N * sizeof *now);
    double first_norm = 0;
    for (int threads = 1; threads <= 4; threads++) {
        float *to = threads == 1 ? first : now;
        memcpy(to, source, N * sizeof *to);
        omp_set_num_threads(threads);
        double norm = mt_clip_grad_norm_cpu(&(mt_grad_array){ to, N }, 1, 0.7);
        if (threads == 1)
            first_norm = norm;
        cr_assert_eq(memcmp(&norm, &first_norm, sizeof norm), 0, "%d threads: %a, one: %a", threads, norm, first_norm);
        must(mt_compare_bits("grad", to, first, N));
    }
    free(source), free(first), free(now);
}

Test(clip, negative_limit_aborts, .signal = SIGABRT)
{
    mt_clip_grad_norm_cpu(NULL, 0, -1);
}

Test(clip, nan_limit_aborts, .signal = SIGABRT)
{
    mt_clip_grad_norm_cpu(NULL, 0, NAN);
}
