/* device.h -- checks of CUDA launchers: the call in the emulator, its diagnostics and its counts.
 *
 *   mg_begin(run, "mt_relu_fwd_cuda"); ... arguments as for any call ...
 *   if (!mg_call(run) || !mg_expect(run, "out", want, NULL)) // race, out of bounds, ...: FAIL with line and thread
 *       return;
 *   mg_device_credit(run, MG_TRAFFIC, 8.0 * n);      // values first: with wrong values a count earns nothing
 *
 * Every second call of a row runs with threads and blocks in descending order. Counts are exact and do not depend on
 * the load of the machine. */
#pragma once

#include "check.h"
#include "sandbox/wire_device.h"

/* mg_on_the_device -- whether the call described is one of a .cu unit: _cuda or _cublas is in its function's name. */
bool mg_on_the_device(const mg_run *run);

/* mg_unaligned -- from now on, whether the arrays of this run's calls begin at a multiple of their type's size and of
 * no larger number. Without it, at a multiple of 256 bytes, as cudaMalloc's do. */
void mg_unaligned(mg_run *run, bool off);

/* mg_unaligned_one -- the same of one array only: the others begin at multiples of 256 bytes, so that a kernel which
 * tests some of its pointers fails. Numbers from 0 go through the arrays, with each first 2 elements behind such a
 * multiple, then 1; after the last array they begin again. For 16 numbers a call may have 8 arrays. */
enum { MG_UNALIGNED_ONES = 16 };
void mg_unaligned_one(mg_run *run, int number);

/* mg_device_ask, mg_device_judge -- what mg_call does for these calls: add the report as the last argument, and
 * judge it after the call. False: the run has its verdict. */
void mg_device_ask(mg_run *run);
bool mg_device_judge(mg_run *run);

/* mg_device_failed -- whether the call just made was on the device, and its report has an error. */
bool mg_device_failed(mg_run *run);

/* mg_device_lead -- values are wrong, and the emulator warned of what makes a value undefined: that comes first. */
void mg_device_lead(mg_run *run);

/* mg_device_counts -- of the call just made. */
const mg_device_report *mg_device_counts(mg_run *run);

/* What the emulator counted in one call, over all its launches. Lower is better for all of them. */
typedef enum mg_count {
    MG_TRAFFIC,  /* 32 B for each sector of global memory, divided by the minimum of bytes; 1 is ideal */
    MG_REQUESTS, /* 128 B for each request to global memory, over these: 1 when each lane moves 4 B, 0.25 with float4 */
    MG_CONFLICTS,  /* 1, and the wavefronts of bank conflicts over those that the step needs without any */
    MG_WAVEFRONTS, /* wavefronts of shared memory, over the blocks that the step needs */
    MG_ATOMICS,    /* lanes that took part in atomics on global memory, over elements */
} mg_count;

/* mg_device_credit -- credit for a count of the call just made, between "low" and "full" of the bar in lab.json with
 * the name of the row: "06.3 relu: traffic". `of`: the divisor (bytes, elements, wavefronts, blocks), a number that the
 * check knows: a count of the unit's own, of its blocks or its accesses, grows by idle ones. A count below the possible
 * minimum is REVIEW. */
void mg_device_credit(mg_run *run, mg_count count, double of);

/* mg_device_share -- into how many equal parts the call's blocks have divided work of so many bytes: the bytes over
 * those of the busiest block. Blocks that do nothing, or little, do not count. */
double mg_device_share(mg_run *run, double bytes);

/* mg_device_credit_shared -- the same for MG_CONFLICTS and MG_WAVEFRONTS where a step prescribes how its blocks divide
 * the work: what the reference needs is in lab.json, "ideal" and "blocks" of the bar. After mg_device_moves. */
void mg_device_credit_shared(mg_run *run, mg_count count, const char *traffic, double bytes);

/* mg_device_moves -- whether the call's traffic, in times of these bytes, is at most the "low" of that bar; else FAIL.
 * For rows about shared memory: a call that does its work elsewhere has no points for idle accesses. */
bool mg_device_moves(mg_run *run, const char *bar, double bytes);
