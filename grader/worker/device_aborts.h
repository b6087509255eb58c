/* device_aborts.h -- whether a launcher aborts, as its header says that it must, before it launches anything. */
#pragma once

#include "emulator/include/cuda_runtime_api.h"
#include "worker/aborts.h"

/* Clears *aborted, an array on the device, if the call aborts. */
static inline void mg_device_aborts(int64_t *aborted, void (*call)(const mg_value *), const mg_value *v)
{
    if (mg_aborts(call, v))
        cudaMemset(aborted, 0, sizeof *aborted);
}
