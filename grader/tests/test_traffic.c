/* test_traffic.c -- the modelled cache of worker/traffic.c: bytes fetched and written back, exactly, for accesses whose
 * count is known. */
#include "worker/traffic.c"

#include <criterion/criterion.h>
#include <stdlib.h>

bool mg_keeps;

void mg_watch_stack(char *top)
{
    (void)top;
}

int __real_pthread_create(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument)
{
    return pthread_create(it, a, run, argument);
}

int __real_pthread_join(pthread_t it, void **result)
{
    return pthread_join(it, result);
}

/* The search for data races is not tested here: grader/mutants/ and grader/variants/ do that. */
void mg_share_begin(void)
{
}

void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code)
{
    (void)address, (void)bytes, (void)write, (void)code;
}

bool mg_share_ordered(void)
{
    return false;
}

void mg_statics_keep(void)
{
}

bool mg_statics_changed(void)
{
    return false;
}

void mg_share_release(void)
{
}

void mg_share_acquire(void)
{
}

uintptr_t mg_share_end(void)
{
    return 0;
}

enum { LINES = 4 * MG_L1 / LINE, FLOATS = LINES * LINE / sizeof(float) };
static _Alignas(LINE) float array[FLOATS], other[FLOATS];

static void read_once(const mg_value *v)
{
    (void)v;
    for (int i = 0; i < FLOATS; i++)
        __tsan_read4(&array[i]);
}

static void read_twice(const mg_value *v)
{
    read_once(v);
    read_once(v);
}

static void read_columns(const mg_value *v) /* of a matrix with 16 numbers in a row */
{
    (void)v;
    for (int j = 0; j < 16; j++)
        for (int i = j; i < FLOATS; i += 16)
            __tsan_read4(&array[i]);
}

static void write_once(const mg_value *v)
{
    (void)v;
    for (int i = 0; i < FLOATS; i++)
        __tsan_write4(&array[i]);
}

static void copy(const mg_value *v)
{
    (void)v;
    memcpy(other, array, sizeof array); /* wrapped, as in a worker */
}

static void copy_in_other_ways(const mg_value *v)
{
    volatile size_t size = 4 * LINE; /* copies of a constant size may be no calls */
    const size_t N = size;
    char *to = (char *)other, *from = (char *)array;
    (void)v;
    memset(from, 'x', 16 * N);
    mempcpy(to, from, N);
    memccpy(to + 2 * N, from + 2 * N, 'y', N);
    bcopy(from + 4 * N, to + 4 * N, N);
    strncpy(to + 6 * N, from + 6 * N, N);
    memmove(to + 8 * N, from + 8 * N, N);
    bzero(to + 10 * N, N);
}

static void read_across_a_line(const mg_value *v)
{
    (void)v;
    __tsan_unaligned_read8((char *)array + LINE - 4);
}

/* AddressSanitizer may put local variables into memory of its own, which is not the stack. */
#define ON_THE_STACK __attribute__((no_sanitize_address))

ON_THE_STACK static void use_the_stack(const mg_value *v)
{
    _Alignas(LINE) char here[LINE];
    (void)v;
    __tsan_write_range(here, sizeof here);
}

static void use_its_variables(const mg_value *v)
{
    static _Thread_local _Alignas(LINE) volatile char mine[2 * LINE];
    (void)v;
    mine[0] = 1;
    __tsan_write_range((void *)mine, sizeof mine);
}

/* As large as the stack may be: all of it is there, and not more. */
static void measure_the_stack(const mg_value *v)
{
    pthread_attr_t attributes;
    size_t size;
    (void)v;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_destroy(&attributes);
    cr_expect(size >= MG_COUNTED_STACK && size < MG_COUNTED_STACK * 3 / 2, "%zu bytes", size);
}

ON_THE_STACK static void *read_half(void *begin)
{
    float here = 0;
    mg_small_stack_begin(__builtin_frame_address(0)); /* as worker/threads.c does */
    for (float *at = begin; at < (float *)begin + FLOATS / 2; at++) {
        __tsan_write4(&here);
        __tsan_read4(at);
    }
    return NULL;
}

static void read_by_two_threads(const mg_value *v)
{
    pthread_t threads[2];
    (void)v;
    for (int t = 0; t < 2; t++)
        cr_assert_eq(pthread_create(&threads[t], NULL, read_half, &array[t * FLOATS / 2]), 0);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
}

static void reuse_what_fits(const mg_value *v)
{
    (void)v;
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < FLOATS / 4; i++)
            __tsan_read4(&array[i]);
}

static void count_atomically(const mg_value *v)
{
    int32_t *number = (int32_t *)array, one = 1;
    (void)v;
    *number = 0;
    cr_expect_eq(__tsan_atomic32_fetch_add(number, 1, 0), 0);
    cr_expect_eq(__tsan_atomic32_compare_exchange_strong(number, &one, 7, 0, 0), true);
    cr_expect_eq(__tsan_atomic32_load(number, 0), 7);
}

Test(traffic, bytes_of_known_accesses)
{
    static const struct {
        const char *name;
        void (*call)(const mg_value *value);
        mg_cache cache;
        int64_t fetched, written; /* lines */
        int64_t accesses;
    } cases[] = {
        { "each line is fetched once", read_once, MG_L1, LINES, 0, FLOATS },
        { "four times the cache: the oldest lines are gone", read_twice, MG_L1, 2 * LINES, 0, 2 * FLOATS },
        { "it fits in the larger one", read_twice, MG_L2, LINES, 0, 2 * FLOATS },
        { "columns use one number of each line", read_columns, MG_L1, 16 * LINES, 0, FLOATS },
        { "columns, in the larger one", read_columns, MG_L2, LINES, 0, FLOATS },
        { "what is written is fetched and written back", write_once, MG_L1, LINES, LINES, FLOATS },
        { "memcpy", copy, MG_L1, 2 * LINES, LINES, 2 * LINES },
        { "other copies", copy_in_other_ways, MG_L2, 64 + 24, 64 + 24, 64 + 11 * 4 },
        { "a number across two lines", read_across_a_line, MG_L1, 2, 0, 2 },
        { "the stack does not count", use_the_stack, MG_L1, 0, 0, 0 },
        { "it counts in the larger one", use_the_stack, MG_L2, 1, 1, 1 },
        { "thread-local variables count", use_its_variables, MG_L1, 2, 2, 2 },
        { "two threads, and not their stacks", read_by_two_threads, MG_L1, LINES, 0, FLOATS },
        { "the size of the stack", measure_the_stack, MG_L1, 0, 0, 0 },
        { "an array as large as the cache stays", reuse_what_fits, MG_L1, LINES / 4, 0, 2 * FLOATS },
        { "atomic operations", count_atomically, MG_L1, 1, 1, 3 },
    };
    for (int i = 0; i < MT_COUNT(cases); i++) {
        mg_function function = { "f", cases[i].call };
        mg_traffic_report report = { .cache = cases[i].cache };
        mg_value values[1] = { { .ptr = &report } };
        mg_on_device(&function, values, &(mg_wire_request){ .count = MT_COUNT(values) });
        cr_expect_eq(report.fetched, cases[i].fetched * LINE, "%s: fetched %lld lines", cases[i].name,
                     (long long)report.fetched / LINE);
        cr_expect_eq(report.written, cases[i].written * LINE, "%s: wrote %lld lines", cases[i].name,
                     (long long)report.written / LINE);
        cr_expect_eq(report.accesses, cases[i].accesses, "%s: %lld accesses", cases[i].name,
                     (long long)report.accesses);
    }
}
