/* 09-master.c -- how the checks of step 09.8 run: after each step the parameter and both states are compared with the
 * oracle of AdamW (testing/update_oracle.h), and the copy with the parameter that came back, rounded. Rows:
 * 09-mixed-precision.c. */
#include "checks/09-training.h"
#include "checks/answer.h"
#include "checks/oracle.h"
#include "testing/update_oracle.h"
#include "rows/traffic.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MASTER "mt_adamw_master_update_cpu"

enum { SEARCHED = -1, COUNTED = -2 }; /* in place of a number of threads */

static const char *const state_name[MT_UPDATE_STATES] = { "m", "v" };

/* One parameter over some steps, as the worker left it. */
typedef struct trip {
    mt_dtype dtype;
    mt_hyper hyper;
    int64_t rows, cols;
    float *param, *state[MT_UPDATE_STATES];
    mt_update_oracle *oracle;
} trip;

static int64_t count_of(const trip *t)
{
    return t->rows * t->cols;
}

static float *floats(int64_t n)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    MT_CHECK(x, "out of memory for %" PRId64 " floats", n);
    return x;
}

/* Steps that change most of the bf16 copies. */
static trip trip_new(mg_run *run, mt_dtype dtype, int64_t rows, int64_t cols, mg_dist dist)
{
    mt_rng *rng = mg_rng(run);
    trip t = { .dtype = dtype, .rows = rows, .cols = cols, .param = floats(rows * cols) };
    t.hyper = (mt_hyper){ .lr = 0.02 + 0.03 * mt_rng_uniform(rng),
                          .beta1 = 0.6 + 0.3 * mt_rng_uniform(rng),
                          .beta2 = 0.9 + 0.08 * mt_rng_uniform(rng),
                          .eps = 0.03 + 0.05 * mt_rng_uniform(rng),
                          .weight_decay = 0.2 + 0.2 * mt_rng_uniform(rng) };
    mg_fill(rng, t.param, rows * cols, dist);
    t.oracle = mt_update_oracle_new(MT_ADAMW, t.hyper, rows, cols, t.param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        t.state[s] = floats(rows * cols);
    return t;
}

static void trip_free(trip *t)
{
    free(t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(t->state[s]);
    mt_update_oracle_free(t->oracle);
}

static void describe(mg_run *run, trip *t, const char *function)
{
    mt_shape shape = MT_SHAPE(t->rows, t->cols);
    size_t bytes = (size_t)count_of(t) * sizeof *t->param;
    mg_begin(run, function);
    memcpy(mg_inout(run, "param", MT_F32, shape), t->param, bytes);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        memcpy(mg_inout(run, state_name[s], MT_F32, shape), t->state[s], bytes);
    mg_out(run, "copy", t->dtype, shape);
    float *grad = mg_in(run, "grad", MT_F32, shape);
    mg_fill(mg_rng(run), grad, count_of(t), (mg_dist)UNIFORM(-1, 1));
    memcpy(mg_in(run, "hyper", MT_I64, MT_SHAPE(sizeof t->hyper / sizeof(int64_t))), &t->hyper, sizeof t->hyper);
    mg_i64(run, "rows", t->rows);
    mg_i64(run, "cols", t->cols);
    mg_i64(run, "step", t->oracle->step + 1);
    mg_i64(run, "dtype", t->dtype);
    mt_update_oracle_step(t->oracle, grad);
}

/* The copy must be the parameter that came back, rounded, whatever rounding errors that one has. */
static bool judge_copy(mg_run *run, const trip *t, const float *before)
{
    int64_t n = count_of(t), old = 0, apart = 0; /* patterns, at most */
    const uint16_t *got = mg_result(run, "copy");
    double *want = mg_doubles(n);
    for (int64_t i = 0; i < n; i++) {
        mt_f16 half = mt_f16_from_f32(t->param[i]), half_before = mt_f16_from_f32(before[i]);
        mt_bf16 brain = mt_bf16_from_f32(t->param[i]), brain_before = mt_bf16_from_f32(before[i]);
        want[i] = t->dtype == MT_F16 ? mt_f16_to_f32(half) : mt_bf16_to_f32(brain);
        apart = mt_max(apart, llabs((int64_t)got[i] - (t->dtype == MT_F16 ? half.bits : brain.bits)));
        old += got[i] == (t->dtype == MT_F16 ? half_before.bits : brain_before.bits);
    }
    if (n > 1 && old == n)
        mg_hint(run, "this is a copy of the parameter from before the update: convert after it");
    else if (apart == 1)
        mg_hint(run, "the parameter is right, and its copy is next to it: round as mt_convert_cpu does, ties to even");
    bool good = mg_expect(run, "copy", want, NULL);
    free(want);
    return good;
}

static bool advance(mg_run *run, trip *t, int threads)
{
    size_t bytes = (size_t)count_of(t) * sizeof *t->param;
    describe(run, t, MASTER);
    if (threads > 0)
        mg_threads(run, threads);
    bool called = threads == COUNTED    ? mg_traffic_call(run, MG_L2)
                  : threads == SEARCHED ? mg_shared_call(run)
                                        : mg_call(run);
    if (!called)
        return false;
    float *before = floats(count_of(t));
    memcpy(before, t->param, bytes);
    memcpy(t->param, mg_result(run, "param"), bytes);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        memcpy(t->state[s], mg_result(run, state_name[s]), bytes);
    const char *words = mt_update_oracle_check(t->oracle, t->param, t->state);
    if (words)
        mg_fail(run, "after step %" PRId64 " of [%" PRId64 ",%" PRId64 "]: %s", t->oracle->step, t->rows, t->cols,
                words);
    bool good = !words && judge_copy(run, t, before);
    free(before);
    return good;
}

static bool travel(mg_run *run, mt_dtype dtype, int64_t rows, int64_t cols, mg_dist dist, int steps)
{
    trip t = trip_new(run, dtype, rows, cols, dist);
    bool good = true;
    for (int i = 0; i < steps && good; i++) {
        good = advance(run, &t, 0);
        t.hyper.lr *= 0.9;
        t.oracle->hyper = t.hyper;
    }
    trip_free(&t);
    return good;
}

/* ---- rows ------------------------------------------------------------------------------------------------ */

static const mt_dtype halves[] = { MT_BF16, MT_F16 };

#define ORDINARY ((mg_dist)UNIFORM(-1, 1))

static void refuse(mg_run *run)
{
    static const struct {
        const char *part;
        mt_dtype dtype;
        int64_t step;
    } refused[] = { { "step 0", MT_BF16, 0 }, { "step -1", MT_F16, -1 }, { "a copy of type f32", MT_F32, 1 } };
    bool good = true;
    for (int i = 0; i < MT_COUNT(refused) && good; i++) {
        trip t = trip_new(run, refused[i].dtype, 1, 3, ORDINARY);
        t.oracle->step = refused[i].step - 1;
        mg_part(
            run, refused[i].part,
            "keep the check of the type, and leave the step to mt_adamw_update_cpu; an update of your own must test "
            "it, too");
        describe(run, &t, "may abort: " MASTER);
        mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
        mg_threads(run, 1); /* the one that returns from the abort */
        good = mg_refused(run, refused[i].part, "t < 1; another dtype");
        trip_free(&t);
    }
}

static void steps(mg_run *run)
{
    for (int i = 0; i < 6; i++)
        if (!travel(run, halves[i % 2], mg_pick(mg_rng(run), 2, 20), mg_pick(mg_rng(run), 2, 40), ORDINARY, 6))
            return;
    refuse(run);
}

static void sizes(mg_run *run)
{
    static const struct {
        const char *part;
        int64_t rows, cols;
    } sizes[] = {
        { "no elements", 1, 0 },
        { "no elements", 0, 3 },
        { "one element", 1, 1 },
        { "16,384 elements", 1, 16383 },
        { "16,384 elements", 1, 16384 },
        { "16,384 elements", 1, 16385 },
        { "rows of few elements", 64, 64 },
        { "rows of few elements", 17, 241 },
        { "many elements", 1, 3 * 16384 + 7 },
        { "many elements", 5, 13109 },
    };
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        mg_part(run, sizes[i].part, NULL);
        if (!travel(run, halves[i % 2], sizes[i].rows, sizes[i].cols, ORDINARY, 2))
            return;
    }
}

/* One step of rate 0, after which the parameters are as before. */
static bool at_rest(mg_run *run, trip *t)
{
    mt_update_oracle_free(t->oracle);
    t->hyper.lr = 0;
    t->oracle = mt_update_oracle_new(MT_ADAMW, t->hyper, t->rows, t->cols, t->param);
    return advance(run, t, 0);
}

/* Parameters halfway between two numbers of 16 bits; the lower one is even or odd. */
static bool ties(mg_run *run, mt_dtype dtype)
{
    trip t = trip_new(run, dtype, 1, 67, ORDINARY);
    for (int64_t i = 0; i < count_of(&t); i++) {
        const uint32_t half = dtype == MT_BF16 ? 0x8000 : 0x1000;
        uint32_t bits;
        memcpy(&bits, t.param + i, sizeof bits);
        bits = (bits & ~(2 * half - 1)) | half;
        memcpy(t.param + i, &bits, sizeof bits);
    }
    bool good = at_rest(run, &t);
    trip_free(&t);
    return good;
}

/* In f16: subnormals and what overflows; in both, half of the rest is rounded up. */
static void rounding(mg_run *run)
{
    mg_part(run, "ties", NULL);
    if (!ties(run, MT_BF16) || !ties(run, MT_F16))
        return;
    mg_part(run, "subnormal and infinite copies in f16", NULL);
    for (int i = 0; i < 4; i++)
        if (!travel(run, halves[i % 2], 1, mg_pick_size(mg_rng(run), 31, 1100), (mg_dist)MIXED(-20, 18), 3))
            return;
    mg_part(run, "subnormal copies in bf16", NULL);
    trip t = trip_new(run, MT_BF16, 1, 67, (mg_dist)MIXED(-132, -127));
    at_rest(run, &t);
    trip_free(&t);
}

/* The same three steps with each number of threads: all must give the bits of the first. */
static void any_threads(mg_run *run)
{
    static const int threads[] = { 1, 2, 3, 5 };
    int64_t n = 40009 + 2 * mt_rng_below(mg_rng(run), 1000);
    const mt_rng start = *mg_rng(run);
    float *first = NULL;
    bool good = true;
    mg_part(run, "equal bits with any number of threads", NULL);
    mg_place_arrays(run, MG_AT_END);
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        *mg_rng(run) = start;
        trip t = trip_new(run, MT_BF16, 1, n, ORDINARY);
        for (int step = 0; step < 3; step++)
            good = good && advance(run, &t, threads[i]);
        const char *words = good && first ? mt_compare_bits("param", t.param, first, n) : NULL;
        if (words)
            mg_fail(run, "%d threads: %s, which one thread gave", threads[i], words);
        good = good && !words;
        if (!first) {
            first = t.param;
            t.param = NULL;
        }
        trip_free(&t);
    }
    mg_place_arrays(run, MG_ANYWHERE);
    mg_part(run, "data races", NULL);
    trip t = trip_new(run, MT_F16, 1, n, ORDINARY);
    if (good)
        advance(run, &t, SEARCHED);
    trip_free(&t);
    free(first);
}

/* Each array of f32 takes 2 MiB, twice the cache. 28 B an element for the update and 2 B for the copy. */
static void traffic(mg_run *run)
{
    enum { N = (1 << 19) + 1, BYTES = 30 };
    trip t = trip_new(run, MT_BF16, 1, N, ORDINARY);
    if (advance(run, &t, COUNTED))
        mg_traffic_credit(run, "09.8", (double)BYTES * N);
    trip_free(&t);
}

void mg_09_master(mg_run *run, const void *one_case)
{
    static void (*const rows[])(mg_run *) = {
        [MASTER_STEPS] = steps,         [MASTER_SIZES] = sizes,     [MASTER_ROUNDING] = rounding,
        [MASTER_THREADS] = any_threads, [MASTER_TRAFFIC] = traffic,
    };
    rows[((const master_case *)one_case)->about](run);
}
