/* fault.c -- kernels that crash or never end, and host code that dereferences a device pointer.
 *
 * The signal handler itself reports nothing. It makes the interrupted thread continue in `land`, on a separate stack:
 * outside the handler `land` may call any function, and it leaves through the scheduler like any killed thread.
 * A timer per worker limits its CPU time in one launch (CUEMU_TIMEOUT seconds, default 60).
 */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "emulator/run/memory.h"
#include "emulator/run/sched.h"
#include "emulator/run/setting.h"
#include "emulator/run/workers.h"

#define TICK        (SIGRTMIN + 3)
#define STACK_SIZE  (128 << 10)
#define MOST_FRAMES 16
#define RETRY_NS    10000000 /* until the next try, when the thread was in code that must not be interrupted */

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* The last signal on this OS thread, for `land`. */
static __thread struct {
    int signal;
    char *address;
    uintptr_t pc;
    void *frames[MOST_FRAMES];
    int frame_count;
} fault;

static __thread struct {
    char *landing; /* the stack of `land`; the signal stack follows it */
    timer_t timer;
    bool ready;
} os_thread;

static long budget; /* seconds */

/* ---- after the signal -------------------------------------------------------------------------------------------- */

/* The innermost frame in the program's source. Without one: the last barrier that the thread called, or the launch. */
static emu_site user_site(void)
{
    for (int i = -1; i < fault.frame_count; i++) {
        uintptr_t pc = i < 0 ? fault.pc + 1 : (uintptr_t)fault.frames[i]; /* emu_source wants return addresses */
        const char *file;
        int line;
        if (emu_source(pc, &file, &line))
            return (emu_site){ .pc = pc, .file = file, .line = line };
    }
    if (emu_self && emu_self->wait.file)
        return (emu_site){ .file = emu_self->wait.file, .line = emu_self->wait.line };
    if (emu_self)
        return (emu_site){ .file = emu_current->config->file, .line = emu_current->config->line };
    return (emu_site){ .pc = fault.pc + 1 };
}

/* "12 bytes past the end of the 1024 bytes allocated at unit.cu:40" */
static const char *describe_address(const char *address, char text[256])
{
    const emu_allocation *a = emu_nearest(address);
    const char *file;
    char made[200] = "";
    int line;
    if (!a) {
        snprintf(text, 256, "%p, far from any allocation", (const void *)address);
        return text;
    }
    if (emu_source(a->made, &file, &line))
        snprintf(made, sizeof made, " at %s:%d", file, line);
    if (address < a->begin)
        snprintf(text, 256, "%td bytes before the %zu bytes allocated%s", a->begin - address, a->size, made);
    else if (address >= a->begin + a->size)
        snprintf(text, 256, "%td bytes past the end of the %zu bytes allocated%s",
                 address - a->begin - (ptrdiff_t)a->size, a->size, made);
    else
        snprintf(text, 256, "byte %td of the %zu bytes allocated%s", address - a->begin, a->size, made);
    return text;
}

static void report_segment(emu_site site)
{
    char text[256];
    if (emu_stack_overflowed(emu_self->warp->worker, fault.address)) {
        emu_error(EMU_CRASH, site, "stack overflow: endless recursion, or local arrays of more than 128 KB");
        emu_kill(cudaErrorHardwareStackError);
    }
    if ((uintptr_t)fault.address < 4096)
        emu_error(EMU_BAD_POINTER, site, "access through a null pointer (address %p)", (void *)fault.address);
    else if ((size_t)(fault.address - emu_arena) < emu_arena_size)
        emu_error(EMU_OUT_OF_BOUNDS, site, "access outside device memory, %s", describe_address(fault.address, text));
    else
        emu_error(EMU_BAD_POINTER, site, "access to %p, which is neither device nor shared memory",
                  (void *)fault.address);
    emu_kill(cudaErrorIllegalAddress);
}

static void land(void)
{
    emu_site site = user_site();
    if (fault.signal == TICK) {
        emu_error(EMU_ENDLESS, site, "kernel %s has run for %ld s of CPU time and has not ended (CUEMU_TIMEOUT)",
                  emu_current->config->kernel, budget);
        emu_kill(cudaErrorLaunchTimeout);
    }
    if (fault.signal == SIGSEGV || fault.signal == SIGBUS)
        report_segment(site);
    emu_error(EMU_CRASH, site, "%s",
              fault.signal == SIGFPE ? "integer division by zero (or overflow): undefined on a GPU"
                                     : "illegal instruction: a trap, or code that the compiler took for unreachable");
    emu_kill(cudaErrorLaunchFailure);
    abort(); /* emu_kill does not return to a running thread */
}

static void host_touched_device(void)
{
    char text[256];
    emu_error(EMU_BAD_POINTER, user_site(),
              "host code accesses device memory: %s\nhint: read it in a kernel, or copy it with cudaMemcpy",
              describe_address(fault.address, text));
    emu_stop_program();
}

/* ---- in the signal ----------------------------------------------------------------------------------------------- */

/* Makes the interrupted code continue at `where`, on the stack that ends at `top`. False: unsupported architecture. */
static bool redirect(ucontext_t *context, void (*where)(void), char *top)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)where;
    context->uc_mcontext.gregs[REG_RSP] = (greg_t)(((uintptr_t)top & ~(uintptr_t)15) - 8);
    return true;
#elif defined(__aarch64__)
    context->uc_mcontext.pc = (uintptr_t)where;
    context->uc_mcontext.sp = (uintptr_t)top & ~(uintptr_t)15;
    return true;
#else
    (void)context, (void)where, (void)top;
    return false;
#endif
}

static uintptr_t pc_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return 0;
#endif
}

/* Was a thread of the kernel interrupted, and not the worker between two threads, or a switch, which has no frame? */
static bool in_thread(const emu_worker *worker, const ucontext_t *context)
{
#if defined(__x86_64__)
    uintptr_t sp = (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
    uintptr_t sp = (uintptr_t)context->uc_mcontext.sp;
#else
    uintptr_t sp = (uintptr_t)worker->stacks;
    (void)context;
#endif
    return sp - (uintptr_t)worker->stacks < worker->stacks_size && !emu_in_switch(pc_of(context));
}

static void remember(int signal_number, const siginfo_t *info, const ucontext_t *context)
{
    fault.signal = signal_number;
    fault.address = info->si_addr;
    fault.pc = pc_of(context);
    int count = backtrace(fault.frames, MOST_FRAMES), skip = 0;
    while (skip < count && (uintptr_t)fault.frames[skip] != fault.pc) /* frames of the handler */
        skip++;
    fault.frame_count = count > skip ? count - skip - 1 : 0;
    memmove(fault.frames, fault.frames + skip + 1, (size_t)fault.frame_count * sizeof fault.frames[0]);
}

static void set_timer(long whole, long nanoseconds)
{
    struct itimerspec when = { .it_value = { whole, nanoseconds } };
    timer_settime(os_thread.timer, 0, &when, NULL);
}

static void on_signal(int signal_number, siginfo_t *info, void *context)
{
    const emu_worker *worker = emu_this_worker();
    if (worker && emu_self && !worker->busy && (signal_number != TICK || in_thread(worker, context))) {
        remember(signal_number, info, context);
        if (redirect(context, land, os_thread.landing + STACK_SIZE))
            return;
    }
    if (signal_number == TICK) {
        if (worker)
            set_timer(0, RETRY_NS);
        return;
    }
    if (!worker && (size_t)((char *)info->si_addr - emu_arena) < emu_arena_size) {
        remember(signal_number, info, context);
        host_touched_device();
    }
    signal(signal_number, SIG_DFL); /* a crash in host code: the default action */
}

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

/* Once per OS thread: the stacks for its signals, and its timer. */
static void prepare_thread(void)
{
    if (os_thread.ready)
        return;
    os_thread.ready = true;
    os_thread.landing = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = { .ss_sp = os_thread.landing + STACK_SIZE, .ss_size = STACK_SIZE };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK };
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (os_thread.landing == MAP_FAILED || sigaltstack(&stack, NULL) ||
        timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &os_thread.timer)) {
        perror("cuemu: cannot set up the timer and the stack for signals");
        exit(2);
    }
}

void emu_watch_begin(void)
{
    prepare_thread();
    set_timer(budget, 0);
}

void emu_watch_end(void)
{
    set_timer(0, 0);
}

/* A forked child has no timers. */
static void after_fork(void)
{
    os_thread.ready = false;
}

__attribute__((constructor(104))) static void install(void)
{
    void *frame[1];
    backtrace(frame, 1); /* the first call loads a library, which a handler must not do */
    budget = emu_setting("CUEMU_TIMEOUT", 60);
    budget = budget < 1 ? 1 : budget;
    prepare_thread();
    pthread_atfork(NULL, NULL, after_fork);
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART };
    sigfillset(&action.sa_mask);
    static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &action, NULL);
    sigaction(TICK, &action, NULL);
}
