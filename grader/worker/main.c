/* main.c -- the worker: maps arrays as the checker requests, calls one function of the units under test, and replies.
 *
 * It shares its address space with the student's code, so its replies are not trusted. Every array is between
 * inaccessible pages, and a fault there is reported as "4 bytes past the end of out". */
#include "worker/heap.h"
#include "worker/on_device.h"
#include "worker/small_stack.h"
#include "worker/values.h"

#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

bool mg_keeps, mg_aborted;
static mg_wire_request request;             /* the current one, for the fault handler too */
static mg_value values[MG_WIRE_VALUES + 1]; /* the last one has no name */
static char *region;                        /* all arrays of the current call and their guards */
static size_t region_bytes;
static _Thread_local char *stack_top;  /* NULL: this thread's stack is not watched */
static _Thread_local bool small_stack; /* it has that of a counted call */

enum { STACK_REACH = 9 << 20 }; /* its limit is 8 MiB (sandbox.c) */

static bool read_all(int fd, void *to, size_t size)
{
    for (size_t have = 0; have < size;) {
        ssize_t n = read(fd, (char *)to + have, size - have);
        if (n <= 0)
            return false;
        have += (size_t)n;
    }
    return true;
}

static void reply(mg_reply_kind what, int32_t value, int64_t distance)
{
    mg_wire_reply message = { .nonce = request.nonce, .what = what, .value = value, .distance = distance };
    if (write(MG_FD_REPLY, &message, sizeof message) != sizeof message)
        _exit(1);
}

static bool map_array(const mg_wire_value *v, mg_value *value, char *at)
{
    bool input = v->kind == MG_IN;
    uint64_t pages = mg_pages(v->bytes);
    value->ptr = at + (request.at_end ? pages - v->bytes : 0);
    return pages == 0 ||
           mmap(at, pages, input ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                input ? MG_FD_INPUT : MG_FD_OUTPUT, (off_t)v->offset) != MAP_FAILED;
}

/* One inaccessible region; the arrays' pages are mapped into it with MG_GUARD bytes between them. */
static bool map_values(void)
{
    uint64_t at = MG_GUARD + (uint64_t)request.shift * MG_PAGE;
    region_bytes = at;
    for (uint32_t i = 0; i < request.count; i++)
        if (mg_wire_is_array(&request.value[i]))
            region_bytes += mg_pages(request.value[i].bytes) + MG_GUARD;
    region = mmap(NULL, region_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return false;
    for (uint32_t i = 0; i < request.count; i++) {
        const mg_wire_value *v = &request.value[i];
        values[i] = mg_value_of(v);
        if (!mg_wire_is_array(v))
            continue;
        if (!map_array(v, &values[i], region + at))
            return false;
        at += mg_pages(v->bytes) + MG_GUARD;
    }
    mg_values_end(values, &request);
    return true;
}

/* The array nearest to an address, if it is in this call's region. */
static int32_t nearest_array(const char *address)
{
    int32_t nearest = MG_NO_ARRAY;
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; region && address >= region && address < region + region_bytes && i < request.count; i++) {
        const char *start = values[i].ptr, *end = start + request.value[i].bytes;
        int64_t distance = address >= end ? address - end : address < start ? start - address : 0;
        if (mg_wire_is_array(&request.value[i]) && distance < least) {
            nearest = (int32_t)i;
            least = distance;
        }
    }
    return nearest;
}

/* ---- faults --------------------------------------------------------------------------------- */

static mg_wire_trace trace; /* of the first fault: a second one may come from walking a destroyed stack */

static uint64_t place_of(const void *context)
{
    const ucontext_t *c = context;
#if defined __x86_64__
    return (uint64_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uint64_t)c->uc_mcontext.pc;
#else
    (void)c;
    return 0;
#endif
}

/* A return to an address that cannot be one faults at the return instruction. */
static bool is_return(uint64_t pc)
{
#if defined __x86_64__
    return pc && (*(const uint8_t *)pc == 0xC3 || *(const uint8_t *)pc == 0xF3);
#else
    return false;
#endif
}

static int32_t kind_of(int number, const siginfo_t *info, uint64_t pc)
{
    char *address = info->si_addr;
    int32_t nearest = nearest_array(address);
    if (number != SIGSEGV && number != SIGBUS)
        return MG_OTHER;
    if (nearest != MG_NO_ARRAY)
        return nearest;
    if ((uint64_t)address == pc)
        return MG_RETURN;
    if (info->si_code == SI_KERNEL && !address)
        return is_return(pc) ? MG_RETURN : MG_WILD;
    bool below = address < stack_top && address > stack_top - STACK_REACH;
    return !below ? MG_NO_ARRAY : small_stack ? MG_SMALL_STACK : MG_STACK;
}

enum { MOST_FRAMES = 1 << 20 };
static int frames = 1; /* the first is where the fault was */
static bool whole;     /* the callers could be followed to main */

int main(void);

static _Unwind_Reason_Code note_frame(struct _Unwind_Context *context, void *unused)
{
    (void)unused;
    whole = whole || _Unwind_GetRegionStart(context) == (uintptr_t)main;
    if (frames < MG_FRAMES)
        trace.pc[frames] = _Unwind_GetIP(context);
    return ++frames < MOST_FRAMES ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Walking a destroyed stack may fault, so the kind of the first fault is kept; other threads wait for the end. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    static int32_t kind;
    static char *address;
    static pid_t first;
    if (!__sync_bool_compare_and_swap(&first, 0, gettid()) && first != gettid())
        for (;;)
            pause();
    if (!trace.pc[0]) {
        uint64_t pc = place_of(context);
        kind = kind_of(number, info, pc);
        address = info->si_addr;
        trace.pc[0] = pc + 1;
        _Unwind_Backtrace(note_frame, NULL);
        if (kind == MG_NO_ARRAY && mg_heap_say)
            mg_heap_say(address);
    }
    if ((kind == MG_NO_ARRAY || kind == MG_WILD) && !whole && first == getpid())
        kind = MG_SMASHED;
    reply(MG_FAULT, kind, (int64_t)address - (kind >= 0 ? (int64_t)values[kind].ptr : 0));
    if (write(MG_FD_REPLY, &trace, sizeof trace) != sizeof trace)
        _exit(1);
    signal(number, SIG_DFL);
    raise(number);
}

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
static struct sigaction other[MT_COUNT(signals)]; /* the emulator's, which reports kernel, block and thread */
static stack_t other_stack;

enum { OTHER_STACK = 64 << 10 };

/* With a separate stack, as the fault may be an overflow of the normal one. */
static void catch_faults(char *stack)
{
    stack_t alternate = { .ss_sp = stack, .ss_size = OTHER_STACK };
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
    sigaltstack(&alternate, &other_stack);
    for (int64_t i = 0; i < MT_COUNT(signals); i++)
        sigaction(signals[i], &action, &other[i]);
}

void mg_watch_stack(char *top)
{
    stack_top = top;
    small_stack = true;
    char *stack = mmap(NULL, OTHER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MT_CHECK(stack != MAP_FAILED, "no second stack for a thread");
    catch_faults(stack);
}

/* In a lab with units of both kinds the next call may be the emulator's. Otherwise ours stay, for threads that a unit
 * leaves behind. */
static void leave_faults(void)
{
    if (!mg_on_device)
        return;
    sigaltstack(&other_stack, NULL);
    for (int64_t i = 0; i < MT_COUNT(signals); i++)
        sigaction(signals[i], &other[i], NULL);
}

static int64_t allocated(void)
{
    return mg_heap_live ? mg_heap_live() : 0;
}

/* The threads are started before the time measurement. */
static void wake_threads(int threads)
{
    omp_set_num_threads(threads);
#pragma omp parallel
    __asm__ volatile("");
}

/* Makes the call; the bytes that are allocated and not freed by it. Where a region has another number of threads,
 * libgomp exchanges the memory of its team: wake_threads frees it again before the next, equal call. */
static int64_t call_and_check(const mg_function *function, int64_t before_threads)
{
    int64_t before = allocated();
    mg_keeps = false;
    if (mg_wire_reported(&request)) {
        mg_on_device(function, values, &request);
    } else {
        static char stack[OTHER_STACK];
        catch_faults(stack);
        function->call(values);
    }
    if (mg_heap_check)
        mg_heap_check();
    if (!mg_wire_reported(&request))
        leave_faults();
    return mg_keeps ? 0 : allocated() - mt_max(before, before_threads);
}

static void serve(void)
{
    mg_wire_go go;
    const mg_function *function = mg_function_of(request.function);
    if (!function) {
        reply(MG_UNKNOWN, -1, 0);
        return;
    }
    if (!map_values()) {
        reply(MG_NO_MEMORY, -1, 0);
        _exit(1);
    }
    int64_t before = allocated();
    wake_threads((int)request.threads);
    reply(MG_READY, -1, 0);
    if (!read_all(MG_FD_REQUEST, &go, sizeof go) || go.nonce != request.nonce)
        _exit(1);
    int64_t kept = call_and_check(function, before);
    reply(MG_DONE, mg_aborted ? MG_ABORTED : -1, kept);
    munmap(region, region_bytes);
    region = NULL;
}

int main(void)
{
    static char printed[BUFSIZ]; /* not of malloc: it would count as memory that the first call keeps */
    char here;
    stack_top = &here;
    setvbuf(stdout, printed, _IOLBF, sizeof printed); /* so that the student's output is complete after a crash */
    while (read_all(MG_FD_REQUEST, &request, sizeof request))
        serve();
    return 0;
}
