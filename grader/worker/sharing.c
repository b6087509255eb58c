/* sharing.c -- searches one call of a counted unit (traffic.c) for data races: two threads of a parallel region access
 * the same memory without a barrier between them, and one of them writes it.
 *
 * The accesses need not happen at the same time. Each is compared with the last ones to that memory by other threads
 * since the region began or its last barrier, so that a race is found whichever thread is first, on any machine. A
 * thread's own stack is left out, and so is what it does in a critical section or atomically. */
#include "worker/sharing.h"

#include "core/base.h"

#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum { ENTRIES = 1 << 20, NOBODY = -1, SEVERAL = -2 };

/* The last accesses to 4 bytes, or to one that was accessed alone. */
typedef struct entry {
    uintptr_t key;
    uint32_t epoch;
    int16_t writer, reader; /* threads; NOBODY, or for readers SEVERAL */
} entry;

static entry table[ENTRIES]; /* an entry that another one needs is lost: a race may be missed then, but none invented */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int threads_seen, loops_begun; /* by how many threads in this region */
static _Atomic uint32_t region;              /* even outside of parallel regions */
static _Atomic uintptr_t found;              /* where the first race was, as an address of the code */
static bool watching;

static _Thread_local struct {
    int id; /* from 1 on; 0: not known yet */
    char *stack, *stack_end;
    uint32_t barriers; /* that this thread passed in this region */
    uint32_t region;
    int exclusive; /* depth of critical sections */
    uint32_t took; /* the last region with a loop that it took iterations of */
} self;

static void know_self(void)
{
    pthread_attr_t attributes;
    void *stack = NULL;
    size_t size = 0;
    self.id = atomic_fetch_add(&threads_seen, 1) + 1;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &size);
        pthread_attr_destroy(&attributes);
    }
    self.stack = stack;
    self.stack_end = self.stack + size;
}

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire))
        sched_yield();
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static entry *entry_of(uintptr_t key)
{
    return &table[(key * 0x9e3779b97f4a7c15u) >> 44];
}

/* Whether this access races with one before it. */
static bool note(uintptr_t key, uint32_t epoch, bool write)
{
    entry *e = entry_of(key);
    if (e->key != key || e->epoch != epoch)
        *e = (entry){ key, epoch, NOBODY, NOBODY };
    bool race = (e->writer != NOBODY && e->writer != self.id) || (write && e->reader != NOBODY && e->reader != self.id);
    if (write)
        e->writer = (int16_t)self.id;
    else
        e->reader = e->reader == NOBODY || e->reader == self.id ? (int16_t)self.id : SEVERAL;
    return race;
}

void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code)
{
    const char *at = address;
    uint32_t now = atomic_load(&region);
    if (!watching || now % 2 == 0)
        return;
    if (!self.id)
        know_self();
    if (self.region != now)
        self.region = now, self.barriers = 0;
    if (self.exclusive > 0 || (at >= self.stack && at < self.stack_end) || atomic_load(&found))
        return;
    bool words = (uintptr_t)at % 4 == 0 && bytes % 4 == 0, race = false;
    lock();
    for (size_t i = 0; i < bytes; i += words ? 4 : 1)
        race = note(words ? (uintptr_t)(at + i) >> 2 : (uintptr_t)(at + i) | 1ull << 63, now << 12 | self.barriers,
                    write) ||
               race;
    unlock();
    uintptr_t none = 0;
    if (race)
        atomic_compare_exchange_strong(&found, &none, code);
}

void mg_share_begin(void)
{
    memset(table, 0, sizeof table);
    atomic_store(&found, 0);
    watching = true;
}

uintptr_t mg_share_end(void)
{
    watching = false;
    return atomic_load(&found);
}

/* ---- OpenMP: what gcc calls, wrapped by the linker ---------------------------------------------------------- */

/* By how much a region's beginning and end advance its number: one that runs on one thread may begin others. */
static uint32_t advance(void)
{
    return atomic_load(&region) % 2 == 0 ? 1 : omp_in_parallel() ? 0 : 2;
}

#define REGION(name, parameters, arguments) \
    void __real_##name parameters;          \
    void __wrap_##name parameters;          \
    void __wrap_##name parameters           \
    {                                       \
        uint32_t by = advance();            \
        atomic_fetch_add(&region, by);      \
        if (by > 0)                         \
            atomic_store(&loops_begun, 0);  \
        __real_##name arguments;            \
        atomic_fetch_add(&region, by);      \
    }

typedef void body(void *);
#define LOOP(name)                                                                                              \
    REGION(name, (body * run, void *data, unsigned n, long begin, long end, long step, long chunk, unsigned f), \
           (run, data, n, begin, end, step, chunk, f))

REGION(GOMP_parallel, (body * run, void *data, unsigned n, unsigned f), (run, data, n, f))
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)

/* A dynamic schedule may give all iterations to the thread that is there first. Here every thread of the team takes one
 * before any takes a second (or half a second has passed), so that what they share is seen. */
static void let_others_begin(void)
{
    for (int i = 0; watching && self.took == atomic_load(&region) && i < 10000; i++)
        if (atomic_load(&loops_begun) >= omp_get_num_threads())
            return;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* This thread took its first iteration of a region, or there was none left. */
static void note_begun(void)
{
    if (self.took != atomic_load(&region))
        atomic_fetch_add(&loops_begun, 1);
    self.took = atomic_load(&region);
}

#define START(name)                                                                         \
    bool __real_##name(long begin, long end, long step, long chunk, long *from, long *to); \
    bool __wrap_##name(long begin, long end, long step, long chunk, long *from, long *to); \
    bool __wrap_##name(long begin, long end, long step, long chunk, long *from, long *to)  \
    {                                                                                      \
        bool more = __real_##name(begin, end, step, chunk, from, to);                      \
        note_begun();                                                                      \
        return more;                                                                       \
    }

START(GOMP_loop_dynamic_start)
START(GOMP_loop_nonmonotonic_dynamic_start)
START(GOMP_loop_guided_start)
START(GOMP_loop_nonmonotonic_guided_start)

#define NEXT(name)                              \
    bool __real_##name(long *begin, long *end); \
    bool __wrap_##name(long *begin, long *end); \
    bool __wrap_##name(long *begin, long *end)  \
    {                                           \
        let_others_begin();                     \
        bool more = __real_##name(begin, end);  \
        note_begun();                           \
        return more;                            \
    }

NEXT(GOMP_loop_dynamic_next)
NEXT(GOMP_loop_nonmonotonic_dynamic_next)
NEXT(GOMP_loop_guided_next)
NEXT(GOMP_loop_nonmonotonic_guided_next)

#define AROUND(name, before, behind) \
    void __real_##name(void);        \
    void __wrap_##name(void);        \
    void __wrap_##name(void)         \
    {                                \
        before;                      \
        __real_##name();             \
        behind;                      \
    }

AROUND(GOMP_barrier, , self.barriers++)
AROUND(GOMP_loop_end, , self.barriers++)
AROUND(GOMP_sections_end, , self.barriers++)
AROUND(GOMP_critical_start, , self.exclusive++)
AROUND(GOMP_critical_end, self.exclusive--, )
AROUND(GOMP_atomic_start, , self.exclusive++)
AROUND(GOMP_atomic_end, self.exclusive--, )

/* Memory that is free and allocated again is other memory. */
static void *fresh(void *p)
{
    size_t size = watching && p ? malloc_usable_size(p) : 0;
    lock();
    for (size_t i = 0; i < size; i++) {
        entry_of(((uintptr_t)p + i) | 1ull << 63)->epoch = 0;
        entry_of(((uintptr_t)p + i) >> 2)->epoch = 0;
    }
    unlock();
    return p;
}

#define ALLOCATION(name, parameters, arguments) \
    void *__real_##name parameters;             \
    void *__wrap_##name parameters;             \
    void *__wrap_##name parameters              \
    {                                           \
        return fresh(__real_##name arguments);  \
    }

ALLOCATION(malloc, (size_t size), (size))
ALLOCATION(calloc, (size_t count, size_t size), (count, size))
ALLOCATION(realloc, (void *old, size_t size), (old, size))
ALLOCATION(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
