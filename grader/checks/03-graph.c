/* 03-graph.c -- random graphs and their gradients by reverse mode in double. */
#include "checks/03-graph.h"
#include "checks/fill.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static mt_approx *matrix(int64_t S)
{
    mt_approx *m = calloc((size_t)(S * S), sizeof *m);
    MT_CHECK(m, "out of memory");
    return m;
}

int mg_graph_operands(const mg_graph *g, int i)
{
    static const int operands[MG_OPS] = {
        [MG_ADD] = 2,   [MG_MUL] = 2,       [MG_MATMUL] = 2, [MG_TANH] = 1,
        [MG_SCALE] = 1, [MG_TRANSPOSE] = 1, [MG_DETACH] = 1, [MG_QUIET] = 2,
    };
    return operands[g->row[i][0]];
}

bool mg_graph_records(const mg_graph *g, int i)
{
    return mg_graph_operands(g, i) > 0 && g->row[i][0] != MG_DETACH && g->row[i][0] != MG_QUIET;
}

const char *mg_graph_text(const mg_graph *g, int i)
{
    static const char *const form[MG_OPS] = {
        "a leaf",     "a constant", "v%lld + v%lld",    "v%lld * v%lld",  "v%lld v%lld (matrices)",
        "tanh v%lld", "v%lld / 2",  "v%lld transposed", "v%lld detached", "v%lld * v%lld without grad"
    };
    static char text[64];
    int used = snprintf(text, sizeof text, "v%d = ", i);
    snprintf(text + used, sizeof text - (size_t)used, form[g->row[i][0]], (long long)g->row[i][1],
             (long long)g->row[i][2]);
    return text;
}

void mg_graph_words(const mg_graph *g, char *text, size_t size)
{
    enum { END = 200 }; /* room for what comes behind the values */
    size_t used = 0;
    int i = 0, leaves = 0;
    for (; i < g->count && used + END < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", mg_graph_text(g, i));
    used += (size_t)snprintf(text + used, size - used,
                             "%s; backward from the sum of v%d; gradients wanted:", i < g->count ? ", and so on" : "",
                             g->count - 1);
    for (i = 0; i < g->count && used < size; i++)
        if (g->row[i][0] == MG_LEAF)
            used += (size_t)snprintf(text + used, size - used, "%s v%d", leaves++ ? "," : "", i);
}

/* ---- values ----------------------------------------------------------------------------------------- */

/* Row i of A times column j of B, element (i, k) of A at i * ai + k * ak: rounded once per product and per addition. */
static mt_approx dot(const mt_approx *a, int64_t ak, const mt_approx *b, int64_t bk, int64_t S)
{
    double value = 0, error = 0, magnitude = 0;
    for (int64_t k = 0; k < S; k++) {
        mt_approx x = a[k * ak], y = b[k * bk];
        value += x.value * y.value;
        magnitude += fabs(x.value * y.value);
        error += fabs(x.value) * y.error + fabs(y.value) * x.error + x.error * y.error;
    }
    return (mt_approx){ value, error + mt_tolerance((double)S + 1, magnitude) };
}

/* |tanh'| <= 1: the error of x passes through. */
static mt_approx tanh_of(mt_approx x)
{
    return (mt_approx){ tanh(x.value), x.error + mt_tolerance(MT_LIBM_ROUNDINGS, fabs(tanh(x.value))) };
}

static mt_approx element(const mg_graph *g, int i, int64_t r, int64_t c)
{
    const int64_t *row = g->row[i], S = g->S, n = r * S + c;
    const mt_approx *a = g->value[row[1]], *b = g->value[row[2]];
    switch (row[0]) {
    case MG_ADD:
        return mt_approx_add(a[n], b[n]);
    case MG_MUL:
    case MG_QUIET:
        return mt_approx_mul(a[n], b[n]);
    case MG_MATMUL:
        return dot(a + r * S, 1, b + c, S, S);
    case MG_TANH:
        return tanh_of(a[n]);
    case MG_SCALE:
        return (mt_approx){ a[n].value / 2, a[n].error / 2 };
    case MG_TRANSPOSE:
        return a[c * S + r];
    default:
        return a[n];
    }
}

static double evaluate(mg_graph *g, int i)
{
    double largest = 0;
    for (int64_t n = 0; n < g->S * g->S; n++) {
        g->value[i][n] = element(g, i, n / g->S, n % g->S);
        largest = fmax(largest, fabs(g->value[i][n].value));
    }
    return largest;
}

/* ---- making ------------------------------------------------------------------------------------------- */

static mg_graph *graph_new(int64_t S)
{
    mg_graph *g = calloc(1, sizeof *g);
    MT_CHECK(g, "out of memory");
    g->S = S;
    g->data = calloc((size_t)(MG_GRAPH_MOST * S * S), sizeof *g->data);
    MT_CHECK(g->data, "out of memory");
    return g;
}

/* Append a value; returns its number. */
static int append(mg_graph *g, int64_t op, int a, int b)
{
    int i = g->count++;
    MT_CHECK(i < MG_GRAPH_MOST, "a graph of more than %d values", MG_GRAPH_MOST);
    memcpy(g->row[i], (int64_t[]){ op, a, b }, sizeof g->row[i]);
    g->value[i] = matrix(g->S);
    return i;
}

static int source(mg_graph *g, mt_rng *rng, int64_t op)
{
    int64_t size = g->S * g->S;
    int i = append(g, op, 0, 0);
    float *data = g->data + g->arrays++ * size;
    mg_fill(rng, data, size, (mg_dist)UNIFORM(-1.5, 1.5));
    for (int64_t n = 0; n < size; n++)
        g->value[i][n] = mt_approx_exact(data[n]);
    g->leaves += op == MG_LEAF;
    return i;
}

static int compute(mg_graph *g, int64_t op, int a, int b)
{
    int i = append(g, op, a, b);
    if (evaluate(g, i) > 8) { /* keep numbers small: errors grow with them */
        g->row[i][0] = MG_TANH;
        evaluate(g, i);
    }
    return i;
}

/* The end of a random graph: a node that two others use, over paths of different lengths, so that a node visited too
 * early is seen whether the list is a stack or a queue. Below it is a node that depends on the first leaf, which has a
 * user nearer to the end too; one user has an operand without gradient, one has the same operand twice. Values stay
 * below 8 but for the last, which may become the tanh of the one before. */
enum { END = 8 };

static void append_end(mg_graph *g, mt_rng *rng, int leaf, int constant, int recent)
{
    int shared = compute(g, MG_SCALE, compute(g, MG_ADD, leaf, recent), 0);
    int near = compute(g, MG_MUL, constant, shared);
    int far = compute(g, MG_TANH, compute(g, MG_MUL, leaf, shared), 0);
    int sum = compute(g, MG_ADD, near, compute(g, MG_MUL, far, far));
    compute(g, MG_ADD, sum, (int)mg_pick(rng, 0, sum - 1));
}

mg_graph *mg_graph_random(mt_rng *rng, int64_t S, int count)
{
    mg_graph *g = graph_new(S);
    int leaves = (int)mg_pick(rng, 2, 4), constants = (int)mg_pick(rng, 1, 2);
    for (int i = 0; i < leaves + constants; i++)
        source(g, rng, i < leaves ? MG_LEAF : MG_CONSTANT);
    for (int op = MG_ADD; g->count < count - END; op++) { /* every op in turn, on random values, often recent ones */
        int last = g->count - 1, recent = (int)mg_pick(rng, last > 4 ? last - 4 : 0, last);
        int any = (int)mg_pick(rng, 0, last);
        compute(g, op, recent, any);
        op = op == MG_OPS - 1 ? MG_ADD - 1 : op;
    }
    append_end(g, rng, 0, leaves, (int)mg_pick(rng, g->count - 3, g->count - 1));
    return g;
}

mg_graph *mg_graph_diamonds(mt_rng *rng, int64_t S, int diamonds)
{
    mg_graph *g = graph_new(S);
    int y = source(g, rng, MG_LEAF);
    for (int i = 0; i < diamonds; i++)
        y = compute(g, MG_SCALE, compute(g, MG_ADD, y, y), 0);
    return g;
}

mg_graph *mg_graph_reused(mt_rng *rng, int64_t S)
{
    mg_graph *g = graph_new(S);
    int x = source(g, rng, MG_LEAF), w = source(g, rng, MG_LEAF);
    int cube = compute(g, MG_MUL, compute(g, MG_MUL, x, x), x), t = compute(g, MG_TRANSPOSE, w, 0);
    int sum = compute(g, MG_ADD, cube, x), square = compute(g, MG_MATMUL, t, t);
    compute(g, MG_ADD, compute(g, MG_MUL, sum, square), compute(g, MG_ADD, sum, w));
    return g;
}

mg_graph *mg_graph_many(mt_rng *rng, int64_t S, int uses)
{
    mg_graph *g = graph_new(S);
    int x = source(g, rng, MG_LEAF), w = source(g, rng, MG_LEAF);
    for (int64_t n = 0; n < 2 * S * S; n++) { /* the sum of all uses stays below 8 */
        g->data[n] /= 256;
        g->value[n / (S * S)][n % (S * S)] = mt_approx_exact(g->data[n]);
    }
    int h = compute(g, MG_TANH, x, 0), y = h;
    for (int i = 0; i < uses; i++)
        y = compute(g, MG_ADD, compute(g, MG_ADD, y, h), w);
    return g;
}

mg_graph *mg_graph_cut(mt_rng *rng, int64_t S)
{
    mg_graph *g = graph_new(S);
    int x = source(g, rng, MG_LEAF), unreached = source(g, rng, MG_LEAF), c = source(g, rng, MG_CONSTANT);
    int h = compute(g, MG_TANH, x, 0), cut = compute(g, MG_DETACH, h, 0);
    int quiet = compute(g, MG_QUIET, h, unreached), plain = compute(g, MG_MUL, c, c);
    int sum = compute(g, MG_ADD, compute(g, MG_MUL, h, cut), compute(g, MG_MUL, x, quiet));
    compute(g, MG_ADD, compute(g, MG_MUL, sum, plain), cut);
    return g;
}

void mg_graph_free(mg_graph *g)
{
    for (int i = 0; i < g->count; i++) {
        free(g->value[i]);
        free(g->grad[i]);
    }
    free(g->data);
    free(g);
}

/* ---- gradients ------------------------------------------------------------------------------------------ */

/* A sum in any order: of n terms each is rounded at most n times. */
typedef struct tally {
    double value, error, magnitude;
    int64_t terms;
} tally;

static void deliver(tally *to, mt_approx term)
{
    to->value += term.value;
    to->error += term.error;
    to->magnitude += fabs(term.value) + term.error;
    to->terms++;
}

static mt_approx total(const tally *t)
{
    return (mt_approx){ t->value, t->error + mt_tolerance((double)t->terms, t->magnitude) };
}

/* Adds the contribution of value i to the gradients da, db of its operands. */
static void pass_on(const mg_graph *g, int i, const mt_approx *d, tally *da, tally *db)
{
    const int64_t *row = g->row[i], S = g->S;
    const mt_approx *a = g->value[row[1]], *b = g->value[row[2]], *out = g->value[i];
    for (int64_t n = 0; n < S * S; n++) {
        int64_t r = n / S, c = n % S;
        switch (row[0]) {
        case MG_ADD:
            deliver(&da[n], d[n]);
            deliver(&db[n], d[n]);
            break;
        case MG_MUL:
            deliver(&da[n], mt_approx_mul(d[n], b[n]));
            deliver(&db[n], mt_approx_mul(d[n], a[n]));
            break;
        case MG_MATMUL:
            deliver(&da[n], dot(d + r * S, 1, b + c * S, 1, S));
            deliver(&db[n], dot(a + r, S, d + c, S, S));
            break;
        case MG_TANH:
            deliver(&da[n], mt_approx_mul(d[n], mt_approx_sub(mt_approx_exact(1), mt_approx_mul(out[n], out[n]))));
            break;
        case MG_SCALE:
            deliver(&da[n], (mt_approx){ d[n].value / 2, d[n].error / 2 });
            break;
        case MG_TRANSPOSE:
            deliver(&da[c * S + r], d[n]);
            break;
        default:
            break;
        }
    }
}

static void mark(mg_graph *g)
{
    for (int i = 0; i < g->count; i++) {
        g->wants[i] = g->row[i][0] == MG_LEAF;
        for (int k = 1; k <= mg_graph_operands(g, i); k++)
            g->wants[i] = g->wants[i] || (mg_graph_records(g, i) && g->wants[g->row[i][k]]);
    }
    g->reached[g->count - 1] = true;
    for (int i = g->count - 1; i >= 0; i--)
        for (int k = 1; g->reached[i] && mg_graph_records(g, i) && k <= mg_graph_operands(g, i); k++)
            g->reached[g->row[i][k]] = g->reached[g->row[i][k]] || g->wants[g->row[i][k]];
}

void mg_graph_differentiate(mg_graph *g)
{
    int64_t size = g->S * g->S;
    tally *sum = calloc((size_t)(g->count * size), sizeof *sum);
    MT_CHECK(sum, "out of memory");
    mark(g);
    for (int64_t n = 0; n < size; n++)
        sum[(g->count - 1) * size + n] = (tally){ .value = 1 };
    for (int i = g->count - 1; i >= 0; i--) {
        g->grad[i] = matrix(g->S);
        for (int64_t n = 0; n < size && g->reached[i]; n++)
            g->grad[i][n] = total(&sum[i * size + n]);
        if (g->reached[i] && g->wants[i])
            pass_on(g, i, g->grad[i], sum + g->row[i][1] * size, sum + g->row[i][2] * size);
    }
    free(sum);
}
