/* traffic.c -- counts the bytes that memory moves during one call of a CPU unit that was compiled with
 * -fsanitize=thread. GCC then calls a function below before each load and store; they replace the sanitizer's library.
 * grader/traffic.h describes the count; only counting workers link this file.
 *
 * Left out: the stack, whose lines stay in every processor's cache, and accesses of other threads than the first. */
#include "traffic.h"
#include "wire_traffic.h"
#include "worker/on_device.h"

#include <string.h>

enum { LINE = 64, WAYS = 16, SETS = MG_CACHE_BYTES / LINE / WAYS, STACK = 9 << 20 };

typedef struct way {
    uintptr_t line; /* address / LINE; 0: empty */
    int64_t used;   /* when, in accesses */
    bool dirty;
} way;

static way cache[SETS][WAYS];
static int64_t now, fetched, written;
static bool counting;
static char *stack_top;
static _Thread_local bool first_thread;

static void touch_line(uintptr_t line, bool write)
{
    way *set = cache[line % SETS], *at = &set[0];
    for (int w = 0; w < WAYS && at->line != line; w++)
        if (set[w].line == line || set[w].used < at->used)
            at = &set[w];
    if (at->line != line) {
        written += at->dirty ? LINE : 0;
        fetched += LINE;
        *at = (way){ .line = line };
    }
    at->dirty |= write;
    at->used = ++now;
}

static inline void touch(const void *address, size_t bytes, bool write)
{
    const char *at = address;
    if (!counting || !first_thread || (at < stack_top && at > stack_top - STACK))
        return;
    for (uintptr_t line = (uintptr_t)at / LINE; line <= ((uintptr_t)at + bytes - 1) / LINE && bytes > 0; line++)
        touch_line(line, write);
}

void mg_on_device(const mg_function *function, mg_value *values, const mg_wire_value *wire, int last, bool reversed)
{
    char here;
    (void)wire, (void)reversed;
    memset(cache, 0, sizeof cache);
    stack_top = &here;
    first_thread = true;
    now = fetched = written = 0;
    counting = true;
    function->call(values);
    counting = false;
    for (int s = 0; s < SETS; s++)
        for (int w = 0; w < WAYS; w++)
            written += cache[s][w].dirty ? LINE : 0;
    *(mg_traffic_report *)values[last].ptr = (mg_traffic_report){ fetched, written };
}

/* ---- what the compiler calls ------------------------------------------------------------------------------ */

#define ACCESS(bytes)                                                                                \
    void __tsan_read##bytes(void *address);                                                          \
    void __tsan_read##bytes(void *address)                                                           \
    {                                                                                                \
        touch(address, bytes, false);                                                                \
    }                                                                                                \
    void __tsan_write##bytes(void *address);                                                         \
    void __tsan_write##bytes(void *address)                                                          \
    {                                                                                                \
        touch(address, bytes, true);                                                                 \
    }                                                                                                \
    void __tsan_unaligned_read##bytes(void *address) __attribute__((alias("__tsan_read" #bytes)));   \
    void __tsan_unaligned_write##bytes(void *address) __attribute__((alias("__tsan_write" #bytes))); \
    void __tsan_volatile_read##bytes(void *address) __attribute__((alias("__tsan_read" #bytes)));    \
    void __tsan_volatile_write##bytes(void *address) __attribute__((alias("__tsan_write" #bytes)));

ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *address, size_t bytes);
void __tsan_read_range(void *address, size_t bytes)
{
    touch(address, bytes, false);
}

void __tsan_write_range(void *address, size_t bytes);
void __tsan_write_range(void *address, size_t bytes)
{
    touch(address, bytes, true);
}

void __tsan_init(void);
void __tsan_init(void)
{
}

void __tsan_func_entry(void *caller);
void __tsan_func_entry(void *caller)
{
    (void)caller;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void)
{
}

/* Copies and fills inside libc (the linker puts these before the library's own). */
void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    touch(from, bytes, false);
    touch(to, bytes, true);
    return __real_memcpy(to, from, bytes);
}

void *__real_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    touch(from, bytes, false);
    touch(to, bytes, true);
    return __real_memmove(to, from, bytes);
}

void *__real_memset(void *to, int value, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes)
{
    touch(to, bytes, true);
    return __real_memset(to, value, bytes);
}
