/* calls_06.c -- how the worker calls the launchers of lab 06; arrays are on the device here (on_device.c). */
#include "ops/kernels_cuda.h"
#include "optim/updates_cuda.h"
#include "worker/call.h"

/* ---- elements ------------------------------------------------------------------------------------- */

static void fill(const mg_value *v)
{
    mt_fill_cuda(v[0].f32, v[1].i64, v[2].scalar);
}

static void saxpy_scalar(const mg_value *v) /* y, x, where each begins, n, a */
{
    mt_saxpy_scalar_cuda(v[0].f32 + v[2].i64, v[1].f32 + v[3].i64, v[4].i64, v[5].scalar);
}

static void saxpy_vector(const mg_value *v)
{
    mt_saxpy_vector_cuda(v[0].f32 + v[2].i64, v[1].f32 + v[3].i64, v[4].i64, v[5].scalar);
}

#define UNARY(name)                                                   \
    static void name##_fwd(const mg_value *v)                         \
    {                                                                 \
        mt_##name##_fwd_cuda(v[0].f32, v[1].f32, v[2].i64);           \
    }                                                                 \
    static void name##_in_place(const mg_value *v)                    \
    {                                                                 \
        mt_##name##_fwd_cuda(v[0].f32, v[0].f32, v[1].i64);           \
    }                                                                 \
    static void name##_bwd(const mg_value *v)                         \
    {                                                                 \
        mt_##name##_bwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].i64); \
    }

UNARY(relu)
UNARY(gelu)

/* ---- moves --------------------------------------------------------------------------------------------- */

/* out, a, b; rank, 4 dimensions, 4 strides of a, 4 of b, 2 offsets */
static void binary(mt_binary_fwd_fn *fn, const mg_value *v)
{
    mt_strided a = { v[1].f32, { .rank = (int)v[3].i64, .offset = v[16].i64 } };
    mt_strided b = { v[2].f32, { .rank = (int)v[3].i64, .offset = v[17].i64 } };
    for (int d = 0; d < 4; d++) {
        a.view.shape[d] = b.view.shape[d] = v[4 + d].i64;
        a.view.stride[d] = v[8 + d].i64;
        b.view.stride[d] = v[12 + d].i64;
    }
    fn(v[0].f32, &a, &b);
}

#define BINARY(name)                     \
    static void name(const mg_value *v)  \
    {                                    \
        binary(mt_##name##_fwd_cuda, v); \
    }

BINARY(add)
BINARY(sub)
BINARY(mul)
BINARY(div)

static void transpose_naive(const mg_value *v)
{
    mt_transpose_naive_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].i64);
}

static void transpose_tiled(const mg_value *v)
{
    mt_transpose_tiled_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].i64);
}

static void gather(const mg_value *v)
{
    mt_gather_rows_fwd_cuda(v[0].f32, v[1].f32, v[2].i32, v[3].i64, v[4].i64, v[5].i64);
}

static void scatter_add(const mg_value *v)
{
    mt_gather_rows_bwd_cuda(v[0].f32, v[1].f32, v[2].i32, v[3].i64, v[4].i64, v[5].i64);
}

/* ---- reductions ------------------------------------------------------------------------------------------ */

#define SUM(name)                                                     \
    static void sum_##name(const mg_value *v)                         \
    {                                                                 \
        mt_sum_##name##_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].i64); \
    }

SUM(interleaved)
SUM(sequential)
SUM(shuffle)

static void row_sum(const mg_value *v)
{
    mt_row_sum_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].i64);
}

static void row_max(const mg_value *v)
{
    mt_row_max_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].i64);
}

static void histogram_global(const mg_value *v)
{
    mt_histogram_global_cuda(v[0].i64s, v[1].u8, v[2].i64);
}

static void histogram_private(const mg_value *v)
{
    mt_histogram_private_cuda(v[0].i64s, v[1].u8, v[2].i64);
}

/* ---- rows ------------------------------------------------------------------------------------------------- */

static void softmax_fwd(const mg_value *v)
{
    mt_softmax_fwd_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].i64);
}

static void softmax_in_place(const mg_value *v)
{
    mt_softmax_fwd_cuda(v[0].f32, v[0].f32, v[1].i64, v[2].i64);
}

static void softmax_bwd(const mg_value *v)
{
    mt_softmax_bwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].i64, v[4].i64);
}

static void layernorm_fwd(const mg_value *v)
{
    mt_layernorm_fwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].i64, v[7].i64, v[8].scalar);
}

static void layernorm_bwd(const mg_value *v)
{
    mt_layernorm_bwd_cuda(v[0].f32, v[1].f32, v[2].f32, v[3].f32, v[4].f32, v[5].f32, v[6].f32, v[7].f32, v[8].i64,
                          v[9].i64);
}

/* ---- updates ------------------------------------------------------------------------------------------------ */

/* param, m, v, grad; lr, beta1, beta2, eps, weight decay; step, n */
static void update(mt_update_fn *fn, const mg_value *v)
{
    mt_hyper hyper = {
        .lr = v[4].scalar, .beta1 = v[5].scalar, .beta2 = v[6].scalar, .eps = v[7].scalar, .weight_decay = v[8].scalar
    };
    mt_update u = { .param = v[0].f32,
                    .grad = v[3].f32,
                    .state = { v[1].f32, v[2].f32 },
                    .rows = 1,
                    .cols = v[10].i64,
                    .step = v[9].i64,
                    .hyper = &hyper };
    fn(&u);
}

static void sgd(const mg_value *v)
{
    update(mt_sgd_update_cuda, v);
}

static void adam(const mg_value *v)
{
    update(mt_adam_update_cuda, v);
}

static void adamw(const mg_value *v)
{
    update(mt_adamw_update_cuda, v);
}

const mg_function mg_calls_06[] = {
    { "mt_fill_cuda", fill },
    { "mt_saxpy_scalar_cuda", saxpy_scalar },
    { "mt_saxpy_vector_cuda", saxpy_vector },
    { "mt_relu_fwd_cuda", relu_fwd },
    { "mt_relu_fwd_cuda in place", relu_in_place },
    { "mt_relu_bwd_cuda", relu_bwd },
    { "mt_gelu_fwd_cuda", gelu_fwd },
    { "mt_gelu_fwd_cuda in place", gelu_in_place },
    { "mt_gelu_bwd_cuda", gelu_bwd },
    { "mt_add_fwd_cuda", add },
    { "mt_sub_fwd_cuda", sub },
    { "mt_mul_fwd_cuda", mul },
    { "mt_div_fwd_cuda", div },
    { "mt_transpose_naive_cuda", transpose_naive },
    { "mt_transpose_tiled_cuda", transpose_tiled },
    { "mt_gather_rows_fwd_cuda", gather },
    { "mt_gather_rows_bwd_cuda", scatter_add },
    { "mt_sum_interleaved_cuda", sum_interleaved },
    { "mt_sum_sequential_cuda", sum_sequential },
    { "mt_sum_shuffle_cuda", sum_shuffle },
    { "mt_row_sum_cuda", row_sum },
    { "mt_row_max_cuda", row_max },
    { "mt_histogram_global_cuda", histogram_global },
    { "mt_histogram_private_cuda", histogram_private },
    { "mt_softmax_fwd_cuda", softmax_fwd },
    { "mt_softmax_fwd_cuda in place", softmax_in_place },
    { "mt_softmax_bwd_cuda", softmax_bwd },
    { "mt_layernorm_fwd_cuda", layernorm_fwd },
    { "mt_layernorm_bwd_cuda", layernorm_bwd },
    { "mt_sgd_update_cuda", sgd },
    { "mt_adam_update_cuda", adam },
    { "mt_adamw_update_cuda", adamw },
    { NULL, NULL },
};
