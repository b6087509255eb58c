/* test_storage.c -- blocks are aligned, counted exactly and observed; in the debug flavour also filled and guarded. */
#include "aborts.h"
#include "core/rng.h"
#include "core/storage.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

/* Not checked by the address sanitizer, which would report the error before our check. */
#define UNSEEN __attribute__((no_sanitize("address")))

Test(storage, blocks_are_aligned_and_writable_at_any_size)
{
    static const int64_t sizes[] = { 0, 1, 63, 64, 65, 4096, (2 << 20) - 1, 2 << 20, (2 << 20) + 1, 5 << 20 };
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        char *data = mt_alloc(sizes[i], MT_CPU);
        cr_assert_not_null(data);
        cr_assert_eq((uintptr_t)data % MT_ALIGNMENT, 0, "%d bytes", (int)sizes[i]);
        memset(data, 1, (size_t)sizes[i]);
        cr_assert_eq(mt_live_bytes(MT_CPU), sizes[i]);
        mt_free(data, sizes[i], MT_CPU);
        cr_assert_eq(mt_live_bytes(MT_CPU), 0);
    }
    mt_free(NULL, 8, MT_CPU);
    ABORTS("cannot allocate -1 bytes", mt_alloc(-1, MT_CPU));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they report it first */
    ABORTS("out of memory on cpu: 1152921504606846976 bytes wanted, 0 live", mt_alloc(1ll << 60, MT_CPU));
#endif
    ABORTS("no memory on cuda: open the device first", mt_alloc(8, MT_CUDA));
}

/* Loads and stores whose addresses agree in the last 12 bits delay each other (4K aliasing): p, m, v and g must differ.
 * */
Test(storage, large_blocks_begin_at_different_places)
{
    enum { BLOCKS = 8, BYTES = 5 << 20, PAGE = 4096, LINE = 64 };
    char *block[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
        block[i] = mt_alloc(BYTES, MT_CPU);
        for (int k = 0; k < i; k++) {
            uintptr_t apart = (uintptr_t)(block[i] - block[k]) % PAGE;
            cr_assert(apart >= LINE && apart <= PAGE - LINE, "%d and %d are %d bytes apart", i, k, (int)apart);
        }
    }
    for (int i = 0; i < BLOCKS; i++)
        mt_free(block[i], BYTES, MT_CPU);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* theirs is another malloc */
static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

Test(storage, freed_pages_are_kept)
{
    enum { BYTES = 100 << 20, HUGE = 2 << 20 };
    long begun = page_faults(), first = 0, second = 0;
    for (int round = 0; round < 2; round++) {
        char *data = mt_alloc(BYTES, MT_CPU);
        memset(data, 1, BYTES);
        mt_free(data, BYTES, MT_CPU);
        *(round == 0 ? &first : &second) = page_faults() - begun;
    }
    cr_assert_geq(first, BYTES / HUGE);
    cr_assert_lt(second - first, first / 4, "%ld page faults, then %ld more", first, second - first);
}
#endif

Test(storage, is_freed_with_its_last_reference)
{
    mt_storage *storage = mt_storage_new(1000, MT_CPU);
    cr_assert_eq(storage->bytes, 1000);
    cr_assert_eq(storage->device, MT_CPU);
    cr_assert_eq(storage->refs, 1);
    cr_assert_eq(mt_storage_retain(storage), storage);
    mt_storage_release(storage);
    cr_assert_eq(mt_live_bytes(MT_CPU), 1000);
    mt_storage_release(storage);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
    mt_storage_release(NULL);
}

Test(storage, peak_is_the_most_there_ever_was)
{
    void *a = mt_alloc(100, MT_CPU), *b = mt_alloc(50, MT_CPU);
    mt_free(a, 100, MT_CPU);
    void *c = mt_alloc(70, MT_CPU);
    cr_assert_eq(mt_live_bytes(MT_CPU), 120);
    cr_assert_eq(mt_peak_bytes(MT_CPU), 150);
    mt_peak_reset(MT_CPU);
    cr_assert_eq(mt_peak_bytes(MT_CPU), 120);
    mt_free(b, 50, MT_CPU);
    mt_free(c, 70, MT_CPU);
    cr_assert_eq(mt_peak_bytes(MT_CPU), 120);
    cr_assert_eq(mt_live_bytes(MT_CUDA), 0);
}

/* ---- observers -------------------------------------------------------------------------------- */

typedef struct account {
    int64_t live, allocations, frees, calls;
} account;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_account(void *user, mt_device device, const void *data, int64_t bytes)
{
    account *a = user;
    pthread_mutex_lock(&lock);
    cr_assert(device == MT_CPU && data);
    a->calls++;
    a->live += bytes;
    a->allocations += bytes > 0;
    a->frees += bytes < 0;
    pthread_mutex_unlock(&lock);
}

Test(storage, an_observer_sees_everything_until_another_takes_its_place)
{
    account first = { 0 }, second = { 0 };
    mt_alloc_observe(keep_account, &first);
    mt_storage *storage = mt_storage_new(300, MT_CPU);
    mt_free(mt_alloc(0, MT_CPU), 0, MT_CPU); /* empty blocks are not reported */
    cr_assert_eq(first.live, 300);
    mt_alloc_observe(keep_account, &second);
    mt_storage_release(storage);
    mt_alloc_observe(NULL, NULL);
    mt_free(mt_alloc(10, MT_CPU), 10, MT_CPU);
    cr_assert(first.calls == 1 && first.allocations == 1 && first.live == 300);
    cr_assert(second.calls == 1 && second.frees == 1 && second.live == -300);
}

static void allocate_once(void *user, mt_device device, const void *data, int64_t bytes)
{
    int *calls = user;
    (void)data;
    if (++*calls == 1)
        mt_free(mt_alloc(bytes, device), bytes, device);
}

Test(storage, the_observer_may_allocate)
{
    int calls = 0;
    mt_alloc_observe(allocate_once, &calls);
    void *data = mt_alloc(10, MT_CPU);
    mt_alloc_observe(NULL, NULL);
    cr_assert_eq(calls, 3);
    mt_free(data, 10, MT_CPU);
}

/* ---- counters under threads ---------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 3000, HELD = 16 };

/* Allocates and frees in random order; ends with everything freed. */
static void *churn(void *seed)
{
    mt_rng rng = mt_rng_new((uint64_t)(uintptr_t)seed, MT_STREAM_TEST);
    void *held[HELD] = { 0 };
    int64_t bytes[HELD] = { 0 };
    for (int i = 0; i < ROUNDS + HELD; i++) {
        int at = i < ROUNDS ? (int)mt_rng_below(&rng, HELD) : i - ROUNDS;
        mt_free(held[at], bytes[at], MT_CPU);
        bytes[at] = mt_rng_below(&rng, 2000);
        held[at] = i < ROUNDS ? mt_alloc(bytes[at], MT_CPU) : NULL;
    }
    return NULL;
}

Test(storage, counters_are_exact_under_threads)
{
    pthread_t threads[THREADS];
    account seen = { 0 };
    mt_alloc_observe(keep_account, &seen);
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mt_alloc_observe(NULL, NULL);
    cr_assert_eq(mt_live_bytes(MT_CPU), 0);
    cr_assert_eq(seen.live, 0);
    cr_assert_eq(seen.allocations, seen.frees);
    cr_assert(mt_peak_bytes(MT_CPU) > 0 && mt_peak_bytes(MT_CPU) <= THREADS * HELD * 2000);
}

/* ---- allocators ----------------------------------------------------------------------------------- */

static int64_t asked, returned;

static void *counting_alloc(int64_t bytes)
{
    asked += bytes;
    return aligned_alloc(MT_ALIGNMENT, (size_t)(bytes + MT_ALIGNMENT - 1) / MT_ALIGNMENT * MT_ALIGNMENT);
}

static void counting_free(void *data, int64_t bytes)
{
    returned += bytes;
    free(data);
}

static void *no_memory(int64_t bytes)
{
    (void)bytes;
    return NULL;
}

Test(storage, allocators_can_be_replaced)
{
    static const mt_allocator counting = { counting_alloc, counting_free }, empty = { no_memory, counting_free };
    mt_allocator_set(MT_CPU, &counting);
    void *data = mt_alloc(1000, MT_CPU);
    cr_assert_geq(asked, 1000);
    ABORTS("cannot change while 1 blocks are live", mt_allocator_set(MT_CPU, NULL));
    mt_free(data, 1000, MT_CPU);
    cr_assert_eq(asked, returned);
    mt_allocator_set(MT_CPU, NULL);
    int64_t before = asked;
    mt_free(mt_alloc(5, MT_CPU), 5, MT_CPU);
    cr_assert_eq(asked, before);
    mt_allocator_set(MT_CPU, &empty);
    ABORTS("out of memory on cpu: 7 bytes wanted", mt_alloc(7, MT_CPU));
    mt_allocator_set(MT_CPU, NULL);
    mt_allocator_set(MT_CUDA, &counting); /* as cudaMalloc will */
    asked = returned = 0;
    mt_storage_release(mt_storage_new(64, MT_CUDA));
    cr_assert(asked == 64 && returned == 64);
    cr_assert_eq(mt_peak_bytes(MT_CUDA), 64);
}

/* ---- debug flavour --------------------------------------------------------------------------------- */

#ifdef MT_DEBUG

static UNSEEN void poke(char *at)
{
    *(volatile char *)at = 0;
}

Test(debug_storage, new_memory_is_nan)
{
    float *data = mt_alloc(40, MT_CPU);
    for (int i = 0; i < 10; i++)
        cr_assert(isnan(data[i]));
    mt_free(data, 40, MT_CPU);
}

static char last_bytes[100];

static void look_and_free(void *data, int64_t bytes)
{
    (void)bytes;
    memcpy(last_bytes, (char *)data + 2 * 64, sizeof last_bytes); /* after the record and the first guard */
    free(data);
}

Test(debug_storage, freed_memory_is_nan)
{
    static const mt_allocator looking = { counting_alloc, look_and_free };
    mt_allocator_set(MT_CPU, &looking);
    void *data = mt_alloc(100, MT_CPU);
    memset(data, 7, 100);
    mt_free(data, 100, MT_CPU);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(last_bytes[i], (char)0xFF, "byte %d", i);
    mt_allocator_set(MT_CPU, NULL);
}

Test(debug_storage, writing_outside_is_noticed_and_the_block_named)
{
    static const int64_t sizes[] = { 0, 1, 100, 3 << 20 };
    for (int i = 0; i < MT_COUNT(sizes); i++) {
        char words[80], *data = mt_alloc(sizes[i], MT_CPU);
        snprintf(words, sizeof words, "block of %d bytes (allocation number %d)", (int)sizes[i], i + 1);
        ABORTS(words, (poke(data - 1), mt_free(data, sizes[i], MT_CPU)));
        ABORTS(words, (poke(data - 64), mt_free(data, sizes[i], MT_CPU)));
        ABORTS("byte 0 of the guard after", (poke(data + sizes[i]), mt_free(data, sizes[i], MT_CPU)));
        ABORTS("byte 63 of the guard after", (poke(data + sizes[i] + 63), mt_free(data, sizes[i], MT_CPU)));
        mt_free(data, sizes[i], MT_CPU);
    }
}

Test(debug_storage, freeing_with_another_size_aborts)
{
    void *data = mt_alloc(100, MT_CPU);
    ABORTS("a block of 100 bytes (allocation number 1) is freed as 104", mt_free(data, 104, MT_CPU));
    mt_free(data, 100, MT_CPU);
}

Test(debug_storage, a_leak_fails_the_program_at_its_end)
{
    ending end;
    if (run_in_child(&end) == 0) {
        mt_free(mt_alloc(11, MT_CPU), 11, MT_CPU);
        mt_alloc(22, MT_CPU);
        mt_alloc(33, MT_CPU);
        exit(0);
    }
    cr_assert(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1);
    cr_assert(strstr(end.said, "block of 22 bytes, allocation number 2"), "said \"%s\"", end.said);
    cr_assert(strstr(end.said, "2 blocks, 55 bytes were never freed"), "said \"%s\"", end.said);
}

Test(debug_storage, a_program_that_fails_keeps_its_own_exit_status)
{
    ending end;
    if (run_in_child(&end) == 0) {
        mt_alloc(22, MT_CPU);
        exit(3);
    }
    cr_assert(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3);
    cr_assert_null(strstr(end.said, "never freed"), "said \"%s\"", end.said);
}

#endif
