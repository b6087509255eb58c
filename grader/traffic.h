/* traffic.h -- bars on bytes moved by a CPU unit, for kernels that wait for memory: a count, where a race would measure what
 * other programs leave of the memory's bandwidth.
 *
 * The lab's units are compiled once more so that every load and store calls worker/traffic.c, which sends its address
 * through a model of a cache: 1 MiB, 16 ways, lines of 64 bytes, least recently used, write-back. What the model fetches
 * and writes back is what memory moves. The call runs on one thread. The same source gives the same count on every
 * machine. Like all a worker says, a count is a claim: the values are checked, and less than the least possible is FAIL. */
#ifndef MG_TRAFFIC_H
#define MG_TRAFFIC_H

#include "check.h"

enum { MG_CACHE_BYTES = 1 << 20 }; /* arrays of a counted call are together several times as large */

/* mg_traffic_call -- mg_call on the worker that counts: describe the call as always, then this, then compare values. False
 * when the run has its verdict. */
bool mg_traffic_call(mg_run *run);

/* mg_traffic_credit -- credit for the bytes moved by that call over `must`, the bytes it cannot do without, between "low"
 * and "full" of this bar in lab.json (lower is better), and the note "1.00 times the bytes that must move". */
void mg_traffic_credit(mg_run *run, const char *bar, double must);

#endif
