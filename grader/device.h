/* device.h -- checks of CUDA launchers: the call on the emulator, what it found, what it counted.
 *
 *   mg_begin(run, "mt_relu_fwd_cuda"); ... arguments as for any call ...
 *   if (!mg_call(run) || !mg_expect(run, "out", want, NULL)) // race, out of bounds, ...: FAIL with line and thread
 *       return;
 *   mg_device_credit(run, MG_TRAFFIC, 8.0 * n);      // values first: a count of wrong values earns nothing
 *
 * Every second call of a row runs with threads and blocks in descending order. Counts are exact: a bar on them needs no
 * race and no quiet machine. */
#ifndef MG_DEVICE_H
#define MG_DEVICE_H

#include "check.h"
#include "wire_device.h"

/* mg_device_ask, mg_device_judge -- what mg_call does for labs with .cu units: the last argument is the report; what it
 * holds. False: the run has its verdict. */
void mg_device_ask(mg_run *run);
bool mg_device_judge(mg_run *run);

/* mg_device_counts -- of the call just made. */
const mg_device_report *mg_device_counts(mg_run *run);

/* What the emulator counted in one call, over all its launches. Lower is better for all of them. */
typedef enum mg_count {
    MG_TRAFFIC,  /* 32 B for each sector of global memory, over the bytes that the formula has to move; 1 is ideal */
    MG_REQUESTS, /* 128 B for each request to global memory, over these: 1 when each lane moves 4 B, 0.25 with float4 */
    MG_CONFLICTS,  /* wavefronts of shared memory over those that requests of as many bytes need; 1 without any */
    MG_WAVEFRONTS, /* wavefronts of shared memory, over blocks */
    MG_ATOMICS,    /* lanes that took part in atomics on global memory, over elements */
} mg_count;

/* mg_device_credit -- credit for a count of the call just made, between "low" and "full" of the bar in lab.json that is
 * called as the row: "06.3 relu: traffic". `of`: what the count is divided by where that is the caller's to say (bytes,
 * elements). A count below what is possible is FAIL: it was not the emulator's. */
void mg_device_credit(mg_run *run, mg_count count, double of);

#endif
