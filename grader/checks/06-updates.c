/* 06-updates.c -- how the checks of SGD, Adam and AdamW on the device run: some steps, the parameter and the averages
 * compared after each with the oracle of lab 04 (testing/update_oracle.h). Rows: 06-cuda.c. */
#include "checks/06-cuda.h"
#include "checks/fill.h"
#include "testing/update_oracle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct trip {
    mt_update_kind kind;
    mt_hyper hyper;
    int64_t n;
    float *param, *state[MT_UPDATE_STATES];
    mt_update_oracle *oracle;
} trip;

static double uniform(mt_rng *rng, double low, double high)
{
    return low + (high - low) * mt_rng_uniform(rng);
}

enum { EXTREME = 33 }; /* elements of the calls with a large rate and a small eps */

/* Each has an effect, and rounding errors are not amplified, as in lab 04. */
static mt_hyper draw_hyper(mt_rng *rng, mt_update_kind kind, cuda_about about, int64_t n)
{
    mt_hyper h = mt_hyper_default(kind);
    bool first = about == CU_FIRST, decay = about == CU_DECAY;
    h.lr = decay ? uniform(rng, 0.02, 0.05) : first ? uniform(rng, 0.0005, 0.002) : uniform(rng, 0.002, 0.005);
    h.beta1 = first ? 0.9 : uniform(rng, 0.6, 0.9);
    h.beta2 = first ? 0.999 : uniform(rng, 0.9, 0.98);
    h.eps = first ? 1e-8 : uniform(rng, 0.03, 0.08);
    h.weight_decay = first ? 0 : decay ? uniform(rng, 0.2, 0.6) : uniform(rng, 0.01, 0.02);
    if (n == EXTREME && (first || kind == MT_SGD))
        h.lr = 1.5, h.eps = 1e-10;
    return h;
}

/* beta NULL: drawn. */
static trip trip_new(mg_run *run, const cuda_case *c, int64_t n, const double *beta)
{
    mt_rng *rng = mg_rng(run);
    trip t = { .n = n,
               .kind = strstr(c->function, "sgd")     ? MT_SGD
                       : strstr(c->function, "adamw") ? MT_ADAMW
                                                      : MT_ADAM };
    float *all = calloc((size_t)n * 3 + 1, sizeof *all);
    MT_CHECK(all, "out of memory for a parameter");
    t.hyper = draw_hyper(rng, t.kind, c->about, n);
    if (beta)
        t.hyper.beta1 = beta[0], t.hyper.beta2 = beta[1];
    t.param = all;
    mg_fill(rng, t.param, n, (mg_dist)UNIFORM(-1, 1));
    for (int64_t i = 0; i < n && c->about == CU_FIRST; i += 3)
        t.param[i] = 0; /* after whose step a relative error of 1 / (1 - beta^t) in f32, 1.3e-5, is seen */
    t.oracle = mt_update_oracle_new(t.kind, t.hyper, 1, n, t.param);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        t.state[s] = all + (s + 1) * n;
        if (t.kind == MT_SGD || c->about == CU_FIRST)
            continue;
        mg_fill(rng, t.state[s], n, (mg_dist)UNIFORM(0.1, 0.5)); /* as after some steps */
        for (int64_t i = 0; i < n; i++)
            t.oracle->state[s][i] = mt_approx_exact(t.state[s][i]);
    }
    if (c->about != CU_FIRST)
        t.oracle->step = mt_rng_below(rng, 4) ? mg_pick(rng, 5, 40) : mg_pick(rng, 1000, 1000000);
    return t;
}

static void trip_free(trip *t)
{
    free(t->param);
    mt_update_oracle_free(t->oracle);
}

/* In the order in which calls_06.c takes them. */
static const float *describe(mg_run *run, const trip *t, const char *function)
{
    static const char *const state_name[] = { "m", "v" };
    static const char *const hyper_name[] = { "lr", "beta1", "beta2", "eps", "weight decay" };
    size_t bytes = (size_t)t->n * sizeof(float);
    mg_begin(run, function);
    memcpy(mg_inout(run, "param", MT_F32, MT_SHAPE(t->n)), t->param, bytes);
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        if (t->kind == MT_SGD)
            mg_null(run, state_name[s]);
        else
            memcpy(mg_inout(run, state_name[s], MT_F32, MT_SHAPE(t->n)), t->state[s], bytes);
    float *grad = mg_in(run, "grad", MT_F32, MT_SHAPE(t->n));
    mg_fill(mg_rng(run), grad, t->n, (mg_dist)UNIFORM(-3, 3));
    for (int64_t i = 5; i < t->n; i += 11) /* nothing; far from all others; too small for the square to matter */
        grad[i] *= i % 3 == 0 ? 0 : i % 3 == 1 ? 30 : 1e-8f;
    const double hyper[] = { t->hyper.lr, t->hyper.beta1, t->hyper.beta2, t->hyper.eps, t->hyper.weight_decay };
    for (int i = 0; i < MT_COUNT(hyper); i++)
        mg_f64(run, hyper_name[i], hyper[i]);
    mg_i64(run, "step", t->oracle->step + 1);
    mg_i64(run, "n", t->n);
    return grad;
}

static bool step(mg_run *run, trip *t, const char *function)
{
    size_t bytes = (size_t)t->n * sizeof(float);
    mt_update_oracle_step(t->oracle, describe(run, t, function));
    if (!mg_call(run))
        return false;
    memcpy(t->param, mg_result(run, "param"), bytes);
    for (int s = 0; s < MT_UPDATE_STATES && t->kind != MT_SGD; s++)
        memcpy(t->state[s], mg_result(run, s ? "v" : "m"), bytes);
    const char *words = mt_update_oracle_check(t->oracle, t->param, t->state);
    if (words)
        mg_fail(run, "%s", words);
    return !words;
}

static bool some_steps(mg_run *run, const cuda_case *c, int64_t n)
{
    trip t = trip_new(run, c, n, NULL);
    bool good = true, extreme = n == EXTREME && c->about != CU_DECAY;
    mg_hint(run, "%s", extreme ? "rate, eps and gradient count as they are given, large or small" : c->head.hint);
    for (int i = 0; good && i < (n >= MG_06_COUNTED ? 1 : 3); i++)
        good = step(run, &t, c->function);
    trip_free(&t);
    return good;
}

/* The same step with other betas: of another optimizer. */
static bool other_betas(mg_run *run, const cuda_case *c)
{
    static const double beta[][2] = { { 0.9, 0.98 }, { 0.9, 0.9 }, { 0.7, 0.9 } };
    bool good = true;
    for (int i = 0; i < MT_COUNT(beta) && good; i++) {
        trip t = trip_new(run, c, 33, beta[i]);
        t.oracle->step = 6;
        good = step(run, &t, c->function);
        trip_free(&t);
    }
    return good;
}

static void refuse_step_0(mg_run *run, const cuda_case *c)
{
    char name[64];
    snprintf(name, sizeof name, "may abort: %s", c->function);
    trip t = trip_new(run, c, 3, NULL);
    t.oracle->step = -1;
    describe(run, &t, name);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    mg_hint(run, "write or keep the MT_CHECK of u->step: the header says \"Aborts: t < 1\"");
    if (mg_call(run) && *(const int64_t *)mg_result(run, "aborted") != 1)
        mg_fail(run, "step 0 was accepted, but the first is 1");
    trip_free(&t);
}

void mg_06_update(mg_run *run, const void *one_case)
{
    const cuda_case *c = one_case;
    if (c->about != CU_COUNT) {
        if (mg_06_sizes(run, c, some_steps, c->about == CU_SIZES ? MG_06_MANY : 8191) &&
            (c->about == CU_FIRST || other_betas(run, c)) && strstr(c->function, "adam"))
            refuse_step_0(run, c);
    } else if (some_steps(run, c, MG_06_COUNTED))
        mg_device_credit(run, c->count, 28.0 * MG_06_COUNTED);
}
