/* 04-clip.c -- how the checks of step 04.9 run: the norm of several arrays, compared with long double, and the arrays
 * after clipping.
 *
 * Squares and sums are double (optim/clip.h): a norm of n numbers is off by at most n 2^-53 of itself, in any order of
 * addition; the square root halves that and rounds. A clipped element has at most four roundings to f32: of the limit,
 * the norm, their quotient and the product. Rows: 04-optimizers.c. */
#include "checks/04-optimizers.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, SEARCHED = -1, MANY = 1500 };

static const char *const names[MOST] = { "grad0", "grad1", "grad2", "grad3", "grad4", "grad5", "grad6", "grad7" };

/* The parameters of a call. */
typedef struct request {
    mg_dist dist;
    int64_t arrays, most; /* their number, and the largest size of each */
    int64_t exact_size;   /* when not 0: every array has it */
    double limit;         /* max_norm as a share of the norm; NAN: compute the norm only */
    float poison;         /* when not 0: one element is this, inf or NaN */
    int threads;          /* 0: as many as there are cores; SEARCHED: four, for data races */
} request;

/* One call, as sent, in double. */
typedef struct sent {
    int64_t arrays, count[MOST], total;
    double *value[MOST];
    double norm, max_norm;
} sent;

static double uniform(mt_rng *rng, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

/* The arrays; those of mt_grad_norm_cpu are read-only. Their norm. */
static void send_arrays(mg_run *run, sent *s, const request *r)
{
    mt_rng *rng = mg_rng(run);
    long double sum = 0;
    int64_t *size = mg_in(run, "sizes", MT_I64, MT_SHAPE(s->arrays));
    for (int64_t a = 0; a < s->arrays; a++) {
        int64_t n = r->exact_size ? r->exact_size : mg_pick_size(rng, 0, r->most);
        mt_shape shape = MT_SHAPE(n);
        float *x = isnan(r->limit) ? mg_in(run, names[a], MT_F32, shape) : mg_inout(run, names[a], MT_F32, shape);
        size[a] = n;
        mg_fill(rng, x, n, r->dist);
        if (r->poison != 0 && a == s->arrays - 1)
            x[mt_rng_below(rng, n)] = r->poison;
        s->value[a] = mg_lift(x, n);
        s->count[a] = n;
        s->total += n;
        for (int64_t i = 0; i < n; i++)
            sum += (long double)x[i] * x[i];
    }
    s->norm = (double)sqrtl(sum);
}

static sent describe(mg_run *run, const request *r)
{
    sent s = { .arrays = r->arrays };
    double *limit = NULL;
    mg_begin(run, isnan(r->limit) ? "mt_grad_norm_cpu" : "mt_clip_grad_norm_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1));
    if (!isnan(r->limit))
        limit = mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)); /* a double's bits */
    send_arrays(run, &s, r);
    s.max_norm = r->poison != 0 ? 1 : r->limit * s.norm;
    if (limit)
        memcpy(limit, &s.max_norm, sizeof *limit);
    if (r->threads > 0)
        mg_threads(run, r->threads);
    return s;
}

static double norm_of(mg_run *run)
{
    double norm;
    memcpy(&norm, mg_result(run, "norm"), sizeof norm);
    return norm;
}

/* A power of ten by which the norm is too large, whatever its size; else 0. */
static double eps_of(double excess)
{
    double eps = 1e-4;
    while (eps > 1e-13 && !(fabs(excess - eps) < 0.01 * eps))
        eps /= 10;
    return eps > 1e-13 ? eps : 0;
}

static bool judge_norm(mg_run *run, const sent *s)
{
    double got = norm_of(run), tolerance = ((double)s->total + 4) * 0x1p-53 * s->norm;
    if (isfinite(s->norm) ? fabs(got - s->norm) <= tolerance : !isfinite(got))
        return true;
    if (eps_of(got - s->norm) > 0)
        mg_hint(run, "the norm is too large by %.0e: add no eps", eps_of(got - s->norm));
    mg_fail(run, "the norm of %lld numbers in %lld arrays is %.17g, expected %.17g   tolerance %.2g",
            (long long)s->total, (long long)s->arrays, got, s->norm, tolerance);
    return false;
}

static bool judge_array(mg_run *run, const sent *s, int64_t a)
{
    bool clipped = isfinite(s->norm) && s->norm > s->max_norm;
    double *want = s->value[a], *tolerance = mg_doubles(s->count[a]), factor = s->max_norm / s->norm;
    if (s->norm > FLT_MAX && !mg_wrong(run, names[a], 0, 0, 0))
        factor = 0; /* computed in f32 */
    for (int64_t i = 0; clipped && i < s->count[a]; i++) {
        want[i] *= factor;
        tolerance[i] = mt_tolerance(4, fabs(want[i]));
    }
    for (int64_t i = 0; clipped && s->norm < 1e-6 && i < s->count[a]; i++)
        if (want[i] != 0 && !mg_wrong(run, names[a], i, 0, 0))
            mg_hint(run, "the norm is %.2g: an eps added to it makes max_norm / norm far too small; add none", s->norm);
    bool good = mg_expect(run, names[a], want, clipped ? tolerance : NULL);
    free(tolerance);
    return good;
}

static bool check(mg_run *run, request r)
{
    sent s = describe(run, &r);
    bool good = r.threads == SEARCHED ? mg_shared_call(run) : mg_call(run);
    good = good && judge_norm(run, &s);
    for (int64_t a = 0; a < s.arrays; a++) {
        good = good && (isnan(r.limit) || judge_array(run, &s, a));
        free(s.value[a]);
    }
    return good;
}

/* More arrays than a unit may think that there are: GPT-2 has 148, GPT-3 1156. They lie one after the other; their list
 * is what is long, so one norm and one factor are judged as of one array. */
static bool check_many(mg_run *run, double limit, int threads)
{
    mt_rng *rng = mg_rng(run);
    int64_t size[MANY], n = 0;
    sent s = { .arrays = 1 };
    bool clip = !isnan(limit);
    for (int a = 0; a < MANY; a++)
        n += size[a] = mg_pick(rng, 0, 12);
    mg_begin(run, clip ? "mt_clip_grad_norm_cpu" : "mt_grad_norm_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1));
    double *max_norm = clip ? mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)) : NULL;
    memcpy(mg_in(run, "sizes", MT_I64, MT_SHAPE(MANY)), size, sizeof size);
    float *x = clip ? mg_inout(run, names[0], MT_F32, MT_SHAPE(n)) : mg_in(run, names[0], MT_F32, MT_SHAPE(n));
    long double sum = 0;
    mg_fill(rng, x, n, (mg_dist)NORMAL(0, 3));
    for (int64_t i = 0; i < n; i++)
        sum += (long double)x[i] * x[i];
    s.value[0] = mg_lift(x, n);
    s.count[0] = s.total = n;
    s.norm = (double)sqrtl(sum);
    s.max_norm = limit * s.norm;
    if (max_norm)
        memcpy(max_norm, &s.max_norm, sizeof *max_norm);
    if (threads > 0)
        mg_threads(run, threads);
    bool good = mg_call(run) && judge_norm(run, &s) && (!clip || judge_array(run, &s, 0));
    free(s.value[0]);
    return good;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

#define ORDINARY .dist = NORMAL(0, 3), .most = 300

static void any_norm(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 1, .exact_size = 33, .limit = NAN }) &&
                check(run, (request){ ORDINARY, .arrays = 0, .limit = NAN }) &&
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .limit = NAN }) &&
                check(run, (request){ ORDINARY, .arrays = 1, .exact_size = 1300021, .limit = NAN });
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .limit = NAN });
    if (good)
        check_many(run, NAN, 0);
}

/* Magnitudes of 2^80 to 2^126, whose squares are inf in f32; of 2^-120 to 2^-80, whose squares are 0; denormals; and
 * elements whose norm is inf in f32. */
static void any_range(mg_run *run)
{
    static const mg_dist dists[] = { MIXED(80, 126), MIXED(-120, -80), MIXED(-140, -130) };
    for (int i = 0; i < MT_COUNT(dists); i++) {
        if (i == 2)
            mg_part(run, "denormal elements",
                    "all elements are denormal here: 1e-40 is not 0, nor is its square in double");
        if (!check(run, (request){ dists[i], .arrays = 3, .exact_size = 31, .limit = NAN }) ||
            !check(run, (request){ dists[i], .arrays = 3, .exact_size = 31, .limit = 0.5 }))
            return;
    }
    mg_hint(run, "every element is 3e38 here, and the norm is above FLT_MAX: a double holds it, so it is finite");
    if (check(run, (request){ .dist = UNIFORM(3e38, 3e38), .arrays = 3, .exact_size = 11, .limit = NAN }))
        check(run, (request){ .dist = UNIFORM(3e38, 3e38), .arrays = 3, .exact_size = 11, .limit = 0.01 });
}

/* A limit so near the norm differs from it by 1e-6, four times what a clipped element may be off by. */
static bool near_limit(mg_run *run, double limit)
{
    mg_part(run, "a limit near the norm",
            "max_norm is %.6f times the norm here: compare the two as they are, without a margin", limit);
    return check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 31, .limit = limit });
}

static void one_factor(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .limit = 0.3 });
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .limit = uniform(mg_rng(run), 0.01, 0.98) });
    if (good && check(run, (request){ ORDINARY, .arrays = 1, .exact_size = 300007, .limit = 0.3 }) &&
        check_many(run, 0.3, 0))
        near_limit(run, 1 - 1e-6);
}

static void short_ones(mg_run *run)
{
    static const float sides[] = { 3, 4 }; /* hypotenuse 5: exactly the limit */
    bool good = true;
    for (int i = 0; i < 10 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .limit = uniform(mg_rng(run), 1.01, 3) });
    if (!good || !check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 7, .limit = INFINITY }))
        return;
    mg_begin(run, "mt_clip_grad_norm_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1));
    memcpy(mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)), &(double){ 5 }, sizeof(double));
    int64_t *size = mg_in(run, "sizes", MT_I64, MT_SHAPE(2));
    size[0] = size[1] = 1;
    for (int a = 0; a < 2; a++)
        *(float *)mg_inout(run, names[a], MT_F32, MT_SHAPE(1)) = sides[a];
    sent s = { .arrays = 2, .total = 2, .norm = 5, .max_norm = 5 };
    if (mg_call(run) && judge_norm(run, &s) && mg_expect(run, names[0], (double[]){ 3 }, NULL) &&
        mg_expect(run, names[1], (double[]){ 4 }, NULL))
        near_limit(run, 1 + 1e-6);
}

static void refuse_limits(mg_run *run)
{
    static const double limits[] = { -1, NAN };
    for (int i = 0; i < MT_COUNT(limits); i++) {
        mg_begin(run, "may abort: mt_clip_grad_norm_cpu");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        memcpy(mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)), &limits[i], sizeof limits[i]);
        *(int64_t *)mg_in(run, "sizes", MT_I64, MT_SHAPE(1)) = 1;
        *(float *)mg_inout(run, names[0], MT_F32, MT_SHAPE(1)) = 2;
        if (!mg_call(run))
            return;
        if (*(const int64_t *)mg_result(run, "aborted") == 1)
            continue;
        mg_hint(run, "write or keep the MT_CHECK of max_norm: the header says \"Aborts: max_norm negative or NaN\"");
        mg_fail(run, "max_norm = %g was accepted", limits[i]);
        return;
    }
}

static void nothing_left(mg_run *run)
{
    if (check(run, (request){ ORDINARY, .arrays = 3, .exact_size = 13, .limit = 0 }) && /* all become 0 */
        check(run, (request){ .dist = UNIFORM(0, 0), .arrays = 3, .exact_size = 13, .limit = 0 }) &&
        check(run, (request){ .dist = UNIFORM(0, 0), .arrays = 3, .exact_size = 13, .limit = 1 }))
        if (check(run, (request){ ORDINARY, .arrays = 0, .limit = 1 }))
            refuse_limits(run);
}

static void not_finite(mg_run *run)
{
    static const float poisons[] = { INFINITY, -INFINITY, NAN };
    bool good = true;
    for (int i = 0; i < MT_COUNT(poisons) && good; i++)
        for (int arrays = 1; arrays <= 3 && good; arrays++)
            good = check(run, (request){ ORDINARY, .arrays = arrays, .exact_size = 31 + arrays, .limit = 0.5,
                                         .poison = poisons[i] });
}

static const int thread_counts[] = { 1, 2, 3, 5 };

static bool judge_same_norm(mg_run *run, int threads, double norm)
{
    if (norm_of(run) != norm)
        mg_fail(run, "%d threads: the norm is %a, one thread gave %a", threads, norm_of(run), norm);
    return norm_of(run) == norm;
}

/* The same call with each number of threads: norm and elements must have the bits of one thread. */
static bool same_bits(mg_run *run, request r)
{
    const mt_rng start = *mg_rng(run);
    double norm = 0, *bits = NULL;
    bool good = true, clipped = !isnan(r.limit);
    for (int i = 0; i < MT_COUNT(thread_counts) && good; i++) {
        *mg_rng(run) = start;
        r.threads = thread_counts[i];
        good = check(run, r);
        if (good && i == 0) {
            norm = norm_of(run);
            bits = clipped ? mg_lift(mg_result(run, names[0]), r.exact_size) : NULL;
        }
        good = good && judge_same_norm(run, r.threads, norm) && (!clipped || mg_expect(run, names[0], bits, NULL));
    }
    free(bits);
    r.threads = SEARCHED;
    good = good && check(run, r);
    r.exact_size = mt_min(r.exact_size, 1009);
    return good && check(run, r);
}

/* A sum of as many terms has other bits in almost any other order; that of a few often has the same. */
static bool same_norm_of_many(mg_run *run)
{
    const mt_rng start = *mg_rng(run);
    double norm = 0;
    bool good = true;
    for (int i = 0; i < MT_COUNT(thread_counts) && good; i++) {
        *mg_rng(run) = start;
        good = check_many(run, NAN, thread_counts[i]);
        norm = good && i == 0 ? norm_of(run) : norm;
        good = good && judge_same_norm(run, thread_counts[i], norm);
    }
    return good;
}

/* Threads may divide the elements of an array, or the arrays. */
static void any_threads(mg_run *run)
{
    const request one = { ORDINARY, .arrays = 1, .exact_size = 100003, .limit = 0.3 };
    const request several = { ORDINARY, .arrays = MOST, .exact_size = 257, .limit = 0.3 };
    request norm = one;
    norm.limit = NAN;
    if (same_bits(run, one) && same_bits(run, norm) && same_bits(run, several))
        for (int i = 0; i < 3 && same_norm_of_many(run); i++)
            ;
}

void mg_04_clip(mg_run *run, const void *one_case)
{
    static void (*const rows[])(mg_run *) = {
        [CLIP_NORM] = any_norm,       [CLIP_RANGE] = any_range,      [CLIP_ALL] = one_factor,
        [CLIP_SHORT] = short_ones,    [CLIP_NOTHING] = nothing_left, [CLIP_INFINITE] = not_finite,
        [CLIP_THREADS] = any_threads,
    };
    rows[((const clip_case *)one_case)->about](run);
}
