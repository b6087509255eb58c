/* calls_09.c -- how the worker calls the conversions and products of lab 09. */
#include "amp/kernels_16bit.h"
#include "worker/calls_09.h"
#include "worker/product.h"

/* ---- conversions ------------------------------------------------------------------------------------ */

static void convert(const mg_value *v)
{
    mt_convert_cpu(ARRAY(out)->ptr, (mt_dtype)N(to), ARRAY(x)->ptr, (mt_dtype)N(from), N(n));
}

static void there_and_back(const mg_value *v)
{
    void *half = ARRAY(half)->ptr;
    float *back = F(back), *x = F(x);
    const mt_dtype dtype = (mt_dtype)N(dtype);
    for (int64_t t = 0, n = N(n), times = N(times); t < times; t++) {
        mt_convert_cpu(half, dtype, x, MT_F32, n);
        mt_convert_cpu(back, MT_F32, half, dtype, n);
    }
}

/* ---- products --------------------------------------------------------------------------------------- */

static void product(const mg_value *v)
{
    const mt_matmul_dims dims = mg_product_dims(v);
    mt_matmul16_cpu(F(c), ARRAY(a)->ptr, ARRAY(b)->ptr, (mt_dtype)N(dtype), &dims);
}

static void product_in_pairs(const mg_value *v)
{
    const mt_matmul_dims dims = mg_product_dims(v);
    mt_matmul_bf16_cpu(F(c), BF16(a), BF16(b), &dims);
}

const mg_function mg_calls_09[] = {
    { "mt_convert_cpu", convert },
    { "mt_convert_cpu to bf16", convert },
    { "mt_convert_cpu from bf16", convert },
    { "mt_convert_cpu to f16", convert },
    { "mt_convert_cpu from f16", convert },
    { "mt_convert_cpu between f16 and bf16", convert },
    { "mt_convert_cpu to bf16 and back", there_and_back },
    { "mt_convert_cpu to f16 and back", there_and_back },
    { "mt_matmul16_cpu", product },
    { "mt_matmul_bf16_cpu", product_in_pairs },
    { "mt_autocast_dtype", mg_call_autocast_dtype },
    { "ops under autocast", mg_call_autocast_network },
    { "mt_autocast_operand", mg_call_kept_copies },
    { "mt_autocast_save", mg_call_saved_tensors },
    { "kept bytes under autocast", mg_call_kept_bytes },
    { "mt_scaler_new", mg_call_scaler_new },
    { "mt_scaler_update", mg_call_scaler },
    { "mt_unscale_grads_cpu", mg_call_unscale },
    { "mt_adamw_master_update_cpu", mg_call_master },
    { "mt_encode8_cpu", mg_call_encode8 },
    { "mt_decode8_cpu", mg_call_decode8 },
    { "mt_adam8_update_cpu", mg_call_adam8 },
    { NULL, NULL },
};
