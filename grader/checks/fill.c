/* fill.c -- random inputs of checks. */
#include "checks/fill.h"

#include <math.h>

void mg_fill(mt_rng *rng, float *out, int64_t n, mg_dist dist)
{
    if (dist.kind == MG_DIST_NORMAL) {
        mt_rng_fill_normal(rng, out, n, (float)dist.a, (float)dist.b);
        return;
    }
    if (dist.kind == MG_DIST_STEPS) {
        for (int64_t i = 0, steps = (int64_t)(dist.b / dist.a); i < n; i++)
            out[i] = (float)((double)mg_pick(rng, -steps, steps) * dist.a);
        return;
    }
    mt_rng_fill_uniform(rng, out, n, (float)dist.a, (float)dist.b);
    for (int64_t i = 0; i < n && dist.kind == MG_DIST_MIXED; i++)
        out[i] = exp2f(out[i]) * (mt_rng_u32(rng) & 1 ? -1.0f : 1.0f);
}

void mg_fill_labels(mt_rng *rng, int32_t *out, int64_t n, int64_t classes)
{
    for (int64_t i = 0; i < n; i++)
        out[i] = (int32_t)mt_rng_below(rng, classes);
    if (n >= 2) {
        int64_t first = mt_rng_below(rng, n);
        out[first] = 0;
        out[(first + 1) % n] = (int32_t)(classes - 1);
    }
}

int64_t mg_pick(mt_rng *rng, int64_t low, int64_t high)
{
    return low + mt_rng_below(rng, high - low + 1);
}

int64_t mg_pick_size(mt_rng *rng, int64_t least, int64_t most)
{
    static const int64_t primes[] = { 2,  3,  5,  7,  11, 13,  17,  23,  29,  37, 43,
                                      53, 61, 71, 83, 97, 109, 127, 151, 181, 211 };
    for (;;) {
        int64_t size = 0;
        switch (mt_rng_below(rng, 8)) {
        case 0: /* seldom: a matrix with one row or one column hides a transpose */
            size = mt_rng_below(rng, 3) == 0 ? 0 : 1;
            break;
        case 1:
        case 2:
            size = primes[mt_rng_below(rng, MT_COUNT(primes))];
            break;
        default: /* 2^k - 1, 2^k, 2^k + 1 */
            size = ((int64_t)4 << mt_rng_below(rng, 7)) + mg_pick(rng, -1, 1);
        }
        if (size >= least && size <= most)
            return size;
    }
}
