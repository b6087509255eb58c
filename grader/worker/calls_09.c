/* calls_09.c -- how the worker calls the conversions and products of lab 09. */
#include "amp/kernels_16bit.h"
#include "worker/aborts.h"
#include "worker/calls_09.h"
#include "worker/product.h"

/* ---- conversions ------------------------------------------------------------------------------------ */

static void convert(const mg_value *v) /* out [n], x [n], types of both, n */
{
    mt_convert_cpu(v[0].ptr, (mt_dtype)v[2].i64, v[1].ptr, (mt_dtype)v[3].i64, v[4].i64);
}

static void there_and_back(const mg_value *v) /* half, back [n]; x [n] f32, the 16-bit type, n, times */
{
    for (int64_t t = 0; t < v[5].i64; t++) {
        mt_convert_cpu(v[0].ptr, (mt_dtype)v[3].i64, v[2].ptr, MT_F32, v[4].i64);
        mt_convert_cpu(v[1].ptr, MT_F32, v[0].ptr, (mt_dtype)v[3].i64, v[4].i64);
    }
}

static void convert_aborts(const mg_value *v) /* as convert, then aborted [1] */
{
    v[5].i64s[0] = mg_aborts(convert, v);
}

/* ---- products --------------------------------------------------------------------------------------- */

static void product(const mg_value *v) /* c; a, b, the nine fields of dims, type of a and b */
{
    const mt_matmul_dims dims = mg_product_dims(v);
    mt_matmul16_cpu(v[0].f32, v[1].ptr, v[2].ptr, (mt_dtype)v[12].i64, &dims);
}

static void product_in_pairs(const mg_value *v)
{
    const mt_matmul_dims dims = mg_product_dims(v);
    mt_matmul_bf16_cpu(v[0].f32, v[1].ptr, v[2].ptr, &dims);
}

static void product_aborts(const mg_value *v) /* as product, then aborted [1] */
{
    v[13].i64s[0] = mg_aborts(product, v);
}

static void product_in_pairs_aborts(const mg_value *v) /* the same */
{
    v[13].i64s[0] = mg_aborts(product_in_pairs, v);
}

const mg_function mg_calls_09[] = {
    { "mt_convert_cpu to bf16", convert },
    { "mt_convert_cpu from bf16", convert },
    { "mt_convert_cpu to f16", convert },
    { "mt_convert_cpu from f16", convert },
    { "mt_convert_cpu between f16 and bf16", convert },
    { "mt_convert_cpu to bf16 and back", there_and_back },
    { "mt_convert_cpu to f16 and back", there_and_back },
    { "may abort: mt_convert_cpu", convert_aborts },
    { "mt_matmul16_cpu", product },
    { "may abort: mt_matmul16_cpu", product_aborts },
    { "may abort: mt_matmul_bf16_cpu", product_in_pairs_aborts },
    { "mt_matmul_bf16_cpu", product_in_pairs },
    { "mt_autocast_dtype", mg_call_autocast_dtype },
    { "ops under autocast", mg_call_autocast_network },
    { "mt_autocast_operand", mg_call_kept_copies },
    { "mt_autocast_save", mg_call_saved_tensors },
    { "kept bytes under autocast", mg_call_kept_bytes },
    { "mt_scaler_new", mg_call_scaler_new },
    { "mt_scaler_update", mg_call_scaler },
    { "mt_unscale_grads_cpu", mg_call_unscale },
    { "may abort: mt_unscale_grads_cpu", mg_call_unscale_aborts },
    { "mt_adamw_master_update_cpu", mg_call_master },
    { "may abort: mt_adamw_master_update_cpu", mg_call_master_aborts },
    { NULL, NULL },
};
