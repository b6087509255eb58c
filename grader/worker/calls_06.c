/* calls_06.c -- how the worker calls the launchers of lab 06; arrays are on the device here (on_device.c). */
#include "cuda/kernels_cuda.h"
#include "optim/updates_cuda.h"
#include "worker/call.h"

static void binary(mt_binary_fwd_fn *fn, const mg_value *v)
{
    const int rank = (int)N(rank);
    mt_strided a = { F(a), { .rank = rank, .offset = N(offset of a) } };
    mt_strided b = { F(b), { .rank = rank, .offset = N(offset of b) } };
    for (int d = 0; d < rank; d++) {
        a.view.shape[d] = b.view.shape[d] = N_AT(dim, d);
        a.view.stride[d] = N_AT(stride of a, d);
        b.view.stride[d] = N_AT(stride of b, d);
    }
    fn(F(out), &a, &b);
}

static void update(mt_update_fn *fn, const mg_value *v)
{
    int64_t n = N(n), rows = n % 2 ? 1 : 2;
    mt_hyper hyper = {
        .lr = D(lr), .beta1 = D(beta1), .beta2 = D(beta2), .eps = D(eps), .weight_decay = D(weight_decay)
    };
    mt_update u = { .param = F(param),
                    .grad = F(grad),
                    .state = { F(m), F(v) },
                    .rows = rows,
                    .cols = n / rows,
                    .step = (int64_t)D(step),
                    .hyper = &hyper };
    fn(&u);
}

// clang-format off
#define CALLS(CALL)                                                                                                \
    CALL(mt_fill_cuda, F(out), N(n), S(value))                                                                     \
    CALL(mt_saxpy_scalar_cuda, F(y), F(x), N(n), S(a))                                 \
    CALL(mt_saxpy_vector_cuda, F(y), F(x), N(n), S(a))                                 \
    CALL(mt_relu_fwd_cuda, F(out), F(x), N(n))                                                                     \
    CALL(mt_relu_bwd_cuda, F(dx), F(dout), F(saved), N(n))                                                         \
    CALL(mt_gelu_fwd_cuda, F(out), F(x), N(n))                                                                     \
    CALL(mt_gelu_bwd_cuda, F(dx), F(dout), F(saved), N(n))                                                         \
    CALL(mt_transpose_naive_cuda, F(out), F(x), N(N), N(C))                                                        \
    CALL(mt_transpose_tiled_cuda, F(out), F(x), N(N), N(C))                                                        \
    CALL(mt_gather_rows_fwd_cuda, F(out), F(table), I32(id), N(N), N(V), N(C))                                     \
    CALL(mt_gather_rows_bwd_cuda, F(dtable), F(dout), I32(id), N(N), N(V), N(C))                                   \
    CALL(mt_sum_interleaved_cuda, F(out), F(partial), F(x), N(n))                                                  \
    CALL(mt_sum_sequential_cuda, F(out), F(partial), F(x), N(n))                                                   \
    CALL(mt_sum_shuffle_cuda, F(out), F(partial), F(x), N(n))                                                      \
    CALL(mt_row_sum_cuda, F(out), F(x), N(N), N(C))                                                                \
    CALL(mt_row_max_cuda, F(out), F(x), N(N), N(C))                                                                \
    CALL(mt_histogram_global_cuda, I64(count), U8(x), N(n))                                                        \
    CALL(mt_histogram_private_cuda, I64(count), U8(x), N(n))                                                       \
    CALL(mt_softmax_fwd_cuda, F(out), F(x), N(N), N(C))                                                            \
    CALL(mt_softmax_bwd_cuda, F(dx), F(dout), F(out), N(N), N(C))                                                  \
    CALL(mt_layernorm_fwd_cuda, F(out), F(mean), F(rstd), F(x), F(gamma), F(beta), N(N), N(C), S(eps))             \
    CALL(mt_layernorm_bwd_cuda, F(dx), F(dgamma), F(dbeta), F(dout), F(x), F(gamma), F(mean), F(rstd), N(N), N(C))
#define BINARIES(CALL)    \
    CALL(mt_add_fwd_cuda) \
    CALL(mt_sub_fwd_cuda) \
    CALL(mt_mul_fwd_cuda) \
    CALL(mt_div_fwd_cuda)
#define UPDATES(CALL)          \
    CALL(mt_sgd_update_cuda)   \
    CALL(mt_adam_update_cuda)  \
    CALL(mt_adamw_update_cuda)
/* Rows, which may be too many for the y of a grid. */
#define ROWS(CALL)                                              \
    CALL(mt_transpose_naive_cuda) CALL(mt_transpose_tiled_cuda) \
    CALL(mt_row_sum_cuda) CALL(mt_row_max_cuda)                 \
    CALL(mt_softmax_fwd_cuda) CALL(mt_softmax_bwd_cuda)         \
    CALL(mt_layernorm_fwd_cuda) CALL(mt_layernorm_bwd_cuda)     \
    CALL(mt_gather_rows_fwd_cuda) CALL(mt_gather_rows_bwd_cuda)
#define BINARY(fn) static void fn##_(const mg_value *v) { binary(fn, v); }
#define MANY_ENTRY(fn) { #fn " of many rows", fn##_, .grids_only = true },
#define UPDATE(fn) static void fn##_(const mg_value *v) { update(fn, v); }
CALLS(MG_THUNK)
BINARIES(BINARY)
UPDATES(UPDATE)

const mg_function mg_calls_06[] = {
    CALLS(MG_ENTRY) BINARIES(MG_ENTRY) UPDATES(MG_ENTRY) ROWS(MANY_ENTRY)
    { NULL, NULL },
};
