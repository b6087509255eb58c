/* heap.c -- malloc with a mark behind every block, so that a unit that writes past the end of a tensor or of its
 * scratch is found when the block is freed. Linked in place of the C library's functions (-Wl,--wrap, link.c).
 *
 *   | n bytes for the caller | 0x11 ... at least 8 bytes | n ^ KEY |      the whole block: malloc_usable_size
 *
 * As a floating-point number of any width the mark is next to 0, so that `+=` past the end changes it, too.
 *
 * A block that does not end with a plausible n comes from elsewhere and is not checked.
 *
 * The first bytes of a block are JUNK when it is given out by malloc, and again when it is freed: who reads what was
 * never written, or is freed, finds NaN, -1 and pointers to nowhere instead of what happens to be there. */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/storage.h"
#include "worker/heap.h"

enum { MARK = 0x11, EXTRA = 16, JUNK = 0xFF, MOST_JUNK = 4096 };

static const uint64_t key = 0x6d696e69746f7263;

static int64_t live; /* bytes of our blocks, as the callers asked for them */

int64_t mg_heap_live(void)
{
    return __atomic_load_n(&live, __ATOMIC_RELAXED);
}

void *__real_calloc(size_t count, size_t each);
void *__real_realloc(void *block, size_t n);
void *__real_aligned_alloc(size_t alignment, size_t n);
int __real_posix_memalign(void **block, size_t alignment, size_t n);
void __real_free(void *block);

static uint64_t *end_of(void *block)
{
    return (uint64_t *)((char *)block + (malloc_usable_size(block) & ~(size_t)7)) - 1;
}

static void *mark(void *block, size_t n)
{
    if (!block)
        return NULL;
    uint64_t *end = end_of(block), value = n ^ key;
    memset((char *)block + n, MARK, (size_t)((char *)end - (char *)block) - n);
    memcpy(end, &value, sizeof value);
    __atomic_add_fetch(&live, (int64_t)n, __ATOMIC_RELAXED);
    return block;
}

/* The block is no longer ours: a second free is malloc's to notice. */
static void unmark(void *block, size_t n)
{
    *end_of(block) = 0;
    __atomic_sub_fetch(&live, (int64_t)n, __ATOMIC_RELAXED);
}

static void spoil(void *block, size_t n)
{
    memset(block, JUNK, n < MOST_JUNK ? n : MOST_JUNK);
}

/* Ends the worker if something was written past the end. False: the block is not one of ours; else *size is its n. */
static bool check(void *block, size_t *size)
{
    char words[128];
    uint64_t *end = end_of(block), n;
    memcpy(&n, end, sizeof n);
    n ^= key;
    *size = n;
    if (n > (size_t)((char *)end - (char *)block))
        return false;
    int64_t last = -1;
    for (const char *p = (char *)block + n; p < (char *)end; p++)
        if (*p != MARK)
            last = p - (char *)block - (int64_t)n;
    if (last < 0)
        return true;
    int length = snprintf(words, sizeof words,
                          "heap overrun: up to %lld bytes past the end of a block of %llu bytes were written\n",
                          (long long)last + 1, (unsigned long long)n);
    if (write(2, words, (size_t)length) == length)
        abort();
    return true;
}

/* Aligned like the data of a tensor, which then ends where its block does (core/storage.c). */
void *__wrap_malloc(size_t n)
{
    void *block = n > SIZE_MAX - EXTRA ? NULL : mark(memalign(MT_ALIGNMENT, n + EXTRA), n);
    if (block)
        spoil(block, n);
    return block;
}

void *__wrap_calloc(size_t count, size_t each)
{
    size_t n;
    if (__builtin_mul_overflow(count, each, &n) || n > SIZE_MAX - EXTRA)
        return NULL;
    return mark(__real_calloc(1, n + EXTRA), n);
}

void *__wrap_realloc(void *block, size_t n)
{
    size_t old;
    if (block && check(block, &old))
        unmark(block, old);
    return n > SIZE_MAX - EXTRA ? NULL : mark(__real_realloc(block, n + EXTRA), n);
}

void *__wrap_aligned_alloc(size_t alignment, size_t n)
{
    return n > SIZE_MAX - EXTRA ? NULL : mark(__real_aligned_alloc(alignment, n + EXTRA), n);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t n)
{
    int error = n > SIZE_MAX - EXTRA ? ENOMEM : __real_posix_memalign(block, alignment, n + EXTRA);
    if (error == 0)
        mark(*block, n);
    return error;
}

void __wrap_free(void *block)
{
    size_t n;
    if (block && check(block, &n)) {
        unmark(block, n);
        spoil(block, n);
    }
    __real_free(block);
}
