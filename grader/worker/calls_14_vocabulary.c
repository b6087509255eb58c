/* calls_14_vocabulary.c -- how the worker calls vocabulary.c, on ranks of worker/hub.h: each takes its rows or columns
 * of what the checker gives for all. */
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "worker/calls_14_tensor.h"

void mg_call_tp_range(const mg_value *v)
{
    for (int64_t i = 0; i < ARRAY(begin)->count; i++) {
        mt_tp_range r = mt_tp_range_of(I64(rows)[i], (int)I64(size)[i], (int)I64(rank)[i]);
        I64(begin)[i] = r.begin, I64(end)[i] = r.end, I64(all)[i] = r.all;
    }
}

/* Rank r has rows at[r] .. at[r + 1] - 1, where at [P + 1]. */
static mt_tp_range range_of(const mg_value *at, int rank)
{
    return (mt_tp_range){ at->i64s[rank], at->i64s[rank + 1], at->i64s[at->count - 1] };
}

/* results, rows, out [P,n,C], dw [V,C]; numbers, w [V,C], ids [n] (with an even n they are [2,n / 2]), dout [n,C], at
 * [P + 1] */
static mt_status embedding(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    mt_tp_range mine = range_of(ARRAY(at), rank->base.rank);
    int64_t n = ARRAY(ids)->count, C = ARRAY(dout)->count / n;
    mt_scope_begin();
    mt_tensor *w = mg_leaf(MT_SHAPE(mine.end - mine.begin, C), F(w) + mine.begin * C);
    mt_shape shape = n % 2 ? MT_SHAPE(n) : MT_SHAPE(2, n / 2), rows = n % 2 ? MT_SHAPE(n, C) : MT_SHAPE(2, n / 2, C);
    mt_tensor *out = mt_tp_embedding(&tp, w, mt_from(shape, MT_I32, I32(ids)), mine);
    mg_note_forward(v, rank);
    memcpy(F(out) + rank->base.rank * n * C, mt_data(out), (size_t)(n * C) * sizeof(float));
    mt_backward_from(mt_scale(mt_sum(w), MG_TP_MORE), mt_from(MT_SCALAR, MT_F32, &(float){ 1 })); /* another user's */
    mt_backward_from(out, mt_from(rows, MT_F32, F(dout)));
    mg_take_gradient(F(dw) + mine.begin * C, w);
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_embedding(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), embedding, (void *)v);
}

static mt_status cross_entropy(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    mt_tp_range mine = range_of(ARRAY(at), rank->base.rank);
    int64_t n = ARRAY(target)->count, V = ARRAY(logits)->count / n, width = mine.end - mine.begin;
    float *own = malloc((size_t)(n * width) * sizeof *own + 1);
    MT_CHECK(own, "out of memory");
    for (int64_t i = 0; i < n && width > 0; i++)
        memcpy(own + i * width, F(logits) + i * V + mine.begin, (size_t)width * sizeof *own);
    mt_scope_begin();
    mt_tensor *logits = mg_leaf(MT_SHAPE(n, width), own);
    mt_tensor *loss = mt_tp_cross_entropy(&tp, logits, mt_from(MT_SHAPE(n), MT_I32, I32(target)), mine);
    mg_note_forward(v, rank);
    F(loss)[rank->base.rank] = (float)mt_item(loss);
    mt_tensor *more = mt_scale(mt_sum(logits), MG_TP_MORE); /* the gradient of another user, which comes first */
    mt_backward_from(mt_add(loss, more), mt_from(MT_SCALAR, MT_F32, F(dloss)));
    mg_take_gradient(own, logits);
    for (int64_t i = 0; i < n && width > 0; i++)
        memcpy(F(dlogits) + i * V + mine.begin, own + i * width, (size_t)width * sizeof *own);
    mt_scope_end();
    free(own);
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_cross_entropy(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), cross_entropy, (void *)v);
}

/* results, rows, loss [P], dx [P,N,C], dw [V,C]; numbers, x [N,C], w [V,C], target [N], at [P + 1] of the table's rows,
 * classes */
static mt_status classifier(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    mt_tp_range rows = range_of(ARRAY(at), rank->base.rank);
    int64_t n = ARRAY(target)->count, C = ARRAY(x)->count / n;
    mt_scope_begin();
    mt_tensor *x = mg_leaf(MT_SHAPE(1, n, C), F(x)),
              *w = mg_leaf(MT_SHAPE(rows.end - rows.begin, C), F(w) + rows.begin * C);
    mt_tensor *target = mt_from(MT_SHAPE(n), MT_I32, I32(target));
    mt_tensor *loss = mt_tp_classifier(&tp, x, w, target, mt_tp_classes(rows, N(classes)));
    mg_note_forward(v, rank);
    F(loss)[rank->base.rank] = (float)mt_item(loss);
    mt_backward(loss);
    mg_take_gradient(F(dx) + rank->base.rank * n * C, x);
    mg_take_gradient(F(dw) + rows.begin * C, w);
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_classifier(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), classifier, (void *)v);
}

static mt_status norm(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    double divided, replicated, all;
    memcpy(&divided, I64(divided) + rank->base.rank, sizeof divided);
    memcpy(&replicated, I64(replicated) + rank->base.rank, sizeof replicated);
    all = mt_tp_norm(&tp, divided, replicated);
    if (tp.status != MT_OK) /* calls nothing more */
        all = mt_tp_norm(&tp, divided, replicated);
    mg_note_forward(v, rank);
    memcpy(I64(norm) + rank->base.rank, &all, sizeof all);
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_norm(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), norm, (void *)v);
}
