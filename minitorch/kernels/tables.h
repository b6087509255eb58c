/* tables.h -- which kernel an op runs on which device. An op never names a kernel, it asks the table of its device:
 *
 *     mt_kernels(x->storage->device)->relu_fwd(mt_f32(out), mt_f32(x), mt_numel(x));
 *
 * A table has the kernels of one device: mt_base_table those that kernels/kernels.h declares; a folder with kernels of
 * its own has a header, and a table, of its own. Such a header has a list of names K(relu_fwd); the struct, the CPU's
 * table and CUDA's are made from it: entry relu_fwd has the type of mt_relu_fwd_cpu, which is the CPU's kernel, and
 * mt_relu_fwd_cuda is CUDA's. A new kernel is one more name in its list. Pointers passed to a kernel are on the table's
 * device; CUDA kernels go to the device's current stream. */
#pragma once

#include "core/device.h"

MT_C_BEGIN

/* The tables of one struct, one for each device: the program's own, NULL where it has none, and those that mt_table_set
 * put in their place. */
typedef struct mt_kernel_tables {
    const void *own[MT_DEVICE_COUNT], *instead[MT_DEVICE_COUNT];
} mt_kernel_tables;

#define MT_KERNEL_ENTRY(name)   __typeof__(mt_##name##_cpu) *name;
#define MT_KERNEL_CPU(name)     .name = mt_##name##_cpu,
#define MT_KERNEL_CUDA(name)    .name = mt_##name##_cuda,
#define MT_KERNEL_DECLARE(name) __typeof__(mt_##name##_cpu) mt_##name##_cuda;

/* MT_TABLES -- declares mt_NAME_tables with the table of the CPU, mt_NAME_cpu, and mt_NAME_kernels(device), the table
 * in use. MT_TABLES_DEFINE -- defines mt_NAME_tables, beside the CPU's table; CUDA's is mt_NAME_cuda, where a file of
 * cuda/ that is linked has it. */
#define MT_TABLES(name)                                                                 \
    extern const mt_##name##_table mt_##name##_cpu;                                     \
    extern mt_kernel_tables mt_##name##_tables;                                         \
    static inline const mt_##name##_table *mt_##name##_kernels(mt_device device)        \
    {                                                                                   \
        return (const mt_##name##_table *)mt_table_in_use(&mt_##name##_tables, device); \
    }
#define MT_TABLES_DEFINE(name)                                             \
    extern const mt_##name##_table mt_##name##_cuda __attribute__((weak)); \
    mt_kernel_tables mt_##name##_tables = { .own = { &mt_##name##_cpu, &mt_##name##_cuda } };

/* mt_table_in_use -- the table in use on a device.   Aborts: no kernels for the device. */
const void *mt_table_in_use(const mt_kernel_tables *tables, mt_device device);

/* mt_table_set -- use another table on a device from now on; NULL: the device's own again. The table is
 * borrowed. Not while kernels run in another thread. To change one entry:
 *     mt_base_table mine = mt_base_cpu;
 *     mine.relu_fwd = my_relu;
 *     mt_table_set(&mt_base_tables, MT_CPU, &mine); */
void mt_table_set(mt_kernel_tables *tables, mt_device device, const void *table);

MT_C_END
