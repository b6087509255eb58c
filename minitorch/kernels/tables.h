/* tables.h -- which kernel an op runs on which device. An op never names a kernel, it asks the table of its device:
 *
 *     mt_kernels(x->storage->device)->relu_fwd(out, x, n);
 *
 * Kernels come in families, each with a header of its own: base (kernels/kernels.h), GPT-2 (models/kernels_gpt2.h),
 * and so on. A family is a list of names K(relu_fwd); struct, CPU table and CUDA table are made from it: entry relu_fwd
 * has the type of mt_relu_fwd_cpu, which is the CPU's kernel, and mt_relu_fwd_cuda is CUDA's. A new kernel is one more
 * name in its list. Pointers passed to a kernel are on the table's device; CUDA kernels go to the device's current
 * stream. */
#pragma once

#include "core/device.h"

MT_C_BEGIN

typedef enum mt_kernel_family {
    MT_BASE_FAMILY,
    MT_GPT2_FAMILY,
    MT_16BIT_FAMILY,
    MT_FUSED_FAMILY,
    MT_FAMILIES
} mt_kernel_family;

#define MT_KERNEL_ENTRY(name)   __typeof__(mt_##name##_cpu) *name;
#define MT_KERNEL_CPU(name)     .name = mt_##name##_cpu,
#define MT_KERNEL_CUDA(name)    .name = mt_##name##_cuda,
#define MT_KERNEL_DECLARE(name) __typeof__(mt_##name##_cpu) mt_##name##_cuda;

/* MT_TABLE_OF -- declares a family's table of the CPU, mt_NAME_cpu, and mt_NAME_kernels(device), the table in use. */
#define MT_TABLE_OF(name, NAME)                                                                          \
    extern const mt_##name##_table mt_##name##_cpu;                                                      \
    static inline const mt_##name##_table *mt_##name##_kernels(mt_device device)                         \
    {                                                                                                    \
        return (const mt_##name##_table *)mt_table_in_use(MT_##NAME##_FAMILY, device, &mt_##name##_cpu); \
    }

/* mt_table_in_use -- a device's table of a family; cpu is the CPU's own.   Aborts: no kernels for the device. */
const void *mt_table_in_use(mt_kernel_family family, mt_device device, const void *cpu);

/* mt_table_set -- use another table of a family on a device from now on; NULL: the device's own again. The table is
 * borrowed. Not while kernels run in another thread. To change one entry:
 *     mt_gpt2_table mine = mt_gpt2_cpu;
 *     mine.attention_fwd = my_attention;
 *     mt_table_set(MT_GPT2_FAMILY, MT_CPU, &mine); */
void mt_table_set(mt_kernel_family family, mt_device device, const void *table);

MT_C_END
