/* 02-elements.c -- how the checks of activations and initialisation run (steps 02.3 to 02.5 and 02.8).
 * Rows: 02-backprop.c. */
#include "checks/02-backprop.h"
#include "checks/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 6 }; /* of each row, with fresh values and, where they are random, fresh sizes */

/* ---- activations ---------------------------------------------------------------------------- */

static const char *const act_name[] = { "relu", "sigmoid", "tanh", "gelu", "gelu_tanh" };

static void begin_act(mg_run *run, mg_act act, const char *rest)
{
    char function[64];
    snprintf(function, sizeof function, "mt_%s_%s", act_name[act], rest);
    mg_begin(run, function);
}

/* 0, 1, vector widths and their neighbours, and enough for several threads, last to search them for data races. */
static int64_t act_size(mg_run *run, int t)
{
    static const int64_t sizes[] = { 1, 0, 17, -1, 331, 40009, 40009 };
    return mg_size(run, sizes[t], 600);
}

/* In rows that have no row "in place" beside them, one call is in place; in all rows, one has far inputs. The cube of
 * 2^42 is still a float, as the slope of GELU by tanh needs it (kernels/kernels.h). */
enum { IN_PLACE = 3, FAR = 4 };

static bool act_in_place(const act_case *c, int t)
{
    return c->in_place || (t == IN_PLACE && c->act != MG_RELU && c->act != MG_GELU);
}

static mg_dist act_dist(const act_case *c, int t)
{
    bool cubed = c->act == MG_GELU || c->act == MG_GELU_TANH;
    return t != FAR ? c->dist : cubed ? (mg_dist)MIXED(-20, 40) : (mg_dist)MIXED(-20, 100);
}

/* The first inputs of that call are the same in every grade: tiny ones, the farthest, and some whose slope of the
 * sigmoid is 14 u or less; twenty, because rounding to the old dx hides one. The formulas of sigmoid and tanh include
 * infinity; GELU of NaN is NaN. */
static void set_far(const act_case *c, float *x, int64_t n, bool backward)
{
    bool cubed = backward && c->act == MG_GELU_TANH, limits = !backward && (c->act == MG_SIGMOID || c->act == MG_TANH);
    const float far = cubed ? 0x1p42f : limits ? INFINITY : 1e20f;
    const float first[] = { 1e-8f, -1e-8f, 1e-30f, -1e-30f, far, -far };
    for (int i = 0; i < MT_COUNT(first); i++)
        x[i] = first[i];
    for (int i = 0; i < 20; i++)
        x[MT_COUNT(first) + i] = 14 + 0.05f * (float)i;
    if (!backward && (c->act == MG_GELU || c->act == MG_GELU_TANH))
        x[300] = x[n - 1] = NAN; /* the last one is not in a whole vector */
}

static void act_hint(mg_run *run, const act_case *c, int t, bool in_place)
{
    const char *hint =
        t == FAR
            ? "inputs from 1e-30 to 2^40 and more: tiny results need their full relative precision; far out a float "
              "overflows to inf, and inf / inf, inf - inf and 0 * inf are NaN, and GELU of NaN is NaN"
            : c->head.hint;
    mg_hint(run, "%s%s", hint,
            in_place && !c->in_place ? "; this call is in place: read x[i] before writing out[i]" : "");
}

void mg_02_act_fwd(mg_run *run, const void *one_case)
{
    const act_case *c = one_case;
    for (int t = 0; t <= CALLS; t++) {
        int64_t n = act_size(run, t);
        bool in_place = act_in_place(c, t);
        mg_answer out;
        float *x;
        begin_act(run, c->act, in_place ? "fwd_cpu in place" : "fwd_cpu");
        act_hint(run, c, t, in_place);
        if (in_place) {
            out = mg_replaced(run, "x", MT_SHAPE(n), act_dist(c, t), &x);
        } else {
            out = mg_overwritten(run, "out", MT_SHAPE(n));
            x = mg_input(run, "x", MT_SHAPE(n), act_dist(c, t));
        }
        if (t == FAR)
            set_far(c, x, n, false);
        mg_i64(run, "n", n);
        double *exact = mg_lift(x, n);
        mg_oracle_act(c->act, out.v, out.e, exact, n);
        free(exact);
        if (t == CALLS ? !mg_shared_and_judge(run, &out, 1) : !mg_call_and_judge(run, &out, 1))
            return;
    }
    double half = 0.5, v, e;
    mg_oracle_act(c->act, &v, &e, &half, 1);
    mg_02_large(run, act_name[c->act], 0.5f, v, e);
}

/* Replace x by what backward reads: the output of forward for ReLU, sigmoid and tanh, as f32. */
static void save(const act_case *c, float *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        switch (c->act) {
        case MG_RELU:
            x[i] = c->use_x || x[i] > 0 ? x[i] : 0;
            break;
        case MG_SIGMOID:
            x[i] = (float)(1 / (1 + exp(-(double)x[i])));
            break;
        case MG_TANH:
            x[i] = (float)tanh((double)x[i]);
            break;
        default:
            break;
        }
}

void mg_02_act_bwd(mg_run *run, const void *one_case)
{
    const act_case *c = one_case;
    for (int t = 0; t <= CALLS; t++) {
        int64_t n = act_size(run, t);
        begin_act(run, c->act, "bwd_cpu");
        act_hint(run, c, t, false);
        mg_answer dx = mg_accumulated(run, "dx", MT_SHAPE(n), c->held);
        double *dout = mg_lift(mg_input(run, "dout", MT_SHAPE(n), (mg_dist)NORMAL(0, 1)), n);
        float *x = mg_input(run, "saved", MT_SHAPE(n), act_dist(c, t));
        if (t == FAR)
            set_far(c, x, n, true);
        save(c, x, n);
        mg_i64(run, "n", n);
        double *saved = mg_lift(x, n);
        mg_oracle_act_add(c->act, dx.v, dx.e, dout, saved, n);
        free(dout);
        free(saved);
        if (t == CALLS ? !mg_shared_and_judge(run, &dx, 1) : !mg_call_and_judge(run, &dx, 1))
            return;
    }
}

/* Of 7 neighbours one is NaN, with and without the sign bit, the next one `beside`, and the one after it 0. */
static void mix_nan(float *x, int64_t n, int64_t at, float beside)
{
    for (int64_t i = at; i < n; i += 7) {
        x[i] = i % 2 ? -NAN : NAN;
        if (i + 2 < n)
            x[i + 1] = beside, x[i + 2] = 0;
    }
}

/* NaN must stay NaN: max(x, 0) written as a comparison can turn it into 0. -inf is not multiplied by 0. */
static bool relu_fwd_nan(mg_run *run, int64_t n, int64_t at)
{
    mg_begin(run, "mt_relu_fwd_cpu");
    mg_out(run, "out", MT_F32, MT_SHAPE(n));
    float *x = mg_input(run, "x", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    mix_nan(x, n, at, -INFINITY);
    mg_i64(run, "n", n);
    if (!mg_call(run))
        return false;
    const float *out = mg_result(run, "out");
    for (int64_t i = 0; i < n; i++)
        if (isnan(x[i]) ? !isnan(out[i]) : !(out[i] == (x[i] > 0 ? x[i] : 0))) {
            mg_fail(run, "out[%lld] = %g   expected %g", (long long)i, (double)out[i],
                    isnan(x[i]) ? (double)NAN : fmax(x[i], 0));
            return false;
        }
    return true;
}

/* dx += dout, except where saved <= 0: also where either is NaN; and inf is not multiplied by 0. */
static bool relu_bwd_nan(mg_run *run, int64_t n, int64_t at)
{
    mg_begin(run, "mt_relu_bwd_cpu");
    float *dx = mg_inout(run, "dx", MT_F32, MT_SHAPE(n));
    mg_fill(mg_rng(run), dx, n, (mg_dist)NORMAL(0, 1));
    double *want = mg_lift(dx, n);
    float *dout = mg_input(run, "dout", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    float *saved = mg_input(run, "saved", MT_SHAPE(n), (mg_dist)NORMAL(0, 1));
    mix_nan(saved, n, at, -1);
    for (int64_t i = 0; i < n; i++) {
        dout[i] = saved[i] == -1 || saved[i] == 0 ? INFINITY : i % 7 == (at + 4) % 7 ? NAN : dout[i];
        want[i] = saved[i] <= 0 ? want[i] : (double)(float)(want[i] + dout[i]);
    }
    mg_i64(run, "n", n);
    bool good = mg_call(run) && mg_expect(run, "dx", want, NULL);
    free(want);
    return good;
}

/* Few elements, whole vectors and a rest, and enough for several threads. */
void mg_02_relu_nan(mg_run *run, const void *one_case)
{
    (void)one_case;
    const int64_t sizes[] = { mg_pick(mg_rng(run), 20, 60), 331, 40009 };
    for (int t = 0; t < MT_COUNT(sizes); t++) {
        int64_t at = mt_rng_below(mg_rng(run), 7);
        if (!relu_fwd_nan(run, sizes[t], at) || !relu_bwd_nan(run, sizes[t], at))
            return;
    }
}

/* ---- initialisation ------------------------------------------------------------------------- */

/* The fourth power of a normal number has mean 3 and variance 96, in units of its deviation: of 2n numbers within 6.2
 * sigma, 0.03 for n = 2,000,000. A sum of k uniform numbers has 3 - 6 / 5k, so 12 of them are 0.1 off. With few numbers
 * the mean is not normal. */
static bool expect_tails(mg_run *run, int64_t n, double stddev)
{
    const float *w = mg_result(run, "w"), *next = mg_result(run, "next");
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += pow(w[i] / stddev, 4) + pow(next[i] / stddev, 4);
    double mean = sum / (2 * (double)n);
    if (fabs(mean - 3) <= 6.2 * sqrt(96 / (2 * (double)n)))
        return true;
    mg_hint(run, "a sum of a few uniform numbers is not normal: far from 0 it is too rare");
    mg_fail(run, "%lld numbers: the mean of (w / %.4g)^4 is %.4g   expected 3", 2 * (long long)n, stddev, mean);
    return false;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Copies about one in 256 of the pairs w[i], w[i+1] to pair, and returns how many. A hash of the pair decides: equal
 * pairs are all copied, or none of them is. */
static int64_t select_pairs(uint64_t *pair, const float *w, int64_t n)
{
    int64_t selected = 0;
    for (int64_t i = 0; i + 1 < n; i++) {
        memcpy(&pair[selected], w + i, sizeof *pair);
        selected += pair[selected] * 0x9E3779B97F4A7C15 >> 56 == 0;
    }
    return selected;
}

/* No pair occurs twice, in w or in next. A pair has 48 random bits or more: of 4,000,000 pairs 15,600 are copied, and
 * two of these are equal by chance in one grade of 2,000,000. */
static bool expect_new(mg_run *run, int64_t n)
{
    uint64_t *pair = malloc((size_t)(2 * n) * sizeof *pair);
    MT_CHECK(pair, "out of memory for %lld pairs", 2 * (long long)n);
    int64_t count = select_pairs(pair, mg_result(run, "w"), n), i = 1;
    count += select_pairs(pair + count, mg_result(run, "next"), n);
    qsort(pair, (size_t)count, sizeof *pair, by_value);
    while (i < count && pair[i] != pair[i - 1])
        i++;
    free(pair);
    if (i >= count)
        return true;
    mg_hint(run, "each number is drawn once, and rng goes on with each: two calls have no number in common");
    mg_fail(run, "%lld numbers in two calls: a pair of neighbouring numbers occurs twice", 2 * (long long)n);
    return false;
}

/* w and next: successive calls with one generator; again: the same generator from the start. */
static bool expect_draws(mg_run *run, const init_case *c, int64_t n, double scale)
{
    const float *w = mg_result(run, "w"), *next = mg_result(run, "next");
    int64_t ranked = mt_min(n, 30000);
    double *sorted = mg_lift(w, ranked), sum = 0, product = 0, lag = 0, square = 0, next_square = 0;
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(w[i]) || !isfinite(next[i]) || (c->xavier && fabs(w[i]) > scale * (1 + 8 * MG_U))) {
            mg_fail(run, "w[%lld] = %g   expected within %g", (long long)i, (double)w[i], scale);
            free(sorted);
            return false;
        }
        sum += (double)w[i] + next[i];
        product += (double)w[i] * next[i];
        lag += i ? (double)w[i] * w[i - 1] : 0;
        square += (double)w[i] * w[i];
        next_square += (double)next[i] * next[i];
    }
    double distance = c->xavier ? mg_ks_uniform(sorted, ranked, scale) : mg_ks_normal(sorted, ranked, scale);
    double stddev = c->xavier ? scale / sqrt(3) : scale,
           ratio = (square + next_square) / (2 * (double)n * stddev * stddev);
    free(sorted);
    /* The mean of the squares of 2n normal numbers varies by sqrt(2 / 2n), of uniform ones less: 6.2 sigma. */
    if (distance > mg_ks_bound(ranked) || fabs(ratio - 1) > 6.2 / sqrt((double)n)) {
        if (ratio == 0)
            mg_hint(run, "every number is 0: in C the quotient of two integers is an integer, and 2 / 3 is 0");
        mg_fail(run,
                "%lld numbers: mean %.4g, root of the mean square %.4g   expected 0 and %.4g (distributions differ by "
                "%.3f, random samples by at most %.3f)",
                2 * (long long)n, sum / (2 * (double)n), sqrt(ratio) * stddev, stddev, distance, mg_ks_bound(ranked));
        return false;
    }
    if (fabs(product) > 6.2 * square / sqrt((double)n)) { /* a sum of n products of mean 0: 6.2 sigma, 6e-10 */
        mg_hint(run, "draw from rng itself, not from a copy: its counter advances with each number");
        mg_fail(run, "two successive calls with one generator gave correlated numbers");
        return false;
    }
    if (fabs(lag) > 6.2 * square / sqrt((double)n)) { /* the same */
        mg_fail(run, "numbers that follow each other are correlated: each must be drawn for itself");
        return false;
    }
    if (n > 1000000 && (!expect_new(run, n) || (!c->xavier && !expect_tails(run, n, scale))))
        return false;
    double *same = mg_lift(w, n);
    bool good = mg_expect(run, "again", same, NULL);
    free(same);
    return good;
}

/* One number and none: too few for a distribution, but not to be written past the end. */
static bool expect_few(mg_run *run, int64_t n)
{
    double *w = mg_lift(mg_result(run, "w"), n);
    bool good = (n == 0 || isfinite(w[0])) && mg_expect(run, "again", w, NULL);
    free(w);
    return good;
}

/* A fan below 1 must abort; number 0 is fan_in, 1 fan_out. */
static bool refuse_fan(mg_run *run, const init_case *c, int which, int64_t fan)
{
    mg_begin_refused(run, c->xavier ? "may abort: mt_init_xavier_cpu" : "may abort: mt_init_he_cpu");
    mg_out(run, "w", MT_F32, MT_SHAPE(2));
    mg_out(run, "next", MT_F32, MT_SHAPE(2));
    mg_out(run, "again", MT_F32, MT_SHAPE(2));
    mg_i64(run, "n", 2);
    mg_i64(run, "fan_in", which == 0 ? fan : 3);
    if (c->xavier)
        mg_i64(run, "fan_out", which == 1 ? fan : 3);
    mg_i64(run, "seed", 1);
    return mg_refused(run, "the call", c->xavier ? "a fan < 1" : "fan_in < 1");
}

enum { FIRST = 8 };

/* The first numbers, over their scale, are those of a call with another seed: all differ by more than roundings. */
static bool same_start(const float *w, double scale, const double *before)
{
    bool same = true;
    for (int i = 0; i < FIRST; i++)
        same = same && fabs(w[i] / scale - before[i]) < 1e-3;
    return same;
}

void mg_02_init(mg_run *run, const void *one_case)
{
    const init_case *c = one_case;
    double before[FIRST] = { 0 };
    for (int t = 0; t < 5; t++) {
        const int64_t counts[] = { mg_pick(mg_rng(run), 20000, 30000), 1 + 2 * mg_pick(mg_rng(run), 10000, 15000),
                                   2000000, 1, 0 };
        int64_t n = counts[t],
                in = t == 1   ? mg_pick(mg_rng(run), 40000, 90000)
                     : t == 2 ? 1
                              : mg_pick(mg_rng(run), 2, 900),
                out = mg_pick(mg_rng(run), 2, 900);
        mg_begin(run, c->xavier ? "mt_init_xavier_cpu" : "mt_init_he_cpu");
        mg_out(run, "w", MT_F32, MT_SHAPE(n));
        mg_out(run, "next", MT_F32, MT_SHAPE(n));
        mg_out(run, "again", MT_F32, MT_SHAPE(n));
        mg_i64(run, "n", n);
        mg_i64(run, "fan_in", in);
        if (c->xavier)
            mg_i64(run, "fan_out", out);
        mg_i64(run, "seed", (int64_t)(mt_rng_u64(mg_rng(run)) >> 1));
        double scale = c->xavier ? sqrt(6.0 / (double)(in + out)) : sqrt(2.0 / (double)in);
        if (!mg_call(run) || (n > 1 ? !expect_draws(run, c, n, scale) : !expect_few(run, n)))
            return;
        const float *w = mg_result(run, "w");
        if (t == 1 && same_start(w, scale, before))
            mg_fail(run, "two generators with other seeds gave the same numbers: draw from rng");
        for (int i = 0; i < FIRST && t == 0; i++)
            before[i] = w[i] / scale;
    }
    for (int which = 0; which <= c->xavier && refuse_fan(run, c, which, 0) && refuse_fan(run, c, which, -1); which++)
        ;
}
