/* calls_01.c -- how the worker calls the matrix products of lab 01: c, a, b, then the nine fields of mt_matmul_dims. */
#include "worker/call.h"
#include "ops/matmul.h"

static mt_matmul_dims dims_of(const mg_value *v)
{
    return (mt_matmul_dims){
        .M = v[0].i64,
        .N = v[1].i64,
        .K = v[2].i64,
        .lda = v[3].i64,
        .ldb = v[4].i64,
        .ldc = v[5].i64,
        .trans_a = v[6].i64 ? MT_TRANS : MT_NO_TRANS,
        .trans_b = v[7].i64 ? MT_TRANS : MT_NO_TRANS,
        .write = v[8].i64 ? MT_ACCUMULATE : MT_OVERWRITE,
    };
}

static void call_with(mt_matmul_fn *function, const mg_value *v)
{
    mt_matmul_dims dims = dims_of(v + 3);
    function(v[0].f32, v[1].f32, v[2].f32, &dims);
}

static void naive(const mg_value *v)
{
    call_with(mt_matmul_naive_cpu, v);
}

static void reordered(const mg_value *v)
{
    call_with(mt_matmul_reordered_cpu, v);
}

static void tiled(const mg_value *v)
{
    call_with(mt_matmul_tiled_cpu, v);
}

static void packed(const mg_value *v)
{
    call_with(mt_matmul_packed_cpu, v);
}

static void parallel(const mg_value *v)
{
    call_with(mt_matmul_parallel_cpu, v);
}

const mg_function mg_calls_01[] = {
    { "mt_matmul_naive_cpu", naive },   { "mt_matmul_reordered_cpu", reordered }, { "mt_matmul_tiled_cpu", tiled },
    { "mt_matmul_packed_cpu", packed }, { "mt_matmul_parallel_cpu", parallel },   { NULL, NULL },
};
