/* race.h -- data races between the threads of a launch (race.c, race_merge.c). */
#ifndef EMU_RACE_H
#define EMU_RACE_H

#include "emulator/check/tracer.h"

void emu_race_begin_block(emu_tracer *tracer);
void emu_race_global(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
/* The running thread has loaded global memory by __ldg. */
void emu_race_constant_load(emu_tracer *tracer, uintptr_t address, size_t size, uintptr_t pc);
void emu_race_shared(emu_tracer *tracer, uintptr_t address, int size, int kind, uintptr_t pc);
/* The common case of a load: a lane of the warp has read the words since the warp last synchronised, and no thread has
 * written them at tag `before` or later. Then there is nothing to check. False: call emu_race_global or _shared. */
static inline bool emu_race_read_again(const emu_tracer *t, emu_cell *c, uintptr_t address, int size, uintptr_t pc,
                                       uint32_t before)
{
    const emu_thread *self = emu_self;
    uint32_t warp = self->rank / EMU_WARP_SIZE;
    uint32_t bytes = size < 4 ? ((1u << size) - 1) << (address & 3) : 0xf;
    uint32_t compared = WARP | 0xfu << READER_BYTES | 0xffffu << STAMP;
    uint32_t known = warp | bytes << READER_BYTES | t->meetings[warp] << STAMP;
    for (int i = 0; i < (size > 4 ? size / 4 : 1); i++, c++) {
        if (c->read_tag != t->tag || c->write_tag >= before || (c->reader & compared) != known)
            return false;
        c->lanes |= 1u << self->lane;
        c->read_pc = (uint32_t)(pc - (uintptr_t)__executable_start);
    }
    return true;
}
void emu_race_report(emu_tracer *tracer, const emu_thread *thread, uintptr_t pc, const char *does, uintptr_t address,
                     const emu_other *other, emu_conflict how, bool harmless);
void emu_race_settle(emu_tracer *tracer);          /* reads the pending store's value */
void emu_race_report_suspects(emu_tracer *tracer); /* at a barrier or the block's end: those left are races */
/* After the launch: accesses of blocks that ran on different workers. */
void emu_race_between_workers(emu_tracer *const *tracers, int count);

#endif
