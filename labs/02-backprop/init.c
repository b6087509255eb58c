/* init.c -- the size of the initial weights. A unit sums fan_in products: each layer multiplies the variance of its
 * signal by fan_in * var(w) (forward) or fan_out * var(w) (backward). Unless that is near 1, signals or gradients grow
 * or vanish exponentially with depth. */
#include "kernels/kernels.h"

#include <inttypes.h>
#include <math.h>

void mt_init_he_cpu(float *w, int64_t n, int64_t fan_in, mt_rng *rng)
{
    MT_CHECK(fan_in >= 1, "init_he: fan_in is %" PRId64 "; it must be at least 1", fan_in);
    /* TODO 02.8: Normal numbers, by the rule of He.
     * Hint: ReLU removes half of the signal's power, and the variance of the weights makes up for it.
     * mt_rng_fill_normal takes the standard deviation. */
    MT_TODO("02.8"); /* delete this line when yours stands here */
}

void mt_init_xavier_cpu(float *w, int64_t n, int64_t fan_in, int64_t fan_out, mt_rng *rng)
{
    MT_CHECK(fan_in >= 1 && fan_out >= 1, "init_xavier: fans are %" PRId64 " and %" PRId64 "; each must be at least 1",
             fan_in, fan_out);
    /* TODO 02.8: Uniform numbers, by the rule of Xavier: a compromise between forward and backward.
     * Hint: kernels.h has the bound a. Check it: which variance has a uniform number in (-a, a)? */
    MT_TODO("02.8"); /* delete this line when yours stands here */
}
