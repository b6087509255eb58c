/* tables.c -- the kernel tables in use, and the CPU's table of the base family; see tables.h. */
#include "kernels/kernels.h"

const mt_base_table mt_base_cpu = { .matmul = mt_matmul_parallel_cpu, MT_KERNELS(MT_KERNEL_CPU) };
MT_FAMILY_DEFINE(base)

const void *mt_table_in_use(const mt_kernel_family *family, mt_device device)
{
    const void *used = family->instead[device] ? family->instead[device] : family->own[device];
    MT_CHECK(used, "this program has no kernels for %s: use the cpu", mt_device_name(device));
    return used;
}

void mt_table_set(mt_kernel_family *family, mt_device device, const void *table)
{
    family->instead[device] = table;
}
