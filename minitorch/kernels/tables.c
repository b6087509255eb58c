/* tables.c -- which kernel table is in use, and the CPU's table of kernels.h; see tables.h. */
#include "kernels/kernels.h"

const mt_base_table mt_base_cpu = { .matmul = mt_matmul_parallel_cpu, MT_KERNELS(MT_KERNEL_CPU) };
MT_TABLES_DEFINE(base)

const void *mt_table_in_use(const mt_kernel_tables *tables, mt_device device)
{
    const void *used = tables->instead[device] ? tables->instead[device] : tables->own[device];
    MT_CHECK(used, "this program has no kernels for %s: use the cpu", mt_device_name(device));
    return used;
}

void mt_table_set(mt_kernel_tables *tables, mt_device device, const void *table)
{
    tables->instead[device] = table;
}
