/* sched.h -- how the threads of a block take turns: their stacks (fiber.c), which one is next (sched.c), and what they
 * wait for (barrier.c, collective.c, phase.c). */
#ifndef EMU_SCHED_H
#define EMU_SCHED_H

#include "emulator/run/worker.h"

/* ---- fiber.c ---- */

/* Saves the running fiber's context in *save and resumes the context `to`. */
void emu_switch(void **save, void *to);
/* Is pc in emu_switch? A backtrace from there finds no frame. */
bool emu_in_switch(uintptr_t pc);
/* A new context on the stack that ends at `top`: resumed, it calls entry(), which must not return. */
void *emu_fiber_new(char *top, void (*entry)(void));

typedef struct emu_scheduler {
    void *sp; /* context of the worker's own stack */
    int16_t free_stacks[EMU_MAX_THREADS];
    int free_count;
    int usable; /* stacks [0, usable) are mapped */
    /* the barrier that threads wait at */
    bool waits_only; /* since the last turn, threads have only found that a phase is not complete */
    const emu_thread *first_at_barrier;
    int at_barrier, count;
    bool divergent, all, any;
    int vote_result[3]; /* of the last barrier, by enum cuemu_vote */
} emu_scheduler;

void emu_stacks_new(emu_worker *worker);
int emu_stack_take(emu_worker *worker);
char *emu_stack_top(const emu_worker *worker, int stack);
bool emu_stack_overflowed(const emu_worker *worker, const void *fault);

/* ---- sched.c ---- */
void emu_shape_block(emu_worker *worker, cuemu_uint3 size);
void emu_run_block(emu_worker *worker);
/* Its parts, for a block that may wait for the grid: continue runs it until it ends or worker->at_grid. */
void emu_begin_block(emu_worker *worker);
void emu_continue_block(emu_worker *worker);
void emu_resume_block(emu_worker *worker);
void emu_abandon_block(emu_worker *worker);
/* The running thread waits in `state` while others run. */
void emu_wait(emu_thread *self, emu_state state);
/* emu_kill_block ends the kernel; emu_leave then stops the running thread. */
void emu_kill_block(emu_worker *worker, int code);
void emu_leave(void) __attribute__((noreturn));
/* The running thread. In host code: reports at the caller's line that `what` is device code, and ends the program. */
emu_thread *emu_device_only(const char *what, uintptr_t pc);

/* Suspends the running thread until the hook pause(warp) was called: for a hook whose buffer is full. */
void emu_pause(void);

/* ---- barrier.c ---- */
void emu_barrier_begin_block(emu_worker *worker); /* also called after each barrier */
void emu_barrier_release(emu_worker *worker);

/* ---- collective.c ---- */
void emu_together(void (*combine)(void *lanes[32]), void *mine, uintptr_t pc); /* as cuemu_warp_together, at `pc` */
bool emu_complete_meetings(emu_warp *warp); /* after a lane returned: releases the lanes that waited for it only */
bool emu_complete_active(emu_warp *warp);
void emu_report_stuck(emu_worker *worker); /* deadlock: no thread of the block can continue */

/* ---- phase.c ---- */
void emu_deferred_drop(emu_worker *worker);   /* the block has ended */
void emu_report_no_phase(emu_worker *worker); /* deadlock: its threads wait for a phase of a cuda::barrier */

/* ---- copies.c ---- */
void emu_copies_drop(emu_thread *thread);

#endif
