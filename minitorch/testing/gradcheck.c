/* gradcheck.c -- gradients by finite differences. */
#include "testing/gradcheck.h"

#include <stdlib.h>
#include <string.h>

static double *new_array(int64_t n)
{
    double *a = malloc((size_t)(n + 1) * sizeof *a);
    MT_CHECK(a, "gradcheck: out of memory");
    return a;
}

void mt_numeric_grad(double *grad, const mt_function *f, const double *x, int64_t n)
{
    static const double offset[] = { -2, -1, 1, 2 }, weight[] = { 1, -8, 8, -1 };
    double *moved = new_array(n);
    memcpy(moved, x, (size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) {
        grad[i] = 0;
        for (int64_t k = 0; k < MT_COUNT(offset); k++) {
            moved[i] = x[i] + offset[k] * f->step;
            grad[i] += weight[k] * f->value(moved, n, f->user) / (12 * f->step);
        }
        moved[i] = x[i];
    }
    free(moved);
}

const char *mt_gradcheck(const char *name, const float *got, const mt_function *f, const double *x,
                         const double *tolerance, int64_t n)
{
    double *want = new_array(n), *allowed = new_array(n);
    mt_numeric_grad(want, f, x, n);
    for (int64_t i = 0; i < n; i++)
        allowed[i] = tolerance[i] + 1.5 * f->error / f->step;
    const char *complaint = mt_compare(name, got, want, allowed, n);
    free(want);
    free(allowed);
    return complaint;
}
