/* device_calls.h -- what a unit calls of CUDA while it runs on the emulator: defined or seen by device_calls.c. */
#pragma once

#include "emulator/count/counters.h"
#include "emulator/count/report.h"
#include "emulator/include/cuda_runtime_api.h"
#include "emulator/run/findings.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct mg_device_calls {
    bool unit_runs;        /* only then anything is noted */
    bool grids_only;       /* launches are not executed: the call's arrays hold few of its rows */
    bool copied_back;      /* a copy to the host was refused */
    int copies;            /* copies and memsets; those behind MG_MOST_COPIES were refused */
    emu_traffic copied[2]; /* what they read and write of the device's memory */
    bool strayed;          /* something ran in another stream than mt_cuda_stream(), the last at `astray` */
    bool unchecked;        /* nothing has asked for errors since the launch at `launched` */
    uintptr_t waited;      /* the first wait for the device, an address of code; 0: none */
    emu_site astray, launched;
    int64_t library; /* calls of cuBLAS */
} mg_device_calls;

enum { MG_MOST_COPIES = 8 }; /* of a call: kernels move elements and rows */

extern mg_device_calls mg_seen;

extern jmp_buf mg_after_error; /* a CUDA error ends the call, not the worker: the report says why */

/* mg_need -- ends the worker with a message if a call of its own failed. */
void mg_need(cudaError_t error, const char *what);
