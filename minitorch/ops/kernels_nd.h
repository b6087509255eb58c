/* kernels_nd.h -- CPU kernels over strided arrays: arithmetic with broadcasting, copies and sums through views.
 *
 * An operand is a pointer and a view of it; a broadcast operand has stride 0 where it repeats, and its gradient is the
 * sum over the repeats. All operands of a call have the same shape. Forward overwrites, backward accumulates; a NULL
 * gradient is not computed. Sums run in double and are rounded once, with the same bits for any number of threads.
 * Given on the CPU; the CUDA kernels are lab 06's or given (cuda/kernels.h). */
#pragma once

#include "core/view.h"
#include "ops/tables.h"

MT_C_BEGIN

typedef struct mt_strided {
    float *data; /* the storage; view.offset is added */
    mt_view view;
} mt_strided;

/* out dense. da, db are views of dense gradients, broadcast as a and b were; dout dense. Backward of add and sub reads
 * neither a nor b, da of mul and div reads b, db reads a, of div both: NULL for what is not read. */
typedef void mt_binary_fwd_fn(float *out, const mt_strided *a, const mt_strided *b);
typedef void mt_binary_bwd_fn(const mt_strided *da, const mt_strided *db, const float *dout, const mt_strided *a,
                              const mt_strided *b);

mt_binary_fwd_fn mt_add_fwd_cpu, mt_sub_fwd_cpu, mt_mul_fwd_cpu, mt_div_fwd_cpu;
mt_binary_bwd_fn mt_add_bwd_cpu, mt_sub_bwd_cpu, mt_mul_bwd_cpu, mt_div_bwd_cpu;

/* mt_add_strided_cpu -- dst += src; a dst of stride 0 receives the sum. The gradient of every view. */
void mt_add_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* mt_copy_to_strided_cpu -- dst = src; dst has no stride 0. */
void mt_copy_to_strided_cpu(const mt_strided *dst, const mt_strided *src);

/* clang-format off */
#define MT_ND_KERNELS(K) \
    K(add_fwd) K(add_bwd) K(sub_fwd) K(sub_bwd) K(mul_fwd) K(mul_bwd) K(div_fwd) K(div_bwd) K(add_strided) \
    K(copy_to_strided)
/* clang-format on */

typedef struct mt_nd_table {
    MT_ND_KERNELS(MT_KERNEL_ENTRY)
} mt_nd_table;

extern const mt_nd_table mt_nd_cpu; /* elementwise_cpu.c */

static inline const mt_nd_table *mt_nd_kernels(mt_device device)
{
    return (const mt_nd_table *)mt_table_in_use(MT_ND_FAMILY, device, &mt_nd_cpu);
}

MT_C_END
