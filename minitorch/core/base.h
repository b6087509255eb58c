/* base.h -- what every file uses: error handling and a few helpers.
 *
 * There are two kinds of failure:
 *   a programming error (wrong shape, dtype, misuse, host out of memory) aborts in MT_CHECK;
 *   a failure of the outside world (files, command lines, data, a missing GPU, a dead peer) returns an mt_status,
 *   mt_last_error() says what happened and what to do, and outputs are unchanged. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Around the declarations of a header that CUDA C++ includes, or mt.h, which C++ may include. */
#ifdef __cplusplus
#define MT_C_BEGIN extern "C" {
#define MT_C_END   }
#else
#define MT_C_BEGIN
#define MT_C_END
#endif

MT_C_BEGIN

#define MT_PRINTF(fmt_arg, first_arg) __attribute__((format(printf, fmt_arg, first_arg)))
#define MT_NORETURN                   __attribute__((noreturn))

/* The exit status of a step that is not written yet; the grader prints TODO for it. */
#define MT_EXIT_TODO 77

/* ---- programming errors --------------------------------------------------------------------- */

/* MT_CHECK -- abort with file, line, expression and message unless cond holds. Never compiled out. */
#define MT_CHECK(cond, ...) ((cond) ? (void)0 : mt_check_failed(__FILE__, __LINE__, #cond, __VA_ARGS__))

/* MT_TODO -- in a skeleton, marks where the student's code goes: prints the step and exits with 77. */
#define MT_TODO(step) mt_todo(__FILE__, __LINE__, step)

MT_NORETURN void mt_check_failed(const char *file, int line, const char *expr, const char *fmt, ...) MT_PRINTF(4, 5);
MT_NORETURN void mt_todo(const char *file, int line, const char *step);

/* ---- the outside world ---------------------------------------------------------------------- */

typedef enum mt_status {
    MT_OK = 0,
    MT_ERR_IO,          /* open, read, write, rename failed: disk full, no permission, no such file */
    MT_ERR_FORMAT,      /* a file has wrong contents: truncated, another format, hostile */
    MT_ERR_ARGUMENT,    /* an invalid flag or value given by the user */
    MT_ERR_UNAVAILABLE, /* a device, tool or peer is missing */
    MT_ERR_STOPPED,     /* the user asked to stop (Ctrl-C), or a peer died */
} mt_status;

/* mt_fail -- record the message of mt_last_error() for this thread; returns status, so that
 * `return mt_fail(MT_ERR_IO, "%s: %s", path, strerror(errno));` is one line. */
mt_status mt_fail(mt_status status, const char *fmt, ...) MT_PRINTF(2, 3);

/* mt_last_error -- the message of this thread's last failure, "" when there was none. Valid until the next mt_fail. */
const char *mt_last_error(void);

/* mt_must -- unless status is MT_OK, print mt_last_error() to stderr and end the program with exit status 1: for the
 * main function of a small program. */
void mt_must(mt_status status);

/* MT_TRY -- call, and on a failure return its status from this function: where nothing has to be released before. */
#define MT_TRY(call)                  \
    do {                              \
        mt_status mt_failed = (call); \
        if (mt_failed != MT_OK)       \
            return mt_failed;         \
    } while (0)

/* mt_warn -- one line "warning: ..." on stderr, unless the environment variable MT_LOG is "error". */
void mt_warn(const char *fmt, ...) MT_PRINTF(1, 2);

/* ---- small helpers -------------------------------------------------------------------------- */

#define MT_COUNT(array) ((int64_t)(sizeof(array) / sizeof((array)[0])))

static inline int64_t mt_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t mt_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* From how many elements of a cheap pass (a few instructions each) waking the other threads, about 2 us, pays. */
enum { MT_PARALLEL_FROM = 1 << 15 };

/* n / d rounded up; n >= 0, d >= 1. */
static inline int64_t mt_ceil_div(int64_t n, int64_t d)
{
    return (n + d - 1) / d;
}

/* mt_calloc -- count >= 0 elements of size >= 1 bytes, all zero. Free them with free. Aborts: out of memory. */
void *mt_calloc(int64_t count, size_t size);

/* mt_realloc -- memory, or NULL, with room for count >= 0 elements: new ones are uninitialised.   Aborts: as above. */
void *mt_realloc(void *memory, int64_t count, size_t size);

/* mt_now -- seconds of a monotonic clock; only differences have a meaning. */
double mt_now(void);

MT_C_END
