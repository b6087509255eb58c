/* output.c -- printf, assert, trap and clock of device code.
 *
 * The output of a launch is written when it has ended, in the order of blocks, like a GPU's printf buffer. A kernel
 * that prints more than that buffer holds (1 MB) is ended: it probably prints in an endless loop.
 */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/workers.h"

#define MOST_BYTES (1 << 20) /* of a launch */
#define HERE       ((uintptr_t)__builtin_return_address(0))

typedef struct line {
    uint64_t order; /* the block's position in the order of execution */
    size_t begin, size;
} line;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char text[MOST_BYTES];
static line *lines;
static size_t line_count, line_room, used;

/* Returns whether there was room. */
static bool keep(uint64_t order, const char *format, va_list arguments)
{
    if (line_count == line_room) {
        size_t room = line_room ? 2 * line_room : 256;
        line *grown = realloc(lines, room * sizeof *grown);
        if (!grown)
            return false;
        lines = grown;
        line_room = room;
    }
    int size = vsnprintf(text + used, MOST_BYTES - used, format, arguments);
    if (size < 0 || (size_t)size >= MOST_BYTES - used)
        return false;
    lines[line_count++] = (line){ .order = order, .begin = used, .size = (size_t)size };
    used += (size_t)size + !size; /* an empty line counts too: there may be endlessly many */
    return true;
}

int cuemu_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!emu_self) {
        int size = vprintf(format, arguments);
        va_end(arguments);
        return size;
    }
    emu_worker *worker = emu_self->warp->worker;
    worker->busy++;
    pthread_mutex_lock(&lock);
    bool fits = keep(worker->order, format, arguments);
    pthread_mutex_unlock(&lock);
    worker->busy--;
    va_end(arguments);
    if (!fits) {
        emu_error(EMU_ENDLESS, EMU_HERE, "the kernel has printed more than %d bytes: does a loop not end?", MOST_BYTES);
        emu_kill(cudaErrorLaunchFailure);
    }
    return 1;
}

static int by_order(const void *a, const void *b)
{
    const line *p = a, *q = b;
    if (p->order != q->order)
        return p->order < q->order ? -1 : 1;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

void emu_output_flush(uint64_t last_block)
{
    qsort(lines, line_count, sizeof *lines, by_order);
    for (size_t i = 0; i < line_count && lines[i].order <= last_block; i++)
        fwrite(text + lines[i].begin, 1, lines[i].size, stdout);
    line_count = used = 0;
}

void cuemu_trap(const char *why)
{
    emu_device_only(why, HERE);
    emu_error(EMU_CRASH, EMU_HERE, "%s", why);
    emu_kill(cudaErrorLaunchFailure);
}

/* Replaces libc's function for host and device code: both call assert(). */
void __assert_fail(const char *condition, const char *file, unsigned line_number, const char *function)
{
    if (emu_self) {
        emu_error(EMU_ASSERT, (emu_site){ .file = file, .line = (int)line_number }, "assertion `%s' failed in %s",
                  condition, function);
        emu_kill(cudaErrorAssert);
    }
    fflush(stdout);
    fprintf(stderr, "%s:%u: %s: assertion `%s' failed\n", file, line_number, function, condition);
    abort();
}

long long cuemu_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

void cuemu_fence(int scope)
{
    emu_device_only("__threadfence", HERE);
    EMU_CALL(fence, scope);
}
