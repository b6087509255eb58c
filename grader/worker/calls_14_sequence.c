/* calls_14_sequence.c -- how the worker calls sequence_parallel.c: ops and a block on ranks of worker/hub.h. */
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "parallel/sequence_parallel.h"
#include "worker/calls_14_tensor.h"

static void take(float *to, mt_tensor *values, int64_t n)
{
    MT_CHECK(mt_numel(values) == n, "the result has %lld elements, not %lld", (long long)mt_numel(values),
             (long long)n);
    memcpy(to, mt_data(mt_contiguous(values)), (size_t)n * sizeof(float));
}

/* ---- gather and scatter ------------------------------------------------------------------------------------ */

/* results, rows, out, dx, dout [P,n]; numbers, x [P,rows,C], kind, columns. With even rows x is [2,rows / 2,C]. */
static mt_status tokens(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    int64_t P = rank->base.size, r = rank->base.rank, C = N(columns), n = ARRAY(out)->count / P;
    int64_t rows = ARRAY(x)->count / P / C;
    mt_scope_begin();
    bool is_deep = N(kind) == MG_SP_SCATTER && rows % 2 == 0;
    mt_tensor *x = mg_leaf(is_deep ? MT_SHAPE(2, rows / 2, C) : MT_SHAPE(rows, C), F(x) + r * rows * C), *out = NULL;
    if (N(kind) == MG_SP_SCATTER) {
        out = mt_sp_scatter(&tp, x);
    } else {
        out = mt_sp_gather(&tp, x);
        if (N(kind) == MG_SP_TWICE)
            out = mt_add(mt_add(x, mt_sp_scatter(&tp, out)), mt_sp_scatter(&tp, out));
    }
    mg_note_forward(v, rank);
    MT_CHECK(mt_dim(out, -1) == C, "the result is %s, and has not %lld columns", mt_text_of(out), (long long)C);
    take(F(out) + r * n, out, n);
    mt_tensor *dout = mt_from(mt_shape_of(out), MT_F32, F(dout) + r * n);
    mt_backward_from(out, dout);
    mg_take_gradient(F(dx) + r * rows * C, x);
    memcpy(F(dout) + r * n, mt_data(dout), (size_t)n * sizeof(float));
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_sp_tokens(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), tokens, (void *)v);
}

/* ---- a block ------------------------------------------------------------------------------------------------- */

/* y = x + row(relu(column(g x))): results, rows, y, dx [P,N / P,C], dg, db2 [P,C], dw1 [P,C,F], db1 [P,F], dw2 [P,F,C];
 * numbers, x, dy [N,C], g, b2 [C], w1, b1, w2 as their gradients; N. b1, b2 may be NULL. */
static mt_status block(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    int64_t P = rank->base.size, r = rank->base.rank, m = N(N) / P, C = ARRAY(g)->count, F = ARRAY(w1)->count / P / C;
    mt_scope_begin();
    mt_tensor *x = mg_leaf(MT_SHAPE(m, C), F(x) + r * m * C), *g = mg_leaf(MT_SHAPE(C), F(g)),
              *w1 = mg_leaf(MT_SHAPE(C, F), F(w1) + r * C * F), *w2 = mg_leaf(MT_SHAPE(F, C), F(w2) + r * F * C),
              *b1 = F(b1) ? mg_leaf(MT_SHAPE(F), F(b1) + r * F) : NULL,
              *b2 = F(b2) ? mg_leaf(MT_SHAPE(C), F(b2)) : NULL, *unused = mg_leaf(MT_SHAPE(C), F(g));
    mt_tensor *h = mt_relu(mt_sp_column_linear(&tp, mt_mul(x, g), w1, b1));
    mt_tensor *y = mt_add(x, mt_sp_row_linear(&tp, h, w2, b2));
    mg_note_forward(v, rank);
    take(F(y) + r * m * C, y, m * C);
    mt_backward_from(y, mt_from(MT_SHAPE(m, C), MT_F32, F(dy) + r * m * C));
    mt_sp_sum_gradients(&tp, (mt_tensor *[]){ g, unused, b2 }, b2 ? 3 : 2);
    mg_take_gradient(F(dx) + r * m * C, x);
    mg_take_gradient(F(dg) + r * C, g);
    mg_take_gradient(F(dw1) + r * C * F, w1);
    mg_take_gradient(F(dw2) + r * F * C, w2);
    if (b1)
        mg_take_gradient(F(db1) + r * F, b1);
    if (b2)
        mg_take_gradient(F(db2) + r * C, b2);
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_sp_block(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), block, (void *)v);
}
