/* 12-numbers.c -- how the checks of steps 12.1 and 12.6 run: sums one bit at a time, runs one failure at a time.
 * Rows: 12-checkpoints.c. */
#include "checks/12-disk.h"
#include "checks/fill.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 12.1 sums ------------------------------------------------------------------------------------------- */

enum { POLYNOMIAL_BITS = 32 };
static const uint32_t polynomial = 0x82F63B78u; /* RFC 3720: 0x1EDC6F41 with its bits in reverse */

uint32_t mg_12_crc_of(uint32_t crc, const uint8_t *p, int64_t bytes)
{
    crc = ~crc;
    while (bytes-- > 0) {
        crc ^= *p++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ polynomial : crc >> 1;
    }
    return ~crc;
}

static uint32_t apply(const uint32_t matrix[POLYNOMIAL_BITS], uint32_t x)
{
    uint32_t y = 0;
    for (int i = 0; i < POLYNOMIAL_BITS; i++)
        y ^= x >> i & 1 ? matrix[i] : 0;
    return y;
}

/* crc of A with so many zero bytes behind it, without complements: the 32 x 32 matrix of one bit, squared for each
 * power of two. */
static uint32_t shifted(uint32_t crc, int64_t bytes)
{
    uint32_t matrix[POLYNOMIAL_BITS], square[POLYNOMIAL_BITS];
    for (int i = 0; i < POLYNOMIAL_BITS; i++)
        matrix[i] = i ? 1u << (i - 1) : polynomial;
    for (uint64_t bits = 8 * (uint64_t)bytes; bits; bits >>= 1) {
        crc = bits & 1 ? apply(matrix, crc) : crc;
        for (int i = 0; i < POLYNOMIAL_BITS; i++)
            square[i] = apply(matrix, matrix[i]);
        memcpy(matrix, square, sizeof matrix);
    }
    return crc;
}

/* Compares sums; their inputs are named by `what` (an index). */
static bool judge_sums(mg_run *run, int64_t n, const uint32_t *want, const int64_t *bytes)
{
    const int64_t *got = mg_result(run, "crc");
    for (int64_t i = 0; i < n; i++)
        if (got[i] != want[i]) {
            if ((uint32_t)got[i] == ~want[i])
                mg_hint(run, "the complement at begin and end is written already");
            return mg_fail(run, "call %" PRId64 ", %" PRId64 " bytes: %08" PRIx64 ", expected %08" PRIx32, i, bytes[i],
                           (uint64_t)got[i], want[i]);
        }
    return true;
}

enum { SUMS = 24, STREAM = 1 << 14, DATA = 6 * STREAM + 4096 };

/* Calls with as many lengths as possible between two. */
static const struct crc_part {
    crc_about about;
    const char *name, *hint;
    int64_t least, most;
} crc_parts[] = {
    { CRC_KNOWN, NULL, NULL, 9, 9 },
    { CRC_SHORT, NULL, NULL, 20, 300 },
    { CRC_SHORT, "up to two words", NULL, 0, 19 },
    { CRC_LONG, NULL, NULL, 0, DATA - 16 },
    { CRC_LONG, "less than a block", "below three streams: words of 8 bytes, then single bytes", STREAM - 9,
      2 * STREAM + 9 },
    { CRC_LONG, "about one block", NULL, 3 * STREAM - 9, 3 * STREAM + 9 },
    { CRC_LONG, "about two blocks", NULL, 6 * STREAM - 9, 6 * STREAM + 9 },
    { CRC_CONTINUED, NULL, NULL, 0, 300 },
    { CRC_CONTINUED, "more than a block", NULL, 4 * STREAM + 8, 4 * STREAM + 999 },
};

/* More bytes than an int counts: zeros, which need no memory, and whose sum is known without reading them. */
static void sum_zeros(mg_run *run, const char *function)
{
    int64_t bytes = ((int64_t)1 << 31) + mg_pick(mg_rng(run), 1, 4095);
    uint32_t begin = mt_rng_u32(mg_rng(run)), want = ~shifted(~begin, bytes);
    char name[64];
    snprintf(name, sizeof name, "%s, zeros", function);
    mg_part(run, "above 2 GiB", "bytes is an int64_t, and so is what counts them: a file may have more than 2 GiB");
    mg_begin(run, name);
    mg_out(run, "crc", MT_I64, MT_SHAPE(1));
    mg_i64(run, "start", begin);
    mg_i64(run, "bytes", bytes);
    if (mg_call(run))
        judge_sums(run, 1, &want, &bytes);
}

static bool crc_calls(mg_run *run, const crc_case *c, const struct crc_part *part)
{
    uint32_t want[SUMS];
    int64_t bytes[SUMS], calls = c->about == CRC_KNOWN ? 1 : SUMS, range = part->most - part->least + 1;
    int64_t data_bytes = part->most + (c->about == CRC_KNOWN ? 0 : 16);
    mg_part(run, part->name, part->hint ? "%s" : NULL, part->hint);
    mg_begin(run, c->function);
    mg_as_called(run, "%s(crc, data, bytes), %" PRId64 " calls", c->function, calls);
    mg_out(run, "crc", MT_I64, MT_SHAPE(calls));
    uint8_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(data_bytes));
    int64_t *offset = mg_in(run, "offset", MT_I64, MT_SHAPE(calls));
    int64_t *length = mg_in(run, "bytes", MT_I64, MT_SHAPE(calls));
    int64_t *start = mg_in(run, "start", MT_I64, MT_SHAPE(calls));
    for (int64_t i = 0; i < data_bytes; i++)
        data[i] = (uint8_t)mt_rng_u32(mg_rng(run));
    for (int64_t i = 0; i < calls; i++) {
        length[i] = bytes[i] = part->least + (range <= SUMS ? i % range : mt_rng_below(mg_rng(run), range));
        offset[i] = mt_rng_below(mg_rng(run), 3) ? mg_pick(mg_rng(run), 0, mt_min(15, data_bytes - length[i]))
                                                 : data_bytes - length[i]; /* nothing behind it may be read */
        start[i] = c->about == CRC_CONTINUED ? mt_rng_u32(mg_rng(run)) : 0;
    }
    if (c->about == CRC_KNOWN) { /* the check value of the catalogues, which this oracle must have too */
        memcpy(data, "123456789", 9);
        MT_CHECK(mg_12_crc_of(0, data, 9) == 0xE3069283u, "the oracle is wrong");
    }
    for (int64_t i = 0; i < calls; i++)
        want[i] = mg_12_crc_of((uint32_t)start[i], data + offset[i], length[i]);
    return mg_call(run) && judge_sums(run, calls, want, bytes);
}

void mg_12_crc(mg_run *run, const void *one_case)
{
    const crc_case *c = one_case;
    bool good = true;
    for (int i = 0; i < MT_COUNT(crc_parts) && good; i++)
        good = crc_parts[i].about != c->about || crc_calls(run, c, &crc_parts[i]);
    if (good && c->about == CRC_CONTINUED)
        sum_zeros(run, c->function);
}

static void join(mg_run *run, join_about about, bool zero)
{
    uint32_t want[SUMS];
    int64_t length[SUMS];
    mg_begin(run, "mt_crc32c_join");
    mg_out(run, "crc", MT_I64, MT_SHAPE(SUMS));
    int64_t *a = mg_in(run, "a", MT_I64, MT_SHAPE(SUMS));
    int64_t *b = mg_in(run, "b", MT_I64, MT_SHAPE(SUMS));
    int64_t *bytes = mg_in(run, "bytes of b", MT_I64, MT_SHAPE(SUMS));
    for (int i = 0; i < SUMS; i++) {
        a[i] = mt_rng_u32(mg_rng(run));
        b[i] = about == JOIN_EMPTY ? 0 : mt_rng_u32(mg_rng(run));
        length[i] = bytes[i] = about == JOIN_EMPTY ? 0
                               : about == JOIN_ANY
                                   ? mg_pick_size(mg_rng(run), 1, 5000)
                                   : mt_rng_below(mg_rng(run), (int64_t)1 << mg_pick(mg_rng(run), 31, 50));
        if (zero)
            *(i % 2 ? &a[i] : &b[i]) = 0;
        want[i] = shifted((uint32_t)a[i], bytes[i]) ^ (uint32_t)b[i];
    }
    if (mg_call(run))
        judge_sums(run, SUMS, want, length);
}

void mg_12_join(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = { { NULL }, { "a sum of 0", "a sum may be 0", true, 1 << JOIN_ANY } };
    join_about about = ((const join_case *)one_case)->about;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, about);)
        join(run, about, t.is);
}

/* ---- 12.1 speed */

enum { RACED = 1 << 18, TIMES = 64 };
static uint32_t raced; /* the right sum of the call that was described last */

static void describe_race(mg_run *run, const void *one_case, const char *function)
{
    (void)one_case;
    mg_begin(run, function);
    mg_out(run, "crc", MT_I64, MT_SHAPE(1));
    uint64_t *data = mg_in(run, "data", MT_U8, MT_SHAPE(RACED));
    for (int i = 0; i < RACED / 8; i++)
        data[i] = mt_rng_u64(mg_rng(run));
    mg_i64(run, "times", TIMES);
    uint32_t once = mg_12_crc_of(0, (const uint8_t *)data, RACED);
    raced = 0;
    for (int i = 0; i < TIMES; i++)
        raced = shifted(raced, RACED) ^ once;
}

static bool verify_race(mg_run *run, const void *one_case)
{
    int64_t bytes = (int64_t)RACED * TIMES;
    (void)one_case;
    return judge_sums(run, 1, &raced, &bytes);
}

void mg_12_crc_speed(mg_run *run, const void *one_case)
{
    const mg_race race = { .bar = "12.1 speed",
                           .ours = "mt_crc32c_sse42, repeated",
                           .theirs = "mt_crc32c_sse42, repeated",
                           .against = "the reference",
                           .threads = 1,
                           .describe = describe_race,
                           .verify = verify_race };
    mg_perf(run, &race, one_case);
}

/* ---- 12.6 intervals -------------------------------------------------------------------------------------- */

enum { RUNS = 12, PLAN = 5 };

static int64_t bits(double x)
{
    int64_t result;
    memcpy(&result, &x, sizeof x);
    return result;
}

static double number(int64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The part of the time that saves and failures take, to first order. */
static double cost_of(double t, double cost, double mtbf)
{
    return cost / t + t / (2 * mtbf);
}

/* The minimum, between bounds far apart: the sum falls before it and rises after it, so a third of the interval can be
 * left out each time. It is found to half of the digits, where the sum no longer changes. */
static double least_cost(double cost, double mtbf)
{
    double low = log(cost) - 60, high = log(mtbf) + 60;
    while (high - low > 1e-9) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        if (cost_of(exp(a), cost, mtbf) < cost_of(exp(b), cost, mtbf))
            high = b;
        else
            low = a;
    }
    return exp((low + high) / 2);
}

/* Both times are multiplied by 2^scale. */
static void young(mg_run *run, int scale)
{
    double cost[RUNS], mtbf[RUNS];
    mg_begin(run, "mt_young_interval");
    mg_out(run, "interval", MT_I64, MT_SHAPE(RUNS));
    int64_t *c = mg_in(run, "cost", MT_I64, MT_SHAPE(RUNS));
    int64_t *m = mg_in(run, "mtbf", MT_I64, MT_SHAPE(RUNS));
    for (int i = 0; i < RUNS; i++) {
        cost[i] = ldexp(1 + (double)mt_rng_uniform(mg_rng(run)), scale + (int)mg_pick(mg_rng(run), -10, 10));
        mtbf[i] = ldexp(1 + (double)mt_rng_uniform(mg_rng(run)), scale + (int)mg_pick(mg_rng(run), 4, 30));
        c[i] = bits(cost[i]);
        m[i] = bits(mtbf[i]);
    }
    if (!mg_call(run))
        return;
    const int64_t *got = mg_result(run, "interval");
    for (int i = 0; i < RUNS; i++) {
        double t = number(got[i]), want = least_cost(cost[i], mtbf[i]);
        if (fabs(t - want) <= 1e-6 * want)
            continue;
        mg_fail(run,
                "a save of %.6g s, a failure each %.6g s: an interval of %.9g s, of which saves and failures take "
                "%.6g of the time; %.9g s: %.6g",
                cost[i], mtbf[i], t, cost_of(t, cost[i], mtbf[i]), want, cost_of(want, cost[i], mtbf[i]));
        return;
    }
}

void mg_12_young(mg_run *run, const void *one_case)
{
    static const mg_idea tries[] = {
        { NULL }, { "long times", "the product of both times may be above FLT_MAX: use double", .is = 70 }
    };
    (void)one_case;
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);)
        young(run, (int)t.is);
}

/* Plans are in quarters of a second. */
static double seconds(int64_t quarters)
{
    return (double)quarters / 4;
}

/* A run as a list of failures: up to each of them so many whole pieces fit. */
static double waste_of(const int64_t p[PLAN], mt_rng rng)
{
    double work = seconds(p[0]), interval = seconds(p[1]), cost = seconds(p[2]), restart = seconds(p[3]),
           mtbf = seconds(p[4]);
    double time = 0, left = work;
    for (;;) {
        double life = -mtbf * log(1 - (double)mt_rng_uniform(&rng));
        double pieces = ceil(left / interval);
        if (left + pieces * cost <= life)
            return 1 - work / (time + left + pieces * cost);
        left -= interval * fmin(floor(life / (interval + cost)), floor(left / interval));
        time += life + restart;
    }
}

static void plan_run(mt_rng *rng, run_about about, int64_t p[PLAN])
{
    p[1] = mg_pick(rng, 5, 60);
    p[2] = about == RUN_SAVES ? mg_pick(rng, 20, 200) : mg_pick(rng, 1, 5);
    p[3] = about == RUN_RESTART ? mg_pick(rng, 500, 5000) : mg_pick(rng, 1, 9);
    p[4] = about == RUN_SAFE || about == RUN_SHORTER ? (int64_t)1 << 60 : mg_pick(rng, 3, 9) * (p[1] + p[2]);
    p[0] = p[1] * mg_pick(rng, 1, 200) + (about == RUN_SAFE ? 0 : mg_pick(rng, 1, p[1] - 1));
    if (about == RUN_SHORTER && mt_rng_below(rng, 3) == 0)
        p[0] = mg_pick(rng, 1, p[1] - 1);
    if (about == RUN_SAFE && mt_rng_below(rng, 2)) { /* pieces that a float does not have */
        p[1] = ((int64_t)1 << 25) + 1;
        p[0] = p[1] * mg_pick(rng, 1, 9);
    }
}

void mg_12_waste(mg_run *run, const void *one_case)
{
    double want[RUNS];
    mg_begin(run, "mt_run_waste");
    mg_out(run, "waste", MT_I64, MT_SHAPE(RUNS));
    int64_t *plan = mg_in(run, "plan", MT_I64, MT_SHAPE(RUNS, PLAN));
    int64_t *seed = mg_in(run, "seed", MT_I64, MT_SHAPE(RUNS));
    int64_t shown[RUNS][PLAN];
    for (int i = 0; i < RUNS; i++) {
        seed[i] = (int64_t)(mt_rng_u64(mg_rng(run)) >> 1);
        plan_run(mg_rng(run), ((const run_case *)one_case)->about, plan + (ptrdiff_t)i * PLAN);
        memcpy(shown[i], plan + (ptrdiff_t)i * PLAN, sizeof shown[i]);
        want[i] = waste_of(shown[i], mt_rng_new((uint64_t)seed[i], 0));
    }
    if (!mg_call(run))
        return;
    const int64_t *got = mg_result(run, "waste");
    for (int i = 0; i < RUNS; i++)
        if (!(fabs(number(got[i]) - want[i]) <= 1e-9)) { /* thousands of sums and differences, each off by 2^-53 */
            const int64_t *p = shown[i];
            mg_fail(run,
                    "work %.11g s, saved each %.11g s in %.11g s, restart %.11g s, a failure each %.11g s: waste %.9g, "
                    "expected %.9g",
                    seconds(p[0]), seconds(p[1]), seconds(p[2]), seconds(p[3]), seconds(p[4]), number(got[i]), want[i]);
            return;
        }
}
