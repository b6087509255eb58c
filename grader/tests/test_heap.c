/* test_heap.c -- the guard bytes of worker/heap.c: a write past the end aborts; blocks of libc are not changed. */
#include "worker/heap.c"

#include <criterion/criterion.h>
#include <signal.h>

void *__real_calloc(size_t count, size_t each)
{
    return calloc(count, each);
}

void *__real_realloc(void *block, size_t n)
{
    return realloc(block, n);
}

void *__real_aligned_alloc(size_t alignment, size_t n)
{
    return aligned_alloc(alignment, n);
}

void *__real_memalign(size_t alignment, size_t n)
{
    return memalign(alignment, n);
}

int __real_posix_memalign(void **block, size_t alignment, size_t n)
{
    return posix_memalign(block, alignment, n);
}

/* As in a worker, the compiler does not see that this is free: else it would not write what nobody may read. */
__attribute__((noipa)) void __real_free(void *block)
{
    free(block);
}

Test(heap, right_use_is_silent)
{
    for (size_t n = 0; n < 70; n++) {
        char *block = __wrap_malloc(n);
        memset(block, 1, n);
        block = __wrap_realloc(block, 2 * n + 1);
        memset(block, 2, 2 * n + 1);
        __wrap_free(block);
    }
    cr_assert_null(__wrap_calloc(SIZE_MAX / 2, 3));
    __wrap_free(NULL);
}

/* The first of bytes from .. 399 that is not `byte`; 400: none. Assertions use the heap, too: they come afterwards.
 * Also of a freed block, which ASan would report. */
__attribute__((noinline, no_sanitize_address)) static int first_other(const unsigned char *volatile block, int from,
                                                                      unsigned char byte)
{
    int i = from;
    while (i < 400 && block[i] == byte)
        i++;
    return i;
}

Test(heap, what_is_not_written_or_freed_is_spoilt)
{
    unsigned char *volatile block = __wrap_malloc(400);
    int unwritten = first_other(block, 0, JUNK), freed, cleared;
    memset(block, 0, 400);
    __wrap_free(block);
    freed = first_other(block, 16, JUNK); /* malloc itself uses the first 16 */
    block = __wrap_calloc(5, 80);
    cleared = first_other(block, 0, 0);
    __wrap_free(block);
    cr_assert_eq(unwritten, 400);
    cr_assert_eq(freed, 400);
    cr_assert_eq(cleared, 400);
}

/* As mt_alloc does: the place of the block is stored before the data. */
Test(heap, one_float_past_a_tensor_aborts, .signal = SIGABRT)
{
    for (int64_t n = 1; n < 100; n++) {
        char *volatile block = __wrap_malloc((size_t)n * sizeof(float) + MT_ALIGNMENT);
        float *volatile data = (float *)(block + MT_ALIGNMENT - (uintptr_t)block % MT_ALIGNMENT);
        data[n < 37 ? n - 1 : n] = 0;
        __wrap_free(block);
        if (n >= 37)
            exit(1);
    }
}

Test(heap, one_byte_past_the_end_aborts, .signal = SIGABRT)
{
    char *block = __wrap_malloc(13);
    block[13] = 0;
    __wrap_free(block);
}

Test(heap, what_is_moved_is_spoilt)
{
    unsigned char *volatile block = __wrap_malloc(400), *volatile moved;
    memset(block, 1, 400);
    moved = __wrap_realloc(block, 800);
    int copied = first_other(moved, 0, 1), left = first_other(block, 16, JUNK);
    __wrap_free(moved);
    cr_assert_eq(copied, 400);
    cr_assert_eq(left, 400);
}

Test(heap, a_check_sees_blocks_that_are_not_freed, .signal = SIGABRT)
{
    char *volatile one = __wrap_malloc(13), *volatile other = __wrap_malloc(20), *volatile third = __wrap_malloc(7);
    __wrap_free(one); /* the last one takes its place */
    mg_heap_check();
    cr_assert(other && third);
    third[7] = 0;
    mg_heap_check();
}

/* All that is behind the block: then it is not known how far. */
Test(heap, a_check_sees_what_destroys_the_end_of_the_block, .signal = SIGABRT)
{
    char *volatile block = __wrap_malloc(16);
    memset(block + 16, 0, malloc_usable_size(block) - 16);
    mg_heap_check();
}

Test(heap, so_does_a_free, .signal = SIGABRT)
{
    char *volatile block = __wrap_malloc(16);
    memset(block + 16, 0, malloc_usable_size(block) - 16);
    __wrap_free(block);
}

/* One block more than there are places for. */
Test(heap, a_block_without_a_place_is_checked_when_it_is_freed, .signal = SIGABRT)
{
    static char *volatile block[MOST_LIVING + 1];
    for (int i = 0; i <= MOST_LIVING; i++)
        block[i] = __wrap_malloc(9);
    int64_t all = mg_heap_live();
    mg_heap_check();
    for (int i = 0; i < MOST_LIVING; i++)
        __wrap_free(block[i]);
    if (all != 9 * (MOST_LIVING + 1) || mg_heap_live() != 9)
        exit(1);
    block[MOST_LIVING][9] = 0;
    __wrap_free(block[MOST_LIVING]);
}

Test(heap, live_bytes_are_those_asked_for)
{
    int64_t before = mg_heap_live();
    char *block = __wrap_malloc(13), *other = __wrap_calloc(3, 5);
    int64_t two = mg_heap_live() - before;
    block = __wrap_realloc(block, 100);
    int64_t grown = mg_heap_live() - before;
    __wrap_free(block);
    __wrap_free(other);
    cr_assert_eq(two, 13 + 15);
    cr_assert_eq(grown, 100 + 15);
    cr_assert_eq(mg_heap_live(), before);
}

/* As getline or asprintf give them: their last bytes may be the caller's. */
Test(heap, realloc_keeps_the_bytes_of_foreign_blocks)
{
    size_t n = 24;
    char *block = malloc(n), *moved;
    memset(block, 7, n);
    moved = __wrap_realloc(block, 4096);
    for (size_t i = 0; i < n; i++)
        cr_assert_eq(moved[i], 7, "byte %zu", i);
    __wrap_free(moved);
}
