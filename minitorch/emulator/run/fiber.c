/* fiber.c -- stacks for a block's threads and the switch between them.
 *
 * A switch saves only the registers that the calling convention requires a function to preserve: it takes about a
 * seventh of the time of swapcontext, which makes a system call. Below each stack is a guard page, so that a stack
 * overflow faults instead of overwriting the next stack. Stacks are reused by later threads.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include "emulator/run/sched.h"

#define STACK_SIZE (128 << 10)
#define GUARD_SIZE (4 << 10)
/* An odd number of pages: with a power of two the tops of all stacks would compete for a few sets of the TLB, and a
 * switch would take twice as long. */
#define STRIDE ((size_t)(STACK_SIZE + GUARD_SIZE))

#if defined(__x86_64__) && !defined(EMU_UCONTEXT)
__asm__(".text\n"
        ".globl emu_switch\n"
        ".type emu_switch, @function\n"
        "emu_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        "emu_switch_end:\n"
        ".size emu_switch, . - emu_switch\n");

void *emu_fiber_new(char *top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15);
    *--sp = 0; /* entry's return address: none, which also ends a backtrace */
    *--sp = (uint64_t)(uintptr_t)entry;
    for (int i = 0; i < 6; i++)
        *--sp = 0;
    return sp;
}

#elif defined(__aarch64__) && !defined(EMU_UCONTEXT)
__asm__(".text\n"
        ".globl emu_switch\n"
        ".type emu_switch, %function\n"
        "emu_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        "emu_switch_end:\n"
        ".size emu_switch, . - emu_switch\n");

void *emu_fiber_new(char *top, void (*entry)(void))
{
    uint64_t *sp = (uint64_t *)((uintptr_t)top & ~(uintptr_t)15) - 20;
    for (int i = 0; i < 20; i++)
        sp[i] = 0;
    sp[11] = (uint64_t)(uintptr_t)entry; /* x30, where `ret` goes */
    return sp;
}

#else
#define BY_UCONTEXT
#include <ucontext.h>

static _Thread_local volatile bool switching; /* between two contexts of this worker */

/* On other architectures a context is a ucontext_t, at the top of a new fiber's stack or in emu_switch's frame. */
void emu_switch(void **save, void *to)
{
    ucontext_t here;
    *save = &here;
    switching = true;
    swapcontext(&here, to);
    switching = false;
}

static void start(unsigned high, unsigned low) /* the entry's address in two parts: arguments are ints */
{
    switching = false;
    ((void (*)(void))(uintptr_t)((uint64_t)high << 32 | low))();
}

void *emu_fiber_new(char *top, void (*entry)(void))
{
    uint64_t address = (uintptr_t)entry;
    ucontext_t *place = (ucontext_t *)(((uintptr_t)top - sizeof *place) & ~(uintptr_t)63);
    getcontext(place);
    place->uc_stack.ss_sp = top - STACK_SIZE / 2;
    place->uc_stack.ss_size = (size_t)((char *)place - (char *)place->uc_stack.ss_sp);
    place->uc_link = NULL;
    makecontext(place, (void (*)(void))start, 2, (unsigned)(address >> 32), (unsigned)address);
    return place;
}
#endif

bool emu_in_switch(uintptr_t pc)
{
#ifdef BY_UCONTEXT
    (void)pc;
    return switching;
#else
    extern const char emu_switch_end[];
    return pc - (uintptr_t)emu_switch < (uintptr_t)emu_switch_end - (uintptr_t)emu_switch;
#endif
}

/* Reserves addresses for the stacks of a whole block; a stack gets memory when it is first taken. */
void emu_stacks_new(emu_worker *worker)
{
    worker->stacks_size = STRIDE * EMU_MAX_THREADS;
    worker->stacks = mmap(NULL, worker->stacks_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (worker->stacks == MAP_FAILED) {
        perror("cuemu: no address space for stacks");
        exit(2);
    }
}

/* Takes the stack that was freed last: it is most likely still in the cache. */
int emu_stack_take(emu_worker *worker)
{
    emu_scheduler *s = worker->scheduler;
    if (s->free_count > 0)
        return s->free_stacks[--s->free_count];
    char *bottom = worker->stacks + STRIDE * (size_t)s->usable + GUARD_SIZE;
    if (mprotect(bottom, STACK_SIZE, PROT_READ | PROT_WRITE)) {
        perror("cuemu: no memory for a stack");
        exit(2);
    }
    return s->usable++;
}

/* Stacks start at different offsets in their pages: with equal offsets the tops of all 1024 would compete for a few
 * cache sets. */
char *emu_stack_top(const emu_worker *worker, int stack)
{
    return worker->stacks + STRIDE * (size_t)(stack + 1) - 64 - (size_t)stack * 320 % 4096;
}

bool emu_stack_overflowed(const emu_worker *worker, const void *fault)
{
    size_t offset = (size_t)((const char *)fault - worker->stacks);
    return offset < worker->stacks_size && offset % STRIDE < GUARD_SIZE;
}
