/* update_oracle.c -- the formulas of optim/updates.h, from their papers, in numbers that carry their error. */
#include "testing/update_oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* A hyper-parameter, which a kernel rounds to f32. */
static mt_approx hyper(double value)
{
    return value == 0 ? mt_approx_exact(0) : mt_approx_rounded(value, 0);
}

static mt_approx times(double a, mt_approx b)
{
    return mt_approx_mul(hyper(a), b);
}

/* beta old + (1 - beta) x */
static mt_approx average(double beta, mt_approx old, mt_approx x)
{
    return mt_approx_add(times(beta, old), times(1 - beta, x));
}

static mt_approx square(mt_approx x)
{
    return mt_approx_mul(x, x);
}

static mt_approx sign(mt_approx x)
{
    double way = (x.value > 0) - (x.value < 0);
    return (mt_approx){ way, fabs(x.value) > x.error || mt_approx_is_zero(x) ? 0 : 2 };
}

/* ---- elementwise rules: each returns what lr multiplies ---------------------------------------- */

static mt_approx over_root(mt_approx a, mt_approx v, double eps)
{
    return mt_approx_div(a, mt_approx_add(mt_approx_sqrt(v), hyper(eps)));
}

static mt_approx adam(const mt_hyper *h, int64_t t, mt_approx *m, mt_approx *v, mt_approx g)
{
    *m = average(h->beta1, *m, g);
    *v = average(h->beta2, *v, square(g));
    mt_approx m_hat = times(1 / (1 - pow(h->beta1, (double)t)), *m);
    mt_approx v_hat = times(1 / (1 - pow(h->beta2, (double)t)), *v);
    return over_root(m_hat, v_hat, h->eps);
}

static mt_approx direction(const mt_update_oracle *o, mt_approx *m, mt_approx *v, mt_approx p, mt_approx g)
{
    const mt_hyper *h = &o->hyper;
    mt_approx decay = times(h->weight_decay, p), decayed = mt_approx_add(g, decay), way;
    switch (o->kind) {
    case MT_SGD:
        return decayed;
    case MT_MOMENTUM:
        return *m = mt_approx_add(times(h->momentum, *m), decayed);
    case MT_NESTEROV:
        *m = mt_approx_add(times(h->momentum, *m), decayed);
        return mt_approx_add(decayed, times(h->momentum, *m));
    case MT_RMSPROP:
        *m = average(h->beta2, *m, square(decayed));
        return over_root(decayed, *m, h->eps);
    case MT_ADAM:
        return adam(h, o->step, m, v, decayed);
    case MT_ADAMW:
        return mt_approx_add(adam(h, o->step, m, v, g), decay);
    case MT_LION:
        way = sign(average(h->beta1, *m, g));
        *m = average(h->beta2, *m, g);
        return mt_approx_add(way, decay);
    default:
        MT_CHECK(false, "%s is not an elementwise rule", mt_update_rules[o->kind].name);
    }
}

/* Decay may also shrink p first: p (1 - lr wd) rounds the factor to f32, by at most u / 2 if it is from 1/2 to 1, and
 * the product. With the rounding of the difference that is 2.5 u |p|, of which mt_approx_sub counts two: one more. */
static void allow_shrinking(mt_approx *p, double before, const mt_hyper *h)
{
    if (h->weight_decay != 0)
        p->error += mt_tolerance(1, fabs(before));
}

/* ---- Adafactor -------------------------------------------------------------------------------- */

/* The sum of n numbers that lie `stride` apart: at most n - 1 additions touch any term. */
static mt_approx sum(const mt_approx *x, int64_t n, int64_t stride)
{
    mt_approx total = { 0, 0 };
    double magnitude = 0;
    for (int64_t i = 0; i < n; i++) {
        total.value += x[i * stride].value;
        total.error += x[i * stride].error;
        magnitude += fabs(x[i * stride].value);
    }
    total.error += mt_tolerance((double)n, magnitude);
    return total;
}

static mt_approx mean(const mt_approx *x, int64_t n, int64_t stride)
{
    return mt_approx_div(sum(x, n, stride), mt_approx_exact((double)n));
}

static mt_approx rms(const mt_approx *x, int64_t n)
{
    mt_approx *squares = malloc((size_t)n * sizeof *squares);
    MT_CHECK(squares, "out of memory");
    for (int64_t i = 0; i < n; i++)
        squares[i] = square(x[i]);
    mt_approx result = mt_approx_sqrt(mean(squares, n, 1));
    free(squares);
    return result;
}

static void adafactor(mt_update_oracle *o, const float *grad)
{
    int64_t R = o->rows, C = o->cols, n = R * C;
    double beta = 1 - pow((double)o->step, -0.8);
    mt_approx *r = o->state[0], *c = o->state[1], *u = malloc((size_t)n * sizeof *u);
    MT_CHECK(u, "out of memory");
    for (int64_t i = 0; i < n; i++)
        u[i] = mt_approx_add(square(mt_approx_exact(grad[i])), hyper(o->hyper.eps));
    for (int64_t i = 0; i < R; i++)
        r[i] = average(beta, r[i], mean(u + i * C, C, 1));
    for (int64_t j = 0; j < C; j++)
        c[j] = average(beta, c[j], mean(u + j, R, C));
    mt_approx mean_r = mean(r, R, 1);
    for (int64_t i = 0; i < n; i++) {
        mt_approx row = mt_approx_sqrt(mt_approx_div(r[i / C], mean_r));
        u[i] = mt_approx_div(mt_approx_exact(grad[i]), mt_approx_mul(row, mt_approx_sqrt(c[i % C])));
    }
    mt_approx size = mt_approx_max(mt_approx_exact(1e-3), rms(o->param, n));
    mt_approx rate = times(o->hyper.lr, mt_approx_div(size, mt_approx_max(mt_approx_exact(1), rms(u, n))));
    for (int64_t i = 0; i < n; i++) {
        mt_approx decay = times(o->hyper.lr, times(o->hyper.weight_decay, o->param[i]));
        double before = o->param[i].value;
        o->param[i] = mt_approx_sub(o->param[i], mt_approx_add(mt_approx_mul(rate, u[i]), decay));
        allow_shrinking(&o->param[i], before, &o->hyper);
    }
    free(u);
}

/* ---- Muon ------------------------------------------------------------------------------------- */

/* A matrix, [rows,cols], its norm (of all elements), and the norm of its f32 computation's error. */
typedef struct matrix {
    double *x;
    int64_t rows, cols;
    double norm, error;
} matrix;

static matrix new_matrix(int64_t rows, int64_t cols)
{
    return (matrix){ mt_calloc(rows * cols, sizeof(double)), rows, cols, 0, 0 };
}

static double norm_of(const double *x, int64_t n)
{
    double squares = 0;
    for (int64_t i = 0; i < n; i++)
        squares += x[i] * x[i];
    return sqrt(squares);
}

/* c = a b, or a b^T; c.error becomes that of its own sums, of at most `terms` terms that are not 0: the norm of the
 * bounds of its elements. */
static void multiply(matrix *c, const matrix *a, const matrix *b, bool transposed, int64_t terms)
{
    double squares = 0;
    for (int64_t i = 0; i < c->rows; i++)
        for (int64_t j = 0; j < c->cols; j++) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < a->cols; k++) {
                double term = a->x[i * a->cols + k] * b->x[transposed ? j * b->cols + k : k * b->cols + j];
                sum += term, size += fabs(term);
            }
            c->x[i * c->cols + j] = sum;
            squares += size * size;
        }
    c->error = mt_tolerance((double)terms, sqrt(squares));
    c->norm = norm_of(c->x, c->rows * c->cols);
}

/* An iteration of Newton-Schulz, to the first order of errors. With |s| <= S for all singular values, what an error of
 * the polynomial's matrix P = B S + C S S does to P x is S times as large. The A x that is added may stand in P's
 * diagonal instead. */
static void iterate(matrix *x, int64_t terms)
{
    const double A = 3.4445, B = -4.7750, C = 2.0315, S = 1.21, SLOPE = 4;
    const int64_t m = x->rows, n = x->cols;
    matrix s = new_matrix(m, m), p = new_matrix(m, m), next = new_matrix(m, n);
    multiply(&s, x, x, true, terms);
    multiply(&p, &s, &s, false, m);
    double of_p = (fabs(B) + 2 * C * S * S) * s.error + C * p.error + mt_tolerance(4, fabs(B) * s.norm + C * p.norm);
    for (int64_t i = 0; i < m * m; i++)
        p.x[i] = B * s.x[i] + C * p.x[i];
    multiply(&next, &p, x, false, m + 1);
    next.error += mt_tolerance((double)m + 4, A * x->norm) + mt_tolerance(2, next.norm) + S * of_p + SLOPE * x->error;
    for (int64_t i = 0; i < m * n; i++)
        next.x[i] += A * x->x[i];
    next.norm = norm_of(next.x, m * n);
    free(s.x), free(p.x), free(x->x);
    *x = next;
}

/* Nesterov's direction over its norm, with the shorter side first; *terms: how many columns are not 0. */
static matrix muon_direction(mt_update_oracle *o, const float *grad, int64_t *terms)
{
    const int64_t R = o->rows, C = o->cols, m = mt_min(R, C);
    matrix x = new_matrix(m, mt_max(R, C));
    double errors = 0;
    for (int64_t i = 0; i < R * C; i++) {
        mt_approx *b = &o->state[0][i], g = mt_approx_exact(grad[i]);
        *b = mt_approx_add(times(o->hyper.momentum, *b), g);
        mt_approx d = mt_approx_add(g, times(o->hyper.momentum, *b));
        x.x[R <= C ? i : i % C * R + i / C] = d.value;
        errors += d.error * d.error;
    }
    const double norm = norm_of(x.x, R * C), over = norm + o->hyper.eps;
    for (int64_t i = 0; i < R * C; i++)
        x.x[i] = over > 0 ? x.x[i] / over : 0;
    x.norm = over > 0 ? norm / over : 0;
    /* An error of d changes its norm by as much, at most, so the quotient by twice that. */
    x.error = over > 0 ? 2 * sqrt(errors) / over + mt_tolerance(6, x.norm) : 0;
    *terms = 0;
    for (int64_t j = 0; j < x.cols; j++) {
        bool any = false;
        for (int64_t i = 0; i < m; i++)
            any |= x.x[i * x.cols + j] != 0;
        *terms += any;
    }
    return x;
}

static void muon(mt_update_oracle *o, const float *grad)
{
    const int64_t R = o->rows, C = o->cols;
    int64_t terms;
    matrix x = muon_direction(o, grad, &terms);
    for (int i = 0; i < 5; i++)
        iterate(&x, terms);
    const double size = 0.2 * sqrt((double)mt_max(R, C));
    for (int64_t i = 0; i < R * C; i++) {
        mt_approx *p = &o->param[i], way = times(size, mt_approx_exact(x.x[R <= C ? i : i % C * R + i / C]));
        double before = p->value;
        *p = mt_approx_sub(*p, times(o->hyper.lr, mt_approx_add(way, times(o->hyper.weight_decay, *p))));
        allow_shrinking(p, before, &o->hyper);
    }
    o->whole = (1 + o->hyper.lr * o->hyper.weight_decay) * o->whole + o->hyper.lr * size * x.error;
    free(x.x);
}

/* ---- the oracle -------------------------------------------------------------------------------- */

mt_update_oracle *mt_update_oracle_new(mt_update_kind kind, mt_hyper h, int64_t rows, int64_t cols, const float *param)
{
    mt_update_oracle *o = mt_calloc(1, sizeof *o);
    *o = (mt_update_oracle){ .kind = kind, .hyper = h, .rows = rows, .cols = cols };
    o->param = mt_calloc((rows * cols + 1), sizeof *o->param);
    for (int64_t i = 0; i < rows * cols; i++)
        o->param[i] = mt_approx_exact(param[i]);
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        o->state[s] = calloc((size_t)(rows * cols + rows + cols + 1), sizeof *o->state[s]);
        MT_CHECK(o->state[s], "out of memory");
    }
    return o;
}

void mt_update_oracle_step(mt_update_oracle *o, const float *grad)
{
    o->step++;
    if (o->kind == MT_ADAFACTOR || o->kind == MT_MUON) {
        if (o->rows * o->cols > 0)
            (o->kind == MT_MUON ? muon : adafactor)(o, grad);
        return;
    }
    for (int64_t i = 0; i < o->rows * o->cols; i++) {
        mt_approx *p = &o->param[i];
        mt_approx way = direction(o, &o->state[0][i], &o->state[1][i], *p, mt_approx_exact(grad[i]));
        double before = p->value;
        *p = mt_approx_sub(*p, times(o->hyper.lr, way));
        if (o->kind == MT_SGD || o->kind == MT_ADAMW || o->kind == MT_LION)
            allow_shrinking(p, before, &o->hyper);
    }
}

/* `whole`: an error that all elements have together, beside their own. */
static const char *check(const char *name, const float *got, const mt_approx *want, int64_t n, double whole)
{
    static _Thread_local char distance[160];
    double squares = 0, bounds = 0;
    double *value = malloc((size_t)(n + 1) * sizeof *value), *error = malloc((size_t)(n + 1) * sizeof *error);
    MT_CHECK(value && error, "out of memory");
    for (int64_t i = 0; i < n; i++) {
        value[i] = want[i].value;
        error[i] = want[i].error + whole;
        squares += (got[i] - value[i]) * (got[i] - value[i]), bounds += want[i].error * want[i].error;
        MT_CHECK(isfinite(error[i]), "%s[%" PRId64 "]: its error bound is infinite", name, i);
    }
    const char *words = mt_compare(name, got, value, error, n);
    free(value), free(error);
    if (words || whole == 0 || sqrt(squares) <= whole + sqrt(bounds))
        return words;
    snprintf(distance, sizeof distance,
             "%s: all differences together are %.3g, the root of the sum of their squares; "
             "tolerance %.3g",
             name, sqrt(squares), whole + sqrt(bounds));
    return distance;
}

const char *mt_update_oracle_check(const mt_update_oracle *o, const float *param, float *const *state)
{
    for (int s = 0; s < MT_UPDATE_STATES; s++) {
        const char *words = check(mt_update_rules[o->kind].state_name[s], state[s], o->state[s],
                                  mt_update_state_floats(o->kind, s, o->rows, o->cols), 0);
        if (words)
            return words;
    }
    return check("param", param, o->param, o->rows * o->cols, o->whole);
}

void mt_update_oracle_free(mt_update_oracle *o)
{
    for (int s = 0; s < MT_UPDATE_STATES; s++)
        free(o->state[s]);
    free(o->param);
    free(o);
}
