/* kernels_16bit.c -- the CPU's table of the kernels for 16-bit floats, with the fastest product for each type. */
#include "ops/kernels_16bit.h"
#include "kernels/vec.h"

static bool in_pairs(mt_dtype dtype)
{
    return dtype == MT_BF16 && mt_pairs_are_fast();
}

const char *mt_matmul16_form(mt_dtype dtype)
{
    if (dtype == MT_BF16 && mt_has_amx())
        return "multiplied in tiles (AMX)";
    return in_pairs(dtype) ? "multiplied in pairs (vdpbf16ps)" : "widened to f32 in blocks";
}

static void matmul16(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims)
{
    enum { ENOUGH = 16 }; /* a tile of AMX is mostly empty below */
    if (dtype == MT_BF16 && mt_min(dims->M, dims->N) >= ENOUGH && mt_has_amx())
        mt_matmul_amx(c, a, b, dims);
    else if (in_pairs(dtype))
        mt_matmul_bf16_cpu(c, a, b, dims);
    else
        mt_matmul16_cpu(c, a, b, dtype, dims);
}

const mt_16bit_table mt_16bit_cpu = { .convert = mt_convert_cpu,
                                      .matmul16 = matmul16,
                                      .unscale_grads = mt_unscale_grads_cpu };
