/* wire_device.h -- what the worker of a CUDA lab returns in addition to the arrays: counts and the emulator's first
 * diagnostic. It is the last argument of such a call, an array of bytes. Like everything from a worker, it is not
 * trusted. */
#pragma once

#include <stdint.h>

typedef struct mg_device_traffic {
    int64_t requests, lanes;
    int64_t passes; /* sectors of global memory, wavefronts of shared memory */
    int64_t ideal;  /* the minimum for requests of as many bytes */
} mg_device_traffic;

/* An access in the source, over all launches of the call. */
typedef struct mg_device_site {
    uint64_t pc;
    int32_t kind;  /* 0 load, 1 store, 2 atomic */
    int32_t space; /* 0 global, 1 shared */
    int32_t size;  /* bytes of a lane */
    int32_t unused;
    int64_t requests, lanes, passes, ideal;
} mg_device_site;

enum { MG_SITES = 24 };

typedef struct mg_device_report {
    mg_device_traffic global[3], shared[3]; /* loads, stores, atomics; summed over all launches of the call */
    int64_t launches, blocks, barriers;
    int64_t busiest; /* bytes of global memory that the lanes of one block accessed: the most of all blocks */
    int64_t library; /* calls of cuBLAS, which launches no kernel of the unit */
    int64_t errors;  /* diagnostics that are errors, with repetitions */
    int32_t changed; /* index of the first input that the call has written, or -1 */
    int32_t failed;  /* a CUDA error was left at the end */
    uint64_t pc;     /* of the diagnostic; 0: see file and line */
    uint64_t other;  /* of the other access of a race; 0: none */
    int32_t line;
    char file[100];
    char text[1200], where[300];
    uint64_t waited;               /* where the unit waited for the device first; 0: nowhere */
    char unchecked[120];           /* file:line of a launch behind which it did not ask for an error */
    mg_device_site site[MG_SITES]; /* with the most passes, in the order of the code; free ones have no requests */
    mg_device_site drawn;          /* of one request to shared memory: that with the most passes over its ideal */
    uint32_t lanes;                /* those that took part; 0: there is no request to draw */
    uint32_t offset[32];           /* each one's bytes behind the lowest of them */
} mg_device_report;
