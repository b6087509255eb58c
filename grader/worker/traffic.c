/* traffic.c -- counts the bytes that memory moves during one call of a CPU unit that was compiled with
 * -fsanitize=thread. GCC then calls a function below before each load and store; they replace the sanitizer's library.
 * grader/rows/traffic.h describes the count; only counting workers link this file. Without a cache nothing is
 * counted, and data races are searched (sharing.c): between calls at once, and between the threads of the unit. What
 * code that is not compiled so writes for the unit, through a pointer or as a structure that it returns, is seen by
 * what becomes of the unit's static memory (statics.c).
 *
 * Threads that the unit starts share the one cache. Stacks count with the larger cache; with the smaller one they are
 * left out, because blocks that a unit packs there stay in the larger. The compiler does not report the accesses to a
 * local array whose address goes nowhere. Therefore the call, and each thread that it starts, has a stack that is too
 * small for an array of the problem: an overflow is reported as one. */
#include "rows/traffic.h"
#include "sandbox/wire_traffic.h"
#include "worker/moves.h"
#include "worker/on_device.h"
#include "worker/sharing.h"
#include "worker/small_stack.h"
#include "worker/statics.h"
#include "worker/values.h"

#include <link.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* With -fsanitize GCC has prototypes of its own for these functions: older types, more attributes. */
#pragma GCC diagnostic ignored "-Wbuiltin-declaration-mismatch"
#pragma GCC diagnostic ignored "-Wmissing-attributes"

enum { LINE = 64, WAYS = 16, MOST_SETS = MG_L2 / LINE / WAYS, AT_ONCE = 2 };
enum { STACK = MG_COUNTED_STACK, BELOW = 8 << 20 }; /* of the latter, every access is a fault */

typedef struct way {
    uintptr_t line; /* address / LINE; 0: empty */
    int64_t used;   /* when, in accesses */
    bool dirty;
} way;

static way cache[MOST_SETS][WAYS];
static uintptr_t sets; /* in use */
static int64_t now, fetched, written;
static bool counting, sharing;              /* one or the other */
static bool stacks;                         /* count, too */
static atomic_flag busy = ATOMIC_FLAG_INIT; /* the cache, and the counts */
static char *own_from, *own_end;            /* arrays of calls at once: each has its own, so they are not searched */
static atomic_bool atomics;                 /* a unit does an atomic operation while it is searched */
uintptr_t mg_unseen;
static _Thread_local char *stack_top; /* NULL: not that of a counted call */

int __real_pthread_create(pthread_t *it, const pthread_attr_t *a, void *(*run)(void *), void *argument);
int __real_pthread_join(pthread_t it, void **result);

static void touch_line(uintptr_t line, bool write)
{
    way *set = cache[line & (sets - 1)], *at = &set[0];
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

static inline void count(const void *address, size_t bytes, bool write)
{
    const char *at = address;
    if (!counting)
        return;
    if (!stacks && stack_top && at < stack_top && at >= stack_top - STACK)
        return;
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        sched_yield();
    for (uintptr_t line = (uintptr_t)at / LINE; line <= ((uintptr_t)at + bytes - 1) / LINE && bytes > 0; line++)
        touch_line(line, write);
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static inline __attribute__((always_inline)) void note(const char *at, size_t bytes, bool write, uintptr_t code)
{
    if (sharing && !(at >= own_from && at < own_end))
        mg_share_touch(at, bytes, write, code);
    count(at, bytes, write);
}

void mg_touch(const void *address, size_t bytes, bool write, uintptr_t code)
{
    note(address, bytes, write, code);
}

static inline __attribute__((always_inline)) void touch(const void *address, size_t bytes, bool write)
{
    note(address, bytes, write, (uintptr_t)__builtin_return_address(0));
}

/* ---- calls at once -------------------------------------------------------------------------------------- */

/* The call's arrays once more, at the same places in their pages; returns what is behind them. */
static char *copy_arrays(mg_value *of, char *to, const mg_value *values, const mg_wire_request *request)
{
    for (uint32_t i = 0; i < request->count; i++) {
        const size_t bytes = (size_t)request->value[i].bytes;
        of[i] = values[i];
        if (bytes == 0)
            continue;
        of[i].ptr = memcpy(to + (uintptr_t)values[i].ptr % MG_PAGE, values[i].ptr, bytes);
        to += mg_pages(bytes) + MG_PAGE;
    }
    mg_values_end(of, request);
    return to;
}

/* The call by two threads, each with arrays of its own. The second begins when the first is done, so that a unit that
 * shares memory between the calls does the same every time; nothing that the search knows of orders the two. Thread 0
 * makes no call: where its stack is, which is not searched, is known with /proc only. Returns whether a call changes
 * static memory and does nothing that could order this: two calls at once write it then, whoever does it for them. */
static bool call_at_once(const mg_function *function, const mg_value *values, const mg_wire_request *request)
{
    bool changed = false;
    mg_value of[AT_ONCE][MG_WIRE_VALUES + 1];
    size_t size = MG_PAGE;
    for (uint32_t i = 0; i < request->count; i++)
        size += mg_pages(request->value[i].bytes) + MG_PAGE;
    char *block = mmap(NULL, AT_ONCE * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MT_CHECK(block != MAP_FAILED, "out of memory for the arrays of calls at once");
    own_from = own_end = block;
    for (int t = 0; t < AT_ONCE; t++)
        own_end = copy_arrays(of[t], own_end, values, request);
    atomic_int turn = 1;
#pragma omp parallel num_threads(AT_ONCE + 1)
    {
        const int me = omp_get_thread_num();
        while (atomic_load(&turn) != (me ? me : AT_ONCE + 1))
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
        if (me == 1)
            mg_statics_keep();
        if (me)
            function->call(of[me - 1]);
        if (me == 1)
            changed = mg_statics_changed();
        if (me)
            atomic_store(&turn, me + 1);
    }
    munmap(block, AT_ONCE * size);
    own_from = own_end = NULL;
    return changed && !atomics && !mg_share_ordered();
}

/* ---- one call ----------------------------------------------------------------------------------------------- */

static int add_thread_locals(struct dl_phdr_info *of, size_t size, void *sum)
{
    (void)size;
    for (int i = 0; i < of->dlpi_phnum; i++)
        *(size_t *)sum += of->dlpi_phdr[i].p_type == PT_TLS ? of->dlpi_phdr[i].p_memsz : 0;
    return 0;
}

/* A block has the thread's variables at the top, and what the library keeps of it, which is less than a page. */
static void make_stack(pthread_attr_t *attributes)
{
    size_t size = STACK;
    dl_iterate_phdr(add_thread_locals, &size);
    size = mg_pages(size) + MG_PAGE;
    char *block = mmap(NULL, BELOW + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    MT_CHECK(block != MAP_FAILED && mprotect(block + BELOW, size, PROT_READ | PROT_WRITE) == 0 &&
                 pthread_attr_setstack(attributes, block + BELOW, size) == 0,
             "no stack for a thread");
}

bool mg_small_stack(pthread_attr_t *attributes)
{
    if (counting)
        make_stack(attributes);
    return counting;
}

void mg_small_stack_begin(char *top)
{
    stack_top = top;
    mg_watch_stack(top);
}

typedef struct counted_call {
    const mg_function *function;
    const mg_value *values;
    int threads;
} counted_call;

static void *make_call(void *it)
{
    const counted_call *c = it;
    omp_set_num_threads(c->threads);
    mg_small_stack_begin(__builtin_frame_address(0));
    counting = true;
    c->function->call(c->values);
    return NULL;
}

static void count_call(const mg_function *function, const mg_value *values, int threads)
{
    counted_call call = { function, values, threads };
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_getattr_default_np(&attributes); /* for thrd_create, which asks for no size */
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
    pthread_attr_init(&attributes);
    make_stack(&attributes);
    MT_CHECK(__real_pthread_create(&thread, &attributes, make_call, &call) == 0, "no thread for the call");
    __real_pthread_join(thread, NULL);
    counting = false; /* not earlier: destructors of a unit (pthread_key_create) run when the thread ends */
    pthread_attr_destroy(&attributes);
}

void mg_on_device(const mg_function *function, mg_value *values, const mg_wire_request *request)
{
    mg_traffic_report *report = values[request->count - 1].ptr;
    mg_keeps = true; /* the report is about the first call: what static variables do later is another thing */
    if (report->cache <= 0) {
        sharing = true;
        if (report->cache == MG_ALSO_AT_ONCE) { /* first: what a unit prepares in its first call is searched, too */
            mg_share_begin();
            atomics = false;
            report->changed_statics = call_at_once(function, values, request);
            report->raced_at_once = (int64_t)mg_share_end();
        }
        mg_share_begin();
        function->call(values);
        report->raced = (int64_t)mg_share_end();
        sharing = false;
        return;
    }
    memset(cache, 0, sizeof cache);
    sets = (uintptr_t)report->cache / LINE / WAYS;
    stacks = report->cache > MG_L1;
    now = fetched = written = 0;
    mg_unseen = 0;
    count_call(function, values, (int)request->threads);
    report->unseen = (int64_t)mg_unseen;
    for (int s = 0; s < MOST_SETS; s++)
        for (int w = 0; w < WAYS; w++)
            written += cache[s][w].dirty ? LINE : 0;
    report->accesses = now;
    report->fetched = fetched;
    report->written = written;
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

/* Atomic operations, which GCC replaces by calls. They are counted, and are no data race. */
#define ATOMIC_exchange  __atomic_exchange_n
#define ATOMIC_fetch_add __atomic_fetch_add
#define ATOMIC_fetch_sub __atomic_fetch_sub
#define ATOMIC_fetch_and __atomic_fetch_and
#define ATOMIC_fetch_or  __atomic_fetch_or
#define ATOMIC_fetch_xor __atomic_fetch_xor
/* Before an operation that may publish what was written; behind one that may read what others have published. */
static inline void order_before(int order)
{
    if (sharing)
        atomic_store(&atomics, true);
    if (sharing && order != __ATOMIC_RELAXED)
        mg_share_release();
}

static inline void order_behind(int order)
{
    if (sharing && order != __ATOMIC_RELAXED)
        mg_share_acquire();
}

#define CHANGE(bits, operation)                                                                         \
    int##bits##_t __tsan_atomic##bits##_##operation(int##bits##_t *at, int##bits##_t value, int order); \
    int##bits##_t __tsan_atomic##bits##_##operation(int##bits##_t *at, int##bits##_t value, int order)  \
    {                                                                                                   \
        count(at, bits / 8, true);                                                                      \
        order_before(order);                                                                            \
        int##bits##_t old = ATOMIC_##operation(at, value, __ATOMIC_SEQ_CST);                            \
        order_behind(order);                                                                            \
        return old;                                                                                     \
    }
#define COMPARE(bits, strength)                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_##strength(int##bits##_t *at, int##bits##_t *expected,            \
                                                          int##bits##_t value, int order, int failure);          \
    int __tsan_atomic##bits##_compare_exchange_##strength(int##bits##_t *at, int##bits##_t *expected,            \
                                                          int##bits##_t value, int order, int failure)           \
    {                                                                                                            \
        count(at, bits / 8, true);                                                                               \
        order_before(order);                                                                                     \
        bool done = __atomic_compare_exchange_n(at, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
        order_behind(order | failure);                                                                           \
        return done;                                                                                             \
    }
#define COMPARE_VALUE(bits)                                                                                \
    int##bits##_t __tsan_atomic##bits##_compare_exchange_val(int##bits##_t *at, int##bits##_t expected,    \
                                                             int##bits##_t value, int order, int failure); \
    int##bits##_t __tsan_atomic##bits##_compare_exchange_val(int##bits##_t *at, int##bits##_t expected,    \
                                                             int##bits##_t value, int order, int failure)  \
    {                                                                                                      \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, order, failure);               \
        return expected;                                                                                   \
    }
#define ATOMIC(bits)                                                                     \
    CHANGE(bits, exchange)                                                               \
    CHANGE(bits, fetch_add)                                                              \
    CHANGE(bits, fetch_sub)                                                              \
    CHANGE(bits, fetch_and)                                                              \
    CHANGE(bits, fetch_or)                                                               \
    CHANGE(bits, fetch_xor)                                                              \
    COMPARE(bits, strong)                                                                \
    COMPARE(bits, weak)                                                                  \
    COMPARE_VALUE(bits)                                                                  \
    int##bits##_t __tsan_atomic##bits##_load(int##bits##_t *at, int order);              \
    int##bits##_t __tsan_atomic##bits##_load(int##bits##_t *at, int order)               \
    {                                                                                    \
        count(at, bits / 8, false);                                                      \
        int##bits##_t value = __atomic_load_n(at, __ATOMIC_SEQ_CST);                     \
        order_behind(order);                                                             \
        return value;                                                                    \
    }                                                                                    \
    void __tsan_atomic##bits##_store(int##bits##_t *at, int##bits##_t value, int order); \
    void __tsan_atomic##bits##_store(int##bits##_t *at, int##bits##_t value, int order)  \
    {                                                                                    \
        count(at, bits / 8, true);                                                       \
        order_before(order);                                                             \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                   \
    }

ATOMIC(8)
ATOMIC(16)
ATOMIC(32)
ATOMIC(64)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    order_before(order);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    order_behind(order);
}
