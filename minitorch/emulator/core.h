/* core.h -- declarations shared by fiber.c, sched.c, the warp functions, launch.c and the host API. */
#ifndef EMU_CORE_H
#define EMU_CORE_H

#include "internal.h"
#include "include/driver_types.h"

#define EMU_LIKELY(x)   __builtin_expect(!!(x), 1)
#define EMU_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define EMU_CALL(hook, ...)             \
    do {                                \
        if (emu_hook.hook)              \
            emu_hook.hook(__VA_ARGS__); \
    } while (0)

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
extern bool emu_reversed; /* CUEMU_REVERSE */
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

/* ---- barrier.c ---- */
void emu_barrier_begin_block(emu_worker *worker); /* also called after each barrier */
void emu_barrier_release(emu_worker *worker);

/* ---- collective.c ---- */
void emu_together(void (*combine)(void *lanes[32]), void *mine, uintptr_t pc); /* as cuemu_warp_together, at `pc` */
bool emu_complete_meetings(emu_warp *warp); /* after a lane returned: releases the lanes that waited for it only */
bool emu_complete_active(emu_warp *warp);
void emu_report_stuck(emu_worker *worker); /* deadlock: no thread of the block can continue */

/* ---- shared.c ---- */
void emu_shared_new(emu_worker *worker);
void emu_shared_begin_block(emu_worker *worker);
void emu_shared_end_block(emu_worker *worker);
size_t emu_shared_used(const emu_worker *worker, const emu_launch *launch);

/* ---- async.c ---- */
void emu_deferred_drop(emu_worker *worker);   /* the block has ended */
void emu_report_no_phase(emu_worker *worker); /* deadlock: its threads wait for a phase of a cuda::barrier */

/* ---- copies.c ---- */
void emu_copies_drop(emu_thread *thread);

/* ---- launch.c, grid.c ---- */
emu_worker *emu_worker_new(int index);
void emu_take_block(emu_worker *worker, emu_launch *launch, uint64_t order); /* the worker's next block */
void emu_become(emu_worker *worker); /* this OS thread runs the worker's block from now on */
void emu_run_cooperative(emu_launch *launch);
void emu_report_two_barriers(emu_worker *block); /* some threads wait for the grid, some for the block */
emu_worker *emu_this_worker(void);               /* of this OS thread while it runs blocks, else NULL */
extern emu_launch *emu_current;                  /* NULL: no kernel runs */
uint64_t emu_launches(void);
size_t emu_shared_allowed(const void *entry);           /* bytes of shared memory a kernel may use; NULL: any kernel */
bool emu_allow_shared(const void *entry, size_t bytes); /* false: too many kernels */

/* ---- fault.c ---- */
void emu_watch_begin(void); /* from here to the end this OS thread runs blocks, and its CPU time is limited */
void emu_watch_end(void);

/* ---- memory.c ---- */
void emu_arena_reserve(void); /* addresses, at the first use of the device: a program that has none needs none */
void emu_arena_open(void);    /* makes device memory accessible, for a launch */
void emu_arena_close(void);
void emu_open(const emu_allocation *allocation); /* the same for one allocation; NULL: does nothing */
void emu_close(const emu_allocation *allocation);
emu_allocation *emu_allocate(size_t size, emu_home home, uintptr_t pc);
void emu_release(emu_allocation *allocation, uintptr_t pc);
size_t emu_device_memory(size_t *in_use);
void emu_check_gaps(void);
void emu_report_leaks(void);

/* ---- api_error.c ---- */
cudaError_t emu_fail(cudaError_t error); /* stores it for cudaGetLastError and returns it */
cudaError_t emu_sticky(void);            /* the error that ended a kernel: every later call returns it */
void emu_set_sticky(cudaError_t error);
cudaError_t emu_misuse(cudaError_t error, uintptr_t pc, const char *format, ...) __attribute__((format(printf, 3, 4)));

cudaError_t emu_misuse_at(cudaError_t error, emu_site site, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void emu_api_lock(void); /* one host thread at a time; recursive */
bool emu_api_trylock(void);
void emu_api_unlock(void);

/* ---- api_device.c ---- */
int emu_resident_blocks(int threads, size_t dynamic_shared); /* on one multiprocessor */

/* ---- api_stream.c ---- */
bool emu_stream_valid(const void *stream);
int emu_stream_timeline(const void *stream); /* of a valid stream: stream_order.h */
bool emu_stream_blocks(const void *stream);  /* does the default stream wait for it? */

/* ---- capture.c: streams that are captured into a graph ---- */
bool emu_capturing(const void *stream);
/* An error if `what` on the stream is not possible because that stream, or one it waits for, is captured. */
cudaError_t emu_not_captured(const void *stream, emu_site site, const char *what);
/* An error while any stream is captured; relaxed_too: also in mode cudaStreamCaptureModeRelaxed. */
cudaError_t emu_unsafe_in_capture(uintptr_t pc, const char *what, bool relaxed_too);
bool emu_capture_launch(const cuemu_launch_config *config, cudaError_t *error); /* false: it is not captured */

/* ---- pending.c: what has to be done before work on a stream (NULL: the default one), or on all ---- */
cudaError_t emu_stream_work(const void *stream);
cudaError_t emu_all_work(void);
/* An error when a call of the host reads what an operation is still to write. */
void emu_undelivered(const void *begin, size_t size, uintptr_t pc, const char *what);

/* ---- api_copy.c ---- */
bool emu_is_symbol(const void *address, size_t size); /* all in variables of the device */
bool emu_is_managed(const void *address);             /* in a __managed__ variable */
/* `size` bytes at `address` are the `side` ("source") of what; reports what is wrong. */
cudaError_t emu_check_side(const void *address, size_t size, bool device, const char *side, uintptr_t pc,
                           const char *what);

/* ---- error.c ---- */
/* emu_error and emu_warning for a thread that need not be the running one. */
bool emu_error_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool emu_warning_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Ends the program with status CUEMU_STATUS after all reports, for errors after which it cannot continue. */
void emu_stop_program(void) __attribute__((noreturn));
/* From begin to flush findings are collected; flush reports them in the order of blocks. Those of blocks after
 * `last_block` are dropped. */
void emu_findings_begin(void);
void emu_findings_flush(uint64_t last_block);

/* ---- output.c ---- */
void emu_output_flush(uint64_t last_block); /* writes the launch's output, in the order of blocks */

/* ---- configuration, read once ---- */
long emu_setting(const char *name, long otherwise);

#endif
