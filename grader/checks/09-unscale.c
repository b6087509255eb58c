/* 09-unscale.c -- how the checks of step 09.7 run: gradients after unscaling, compared with long double.
 *
 * Tolerances are those of clipping (04-clip.c): the norm of n numbers is off by at most n 2^-53 of itself, and the
 * division by a power of two is exact. A clipped element has at most four roundings to f32; one that is not clipped has
 * none but that of underflow. Rows: 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "amp/scaler.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, SEARCHED = -1, MANY = 1500 /* arrays; beyond MOST they lie in one */ };

static const char *const names[MOST] = { "grad0", "grad1", "grad2", "grad3", "grad4", "grad5", "grad6", "grad7" };

/* The parameters of a call, which is a part of its row. */
typedef struct request {
    unscale_about about; /* the row */
    const char *part;
    mg_dist dist;                     /* of the gradients, before they are multiplied by the scale */
    int64_t arrays, most, exact_size; /* their number, the largest size, or, when not 0, the size of each */
    int exponent;                     /* the scale is 2^exponent */
    double limit, most_limit; /* max_norm as a share of the norm; when most_limit is not 0, drawn between them */
    int drawn;                /* when not 0: so many calls with other scales, of 1, 2, ... arrays */
    float poison;             /* when not 0: some elements are this, inf or NaN */
    int threads;              /* 0: as many as there are cores; SEARCHED: four, for data races */
    bool counted;             /* with the bytes that it moves */
} request;

/* One call, in double. norm, max_norm: of the gradients without the scale. */
typedef struct sent {
    int64_t arrays, count[MOST], total;
    double *value[MOST]; /* as sent */
    double scale, norm, max_norm;
} sent;

static double uniform(mt_rng *rng, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

/* Poison in one place, or in some, of any one array; of many arrays, in the last. */
static void fill(mt_rng *rng, float *x, int64_t n, const request *r, bool poisoned)
{
    mg_fill(rng, x, n, r->dist);
    for (int64_t i = 0; i < n; i++)
        x[i] = ldexpf(x[i], r->exponent);
    if (poisoned)
        for (int64_t some = mg_pick(rng, 1, 2); some > 0; some--)
            x[r->arrays > MOST ? n - 1 : mt_rng_below(rng, n)] = r->poison;
}

static void draw_sizes(mg_run *run, int64_t *size, const request *r)
{
    for (int64_t a = 0; a < r->arrays; a++)
        size[a] = r->exact_size                  ? r->exact_size
                  : a == 1 && r->arrays % 3 == 0 ? 0 /* an empty one between others */
                                                 : mg_pick_size(mg_rng(run), 0, r->most);
}

/* More than MOST arrays lie one after the other: their list is what is long, and one array is judged. */
static sent describe(mg_run *run, const request *r)
{
    mt_rng *rng = mg_rng(run);
    sent s = { .arrays = r->arrays > MOST ? 1 : r->arrays, .scale = ldexp(1, r->exponent) };
    int64_t poisoned = r->poison != 0 ? mt_rng_below(rng, s.arrays) : -1;
    long double sum = 0;
    mg_begin(run, "mt_unscale_grads_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1)); /* a double's bits, as the next two */
    double *limits = mg_in(run, "scale, max_norm", MT_I64, MT_SHAPE(2));
    int64_t *size = mg_in(run, "sizes", MT_I64, MT_SHAPE(r->arrays));
    draw_sizes(run, size, r);
    for (int64_t a = 0; a < r->arrays; a++)
        s.count[r->arrays > MOST ? 0 : a] += size[a];
    for (int64_t a = 0; a < s.arrays; a++) {
        int64_t n = s.count[a];
        float *x = mg_inout(run, names[a], MT_F32, MT_SHAPE(n));
        fill(rng, x, n, r, a == poisoned);
        s.value[a] = mg_lift(x, n);
        s.total += n;
        for (int64_t i = 0; i < n; i++)
            sum += (long double)x[i] * x[i];
    }
    s.norm = (double)sqrtl(sum) / s.scale;
    s.max_norm = r->poison != 0 ? 1 : isinf(r->limit) ? INFINITY : r->limit * s.norm;
    memcpy(limits, (double[]){ s.scale, s.max_norm }, 2 * sizeof *limits);
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

static bool judge_norm(mg_run *run, const sent *s)
{
    double got = norm_of(run), tolerance = ((double)s->total + 4) * 0x1p-53 * s->norm;
    if (isfinite(s->norm) ? fabs(got - s->norm) <= tolerance : !isfinite(got))
        return true;
    if (s->scale != 1 && fabs(got - s->norm * s->scale) <= tolerance * s->scale)
        mg_hint(run, "this is the norm of the scaled gradients: divide it by the scale");
    return mg_fail(run, "the norm of %lld numbers in %lld arrays, scale %g, is %.17g, expected %.17g   tolerance %.2g",
                   (long long)s->total, (long long)s->arrays, s->scale, got, s->norm, tolerance);
}

static bool judge_array(mg_run *run, const sent *s, int64_t a)
{
    bool finite = isfinite(s->norm), clipped = finite && s->norm > s->max_norm;
    double *want = s->value[a], *tolerance = mg_doubles(s->count[a]), share = clipped ? s->max_norm / s->norm : 1;
    if (clipped && s->norm * fmax(s->scale, 1) > FLT_MAX && !mg_wrong(run, names[a], 0, 0, 0))
        share = 0; /* with the norm in f32 */
    for (int64_t i = 0; finite && i < s->count[a]; i++) {
        want[i] = want[i] / s->scale * share;
        tolerance[i] = clipped ? mt_tolerance(4, fabs(want[i])) : want[i] != 0 && fabs(want[i]) < FLT_MIN ? FLT_MIN : 0;
    }
    bool good = mg_expect(run, names[a], want, finite ? tolerance : NULL);
    free(tolerance);
    return good;
}

static bool check(mg_run *run, request r)
{
    sent s = describe(run, &r);
    bool good = r.counted ? mg_traffic_call(run, MG_L2) : r.threads == SEARCHED ? mg_shared_call(run) : mg_call(run);
    good = good && judge_norm(run, &s);
    for (int64_t a = 0; a < s.arrays; a++) {
        good = good && judge_array(run, &s, a);
        free(s.value[a]);
    }
    return good;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

/* The scale of call i: a usual one, or one as large as f32 allows for an ordinary gradient and a factor of 0.01. */
static int any_exponent(mg_run *run, int i)
{
    enum { LEAST = -120, LARGEST = 110 };
    mt_rng *rng = mg_rng(run);
    int drawn = (int)(mt_rng_below(rng, 2) ? mg_pick(rng, -20, 24) : mg_pick(rng, LEAST, LARGEST));
    return i == 6 ? LEAST : i == 7 ? LARGEST : drawn; /* with seven and eight arrays: not all are empty */
}

static bool check_part(mg_run *run, const request *requested)
{
    bool good = true;
    mg_part(run, requested->part, NULL);
    for (int i = 0; i == 0 || i < requested->drawn; i++) {
        request r = *requested;
        if (r.drawn)
            r.arrays = 1 + i % MOST, r.exponent = any_exponent(run, i);
        if (r.most_limit > 0)
            r.limit = uniform(mg_rng(run), r.limit, r.most_limit);
        good = good && check(run, r);
    }
    return good;
}

// clang-format off

#define ORDINARY NORMAL(0, 3), .most = 300

/* Squares of which f32 has none, and the largest and smallest scales: not clipped, then clipped. */
#define RANGE(part, power, share, dist)                                                                    \
    { UNSCALE_RANGE, part, dist, .arrays = 3, .exact_size = 31, .exponent = power, .limit = INFINITY },    \
    { UNSCALE_RANGE, part, dist, .arrays = 3, .exact_size = 31, .exponent = power, .limit = share }
/* One or two elements of one array: with scale 1, with others, in the last of many arrays. */
#define NOT_FINITE(part, value)                                                                            \
    { UNSCALE_INFINITE, part, ORDINARY, .poison = value, .arrays = 3, .exact_size = 33 },                  \
    { UNSCALE_INFINITE, part, ORDINARY, .poison = value, .exact_size = 31, .drawn = 10 },                  \
    { UNSCALE_INFINITE, part, ORDINARY, .poison = value, .arrays = MANY, .exact_size = 1, .exponent = 15 }
/* The norm is 0. */
#define NOTHING(part, dist, ...)                                                                           \
    { UNSCALE_NOTHING, part, dist, .exponent = 15, .limit = 0, __VA_ARGS__ },                              \
    { UNSCALE_NOTHING, part, dist, .exponent = 15, .limit = 1, __VA_ARGS__ },                              \
    { UNSCALE_NOTHING, part, dist, .exponent = 15, .limit = INFINITY, __VA_ARGS__ }

static const request parts[] = {
    { UNSCALE_EXACT, "two arrays", ORDINARY, .arrays = 2, .exact_size = 33, .exponent = 15, .limit = INFINITY },
    { UNSCALE_EXACT, "many elements", ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 3, .limit = 1.5 },
    { UNSCALE_EXACT, "scale 1", ORDINARY, .arrays = 3, .exact_size = 31, .limit = 2 },
    { UNSCALE_EXACT, "no limit", ORDINARY, .limit = INFINITY, .drawn = 10 },
    { UNSCALE_EXACT, "below the limit", ORDINARY, .limit = 1.01, .most_limit = 3, .drawn = 10 },
    { UNSCALE_EXACT, "1,500 arrays", ORDINARY, .arrays = MANY, .exact_size = 7, .exponent = 15, .limit = 1.5 },

    { UNSCALE_CLIPPED, "many elements", ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 15, .limit = 0.3 },
    { UNSCALE_CLIPPED, "scale 1", ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.3 },
    { UNSCALE_CLIPPED, "just above the limit", ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.9999 },
    { UNSCALE_CLIPPED, "a norm of 1e-1", NORMAL(0, 0.01), .arrays = 2, .exact_size = 31, .limit = 0.3 },
    { UNSCALE_CLIPPED, "above the limit", ORDINARY, .limit = 0.01, .most_limit = 0.98, .drawn = 20 },
    { UNSCALE_CLIPPED, "1,500 arrays", ORDINARY, .arrays = MANY, .exact_size = 7, .exponent = 15, .limit = 0.3 },

    RANGE("squares above f32, scale 2^24", 24, 0.01, MIXED(60, 100)),
    RANGE("squares below f32, scale 2^24", 24, 0.01, MIXED(-100, -60)),
    RANGE("squares above f32, scale 2^-30", -30, 0.01, MIXED(60, 100)),
    RANGE("squares below f32, scale 2^-30", -30, 0.01, MIXED(-80, -60)),
    RANGE("scale 2^126", 126, 0.5, MIXED(-40, -10)), /* in f32 the factor 2^-127 is exact */
    RANGE("scale 2^-126", -126, 0.01, MIXED(10, 120)),
    RANGE("a norm above f32", 0, 0.01, UNIFORM(3e38, 3.4e38)),
    RANGE("a norm above f32 with the scale", 24, 0.01, UNIFORM(0x1.8p103, 0x1.fp103)),
    { UNSCALE_RANGE, "gradients that underflow", MIXED(-140, -110), .arrays = 3, .exact_size = 31, .exponent = 60,
      .limit = INFINITY },

    NOT_FINITE("infinity", INFINITY), NOT_FINITE("-infinity", -INFINITY), NOT_FINITE("NaN", NAN),

    { UNSCALE_NOTHING, "a limit of 0", ORDINARY, .arrays = 3, .exact_size = 13, .exponent = 15, .limit = 0 },
    NOTHING("gradients of 0", UNIFORM(0, 0), .arrays = 3, .exact_size = 13),
    NOTHING("no arrays", NORMAL(0, 3), .arrays = 0),
    NOTHING("empty arrays", NORMAL(0, 3), .arrays = 2),
};
// clang-format on

/* What the header forbids must abort. */
static void refuse(mg_run *run)
{
    static const struct {
        const char *part;
        double limits[2]; /* scale, max_norm */
    } refused[] = {
        { "scale = 0", { 0, 1 } },     { "scale = -1", { -1, 1 } },    { "scale = inf", { INFINITY, 1 } },
        { "scale = NaN", { NAN, 1 } }, { "max_norm = -1", { 2, -1 } }, { "max_norm = NaN", { 2, NAN } },
    };
    bool good = true;
    for (int i = 0; i < MT_COUNT(refused) && good; i++) {
        mg_part(run, refused[i].part, NULL);
        mg_begin_refused(run, "may abort: mt_unscale_grads_cpu");
        mg_out(run, "norm", MT_I64, MT_SHAPE(1));
        memcpy(mg_in(run, "scale, max_norm", MT_I64, MT_SHAPE(2)), refused[i].limits, sizeof refused[i].limits);
        *(int64_t *)mg_in(run, "sizes", MT_I64, MT_SHAPE(1)) = 1;
        *(float *)mg_inout(run, names[0], MT_F32, MT_SHAPE(1)) = 2;
        good = mg_refused(run, refused[i].part, "a scale that is not positive and finite; max_norm negative or NaN");
    }
}

/* The same call with each number of threads: norm and elements must have the bits of one thread. */
static void any_threads(mg_run *run)
{
    enum { N = 100003 };
    static const int threads[] = { 1, 2, 3, 5 };
    const mt_rng start = *mg_rng(run);
    const request r = { .dist = ORDINARY, .arrays = 1, .exact_size = N, .exponent = 15, .limit = 0.3 };
    double norm = 0, *bits = NULL;
    bool good = true;
    mg_part(run, "equal bits with any number of threads", NULL);
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        request with = r;
        with.threads = threads[i];
        *mg_rng(run) = start;
        good = check(run, with);
        if (good && !bits) {
            norm = norm_of(run);
            bits = mg_lift(mg_result(run, names[0]), N);
        }
        if (good && norm_of(run) != norm)
            mg_fail(run, "%d threads: the norm is %a, one thread gave %a", threads[i], norm_of(run), norm);
        good = good && mg_expect(run, names[0], bits, NULL);
    }
    request large = r, small = { .dist = ORDINARY, .arrays = 5, .exact_size = 1009, .exponent = 15, .limit = 0.3 };
    large.threads = small.threads = SEARCHED;
    mg_part(run, "data races", NULL);
    if (good && check(run, large))
        check(run, small);
    free(bits);
}

/* Two arrays of 2 MiB and a little, twice the cache each: 4 B an element for the norm, 8 B for the multiplication. This
 * finds in the cache what the norm read last, if it begins there: so much less may be moved. */
static void traffic(mg_run *run, bool scaled)
{
    enum { N = (1 << 19) + 1 };
    request r = { .dist = ORDINARY, .arrays = 2, .exact_size = N, .exponent = 15, .limit = 0.5, .counted = true };
    if (!scaled)
        r.exponent = 0, r.limit = 2;
    if (check(run, r))
        mg_traffic_credit(run, scaled ? "09.7 scaled" : "09.7 scale 1", scaled ? 12. * 2 * N - MG_L2 : 4. * 2 * N);
}

void mg_09_unscale(mg_run *run, const void *one_case)
{
    const unscale_about about = ((const unscale_case *)one_case)->about;
    bool good = true;
    for (int i = 0; i < MT_COUNT(parts) && good; i++)
        good = parts[i].about != about || check_part(run, &parts[i]);
    if (about == UNSCALE_NOTHING && good)
        refuse(run);
    else if (about == UNSCALE_THREADS)
        any_threads(run);
    else if (about == UNSCALE_TRAFFIC || about == UNSCALE_UNTOUCHED)
        traffic(run, about == UNSCALE_TRAFFIC);
}
