/* compare.h -- is an f32 result right? Against an oracle in double, within a tolerance that is derived, never guessed.
 *
 * One rounding to f32 is off by at most u = 2^-24 of the value. After k roundings on the way of sums and products, a
 * result is off by at most k u / (1 - k u) times the sum of the magnitudes of the terms, in whatever order they were
 * added (Higham 2002, "Accuracy and Stability of Numerical Algorithms", sec. 3.1 and 4.2). A test counts the roundings,
 * sums the magnitudes in its oracle, and says so. */
#pragma once

#include "core/base.h"

MT_C_BEGIN

#define MT_UNIT_F32 0x1p-24

/* Roundings that one call of the C library's expf, logf, tanhf or erff counts for: an error of 2 units in the last
 * place, each of 2 u. glibc documents at most that (manual, "Known Maximum Errors in Math Functions"). */
#define MT_LIBM_ROUNDINGS 4

/* mt_tolerance -- the bound above, and `roundings` times the smallest f32 for results that underflow.
 * Aborts: so many roundings that there is no bound. */
double mt_tolerance(double roundings, double magnitude);

/* mt_compare -- NULL when every got[i] is finite and within tolerance[i] of want[i]; otherwise a message with the first
 * that is not ("dw[17] = 3, expected 4, tolerance 1e-06; 5 of 20 wrong"), lent until this thread's next comparison. */
const char *mt_compare(const char *name, const float *got, const double *want, const double *tolerance, int64_t n);

/* mt_compare_bits -- the same for results that must not differ in any bit (NaN equals the same NaN, -0 is not 0). */
const char *mt_compare_bits(const char *name, const float *got, const float *want, int64_t n);

/* mt_test_uniform -- n numbers in [low, high) of a test's stream; one item more than n is allocated, so that n = 0
 * works. free() them. */
float *mt_test_uniform(uint64_t seed, int64_t n, float low, float high);

MT_C_END
