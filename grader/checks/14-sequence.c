/* 14-sequence.c -- how the checks of steps 14.14 and 14.15 run: tensor-parallel ranks that divide tokens, in integers
 * (14-integers.h). Rows: 14-model-parallel.c. */
#include "checks/14-mlp.h"
#include "checks/14-model-parallel.h"
#include "worker/tensor.h"

#include <inttypes.h>
#include <string.h>

/* ---- 14.14 gather and scatter ------------------------------------------------------------------------------- */

enum { OWN = 4, DEEP = 9, LONG_OWN = 90, LONG_DEEP = 17, MOST_ALL = RANKS * LONG_OWN * LONG_DEEP };

typedef struct tokens {
    int64_t ranks, kind, own, C; /* own: rows of a rank's part */
    double x[RANKS * MOST_ALL], dx[RANKS * MOST_ALL], out[RANKS * MOST_ALL], dout[RANKS * MOST_ALL];
} tokens;

/* The sum over the ranks of number i of what each has. */
static double sum_of(const double *each, int64_t ranks, int64_t stride, int64_t i)
{
    double sum = 0;
    for (int64_t r = 0; r < ranks; r++)
        sum += each[r * stride + i];
    return sum;
}

static void compute_tokens(tokens *t)
{
    int64_t P = t->ranks, part = t->own * t->C, all = P * part;
    for (int64_t r = 0; r < P; r++)
        for (int64_t i = 0; i < (t->kind == MG_SP_TWICE ? part : all); i++) {
            bool is_own = i / part == r;
            if (t->kind == MG_SP_GATHER) {
                t->out[r * all + i] = t->x[i];
                if (is_own)
                    t->dx[i] = sum_of(t->dout, P, all, i);
            } else if (t->kind == MG_SP_SCATTER) {
                t->dx[r * all + i] = t->dout[i];
                if (is_own)
                    t->out[i] = sum_of(t->x, P, all, i);
            } else { /* each rank's summand of own tokens is x itself */
                t->out[r * part + i] = (double)(1 + 2 * P) * t->x[r * part + i];
                t->dx[r * part + i] = (double)(1 + 2 * P) * t->dout[r * part + i];
            }
        }
}

static bool judge_tokens(mg_run *run, sequence_about about, const tokens *t, int64_t calls, int64_t fails)
{
    int64_t each = calls / 2, part = t->own * t->C; /* as many in forward as in backward, of a part each */
    if (fails >= 0)
        return mg_14_judge_failure(run, t->ranks, fails);
    if (about == SEQUENCE_CALLS)
        return mg_14_judge_calls(run, t->ranks,
                                 &(tensor_calls){ each, calls, 0, 0, each * part * 4, false, each * part });
    return mg_expect(run, "out", t->out, NULL) && mg_expect(run, "dx", t->dx, NULL) &&
           mg_expect(run, "dout", t->dout, NULL);
}

static bool tokens_once(mg_run *run, sequence_about about, int64_t ranks, int64_t kind, bool many)
{
    mt_rng *rng = mg_rng(run);
    tokens *t = mt_calloc(1, sizeof *t);
    *t = (tokens){ .ranks = ranks,
                   .kind = kind,
                   .own = many ? LONG_OWN : mg_pick(rng, 1, OWN),
                   .C = many ? LONG_DEEP : mg_pick(rng, 1, DEEP) };
    int64_t part = t->own * t->C, all = ranks * part, calls = kind == MG_SP_TWICE ? 6 : 2;
    int64_t fails = about == SEQUENCE_FAILS ? mg_pick(rng, 0, calls - 1) : -1;
    int64_t in = kind == MG_SP_SCATTER ? all : part, out = kind == MG_SP_GATHER ? all : part;
    mg_begin(run, "mt_sp_gather, mt_sp_scatter");
    mg_as_called(run, "%s on %" PRId64 " ranks with %" PRId64 " tokens of %" PRId64 " numbers each, and its backward",
                 kind == MG_SP_GATHER    ? "mt_sp_gather(tp, x)"
                 : kind == MG_SP_SCATTER ? "mt_sp_scatter(tp, x)"
                                         : "g = mt_sp_gather(tp, x), x + mt_sp_scatter(tp, g) + mt_sp_scatter(tp, g)",
                 ranks, t->own, t->C);
    mg_14_ranks(run, ranks);
    mg_out(run, "out", MT_F32, MT_SHAPE(ranks, out));
    mg_out(run, "dx", MT_F32, MT_SHAPE(ranks, in));
    float *lent = mg_inout(run, "dout", MT_F32, MT_SHAPE(ranks, out));
    mg_14_numbers(run, fails, NULL, 0);
    lift(t->x, input(run, "x", MT_SHAPE(ranks, in), 9), ranks * in);
    lift(t->dout, integers(run, lent, ranks * out, 9), ranks * out);
    mg_i64(run, "kind", kind);
    mg_i64(run, "columns", t->C);
    compute_tokens(t);
    bool good = mg_14_call(run, ranks, about == (sequence_about)kind) && judge_tokens(run, about, t, calls, fails);
    free(t);
    return good;
}

void mg_14_tokens(mg_run *run, const void *one_case)
{
    sequence_about about = ((const sequence_case *)one_case)->about;
    static const mg_idea tries[] = { { NULL }, { "many tokens", "there may be any number of tokens", true } };
    for (mg_ideas t = { 0 }; MG_NEXT(run, &t, tries, 0);)
        for (int64_t ranks = t.is ? 3 : about == SEQUENCE_FAILS ? 2 : 1; ranks <= (t.is ? 3 : RANKS); ranks++)
            for (int64_t kind = MG_SP_GATHER; kind <= MG_SP_TWICE; kind++)
                if ((about == SEQUENCE_CALLS || about == SEQUENCE_FAILS || about == (sequence_about)kind) &&
                    !tokens_once(run, about, ranks, kind, t.is))
                    return;
}

/* ---- 14.15 a block ------------------------------------------------------------------------------------------ */

/* y = x + relu((g x) w1 + b1) w2 + b2 of one device: an MLP whose input is g x. Of -2 .. 2 the largest sum, of g's
 * gradient, is at most 12 * 2 * 2 * 32 * 8 * 4 = 49 152. */
typedef struct block {
    mlp m;
    double x[ROWS_ * WIDE], g[WIDE], dg[WIDE];
} block;

static void compute_block(block *b)
{
    mlp *m = &b->m;
    for (int64_t i = 0; i < m->n * m->I; i++)
        m->x[i] = b->x[i] * b->g[i % m->I];
    compute_mlp(m);
    for (int64_t i = 0; i < m->n * m->I; i++) {
        m->y[i] += b->x[i];
        b->dg[i % m->I] += m->dx[i] * b->x[i];
        m->dx[i] = m->dx[i] * b->g[i % m->I] + m->dy[i];
    }
}

static void bias(mg_run *run, const char *name, double *to, mt_shape shape, bool has_bias)
{
    if (has_bias)
        lift(to, input(run, name, shape, 2), mt_shape_numel(shape));
    else
        mg_null(run, name);
}

/* fails: the number of the collective that fails, of the 5; -1: none does. */
static bool block_once(mg_run *run, sequence_about about, int64_t ranks, int64_t fails)
{
    mt_rng *rng = mg_rng(run);
    block b = { .m = { .ranks = ranks,
                       .n = ranks * mg_pick(rng, 1, ROWS_ / RANKS),
                       .I = mg_pick(rng, 1, WIDE),
                       .F = mg_pick(rng, 1, WIDE) } };
    mlp *m = &b.m;
    m->O = m->I;
    bool has_bias = about != SEQUENCE_NO_BIAS;
    const int64_t n = m->n * m->I, part = n / ranks;
    mt_shape w1 = MT_SHAPE(ranks, m->I, m->F), b1 = MT_SHAPE(ranks, m->F), w2 = MT_SHAPE(ranks, m->F, m->I);
    mg_begin(run, "a block");
    mg_as_called(run,
                 "mt_add(x, mt_sp_row_linear(tp, mt_relu(mt_sp_column_linear(tp, mt_mul(x, g), w1, b1)), w2, b2)) on "
                 "%" PRId64 " ranks, its backward, and mt_sp_sum_gradients of g and b2",
                 ranks);
    mg_14_ranks(run, ranks);
    mg_out(run, "y", MT_F32, MT_SHAPE(ranks, part));
    mg_out(run, "dx", MT_F32, MT_SHAPE(ranks, part));
    mg_out(run, "dg", MT_F32, MT_SHAPE(ranks, m->I));
    mg_out(run, "dw1", MT_F32, w1);
    has_bias ? mg_out(run, "db1", MT_F32, b1) : mg_null(run, "db1");
    mg_out(run, "dw2", MT_F32, w2);
    has_bias ? mg_out(run, "db2", MT_F32, MT_SHAPE(ranks, m->I)) : mg_null(run, "db2");
    mg_14_numbers(run, fails, NULL, 0);
    lift(b.x, input(run, "x", MT_SHAPE(n), 2), n);
    lift(b.g, input(run, "g", MT_SHAPE(m->I), 2), m->I);
    lift(m->w1, input(run, "w1", w1, 2), mt_shape_numel(w1));
    bias(run, "b1", m->b1, b1, has_bias);
    lift(m->w2, input(run, "w2", w2, 2), mt_shape_numel(w2));
    bias(run, "b2", m->b2, MT_SHAPE(m->I), has_bias);
    lift(m->dy, input(run, "dy", MT_SHAPE(n), 2), n);
    mg_i64(run, "N", m->n);
    if (!mg_14_call(run, ranks, about == SEQUENCE_VALUES || about == SEQUENCE_NO_BIAS))
        return false;
    if (about == SEQUENCE_FAILS)
        return mg_14_judge_failure(run, ranks, fails);
    if (about == SEQUENCE_CALLS)
        return mg_14_judge_calls(run, ranks, &(tensor_calls){ 2, 5, 2 * m->I, 0, 2 * part * 4, false, 2 * part });
    compute_block(&b);
    return mg_expect(run, "y", m->y, NULL) && mg_expect(run, "dx", m->dx, NULL) &&
           mg_expect(run, "dw1", m->dw1, NULL) && mg_expect(run, "dw2", m->dw2, NULL) &&
           expect_alike(run, "dg", b.dg, ranks, m->I) &&
           (!has_bias || (mg_expect(run, "db1", m->db1, NULL) && expect_alike(run, "db2", m->db2, ranks, m->I)));
}

void mg_14_sequence(mg_run *run, const void *one_case)
{
    sequence_about about = ((const sequence_case *)one_case)->about;
    bool some = about == SEQUENCE_FAILS;
    for (int64_t ranks = some ? 2 : 1; ranks <= RANKS; ranks++)
        for (int64_t fails = some ? 0 : -1; fails < (some ? 5 : 0); fails++)
            if (!block_once(run, about, ranks, fails))
                return;
}
