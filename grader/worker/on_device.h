/* on_device.h -- calls whose arrays lie on the (emulated) device: all calls of a lab with .cu units. */
#pragma once

#include "sandbox/wire.h"
#include "worker/call.h"

/* mg_on_device -- arrays of `values` to the device, the call, arrays back. values[last] is the array in which the
 * mg_device_report is wanted. `reversed`: threads and blocks in descending order. Weak: missing in other workers. */
void mg_on_device(const mg_function *function, mg_value *values, const mg_wire_value *wire, int last, bool reversed)
    __attribute__((weak));

/* Calls of cuBLAS in this call. */
extern int64_t mg_library_calls;
