/* 10-tower.c -- a tower of blocks of GPT-2 and dropout layers (worker/recompute.h), computed by oracle_gpt2.c in
 * double; gradients are central differences of it, with SLACK as in 08-block.c. Of products in 16 bits every operand
 * is rounded by 2^-9 of it at most, which a steep layernorm can enlarge: their bounds also have what a change of all x
 * and parameters by 2^-8 makes of the values, SWAYS times. */
#include "checks/10-tower.h"
#include "worker/recompute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWAYS = 8 };
static const double SLACK = 8000 * 0x1p-24, SLACK_16 = 0.25; /* of the largest element of an array */

void mg_10_mask(double *mask, const int64_t *setting, int64_t l, int64_t pass, int64_t n)
{
    float p = (float)setting[MG_RC_P] / 8, *u = malloc((size_t)n * sizeof *u);
    mt_rng rng = mt_rng_new((uint64_t)(setting[MG_RC_SEED] + l), MT_STREAM_DROPOUT);
    rng.counter = (uint64_t)(pass * ((n + 3) / 4));
    mt_rng_fill_uniform(&rng, u, n, 0, 1);
    for (int64_t i = 0; i < n; i++)
        mask[i] = u[i] >= p ? 1 / (1 - (double)p) : 0;
    free(u);
}

/* x [n] becomes the tower's result; `pass` says how often dropout has drawn before. */
static void pass_through(double *x, const tower *t, int64_t pass)
{
    double *mask = mg_doubles(t->n);
    for (int64_t l = 0; l < t->setting[MG_RC_LAYERS]; l++) {
        mg_gpt2_block(x, t->params + l * t->per_layer, &t->g);
        mg_10_mask(mask, t->setting, l, pass, t->n);
        for (int64_t i = 0; i < t->n; i++)
            x[i] *= mask[i];
    }
    free(mask);
}

/* in [n]: what enters the tower. */
static void enter(double *in, const tower *t)
{
    int64_t C = t->setting[MG_RC_C];
    for (int64_t i = 0; i < t->n; i++)
        in[i] = t->x[i] + (t->setting[MG_RC_PRODUCT] ? t->x[i - i % C + (i + 1) % C] : 0);
}

static void result(double *out, const tower *t)
{
    enter(out, t);
    pass_through(out, t, 0);
    if (t->setting[MG_RC_PASSES] == 1)
        return;
    double *in = mg_doubles(t->n), *again = mg_doubles(t->n);
    enter(in, t);
    memcpy(again, out, (size_t)t->n * sizeof *again);
    pass_through(again, t, 1);
    for (int64_t i = 0; i < t->n; i++)
        out[i] += in[i] + again[i];
    free(in);
    free(again);
}

static double weighted(void *user)
{
    const tower *t = user;
    double *out = mg_doubles(t->n), sum = 0;
    result(out, t);
    for (int64_t i = 0; i < t->n; i++)
        sum += out[i] * t->dout[i];
    free(out);
    return sum;
}

/* e [n] = the slack of the largest of v [n]. */
static void allow(mg_answer *answer, int64_t at, int64_t n, const tower *t)
{
    double largest = 0, slack = t->setting[MG_RC_TYPE] == MT_F32 ? SLACK : SLACK_16;
    for (int64_t i = at; i < at + n; i++)
        largest = fmax(largest, fabs(answer->v[i]));
    for (int64_t i = at; i < at + n; i++)
        answer->e[i] = slack * (largest + 1e-3);
}

/* Result and gradients; zeros where nothing wants a gradient, or where differences would take long. */
static void compute(double *out, double *dx, double *dparams, tower *t)
{
    const int64_t *setting = t->setting;
    result(out, t);
    if (!setting[MG_RC_BACKWARD] || !setting[MG_RC_WANTED] || setting[MG_RC_LAYERS] == MG_RC_LAYERS_MOST)
        return;
    if (setting[MG_RC_WANTED] == 1)
        mg_gradient(dx, t->x, t->n, weighted, t);
    mg_gradient(dparams, t->params, setting[MG_RC_LAYERS] * t->per_layer, weighted, t);
}

static void sway(double *v, int64_t n, mt_rng *rng)
{
    for (int64_t i = 0; i < n; i++)
        v[i] *= 1 + (mt_rng_u32(rng) & 1 ? 0x1p-8 : -0x1p-8);
}

/* Adds to the bounds what changed x and parameters make of the values. */
static void allow_sway(mg_answer answer[3], const tower *t, mt_rng *rng)
{
    tower changed = *t;
    int64_t count[] = { t->n, t->n, t->setting[MG_RC_LAYERS] * t->per_layer };
    double *v[] = { mg_doubles(count[0]), mg_doubles(count[1]), mg_doubles(count[2]) };
    changed.x = memcpy(mg_doubles(t->n), t->x, (size_t)t->n * sizeof *t->x);
    changed.params = memcpy(mg_doubles(count[2]), t->params, (size_t)count[2] * sizeof *t->params);
    sway(changed.x, t->n, rng);
    sway(changed.params, count[2], rng);
    compute(v[0], v[1], v[2], &changed);
    for (int k = 0; k < 3; k++) {
        double most = 0;
        for (int64_t i = 0; i < count[k]; i++)
            most = fmax(most, fabs(v[k][i] - answer[k].v[i]));
        for (int64_t i = 0; i < count[k]; i++)
            answer[k].e[i] += SWAYS * most;
        free(v[k]);
    }
    free(changed.x);
    free(changed.params);
}

void mg_10_expect(mg_answer answer[3], tower *t, const mg_gpt2_part *part)
{
    const int64_t *setting = t->setting;
    mt_rng rng = mt_rng_new((uint64_t)setting[MG_RC_SEED], 0);
    compute(answer[0].v, answer[1].v, answer[2].v, t);
    allow(&answer[0], 0, t->n, t);
    allow(&answer[1], 0, t->n, t);
    for (int64_t l = 0; l < setting[MG_RC_LAYERS]; l++)
        for (int i = 0; i < MG_BLOCK_PARTS; i++)
            allow(&answer[2], l * t->per_layer + part[i].at, part[i].count, t);
    if (setting[MG_RC_TYPE] != MT_F32)
        allow_sway(answer, t, &rng);
    if (setting[MG_RC_LAYERS] == MG_RC_LAYERS_MOST) {
        mg_answer_drop(&answer[1]);
        mg_answer_drop(&answer[2]);
    }
}
