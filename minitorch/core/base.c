/* base.c -- reporting of faults, the last error of each thread, warnings, the time. */
#include "core/base.h"

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
