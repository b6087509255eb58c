/* fill.h -- random inputs of checks: distributions, sizes, labels.
 *
 * Every draw comes from the run's generator, so a failure can be repeated from its seed, and no two calls get the same
 * numbers: an answer stored in an earlier call is wrong. */
#pragma once

#include "core/rng.h"

typedef enum mg_dist_kind { MG_DIST_NORMAL, MG_DIST_UNIFORM, MG_DIST_MIXED, MG_DIST_STEPS } mg_dist_kind;

typedef struct mg_dist {
    mg_dist_kind kind;
    double a, b;
} mg_dist;

#define NORMAL(mean, stddev) { MG_DIST_NORMAL, mean, stddev }
#define UNIFORM(low, high)   { MG_DIST_UNIFORM, low, high }
#define MIXED(low, high)     { MG_DIST_MIXED, low, high } /* either sign, magnitude 2^e with e uniform in low .. high */
#define STEPS(step, most)    { MG_DIST_STEPS, step, most } /* multiples of step, |x| <= most */
/* In f32 the sums of 300,000 of them are exact in any order, so that a lost or repeated element changes the result. */
#define SIXTEENTHS STEPS(1.0 / 16, 3)

/* mg_fill -- out[0..n-1] drawn from dist. */
void mg_fill(mt_rng *rng, float *out, int64_t n, mg_dist dist);

/* mg_fill_labels -- out[0..n-1] uniform in 0 .. classes-1; the first and the last class occur when n >= 2. */
void mg_fill_labels(mt_rng *rng, int32_t *out, int64_t n, int64_t classes);

/* mg_pick -- an integer, uniform in low .. high, both included. */
int64_t mg_pick(mt_rng *rng, int64_t low, int64_t high);

/* mg_pick_size -- one of the sizes that break kernels (0, 1, primes, a power of two and its neighbours), at most `most`
 * and at least `least`. */
int64_t mg_pick_size(mt_rng *rng, int64_t least, int64_t most);
