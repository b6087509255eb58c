/* 04-updates.c -- how the checks of the update rules run: a parameter is updated by many steps, and after some of
 * them the parameter and every state are compared with an oracle in double that also computes the tolerance
 * (testing/update_oracle.h). The oracle continues from its own values, so small errors of each step add up.
 * Rows: 04-optimizers.c. */
#include "checks/04-optimizers.h"
#include "checks/fill.h"
#include "rows/traffic.h"
#include "testing/update_oracle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the checker links no kernel ---------------------------------------------------------------- */

/* The table of rules (optim/rules.c), which the oracle reads, names the kernels too: here each of them aborts. */
#define NO_KERNEL(name)                                          \
    void name(const mt_update *u)                                \
    {                                                            \
        (void)u;                                                 \
        MT_CHECK(false, "the checker has no " #name " to call"); \
    }

NO_KERNEL(mt_sgd_update_cpu)
NO_KERNEL(mt_momentum_update_cpu)
NO_KERNEL(mt_nesterov_update_cpu)
NO_KERNEL(mt_rmsprop_update_cpu)
NO_KERNEL(mt_adam_update_cpu)
NO_KERNEL(mt_adamw_update_cpu)
NO_KERNEL(mt_lion_update_cpu)
NO_KERNEL(mt_adafactor_update_cpu)

/* ---- one parameter and its states ----------------------------------------------------------------- */

typedef struct trip {
    const update_case *c;
    mt_hyper hyper;
    int64_t rows, cols;
    float *param, *state[MT_UPDATE_STATES]; /* as the worker left them */
    mt_update_oracle *oracle;
} trip;

static float *floats(int64_t n)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    MT_CHECK(x, "out of memory for %" PRId64 " floats", n);
    return x;
}

static int64_t count_of(const trip *t)
{
    return t->rows * t->cols;
}

static int64_t state_count(const trip *t, int s)
{
    return mt_state_count(t->c->kind, s, t->rows, t->cols);
}

/* The name in a checkpoint: "exp_avg" for Adam's m. */
static const char *state_name(const trip *t, int s)
{
    return mt_update_rules[t->c->kind].state_name[s];
}

static double uniform(mt_rng *rng, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

/* Random hyper-parameters such that each has an effect, and that coupled decay does not amplify rounding errors:
 * their bound grows by 1 + lr wd / eps in every step. */
static mt_hyper draw_hyper(mt_rng *rng, const update_case *c)
{
    mt_hyper h = {
        .lr = uniform(rng, 0.002, 0.005),
        .momentum = uniform(rng, 0.5, 0.9),
        .beta1 = uniform(rng, 0.6, 0.9),
        .beta2 = uniform(rng, 0.9, 0.98),
        .eps = uniform(rng, 0.03, 0.08),
        .weight_decay = uniform(rng, 0.01, 0.02),
    };
    if (c->about == UP_FIRST || c->about == UP_ZEROS || c->about == UP_CLIPPED) {
        h = mt_hyper_default(c->kind);
        h.lr *= uniform(rng, 0.5, 2);
        h.weight_decay = 0;
    }
    if (c->about == UP_DECAY) {
        h.lr = uniform(rng, 0.02, 0.05);
        h.weight_decay = uniform(rng, 0.2, 0.6);
    }
    if (c->about == UP_EPS)
        h.eps = uniform(rng, 0.2, 0.5);
    if (c->about == UP_LATE) /* v's weights add up to a half after 70,000 steps, so that their number counts */
        h.beta2 = 0.99999;
    return h;
}

static int64_t steps_before(mt_rng *rng, update_about about)
{
    return about == UP_RESUMED ? mg_pick(rng, 5, 40)
           : about == UP_LATE  ? 70000
           : about == UP_LAST  ? (int64_t)1 << 32
                               : 0;
}

static trip trip_new(mg_run *run, const update_case *c, int64_t rows, int64_t cols)
{
    mt_rng *rng = mg_rng(run);
    trip t = { .c = c, .hyper = draw_hyper(rng, c), .rows = rows, .cols = cols, .param = floats(rows * cols) };
    double size = c->about == UP_TINY ? uniform(rng, 1e-5, 5e-4) : 1;
    mg_fill(rng, t.param, rows * cols, (mg_dist)UNIFORM(-size, size));
    t.oracle = mt_update_oracle_new(c->kind, t.hyper, rows, cols, t.param);
    t.oracle->step = steps_before(rng, c->about);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        int64_t n = state_count(&t, s);
        t.state[s] = floats(n);
        if (t.oracle->step > 0) /* averages as gradients of this size give; none is negative */
            mg_fill(rng, t.state[s], n, (mg_dist)UNIFORM(0.1, 0.5));
        for (int64_t i = 0; i < n; i++)
            t.oracle->state[s][i] = mt_approx_exact(t.state[s][i]);
    }
    return t;
}

static void trip_free(trip *t)
{
    free(t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(t->state[s]);
    mt_update_oracle_free(t->oracle);
}

/* ---- some steps in one call --------------------------------------------------------------------- */

/* Gradients of very different sizes; every 11th element never gets one. */
static void fill_grads(mt_rng *rng, const trip *t, float *grads, int64_t steps)
{
    int64_t n = count_of(t);
    for (int64_t s = 0; s < steps; s++, grads += n) {
        double size = t->c->about == UP_CLIPPED ? exp2(uniform(rng, -6, 6)) : 1;
        mg_fill(rng, grads, n, (mg_dist)UNIFORM(-size, size));
        for (int64_t i = 0; i < n; i++) {
            if (i % 7 == 3)
                grads[i] *= 1e-4f;
            if (i % 11 == 5 || t->c->about == UP_ZEROS)
                grads[i] = 0;
        }
        if (t->c->about == UP_ZEROS && n)
            grads[0] = (float)size; /* the only one that changes */
    }
}

static const float *describe(mg_run *run, const trip *t, int64_t steps)
{
    mt_shape shape = MT_SHAPE(t->rows, t->cols);
    mg_begin(run, t->c->function);
    memcpy(mg_inout(run, "param", MT_F32, shape), t->param, (size_t)count_of(t) * sizeof *t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        int64_t n = state_count(t, s);
        if (mt_update_rules[t->c->kind].state_size[s] == MT_STATE_NONE)
            mg_null(run, s ? "state[1]" : "state[0]");
        else
            memcpy(mg_inout(run, state_name(t, s), MT_F32, n == count_of(t) ? shape : MT_SHAPE(n)), t->state[s],
                   (size_t)n * sizeof *t->state[s]);
    }
    if (strstr(t->c->function, "multipass"))
        mg_out(run, "scratch", MT_F32, MT_SHAPE(2, t->rows, t->cols));
    else
        mg_null(run, "scratch");
    float *grads = mg_in(run, "grad", MT_F32, MT_SHAPE(steps, t->rows, t->cols));
    fill_grads(mg_rng(run), t, grads, steps);
    memcpy(mg_in(run, "hyper", MT_I64, MT_SHAPE(sizeof t->hyper / sizeof(int64_t))), &t->hyper, sizeof t->hyper);
    mg_i64(run, "rows", t->rows);
    mg_i64(run, "cols", t->cols);
    mg_i64(run, "step", t->oracle->step + 1);
    mg_i64(run, "steps", steps);
    return grads;
}

static void take_results(mg_run *run, trip *t)
{
    memcpy(t->param, mg_result(run, "param"), (size_t)count_of(t) * sizeof *t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        if (mt_update_rules[t->c->kind].state_size[s] != MT_STATE_NONE)
            memcpy(t->state[s], mg_result(run, state_name(t, s)), (size_t)state_count(t, s) * sizeof *t->state[s]);
}

static void complain(mg_run *run, const trip *t, const char *words)
{
    const mt_hyper *h = &t->hyper;
    mg_fail(run,
            "after step %" PRId64 " of [%" PRId64 ",%" PRId64
            "]: %s   (lr %.4g, momentum %.3g, beta1 %.3g, beta2 %.4g, eps %.3g, weight_decay %.3g)",
            t->oracle->step, t->rows, t->cols, words, h->lr, h->momentum, h->beta1, h->beta2, h->eps, h->weight_decay);
}

enum { SEARCHED = -1 }; /* the threads of a call that is searched for data races */

/* threads 0: one per core. */
static bool advance(mg_run *run, trip *t, int64_t steps, int threads)
{
    const float *grads = describe(run, t, steps);
    for (int64_t s = 0; s < steps; s++)
        mt_update_oracle_step(t->oracle, grads + s * count_of(t));
    if (threads > 0)
        mg_threads(run, threads);
    if (threads == SEARCHED ? !mg_shared_call(run) : !mg_call(run))
        return false;
    take_results(run, t);
    const char *words = mt_update_oracle_check(t->oracle, t->param, t->state);
    if (words)
        complain(run, t, words);
    return !words;
}

/* `steps` steps, compared after the first three, after ten, and at the end; the learning rate changes as with a
 * schedule. */
static bool travel(mg_run *run, const update_case *c, int64_t rows, int64_t cols, int64_t steps)
{
    trip t = trip_new(run, c, rows, cols);
    bool good = true;
    for (int64_t done = 0, part; good && done < steps; done += part) {
        part = done < 3 ? 1 : done < 10 ? 7 : (steps - 10 + 1) / 2;
        part = mt_min(part, steps - done);
        good = advance(run, &t, part, 0);
        t.hyper.lr *= uniform(mg_rng(run), 0.8, 1.1);
        t.oracle->hyper = t.hyper;
    }
    trip_free(&t);
    return good;
}

/* ---- elements without a gradient ----------------------------------------------------------- */

/* Only element 0 ever gets a gradient; it is alone in its row, so Adafactor's means of the others stay at eps. */
static bool stand_still(mg_run *run, const update_case *c, int64_t rows, int64_t cols)
{
    trip t = trip_new(run, c, rows, cols);
    int64_t n = count_of(&t);
    float *start = floats(n);
    memcpy(start, t.param, (size_t)n * sizeof *start);
    bool good = advance(run, &t, 5, 0);
    const char *words = good ? mt_compare_bits("param without a gradient", t.param + 1, start + 1, n - 1) : NULL;
    if (words)
        complain(run, &t, words);
    free(start);
    trip_free(&t);
    return good && !words;
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* A size that 2, 3 and 5 do not divide: equal parts always leave a remainder. */
static int64_t odd_side(mt_rng *rng)
{
    static const int64_t primes[] = { 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251, 257 };
    return primes[mt_rng_below(rng, MT_COUNT(primes))];
}

/* The same three steps with each number of threads: all must give the bits of the first. */
static void any_threads(mg_run *run, const update_case *c)
{
    static const int threads[] = { 1, 2, 3, 5 };
    int64_t rows = odd_side(mg_rng(run)), cols = odd_side(mg_rng(run));
    const mt_rng start = *mg_rng(run);
    trip first = { 0 };
    bool good = true;
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        *mg_rng(run) = start;
        trip t = trip_new(run, c, rows, cols);
        good = advance(run, &t, 3, threads[i]);
        const char *words = NULL;
        for (int s = 0; i > 0 && good && !words && s < MT_UPDATE_STATES; s++)
            words = mt_compare_bits(state_name(&t, s), t.state[s], first.state[s], state_count(&t, s));
        if (i > 0 && good && !words)
            words = mt_compare_bits("param", t.param, first.param, count_of(&t));
        if (words)
            mg_fail(run, "%d threads: %s, which one thread gave", threads[i], words);
        good = good && !words;
        if (i == 0)
            first = t;
        else
            trip_free(&t);
    }
    trip t = trip_new(run, c, rows, cols);
    good = good && advance(run, &t, 1, SEARCHED);
    trip_free(&t);
    trip_free(&first);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bool every_size(mg_run *run, const update_case *c)
{
    static const int64_t sizes[][2] = {
        { 1, 1 }, { 1, 2 },  { 1, 31 }, { 1, 33 },  { 7, 5 },   { 1, 0 },    { 0, 3 },
        { 0, 0 }, { 1, 16 }, { 13, 1 }, { 31, 33 }, { 2, 257 }, { 1, 1021 }, { 67, 64 }
    };
    bool good = true;
    for (int i = 0; i < MT_COUNT(sizes) && good; i++)
        good = travel(run, c, sizes[i][0], sizes[i][1], 3);
    for (int i = 0; i < 4 && good; i++)
        good = travel(run, c, mg_pick_size(mg_rng(run), 1, 40), mg_pick_size(mg_rng(run), 1, 300), 3);
    return good;
}

static void resumed(mg_run *run, update_case c)
{
    mt_rng *rng = mg_rng(run);
    for (int i = 0; i < 4; i++)
        if (!travel(run, &c, mg_pick(rng, 2, 20), mg_pick(rng, 2, 40), 10))
            return;
    c.about = UP_LATE;
    if (!travel(run, &c, 3, 33, 10))
        return;
    c.about = UP_LAST;
    travel(run, &c, 3, 33, 3);
}

void mg_04_update(mg_run *run, const void *one_case)
{
    const update_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    switch (c->about) {
    case UP_SIZES:
        every_size(run, c);
        return;
    case UP_LONG:
        if (travel(run, c, 1, 31, 1000))
            travel(run, c, 7, 5, 1000);
        return;
    case UP_RESUMED:
        resumed(run, *c);
        return;
    case UP_ZEROS:
        if (stand_still(run, c, 3, 5))
            stand_still(run, c, 1, 33);
        return;
    case UP_THREADS:
        any_threads(run, c);
        return;
    case UP_VECTOR:
        for (int i = 0; i < 5 && travel(run, c, 1, mg_pick(rng, 2, 300), 10); i++)
            ;
        return;
    default:
        for (int i = 0; i < 5 && travel(run, c, mg_pick(rng, 2, 20), mg_pick(rng, 2, 40), 10); i++)
            ;
    }
}
