/* product.h -- calls of a matrix product (an mt_matmul_fn), whose nine dimensions are arguments (mt_matmul_dims). */
#pragma once

#include "kernels/matmul.h"
#include "worker/call.h"

static inline mt_matmul_dims mg_product_dims(const mg_value *v)
{
    return (mt_matmul_dims){
        .M = N(M),
        .N = N(N),
        .K = N(K),
        .lda = N(lda),
        .ldb = N(ldb),
        .ldc = N(ldc),
        .trans_a = N(trans_a) ? MT_TRANS : MT_NO_TRANS,
        .trans_b = N(trans_b) ? MT_TRANS : MT_NO_TRANS,
        .write = N(accumulate) ? MT_ACCUMULATE : MT_OVERWRITE,
    };
}

static inline void mg_call_product(mt_matmul_fn *function, const mg_value *v)
{
    const mt_matmul_dims dims = mg_product_dims(v);
    function(F(c), F(a), F(b), &dims);
}

/* A line of CALLS (call.h) for each product. */
#define MG_PRODUCT_THUNK(fn)             \
    static void fn##_(const mg_value *v) \
    {                                    \
        mg_call_product(fn, v);          \
    }
