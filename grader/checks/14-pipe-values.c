/* 14-pipe-values.c -- the loss and the gradients of a pipeline, beside those of one device, in double precision.
 *
 * All weights and samples are positive, so that no sum loses digits: a result that went through c roundings has a
 * relative error below c * 2^-24. */
#include "checks/14-model-parallel.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"

enum { LAYERS = MG_PIPE_PARTS + 2, ROWS = 4, ELEMENTS = 2 * MG_PIPE_WIDE * MG_PIPE_WIDE };

/* The products in order: those of the parts, and of the table at both ends. */
typedef struct layer {
    const float *weight;
    int64_t at, in, out; /* at: from the beginning of the array */
} layer;

typedef struct device {
    layer layer[LAYERS];
    int layers;
    int64_t table; /* where it is */
    double loss, gradient[ELEMENTS], roundings;
} device;

static int64_t parts_of(const pipe_trial *t)
{
    return t->ranks * t->chunks;
}

static void add_layer(device *d, const pipe_trial *t, int64_t at, int64_t in, int64_t out)
{
    MT_CHECK(d->layers < LAYERS && in <= MG_PIPE_WIDE && out <= MG_PIPE_WIDE, "the checker's layers");
    d->layer[d->layers++] = (layer){ t->data + at, at, in, out };
    d->roundings += 2.0 * (double)(in + out + 2);
}

static void arrange(device *d, const pipe_trial *t)
{
    int64_t parts = parts_of(t), width = t->width[0], at = 0;
    *d = (device){ .roundings = (double)(t->rows * width + 2 * t->micro * t->steps + 8) };
    for (int64_t s = 0; s < parts; s++)
        d->table += t->width[s] * t->width[s + 1];
    if (t->tied)
        add_layer(d, t, d->table, width, width);
    for (int64_t s = 0; s < parts; s++) {
        add_layer(d, t, at, t->width[s], t->width[s + 1]);
        at += t->width[s] * t->width[s + 1];
    }
    if (t->tied)
        add_layer(d, t, d->table, width, width);
}

/* The mean of squares of one micro-batch, and its gradients times 1 / micro. */
static void add_micro_batch(device *d, const pipe_trial *t, int micro)
{
    double h[LAYERS + 1][ROWS][MG_PIPE_WIDE], g[ROWS][MG_PIPE_WIDE], sum = 0;
    const float *x = t->data + d->table + t->width[0] * t->width[0] + micro * t->rows * t->width[0];
    int64_t out = d->layer[d->layers - 1].out;
    for (int64_t i = 0; i < t->rows * t->width[0]; i++)
        h[0][i / t->width[0]][i % t->width[0]] = (double)x[i];
    for (int l = 0; l < d->layers; l++)
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t o = 0; o < d->layer[l].out; o++) {
                h[l + 1][r][o] = 0;
                for (int64_t i = 0; i < d->layer[l].in; i++)
                    h[l + 1][r][o] += h[l][r][i] * (double)d->layer[l].weight[i * d->layer[l].out + o];
            }
    for (int64_t r = 0; r < t->rows; r++)
        for (int64_t o = 0; o < out; o++) {
            double y = h[d->layers][r][o], n = (double)(t->rows * out * t->micro);
            sum += y * y / n;
            g[r][o] = 2 * y / n;
        }
    d->loss += sum;
    for (int l = d->layers - 1; l >= 0; l--) {
        const layer *at = &d->layer[l];
        double dx[ROWS][MG_PIPE_WIDE] = { { 0 } };
        for (int64_t r = 0; r < t->rows; r++)
            for (int64_t i = 0; i < at->in; i++)
                for (int64_t o = 0; o < at->out; o++) {
                    d->gradient[at->at + i * at->out + o] += t->steps * h[l][r][i] * g[r][o];
                    dx[r][i] += (double)at->weight[i * at->out + o] * g[r][o];
                }
        memcpy(g, dx, sizeof g);
    }
}

static void run_on_one(device *d, const pipe_trial *t)
{
    MT_CHECK(t->rows <= ROWS, "the checker's rows");
    arrange(d, t);
    for (int micro = 0; micro < t->micro; micro++)
        add_micro_batch(d, t, micro);
}

static bool near(const device *d, double got, double want)
{
    return fabs(got - want) <= d->roundings * 0x1p-24 * fabs(want);
}

bool mg_14_judge_loss(mg_run *run, const pipe_trial *t)
{
    static device d; /* large */
    run_on_one(&d, t);
    for (int rank = 0; rank < t->ranks; rank++) {
        double loss, want = rank == t->ranks - 1 ? d.loss : 0;
        memcpy(&loss, &t->result[rank * MG_PIPE_RESULTS + MG_PIPE_LOSS], sizeof loss);
        if (near(&d, loss, want))
            continue;
        if (near(&d, loss, want * t->micro))
            mg_hint(run, "*loss is the mean of all micro-batches: each adds 1 / micro of its own");
        return mg_fail(run, "%s: rank %d returns a loss of %.9g, expected %.9g%s", mg_14_pipe_name(t), rank, loss, want,
                       rank == t->ranks - 1 ? ", as on one device" : ": the last rank has it");
    }
    return true;
}

/* The gradient that a rank has of one array. */
static bool judge_array(mg_run *run, const device *d, const pipe_trial *t, int rank, const char *name, int64_t at,
                        int64_t count)
{
    for (int64_t i = at; i < at + count; i++) {
        double got = (double)t->got[rank][i], want = d->gradient[i];
        if (near(d, got, want))
            continue;
        if (near(d, got, want * t->micro))
            mg_hint(run, "it is as many times too large as there are micro-batches: the loss is their mean");
        return mg_fail(
            run, "%s: rank %d: element %" PRId64 " of the gradient of %s is %.9g, expected %.9g, as on one device",
            mg_14_pipe_name(t), rank, i - at, name, got, want);
    }
    return true;
}

bool mg_14_judge_gradients(mg_run *run, const pipe_trial *t)
{
    static device d;
    run_on_one(&d, t);
    int64_t at = 0, parts = parts_of(t), table = t->width[0] * t->width[0], last = t->ranks - 1;
    for (int s = 0; s < parts; s++) {
        char name[40];
        snprintf(name, sizeof name, "the weights of part %d", s);
        if (!judge_array(run, &d, t, s % t->ranks, name, at, t->width[s] * t->width[s + 1]))
            return false;
        at += t->width[s] * t->width[s + 1];
    }
    if (!t->tied)
        return true;
    for (int rank = 0; rank < t->ranks; rank += (int)mt_max(last, 1))
        if (!judge_array(run, &d, t, rank, "the tied table", d.table, table))
            return false;
    if (memcmp(t->got[0] + d.table, t->got[last] + d.table, (size_t)table * sizeof(float)) == 0)
        return true;
    return mg_fail(run, "%s: the first and the last rank have other bits in the gradient of the tied table",
                   mg_14_pipe_name(t));
}
