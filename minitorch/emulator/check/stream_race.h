/* stream_race.h -- races between operations on different streams, and with host code (stream_race.c). */
#ifndef EMU_STREAM_RACE_H
#define EMU_STREAM_RACE_H

#include "emulator/run/memory.h"

struct emu_tracer;
void emu_stream_race_open(void);
void emu_stream_race_forget(const emu_allocation *allocation);             /* it is new */
void emu_stream_race_launch(struct emu_tracer *const *tracers, int count); /* the running launch ends */
extern bool emu_stream_race_host;                                          /* is there anything to check for: */
void emu_stream_race_host_access(uintptr_t address, size_t size, bool write, bool flag, uintptr_t pc);

#endif
