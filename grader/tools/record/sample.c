/* sample.c -- a library to preload into a program: where its processor time goes.
 *
 * Each thread has a timer of its own processor time. When it expires, which the kernel looks at in each of its ticks
 * (1 to 10 ms), the instruction at which the thread stands is counted. There is no walk up the stack: what a function
 * calls in a shared library or in the kernel counts as elsewhere.
 *
 *   SAMPLE_INTO   a file, to which lines "COUNT OFFSET" are added when the program ends: how often an instruction was
 *                 counted, and its place in the program in hexadecimal, `-` for all that is elsewhere
 *   SAMPLE_COUNT  the number of samples after which the program is ended; without it, it runs to its end */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { PERIOD_NS = 1000000, LOOK_NS = 20000000 };

static uintptr_t base, size;        /* of the program in memory */
static uint32_t *counts, elsewhere; /* of each byte of the program, and of all others */
static uint32_t taken, wanted;      /* samples */

static int take_program(struct dl_phdr_info *program, size_t bytes, void *user)
{
    (void)bytes, (void)user;
    base = program->dlpi_addr;
    for (int i = 0; i < program->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &program->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && p->p_vaddr + p->p_memsz > size)
            size = p->p_vaddr + p->p_memsz;
    }
    return 1; /* the first one is the program itself */
}

static void count(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    const mcontext_t *machine = &((const ucontext_t *)context)->uc_mcontext;
#if defined __x86_64__
    uintptr_t at = (uintptr_t)machine->gregs[REG_RIP] - base;
#else
    uintptr_t at = (uintptr_t)machine->pc - base;
#endif
    __atomic_fetch_add(at < size ? &counts[at] : &elsewhere, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
}

/* Starts a timer of the calling thread's processor time, which lasts as long as the thread. */
static void start_timer(void)
{
    timer_t timer;
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF };
    const struct itimerspec period = { { 0, PERIOD_NS }, { 0, PERIOD_NS } };
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
        timer_settime(timer, 0, &period, NULL);
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("SAMPLE_INTO");
    FILE *file = path ? fopen(path, "a") : NULL;
    signal(SIGPROF, SIG_IGN);
    for (uintptr_t i = 0; file && i < size; i++)
        if (counts[i])
            fprintf(file, "%u %lx\n", counts[i], (unsigned long)i);
    if (!file || fprintf(file, "%u -\n", elsewhere) < 0 || fclose(file) != 0)
        perror(path ? path : "SAMPLE_INTO");
}

static void *end_program(void *none)
{
    const struct timespec look = { 0, LOOK_NS };
    while (__atomic_load_n(&taken, __ATOMIC_RELAXED) < wanted)
        nanosleep(&look, NULL);
    finish();
    _exit(0);
    return none;
}

/* ---- threads: each begins with a timer ------------------------------------------------------------------------ */

typedef int create_fn(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* The library's own. A constructor of another library may be the first to ask. */
static create_fn *real_create(void)
{
    create_fn *create;
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    return create;
}

typedef struct job {
    void *(*run)(void *);
    void *argument;
} job;

static void *run_timed(void *given)
{
    const job todo = *(job *)given;
    free(given);
    start_timer();
    return todo.run(todo.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument)
{
    job *todo = malloc(sizeof *todo);
    if (!todo)
        return EAGAIN;
    *todo = (job){ run, argument };
    int error = real_create()(thread, attributes, run_timed, todo);
    if (error)
        free(todo);
    return error;
}

__attribute__((constructor)) static void begin(void)
{
    struct sigaction action = { .sa_sigaction = count, .sa_flags = SA_SIGINFO | SA_RESTART };
    const char *most = getenv("SAMPLE_COUNT");
    pthread_t watcher;
    dl_iterate_phdr(take_program, NULL);
    counts = calloc(size, sizeof *counts);
    wanted = most ? (uint32_t)strtoul(most, NULL, 10) : 0;
    if (!counts || sigaction(SIGPROF, &action, NULL) != 0 ||
        (wanted && real_create()(&watcher, NULL, end_program, NULL) != 0))
        abort();
    start_timer();
}
