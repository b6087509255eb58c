/* shadow.h -- what each byte of memory is: unallocated, uninitialised or initialised (shadow.c). */
#ifndef EMU_SHADOW_H
#define EMU_SHADOW_H

#include "emulator/check/tracer.h"

enum { EMU_NO_MEMORY, EMU_EMPTY, EMU_FULL = 3 }; /* unallocated or freed, uninitialised, initialised */
extern uint8_t *emu_device_state;                /* of each byte of the arena */
extern bool emu_writes_unseen; /* a kernel ran untraced: which bytes are initialised is no longer known */

void emu_shadow_open(void);
void emu_shadow_begin_block(emu_tracer *tracer);
/* For an access to bytes that are not all initialised: reports it and ends the kernel, or marks them as initialised. */
void emu_check_global(uintptr_t address, int size, int kind, uintptr_t pc);
void emu_check_shared(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
/* The address is neither in the arena nor shared nor on a stack. Returns its space. */
int emu_check_elsewhere(uintptr_t address, int size, int kind, uintptr_t pc);
/* Was this kind already reported at this pc in this launch? Then it is only counted. */
bool emu_reported(emu_tracer *tracer, const emu_thread *thread, emu_kind kind, uintptr_t pc, bool warning);
/* For an access to an address that is not a multiple of `alignment`. Ends the kernel. */
void emu_misaligned(uintptr_t address, int alignment, uintptr_t pc);
/* The index of a byte of global memory: the arena's bytes come first, then the program's variables'. */
size_t emu_position(uintptr_t address);
uintptr_t emu_address_at(size_t position);
size_t emu_positions(void);
/* " at unit.cu:12", or "" when the line is not known. */
const char *emu_at_line(char *text, size_t size, uintptr_t pc);
/* "s[32]" in words: which allocation or array the address is in and where. */
const char *emu_describe(char *text, size_t size, uintptr_t address);

#endif
