/* kernels_16bit.h -- the kernels of mixed precision: conversions between f32 and the 16-bit floats, and a product of
 * 16-bit matrices; and the table in which they are found, with mt_unscale_grads (amp/scaler.h). All arrays are dense
 * unless said. Any size may be 0. Results have the same bits for any number of threads. */
#pragma once

#include "amp/scaler.h"
#include "core/dtype.h"
#include "kernels/matmul.h"
#include "kernels/tables.h"

MT_C_BEGIN

/* mt_convert_cpu -- out[i] = x[i] in another type, rounded to nearest, ties to even, as mt_bf16_from_f32 and
 * mt_f16_from_f32 do (core/dtype.h): overflow gives infinity, NaN stays NaN, subnormals are kept.
 *   out [n] of type `to`, overwritten;  x [n] of type `from`;  each type is f32, f16 or bf16; no aliasing
 * Moves: each array once, 6 B an element between f32 and 16 bits.   Aborts: another type.
 * Unit: solutions/09-mixed-precision/convert.c   Lab 09.1-2 */
void mt_convert_cpu(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n);

/* mt_matmul16_cpu -- c = or += op(a) op(b) with operands of 16 bits and sums in f32.
 *   c [M,N] f32;  a, b of type `dtype`, f16 or bf16; sizes, strides and transposes as in kernels/matmul.h
 * A product of two 16-bit floats is exact in f32; K of them are added in f32, in an order that depends on K only:
 * |error| <= (K + 1) 2^-24 (|c before| + sum |a||b|).   Aborts: another type, a leading dimension that is too small.
 * Unit: solutions/09-mixed-precision/matmul16.c   Lab 09.3 */
void mt_matmul16_cpu(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *dims);

/* mt_matmul_bf16_cpu -- as mt_matmul16_cpu for bf16, two numbers of K at a time (mt_dot_pairs, kernels/vec16.h). Where
 * the processor has an instruction for that, subnormal operands count as 0, and subnormal sums become 0.
 * Unit: solutions/09-mixed-precision/matmul_bf16.c   Lab 09.10 */
void mt_matmul_bf16_cpu(float *c, const mt_bf16 *a, const mt_bf16 *b, const mt_matmul_dims *dims);

/* mt_matmul_amx -- as mt_matmul_bf16_cpu, by tiles of AMX. Aborts where mt_has_amx() is false.
 * mt_has_amx -- has the processor AMX, and does the system give it to this process? */
void mt_matmul_amx(float *c, const mt_bf16 *a, const mt_bf16 *b, const mt_matmul_dims *dims);
bool mt_has_amx(void);

/* mt_matmul16_form -- how the CPU's table multiplies this type, in words: bf16 in tiles where there is AMX, or in pairs
 * where the processor is fast with them (mt_pairs_are_fast, kernels/vec16.h); else widened. */
const char *mt_matmul16_form(mt_dtype dtype);

/* clang-format off */
#define MT_16BIT_KERNELS(K) K(convert) K(matmul16) K(unscale_grads)
/* clang-format on */

MT_16BIT_KERNELS(MT_KERNEL_DECLARE) /* those of the device, where it has them */

typedef struct mt_16bit_table {
    MT_16BIT_KERNELS(MT_KERNEL_ENTRY)
} mt_16bit_table;

MT_TABLES(16bit)

static inline bool mt_is_16bit(mt_dtype dtype)
{
    return dtype == MT_F16 || dtype == MT_BF16;
}

MT_C_END
