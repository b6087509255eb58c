/* calls_06.c -- how the worker calls the launchers of lab 06; arrays are on the device here (on_device.c). */
#include "ops/kernels_cuda.h"
#include "worker/call.h"

static void saxpy_scalar(const mg_value *v)
{
    mt_saxpy_scalar_cuda(v[0].f32, v[1].f32, v[2].i64, v[3].scalar);
}

const mg_function mg_calls_06[] = {
    { "mt_saxpy_scalar_cuda", saxpy_scalar },
    { 0 },
};
