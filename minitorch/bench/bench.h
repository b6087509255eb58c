/* bench.h -- for the programs of this folder: the name of the machine, CSV files, minimum times, lines of a profile,
 * spans for matrix products. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/sysinfo.h>

#include "kernels/kernels.h"
#include "ops/kernels_16bit.h"
#include "cli/cli.h"
#include "prof/profile.h"
#include "core/span.h"

/* bench_machine -- "AMD EPYC, 2 cores, gcc 12.2.0"; not to be freed. */
static inline const char *bench_machine(void)
{
    static char name[256];
    char line[256], cpu[128] = "unknown processor";
    FILE *info = fopen("/proc/cpuinfo", "r");
    while (info && fgets(line, sizeof line, info))
        if (sscanf(line, "model name : %127[^\n]", cpu) == 1)
            break;
    if (info)
        fclose(info);
    snprintf(name, sizeof name, "%s, %d cores, %s %d.%d.%d", cpu, get_nprocs(),
#ifdef __clang__
             "clang", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
             "gcc", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
    return name;
}

/* bench_csv_open -- a file with this line of names; NULL for path NULL. bench_csv_close takes NULL too. A file that
 * cannot be written ends the program with its name and the reason. */
static inline void bench_csv_check(bool good, const char *path)
{
    if (!good)
        exit(mt_cli_exit(mt_fail(MT_ERR_IO, "cannot write %s: %s", path, strerror(errno))));
}

static inline FILE *bench_csv_open(const char *path, const char *names)
{
    FILE *csv = path ? fopen(path, "we") : NULL;
    bench_csv_check(csv || !path, path);
    if (csv)
        fprintf(csv, "%s\n", names);
    return csv;
}

static inline void bench_csv_close(FILE *csv, const char *path)
{
    bool bad = csv && ferror(csv);
    bench_csv_check((!csv || fclose(csv) == 0) && !bad, path);
}

static inline void bench_keep_least(double *least, double value)
{
    *least = value < *least ? value : *least;
}

/* bench_cpu -- seconds of a processor; clock: CLOCK_THREAD_CPUTIME_ID or CLOCK_PROCESS_CPUTIME_ID. */
static inline double bench_cpu(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
        mt_kernels_cpu.matmul(c, a, b, d);
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
    static mt_kernel_table table;
    static const mt_16bit_table table16 = { .convert = bench_convert, .matmul16 = bench_product16 };
    table = mt_kernels_cpu;
    table.matmul = bench_product;
    bench_also = also;
    mt_table_set(MT_BASE_FAMILY, MT_CPU, &table);
    mt_table_set(MT_16BIT_FAMILY, MT_CPU, &table16);
}
