/* hooks.h -- the seam between execution and checks: what run/ and api/ tell check/, which fills the table before main
 * in a program with traced code. Elsewhere all are NULL: nothing is called. ../README.md says what each is for.
 */
#ifndef EMU_HOOKS_H
#define EMU_HOOKS_H

#include "emulator/run/findings.h"
#include "emulator/run/memory.h"

typedef struct emu_hooks {
    void (*launch_begin)(emu_launch *launch);
    void (*launch_end)(emu_launch *launch); /* all workers have ended */
    void (*block_begin)(emu_worker *worker);
    void (*block_end)(emu_worker *worker);        /* also of a killed block */
    void (*block_resume)(emu_worker *worker);     /* after block_end: a block at a barrier of the grid continues */
    void (*grid_barrier)(void);                   /* all blocks have arrived, and block_end was called for each */
    void (*barrier)(emu_worker *worker);          /* all live threads have arrived; interval is not yet incremented */
    void (*meet)(emu_warp *warp, uint32_t lanes); /* these lanes have synchronised in a warp function */
    void (*pause)(emu_warp *warp);                /* no lane can continue: merge their records, empty the buffers */
    void (*atomic)(void *address, int size, int scope, uintptr_t pc);      /* size < 0: a store of -size bytes */
    void (*access)(void *address, size_t size, bool write, uintptr_t pc);  /* by the runtime, for the running thread */
    void (*constant_load)(const void *address, size_t size, uintptr_t pc); /* after it */
    void (*fence)(int scope);
    void (*allocated)(emu_allocation *allocation);
    void (*freed)(emu_allocation *allocation);          /* before its memory is poisoned */
    void (*host_write)(const void *begin, size_t size); /* cudaMemcpy, cudaMemset: device memory is initialised now */
    void (*touched)(const void *begin, size_t size, bool write);     /* by a copy or library call: see stream_race.h */
    void (*host_read)(const void *begin, size_t size, uintptr_t pc); /* by a library: its input must be initialised */
} emu_hooks;

extern emu_hooks emu_hook;

#define EMU_CALL(hook, ...)             \
    do {                                \
        if (emu_hook.hook)              \
            emu_hook.hook(__VA_ARGS__); \
    } while (0)

#endif
