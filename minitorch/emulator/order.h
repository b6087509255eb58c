/* order.h -- the order of accesses (happens-before): fences and atomics as a lock uses them (order.c). TRACE's. */
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

uint64_t emu_order_block(const emu_tracer *tracer, uint32_t tag); /* the block that ran at that time */
/* May what a warp did at that time (a tag, and the stamp in it) come before what another block does? Its block fenced
 * since; or it fences, and this access or the other is of a flag: an atomic or a volatile, by which blocks tell each
 * other. Of a barrier interval's fences the last is known: what other warps did in that interval passes as released. */
bool emu_order_released(const emu_tracer *tracer, uint32_t tag, uint32_t warp, uint32_t stamp, bool flag);
void emu_order_block_fence(emu_tracer *tracer); /* the running thread called __threadfence */

#endif
