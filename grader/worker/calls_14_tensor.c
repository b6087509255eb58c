/* calls_14_tensor.c -- how the worker calls tensor_parallel.c: ops and a layer on ranks of worker/hub.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/tape.h"
#include "core/scope.h"
#include "ops/ops.h"
#include "worker/calls_14_tensor.h"

mt_tensor *mg_leaf(mt_shape shape, const float *values)
{
    mt_tensor *t = mt_from(shape, MT_F32, values);
    t->requires_grad = true;
    return t;
}

void mg_take_gradient(float *to, mt_tensor *leaf)
{
    size_t bytes = (size_t)mt_numel(leaf) * sizeof(float);
    if (leaf->grad && bytes > 0)
        memcpy(to, mt_f32(leaf->grad), bytes);
    else if (bytes > 0)
        memset(to, 0, bytes);
    mt_zero_grad(leaf);
}

void mg_note_forward(const mg_value *v, const mg_hub_rank *rank)
{
    I64(results)[rank->base.rank * MG_TP_RESULTS + MG_TP_FORWARD] = rank->calls;
}

mt_status mg_note_end(const mg_value *v, const mg_hub_rank *rank, const mt_tp *tp)
{
    int64_t *result = I64(results) + rank->base.rank * MG_TP_RESULTS;
    result[MG_TP_STATUS] = tp->status;
    result[MG_TP_CALLS] = rank->calls;
    result[MG_TP_ENDED] = mg_hub_now(rank);
    return MT_OK;
}

/* ---- copy and reduce --------------------------------------------------------------------------------------- */

/* results, rows, out, dx, dout [P,n]; numbers, x [P,n], kind. With an even n a tensor is [2,n / 2]. */
static mt_status pair(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    int64_t n = ARRAY(out)->count / rank->base.size, at = rank->base.rank * n;
    mt_scope_begin();
    mt_shape shape = n % 2 ? MT_SHAPE(n) : MT_SHAPE(2, n / 2);
    mt_tensor *x = mg_leaf(shape, F(x) + at), *dout = mt_from(shape, MT_F32, F(dout) + at);
    mt_tensor *out = N(kind) == MG_TP_COPY ? mt_tp_copy(&tp, x) : mt_tp_reduce(&tp, x);
    if (N(kind) == MG_TP_TWICE)
        out = mt_add(out, mt_tp_reduce(&tp, mt_add(mt_tp_copy(&tp, x), mt_tp_copy(&tp, x))));
    mg_note_forward(v, rank);
    memcpy(F(out) + at, mt_data(out), (size_t)n * sizeof(float));
    mt_backward_from(out, dout);
    mg_take_gradient(F(dx) + at, x);
    memcpy(F(dout) + at, mt_data(dout), (size_t)n * sizeof(float));
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_pair(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), pair, (void *)v);
}

/* ---- products ---------------------------------------------------------------------------------------------- */

/* results, rows, y [P,N,O], dx [P,N,I], dw1 [P,I,F], db1 [P,F], dw2 [P,F,O], db2 [P,O]; numbers, x [N,I], w1, b1, w2 as
 * their gradients, b2 [O], dy [N,O]; N. b1, b2 may be NULL. */

static mt_status products(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    mt_tp tp = { &rank->base, MT_OK };
    int64_t P = rank->base.size, r = rank->base.rank, n = N(N), I = ARRAY(x)->count / n, O = ARRAY(dy)->count / n,
            width = ARRAY(w1)->count / P / I;
    mt_scope_begin();
    mt_tensor *x = mg_leaf(MT_SHAPE(n, I), F(x)), *w1 = mg_leaf(MT_SHAPE(I, width), F(w1) + r * I * width),
              *w2 = mg_leaf(MT_SHAPE(width, O), F(w2) + r * width * O),
              *b1 = F(b1) ? mg_leaf(MT_SHAPE(width), F(b1) + r * width) : NULL,
              *b2 = F(b2) ? mg_leaf(MT_SHAPE(O), F(b2)) : NULL;
    mt_tensor *y = mt_tp_row_linear(&tp, mt_relu(mt_tp_column_linear(&tp, x, w1, b1)), w2, b2);
    mg_note_forward(v, rank);
    MT_CHECK(mt_numel(y) == n * O, "the result has %lld elements, not %lld", (long long)mt_numel(y),
             (long long)(n * O));
    memcpy(F(y) + r * n * O, mt_data(mt_contiguous(y)), (size_t)(n * O) * sizeof(float));
    mt_backward_from(y, mt_from(MT_SHAPE(n, O), MT_F32, F(dy)));
    mg_take_gradient(F(dx) + r * n * I, x);
    mg_take_gradient(F(dw1) + r * I * width, w1);
    mg_take_gradient(F(dw2) + r * width * O, w2);
    if (b1)
        mg_take_gradient(F(db1) + r * width, b1);
    if (b2)
        mg_take_gradient(F(db2) + r * O, b2);
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_products(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), products, (void *)v);
}

/* ---- parts ------------------------------------------------------------------------------------------------- */

void mg_call_tp_shard(const mg_value *v)
{
    mt_tp_layout layout = { I64(rows, groups, width, unit)[0], I64(rows, groups, width, unit)[1],
                            I64(rows, groups, width, unit)[2], I64(rows, groups, width, unit)[3] };
    I64(status)[0] = mt_tp_shard(F(out), F(all), &layout, (int)N(size), (int)N(rank));
    if (I64(status)[0] != MT_OK)
        snprintf((char *)U8(words), (size_t)ARRAY(words)->count, "%s", mt_last_error());
}

/* ---- a layer ----------------------------------------------------------------------------------------------- */

/* Heads without softmax: (q k^T) v of each head, which integers go through exactly. qkv [B,T,3C]. */
static mt_tensor *heads_of(mt_tensor *qkv, int64_t heads, int64_t which)
{
    int64_t B = mt_dim(qkv, 0), T = mt_dim(qkv, 1), C = mt_dim(qkv, 2) / 3;
    mt_tensor *part = mt_contiguous(mt_slice(qkv, 2, which * C, (which + 1) * C, 1));
    return mt_permute(mt_reshape(part, MT_SHAPE(B, T, heads, C / heads)), (int[]){ 0, 2, 1, 3 });
}

static mt_tensor *plain_attention(mt_tensor *qkv, int64_t heads)
{
    int64_t B = mt_dim(qkv, 0), T = mt_dim(qkv, 1), C = mt_dim(qkv, 2) / 3;
    mt_tensor *scores = mt_matmul(heads_of(qkv, heads, 0), mt_transpose(heads_of(qkv, heads, 1), 2, 3));
    mt_tensor *out = mt_matmul(scores, heads_of(qkv, heads, 2)); /* [B,heads,T,D] */
    return mt_reshape(mt_contiguous(mt_permute(out, (int[]){ 0, 2, 1, 3 })), MT_SHAPE(B, T, C));
}

/* results, rows, y, dx [P,B,T,C], dw [P,..] (a rank's parts of the gradients, one after the other); numbers, x, dy
 * [B,T,C], the whole weights, their elements [MG_TP_WEIGHTS], their layouts [MG_TP_WEIGHTS,MG_TP_LAYOUT] */
static mt_status layer(mg_hub_rank *rank, void *user)
{
    const mg_value *v = user;
    const int64_t *numbers = I64(numbers), P = rank->base.size, r = rank->base.rank;
    const int64_t C = numbers[MG_TP_C], width = numbers[MG_TP_F] / P, part = C / P, n = ARRAY(x)->count;
    const mt_shape shape = MT_SHAPE(numbers[MG_TP_B], numbers[MG_TP_T], C);
    const mt_shape shapes[MG_TP_WEIGHTS] = {
        MT_SHAPE(C, 3 * part), MT_SHAPE(3 * part), MT_SHAPE(part, C),  MT_SHAPE(C),
        MT_SHAPE(C, width),    MT_SHAPE(width),    MT_SHAPE(width, C), MT_SHAPE(C)
    };
    mt_tp tp = { &rank->base, MT_OK };
    mt_tensor *w[MG_TP_WEIGHTS];
    const float *whole = F(w);
    mt_scope_begin();
    for (int i = 0; i < MG_TP_WEIGHTS; whole += I64(elements)[i], i++) {
        const int64_t *d = I64(layouts) + i * MG_TP_LAYOUT;
        mt_tp_layout layout = { d[0], d[1], d[2], d[3] };
        w[i] = mg_leaf(shapes[i], whole); /* as long as the whole, or shorter */
        if (layout.groups > 0)
            MT_CHECK(mt_tp_shard(mt_f32(w[i]), whole, &layout, (int)P, (int)r) == MT_OK, "%s", mt_last_error());
    }
    mt_tensor *x = mg_leaf(shape, F(x));
    mt_tensor *attention = plain_attention(mt_tp_column_linear(&tp, x, w[0], w[1]), numbers[MG_TP_H] / P);
    mt_tensor *y = mt_add(x, mt_tp_row_linear(&tp, attention, w[2], w[3]));
    y = mt_add(y, mt_tp_row_linear(&tp, mt_relu(mt_tp_column_linear(&tp, x, w[4], w[5])), w[6], w[7]));
    mg_note_forward(v, rank);
    memcpy(F(y) + r * n, mt_data(mt_contiguous(y)), (size_t)n * sizeof(float));
    mt_backward_from(y, mt_from(shape, MT_F32, F(dy)));
    mg_take_gradient(F(dx) + r * n, x);
    float *dw = F(dw) + ARRAY(dw)->count / P * r;
    for (int i = 0; i < MG_TP_WEIGHTS; dw += mt_numel(w[i]), i++)
        mg_take_gradient(dw, w[i]);
    mt_scope_end();
    return mg_note_end(v, rank, &tp);
}

void mg_call_tp_layer(const mg_value *v)
{
    mg_on_hub((int)(ARRAY(results)->count / MG_TP_RESULTS), I64(numbers), I64(rows), layer, (void *)v);
}
