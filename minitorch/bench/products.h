/* products.h -- for the programs of this folder that show a profile: its lines, and spans for matrix products. */
#pragma once

#include <string.h>

#include "kernels/kernels.h"
#include "amp/kernels_16bit.h"
#include "core/span.h"
#include "prof/profile.h"

/* bench_line -- the profile's line of this name; zeros when there is none. */
static inline mt_profile_line bench_line(const mt_profile *p, const char *name)
{
    for (int64_t i = 0; i < p->line_count; i++)
        if (strcmp(p->line[i].name, name) == 0)
            return p->line[i];
    return (mt_profile_line){ 0 };
}

/* bench_mark_products -- from now on every matrix product of the CPU's tables is a span "product", and a conversion a
 * span "convert", so that a profile shows them apart from the ops around them. `also`, unless NULL, is called with the
 * time of each product. */
typedef void bench_product_fn(const mt_matmul_dims *dims, double seconds);
static bench_product_fn *bench_also;

static inline void bench_product16(float *c, const void *a, const void *b, mt_dtype dtype, const mt_matmul_dims *d)
{
    MT_SPAN("product");
    double start = mt_now();
    if (dtype == MT_F32)
        mt_base_cpu.matmul(c, a, b, d);
    else
        mt_16bit_cpu.matmul16(c, a, b, dtype, d);
    mt_count_work(2 * d->M * d->N * d->K, 0);
    if (bench_also)
        bench_also(d, mt_now() - start);
}

static inline void bench_product(float *c, const float *a, const float *b, const mt_matmul_dims *d)
{
    bench_product16(c, a, b, MT_F32, d);
}

static inline void bench_convert(void *out, mt_dtype to, const void *x, mt_dtype from, int64_t n)
{
    MT_SPAN("convert");
    mt_16bit_cpu.convert(out, to, x, from, n);
}

static inline void bench_mark_products(bench_product_fn *also)
{
    static mt_base_table table;
    static const mt_16bit_table table16 = { .convert = bench_convert, .matmul16 = bench_product16 };
    table = mt_base_cpu;
    table.matmul = bench_product;
    bench_also = also;
    mt_table_set(&mt_base_tables, MT_CPU, &table);
    mt_table_set(&mt_16bit_tables, MT_CPU, &table16);
}
