/* 04-trip.c -- one parameter with its states on its way through many steps: random hyper-parameters and gradients, the
 * calls, and the comparison with the oracle. Rows: 04-updates.c. */
#include "checks/04-trip.h"
#include "checks/fill.h"
#include "optim/clip.h"
#include "rows/traffic.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the checker links no kernel ---------------------------------------------------------------- */

/* The file with the table of rules (optim/rules.c), which the oracle reads, names the kernels too: here each of them
 * aborts. */
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
NO_KERNEL(mt_muon_update_cpu)

double mt_clip_grad_norm_cpu(const mt_grad_array *arrays, int64_t count, double max_norm)
{
    (void)arrays, (void)count;
    MT_CHECK(false, "the checker has no mt_clip_grad_norm_cpu to call; max_norm is %g", max_norm);
    return 0;
}

/* ---- one parameter and its states ----------------------------------------------------------------- */

static float *floats(int64_t n)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    MT_CHECK(x, "out of memory for %" PRId64 " floats", n);
    return x;
}

int64_t mg_trip_count(const mg_trip *t)
{
    return t->rows * t->cols;
}

int64_t mg_trip_state_count(const mg_trip *t, int s)
{
    return mt_update_state_floats(t->c->kind, s, t->rows, t->cols);
}

const char *mg_trip_state_name(const mg_trip *t, int s)
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
    if (c->about == UP_PLAIN)
        h.weight_decay = 0;
    if (c->about == UP_EPS)
        h.eps = uniform(rng, 0.2, 0.5);
    if (c->about == UP_SMALL)
        h.eps = c->kind == MT_MUON ? 0 : 1e-14, h.weight_decay = 0;
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

mg_trip mg_trip_new(mg_run *run, const update_case *c, int64_t rows, int64_t cols)
{
    mt_rng *rng = mg_rng(run);
    mg_trip t = { .c = c, .hyper = draw_hyper(rng, c), .rows = rows, .cols = cols, .param = floats(rows * cols) };
    double size = c->about == UP_TINY ? uniform(rng, 1e-5, 5e-4) : 1;
    mg_fill(rng, t.param, rows * cols, (mg_dist)UNIFORM(-size, size));
    t.oracle = mt_update_oracle_new(c->kind, t.hyper, rows, cols, t.param);
    t.oracle->step = steps_before(rng, c->about);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        int64_t n = mg_trip_state_count(&t, s);
        t.state[s] = floats(n);
        if (t.oracle->step > 0) /* averages as gradients of this size give; none is negative */
            mg_fill(rng, t.state[s], n, (mg_dist)UNIFORM(0.1, 0.5));
        for (int64_t i = 0; i < n; i++)
            t.oracle->state[s][i] = mt_approx_exact(t.state[s][i]);
    }
    return t;
}

void mg_trip_free(mg_trip *t)
{
    free(t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(t->state[s]);
    mt_update_oracle_free(t->oracle);
}

/* ---- some steps in one call --------------------------------------------------------------------- */

/* Of 11 elements one never gets a gradient, and one, number IDLE of them, has none in about half of the steps. */
enum { IDLE = 9 };

/* Gradients for elements that share their step with all others of a large matrix stand in few columns: the more terms
 * a sum has that are not 0, the larger its tolerance. */
static bool is_left_out(const mg_trip *t, int64_t i)
{
    const int64_t at = t->rows < t->cols ? i % t->cols : i / t->cols;
    return t->c->kind == MT_MUON && mt_max(t->rows, t->cols) > 4096 && at % 997 != 0;
}

/* Gradients of very different sizes. */
static void fill_grads(mt_rng *rng, const mg_trip *t, float *grads, int64_t steps)
{
    int64_t n = mg_trip_count(t);
    for (int64_t s = 0; s < steps; s++, grads += n) {
        double size = t->c->about == UP_CLIPPED                        ? exp2(uniform(rng, -6, 6))
                      : t->c->about != UP_SMALL                        ? 1
                      : t->c->kind == MT_LION || t->c->kind == MT_MUON ? 1e-30
                                                                       : 1e-10;
        mg_fill(rng, grads, n, (mg_dist)UNIFORM(-size, size));
        for (int64_t i = 0; i < n; i++) {
            if (i % 7 == 3)
                grads[i] *= 1e-4f;
            if (i % 11 == 5 || t->c->about == UP_ZEROS || is_left_out(t, i) || (i % 11 == IDLE && mt_rng_below(rng, 2)))
                grads[i] = 0;
        }
        if (t->c->about == UP_ZEROS && n && (t->c->kind != MT_MUON || t->rows > 1))
            grads[0] = (float)size; /* the only one that changes; Muon's matrix of one row has a norm of 0 */
    }
}

float *mg_trip_describe(mg_run *run, const mg_trip *t, int64_t steps)
{
    mt_shape shape = MT_SHAPE(t->rows, t->cols);
    mg_begin(run, t->c->function);
    memcpy(mg_inout(run, "param", MT_F32, shape), t->param, (size_t)mg_trip_count(t) * sizeof *t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        int64_t n = mg_trip_state_count(t, s);
        if (mt_update_rules[t->c->kind].state_size[s] == MT_STATE_NONE)
            mg_null(run, s ? "state[1]" : "state[0]");
        else
            memcpy(mg_inout(run, mg_trip_state_name(t, s), MT_F32, n == mg_trip_count(t) ? shape : MT_SHAPE(n)),
                   t->state[s], (size_t)n * sizeof *t->state[s]);
    }
    if (strstr(t->c->function, "multipass") || t->c->kind == MT_MUON)
        mg_out(run, "scratch", MT_F32, MT_SHAPE(t->c->kind == MT_MUON ? 4 : 2, t->rows, t->cols));
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

static void take_results(mg_run *run, mg_trip *t)
{
    memcpy(t->param, mg_result(run, "param"), (size_t)mg_trip_count(t) * sizeof *t->param);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        if (mt_update_rules[t->c->kind].state_size[s] != MT_STATE_NONE)
            memcpy(t->state[s], mg_result(run, mg_trip_state_name(t, s)),
                   (size_t)mg_trip_state_count(t, s) * sizeof *t->state[s]);
}

void mg_trip_complain(mg_run *run, const mg_trip *t, const char *words)
{
    const mt_hyper *h = &t->hyper;
    mg_fail(run,
            "after step %" PRId64 " of [%" PRId64 ",%" PRId64
            "]: %s   (lr %.4g, momentum %.3g, beta1 %.3g, beta2 %.4g, eps %.3g, weight_decay %.3g)",
            t->oracle->step, t->rows, t->cols, words, h->lr, h->momentum, h->beta1, h->beta2, h->eps, h->weight_decay);
}

/* What a rule with averages does wrong at the first size that fails: the averages, or with right ones the step. */
static void recognise_sizes(mg_run *run, const mg_trip *t, const char *words)
{
    const bool step = strncmp(words, "param", 5) == 0, adam = t->c->kind == MT_ADAM || t->c->kind == MT_ADAMW;
    if (t->c->kind == MT_ADAFACTOR && mg_trip_count(t) == 0)
        mg_hint(run, "without elements there is nothing to average: the states stay as they are");
    else if (t->c->kind == MT_ADAFACTOR && step)
        mg_hint(run, "the means are right; the step is lr max(0.001, rms(p)) u / max(1, rms(u)), plus lr decay p");
    else if (t->c->kind == MT_MUON && !step)
        mg_hint(run, "b becomes momentum * b + g, where g contains no decay");
    else if (t->c->kind == MT_MUON && t->rows > t->cols)
        mg_hint(run,
                "b is right, the step is not, and the matrix has more rows than columns: X is transposed, and what "
                "five iterations make of it goes back to where it belongs");
    else if (t->c->kind == MT_MUON)
        mg_hint(run,
                "b is right, the step is not: d = g + momentum b with the new b, X = d / (|d| + eps), then five times "
                "X = 3.4445 X + (-4.775 S + 2.0315 S S) X with a new S = X X^T, then p");
    else if (t->c->kind == MT_RMSPROP && step)
        mg_hint(run, "the average is right, the step is not: it is lr g / (sqrt(v) + eps), where eps is added to the "
                     "root, not to v under it");
    else if (t->c->kind == MT_LION && !step)
        mg_hint(run, "m becomes beta2 * m + (1 - beta2) * g, without decay, and after p was updated with the old m");
    else if (adam && step)
        mg_hint(run,
                "the averages are right, the step is not: it takes the m and v of this step, each divided by 1 - "
                "beta^t with a beta of its own and t = u->step; eps is added to the root, not to v_hat under it%s",
                t->c->kind == MT_ADAM ? "" : "; and lr * decay * p is subtracted, too");
    else if (adam)
        mg_hint(run,
                "m is the average of g, v that of g^2, %s decay * p in g; both are stored without their correction, "
                "and 1 - beta is computed in double",
                t->c->kind == MT_ADAM ? "with" : "without");
}

/* The first wrong element is one that has no gradient in some steps; or what a size tells. */
static void recognise(mg_run *run, const mg_trip *t, const char *words)
{
    int i = -1;
    if (!mt_update_rules[t->c->kind].whole && sscanf(words, "%*[^[][%d]", &i) == 1 && i < 99 && i % 11 == IDLE)
        mg_hint(run,
                "element %d has a gradient of 0 in some steps: in these steps, too, its averages decay and it moves",
                i);
    else if (t->c->about == UP_SIZES)
        recognise_sizes(run, t, words);
}

bool mg_trip_advance(mg_run *run, mg_trip *t, int64_t steps, int threads)
{
    const float *grads = mg_trip_describe(run, t, steps);
    for (int64_t s = 0; s < steps; s++)
        mt_update_oracle_step(t->oracle, grads + s * mg_trip_count(t));
    if (threads > 0)
        mg_threads(run, threads);
    if (!(threads == MG_SEARCHED ? mg_shared_call(run) : mg_call(run)))
        return false;
    take_results(run, t);
    const char *words = mt_update_oracle_check(t->oracle, t->param, t->state);
    if (words) {
        recognise(run, t, words);
        mg_trip_complain(run, t, words);
    }
    return !words;
}

bool mg_travel(mg_run *run, const update_case *c, int64_t rows, int64_t cols, int64_t steps)
{
    mg_trip t = mg_trip_new(run, c, rows, cols);
    bool good = true;
    for (int64_t done = 0, part; good && done < steps; done += part) {
        part = done < 3 ? 1 : done < 10 ? 7 : (steps - 10 + 1) / 2;
        part = mt_min(part, steps - done);
        good = mg_trip_advance(run, &t, part, 0);
        t.hyper.lr *= uniform(mg_rng(run), 0.8, 1.1);
        t.oracle->hyper = t.hyper;
    }
    mg_trip_free(&t);
    return good;
}
