/* order.h -- what comes after what within a block: fences and atomics as a lock uses them (order.c). TRACE's. */
#ifndef EMU_ORDER_H
#define EMU_ORDER_H

#include "trace.h"

void emu_order_next_interval(emu_tracer *tracer);
void emu_order_meet(emu_tracer *tracer, emu_warp *warp, uint32_t lanes);
void emu_order_fence(emu_tracer *tracer);
void emu_order_atomic(emu_tracer *tracer);
/* Does the running thread come after what thread `rank` did at `stamp`? */
bool emu_order_after(const emu_tracer *tracer, uint32_t rank, uint32_t stamp);
/* Those of a warp's lanes of which this is not so. */
uint32_t emu_order_unordered(const emu_tracer *tracer, uint32_t warp, uint32_t lanes, uint32_t stamp);

#endif
