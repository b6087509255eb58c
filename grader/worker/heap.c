/* heap.c -- malloc with a mark behind every block, so that a unit that writes past the end of a tensor or of its
 * scratch is found when the block is freed, or after the call. Linked in place of the C library's functions
 * (-Wl,--wrap, link.c).
 *
 *   | n bytes for the caller | 0x11 ... at least 8 bytes | place | n |      the whole block: malloc_usable_size
 *
 * As a floating-point number of any width the mark is next to 0, so that `+=` past the end changes it, too.
 *
 * living[place] is the block; one that is not there comes from elsewhere and is not checked. n is kept as n ^ KEY.
 *
 * The first bytes of a block are JUNK when it is given out, and again when it is freed or realloc has moved it: who
 * reads what was never written, or is freed, finds NaN, -1 and pointers to nowhere instead of what happens to be
 * there. */
#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/storage.h"
#include "worker/heap.h"

enum {
    MARK = 0x11,
    MARKS = 8,
    JUNK = 0xFF,
    MOST_JUNK = 4096,
    MOST_LIVING = 1 << 16,
    MOST_FREED = 64,
    LARGE = 1 << 16,
    NOWHERE = -2
};

typedef struct tail { /* behind the marks */
    int64_t place;
    size_t secret; /* n ^ KEY */
} tail;

enum { EXTRA = MARKS + sizeof(tail) };

static const size_t key = 0x6d696e69746f7263;

static void *living[MOST_LIVING]; /* a block more has the place NOWHERE */
static int64_t livings, live;     /* blocks; their bytes, as the callers asked for them */
typedef struct large {
    char *block;
    size_t n;
} large;

static large gone[MOST_FREED]; /* the last ones; the system may have their memory back */
static int64_t frees;
static atomic_flag busy = ATOMIC_FLAG_INIT;

void *__real_calloc(size_t count, size_t each);
void *__real_realloc(void *block, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
void *__real_memalign(size_t alignment, size_t n);
int __real_posix_memalign(void **block, size_t alignment, size_t n);
void __real_free(void *block);

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static tail *tail_of(void *block)
{
    return (tail *)((char *)block + (malloc_usable_size(block) & ~(size_t)7)) - 1;
}

static size_t size_in(const tail *end)
{
    return end->secret ^ key;
}

static void *mark(void *block, size_t n)
{
    if (!block)
        return NULL;
    tail *end = tail_of(block);
    memset((char *)block + n, MARK, (size_t)((char *)end - (char *)block) - n);
    lock();
    *end = (tail){ livings < MOST_LIVING ? livings : NOWHERE, n ^ key };
    if (livings < MOST_LIVING)
        living[livings++] = block;
    live += (int64_t)n;
    unlock();
    return block;
}

static void *spoil(void *block, size_t n)
{
    return block ? memset(block, JUNK, n < MOST_JUNK ? n : MOST_JUNK) : NULL;
}

/* Ends the worker; its handler of signals may allocate. */
static void report(const char *how_many, int64_t past, size_t n)
{
    char words[128];
    int length =
        snprintf(words, sizeof words, "heap overrun: %s %lld bytes past the end of a block of %zu bytes were written\n",
                 how_many, (long long)past, n);
    unlock();
    if (write(2, words, (size_t)length) == length)
        abort();
    lock();
}

/* What is behind the block must be as mark left it. */
static void check(char *block, int64_t place)
{
    const tail *end = tail_of(block);
    size_t n = size_in(end), most = malloc_usable_size(block) - EXTRA;
    if (end->place != place || n > most) {
        report("more than", MARKS, most);
        return;
    }
    int64_t past = 0;
    for (const char *p = block + n; p < (const char *)end; p++)
        past = *p != MARK ? p - block - (int64_t)n + 1 : past;
    if (past > 0)
        report("up to", past, n);
}

/* Its place; -1: it comes from elsewhere. */
static int64_t place_of(void *block)
{
    int64_t place = tail_of(block)->place;
    if (place == NOWHERE && size_in(tail_of(block)) <= malloc_usable_size(block) - EXTRA)
        return NOWHERE;
    if (place < 0 || place >= livings || living[place] != block)
        for (place = livings - 1; place >= 0 && living[place] != block;)
            place--;
    return place;
}

/* The bytes that were asked for; -1: the block comes from elsewhere. */
static int64_t size_of(void *block)
{
    lock();
    int64_t place = place_of(block);
    if (place != -1)
        check(block, place);
    unlock();
    return place == -1 ? -1 : (int64_t)size_in(tail_of(block));
}

/* A block of ours is no longer: a second free is malloc's to notice. */
static void forget(void *block)
{
    lock();
    int64_t place = place_of(block);
    size_t n = size_in(tail_of(block));
    live -= (int64_t)n;
    if (n >= LARGE)
        gone[frees++ % MOST_FREED] = (large){ block, n };
    if (place >= 0) {
        living[place] = living[--livings];
        tail_of(living[place])->place = place;
    }
    tail_of(block)->place = -1;
    unlock();
}

int64_t mg_heap_live(void)
{
    lock();
    int64_t n = live;
    unlock();
    return n;
}

void mg_heap_check(void)
{
    lock();
    for (int64_t place = 0; place < livings; place++)
        check(living[place], place);
    unlock();
}

void mg_heap_say(const void *address)
{
    char words[128];
    const char *at = address, *last = NULL;
    int length = 0;
    for (int i = 0; i < MOST_FREED; i++)
        if (at >= gone[i].block && (size_t)(at - gone[i].block) < gone[i].n)
            length = snprintf(words, sizeof words, "heap: byte %zu of a block of %zu bytes, which is freed\n",
                              (size_t)(at - gone[i].block), gone[i].n);
    for (int64_t i = 0; i < livings; i++)
        last = (char *)living[i] <= at && (!last || (char *)living[i] > last) ? living[i] : last;
    if (length == 0 && last && at - last < (ptrdiff_t)(2 * malloc_usable_size((void *)last)))
        length = snprintf(words, sizeof words, "heap: %zu bytes past the end of a block of %zu bytes\n",
                          (size_t)(at - last) - size_in(tail_of((void *)last)), size_in(tail_of((void *)last)));
    if (length > 0 && write(2, words, (size_t)length) != length)
        return;
}

void *__wrap_memalign(size_t alignment, size_t n)
{
    return n > SIZE_MAX - EXTRA ? NULL : mark(spoil(__real_memalign(alignment, n + EXTRA), n), n);
}

/* Aligned like the data of a tensor, which then ends where its block does (core/storage.c). */
void *__wrap_malloc(size_t n)
{
    return __wrap_memalign(MT_ALIGNMENT, n);
}

void *__wrap_calloc(size_t count, size_t each)
{
    size_t n;
    if (__builtin_mul_overflow(count, each, &n) || n > SIZE_MAX - EXTRA)
        return NULL;
    return mark(__real_calloc(1, n + EXTRA), n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return n > SIZE_MAX - EXTRA ? NULL : mark(spoil(__real_aligned_alloc(alignment, n + EXTRA), n), n);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t n)
{
    int error = n > SIZE_MAX - EXTRA ? ENOMEM : __real_posix_memalign(block, alignment, n + EXTRA);
    if (error == 0)
        mark(spoil(*block, n), n);
    return error;
}

void __wrap_free(void *block)
{
    int64_t n = block ? size_of(block) : -1;
    if (n >= 0) {
        forget(block);
        spoil(block, (size_t)n);
    }
    __real_free(block);
}

/* Always moves. */
void *__wrap_realloc(void *block, size_t n)
{
    int64_t old = block ? size_of(block) : 0;
    if (old < 0)
        return n > SIZE_MAX - EXTRA ? NULL : mark(__real_realloc(block, n + EXTRA), n);
    void *moved = __wrap_malloc(n);
    if (moved && old > 0)
        memcpy(moved, block, (size_t)old < n ? (size_t)old : n);
    if (moved)
        __wrap_free(block);
    return moved;
}
