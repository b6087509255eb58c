/* device.h -- checks of CUDA launchers: the call on the emulator, what it found, what it counted.
 *
 *   mg_begin(run, "mt_relu_fwd_cuda"); ... arguments as for any call ...
 *   if (!mg_call(run))                     // race, out of bounds, ...: FAIL with line, kernel, block and thread
 *       return;
 *   mg_expect(run, "out", want, NULL);
 *   mg_device_credit(run, "06.3 traffic", mg_device_traffic_of(run, 8.0 * n), "times the bytes that must move");
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

/* Lower is better for all of them, 1 is ideal where there is an ideal. `must`: bytes that the formula has to move.
 *   traffic    32 B for each sector of global memory, over must
 *   requests   128 B for each request to global memory, over must: 1 when each lane moves 4 B, 0.25 with float4
 *   conflicts  wavefronts of shared memory over those that requests of as many bytes need; 1 without any
 * Traffic or requests below what is possible are FAIL: the count was not the emulator's. */
double mg_device_traffic_of(mg_run *run, double must);
double mg_device_requests_of(mg_run *run, double must);
double mg_device_conflicts_of(mg_run *run);

/* mg_device_credit -- mg_credit with the note "1.00 UNIT (bar 1.10 .. 2.00)  counted, no GPU". */
void mg_device_credit(mg_run *run, const char *bar, double value, const char *unit);

#endif
