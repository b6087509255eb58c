/* 09-conversions.c -- how the checks of steps 09.1 and 09.2 run: conversions of arrays, compared with roundings in
 * double, which are exact and share no code with the framework's. Rows: 09-mixed-precision.c.
 *
 * The numbers that f32 is rounded from lie around those that a 16-bit type has: each of these, halfway to the next
 * larger one, and one unit in the last place of f32 to either side of both. */
#include "checks/09-mixed-precision.h"
#include "checks/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERNS = 1 << 16, SIGN = 1 << 15, FROM = 16 /* the `about` of a kernel is to * FROM + from */ };

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

/* ---- one call: out, x; to, from, n -------------------------------------------------------------------- */

static mt_dtype type_of(const mg_trial *t, bool out)
{
    const bool refused = t->special && t->special->aborts && t->special->value == out; /* integers, on either side */
    return refused ? MT_I32 : (mt_dtype)(out ? t->kernel->about / FROM : t->kernel->about % FROM);
}

static void describe_out(mg_trial *t, int i)
{
    mg_out(t->run, "out", type_of(t, true), MT_SHAPE(t->size[0]));
    mg_i64(t->run, "to", type_of(t, true));
    t->v[i] = mg_doubles(t->size[0]), t->e[i] = mg_doubles(t->size[0]);
}

static void describe_x(mg_trial *t, int i)
{
    t->data[i] = mg_in(t->run, "x", type_of(t, false), MT_SHAPE(t->size[0]));
    mg_i64(t->run, "from", type_of(t, false));
    for (int64_t k = 0; k < t->size[0]; k++)
        mt_store_f64(t->data[i], type_of(t, false), k, mt_rng_uniform(mg_rng(t->run)) - 0.5);
}

static void round_all(mg_trial *t)
{
    for (int64_t i = 0; i < t->size[0]; i++)
        t->v[0][i] = rounded(value_of(t->data[1], type_of(t, false), i), type_of(t, true));
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

static bool expect(mg_run *run, const char *name, const void *x, mt_dtype to, mt_dtype from, int64_t n)
{
    const void *got = mg_result(run, name);
    char had[64], became[64];
    for (int64_t i = 0; i < n; i++) {
        double want = rounded(value_of(x, from, i), to);
        if (same(value_of(got, to, i), want))
            continue;
        say(had, x, from, i);
        say(became, got, to, i);
        if (isnan(value_of(got, to, i)) && isfinite(want))
            mg_hint(run, "is x[%lld] converted at all? NaN is what out held before the call", (long long)i);
        if (to == from)
            mg_hint(run, "both types are the same: copy the numbers, of mt_dtype_size(to) bytes each");
        return mg_fail(run, "x[%lld]: the %s %s became the %s %s, expected %.9g", (long long)i, mt_dtype_name(from),
                       had, mt_dtype_name(to), became, want);
    }
    return true;
}

static bool judge(mg_trial *t)
{
    return expect(t->run, "out", t->data[1], type_of(t, true), type_of(t, false), t->size[0]);
}

#define CONVERSION(words, to, from)                                                                               \
    { .function = "mt_convert_cpu" words,                                                                         \
      .sizes = "n",                                                                                               \
      .operand = { MG_WRITTEN("out", "n", .describe = describe_out), MG_READ("x", "n", .describe = describe_x) }, \
      .oracle = round_all,                                                                                        \
      .judge = judge,                                                                                             \
      .enough = 100003,                                                                                           \
      .about = (to) * FROM + (from) }
const mg_kernel mg_09_f32_to_bf16 = CONVERSION(" to bf16", MT_BF16, MT_F32);
const mg_kernel mg_09_bf16_to_f32 = CONVERSION(" from bf16", MT_F32, MT_BF16);
const mg_kernel mg_09_f32_to_f16 = CONVERSION(" to f16", MT_F16, MT_F32);
const mg_kernel mg_09_f16_to_f32 = CONVERSION(" from f16", MT_F32, MT_F16);
const mg_kernel mg_09_f16_to_bf16 = CONVERSION(" between f16 and bf16", MT_BF16, MT_F16);
const mg_kernel mg_09_bf16_to_f16 = CONVERSION(" between f16 and bf16", MT_F16, MT_BF16);
const mg_kernel mg_09_f32_to_f32 = CONVERSION("", MT_F32, MT_F32);
const mg_kernel mg_09_f16_to_f16 = CONVERSION("", MT_F16, MT_F16);
const mg_kernel mg_09_bf16_to_bf16 = CONVERSION("", MT_BF16, MT_BF16);

#define KEEP_IT "keep the check: the header says \"Aborts: another type\""
const mg_special mg_09_other_types[] = {
    { "i32 is refused as type of out", KEEP_IT, { 3 }, .value = true, .aborts = "another type" },
    { "i32 is refused as type of x", KEEP_IT, { 3 }, .value = false, .aborts = "another type" },
    { 0 },
};

/* ---- numbers that a row is about ------------------------------------------------------------------------ */

/* Every pattern of a 16-bit type, in an order that differs from call to call. */
void mg_09_patterns(mg_trial *t)
{
    int64_t start = mt_rng_below(mg_rng(t->run), PATTERNS), step = 2 * mt_rng_below(mg_rng(t->run), PATTERNS / 2) + 1;
    for (int64_t i = 0; i < t->size[0]; i++)
        ((uint16_t *)t->data[1])[i] = (uint16_t)(start + i * step);
}

/* These numbers, of either sign, beginning at any of them, and again until the array is full. */
static void put(mg_trial *t, const float *x, int64_t n)
{
    MT_CHECK(t->size[0] >= 2 * n, "%lld numbers do not fit", (long long)(2 * n));
    for (int64_t i = 0, start = mt_rng_below(mg_rng(t->run), n); i < t->size[0]; i++)
        ((float *)t->data[1])[i] = i % 2 ? -x[(i / 2 + start) % n] : x[(i / 2 + start) % n];
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

static const format *format_to(const mg_trial *t)
{
    return format_of(type_of(t, true));
}

static int64_t least_normal(const mg_trial *t)
{
    return (int64_t)1 << format_to(t)->mantissa;
}

static void put_around(mg_trial *t, int64_t first, int64_t end, int which)
{
    float *x = malloc((size_t)(6 * (end - first)) * sizeof *x);
    int64_t n = 0;
    MT_CHECK(x, "out of memory for %lld numbers", (long long)(6 * (end - first)));
    for (int64_t pattern = first; pattern < end; pattern++)
        n += around(x + n, format_to(t), pattern, which);
    put(t, x, n);
    free(x);
}

void mg_09_nearest(mg_trial *t)
{
    put_around(t, least_normal(t) + 1, format_to(t)->infinity - 1, EXACT | BESIDE | BESIDE_HALFWAY);
}

void mg_09_ties(mg_trial *t)
{
    put_around(t, least_normal(t), format_to(t)->infinity - 1, HALFWAY);
}

void mg_09_subnormals(mg_trial *t)
{
    put_around(t, 0, least_normal(t), ALL);
}

/* From halfway above the largest number on, up to that of f32 and infinity; and just below. */
void mg_09_overflow(mg_trial *t)
{
    const format *f = format_to(t);
    float x[200], largest = (float)number(f, f->infinity - 1);
    int64_t n = around(x, f, f->infinity - 1, ALL);
    x[n++] = INFINITY;
    x[n++] = 0x1.fffffep127f;
    for (double top = log2(largest); n < MT_COUNT(x); n++)
        x[n] = fminf(exp2f((float)(top + (128 - top) * mt_rng_uniform(mg_rng(t->run)))), 0x1.fffffep127f);
    put(t, x, n);
}

/* NaN with each bit of the mantissa alone, with all, and with any, between ordinary numbers. */
void mg_09_not_numbers(mg_trial *t)
{
    float x[300];
    mg_fill(mg_rng(t->run), x, MT_COUNT(x), (mg_dist)NORMAL(0, 1));
    for (int i = 0; i < MT_COUNT(x); i += 2) {
        uint32_t payload = i < 46 ? 1u << i / 2 : i == 46 ? 0x7fffff : mt_rng_u32(mg_rng(t->run)) & 0x7fffff;
        uint32_t bits = 0x7f800000 | payload;
        memcpy(x + i, &bits, sizeof bits);
    }
    put(t, x, MT_COUNT(x));
}

/* ---- races ------------------------------------------------------------------------------------------- */

/* The three arrays take 40 KiB, so that no memory limits the speed; both directions of every number, TIMES times. */
enum { RACE_N = 4096, TIMES = 800 };

static const float *racing; /* x of the call described last: the checker times one pair at a time */

static void describe_race(mg_run *run, const void *one_case, const char *function)
{
    const convert_race *c = one_case;
    mg_begin(run, function);
    mg_out(run, "half", c->dtype, MT_SHAPE(RACE_N));
    mg_out(run, "back", MT_F32, MT_SHAPE(RACE_N));
    racing = mg_input(run, "x", MT_SHAPE(RACE_N), (mg_dist)NORMAL(0, 1));
    mg_i64(run, "dtype", c->dtype);
    mg_i64(run, "n", RACE_N);
    mg_i64(run, "times", TIMES);
}

static bool verify_race(mg_run *run, const void *one_case)
{
    const mt_dtype dtype = ((const convert_race *)one_case)->dtype;
    return expect(run, "half", racing, dtype, MT_F32, RACE_N) &&
           expect(run, "back", mg_result(run, "half"), MT_F32, dtype, RACE_N);
}

void mg_09_convert_race(mg_run *run, const void *one_case)
{
    const convert_race *c = one_case;
    const char *function = c->dtype == MT_F16 ? "mt_convert_cpu to f16 and back" : "mt_convert_cpu to bf16 and back";
    const mg_race race = { c->bar, function, function, "the reference", 1, describe_race, verify_race };
    mg_perf(run, &race, one_case);
}
