/* openmp.c -- what gcc and units call of OpenMP, of locks and of malloc, wrapped by the linker (link.c): the search for
 * data races (sharing.c) is told which accesses have an order, and in a loop of a dynamic schedule no thread is left
 * without an iteration. */
#include "worker/sharing.h"

#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <threads.h>
#include <time.h>

/* ---- regions and loops ----------------------------------------------------------------------------------- */

static atomic_int begun;            /* how many threads of this region have taken an iteration */
static _Thread_local uint32_t took; /* the last region in which this thread took iterations of a loop */

#define REGION(name, parameters, arguments)   \
    void __real_##name parameters;            \
    void __wrap_##name parameters;            \
    void __wrap_##name parameters             \
    {                                         \
        uint32_t entered = mg_share_enter(n); \
        if (entered)                          \
            atomic_store(&begun, 0);          \
        __real_##name arguments;              \
        mg_share_leave(entered);              \
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
    uint32_t region = mg_share_region();
    for (int i = 0; region && took == region && i < 10000; i++)
        if (atomic_load(&begun) >= omp_get_num_threads())
            return;
        else
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
}

/* This thread took its first iteration of a region, or there was none left. */
static void note_begun(void)
{
    if (took != mg_share_region())
        atomic_fetch_add(&begun, 1);
    took = mg_share_region();
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

/* ---- what orders accesses ------------------------------------------------------------------------------- */

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
#define ACQUIRE(type, name, of) AROUND_VALUE(type, name, (of * it), (it), , mg_share_acquire())
#define RELEASE(type, name, of) AROUND_VALUE(type, name, (of * it), (it), mg_share_release(), )

AROUND(GOMP_barrier, (void), (), , mg_share_barrier())
AROUND(GOMP_loop_end, (void), (), , mg_share_barrier())
AROUND(GOMP_sections_end, (void), (), , mg_share_barrier())
AROUND(GOMP_critical_start, (void), (), , mg_share_acquire())
AROUND(GOMP_critical_end, (void), (), mg_share_release(), )
AROUND(GOMP_critical_name_start, (void **name), (name), , mg_share_acquire())
AROUND(GOMP_critical_name_end, (void **name), (name), mg_share_release(), )
AROUND(GOMP_atomic_start, (void), (), , mg_share_acquire())
AROUND(GOMP_atomic_end, (void), (), mg_share_release(), )
AROUND(GOMP_ordered_start, (void), (), , mg_share_acquire())
AROUND(GOMP_ordered_end, (void), (), mg_share_release(), )
AROUND_VALUE(void *, GOMP_single_copy_start, (void), (), , mg_share_acquire())
AROUND(GOMP_single_copy_end, (void *data), (data), mg_share_release(), )
AROUND(omp_set_lock, (omp_lock_t * it), (it), , mg_share_acquire())
AROUND(omp_unset_lock, (omp_lock_t * it), (it), mg_share_release(), )
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
AROUND_VALUE(int, pthread_barrier_wait, (pthread_barrier_t * it), (it), mg_share_release(), mg_share_acquire())
AROUND_VALUE(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *it), (cond, it), mg_share_release(),
             mg_share_acquire())

/* What is ordered by tasks and the like is not followed. */
typedef void copy(void *, void *);
AROUND(GOMP_task,
       (body * run, void *data, copy *c, long size, long align, bool now, unsigned flags, void **depend, int priority,
        void *detach),
       (run, data, c, size, align, now, flags, depend, priority, detach), mg_share_unknown(), )
AROUND(GOMP_taskloop,
       (body * run, void *data, copy *c, long size, long align, unsigned flags, unsigned long count, int priority,
        long begin, long end, long step),
       (run, data, c, size, align, flags, count, priority, begin, end, step), mg_share_unknown(), )
AROUND(GOMP_doacross_post, (long *counts), (counts), mg_share_unknown(), )
AROUND_VALUE(int, cnd_wait, (cnd_t * cond, mtx_t *it), (cond, it), mg_share_unknown(), )
AROUND_VALUE(int, thrd_create, (thrd_t * it, thrd_start_t run, void *arg), (it, run, arg), mg_share_unknown(), )

/* What the first call does, and what its thread did before, is before what follows any other call. */
static _Thread_local void (*once)(void);

static void run_once(void)
{
    once();
    mg_share_release();
}

int __real_pthread_once(pthread_once_t *it, void (*run)(void));
int __wrap_pthread_once(pthread_once_t *it, void (*run)(void));
int __wrap_pthread_once(pthread_once_t *it, void (*run)(void))
{
    once = run;
    int result = __real_pthread_once(it, run_once);
    mg_share_acquire();
    return result;
}

/* Memory that is free and given out again is other memory. calloc clears it by memset, which is wrapped. Units have no
 * mmap, but given code maps files for them. */
static void forget_block(void *block)
{
    mg_share_forget(block, malloc_usable_size(block));
}

#define ALLOCATION(name, parameters, arguments) \
    void *__real_##name parameters;             \
    void *__wrap_##name parameters;             \
    void *__wrap_##name parameters              \
    {                                           \
        mg_share_pause();                       \
        void *block = __real_##name arguments;  \
        mg_share_resume();                      \
        forget_block(block);                    \
        return block;                           \
    }

ALLOCATION(malloc, (size_t size), (size))
ALLOCATION(calloc, (size_t count, size_t size), (count, size))
ALLOCATION(realloc, (void *old, size_t size), (old, size))
ALLOCATION(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALLOCATION(memalign, (size_t alignment, size_t size), (alignment, size))
AROUND_VALUE(int, posix_memalign, (void **block, size_t alignment, size_t size), (block, alignment, size), ,
             result == 0 ? forget_block(*block) : (void)0)
AROUND_VALUE(void *, mmap, (void *at, size_t size, int prot, int flags, int file, off_t from),
             (at, size, prot, flags, file, from), , result == MAP_FAILED ? (void)0 : mg_share_forget(result, size))
