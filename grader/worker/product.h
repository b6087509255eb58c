/* product.h -- calls of a matrix product (an mt_matmul_fn): c, a, b, then the nine fields of mt_matmul_dims. */
#pragma once

#include "kernels/matmul.h"
#include "worker/call.h"

static inline mt_matmul_dims mg_product_dims(const mg_value *v)
{
    return (mt_matmul_dims){
        .M = v[3].i64,
        .N = v[4].i64,
        .K = v[5].i64,
        .lda = v[6].i64,
        .ldb = v[7].i64,
        .ldc = v[8].i64,
        .trans_a = v[9].i64 ? MT_TRANS : MT_NO_TRANS,
        .trans_b = v[10].i64 ? MT_TRANS : MT_NO_TRANS,
        .write = v[11].i64 ? MT_ACCUMULATE : MT_OVERWRITE,
    };
}

static inline void mg_call_product(mt_matmul_fn *function, const mg_value *v)
{
    const mt_matmul_dims dims = mg_product_dims(v);
    function(v[0].f32, v[1].f32, v[2].f32, &dims);
}

/* A line of CALLS (call.h) for each product. */
#define MG_PRODUCT_THUNK(fn)             \
    static void fn##_(const mg_value *v) \
    {                                    \
        mg_call_product(fn, v);          \
    }
