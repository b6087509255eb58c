/* oracle_gpt2.c -- GPT-2 in double precision; see oracle_gpt2.h. */
#include "checks/oracle_gpt2.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------------------- */

static void add(mg_gpt2_part *part, int *n, int64_t *count, const char *prefix, const char *name, int64_t size)
{
    MT_CHECK(*n < MG_GPT2_PARTS, "more than %d parameter tensors", MG_GPT2_PARTS);
    snprintf(part[*n].name, sizeof part->name, "%s%s", prefix, name);
    part[*n].at = *count;
    part[(*n)++].count = size;
    *count += size;
}

static void add_block(mg_gpt2_part *part, int *n, int64_t *count, const char *prefix, int64_t C)
{
    const struct {
        const char *name;
        int64_t size;
    } list[MG_BLOCK_PARTS] = {
        { "ln_1.weight", C },
        { "ln_1.bias", C },
        { "attn.c_attn.weight", 3 * C * C },
        { "attn.c_attn.bias", 3 * C },
        { "attn.c_proj.weight", C * C },
        { "attn.c_proj.bias", C },
        { "ln_2.weight", C },
        { "ln_2.bias", C },
        { "mlp.c_fc.weight", 4 * C * C },
        { "mlp.c_fc.bias", 4 * C },
        { "mlp.c_proj.weight", 4 * C * C },
        { "mlp.c_proj.bias", C },
    };
    for (int i = 0; i < MG_BLOCK_PARTS; i++)
        add(part, n, count, prefix, list[i].name, list[i].size);
}

int mg_gpt2_block_parts(mg_gpt2_part *part, int64_t *count, const mg_gpt2 *g)
{
    int n = 0;
    *count = 0;
    add_block(part, &n, count, "", g->C);
    return n;
}

int mg_gpt2_parts(mg_gpt2_part *part, int64_t *count, const mg_gpt2 *g)
{
    int n = 0;
    *count = 0;
    add(part, &n, count, "", "wte.weight", g->rows * g->C);
    add(part, &n, count, "", "wpe.weight", g->block * g->C);
    for (int64_t l = 0; l < g->layers; l++) {
        char prefix[12];
        snprintf(prefix, sizeof prefix, "h.%d.", (int)l);
        add_block(part, &n, count, prefix, g->C);
    }
    add(part, &n, count, "", "ln_f.weight", g->C);
    add(part, &n, count, "", "ln_f.bias", g->C);
    return n;
}

/* ---- a block ------------------------------------------------------------------------------------------------ */

static void layernorm(double *out, const double *x, const double *gain, const double *shift, int64_t N, int64_t C)
{
    for (int64_t n = 0; n < N; n++, x += C, out += C) {
        double mean = 0, variance = 0;
        for (int64_t c = 0; c < C; c++)
            mean += x[c] / (double)C;
        for (int64_t c = 0; c < C; c++)
            variance += (x[c] - mean) * (x[c] - mean) / (double)C;
        for (int64_t c = 0; c < C; c++)
            out[c] = (x[c] - mean) / sqrt(variance + 1e-5) * gain[c] + shift[c];
    }
}

/* out [N,O] = x [N,I] w [I,O] + b, and w behind it: b = w + I O. */
static void linear(double *out, const double *x, const double *w, int64_t N, int64_t I, int64_t O)
{
    for (int64_t n = 0; n < N; n++)
        for (int64_t o = 0; o < O; o++) {
            double sum = w[I * O + o];
            for (int64_t i = 0; i < I; i++)
                sum += x[n * I + i] * w[i * O + o];
            out[n * O + o] = sum;
        }
}

/* One query of one head; row t of qkv is qkv + t * 3C. */
static void attend(double *out, const double *qkv, int64_t t, int64_t C, int64_t D)
{
    double *p = mg_doubles(t + 1), sum = 0;
    const double *q = qkv + t * 3 * C;
    for (int64_t j = 0; j <= t; j++) {
        for (int64_t d = 0; d < D; d++)
            p[j] += q[d] * qkv[j * 3 * C + C + d] / sqrt((double)D);
        sum += p[j] = exp(p[j]); /* the checks' scores are small */
    }
    for (int64_t d = 0; d < D; d++) {
        out[d] = 0;
        for (int64_t j = 0; j <= t; j++)
            out[d] += p[j] / sum * qkv[j * 3 * C + 2 * C + d];
    }
    free(p);
}

static void attention(double *out, const double *qkv, const mg_gpt2 *g)
{
    int64_t T = g->T, C = g->C, D = C / g->H;
    for (int64_t b = 0; b < g->B; b++)
        for (int64_t h = 0; h < g->H; h++)
            for (int64_t t = 0; t < T; t++)
                attend(out + (b * T + t) * C + h * D, qkv + b * T * 3 * C + h * D, t, C, D);
}

void mg_gpt2_block(double *x, const double *params, const mg_gpt2 *g)
{
    int64_t N = g->B * g->T, C = g->C, count;
    mg_gpt2_part at[MG_BLOCK_PARTS];
    mg_gpt2_block_parts(at, &count, g);
    const double *p[MG_BLOCK_PARTS];
    for (int i = 0; i < MG_BLOCK_PARTS; i++)
        p[i] = params + at[i].at;
    double *norm = mg_doubles(N * C), *wide = mg_doubles(N * 4 * C), *part = mg_doubles(N * C);
    layernorm(norm, x, p[0], p[1], N, C);
    linear(wide, norm, p[2], N, C, 3 * C);
    attention(norm, wide, g);
    linear(part, norm, p[4], N, C, C);
    for (int64_t i = 0; i < N * C; i++)
        x[i] += part[i];
    layernorm(norm, x, p[6], p[7], N, C);
    linear(wide, norm, p[8], N, C, 4 * C);
    for (int64_t i = 0; i < N * 4 * C; i++)
        wide[i] *= 0.5 * (1 + tanh(sqrt(2 / M_PI) * (wide[i] + 0.044715 * wide[i] * wide[i] * wide[i])));
    linear(part, wide, p[10], N, 4 * C, C);
    for (int64_t i = 0; i < N * C; i++)
        x[i] += part[i];
    free(norm);
    free(wide);
    free(part);
}

/* ---- the model ---------------------------------------------------------------------------------------------- */

void mg_gpt2_hidden(double *x, const double *params, const int32_t *ids, const mg_gpt2 *g)
{
    int64_t N = g->B * g->T, C = g->C, count, of_block;
    mg_gpt2_part part[MG_GPT2_PARTS], inside[MG_BLOCK_PARTS];
    int parts = mg_gpt2_parts(part, &count, g);
    mg_gpt2_block_parts(inside, &of_block, g);
    for (int64_t i = 0; i < N * C; i++)
        x[i] = params[ids[i / C] * C + i % C] + params[part[1].at + i / C % g->T * C + i % C];
    for (int64_t l = 0; l < g->layers; l++)
        mg_gpt2_block(x, params + part[2].at + l * of_block, g);
    layernorm(x, x, params + part[parts - 2].at, params + part[parts - 1].at, N, C);
}

void mg_gpt2_logits(double *out, const double *x, const double *params, const mg_gpt2 *g)
{
    for (int64_t i = 0; i < g->B * g->T * g->V; i++) {
        out[i] = 0;
        for (int64_t c = 0; c < g->C; c++)
            out[i] += x[i / g->V * g->C + c] * params[i % g->V * g->C + c];
    }
}

double mg_gpt2_loss(const double *params, const int32_t *ids, const int32_t *targets, const mg_gpt2 *g)
{
    int64_t N = g->B * g->T;
    double *x = mg_doubles(N * g->C), *logits = mg_doubles(N * g->V), loss = 0;
    mg_gpt2_hidden(x, params, ids, g);
    mg_gpt2_logits(logits, x, params, g);
    for (int64_t n = 0; n < N; n++) {
        double sum = 0;
        for (int64_t v = 0; v < g->V; v++)
            sum += exp(logits[n * g->V + v] - logits[n * g->V + targets[n]]);
        loss += log(sum) / (double)N;
    }
    free(x);
    free(logits);
    return loss;
}

/* ---- derivatives -------------------------------------------------------------------------------------------- */

/* The difference of two values is off by their rounding over h and by h^2 times a third derivative: below 1e-8 here. */
void mg_gradient(double *out, double *x, int64_t n, double (*f)(void *user), void *user)
{
    const double h = 1e-5;
    for (int64_t i = 0; i < n; i++) {
        double held = x[i];
        x[i] = held + h;
        double above = f(user);
        x[i] = held - h;
        out[i] = (above - f(user)) / (2 * h);
        x[i] = held;
    }
}
