/* sharing.c -- searches one call of a counted unit (traffic.c) for data races: two threads of a parallel region access
 * the same memory, one of them writes it, and nothing says which access is first.
 *
 * The accesses need not happen at the same time. Each is compared with the last ones to that memory by other threads
 * in this region since its last barrier, so that a race is found whichever thread is first, on any machine. An access
 * is before another if a release (the end of a critical section, an unlock, an atomic operation) is behind it and an
 * acquire before the other: each thread has a clock for every thread, as in FastTrack (Flanagan and Freund 2009). All
 * locks count as one: a race may be missed then, but none is invented. A thread's own stack is left out. */
#include "worker/sharing.h"

#include "core/base.h"

#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <time.h>

enum { ENTRIES = 1 << 20, MOST = 64, CLOCK = 1 << 24 /* a stamp is thread * CLOCK + its clock; 0: no access */ };

/* The last accesses to 4 bytes, or to one that was accessed alone. */
typedef struct entry {
    uintptr_t key;
    uint32_t epoch;
    uint32_t write, read[2]; /* stamps; a third thread's read takes the place of the second's */
} entry;

static entry table[ENTRIES]; /* an entry that another one needs is lost: a race may be missed then, but none invented */
static atomic_flag busy = ATOMIC_FLAG_INIT;
static atomic_int threads_seen, loops_begun; /* by how many threads in this region */
static _Atomic uint32_t region;              /* even outside of parallel regions */
static _Atomic uintptr_t found;              /* where the first race was, as an address of the code */
static atomic_bool unknown;                  /* a unit synchronises in a way that is not followed: no verdict */
static bool watching;

/* What the releases of this epoch have published. */
static uint32_t released[MOST], released_epoch;
static _Atomic uint32_t releases; /* so far */

static _Thread_local struct {
    int id; /* from 1 on; 0: not known yet */
    char *stack, *stack_end;
    uint32_t barriers; /* that this thread passed in this region */
    uint32_t region;
    uint32_t acquired;    /* so many of the releases */
    uint32_t clock[MOST]; /* of each thread, what is before this thread's next access; its own: that access */
    uint32_t took;        /* the last region with a loop that it took iterations of */
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

/* After a barrier all is before what follows: entries of other epochs do not count. */
static void begin_epoch(uint32_t now, uint32_t barriers)
{
    self.region = now;
    self.barriers = barriers;
    memset(self.clock, 0, sizeof self.clock);
    self.clock[self.id] = 1;
}

static uint32_t epoch(void)
{
    return self.region << 12 | self.barriers;
}

/* Whether this thread is in a region that is searched. */
static bool is_searched(void)
{
    uint32_t now = atomic_load(&region);
    if (!watching || now % 2 == 0)
        return false;
    if (!self.id)
        know_self();
    if (self.id >= MOST)
        atomic_store(&unknown, true);
    else if (self.region != now)
        begin_epoch(now, 0);
    return self.id < MOST;
}

static void acquire(void)
{
    uint32_t count = atomic_load(&releases); /* a thread may acquire again and again until something is released */
    if (!is_searched() || self.acquired == count)
        return;
    self.acquired = count;
    lock();
    for (int t = 0; t < MOST && released_epoch == epoch(); t++)
        self.clock[t] = released[t] > self.clock[t] ? released[t] : self.clock[t];
    unlock();
}

static void release(void)
{
    if (!is_searched())
        return;
    lock();
    if (released_epoch != epoch())
        memset(released, 0, sizeof released);
    released_epoch = epoch();
    for (int t = 0; t < MOST; t++)
        released[t] = self.clock[t] > released[t] ? self.clock[t] : released[t];
    atomic_fetch_add(&releases, 1);
    unlock();
    if (++self.clock[self.id] >= CLOCK)
        atomic_store(&unknown, true);
}

static entry *entry_of(uintptr_t key)
{
    return &table[(key * 0x9e3779b97f4a7c15u) >> 44];
}

static bool is_before(uint32_t stamp)
{
    return stamp % CLOCK <= self.clock[stamp / CLOCK] || stamp / CLOCK == (uint32_t)self.id;
}

/* Whether this access races with one before it. */
static bool note(uintptr_t key, bool write)
{
    entry *e = entry_of(key);
    uint32_t stamp = (uint32_t)self.id * CLOCK + self.clock[self.id];
    if (e->key != key || e->epoch != epoch())
        *e = (entry){ .key = key, .epoch = epoch() };
    bool race = !is_before(e->write) || (write && !(is_before(e->read[0]) && is_before(e->read[1])));
    if (write)
        e->write = stamp;
    else
        e->read[!is_before(e->read[0])] = stamp;
    return race;
}

void mg_share_touch(const void *address, size_t bytes, bool write, uintptr_t code)
{
    const char *at = address;
    if (!is_searched() || (at >= self.stack && at < self.stack_end) || atomic_load(&found))
        return;
    bool words = (uintptr_t)at % 4 == 0 && bytes % 4 == 0, race = false;
    lock();
    for (size_t i = 0; i < bytes; i += words ? 4 : 1)
        race = note(words ? (uintptr_t)(at + i) >> 2 : (uintptr_t)(at + i) | 1ull << 63, write) || race;
    unlock();
    uintptr_t none = 0;
    if (race)
        atomic_compare_exchange_strong(&found, &none, code);
}

void mg_share_begin(void)
{
    memset(table, 0, sizeof table);
    atomic_store(&found, 0);
    atomic_store(&unknown, false);
    watching = true;
}

uintptr_t mg_share_end(void)
{
    watching = false;
    return atomic_load(&unknown) ? 0 : atomic_load(&found);
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

#define START(name)                                                                        \
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

/* A function that orders accesses: what is done before it and behind it. */
#define AROUND(name, parameters, arguments, before, behind) \
    void __real_##name parameters;                          \
    void __wrap_##name parameters;                          \
    void __wrap_##name parameters                           \
    {                                                       \
        before;                                             \
        __real_##name arguments;                            \
        behind;                                             \
    }
#define AROUND_VALUE(type, name, parameters, arguments, before, behind) \
    type __real_##name parameters;                                      \
    type __wrap_##name parameters;                                      \
    type __wrap_##name parameters                                       \
    {                                                                   \
        before;                                                         \
        type result = __real_##name arguments;                          \
        behind;                                                         \
        return result;                                                  \
    }
#define ACQUIRE(type, name, of) AROUND_VALUE(type, name, (of * it), (it), , acquire())
#define RELEASE(type, name, of) AROUND_VALUE(type, name, (of * it), (it), release(), )

/* A nested region of one thread has barriers of its own, which order nothing. */
static void pass_barrier(void)
{
    if (is_searched() && omp_get_num_threads() > 1)
        begin_epoch(self.region, self.barriers + 1);
}

AROUND(GOMP_barrier, (void), (), , pass_barrier())
AROUND(GOMP_loop_end, (void), (), , pass_barrier())
AROUND(GOMP_sections_end, (void), (), , pass_barrier())
AROUND(GOMP_critical_start, (void), (), , acquire())
AROUND(GOMP_critical_end, (void), (), release(), )
AROUND(GOMP_critical_name_start, (void **name), (name), , acquire())
AROUND(GOMP_critical_name_end, (void **name), (name), release(), )
AROUND(GOMP_atomic_start, (void), (), , acquire())
AROUND(GOMP_atomic_end, (void), (), release(), )
AROUND(GOMP_ordered_start, (void), (), , acquire())
AROUND(GOMP_ordered_end, (void), (), release(), )
AROUND_VALUE(void *, GOMP_single_copy_start, (void), (), , acquire())
AROUND(GOMP_single_copy_end, (void *data), (data), release(), )
AROUND(omp_set_lock, (omp_lock_t * it), (it), , acquire())
AROUND(omp_unset_lock, (omp_lock_t * it), (it), release(), )
ACQUIRE(int, omp_test_lock, omp_lock_t)
ACQUIRE(int, pthread_mutex_lock, pthread_mutex_t)
ACQUIRE(int, pthread_mutex_trylock, pthread_mutex_t)
RELEASE(int, pthread_mutex_unlock, pthread_mutex_t)
ACQUIRE(int, pthread_rwlock_rdlock, pthread_rwlock_t)
ACQUIRE(int, pthread_rwlock_wrlock, pthread_rwlock_t)
RELEASE(int, pthread_rwlock_unlock, pthread_rwlock_t)
ACQUIRE(int, pthread_spin_lock, pthread_spinlock_t)
RELEASE(int, pthread_spin_unlock, pthread_spinlock_t)
ACQUIRE(int, pthread_spin_trylock, pthread_spinlock_t)
ACQUIRE(int, sem_wait, sem_t)
ACQUIRE(int, sem_trywait, sem_t)
RELEASE(int, sem_post, sem_t)
ACQUIRE(int, mtx_lock, mtx_t)
ACQUIRE(int, mtx_trylock, mtx_t)
RELEASE(int, mtx_unlock, mtx_t)
AROUND_VALUE(int, pthread_barrier_wait, (pthread_barrier_t * it), (it), release(), acquire())
AROUND_VALUE(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *it), (cond, it), release(), acquire())

/* What is ordered by tasks and the like is not followed. */
static void lose_track(void)
{
    if (is_searched())
        atomic_store(&unknown, true);
}

typedef void copy(void *, void *);
AROUND(GOMP_task,
       (body * run, void *data, copy *c, long size, long align, bool now, unsigned flags, void **depend, int priority,
        void *detach),
       (run, data, c, size, align, now, flags, depend, priority, detach), lose_track(), )
AROUND(GOMP_taskloop,
       (body * run, void *data, copy *c, long size, long align, unsigned flags, unsigned long count, int priority,
        long begin, long end, long step),
       (run, data, c, size, align, flags, count, priority, begin, end, step), lose_track(), )
AROUND(GOMP_doacross_post, (long *counts), (counts), lose_track(), )
AROUND_VALUE(int, cnd_wait, (cnd_t * cond, mtx_t *it), (cond, it), lose_track(), )
AROUND_VALUE(int, pthread_once, (pthread_once_t * it, void (*run)(void)), (it, run), lose_track(), )
AROUND_VALUE(int, pthread_create, (pthread_t * it, const pthread_attr_t *a, void *(*run)(void *), void *arg),
             (it, a, run, arg), lose_track(), )

void mg_share_order(bool behind)
{
    if (behind)
        acquire();
    else
        release();
}

static void forget(uintptr_t key)
{
    entry *e = entry_of(key);
    if (e->key == key)
        e->epoch = 0;
}

/* Memory that is free and allocated again is other memory. */
static void *fresh(void *p)
{
    size_t size = watching && p ? malloc_usable_size(p) : 0;
    lock();
    for (size_t i = 0; i < size; i++) {
        forget(((uintptr_t)p + i) | 1ull << 63);
        forget(((uintptr_t)p + i) >> 2);
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
