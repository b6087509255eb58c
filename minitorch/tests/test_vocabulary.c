/* test_vocabulary.c -- token table, logits and loss on several ranks, against one rank in double. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "counted.h"
#include "dist/tensor_parallel.h"
#include "must.h"
#include "on_ranks.h"
#include "testing/compare.h"

TestSuite(vocabulary, .timeout = 60);

enum { C = 7, N = 33, ROWS = 131, RANKS = 4 };

/* A table of `rows` rows, of which the first `classes` are classes; numbers of the whole model. */
typedef struct model {
    int64_t rows, classes;
    float w[ROWS * C], x[N * C], dx[N * C] /* upstream gradient of the embedding */, scale;
    int32_t id[N], target[N];
} model;

static void fill(float *to, int64_t n, uint64_t seed)
{
    float *from = mt_test_uniform(seed, n, -1, 1);
    memcpy(to, from, (size_t)n * sizeof *to);
    free(from);
}

static model *new_model(int64_t rows, int64_t classes, float scale)
{
    model *m = calloc(1, sizeof *m);
    m->rows = rows, m->classes = classes, m->scale = scale;
    fill(m->w, ROWS * C, 1);
    fill(m->x, N * C, 2);
    fill(m->dx, N * C, 3);
    for (int n = 0; n < N; n++) {
        m->id[n] = (int32_t)(n * 37 % classes);
        m->target[n] = (int32_t)((n * 53 + 11) % classes);
    }
    m->target[0] = 0;
    m->target[N - 1] = (int32_t)classes - 1;
    for (int64_t i = 0; i < N * C; i++)
        m->x[i] *= scale;
    return m;
}

static mt_tensor *floats(mt_shape shape, const float *values, bool wanted)
{
    mt_tensor *t = mt_from(shape, MT_F32, values);
    t->requires_grad = wanted;
    return t;
}

static mt_tensor *tokens(const int32_t *values)
{
    return mt_from(MT_SHAPE(N), MT_I32, values);
}

static mt_tensor *rows_of(const model *m, mt_tp_range range)
{
    return floats(MT_SHAPE(range.end - range.begin, C), m->w + range.begin * C, true);
}

/* ---- the range --------------------------------------------------------------------------------------------- */

Test(vocabulary, ranges_follow_one_another_and_differ_by_one_row_at_most)
{
    for (int size = 1; size <= 9; size++)
        for (int64_t n = 0; n < 40; n++) {
            int64_t at = 0;
            for (int rank = 0; rank < size; rank++) {
                mt_tp_range r = mt_tp_range_of(n, size, rank);
                cr_assert(r.all == n && r.begin == at && r.end - r.begin == n / size + (rank < n % size));
                at = r.end;
            }
            cr_assert_eq(at, n);
        }
    mt_tp_range most = mt_tp_range_of(INT64_MAX, 4, 3);
    cr_assert(most.end == INT64_MAX && most.begin == INT64_MAX - INT64_MAX / 4);
    mt_tp_range some = mt_tp_classes((mt_tp_range){ 8, 12, 16 }, 10), none = mt_tp_classes(most, 10);
    cr_assert(some.begin == 8 && some.end == 10 && some.all == 10 && none.begin == 10 && none.end == 10);
}

/* ---- embedding --------------------------------------------------------------------------------------------- */

static mt_status embed(mt_comm *comm, void *user)
{
    const model *m = user;
    counted c = new_counted(comm, -1);
    mt_tp tp = { &c.base, MT_OK };
    mt_tp_range mine = mt_tp_range_of(m->rows, comm->size, comm->rank);
    static const double no_tolerance[N * C];
    double want[N * C], dw[ROWS * C] = { 0 }, tolerance[ROWS * C] = { 0 };
    mt_scope_begin();
    mt_tensor *w = rows_of(m, mine), *out = mt_tp_embedding(&tp, w, tokens(m->id), mine);
    for (int n = 0; n < N; n++)
        for (int k = 0; k < C; k++) { /* at most N sums of gradients */
            want[n * C + k] = (double)m->w[m->id[n] * C + k];
            dw[m->id[n] * C + k] += (double)m->dx[n * C + k];
            tolerance[m->id[n] * C + k] += mt_tolerance(N, fabs((double)m->dx[n * C + k]));
        }
    must(mt_compare("embedding", mt_f32(out), want, no_tolerance, N * C));
    cr_assert(tp.status == MT_OK && c.calls == 1 && c.sums == N * C);
    mt_backward_from(out, floats(MT_SHAPE(N, C), m->dx, false));
    must(mt_compare("gradient of the table", mt_f32(w->grad), dw + mine.begin * C, tolerance + mine.begin * C,
                    mt_numel(w)));
    cr_assert_eq(c.calls, 1);
    mt_zero_grad(w);
    mt_scope_end();
    return MT_OK;
}

static const struct {
    int64_t rows, classes;
} tables[] = { { 1, 1 }, { 3, 2 }, { 31, 31 }, { 33, 33 }, { 128, 65 }, { 131, 127 }, { 131, 131 } };

Test(vocabulary, an_embedding_has_the_rows_of_the_whole_table)
{
    for (int i = 0; i < MT_COUNT(tables); i++)
        for (int size = 1; size <= RANKS; size++) {
            model *m = new_model(tables[i].rows, tables[i].classes, 1);
            cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, embed, m).status, MT_OK);
            free(m);
        }
}

/* ---- classifier -------------------------------------------------------------------------------------------- */

/* Values in double, each with a bound of what f32 may differ by: roundings at the place where they are made, carried on
 * to the end. Errors of errors are 1e-5 of a bound, which is made 1.01 times as large for them. */
typedef struct truth {
    double loss, loss_error, dx[N * C], dx_error[N * C], dw[ROWS * C], dw_error[ROWS * C];
    double dlogits[N * ROWS], dlogits_error[N * ROWS]; /* [N,classes] */
} truth;

/* One row: logits and their errors; ranks P. */
static void true_row(truth *t, const model *m, int n, const double *logit, const double *error, int P)
{
    enum { EXP = 3 }; /* roundings of mt_expf: 1.1 units in the last place, of 2 u at most each */
    const double u = MT_UNIT_F32, *right = &logit[m->target[n]];
    double max = logit[0], sum = 0, sum_error = 0, *d = t->dlogits + n * m->classes,
           *d_error = t->dlogits_error + n * m->classes;
    for (int64_t v = 0; v < m->classes; v++)
        max = fmax(max, logit[v]);
    for (int64_t v = 0; v < m->classes; v++) { /* the difference, with an error of its size, then exp */
        double p = exp(logit[v] - max);
        sum += d[v] = p;
        sum_error += p * (d_error[v] = error[v] + u * (max - logit[v]) + EXP * u);
    }
    sum_error = sum_error / sum + P * u; /* relative: each rank's sum, and P - 1 sums of those */
    for (int64_t v = 0; v < m->classes; v++) {
        double p = d[v] / sum, y = v == m->target[n];
        d[v] = (p - y) / N;
        d_error[v] = (p * (d_error[v] + sum_error + u) + 4 * u * fabs(p - y)) / N; /* difference, 1/N, share, product */
    }
    t->loss += (log(sum) + max - *right) / N;
    t->loss_error += (sum_error + MT_LIBM_ROUNDINGS * u * log(sum) + error[m->target[n]] + u * (max - *right) +
                      2 * u * (log(sum) + max - *right)) /
                     N;
}

static truth *true_model(const model *m, int P, bool given_logits, const float *given)
{
    truth *t = calloc(1, sizeof *t);
    double logit[ROWS], error[ROWS];
    for (int n = 0; n < N; n++) {
        for (int64_t v = 0; v < m->classes; v++) {
            double sum = 0, size = 0;
            for (int k = 0; k < C; k++) {
                double term = (double)m->x[n * C + k] * (double)m->w[v * C + k];
                sum += term, size += fabs(term);
            }
            logit[v] = given_logits ? (double)given[n * m->classes + v] : sum;
            error[v] = given_logits ? 0 : mt_tolerance(C, size);
        }
        true_row(t, m, n, logit, error, P);
        for (int64_t v = 0; v < m->classes; v++)
            for (int k = 0; k < C; k++) {
                double d = t->dlogits[n * m->classes + v], e = t->dlogits_error[n * m->classes + v];
                double x = (double)m->x[n * C + k], w = (double)m->w[v * C + k];
                t->dx[n * C + k] += d * w;
                t->dx_error[n * C + k] += 1.01 * fabs(e * w) + mt_tolerance((double)m->classes + P, fabs(d * w));
                t->dw[v * C + k] += d * x;
                t->dw_error[v * C + k] += 1.01 * fabs(e * x) + mt_tolerance(N + 1, fabs(d * x));
            }
    }
    t->loss_error *= 1.01;
    return t;
}

static mt_status classify(mt_comm *comm, void *user)
{
    const model *m = user;
    counted c = new_counted(comm, -1);
    mt_tp tp = { &c.base, MT_OK };
    mt_tp_range rows = mt_tp_range_of(m->rows, comm->size, comm->rank), mine = mt_tp_classes(rows, m->classes);
    truth *t = true_model(m, comm->size, false, NULL);
    mt_scope_begin();
    mt_tensor *x = floats(MT_SHAPE(3, N / 3, C), m->x, true), *w = rows_of(m, rows);
    mt_tensor *loss = mt_tp_classifier(&tp, x, w, tokens(m->target), mine);
    must(mt_compare("loss", mt_f32(loss), &t->loss, &t->loss_error, 1));
    cr_assert(c.maxima == N && c.sums == 2 * N && c.calls <= 3);
    mt_backward(loss);
    must(mt_compare("dx", mt_f32(x->grad), t->dx, t->dx_error, N * C));
    must(mt_compare("dw", mt_f32(w->grad), t->dw + rows.begin * C, t->dw_error + rows.begin * C, mt_numel(w)));
    cr_assert(tp.status == MT_OK && c.sums == 2 * N + N * C && c.maxima == N && c.gathered == 0);
    mt_zero_grad(x);
    mt_zero_grad(w);
    mt_scope_end();
    free(t);
    return MT_OK;
}

Test(vocabulary, a_classifier_has_loss_and_gradients_of_one_rank)
{
    for (int i = 0; i < MT_COUNT(tables); i++)
        for (int size = 1; size <= RANKS; size++) {
            model *m = new_model(tables[i].rows, tables[i].classes, i % 2 ? 1 : 30);
            cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, classify, m).status, MT_OK);
            free(m);
        }
}

/* Logits that are far from each other: what one rank has is nothing beside another's, or overflows by itself. */
typedef struct far_logits {
    model *m;
    float logits[N * ROWS];
} far_logits;

static mt_status entropy(mt_comm *comm, void *user)
{
    const far_logits *f = user;
    const model *m = f->m;
    mt_tp tp = { comm, MT_OK };
    mt_tp_range mine = mt_tp_range_of(m->classes, comm->size, comm->rank);
    int64_t width = mine.end - mine.begin;
    truth *t = true_model(m, comm->size, true, f->logits);
    float own[N * ROWS];
    double want[N * ROWS], tolerance[N * ROWS];
    for (int64_t n = 0; n < N; n++)
        for (int64_t v = 0; v < width; v++) {
            own[n * width + v] = f->logits[n * m->classes + mine.begin + v];
            want[n * width + v] = t->dlogits[n * m->classes + mine.begin + v];
            tolerance[n * width + v] = mt_tolerance(4, 0) + 1.01 * t->dlogits_error[n * m->classes + mine.begin + v];
        }
    mt_scope_begin();
    mt_tensor *logits = floats(MT_SHAPE(N, width), own, true);
    mt_tensor *loss = mt_tp_cross_entropy(&tp, logits, tokens(m->target), mine);
    must(mt_compare("loss", mt_f32(loss), &t->loss, &t->loss_error, 1));
    mt_backward(loss);
    must(mt_compare("dlogits", mt_f32(logits->grad), want, tolerance, N * width));
    mt_zero_grad(logits);
    mt_scope_end();
    free(t);
    return MT_OK;
}

Test(vocabulary, logits_of_ranks_may_be_far_from_each_other)
{
    static far_logits f;
    static const float place[] = { -200, 300, 90, -95 };
    for (int size = 1; size <= RANKS; size++) {
        f.m = new_model(131, 127, 1);
        fill(f.logits, N * ROWS, 9);
        for (int n = 0; n < N; n++)
            for (int64_t v = 0; v < f.m->classes; v++)
                f.logits[n * f.m->classes + v] += place[(v * 4 / f.m->classes + n) % 4];
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, entropy, &f).status, MT_OK);
        free(f.m);
    }
}

/* ---- the norm ---------------------------------------------------------------------------------------------- */

static mt_status norm(mt_comm *comm, void *user)
{
    double *got = user;
    counted c = new_counted(comm, -1);
    mt_tp tp = { &c.base, MT_OK };
    got[comm->rank] = mt_tp_norm(&tp, 1e30 * (comm->rank + 1), 1e30 * comm->size);
    cr_assert(c.calls == 1 && c.gathered == 8);
    return tp.status;
}

Test(vocabulary, a_norm_has_the_squares_of_all_parts_and_replicated_ones_once)
{
    for (int size = 1; size <= RANKS; size++) {
        double got[RANKS], squares = size * size;
        for (int rank = 1; rank <= size; rank++)
            squares += rank * rank;
        cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, norm, got).status, MT_OK);
        for (int rank = 0; rank < size; rank++)
            cr_assert(fabs(got[rank] - 1e30 * sqrt(squares)) <= 1e30 * 1e-15 * squares && got[rank] == got[0]);
    }
}

/* ---- failures ---------------------------------------------------------------------------------------------- */

static mt_status fail_one(mt_comm *comm, void *user)
{
    const model *m = new_model(33, 33, 1);
    counted c = new_counted(comm, *(int64_t *)user);
    mt_tp tp = { &c.base, MT_OK };
    mt_tp_range mine = mt_tp_range_of(m->rows, comm->size, comm->rank);
    mt_scope_begin();
    mt_tensor *w = rows_of(m, mine), *x = mt_tp_embedding(&tp, w, tokens(m->id), mine);
    mt_backward(mt_tp_classifier(&tp, x, w, tokens(m->target), mine));
    double all = mt_tp_norm(&tp, 1, 1);
    cr_assert(tp.status == MT_ERR_UNAVAILABLE && c.calls == c.fails + 1 && isnan(all));
    mt_zero_grad(w);
    mt_scope_end();
    free((model *)m);
    return MT_OK;
}

Test(vocabulary, nothing_is_called_after_a_collective_that_failed)
{
    for (int64_t fails = 0; fails < 5; fails++)
        cr_assert_eq(run(2, (mt_wires){ .deadline = 100 }, fail_one, &fails).status, MT_OK);
}

Test(vocabulary, what_does_not_fit_is_refused_in_words)
{
    mt_comm *self = alone();
    mt_tp tp = { self, MT_OK };
    mt_tp_range range = { 0, 4, 4 };
    int32_t wrong[N] = { [5] = 4, [6] = -1 };
    float w[5 * C] = { 0 };
    mt_scope_begin();
    mt_tensor *table = floats(MT_SHAPE(4, C), w, false), *short_one = floats(MT_SHAPE(3, C), w, false);
    mt_tensor *x = mt_zeros(MT_SHAPE(N, C), MT_F32, MT_CPU), *logits = mt_zeros(MT_SHAPE(N, 4), MT_F32, MT_CPU);
    mt_tensor *id = mt_zeros(MT_SHAPE(N), MT_I32, MT_CPU), *less = mt_zeros(MT_SHAPE(N - 1), MT_I32, MT_CPU);
    ABORTS("tp_embedding: token[5] is 4, but the ranks together have 0 .. 3",
           mt_tp_embedding(&tp, table, tokens(wrong), range));
    ABORTS("it must be [4,C]", mt_tp_embedding(&tp, short_one, id, range));
    ABORTS("token[5] is 4", mt_tp_cross_entropy(&tp, logits, tokens(wrong), range));
    wrong[5] = 0;
    ABORTS("token[6] is -1", mt_tp_cross_entropy(&tp, logits, tokens(wrong), range));
    ABORTS("they must be i32", mt_tp_cross_entropy(&tp, logits, mt_zeros(MT_SHAPE(N), MT_I64, MT_CPU), range));
    ABORTS("targets are [32]", mt_tp_cross_entropy(&tp, logits, less, range));
    ABORTS("they must be [N,3]", mt_tp_cross_entropy(&tp, logits, id, (mt_tp_range){ 0, 3, 4 }));
    ABORTS("at least the 4 rows", mt_tp_classifier(&tp, x, short_one, id, range));
    mt_scope_end();
    mt_comm_free(self);
}
