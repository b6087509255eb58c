/* order.h -- the order of accesses (happens-before): fences and atomics as a lock uses them (order.c). */
#ifndef EMU_ORDER_H
#define EMU_ORDER_H

#include "emulator/check/tracer.h"

void emu_order_next_interval(emu_tracer *tracer);
void emu_order_meet(emu_tracer *tracer, emu_warp *warp, uint32_t lanes);
void emu_order_fence(emu_tracer *tracer);
void emu_order_atomic(emu_tracer *tracer);
/* Is the running thread ordered after what thread `rank` did at `stamp`? */
bool emu_order_after(const emu_tracer *tracer, uint32_t rank, uint32_t stamp);
/* The subset of the warp's `lanes` that are not ordered after it. */
uint32_t emu_order_unordered(const emu_tracer *tracer, uint32_t warp, uint32_t lanes, uint32_t stamp);

uint64_t emu_order_block(const emu_tracer *tracer, uint32_t tag); /* the block that ran at that time */
/* May an access of a warp at that time (tag, and the stamp in it) be ordered before accesses of other blocks? Yes if
 * its block has executed a fence since; also if its block executes any fence and one of the two accesses is a flag's
 * (an atomic or a volatile), by which blocks synchronise. Only the last fence of an interval is recorded: what other
 * warps did in that interval counts as released. */
bool emu_order_released(const emu_tracer *tracer, uint32_t tag, uint32_t warp, uint32_t stamp, bool flag);
void emu_order_block_fence(emu_tracer *tracer); /* the running thread called __threadfence */

#endif
