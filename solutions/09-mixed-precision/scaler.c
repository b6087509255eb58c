/* scaler.c -- how the scale of the loss follows what overflows, and gradients without it. */
#include "amp/scaler.h"

mt_scaler mt_scaler_new(void)
{
    return (mt_scaler){ .exponent = 15, .interval = 2000 };
}

bool mt_scaler_update(mt_scaler *s, bool finite)
{
    int64_t exponent = s->exponent;
    /* LAB 09.6 BEGIN  Counts, and the next exponent.
     * Hint: what does a step that is not finite do to the scale and to each of the three counts, and what does a finite
     * step do to them? amp/scaler.h says it. */
    if (finite) {
        s->in_a_row = 0;
        if (++s->good >= s->interval) {
            s->good = 0;
            exponent++;
        }
    } else {
        s->skipped++;
        s->in_a_row++;
        s->good = 0;
        exponent--;
    }
    /* LAB 09.6 END */
    s->exponent = mt_max(-MT_SCALER_LIMIT, mt_min(MT_SCALER_LIMIT, exponent));
    return finite;
}

static void multiply(float *g, int64_t n, float by)
{
    enum { PARALLEL_FROM = 1 << 15 }; /* elements from which waking the other threads (2 us) pays */
#pragma omp parallel for simd if (parallel : n >= PARALLEL_FROM)
    for (int64_t i = 0; i < n; i++)
        g[i] *= by;
}

double mt_unscale_grads_cpu(const mt_grad_array *arrays, int64_t count, double scale, double max_norm)
{
    MT_CHECK(scale > 0 && isfinite(scale), "unscale: the scale is %g; it must be positive and finite", scale);
    MT_CHECK(max_norm >= 0, "unscale: max_norm is %g; it must be 0 or more", max_norm);
    /* LAB 09.7 BEGIN  One factor for all arrays: 1 / scale, and less where the norm is above max_norm.
     * Hint: mt_grad_norm_cpu of the scaled gradients is scale times the norm. inf or NaN in any element makes it inf or
     * NaN: no second pass to look for them is needed. When the factor is 1 nothing is written. */
    double norm = mt_grad_norm_cpu(arrays, count) / scale;
    double factor = norm > max_norm ? max_norm / norm / scale : 1 / scale;
    for (int64_t a = 0; a < count && isfinite(norm) && factor != 1; a++)
        multiply(arrays[a].grad, arrays[a].count, (float)factor);
    return norm;
    /* LAB 09.7 END */
}
