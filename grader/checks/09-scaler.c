/* 09-scaler.c -- how the checks of steps 09.6 and 09.7 run: the scale after each step, compared with the rule, and
 * gradients after unscaling, compared with long double.
 *
 * Tolerances are those of clipping (04-clip.c): the norm of n numbers is off by at most n 2^-53 of itself, and the
 * division by a power of two is exact. A clipped element has at most four roundings to f32; one that is not clipped has
 * none but that of underflow. Rows: 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/fill.h"
#include "checks/oracle.h"
#include "optim/scaler.h"
#include "testing/compare.h"
#include "rows/traffic.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rule of the scale ------------------------------------------------------------------------------- */

enum { COLUMNS = 4, MOST_STEPS = 400 };

/* Written from the contract: a state is { exponent, good, skipped, in_a_row }. */
static void step(int64_t s[COLUMNS], int64_t interval, bool finite)
{
    s[1] = finite ? s[1] + 1 : 0;
    s[2] += !finite;
    s[3] = finite ? 0 : s[3] + 1;
    s[0] -= !finite;
    if (s[1] >= interval) {
        s[1] = 0;
        s[0]++;
    }
    s[0] = s[0] > MT_SCALER_LIMIT ? MT_SCALER_LIMIT : s[0] < -MT_SCALER_LIMIT ? -MT_SCALER_LIMIT : s[0];
}

static bool judge_trace(mg_run *run, const mt_scaler *first, const int64_t *finite, int64_t n)
{
    static const char *const names[] = { "exponent", "good", "skipped", "in_a_row" };
    const int64_t *trace = mg_result(run, "trace"), *applied = mg_result(run, "applied");
    int64_t want[COLUMNS] = { first->exponent, first->good, first->skipped, first->in_a_row };
    for (int64_t i = 0; i < n; i++) {
        int64_t exponent = want[0];
        int64_t before = want[1];
        step(want, first->interval, finite[i]);
        if (exponent == MT_SCALER_LIMIT && finite[i] && want[1] == 0 && trace[i * COLUMNS + 1] == before + 1)
            want[1] = before + 1; /* the scale did not change: the steps since it last changed go on */
        for (int k = 0; k < COLUMNS; k++)
            if (trace[i * COLUMNS + k] != want[k]) {
                mg_fail(run, "step %lld, %s, interval %lld, exponent before it %lld: %s = %lld, expected %lld",
                        (long long)i, finite[i] ? "finite" : "not finite", (long long)first->interval,
                        (long long)exponent, names[k], (long long)trace[i * COLUMNS + k], (long long)want[k]);
                return false;
            }
        if (applied[i] != finite[i]) {
            mg_fail(run, "step %lld, %s: returned %lld, expected %lld", (long long)i,
                    finite[i] ? "finite" : "not finite", (long long)applied[i], (long long)finite[i]);
            return false;
        }
    }
    return true;
}

/* rare: one step in so many is not finite; 0: none; 1: all. */
static bool trace(mg_run *run, mt_scaler first, int64_t n, int64_t rare)
{
    mg_begin(run, "mt_scaler_update");
    mg_out(run, "trace", MT_I64, MT_SHAPE(n, COLUMNS));
    mg_out(run, "applied", MT_I64, MT_SHAPE(n));
    int64_t *finite = mg_in(run, "finite", MT_I64, MT_SHAPE(n)), *s = mg_in(run, "scaler", MT_I64, MT_SHAPE(5));
    memcpy(s, (int64_t[]){ first.exponent, first.interval, first.good, first.skipped, first.in_a_row }, 5 * sizeof *s);
    for (int64_t i = 0; i < n; i++)
        finite[i] = rare == 0 || mt_rng_below(mg_rng(run), rare) > 0;
    return mg_call(run) && judge_trace(run, &first, finite, n);
}

static bool expect_new(mg_run *run)
{
    static const double want[] = { 15, 2000, 0, 0, 0 };
    mg_begin(run, "mt_scaler_new");
    mg_out(run, "scaler", MT_I64, MT_SHAPE(MT_COUNT(want)));
    mg_hint(run, "scale 2^15, interval 2000; the counts begin at 0");
    return mg_call(run) && mg_expect(run, "scaler", want, NULL);
}

void mg_09_scaler(mg_run *run, const void *one_case)
{
    mt_rng *rng = mg_rng(run);
    bool good = ((const scaler_case *)one_case)->about != SCALER_GOOD || expect_new(run);
    for (int i = 0; i < 10 && good; i++) {
        mt_scaler s = { .exponent = mg_pick(rng, -20, 24), .interval = mg_pick(rng, 1, 9) };
        s.skipped = mg_pick(rng, 0, 50) + (i < 8 ? 0 : (int64_t)1 << 16 * (i - 7)); /* beyond 16, then 32 bits */
        switch (((const scaler_case *)one_case)->about) {
        case SCALER_GOOD:
            if (i == 9) /* more than 16 bits count */
                s.interval = 70000, s.good = s.interval - 3;
            good = trace(run, s, mg_pick(rng, 20, 60), 0);
            break;
        case SCALER_OVERFLOW:
            s.interval += 3;
            s.good = s.interval - 2;
            good = trace(run, s, 200, 6);
            break;
        case SCALER_IN_A_ROW:
            good = trace(run, s, mg_pick(rng, 2, 12), 1) && trace(run, s, 100, 2);
            break;
        case SCALER_LIMITS:
            s.exponent = i % 2 ? MT_SCALER_LIMIT - 2 : 2 - MT_SCALER_LIMIT;
            good = trace(run, s, 100, i % 2 ? 0 : 1) && trace(run, s, 100, 2);
            break;
        default:
            s.interval = i < 3 ? 1 : s.interval;
            good = trace(run, s, MOST_STEPS, mg_pick(rng, 2, 8));
        }
    }
}

/* ---- unscaling ------------------------------------------------------------------------------------------- */

enum { MOST = 8, SEARCHED = -1 };

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

/* Poison in one place, or in some, of any one array. */
static void fill(mt_rng *rng, float *x, int64_t n, const request *r, bool poisoned)
{
    mg_fill(rng, x, n, r->dist);
    for (int64_t i = 0; i < n; i++)
        x[i] = ldexpf(x[i], r->exponent);
    if (poisoned)
        for (int64_t some = mg_pick(rng, 1, 2); some > 0; some--)
            x[mt_rng_below(rng, n)] = r->poison;
}

static sent describe(mg_run *run, const request *r)
{
    mt_rng *rng = mg_rng(run);
    sent s = { .arrays = r->arrays, .scale = ldexp(1, r->exponent) };
    int64_t poisoned = r->poison != 0 ? mt_rng_below(rng, r->arrays) : -1;
    long double sum = 0;
    mg_begin(run, "mt_unscale_grads_cpu");
    mg_out(run, "norm", MT_I64, MT_SHAPE(1)); /* a double's bits, as the next two */
    double *limits = mg_in(run, "scale, max_norm", MT_I64, MT_SHAPE(2));
    mg_i64(run, "arrays", s.arrays);
    for (int64_t a = 0; a < s.arrays; a++) {
        int64_t n = r->exact_size                 ? r->exact_size
                    : a == 1 && s.arrays % 3 == 0 ? 0 /* an empty one between others */
                                                  : mg_pick_size(rng, 0, r->most);
        float *x = mg_inout(run, names[a], MT_F32, MT_SHAPE(n));
        fill(rng, x, n, r, a == poisoned);
        s.value[a] = mg_lift(x, n);
        s.count[a] = n;
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
    mg_fail(run, "the norm of %lld numbers in %lld arrays, scale %g, is %.17g, expected %.17g   tolerance %.2g",
            (long long)s->total, (long long)s->arrays, s->scale, got, s->norm, tolerance);
    return false;
}

static bool judge_array(mg_run *run, const sent *s, int64_t a)
{
    bool finite = isfinite(s->norm), clipped = finite && s->norm > s->max_norm;
    double *want = s->value[a], *tolerance = mg_doubles(s->count[a]);
    for (int64_t i = 0; finite && i < s->count[a]; i++) {
        want[i] = want[i] / s->scale * (clipped ? s->max_norm / s->norm : 1);
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

static int any_exponent(mg_run *run)
{
    return (int)mg_pick(mg_rng(run), -20, 24);
}

static void exact(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 33, .exponent = 15, .limit = INFINITY }) &&
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 3, .limit = 1.5 }) &&
                check(run, (request){ ORDINARY, .arrays = 3, .exact_size = 31, .limit = 2 }); /* scale 1 */
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .exponent = any_exponent(run),
                                     .limit = i % 2 ? INFINITY : uniform(mg_rng(run), 1.01, 3) });
}

static void clipped(mg_run *run)
{
    bool good = check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 40009, .exponent = 15, .limit = 0.3 }) &&
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.3 }) && /* scale 1 */
                check(run, (request){ ORDINARY, .arrays = 2, .exact_size = 31, .limit = 0.9999 });
    for (int i = 0; i < 20 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % MOST, .exponent = any_exponent(run),
                                     .limit = uniform(mg_rng(run), 0.01, 0.98) });
}

/* Squares of which f32 has none, and the largest and smallest scales. */
static void any_range(mg_run *run)
{
    static const request requests[] = {
        { .dist = MIXED(60, 100), .exponent = 24 },    { .dist = MIXED(-100, -60), .exponent = 24 },
        { .dist = MIXED(60, 100), .exponent = -30 },   { .dist = MIXED(-80, -60), .exponent = -30 },
        { .dist = MIXED(-40, -10), .exponent = 126 },  { .dist = MIXED(10, 120), .exponent = -126 },
        { .dist = MIXED(-140, -110), .exponent = 60 }, /* they underflow */
    };
    for (int i = 0; i < MT_COUNT(requests); i++) {
        request r = requests[i];
        r.arrays = 3, r.exact_size = 31, r.limit = INFINITY;
        if (!check(run, r))
            return;
        r.limit = 0.5;
        if (abs(r.exponent) <= 60 && r.dist.a > -110 && !check(run, r)) /* max_norm / norm / scale is normal in f32 */
            return;
    }
}

static void not_finite(mg_run *run)
{
    static const float poisons[] = { INFINITY, -INFINITY, NAN };
    bool good = true;
    for (int i = 0; i < 24 && good; i++)
        good = check(run, (request){ ORDINARY, .arrays = 1 + i % 5, .exact_size = 31 + i % 5,
                                     .exponent = i % 2 ? 15 : 0, .poison = poisons[i % 3] });
}

/* What the header forbids must abort. */
static void refuse(mg_run *run)
{
    static const double limits[][2] = { { 0, 1 }, { -1, 1 }, { INFINITY, 1 }, { NAN, 1 }, { 2, -1 }, { 2, NAN } };
    for (int i = 0; i < MT_COUNT(limits); i++) {
        mg_begin(run, "may abort: mt_unscale_grads_cpu");
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        memcpy(mg_in(run, "scale, max_norm", MT_I64, MT_SHAPE(2)), limits[i], sizeof limits[i]);
        mg_i64(run, "arrays", 1);
        *(float *)mg_inout(run, names[0], MT_F32, MT_SHAPE(1)) = 2;
        if (!mg_call(run))
            return;
        if (*(const int64_t *)mg_result(run, "aborted") == 1)
            continue;
        mg_hint(run, "keep the MT_CHECKs: the header says \"Aborts: a scale that is not positive and finite; max_norm "
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
    request searched = r;
    searched.threads = SEARCHED;
    if (good)
        check(run, searched);
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
