/* workers.c -- a grid of blocks, run by a few OS threads.
 *
 * Workers take blocks in order, one at a time. The launching thread is a worker too, and does not wait for helper
 * threads that wake up when a short launch is already over. After a block has ended with an error no further block is
 * started, and findings and output of later blocks are dropped: the outcome is that of running the blocks one after
 * another.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "emulator/run/hooks.h"
#include "emulator/run/sched.h"
#include "emulator/run/setting.h"
#include "emulator/run/shared.h"
#include "emulator/run/status.h"
#include "emulator/run/workers.h"

#define MOST_WORKERS 16
#define MIN_PARALLEL 4096 /* threads: a smaller launch runs on the calling OS thread alone */

emu_launch *emu_current;
int emu_worker_limit;
bool emu_reversed;

static emu_worker *workers[MOST_WORKERS];
static __thread emu_worker *here;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static emu_launch *open_launch; /* that helpers may join; under lock, like the next two */
static uint64_t open_number;
static int joined, helpers;
static uint64_t next_block, launches;

emu_worker *emu_this_worker(void)
{
    return here;
}

/* ---- one worker -------------------------------------------------------------------------------------------------- */

emu_worker *emu_worker_new(int index)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t size = sizeof(emu_worker) + sizeof(emu_scheduler);
    emu_worker *worker = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (worker == MAP_FAILED) {
        perror("cuemu: no memory for a worker");
        exit(2);
    }
    worker->index = index;
    worker->scheduler = (emu_scheduler *)(worker + 1);
    emu_stacks_new(worker);
    emu_shared_new(worker);
    return worker;
}

static bool is_sampled(const emu_launch *launch, uint64_t block)
{
    static long sample = -1;
    if (sample < 0)
        sample = emu_setting("CUEMU_SAMPLE", 0);
    uint64_t n = (uint64_t)sample, count = launch->block_count;
    return !n || n >= count || (block + 1) * n / count > block * n / count; /* n, evenly spaced, with the last one */
}

static bool same_size(cuemu_uint3 a, cuemu_uint3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

void emu_become(emu_worker *worker)
{
    here = worker;
}

static void join(emu_worker *worker, emu_launch *launch)
{
    worker->launch = launch;
    if (same_size(worker->shape, launch->config->block))
        return;
    emu_shape_block(worker, launch->config->block);
    worker->shape = launch->config->block;
}

static void take_block(emu_worker *worker, uint64_t order)
{
    const emu_launch *launch = worker->launch;
    cuemu_uint3 grid = launch->config->grid;
    uint64_t number = emu_reversed ? launch->block_count - 1 - order : order;
    worker->order = order;
    worker->block_number = number;
    worker->block.x = (unsigned)(number % grid.x);
    worker->block.y = (unsigned)(number / grid.x % grid.y);
    worker->block.z = (unsigned)(number / grid.x / grid.y);
    worker->sampled = launch->config->cooperative || is_sampled(launch, number);
}

void emu_take_block(emu_worker *worker, emu_launch *launch, uint64_t order)
{
    join(worker, launch);
    take_block(worker, order);
}

static void run_blocks(emu_worker *worker, emu_launch *launch)
{
    join(worker, launch);
    here = worker;
    emu_watch_begin();
    for (;;) {
        uint64_t order = __atomic_fetch_add(&next_block, 1, __ATOMIC_RELAXED);
        if (order >= launch->block_count || order > __atomic_load_n(&launch->failed_block, __ATOMIC_RELAXED))
            break;
        take_block(worker, order);
        emu_run_block(worker);
    }
    emu_watch_end();
    here = NULL;
}

void emu_kill_block(emu_worker *worker, int code)
{
    emu_launch *launch = emu_current;
    worker->killed = true;
    worker->busy++;
    pthread_mutex_lock(&lock);
    if (worker->order < launch->failed_block) {
        launch->failed_code = code;
        __atomic_store_n(&launch->failed_block, worker->order, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&lock);
    worker->busy--;
}

void emu_kill(int code)
{
    if (!emu_self)
        return;
    emu_kill_block(emu_self->warp->worker, code);
    emu_leave();
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static void *helper_main(void *argument)
{
    emu_worker *worker = argument;
    uint64_t seen = 0;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!open_launch || open_number == seen || worker->index >= open_launch->worker_count)
            pthread_cond_wait(&begun, &lock);
        emu_launch *launch = open_launch;
        seen = open_number;
        joined++;
        pthread_mutex_unlock(&lock);
        run_blocks(worker, launch);
        pthread_mutex_lock(&lock);
        if (--joined == 0)
            pthread_cond_signal(&ended);
    }
    return NULL;
}

/* A forked child has only the thread that forked. */
static void after_fork(void)
{
    helpers = joined = 0;
    open_launch = NULL;
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&ended, NULL);
}

/* Starts helpers up to `wanted` workers in all. Returns how many workers there are. */
static int start_helpers(int wanted)
{
    if (!workers[0]) {
        workers[0] = emu_worker_new(0);
        pthread_atfork(NULL, NULL, after_fork);
    }
    while (helpers + 1 < wanted) {
        pthread_t thread;
        int index = helpers + 1;
        if (!workers[index])
            workers[index] = emu_worker_new(index);
        if (pthread_create(&thread, NULL, helper_main, workers[index]))
            break;
        pthread_detach(thread);
        helpers++;
    }
    return helpers + 1 < wanted ? helpers + 1 : wanted;
}

static void run_grid(emu_launch *launch)
{
    next_block = 0;
    if (launch->worker_count > 1) {
        pthread_mutex_lock(&lock);
        open_launch = launch;
        open_number = launch->number + 1;
        pthread_cond_broadcast(&begun);
        pthread_mutex_unlock(&lock);
    }
    run_blocks(workers[0], launch);
    pthread_mutex_lock(&lock);
    open_launch = NULL;
    while (joined)
        pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}

/* ---- launching --------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    return (double)cuemu_clock() * 1e-9;
}

void emu_run(const cuemu_launch_config *config)
{
    cuemu_uint3 grid = config->grid;
    emu_launch launch = { .config = config, .number = launches++, .failed_block = UINT64_MAX };
    launch.block_count = (uint64_t)grid.x * grid.y * grid.z;
    uint64_t threads = launch.block_count * config->block.x * config->block.y * config->block.z;
    emu_current = &launch;
    emu_arena_open();
    emu_findings_begin();
    EMU_CALL(launch_begin, &launch);
    int wanted = threads < MIN_PARALLEL ? 1 : emu_worker_limit;
    double start = seconds();
    if (config->cooperative) {
        emu_run_cooperative(&launch);
    } else {
        launch.worker_count = start_helpers((uint64_t)wanted < launch.block_count ? wanted : (int)launch.block_count);
        start = seconds();
        run_grid(&launch);
    }
    launch.seconds = seconds() - start;
    for (int i = 0; i < launch.worker_count; i++) {
        size_t used = emu_shared_used(workers[i], &launch);
        launch.static_shared = used > launch.static_shared ? used : launch.static_shared;
    }
    EMU_CALL(launch_end, &launch);
    emu_check_gaps();
    emu_arena_close();
    emu_findings_flush(launch.failed_block);
    emu_output_flush(launch.failed_block);
    if (launch.failed_block != UINT64_MAX)
        emu_set_sticky((cudaError_t)launch.failed_code);
    if (emu_setting("CUEMU_TIME", 0))
        fprintf(stderr, "cuemu: %s %.6f s, %d workers, shared %zu+%zu bytes\n", config->kernel, launch.seconds,
                launch.worker_count, launch.static_shared, config->dynamic_shared);
    emu_current = NULL;
}

__attribute__((constructor(103))) static void configure(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN), wanted = emu_setting("CUEMU_THREADS", cores);
    emu_worker_limit = wanted < 1 ? 1 : wanted > MOST_WORKERS ? MOST_WORKERS : (int)wanted;
    emu_reversed = emu_setting("CUEMU_REVERSE", 0);
}
