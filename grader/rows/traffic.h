/* traffic.h -- bars on the bytes moved by a CPU unit, for kernels limited by memory: a count, because a race would
 * depend on the memory bandwidth that other programs use.
 *
 * The lab's units are compiled once more so that every load and store calls worker/traffic.c, which sends its address
 * through a model of a cache: 16 ways, lines of 64 bytes, least recently used, write-back. The bytes moved are those
 * that the model loads and writes back. The call has one thread of OpenMP; threads that the unit starts itself share
 * the one cache, and then the count depends a little on their order. Else the same source gives the same count on every
 * machine. The call has a stack of MG_COUNTED_STACK bytes (sandbox/wire_traffic.h). Like everything from a worker, a
 * count is not trusted: the values are checked, and a count below the minimum is a FAIL. */
#pragma once

#include "check.h"

/* The size of the modelled cache: bytes moved between it and what is behind it. Arrays of a counted call are together
 * several times as large. */
typedef enum mg_cache { MG_L1 = 32 << 10, MG_L2 = 1 << 20 } mg_cache;

/* mg_traffic_call -- mg_call on the counting worker: describe the call as usual, call this, then compare the values.
 * False when the run has its verdict. */
bool mg_traffic_call(mg_run *run, mg_cache cache);

/* mg_traffic_accesses -- the loads and stores of that call: what an algorithm costs, as a count. */
int64_t mg_traffic_accesses(mg_run *run);

/* mg_traffic_credit -- credit for the bytes moved by that call divided by `must`, their minimum, between "low" and
 * "full" of this bar in lab.json (lower is better), and the note "1.00 times the minimum of bytes". */
void mg_traffic_credit(mg_run *run, const char *bar, double must);

/* mg_shared_call -- mg_call on the counting worker, with four threads. Before that two threads make the call, each with
 * arrays of its own. FAIL with the line if two threads access the same memory without an order between them and one
 * writes it, whether the values suffered from it or not. */
bool mg_shared_call(mg_run *run);

/* mg_ranks_call -- mg_call of a function that makes ranks; with `searched` the same for two ranks instead of threads:
 * of accesses to the same memory a message must say which is first. */
bool mg_ranks_call(mg_run *run, bool searched);
