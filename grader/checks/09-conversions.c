/* 09-conversions.c -- how the checks of steps 09.1 and 09.2 run: conversions of arrays, compared with roundings in
 * double, which are exact and share no code with the framework's. Rows: 09-mixed-precision.c.
 *
 * The numbers that f32 is rounded from lie around those that a 16-bit type has: each of these, halfway to the next
 * larger one, and one unit in the last place of f32 to either side of both. */
#include "checks/09-mixed-precision.h"
#include "checks/fill.h"
#include "rows/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 1 << 16, SIGN = 1 << 15 };

/* ---- 16-bit floats as doubles ------------------------------------------------------------------------ */

typedef struct format {
    const char *name;
    int mantissa, least; /* bits; the exponent of the smallest normal number */
    int64_t infinity;    /* its pattern */
} format;

static const format *format_of(mt_dtype dtype)
{
    static const format f16 = { "f16", 10, -14, 0x7c00 }, bf16 = { "bf16", 7, -126, 0x7f80 };
    return dtype == MT_F16 ? &f16 : &bf16;
}

/* The number of a pattern without sign; that of infinity's is the power of two above the largest number. */
static double number(const format *f, int64_t pattern)
{
    int64_t exponent = pattern >> f->mantissa, one = (int64_t)1 << f->mantissa, rest = pattern & (one - 1);
    return exponent ? ldexp((double)(one + rest), (int)exponent - 1 + f->least - f->mantissa)
                    : ldexp((double)rest, f->least - f->mantissa);
}

static double value_of(const void *array, mt_dtype dtype, int64_t i)
{
    const format *f = format_of(dtype);
    if (dtype == MT_F32)
        return ((const float *)array)[i];
    int64_t bits = ((const uint16_t *)array)[i], size = bits & (SIGN - 1);
    double value = size > f->infinity ? (double)NAN : size == f->infinity ? (double)INFINITY : number(f, size);
    return bits & SIGN ? -value : value;
}

/* x rounded to a type, to nearest, ties to even. */
static double rounded(double x, mt_dtype dtype)
{
    const format *f = format_of(dtype);
    int exponent;
    if (dtype == MT_F32 || !isfinite(x))
        return x;
    frexp(x, &exponent);
    int last = (int)mt_max(exponent - 1, f->least) - f->mantissa;
    double near = ldexp(nearbyint(ldexp(x, -last)), last);
    return fabs(near) < number(f, f->infinity) ? near : copysign(INFINITY, x);
}

/* ---- one call ---------------------------------------------------------------------------------------- */

typedef struct conversion {
    mt_dtype to, from;
    int64_t n;
    void *x; /* as sent; the run's */
} conversion;

static const char *function_of(const conversion *c)
{
    if (c->to != MT_F32 && c->from != MT_F32)
        return "mt_convert_cpu between f16 and bf16";
    if (c->from == MT_F32)
        return c->to == MT_F16 ? "mt_convert_cpu to f16" : "mt_convert_cpu to bf16";
    return c->from == MT_F16 ? "mt_convert_cpu from f16" : "mt_convert_cpu from bf16";
}

static void describe(mg_run *run, const char *function, conversion *c)
{
    mg_begin(run, function);
    mg_out(run, "out", c->to, MT_SHAPE(c->n));
    c->x = mg_in(run, "x", c->from, MT_SHAPE(c->n));
    mg_i64(run, "to", c->to);
    mg_i64(run, "from", c->from);
    mg_i64(run, "n", c->n);
}

/* "1.00390625 (0x3f808000)" */
static void say(char text[64], const void *array, mt_dtype dtype, int64_t i)
{
    uint32_t wide = 0;
    uint16_t half = 0;
    if (dtype == MT_F32)
        memcpy(&wide, (const float *)array + i, sizeof wide);
    else
        memcpy(&half, (const uint16_t *)array + i, sizeof half);
    snprintf(text, 64, "%.9g (0x%0*x)", value_of(array, dtype, i), dtype == MT_F32 ? 8 : 4, wide | half);
}

/* The same number, with its sign if it is zero. Any NaN is right for a NaN. */
static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b && !signbit(a) == !signbit(b);
}

static bool expect(mg_run *run, const char *name, const void *x, const conversion *c)
{
    const void *got = mg_result(run, name);
    char had[64], became[64];
    for (int64_t i = 0; i < c->n; i++) {
        double want = rounded(value_of(x, c->from, i), c->to);
        if (same(value_of(got, c->to, i), want))
            continue;
        say(had, x, c->from, i);
        say(became, got, c->to, i);
        if (isnan(value_of(got, c->to, i)) && !isnan(want))
            mg_hint(run, "is x[%lld] converted at all? NaN is what out held before the call", (long long)i);
        if (c->to == c->from)
            mg_hint(run, "both types are the same: copy the numbers, of mt_dtype_size(to) bytes each");
        return mg_fail(run, "x[%lld]: the %s %s became the %s %s, expected %.9g", (long long)i, mt_dtype_name(c->from),
                       had, mt_dtype_name(c->to), became, want);
    }
    return true;
}

/* ---- rows -------------------------------------------------------------------------------------------- */

/* Every pattern of one type, in an order that differs from call to call. */
static bool every_pattern(mg_run *run, mt_dtype to, mt_dtype from)
{
    conversion c = { .to = to, .from = from, .n = PATTERNS };
    int64_t start = mt_rng_below(mg_rng(run), PATTERNS), step = 2 * mt_rng_below(mg_rng(run), PATTERNS / 2) + 1;
    describe(run, function_of(&c), &c);
    for (int64_t i = 0; i < PATTERNS; i++)
        ((uint16_t *)c.x)[i] = (uint16_t)(start + i * step);
    return mg_call(run) && expect(run, "out", c.x, &c);
}

/* These numbers, of either sign, beginning at any of them. */
static void round_numbers(mg_run *run, mt_dtype to, const float *x, int64_t n)
{
    conversion c = { .to = to, .from = MT_F32, .n = 2 * n };
    describe(run, function_of(&c), &c);
    for (int64_t i = 0, start = mt_rng_below(mg_rng(run), n); i < n; i++) {
        ((float *)c.x)[2 * i] = x[(i + start) % n];
        ((float *)c.x)[2 * i + 1] = -x[(i + start) % n];
    }
    if (mg_call(run))
        expect(run, "out", c.x, &c);
}

/* Which numbers around each pattern. */
enum { EXACT = 1, BESIDE = 2, HALFWAY = 4, BESIDE_HALFWAY = 8, ALL = 15 };

static int64_t around(float *x, const format *f, int64_t pattern, int which)
{
    float at = (float)number(f, pattern), halfway = (float)((at + number(f, pattern + 1)) / 2);
    const struct {
        int kind;
        float number;
    } near[] = { { EXACT, at },
                 { BESIDE, nextafterf(at, -INFINITY) },
                 { BESIDE, nextafterf(at, INFINITY) },
                 { HALFWAY, halfway },
                 { BESIDE_HALFWAY, nextafterf(halfway, 0) },
                 { BESIDE_HALFWAY, nextafterf(halfway, INFINITY) } };
    int64_t n = 0;
    for (int i = 0; i < MT_COUNT(near); i++)
        if (near[i].kind & which)
            x[n++] = near[i].number;
    return n;
}

static void round_around(mg_run *run, mt_dtype to, int64_t first, int64_t end, int which)
{
    float *x = malloc((size_t)(6 * (end - first)) * sizeof *x);
    int64_t n = 0;
    MT_CHECK(x, "out of memory for %lld numbers", (long long)(6 * (end - first)));
    for (int64_t pattern = first; pattern < end; pattern++)
        n += around(x + n, format_of(to), pattern, which);
    round_numbers(run, to, x, n);
    free(x);
}

/* From halfway above the largest number on, up to that of f32 and infinity; and just below. */
static void overflow(mg_run *run, mt_dtype to)
{
    const format *f = format_of(to);
    float x[200], largest = (float)number(f, f->infinity - 1);
    int64_t n = around(x, f, f->infinity - 1, ALL);
    x[n++] = INFINITY;
    x[n++] = 0x1.fffffep127f;
    for (double top = log2(largest); n < MT_COUNT(x); n++)
        x[n] = fminf(exp2f((float)(top + (128 - top) * mt_rng_uniform(mg_rng(run)))), 0x1.fffffep127f);
    round_numbers(run, to, x, n);
}

/* NaN with each bit of the mantissa alone, with all, and with any, between ordinary numbers. */
static void not_numbers(mg_run *run, mt_dtype to)
{
    float x[300];
    mg_fill(mg_rng(run), x, MT_COUNT(x), (mg_dist)NORMAL(0, 1));
    for (int i = 0; i < MT_COUNT(x); i += 2) {
        uint32_t payload = i < 46 ? 1u << i / 2 : i == 46 ? 0x7fffff : mt_rng_u32(mg_rng(run)) & 0x7fffff;
        uint32_t bits = 0x7f800000 | payload;
        memcpy(x + i, &bits, sizeof bits);
    }
    round_numbers(run, to, x, MT_COUNT(x));
}

static bool some_numbers(mg_run *run, mt_dtype to, mt_dtype from, int64_t n, bool searched)
{
    conversion c = { .to = to, .from = from, .n = n };
    describe(run, function_of(&c), &c);
    for (int64_t i = 0; i < n; i++) {
        float x = (float)(mt_rng_uniform(mg_rng(run)) - 0.5);
        if (from == MT_F32)
            ((float *)c.x)[i] = x;
        else
            mt_store_f64(c.x, from, i, x);
    }
    return (searched ? mg_shared_call(run) : mg_call(run)) && expect(run, "out", c.x, &c);
}

/* Integers, on either side. */
static bool refuse(mg_run *run, mt_dtype dtype)
{
    static const double yes = 1;
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        conversion c = { .to = i ? MT_I32 : dtype, .from = i ? dtype : MT_I32, .n = 3 };
        describe(run, "may abort: mt_convert_cpu", &c);
        memset(c.x, 0, (size_t)(c.n * mt_dtype_size(c.from)));
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_threads(run, 1); /* the one that returns from the abort */
        mg_hint(run, "keep the check: the header says \"Aborts: another type\"");
        good = mg_call(run) && mg_expect(run, "aborted", &yes, NULL);
    }
    return good;
}

/* Both ways; the longest arrays are worth several threads. */
static void every_size(mg_run *run, mt_dtype dtype)
{
    static const int64_t sizes[] = { 0, 1, 2, 7, 15, 17, 31, 33, 63, 65, 127, 131, 1009, 65535, 65537, 131101 };
    bool good = true;
    for (int i = 0; i < MT_COUNT(sizes) && good; i++)
        good = some_numbers(run, dtype, MT_F32, sizes[i], false) && some_numbers(run, MT_F32, dtype, sizes[i], false);
    good = good && some_numbers(run, dtype, dtype, 70001, false) && some_numbers(run, MT_F32, MT_F32, 70001, false);
    good = good && refuse(run, dtype);
    if (good && some_numbers(run, dtype, MT_F32, 100003, true))
        some_numbers(run, MT_F32, dtype, 100003, true);
}

void mg_09_convert(mg_run *run, const void *one_case)
{
    const convert_case *c = one_case;
    const format *f = format_of(c->dtype);
    int64_t normal = (int64_t)1 << f->mantissa;
    switch (c->about) {
    case CONVERT_ALL:
        every_pattern(run, MT_F32, c->dtype);
        break;
    case CONVERT_NEAREST:
        round_around(run, c->dtype, normal + 1, f->infinity - 1, EXACT | BESIDE | BESIDE_HALFWAY);
        break;
    case CONVERT_TIES:
        round_around(run, c->dtype, normal, f->infinity - 1, HALFWAY);
        break;
    case CONVERT_SUBNORMALS:
        round_around(run, c->dtype, 0, normal, ALL);
        break;
    case CONVERT_OVERFLOW:
        overflow(run, c->dtype);
        break;
    case CONVERT_NAN:
        not_numbers(run, c->dtype);
        break;
    case CONVERT_SIZES:
        every_size(run, c->dtype);
        break;
    case CONVERT_BETWEEN:
        if (every_pattern(run, MT_F16, MT_BF16))
            every_pattern(run, MT_BF16, MT_F16);
    }
}

/* ---- races ------------------------------------------------------------------------------------------- */

/* The three arrays take 40 KiB, so that no memory limits the speed; both directions of every number, TIMES times. */
enum { RACE_N = 4096, TIMES = 800 };

static conversion racing; /* the call described last: the checker times one pair at a time */

static void describe_race(mg_run *run, const void *one_case, const char *function)
{
    const convert_race *c = one_case;
    racing = (conversion){ .to = c->dtype, .from = MT_F32, .n = RACE_N };
    mg_begin(run, function);
    mg_out(run, "half", c->dtype, MT_SHAPE(RACE_N));
    mg_out(run, "back", MT_F32, MT_SHAPE(RACE_N));
    racing.x = mg_in(run, "x", MT_F32, MT_SHAPE(RACE_N));
    mg_i64(run, "dtype", c->dtype);
    mg_i64(run, "n", RACE_N);
    mg_i64(run, "times", TIMES);
    mg_fill(mg_rng(run), racing.x, RACE_N, (mg_dist)NORMAL(0, 1));
}

static bool verify_race(mg_run *run, const void *one_case)
{
    const convert_race *c = one_case;
    const conversion back = { .to = MT_F32, .from = c->dtype, .n = RACE_N };
    return expect(run, "half", racing.x, &racing) && expect(run, "back", mg_result(run, "half"), &back);
}

void mg_09_convert_race(mg_run *run, const void *one_case)
{
    const convert_race *c = one_case;
    const char *function = c->dtype == MT_F16 ? "mt_convert_cpu to f16 and back" : "mt_convert_cpu to bf16 and back";
    const mg_race race = { c->bar, function, function, "the reference", 1, describe_race, verify_race };
    mg_perf(run, &race, one_case);
}
