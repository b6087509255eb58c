/* 09-state8.c -- how the checks of step 09.11 run. Levels are counted in double by frexp, not by the bits of an f32.
 * Codes of given numbers are compared exactly. After an update the parameter is compared with the oracle of Adam or
 * AdamW (testing/update_oracle.h), which begins each step with what the worker's codes stand for; a code must be that
 * of a number within the tolerance of its moment. Rows: 09-mixed-precision.c. */
#include "amp/state8.h"
#include "checks/09-training.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "rows/traffic.h"
#include "testing/update_oracle.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- levels, in double ------------------------------------------------------------------------------------- */

static int top(bool sign)
{
    return sign ? 127 : 255;
}

/* What a code stands for, without its scale. */
static double level(int code, bool sign)
{
    const int count = sign ? code % 128 : code, below = top(sign) - count; /* 8 levels in each factor of two below 1 */
    const double size = count ? ldexp(1 + (7 - (below + 7) % 8) / 8., -((below + 7) / 8)) : 0;
    return sign && code >= 128 ? -size : size;
}

/* The count of the level that |x| / scale becomes. */
static int count_of(double x, double scale, bool sign, int64_t step, int64_t i)
{
    int exponent;
    const double part = frexp(fabs(x) / scale, &exponent); /* from 1/2 on, below 1 */
    const int count =
        top(sign) + 8 * (exponent - 1) + (int)floor(8 * (2 * part - 1) + mt_threshold8(step, i) * 0x1p-20);
    return x == 0 ? 0 : count >= 1 ? count : !sign;
}

/* The least power of two above x; 1 for 0. */
static double scale_above(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent);
}

/* ---- codes of given numbers -------------------------------------------------------------------------------- */

static bool decode(mg_run *run, bool sign)
{
    const int64_t n = 256 + mg_pick(mg_rng(run), 1, 700), blocks = mt_blocks8(n);
    double *want = mg_doubles(n);
    mg_begin(run, "mt_decode8_cpu");
    mg_out(run, "out", MT_F32, MT_SHAPE(n));
    uint8_t *code = mg_in(run, "code", MT_U8, MT_SHAPE(n));
    float *scale = mg_in(run, "scale", MT_F32, MT_SHAPE(blocks));
    for (int64_t i = 0; i < n; i++) {
        if (i % MT_BLOCK8 == 0)
            scale[i / MT_BLOCK8] = ldexpf(1, (int)mg_pick(mg_rng(run), -60, 60));
        code[i] = (uint8_t)(i < 256 ? i : mt_rng_below(mg_rng(run), 256));
        want[i] = level(code[i], sign) * scale[i / MT_BLOCK8];
    }
    mg_i64(run, "sign", sign);
    mg_i64(run, "n", n);
    bool good = mg_call(run) && mg_expect(run, "out", want, NULL);
    free(want);
    return good;
}

static void levels(mg_run *run)
{
    for (int i = 0; i < 4; i++) {
        mg_part(run, i % 2 ? "with a sign" : "without a sign", NULL);
        if (!decode(run, i % 2))
            return;
    }
}

/* Encodes what `fill` makes of n numbers. */
static bool encode(mg_run *run, int64_t n, bool sign, void (*fill)(mt_rng *rng, float *x, int64_t n))
{
    const int64_t step = mg_pick(mg_rng(run), 1, 1000000), first = MT_BLOCK8 * mg_pick(mg_rng(run), 0, 1000);
    double *want[2] = { mg_doubles(n), mg_doubles(mt_blocks8(n)) };
    mg_begin(run, "mt_encode8_cpu");
    mg_out(run, "code", MT_U8, MT_SHAPE(n));
    mg_out(run, "scale", MT_F32, MT_SHAPE(mt_blocks8(n)));
    float *x = mg_in(run, "x", MT_F32, MT_SHAPE(n));
    fill(mg_rng(run), x, n);
    for (int64_t i = 0; i < n; i++) {
        double *largest = &want[1][i / MT_BLOCK8];
        x[i] = sign ? x[i] : fabsf(x[i]);
        *largest = fmax(*largest, fabs(x[i]));
    }
    for (int64_t block = 0; block < mt_blocks8(n); block++)
        want[1][block] = scale_above(want[1][block]);
    for (int64_t i = 0; i < n; i++)
        want[0][i] = count_of(x[i], want[1][i / MT_BLOCK8], sign, step, first + i) + (signbit(x[i]) ? 128 : 0);
    mg_i64(run, "sign", sign);
    mg_i64(run, "n", n);
    mg_i64(run, "step", step);
    mg_i64(run, "first", first);
    bool good = mg_call(run) && mg_expect(run, "scale", want[1], NULL) && mg_expect(run, "code", want[0], NULL);
    free(want[0]), free(want[1]);
    return good;
}

/* Blocks of very different sizes. */
static void uneven(mt_rng *rng, float *x, int64_t n)
{
    mg_fill(rng, x, n, (mg_dist)NORMAL(0, 1));
    for (int64_t i = 0; i < n; i++)
        x[i] *= (float)exp2(7.3 * (double)(i / MT_BLOCK8 % 9) - 30);
}

static void codes(mg_run *run)
{
    static const int64_t sizes[] = { 0, 1, 255, 256, 257, 1000, 4096, 4097, 8191 };
    for (int i = 0; i < 2 * MT_COUNT(sizes); i++) {
        mg_part(run, i % 2 ? "with a sign" : "without a sign", NULL);
        if (!encode(run, sizes[i / 2], i % 2, uneven))
            return;
    }
}

/* Levels, and the floats next to them; above the smallest one of either kind. */
static void at_levels(mt_rng *rng, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const float at = (float)level((int)mg_pick(rng, 140, 255), false) * (mt_rng_below(rng, 2) ? -1.f : 1.f);
        x[i] = i % 3 ? nextafterf(at, i % 3 == 1 ? 0 : 2 * at) : at;
    }
}

/* Around the smallest level of either kind, and far below it: over their scale, 2^20, some are 0. */
static void tiny(mt_rng *rng, float *x, int64_t n)
{
    mg_fill(rng, x, n, (mg_dist)MIXED(-16, 7));
    for (int64_t i = 0; i < n; i++)
        if (i % 16 == 0)
            x[i] = i % 32 ? 7e5f : 1e-38f * (float)exp2(-mt_rng_uniform(rng) * 20);
}

/* Scales from the smallest one on. */
static void subnormal(mt_rng *rng, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = ldexpf((float)mg_pick(rng, -999, 999), (int)(i / MT_BLOCK8) * 4 - 149);
}

static void zeros(mt_rng *rng, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = mt_rng_below(rng, 2) ? -0.0f : 0;
    if (n > 300)
        x[300] = 1;
}

/* The largest of a block is a power of two, or next to one. */
static void powers(mt_rng *rng, float *x, int64_t n)
{
    mg_fill(rng, x, n, (mg_dist)UNIFORM(-0.4, 0.4));
    for (int64_t i = 0; i < n; i += MT_BLOCK8) {
        const float power = ldexpf(1, (int)mg_pick(rng, 0, 100));
        x[mt_min(n - 1, i + mg_pick(rng, 0, 255))] = i / MT_BLOCK8 % 3 == 0   ? power
                                                     : i / MT_BLOCK8 % 3 == 1 ? -nextafterf(power, 0)
                                                                              : nextafterf(power, INFINITY);
    }
}

static void edges(mg_run *run)
{
    static const struct {
        const char *part;
        void (*fill)(mt_rng *rng, float *x, int64_t n);
    } parts[] = { { "at levels", at_levels },
                  { "below the smallest level", tiny },
                  { "zeros", zeros },
                  { "subnormal scales", subnormal },
                  { "scales at powers of two", powers } };
    for (int i = 0; i < 2 * MT_COUNT(parts); i++) {
        mg_part(run, parts[i / 2].part, NULL);
        if (!encode(run, 1500 + mg_pick(mg_rng(run), 0, 100), i % 2, parts[i / 2].fill))
            return;
    }
}

/* ---- updates ----------------------------------------------------------------------------------------------- */

enum { SEARCHED = -1, COUNTED = -2 }; /* in place of a number of threads */

static const char *const code_name[] = { "m", "v" }, *const scale_name[] = { "m_scale", "v_scale" };

/* One parameter over some steps, as the worker left it. */
typedef struct trip {
    int64_t rows, cols, n;
    float *param, *scale[MT_UPDATE_STATES];
    uint8_t *code[MT_UPDATE_STATES];
    mt_update_oracle *oracle;
} trip;

static void *zeroed(int64_t n, size_t size)
{
    void *x = calloc((size_t)n + 1, size);
    MT_CHECK(x, "out of memory for %" PRId64 " numbers", n);
    return x;
}

static trip trip_new(mg_run *run, mt_update_kind kind, int64_t rows, int64_t cols)
{
    mt_rng *rng = mg_rng(run);
    trip t = { .rows = rows, .cols = cols, .n = rows * cols, .param = zeroed(rows * cols, sizeof(float)) };
    mt_hyper hyper = { .lr = 0.02 + 0.03 * mt_rng_uniform(rng),
                       .beta1 = 0.6 + 0.3 * mt_rng_uniform(rng),
                       .beta2 = 0.9 + 0.08 * mt_rng_uniform(rng),
                       .eps = 0.03 + 0.05 * mt_rng_uniform(rng),
                       .weight_decay = 0.2 + 0.2 * mt_rng_uniform(rng) };
    mg_fill(rng, t.param, t.n, (mg_dist)UNIFORM(-1, 1));
    t.oracle = mt_update_oracle_new(kind, hyper, rows, cols, t.param);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        t.code[s] = zeroed(t.n, 1);
        t.scale[s] = zeroed(mt_blocks8(t.n), sizeof(float));
    }
    return t;
}

static void trip_free(trip *t)
{
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(t->code[s]), free(t->scale[s]);
    free(t->param);
    mt_update_oracle_free(t->oracle);
}

static void describe(mg_run *run, trip *t)
{
    mt_shape shape = MT_SHAPE(t->rows, t->cols);
    const size_t n = (size_t)t->n, blocks = (size_t)mt_blocks8(t->n);
    mg_begin(run, "mt_adam8_update_cpu");
    memcpy(mg_inout(run, "param", MT_F32, shape), t->param, n * sizeof(float));
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        memcpy(mg_inout(run, code_name[s], MT_U8, shape), t->code[s], n);
        memcpy(mg_inout(run, scale_name[s], MT_F32, MT_SHAPE((int64_t)blocks)), t->scale[s], blocks * sizeof(float));
        for (int64_t i = 0; i < t->n; i++)
            t->oracle->state[s][i] = mt_approx_exact(level(t->code[s][i], s == 0) * t->scale[s][i / MT_BLOCK8]);
    }
    float *grad = mg_in(run, "grad", MT_F32, shape);
    mg_fill(mg_rng(run), grad, t->n, (mg_dist)MIXED(-12, 0));
    memcpy(mg_in(run, "hyper", MT_I64, MT_SHAPE(sizeof(mt_hyper) / sizeof(int64_t))), &t->oracle->hyper,
           sizeof(mt_hyper));
    mg_i64(run, "rows", t->rows);
    mg_i64(run, "cols", t->cols);
    mg_i64(run, "step", t->oracle->step + 1);
    mg_i64(run, "decoupled", t->oracle->kind == MT_ADAMW);
    for (int64_t i = 0; i < t->n; i++)
        t->oracle->param[i] = mt_approx_exact(t->param[i]);
    mt_update_oracle_step(t->oracle, grad);
}

/* Scales and codes of a moment: those of some numbers within its tolerances. */
static bool judge_moment(mg_run *run, const trip *t, int s)
{
    const mt_approx *want = t->oracle->state[s];
    const bool sign = s == 0;
    double low = 0, high = 0; /* between which the largest of a block is */
    for (int64_t i = 0; i < t->n; i++) {
        low = fmax(low, fabs(want[i].value) - want[i].error);
        high = fmax(high, fabs(want[i].value) + want[i].error);
        if (i + 1 < t->n && (i + 1) % MT_BLOCK8)
            continue;
        const int64_t block = i / MT_BLOCK8;
        const double scale = t->scale[s][block];
        if (scale != scale_above(low) && scale != scale_above(high))
            return mg_fail(run,
                           "after step %" PRId64 " of [%" PRId64 ",%" PRId64 "]: %s[%" PRId64 "] is %g, expected %g",
                           t->oracle->step, t->rows, t->cols, scale_name[s], block, scale, scale_above(high));
        low = high = 0;
    }
    for (int64_t i = 0; i < t->n; i++) {
        const double scale = t->scale[s][i / MT_BLOCK8],
                     ends[] = { want[i].value - want[i].error, want[i].value + want[i].error };
        int count[2]; /* of both ends, negative for negative numbers */
        for (int k = 0; k < 2; k++)
            count[k] = count_of(sign ? ends[k] : fmax(0, ends[k]), scale, sign, t->oracle->step, i) *
                       (sign && ends[k] < 0 ? -1 : 1);
        const int code = t->code[s][i], got = sign && code >= 128 ? 128 - code : code;
        if (got < count[0] || got > count[1])
            return mg_fail(run,
                           "after step %" PRId64 " of [%" PRId64 ",%" PRId64 "]: %s[%" PRId64
                           "] is code %d, level %g of its block; expected level %g, for the moment %g",
                           t->oracle->step, t->rows, t->cols, code_name[s], i, code, level(code, sign),
                           level(abs(count[1]), sign) * (count[1] < 0 ? -1 : 1), want[i].value);
    }
    return true;
}

static bool advance(mg_run *run, trip *t, int threads)
{
    double *want = mg_doubles(t->n), *tolerance = mg_doubles(t->n);
    describe(run, t);
    for (int64_t i = 0; i < t->n; i++)
        want[i] = t->oracle->param[i].value, tolerance[i] = t->oracle->param[i].error;
    if (threads > 0)
        mg_threads(run, threads);
    bool good = threads == COUNTED    ? mg_traffic_call(run, MG_L2)
                : threads == SEARCHED ? mg_shared_call(run)
                                      : mg_call(run);
    good = good && mg_expect(run, "param", want, tolerance);
    for (int s = 0; s < MT_UPDATE_STATES && good; s++) {
        memcpy(t->code[s], mg_result(run, code_name[s]), (size_t)t->n);
        memcpy(t->scale[s], mg_result(run, scale_name[s]), (size_t)mt_blocks8(t->n) * sizeof(float));
        good = judge_moment(run, t, s);
    }
    if (good)
        memcpy(t->param, mg_result(run, "param"), (size_t)t->n * sizeof(float));
    free(want), free(tolerance);
    return good;
}

static void update(mg_run *run)
{
    static const struct {
        const char *part;
        int64_t rows, cols;
    } sizes[] = {
        { "a few elements", 7, 9 },
        { "no elements", 0, 3 },
        { "one element", 1, 1 },
        { "blocks and a part of one", 3, 257 },
        { "pieces of a matrix", 67, 251 },
        { "many pieces", 1, 40009 },
        { "rows of few elements", 4099, 3 },
    };
    for (int i = 0; i < 2 * MT_COUNT(sizes); i++) {
        mg_part(run, sizes[i / 2].part, NULL);
        trip t = trip_new(run, i % 2 ? MT_ADAM : MT_ADAMW, sizes[i / 2].rows, sizes[i / 2].cols);
        bool good = true;
        for (int step = 0; step < 4 && good; step++)
            good = advance(run, &t, 0);
        trip_free(&t);
        if (!good)
            return;
    }
}

/* Three steps with each number of threads: all must give the bits of the first. */
static void any_threads(mg_run *run)
{
    static const int threads[] = { 1, 2, 3, 5 };
    const int64_t n = 40009 + 2 * mt_rng_below(mg_rng(run), 1000);
    const mt_rng start = *mg_rng(run);
    trip first = { 0 };
    bool good = true;
    mg_part(run, "equal bits with any number of threads", NULL);
    mg_place_arrays(run, MG_AT_END);
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        *mg_rng(run) = start;
        trip t = trip_new(run, MT_ADAMW, 1, n);
        for (int step = 0; step < 3; step++)
            good = good && advance(run, &t, threads[i]);
        const char *words = good && i ? mt_compare_bits("param", t.param, first.param, n) : NULL;
        for (int k = 0; k < MT_UPDATE_STATES && good && i && !words; k++)
            words = memcmp(t.code[k], first.code[k], (size_t)n) ? "other codes than those" : NULL;
        if (words)
            mg_fail(run, "%d threads: %s, which one thread gave", threads[i], words);
        good = good && !words;
        if (i)
            trip_free(&t);
        else
            first = t;
    }
    trip_free(&first);
    mg_place_arrays(run, MG_ANYWHERE);
    mg_part(run, "data races", NULL);
    trip t = trip_new(run, MT_ADAMW, 1, n);
    if (good)
        advance(run, &t, SEARCHED);
    trip_free(&t);
}

/* Parameter and gradient take 2 MiB each, twice the cache, and both arrays of codes as much as it. */
static void traffic(mg_run *run)
{
    enum { N = (1 << 19) + 1 };
    trip t = trip_new(run, MT_ADAMW, 1, N);
    if (advance(run, &t, COUNTED))
        mg_traffic_credit(run, "09.11", 12.0 * N + 2.0 * (double)mt_state8_bytes(N));
    trip_free(&t);
}

void mg_09_state8(mg_run *run, const void *one_case)
{
    static void (*const rows[])(mg_run *) = {
        [STATE8_LEVELS] = levels, [STATE8_CODES] = codes,         [STATE8_EDGES] = edges,
        [STATE8_UPDATE] = update, [STATE8_THREADS] = any_threads, [STATE8_TRAFFIC] = traffic,
    };
    rows[((const state8_case *)one_case)->about](run);
}
