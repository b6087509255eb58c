/* base.c -- reporting of faults, the last error of each thread, warnings, the time; and whether the processor is one
 * for which the program was compiled. */
#include "core/base.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local char last_error[1024];

void mt_check_failed(const char *file, int line, const char *expr, const char *fmt, ...)
{
    va_list args;
    fflush(stdout);
    fprintf(stderr, "%s:%d: check failed: %s\n  ", file, line, expr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    abort();
}

void mt_todo(const char *file, int line, const char *step)
{
    fflush(stdout);
    fprintf(stderr, "TODO %s: step not written yet (%s:%d)\n", step, file, line);
    _Exit(MT_EXIT_TODO);
}

mt_status mt_fail(mt_status status, const char *fmt, ...)
{
    char text[sizeof last_error]; /* an argument may be the old message itself */
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    memcpy(last_error, text, sizeof text);
    return status;
}

const char *mt_last_error(void)
{
    return last_error;
}

void mt_must(mt_status status)
{
    if (status == MT_OK)
        return;
    fflush(stdout);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, last_error);
    exit(1);
}

void *mt_calloc(int64_t count, size_t size)
{
    MT_CHECK(count >= 0, "%lld elements", (long long)count);
    void *memory = count <= INT64_MAX / (int64_t)size ? calloc((size_t)mt_max(count, 1), size) : NULL;
    MT_CHECK(memory, "out of memory: %lld elements of %zu bytes", (long long)count, size);
    return memory;
}

void *mt_realloc(void *memory, int64_t count, size_t size)
{
    MT_CHECK(count >= 0 && count <= INT64_MAX / (int64_t)size, "%lld elements", (long long)count);
    memory = realloc(memory, (size_t)mt_max(count, 1) * size);
    MT_CHECK(memory, "out of memory: %lld elements of %zu bytes", (long long)count, size);
    return memory;
}

void mt_warn(const char *fmt, ...)
{
    const char *level = getenv("MT_LOG");
    char line[1024];
    va_list args;
    if (level && strcmp(level, "error") == 0)
        return;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    fprintf(stderr, "warning: %s\n", line);
}

double mt_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- the processor --------------------------------------------------------------------------------------- */

#ifdef __x86_64__
/* A feature that the processor lacks, if the compiler has used it: then it has defined the macro as 1. */
#define TEXT(macro)           #macro
#define LACKS(macro, feature) (*TEXT(macro) == '1' && !__builtin_cpu_supports(feature) ? feature : NULL)

/* Before the program begins: one line instead of SIGILL. Its own instructions are those of every x86-64. */
__attribute__((constructor(101), target("general-regs-only,no-bmi,no-bmi2"))) static void check_processor(void)
{
    __builtin_cpu_init();
    const char *lacks[] = { LACKS(__SSE4_2__, "sse4.2"),
                            LACKS(__AVX__, "avx"),
                            LACKS(__AVX2__, "avx2"),
                            LACKS(__FMA__, "fma"),
                            LACKS(__BMI2__, "bmi2"),
                            LACKS(__XOP__, "xop"),
                            LACKS(__AVX512F__, "avx512f"),
                            LACKS(__AVX512BW__, "avx512bw"),
                            LACKS(__AVX512VL__, "avx512vl"),
                            LACKS(__AVX512VBMI2__, "avx512vbmi2"),
                            LACKS(__AVX512BF16__, "avx512bf16") };
    for (int i = 0; i < MT_COUNT(lacks); i++)
        if (lacks[i]) {
            warnx("compiled for processors with %s, which this one lacks: build it here, or for an older MARCH",
                  lacks[i]);
            _Exit(1);
        }
}
#endif
