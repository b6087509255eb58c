/* 02-mlp.c -- how the checks of step 02.9 run: the perceptron's logits, gradient and update, and a training on digits.
 * Rows: 02-backprop.c.
 *
 * The worker gets training images only and returns weights. The checker evaluates them on images that the worker never
 * had (digits.h); hidden sizes are random. */
#include "checks/02-backprop.h"
#include "checks/digits.h"
#include "checks/oracle_mlp.h"
#include "rows/run.h"
#include "rows/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One pass over a third of the images: a perceptron of which one layer stands still is farther behind than after eight
 * passes over all, in a twentieth of the time. */
enum { L = MG_MLP_LAYERS, BATCH = 64, TRAIN = 20000, ASKED = 5000 };

static float *input(mg_run *run, const char *name, mt_shape shape, double stddev)
{
    float *x = mg_in(run, name, MT_F32, shape);
    mg_fill(mg_rng(run), x, mt_shape_numel(shape), (mg_dist)NORMAL(0, stddev));
    return x;
}

static void send_widths(mg_run *run, const int64_t width[L + 1])
{
    mg_i64(run, "width0", width[0]);
    mg_i64(run, "width1", width[1]);
    mg_i64(run, "width2", width[2]);
    mg_i64(run, "width3", width[3]);
}

/* ---- forward and backward -------------------------------------------------------------------- */

/* One network and batch: what was sent, and memory for the expected results. */
typedef struct trial {
    int64_t width[L + 1], count, N, classes;
    double *params, *x, *v, *e, *gv, *ge, loss[2];
    const int32_t *label;
    bool searched; /* for data races */
} trial;

/* Zeros end the widths; the others are drawn, or `given`. */
static trial trial_new(mg_run *run, int layers, int64_t N, const int64_t *given)
{
    trial t = { .N = N };
    for (int l = 0; l <= layers; l++)
        t.width[l] = given ? given[l] : mg_pick(mg_rng(run), 2, 40);
    t.classes = t.width[layers];
    t.count = mg_mlp_count(t.width);
    t.v = mg_doubles(t.N * t.classes);
    t.e = mg_doubles(t.N * t.classes);
    t.gv = mg_doubles(t.count);
    t.ge = mg_doubles(t.count);
    return t;
}

/* Two calls each for three layers, two and one. */
typedef bool trial_fn(mg_run *run, trial t);

static bool any_layers(mg_run *run, trial_fn *call)
{
    static const char *const part[] = { NULL, "one layer", "two layers", "three layers" };
    for (int i = 2 * L; i > 0; i--) {
        int layers = (i + 1) / 2;
        mg_part(run, part[layers], NULL);
        if (!call(run, trial_new(run, layers, mg_pick(mg_rng(run), 1, 40), NULL)))
            return false;
    }
    return true;
}

/* The inputs common to forward and backward; weights that keep the activations near 1. */
static void trial_inputs(mg_run *run, trial *t, bool labelled)
{
    t->params = mg_lift(input(run, "params", MT_SHAPE(t->count), 0.3), t->count);
    t->x = mg_lift(input(run, "x", MT_SHAPE(t->N, t->width[0]), 1), t->N * t->width[0]);
    if (labelled) {
        int32_t *label = mg_in(run, "label", MT_I32, MT_SHAPE(t->N));
        mg_fill_labels(mg_rng(run), label, t->N, t->classes);
        t->label = label;
    }
    mg_i64(run, "N", t->N);
    send_widths(run, t->width);
    if (t->N > 0) /* else loss and gradient are 0 */
        mg_oracle_mlp(t->v, t->e, t->loss, t->gv, t->ge, t->params, t->width, t->x, t->label, t->N);
}

static void trial_free(trial *t)
{
    free(t->params);
    free(t->x);
    free(t->v);
    free(t->e);
    free(t->gv);
    free(t->ge);
}

static bool forward(mg_run *run, trial t)
{
    mg_begin(run, "mt_manual_mlp_forward");
    mg_out(run, "logits", MT_F32, MT_SHAPE(t.N, t.classes));
    trial_inputs(run, &t, false);
    bool good = mg_call(run) && mg_expect(run, "logits", t.v, t.e);
    trial_free(&t);
    return good;
}

void mg_02_mlp_forward(mg_run *run, const void *one_case)
{
    const int64_t width[L + 1] = { 3, 4, 5, 2 };
    (void)one_case;
    if (!any_layers(run, forward))
        return;
    mg_part(run, "more rows than max_batch must abort", NULL);
    mg_begin_refused(run, "may abort: mt_manual_mlp_forward of too many rows");
    input(run, "x", MT_SHAPE(3, width[0]), 1);
    mg_i64(run, "N", 3);
    send_widths(run, width);
    mg_refused(run, "the call", "N > max_batch");
}

/* Whether one of `count` gradients from `at` on is wrong. */
static bool any_wrong(mg_run *run, const trial *t, int64_t at, int64_t count)
{
    for (int64_t i = at; i < at + count; i++)
        if (mg_wrong(run, "grads", i, t->gv[i], t->ge[i]))
            return true;
    return false;
}

static bool all_zero(mg_run *run, int64_t at, int64_t count)
{
    const float *grads = mg_result(run, "grads");
    for (int64_t i = at; i < at + count; i++)
        if (grads[i] != 0)
            return false;
    return true;
}

/* Layers from last to first: the first wrong array shows which line is wrong, since all others follow from it. */
static void recognise(mg_run *run, const trial *t)
{
    int64_t end = t->count;
    for (int l = L - 1; l >= 0; l--) {
        if (!t->width[l + 1])
            continue;
        int64_t inputs = t->width[l], outputs = t->width[l + 1];
        bool last = l == L - 1 || !t->width[l + 2], db = any_wrong(run, t, end - outputs, outputs);
        end -= (inputs + 1) * outputs;
        if (db && last && all_zero(run, end + inputs * outputs, outputs))
            mg_hint(run, "db[%d] of the last layer is 0: is it passed to mt_linear_bwd_cpu?", l);
        else if (db && last)
            mg_hint(run,
                    "db[%d] of the last layer is wrong: look at dz[%d], which mt_cross_entropy_bwd_cpu adds to, and "
                    "at dloss, which is 1/N for each row",
                    l, l);
        else if (db)
            mg_hint(run,
                    "layer %d is right and db[%d] is wrong: look at dz[%d] [N,width[%d]], which mt_relu_bwd_cpu "
                    "makes from dact[%d] and act[%d]; and does the loop reach layer %d?",
                    l + 1, l, l, l + 1, l, l, l);
        else if (any_wrong(run, t, end, inputs * outputs))
            mg_hint(run,
                    "db[%d] is right and dw[%d] is wrong: look at the input of layer %d, which is act[%d - 1], or x "
                    "if it is layer 0",
                    l, l, l, l);
        else
            continue;
        return;
    }
}

/* The loss is wrong. */
static void recognise_loss(mg_run *run, const trial *t)
{
    double N = (double)t->N;
    if (!t->N)
        mg_hint(run, "the mean of no rows is 0 here, and 0 / 0 is NaN: divide each row's loss by N, or return early");
    else if (!mg_wrong(run, "loss", 0, N * t->loss[0], N * t->loss[1]))
        mg_hint(run, "this is the sum of the rows' losses, but the function returns their mean");
    else
        mg_hint(run, "the loss is computed from the logits of forward: if `perceptron forward` fails too, mend that "
                     "first; else look at what mt_cross_entropy_fwd_cpu gets, and at how the rows' losses become their "
                     "mean");
}

/* A second backward after the same forward, and the logits of that. */
static bool expect_unchanged(mg_run *run, const trial *t)
{
    mg_hint(run, "the logits in act[layers - 1] stay until the next forward: backward writes the softmax into probs");
    return mg_expect(run, "loss of a second backward", &t->loss[0], &t->loss[1]) &&
           mg_expect(run, "logits after both", t->v, t->e);
}

static bool backward(mg_run *run, trial t)
{
    mg_begin(run, "mt_manual_mlp_backward");
    mg_out(run, "loss", MT_F32, MT_SCALAR);
    mg_out(run, "grads", MT_F32, MT_SHAPE(t.count));
    mg_out(run, "loss of a second backward", MT_F32, MT_SCALAR);
    mg_out(run, "logits after both", MT_F32, MT_SHAPE(t.N, t.classes));
    trial_inputs(run, &t, true);
    bool good = mg_call(run);
    if (good && mg_wrong(run, "loss", 0, t.loss[0], t.loss[1]))
        recognise_loss(run, &t);
    good = good && mg_expect(run, "loss", &t.loss[0], &t.loss[1]);
    if (good)
        recognise(run, &t);
    good = good && mg_expect(run, "grads", t.gv, t.ge) && expect_unchanged(run, &t);
    trial_free(&t);
    return good;
}

void mg_02_mlp_backward(mg_run *run, const void *one_case)
{
    (void)one_case;
    if (!any_layers(run, backward))
        return;
    mg_part(run, "no rows", NULL);
    backward(run, trial_new(run, L, 0, NULL));
}

/* ---- update --------------------------------------------------------------------------------- */

static bool sgd(mg_run *run, trial t)
{
    mg_begin(run, "mt_manual_mlp_sgd");
    float *params = mg_inout(run, "params", MT_F32, MT_SHAPE(t.count));
    mg_fill(mg_rng(run), params, t.count, (mg_dist)NORMAL(0, 1));
    float *grads = input(run, "grads", MT_SHAPE(t.count), 1);
    grads[0] = 1e3f, grads[1] = -1e6f, grads[t.count - 1] = NAN; /* no gradient is clipped or left out */
    float rate = 0.01f + 0.5f * mt_rng_uniform(mg_rng(run));
    mg_f32(run, "learning_rate", rate);
    send_widths(run, t.width);
    for (int64_t k = 0; k < t.count; k++) { /* two updates: a product and a difference, each rounded */
        double step = (double)rate * grads[k], held = params[k];
        t.gv[k] = held - 2 * step;
        t.ge[k] = MG_U * (2 * fabs(step) + fabs(held - step) + fabs(t.gv[k])) * (1 + 4 * MG_U);
    }
    bool good = (t.searched ? mg_shared_call(run) : mg_call(run)) && mg_expect(run, "params", t.gv, t.ge);
    trial_free(&t);
    return good;
}

void mg_02_mlp_sgd(mg_run *run, const void *one_case)
{
    static const int64_t many[] = { 301, 140, 11 }; /* enough parameters for several threads, and an odd number */
    (void)one_case;
    if (!any_layers(run, sgd))
        return;
    trial large = trial_new(run, 2, 3, many);
    large.searched = true;
    mg_part(run, "data races", NULL);
    sgd(run, large);
}

/* ---- training ------------------------------------------------------------------------------- */

/* The call: training images as bytes; weights come back. */
static void describe_training(mg_run *run, const mg_digits *train, const int64_t width[L + 1])
{
    int64_t bytes = train->count * train->pixels;
    mg_begin(run, "train a perceptron");
    mg_out(run, "params", MT_F32, MT_SHAPE(mg_mlp_count(width)));
    memcpy(mg_in(run, "images", MT_U8, MT_SHAPE(train->count, train->pixels)), train->image, (size_t)bytes);
    memcpy(mg_in(run, "labels", MT_U8, MT_SHAPE(train->count)), train->label, (size_t)train->count);
    send_widths(run, width);
    mg_i64(run, "batch", BATCH);
    mg_i64(run, "seed", (int64_t)(mt_rng_u64(mg_rng(run)) >> 1));
    mg_f32(run, "learning_rate", 0.4f);
}

void mg_02_train(mg_run *run, const void *one_case)
{
    mg_digit_sets sets;
    (void)one_case;
    if (!mg_digits_open(run, &sets))
        return;
    int64_t width[L + 1] = { sets.train.pixels, mg_pick(mg_rng(run), 240, 272), mg_pick(mg_rng(run), 112, 144),
                             MG_DIGIT_CLASSES };
    mg_digits_keep(run, &sets.train, TRAIN);
    mg_digits_keep(run, &sets.test, ASKED);
    describe_training(run, &sets.train, width);
    if (mg_call(run)) {
        char what[24];
        snprintf(what, sizeof what, "%lld images", (long long)sets.train.count);
        mg_digits_judge(run, &sets, mg_mlp_accuracy(mg_result(run, "params"), width, &sets.test), what);
    } else if (run->row->verdict == MG_TIMEOUT) {
        mg_note(run, "if no loop is endless, the products are too slow: let mt_matmul_cpu compute them");
    }
    mg_digits_close(&sets.train);
    mg_digits_close(&sets.test);
}
