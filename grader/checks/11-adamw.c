/* 11-adamw.c -- how the checks of AdamW for all tensors in one launch run (step 11.9). Rows: 11-fusion.c. The tensors
 * lie in one array with gaps of other numbers, which must stay; values: the oracle of lab 04 for each tensor. */
#include "checks/06-cuda.h"
#include "checks/11-fusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TENSORS = 1100 };

/* The tensors of a call, and what is right after it: the parameter, m and v. */
typedef struct call {
    int64_t count, room, begin[TENSORS], n[TENSORS], step[TENSORS]; /* step 0: no gradient */
    float lr[TENSORS], decay[TENSORS];
    mt_hyper hyper; /* betas and eps */
    float *before[3];
    double *want[3], *error[3];
} call;

static const char *const array_name[] = { "param", "m", "v" };

/* ---- the tensors ------------------------------------------------------------------------------------ */

/* Every second tensor begins at a multiple of four: there float4 are possible, if all arrays are aligned. */
static int64_t begin_of(mg_run *run, const call *c, int64_t k, adamw_about about)
{
    if (about == MG_BLOCK) /* counted: each at a sector's begin */
        return c->room;
    return k % 2 ? c->room + mg_pick(mg_rng(run), 1, 3) : (c->room + 4) / 4 * 4;
}

static void set_lengths(mg_run *run, call *c, adamw_about about)
{
    static const int64_t awkward[] = { 33, 0, 1, 31, 4096, 0, 4099, 97, 4095, 8192, 0, 8209, 1023, 2, 0 };
    static const int64_t block[] = { 64, 64, 12288, 192, 4096, 64, 64, 64, 16384, 256, 16384, 64 };
    mt_rng *rng = mg_rng(run);
    c->count = about == MG_MANY        ? 148
               : about == MG_TINY      ? TENSORS
               : about == MG_BLOCK     ? MT_COUNT(block)
               : about == MG_ONE_LARGE ? 8
               : about == MG_LENGTHS   ? MT_COUNT(awkward)
                                       : 12;
    for (int64_t k = 0; k < c->count; k++)
        c->n[k] = about == MG_BLOCK       ? block[k]
                  : about == MG_LENGTHS   ? awkward[k]
                  : about == MG_ONE_LARGE ? k == 3 ? 65536 : 33
                  : about == MG_NOTHING   ? k % 2 * 33
                  : about == MG_TINY      ? mg_pick(rng, 0, 3)
                                          : mg_pick(rng, 0, 150);
    for (int64_t k = 0; k < c->count; k++) {
        c->begin[k] = begin_of(run, c, k, about);
        c->room = c->begin[k] + c->n[k];
    }
    c->room += about == MG_BLOCK ? 0 : 3;
}

static double uniform(mt_rng *rng, double low, double high)
{
    return (float)(low + (high - low) * mt_rng_uniform(rng));
}

static void set_rates(mg_run *run, call *c, adamw_about about)
{
    mt_rng *rng = mg_rng(run);
    bool first = about == MG_STEPS;
    c->hyper = (mt_hyper){ .beta1 = first ? 0.9 : uniform(rng, 0.6, 0.9),
                           .beta2 = first ? 0.999 : uniform(rng, 0.9, 0.98),
                           .eps = first ? 1e-8f : uniform(rng, 0.03, 0.08) };
    float lr = (float)uniform(rng, 0.002, 0.005), decay = (float)uniform(rng, 0.1, 0.3);
    int64_t step = mg_pick(rng, 5, 40);
    for (int64_t k = 0; k < c->count; k++) {
        c->lr[k] = about == MG_RATES ? (float)uniform(rng, 0.01, 0.05) : lr;
        c->decay[k] = about == MG_RATES ? (float)(k % 3 ? uniform(rng, 0.2, 0.6) : 0) : decay;
        c->step[k] = !first ? step : k % 2 ? mg_pick(rng, 1, 9) : 1;
        if ((about == MG_MISSING && k % 3 == 1) || (about == MG_NOTHING && k % 2 == 1))
            c->step[k] = 0;
    }
}

/* ---- the call --------------------------------------------------------------------------------------- */

/* In the order in which calls_11.c takes them. Returns the gradients. */
static float *describe(mg_run *run, call *c)
{
    mt_rng *rng = mg_rng(run);
    mg_begin(run, "mt_adamw_multi_update_cuda");
    for (int i = 0; i < 3; i++) {
        c->before[i] = mg_inout(run, array_name[i], MT_F32, MT_SHAPE(c->room));
        mg_fill(rng, c->before[i], c->room, i ? (mg_dist)UNIFORM(0.1, 0.5) : (mg_dist)UNIFORM(-1, 1));
        for (int64_t k = 0; i && k < c->count; k++)
            if (c->step[k] == 1) /* then 1 - beta is not hidden behind beta times what was there */
                memset(c->before[i] + c->begin[k], 0, (size_t)c->n[k] * sizeof(float));
    }
    float *grad = mg_in(run, "grad", MT_F32, MT_SHAPE(c->room));
    mg_fill(rng, grad, c->room, (mg_dist)UNIFORM(-3, 3));
    for (int64_t i = 5; i < c->room; i += 11)
        grad[i] *= 30;
    size_t whole = (size_t)c->count * sizeof(int64_t), number = (size_t)c->count * sizeof(float);
    memcpy(mg_in(run, "begin of each tensor", MT_I64, MT_SHAPE(c->count)), c->begin, whole);
    memcpy(mg_in(run, "elements of each", MT_I64, MT_SHAPE(c->count)), c->n, whole);
    memcpy(mg_in(run, "step of each", MT_I64, MT_SHAPE(c->count)), c->step, whole);
    memcpy(mg_in(run, "lr of each", MT_F32, MT_SHAPE(c->count)), c->lr, number);
    memcpy(mg_in(run, "weight decay of each", MT_F32, MT_SHAPE(c->count)), c->decay, number);
    mg_i64(run, "tensors", c->count);
    mg_f64(run, "beta1", c->hyper.beta1);
    mg_f64(run, "beta2", c->hyper.beta2);
    mg_f64(run, "eps", c->hyper.eps);
    return grad;
}

static void expect_tensor(call *c, int64_t k, const float *grad)
{
    const int64_t at = c->begin[k];
    mt_hyper h = c->hyper;
    h.lr = c->lr[k], h.weight_decay = c->decay[k];
    const float *const before[3] = { c->before[0] + at, c->before[1] + at, c->before[2] + at };
    double *const v[3] = { c->want[0] + at, c->want[1] + at, c->want[2] + at };
    double *const e[3] = { c->error[0] + at, c->error[1] + at, c->error[2] + at };
    mg_06_expect_update(MT_ADAMW, h, c->step[k], c->n[k], before, grad + at, v, e);
}

/* Both averages are right, and most parameters are wrong: every chunk was visited. */
static void recognise_formula(mg_run *run, const call *c)
{
    int64_t wrong[3] = { 0 };
    for (int a = 0; a < 3; a++)
        for (int64_t i = 0; i < c->room; i++)
            wrong[a] += mg_wrong(run, array_name[a], i, c->want[a][i], c->error[a][i]);
    if (wrong[1] == 0 && wrong[2] == 0 && wrong[0] > c->room / 2)
        mg_hint(run, "m and v are right, the step is not: lr (m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps) + "
                     "decay p), with the factors of this tensor");
}

static bool call_and_judge(mg_run *run, call *c, const float *grad)
{
    for (int a = 0; a < 3; a++) {
        c->want[a] = calloc((size_t)c->room + 1, sizeof(double));
        c->error[a] = calloc((size_t)c->room + 1, sizeof(double));
        MT_CHECK(c->want[a] && c->error[a], "out of memory");
        for (int64_t i = 0; i < c->room; i++)
            c->want[a][i] = c->before[a][i]; /* of what is not updated */
    }
    for (int64_t k = 0; k < c->count; k++)
        if (c->step[k])
            expect_tensor(c, k, grad);
    bool good = mg_call(run);
    if (good)
        recognise_formula(run, c);
    for (int a = 0; a < 3; a++) {
        good = good && mg_expect(run, array_name[a], c->want[a], c->error[a]);
        free(c->want[a]);
        free(c->error[a]);
    }
    return good;
}

/* One call; the number of its elements, or -1 when the run has its verdict. */
static double once(mg_run *run, adamw_about about, const double given[3])
{
    call c = { 0 };
    double elements = 0;
    set_lengths(run, &c, about);
    set_rates(run, &c, about);
    if (given) {
        c.hyper.beta1 = given[0], c.hyper.beta2 = given[1];
        for (int64_t k = 0; k < c.count; k++)
            c.step[k] = (int64_t)given[2];
    }
    if (!call_and_judge(run, &c, describe(run, &c)))
        return -1;
    int64_t launches = mg_device_counts(run)->launches, most = about != MG_NOTHING;
    if (launches != most)
        mg_fail(run, "%lld launches of kernels: %s", (long long)launches,
                most ? "all tensors are one" : "there was nothing to update");
    for (int64_t k = 0; k < c.count; k++)
        elements += (double)c.n[k];
    return launches == most ? elements : -1;
}

/* The list of a tensor without gradient and another. */
static bool written(mg_run *run)
{
    mg_begin(run, "list of two tensors, one without gradient");
    mg_out(run, "bytes", MT_I64, MT_SHAPE(1));
    mg_hint(run, "the header says \"segment, factors [count] overwritten\": also of a tensor without gradient");
    if (!mg_call(run))
        return false;
    int64_t bytes = *(const int64_t *)mg_result(run, "bytes");
    if (bytes)
        mg_fail(run, "%lld bytes of segment and factors are not written", (long long)bytes);
    return bytes == 0;
}

/* What one call does not show: arrays of which one is not aligned, a list of more tensors than GPT-2's, other betas at
 * the same step, and a step whose lower 8 or 16 bits are the number 10. */
static const struct {
    adamw_about row, about;
    const char *part;
    double given[3]; /* betas and step; 0: drawn */
} more[] = {
    { MG_MANY, MG_TINY, "tensors of 0 to 3 elements", { 0 } },
    { MG_STEPS, MG_MISSING, "other betas at the same step", { 0.9, 0.98, 7 } },
    { MG_STEPS, MG_MISSING, "other betas at the same step", { 0.9, 0.9, 7 } },
    { MG_STEPS, MG_MISSING, "other betas at the same step", { 0.7, 0.9, 7 } },
    { MG_STEPS, MG_MISSING, "a step of more than 16 bits", { 0.9375, 0.96875, 65546 } },
};

static bool more_calls(mg_run *run, adamw_about about)
{
    bool good = true;
    for (int i = 0; i < MT_COUNT(more) && good; i++) {
        mg_part(run, more[i].part, NULL);
        good = more[i].row != about || once(run, more[i].about, more[i].given[0] ? more[i].given : NULL) >= 0;
    }
    mg_part(run, "a step below 1 must abort", "keep the check: the header says \"Aborts: t < 1\"");
    for (int64_t step = 0; step >= -1 && about == MG_STEPS && good; step--) {
        mg_begin_refused(run, "may abort: list of AdamW on the device");
        mg_i64(run, "step", step);
        good = mg_refused(run, "the step", "t < 1");
    }
    mg_part(run, "a list with a tensor without gradient", NULL);
    if (about == MG_MISSING && good)
        good = written(run);
    mg_part(run, "one array that is not aligned", NULL);
    for (int k = 0; k < 8 && about == MG_LENGTHS && good; k++) { /* param, m, v and grad */
        mg_unaligned_one(run, k);
        good = once(run, about, NULL) >= 0;
    }
    mg_part(run, NULL, NULL);
    return good;
}

void mg_11_adamw(mg_run *run, const void *one_case)
{
    adamw_about about = ((const adamw_case *)one_case)->about;
    double elements = once(run, about, NULL);
    if (elements < 0 || !more_calls(run, about))
        return;
    if (about == MG_BLOCK)
        mg_device_credit(run, MG_TRAFFIC, 28 * elements);
    if (about != MG_ONE_LARGE)
        return;
    static const char bar[] = "11.9 adamw of all tensors: elements of a block";
    double share = (double)mg_device_counts(run)->busiest / 28; /* not of all blocks: some may do nothing */
    mg_note(run, "%.0f elements (bar %.0f .. %.0f)  counted, no GPU", share, mg_bar(run, bar, "low"),
            mg_bar(run, bar, "full"));
    mg_credit(run, bar, share);
}
