/* calls_06.c -- how the worker calls the launchers of lab 06; arrays are on the device here (on_device.c). */
#include "cuda/kernels_cuda.h"
#include "optim/updates_cuda.h"
#include "worker/device_aborts.h"

#include <string.h>

/* out, a, b; rank, R dimensions, R strides of a, R of b, 2 offsets */
static void binary(mt_binary_fwd_fn *fn, const mg_value *v)
{
    enum { R = MT_MAX_RANK };
    mt_strided a = { v[1].f32, { .rank = (int)v[3].i64, .offset = v[4 + 3 * R].i64 } };
    mt_strided b = { v[2].f32, { .rank = (int)v[3].i64, .offset = v[5 + 3 * R].i64 } };
    for (int d = 0; d < R; d++) {
        a.view.shape[d] = b.view.shape[d] = v[4 + d].i64;
        a.view.stride[d] = v[4 + R + d].i64;
        b.view.stride[d] = v[4 + 2 * R + d].i64;
    }
    fn(v[0].f32, &a, &b);
}

/* The double whose bits are sent. */
static double number(const mg_value *v)
{
    double x;
    memcpy(&x, &v->i64, sizeof x);
    return x;
}

/* param, m, v, grad; lr, beta1, beta2, eps, weight decay, each in f32 and as bits; step, n */
static void update(mt_update_fn *fn, const mg_value *v)
{
    int64_t rows = v[15].i64 % 2 ? 1 : 2;
    mt_hyper hyper = { .lr = number(v + 5),
                       .beta1 = number(v + 7),
                       .beta2 = number(v + 9),
                       .eps = number(v + 11),
                       .weight_decay = number(v + 13) };
    mt_update u = { .param = v[0].f32,
                    .grad = v[3].f32,
                    .state = { v[1].f32, v[2].f32 },
                    .rows = rows,
                    .cols = v[15].i64 / rows,
                    .step = v[14].i64,
                    .hyper = &hyper };
    fn(&u);
}

// clang-format off
#define CALLS(CALL, IN_PLACE)                                                                           \
    CALL(mt_fill_cuda, F(0), N(1), S(2))                                                                \
    CALL(mt_saxpy_scalar_cuda, F(0) + N(2), F(1) + N(3), N(4), S(5)) /* N(2), N(3): where y and x begin */ \
    CALL(mt_saxpy_vector_cuda, F(0) + N(2), F(1) + N(3), N(4), S(5))                                    \
    CALL(mt_relu_fwd_cuda, F(0), F(1), N(2))                                                            \
    IN_PLACE(mt_relu_fwd_cuda, F(0), F(0), N(1))                                                        \
    CALL(mt_relu_bwd_cuda, F(0), F(1), F(2), N(3))                                                      \
    CALL(mt_gelu_fwd_cuda, F(0), F(1), N(2))                                                            \
    IN_PLACE(mt_gelu_fwd_cuda, F(0), F(0), N(1))                                                        \
    CALL(mt_gelu_bwd_cuda, F(0), F(1), F(2), N(3))                                                      \
    CALL(mt_transpose_naive_cuda, F(0), F(1), N(2), N(3))                                               \
    CALL(mt_transpose_tiled_cuda, F(0), F(1), N(2), N(3))                                               \
    CALL(mt_gather_rows_fwd_cuda, F(0), F(1), v[2].i32, N(3), N(4), N(5))                               \
    CALL(mt_gather_rows_bwd_cuda, F(0), F(1), v[2].i32, N(3), N(4), N(5))                               \
    CALL(mt_sum_interleaved_cuda, F(0), F(1), F(2), N(3))                                               \
    CALL(mt_sum_sequential_cuda, F(0), F(1), F(2), N(3))                                                \
    CALL(mt_sum_shuffle_cuda, F(0), F(1), F(2), N(3))                                                   \
    CALL(mt_row_sum_cuda, F(0), F(1), N(2), N(3))                                                       \
    CALL(mt_row_max_cuda, F(0), F(1), N(2), N(3))                                                       \
    CALL(mt_histogram_global_cuda, v[0].i64s, v[1].u8, N(2))                                            \
    CALL(mt_histogram_private_cuda, v[0].i64s, v[1].u8, N(2))                                           \
    CALL(mt_softmax_fwd_cuda, F(0), F(1), N(2), N(3))                                                   \
    IN_PLACE(mt_softmax_fwd_cuda, F(0), F(0), N(1), N(2))                                               \
    CALL(mt_softmax_bwd_cuda, F(0), F(1), F(2), N(3), N(4))                                             \
    CALL(mt_layernorm_fwd_cuda, F(0), F(1), F(2), F(3), F(4), F(5), N(6), N(7), S(8))                   \
    IN_PLACE(mt_layernorm_fwd_cuda, F(0), F(1), F(2), F(0), F(3), F(4), N(5), N(6), S(7))               \
    CALL(mt_layernorm_bwd_cuda, F(0), F(1), F(2), F(3), F(4), F(5), F(6), F(7), N(8), N(9))
#define BINARIES(CALL)     \
    CALL(mt_add_fwd_cuda)  \
    CALL(mt_sub_fwd_cuda)  \
    CALL(mt_mul_fwd_cuda)  \
    CALL(mt_div_fwd_cuda)
#define UPDATES(CALL)         \
    CALL(mt_sgd_update_cuda)  \
    CALL(mt_adam_update_cuda) \
    CALL(mt_adamw_update_cuda)
/* Rows, which may be too many for the y of a grid; in what aborts, where the array `aborted` is. */
#define ROWS(CALL)                                                       \
    CALL(mt_row_sum_cuda) CALL(mt_row_max_cuda)                          \
    CALL(mt_softmax_fwd_cuda) CALL(mt_softmax_bwd_cuda)                  \
    CALL(mt_layernorm_fwd_cuda) CALL(mt_layernorm_bwd_cuda)              \
    CALL(mt_gather_rows_fwd_cuda) CALL(mt_gather_rows_bwd_cuda)
#define ABORTING(CALL)                                                   \
    CALL(mt_row_max_cuda, 5)                                             \
    CALL(mt_softmax_fwd_cuda, 5) CALL(mt_softmax_bwd_cuda, 6)            \
    CALL(mt_layernorm_fwd_cuda, 9) CALL(mt_layernorm_bwd_cuda, 11)       \
    CALL(mt_adam_update_cuda, 16) CALL(mt_adamw_update_cuda, 16)
#define BINARY(fn) static void fn##_(const mg_value *v) { binary(fn, v); }
#define MANY_ENTRY(fn) { #fn " of many rows", fn##_ },
#define ABORTS(fn, at) static void fn##_aborts(const mg_value *v) { mg_device_aborts(v[at].i64s, fn##_, v); }
#define ABORTS_ENTRY(fn, at) { "may abort: " #fn, fn##_aborts },
#define UPDATE(fn) static void fn##_(const mg_value *v) { update(fn, v); }
CALLS(MG_THUNK, MG_THUNK_IN_PLACE)
BINARIES(BINARY)
UPDATES(UPDATE)
ABORTING(ABORTS)

const mg_function mg_calls_06[] = {
    CALLS(MG_ENTRY, MG_ENTRY_IN_PLACE) BINARIES(MG_ENTRY) UPDATES(MG_ENTRY) ROWS(MANY_ENTRY)
    ABORTING(ABORTS_ENTRY) { NULL, NULL },
};
