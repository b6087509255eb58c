/* test_sharing.c -- the search for data races (worker/sharing.c, openmp.c, threads.c), linked as in a worker: every
 * thread of a team takes an iteration of a dynamic schedule, or finds none left, before one takes a second, and none
 * waits longer than that. What the search finds is tested by grader/mutants/ and grader/variants/. */
#include "sandbox/wire_traffic.h"
#include "worker/on_device.h"
#include "worker/sharing.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

bool mg_keeps;

void mg_watch_stack(char *top)
{
    (void)top;
}

enum { THREADS = 3, LIMIT = 10000, CLANG = __GNUC__ < 5 /* its loops call an OpenMP of its own, not libgomp */ };

static atomic_int naps;

/* All of openmp.c's waiting. */
int __real_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left);
int __wrap_nanosleep(const struct timespec *time, struct timespec *left)
{
    naps++;
    return __real_nanosleep(time, left);
}

/* How many threads have iterations of a loop with that many; naps: those of all. */
static int threads_of_a_loop(int iterations, bool guided)
{
    bool took[THREADS] = { false };
    int count = 0;
    naps = 0;
    mg_share_begin();
    if (guided) {
#pragma omp parallel for num_threads(THREADS) schedule(guided)
        for (int i = 0; i < iterations; i++)
            took[omp_get_thread_num()] = true;
    } else {
#pragma omp parallel for num_threads(THREADS) schedule(dynamic)
        for (int i = 0; i < iterations; i++)
            took[omp_get_thread_num()] = true;
    }
    mg_share_end();
    for (int t = 0; t < THREADS; t++)
        count += took[t];
    return count;
}

Test(sharing, every_thread_takes_an_iteration, .disabled = CLANG)
{
    for (int i = 0; i < 20; i++) {
        cr_assert_eq(threads_of_a_loop(THREADS, false), THREADS);
        cr_assert_eq(threads_of_a_loop(50, false), THREADS);
        cr_assert_eq(threads_of_a_loop(50, true), THREADS);
    }
}

Test(sharing, no_thread_waits_for_one_that_has_no_iteration)
{
    for (int iterations = 0; iterations < THREADS; iterations++) {
        threads_of_a_loop(iterations, false);
        cr_assert_lt(naps, LIMIT, "%d iterations: %d naps", iterations, naps);
    }
}

/* ---- the search itself ---------------------------------------------------------------------- */

static char bytes[64];

static void write_by_turns(const mg_value *unused)
{
    (void)unused;
#pragma omp parallel num_threads(THREADS)
#pragma omp critical
    memset(bytes, omp_get_thread_num(), sizeof bytes);
}

static void write_at_once(const mg_value *unused)
{
    (void)unused;
#pragma omp parallel num_threads(THREADS)
    memset(bytes, omp_get_thread_num(), sizeof bytes);
}

/* Frees the block that another thread has passed on before. */
static void pass_on(void *block)
{
    static _Atomic(void *) last;
    free(atomic_exchange(&last, block));
}

static int64_t race_of(void (*call)(const mg_value *))
{
    mg_traffic_report report = { .cache = MG_ONE_CALL };
    mg_value value = { .ptr = &report };
    mg_on_device(&(mg_function){ "", call }, &value, &(mg_wire_request){ .count = 1 });
    return report.raced;
}

/* Each thread frees a block and allocates another, which may be that of another thread. */
static void allocate(const mg_value *unused)
{
    (void)unused;
#pragma omp parallel num_threads(THREADS)
    for (int i = 0; i < 3000; i++) {
        void *block = NULL;
        if (i % 4 == 0)
            block = aligned_alloc(64, 64);
        else if (i % 4 == 1)
            block = memalign(64, 64);
        else if (i % 4 == 2)
            block = calloc(64, 1);
        else if (posix_memalign(&block, 64, 64))
            abort();
        memset(block, 1, 64);
        pass_on(block);
    }
}

Test(sharing, memory_that_is_allocated_again_is_other_memory)
{
    mallopt(M_ARENA_MAX, 1); /* for all threads */
    cr_assert_eq(race_of(allocate), 0);
}

/* Two calls, one after the other, and nothing orders them. */
static void take_turns(void (*call)(int))
{
    atomic_int turn = 0;
#pragma omp parallel num_threads(2)
    {
        const int me = omp_get_thread_num();
        while (atomic_load(&turn) != me)
            nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
        call(me);
        atomic_store(&turn, me + 1);
    }
}

enum { MAPPED = 1 << 16 };
static char *mapped;

/* At the same address as the other call. */
static void map_and_write(int me)
{
    char *at = mmap(me ? mapped : NULL, MAPPED, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | (me ? MAP_FIXED_NOREPLACE : 0), -1, 0);
    if (at == MAP_FAILED)
        abort();
    memset(at, 1, MAPPED);
    mapped = at;
    munmap(at, MAPPED);
}

static void map_by_turns(const mg_value *unused)
{
    (void)unused;
    take_turns(map_and_write);
}

static pthread_barrier_t met;
static _Atomic(char *) lent;
static char *lent_at[2];

__attribute__((no_sanitize_address)) static void *lend(void *unused) /* ASan of gcc 14 moves own off the stack */
{
    char own[64] = { 0 };
    mg_share_pause();
    atomic_store(&lent, own);
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    mg_share_resume();
    return own[1] ? NULL : unused;
}

/* Writes to the stack of a thread of its own, which has that of the other call's. */
static void write_to_a_stack(int me)
{
    pthread_t thread;
    mg_share_pause();
    pthread_barrier_init(&met, NULL, 2);
    mg_share_resume();
    pthread_create(&thread, NULL, lend, NULL);
    mg_share_pause();
    pthread_barrier_wait(&met);
    mg_share_resume();
    memset(lent_at[me] = atomic_load(&lent), 1, 64);
    mg_share_pause();
    pthread_barrier_wait(&met);
    mg_share_resume();
    pthread_join(thread, NULL);
}

static void lend_by_turns(const mg_value *unused)
{
    (void)unused;
    take_turns(write_to_a_stack);
}

Test(sharing, memory_that_is_mapped_again_is_other_memory, .disabled = CLANG, .timeout = 60)
{
    cr_assert_eq(race_of(map_by_turns), 0, "of mmap");
    cr_assert_eq(race_of(lend_by_turns), 0, "a thread's stack");
    cr_assert_eq(lent_at[0], lent_at[1], "another stack");
}

/* Where the search itself calls memset, that must not wait for the search. */
Test(sharing, a_critical_section_is_no_race, .disabled = CLANG, .timeout = 60)
{
    cr_assert_eq(race_of(write_by_turns), 0);
    cr_assert_neq(race_of(write_at_once), 0);
    cr_assert_eq(race_of(write_by_turns), 0); /* what was found before is forgotten */
}

/* libgomp detaches one that a smaller team does not need: these are no threads of the unit. */
Test(sharing, threads_of_libgomp_are_let_through, .disabled = CLANG, .timeout = 60)
{
#pragma omp parallel num_threads(THREADS + 1)
    __asm__ volatile("");
    cr_assert_neq(race_of(write_at_once), 0);
    cr_assert_eq(race_of(write_by_turns), 0);
}

/* ---- threads that a unit starts --------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *fill(void *one)
{
    memset(bytes, *(char *)one, sizeof bytes);
    pthread_exit(NULL);
}

static void *fill_locked(void *one)
{
    pthread_mutex_lock(&mutex);
    memset(bytes, *(char *)one, sizeof bytes);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void start_all(void *(*run)(void *))
{
    pthread_t thread[THREADS];
    char one = 1;
    for (int t = 0; t < THREADS; t++)
        cr_assert_eq(pthread_create(&thread[t], NULL, run, &one), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    memset(bytes, 0, sizeof bytes);
}

static void threads_at_once(const mg_value *unused)
{
    (void)unused;
    start_all(fill);
}

static void threads_by_turns(const mg_value *unused)
{
    (void)unused;
    start_all(fill_locked);
}

/* Beside a thread that does nothing, so that all of this is searched. */
static void one_after_the_other(const mg_value *unused)
{
    pthread_t other, thread;
    char one = 1;
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_create(&other, NULL, fill_locked, &one);
    for (int t = 0; t < THREADS; t++) {
        memset(bytes, 2, sizeof bytes);
        pthread_create(&thread, NULL, fill, &one);
        pthread_join(thread, NULL);
        memset(bytes, 2, sizeof bytes);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(other, NULL);
}

Test(sharing, threads_that_a_unit_starts, .timeout = 60)
{
    cr_assert_neq(race_of(threads_at_once), 0);
    cr_assert_eq(race_of(threads_by_turns), 0);
    cr_assert_eq(race_of(one_after_the_other), 0);
}

/* ---- ranks: threads that exchange messages by given code ---------------------------------------- */

static bool by_message;
static mg_told sent;
static atomic_bool arrived;
static pthread_mutex_t given = PTHREAD_MUTEX_INITIALIZER;

static void *send_rank(void *unused)
{
    (void)unused;
    memset(bytes, 1, sizeof bytes);
#pragma omp parallel
    __asm__ volatile("");
    if (by_message)
        mg_share_tell(&sent);
    mg_share_pause();
    pthread_mutex_lock(&given);
    atomic_store(&arrived, true);
    pthread_mutex_unlock(&given);
    mg_share_resume();
    return NULL;
}

static void *receive_rank(void *unused)
{
    (void)unused;
    mg_share_pause();
    while (!atomic_load(&arrived))
        nanosleep(&(struct timespec){ .tv_nsec = 50000 }, NULL);
    pthread_mutex_lock(&given);
    pthread_mutex_unlock(&given);
    mg_share_resume();
    if (by_message)
        mg_share_hear(&sent);
    memset(bytes, 2, sizeof bytes);
    return NULL;
}

static void ranks(const mg_value *unused)
{
    pthread_t sender, receiver;
    (void)unused;
    atomic_store(&arrived, false);
    pthread_create(&receiver, NULL, receive_rank, NULL);
    pthread_create(&sender, NULL, send_rank, NULL);
    pthread_join(sender, NULL);
    pthread_join(receiver, NULL);
}

Test(sharing, a_message_orders_ranks_and_locks_of_given_code_do_not, .timeout = 60)
{
    by_message = true;
    cr_assert_eq(race_of(ranks), 0);
    by_message = false;
    cr_assert_neq(race_of(ranks), 0);
}

static pthread_once_t first = PTHREAD_ONCE_INIT;

static void write_bytes(void)
{
    memset(bytes, 3, sizeof bytes);
}

static void *write_once(void *unused)
{
    pthread_once(&first, write_bytes);
    return unused;
}

static void once_and_at_once(const mg_value *unused)
{
    pthread_t thread;
    pthread_create(&thread, NULL, write_once, NULL);
    threads_at_once(unused);
    pthread_join(thread, NULL);
}

static pthread_once_t second = PTHREAD_ONCE_INIT;

__attribute__((no_sanitize_address)) static void *read_once(void *unused)
{
    char copy[sizeof bytes];
    pthread_once(&second, write_bytes);
    memcpy(copy, bytes, 4 * (size_t)omp_get_num_threads()); /* is called: of no fixed size */
    return copy[0] ? unused : NULL;
}

static void once_and_read(const mg_value *unused)
{
    (void)unused;
    start_all(read_once);
}

/* The first call orders what it does before all others, and nothing else: other races are found beside it. */
Test(sharing, pthread_once, .timeout = 60)
{
    cr_assert_neq(race_of(once_and_at_once), 0);
    cr_assert_eq(race_of(once_and_read), 0);
}
