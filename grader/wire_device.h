/* wire_device.h -- what the worker of a CUDA lab returns in addition to the arrays: counts and the emulator's first
 * diagnostic. It is the last argument of such a call, an array of bytes. Like everything from a worker, it is not
 * trusted. */
#ifndef MG_WIRE_DEVICE_H
#define MG_WIRE_DEVICE_H

#include <stdint.h>

typedef struct mg_device_traffic {
    int64_t requests, lanes;
    int64_t passes; /* sectors of global memory, wavefronts of shared memory */
    int64_t ideal;  /* the minimum for requests of as many bytes */
} mg_device_traffic;

typedef struct mg_device_report {
    mg_device_traffic global[3], shared[3]; /* loads, stores, atomics; summed over all launches of the call */
    int64_t launches, blocks, barriers;
    int64_t library; /* calls of cuBLAS, which launches no kernel of the unit */
    int64_t errors;  /* diagnostics that are errors, with repetitions */
    int32_t changed; /* index of the first input that the call has written, or -1 */
    int32_t failed;  /* a CUDA error was left at the end */
    uint64_t pc;     /* of the diagnostic; 0: see file and line */
    uint64_t other;  /* of the other access of a race; 0: none */
    int32_t line;
    char file[100];
    char text[1200], where[300];
} mg_device_report;

#endif
