/* findings.h -- what the emulator reports about a program (findings.c), and at which of its lines (source.c). */
#ifndef EMU_FINDINGS_H
#define EMU_FINDINGS_H

#include "emulator/include/driver_types.h"
#include "emulator/run/worker.h"

typedef enum {
    EMU_OUT_OF_BOUNDS,
    EMU_USE_AFTER_FREE,
    EMU_BAD_POINTER, /* null, host */
    EMU_MISALIGNED,
    EMU_UNINITIALISED,
    EMU_RACE,
    EMU_SYNC, /* barriers, warp functions, masks, deadlock */
    EMU_ASSERT,
    EMU_LIMIT, /* of the card: threads, shared memory */
    EMU_ENDLESS,
    EMU_CRASH, /* stack overflow, division by zero, trap */
    EMU_UNSUPPORTED,
    EMU_HOST_API,
    EMU_LEAK,
    EMU_KINDS
} emu_kind;

/* Where something happened: a pc (the return address of a call is one), or a line when file is not NULL. */
typedef struct emu_site {
    uintptr_t pc;
    const char *file;
    int line;
    uintptr_t other; /* pc of the other access of a race; 0: none */
} emu_site;

typedef struct emu_finding {
    emu_kind kind;
    bool warning;
    emu_site site;      /* file and line are filled in */
    emu_site launch;    /* of the kernel */
    const char *kernel; /* NULL: host code */
    cuemu_uint3 block, thread;
    const char *text; /* one line or several; never ends in a newline */
    uint64_t times;   /* further findings of this kind at this site are only counted */
} emu_finding;

/* Reports once per kind and site, with the running kernel, block and thread; later ones are counted. Returns whether it
 * was new. An error makes the program's exit status CUEMU_STATUS (default 86). */
bool emu_error(emu_kind kind, emu_site site, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool emu_warning(emu_kind kind, emu_site site, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Ends the kernel at this thread, after emu_error; later CUDA calls return `code` (a cudaError_t). Does not return when
 * a thread is running. */
void emu_kill(int code);
const char *emu_kind_name(emu_kind kind);          /* "out-of-bounds" */
size_t emu_findings(const emu_finding **findings); /* all, in the order in which they were reported */

/* The source line of a pc, innermost frame outside the emulator's own headers. False: unknown. */
bool emu_source(uintptr_t pc, const char **file, int *line);

#define EMU_HERE ((emu_site){ .pc = (uintptr_t)__builtin_return_address(0) })

extern char __executable_start[]; /* of the program: pcs may be kept relative to it */

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

/* What a program that ends prints about findings and counts: count/report.c. */
void emu_report_end(void);

#endif
