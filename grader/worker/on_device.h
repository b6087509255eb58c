/* on_device.h -- calls whose arrays lie on the (emulated) device: all calls of a lab with .cu units. */
#pragma once

#include "sandbox/wire.h"
#include "worker/call.h"

/* mg_on_device -- arrays of `values` to the device, the call, arrays back. The last of the values is the array in which
 * the mg_device_report is wanted. If the request's arrays do not end at a guard (at_end), threads and blocks run in
 * descending order. Weak: missing in other workers. */
void mg_on_device(const mg_function *function, mg_value *values, const mg_wire_request *request) __attribute__((weak));
