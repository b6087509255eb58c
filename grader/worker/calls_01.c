/* calls_01.c -- how the worker calls the matrix products of lab 01. */
#include "worker/product.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* The product of copies that begin 4 bytes behind a multiple of 16, after one of other numbers in the same memory and
 * with the same struct of dimensions. */
static void again(mt_matmul_fn *function, const mg_value *v)
{
    const mg_value *given[] = { ARRAY(c), ARRAY(a), ARRAY(b) };
    mt_matmul_dims dims = mg_product_dims(v);
    float *block[3], *copy[3];
    for (int i = 0; i < 3; i++) {
        block[i] = malloc(sizeof(float) * (size_t)(given[i]->count + 1));
        MT_CHECK(block[i], "out of memory for a copy");
        copy[i] = block[i] + 1;
        for (int64_t k = 0; k < given[i]->count; k++)
            copy[i][k] = 3 - given[i]->f32[k];
    }
    for (int turn = 0; turn < 2; turn++) {
        function(copy[0], copy[1], copy[2], &dims);
        for (int i = 0; i < 3 && turn == 0; i++)
            memcpy(copy[i], given[i]->f32, sizeof(float) * (size_t)given[i]->count);
    }
    memcpy(F(c), copy[0], sizeof(float) * (size_t)given[0]->count);
    for (int i = 0; i < 3; i++)
        free(block[i]);
}

/* The product after 15 other ones: added, transposed, of A and B without gaps. All are square. */
static void in_all_forms(mt_matmul_fn *function, const mg_value *v)
{
    const mt_matmul_dims last = mg_product_dims(v);
    for (int form = 15; form >= 0; form--) {
        mt_matmul_dims dims = last;
        dims.trans_a = form & 1 ? MT_TRANS : MT_NO_TRANS;
        dims.trans_b = form & 2 ? MT_TRANS : MT_NO_TRANS;
        dims.write = form & 4 ? MT_ACCUMULATE : MT_OVERWRITE;
        if (form & 8)
            dims.lda = dims.ldb = last.M;
        function(F(c), F(a), F(b), &dims);
    }
}

/* In a parallel region a team has one thread, however many it asks for. */
static void in_a_team(const mg_value *v)
{
#pragma omp parallel num_threads(2)
#pragma omp single
    mg_call_product(mt_matmul_parallel_cpu, v);
}

/* threads [3]: how many the next parallel region of the program would have after a product of single numbers, one
 * for few threads, and one for many. */
static void threads_left(const mg_value *v)
{
    static const int64_t sizes[] = { 1, 80, 200 };
    mg_keeps = true; /* the result depends on the threads of the call */
    float *c = calloc(3 * 200 * 200, sizeof *c);
    MT_CHECK(c, "out of memory for three matrices");
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        const int64_t n = sizes[i];
        const mt_matmul_dims square = mt_dense_dims(n, n, n, MT_NO_TRANS, MT_NO_TRANS, MT_OVERWRITE);
        mt_matmul_parallel_cpu(c, c + n * n, c + 2 * n * n, &square);
        I64(threads)[i] = omp_get_max_threads();
    }
    free(c);
}

// clang-format off
#define AGAIN(fn)                             \
    static void fn##_again(const mg_value *v) \
    {                                         \
        again(fn, v);                         \
    }
#define ENTRY_AGAIN(fn) { #fn " again", fn##_again },
#define ALL_FORMS(fn)                             \
    static void fn##_in_all_forms(const mg_value *v) \
    {                                             \
        in_all_forms(fn, v);                      \
    }
#define ENTRY_ALL_FORMS(fn) { #fn " in all forms", fn##_in_all_forms },
#define CALLS(CALL)               \
    CALL(mt_matmul_naive_cpu)     \
    CALL(mt_matmul_reordered_cpu) \
    CALL(mt_matmul_tiled_cpu)     \
    CALL(mt_matmul_packed_cpu)    \
    CALL(mt_matmul_parallel_cpu)
CALLS(MG_PRODUCT_THUNK)
CALLS(AGAIN)
CALLS(ALL_FORMS)

const mg_function mg_calls_01[] = {
    CALLS(MG_ENTRY)
    CALLS(ENTRY_AGAIN)
    CALLS(ENTRY_ALL_FORMS)
    { "mt_matmul_parallel_cpu in a team", in_a_team },
    { "threads left by mt_matmul_parallel_cpu", threads_left },
    { NULL, NULL },
};
