/* calls_09_training.c -- how the worker calls the policy, the kept copies, the scaler and the master update of lab 09.
 *
 * Kept copies are tested with conversions and products that are not the student's, so that one unwritten step does not
 * hide another. Doubles are sent as the bits of an i64. */
#include "autograd/node.h"
#include "core/scope.h"
#include "ops/autocast.h"
#include "ops/kernels_16bit.h"
#include "ops/ops.h"
#include "optim/master.h"
#include "optim/scaler.h"
#include "worker/calls_09.h"
#include "worker/copies.h"

#include <string.h>

/* ---- policy ------------------------------------------------------------------------------------------ */

void mg_call_autocast_dtype(const mg_value *v) /* answer [n]; chosen type, kind, type of the input [n] */
{
    static const char *const names[] = { "linear", "relu", "softmax" };
    for (int64_t i = 0; i < v[0].count; i++) {
        mt_dtype chosen = (mt_dtype)v[1].i64s[i];
        mt_op_kind kind = (mt_op_kind)v[2].i64s[i];
        v[0].i64s[i] = mt_autocast_dtype(&chosen, names[kind], kind, (mt_dtype)v[3].i64s[i]);
    }
}

static int64_t conversions;

static void counted(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    conversions++;
    for (int64_t i = 0; i < n; i++)
        mt_store_f64(out, to, i, mt_load_f64(x, from, i));
}

static void no_product(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    (void)a, (void)b, (void)dtype;
    for (int64_t m = 0; m < dims->M; m++)
        memset(c + m * dims->ldc, 0, sizeof *c * (size_t)dims->N);
}

static void use_ours(bool ours)
{
    static const mt_16bit_table table = { .convert = counted, .matmul16 = no_product };
    mt_table_set(MT_16BIT_FAMILY, MT_CPU, ours ? &table : NULL);
    conversions = 0;
}

static void note_types(int64_t *row, const mt_tensor *t)
{
    row[0] = t->dtype;
    for (int i = 1; i < MG_NET_COLUMNS; i++)
        row[i] = t->node && i <= t->node->saved_count ? (int64_t)t->node->saved[i - 1].tensor->dtype : MG_NET_NONE;
}

static mt_tensor *parameter(mt_shape shape)
{
    mt_tensor *t = mt_full(shape, 0.5f);
    t->requires_grad = true;
    return t;
}

void mg_call_autocast_network(const mg_value *v) /* types [ops,columns]; type, N, C */
{
    int64_t N = v[2].i64, C = v[3].i64;
    mt_scope_begin();
    use_ours(true);
    mt_tensor *x = mt_full(MT_SHAPE(N, C), 1), *w = parameter(MT_SHAPE(C, C)), *head = parameter(MT_SHAPE(C + 1, C));
    mt_tensor *target = mt_zeros(MT_SHAPE(N), MT_I32, MT_CPU), *t[MG_NET_OPS];
    mt_autocast_begin((mt_dtype)v[1].i64);
    t[0] = mt_linear(x, w, parameter(MT_SHAPE(C)));
    t[1] = mt_relu(t[0]);
    t[2] = mt_layernorm(t[1], parameter(MT_SHAPE(C)), parameter(MT_SHAPE(C)), 1e-5f);
    t[3] = mt_matmul(t[2], w);
    t[4] = mt_softmax(t[3]);
    t[5] = mt_mul(t[4], t[2]);
    t[6] = mt_classifier(t[5], head, target, C);
    mt_autocast_end();
    for (int i = 0; i < MG_NET_OPS; i++)
        note_types(v[0].i64s + i * MG_NET_COLUMNS, t[i]);
    use_ours(false);
    mt_scope_end();
}

/* ---- kept copies --------------------------------------------------------------------------------------- */

static mt_tensor *tensor_of(int64_t kind, const mt_tensor *before, int64_t S)
{
    mt_view view = mt_view_contiguous(MT_SHAPE(S));
    view.offset = kind == MG_NEIGHBOUR ? S : 0;
    mt_tensor *t = mt_tensor_view(kind == MG_NEIGHBOUR ? before : mt_zeros(MT_SHAPE(2 * S), MT_F32, MT_CPU), view);
    t->requires_grad = kind != MG_ACTIVATION;
    return t;
}

static void copy_of(mt_tensor *t, mt_dtype dtype, int64_t *type, float *value, int64_t S)
{
    mt_tensor *copy = mt_autocast_operand(t, dtype);
    *type = copy->dtype;
    for (int64_t i = 0; i < S && i < mt_numel(copy); i++)
        value[i] = (float)mt_get(copy, &i);
}

/* types, conversions so far [n], values [n,S], bytes never freed [1]; script [n,3], kinds, contents [tensors+n,S] */
void mg_call_kept_copies(const mg_value *v)
{
    int64_t n = v[0].count, S = v[2].count / n, before = mt_live_bytes(MT_CPU);
    mt_tensor *tensor[MG_COPIES_TENSORS];
    const float *contents = v[6].f32;
    mt_scope_begin();
    use_ours(true);
    for (int64_t i = 0; i < v[5].count; i++, contents += S) {
        tensor[i] = tensor_of(v[5].i64s[i], i ? tensor[i - 1] : NULL, S);
        memcpy(mt_f32(tensor[i]), contents, sizeof(float) * (size_t)S);
    }
    for (int64_t i = 0; i < n; i++, contents += S) {
        const int64_t *event = v[4].i64s + i * MG_COPIES_COLUMNS;
        mt_scope_begin();
        memset(v[2].f32 + i * S, 0, sizeof(float) * (size_t)S);
        v[0].i64s[i] = MG_NET_NONE;
        if (event[0] == MG_COPY) {
            copy_of(tensor[event[1]], (mt_dtype)event[2], v[0].i64s + i, v[2].f32 + i * S, S);
        } else {
            memcpy(mt_f32(tensor[event[1]]), contents, sizeof(float) * (size_t)S);
            mt_written(tensor[event[1]]);
        }
        v[1].i64s[i] = conversions;
        mt_scope_end();
    }
    use_ours(false);
    mt_scope_end();
    v[3].i64s[0] = mt_live_bytes(MT_CPU) - before;
}

/* ---- scaler ---------------------------------------------------------------------------------------------- */

/* trace [n,4] = exponent, good, skipped, in a row; applied [n]; finite [n]; the scaler at first [5] */
void mg_call_scaler(const mg_value *v)
{
    const int64_t *at = v[3].i64s;
    mt_scaler s = { .exponent = at[0], .interval = at[1], .good = at[2], .skipped = at[3], .in_a_row = at[4] };
    for (int64_t i = 0; i < v[2].count; i++) {
        v[1].i64s[i] = mt_scaler_update(&s, v[2].i64s[i]);
        memcpy(v[0].i64s + 4 * i, (int64_t[]){ s.exponent, s.good, s.skipped, s.in_a_row }, 4 * sizeof(int64_t));
    }
}

void mg_call_unscale(const mg_value *v) /* norm [1]; scale, max_norm [2]; count of arrays; arrays */
{
    enum { ARRAYS = 16 };
    mt_grad_array arrays[ARRAYS];
    double number[2];
    MT_CHECK(v[2].i64 <= ARRAYS, "more than %d arrays", ARRAYS);
    memcpy(number, v[1].ptr, sizeof number);
    for (int64_t a = 0; a < v[2].i64; a++)
        arrays[a] = (mt_grad_array){ v[3 + a].f32, v[3 + a].count };
    double norm = mt_unscale_grads_cpu(arrays, v[2].i64, number[0], number[1]);
    memcpy(v[0].ptr, &norm, sizeof norm);
}

/* ---- master ---------------------------------------------------------------------------------------------- */

void mg_call_master(const mg_value *v) /* param, m, v, copy; grad, hyper; rows, cols, step, the copy's type */
{
    mt_hyper hyper;
    memcpy(&hyper, v[5].ptr, sizeof hyper);
    mt_update u = { .param = v[0].f32,
                    .grad = v[4].f32,
                    .state = { v[1].f32, v[2].f32 },
                    .rows = v[6].i64,
                    .cols = v[7].i64,
                    .step = v[8].i64,
                    .hyper = &hyper };
    mt_adamw_master_update_cpu(&u, v[3].ptr, (mt_dtype)v[9].i64);
}
