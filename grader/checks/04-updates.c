/* 04-updates.c -- how the checks of the update rules run: a parameter is updated by many steps, and after some of
 * them the parameter and every state are compared with an oracle in double that also computes the tolerance
 * (testing/update_oracle.h). The oracle continues from its own values, so small errors of each step add up.
 * The steps: 04-trip.c. Rows: 04-optimizers.c. */
#include "checks/04-trip.h"
#include "checks/answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- elements without a gradient ----------------------------------------------------------- */

/* Only element 0 ever gets a gradient; it is alone in its row, so Adafactor's means of the others stay at eps. */
static bool stand_still(mg_run *run, const update_case *c, int64_t rows, int64_t cols)
{
    mg_trip t = mg_trip_new(run, c, rows, cols);
    int64_t n = mg_trip_count(&t);
    float *start = mt_calloc(n + 1, sizeof *start);
    memcpy(start, t.param, (size_t)n * sizeof *start);
    bool good = mg_trip_advance(run, &t, 5, 0);
    const char *words = good ? mt_compare_bits("param without a gradient", t.param + 1, start + 1, n - 1) : NULL;
    if (words)
        mg_trip_complain(run, &t, words);
    free(start);
    mg_trip_free(&t);
    return good && !words;
}

/* ---- what a step depends on ------------------------------------------------------------------- */

/* Step t again, with the hyper-parameters that t->hyper now has. */
static bool again(mg_run *run, mg_trip *t, int64_t before)
{
    t->oracle->hyper = t->hyper;
    t->oracle->step = before;
    return mg_trip_advance(run, t, 1, 0);
}

/* Step t again and again in one worker. Each call differs from the one before in one hyper-parameter: in a model whose
 * vectors do not decay, weight_decay is such a one. In the last two calls lr is 0, then momentum. */
static bool one_changes(mg_run *run, update_case c)
{
    c.about = UP_RESUMED;
    mg_trip t = mg_trip_new(run, &c, 7, 33);
    const int64_t before = t.oracle->step;
    mt_hyper *h = &t.hyper;
    double *const field[] = { &h->lr, &h->momentum, &h->beta1, &h->beta2, &h->eps, &h->weight_decay };
    static const char *const name[] = { "lr", "momentum", "beta1", "beta2", "eps", "weight_decay" };
    static const char *const at_0[] = { "param stays, and the states change as in any other step",
                                        "do not divide by it" };
    bool good = again(run, &t, before);
    for (int f = 0; f < MT_COUNT(field) && good; f++) {
        *field[f] /= 2;
        mg_part(run, "other hyper-parameters",
                "this call differs from the one before in %s alone: keep no constants from call to call", name[f]);
        good = again(run, &t, before);
    }
    for (int f = 0; f < MT_COUNT(at_0) && good; f++) {
        const double value = *field[f];
        *field[f] = 0;
        mg_part(run, "a hyper-parameter of 0", "%s may be 0: %s", name[f], at_0[f]);
        good = again(run, &t, before);
        *field[f] = value;
    }
    mg_trip_free(&t);
    return good;
}

/* The first step with decay factors of 0. In later steps, m + (1 - beta) (g - m) rounds more than g itself. */
static bool forgets_all(mg_run *run, const update_case *c)
{
    mg_trip t = mg_trip_new(run, c, 7, 33);
    t.hyper.beta1 = t.hyper.beta2 = 0;
    t.oracle->hyper = t.hyper;
    mg_part(run, "decay factors of 0",
            "beta1 and beta2 may be 0: an average is then its newest term, and is stored as always");
    bool good = mg_trip_advance(run, &t, 1, 0);
    mg_trip_free(&t);
    return good;
}

/* A gradient of NaN makes its parameter NaN, and no other; Muon's norm is NaN then, and so are all. Lion's sign and
 * Adafactor's maximum may lose it. */
static bool not_a_number(mg_run *run, const update_case *c)
{
    enum { N = 33 };
    char words[64] = "";
    if (c->kind == MT_LION || c->kind == MT_ADAFACTOR)
        return true;
    mg_part(run, "a NaN",
            "the formula holds for a gradient of NaN, too: a training that skips it does not show its error");
    mg_trip t = mg_trip_new(run, c, 1, N);
    int64_t at = mt_rng_below(mg_rng(run), N);
    mg_trip_describe(run, &t, 1)[at] = NAN;
    t.oracle->step++;
    bool good = mg_call(run);
    const float *p = good ? mg_result(run, "param") : NULL;
    for (int64_t i = 0; i < N && p && !words[0]; i++)
        if (isnan(p[i]) != (i == at || c->kind == MT_MUON))
            snprintf(words, sizeof words, "param[%d] is %g, grad[%d] is NaN", (int)i, (double)p[i], (int)at);
    if (words[0])
        mg_trip_complain(run, &t, words);
    mg_trip_free(&t);
    return good && !words[0];
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* A size that 2, 3 and 5 do not divide: equal parts always leave a remainder. */
static int64_t odd_side(mt_rng *rng)
{
    static const int64_t primes[] = { 191, 193, 197, 199, 211, 223, 227, 229, 233, 239, 241, 251, 257 };
    return primes[mt_rng_below(rng, MT_COUNT(primes))];
}

/* The same three steps with each number of threads: all must give the bits of the first. */
static bool same_bits(mg_run *run, const update_case *c, int64_t rows, int64_t cols)
{
    static const int threads[] = { 1, 2, 3, 5 };
    const mt_rng start = *mg_rng(run);
    mg_trip first = { 0 };
    bool good = true;
    mg_part(run, "equal bits with 1, 2, 3 and 5 threads", c->about == UP_THREADS ? NULL : THREADS_HINT);
    mg_place_arrays(run, MG_AT_END);
    for (int i = 0; i < MT_COUNT(threads) && good; i++) {
        *mg_rng(run) = start;
        mg_trip t = mg_trip_new(run, c, rows, cols);
        good = mg_trip_advance(run, &t, 3, threads[i]);
        const char *words = NULL;
        for (int s = 0; i > 0 && good && !words && s < MT_UPDATE_STATES; s++)
            words = mt_compare_bits(mg_trip_state_name(&t, s), t.state[s], first.state[s], mg_trip_state_count(&t, s));
        if (i > 0 && good && !words)
            words = mt_compare_bits("param", t.param, first.param, mg_trip_count(&t));
        if (words)
            mg_fail(run, "%d threads: %s, which one thread gave", threads[i], words);
        good = good && !words;
        if (i == 0)
            first = t;
        else
            mg_trip_free(&t);
    }
    mg_place_arrays(run, MG_ANYWHERE);
    mg_part(run, "data races", c->about == UP_THREADS ? NULL : THREADS_HINT);
    mg_trip t = mg_trip_new(run, c, rows, cols);
    good = good && mg_trip_advance(run, &t, 1, MG_SEARCHED);
    mg_trip_free(&t);
    mg_trip_free(&first);
    return good;
}

static void any_threads(mg_run *run, const update_case *c)
{
    int64_t rows = odd_side(mg_rng(run)), cols = odd_side(mg_rng(run));
    if (c->kind == MT_MUON) /* the oracle's products take time */
        rows = 67, cols = 83;
    if (same_bits(run, c, rows, cols) && mt_update_rules[c->kind].whole && /* threads may divide rows or columns */
        same_bits(run, c, 3, 20011))
        same_bits(run, c, 20011, 3);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bool every_size(mg_run *run, const update_case *c)
{
    static const char odd[] = "sizes that are no multiples of 16", none[] = "no elements";
    static const struct {
        const char *part;
        int64_t rows, cols; /* -1: any */
    } sizes[] = {
        { NULL, 32, 48 }, { NULL, 16, 64 }, { odd, 7, 5 },   { odd, 31, 33 },         { odd, 2, 257 },
        { odd, 1, 1021 }, { odd, 67, 64 },  { odd, 1, 2 },   { odd, 1, 31 },          { odd, 1, 33 },
        { odd, 13, 1 },   { odd, -1, -1 },  { odd, -1, -1 }, { odd, -1, -1 },         { odd, -1, -1 },
        { none, 1, 0 },   { none, 0, 3 },   { none, 0, 0 },  { "one element", 1, 1 },
    };
    update_case hinted = *c;
    bool good = true;
    hinted.about = UP_HINTED;
    for (int i = 0; i < MT_COUNT(sizes) && good; i++) {
        int64_t rows = sizes[i].rows < 0 ? mg_pick_size(mg_rng(run), 1, 40) : sizes[i].rows;
        mg_part(run, sizes[i].part, NULL);
        good = mg_travel(run, c, rows, sizes[i].cols < 0 ? mg_pick_size(mg_rng(run), 1, 300) : sizes[i].cols, 3);
    }
    if (!good)
        return false;
    mg_part(run, "other hyper-parameters", RESUMED_HINT); /* the first step twice, each time with others */
    if (!mg_travel(run, &hinted, 3, 7, 1) || !mg_travel(run, &hinted, 3, 7, 1) || !one_changes(run, hinted) ||
        !forgets_all(run, &hinted) || !not_a_number(run, c))
        return false;
    mg_part(run, "large arrays",
            "rows, cols and their product are int64_t and may be large: no array of a fixed size, no smaller type");
    return mg_travel(run, &hinted, 2, 70001, 1) && mg_travel(run, &hinted, 70001, 2, 1);
}

/* The rules that have no row about threads. */
static bool is_untested(mt_update_kind kind)
{
    return kind == MT_MOMENTUM || kind == MT_NESTEROV || kind == MT_RMSPROP || kind == MT_LION;
}

static bool late_steps(mg_run *run, update_case c)
{
    mg_part(run, "late steps", "u->step is an int64_t and may be large: use it as it is, in double");
    c.about = UP_LATE;
    if (!mg_travel(run, &c, 3, 33, 10))
        return false;
    c.about = UP_LAST;
    return mg_travel(run, &c, 3, 33, 3);
}

static void resumed(mg_run *run, const update_case *c)
{
    mt_rng *rng = mg_rng(run);
    for (int i = 0; i < 4; i++)
        if (!mg_travel(run, c, mg_pick(rng, 2, 20), mg_pick(rng, 2, 40), 10))
            return;
    late_steps(run, *c);
}

/* Steps below 1 must abort, of a parameter without elements, too. */
static bool refuse_step(mg_run *run, const update_case *c, int64_t step, int64_t cols)
{
    char name[64];
    update_case misuse = *c;
    mg_part(run, "steps below 1 must abort", NULL);
    snprintf(name, sizeof name, "may abort: %s", c->function);
    misuse.function = name;
    mg_trip t = mg_trip_new(run, &misuse, 1, cols);
    t.oracle->step = step - 1;
    mg_trip_describe(run, &t, 1);
    mg_out(run, "aborted", MT_I64, MT_SHAPE(1));
    bool good = mg_refused(run, step == 0 ? "step 0" : "step -1", "t < 1");
    mg_trip_free(&t);
    return good;
}

static void refuse_steps(mg_run *run, const update_case *c)
{
    if (refuse_step(run, c, 0, 3) && refuse_step(run, c, -1, 3))
        refuse_step(run, c, 0, 0);
}

/* Small gradients move a parameter as far as large ones do. */
static bool small_gradients(mg_run *run, update_case c)
{
    c.about = UP_SMALL;
    if (c.kind == MT_LION)
        mg_part(run, "small gradients",
                "the gradients are about 1e-30, and their sign is 1 or -1: only the sign of 0 is 0");
    else
        mg_part(run, "small gradients",
                "the gradients are about 1e-10: use eps as it is, without a least value of your own");
    return mg_travel(run, &c, 3, 33, 10);
}

static void many_steps(mg_run *run, const update_case *c)
{
    update_case plain = *c;
    plain.about = UP_PLAIN;
    bool good = mg_travel(run, c, 1, 31, 1000) && mg_travel(run, &plain, 7, 5, 1000);
    if (good && (c->kind == MT_ADAFACTOR || strstr(c->function, "multipass"))) /* which have no row "resumed" */
        good = late_steps(run, *c);
    if (good && c->kind == MT_ADAFACTOR) /* which has no row "first steps" */
        refuse_steps(run, c);
}

void mg_04_update(mg_run *run, const void *one_case)
{
    const update_case *c = one_case;
    mt_rng *rng = mg_rng(run);
    bool good = true, is_rmsprop_eps = c->kind == MT_RMSPROP && c->about == UP_EPS;
    switch (c->about) {
    case UP_SIZES:
        if (every_size(run, c) && is_untested(c->kind))
            any_threads(run, c);
        return;
    case UP_LONG:
        many_steps(run, c);
        return;
    case UP_RESUMED:
        resumed(run, c);
        return;
    case UP_ZEROS:
        if (stand_still(run, c, 3, 5))
            stand_still(run, c, 1, 33);
        return;
    case UP_THREADS:
        any_threads(run, c);
        return;
    case UP_VECTOR:
        for (int i = 0; i < 5 && mg_travel(run, c, 1, mg_pick(rng, 2, 300), 10); i++)
            ;
        return;
    default:
        for (int i = 0; i < 5 && good; i++)
            good = mg_travel(run, c, mg_pick(rng, 2, 20), mg_pick(rng, 2, 40), 10);
        if (good && c->about == UP_CLIPPED)
            good = mg_travel(run, c, 33, 1, 10) && mg_travel(run, c, 1, 33, 10);
        if (good && (c->about == UP_FIRST || is_rmsprop_eps)) /* RMSprop has no row "first steps" */
            good = small_gradients(run, *c);
        if (good && c->about == UP_FIRST && c->kind != MT_LION)
            refuse_steps(run, c);
    }
}
