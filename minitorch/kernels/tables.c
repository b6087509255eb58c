/* tables.c -- which kernel table is in use, see tables.h; the CPU's table of kernels.h, and mt_matmul_cpu of matmul.h,
 * the product by the table in use. */
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

void mt_matmul_cpu(float *c, const float *a, const float *b, int64_t M, int64_t N, int64_t K, mt_trans trans_a,
                   mt_trans trans_b, mt_write write)
{
    const mt_matmul_dims dims = mt_dense_dims(M, N, K, trans_a, trans_b, write);
    mt_kernels(MT_CPU)->matmul(c, a, b, &dims);
}
