/* test_vocabulary.c -- token table, logits and loss on several ranks, beside one. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "aborts.h"
#include "autograd/tape.h"
#include "core/scope.h"
#include "counted.h"
#include "parallel/tensor_parallel.h"
#include "on_ranks.h"

TestSuite(vocabulary, .timeout = 60);

enum { C = 7, N = 33, ROWS = 131, RANKS = 4 };

/* A table of `rows` rows, of which the first `classes` are classes; numbers of the whole model. */
typedef struct model {
    int64_t rows, classes;
    float w[ROWS * C];
    int32_t id[N], target[N];
} model;

static model *new_model(int64_t rows, int64_t classes)
{
    model *m = calloc(1, sizeof *m);
    m->rows = rows, m->classes = classes;
    for (int64_t i = 0; i < ROWS * C; i++)
        m->w[i] = (float)(i * 7919 % 1009) / 500 - 1;
    for (int n = 0; n < N; n++) {
        m->id[n] = (int32_t)(n * 37 % classes);
        m->target[n] = (int32_t)((n * 53 + 11) % classes);
    }
    m->target[0] = 0;
    m->target[N - 1] = (int32_t)classes - 1;
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

/* ---- token table and classifier ---------------------------------------------------------------------------- */

/* An embedding, and a classifier with the same table. */
static mt_tensor *forward(mt_tp *tp, const model *m, mt_tensor *w, mt_tp_range rows)
{
    mt_tensor *x = mt_tp_embedding(tp, w, tokens(m->id), rows);
    return mt_tp_classifier(tp, x, w, tokens(m->target), mt_tp_classes(rows, m->classes));
}

/* What one rank has; values of each function are graded (grader/checks/14-vocabulary.c). */
static mt_status as_alone(mt_comm *comm, void *user)
{
    const model *m = user;
    counted c = new_counted(comm, -1);
    mt_comm *self = alone();
    mt_tp tp = { &c.base, MT_OK }, one = { self, MT_OK };
    mt_tp_range mine = mt_tp_range_of(m->rows, comm->size, comm->rank), all = { 0, m->rows, m->rows };
    mt_scope_begin();
    mt_tensor *w = rows_of(m, mine), *whole = rows_of(m, all);
    mt_tensor *loss = forward(&tp, m, w, mine), *want = forward(&one, m, whole, all);
    cr_assert_float_eq(mt_f32(loss)[0], mt_f32(want)[0], 1e-5);
    mt_backward(loss);
    mt_backward(want);
    for (int64_t i = 0; i < mt_numel(w); i++)
        cr_assert_float_eq(mt_f32(w->grad)[i], mt_f32(whole->grad)[mine.begin * C + i], 1e-5);
    cr_assert(tp.status == MT_OK && c.sums == 2 * N + 2 * N * C && c.maxima == N && c.gathered == 0);
    mt_zero_grad(w);
    mt_zero_grad(whole);
    mt_scope_end();
    mt_comm_free(self);
    return MT_OK;
}

Test(vocabulary, ranks_have_loss_and_gradients_of_one)
{
    static const int64_t tables[][2] = { { 1, 1 }, { 3, 2 }, { 31, 31 }, { 128, 65 }, { 131, 127 } };
    for (int i = 0; i < MT_COUNT(tables); i++)
        for (int size = 1; size <= RANKS; size++) {
            model *m = new_model(tables[i][0], tables[i][1]);
            cr_assert_eq(run(size, (mt_wires){ .deadline = 100 }, as_alone, m).status, MT_OK);
            free(m);
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
    const model *m = new_model(33, 33);
    counted c = new_counted(comm, *(int64_t *)user);
    mt_tp tp = { &c.base, MT_OK };
    mt_tp_range mine = mt_tp_range_of(m->rows, comm->size, comm->rank);
    mt_scope_begin();
    mt_tensor *w = rows_of(m, mine);
    mt_backward(forward(&tp, m, w, mine));
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
