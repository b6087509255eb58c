/* 04-clip.c -- how the checks of step 04.9 run: the norm of several arrays, compared with long double, and the arrays
 * after clipping.
 *
 * Squares and sums are double (optim/clip.h): a norm of n numbers is off by at most n 2^-53 of itself, in any order of
 * addition; the square root halves that and rounds. A clipped element has at most four roundings to f32: of the limit,
 * the norm, their quotient and the product. Rows: 04-optimizers.c. */
#include "checks/04-optimizers.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ANY = -1, MANY = 1500, SEARCHED = -1 };

static const char *const names[MOST] = { "grad0", "grad1", "grad2", "grad3", "grad4", "grad5", "grad6", "grad7" };

/* Calls of a row. MANY arrays are more than a unit may think that there are (GPT-3 has 1,156): they are one after the
 * other and judged as one array, because their list is what is long. */
typedef struct request {
    const char *part, *hint; /* NULL: the row's */
    int times;               /* 0: once */
    int64_t arrays;          /* their number; ANY: 1 to MOST */
    int64_t size;            /* of each; 0: any */
    mg_dist dist;            /* of the elements; none: NORMAL(0, 3) */
    bool clip;               /* not only compute the norm */
    double low, high;        /* max_norm is such a share of the norm; high 0: exactly low */
    float poison;            /* when not 0: one element is this, inf or NaN, and max_norm is 1 */
    int threads;             /* 0: as many as there are cores; SEARCHED: four, for data races */
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

/* The sizes of the arrays, and those in which they are sent. */
static void draw_sizes(mg_run *run, sent *s, const request *r)
{
    mt_rng *rng = mg_rng(run);
    int64_t arrays = r->arrays == ANY ? mg_pick(rng, 1, MOST) : r->arrays;
    int64_t *size = mg_in(run, "sizes", MT_I64, MT_SHAPE(arrays));
    s->arrays = arrays == MANY ? 1 : arrays;
    for (int64_t a = 0; a < arrays; a++) {
        size[a] = r->size ? r->size : arrays == MANY ? mg_pick(rng, 0, 12) : mg_pick_size(rng, 0, 300);
        s->count[arrays == MANY ? 0 : a] += size[a];
        s->total += size[a];
    }
}

/* The arrays; those of mt_grad_norm_cpu are read-only. Their norm. */
static void send_arrays(mg_run *run, sent *s, const request *r)
{
    const mg_dist normal = NORMAL(0, 3);
    long double sum = 0;
    for (int64_t a = 0; a < s->arrays; a++) {
        int64_t n = s->count[a];
        float *x = (r->clip ? mg_inout : mg_in)(run, names[a], MT_F32, MT_SHAPE(n));
        mg_fill(mg_rng(run), x, n, r->dist.kind ? r->dist : normal);
        if (r->poison != 0 && a == s->arrays - 1)
            x[mt_rng_below(mg_rng(run), n)] = r->poison;
        s->value[a] = mg_lift(x, n);
        for (int64_t i = 0; i < n; i++)
            sum += (long double)x[i] * x[i];
    }
    s->norm = (double)sqrtl(sum);
}

static sent describe(mg_run *run, const request *r)
{
    sent s = { 0 };
    mg_begin(run, r->clip ? "mt_clip_grad_norm_cpu" : "mt_grad_norm_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1));
    double *limit = r->clip ? mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)) : NULL; /* a double's bits */
    draw_sizes(run, &s, r);
    send_arrays(run, &s, r);
    s.max_norm = r->poison != 0 ? 1 : (r->high > 0 ? uniform(mg_rng(run), r->low, r->high) : r->low) * s.norm;
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
        good = good && (!r.clip || judge_array(run, &s, a));
        free(s.value[a]);
    }
    return good;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static const request any_norm[] = {
    { .arrays = 1, .size = 33 },
    { "no arrays", "the norm of nothing is 0", .arrays = 0 },
    { "large arrays", NULL, .arrays = 2, .size = 40009 },
    { "large arrays", NULL, .arrays = 1, .size = 1300021 },
    { "several arrays of any size", NULL, .times = 20, .arrays = ANY },
    { "1,500 arrays", "there may be any number of arrays: keep no list of them of a fixed size", .arrays = MANY },
};

/* Magnitudes of 2^80 to 2^126, whose squares are inf in f32; of 2^-120 to 2^-80, whose squares are 0; denormals; and
 * elements whose norm is inf in f32. */
#define BOTH(part, hint, n, distribution, share)                                             \
    { part, hint, .arrays = 3, .size = n, .dist = distribution },                            \
    {                                                                                        \
        part, hint, .arrays = 3, .size = n, .dist = distribution, .clip = true, .low = share \
    }
static const request any_range[] = {
    BOTH("large elements", NULL, 31, MIXED(80, 126), 0.5),
    BOTH("small elements", NULL, 31, MIXED(-120, -80), 0.5),
    BOTH("denormal elements", "all elements are denormal here: neither 1e-40 nor its square in double is 0", 31,
         MIXED(-140, -130), 0.5),
    BOTH("a norm above FLT_MAX",
         "every element is 3e38 here, and the norm is above FLT_MAX: a double holds it, so it is finite", 11,
         UNIFORM(3e38, 3e38), 0.01),
};

#define CLIP(number) .arrays = number, .clip = true
#define NEAR         "max_norm differs from the norm by a millionth of it: compare the two without a margin"
static const request one_factor[] = {
    { CLIP(2), .size = 40009, .low = 0.3 },
    { CLIP(ANY), .times = 20, .low = 0.01, .high = 0.98 },
    { "a large array", NULL, CLIP(1), .size = 300007, .low = 0.3 },
    { "1,500 arrays", "there may be any number of arrays: keep no list of them of a fixed size", CLIP(MANY),
      .low = 0.3 },
    { "a limit near the norm", NEAR, CLIP(2), .size = 31, .low = 1 - 1e-6 },
};
static const request short_ones[] = {
    { CLIP(ANY), .times = 10, .low = 1.01, .high = 3 },
    { "an infinite limit", NULL, CLIP(2), .size = 7, .low = INFINITY },
    { "a norm of exactly max_norm", "the norm is max_norm exactly, so it is not above max_norm: change nothing",
      CLIP(4), .size = 1, .dist = UNIFORM(3, 3), .low = 1 },
    { "a limit near the norm", NEAR, CLIP(2), .size = 31, .low = 1 + 1e-6 },
};
static const request nothing_left[] = {
    { "a limit of 0", "all elements become 0", CLIP(3), .size = 13, .low = 0 },
    { "a norm of 0 and a limit of 0", NULL, CLIP(3), .size = 13, .dist = UNIFORM(0, 0), .low = 0 },
    { "a norm of 0", NULL, CLIP(3), .size = 13, .dist = UNIFORM(0, 0), .low = 1 },
    { "no arrays", NULL, CLIP(0), .low = 1 },
};
#define POISON(name, number) { name, NULL, CLIP(ANY), .times = 3, .size = 31, .poison = number }
static const request not_finite[] = { POISON("inf", INFINITY), POISON("-inf", -INFINITY), POISON("NaN", NAN) };

static bool check_all(mg_run *run, const request *r, int count)
{
    for (int i = 0; i < count; i++) {
        mg_part(run, r[i].part, r[i].hint ? "%s" : NULL, r[i].hint);
        for (int k = 0; k < mt_max(r[i].times, 1); k++)
            if (!check(run, r[i]))
                return false;
    }
    return true;
}

static bool refuse_limit(mg_run *run, double limit)
{
    mg_begin_refused(run, "may abort: mt_clip_grad_norm_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1));
    memcpy(mg_in(run, "max_norm", MT_I64, MT_SHAPE(1)), &limit, sizeof limit);
    *(int64_t *)mg_in(run, "sizes", MT_I64, MT_SHAPE(1)) = 1;
    *(float *)mg_inout(run, names[0], MT_F32, MT_SHAPE(1)) = 2;
    mg_part(run, "max_norm must not be negative or NaN", NULL);
    return mg_refused(run, limit < 0 ? "max_norm = -1" : "max_norm = NaN", "max_norm negative or NaN");
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
    bool good = true, compared = r.clip && r.arrays != MANY;
    for (int i = 0; i < MT_COUNT(thread_counts) && good; i++) {
        *mg_rng(run) = start;
        r.threads = thread_counts[i];
        good = check(run, r);
        if (good && i == 0) {
            norm = norm_of(run);
            bits = compared ? mg_lift(mg_result(run, names[0]), r.size) : NULL;
        }
        good = good && judge_same_norm(run, r.threads, norm) && (!compared || mg_expect(run, names[0], bits, NULL));
    }
    free(bits);
    return good;
}

static bool search(mg_run *run, request r)
{
    r.threads = SEARCHED;
    mg_part(run, "data races", NULL);
    return check(run, r);
}

/* Threads may divide the elements of an array, or the arrays. A sum of many terms has other bits in almost any other
 * order; that of a few often has the same. */
static bool any_threads(mg_run *run)
{
    const request one = { CLIP(1), .size = 100003, .low = 0.3 }, norm = { .arrays = 1, .size = 100003 },
                  several = { CLIP(MOST), .size = 257, .low = 0.3 }, few = { CLIP(1), .size = 1009, .low = 0.3 },
                  many = { .arrays = MANY };
    mg_part(run, "equal bits with 1, 2, 3 and 5 threads", NULL);
    return same_bits(run, one) && same_bits(run, norm) && same_bits(run, several) && same_bits(run, many) &&
           same_bits(run, many) && same_bits(run, many) && search(run, one) && search(run, norm) && search(run, few) &&
           search(run, several);
}

void mg_04_clip(mg_run *run, const void *one_case)
{
    static const struct {
        const request *request;
        int count;
    } rows[] = {
#define ROW(requests) { requests, MT_COUNT(requests) }
        [CLIP_NORM] = ROW(any_norm),    [CLIP_RANGE] = ROW(any_range),      [CLIP_ALL] = ROW(one_factor),
        [CLIP_SHORT] = ROW(short_ones), [CLIP_NOTHING] = ROW(nothing_left), [CLIP_INFINITE] = ROW(not_finite),
        [CLIP_THREADS] = { NULL, 0 },
    };
    const clip_about about = ((const clip_case *)one_case)->about;
    bool good = check_all(run, rows[about].request, rows[about].count);
    if (good && about == CLIP_NOTHING)
        (void)(refuse_limit(run, -1) && refuse_limit(run, NAN));
    else if (about == CLIP_THREADS)
        any_threads(run);
}
