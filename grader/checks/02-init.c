/* 02-init.c -- how the checks of initialisation run (step 02.8). Rows: 02-backprop.c. */
#include "checks/02-backprop.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The fourth power of a normal number has mean 3 and variance 96, in units of its deviation: of 2n numbers within 6.2
 * sigma, 0.03 for n = 2,000,000. A sum of k uniform numbers has 3 - 6 / 5k, so 12 of them are 0.1 off. With few numbers
 * the mean is not normal. */
static bool expect_tails(mg_run *run, int64_t n, double stddev)
{
    const float *w = mg_result(run, "w"), *next = mg_result(run, "next");
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += pow(w[i] / stddev, 4) + pow(next[i] / stddev, 4);
    double mean = sum / (2 * (double)n);
    if (fabs(mean - 3) <= 6.2 * sqrt(96 / (2 * (double)n)))
        return true;
    mg_hint(run, "a sum of a few uniform numbers is not normal: numbers far from 0 are too rare");
    mg_fail(run, "%lld numbers: the mean of (w / %.4g)^4 is %.4g   expected 3", 2 * (long long)n, stddev, mean);
    return false;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Copies about one in 256 of the pairs w[i], w[i+1] to pair, and returns how many. A hash of the pair decides: equal
 * pairs are all copied, or none of them is. */
static int64_t select_pairs(uint64_t *pair, const float *w, int64_t n)
{
    int64_t selected = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        memcpy(&pair[selected], w + i, sizeof *pair);
        selected += pair[selected] * 0x9E3779B97F4A7C15 >> 56 == 0;
    }
    return selected;
}

/* No pair occurs twice, in w or in next. A pair has 48 random bits or more: of 4,000,000 pairs 15,600 are copied, and
 * two of these are equal by chance in one grade of 2,000,000. */
static bool expect_new(mg_run *run, int64_t n)
{
    uint64_t *pair = malloc((size_t)(2 * n) * sizeof *pair);
    MT_CHECK(pair, "out of memory for %lld pairs", 2 * (long long)n);
    int64_t count = select_pairs(pair, mg_result(run, "w"), n), i = 1;
    count += select_pairs(pair + count, mg_result(run, "next"), n);
    qsort(pair, (size_t)count, sizeof *pair, by_value);
    while (i < count && pair[i] != pair[i - 1])
        i++;
    free(pair);
    if (i >= count)
        return true;
    mg_hint(run, "draw each number anew from rng, which advances with each: two calls have no number in common");
    mg_fail(run, "%lld numbers in two calls: a pair of neighbouring numbers occurs twice", 2 * (long long)n);
    return false;
}

/* w and next: successive calls with one generator; again: the same generator from the start. */
static bool expect_draws(mg_run *run, const init_case *c, int64_t n, double scale)
{
    const float *w = mg_result(run, "w"), *next = mg_result(run, "next");
    int64_t ranked = mt_min(n, 30000);
    double *sorted = mg_lift(w, ranked), sum = 0, product = 0, lag = 0, square = 0, next_square = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(w[i]) || !isfinite(next[i]) || (c->xavier && fabs(w[i]) > scale * (1 + 8 * MG_U))) {
            mg_fail(run, "w[%lld] = %g   expected within %g", (long long)i, (double)w[i], scale);
            free(sorted);
            return false;
        }
        sum += (double)w[i] + next[i];
        product += (double)w[i] * next[i];
        lag += i ? (double)w[i] * w[i - 1] : 0;
        square += (double)w[i] * w[i];
        next_square += (double)next[i] * next[i];
    }
    double distance = c->xavier ? mg_ks_uniform(sorted, ranked, scale) : mg_ks_normal(sorted, ranked, scale);
    double stddev = c->xavier ? scale / sqrt(3) : scale,
           ratio = (square + next_square) / (2 * (double)n * stddev * stddev);
    free(sorted);
    /* The mean of the squares of 2n normal numbers varies by sqrt(2 / 2n), of uniform ones less: 6.2 sigma. */
    if (distance > mg_ks_bound(ranked) || fabs(ratio - 1) > 6.2 / sqrt((double)n)) {
        if (ratio == 0)
            mg_hint(run, "every number is 0: in C the quotient of two integers is an integer, and 2 / 3 is 0");
        mg_fail(run,
                "%lld numbers: mean %.4g, root of the mean square %.4g   expected 0 and %.4g (distributions differ by "
                "%.3f, random samples by at most %.3f)",
                2 * (long long)n, sum / (2 * (double)n), sqrt(ratio) * stddev, stddev, distance, mg_ks_bound(ranked));
        return false;
    }
    if (fabs(product) > 6.2 * square / sqrt((double)n)) { /* a sum of n products of mean 0: 6.2 sigma, 6e-10 */
        mg_hint(run, "draw from rng itself, not from a copy: its counter advances with each number");
        mg_fail(run, "two successive calls with one generator gave correlated numbers");
        return false;
    }
    if (fabs(lag) > 6.2 * square / sqrt((double)n)) { /* the same */
        mg_fail(run, "neighbouring numbers are correlated: each must be drawn by itself");
        return false;
    }
    if (n > 1000000 && (!expect_new(run, n) || (!c->xavier && !expect_tails(run, n, scale))))
        return false;
    double *same = mg_lift(w, n);
    bool good = mg_expect(run, "again", same, NULL);
    free(same);
    return good;
}

/* One number and none: too few for a distribution, but not to be written past the end. */
static bool expect_few(mg_run *run, int64_t n)
{
    double *w = mg_lift(mg_result(run, "w"), n);
    bool good = (n == 0 || isfinite(w[0])) && mg_expect(run, "again", w, NULL);
    free(w);
    return good;
}

/* A fan below 1 must abort; number 0 is fan_in, 1 fan_out. */
static bool refuse_fan(mg_run *run, const init_case *c, int which, int64_t fan)
{
    mg_begin_refused(run, c->xavier ? "may abort: mt_init_xavier_cpu" : "may abort: mt_init_he_cpu");
    mg_out(run, "w", MT_F32, MT_SHAPE(2));
    mg_out(run, "next", MT_F32, MT_SHAPE(2));
    mg_out(run, "again", MT_F32, MT_SHAPE(2));
    mg_i64(run, "n", 2);
    mg_i64(run, "fan_in", which == 0 ? fan : 3);
    if (c->xavier)
        mg_i64(run, "fan_out", which == 1 ? fan : 3);
    mg_i64(run, "seed", 1);
    return mg_refused(run, "the call", c->xavier ? "a fan < 1" : "fan_in < 1");
}

enum { FIRST = 8 };

/* A call that draws n numbers three times; the first of them over their scale. */
static bool draw(mg_run *run, const init_case *c, int64_t n, int64_t in, double first[FIRST])
{
    int64_t out = mg_pick(mg_rng(run), 2, 900);
    mg_begin(run, c->xavier ? "mt_init_xavier_cpu" : "mt_init_he_cpu");
    mg_out(run, "w", MT_F32, MT_SHAPE(n));
    mg_out(run, "next", MT_F32, MT_SHAPE(n));
    mg_out(run, "again", MT_F32, MT_SHAPE(n));
    mg_i64(run, "n", n);
    mg_i64(run, "fan_in", in);
    if (c->xavier)
        mg_i64(run, "fan_out", out);
    mg_i64(run, "seed", (int64_t)(mt_rng_u64(mg_rng(run)) >> 1));
    double scale = c->xavier ? sqrt(6.0 / (double)(in + out)) : sqrt(2.0 / (double)in);
    if (!mg_call(run) || (n > 1 ? !expect_draws(run, c, n, scale) : !expect_few(run, n)))
        return false;
    for (int64_t i = 0; i < mt_min(n, FIRST); i++)
        first[i] = ((const float *)mg_result(run, "w"))[i] / scale;
    return true;
}

/* Whether none of the first numbers differs by more than roundings. */
static bool same_start(const double *a, const double *b)
{
    bool same = true;
    for (int i = 0; i < FIRST; i++)
        same = same && fabs(a[i] - b[i]) < 1e-3;
    return same;
}

static bool any_count(mg_run *run, const init_case *c)
{
    mt_rng *rng = mg_rng(run);
    double first[FIRST], second[FIRST];
    if (!draw(run, c, mg_pick(rng, 20000, 30000), mg_pick(rng, 2, 900), first))
        return false;
    mg_part(run, "another seed", NULL);
    if (!draw(run, c, 1 + 2 * mg_pick(rng, 10000, 15000), mg_pick(rng, 40000, 90000), second))
        return false;
    if (same_start(first, second))
        mg_fail(run, "two generators with different seeds gave the same numbers: draw from rng");
    mg_part(run, "2,000,000 numbers", NULL);
    if (!draw(run, c, 2000000, 1, first))
        return false;
    mg_part(run, "one number, and none", "n may be odd, 1 or 0: write n numbers");
    return draw(run, c, 1, mg_pick(rng, 2, 900), first) && draw(run, c, 0, mg_pick(rng, 2, 900), first);
}

void mg_02_init(mg_run *run, const void *one_case)
{
    const init_case *c = one_case;
    if (!any_count(run, c))
        return;
    mg_part(run, "a fan below 1 must abort", NULL);
    for (int which = 0; which <= c->xavier && refuse_fan(run, c, which, 0) && refuse_fan(run, c, which, -1); which++)
        ;
}
