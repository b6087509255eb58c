/* 09-unscale.c -- how the checks of step 09.7 run: gradients after unscaling, compared with long double.
 *
 * Tolerances are those of clipping (04-clip.c): the norm of n numbers is off by at most n 2^-53 of itself, and the
 * division by a power of two is exact. A clipped element has at most four roundings to f32; one that is not clipped has
 * none but that of underflow. Rows: 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "amp/scaler.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, SEARCHED = -1, MANY = 1500 /* arrays; beyond MOST they lie in one */ };

static const char *const names[MOST] = { "grad0", "grad1", "grad2", "grad3", "grad4", "grad5", "grad6", "grad7" };

/* The parameters of a call. */
typedef struct request {
    mg_dist dist;                     /* of the gradients, before they are multiplied by the scale */
    int64_t arrays, most, exact_size; /* their number, the largest size, or, when not 0, the size of each */
    int exponent;                     /* the scale is 2^exponent */
    double limit;                     /* max_norm as a share of the norm */
    float poison;                     /* when not 0: some elements are this, inf or NaN */
    int threads;                      /* 0: as many as there are cores; SEARCHED: four, for data races */
    bool counted;                     /* with the bytes that it moves */
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

#define ORDINARY .dist = NORMAL(0, 3), .most = 300

/* The scale of call i: a usual one, or one as large as f32 allows for an ordinary gradient and a factor of 0.01. */
static int any_exponent(mg_run *run, int i)
{
    enum { LEAST = -120, LARGEST = 110 };
    mt_rng *rng = mg_rng(run);
    int drawn = (int)(mt_rng_below(rng, 2) ? mg_pick(rng, -20, 24) : mg_pick(rng, LEAST, LARGEST));
    return i == 6 ? LEAST : i == 7 ? LARGEST : drawn; /* with seven and eight arrays: not all are empty */
}

static void exact(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 33, .exponent = 15, .limit = INFINITY }) &&
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 3, .limit = 1.5 }) &&
                check(run, (request){ ORDINARY, .arrays = 3, .exact_size = 31, .limit = 2 }); /* scale 1 */
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .exponent = any_exponent(run, i),
                                     .limit = i % 2 ? INFINITY : uniform(mg_rng(run), 1.01, 3) });
    if (good)
        check(run, (request){ ORDINARY, .arrays = MANY, .exact_size = 7, .exponent = 15, .limit = 1.5 });
}

static void clipped(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 15, .limit = 0.3 }) &&
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.3 }) && /* scale 1 */
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.9999 }) &&
                /* 1e-6 is 1e-5 of this norm */
                check(run, (request){ .dist = NORMAL(0, 0.01), .arrays = 2, .exact_size = 31, .limit = 0.3 });
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .exponent = any_exponent(run, i),
                                     .limit = uniform(mg_rng(run), 0.01, 0.98) });
    if (good)
        check(run, (request){ ORDINARY, .arrays = MANY, .exact_size = 7, .exponent = 15, .limit = 0.3 });
}

/* Squares of which f32 has none, and the largest and smallest scales. */
static void any_range(mg_run *run)
{
    static const request requests[] = {
        { .dist = MIXED(60, 100), .exponent = 24 },
        { .dist = MIXED(-100, -60), .exponent = 24 },
        { .dist = MIXED(60, 100), .exponent = -30 },
        { .dist = MIXED(-80, -60), .exponent = -30 },
        { .dist = MIXED(-40, -10), .exponent = 126 },
        { .dist = MIXED(10, 120), .exponent = -126 },
        { .dist = MIXED(-140, -110), .exponent = 60 },             /* they underflow */
        { .dist = UNIFORM(3e38, 3.4e38) },                         /* f32 does not have their norm, */
        { .dist = UNIFORM(0x1.8p103, 0x1.fp103), .exponent = 24 }, /* nor that of these with the scale */
    };
    for (int i = 0; i < MT_COUNT(requests); i++) {
        request r = requests[i];
        r.arrays = 3, r.exact_size = 31, r.limit = INFINITY;
        if (!check(run, r))
            return;
        r.limit = r.exponent > 100 ? 0.5 : 0.01; /* in f32 the factor 2^-127 is exact, and max_norm finite */
        if (r.dist.a > -110 && !check(run, r))
            return;
    }
}

static void not_finite(mg_run *run)
{
    static const struct {
        const char *part;
        float poison;
    } poisons[] = { { "infinity", INFINITY }, { "-infinity", -INFINITY }, { "NaN", NAN } };
    bool good = true;
    for (int i = 0; i < MT_COUNT(poisons) && good; i++) {
        mg_part(run, poisons[i].part, NULL);
        for (int arrays = 1; arrays <= 5; arrays++)
            for (int exponent = 0; exponent <= 15 && good; exponent += 15)
                good = check(run, (request){ ORDINARY, .arrays = arrays, .exact_size = 30 + arrays,
                                             .exponent = exponent, .poison = poisons[i].poison });
        good = good && check(run, (request){ ORDINARY, .arrays = MANY, .exact_size = 1, .exponent = 15,
                                             .poison = poisons[i].poison });
    }
}

/* What the header forbids must abort. */
static void refuse(mg_run *run)
{
    static const double limits[][2] = { { 0, 1 }, { -1, 1 }, { INFINITY, 1 }, { NAN, 1 }, { 2, -1 }, { 2, NAN } };
    for (int i = 0; i < MT_COUNT(limits); i++) {
        mg_begin(run, "may abort: mt_unscale_grads_cpu");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_out(run, "norm", MT_I64, MT_SHAPE(1));
        memcpy(mg_in(run, "scale, max_norm", MT_I64, MT_SHAPE(2)), limits[i], sizeof limits[i]);
        *(int64_t *)mg_in(run, "sizes", MT_I64, MT_SHAPE(1)) = 1;
        *(float *)mg_inout(run, names[0], MT_F32, MT_SHAPE(1)) = 2;
        if (!mg_call(run))
            return;
        if (*(const int64_t *)mg_result(run, "aborted") == 1)
            continue;
        mg_hint(
            run,
            "write or keep the MT_CHECKs: the header says \"Aborts: a scale that is not positive and finite; max_norm "
            "negative or NaN\"");
        mg_fail(run, "scale = %g, max_norm = %g was accepted", limits[i][0], limits[i][1]);
        return;
    }
}

static void nothing(mg_run *run)
{
    static const double limits[] = { 0, 1, INFINITY };
    bool good = check(run, (request){ ORDINARY, .arrays = 3, .exact_size = 13, .exponent = 15, .limit = 0 });
    for (int i = 0; i < MT_COUNT(limits) && good; i++)
        good = check(run,
                     (request){
                         .dist = UNIFORM(0, 0), .arrays = 3, .exact_size = 13, .exponent = 15, .limit = limits[i] }) &&
               check(run, (request){ ORDINARY, .arrays = 0, .exponent = 15, .limit = limits[i] }) &&
               check(run, (request){ .dist = NORMAL(0, 1), .arrays = 2, .exponent = 15, .limit = limits[i] });
    if (good)
        refuse(run);
}

/* The same call with each number of threads: norm and elements must have the bits of one thread. */
static void any_threads(mg_run *run)
{
    enum { N = 100003 };
    static const int threads[] = { 1, 2, 3, 5 };
    const mt_rng start = *mg_rng(run);
    const request r = { ORDINARY, .arrays = 1, .exact_size = N, .exponent = 15, .limit = 0.3 };
    double norm = 0, *bits = NULL;
    bool good = true;
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
    request large = r, small = { ORDINARY, .arrays = 5, .exact_size = 1009, .exponent = 15, .limit = 0.3 };
    large.threads = small.threads = SEARCHED;
    if (good && check(run, large))
        check(run, small);
    free(bits);
}

/* Two arrays of 2 MiB and a little, twice the cache each: 4 B an element for the norm, 8 B for the multiplication. This
 * finds in the cache what the norm read last, if it begins there: so much less may be moved. */
static void traffic(mg_run *run, bool scaled)
{
    enum { N = (1 << 19) + 1 };
    request r = { ORDINARY, .arrays = 2, .exact_size = N, .exponent = 15, .limit = 0.5, .counted = true };
    if (!scaled)
        r.exponent = 0, r.limit = 2;
    if (check(run, r))
        mg_traffic_credit(run, scaled ? "09.7 scaled" : "09.7 scale 1", scaled ? 12. * 2 * N - MG_L2 : 4. * 2 * N);
}

static void moved(mg_run *run)
{
    traffic(run, true);
}

static void untouched(mg_run *run)
{
    traffic(run, false);
}

void mg_09_unscale(mg_run *run, const void *one_case)
{
    static void (*const rows[])(mg_run *) = {
        [UNSCALE_EXACT] = exact,         [UNSCALE_CLIPPED] = clipped,     [UNSCALE_RANGE] = any_range,
        [UNSCALE_INFINITE] = not_finite, [UNSCALE_NOTHING] = nothing,     [UNSCALE_THREADS] = any_threads,
        [UNSCALE_TRAFFIC] = moved,       [UNSCALE_UNTOUCHED] = untouched,
    };
    rows[((const unscale_case *)one_case)->about](run);
}
