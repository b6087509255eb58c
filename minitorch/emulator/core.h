/* core.h -- what fiber.c, sched.c, warp functions, launch.c and the host API share among themselves. */
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

/* Saves the running fiber's place in *save and continues the one left at `to`. */
void emu_switch(void **save, void *to);
/* A place from which emu_switch calls entry(), which must not return, on the stack that ends at `top`. */
void *emu_fiber_new(char *top, void (*entry)(void));

typedef struct emu_scheduler {
    void *sp; /* where the worker's own stack was left */
    int16_t free_stacks[EMU_MAX_THREADS];
    int free_count;
    int usable; /* stacks [0, usable) have memory */
    /* the barrier that threads wait at */
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
/* The running thread waits in `state` while others run. */
void emu_wait(emu_thread *self, emu_state state);
/* Ends the kernel; emu_leave is how a running thread then stops. */
void emu_kill_block(emu_worker *worker, int code);
void emu_leave(void) __attribute__((noreturn));
/* The running thread, or an error at the caller's line: `what` is device code. */
emu_thread *emu_device_only(const char *what, uintptr_t pc);

/* ---- barrier.c ---- */
void emu_barrier_begin_block(emu_worker *worker); /* and after each barrier */
void emu_barrier_release(emu_worker *worker);

/* ---- collective.c ---- */
bool emu_complete_meetings(emu_warp *warp); /* a lane returned: those that waited for it may be complete */
bool emu_complete_active(emu_warp *warp);
void emu_report_stuck(emu_worker *worker); /* no thread of the block can go on */

/* ---- shared.c ---- */
void emu_shared_new(emu_worker *worker);
void emu_shared_begin_block(emu_worker *worker);
void emu_shared_end_block(emu_worker *worker);
size_t emu_shared_used(const emu_worker *worker, const emu_launch *launch);

/* ---- copies.c ---- */
void emu_copies_drop(emu_thread *thread);

/* ---- launch.c ---- */
emu_worker *emu_this_worker(void); /* of this OS thread while it runs blocks, else NULL */
extern emu_launch *emu_current;    /* NULL: no kernel runs */
uint64_t emu_launches(void);
size_t emu_shared_allowed(const void *entry);           /* bytes of shared memory a kernel may use; NULL: any kernel */
bool emu_allow_shared(const void *entry, size_t bytes); /* false: too many kernels */

/* ---- fault.c ---- */
void emu_watch_begin(void); /* this OS thread begins, ends to run blocks: its CPU time is bounded */
void emu_watch_end(void);

/* ---- memory.c ---- */
void emu_arena_open(void); /* the device's memory becomes accessible, for a launch */
void emu_arena_close(void);
void emu_open(const emu_allocation *allocation); /* the same for one; NULL: nothing */
void emu_close(const emu_allocation *allocation);
emu_allocation *emu_allocate(size_t size, emu_home home, uintptr_t pc);
void emu_release(emu_allocation *allocation, uintptr_t pc);
size_t emu_device_memory(size_t *in_use);
void emu_check_gaps(void);
void emu_report_leaks(void);

/* ---- api_error.c ---- */
cudaError_t emu_fail(cudaError_t error); /* remembers it for cudaGetLastError and returns it */
cudaError_t emu_sticky(void);            /* the error that ended a kernel: every later call returns it */
void emu_set_sticky(cudaError_t error);
cudaError_t emu_misuse(cudaError_t error, uintptr_t pc, const char *format, ...) __attribute__((format(printf, 3, 4)));

void emu_api_lock(void); /* one host thread at a time; may be taken again by the one that has it */
void emu_api_unlock(void);

/* ---- api_stream.c ---- */
bool emu_stream_valid(const void *stream);

/* ---- error.c ---- */
/* emu_error on behalf of a thread that may not be running, and with an argument list. */
bool emu_error_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool emu_warning_of(const emu_thread *thread, emu_kind kind, emu_site site, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Nothing sensible can follow: ends the program with CUEMU_STATUS after all reports. */
void emu_stop_program(void) __attribute__((noreturn));
void emu_findings_begin(
    void); /* findings wait for the launch's end, to come in the order of blocks whatever the workers */
void emu_findings_flush(uint64_t last_block); /* those of later blocks are dropped */

/* ---- output.c ---- */
void emu_output_flush(uint64_t last_block); /* what the launch printed, in the order of blocks */

/* ---- configuration, read once ---- */
long emu_setting(const char *name, long otherwise);

#endif
