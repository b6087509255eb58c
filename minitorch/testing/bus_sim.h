/* bus_sim.h -- a bus (memory/bus.h) in virtual time, whose copies are as late as a bus may make them: what a copy reads
 * is read, and what it writes is written, only when somebody waits for it. Until then the memory that it will write
 * holds NaN. So a program that does not wait finds wrong values, as it may on a GPU; and memory that is freed before is
 * counted.
 *
 *     mt_bus *bus = mt_bus_sim_open(rate);
 *     ...                                      // mt_bus_out, mt_bus_in, mt_bus_wait, and between them
 *     mt_bus_sim_compute(bus, flops);          // what the device computes
 *     printf("%lld FLOPs, %lld of them waiting\n", mt_bus_sim_now(bus), ...);
 *     mt_bus_free(bus);
 *
 * The unit of time is a FLOP of the device. */
#pragma once

#include "memory/bus.h"

MT_C_BEGIN

/* mt_bus_sim_open -- rate: FLOPs while one byte crosses the bus. It observes allocations (core/storage.h) until it is
 * freed. */
mt_bus *mt_bus_sim_open(int64_t rate);
void mt_bus_sim_compute(mt_bus *bus, int64_t flops);
int64_t mt_bus_sim_now(const mt_bus *bus);        /* since it was opened */
int64_t mt_bus_sim_freed(const mt_bus *bus);      /* blocks that were freed while a copy of them was not waited for */
int64_t mt_bus_sim_host_bytes(const mt_bus *bus); /* of the host, that are not freed */

MT_C_END
