/* bench.h -- for the programs of this folder: the name of the machine, CSV files, minimum times, processor time. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/sysinfo.h>

#include "cli/cli.h"

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
