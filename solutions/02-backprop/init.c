/* init.c -- the size of the initial weights. A unit sums fan_in products: each layer multiplies the variance of its
 * signal by fan_in * var(w) (forward) or fan_out * var(w) (backward). Unless that is near 1, signals or gradients grow
 * or vanish exponentially with depth. */
#include "kernels/kernels.h"

#include <inttypes.h>
#include <math.h>

void mt_init_he_cpu(float *w, int64_t n, int64_t fan_in, mt_rng *rng)
{
    MT_CHECK(fan_in >= 1, "init_he: fan_in is %" PRId64 "; it must be at least 1", fan_in);
    /* LAB 02.8 BEGIN  Normal numbers, by the rule of He.
     * Hint: ReLU removes half of the signal's power, and the variance of the weights makes up for it.
     * mt_rng_fill_normal takes the standard deviation. */
    float stddev = sqrtf(2.0f / (float)fan_in);
    mt_rng_fill_normal(rng, w, n, 0, stddev);
    /* LAB 02.8 END */
}

void mt_init_xavier_cpu(float *w, int64_t n, int64_t fan_in, int64_t fan_out, mt_rng *rng)
{
    MT_CHECK(fan_in >= 1 && fan_out >= 1, "init_xavier: fans are %" PRId64 " and %" PRId64 "; each must be at least 1",
             fan_in, fan_out);
    /* LAB 02.8 BEGIN  Uniform numbers, by the rule of Xavier: a compromise between forward and backward.
     * Hint: kernels.h has the bound a. Check it: which variance has a uniform number in (-a, a)? */
    float a = sqrtf(6.0f / (float)(fan_in + fan_out));
    mt_rng_fill_uniform(rng, w, n, -a, a);
    /* LAB 02.8 END */
}
