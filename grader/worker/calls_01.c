/* calls_01.c -- how the worker calls the matrix products of lab 01. */
#include "worker/product.h"

// clang-format off
#define CALLS(CALL)               \
    CALL(mt_matmul_naive_cpu)     \
    CALL(mt_matmul_reordered_cpu) \
    CALL(mt_matmul_tiled_cpu)     \
    CALL(mt_matmul_packed_cpu)    \
    CALL(mt_matmul_parallel_cpu)
CALLS(MG_PRODUCT_THUNK)

const mg_function mg_calls_01[] = { CALLS(MG_ENTRY) { NULL, NULL } };
